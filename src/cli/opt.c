#include "cli/opt.h"

#include "base/clock.h"
#include "base/suggest.h"

/* What one argument turned out to be. */
struct hit {
	const struct opt *opt; /* NULL: unknown */
	void *dest;
	bool negated;
	char letter; /* typed as that; 0: by its name */
};

static struct hit find_long(const struct opt_set *sets, size_t n_sets, struct sv name)
{
	for (size_t s = 0; s < n_sets; s++) {
		for (const struct opt *o = sets[s].opts; o && o->name; o++) {
			if (sv_is(name, o->name))
				return (struct hit){ o, sets[s].dest, false, 0 };
			if (o->kind == OPT_KIND_NEGATABLE && sv_starts(name, SV("no-")) &&
				sv_is(sv_from(name, 3), o->name))
				return (struct hit){ o, sets[s].dest, true, 0 };
		}
	}
	return (struct hit){ NULL, NULL, false, 0 };
}

static struct hit find_brief(const struct opt_set *sets, size_t n_sets, char letter)
{
	for (size_t s = 0; s < n_sets; s++)
		for (const struct opt *o = sets[s].opts; o && o->name; o++)
			if (o->brief == letter)
				return (struct hit){ o, sets[s].dest, false, letter };
	return (struct hit){ NULL, NULL, false, 0 };
}

/* Stores one occurrence; value is NULL for options that take none. */
static int store(const struct hit *h, const char *value, struct err *reterr)
{
	const struct opt *o = h->opt;
	void *field = (char *)h->dest + o->offset;
	bool limited = o->min != 0 || o->max != 0;
	AUTO_STR choices = STR_INIT;
	AUTO_STR typed = STR_INIT;
	long long n;

	if (h->letter)
		str_addf(&typed, "-%c", h->letter);
	else
		str_addf(&typed, "--%s", o->name);
	switch (o->kind) {
	case OPT_KIND_FLAG:
		*(bool *)field = true;
		return 0;
	case OPT_KIND_NEGATABLE:
		*(enum opt_tri *)field = h->negated ? OPT_NO : OPT_YES;
		return 0;
	case OPT_KIND_STRING:
	case OPT_KIND_AGENT:
		*(const char **)field = value;
		return 0;
	case OPT_KIND_LIST:
		strv_add(field, value);
		return 0;
	case OPT_KIND_INT:
		if (sv_parse_i64(sv_of(value), &n) && (!limited || (n >= o->min && n <= o->max))) {
			*(long long *)field = n;
			return 0;
		}
		if (!limited)
			return err_set(reterr, ERR_USAGE, "option '%s': '%s' is not a whole number",
				typed.buf, value);
		return err_set(reterr, ERR_USAGE,
			"option '%s': '%s' is not a whole number from %lld to %lld", typed.buf,
			value, o->min, o->max);
	case OPT_KIND_DOUBLE:
		if (sv_parse_double(sv_of(value), field))
			return 0;
		return err_set(
			reterr, ERR_USAGE, "option '%s': '%s' is not a number", typed.buf, value);
	case OPT_KIND_CHOICE:
	case OPT_KIND_WORD:
		for (int i = 0; o->choices[i]; i++) {
			if (sv_is(sv_of(value), o->choices[i])) {
				if (o->kind == OPT_KIND_WORD)
					*(const char **)field = o->choices[i];
				else
					*(int *)field = i;
				return 0;
			}
			str_addf(&choices, "%s%s", i ? ", " : "", o->choices[i]);
		}
		return err_set(reterr, ERR_USAGE, "option '%s': '%s' is none of %s", typed.buf,
			value, choices.buf);
	case OPT_KIND_SPAN:
		if (clock_parse_span(sv_of(value), field) && *(int64_t *)field > 0)
			return 0;
		return err_set(reterr, ERR_USAGE,
			"option '%s': '%s' is not a span of time such as 90s, 15m, 2h, 7d, 3w",
			typed.buf, value);
	}
	return err_set(reterr, ERR_BUG, "option '%s' has no kind", typed.buf);
}

struct cursor {
	int argc;
	char *const *argv;
	int at;
	bool dash_words;
};

static const char *next_value(struct cursor *c)
{
	return c->at + 1 < c->argc ? c->argv[++c->at] : NULL;
}

static int parse_long(
	const struct opt_set *sets, size_t n_sets, struct cursor *c, struct err *reterr)
{
	const char *text = c->argv[c->at] + 2;
	const char *equals = strchr(text, '=');
	struct sv name = equals ? sv_make(text, (size_t)(equals - text)) : sv_of(text);
	struct hit h = find_long(sets, n_sets, name);

	if (!h.opt) {
		struct suggest near = SUGGEST_INIT(name);
		for (size_t s = 0; s < n_sets; s++)
			for (const struct opt *o = sets[s].opts; o && o->name; o++)
				suggest_offer(&near, o->name);
		return err_set(reterr, ERR_USAGE, "unknown option '--%.*s'%s%s%s", SV_ARG(name),
			near.best ? " (did you mean '--" : "", near.best ? near.best : "",
			near.best ? "'?)" : "");
	}
	if (!opt_takes_value(h.opt)) {
		if (equals)
			return err_set(
				reterr, ERR_USAGE, "option '--%.*s' takes no value", SV_ARG(name));
		return store(&h, NULL, reterr);
	}
	const char *value = equals ? equals + 1 : next_value(c);
	if (!value)
		return err_set(reterr, ERR_USAGE, "option '--%s' needs a value (%s)", h.opt->name,
			h.opt->arg);
	return store(&h, value, reterr);
}

