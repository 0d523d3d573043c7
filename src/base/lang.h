/*
 * The languages that faden has words of.
 */
#pragma once

enum lang_id { LANG_EN, LANG_DE, LANG_FR, LANG_ES, LANG_ZH, LANG_COUNT };
const char *lang_name(enum lang_id lang); /* "en", "de" … */
