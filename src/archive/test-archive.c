#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "archive/archive.h"
#include "archive/vault.h"
#include "os/test-temp.h"
#include "store/sql.h"

static const struct clock noon = { .fixed = true, .fixed_ms = 1000000000000 };

struct fixture {
	char *dir;
	char *kept;
	char *file;
	struct store *store;
	struct archive archive;
};

static int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	f->dir = temp_folder();
	f->kept = path_join(f->dir, "data/archive");
	f->file = temp_write(f->dir, "s.jsonl", "{\"a\":\"first\"}\n{\"b\":\"\\\"in\\\"\"}\n");
	assert_int_equal(store_open(NULL, STORE_MEMORY, NULL, &f->store, NULL), 0);
	f->archive = (struct archive){ .store = f->store, .dir = f->kept, .clock = &noon };
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	store_close(f->store);
	temp_remove(f->dir);
	free(f->kept);
	free(f->file);
	free(f);
	return 0;
}

static ino_t inode(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_ino;
}

/* What the agent appends is appended; what it overwrites is not. */
static void keeps_what_grows(void **state)
{
	struct fixture *f = *state;
	char key[ARCHIVE_KEY_MAX], again[ARCHIVE_KEY_MAX];
	AUTO_STR text = STR_INIT;

	assert_int_equal(archive_keep(&f->archive, f->file, ARCHIVE_GROWING, key, NULL), 0);
	AUTO_FREE char *path = archive_path(&f->archive, key);
	assert_int_not_equal(inode(path), inode(f->file));
	assert_int_equal(file_append(f->file, SV("{\"c\":1}\n"), false, NULL), 0);
	assert_int_equal(archive_keep(&f->archive, f->file, ARCHIVE_GROWING, again, NULL), 0);
	assert_string_equal(key, again);
	assert_int_equal(file_read(path, 1000, &text, NULL), 0);
	assert_string_equal(text.buf, "{\"a\":\"first\"}\n{\"b\":\"\\\"in\\\"\"}\n{\"c\":1}\n");
	/* Truncated to nothing, and written anew, larger than before. */
	assert_int_equal(truncate(f->file, 0), 0);
	for (int i = 0; i < 8; i++)
		assert_int_equal(file_append(f->file, SV("{\"other\":2}\n"), false, NULL), 0);
	assert_int_equal(archive_keep(&f->archive, f->file, ARCHIVE_GROWING, again, NULL), 0);
	assert_string_not_equal(key, again);
	AUTO_STR still = STR_INIT;
	assert_int_equal(file_read(path, 1000, &still, NULL), 0);
	assert_string_equal(still.buf, text.buf);
}

/* A copy whose tail was never written, as after a kill, is brought up to the file. */
static void goes_on_with_a_torn_copy(void **state)
{
	struct fixture *f = *state;
	char key[ARCHIVE_KEY_MAX], again[ARCHIVE_KEY_MAX];
	AUTO_STR kept = STR_INIT, whole = STR_INIT;

	assert_int_equal(archive_keep(&f->archive, f->file, ARCHIVE_GROWING, key, NULL), 0);
	AUTO_FREE char *path = archive_path(&f->archive, key);
	assert_int_equal(truncate(path, 9), 0);
	assert_int_equal(archive_keep(&f->archive, f->file, ARCHIVE_GROWING, again, NULL), 0);
	assert_string_equal(key, again);
	assert_int_equal(file_read(path, 1000, &kept, NULL), 0);
	assert_int_equal(file_read(f->file, 1000, &whole, NULL), 0);
	assert_string_equal(kept.buf, whole.buf);
}

static void keeps_a_link(void **state)
{
	struct fixture *f = *state;
	char key[ARCHIVE_KEY_MAX], again[ARCHIVE_KEY_MAX];
	AUTO_CLOSE int fd = -1;

	/* Sparse, but as large as one that is not copied. */
	assert_int_equal(truncate(f->file, ARCHIVE_LINK_FROM), 0);
	assert_int_equal(archive_keep(&f->archive, f->file, ARCHIVE_GROWING, key, NULL), 0);
	AUTO_FREE char *path = archive_path(&f->archive, key);
	assert_int_equal(inode(path), inode(f->file));
	assert_int_equal(archive_keep(&f->archive, f->file, ARCHIVE_GROWING, again, NULL), 0);
	assert_string_equal(key, again);
	/* The agent deletes its file. */
	assert_int_equal(unlink(f->file), 0);
	assert_int_equal(archive_open(&f->archive, key, &fd, NULL, NULL), 0);
	/* Another one takes its name: it is kept by itself. */
	free(f->file);
	f->file = temp_write(f->dir, "s.jsonl", "{}\n");
	assert_int_equal(archive_keep(&f->archive, f->file, ARCHIVE_GROWING, again, NULL), 0);
	assert_string_not_equal(key, again);
	assert_int_equal(archive_open(&f->archive, "../s", &fd, NULL, NULL), ERR_NOTFOUND);
	assert_int_equal(archive_open(&f->archive, "", &fd, NULL, NULL), ERR_NOTFOUND);
}

