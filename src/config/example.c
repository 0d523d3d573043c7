#include "base/utf8.h"
#include "config/yaml.h"
#include "json/write.h"

enum { EXAMPLE_WIDTH = 90, INDENT = 2 };

static void indent(struct str *out, size_t levels)
{
	str_addf(out, "%*s", (int)(levels * INDENT), "");
}

/* The help as comment lines. */
static void add_comment(struct str *out, const char *text, size_t level)
{
	struct sv rest = sv_of(text), word;
	size_t column = 0;

	while (sv_split(&rest, ' ', &word)) {
		size_t width = utf8_width(word) + 1;
		if (column == 0 || column + width > EXAMPLE_WIDTH) {
			str_adds(out, column > 0 ? "\n" : "");
			indent(out, level);
			str_addc(out, '#');
			column = level * INDENT + 1;
		}
		str_addf(out, " %.*s", SV_ARG(word));
		column += width;
	}
	str_addc(out, '\n');
}

/* Plain where YAML reads it as the same text, else quoted. */
static void add_scalar(struct str *out, struct sv text)
{
	bool plain = text.n > 0;

	for (size_t i = 0; i < text.n; i++)
		plain = plain && !strchr(":#{}[],&*!|>\"%@`\\?-~", text.p[i]);
	if (plain)
		str_add(out, text);
	else
		json_quote(out, text);
}

/* A line behind '#': "key:". */
static void add_key(struct str *out, struct sv key, size_t level)
{
	str_addc(out, '#');
	indent(out, level);
	str_addf(out, "%.*s:", SV_ARG(key));
}

/* "key: [a, b, c]" over several lines, each a comment. */
static void add_list(struct str *out, struct sv key, struct sv list, size_t level)
{
	size_t column = key.n + 3;
	struct sv piece;

	add_key(out, key, level);
	str_adds(out, " [");
	for (bool first = true; list.n > 0 && sv_split(&list, ',', &piece); first = false) {
		AUTO_STR word = STR_INIT;
		add_scalar(&word, sv_trim(piece));
		str_adds(out, first ? "" : ",");
		column += !first;
		if (column + word.len > EXAMPLE_WIDTH - INDENT * level) {
			str_adds(out, "\n#");
			indent(out, level + 1);
			column = 0;
		} else if (!first) {
			str_addc(out, ' ');
			column++;
		}
		str_add(out, str_sv(&word));
		column += word.len;
	}
	str_adds(out, "]\n");
}

static void add_value(struct str *out, const struct setting *row, struct sv key, size_t level)
{
	struct sv text = sv_of(row->fallback), group, lang;

	switch (row->kind) {
	case SETTING_WORDS:
		add_key(out, key, level);
		str_addc(out, '\n');
		while (sv_split(&text, ';', &group)) {
			(void)sv_split(&group, ':', &lang);
			add_list(out, sv_trim(lang), group, level + 1);
		}
		return;
	case SETTING_LIST:
		add_list(out, key, text, level);
		return;
	case SETTING_TABLE:
		add_key(out, key, level);
		str_adds(out, " {}\n");
		return;
	case SETTING_INT:
	case SETTING_NUMBER:
		add_key(out, key, level);
		str_addf(out, " %s\n", row->fallback);
		return;
	case SETTING_BOOL:
	case SETTING_SECONDS:
	case SETTING_SIZE:
	case SETTING_STRING:
	case SETTING_PATH:
	case SETTING_CHOICE:
	case SETTING_AGENT:
		add_key(out, key, level);
		str_addc(out, ' ');
		add_scalar(out, text);
		str_addc(out, '\n');
		return;
	}
}

/* Opens the sections of `name` that `before` was not in; returns how many levels they are. */
static size_t add_sections(struct str *out, struct sv name, struct sv before, struct sv *ret_key)
{
	size_t level = 0, dot;

	for (; sv_find(name, SV("."), &dot); level++) {
		struct sv part = sv_head(name, dot + 1);
		if (before.n > 0 && sv_starts(before, part)) {
			before = sv_from(before, part.n);
		} else {
			before = SV("");
			str_adds(out, level == 0 ? "\n" : "");
			indent(out, level);
			str_addf(out, "%.*s:\n", SV_ARG(sv_head(part, dot)));
		}
		name = sv_from(name, part.n);
	}
	*ret_key = name;
	return level;
}

void config_example(struct str *out)
{
	struct sv before = SV("");

	str_adds(out,
		"# faden's configuration: every setting with its default. Take the '#' in the "
		"first\n"
		"# column away to change one. 'faden config check' says what is wrong with a "
		"file.\n");
	settings_each (id) {
		const struct setting row = settings_row(id);
		struct sv key;
		if (!settings_shown(id))
			continue;
		size_t level = add_sections(out, sv_of(row.name), before, &key);
		AUTO_STR choices = STR_INIT;

		before = sv_of(row.name);
		add_comment(out, row.help, level);
		settings_choices(&choices, id);
		if (choices.len > 0) {
			AUTO_STR line = STR_INIT;
			struct sv rest = str_sv(&choices), spellings, first;
			str_adds(&line, "one of:");
			while (sv_split(&rest, '|', &spellings)) {
				(void)sv_split(&spellings, '=', &first);
				str_addf(&line, " %.*s", SV_ARG(first));
			}
			add_comment(out, line.buf, level);
		}
		add_value(out, &row, key, level);
	}
}
