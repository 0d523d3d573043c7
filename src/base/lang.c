#include "base/lang.h"

const char *lang_name(enum lang_id lang)
{
	static const char *const codes[LANG_COUNT] = { [LANG_EN] = "en",
		[LANG_DE] = "de",
		[LANG_FR] = "fr",
		[LANG_ES] = "es",
		[LANG_ZH] = "zh" };

	return codes[lang];
}

static const char *const class_names[] = {
#define X(id, name) [LANG_##id] = name,
	LANG_CLASSES(X)
#undef X
};

bool lang_class_parse(struct sv name, enum lang_class *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(class_names); i++) {
		if (sv_is(name, class_names[i])) {
			*ret = (enum lang_class)i;
			return true;
		}
	}
	return false;
}

void lang_class_list(struct str *out)
{
	for (size_t i = 0; i < ARRAY_LEN(class_names); i++)
		str_addf(out, "%s%s", i ? ", " : "", class_names[i]);
}
