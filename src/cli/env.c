#include "cli/env.h"

#include <ctype.h>
#include <langinfo.h>
#include <locale.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

const char *env_get(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* The XDG specification: a relative path in one of its variables is to be ignored. */
static char *xdg_dir(const char *variable, const char *home, const char *fallback)
{
	const char *base = env_get(variable);

	if (base && base[0] == '/')
		return xasprintf("%s/faden", base);
	return xasprintf("%s/%s/faden", home, fallback);
}

static char *agent_home(const char *variable, const char *home, const char *fallback)
{
	const char *given = env_get(variable);

	return given ? xstrdup(given) : xasprintf("%s/%s", home, fallback);
}

static const char *find_home(void)
{
	const char *home = env_get("HOME");

	if (home)
		return home;
	const struct passwd *user = getpwuid(getuid());
	return user ? user->pw_dir : NULL;
}

int env_paths(struct app_paths *ret, struct err *reterr)
{
	const char *home = find_home();

	if (!home || home[0] != '/')
		return err_set(reterr, ERR_INPUT, "no home folder: HOME must name one");
	ret->home = xstrdup(home);
	char *config_dir = xdg_dir("XDG_CONFIG_HOME", home, ".config");
	ret->config_file = xasprintf("%s/config.yaml", config_dir);
	free(config_dir);
	ret->state_dir = xdg_dir("XDG_STATE_HOME", home, ".local/state");
	ret->data_dir = xdg_dir("XDG_DATA_HOME", home, ".local/share");
	ret->archive_dir = xasprintf("%s/archive", ret->data_dir);
	ret->models_dir = xasprintf("%s/models", ret->data_dir);
	ret->cache_dir = xdg_dir("XDG_CACHE_HOME", home, ".cache");
	/* Without a login session there is no runtime folder; the state folder serves as well. */
	ret->runtime_dir = xdg_dir("XDG_RUNTIME_DIR", home, ".local/state");
	for (size_t i = 0; i < agent_count; i++) {
		const struct agent_def *agent = &agent_table[i];

		if (agent->home_default)
			ret->agent_homes[i] =
				agent_home(agent->home_variable, home, agent->home_default);
	}
	const char *search = env_get("PATH");
	ret->search = xstrdup(search ? search : "/usr/local/bin:/usr/bin:/bin");
	return 0;
}

int env_clock(struct clock *ret, struct err *reterr)
{
	*ret = (struct clock){ .fixed = false };
	const char *text = env_get("FADEN_CLOCK");
	if (!text)
		return 0;
	long long ms;
	int64_t wall_ms;
	if (sv_parse_i64(sv_of(text), &ms))
		wall_ms = ms;
	else if (!clock_parse_iso(sv_of(text), &wall_ms))
		return err_set(reterr, ERR_INPUT,
			"FADEN_CLOCK: '%s' is neither an ISO time nor milliseconds", text);
	*ret = (struct clock){ .fixed = true, .fixed_ms = wall_ms };
	return 0;
}

const char *env_pager(void)
{
	return getenv("PAGER");
}

const char *const *env_all(void)
{
	return (const char *const *)environ;
}

const char *env_language(char out[static 3])
{
	static const char *const variables[] = { "LC_ALL", "LC_MESSAGES", "LANG" };

	memcpy(out, "en", 3);
	for (size_t i = 0; i < ARRAY_LEN(variables); i++) {
		const char *value = env_get(variables[i]);
		if (!value)
			continue;
		/* "C", "POSIX": no language; the first that is set decides, as in setlocale(). */
		if (isalpha((unsigned char)value[0]) && isalpha((unsigned char)value[1]) &&
			!isalpha((unsigned char)value[2])) {
			out[0] = (char)tolower((unsigned char)value[0]);
			out[1] = (char)tolower((unsigned char)value[1]);
		}
		break;
	}
	return out;
}

/* Whether the user's locale is one of UTF-8; one that is not installed says so by its name. */
static bool wants_utf8(void)
{
	static const char *const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *name = "";

	if (setlocale(LC_CTYPE, ""))
		return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	for (size_t i = 0; !name[0] && i < ARRAY_LEN(variables); i++)
		name = env_get(variables[i]) ? env_get(variables[i]) : "";
	return strcasestr(name, "UTF-8") || strcasestr(name, "utf8");
}

bool env_use_locale(void)
{
	bool utf8 = wants_utf8();

	/* A terminal sends UTF-8 also where no locale is set, as over ssh and in containers. */
	if (!utf8 || strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
		(void)setlocale(LC_CTYPE, "C.UTF-8");
	return utf8;
}

bool env_shows_lines(bool terminal)
{
	const char *term = env_get("TERM");

	return terminal && term && strcmp(term, "dumb") != 0;
}
