#include "voice/say.h"

#include <ctype.h>

#include "base/lang.h"
#include "base/utf8.h"
#include "route/tables.h"

/* ---- language ---- */

enum speakable_language say_language(struct sv sentence)
{
	int german = 0, english = 0;

	while (sentence.n) {
		size_t n = 0;
		AUTO_STR word = STR_INIT;
		bool letters = false;
		while (n < sentence.n &&
			(isalpha((unsigned char)sentence.p[n]) || sentence.p[n] == '\'' ||
				(unsigned char)sentence.p[n] >= 0x80)) {
			letters = true;
			n++;
		}
		if (!letters) {
			sentence = sv_from(sentence, 1);
			continue;
		}
		struct sv raw = sv_head(sentence, n);
		utf8_normalise(&word, raw, true);
		const struct known_word *known = known_find(str_sv(&word));
		unsigned flags = known ? known->flags : 0;
		bool is_german = flags & (1U << LANG_DE), is_english = flags & (1U << LANG_EN);
		german += is_german && !is_english ? 2 : 0;
		english += is_english && !is_german ? 2 : 0;
		size_t at;
		if (sv_find(raw, SV("ä"), &at) || sv_find(raw, SV("ö"), &at) ||
			sv_find(raw, SV("ü"), &at) || sv_find(raw, SV("ß"), &at))
			german += 2;
		if (sv_find(raw, SV("'"), &at))
			english++;
		sentence = sv_from(sentence, n);
	}
	return german > english	   ? SPEAKABLE_DE
		: english > german ? SPEAKABLE_EN
				   : SPEAKABLE_UNKNOWN;
}

/* ---- words that are written short ---- */

/* One word with its full stops, folded to lower case; NULL: as it is in that language. */
static const struct {
	const char *text, *de, *en;
	enum say_stop stop;
} shorts[] = {
	{ "z.b.", "zum Beispiel", NULL, SAY_NEVER_ENDS },
	{ "d.h.", "das heißt", NULL, SAY_NEVER_ENDS },
	{ "u.a.", "unter anderem", NULL, SAY_NEVER_ENDS },
	{ "o.ä.", "oder Ähnliches", NULL, SAY_MAY_END },
	{ "u.ä.", "und Ähnliches", NULL, SAY_MAY_END },
	{ "i.d.r.", "in der Regel", NULL, SAY_NEVER_ENDS },
	{ "s.o.", "siehe oben", NULL, SAY_MAY_END },
	{ "s.u.", "siehe unten", NULL, SAY_MAY_END },
	{ "usw.", "und so weiter", NULL, SAY_MAY_END },
	{ "etc.", "et cetera", "et cetera", SAY_MAY_END },
	{ "bzw.", "beziehungsweise", NULL, SAY_NEVER_ENDS },
	{ "bspw.", "beispielsweise", NULL, SAY_NEVER_ENDS },
	{ "ca.", "circa", "circa", SAY_NEVER_ENDS },
	{ "evtl.", "eventuell", NULL, SAY_NEVER_ENDS },
	{ "ggf.", "gegebenenfalls", NULL, SAY_NEVER_ENDS },
	{ "inkl.", "inklusive", NULL, SAY_NEVER_ENDS },
	{ "exkl.", "exklusive", NULL, SAY_NEVER_ENDS },
	{ "vgl.", "vergleiche", NULL, SAY_NEVER_ENDS },
	{ "sog.", "sogenannte", NULL, SAY_NEVER_ENDS },
	{ "max.", "maximal", "maximum", SAY_MAY_END },
	{ "min.", "mindestens", "minimum", SAY_MAY_END },
	/* Behind a number they are units. */
	{ "mins.", NULL, NULL, SAY_MAY_END },
	{ "sek.", NULL, NULL, SAY_MAY_END },
	{ "sec.", NULL, NULL, SAY_MAY_END },
	{ "secs.", NULL, NULL, SAY_MAY_END },
	{ "std.", NULL, NULL, SAY_MAY_END },
	{ "hrs.", NULL, NULL, SAY_MAY_END },
	{ "nr.", "Nummer", "number", SAY_NEVER_ENDS },
	{ "abb.", "Abbildung", NULL, SAY_NEVER_ENDS },
	{ "kap.", "Kapitel", NULL, SAY_NEVER_ENDS },
	{ "str.", "Straße", NULL, SAY_MAY_END },
	{ "hr.", "Herr", NULL, SAY_NEVER_ENDS },
	{ "fr.", "Frau", NULL, SAY_NEVER_ENDS },
	{ "dr.", "Doktor", "doctor", SAY_NEVER_ENDS },
	{ "prof.", "Professor", "professor", SAY_NEVER_ENDS },
	{ "st.", NULL, NULL, SAY_NEVER_ENDS },
	{ "e.g.", NULL, "for example", SAY_NEVER_ENDS },
	{ "i.e.", NULL, "that is", SAY_NEVER_ENDS },
	{ "vs.", "gegen", "versus", SAY_NEVER_ENDS },
	{ "approx.", NULL, "approximately", SAY_NEVER_ENDS },
	{ "fig.", NULL, "figure", SAY_NEVER_ENDS },
	{ "mr.", NULL, "mister", SAY_NEVER_ENDS },
	{ "mrs.", NULL, "misses", SAY_NEVER_ENDS },
	{ "ms.", NULL, "miss", SAY_NEVER_ENDS },
	{ "jr.", NULL, NULL, SAY_MAY_END },
	{ "inc.", NULL, NULL, SAY_MAY_END },
	{ "ltd.", NULL, NULL, SAY_MAY_END },
	{ "corp.", NULL, NULL, SAY_MAY_END },
	{ "al.", NULL, NULL, SAY_MAY_END },
	{ "a.m.", NULL, "a m", SAY_MAY_END },
	{ "p.m.", NULL, "p m", SAY_MAY_END },
	{ "jan.", "Januar", "January", SAY_NEVER_ENDS },
	{ "feb.", "Februar", "February", SAY_NEVER_ENDS },
	{ "aug.", "August", "August", SAY_NEVER_ENDS },
	{ "sept.", "September", "September", SAY_NEVER_ENDS },
	{ "okt.", "Oktober", NULL, SAY_NEVER_ENDS },
	{ "oct.", NULL, "October", SAY_NEVER_ENDS },
	{ "nov.", "November", "November", SAY_NEVER_ENDS },
	{ "dez.", "Dezember", NULL, SAY_NEVER_ENDS },
	{ "dec.", NULL, "December", SAY_NEVER_ENDS },
};

