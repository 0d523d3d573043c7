#include "config/settings.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "os/path.h"

static const struct setting table[SETTING_COUNT] = {
#define S(kind_, field_, name_, fallback_, low_, high_, choices_, help_) \
	[SETTING_ID_##field_] = {                                        \
		.kind = SETTING_##kind_,                                 \
		.name = (name_),                                         \
		.fallback = (fallback_),                                 \
		.low = (low_),                                           \
		.high = (high_),                                         \
		.choices = (choices_),                                   \
		.help = (help_),                                         \
		.offset = offsetof(struct settings, field_),             \
	},
#define PROGRAMS(field_, help_)                              \
	[SETTING_ID_##field_] = {                            \
		.kind = SETTING_STRING,                      \
		.help = (help_),                             \
		.offset = offsetof(struct settings, field_), \
	},
#include "config/settings.def"
#undef S
#undef PROGRAMS
};

struct setting settings_row(enum setting_id id)
{
	if (id < SETTING_ID_ai_programs || id > SETTING_ID_ai_programs_end)
		return table[id];
	size_t i = id - SETTING_ID_ai_programs;
	struct setting row = table[SETTING_ID_ai_programs];
	const struct agent_def *agent = i < agent_count ? &agent_table[i] : NULL;
	row.name = agent && agent->program ? agent->setting : NULL;
	row.fallback = agent ? agent->program : NULL;
	row.offset += i * sizeof(char *);
	return row;
}

enum setting_id settings_from(enum setting_id id)
{
	while (id < SETTING_COUNT && !settings_row(id).name)
		id++;
	return id;
}

bool settings_shown(enum setting_id id)
{
	return id < SETTING_ID_audio_sample_rate;
}

void settings_choices(struct str *out, enum setting_id id)
{
	const struct setting *row = &table[id];

	str_adds(out, row->choices ? row->choices : row->kind == SETTING_AGENT ? "auto" : "");
	for (size_t i = 0; row->kind == SETTING_AGENT && i < agent_count; i++)
		str_addf(out, "|%s%s%s", agent_table[i].name, agent_table[i].also ? "=" : "",
			agent_table[i].also ? agent_table[i].also : "");
}

const char *settings_program(const struct settings *s, const struct agent_def *agent)
{
	const struct strv *command = &s->ai_exec_command;

	if (agent->program)
		return s->ai_programs[agent_index(agent)];
	return !agent->embedded && command->n > 0 ? command->v[0] : NULL;
}

void *settings_field(struct settings *s, enum setting_id id)
{
	return (char *)s + settings_row(id).offset;
}

const void *settings_value(const struct settings *s, enum setting_id id)
{
	return (const char *)s + settings_row(id).offset;
}

/* ---- values from text ---- */

static int set_bool(bool *field, struct sv text, struct err *reterr)
{
	static const char *const yes[] = { "true", "yes", "on", "1" };
	static const char *const no[] = { "false", "no", "off", "0" };

	for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
		bool is_yes = text.n == strlen(yes[i]) && strncasecmp(text.p, yes[i], text.n) == 0;
		bool is_no = text.n == strlen(no[i]) && strncasecmp(text.p, no[i], text.n) == 0;
		if (is_yes || is_no) {
			*field = is_yes;
			return 0;
		}
	}
	return err_set(reterr, ERR_INPUT, "'%.*s' is neither true nor false", SV_ARG(text));
}

