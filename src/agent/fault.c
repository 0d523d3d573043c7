#include "agent/fault.h"

#include <ctype.h>

#include "base/utf8.h"

enum { SAID_MAX = 260 }; /* bytes of the agent's own words in a message */

/* ---- kind ---- */

struct phrase {
	const char *words;
	enum agent_fail kind;
	bool not_delivered;
	const char *advice; /* NULL: that of the kind */
};

/* Words of the agents, any case; the first that is found counts. */
static const struct phrase phrases[] = {
	{ "no conversation found", AGENT_NO_SESSION, true, NULL },
	{ "no rollout found", AGENT_NO_SESSION, true, NULL },
	{ "is already in use", AGENT_IN_USE, true, NULL },
	{ "already has an active writer", AGENT_IN_USE, true, NULL },
	{ "cannot be used with root", AGENT_REFUSED, true, NULL },
	{ "not inside a trusted directory", AGENT_REFUSED, true,
		"begin in a git repository, or set ai.outside_git: true" },
	{ "which is no longer configured", AGENT_FAILED, true,
		"'faden rollover' goes on with the provider that is" },
	{ "unknown option", AGENT_TOO_OLD, true, NULL },
	{ "unexpected argument", AGENT_TOO_OLD, true, NULL },
	{ "unrecognized subcommand", AGENT_TOO_OLD, true, NULL },
	{ "is invalid. allowed choices", AGENT_TOO_OLD, true, NULL },
	{ "not logged in", AGENT_NOT_LOGGED_IN, false, NULL },
	{ "please run /login", AGENT_NOT_LOGGED_IN, false, NULL },
	{ "failed to authenticate", AGENT_NOT_LOGGED_IN, false, NULL },
	{ "invalid api key", AGENT_NOT_LOGGED_IN, false, NULL },
	{ "authentication_failed", AGENT_NOT_LOGGED_IN, false, NULL },
	{ "401 unauthorized", AGENT_NOT_LOGGED_IN, false, NULL },
	{ "403 forbidden", AGENT_NOT_LOGGED_IN, false, NULL },
	{ "missing environment variable", AGENT_NOT_LOGGED_IN, false, NULL },
	{ "prompt is too long", AGENT_CONTEXT_FULL, false, NULL },
	{ "context window", AGENT_CONTEXT_FULL, false, NULL },
	{ "context_length_exceeded", AGENT_CONTEXT_FULL, false, NULL },
	{ "usage limit", AGENT_RATE_LIMITED, false, NULL },
	{ "you've hit your", AGENT_RATE_LIMITED, false, NULL },
	{ "rate_limit", AGENT_RATE_LIMITED, false, NULL },
	{ "rate limit", AGENT_RATE_LIMITED, false, NULL },
	{ "429 too many requests", AGENT_RATE_LIMITED, false, NULL },
	{ "reached maximum budget", AGENT_OVER_BUDGET, false, NULL },
};

static void lower(struct str *out, struct sv text)
{
	for (size_t i = 0; i < text.n; i++)
		str_addc(out, (char)tolower((unsigned char)text.p[i]));
}

static const struct phrase *phrase_in(struct sv said, size_t *ret_at)
{
	AUTO_STR text = STR_INIT;

	lower(&text, said);
	for (size_t i = 0; i < ARRAY_LEN(phrases); i++)
		if (sv_find(str_sv(&text), sv_of(phrases[i].words), ret_at))
			return &phrases[i];
	return NULL;
}

static bool status_kind(int status, enum agent_fail *ret)
{
	if (status == 401 || status == 403)
		*ret = AGENT_NOT_LOGGED_IN;
	else if (status == 429)
		*ret = AGENT_RATE_LIMITED;
	else
		return false;
	return true;
}

static struct sv line_at(struct sv text, size_t at)
{
	const char *begin = memrchr(text.p, '\n', at);
	struct sv rest = sv_from(text, begin ? (size_t)(begin - text.p) + 1 : 0), line = SV("");

	(void)sv_split(&rest, '\n', &line);
	return sv_trim(line);
}

struct fault fault_of(int status, struct sv said)
{
	struct fault fault = { .kind = AGENT_FAILED };
	size_t at;

