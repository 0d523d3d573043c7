/* The index over real files in a folder of their own: made, brought up to date, damaged, made anew.
 */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>
#include <zstd.h>

#include "base/utf8.h"
#include "os/test-temp.h"
#include "os/unpack.h"
#include "search/index.h"
#include "store/catalogue.h"

struct rig {
	char *folder, *dir; /* of all, and of the index */
	char *root; /* of the home */
	struct transcript_home home;
	struct store *store;
	struct index_opts opts;
	struct index_stats stats;
	struct err err;
};

static void rig_init(struct rig *rig)
{
	*rig = (struct rig){ .folder = temp_folder() };
	rig->dir = path_join(rig->folder, "index");
	rig->root = path_join(rig->folder, "claude");
	rig->home = (struct transcript_home){
		.agent = "claude", .format = TRANSCRIPT_CLAUDE, .root = rig->root
	};
	assert_int_equal(store_open(NULL, STORE_MEMORY, NULL, &rig->store, NULL), 0);
}

static void rig_release(struct rig *rig)
{
	store_close(rig->store);
	free(rig->dir);
	free(rig->root);
	temp_remove(rig->folder);
}
#define RIG                                  \
	CLEANUP(rig_release) struct rig rig; \
	rig_init(&rig)

/* ---- sessions ---- */

static char *session_path(const struct rig *rig, unsigned number)
{
	return xasprintf(
		"%s/projects/-work/aaaaaaaa-0000-4000-8000-%012u.jsonl", rig->root, number);
}