/* SETTING_INT, SETTING_NUMBER and SETTING_SECONDS: a number within the row's range. */
static int set_number(const struct setting *row, void *field, struct sv text, struct err *reterr)
{
	long long n = 0;
	int64_t ms;
	double x;

	if (row->kind == SETTING_INT) {
		if (!sv_parse_i64(text, &n))
			return err_set(
				reterr, ERR_INPUT, "'%.*s' is not a whole number", SV_ARG(text));
		x = (double)n;
	} else if (!sv_parse_double(text, &x)) {
		if (row->kind == SETTING_NUMBER)
			return err_set(reterr, ERR_INPUT, "'%.*s' is not a number", SV_ARG(text));
		if (!clock_parse_span(text, &ms))
			return err_set(reterr, ERR_INPUT,
				"'%.*s' is neither a number of seconds nor a span such as 90s, "
				"15m, 2h",
				SV_ARG(text));
		x = (double)ms / 1000;
	}
	if (row->low < row->high && (x < row->low || x > row->high))
		return err_set(reterr, ERR_INPUT, "%.10g is not between %.10g and %.10g", x,
			row->low, row->high);
	if (row->kind == SETTING_INT)
		*(long long *)field = n;
	else if (row->kind == SETTING_NUMBER)
		*(double *)field = x;
	else
		*(int64_t *)field = llround(x * 1000);
	return 0;
}

static int set_size(uint64_t *field, struct sv text, struct err *reterr)
{
	uint64_t bytes = 0;

	if (text.n > 0 && !sv_parse_bytes(text, &bytes))
		return err_set(
			reterr, ERR_INPUT, "'%.*s' is not a size such as 500M or 2G", SV_ARG(text));
	*field = bytes;
	return 0;
}

static void replace_string(char **field, char *owned)
{
	free(*field);
	*field = owned;
}

/* Choices are "first=other=other|first…": any spelling is taken, the first one is kept. */
static int set_choice(struct sv choices, char **field, struct sv text, struct err *reterr)
{
	struct sv spellings, spelling;
	struct suggest near = SUGGEST_INIT(text);
	AUTO_STRV names = STRV_INIT;
	AUTO_STR all = STR_INIT;

	while (sv_split(&choices, '|', &spellings)) {
		bool matched = false;
		struct sv first = SV("");
		while (sv_split(&spellings, '=', &spelling)) {
			if (first.n == 0)
				first = spelling;
			matched |= sv_eq(spelling, text);
		}
		if (matched) {
			replace_string(field, xmemdup0(first.p, first.n));
			return 0;
		}
		str_addf(&all, "%s%.*s", all.len ? ", " : "", SV_ARG(first));
		strv_addsv(&names, first);
		suggest_offer(&near, names.v[names.n - 1]);
	}
	return err_set(reterr, ERR_INPUT, "'%.*s' is none of %s%s%s%s", SV_ARG(text), all.buf,
		SUGGEST_ARG(near.best));
}

static void set_list(struct strv *field, struct sv text, char sep)
{
	struct sv piece;

	strv_release(field);
	while (sv_split(&text, sep, &piece)) {
		piece = sv_trim(piece);
		if (piece.n > 0)
			strv_addsv(field, piece);
	}
}

static int set_words(struct keywords *field, struct sv text, struct err *reterr)
{
	AUTO_KEYWORDS fresh = KEYWORDS_INIT;
	int r = text.n > 0 ? keywords_parse(&fresh, text, reterr) : 0;

	if (r == 0) {
		keywords_release(field);
		*field = fresh;
		fresh = (struct keywords)KEYWORDS_INIT;
	}
	return r;
}

static int set_field(struct settings *s, enum setting_id id, struct sv text, struct err *reterr)
{
	const struct setting row = settings_row(id);
	void *field = settings_field(s, id);
	AUTO_STR choices = STR_INIT;

	switch (row.kind) {
	case SETTING_BOOL:
		return set_bool(field, text, reterr);
	case SETTING_INT:
	case SETTING_NUMBER:
	case SETTING_SECONDS:
		return set_number(&row, field, text, reterr);
	case SETTING_SIZE:
		return set_size(field, text, reterr);
	case SETTING_STRING:
		replace_string(field, xmemdup0(text.p, text.n));
		return 0;
	case SETTING_PATH: {
		AUTO_FREE char *raw = xmemdup0(text.p, text.n);
		replace_string(field, path_expand_home(raw, s->home));
		return 0;
	}
	case SETTING_CHOICE:
	case SETTING_AGENT:
		settings_choices(&choices, id);
		return set_choice(str_sv(&choices), field, text, reterr);
	case SETTING_LIST:
		set_list(field, text, ',');
		return 0;
	case SETTING_WORDS:
		return set_words(field, text, reterr);
	case SETTING_TABLE:
		set_list(field, text, ';');
		return 0;
	}
	return err_set(reterr, ERR_BUG, "setting without a kind");
}

