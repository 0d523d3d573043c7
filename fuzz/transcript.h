/*
 * For the fuzz targets of session files: the three readings of one file must agree.
 * The first byte of the input says where an earlier scan stopped.
 */
#pragma once

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "transcript/home.h"
#include "transcript/transcript.h"

static inline bool same_text(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

static inline void check_same(const struct session_info *a, const struct session_info *b)
{
	REQUIRE(same_text(a->name, b->name) && same_text(a->cwd, b->cwd));
	REQUIRE(same_text(a->branch, b->branch) && same_text(a->prompt, b->prompt));
	REQUIRE(same_text(a->model, b->model) && same_text(a->root, b->root));
	REQUIRE(same_text(a->parent_id, b->parent_id) && same_text(a->parent_path, b->parent_path));
	REQUIRE(a->relation == b->relation && a->flags == b->flags);
	REQUIRE(a->first_ms == b->first_ms && a->last_ms == b->last_ms);
	REQUIRE(a->turns == b->turns && a->size == b->size && a->window == b->window);
	REQUIRE(memcmp(&a->usage, &b->usage, sizeof(a->usage)) == 0);
	REQUIRE(memcmp(&a->mark, &b->mark, sizeof(a->mark)) == 0);
}

static inline void check_scans(
	int fd, const struct transcript_format *format, size_t cut, size_t size)
{
	struct session_info whole, parts;

	session_info_init(&whole, format, "/p/x.jsonl");
	session_info_init(&parts, format, "/p/x.jsonl");
	REQUIRE(transcript_scan(fd, size, &whole, NULL) == 0);
	REQUIRE(transcript_scan(fd, cut, &parts, NULL) == 0);
	REQUIRE(transcript_scan(fd, size, &parts, NULL) == 0);
	REQUIRE(whole.turns >= 0 && whole.mark.offset <= size);
	check_same(&whole, &parts);
	session_info_release(&whole);
	session_info_release(&parts);
}

static inline void check_item(const struct item *item, size_t size, uint64_t record)
{
	REQUIRE(item->kind < ITEM_KINDS);
	REQUIRE(item->record == record || (item->record == record + 1 && item->part == 0));
	REQUIRE(item->offset + item->size <= size && item->size > 0);
	REQUIRE(item->object.raw.n <= item->size);
	AUTO_STR text = STR_INIT;
	transcript_text(item, &text);
	(void)transcript_time(item);
}

/* Returns how many records there are. */
static inline uint64_t check_items(
	const char *path, const struct transcript_format *format, size_t size)
{
	const struct transcript_read_opts opts = { .expand = true };
	struct transcript_reader *reader = NULL;
	struct item item;
	uint64_t record = UINT64_MAX;
	int r = transcript_open(path, format, &opts, &reader, NULL);

	REQUIRE(r == 0);
	while ((r = transcript_next(reader, &item, NULL)) > 0) {
		check_item(&item, size, record);
		record = item.record;
	}
	REQUIRE(r == 0);
	transcript_close(reader);
	return record + 1;
}

static inline int check_transcript(
	const struct transcript_format *format, const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	struct sv bytes = sv_make((const char *)data + 1, size - 1);
	int fd = memfd_create("session", MFD_CLOEXEC);
	REQUIRE(fd >= 0 && write(fd, bytes.p, bytes.n) == (ssize_t)bytes.n);
	char path[64];
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	check_scans(fd, format, bytes.n * data[0] / 255, bytes.n);
	uint64_t records = check_items(path, format, bytes.n);
	struct transcript_live live;
	REQUIRE(transcript_live(path, format, &live, NULL) == 0);
	REQUIRE(live.records == records && live.live <= live.records);
	REQUIRE(live.live_bytes <= bytes.n);
	transcript_live_release(&live);
	const struct transcript_format *probed;
	int r = transcript_probe(path, &probed, NULL);
	REQUIRE(r == 0 || r == ERR_INPUT);
	(void)close(fd);
	return 0;
}