static void keeps_a_copy(void **state)
{
	struct fixture *f = *state;
	char link[ARCHIVE_KEY_MAX], key[ARCHIVE_KEY_MAX], again[ARCHIVE_KEY_MAX];
	AUTO_STR text = STR_INIT;

	assert_int_equal(archive_keep(&f->archive, f->file, ARCHIVE_GROWING, link, NULL), 0);
	assert_int_equal(archive_keep(&f->archive, f->file, ARCHIVE_COPY, key, NULL), 0);
	assert_string_equal(link, key); /* the same bytes, which grow no more */
	AUTO_FREE char *path = archive_path(&f->archive, key);
	assert_int_not_equal(inode(path), inode(f->file));
	assert_int_equal(archive_keep(&f->archive, f->file, ARCHIVE_COPY, again, NULL), 0);
	assert_string_equal(key, again);
	assert_int_equal(file_append(f->file, SV("{}\n"), false, NULL), 0);
	assert_int_equal(archive_keep(&f->archive, f->file, ARCHIVE_COPY, again, NULL), 0);
	assert_string_not_equal(key, again);
	assert_int_equal(file_read(path, 1000, &text, NULL), 0);
	assert_int_equal(text.len, strlen("{\"a\":\"first\"}\n{\"b\":\"\\\"in\\\"\"}\n"));
	assert_true(archive_keep(&f->archive, "/none", ARCHIVE_GROWING, again, NULL) < 0);
}

/* A file brought back from the archive is there already; what differs in the middle is not. */
static void keeps_the_same_bytes_once(void **state)
{
	struct fixture *f = *state;
	char key[ARCHIVE_KEY_MAX], again[ARCHIVE_KEY_MAX];
	AUTO_STR text = STR_INIT;

	for (int i = 0; i < 1000; i++)
		assert_int_equal(file_append(f->file, SV("{\"line\":1}\n"), false, NULL), 0);
	assert_int_equal(archive_keep(&f->archive, f->file, ARCHIVE_COPY, key, NULL), 0);
	assert_int_equal(file_read(f->file, 100000, &text, NULL), 0);
	assert_int_equal(file_replace(f->file, SV("{}\n"), 0600, NULL), 0);
	assert_int_equal(archive_keep(&f->archive, f->file, ARCHIVE_COPY, again, NULL), 0);
	assert_string_not_equal(key, again);
	assert_int_equal(file_replace(f->file, str_sv(&text), 0600, NULL), 0);
	assert_int_equal(archive_keep(&f->archive, f->file, ARCHIVE_COPY, again, NULL), 0);
	assert_string_equal(key, again);
	assert_int_equal(archive_keep(&f->archive, f->file, ARCHIVE_GROWING, again, NULL), 0);
	assert_string_not_equal(key, again);
	text.buf[text.len / 2] ^= 1;
	assert_int_equal(file_replace(f->file, str_sv(&text), 0600, NULL), 0);
	assert_int_equal(archive_keep(&f->archive, f->file, ARCHIVE_COPY, again, NULL), 0);
	assert_string_not_equal(key, again);
}