/* Behind a number. */
static const struct {
	const char *text, *de, *en;
} units[] = {
	{ "ms", "Millisekunden", "milliseconds" },
	{ "µs", "Mikrosekunden", "microseconds" },
	{ "s", "Sekunden", "seconds" },
	{ "Sek", "Sekunden", "seconds" },
	{ "sec", "Sekunden", "seconds" },
	{ "secs", "Sekunden", "seconds" },
	{ "min", "Minuten", "minutes" },
	{ "Min", "Minuten", "minutes" },
	{ "mins", "Minuten", "minutes" },
	{ "h", "Stunden", "hours" },
	{ "hr", "Stunden", "hours" },
	{ "hrs", "Stunden", "hours" },
	{ "Std", "Stunden", "hours" },
	{ "kB", "Kilobyte", "kilobytes" },
	{ "KB", "Kilobyte", "kilobytes" },
	{ "MB", "Megabyte", "megabytes" },
	{ "GB", "Gigabyte", "gigabytes" },
	{ "TB", "Terabyte", "terabytes" },
	{ "KiB", "Kibibyte", "kibibytes" },
	{ "MiB", "Mebibyte", "mebibytes" },
	{ "GiB", "Gibibyte", "gibibytes" },
	{ "Hz", "Hertz", "hertz" },
	{ "kHz", "Kilohertz", "kilohertz" },
	{ "MHz", "Megahertz", "megahertz" },
	{ "GHz", "Gigahertz", "gigahertz" },
	{ "mm", "Millimeter", "millimeters" },
	{ "cm", "Zentimeter", "centimeters" },
	{ "m", "Meter", "meters" },
	{ "km", "Kilometer", "kilometers" },
	{ "km/h", "Kilometer pro Stunde", "kilometers per hour" },
	{ "g", "Gramm", "grams" },
	{ "kg", "Kilogramm", "kilograms" },
	{ "°C", "Grad Celsius", "degrees Celsius" },
	{ "°F", "Grad Fahrenheit", "degrees Fahrenheit" },
	{ "€", "Euro", "euros" },
	{ "%", "Prozent", "percent" },
};

static const char *const months_de[] = { "Januar", "Februar", "März", "April", "Mai", "Juni",
	"Juli", "August", "September", "Oktober", "November", "Dezember" };
