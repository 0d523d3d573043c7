#include "cli/archive-of.h"

#include "os/path.h"

char *archive_of(struct app *app, struct archive *ret)
{
	char *dir = path_join(app->paths.data_dir, "archive");

	*ret = (struct archive){ .store = app->store, .dir = dir, .clock = &app->clock };
	return dir;
}
