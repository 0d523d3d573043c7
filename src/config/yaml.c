#include "config/yaml.h"

#include <errno.h>
#include <yaml.h>

#include "base/lang.h"
#include "base/suggest.h"
#include "os/file.h"

struct loader {
	yaml_parser_t parser;
	yaml_event_t event; /* the current one */
	bool have_event;
	int depth; /* of the current event */
	struct settings *settings;
	struct findings *unknown; /* NULL: nobody wants to know */
	struct findings *wrong; /* NULL: the first mistake ends it */
	struct err *reterr; /* without the place */
	unsigned line; /* of the mistake in reterr */
	bool lost; /* the parser cannot go on behind it */
};

static unsigned line_of(const struct loader *l)
{
	return (unsigned)l->event.start_mark.line + 1;
}

/* Fails at a line of the file. */
static int PRINTF(4, 5)
	fail_at(struct loader *l, unsigned line, struct sv name, const char *fmt, ...)
{
	AUTO_STR what = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_addvf(&what, fmt, ap);
	va_end(ap);
	l->line = line;
	return err_set(
		l->reterr, ERR_INPUT, "%.*s%s%s", SV_ARG(name), name.n ? ": " : "", what.buf);
}

static int depth_change(yaml_event_type_t type)
{
	if (type == YAML_MAPPING_START_EVENT || type == YAML_SEQUENCE_START_EVENT)
		return 1;
	return type == YAML_MAPPING_END_EVENT || type == YAML_SEQUENCE_END_EVENT ? -1 : 0;
}

/* libyaml's complaints in words for somebody who writes a configuration, not a parser. */
struct wording {
	const char *problem; /* a part of libyaml's text */
	const char *context; /* a part of its context; NULL: any */
	const char *words;
	bool begun; /* say on which line it began */
};

static const struct wording wordings[] = {
	{ "expected ',' or ']'", NULL, "a list is not closed: ',' or ']' is missing", true },
	{ "expected ',' or '}'", NULL, "a '{' is not closed: ',' or '}' is missing", true },
	{ "expected node content", "flow", "a '[' or '{' is not closed, or a value is missing",
		false },
	{ "unexpected end of stream", "quoted", "a quotation mark is not closed", true },
	{ "expected ':'", NULL, "a ':' is missing behind a key", true },
	{ "mapping values are not allowed", NULL,
		"a ':' that cannot be here; is the line indented as the others, or does the value "
		"need quotation marks?",
		false },
	{ "expected key", NULL, "not indented as the lines above", true },
	{ "expected '-' indicator", NULL, "not indented as the elements of the list above", true },
	{ "cannot start any token", NULL,
		"a tab or a special character; indent with blanks, and put a value with special "
		"characters into quotation marks",
		false },
	{ "tab character", NULL, "a tab; indent with blanks", false },
	{ "control characters", NULL, "a control character", false },
	{ "UTF-8", NULL, "not UTF-8", false },
	{ "octet", NULL, "not UTF-8", false },
};

static int fail_as_parser(struct loader *l)
{
	const yaml_parser_t *p = &l->parser;
	const struct wording *w = wordings, *end = wordings + ARRAY_LEN(wordings);
	AUTO_STR what = STR_INIT;

	while (p->problem && w < end &&
		!(strstr(p->problem, w->problem) &&
			(!w->context || (p->context && strstr(p->context, w->context)))))
		w++;
	if (!p->problem)
		str_adds(&what, "out of memory");
	else
		str_adds(&what, w < end ? w->words : p->problem);
	if (p->problem && w < end && w->begun && p->context)
		str_addf(&what, " (it begins on line %u)", (unsigned)p->context_mark.line + 1);
	return fail_at(l, (unsigned)p->problem_mark.line + 1, SV(""), "not YAML: %s", what.buf);
}

