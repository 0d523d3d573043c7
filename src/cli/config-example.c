#include "base/utf8.h"
#include "cli/config-print.h"

enum { EXAMPLE_WIDTH = 90, INDENT = 2 };

static void indent(FILE *out, size_t levels)
{
	for (size_t i = 0; i < levels * INDENT; i++)
		(void)fputc(' ', out);
}

/* The help as comment lines. */
static void print_comment(FILE *out, const char *text, size_t level)
{
	struct sv rest = sv_of(text), word;
	size_t column = 0;
	while (sv_split(&rest, ' ', &word)) {
		size_t width = utf8_width(word) + 1;
		if (column == 0 || column + width > EXAMPLE_WIDTH) {
			if (column > 0)
				(void)fputc('\n', out);
			indent(out, level);
			(void)fputc('#', out);
			column = level * INDENT + 1;
		}
		(void)fprintf(out, " %.*s", SV_ARG(word));
		column += width;
	}
	(void)fputc('\n', out);
}

static void print_choices(FILE *out, const char *choices, size_t level)
{
	AUTO_STR line = STR_INIT;
	struct sv rest = sv_of(choices), spellings, first;
	str_adds(&line, "one of:");
	while (sv_split(&rest, '|', &spellings)) {
		(void)sv_split(&spellings, '=', &first);
		str_addf(&line, " %.*s", SV_ARG(first));
	}
	print_comment(out, line.buf, level);
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

/* "[a, b, c]" over several lines, each a comment. */
static void print_flow(FILE *out, const char *key, struct sv list, size_t level)
{
	AUTO_STR line = STR_INIT;
	struct sv piece;
	str_addf(&line, "%s: [", key);
	bool first = true;
	(void)fputc('#', out);
	indent(out, level);
	while (list.n > 0 && sv_split(&list, ',', &piece)) {
		AUTO_STR word = STR_INIT;
		add_scalar(&word, sv_trim(piece));
		if (!first)
			str_addc(&line, ',');
		if (line.len + word.len > EXAMPLE_WIDTH - INDENT * level) {
			(void)fprintf(out, "%s\n#", line.buf);
			indent(out, level + 1);
			str_clear(&line);
		} else if (!first) {
			str_addc(&line, ' ');
		}
		str_add(&line, str_sv(&word));
		first = false;
	}
	(void)fprintf(out, "%s]\n", line.buf);
}

static void print_words(FILE *out, const char *key, struct sv text, size_t level)
{
	struct sv group;
	(void)fputc('#', out);
	indent(out, level);
	(void)fprintf(out, "%s:\n", key);
	while (sv_split(&text, ';', &group)) {
		struct sv lang;
		(void)sv_split(&group, ':', &lang);
		AUTO_STR name = STR_INIT;
		str_add(&name, sv_trim(lang));
		print_flow(out, name.buf, group, level + 1);
	}
}

static void print_value(FILE *out, const struct setting *row, const char *key, size_t level)
{
	struct sv text = sv_of(row->fallback);
	if (row->kind == SETTING_WORDS) {
		print_words(out, key, text, level);
	} else if (row->kind == SETTING_LIST) {
		print_flow(out, key, text, level);
	} else if (row->kind == SETTING_TABLE) {
		(void)fputc('#', out);
		indent(out, level);
		(void)fprintf(out, "%s: {}\n", key);
	} else {
		AUTO_STR value = STR_INIT;
		bool number = row->kind == SETTING_NUMBER || row->kind == SETTING_INT;
		if (number)
			str_add(&value, text);
		else
			add_scalar(&value, text);
		(void)fputc('#', out);
		indent(out, level);
		(void)fprintf(out, "%s: %s\n", key, value.buf);
	}
}

/* Opens the sections of `name` that `before` was not in; returns how many levels they are. */
static size_t print_sections(FILE *out, struct sv name, struct sv before, struct sv *ret_key)
{
	size_t level = 0;
	for (;;) {
		size_t dot;
		if (!sv_find(name, SV("."), &dot)) {
			*ret_key = name;
			return level;
		}
		struct sv part = sv_head(name, dot + 1);
		if (before.n > 0 && sv_starts(before, part)) {
			before = sv_from(before, part.n);
		} else {
			before = SV("");
			if (level == 0)
				(void)fputc('\n', out);
			indent(out, level);
			(void)fprintf(out, "%.*s:\n", SV_ARG(sv_head(part, dot)));
		}
		name = sv_from(name, part.n);
		level++;
	}
}

void config_print_example(FILE *out)
{
	(void)fputs("# faden's configuration: every setting with its default. Take the '#' in the "
		    "first\n"
		    "# column away to change one. 'faden config check' says what is wrong with a "
		    "file.\n",
		out);
	struct sv before = SV("");
	for (int id = 0; id < SETTING_COUNT; id++) {
		const struct setting *row = &settings_table[id];
		struct sv key;
		size_t level = print_sections(out, sv_of(row->name), before, &key);
		before = sv_of(row->name);
		print_comment(out, row->help, level);
		if (row->choices)
			print_choices(out, row->choices, level);
		AUTO_STR name = STR_INIT;
		str_add(&name, key);
		print_value(out, row, name.buf, level);
	}
}