static void add_bytes(const struct rig *rig, unsigned number, const char *bytes, const char *mode)
{
	AUTO_FREE char *path = session_path(rig, number);
	AUTO_FREE char *folder = path_folder(path);

	assert_int_equal(file_mkdirs(folder, NULL), 0);
	FILE *file = fopen(path, mode);
	assert_non_null(file);
	assert_true(fputs(bytes, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static char *line(const char *role, const char *content)
{
	return xasprintf(
		"{\"type\":\"%s\",\"uuid\":\"u\",\"timestamp\":\"2026-03-01T10:00:00.000Z\","
		"\"cwd\":\"/work/shop\",\"gitBranch\":\"topic/cart\",\"message\":{\"role\":\"%s\","
		"\"content\":%s}}\n",
		role, role, content);
}

static void say(const struct rig *rig, unsigned number, const char *role, const char *content)
{
	AUTO_FREE char *text = line(role, content);

	add_bytes(rig, number, text, "a");
}

/* Compressed as Codex does, or plain again. */
static void pack(const char *path)
{
	AUTO_FREE char *packed = xasprintf("%s" UNPACK_SUFFIX, path);
	AUTO_STR bytes = STR_INIT;
	char out[4096];

	assert_int_equal(file_read(path, sizeof(out), &bytes, NULL), 0);
	size_t n = ZSTD_compress(out, sizeof(out), bytes.buf, bytes.len, 3);
	assert_false(ZSTD_isError(n));
	assert_int_equal(file_replace(packed, sv_make(out, n), 0600, NULL), 0);
	assert_int_equal(unlink(path), 0);
}

static void unpack(const char *path)
{
	AUTO_FREE char *packed = xasprintf("%s" UNPACK_SUFFIX, path);
	AUTO_STR bytes = STR_INIT;
	char out[4096];

	assert_int_equal(file_read(packed, sizeof(out), &bytes, NULL), 0);
	size_t n = ZSTD_decompress(out, sizeof(out), bytes.buf, bytes.len);
	assert_false(ZSTD_isError(n));
	assert_int_equal(file_replace(path, sv_make(out, n), 0600, NULL), 0);
	assert_int_equal(unlink(packed), 0);
}

/* A session of Codex; its path. */
static char *codex_session(struct rig *rig)
{
	char *path = codex_rollout_path(
		rig->root, 1772359200000, "01a00000-0000-7000-8000-000000000003");
	AUTO_FREE char *folder = path_folder(path);

	rig->home.agent = "codex";
	rig->home.format = TRANSCRIPT_CODEX;
	assert_int_equal(file_mkdirs(folder, NULL), 0);
	assert_int_equal(
		file_append(path,
			SV("{\"timestamp\":\"2026-03-01T10:00:00.000Z\",\"type\":\"session_meta\","
			   "\"payload\":{\"id\":\"01a00000-0000-7000-8000-000000000003\","
			   "\"cwd\":\"/work\"}}\n"
			   "{\"timestamp\":\"2026-03-01T10:00:01.000Z\",\"type\":\"response_item\","
			   "\"payload\":{\"type\":\"message\",\"role\":\"user\",\"content\":["
			   "{\"type\":\"input_text\",\"text\":\"the kumquat tree\"}]}}\n"),
			false, NULL),
		0);
	return path;
}

/* ---- the index ---- */

static void update(struct rig *rig)
{
	if (index_update(rig->dir, rig->store, &rig->home, 1, &rig->opts, &rig->stats, &rig->err) <
		0)
		fail_msg("%s", rig->err.msg);
	if (index_check(rig->dir, NULL, &rig->err) < 0)
		fail_msg("%s", rig->err.msg);
}

/* How many documents that count have the term; *ret_kind (may be NULL) of the last of them. */
static unsigned found_in(const struct index_view *view, const char *text, struct segment_doc *ret)
{
	unsigned found = 0;

	for (size_t s = 0; s < index_view_segments(view); s++) {
		const struct segment *seg = index_view_segment(view, s);
		struct segment_term term;
		struct postings p;
		if (segment_find(seg, sv_of(text), &term, NULL) <= 0)
			continue;
		postings_begin(&p, seg, &term);
		while (postings_next(&p, NULL) > 0)
			for (unsigned i = 0; i < p.n; i++) {
				if (segment_dead(seg, segment_run_of(seg, p.doc[i])))
					continue;
				found++;
				if (ret)
					assert_int_equal(segment_doc(seg, p.doc[i], ret, NULL), 0);
			}
		postings_release(&p);
	}
	return found;
}

static unsigned found(const struct rig *rig, const char *text)
{
	struct index_view *view = NULL;

	assert_int_equal(index_view_open(rig->dir, &view, NULL), 0);
	unsigned n = found_in(view, text, NULL);
	index_view_close(view);
	return n;
}

/* Whether it was read to its end as it is. */
static bool has(const struct rig *rig, unsigned number)
{
	AUTO_FREE char *path = session_path(rig, number);
	struct index_view *view = NULL;
	struct stat st;

	assert_int_equal(index_view_open(rig->dir, &view, NULL), 0);
	assert_int_equal(stat(path, &st), 0);
	bool had = index_view_has(view, path, &st);
	index_view_close(view);
	return had;
}

static void cut_short(void *data, const struct index_progress *p UNUSED)
{
	assert_true(truncate(data, 1000) == 0);
}

static void count_trouble(void *data UNUSED, const struct err *err)
{
	assert_non_null(strstr(err->msg, "changed while it was read"));
}

static int count_source(void *data, const struct index_source *source)
{
	assert_true(source->id > 0 && source->path[0]);
	return ++*(int *)data >= 2 ? 7 : 0;
}

/* ---- tests ---- */

static void test_made(void **state)
{
	(void)state;
	RIG;
	struct index_view *view = NULL;
	struct segment_doc doc;
	AUTO_INDEX_SOURCE source = { .id = 0 };

	assert_int_equal(index_view_open(rig.dir, &view, NULL), ERR_NOTFOUND);
	say(&rig, 1, "user", "\"where is the retryLimit?\"");
	say(&rig, 1, "assistant",
		"[{\"type\":\"text\",\"text\":\"In Straße.\"},{\"type\":\"tool_use\",\"id\":\"t\","
		"\"name\":\"Bash\",\"input\":{\"command\":\"sed -n 1p ./src/cli/main.c\"}}]");
	say(&rig, 1, "user",
		"[{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"kumquat\"}]");
	say(&rig, 1, "user", "\"<system-reminder>pomelo</system-reminder>\"");
	update(&rig);
	assert_int_equal(rig.stats.anew, INDEX_NEW);
	assert_int_equal(rig.stats.read, 1);
	assert_int_equal(rig.stats.documents, 5);
	assert_int_equal(index_view_open(rig.dir, &view, NULL), 0);
	assert_true(index_view_checked_ms(view) > 0);
	assert_int_equal(found_in(view, "limit", &doc), 1);
	assert_int_equal(doc.kind, DOC_USER);
	assert_true(doc.offset == 0 && doc.time_s == 1772359200);
	assert_int_equal(found_in(view, "strasse", &doc), 1);
	assert_int_equal(doc.kind, DOC_ASSISTANT);
	assert_int_equal(doc.part, 0);
	assert_int_equal(found_in(view, "sed", &doc), 1);
	assert_int_equal(doc.kind, DOC_CALL);
	assert_int_equal(doc.part, 1);
	assert_int_equal(found_in(view, "\1bash", NULL), 2);
	assert_int_equal(found_in(view, "\2main.c", NULL), 2);
	assert_int_equal(found_in(view, "\2src/cli/main.c", NULL), 2);
	assert_int_equal(found_in(view, "command", NULL), 0);
	assert_int_equal(found_in(view, "kumquat", &doc), 1);
	assert_int_equal(doc.kind, DOC_RESULT);
	assert_int_equal(found_in(view, "pomelo", NULL), 0);
	assert_int_equal(found_in(view, "cart", &doc), 1);
	assert_int_equal(doc.kind, DOC_SESSION);
	assert_int_equal(index_source(view, 1, &source, NULL), 0);
	assert_string_equal(source.cwd, "/work/shop");
	assert_string_equal(source.agent, "claude");
	assert_true(source.size == source.offset && source.format == TRANSCRIPT_CLAUDE);
	assert_int_equal(index_source(view, 9, &source, NULL), ERR_NOTFOUND);
	index_view_close(view);

	update(&rig);
	assert_int_equal(rig.stats.anew, INDEX_KEPT);
	assert_int_equal(rig.stats.read, 0);
	assert_int_equal(rig.stats.files, 1);
}

static void test_grown(void **state)
{
	(void)state;
	RIG;
	AUTO_FREE char *more = line("user", "\"grapefruit\"");

	say(&rig, 1, "user", "\"lemon\"");
	update(&rig);
	add_bytes(&rig, 1, more, "a");
	update(&rig);
	assert_int_equal(rig.stats.read, 1);
	assert_int_equal(rig.stats.rewritten, 0);
	assert_int_equal(rig.stats.bytes_read, strlen(more));
	assert_int_equal(found(&rig, "lemon"), 1);
	assert_int_equal(found(&rig, "grapefruit"), 1);
	assert_int_equal(found(&rig, "shop"), 1); /* the session itself is there once */
}

/* A last line without a newline is found; once it has one, too, and only once. */
static void test_tail(void **state)
{
	(void)state;
	RIG;
	AUTO_FREE char *last = line("user", "\"quince\"");

	say(&rig, 1, "user", "\"lemon\"");
	last[strlen(last) - 1] = '\0';
	add_bytes(&rig, 1, last, "a");
	update(&rig);
	assert_int_equal(found(&rig, "quince"), 1);
	add_bytes(&rig, 1, "\n", "a");
	update(&rig);
	assert_int_equal(rig.stats.rewritten, 0);
	assert_int_equal(found(&rig, "quince"), 1);
	assert_int_equal(found(&rig, "lemon"), 1);
}

static void test_rewritten(void **state)
{
	(void)state;
	RIG;
	AUTO_FREE char *other =
		line("user", "\"a much longer line about oranges, so that it has grown\"");

	say(&rig, 1, "user", "\"lemon\"");
	say(&rig, 2, "user", "\"lemon\"");
	update(&rig);
	add_bytes(&rig, 1, other, "w");
	update(&rig);
	assert_int_equal(rig.stats.rewritten, 1);
	assert_int_equal(found(&rig, "lemon"), 1);
	assert_int_equal(found(&rig, "oranges"), 1);
	assert_int_equal(found(&rig, "shop"), 2);
	add_bytes(&rig, 1, "", "w"); /* blank: as if it were gone */
	update(&rig);
	assert_int_equal(rig.stats.rewritten, 0);
	assert_int_equal(rig.stats.gone, 1);
	assert_int_equal(found(&rig, "oranges"), 1);
}

/* As large and as old as before, it may be another one: anywhere, not only at its end. */
static void test_same_time(void **state UNUSED)
{
	RIG;
	AUTO_FREE char *path = session_path(&rig, 1);
	AUTO_STR bytes = STR_INIT;

	say(&rig, 1, "user", "\"lemon\"");
	for (int i = 0; i < 100; i++)
		say(&rig, 1, "assistant", "\"a shop\"");
	update(&rig);
	assert_int_equal(file_read(path, 1 << 20, &bytes, NULL), 0);
	temp_overwrite(path, (size_t)(strstr(bytes.buf, "lemon") - bytes.buf), SV("peach"));
	assert_false(has(&rig, 1));
	update(&rig);
	assert_int_equal(rig.stats.rewritten, 1);
	assert_int_equal(found(&rig, "lemon"), 0);
	assert_int_equal(found(&rig, "peach"), 1);
	assert_true(has(&rig, 1));
	update(&rig);
	assert_int_equal(rig.stats.read, 0);
}

static void test_gone(void **state)
{
	(void)state;
	RIG;
	AUTO_FREE char *path = session_path(&rig, 1);
	AUTO_INDEX_SOURCE source = { .id = 0 };
	struct index_view *view = NULL;

	say(&rig, 1, "user", "\"lemon\"");
	say(&rig, 2, "user", "\"lime\"");
	update(&rig);
	assert_int_equal(unlink(path), 0);
	update(&rig);
	assert_int_equal(rig.stats.gone, 1);
	assert_int_equal(found(&rig, "lemon"), 1); /* the archive may have it */
	assert_int_equal(index_view_open(rig.dir, &view, NULL), 0);
	assert_int_equal(index_source(view, 1, &source, NULL), 0);
	assert_true(source.gone || strcmp(source.path, path) != 0);
	index_view_close(view);
	update(&rig);
	assert_int_equal(rig.stats.gone, 0);
	say(&rig, 1, "user", "\"lemon\""); /* back as it was */
	update(&rig);
	assert_int_equal(found(&rig, "lemon"), 1);
}

static void test_renamed(void **state)
{
	(void)state;
	RIG;

	say(&rig, 1, "user", "\"lemon\"");
	update(&rig);
	assert_int_equal(catalogue_rename(rig.store, "claude",
				 "aaaaaaaa-0000-4000-8000-000000000001", "parser rewrite", NULL),
		0);
	update(&rig);
	assert_int_equal(rig.stats.read, 1);
	assert_int_equal(found(&rig, "rewrite"), 1);
	assert_int_equal(found(&rig, "lemon"), 1);
	/* Also where only others are looked at. */
	const char *const others[] = { "/nowhere" };
	rig.opts.paths = others;
	rig.opts.n_paths = 1;
	assert_int_equal(catalogue_rename(rig.store, "claude",
				 "aaaaaaaa-0000-4000-8000-000000000001", "scanner", NULL),
		0);
	update(&rig);
	assert_int_equal(rig.stats.read, 1);
	assert_int_equal(found(&rig, "scanner"), 1);
	rig.opts.paths = NULL;
	assert_int_equal(catalogue_rename(rig.store, "claude",
				 "aaaaaaaa-0000-4000-8000-000000000001", "", NULL),
		0);
	update(&rig);
	assert_int_equal(found(&rig, "scanner"), 0);
	update(&rig);
	assert_int_equal(rig.stats.read, 0);
}

static void test_budget_and_paths(void **state)
{
	(void)state;
	RIG;

	for (unsigned i = 1; i <= 30; i++)
		say(&rig, i, "user", "\"lemon\"");
	rig.opts.budget_bytes = 1;
	rig.opts.threads = 1;
	update(&rig);
	assert_true(rig.stats.left > 0 && rig.stats.left < 30 && rig.stats.bytes_left > 0);
	assert_int_equal(found(&rig, "lemon"), 30 - rig.stats.left);
	rig.opts.budget_bytes = 0;
	rig.opts.threads = 3;
	update(&rig);
	assert_int_equal(rig.stats.left, 0);
	assert_int_equal(found(&rig, "lemon"), 30);

	AUTO_FREE char *one = session_path(&rig, 7);
	const char *const paths[] = { one, "/nowhere" };
	say(&rig, 7, "user", "\"lime\"");
	say(&rig, 8, "user", "\"lime\"");
	rig.opts.paths = paths;
	rig.opts.n_paths = 2;
	update(&rig);
	assert_int_equal(rig.stats.read, 1);
	assert_int_equal(rig.stats.gone, 0);
	assert_int_equal(found(&rig, "lime"), 1);
}

static void test_one_writer(void **state)
{
	(void)state;
	RIG;
	AUTO_FREE char *lock = path_join(rig.dir, "lock");
	int fd = -1;

	update(&rig);
	assert_int_equal(file_lock(lock, NULL, &fd, NULL), 0);
	assert_int_equal(
		index_update(rig.dir, rig.store, &rig.home, 1, &rig.opts, &rig.stats, NULL),
		ERR_BUSY);
	assert_int_equal(found(&rig, "anything"), 0); /* a reader does not wait */
	assert_int_equal(close(fd), 0);
}

/* Flips a byte in the middle of the only segment. */
static void damage(const struct rig *rig)
{
	AUTO_FREE char *path = path_join(rig->dir, "00000001.segment");
	FILE *file = fopen(path, "r+");

	assert_non_null(file);
	assert_int_equal(fseek(file, 40, SEEK_SET), 0);
	int byte = fgetc(file);
	assert_int_equal(fseek(file, 40, SEEK_SET), 0);
	assert_int_equal(fputc(byte ^ 1, file), byte ^ 1);
	assert_int_equal(fclose(file), 0);
}

static void test_damaged(void **state)
{
	(void)state;
	RIG;

	say(&rig, 1, "user", "\"lemon\"");
	update(&rig);
	damage(&rig);
	assert_int_equal(index_check(rig.dir, NULL, &rig.err), SEGMENT_DAMAGED);
	index_blame(rig.dir, &rig.err);
	update(&rig);
	assert_int_equal(rig.stats.anew, INDEX_WAS_DAMAGED);
	assert_non_null(strstr(rig.stats.why, "damaged"));
	assert_int_equal(found(&rig, "lemon"), 1);
	update(&rig);
	assert_int_equal(rig.stats.anew, INDEX_KEPT);

	/* A segment that is missing, and a database that is none. */
	AUTO_FREE char *database = path_join(rig.dir, "index.db");
	struct index_view *view = NULL;
	assert_int_equal(index_view_open(rig.dir, &view, NULL), 0);
	index_view_close(view);
	for (unsigned i = 1; i < 4; i++) {
		AUTO_FREE char *segment = xasprintf("%s/%08x.segment", rig.dir, i);
		(void)unlink(segment);
	}
	assert_int_equal(index_view_open(rig.dir, &view, NULL), SEGMENT_DAMAGED);
	update(&rig);
	assert_int_equal(rig.stats.anew, INDEX_WAS_DAMAGED);
	AUTO_FREE char *log = path_join(rig.dir, "index.db-wal"); /* it would bring it back */
	assert_int_equal(unlink(log), 0);
	assert_int_equal(file_replace(database, SV("this is no database at all, not even nearly"),
				 0600, NULL),
		0);
	update(&rig);
	assert_int_equal(rig.stats.anew, INDEX_WAS_DAMAGED);
	assert_int_equal(found(&rig, "lemon"), 1);
}

/* Small segments become larger ones; whoever has the old ones open still reads them. */
static void test_merged(void **state)
{
	(void)state;
	RIG;
	struct index_view *view = NULL;
	int sources = 0;

	for (unsigned i = 1; i <= 7; i++) {
		say(&rig, i % 3 + 1, "user", "\"lemon\"");
		update(&rig);
	}
	assert_int_equal(rig.stats.segments, 7);
	assert_int_equal(index_view_open(rig.dir, &view, NULL), 0);
	for (unsigned i = 8; i <= 30; i++) {
		say(&rig, i % 3 + 1, "user", "\"lemon\"");
		update(&rig);
		assert_true(rig.stats.segments < 8);
	}
	assert_int_equal(found_in(view, "lemon", NULL), 7);
	assert_int_equal(index_sources(view, count_source, &sources, NULL), 7); /* ended by it */
	assert_int_equal(found(&rig, "lemon"), 30);
	assert_int_equal(found(&rig, "shop"), 3);
	index_view_close(view);
	/* Nothing is left behind. */
	unsigned files = 0;
	for (unsigned i = 1; i < 60; i++) {
		AUTO_FREE char *segment = xasprintf("%s/%08x.segment", rig.dir, i);
		files += path_exists(segment);
	}
	assert_int_equal(files, rig.stats.segments);
}

static void test_forgotten(void **state)
{
	(void)state;
	RIG;
	AUTO_FREE char *path = session_path(&rig, 1);
	const char *const paths[] = { path, "/nowhere" };

	say(&rig, 1, "user", "\"lemon kumquat\"");
	say(&rig, 2, "user", "\"lemon\"");
	update(&rig);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(index_forget(rig.dir, paths, 2, NULL, NULL), 0);
	assert_int_equal(found(&rig, "lemon"), 1);
	struct index_view *view = NULL;
	assert_int_equal(index_view_open(rig.dir, &view, NULL), 0);
	for (size_t i = 0; i < index_view_segments(view); i++) {
		struct segment_term term; /* also of the bytes nothing is left */
		assert_int_equal(
			segment_find(index_view_segment(view, i), SV("kumquat"), &term, NULL), 0);
	}
	index_view_close(view);
	update(&rig);
	assert_int_equal(found(&rig, "lemon"), 1);
}

/* Compressed, and plain again when somebody goes on with it: one session, whoever names it how. */
static void test_packed(void **state UNUSED)
{
	RIG;
	AUTO_FREE char *path = codex_session(&rig);
	AUTO_FREE char *packed = xasprintf("%s" UNPACK_SUFFIX, path);
	const char *const plain_only[] = { path }, *const packed_only[] = { packed };
	const char *const both[] = { packed, path };

	pack(path);
	rig.opts.paths = both;
	rig.opts.n_paths = 2;
	update(&rig);
	assert_int_equal(rig.stats.sources, 1);
	assert_int_equal(found(&rig, "kumquat"), 1);
	unpack(path);
	rig.opts.paths = plain_only;
	rig.opts.n_paths = 1;
	update(&rig);
	assert_int_equal(rig.stats.sources, 1);
	assert_int_equal(rig.stats.rewritten, 0);
	assert_int_equal(found(&rig, "kumquat"), 1);
	pack(path);
	rig.opts.paths = packed_only;
	update(&rig);
	assert_int_equal(rig.stats.sources, 1);
	assert_int_equal(found(&rig, "kumquat"), 1);
	rig.opts.paths = plain_only; /* it is told last that this one has vanished */
	update(&rig);
	assert_int_equal(rig.stats.gone, 0);
	rig.opts = (struct index_opts){ .paths = NULL };
	update(&rig);
	assert_int_equal(rig.stats.read, 0);
	assert_int_equal(rig.stats.gone, 0);
	assert_int_equal(found(&rig, "kumquat"), 1);
	/* Forgotten it is by either name, too. */
	assert_int_equal(index_forget(rig.dir, plain_only, 1, NULL, NULL), 0);
	assert_int_equal(found(&rig, "kumquat"), 0);
}

/* An index that has a session by both of its names has it once again. */
static void test_twice(void **state UNUSED)
{
	RIG;
	AUTO_FREE char *path = codex_session(&rig);
	AUTO_FREE char *database = path_join(rig.dir, "index.db");
	const char *const paths[] = { path };
	struct sqlite3 *db = NULL;

	update(&rig);
	/* As if the name had never been heard of. What this handle folds in would have no check
	 * sums. */
	assert_int_equal(sqlite3_open(database, &db), SQLITE_OK);
	assert_int_equal(
		sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "UPDATE source SET path = 'x' || path || '.zst'", NULL,
				 NULL, NULL),
		SQLITE_OK);
	rig.opts.paths = paths;
	rig.opts.n_paths = 1;
	update(&rig);
	assert_int_equal(
		sqlite3_exec(db, "UPDATE source SET path = substr(path, 2) WHERE path LIKE 'x%'",
			NULL, NULL, NULL),
		SQLITE_OK);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
	assert_int_equal(found(&rig, "kumquat"), 2);
	rig.opts = (struct index_opts){ .paths = NULL };
	update(&rig);
	assert_int_equal(rig.stats.sources, 1);
	assert_int_equal(found(&rig, "kumquat"), 1);
}

/* One that cannot be read to its end does not keep the others from being found. */
static void test_unread(void **state UNUSED)
{
	RIG;
	AUTO_FREE char *path = session_path(&rig, 1);

	say(&rig, 2, "user", "\"lime\"");
	for (unsigned i = 0; i < 4000; i++)
		say(&rig, 1, "user", "\"lemon\"");
	rig.opts = (struct index_opts){
		.threads = 1, .progress = cut_short, .trouble = count_trouble, .data = path
	};
	update(&rig);
	assert_int_equal(rig.stats.troubles, 1);
	assert_int_equal(found(&rig, "lime"), 1);
	assert_true(found(&rig, "lemon") > 100);
	assert_false(has(&rig, 1));
	rig.opts = (struct index_opts){ .threads = 1 };
	update(&rig);
	assert_int_equal(rig.stats.troubles, 0);
	assert_true(found(&rig, "lemon") < 10);
	assert_true(has(&rig, 1));
}

/* What is longer than the limit is indexed up to it, whatever escapes stand there. */
static void test_long_result(void **state)
{
	(void)state;
	RIG;
	AUTO_STR content = STR_INIT;

	rig.opts.result_max = 1000;
	str_adds(&content, "[{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"early ");
	while (content.len < 5000)
		str_adds(&content, "\\ud83d\\ude00 \\u00e9t\\u00e9 ");
	str_adds(&content, " late\"}]");
	say(&rig, 1, "user", content.buf);
	update(&rig);
	assert_int_equal(found(&rig, "early"), 1);
	assert_int_equal(found(&rig, "été"), 1);
	assert_int_equal(found(&rig, "late"), 0);
}

/* A file that is too much for the memory is committed in parts; one that is stopped in the middle
 * goes on from there. */
static void test_in_parts(void **state)
{
	(void)state;
	RIG;
	enum { LINES = 400, LINE_WORDS = 500 };

	for (unsigned i = 0; i < LINES; i++) {
		AUTO_STR words = STR_INIT;
		str_addf(&words, "\"lemon unique%u", i);
		for (unsigned k = 0; k < LINE_WORDS; k++)
			str_addf(&words, " w%u", (i * 7919 + k * 104729) % 100000);
		str_addc(&words, '"');
		say(&rig, 1, "user", words.buf);
	}
	rig.opts.memory = 2 * 1024 * 1024;
	update(&rig);
	bool several = false; /* segments, some of which may have been merged already */
	for (unsigned i = 3; i < 60; i++) {
		AUTO_FREE char *segment = xasprintf("%s/%08x.segment", rig.dir, i);
		several = several || path_exists(segment);
	}
	assert_true(several);
	assert_int_equal(found(&rig, "lemon"), LINES);
	assert_int_equal(found(&rig, "unique399"), 1);
	assert_int_equal(found(&rig, "shop"), 1);

	rig.opts.rebuild = true;
	rig.opts.memory = 0;
	rig.opts.budget_bytes = 300000;
	update(&rig);
	assert_int_equal(rig.stats.left, 1);
	assert_false(has(&rig, 1));
	assert_true(found(&rig, "lemon") > 50 && found(&rig, "lemon") < LINES);
	assert_int_equal(found(&rig, "shop"), 0);
	rig.opts.rebuild = false;
	for (unsigned i = 0; i < 100 && rig.stats.left; i++)
		update(&rig);
	assert_true(has(&rig, 1));
	assert_int_equal(found(&rig, "lemon"), LINES);
	assert_int_equal(found(&rig, "shop"), 1);
	assert_int_equal(rig.stats.rewritten, 0);
}

struct looker {
	const struct rig *rig;
	unsigned looks, least;
};

static void look_meanwhile(void *data, const struct index_progress *p UNUSED)
{
	struct looker *w = data;
	unsigned n = found(w->rig, "lemon");

	w->looks++;
	w->least = n < w->least ? n : w->least;
}

/* While all is read again, what was known is found as before; what is not there any more goes with
 * the end. */
static void test_found_while_rebuilt(void **state)
{
	(void)state;
	RIG;
	struct looker w = { .rig = &rig, .least = UINT_MAX };

	for (unsigned i = 0; i < 6; i++)
		say(&rig, i, "user", "\"lemon\"");
	update(&rig);
	AUTO_FREE char *path = session_path(&rig, 5);
	assert_int_equal(unlink(path), 0);
	rig.opts = (struct index_opts){
		.rebuild = true, .threads = 1, .progress = look_meanwhile, .data = &w
	};
	update(&rig);
	assert_int_equal(rig.stats.anew, INDEX_ASKED);
	assert_int_equal(rig.stats.read, 5);
	assert_true(w.looks >= 5);
	assert_int_equal(w.least, 6);
	assert_int_equal(found(&rig, "lemon"), 5);
	assert_int_equal(index_check(rig.dir, &rig.stats, NULL), 0);
	assert_int_equal(rig.stats.index_documents, 2 * 5);
	rig.opts = (struct index_opts){ .rebuild = false };
	update(&rig);
	assert_int_equal(rig.stats.read, 0);
}

/* What is shown of a hit is what was indexed. */
static void test_item_text(void **state)
{
	(void)state;
	RIG;
	AUTO_FREE char *path = session_path(&rig, 1);
	AUTO_STR text = STR_INIT;
	struct transcript_reader *reader = NULL;
	struct item item;
	enum doc_kind kind = DOC_KINDS;

	say(&rig, 1, "assistant",
		"[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Edit\",\"input\":{\"path\":\"a."
		"c\","
		"\"lines\":[1,{\"text\":\"b\\nc\"}]}}]");
	assert_int_equal(transcript_open(path, TRANSCRIPT_CLAUDE, NULL, &reader, NULL), 0);
	assert_int_equal(transcript_next(reader, &item, NULL), 1);
	assert_true(index_item(TRANSCRIPT_CLAUDE, &item, NULL, 0, &kind, &text));
	assert_int_equal(kind, DOC_CALL);
	assert_string_equal(text.buf, "a.c\nb\nc\n");
	transcript_close(reader);
}

/* Ctrl-C: what was read until then is there, and the next run does the rest. */
static bool after_some(void *data)
{
	unsigned *left = data;

	return *left == 0 || --*left == 0;
}

static void test_cancelled(void **state UNUSED)
{
	RIG;
	unsigned left = 12;

	for (unsigned i = 1; i <= 40; i++)
		say(&rig, i, "user", "\"the kumquat tree\"");
	rig.opts = (struct index_opts){ .threads = 1, .cancelled = after_some, .data = &left };
	update(&rig);
	assert_true(rig.stats.read > 0 && rig.stats.left > 0);
	assert_int_equal(rig.stats.read + rig.stats.left, 40);
	struct index_view *view = NULL;
	assert_int_equal(index_view_open(rig.dir, &view, NULL), 0);
	assert_int_equal(found_in(view, "kumquat", NULL), rig.stats.read);
	assert_int_equal(index_view_checked_ms(view), 0);
	index_view_close(view);
	rig.opts = (struct index_opts){ .threads = 1 };
	update(&rig);
	assert_int_equal(rig.stats.left, 0);
	assert_int_equal(index_view_open(rig.dir, &view, NULL), 0);
	assert_int_equal(found_in(view, "kumquat", NULL), 40);
	index_view_close(view);

	/* While another one writes it is heard, too. */
	AUTO_FREE char *lock = path_join(rig.dir, "lock");
	AUTO_CLOSE int held = -1;
	assert_int_equal(file_lock(lock, NULL, &held, NULL), 0);
	left = 2;
	const struct lock_wait wait = { .cancelled = after_some, .data = &left };
	rig.opts = (struct index_opts){ .wait = &wait };
	assert_int_equal(index_update(rig.dir, rig.store, &rig.home, 1, &rig.opts, NULL, &rig.err),
		ERR_CANCELLED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_made),
		cmocka_unit_test(test_grown),
		cmocka_unit_test(test_tail),
		cmocka_unit_test(test_rewritten),
		cmocka_unit_test(test_same_time),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_renamed),
		cmocka_unit_test(test_budget_and_paths),
		cmocka_unit_test(test_one_writer),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_merged),
		cmocka_unit_test(test_forgotten),
		cmocka_unit_test(test_packed),
		cmocka_unit_test(test_twice),
		cmocka_unit_test(test_unread),
		cmocka_unit_test(test_long_result),
		cmocka_unit_test(test_in_parts),
		cmocka_unit_test(test_found_while_rebuilt),
		cmocka_unit_test(test_item_text),
		cmocka_unit_test(test_cancelled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