static void references(void **state)
{
	struct fixture *f = *state;
	char key[ARCHIVE_KEY_MAX], ref[RECALL_REF], inner[RECALL_REF];
	AUTO_STR raw = STR_INIT;
	CLEANUP(recall_found_release) struct recall_found found = RECALL_FOUND_INIT;
	const struct recall_place places[] = {
		{ .hash = recall_hash(SV("\"first\"")), .offset = 5, .size = 7 },
		/* the value of b holds JSON: its string "in" */
		{ .hash = recall_hash(SV("\"in\"")),
			.offset = 19,
			.size = 8,
			.inner_offset = 0,
			.inner_size = 4 },
	};

	assert_int_equal(archive_keep(&f->archive, f->file, ARCHIVE_GROWING, key, NULL), 0);
	assert_int_equal(recall_add(&f->archive, key, places, 2, NULL), 0);
	assert_int_equal(recall_add(&f->archive, key, places, 2, NULL), 0);
	recall_ref_text(places[0].hash, ref);
	recall_ref_text(places[1].hash, inner);
	assert_int_equal(recall_get(&f->archive, sv_of(ref), &raw, &found, NULL), 0);
	assert_string_equal(raw.buf, "\"first\"");
	assert_string_equal(found.session, "s");
	assert_string_equal(found.path, f->file);
	str_clear(&raw);
	assert_int_equal(recall_get(&f->archive, sv_of(inner), &raw, NULL, NULL), 0);
	assert_string_equal(raw.buf, "\"in\"");
	/* The agent's file is overwritten with nothing. */
	assert_int_equal(truncate(f->file, 0), 0);
	str_clear(&raw);
	assert_int_equal(recall_get(&f->archive, sv_of(ref), &raw, NULL, NULL), 0);
	assert_string_equal(raw.buf, "\"first\"");
	assert_int_equal(
		recall_get(&f->archive, SV("0000000000000000"), &raw, NULL, NULL), ERR_NOTFOUND);
	assert_int_equal(recall_get(&f->archive, SV("odd"), &raw, NULL, NULL), ERR_USAGE);
}

/* So many at once that they have no row each; the last of them stands first in the file. */
static void many_references(void **state)
{
	enum { MANY = 1000 };
	struct fixture *f = *state;
	char key[ARCHIVE_KEY_MAX], ref[RECALL_REF];
	AUTO_STR file = STR_INIT;
	AUTO_STR raw = STR_INIT;
	AUTO_FREE struct recall_place *places = xcalloc(MANY, sizeof(*places));
	AUTO_SQL q = SQL_INIT;

	str_adds(&file, "\"{\\\"a\\\":\\\"in\\\"}\"");
	places[MANY - 1] =
		(struct recall_place){ recall_hash(SV("\"in\"")), 0, file.len, 5, 4, RECALL_TEXT };
	for (int i = 0; i < MANY - 1; i++) {
		size_t at = file.len;
		str_addf(&file, "\"%d\"", i * i);
		struct sv text = sv_from(str_sv(&file), at);
		places[i] = (struct recall_place){ recall_hash(text), at, text.n, 0, 0,
			i % 2 ? RECALL_JSON : RECALL_TEXT };
	}
	assert_int_equal(file_replace(f->file, str_sv(&file), 0600, NULL), 0);
	assert_int_equal(archive_keep(&f->archive, f->file, ARCHIVE_COPY, key, NULL), 0);
	assert_int_equal(recall_add(&f->archive, key, places, MANY / 2, NULL), 0);
	assert_int_equal(recall_add(&f->archive, key, places + MANY / 2, MANY - MANY / 2, NULL), 0);
	assert_int_equal(recall_add(&f->archive, key, places, MANY / 2, NULL), 0);
	for (int i = 0; i < MANY; i++) {
		const struct recall_place *p = &places[i];
		CLEANUP(recall_found_release) struct recall_found found = RECALL_FOUND_INIT;
		recall_ref_text(p->hash, ref);
		str_clear(&raw);
		assert_int_equal(recall_get(&f->archive, sv_of(ref), &raw, &found, NULL), 0);
		assert_true(sv_eq(str_sv(&raw),
			i == MANY - 1 ? SV("\"in\"") : sv_make(file.buf + p->offset, p->size)));
		assert_int_equal(found.place.kind, p->kind);
		assert_string_equal(found.path, f->file);
	}
	assert_int_equal(
		recall_get(&f->archive, SV("00000000000000ff"), &raw, NULL, NULL), ERR_NOTFOUND);
	/* What was there already was not stored again. */
	assert_int_equal(sql_prepare(&q, f->store, "SELECT count(*) FROM recall_pack", NULL), 0);
	assert_int_equal(sql_step(&q, NULL), 1);
	assert_int_equal(sql_get_int(&q, 0), 2);
	sql_reset(&q);
	/* A store that is damaged leads nowhere. */
	assert_int_equal(
		sql_exec(f->store, "UPDATE recall_pack SET places = substr(places, 1, 9)", NULL),
		0);
	recall_ref_text(places[1].hash, ref);
	assert_int_equal(recall_get(&f->archive, sv_of(ref), &raw, NULL, NULL), ERR_NOTFOUND);
}

