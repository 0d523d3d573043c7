/* A home with sessions, an index and an archive in a folder of their own, for tests of this room.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "keep/keeper.h"
#include "os/test-temp.h"
#include "store/catalogue.h"

struct keep_rig {
	char *folder, *root, *index, *archive;
	struct transcript_home home;
	struct store *store;
	struct clock clock;
	struct keeper keeper;
	struct err err;
};

static inline void rig_init(struct keep_rig *rig)
{
	*rig = (struct keep_rig){ .folder = temp_folder() };
	rig->root = path_join(rig->folder, "claude");
	rig->index = path_join(rig->folder, "index");
	rig->archive = path_join(rig->folder, "archive");
	rig->home = (struct transcript_home){
		.agent = "claude", .format = TRANSCRIPT_CLAUDE, .root = rig->root
	};
	assert_int_equal(store_open(NULL, STORE_MEMORY, NULL, &rig->store, NULL), 0);
	rig->keeper = (struct keeper){ .store = rig->store,
		.homes = &rig->home,
		.n_homes = 1,
		.state_dir = rig->folder,
		.index_dir = rig->index,
		.archive_dir = rig->archive,
		.clock = &rig->clock };
}

static inline void rig_release(struct keep_rig *rig)
{
	store_close(rig->store);
	free(rig->root);
	free(rig->index);
	free(rig->archive);
	temp_remove(rig->folder);
}
#define RIG                                       \
	CLEANUP(rig_release) struct keep_rig rig; \
	rig_init(&rig)

/* projects/-work/ID.jsonl, or the file of a sub-agent of it. */
static inline char *rig_path(const struct keep_rig *rig, unsigned n, const char *subagent)
{
	return subagent
		? xasprintf("%s/projects/-work/aaaaaaaa-0000-4000-8000-%012u/subagents/%s.jsonl",
			  rig->root, n, subagent)
		: xasprintf("%s/projects/-work/aaaaaaaa-0000-4000-8000-%012u.jsonl", rig->root, n);
}

/* One more line of a session, or of a sub-agent of it. */
static inline void rig_say(
	const struct keep_rig *rig, unsigned n, const char *subagent, const char *text)
{
	AUTO_FREE char *path = rig_path(rig, n, subagent);
	struct sv parent = path_parent(sv_of(path));
	AUTO_FREE char *folder = xmemdup0(parent.p, parent.n);
	AUTO_FREE char *line = xasprintf(
		"{\"type\":\"user\",\"uuid\":\"u\",\"timestamp\":\"2026-03-01T10:00:00.000Z\","
		"\"sessionId\":\"aaaaaaaa-0000-4000-8000-%012u\",\"cwd\":\"/work\","
		"\"message\":{\"role\":\"user\",\"content\":\"%s\"}}\n",
		n, text);

	assert_int_equal(file_mkdirs(folder, NULL), 0);
	assert_int_equal(file_append(path, sv_of(line), false, NULL), 0);
}

/* How many documents that count have the word, in the index as it is. */
static inline unsigned rig_found(const struct keep_rig *rig, const char *word)
{
	struct index_view *view = NULL;
	unsigned found = 0;

	if (index_view_open(rig->index, &view, NULL) < 0)
		return 0;
	for (size_t s = 0; s < index_view_segments(view); s++) {
		const struct segment *seg = index_view_segment(view, s);
		struct segment_term term;
		struct postings p;
		if (segment_find(seg, sv_of(word), &term, NULL) <= 0)
			continue;
		postings_begin(&p, seg, &term);
		while (postings_next(&p, NULL) > 0)
			for (unsigned i = 0; i < p.n; i++)
				found += !segment_dead(seg, segment_run_of(seg, p.doc[i]));
	}
	index_view_close(view);
	return found;
}

static inline int rig_count(void *data, const struct archive_file *file UNUSED)
{
	++*(unsigned *)data;
	return 0;
}

/* How many files the archive has. */
static inline unsigned rig_kept(const struct keep_rig *rig)
{
	const struct archive archive = keeper_archive(&rig->keeper);
	unsigned n = 0;

	assert_int_equal(
		archive_each(&archive, &(struct archive_query){ .key = NULL }, rig_count, &n, NULL),
		0);
	return n;
}
