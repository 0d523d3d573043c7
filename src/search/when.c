#include "search/when.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/attr.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "search/vocabulary.h"

enum { SECOND_MS = 1000, DAY_MS = 24 * 60 * 60 * SECOND_MS, WEEK_DAYS = 7, YEAR_MONTHS = 12 };

/* ---- the words ---- */

static const char *const month_names[YEAR_MONTHS] = {
	"january|januar|jänner",
	"february|februar|feber|feb",
	"march|märz|maerz|mär",
	"april|apr",
	"may|mai",
	"june|juni|jun",
	"july|juli|jul",
	"august|aug",
	"september|sept|sep",
	"october|oktober|oct|okt",
	"november|nov",
	"december|dezember|dec|dez",
};
/* Names of months that are other words as well, and where they are months nevertheless. */
#define DOUBTFUL "may|march|mai|sep|dec|mär|jun|jul|oct|apr|aug|nov|feb|okt|dez"
#define BEFORE_MONTH                                                                            \
	"in|im|of|since|during|until|till|by|last|early|late|mid|before|after|from|between|to|" \
	"and|seit|bis|ab|vom|vor|nach|anfang|ende|mitte|letzten|letzter|zwischen|und|this|next"
#define BEFORE_YEAR "in|im|since|during|year|jahr|seit|until|before|after|vor|nach|ab|bis|from"

static const char *const day_names[WEEK_DAYS] = { "sunday|sonntag", "monday|montag",
	"tuesday|dienstag", "wednesday|mittwoch", "thursday|donnerstag", "friday|freitag",
	"saturday|samstag|sonnabend" };
static const char *const days_back[] = { "today|heute|tonight", "yesterday|gestern", "vorgestern" };

#define LAST                                                                                \
	"last|past|previous|letzte|letzten|letzter|letztes|letztem|vergangene|vergangenen|" \
	"vergangener|vergangenes|vorige|vorigen|voriger|voriges"
#define THIS "this|current|diese|diesen|dieser|dieses|diesem"
#define WEEKEND "weekend|wochenende"

static const char *const numbers[] = { NULL, "one|a|an|ein|eine|einen|einem|einer|eines",
	"two|zwei|couple", "three|drei|few|paar", "four|vier", "five|fünf", "six|sechs",
	"seven|sieben", "eight|acht", "nine|neun", "ten|zehn", "eleven|elf", "twelve|zwölf" };

enum unit { MINUTES, HOURS, DAYS, WEEKS, MONTHS, YEARS, UNITS };
static const char *const unit_names[UNITS] = { "minute|minutes|minuten",
	"hour|hours|stunde|stunden", "day|days|tag|tage|tagen", "week|weeks|woche|wochen",
	"month|months|monat|monate|monaten", "year|years|jahr|jahre|jahren" };

/* ---- the text in pieces ---- */