/* Other bytes than the original are never given. */
static void changed_bytes_are_refused(void **state)
{
	struct fixture *f = *state;
	char key[ARCHIVE_KEY_MAX], ref[RECALL_REF];
	AUTO_STR raw = STR_INIT;
	const struct recall_place place = {
		.hash = recall_hash(SV("\"first\"")), .offset = 5, .size = 7
	};
	int fd;

	assert_int_equal(archive_keep(&f->archive, f->file, ARCHIVE_LINK, key, NULL), 0);
	assert_int_equal(recall_add(&f->archive, key, &place, 1, NULL), 0);
	recall_ref_text(place.hash, ref);
	fd = open(f->file, O_WRONLY);
	assert_int_equal(pwrite(fd, "F", 1, 6), 1);
	assert_int_equal(recall_get(&f->archive, sv_of(ref), &raw, NULL, NULL), ERR_INPUT);
	assert_int_equal(raw.len, 0);
	assert_int_equal(ftruncate(fd, 3), 0);
	assert_int_equal(recall_get(&f->archive, sv_of(ref), &raw, NULL, NULL), ERR_INPUT);
	/* The original turns up again where the session lay. */
	close(fd);
	assert_int_equal(unlink(f->file), 0);
	free(f->file);
	f->file = temp_write(f->dir, "s.jsonl", "{\"a\":\"first\"}\n");
	assert_int_equal(recall_get(&f->archive, sv_of(ref), &raw, NULL, NULL), 0);
}

/* Of a session that is a link, its name and the bytes that it leads to. */
static void keeps_what_a_link_leads_to(void **state)
{
	static const enum archive_how all[] = { ARCHIVE_LINK, ARCHIVE_COPY };
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		AUTO_FREE char *name = xasprintf("link-%zu.jsonl", i);
		AUTO_FREE char *path = path_join(f->dir, name);
		AUTO_FREE char *begin = xasprintf("link-%zu.", i);
		char key[ARCHIVE_KEY_MAX];
		struct stat st;

		assert_int_equal(symlink(f->file, path), 0);
		assert_int_equal(archive_keep(&f->archive, path, all[i], key, NULL), 0);
		assert_true(sv_starts(sv_of(key), sv_of(begin)));
		AUTO_FREE char *kept = archive_path(&f->archive, key);
		assert_int_equal(lstat(kept, &st), 0);
		assert_true(S_ISREG(st.st_mode));
	}
}

/* By its place, by the id in its name wherever it lies now, and never the file itself. */
static void finds_a_session(void **state)
{
	static const char codex[] =
		"sessions/rollout-2026-01-01T00-00-00-0c3b9f0e-1111-4222-8333-444455556666.jsonl";
	struct fixture *f = *state;
	AUTO_FREE char *path = temp_write(f->dir, codex, "{\"a\":1}\n");
	AUTO_FREE char *moved = path_join(f->dir, path_base(sv_of(path)).p);
	AUTO_FREE char *link_to = path_join(f->dir, "link");
	AUTO_FREE char *by_link = path_join(link_to, codex);
	char key[ARCHIVE_KEY_MAX], found[ARCHIVE_KEY_MAX];

	assert_int_equal(archive_find(&f->archive, path, found, NULL), ERR_NOTFOUND);
	assert_int_equal(archive_keep(&f->archive, path, ARCHIVE_GROWING, key, NULL), 0);
	assert_int_equal(archive_find(&f->archive, path, found, NULL), 0);
	assert_string_equal(found, key);
	assert_int_equal(symlink(".", link_to), 0);
	assert_int_equal(archive_find(&f->archive, by_link, found, NULL), 0);
	assert_string_equal(found, key);
	assert_int_equal(rename(path, moved), 0);
	memset(found, 0, sizeof(found));
	assert_int_equal(archive_find(&f->archive, moved, found, NULL), 0);
	assert_string_equal(found, key);
	assert_int_equal(archive_find(&f->archive, f->file, found, NULL), ERR_NOTFOUND);
	assert_int_equal(archive_keep(&f->archive, f->file, ARCHIVE_LINK, key, NULL), 0);
	assert_int_equal(archive_find(&f->archive, f->file, found, NULL), ERR_NOTFOUND);
}