/* Depth is limited here for all: the library's time grows with the square of it. */
static int next_event(struct loader *l)
{
	if (l->have_event)
		yaml_event_delete(&l->event);
	l->have_event = false;
	l->lost = true;
	if (!yaml_parser_parse(&l->parser, &l->event))
		return fail_as_parser(l);
	l->have_event = true;
	if (l->event.type == YAML_ALIAS_EVENT)
		return fail_at(l, line_of(l), SV(""), "aliases (*name) are not taken here");
	l->depth += depth_change(l->event.type);
	if (l->depth > CONFIG_DEPTH_MAX)
		return fail_at(l, line_of(l), SV(""), "nested too deeply");
	l->lost = false;
	return 0;
}

static struct sv scalar_text(const struct loader *l)
{
	return sv_make((const char *)l->event.data.scalar.value, l->event.data.scalar.length);
}

/* A plain scalar that YAML reads as no value: a key with nothing behind it. */
static bool scalar_is_null(const struct loader *l)
{
	struct sv text = scalar_text(l);

	return l->event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
		(text.n == 0 || sv_is(text, "~") || sv_is(text, "null"));
}

/* The depth outside the node that begins with the current event. */
static int depth_outside(const struct loader *l)
{
	return l->depth - (depth_change(l->event.type) > 0);
}

/* Passes over the rest of a node. */
static int skip_to(struct loader *l, int outside)
{
	while (l->depth > outside) {
		int r = next_event(l);
		if (r < 0)
			return r;
	}
	return 0;
}

/* After a mistake in a value: it is noted, and what comes behind it is looked at too. */
static int go_on(struct loader *l, int r, int outside)
{
	if (r >= 0 || !l->wrong || l->lost)
		return r;
	findings_add(l->wrong, l->line, "%s", l->reterr->msg);
	return skip_to(l, outside);
}

/* ---- values ---- */

static int load_scalar(struct loader *l, enum setting_id id, unsigned line)
{
	const char *name = settings_row(id).name;

	if (l->event.type != YAML_SCALAR_EVENT)
		return fail_at(l, line_of(l), sv_of(name), "must be a single value");
	struct sv text = scalar_text(l);
	if (memchr(text.p, '\0', text.n))
		return fail_at(l, line_of(l), sv_of(name), "must not hold a NUL");
	l->line = line_of(l);
	const struct setting_origin origin = { .source = SETTING_FILE, .line = line };
	int r = settings_set(l->settings, id, text, origin, l->reterr);
	if (r < 0)
		err_prefix(l->reterr, "%s", name);
	return r;
}

/* Takes one element of a list; fails with a message that does not name the setting. */
typedef int (*element_fn)(struct loader *l, void *data, struct sv text);

static int each_element(struct loader *l, struct sv name, element_fn add, void *data)
{
	if (l->event.type != YAML_SEQUENCE_START_EVENT)
		return fail_at(l, line_of(l), name, "must be a list");
	for (size_t n = 0;; n++) {
		int r = next_event(l);
		if (r < 0 || l->event.type == YAML_SEQUENCE_END_EVENT)
			return r;
		if (n == CONFIG_LIST_MAX)
			return fail_at(
				l, line_of(l), name, "more than %d elements", CONFIG_LIST_MAX);
		int outside = depth_outside(l);
		bool scalar = l->event.type == YAML_SCALAR_EVENT;
		struct sv text = !scalar || scalar_is_null(l) ? SV("") : scalar_text(l);
		if (!scalar) {
			r = fail_at(l, line_of(l), name, "must be a list of single values");
		} else if (memchr(text.p, '\0', text.n)) {
			r = fail_at(l, line_of(l), name, "must not hold a NUL");
		} else {
			l->line = line_of(l);
			r = add(l, data, text);
			if (r < 0)
				err_prefix(l->reterr, "%.*s", SV_ARG(name));
		}
		r = go_on(l, r, outside);
		if (r < 0)
			return r;
	}
}

static int add_list_element(struct loader *l, void *data, struct sv text)
{
	(void)l;
	strv_addsv(data, text);
	return 0;
}

struct word_target {
	struct keywords *words;
	struct sv lang;
};

static int add_word(struct loader *l, void *data, struct sv text)
{
	struct word_target *t = data;

	return keywords_add(t->words, t->lang, text, l->reterr);
}