	if (status_kind(status, &fault.kind))
		return fault;
	const struct phrase *phrase = phrase_in(said, &at);
	if (phrase) {
		fault.line = line_at(said, at);
		fault.kind = phrase->kind;
		fault.not_delivered = phrase->not_delivered;
	}
	return fault;
}

/* ---- when a limit ends ---- */

enum {
	SECOND_MS = 1000,
	MINUTE_MS = 60 * SECOND_MS,
	HOUR_MS = 60 * MINUTE_MS,
	DAY_MS = 24 * HOUR_MS,
	EPOCH_DIGITS = 10,
	SPAN_COUNT_MAX = 100000,
};

static struct sv skip_blanks(struct sv s)
{
	while (s.n && (s.p[0] == ' ' || s.p[0] == ','))
		s = sv_from(s, 1);
	return s;
}

/* Cuts a decimal number off *s; false when there is none or it is beyond all reason. */
static bool cut_number(struct sv *s, int64_t *ret)
{
	size_t n = 0;
	long long value;

	while (n < s->n && isdigit((unsigned char)s->p[n]))
		n++;
	if (n == 0 || !sv_parse_i64(sv_head(*s, n), &value))
		return false;
	*s = sv_from(*s, n);
	*ret = value;
	return true;
}

static int64_t unit_ms(struct sv s)
{
	static const struct {
		const char *name;
		int64_t ms;
	} units[] = { { "sec", SECOND_MS }, { "min", MINUTE_MS }, { "hour", HOUR_MS },
		{ "day", DAY_MS }, { "s", SECOND_MS }, { "m", MINUTE_MS }, { "h", HOUR_MS },
		{ "d", DAY_MS } };

	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (sv_starts(s, sv_of(units[i].name)))
			return units[i].ms;
	return 0;
}

/* "2 days 3 hours 5 minutes", "90s", "1.898s" */
static int64_t parse_span(struct sv s)
{
	int64_t total = 0, count, fraction;

	for (;;) {
		s = skip_blanks(s);
		if (sv_starts(s, SV("and ")))
			s = sv_from(s, 4);
		if (!cut_number(&s, &count) || count > SPAN_COUNT_MAX)
			return total;
		if (s.n && s.p[0] == '.') {
			s = sv_from(s, 1);
			if (!cut_number(&s, &fraction))
				return total;
			count++; /* rather too late than too early */
		}
		s = skip_blanks(s);
		int64_t unit = unit_ms(s);
		if (unit == 0)
			return total;
		total += count * unit;
		while (s.n && isalpha((unsigned char)s.p[0]))
			s = sv_from(s, 1);
	}
}

/* "3pm", "3:45 pm", "15:04" as minutes of the day, or -1. */
static int64_t parse_clock(struct sv s)
{
	int64_t hour, minute = 0;
	bool colon = false;

	s = skip_blanks(s);
	if (!cut_number(&s, &hour))
		return -1;
	if (s.n && s.p[0] == ':') {
		s = sv_from(s, 1);
		if (!cut_number(&s, &minute))
			return -1;
		colon = true;
	}
	s = skip_blanks(s);
	bool am = sv_starts(s, SV("am")), pm = sv_starts(s, SV("pm"));
	if ((!am && !pm && !colon) || hour > 23 || minute > 59 || ((am || pm) && hour > 12))
		return -1;
	if (am || pm)
		hour = hour % 12 + (pm ? 12 : 0);
	return hour * 60 + minute;
}

/* The next time the clock on the wall shows that. */
static int64_t next_clock(int64_t minutes, int64_t now_ms)
{
	time_t now = (time_t)(now_ms / SECOND_MS);
	struct tm tm;

	if (!localtime_r(&now, &tm))
		return 0;
	tm.tm_hour = (int)(minutes / 60);
	tm.tm_min = (int)(minutes % 60);
	tm.tm_sec = 0;
	tm.tm_isdst = -1;
	time_t end = mktime(&tm);
	if (end < now) {
		tm.tm_mday++;
		tm.tm_isdst = -1;
		end = mktime(&tm);
	}
	return end < now ? 0 : (int64_t)end * SECOND_MS;
}

static bool after(struct sv text, const char *words, struct sv *ret)
{
	size_t at;

	if (!sv_find(text, sv_of(words), &at))
		return false;
	*ret = skip_blanks(sv_from(text, at + strlen(words)));
	return true;
}