/* It is stored: every processor has the same. */
static void hash_is_that_of_the_library(void **state UNUSED)
{
	char text[3001];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)(i * i >> 3);
	for (size_t n = 0; n < sizeof(text); n++) {
		XXH128_hash_t want = XXH3_128bits(text + 1, n);
		struct recall_hash have = recall_hash(sv_make(text + 1, n));
		assert_true(have.low == want.low64 && have.high == want.high64);
	}
}

static void update(struct fixture *f, struct archive_update_stats *stats)
{
	AUTO_VAULT *v = NULL;
	struct err err = ERR_INIT;
	const struct archive_update_opts opts = { .paths = NULL };

	if (vault_open(f->kept, VAULT_WRITE, &noon, NULL, &v, &err) < 0 ||
		archive_update(&f->archive, v, &opts, stats, &err) < 0)
		fail_msg("%s", err.msg);
}

static void check_kept(struct fixture *f, const char *key, const char *want)
{
	AUTO_CLOSE int fd = -1;
	char got[1000];
	struct err err = ERR_INIT;

	if (archive_open(&f->archive, key, &fd, NULL, &err) < 0)
		fail_msg("%s", err.msg);
	ssize_t n = pread(fd, got, sizeof(got), 0);
	assert_int_equal(n, strlen(want));
	assert_memory_equal(got, want, (size_t)n);
}

/* Copies and links that were set aside go into the vault, and everything that led there still does:
 * keys, references, what is found by name. */
static void the_vault_takes_over(void **state)
{
	static const char whole[] = "{\"a\":\"first\"}\n{\"b\":\"\\\"in\\\"\"}\n";
	struct fixture *f = *state;
	char growing[ARCHIVE_KEY_MAX], copy[ARCHIVE_KEY_MAX], link_key[ARCHIVE_KEY_MAX];
	char key[ARCHIVE_KEY_MAX], ref[RECALL_REF];
	AUTO_STR raw = STR_INIT;
	struct archive_update_stats stats;
	struct recall_place place = {
		.hash = recall_hash(SV("\"first\"")), .offset = 5, .size = 7, .kind = RECALL_TEXT
	};

	assert_int_equal(archive_keep(&f->archive, f->file, ARCHIVE_GROWING, growing, NULL), 0);
	assert_int_equal(recall_add(&f->archive, growing, &place, 1, NULL), 0);
	assert_int_equal(archive_keep(&f->archive, f->file, ARCHIVE_COPY, copy, NULL), 0);
	AUTO_FREE char *other = temp_write(f->dir, "other.jsonl", whole);
	assert_int_equal(archive_keep(&f->archive, other, ARCHIVE_LINK, link_key, NULL), 0);
	update(f, &stats);
	assert_int_equal(stats.settled, strcmp(growing, copy) == 0 ? 2 : 3);
	AUTO_FREE char *aside = archive_path(&f->archive, growing);
	assert_false(path_exists(aside));
	check_kept(f, growing, whole);
	check_kept(f, copy, whole);
	check_kept(f, link_key, whole);
	assert_int_equal(unlink(f->file), 0);
	recall_ref_text(place.hash, ref);
	assert_int_equal(recall_get(&f->archive, sv_of(ref), &raw, NULL, NULL), 0);
	assert_string_equal(raw.buf, "\"first\"");
	assert_int_equal(archive_find(&f->archive, f->file, key, NULL), 0);
	check_kept(f, key, whole);
	update(f, &stats);
	assert_int_equal(stats.settled, 0);
}

