/*
 * Where a run comes from and what came of it, by what the runs of its folder say: the lineage of
 * sessions, with runs in their place. A turn of it is a round.
 */
#pragma once

#include "lineage/lineage.h"
#include "master/list.h"

/* focus is a row of the list. With `chain` only the way from the first ancestor to it. A run that
 * is not there any more is missing. A replay of a run is the session that came of it, which the
 * store's catalogue knows. */
void master_family(struct store *store, const struct master_list *list,
	const struct master_row *focus, bool chain, struct lineage *ret);