enum { PIECES_MAX = 400, PIECE_MAX = 24, YEAR_MIN = 1970, YEAR_MAX = 2199 };
struct piece {
	char text[PIECE_MAX]; /* folded; empty when it is too long to be of interest */
	int number; /* -1: not one */
	int digits;
	char after; /* the byte that follows it */
	bool close; /* … and is followed by the next piece at once */
	size_t from, end; /* where it stands in the text */
};
struct pieces {
	struct piece v[PIECES_MAX];
	size_t n;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

static void cut_up(struct sv text, struct pieces *ret)
{
	size_t at = 0;

	ret->n = 0;
	while (ret->n < PIECES_MAX) {
		while (at < text.n && !is_digit(text.p[at]) && !is_letter(text.p[at]))
			at++;
		if (at == text.n)
			break;
		struct piece *p = &ret->v[ret->n++];
		size_t from = at;
		bool digits = is_digit(text.p[at]);
		while (at < text.n &&
			(digits ? is_digit(text.p[at])
				: is_letter(text.p[at]) || text.p[at] == '\''))
			at++;
		*p = (struct piece){ .number = -1, .from = from, .end = at };
		struct sv word = sv_make(text.p + from, at - from);
		AUTO_STR folded = STR_INIT;
		utf8_normalise(&folded, word, true);
		struct sv whole = str_sv(&folded);
		/* Sunday's */
		if (sv_ends(whole, SV("'s")))
			whole.n -= 2;
		long long number;
		if (whole.n < PIECE_MAX)
			memcpy(p->text, whole.p, whole.n);
		if (digits && word.n <= 4 && sv_parse_i64(word, &number)) {
			p->number = (int)number;
			p->digits = (int)word.n;
		}
		p->after = at < text.n ? text.p[at] : '\0';
		p->close =
			at + 1 < text.n && (is_digit(text.p[at + 1]) || is_letter(text.p[at + 1]));
	}
}

/* An empty piece of text after the last one. */
static const struct piece *piece_at(const struct pieces *ps, size_t i)
{
	static const struct piece none = { .number = -1 };

	return i < ps->n ? &ps->v[i] : &none;
}

static bool is_one(const struct piece *p, const char *list)
{
	return p->text[0] && sv_among(sv_of(p->text), list);
}

/* Its row in a table of words; -1: in none. */
static int row_of(const struct piece *p, const char *const *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i] && is_one(p, rows[i]))
			return (int)i;
	return -1;
}
#define ROW_OF(p, rows) row_of(p, rows, ARRAY_LEN(rows))

static bool is_year(const struct piece *p)
{
	return p->digits == 4 && p->number >= YEAR_MIN && p->number <= YEAR_MAX;
}

static bool is_day(const struct piece *p)
{
	return p->digits > 0 && p->digits <= 2 && p->number >= 1 && p->number <= 31;
}

/* ---- the calendar ---- */

struct finder {
	struct pieces ps;
	int64_t now_ms;
	struct tm today; /* its midnight, local */
	struct whens *out;
};

/* Midnight of a local day; figures beyond their range carry over, as mktime() has it. */
static int64_t midnight(int year, int month, int day)
{
	struct tm tm = { .tm_year = year - 1900, .tm_mon = month, .tm_mday = day, .tm_isdst = -1 };

	return (int64_t)mktime(&tm) * SECOND_MS;
}

static void found(struct finder *f, int64_t from_ms, int64_t to_ms)
{
	if (f->out->n < WHENS_MAX && from_ms < to_ms)
		f->out->v[f->out->n++] = (struct when){ from_ms, to_ms };
}

static void found_days(struct finder *f, int back, int n)
{
	int year = f->today.tm_year + 1900, day = f->today.tm_mday - back;

	found(f, midnight(year, f->today.tm_mon, day), midnight(year, f->today.tm_mon, day + n));
}

/* day 0: the whole month; year 0: that of each of the last years, the latest first. */
static bool found_date(struct finder *f, int year, int month, int day)
{
	static const int days[YEAR_MONTHS] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	int last = f->today.tm_year + 1900;

	if (month < 0 || month >= YEAR_MONTHS || day > days[month])
		return false;
	for (int y = year ? year : last; y >= (year ? year : last - WHEN_YEARS + 1); y--) {
		int64_t from = midnight(y, month, day ? day : 1);
		if (year || from <= f->now_ms)
			found(f, from,
				day ? midnight(y, month, day + 1) : midnight(y, month + 1, 1));
	}
	return true;
}

/* `back` whole ones before the current one, `n` of them. */
static void found_units(struct finder *f, enum unit unit, int back, int n)
{
	int year = f->today.tm_year + 1900, month = f->today.tm_mon;
	int monday = (f->today.tm_wday + WEEK_DAYS - 1) % WEEK_DAYS;

	if (unit == DAYS)
		found_days(f, back, n);
	else if (unit == WEEKS)
		found_days(f, monday + back * WEEK_DAYS, n * WEEK_DAYS);
	else if (unit == MONTHS)
		found(f, midnight(year, month - back, 1), midnight(year, month - back + n, 1));
	else if (unit == YEARS)
		found(f, midnight(year - back, 0, 1), midnight(year - back + n, 0, 1));
	else
		found(f, f->now_ms - (int64_t)(back + n) * 60 * 60 * SECOND_MS, f->now_ms + 1);
}

