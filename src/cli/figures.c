#include "cli/figures.h"

#include "ui/size.h"

void print_saved_tokens(FILE *out, const struct figure *saved, const struct figure *before)
{
	char less[SIZE_TEXT_MAX], of[SIZE_TEXT_MAX];

	size_format_count(saved->tokens, less);
	size_format_count(before->tokens, of);
	(void)fprintf(out, "  tokens   %s less (%s) of %s (%s)\n", less, sure_name(saved->sure), of,
		sure_name(before->sure));
}
