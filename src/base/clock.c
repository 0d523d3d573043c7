#include "base/clock.h"

#include <stdio.h>
#include <time.h>

static int64_t read_clock(clockid_t id)
{
	struct timespec ts;

	if (clock_gettime(id, &ts) != 0)
		return 0;
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t clock_wall_ms(const struct clock *c)
{
	return c && c->fixed ? c->fixed_ms : read_clock(CLOCK_REALTIME);
}

int64_t clock_age_ms(const struct clock *c)
{
	return c && c->fixed ? c->fixed_ms : read_clock(CLOCK_BOOTTIME);
}

int64_t clock_run_ms(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

/* Floor division, so that times before 1970 keep a positive millisecond part. */
static time_t split_ms(int64_t wall_ms, int *ret_ms)
{
	int64_t s = wall_ms / 1000;
	int64_t ms = wall_ms % 1000;

	if (ms < 0) {
		ms += 1000;
		s--;
	}
	*ret_ms = (int)ms;
	return (time_t)s;
}

void clock_format_iso(int64_t wall_ms, char out[static CLOCK_TEXT_MAX])
{
	int ms;
	time_t s = split_ms(wall_ms, &ms);
	struct tm tm;
	char day[24];

	if (!gmtime_r(&s, &tm) || strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm) == 0) {
		(void)snprintf(out, CLOCK_TEXT_MAX, "?");
		return;
	}
	(void)snprintf(out, CLOCK_TEXT_MAX, "%s.%03dZ", day, ms);
}

void clock_format_local(int64_t wall_ms, char out[static CLOCK_TEXT_MAX])
{
	int ms;
	time_t s = split_ms(wall_ms, &ms);
	struct tm tm;

	if (!localtime_r(&s, &tm) || strftime(out, CLOCK_TEXT_MAX, "%Y-%m-%d %H:%M", &tm) == 0)
		(void)snprintf(out, CLOCK_TEXT_MAX, "?");
}

void clock_format_ago(int64_t age_ms, char out[static CLOCK_TEXT_MAX])
{
	long long min = age_ms / 60000;

	if (min < 1)
		(void)snprintf(out, CLOCK_TEXT_MAX, "just now");
	else if (min < 60)
		(void)snprintf(out, CLOCK_TEXT_MAX, "%lld min ago", min);
	else if (min < 48LL * 60)
		(void)snprintf(out, CLOCK_TEXT_MAX, "%lld h ago", min / 60);
	else
		(void)snprintf(out, CLOCK_TEXT_MAX, "%lld days ago", min / (24LL * 60));
}

static bool take_digits(struct sv *s, size_t n, int *ret)
{
	int v = 0;

	if (s->n < n)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (s->p[i] < '0' || s->p[i] > '9')
			return false;
		v = v * 10 + (s->p[i] - '0');
	}
	*s = sv_from(*s, n);
	*ret = v;
	return true;
}

static bool take_char(struct sv *s, const char *any_of)
{
	if (!s->n || s->p[0] == '\0' || !strchr(any_of, s->p[0]))
		return false;
	*s = sv_from(*s, 1);
	return true;
}

static int take_fraction_ms(struct sv *s)
{
	int ms = 0;
	int scale = 100;

	if (!take_char(s, ".,"))
		return 0;
	while (s->n && s->p[0] >= '0' && s->p[0] <= '9') {
		ms += (s->p[0] - '0') * scale;
		scale /= 10;
		*s = sv_from(*s, 1);
	}
	return ms;
}

/* Days since 1970-01-01 of a proleptic Gregorian date. */
static int64_t days_from_civil(int y, int m, int d)
{
	y -= m <= 2;
	int64_t era = (y >= 0 ? y : y - 399) / 400;
	int64_t yoe = y - era * 400;
	int64_t doy = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
	int64_t doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;

	return era * 146097 + doe - 719468;
}

static bool take_offset_min(struct sv *s, int *ret_min)
{
	int hh;
	int mm = 0;

	*ret_min = 0;
	if (s->n == 0 || take_char(s, "Zz"))
		return true;
	int sign = s->p[0] == '-' ? -1 : 1;
	if (!take_char(s, "+-") || !take_digits(s, 2, &hh))
		return false;
	(void)take_char(s, ":");
	if (s->n && !take_digits(s, 2, &mm))
		return false;
	*ret_min = sign * (hh * 60 + mm);
	return true;
}

bool clock_parse_iso(struct sv text, int64_t *ret_wall_ms)
{
	int year;
	int mon;
	int day;
	int hour = 0;
	int min = 0;
	int sec = 0;
	int ms = 0;
	int off = 0;

	if (!take_digits(&text, 4, &year) || !take_char(&text, "-") ||
		!take_digits(&text, 2, &mon) || !take_char(&text, "-") ||
		!take_digits(&text, 2, &day))
		return false;
	if (take_char(&text, "Tt ")) {
		if (!take_digits(&text, 2, &hour) || !take_char(&text, ":") ||
			!take_digits(&text, 2, &min))
			return false;
		if (take_char(&text, ":") && !take_digits(&text, 2, &sec))
			return false;
		ms = take_fraction_ms(&text);
	}
	if (!take_offset_min(&text, &off) || text.n)
		return false;
	if (mon < 1 || mon > 12 || day < 1 || day > 31 || hour > 24 || min > 59 || sec > 60)
		return false;
	int64_t s = days_from_civil(year, mon, day) * 86400 + hour * 3600 + min * 60 + sec;
	*ret_wall_ms = (s - (int64_t)off * 60) * 1000 + ms;
	return true;
}

bool clock_parse_span(struct sv text, int64_t *ret_ms)
{
	static const struct {
		char unit;
		int64_t ms;
	} units[] = { { 's', 1000 }, { 'm', 60000 }, { 'h', 3600000 }, { 'd', 86400000 },
		{ 'w', 604800000 } };
	long long n;

	if (text.n < 2 || !sv_parse_i64(sv_head(text, text.n - 1), &n) || n < 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (units[i].unit == text.p[text.n - 1])
			return !__builtin_mul_overflow((int64_t)n, units[i].ms, ret_ms);
	return false;
}