static const char *const months_en[] = { "January", "February", "March", "April", "May", "June",
	"July", "August", "September", "October", "November", "December" };

static void fold(struct str *out, struct sv word)
{
	utf8_normalise(out, word, true);
}

enum say_stop say_stop_after(struct sv word)
{
	AUTO_STR folded = STR_INIT;
	uint32_t cp;

	/* An initial, or a letter of "z. B.". */
	if (word.n && utf8_decode(word, &cp) == word.n && !(cp >= '0' && cp <= '9') &&
		(cp >= 0x80 || isalpha((int)cp)))
		return SAY_NEVER_ENDS;
	fold(&folded, word);
	str_addc(&folded, '.');
	for (size_t i = 0; i < ARRAY_LEN(shorts); i++)
		if (sv_is(str_sv(&folded), shorts[i].text))
			return shorts[i].stop;
	return SAY_ENDS;
}

/* ---- a sentence ---- */

struct say {
	struct str *out;
	size_t began; /* of out */
	enum speakable_language language;
	bool german;
	bool named[4]; /* by what is not read out */
	bool after_number; /* the word before is one */
	bool aside; /* in brackets */
};

static void add_word(struct say *s, struct sv word)
{
	if (!word.n)
		return;
	char first = word.p[0];
	if (s->out->len > s->began && !strchr(",.;:!?)", first))
		str_addc(s->out, ' ');
	str_add(s->out, word);
}

static void name_it(struct say *s, int what)
{
	static const char *const de[] = { [SAY_CODE] = "Code auf dem Bildschirm",
		[SAY_LINK] = "Link auf dem Bildschirm",
		[SAY_TABLE] = "Tabelle auf dem Bildschirm" };
	static const char *const en[] = { [SAY_CODE] = "code on screen",
		[SAY_LINK] = "link on screen",
		[SAY_TABLE] = "table on screen" };

	if (s->named[what])
		return;
	s->named[what] = true;
	add_word(s, sv_of(s->german ? de[what] : en[what]));
}

static bool all_of(struct sv s, const char *chars)
{
	for (size_t i = 0; i < s.n; i++)
		if (!strchr(chars, s.p[i]) || !s.p[i])
			return false;
	return s.n > 0;
}

static bool is_number(struct sv s)
{
	return all_of(s, "0123456789.,") && isdigit((unsigned char)s.p[0]) &&
		isdigit((unsigned char)s.p[s.n - 1]);
}

/* 2024-05-17 */
static bool add_date(struct say *s, struct sv w)
{
	long long year, month, day;

	if (w.n != 10 || w.p[4] != '-' || w.p[7] != '-' || !sv_parse_i64(sv_head(w, 4), &year) ||
		!sv_parse_i64(sv_head(sv_from(w, 5), 2), &month) ||
		!sv_parse_i64(sv_from(w, 8), &day) || year < 1000 || month < 1 || month > 12 ||
		day < 1 || day > 31)
		return false;
	AUTO_STR text = STR_INIT;
	if (s->german)
		str_addf(&text, "%lld. %s %lld", day, months_de[month - 1], year);
	else
		str_addf(&text, "%s %lld, %lld", months_en[month - 1], day, year);
	add_word(s, str_sv(&text));
	return true;
}

static const char *unit(const struct say *s, struct sv w)
{
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (sv_is(w, units[i].text))
			return s->german ? units[i].de : units[i].en;
	return NULL;
}

/* "10MB", "5%", "10–20", "~5" */
static bool add_quantity(struct say *s, struct sv w)
{
	AUTO_STR text = STR_INIT;
	size_t n = 0, dash;

	if (sv_starts(w, SV("~")) && w.n > 1 && isdigit((unsigned char)w.p[1])) {
		str_adds(&text, s->german ? "etwa " : "about ");
		w = sv_from(w, 1);
	}
	if (sv_find(w, SV("–"), &dash) && is_number(sv_head(w, dash))) {
		str_add(&text, sv_head(w, dash));
		str_adds(&text, s->german ? " bis " : " to ");
		w = sv_from(w, dash + SV("–").n);
	}
	while (n < w.n && strchr("0123456789.,", w.p[n]))
		n++;
	if (!is_number(sv_head(w, n)) || (n == w.n && !text.len))
		return false;
	const char *name = n < w.n ? unit(s, sv_from(w, n)) : "";
	if (!name)
		return false;
	str_add(&text, sv_head(w, n));
	if (*name)
		str_addf(&text, " %s", name);
	add_word(s, str_sv(&text));
	s->after_number = !*name;
	return true;
}

