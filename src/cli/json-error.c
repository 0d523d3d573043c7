#include "cli/json-error.h"

#include "json/write.h"

void json_error_members(struct jw *w, int code, const struct err *err)
{
	jw_put_cstr(w, "error", err->msg);
	jw_put_cstr(w, "code", err_name(code));
	jw_put_cstr(w, "session_id", NULL);
	jw_put_cstr(w, "path", NULL);
}

void json_error_put(FILE *to, int code, const struct err *err)
{
	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);
	jw_object(&w);
	json_error_members(&w, code, err);
	jw_end(&w);
	(void)fprintf(to, "%s\n", out.buf);
}

void json_error(struct app *app, int code, const struct err *err)
{
	if (!app->told)
		json_error_put(app->out, code, err);
	app->told = true;
}
