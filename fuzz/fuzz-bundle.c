/*
 * A bundle, a manifest and a sealed bundle of any bytes: nothing is read that is not there, no
 * place leads out of its folder, what a manifest says can be said again, and what was written is
 * read.
 */
#include <string.h>

#include "base/mem.h"
#include "bundle/pack.h"
#include "bundle/seal.h"
#include "fuzz.h"

struct bytes {
	struct sv left;
};

static int give(void *data, char *buf, size_t n, struct err *reterr)
{
	struct bytes *b = data;

	(void)reterr;
	/* In pieces of odd sizes, as a pipe may. */
	n = n > 777 ? 777 : n;
	n = n < b->left.n ? n : b->left.n;
	memcpy(buf, b->left.p, n);
	b->left = sv_from(b->left, n);
	return (int)n;
}

static int take(void *data, size_t file, uint64_t offset, struct sv bytes, struct err *reterr)
{
	const struct bundle_manifest *m = data;

	(void)reterr;
	REQUIRE(file < m->files.n);
	REQUIRE(offset <= m->files.v[file].size && bytes.n <= m->files.v[file].size - offset);
	return 0;
}

static void check_manifest(struct sv json)
{
	CLEANUP(bundle_manifest_release) struct bundle_manifest m = BUNDLE_MANIFEST_INIT;
	CLEANUP(bundle_manifest_release) struct bundle_manifest again = BUNDLE_MANIFEST_INIT;
	AUTO_STR out = STR_INIT;
	size_t files = 0;

	if (bundle_manifest_decode(json, &m, NULL) < 0)
		return;
	vec_each (&m.sessions, s) {
		REQUIRE(s->first == files && s->files > 0);
		files += s->files;
	}
	REQUIRE(files == m.files.n);
	vec_each (&m.files, f) {
		REQUIRE(f->place[0] != '/' && strlen(f->place) > 0);
		AUTO_FREE char *around = xasprintf("/%s/", f->place);
		REQUIRE(!strstr(around, "/../") && !strstr(around, "//"));
	}
	bundle_manifest_encode(&m, &out);
	REQUIRE(bundle_manifest_decode(str_sv(&out), &again, NULL) == 0);
	REQUIRE(again.sessions.n == m.sessions.n && again.files.n == m.files.n);
}

static int keep(void *data, struct sv bytes, struct err *reterr)
{
	(void)reterr;
	str_add(data, bytes);
	return 0;
}

static void check_bundle(struct sv raw)
{
	struct bytes b = { raw };
	struct pack_reader *r = NULL;

	if (pack_open((struct pack_source){ give, &b }, &r, NULL) >= 0) {
		const struct bundle_manifest *m = pack_manifest(r);
		AUTO_STR json = STR_INIT;
		bundle_manifest_encode(m, &json);
		check_manifest(str_sv(&json));
		union {
			const struct bundle_manifest *in;
			void *out;
		} same = { m };
		(void)!pack_read(r, NULL, take, same.out, NULL, NULL);
	}
	pack_reader_free(r);
}

/* A key costs time: only heads that ask for next to none. */
static void check_sealed(struct sv raw)
{
	enum { AT_PASSES = 12, AT_MEMORY = 16, SMALL = 64 };
	struct bytes b = { raw };
	struct seal_reader *r = NULL;
	AUTO_STR plain = STR_INIT;
	char buf[4096];
	int n;

	if (raw.n < SEAL_HEAD || raw.p[AT_PASSES] > 1 || (unsigned char)raw.p[AT_MEMORY] > SMALL ||
		raw.p[AT_MEMORY + 1] || raw.p[AT_MEMORY + 2] || raw.p[AT_MEMORY + 3])
		return;
	if (seal_open(SV("x"), (struct pack_source){ give, &b }, &r, NULL) >= 0)
		while ((n = seal_read(r, buf, sizeof(buf), NULL)) > 0)
			(void)keep(&plain, sv_make(buf, (size_t)n), NULL);
	check_bundle(str_sv(&plain));
	seal_reader_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sv raw = sv_make((const char *)data, size);
	AUTO_STR out = STR_INIT;
	struct pack_writer *w = NULL;

	check_manifest(raw);
	check_bundle(raw);
	check_sealed(raw);
	/* A bundle with this manifest and no bytes is one as far as it goes. */
	CLEANUP(bundle_manifest_release) struct bundle_manifest m = BUNDLE_MANIFEST_INIT;
	if (bundle_manifest_decode(raw, &m, NULL) >= 0) {
		REQUIRE(pack_begin(&m, (struct term_sink){ keep, &out }, &w, NULL) == 0);
		check_bundle(str_sv(&out));
	}
	pack_writer_free(w);
	return 0;
}
