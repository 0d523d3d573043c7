#include "cli/since.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"

enum { DATE_CHARS = 10, SECOND_MS = 1000 };

/* Midnight of the local day that is `back` days before now's. */
static bool local_midnight(int64_t now_ms, int back, int64_t *ret_ms)
{
	time_t now = (time_t)(now_ms / SECOND_MS);
	struct tm tm;

	if (!localtime_r(&now, &tm))
		return false;
	tm.tm_mday -= back;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_isdst = -1;
	*ret_ms = (int64_t)mktime(&tm) * SECOND_MS;
	return true;
}

static bool has_offset(struct sv text)
{
	struct sv time = sv_from(text, text.n < DATE_CHARS ? text.n : DATE_CHARS);

	return time.n &&
		(memchr(time.p, 'Z', time.n) || memchr(time.p, 'z', time.n) ||
			memchr(time.p, '+', time.n) || memchr(time.p, '-', time.n));
}

/* The figures of a date and time, read as the clock on this wall shows them. */
static bool local_date(struct sv text, int64_t *ret_ms)
{
	int64_t as_utc;
	struct tm tm;

	if (!clock_parse_iso(text, &as_utc))
		return false;
	time_t seconds = (time_t)(as_utc / SECOND_MS);
	if (has_offset(text)) {
		*ret_ms = as_utc;
		return true;
	}
	if (!gmtime_r(&seconds, &tm))
		return false;
	tm.tm_isdst = -1;
	*ret_ms = (int64_t)mktime(&tm) * SECOND_MS;
	return true;
}

int since_parse(struct sv text, int64_t now_ms, int64_t *ret_ms, struct err *reterr)
{
	int64_t span;

	if (clock_parse_span(text, &span)) {
		*ret_ms = now_ms - span;
		return 0;
	}
	if (sv_is(text, "today") && local_midnight(now_ms, 0, ret_ms))
		return 0;
	if (sv_is(text, "yesterday") && local_midnight(now_ms, 1, ret_ms))
		return 0;
	if (local_date(text, ret_ms))
		return 0;
	return err_set(reterr, ERR_USAGE,
		"--since %.*s: neither a span (2h, 3d, 1w), today, yesterday nor a date "
		"(2026-01-31)",
		SV_ARG(text));
}