int64_t fault_limit_end(struct sv said, int64_t now_ms)
{
	static const char *const leads[] = { "resets at", "resets in", "resets", "try again in",
		"try again at", "retry after" };
	AUTO_STR text = STR_INIT;
	struct sv rest;
	int64_t number;

	lower(&text, said);
	if (after(str_sv(&text), "|", &rest)) {
		struct sv digits = rest;
		if (cut_number(&digits, &number) && rest.n - digits.n == EPOCH_DIGITS)
			return number * SECOND_MS;
	}
	for (size_t i = 0; i < ARRAY_LEN(leads); i++) {
		if (!after(str_sv(&text), leads[i], &rest))
			continue;
		int64_t clock = parse_clock(rest);
		int64_t span = clock < 0 ? parse_span(rest) : 0;
		if (clock >= 0)
			return next_clock(clock, now_ms);
		if (span > 0)
			return now_ms + span;
	}
	return 0;
}

/* ---- message ---- */

static const char *advice(enum agent_fail kind, struct sv said)
{
	const struct phrase *phrase = phrase_in(said, NULL);

	if (phrase && phrase->kind == kind && phrase->advice)
		return phrase->advice;
	switch (kind) {
	case AGENT_NOT_LOGGED_IN:
		return FAULT_LOG_IN;
	case AGENT_CONTEXT_FULL:
		return "the conversation is full: 'faden trim' or 'faden rollover' goes on with "
		       "less, >trim or >continue while talking; --new begins another one";
	case AGENT_REFUSED:
		return "choose another --permission-mode or ai.permission_mode, or do not run as "
		       "root";
	case AGENT_TOO_OLD:
		return "this version does not know what is asked of it: update it";
	case AGENT_IN_USE:
		return "another program has this conversation open: close it there first";
	case AGENT_OVER_BUDGET:
		return "raise the budget or begin again";
	case AGENT_OK:
	case AGENT_NO_SESSION:
	case AGENT_RATE_LIMITED: /* said with the time when it ends, once that is known */
	case AGENT_MISSING:
	case AGENT_CANCELLED:
	case AGENT_TIMED_OUT:
	case AGENT_DIED:
	case AGENT_FAILED:
		break;
	}
	return NULL;
}

void fault_tell(
	struct agent_result *result, const char *agent, enum agent_fail kind, struct sv said)
{
	AUTO_STR line = STR_INIT;
	const char *what = advice(kind, said);

	utf8_scrub_line(&line, sv_trim(said));
	struct sv words = utf8_cut(str_sv(&line), SAID_MAX);
	if (words.n == 0)
		words = sv_of(agent_fail_name(kind));
	if (what)
		agent_result_fail(result, kind, "%s: %.*s (%s)", agent, SV_ARG(words), what);
	else
		agent_result_fail(result, kind, "%s: %.*s", agent, SV_ARG(words));
}

void death_tell(struct agent_result *result, const char *agent, const struct child *child,
	bool took, int status)
{
	struct fault fault = fault_of(0, str_sv(&child->errors));
	AUTO_STR last = STR_INIT;
	AUTO_STR said = STR_INIT;
	char how[64];

	if (result->delivery != AGENT_DELIVERED && (fault.not_delivered || !took))
		result->delivery = AGENT_NOT_DELIVERED;
	/* One that was killed did not end for what it complained of before. */
	if (fault.kind != AGENT_FAILED && !WIFSIGNALED(status)) {
		fault_tell(result, agent, fault.kind, fault.line);
		return;
	}
	if (!WIFSIGNALED(status))
		child_last_error(child, &last);
	proc_describe_status(status, how, sizeof(how));
	str_addf(&said, "ended without an answer (%s)%s%s", how, last.len ? ": " : "", last.buf);
	fault_tell(result, agent, AGENT_DIED, str_sv(&said));
}

void loss_tell(struct agent *a, const char *agent, const char *how)
{
	AUTO_STR text = STR_INIT;

	str_addf(&text, "%s had ended (%s); going on with the same conversation", agent, how);
	agent_emit_text(a, AGENT_EV_NOTICE, str_sv(&text));
}
