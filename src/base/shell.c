#include "base/shell.h"

void shell_word(struct str *out, const char *text)
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

void shell_cp(struct str *out, const char *from, const char *to)
{
	str_adds(out, "cp ");
	shell_word(out, from);
	str_addc(out, ' ');
	shell_word(out, to);
}