/* Walks the keys of a mapping; the key's value is the current event when value() is called. */
typedef int (*pair_fn)(struct loader *l, void *data, struct sv key, unsigned line);

static int each_pair(struct loader *l, pair_fn value, void *data)
{
	for (;;) {
		int r = next_event(l);
		if (r < 0 || l->event.type == YAML_MAPPING_END_EVENT)
			return r;
		if (l->event.type != YAML_SCALAR_EVENT)
			return fail_at(l, line_of(l), SV(""), "a key must be a single word");
		unsigned line = line_of(l);
		AUTO_STR key = STR_INIT;
		str_add(&key, scalar_text(l));
		r = next_event(l);
		if (r < 0)
			return r;
		int outside = depth_outside(l);
		r = go_on(l, value(l, data, str_sv(&key), line), outside);
		if (r < 0)
			return r;
	}
}

struct named {
	enum setting_id id;
	struct sv lang; /* SETTING_TABLE: the outer key */
};

static int load_language(struct loader *l, void *data, struct sv lang, unsigned line)
{
	(void)line;
	const struct named *n = data;
	struct keywords *words = settings_field(l->settings, n->id);
	keywords_drop_lang(words, lang);
	struct word_target target = { words, lang };
	return each_element(l, sv_of(settings_row(n->id).name), add_word, &target);
}

static int join_element(struct loader *l, void *data, struct sv text)
{
	if (text.n == 0)
		return err_set(l->reterr, ERR_INPUT, "empty word");
	struct str *joined = data;
	if (joined->len > 0)
		str_addc(joined, '|');
	str_add(joined, text);
	return 0;
}

static int load_class(struct loader *l, void *data, struct sv class, unsigned line)
{
	const struct named *n = data;
	struct sv name = sv_of(settings_row(n->id).name);
	enum lang_class known;
	AUTO_STR joined = STR_INIT;

	if (!lang_class_parse(class, &known)) {
		AUTO_STR all = STR_INIT;
		lang_class_list(&all);
		return fail_at(
			l, line, name, "no class '%.*s'; there are: %s", SV_ARG(class), all.buf);
	}
	int r = each_element(l, name, join_element, &joined);
	if (r == 0)
		strv_addf(settings_field(l->settings, n->id), "%.*s.%.*s=%s", SV_ARG(n->lang),
			SV_ARG(class), joined.buf);
	return r;
}

static int load_table_language(struct loader *l, void *data, struct sv lang, unsigned line)
{
	const struct named *outer = data;

	if (l->event.type != YAML_MAPPING_START_EVENT)
		return fail_at(l, line, sv_of(settings_row(outer->id).name),
			"must be lists by class, by language");
	struct named n = { .id = outer->id, .lang = lang };
	return each_pair(l, load_class, &n);
}

static int load_value(struct loader *l, enum setting_id id, unsigned line)
{
	struct sv name = sv_of(settings_row(id).name);
	void *field = settings_field(l->settings, id);
	struct named named = { .id = id };
	bool mapping = l->event.type == YAML_MAPPING_START_EVENT;

	switch (settings_row(id).kind) {
	case SETTING_LIST:
		settings_clear(l->settings, id);
		return each_element(l, name, add_list_element, field);
	case SETTING_WORDS:
		/* A list replaces everything; a mapping replaces the languages it names. */
		if (mapping)
			return each_pair(l, load_language, &named);
		settings_clear(l->settings, id);
		return each_element(l, name, add_word, &(struct word_target){ field, SV("") });
	case SETTING_TABLE:
		settings_clear(l->settings, id);
		if (mapping)
			return each_pair(l, load_table_language, &named);
		return fail_at(l, line_of(l), name, "must be lists by class, by language");
	case SETTING_BOOL:
	case SETTING_INT:
	case SETTING_NUMBER:
	case SETTING_SECONDS:
	case SETTING_SIZE:
	case SETTING_STRING:
	case SETTING_PATH:
	case SETTING_CHOICE:
	case SETTING_AGENT:
		return load_scalar(l, id, line);
	}
	return err_set(l->reterr, ERR_BUG, "setting without a kind");
}