/* Once the vault has a session, keeping it again adds there what it grew by. */
static void the_vault_grows(void **state)
{
	struct fixture *f = *state;
	char key[ARCHIVE_KEY_MAX], again[ARCHIVE_KEY_MAX];
	struct archive_update_stats stats;

	assert_int_equal(archive_keep(&f->archive, f->file, ARCHIVE_GROWING, key, NULL), 0);
	update(f, &stats);
	assert_int_equal(file_append(f->file, SV("{\"c\":1}\n"), false, NULL), 0);
	assert_int_equal(archive_keep(&f->archive, f->file, ARCHIVE_GROWING, again, NULL), 0);
	assert_string_equal(key, again);
	check_kept(f, key, "{\"a\":\"first\"}\n{\"b\":\"\\\"in\\\"\"}\n{\"c\":1}\n");
	AUTO_FREE char *aside = archive_path(&f->archive, key);
	assert_false(path_exists(aside));
	/* What was rewritten is set aside as something new. */
	assert_int_equal(file_replace(f->file, SV("{\"x\":1}\n"), 0600, NULL), 0);
	assert_int_equal(archive_keep(&f->archive, f->file, ARCHIVE_GROWING, again, NULL), 0);
	assert_string_not_equal(key, again);
	check_kept(f, again, "{\"x\":1}\n");
	/* While another writes there, nobody waits: it is set aside too. */
	AUTO_VAULT *v = NULL;
	assert_int_equal(file_replace(f->file, SV("{\"y\":1}\n"), 0600, NULL), 0);
	assert_int_equal(vault_open(f->kept, VAULT_WRITE, &noon, NULL, &v, NULL), 0);
	assert_int_equal(archive_keep(&f->archive, f->file, ARCHIVE_GROWING, again, NULL), 0);
	check_kept(f, again, "{\"y\":1}\n");
}

static void references_as_text(void **state)
{
	uint64_t low = 0;

	(void)state;
	assert_true(recall_ref_parse(SV("0123456789ABCDEF"), &low));
	assert_true(low == 0x0123456789abcdef);
	assert_true(recall_ref_parse(SV(" x] Original: faden recall 0123456789abcdef\n"), &low));
	assert_false(recall_ref_parse(SV("0123456789abcde"), &low));
	assert_false(recall_ref_parse(SV("0123456789abcdef0"), &low));
	assert_false(recall_ref_parse(SV(""), &low));
}

/* What is set aside and short says as much as what the vault has. */
static void knows_whether_somebody_speaks(void **state)
{
	struct fixture *f = *state;
	AUTO_FREE char *said = temp_write(f->dir, "t.jsonl", "{\"role\":\"user\"}\n");
	char key[ARCHIVE_KEY_MAX];

	assert_int_equal(archive_keep(&f->archive, f->file, ARCHIVE_COPY, key, NULL), 0);
	assert_false(archive_has_words(&f->archive, NULL, key));
	assert_false(archive_is_blank(&f->archive, NULL, key));
	assert_int_equal(archive_keep(&f->archive, said, ARCHIVE_COPY, key, NULL), 0);
	assert_true(archive_has_words(&f->archive, NULL, key));
	assert_true(archive_has_words(&f->archive, NULL, "none"));
	assert_false(archive_is_blank(&f->archive, NULL, "none"));
}

/* The number of a file that was removed may be given to the next one. */
static void tells_archives_apart(void **state)
{
	struct fixture *f = *state;
	AUTO_FREE char *path = path_join(f->kept, "archive.db");
	struct statx st;

	assert_int_equal(archive_identity(&f->archive), 0);
	assert_int_equal(file_mkdirs(f->kept, NULL), 0);
	for (int i = 0; i < 16; i++) {
		assert_int_equal(file_replace(path, SV("one"), 0, NULL), 0);
		assert_int_equal(statx(AT_FDCWD, path, 0, STATX_BTIME, &st), 0);
		ino_t number = inode(path);
		int64_t identity = archive_identity(&f->archive);
		assert_int_not_equal(identity, 0);
		assert_int_equal(file_append(path, SV("more"), false, NULL), 0);
		assert_int_equal(archive_identity(&f->archive), identity);
		assert_int_equal(unlink(path), 0);
		assert_int_equal(file_replace(path, SV("two"), 0, NULL), 0);
		if (number != inode(path) || st.stx_mask & STATX_BTIME)
			assert_int_not_equal(archive_identity(&f->archive), identity);
	}
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(keeps_what_grows),
		CASE(goes_on_with_a_torn_copy),
		CASE(keeps_a_link),
		CASE(keeps_the_same_bytes_once),
		CASE(keeps_a_copy),
		CASE(references),
		CASE(many_references),
		CASE(changed_bytes_are_refused),
		CASE(keeps_what_a_link_leads_to),
		CASE(finds_a_session),
		CASE(the_vault_takes_over),
		CASE(the_vault_grows),
		CASE(knows_whether_somebody_speaks),
		CASE(tells_archives_apart),
		cmocka_unit_test(references_as_text),
		cmocka_unit_test(hash_is_that_of_the_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