int settings_set(struct settings *s, enum setting_id id, struct sv text,
	struct setting_origin origin, struct err *reterr)
{
	int r = set_field(s, id, text, reterr);

	if (r == 0)
		s->origins[id] = origin;
	return r;
}

/* ---- life ---- */

void settings_clear(struct settings *s, enum setting_id id)
{
	void *field = settings_field(s, id);

	switch (settings_row(id).kind) {
	case SETTING_STRING:
	case SETTING_PATH:
	case SETTING_CHOICE:
	case SETTING_AGENT:
		replace_string(field, NULL);
		break;
	case SETTING_LIST:
	case SETTING_TABLE:
		strv_release(field);
		break;
	case SETTING_WORDS:
		keywords_release(field);
		break;
	case SETTING_BOOL:
	case SETTING_INT:
	case SETTING_NUMBER:
	case SETTING_SECONDS:
	case SETTING_SIZE:
		break;
	}
}

struct settings *settings_new(const char *home)
{
	struct settings *s = xcalloc(1, sizeof(*s));

	s->home = xstrdup(home);
	settings_each (id) {
		struct err e = ERR_INIT;
		int r = set_field(s, id, sv_of(settings_row(id).fallback), &e);
		assert(r == 0);
		(void)r;
	}
	return s;
}

void settings_free(struct settings *s)
{
	if (!s)
		return;
	settings_each (id)
		settings_clear(s, id);
	free(s->home);
	free(s);
}

/* ---- names ---- */

int settings_find(struct sv name)
{
	settings_each (id) {
		if (sv_is(name, settings_row(id).name))
			return (int)id;
	}
	return sv_is(name, "ai.backend") ? (int)SETTING_ID_ai_agent : -1;
}

bool settings_is_section(struct sv name)
{
	settings_each (id) {
		struct sv whole = sv_of(settings_row(id).name);
		if (whole.n > name.n && sv_starts(whole, name) && whole.p[name.n] == '.')
			return true;
	}
	return false;
}

const char *settings_suggest(struct sv name)
{
	struct suggest near = SUGGEST_INIT(name);

	settings_each (id)
		if (settings_shown(id))
			suggest_offer(&near, settings_row(id).name);
	return near.best;
}

/* ---- findings ---- */

void findings_add(struct findings *f, unsigned line, const char *fmt, ...)
{
	AUTO_STR text = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_addvf(&text, fmt, ap);
	va_end(ap);
	vec_push(&f->all, (struct config_finding){ line, xstrdup(text.buf) });
}

void findings_release(struct findings *f)
{
	vec_each (&f->all, one)
		free(one->text);
	vec_release(&f->all);
}

void config_finding_print(struct str *out, const struct config_finding *f, const char *file)
{
	AUTO_STR whole = STR_INIT;

	if (f->line > 0)
		str_addf(&whole, "%s:%u: ", file, f->line);
	str_adds(&whole, f->text);
	utf8_scrub_line(out, str_sv(&whole));
}

/* ---- environment ---- */

/* "ai.max_budget_usd" → "FADEN_AI_MAX_BUDGET_USD=" */
static void variable_name(struct str *out, const char *name)
{
	str_adds(out, "FADEN_");
	for (; *name; name++)
		str_addc(out, *name == '.' ? '_' : (char)toupper((unsigned char)*name));
	str_addc(out, '=');
}

