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
