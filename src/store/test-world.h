/*
 * For tests: a folder with a home of Claude Code's and one of Codex's, and a store.
 */
#pragma once

#include "store/store.h"
#include "transcript/test-session.h"

struct world {
	char *folder, *claude, *codex;
	struct transcript_home homes[2];
	struct store *store;
	struct clock clock;
	size_t troubles;
};

/* The store is in the folder at this name; NULL: in memory. */
static inline struct world *world_new(const char *store)
{
	struct world *w = xcalloc(1, sizeof(*w));

	w->folder = temp_folder();
	w->claude = path_join(w->folder, "claude");
	w->codex = path_join(w->folder, "codex");
	w->homes[0] = (struct transcript_home){
		.agent = "claude", .format = TRANSCRIPT_CLAUDE, .root = w->claude
	};
	w->homes[1] = (struct transcript_home){
		.agent = "codex", .format = TRANSCRIPT_CODEX, .root = w->codex
	};
	w->clock = (struct clock){ true, (int64_t)T0_S * 1000 };
	AUTO_FREE char *path = store ? path_join(w->folder, store) : NULL;
	assert_int_equal(store_open(path, store ? 0 : STORE_MEMORY, NULL, &w->store, NULL), 0);
	return w;
}

static inline int teardown(void **state)
{
	struct world *w = *state;

	store_close(w->store);
	free(w->claude);
	free(w->codex);
	temp_remove(w->folder);
	free(w);
	return 0;
}