int settings_from_environment(
	struct settings *s, const char *const *envp, struct findings *wrong, struct err *reterr)
{
	const struct setting_origin origin = { .source = SETTING_ENVIRONMENT };
	struct err own = ERR_INIT;
	struct err *err = reterr ? reterr : &own;
	VEC(const char *) ours = VEC_INIT;
	int r = 0;

	for (; envp && *envp; envp++)
		if (sv_starts(sv_of(*envp), SV("FADEN_")))
			vec_push(&ours, *envp);
	settings_each (id) {
		AUTO_STR name = STR_INIT;
		struct sv value = SV("");

		if (ours.n == 0 || r < 0)
			break;
		variable_name(&name, settings_row(id).name);
		vec_each (&ours, one)
			if (value.n == 0 && sv_starts(sv_of(*one), str_sv(&name)))
				value = sv_from(sv_of(*one), name.len);
		if (value.n == 0 || settings_set(s, id, value, origin, err) == 0)
			continue;
		err_prefix(err, "%.*s", (int)name.len - 1, name.buf);
		if (wrong)
			findings_add(wrong, 0, "%s", err->msg);
		else
			r = err->code;
	}
	vec_release(&ours);
	return r;
}

/* ---- values as text ---- */

static void print_list(struct str *out, const struct strv *list, const char *sep)
{
	for (size_t i = 0; i < list->n; i++)
		str_addf(out, "%s%s", i ? sep : "", list->v[i]);
}

/* In the unit that it was given in, or a larger one. */
static void print_size(struct str *out, uint64_t bytes)
{
	static const char *const units[] = { "", "k", "M", "G" };
	size_t i = 0;

	while (i + 1 < ARRAY_LEN(units) && bytes > 0 && bytes % 1024 == 0) {
		bytes /= 1024;
		i++;
	}
	if (bytes > 0)
		str_addf(out, "%llu%s", (unsigned long long)bytes, units[i]);
}

void settings_print(struct str *out, const struct settings *s, enum setting_id id)
{
	const void *value = settings_value(s, id);

	switch (settings_row(id).kind) {
	case SETTING_BOOL:
		str_adds(out, *(const bool *)value ? "true" : "false");
		break;
	case SETTING_INT:
		str_addf(out, "%lld", *(const long long *)value);
		break;
	case SETTING_NUMBER:
		str_addf(out, "%.10g", *(const double *)value);
		break;
	case SETTING_SECONDS:
		str_addf(out, "%.10g", (double)*(const int64_t *)value / 1000);
		break;
	case SETTING_SIZE:
		print_size(out, *(const uint64_t *)value);
		break;
	case SETTING_STRING:
	case SETTING_PATH:
	case SETTING_CHOICE:
	case SETTING_AGENT:
		str_adds(out, *(char *const *)value);
		break;
	case SETTING_LIST:
		print_list(out, value, ", ");
		break;
	case SETTING_WORDS: {
		/* "de: stopp, halt; en: stop" */
		const struct keywords *k = value;
		for (size_t i = 0; i < k->texts.n; i++) {
			bool same = strcmp(i ? k->langs.v[i - 1] : "", k->langs.v[i]) == 0;
			str_adds(out, !i ? "" : same ? ", " : "; ");
			str_addf(out, "%s%s%s", same ? "" : k->langs.v[i], same ? "" : ": ",
				k->texts.v[i]);
		}
		break;
	}
	case SETTING_TABLE:
		print_list(out, value, "; ");
		break;
	}
}

void settings_print_origin(
	struct str *out, const struct settings *s, enum setting_id id, const char *file)
{
	const struct setting_origin *o = &s->origins[id];

	switch (o->source) {
	case SETTING_DEFAULT:
		str_adds(out, "default");
		break;
	case SETTING_FILE:
		str_addf(out, "%s:%u", file, o->line);
		break;
	case SETTING_ENVIRONMENT:
		str_adds(out, "environment");
		break;
	}
}
