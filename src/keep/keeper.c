#include "keep/keeper.h"

#include "os/path.h"
#include "store/catalogue.h"

struct archive keeper_archive(const struct keeper *k)
{
	return (struct archive){ .store = k->store, .dir = k->archive_dir, .clock = k->clock };
}

int keeper_vault(const struct keeper *k, unsigned flags, struct vault **ret, struct err *reterr)
{
	return vault_open(
		k->archive_dir, VAULT_WRITE | VAULT_WAIT | flags, k->clock, k->log, ret, reterr);
}

/* An empty list is not the same as none: of no file, or of all. */
static const char *const *list_of(const struct strv *paths)
{
	static const char *const none[] = { NULL };

	return !paths ? NULL : paths->n == 0 ? none : (const char *const *)paths->v;
}

int keeper_index_files(const struct keeper *k, const struct strv *paths, int64_t budget_ms,
	struct index_stats *ret, struct err *reterr)
{
	const struct archive archive = keeper_archive(k);
	const struct index_opts opts = {
		.archive = &archive,
		.result_max = k->result_max,
		.budget_ms = budget_ms,
		.wait = budget_ms == 0,
		.paths = list_of(paths),
		.n_paths = paths ? paths->n : 0,
		.trouble = k->trouble,
		.cancelled = k->cancelled,
		.data = k->data,
	};

	return index_update(k->index_dir, k->store, k->homes, k->n_homes, &opts, ret, reterr);
}

int keeper_archive_to(const struct keeper *k, struct vault *v, const struct strv *paths,
	struct archive_update_stats *ret, struct err *reterr)
{
	const struct archive archive = keeper_archive(k);
	const struct archive_update_opts opts = {
		.paths = list_of(paths),
		.n_paths = paths ? paths->n : 0,
		.progress = k->progress,
		.trouble = k->trouble,
		.cancelled = k->cancelled,
		.data = k->data,
	};

	/* What it is, and whose, the archive asks the catalogue. */
	for (size_t i = 0; paths && i < paths->n; i++) {
		const struct transcript_home *home =
			transcript_home_of(k->homes, k->n_homes, paths->v[i]);
		AUTO_SESSION_ROW row = SESSION_ROW_INIT;
		struct err err = ERR_INIT;
		if (home && catalogue_take(k->store, home, paths->v[i], &row, &err) < 0 &&
			path_exists(paths->v[i]) && k->trouble)
			k->trouble(k->data, &err);
	}
	return archive_update(&archive, v, &opts, ret, reterr);
}

int keeper_archive_files(const struct keeper *k, const struct strv *paths,
	struct archive_update_stats *ret, struct err *reterr)
{
	AUTO_VAULT *v = NULL;
	int r = keeper_vault(k, 0, &v, reterr);

	return r < 0 ? r : keeper_archive_to(k, v, paths, ret, reterr);
}
