#include "cli/json-error.h"

#include "json/write.h"

void json_error_put(FILE *to, int code, const struct err *err)
{
	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);
	jw_object(&w);
	jw_put_cstr(&w, "error", err->msg);
	jw_put_cstr(&w, "code", err_name(code));
	jw_put_cstr(&w, "session_id", NULL);
	jw_put_cstr(&w, "path", NULL);
	jw_end(&w);
	(void)fprintf(to, "%s\n", out.buf);
}

void json_error(struct app *app, int code, const struct err *err)
{
	json_error_put(app->out, code, err);
}

int json_fail(struct app *app, bool json, int code, const struct err *err, struct err *reterr)
{
	if (json)
		json_error(app, code, err);
	if (reterr)
		*reterr = *err;
	return code;
}
