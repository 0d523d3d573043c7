#include "cli/new-session.h"

#include <string.h>

#include "ui/size.h"

const char *resume_words(const char *agent, enum transcript_format format)
{
	if (format == TRANSCRIPT_CODEX)
		return "codex resume";
	return strcmp(agent, "claude") == 0 ? "claude --resume" : NULL;
}

void print_saved_tokens(FILE *out, const struct figure *saved, const struct figure *before)
{
	char less[SIZE_TEXT_MAX], of[SIZE_TEXT_MAX];

	size_format_count(saved->tokens, less);
	size_format_count(before->tokens, of);
	(void)fprintf(out, "  tokens   %s less (%s) of %s (%s)\n", less, sure_name(saved->sure), of,
		sure_name(before->sure));
}

void print_resume(FILE *out, const char *words, const char *id)
{
	(void)fprintf(out, "Go on with:\n  faden ask --in %s TEXT\n", id);
	if (words)
		(void)fprintf(out, "  faden resume %s\n  %s %s\n", id, words, id);
}
