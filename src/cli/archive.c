#include "cli/archive.h"

#include "os/path.h"

int app_archive(struct app *app, struct archive *ret, char **ret_dir, struct err *reterr)
{
	struct store *store;
	int rc = app_store(app, &store, reterr);
	if (rc < 0)
		return rc;
	*ret_dir = path_join(app->paths.data_dir, "archive");
	*ret = (struct archive){ .store = store, .dir = *ret_dir, .clock = &app->clock };
	return 0;
}
