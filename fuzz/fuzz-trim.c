/*
 * Trim of arbitrary lines: the first byte chooses agent and options, the rest is the session. As
 * many lines come out as went in; what was no JSON object comes out as it was, what was valid JSON
 * is valid JSON; and every placeholder can be recalled.
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
#include "strategy/trim.h"
#include "json/scan.h"

#define ID "11111111-2222-4333-8444-555555555555"

enum { SIZE_MOST = 64 * 1024 };

/* One folder and one store for the whole run. */
struct place {
	char dir[64];
	char *file, *kept;
};
static struct place place;

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	return remove(path);
}

static void remove_tree(const char *top)
{
	(void)nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void tear_down(void)
{
	remove_tree(place.dir);
	free(place.file);
	free(place.kept);
}

static void set_up(void)
{
	const char *base = path_exists("/dev/shm") ? "/dev/shm" : "/tmp";

	(void)snprintf(place.dir, sizeof(place.dir), "%s/faden-fuzz-XXXXXX", base);
	REQUIRE(mkdtemp(place.dir));
	place.file = path_join(place.dir, "rollout-2026-01-02T03-04-05-" ID ".jsonl");
	place.kept = path_join(place.dir, "archive");
	(void)atexit(tear_down);
}

static void put_parent(struct sv text)
{
	int fd = open(place.file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct timespec old[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };

	REQUIRE(fd >= 0 && file_write_all(fd, text, NULL) == 0);
	/* Long ago: nobody waits for the other half of a line. */
	REQUIRE(futimens(fd, old) == 0);
	(void)close(fd);
}

static bool is_plain_object(struct sv line)
{
	struct jval val;

	return !memchr(line.p, '\0', line.n) && scan_text(line, &val) == 0 && val.type == J_OBJECT;
}

static void compare_line(struct sv before, struct sv after)
{
	if (before.n == 0 || !is_plain_object(before))
		REQUIRE(sv_eq(before, after));
	else if (scan_check(sv_trim(before), NULL) == 0)
		REQUIRE(scan_check(sv_trim(after), NULL) == 0);
}

static void compare(struct sv before, struct sv after)
{
	struct sv a, b;

	if (sv_ends(before, SV("\n")))
		before = sv_head(before, before.n - 1);
	REQUIRE(sv_ends(after, SV("\n")));
	after = sv_head(after, after.n - 1);
	while (sv_split(&before, '\n', &a)) {
		REQUIRE(sv_split(&after, '\n', &b));
		compare_line(a, b);
	}
	REQUIRE(after.n == 0);
}

static void recall_all(const struct archive *archive, struct sv text)
{
	size_t at;

	while (sv_find(text, SV("] Original: faden recall "), &at)) {
		struct sv ref = sv_head(sv_from(text, at + 25), 16);
		AUTO_STR raw = STR_INIT;
		uint64_t low;
		int r = recall_ref_parse(ref, &low) ? recall_get(archive, ref, &raw, NULL, NULL)
						    : 0;
		/* The input may hold placeholders of its own, which lead nowhere. */
		REQUIRE(r == 0 || r == ERR_NOTFOUND);
		text = sv_from(text, at + 25);
	}
}

static void trim(uint8_t choice, struct sv text)
{
	static const struct clock clock = { true, 1000 };
	AUTO_STORE *store = NULL;
	struct trim_report report = TRIM_REPORT_INIT;
	struct trim_opts opts = TRIM_OPTS_INIT;
	struct err err = ERR_INIT;

	REQUIRE(store_open(NULL, STORE_MEMORY, NULL, &store, NULL) == 0);
	const struct archive archive = { .store = store, .dir = place.kept, .clock = &clock };
	opts.path = place.file;
	opts.format = choice & 1 ? TRANSCRIPT_CODEX : TRANSCRIPT_CLAUDE;
	opts.threshold = choice & 2 ? 1 : 120;
	opts.min_savings = -1;
	opts.assistant = choice & 4 ? 3 : choice & 8 ? -1 : 0;
	opts.images = opts.duplicates = choice & 16;
	opts.display = choice & 32;
	opts.style = choice & 64 ? TRIM_HEAD : TRIM_SEED;
	opts.out_dir = place.dir;
	opts.threads = choice & 128 ? 2 : 1;
	int r = trim_session(&opts, &archive, &report, &err);
	REQUIRE(r == 0 || r == ERR_NOTFOUND);
	if (r == 0) {
		AUTO_STR after = STR_INIT;
		REQUIRE(file_read(report.file.path, SIZE_MAX, &after, NULL) == 0);
		compare(text, str_sv(&after));
		recall_all(&archive, str_sv(&after));
		(void)unlink(report.file.path);
	}
	trim_report_release(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 2 || size > SIZE_MOST)
		return 0;
	if (!place.file)
		set_up();
	struct sv text = { (const char *)data + 1, size - 1 };
	put_parent(text);
	trim(data[0], text);
	/* Every input is a file of its own. */
	(void)unlink(place.file);
	remove_tree(place.kept);
	return 0;
}
