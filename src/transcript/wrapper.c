/*
 * User messages that no user wrote. The agents mark some of them (isMeta), the rest are known by
 * how they begin.
 */
#include "transcript/adapter.h"

/* A tag matches when '>' or a blank follows it. */
static bool has_tag(struct sv text, const char *tag)
{
	if (text.n == 0 || text.p[0] != '<')
		return false;
	text = sv_from(text, 1);
	struct sv name = sv_of(tag);
	if (!sv_starts(text, name) || text.n == name.n)
		return false;
	char next = text.p[name.n];
	return next == '>' || next == ' ' || next == '\n';
}

bool transcript_injected(const struct transcript_format *format, struct sv text)
{
	text = sv_trim(text);
	for (const char *const *t = format->injected_tags; *t; t++)
		if (has_tag(text, *t))
			return true;
	for (const char *const *w = format->injected_words; *w; w++)
		if (sv_starts(text, sv_of(*w)))
			return true;
	return false;
}

enum { WRAPPER_RAW_MAX = 512 }; /* blanks, and the longest beginning, escaped */

bool value_injected(const struct transcript_format *format, struct jval text, struct str *tmp)
{
	str_clear(tmp);
	value_head(text, WRAPPER_RAW_MAX, tmp);
	return transcript_injected(format, str_sv(tmp));
}