static int load_setting(struct loader *l, enum setting_id id, unsigned line)
{
	struct setting_origin *origin = &l->settings->origins[id];

	if (origin->source == SETTING_FILE)
		return fail_at(l, line, sv_of(settings_row(id).name),
			"given twice, first on line %u", origin->line);
	/* A key with nothing behind it is as if it were not there. */
	if (l->event.type == YAML_SCALAR_EVENT && scalar_is_null(l))
		return 0;
	int r = load_value(l, id, line);
	if (r == 0)
		*origin = (struct setting_origin){ .source = SETTING_FILE, .line = line };
	return r;
}

/* ---- sections ---- */

/* data is the section's name with a dot behind it, a struct str; empty at the top. */
static int load_pair(struct loader *l, void *data, struct sv key, unsigned line)
{
	const struct str *section = data;
	AUTO_STR name = STR_INIT;

	str_addf(&name, "%s%.*s", section->buf, SV_ARG(key));
	int id = settings_find(str_sv(&name));
	if (id >= 0)
		return load_setting(l, (enum setting_id)id, line);
	if (!settings_is_section(str_sv(&name))) {
		const char *near = settings_suggest(str_sv(&name));
		if (l->unknown)
			findings_add(l->unknown, line, "unknown key '%s'%s%s%s", name.buf,
				SUGGEST_ARG(near));
		return skip_to(l, depth_outside(l));
	}
	if (l->event.type == YAML_SCALAR_EVENT && scalar_is_null(l))
		return 0;
	if (l->event.type != YAML_MAPPING_START_EVENT)
		return fail_at(l, line, str_sv(&name), "must be a section with settings in it");
	str_addc(&name, '.');
	return each_pair(l, load_pair, &name);
}

static int load_document(struct loader *l)
{
	if (l->event.type == YAML_SCALAR_EVENT && scalar_is_null(l))
		return 0;
	if (l->event.type != YAML_MAPPING_START_EVENT)
		return fail_at(l, line_of(l), SV(""), "must be sections such as 'ai:'");
	AUTO_STR top = STR_INIT;
	return each_pair(l, load_pair, &top);
}

/* stream start, document start, node, document end, stream end */
static int load_stream(struct loader *l)
{
	bool seen = false;

	for (;;) {
		int r = next_event(l);
		if (r < 0 || l->event.type == YAML_STREAM_END_EVENT)
			return r;
		if (l->event.type != YAML_DOCUMENT_START_EVENT)
			continue;
		if (seen)
			return fail_at(l, line_of(l), SV(""), "a second document");
		seen = true;
		r = next_event(l);
		if (r == 0)
			r = load_document(l);
		if (r < 0)
			return r;
	}
}

int config_parse(struct settings *s, struct sv text, const char *file, struct findings *unknown,
	struct findings *wrong, struct err *reterr)
{
	struct err own = ERR_INIT;
	struct loader l = { .settings = s, .unknown = unknown, .wrong = wrong };

	if (text.n > CONFIG_BYTES_MAX)
		return err_set(
			reterr, ERR_LIMIT, "%s: larger than %d bytes", file, CONFIG_BYTES_MAX);
	l.reterr = reterr ? reterr : &own;
	if (!yaml_parser_initialize(&l.parser))
		return err_set(reterr, -ENOMEM, "%s: out of memory", file);
	yaml_parser_set_input_string(&l.parser, (const unsigned char *)text.p, text.n);
	int r = load_stream(&l);
	if (r < 0 && wrong) {
		findings_add(wrong, l.line, "%s", l.reterr->msg);
		r = 0;
	} else if (r < 0) {
		err_prefix(l.reterr, "%s:%u", file, l.line);
	}
	if (l.have_event)
		yaml_event_delete(&l.event);
	yaml_parser_delete(&l.parser);
	return r;
}

int config_load(struct settings *s, const char *path, struct findings *unknown, struct err *reterr)
{
	AUTO_STR text = STR_INIT;
	int r = file_read(path, CONFIG_BYTES_MAX, &text, reterr);

	return r < 0 ? r : config_parse(s, str_sv(&text), path, unknown, NULL, reterr);
}