#define BEFORE_DASHES "put -- before words that begin with a dash"

static int parse_cluster(
	const struct opt_set *sets, size_t n_sets, struct cursor *c, struct err *reterr)
{
	const char *cluster = c->argv[c->at];

	for (const char *p = cluster + 1; *p; p++) {
		struct hit h = find_brief(sets, n_sets, *p);
		if (!h.opt)
			return err_set(reterr, ERR_USAGE, "unknown option '%s' (" BEFORE_DASHES ")",
				cluster);
		if (opt_takes_value(h.opt)) {
			const char *value = p[1] ? p + 1 : next_value(c);
			if (!value)
				return err_set(reterr, ERR_USAGE, "option '-%c' needs a value (%s)",
					*p, h.opt->arg);
			/* -nginx was meant to be a word. */
			if (c->dash_words && p[1] && h.opt->kind == OPT_KIND_INT &&
				!sv_parse_i64(sv_of(value), &(long long){ 0 }))
				return err_set(reterr, ERR_USAGE,
					"option '-%c': '%s' is not a whole number (" BEFORE_DASHES
					")",
					*p, value);
			return store(&h, value, reterr);
		}
		int r = store(&h, NULL, reterr);
		if (r < 0)
			return r;
	}
	return 0;
}

static bool is_word(const char *arg)
{
	return arg[0] != '-' || arg[1] == '\0';
}

/* Of any script. */
static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

/* "-mutex", not "-s", "-n5" or "--json". */
static bool is_dash_word(const char *arg)
{
	return arg[0] == '-' && (arg[1] == '"' || (is_letter(arg[1]) && is_letter(arg[2])));
}

/* "-1", "-0.5": no option is called by a digit. */
static bool is_number(const char *arg)
{
	return sv_parse_double(sv_of(arg), &(double){ 0 });
}

int opt_parse(const struct opt_set *sets, size_t n_sets, bool dash_words, int argc,
	char *const *argv, char **rest, struct err *reterr)
{
	int n = 0;

	for (struct cursor c = { argc, argv, 0, dash_words }; c.at < argc; c.at++) {
		const char *arg = argv[c.at];
		bool meant = n > 0 && (dash_words ? is_dash_word(arg) : is_number(arg));
		if (is_word(arg) || meant) {
			rest[n++] = argv[c.at];
			continue;
		}
		if (sv_is(sv_of(arg), "--")) {
			while (++c.at < argc)
				rest[n++] = argv[c.at];
			break;
		}
		int r = arg[1] == '-' ? parse_long(sets, n_sets, &c, reterr)
				      : parse_cluster(sets, n_sets, &c, reterr);
		if (r < 0)
			return r;
	}
	return n;
}

/* How many arguments the option argv[at] takes, itself included; 0 when it is unknown. */
static int option_span(const struct opt_set *sets, size_t n_sets, const char *arg)
{
	if (arg[1] == '-') {
		const char *equals = strchr(arg, '=');
		struct sv name =
			sv_from(equals ? sv_make(arg, (size_t)(equals - arg)) : sv_of(arg), 2);
		struct hit h = find_long(sets, n_sets, name);
		if (!h.opt)
			return 0;
		return opt_takes_value(h.opt) && !equals ? 2 : 1;
	}
	for (const char *p = arg + 1; *p; p++) {
		struct hit h = find_brief(sets, n_sets, *p);
		if (!h.opt)
			return 0;
		if (opt_takes_value(h.opt))
			return p[1] ? 1 : 2;
	}
	return 1;
}

int opt_first_word(const struct opt_set *sets, size_t n_sets, int argc, char *const *argv)
{
	int at = 0;

	while (at < argc && !is_word(argv[at])) {
		int span = sv_is(sv_of(argv[at]), "--") ? 0 : option_span(sets, n_sets, argv[at]);
		if (span == 0)
			return argc;
		at += span;
	}
	return at < argc ? at : argc;
}

void opt_help(struct str *out, const struct opt *o)
{
	struct sv rest = sv_of(o->help);
	struct sv before;

	if (o->kind == OPT_KIND_AGENT && sv_split(&rest, '@', &before)) {
		str_add(out, before);
		agents_list(out, o->agents, " or ");
	}
	str_add(out, rest);
}

void opt_release(const struct opt *opts, void *dest)
{
	for (const struct opt *o = opts; o && dest && o->name; o++) {
		if (o->kind == OPT_KIND_LIST)
			strv_release((struct strv *)(void *)((char *)dest + o->offset));
	}
}