/* ---- patterns: each looks at what begins with piece i and returns how many pieces it took ---- */

/* 31/01/2026 or 01/31/2026; none where both can be meant. */
static bool by_slashes(struct finder *f, const struct piece *a, const struct piece *b, int year)
{
	bool first = b->number <= YEAR_MONTHS, second = a->number <= YEAR_MONTHS;

	if (first && second && a->number != b->number)
		return false;
	return first ? found_date(f, year, b->number - 1, a->number)
		     : second && found_date(f, year, a->number - 1, b->number);
}

/* 2026-01-31, 2026-01, 2026/01/31, 31.1.2026, 31.1., 31/1/2026 */
static size_t in_figures(struct finder *f, size_t i)
{
	const struct piece *a = piece_at(&f->ps, i), *b = piece_at(&f->ps, i + 1),
			   *c = piece_at(&f->ps, i + 2);
	bool dashes = a->close && (a->after == '-' || a->after == '/');

	if (is_year(a) && dashes && b->digits == 2 && b->number <= YEAR_MONTHS) {
		if (b->close && b->after == a->after && c->digits == 2 && c->number >= 1 &&
			found_date(f, a->number, b->number - 1, c->number))
			return 3;
		return !(b->close && b->after == a->after) &&
				found_date(f, a->number, b->number - 1, 0)
			? 2
			: 0;
	}
	if (is_day(a) && a->after == '.' && a->close && is_day(b) && b->number <= YEAR_MONTHS &&
		b->after == '.') {
		bool year = b->close && is_year(c);
		if ((year || !b->close) &&
			found_date(f, year ? c->number : 0, b->number - 1, a->number))
			return year ? 3 : 2;
	}
	if (is_day(a) && a->after == '/' && a->close && is_day(b) && b->after == '/' && b->close &&
		is_year(c) && !(c->after == '/' && c->close) && by_slashes(f, a, b, c->number))
		return 3;
	return 0;
}

/* The 5 of "5th of", "5.": how many pieces it takes. */
static size_t day_pieces(const struct finder *f, size_t i)
{
	size_t n = 1;

	if (!is_day(piece_at(&f->ps, i)))
		return 0;
	if (is_one(piece_at(&f->ps, i + n), "st|nd|rd|th"))
		n++;
	if (is_one(piece_at(&f->ps, i + n), "of"))
		n++;
	return n;
}

/* 5 May 2023, 5th of May, 5. Mai, May 5th, 2023, May 2023, in May */
static size_t by_month(struct finder *f, size_t i)
{
	size_t n = day_pieces(f, i);
	int day = n ? piece_at(&f->ps, i)->number : 0, year = 0;
	const struct piece *name = piece_at(&f->ps, i + n);
	int month = ROW_OF(name, month_names);

	if (month < 0)
		return 0;
	n++;
	if (!day) {
		size_t more = day_pieces(f, i + n);
		day = more ? piece_at(&f->ps, i + n)->number : 0;
		n += more;
	} else if (is_one(piece_at(&f->ps, i + n), "of")) {
		n++;
	}
	if (is_year(piece_at(&f->ps, i + n)))
		year = piece_at(&f->ps, i + n++)->number;
	if (!day && !year && is_one(name, DOUBTFUL) &&
		(i == 0 || !is_one(piece_at(&f->ps, i - 1), BEFORE_MONTH)))
		return 0;
	return found_date(f, year, month, day) ? n : 0;
}

