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

/* Line breaks, escape sequences and the like: a terminal that gets them pasted would act on them.
 */
static bool is_plain(const char *text)
{
	AUTO_STR clean = STR_INIT;

	utf8_scrub_line(&clean, sv_of(text));
	return sv_eq(str_sv(&clean), sv_of(text));
}

void shell_word(struct str *out, const char *text)
{
	if (is_plain(text)) {
		shell_text(out, text);
		return;
	}
	str_adds(out, "$'");
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		if (c < ' ' || c >= 0x7f)
			str_addf(out, "\\x%02x", c);
		else if (c == '\'' || c == '\\')
			str_addf(out, "\\%c", c);
		else
			str_addc(out, *text);
	}
	str_addc(out, '\'');
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

void shell_cp(struct str *out, const char *from, const char *to)
{
	str_adds(out, "cp ");
	shell_word(out, from);
	str_addc(out, ' ');
	shell_word(out, to);
}
