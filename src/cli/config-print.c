#include "cli/config-print.h"

#include "base/utf8.h"

/* ---- list ---- */

void config_print_list(FILE *out, const struct settings *s, const char *file)
{
	for (int id = 0; id < SETTING_COUNT; id++) {
		AUTO_STR value = STR_INIT;
		AUTO_STR origin = STR_INIT;
		AUTO_STR line = STR_INIT;
		settings_print(&value, s, (enum setting_id)id);
		settings_print_origin(&origin, s, (enum setting_id)id, file);
		str_addf(&line, "%s = %s  (%s)", settings_table[id].name, value.buf, origin.buf);
		AUTO_STR safe = STR_INIT;
		utf8_scrub_line(&safe, str_sv(&line));
		(void)fprintf(out, "%s\n", safe.buf);
	}
}

/* ---- JSON ---- */

static void put_strings(struct jw *w, const struct strv *list)
{
	jw_array(w);
	for (size_t i = 0; i < list->n; i++)
		jw_string(w, sv_of(list->v[i]));
	jw_end(w);
}

static void put_words(struct jw *w, const struct keywords *k)
{
	jw_array(w);
	for (size_t i = 0; i < k->texts.n; i++) {
		jw_object(w);
		jw_put_cstr(w, "language", *k->langs.v[i] ? k->langs.v[i] : NULL);
		jw_put_cstr(w, "text", k->texts.v[i]);
		jw_end(w);
	}
	jw_end(w);
}

void config_put_value(struct jw *w, const struct settings *s, enum setting_id id)
{
	const void *value = settings_value(s, id);
	switch (settings_table[id].kind) {
	case SETTING_BOOL:
		jw_bool(w, *(const bool *)value);
		break;
	case SETTING_INT:
		jw_i64(w, *(const long long *)value);
		break;
	case SETTING_NUMBER:
		jw_double(w, *(const double *)value);
		break;
	case SETTING_SECONDS:
		jw_double(w, (double)*(const int64_t *)value / 1000);
		break;
	case SETTING_STRING:
	case SETTING_PATH:
	case SETTING_CHOICE:
		jw_string(w, sv_of(*(char *const *)value));
		break;
	case SETTING_LIST:
	case SETTING_TABLE:
		put_strings(w, value);
		break;
	case SETTING_WORDS:
		put_words(w, value);
		break;
	}
}

static const char *source_name(enum setting_source source)
{
	static const char *const names[] = {
		[SETTING_DEFAULT] = "default",
		[SETTING_FILE] = "file",
		[SETTING_ENVIRONMENT] = "environment",
	};
	return names[source];
}

static void put_setting(
	struct jw *w, const struct settings *s, enum setting_id id, const char *file)
{
	const struct setting_origin *o = &s->origins[id];
	jw_object(w);
	jw_put_cstr(w, "name", settings_table[id].name);
	jw_key(w, "value");
	config_put_value(w, s, id);
	jw_put_cstr(w, "source", source_name(o->source));
	if (o->source == SETTING_FILE) {
		jw_put_cstr(w, "file", file);
		jw_put_i64(w, "line", o->line);
	}
	jw_put_cstr(w, "default", settings_table[id].fallback);
	jw_put_cstr(w, "help", settings_table[id].help);
	jw_end(w);
}

void config_print_json(FILE *out, const struct settings *s, const char *file)
{
	AUTO_STR json = STR_INIT;
	struct jw w = JW_INIT(&json);
	jw_array(&w);
	for (int id = 0; id < SETTING_COUNT; id++)
		put_setting(&w, s, (enum setting_id)id, file);
	jw_end(&w);
	(void)fprintf(out, "%s\n", json.buf);
}