static bool add_short(struct say *s, struct sv w)
{
	AUTO_STR folded = STR_INIT;

	fold(&folded, w);
	for (size_t i = 0; i < ARRAY_LEN(shorts); i++) {
		const char *text = s->german ? shorts[i].de : shorts[i].en;
		if (text && sv_is(str_sv(&folded), shorts[i].text)) {
			add_word(s, sv_of(text));
			return true;
		}
	}
	return false;
}

/* A place in the file system or a web address; what is said of it. */
static bool add_place(struct say *s, struct sv w)
{
	size_t at, slashes = 0, digits = 0;

	if (sv_find(w, SV("://"), &at) || sv_starts(w, SV("www."))) {
		name_it(s, SAY_LINK);
		return true;
	}
	for (size_t i = 0; i < w.n; i++) {
		slashes += w.p[i] == '/';
		digits += isdigit((unsigned char)w.p[i]) != 0;
	}
	bool rooted = sv_starts(w, SV("/")) || sv_starts(w, SV("~/")) || sv_starts(w, SV("./")) ||
		sv_starts(w, SV("../"));
	bool file = slashes == 1 && sv_find(w, SV("."), &at) && at + 1 < w.n;
	if (!slashes || w.n < 3 || !(rooted || file || slashes > 1) || digits + slashes == w.n)
		return false;
	while (sv_ends(w, SV("/")))
		w.n--;
	size_t last = w.n;
	while (last > 0 && w.p[last - 1] != '/')
		last--;
	w = sv_from(w, last);
	if (w.n && w.n <= 40)
		add_word(s, w);
	else
		name_it(s, SAY_CODE);
	return true;
}

static void add_core(struct say *s, struct sv w)
{
	bool after_number = s->after_number;

	s->after_number = false;
	if (w.n == 1 && (w.p[0] == SAY_CODE || w.p[0] == SAY_LINK || w.p[0] == SAY_TABLE)) {
		name_it(s, w.p[0]);
		return;
	}
	const char *name = after_number ? unit(s, w) : NULL;
	if (name) {
		add_word(s, sv_of(name));
		return;
	}
	if (is_number(w)) {
		add_word(s, w);
		s->after_number = true;
		return;
	}
	if (add_date(s, w) || add_quantity(s, w) || add_place(s, w))
		return;
	if (sv_is(w, "=")) {
		add_word(s, s->german ? SV("gleich") : SV("equals"));
		return;
	}
	/* What nobody could say: sums, ids, what was encoded. */
	if (w.n > 50 || (w.n >= 16 && all_of(w, "0123456789abcdefABCDEF-"))) {
		name_it(s, SAY_CODE);
		return;
	}
	AUTO_STR plain = STR_INIT;
	for (size_t i = 0; i < w.n; i++)
		if (w.p[i] == '_' && plain.len && i + 1 < w.n)
			str_addc(&plain, ' ');
		else if (!strchr("_()[]", w.p[i]))
			str_addc(&plain, w.p[i]);
	add_word(s, str_sv(&plain));
}

/* What is said aside has a pause before and behind it. */
static void add_pause(struct say *s)
{
	if (s->out->len > s->began && !strchr(".,;:!?", s->out->buf[s->out->len - 1]))
		str_addc(s->out, ',');
}

/* One character of the text; what has no sound becomes a blank. */
static void add_plain(struct str *out, struct sv c, uint32_t cp)
{
	if (cp == SAY_CODE || cp == SAY_LINK || cp == SAY_TABLE) {
		str_addc(out, ' '); /* a word of its own */
		str_add(out, c);
		str_addc(out, ' ');
	} else if (cp < 0x20 || cp == 0x7f || (cp < 0x80 && strchr("*`|<>{}\\^\"", (int)cp)) ||
		(cp == '#' && (!out->len || out->buf[out->len - 1] == ' ')) || cp == 0xa0 ||
		cp == 0x202f || cp == 0xfffd || (cp >= 0x80 && cp < 0xa0)) {
		str_addc(out, ' ');
	} else if ((cp >= 0x2190 && cp <= 0x21ff) || cp == 0x2014) { /* arrows, a dash */
		str_adds(out, " , ");
	} else if ((cp >= 0x200b && cp <= 0x200f) || (cp >= 0x2028 && cp <= 0x202e) ||
		(cp >= 0x2060 && cp <= 0x206f) || (cp >= 0x2300 && cp <= 0x2bff) ||
		(cp >= 0xe000 && cp <= 0xf8ff) || (cp >= 0xfe00 && cp <= 0xfe0f) || cp == 0xfeff ||
		cp >= 0x1f000) {
		return; /* pictures and marks without width */
	} else {
		str_add(out, c);
	}
}

