#include "cli/findings.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"

void findings_add(struct findings *f, unsigned line, const char *fmt, ...)
{
	AUTO_STR text = STR_INIT;
	va_list ap;
	va_start(ap, fmt);
	str_addvf(&text, fmt, ap);
	va_end(ap);
	vec_push(&f->all, (struct config_finding){ line, xstrdup(text.buf) });
}

void findings_release(struct findings *f)
{
	vec_each (&f->all, one)
		free(one->text);
	vec_release(&f->all);
}

void config_finding_print(struct str *out, const struct config_finding *f, const char *file)
{
	AUTO_STR whole = STR_INIT;
	if (f->line > 0)
		str_addf(&whole, "%s:%u: ", file, f->line);
	str_adds(&whole, f->text);
	utf8_scrub_line(out, str_sv(&whole));
}

void findings_json(struct jw *w, const struct findings *f)
{
	jw_array(w);
	vec_each (&f->all, one) {
		jw_object(w);
		jw_key(w, "line");
		if (one->line > 0)
			jw_i64(w, one->line);
		else
			jw_null(w);
		jw_put_cstr(w, "message", one->text);
		jw_end(w);
	}
	jw_end(w);
}
