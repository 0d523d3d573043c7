/* What is listed for words does not depend on what was typed before them. */
#include "cli/pick-rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "os/loop.h"
#include "os/worker.h"

enum { SESSIONS = 300 };

struct fixture {
	struct app app;
	struct loop *loop;
	struct worker *worker;
	struct pick_rows rows;
};

/* Titles, folders and branches of few letters: most words are somewhere. */
static void add_sessions(struct pick_rows *rows)
{
	static const char *const words[] = { "ab", "abc", "Bar", "cab", "b a", "ä", "ÄB", "x" };

	for (size_t i = 0; i < SESSIONS; i++) {
		AUTO_FREE char *id = xasprintf("id-%zu", i);
		AUTO_FREE char *cwd = xasprintf("/work/%s", words[i / 8 % 8]);
		AUTO_FREE char *prompt = xasprintf("%s %s", words[i % 8], words[i / 3 % 8]);
		AUTO_SESSION_ROW row = SESSION_ROW_INIT;
		session_info_init(&row.info, TRANSCRIPT_CLAUDE, id);
		free(row.info.id);
		free(row.info.cwd);
		free(row.info.prompt);
		row.info.id = TAKE_PTR(id);
		row.info.cwd = TAKE_PTR(cwd);
		row.info.prompt = TAKE_PTR(prompt);
		row.agent = xstrdup("claude");
		row.own_name = xstrdup(i % 5 ? "" : words[i / 5 % 8]);
		pick_rows_add(rows, &row);
	}
}

static void begin(struct fixture *f, struct pick_rows *rows)
{
	pick_rows_init(rows, &f->app);
	rows->no_view = true;
	add_sessions(rows);
}

static int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	f->app.paths.home = xstrdup("/home/me");
	f->loop = loop_new();
	f->worker = worker_new(f->loop, "find", 1, NULL);
	assert_non_null(f->worker);
	begin(f, &f->rows);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	pick_rows_release(&f->rows);
	worker_free(f->worker);
	loop_free(f->loop);
	free(f->app.paths.home);
	free(f);
	return 0;
}

static struct picker_found list(
	const struct fixture *f, struct pick_rows *rows, struct sv words, bool all)
{
	const struct picker_source *s = &pick_rows_source;
	struct picker_found found = { .n = 0 };

	assert_int_equal((all ? s->find : s->glance)(rows, words, f->worker, &found, NULL), 0);
	assert_int_equal(found.total, SESSIONS);
	return found;
}

/* As one who was never asked before lists them. */
static void check(struct fixture *f, struct sv words, bool all)
{
	CLEANUP(pick_rows_release) struct pick_rows other;

	begin(f, &other);
	struct picker_found got = list(f, &f->rows, words, all);
	struct picker_found want = list(f, &other, words, all);
	assert_int_equal(got.n, want.n);
	for (size_t i = 0; i < got.n; i++)
		assert_string_equal(
			pick_rows_at(&got, i)->row.info.id, pick_rows_at(&want, i)->row.info.id);
	pick_rows_source.release(&f->rows, &got);
	pick_rows_source.release(&other, &want);
}

static void lists_what_fits(void **state)
{
	static const char *const asked[] = { "", "b", "ba", "bar", "bar ", "bar ab", "bar a", "bar",
		"x", "", "ä", "äb", "ÄB", "äb work", "äb id-7", "", "ab b", "ab ba", "b", "nowhere",
		"nowhere at", "claude", "claud", "claude c", " c", "  c", "c", "a", "ä" };
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
		check(f, sv_of(asked[i]), false);
		check(f, sv_of(asked[i]), true);
	}
	struct picker_found found = list(f, &f->rows, SV("äb id-7"), true);
	assert_in_range(found.n, 1, SESSIONS / 4);
	pick_rows_source.release(&f->rows, &found);
}

/* What has the words in its title comes first, each in order. */
static void titles_come_first(void **state)
{
	struct fixture *f = *state;
	bool rest = false;
	struct picker_found found = list(f, &f->rows, SV("bar"), true);

	for (size_t i = 0; i < found.n; i++) {
		const struct candidate *c = pick_rows_at(&found, i);
		bool title = sv_find(sv_make(c->text, c->title_n), SV("bar"), NULL);
		assert_false(rest && title);
		rest = !title;
	}
	assert_true(rest);
	pick_rows_source.release(&f->rows, &found);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(lists_what_fits),
		CASE(titles_come_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
