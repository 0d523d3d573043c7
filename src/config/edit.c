/*
 * One setting changed in the text of a configuration file, and nothing else in it: comments, order
 * and spelling stay. Where it goes is found by the parser's marks; whether the result says what it
 * should, and nothing else changed, is found by reading it.
 */
#include <errno.h>
#include <stdlib.h>
#include <yaml.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "config/yaml.h"
#include "json/write.h"

enum { INDENT = 2 };

/* A piece of the text, in code points, as the parser counts. */
struct span {
	size_t from, to;
};

/* What the parser has seen of the way to the setting. */
struct place {
	size_t depth; /* sections of the name that are there */
	size_t column; /* where keys of the innermost of them stand; 0: it has none */
	bool flow; /* it is written in braces */
	bool empty; /* it has no value at all */
	size_t open; /* behind its brace, or behind its ':' */
	size_t last; /* the end of the last value in it */
	bool has_keys;
	bool found; /* the setting itself is there */
	struct span value;
	size_t colon; /* behind its ':' */
	size_t end; /* of the document */
};

struct walk {
	yaml_parser_t parser;
	yaml_event_t event;
	bool have;
	enum setting_id id;
	struct sv name;
	struct place *place;
	struct err *reterr;
};

static int next(struct walk *w)
{
	if (w->have)
		yaml_event_delete(&w->event);
	w->have = yaml_parser_parse(&w->parser, &w->event) != 0;
	return w->have
		? 0
		: err_set(w->reterr, ERR_INPUT, "line %zu: %s", w->parser.problem_mark.line + 1,
			  w->parser.problem ? w->parser.problem : "this is no YAML");
}

static bool begins(const struct walk *w)
{
	return w->event.type == YAML_MAPPING_START_EVENT ||
		w->event.type == YAML_SEQUENCE_START_EVENT;
}

/* Passes over the node of the current event; *ret_end is the end of what is written of it: a
 * collection in block style ends with its last value, not where the next one begins. */
static int pass(struct walk *w, size_t *ret_end)
{
	int depth = 0;

	do {
		bool ends = w->event.type == YAML_MAPPING_END_EVENT ||
			w->event.type == YAML_SEQUENCE_END_EVENT;
		bool closed = w->event.end_mark.index > w->event.start_mark.index;
		depth += begins(w) ? 1 : ends ? -1 : 0;
		if (!ends || closed)
			*ret_end = w->event.end_mark.index;
		if (depth > 0 && next(w) < 0)
			return ERR_INPUT;
	} while (depth > 0);
	return 0;
}

/* Walks a mapping whose start is the current event; prefix is its name with a dot behind it. */
static int walk_section(struct walk *w, const char *prefix, size_t depth)
{
	struct place *p = w->place;

	p->depth = depth;
	p->flow = w->event.data.mapping_start.style == YAML_FLOW_MAPPING_STYLE;
	p->open = w->event.end_mark.index;
	p->last = p->open;
	p->has_keys = p->empty = false;
	for (int r = next(w);; r = next(w)) {
		if (r < 0 || w->event.type == YAML_MAPPING_END_EVENT)
			return r;
		if (w->event.type != YAML_SCALAR_EVENT)
			return err_set(w->reterr, ERR_INPUT, "a key is no single word");
		AUTO_FREE char *name =
			xasprintf("%s%s", prefix, (const char *)w->event.data.scalar.value);
		size_t column = w->event.start_mark.column, key_end = w->event.end_mark.index;
		bool on_the_way = sv_starts(w->name, sv_of(name)) && w->name.n > strlen(name) &&
			w->name.p[strlen(name)] == '.';
		p->column = column;
		p->has_keys = true;
		r = next(w);
		if (r < 0)
			return r;
		struct span value = { w->event.start_mark.index, w->event.end_mark.index };
		if (on_the_way && w->event.type == YAML_MAPPING_START_EVENT) {
			AUTO_FREE char *section = xasprintf("%s.", name);
			return walk_section(w, section, depth + 1);
		}
		if (on_the_way) {
			p->depth = depth + 1;
			p->empty = true;
			p->open = key_end;
			p->value = value;
			return 0;
		}
		bool wanted = settings_find(sv_of(name)) == (int)w->id;
		r = pass(w, &value.to);
		if (r < 0)
			return r;
		p->last = value.to;
		if (wanted) {
			p->found = true;
			p->value = value;
			p->colon = key_end;
			return 0;
		}
	}
}

