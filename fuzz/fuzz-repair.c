/*
 * Repair of arbitrary lines: the first byte chooses the agent, the file's name and how it is
 * written, the rest is the session. The diagnosis never fails, and where it finds nothing, all is
 * reached; what is mended reaches just what was promised, entry by entry, and all that was reached
 * before but for branches that were left; it is whole JSON lines, and has nothing left that could
 * be mended.
 */
#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "fuzz.h"
#include "os/file.h"
#include "os/path.h"
#include "strategy/repair.h"
#include "json/scan.h"

#define ID "11111111-2222-4333-8444-555555555555"

enum { SIZE_MOST = 64 * 1024 };

static struct {
	char dir[64];
	char *codex, *claude, *sub_agent;
} place;

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	return remove(path);
}

static void tear_down(void)
{
	(void)nftw(place.dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(place.codex);
	free(place.claude);
	free(place.sub_agent);
}

static void set_up(void)
{
	const char *base = path_exists("/dev/shm") ? "/dev/shm" : "/tmp";

	(void)snprintf(place.dir, sizeof(place.dir), "%s/faden-fuzz-XXXXXX", base);
	REQUIRE(mkdtemp(place.dir));
	place.codex = path_join(place.dir, "rollout-2026-01-02T03-04-05-" ID ".jsonl");
	place.claude = path_join(place.dir, ID ".jsonl");
	place.sub_agent = path_join(place.dir, "agent-a1b2c3.jsonl");
	(void)atexit(tear_down);
}

static const char *name_of(uint8_t choice)
{
	if (choice & 1)
		return place.codex;
	return choice & 16 ? place.sub_agent : place.claude;
}

/* At rest for long, so that nobody waits for its writer. */
static void put_session(const char *path, struct sv text)
{
	static const struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	REQUIRE(fd >= 0 && file_write_all(fd, text, NULL) == 0);
	REQUIRE(futimens(fd, old) == 0);
	(void)close(fd);
}

/* Where the agent must guess, or cannot read what would lead it elsewhere, it may reach a branch
 * that was left, or what was compacted; of several results of one call it takes all as long as none
 * is on its way. Nothing else that it reaches may be missing when mended. */
static bool may_leave(const struct repair_report *report, struct sv session)
{
	static const enum repair_cause guesses[] = { REPAIR_TORN, REPAIR_GLUED, REPAIR_NUL,
		REPAIR_UTF8, REPAIR_DANGLING_PARENT, REPAIR_WRONG_ORDER, REPAIR_STALE_LEAF,
		REPAIR_ORDINALS, REPAIR_SHAPE };

	for (size_t i = 0; i < sizeof(guesses) / sizeof(guesses[0]); i++)
		if (report->findings[guesses[i]].level > REPAIR_NOTE)
			return true;
	struct sv rest = session;
	size_t at, results = 0;
	while (sv_find(rest, SV("tool_use_id"), &at)) {
		rest = sv_from(rest, at + 1);
		results++;
	}
	return results > 1 || sv_find(session, SV("compact"), NULL);
}

static void check_report(const struct repair_report *report, struct sv session)
{
	REQUIRE(report->reachable <= report->entries);
	REQUIRE(report->left == 0 || may_leave(report, session));
	REQUIRE(!repair_healthy(report) || report->reachable == report->entries);
}

/* What is wrong with single lines must be gone: each is an object, or blank. */
static void check_lines(const char *path)
{
	AUTO_STR text = STR_INIT;
	struct jval val;
	struct sv rest, line;

	REQUIRE(file_read(path, SIZE_MAX, &text, NULL) == 0);
	rest = str_sv(&text);
	REQUIRE(sv_ends(rest, SV("\n")));
	while (sv_split(&rest, '\n', &line)) {
		line = sv_trim(line);
		REQUIRE(line.n == 0 || (scan_text(line, &val) == 0 && val.type == J_OBJECT));
		REQUIRE(!memchr(line.p ? line.p : "", '\0', line.n));
	}
}

static bool can_mend(const char *path, const struct transcript_format *format)
{
	const struct repair_opts opts = { .path = path, .format = format, .threads = 1 };
	struct repair *r = NULL;

	REQUIRE(repair_open(&opts, &r, NULL) == 0);
	bool possible = !repair_healthy(repair_report(r)) && repair_possible(r);
	repair_free(r);
	return possible;
}

static void mend(struct repair *rep, uint8_t choice, const struct transcript_format *format)
{
	static const struct clock clock = { true, 1000 };
	const struct repair_write how = {
		.out_dir = choice & 2 ? NULL : place.dir,
		.in_place = choice & 2,
		.threads = 1,
		.clock = &clock,
	};
	struct repair_result result = REPAIR_RESULT_INIT;

	int r = repair_apply(rep, &how, &result, NULL);
	REQUIRE(r == 0);
	check_report(&result.report, SV(""));
	REQUIRE(result.report.reachable == result.report.entries && result.report.left == 0);
	REQUIRE(result.report.entries == repair_report(rep)->entries);
	check_lines(result.path);
	REQUIRE(!can_mend(result.path, format));
	(void)unlink(result.path);
	repair_result_release(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2 || size > SIZE_MOST)
		return 0;
	if (!place.codex)
		set_up();
	const struct transcript_format *format = data[0] & 1 ? TRANSCRIPT_CODEX : TRANSCRIPT_CLAUDE;
	const struct repair_opts opts = {
		.path = name_of(data[0]),
		.format = format,
		.in_use = data[0] & 4,
		.threads = data[0] & 8 ? 2 : 1,
	};
	struct repair *r = NULL;
	put_session(opts.path, sv_make((const char *)data + 1, size - 1));
	REQUIRE(repair_open(&opts, &r, NULL) == 0);
	const struct repair_report *report = repair_report(r);
	check_report(report, sv_make((const char *)data + 1, size - 1));
	if (!repair_healthy(report) && repair_possible(r) && !opts.in_use)
		mend(r, data[0], format);
	repair_free(r);
	(void)unlink(opts.path);
	return 0;
}