/* today, last Tuesday, on Monday, am Wochenende, the day before yesterday */
static size_t by_day(struct finder *f, size_t i)
{
	const struct piece *p = piece_at(&f->ps, i);
	size_t n = is_one(p, LAST "|" THIS) ? 1 : 0;
	int back = ROW_OF(p, days_back), day = ROW_OF(piece_at(&f->ps, i + n), day_names);
	int since_saturday = (f->today.tm_wday + 1) % WEEK_DAYS;

	if (is_one(p, "day") && is_one(piece_at(&f->ps, i + 1), "before") &&
		is_one(piece_at(&f->ps, i + 2), "yesterday")) {
		found_days(f, 2, 1);
		return 3;
	}
	if (back >= 0) {
		found_days(f, back, 1);
		return 1;
	}
	if (is_one(piece_at(&f->ps, i + n), WEEKEND)) {
		bool now = since_saturday < 2;
		found_days(f, since_saturday + (now && is_one(p, LAST) ? WEEK_DAYS : 0), 2);
		return n + 1;
	}
	if (day < 0)
		return 0;
	back = (f->today.tm_wday - day + WEEK_DAYS) % WEEK_DAYS;
	found_days(f, back == 0 && is_one(p, LAST) ? WEEK_DAYS : back, 1);
	return n + 1;
}

/* last week, this month, the last three days, two weeks ago, vor zwei Wochen */
static size_t by_unit(struct finder *f, size_t i)
{
	const struct piece *p = piece_at(&f->ps, i);
	bool last = is_one(p, LAST), now = is_one(p, THIS), vor = is_one(p, "vor");
	size_t n = last || now || vor ? 1 : 0;
	const struct piece *figure = piece_at(&f->ps, i + n);
	int count = figure->digits ? figure->number : ROW_OF(figure, numbers);

	if (count > 0 && is_one(figure, "a") && is_one(piece_at(&f->ps, i + n + 1), "couple|few"))
		count = ROW_OF(piece_at(&f->ps, i + ++n), numbers);
	n += count > 0 ? 1 : 0;
	if (count > 0 && is_one(piece_at(&f->ps, i + n), "of"))
		n++;
	int unit = ROW_OF(piece_at(&f->ps, i + n), unit_names);
	if (unit < 0)
		return 0;
	n++;
	if (count <= 0 && (last || now)) {
		found_units(f, (enum unit)unit, last ? 1 : 0, 1);
		return n;
	}
	if (count <= 0)
		return 0;
	if (last) {
		found_units(f, (enum unit)unit, count, count + 1);
		return n;
	}
	bool ago = is_one(piece_at(&f->ps, i + n), "ago");
	if (!vor && !ago)
		return 0;
	if (unit >= DAYS)
		found_units(f, (enum unit)unit, count, 1);
	else /* within the hour before and after */
		found_days(f, 0, 1);
	return n + (ago ? 1 : 0);
}

static size_t by_year(struct finder *f, size_t i)
{
	const struct piece *p = piece_at(&f->ps, i);

	if (!is_year(p) || i == 0 || !is_one(piece_at(&f->ps, i - 1), BEFORE_YEAR))
		return 0;
	found(f, midnight(p->number, 0, 1), midnight(p->number + 1, 0, 1));
	return 1;
}

typedef size_t (*pattern)(struct finder *f, size_t i);
static const pattern patterns[] = { in_figures, by_month, by_day, by_unit, by_year };

static bool finder_init(struct finder *f, struct sv text, int64_t now_ms, struct whens *out)
{
	time_t now = (time_t)(now_ms / SECOND_MS);

	out->n = 0;
	f->now_ms = now_ms;
	f->out = out;
	cut_up(text, &f->ps);
	return localtime_r(&now, &f->today) != NULL;
}

static size_t take(struct finder *f, size_t i)
{
	size_t n = 0;

	for (size_t k = 0; n == 0 && k < ARRAY_LEN(patterns); k++)
		n = patterns[k](f, i);
	return n;
}

/* ---- what others call ---- */

void when_find(struct sv text, int64_t now_ms, struct whens *ret)
{
	struct finder f;

	if (!finder_init(&f, text, now_ms, ret))
		return;
	for (size_t i = 0; i < f.ps.n;) {
		size_t n = take(&f, i);
		i += n > 0 ? n : 1;
	}
}

static bool has_blank(struct sv text, size_t from, size_t end)
{
	for (size_t i = from; i < end; i++)
		if (text.p[i] == ' ' || text.p[i] == '\t' || text.p[i] == '\n')
			return true;
	return false;
}

