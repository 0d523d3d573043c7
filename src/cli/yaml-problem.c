#include "cli/yaml-problem.h"

#include <string.h>

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

static bool fits(const struct wording *w, const char *problem, const char *context)
{
	return strstr(problem, w->problem) &&
		(!w->context || (context && strstr(context, w->context)));
}

void yaml_problem(struct str *out, const char *problem, const char *context, unsigned context_line)
{
	for (size_t i = 0; problem && i < ARRAY_LEN(wordings); i++) {
		const struct wording *w = &wordings[i];
		if (!fits(w, problem, context))
			continue;
		str_adds(out, w->words);
		if (w->begun && context)
			str_addf(out, " (it begins on line %u)", context_line);
		return;
	}
	str_adds(out, problem ? problem : "out of memory");
}
