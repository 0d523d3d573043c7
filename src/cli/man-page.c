#include "cli/man-page.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/path.h"

/* The page's file; NULL when there is none beside the program. Caller frees. */
static char *find_page(const char *name)
{
	/* As built; as installed: PREFIX/bin/faden and PREFIX/share/man. */
	static const char *const places[] = { "docs", "../share/man/man1" };
	AUTO_FREE char *self = NULL;

	if (path_real("/proc/self/exe", &self, NULL) < 0)
		return NULL;
	struct sv dir = path_parent(sv_of(self));
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		char *page = xasprintf("%.*s/%s/faden-%s.1", SV_ARG(dir), places[i], name);
		if (path_exists(page))
			return page;
		free(page);
	}
	return NULL;
}

void man_page_show(struct app *app, const char *name)
{
	AUTO_FREE char *page = find_page(name);
	AUTO_FREE char *man = path_find_program("man", app->paths.search);
	if (!page || !man)
		return;
	char *argv[] = { man, page, NULL };
	(void)fflush(app->out);
	(void)execv(man, argv);
}