static int find_place(struct sv text, enum setting_id id, struct place *ret, struct err *reterr)
{
	struct walk w = { .id = id, .name = sv_of(settings_row(id).name), .place = ret };
	int r = 0;

	w.reterr = reterr;
	if (!yaml_parser_initialize(&w.parser))
		return err_set(reterr, -ENOMEM, "out of memory");
	yaml_parser_set_input_string(&w.parser, (const unsigned char *)text.p, text.n);
	yaml_parser_set_encoding(&w.parser, YAML_UTF8_ENCODING);
	*ret = (struct place){ .end = SIZE_MAX };
	do {
		r = next(&w);
		if (r < 0)
			break;
		if (w.event.type == YAML_MAPPING_START_EVENT) {
			r = walk_section(&w, "", 0);
			break;
		}
	} while (w.event.type != YAML_STREAM_END_EVENT);
	/* Behind an explicit end nothing is read any more. */
	while (r == 0 && w.have && w.event.type != YAML_STREAM_END_EVENT) {
		if (w.event.type == YAML_DOCUMENT_END_EVENT && !w.event.data.document_end.implicit)
			ret->end = w.event.start_mark.index;
		r = next(&w);
	}
	if (w.have)
		yaml_event_delete(&w.event);
	yaml_parser_delete(&w.parser);
	return r;
}

/* ---- the text ---- */

/* The byte of a code point; the end when there are fewer. */
static size_t byte_at(struct sv text, size_t points)
{
	size_t at = 0;

	for (uint32_t cp; points > 0 && at < text.n; points--)
		at += utf8_decode(sv_from(text, at), &cp);
	return at;
}

static size_t line_end(struct sv text, size_t at)
{
	const char *newline = at < text.n ? memchr(text.p + at, '\n', text.n - at) : NULL;

	return newline ? (size_t)(newline - text.p) + 1 : text.n;
}

static size_t line_begin(struct sv text, size_t at)
{
	while (at > 0 && text.p[at - 1] != '\n')
		at--;
	return at;
}

/* text with [from, to) replaced. */
static void splice(struct str *out, struct sv text, size_t from, size_t to, struct sv by)
{
	str_add(out, sv_head(text, from));
	str_add(out, by);
	str_add(out, sv_from(text, to));
}

static void replace_value(
	const struct place *p, struct sv text, const struct str *value, struct str *out)
{
	size_t from = byte_at(text, p->value.from), to = byte_at(text, p->value.to);
	size_t colon = byte_at(text, p->colon);
	AUTO_STR by = STR_INIT;

	/* libyaml's key ends before the ':', which blanks may precede. */
	while (colon < text.n && text.p[colon] != ':')
		colon++;
	colon += colon < text.n;
	if (from < colon) /* nothing is there */
		from = to = colon;
	if (memchr(text.p + colon, '\n', from - colon)) {
		/* Below its key: the lines go, and what stands behind the ':' stays. */
		str_addf(&by, " %s", value->buf);
		str_add(&by, sv_make(text.p + colon, line_begin(text, from) - colon));
		splice(out, text, colon, line_end(text, to > from ? to - 1 : to), str_sv(&by));
		return;
	}
	str_addf(&by, "%s%s", from == colon ? " " : "", value->buf);
	if (to > from && text.p[to - 1] == '\n') /* a block of text ends with its last line */
		str_addc(&by, '\n');
	splice(out, text, from, to, str_sv(&by));
}

/* "weights:\n    keyword: 1", from the sections that are not there on. */
static void add_lines(struct str *out, struct sv rest, size_t column, const struct str *value)
{
	size_t dot;

	for (; sv_find(rest, SV("."), &dot); rest = sv_from(rest, dot + 1), column += INDENT)
		str_addf(out, "%*s%.*s:\n", (int)column, "", SV_ARG(sv_head(rest, dot)));
	str_addf(out, "%*s%.*s: %s\n", (int)column, "", SV_ARG(rest), value->buf);
}

