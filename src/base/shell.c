#include "base/shell.h"

#include <string.h>

#include "base/utf8.h"

void shell_text(struct str *out, const char *text)
{
	str_addc(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			str_adds(out, "'\\''");
		else
			str_addc(out, *text);
	}
	str_addc(out, '\'');
}

static bool is_plain(struct sv text)
{
	for (size_t n; text.n; text = sv_from(text, n)) {
		uint32_t cp;
		n = utf8_decode(text, &cp);
		if (utf8_unsafe(cp) || (n == 1 && (unsigned char)text.p[0] >= 0x80))
			return false;
	}
	return true;
}

/* In octal: how many hexadecimal digits belong to a \x is not the same in all shells. */
void shell_word(struct str *out, const char *text)
{
	struct sv rest = sv_of(text);

	if (is_plain(rest)) {
		shell_text(out, text);
		return;
	}
	str_adds(out, "$'");
	while (rest.n) {
		uint32_t cp;
		size_t n = utf8_decode(rest, &cp);
		struct sv c = sv_head(rest, n);
		if (!is_plain(c))
			for (size_t i = 0; i < n; i++)
				str_addf(out, "\\%03o", (unsigned char)c.p[i]);
		else if (cp == '\'' || cp == '\\')
			str_addf(out, "\\%c", (int)cp);
		else
			str_add(out, c);
		rest = sv_from(rest, n);
	}
	str_addc(out, '\'');
}

void shell_shown(struct str *out, const char *text)
{
	if (is_plain(sv_of(text)))
		str_adds(out, text);
	else
		shell_word(out, text);
}

void shell_id(struct str *out, const char *id)
{
	static const char plain[] = "0123456789abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ._-";

	if (id[0] && id[strspn(id, plain)] == '\0')
		str_adds(out, id);
	else
		shell_word(out, id);
}

void shell_operand(struct str *out, const char *id)
{
	str_adds(out, id[0] == '-' ? "-- " : "");
	shell_id(out, id);
}