/* A year that is counted from now is no date to those who speak of it later: they say "last year",
 * too. */
static bool has_unit_year(const struct piece *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (is_one(&p[i], unit_names[YEARS]))
			return true;
	return false;
}

void when_without(struct sv text, int64_t now_ms, struct str *out)
{
	struct whens all;
	struct finder f;
	size_t at = 0;

	if (finder_init(&f, text, now_ms, &all))
		for (size_t i = 0, n; i<f.ps.n; i += n> 0 ? n : 1) {
			n = take(&f, i);
			const struct piece *first = &f.ps.v[i];
			if (n == 0 || has_unit_year(first, n) ||
				(i > 0 && !has_blank(text, first[-1].end, first->from)))
				continue;
			size_t end = first[n - 1].end;
			if (i + n < f.ps.n && !has_blank(text, end, first[n].from))
				continue;
			str_add(out, sv_make(text.p + at, first->from - at));
			str_addc(out, ' ');
			at = end;
		}
	str_add(out, sv_from(text, at));
}

bool when_parse(struct sv text, int64_t now_ms, struct when *ret)
{
	struct whens all;
	struct finder f;
	int64_t ms;

	if (clock_parse_span(text, &ms)) {
		*ret = (struct when){ now_ms - ms, now_ms };
		return true;
	}
	if (memchr(text.p, ':', text.n) && clock_parse_iso(text, &ms)) {
		*ret = (struct when){ ms, ms + 1 };
		return true;
	}
	if (!finder_init(&f, text, now_ms, &all) || f.ps.n == 0)
		return false;
	const struct piece *p = &f.ps.v[0];
	int month = f.ps.n == 1 ? ROW_OF(p, month_names) : -1;
	if (f.ps.n == 1 && is_year(p))
		found(&f, midnight(p->number, 0, 1), midnight(p->number + 1, 0, 1));
	else if (month >= 0)
		(void)found_date(&f, 0, month, 0);
	else if (take(&f, 0) != f.ps.n)
		return false;
	if (all.n == 0)
		return false;
	*ret = all.v[0];
	return true;
}

bool when_alone(struct sv text, int64_t now_ms, struct when *ret)
{
	struct whens all;
	struct finder f;
	size_t dates = 0;
	bool since = false;

	if (!finder_init(&f, text, now_ms, &all))
		return false;
	for (size_t i = 0; i < f.ps.n;) {
		size_t n = take(&f, i);
		bool begins = n == 0 && dates == 0 && is_one(&f.ps.v[i], "since|seit");
		since |= begins;
		if (n == 0 && !begins && !vocabulary_asking(sv_of(f.ps.v[i].text)))
			return false;
		dates += n > 0;
		i += n > 0 ? n : 1;
	}
	if (dates != 1 || all.n == 0 || f.ps.n == PIECES_MAX)
		return false;
	*ret = all.v[0];
	int64_t end = midnight(f.today.tm_year + 1900, f.today.tm_mon, f.today.tm_mday + 1);
	if (since && ret->to_ms < end)
		ret->to_ms = end;
	return true;
}

double when_meets(const struct whens *dates, int64_t first_ms, int64_t last_ms)
{
	/* Days after which it is a third; chosen by questions over dated dialogues, where anything
	 * from half to twice of it serves as well. */
	static const double days_after = 7, days_before = 2, year = 0.2, long_ms = 300.0 * DAY_MS;
	double best = 0;

	for (size_t i = 0; i < dates->n; i++) {
		const struct when *w = &dates->v[i];
		double after = (double)(first_ms - w->to_ms) / DAY_MS;
		double before = (double)(w->from_ms - last_ms) / DAY_MS;
		double meets = after > 0 ? exp(-after / days_after)
			: before > 0	 ? exp(-before / days_before)
					 : 1;
		if ((double)(w->to_ms - w->from_ms) > long_ms)
			meets *= year;
		best = meets > best ? meets : best;
	}
	return best;
}