static void insert_value(const struct place *p, struct sv text, struct sv name,
	const struct str *value, struct str *out)
{
	AUTO_STR by = STR_INIT;
	size_t at, dot, column = p->has_keys ? p->column : 0, to;

	for (size_t i = 0; i < p->depth && sv_find(name, SV("."), &dot); i++)
		name = sv_from(name, dot + 1);
	if (p->flow && !p->empty) {
		size_t levels = 0;
		at = to = byte_at(text, p->open);
		for (; sv_find(name, SV("."), &dot); name = sv_from(name, dot + 1), levels++)
			str_addf(&by, "%.*s: {", SV_ARG(sv_head(name, dot)));
		str_addf(&by, "%.*s: %s", SV_ARG(name), value->buf);
		while (levels-- > 0)
			str_addc(&by, '}');
		str_adds(&by, p->has_keys ? ", " : "");
	} else if (p->empty) {
		/* Below the line of the section, which has nothing but comments yet. */
		at = byte_at(text, p->open);
		to = byte_at(text, p->value.to);
		if (to < at)
			to = at;
		str_addc(&by, ':');
		str_add(&by, sv_make(text.p + to, line_end(text, to) - to));
		to = line_end(text, to);
		str_adds(&by, sv_ends(str_sv(&by), SV("\n")) ? "" : "\n");
		add_lines(&by, name, column + INDENT, value);
	} else {
		at = p->depth > 0 || p->has_keys ? byte_at(text, p->last) : text.n;
		if (p->depth == 0)
			at = p->end == SIZE_MAX ? text.n : byte_at(text, p->end);
		if (at > 0 && text.p[at - 1] != '\n')
			at = line_end(text, at);
		to = at;
		str_adds(&by, at > 0 && text.p[at - 1] != '\n' ? "\n" : "");
		add_lines(&by, name, p->depth > 0 ? column : 0, value);
	}
	splice(out, text, at, to, str_sv(&by));
}

/* ---- the value ---- */

static void add_scalar(struct str *out, struct sv text)
{
	bool plain = text.n > 0 && !sv_is(text, "null");

	for (size_t i = 0; i < text.n; i++)
		plain = plain &&
			memchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			       "0123456789_./+",
				text.p[i], 66);
	if (plain)
		str_add(out, text);
	else
		json_quote(out, text);
}

static int format_value(enum setting_id id, const struct settings *s, struct sv given,
	struct str *out, struct err *reterr)
{
	const struct setting row = settings_row(id);

	if (row.kind == SETTING_WORDS || row.kind == SETTING_TABLE)
		return err_set(reterr, ERR_USAGE,
			"%s has lists by language: write them into the file ('faden config path')",
			row.name);
	if (row.kind != SETTING_LIST) {
		bool number = row.kind == SETTING_INT || row.kind == SETTING_NUMBER;
		if (number)
			str_add(out, given);
		else
			add_scalar(out, given);
		return 0;
	}
	const struct strv *list = settings_value(s, id);
	str_addc(out, '[');
	for (size_t i = 0; i < list->n; i++) {
		str_adds(out, i ? ", " : "");
		add_scalar(out, sv_of(list->v[i]));
	}
	str_addc(out, ']');
	return 0;
}

/* ---- all of it ---- */

/* Nothing but this setting may differ, and it must be what was given. */
static bool says_the_same(
	const struct settings *was, const struct settings *is, const struct settings *want, int id)
{
	bool same = true;

	settings_each (other) {
		AUTO_STR a = STR_INIT;
		AUTO_STR b = STR_INIT;
		settings_print(&a, (int)other == id ? want : was, other);
		settings_print(&b, is, other);
		same &= strcmp(a.buf, b.buf) == 0;
	}
	return same && is->origins[id].source == SETTING_FILE;
}

int config_edit(struct sv text, const char *file, enum setting_id id, struct sv given,
	const char *home, struct str *out, struct err *reterr)
{
	const struct setting_origin origin = { .source = SETTING_FILE };
	CLEANUP(findings_release) struct findings wrong = FINDINGS_INIT;
	struct settings *was = settings_new(home), *is = settings_new(home),
			*want = settings_new(home);
	const char *name = settings_row(id).name;
	AUTO_STR value = STR_INIT;
	struct place place;
	/* What is wrong may be the very value that is set. */
	int r = config_parse(was, text, file, NULL, &wrong, reterr);

	if (r == 0) {
		r = settings_set(want, id, given, origin, reterr);
		if (r < 0)
			err_prefix(reterr, "%s", name);
	}
	if (r == 0)
		r = format_value(id, want, given, &value, reterr);
	if (r == 0) {
		r = find_place(text, id, &place, reterr);
		if (r < 0)
			err_prefix(reterr, "%s", file);
	}
	if (r == 0 && place.found)
		replace_value(&place, text, &value, out);
	else if (r == 0)
		insert_value(&place, text, sv_of(name), &value, out);
	if (r == 0) {
		r = config_parse(is, str_sv(out), file, NULL, NULL, reterr);
		if ((r < 0 && wrong.all.n == 0) ||
			(r == 0 && !says_the_same(was, is, want, (int)id)))
			r = err_set(reterr, ERR_INPUT,
				"%s: %s cannot be changed by itself here; write it by hand: %s",
				file, name, value.buf);
	}
	settings_free(was);
	settings_free(is);
	settings_free(want);
	return r;
}
