/* The index over real files in a folder of their own: made, brought up to date, damaged, made anew.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "os/test-temp.h"
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
	struct sv parent = path_parent(sv_of(path));
	AUTO_FREE char *folder = xmemdup0(parent.p, parent.n);

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
	assert_int_equal(found_in(view, "\1bash", NULL), 1);
	assert_int_equal(found_in(view, "\2main.c", NULL), 1);
	assert_int_equal(found_in(view, "\2src/cli/main.c", NULL), 1);
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
	add_bytes(&rig, 1, "", "w"); /* blank */
	update(&rig);
	assert_int_equal(rig.stats.rewritten, 1);
	assert_int_equal(found(&rig, "oranges"), 0);
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
	assert_int_equal(catalogue_rename(rig.store, "claude",
				 "aaaaaaaa-0000-4000-8000-000000000001", "", NULL),
		0);
	update(&rig);
	assert_int_equal(found(&rig, "rewrite"), 0);
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
	assert_int_equal(file_lock(lock, false, &fd, NULL), 0);
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
	assert_int_equal(index_forget(rig.dir, paths, 2, NULL), 0);
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
	assert_true(found(&rig, "lemon") > 50 && found(&rig, "lemon") < LINES);
	assert_int_equal(found(&rig, "shop"), 0);
	rig.opts.rebuild = false;
	for (unsigned i = 0; i < 100 && rig.stats.left; i++)
		update(&rig);
	assert_int_equal(found(&rig, "lemon"), LINES);
	assert_int_equal(found(&rig, "shop"), 1);
	assert_int_equal(rig.stats.rewritten, 0);
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
	assert_true(index_item(TRANSCRIPT_CLAUDE, &item, 0, &kind, &text));
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
	assert_int_equal(file_lock(lock, false, &held, NULL), 0);
	left = 2;
	rig.opts = (struct index_opts){ .wait = true, .cancelled = after_some, .data = &left };
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
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_renamed),
		cmocka_unit_test(test_budget_and_paths),
		cmocka_unit_test(test_one_writer),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_merged),
		cmocka_unit_test(test_forgotten),
		cmocka_unit_test(test_long_result),
		cmocka_unit_test(test_in_parts),
		cmocka_unit_test(test_item_text),
		cmocka_unit_test(test_cancelled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
