#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "archive/frame.h"

#define ID "0c3b9f0e-1111-4222-8333-444455556666"

static void comes_back_as_it_went(void **state)
{
	struct codec *codec = codec_new();
	AUTO_STR out = STR_INIT;
	AUTO_STR raw = STR_INIT;
	struct frame f;

	(void)state;
	frame_encode(codec, FRAME_LINES, 7, SV("{\"a\":1}\n{\"a\":2}\n"), &out);
	assert_true(frame_head(str_sv(&out), &f));
	assert_int_equal(f.id, 7);
	assert_int_equal(f.kind, FRAME_LINES);
	assert_int_equal(out.len, FRAME_HEAD + f.stored);
	struct sv stored = sv_from(str_sv(&out), FRAME_HEAD);
	assert_int_equal(frame_decode(codec, &f, stored, &raw, NULL), 0);
	assert_string_equal(raw.buf, "{\"a\":1}\n{\"a\":2}\n");
	codec_free(codec);
}

/* No byte of it can change unseen. */
static void every_flipped_byte_is_found(void **state)
{
	struct codec *codec = codec_new();
	AUTO_STR out = STR_INIT;
	AUTO_STR raw = STR_INIT;
	struct frame f;

	(void)state;
	frame_encode(codec, FRAME_LINES, 7, SV("{\"a\":1}\n{\"a\":2}\n"), &out);
	for (size_t i = 0; i < out.len; i++) {
		out.buf[i] ^= 0x10;
		assert_false(frame_head(str_sv(&out), &f) &&
			frame_decode(codec, &f, sv_from(str_sv(&out), FRAME_HEAD), &raw, NULL) ==
				0);
		out.buf[i] ^= 0x10;
	}
	for (size_t n = 0; n < out.len; n++)
		assert_false(frame_head(sv_head(str_sv(&out), n), &f) &&
			frame_decode(codec, &f, sv_from(sv_head(str_sv(&out), n), FRAME_HEAD), &raw,
				NULL) == 0);
	codec_free(codec);
}

static void recipes(void **state)
{
	CLEANUP(recipe_release)
	struct recipe r = { .key = SV("k"),
		.agent = SV("claude"),
		.session = SV(ID),
		.path = SV("/a/b"),
		.own = SV(ID),
		.flags = RECIPE_FROZEN,
		.start = 1000,
		.mtime_ns = 5,
		.taken_ms = INT64_C(1) << 41,
		.hash = { UINT64_MAX, 1 } };
	CLEANUP(recipe_release) struct recipe back = RECIPE_INIT;
	AUTO_STR raw = STR_INIT;

	(void)state;
	recipe_add(&r, (struct extent){ 9, 0, 10, true });
	recipe_add(&r, (struct extent){ 9, 10, 5, true }); /* goes on */
	recipe_add(&r, (struct extent){ 9, 15, 5, false });
	recipe_add(&r, (struct extent){ 3, 1000, 1, true });
	r.size = 21;
	recipe_encode(&r, &raw);
	assert_int_equal(recipe_decode(str_sv(&raw), &back, NULL), 0);
	assert_int_equal(back.extents.n, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct extent *a = &back.extents.v[i], *b = &r.extents.v[i];
		assert_true(a->frame == b->frame && a->offset == b->offset && a->size == b->size &&
			a->own == b->own);
	}
	assert_true(sv_eq(back.path, r.path) && sv_eq(back.own, r.own));
	assert_int_equal(back.start, 1000);
	assert_true(back.hash[0] == UINT64_MAX && back.taken_ms == r.taken_ms);
	for (size_t n = 0; n < raw.len; n++) {
		CLEANUP(recipe_release) struct recipe none = RECIPE_INIT;
		assert_int_equal(recipe_decode(sv_head(str_sv(&raw), n), &none, NULL), ERR_INPUT);
	}
}

/* Taken out and put back, also at the ends, twice in a row, and none where a byte of 0 stands. */
static void the_own_id(void **state)
{
	static const char line[] = ID ID "{\"sessionId\":\"" ID "\"} 0c3b9f0e " ID;
	char bytes[sizeof(line)];

	(void)state;
	memcpy(bytes, line, sizeof(line));
	assert_true(own_take_out(bytes, sizeof(line) - 1, SV(ID)));
	assert_null(memmem(bytes, sizeof(line) - 1, ID, OWN_ID));
	own_put_back(bytes, sizeof(line) - 1, SV(ID));
	assert_memory_equal(bytes, line, sizeof(line));
	bytes[40] = '\0';
	assert_false(own_take_out(bytes, sizeof(line) - 1, SV(ID)));
	assert_memory_equal(bytes, line, 40);
	assert_true(own_take_out(bytes, 30, SV("")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comes_back_as_it_went),
		cmocka_unit_test(every_flipped_byte_is_found),
		cmocka_unit_test(recipes),
		cmocka_unit_test(the_own_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
