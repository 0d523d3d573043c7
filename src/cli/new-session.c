#include "cli/new-session.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/print.h"
#include "os/path.h"
#include "ui/size.h"

const char *resume_words(const char *agent, const struct transcript_format *format)
{
	if (format == TRANSCRIPT_CODEX)
		return "codex resume";
	return strcmp(agent, "claude") == 0 ? "claude --resume" : NULL;
}

void saved_words(const struct figure *saved, const struct figure *before, struct str *out)
{
	char less[SIZE_TEXT_MAX], of[SIZE_TEXT_MAX], left[SIZE_TEXT_MAX];

	size_format_count(saved->tokens, less);
	size_format_count(before->tokens, of);
	size_format_count(before->tokens - saved->tokens, left);
	str_addf(out, "%s of %s tokens (%s), leaving %s", less, of, sure_name(saved->sure), left);
}

void print_saved_tokens(
	FILE *out, bool dry, const struct figure *saved, const struct figure *before)
{
	enum { VALUE_COLUMN = 11 };
	AUTO_STR line = STR_INIT;

	str_adds(&line, dry ? "It would save " : "  saved    ");
	saved_words(saved, before, &line);
	prose_put(out, dry ? 0 : VALUE_COLUMN, line.buf);
}

int out_folder(const char *out, char **ret, bool *ret_missing, struct err *reterr)
{
	struct stat st;
	struct sv base = path_base(sv_of(out)), parent = path_parent(sv_of(out));
	AUTO_FREE char *above = xmemdup0(parent.p, parent.n);
	AUTO_FREE char *real = NULL;

	*ret_missing = stat(out, &st) < 0;
	if (!*ret_missing && !S_ISDIR(st.st_mode))
		return err_set(reterr, ERR_INPUT, "--out %s is no folder", out);
	if (!*ret_missing)
		return path_real(out, ret, reterr);
	if (stat(above[0] ? above : ".", &st) < 0 || !S_ISDIR(st.st_mode) || base.n == 0)
		return err_set(reterr, ERR_INPUT, "--out %s: there is no such folder", out);
	int rc = path_real(above[0] ? above : ".", &real, reterr);
	if (rc >= 0)
		*ret = xasprintf("%s/%.*s", strcmp(real, "/") == 0 ? "" : real, SV_ARG(base));
	return rc;
}

void out_folder_made(struct app *app, const char *folder, bool written)
{
	if (written)
		(void)fprintf(app->err, "faden: made the folder %s\n", folder);
	else
		(void)rmdir(folder);
}

static bool takes_no_files(int code)
{
	return code == -EROFS || code == -EACCES || code == -EPERM || code == -ENOSPC ||
		code == -EDQUOT;
}

void out_hint(const struct app *app, const char *out, bool in_place, struct err *err)
{
	struct err before = *err;

	if (!takes_no_files(before.code))
		return;
	if (strstr(before.msg, app->paths.data_dir))
		(void)err_set(err, before.code,
			"%s (originals are kept there; XDG_DATA_HOME names another folder)",
			before.msg);
	else if (!out && !in_place)
		(void)err_set(err, before.code, "%s (--out DIR writes a new session elsewhere)",
			before.msg);
}
