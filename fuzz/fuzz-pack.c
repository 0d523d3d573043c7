/*
 * A pack and a recipe of any bytes: nothing is read that is not there, what is found can be found
 * again, and a recipe that is read is written the same.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "archive/vault-room.h"
#include "fuzz.h"

static void check_recipe(struct sv raw)
{
	CLEANUP(recipe_release) struct recipe recipe = RECIPE_INIT;
	CLEANUP(recipe_release) struct recipe again = RECIPE_INIT;
	AUTO_STR out = STR_INIT;
	uint64_t total = 0;

	if (recipe_decode(raw, &recipe, NULL) < 0)
		return;
	vec_each (&recipe.extents, e) {
		REQUIRE((uint64_t)e->offset + e->size <= FRAME_RAW_MAX);
		total += e->size;
	}
	REQUIRE(total == recipe.size);
	recipe_encode(&recipe, &out);
	REQUIRE(recipe_decode(str_sv(&out), &again, NULL) == 0);
	REQUIRE(again.extents.n == recipe.extents.n && again.size == recipe.size);
	REQUIRE(sv_eq(again.key, recipe.key) && sv_eq(again.path, recipe.path));
}

struct walk {
	struct codec *codec;
	uint64_t end;
};

static int on_frame(void *data, uint64_t offset, const struct frame *frame,
	const struct str *stored, struct err *reterr)
{
	struct walk *w = data;
	AUTO_STR raw = STR_INIT;

	(void)reterr;
	w->end = offset + FRAME_HEAD + frame->stored;
	if (stored && frame_decode(w->codec, frame, str_sv(stored), &raw, NULL) == 0) {
		REQUIRE(raw.len == frame->raw);
		check_recipe(str_sv(&raw));
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sv bytes = sv_make((const char *)data, size);
	struct walk walk = { .codec = codec_new() };
	AUTO_CLOSE int fd = memfd_create("pack", MFD_CLOEXEC);
	AUTO_STR frame = STR_INIT;

	check_recipe(bytes);
	REQUIRE(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	/* Behind whatever stands there a frame is found again. */
	frame_encode(walk.codec, FRAME_RECIPE, 1, sv_head(bytes, FRAME_RAW_MAX), &frame);
	REQUIRE(write(fd, frame.buf, frame.len) == (ssize_t)frame.len);
	const struct pack_range all = { 0, size + frame.len, false };
	const struct pack_range heads = { 0, size + frame.len, true };
	REQUIRE(pack_walk(fd, heads, on_frame, &walk, NULL) == 0);
	REQUIRE(pack_walk(fd, all, on_frame, &walk, NULL) == 0);
	REQUIRE(walk.end == size + frame.len);
	codec_free(walk.codec);
	return 0;
}