/* <br>, </details>: what a page would do with it has no sound. */
static size_t tag(struct sv s)
{
	size_t n = 1;

	if (s.n < 3 || s.p[0] != '<' || !(isalpha((unsigned char)s.p[1]) || s.p[1] == '/'))
		return 0;
	while (n < s.n && n < 80 && s.p[n] != '>' && s.p[n] != '<')
		n++;
	return n < s.n && s.p[n] == '>' ? n + 1 : 0;
}

/* "z. B." as one word, so that it can be looked up. */
static size_t joined(struct str *out, struct sv s)
{
	static const char *const pairs[] = { "z. B.", "d. h.", "u. a.", "o. ä.", "u. ä.", "s. o.",
		"s. u.", "Z. B.", "D. h.", "i. d. R.", "e. g.", "i. e.", "a. m.", "p. m." };

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
		if (sv_starts(s, sv_of(pairs[i]))) {
			for (const char *c = pairs[i]; *c; c++)
				if (*c != ' ')
					str_addc(out, *c);
			return strlen(pairs[i]);
		}
	return 0;
}

void say_sentence(struct str *out, struct sv sentence, enum speakable_language language)
{
	static const char lead[] = "(['", trail[] = ".,;:!?)]'";
	struct say s = { .out = out,
		.began = out->len,
		.language = language,
		.german = language == SPEAKABLE_DE };
	AUTO_STR plain = STR_INIT;
	bool inside = false; /* a word */

	while (sentence.n) {
		size_t n = tag(sentence);
		if (n) {
			str_addc(&plain, ' ');
		} else if (!inside && (n = joined(&plain, sentence))) {
			inside = true;
		} else {
			uint32_t cp;
			n = utf8_decode(sentence, &cp);
			add_plain(&plain, sv_head(sentence, n), cp);
			inside = cp > ' ';
		}
		sentence = sv_from(sentence, n);
	}
	struct sv rest = str_sv(&plain), w;
	while (sv_split(&rest, ' ', &w)) {
		size_t front = 0, back;
		while (front < w.n && strchr(lead, w.p[front])) {
			if (w.p[front] == '(')
				add_pause(&s);
			s.aside |= w.p[front] == '(';
			front++;
		}
		w = sv_from(w, front);
		if (!w.n)
			continue;
		/* With its full stop it may be a short word; else that belongs to the sentence. */
		back = w.n;
		while (back > 0 && strchr(trail, w.p[back - 1]))
			back--;
		size_t stop = back;
		bool measure = s.after_number && unit(&s, sv_head(w, back));
		while (stop < w.n && w.p[stop] == '.' &&
			(measure || !add_short(&s, sv_head(w, stop + 1))))
			stop++;
		bool was_short = stop < w.n && w.p[stop] == '.';
		if (was_short)
			back = stop + 1;
		else if (back)
			add_core(&s, sv_head(w, back));
		/* "15 Min. warten": it would have ended there. */
		if (measure && back + 1 == w.n && w.p[back] == '.' && rest.n)
			back = w.n;
		/* Of what stands behind it, one mark is enough for a voice. */
		for (size_t i = back; i < w.n; i++) {
			bool closes = w.p[i] == ')' && s.aside;
			if (closes && !(i + 1 < w.n && strchr(".,;:!?", w.p[i + 1])))
				add_pause(&s);
			s.aside = s.aside && !closes;
			if (strchr(".,;:!?", w.p[i]) && out->len > s.began &&
				!strchr(".,;:!?", out->buf[out->len - 1])) {
				str_addc(out, w.p[i]);
				s.after_number = false;
			}
		}
	}
	bool sounds = false;
	for (size_t i = s.began; i < out->len; i++)
		sounds |= isalnum((unsigned char)out->buf[i]) || (unsigned char)out->buf[i] >= 0x80;
	if (!sounds) {
		str_cut(out, s.began);
		return;
	}
	while (out->len > s.began && strchr(" ,;:-", out->buf[out->len - 1]))
		str_cut(out, out->len - 1);
	if (!strchr(".!?", out->buf[out->len - 1]))
		str_addc(out, '.');
}
