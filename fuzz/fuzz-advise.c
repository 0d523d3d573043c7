/*
 * Advice about arbitrary lines: the first byte chooses the agent, the rest is the session. It never
 * fails, its parts do not add up to more than the whole, and two threads say the same as one.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "os/file.h"
#include "os/path.h"
#include "strategy/advise.h"

enum { SIZE_MOST = 64 * 1024 };

static char file[64];

static void tear_down(void)
{
	(void)unlink(file);
}

static void put_session(struct sv text)
{
	struct timespec old[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };

	if (!file[0]) {
		(void)snprintf(file, sizeof(file), "%s/faden-fuzz-XXXXXX",
			path_exists("/dev/shm") ? "/dev/shm" : "/tmp");
		(void)close(mkstemp(file));
		(void)atexit(tear_down);
	}
	int fd = open(file, O_WRONLY | O_TRUNC | O_CLOEXEC);
	REQUIRE(fd >= 0 && file_write_all(fd, text, NULL) == 0);
	/* Long ago: nobody waits for the other half of a line. */
	REQUIRE(futimens(fd, old) == 0);
	(void)close(fd);
}

static void look(const struct transcript_format *format, unsigned threads, struct advice *ret)
{
	static const struct clock clock = { true, 1000 };
	const struct advise_opts opts = {
		.path = file, .format = format, .threads = threads, .clock = &clock
	};

	REQUIRE(advise_session(&opts, ret, NULL) == 0);
}

static void check(const struct advice *a)
{
	int64_t parts = 0;

	for (int i = 0; i < ADVISE_KIND_COUNT; i++) {
		REQUIRE(a->kinds[i].n >= 0 && a->kinds[i].tokens >= 0);
		parts += a->kinds[i].tokens;
	}
	REQUIRE(a->live <= a->records);
	REQUIRE(a->context.tokens >= 0 && a->percent >= 0);
	/* Each part is rounded by itself. A whole that images or thoughts alone exceed is left. */
	if (a->context.tokens > a->kinds[ADVISE_IMAGES].tokens)
		REQUIRE(parts <= a->context.tokens + ADVISE_KIND_COUNT);
	for (int i = 0; i < ADVISE_STRATEGY_COUNT; i++)
		REQUIRE(a->plans[i].saved.tokens >= 0 &&
			a->plans[i].saved.tokens <= a->context.tokens && a->plans[i].left >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_ADVICE one = ADVICE_INIT;
	AUTO_ADVICE two = ADVICE_INIT;

	if (size < 2 || size > SIZE_MOST)
		return 0;
	put_session(sv_make((const char *)data + 1, size - 1));
	const struct transcript_format *format = data[0] & 1 ? TRANSCRIPT_CODEX : TRANSCRIPT_CLAUDE;
	look(format, 1, &one);
	look(format, 2, &two);
	check(&one);
	REQUIRE(one.context.tokens == two.context.tokens && one.live == two.live);
	REQUIRE(memcmp(one.kinds, two.kinds, sizeof(one.kinds)) == 0);
	return 0;
}
