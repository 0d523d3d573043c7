/* Where an agent's program is. */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "agent/launch.h"
#include "base/mem.h"
#include "os/path.h"

static char *first_match(const char *pattern)
{
	glob_t found = { 0 };
	char *path = NULL;

	if (glob(pattern, 0, NULL, &found) == 0 && found.gl_pathc > 0)
		path = xstrdup(found.gl_pathv[0]);
	globfree(&found);
	return path;
}

/* Below the folder of the package: beside it, inside it, and as older versions had it. */
static const struct {
	const char *before, *after; /* the machine's name */
} native_places[] = {
	{ "/../codex-linux-*/vendor/", "-*/bin/codex" },
	{ "/node_modules/@openai/codex-linux-*/vendor/", "-*/bin/codex" },
	{ "/vendor/", "-*linux*/bin/codex" },
	{ "/vendor/", "-*linux*/codex/codex" },
};

char *find_codex_native(const char *program)
{
	AUTO_FREE char *real = NULL;
	struct utsname sys;

	if (path_real(program, &real, NULL) < 0 || uname(&sys) < 0 ||
		!sv_ends(sv_of(real), SV("/bin/codex.js")))
		return NULL;
	struct sv package = path_parent(path_parent(sv_of(real)));
	for (size_t i = 0; i < ARRAY_LEN(native_places); i++) {
		AUTO_FREE char *pattern = xasprintf("%.*s%s%s%s", SV_ARG(package),
			native_places[i].before, sys.machine, native_places[i].after);
		char *path = first_match(pattern);
		if (path)
			return path;
	}
	return NULL;
}
