#include <string.h>

#include "strategy/original.h"
#include "strategy/smart.h"
#include "transcript/test-session.h"

#define ID "aaaaaaaa-0000-4000-8000-000000000001"
#define FILE_NAME "claude/projects/-work-demo/" ID ".jsonl"

struct world {
	char *folder, *path, *dir;
	struct store *store;
	struct clock clock;
	struct archive archive;
};

static char *long_text(const char *word)
{
	AUTO_STR text = STR_INIT;

	for (int i = 0; i < 200; i++)
		str_addf(&text, "%s ", word);
	return str_detach(&text);
}

static int setup(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));
	AUTO_STR t = STR_INIT;
	AUTO_FREE char *alpha = long_text("alpha");
	AUTO_FREE char *beta = long_text("beta");
	AUTO_FREE char *prompt = long_text("prompt");
	AUTO_FREE char *answer = xasprintf("[{\"type\":\"text\",\"text\":\"%s\"}]", beta);
	AUTO_FREE char *thought = xasprintf(
		"[{\"type\":\"thinking\",\"thinking\":\"%s\",\"signature\":\"s\"}]", beta);

	w->folder = temp_folder();
	claude_user(&t, "u1", NULL, prompt); /* 1 */
	claude_answer(&t, "a1", "u1", "m1", TOOL_USE("t1")); /* 2 */
	claude_result(&t, "r1", "a1", "t1", alpha); /* 3 */
	claude_answer(&t, "a0", "r1", "m2", thought);
	claude_answer(&t, "a2", "a0", "m2", answer); /* 4 */
	claude_user(&t, "u2", "a2", "short"); /* 5 */
	claude_answer(&t, "a3", "u2", "m3", TEXT("short too")); /* 6 */
	claude_user(&t, "u3", "a3", "the last"); /* 7 */
	claude_answer(&t, "a4", "u3", "m4", answer); /* 8 */
	w->path = session_write(w->folder, FILE_NAME, str_sv(&t));
	w->dir = path_join(w->folder, "archive");
	w->clock = (struct clock){ true, (int64_t)T0_S * 1000 };
	assert_int_equal(store_open(NULL, STORE_MEMORY, NULL, &w->store, NULL), 0);
	w->archive = (struct archive){ .store = w->store, .dir = w->dir, .clock = &w->clock };
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	store_close(w->store);
	free(w->path);
	free(w->dir);
	temp_remove(w->folder);
	free(w);
	return 0;
}

static struct smart_opts opts_of(const struct world *w)
{
	struct smart_opts opts = SMART_OPTS_INIT;

	opts.path = w->path;
	opts.format = TRANSCRIPT_CLAUDE;
	opts.keep_recent = 1;
	opts.agent = "rehearsal";
	return opts;
}

static void check_keeps(const struct smart_digest *d, const enum smart_keep *want, size_t n)
{
	assert_int_equal(d->entries.n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(d->entries.v[i].keep, want[i]);
}

static void test_digest_says_what_may_go(void **state)
{
	CLEANUP(smart_digest_release) struct smart_digest d = SMART_DIGEST_INIT;
	const struct smart_opts opts = opts_of(*state);

	assert_int_equal(smart_digest(&opts, &d, NULL), 0);
	static const enum smart_keep want[] = { SMART_PROMPT, SMART_CALL, SMART_FREE, SMART_FREE,
		SMART_PROMPT, SMART_SHORT, SMART_PROMPT, SMART_RECENT };
	check_keeps(&d, want, ARRAY_LEN(want));
	assert_int_equal(d.free, 2);
	assert_non_null(strstr(d.text.buf, "#3 result of Bash, 1200 characters: alpha alpha"));
	assert_non_null(strstr(d.text.buf, "#1 (stays) user, "));
	assert_null(strstr(d.text.buf, "thinking"));
}

static void test_prompts_when_asked(void **state)
{
	CLEANUP(smart_digest_release) struct smart_digest d = SMART_DIGEST_INIT;
	struct smart_opts opts = opts_of(*state);

	opts.prompts = true;
	assert_int_equal(smart_digest(&opts, &d, NULL), 0);
	assert_int_equal(d.entries.v[0].keep, SMART_FREE);
	assert_int_equal(d.entries.v[4].keep, SMART_SHORT);
}

static void read_answer(
	const struct world *w, const char *text, struct smart_digest *d, struct smart_answer *a)
{
	const struct smart_opts opts = opts_of(w);

	assert_int_equal(smart_digest(&opts, d, NULL), 0);
	assert_int_equal(smart_read_answer(d, sv_of(text), a, NULL), 0);
}

static void test_answers_in_words(void **state)
{
	static const char *const texts[] = {
		"{\"trim\":[{\"number\":3,\"reason\":\"r\",\"summary\":\"s\"}]}",
		"[{\"number\":3,\"reason\":\"r\",\"summary\":\"s\"}]",
		"Here it is:\n```json\n{\"trim\":[{\"number\":3,\"summary\":\"s\"}]}\n```\nDone.",
		"I looked at [1] and {x}: {\"trim\":[{\"number\":3.0,\"summary\":\"s\"}]}",
		"{\"trim\":[{\"number\":3,\"summary\":\"s\",\"more\":{}}],\"note\":1}",
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		CLEANUP(smart_digest_release) struct smart_digest d = SMART_DIGEST_INIT;
		CLEANUP(smart_answer_release) struct smart_answer a = SMART_ANSWER_INIT;
		read_answer(*state, texts[i], &d, &a);
		assert_int_equal(a.choices.n, 1);
		assert_int_equal(a.choices.v[0].entry, 2);
		assert_string_equal(a.choices.v[0].summary, "s");
		assert_int_equal(a.refused, 0);
	}
}

static void test_refusals_say_why(void **state)
{
	CLEANUP(smart_digest_release) struct smart_digest d = SMART_DIGEST_INIT;
	CLEANUP(smart_answer_release) struct smart_answer a = SMART_ANSWER_INIT;
	static const char *const why[] = { "there is no such number", "there is no such number",
		"it is what the user said", "it is what a tool was asked to do", "it is recent",
		"it is too short to be worth it", "it was named before", "it has no summary",
		"it has no summary", "it has no number", "it is no object", "it has no number" };

	read_answer(*state,
		"{\"trim\":[{\"number\":0,\"summary\":\"s\"},{\"number\":99,\"summary\":\"s\"},"
		"{\"number\":1,\"summary\":\"s\"},{\"number\":2,\"summary\":\"s\"},"
		"{\"number\":8,\"summary\":\"s\"},{\"number\":6,\"summary\":\"s\"},"
		"{\"number\":3,\"summary\":\"good\"},{\"number\":3,\"summary\":\"twice\"},"
		"{\"number\":4},{\"number\":4,\"summary\":\" \\n\"},{\"number\":\"4\"},7,{}]}",
		&d, &a);
	assert_int_equal(a.choices.n, 1);
	assert_string_equal(a.choices.v[0].summary, "good");
	assert_int_equal(a.refused, ARRAY_LEN(why));
	for (size_t i = 0; i < ARRAY_LEN(why); i++)
		assert_string_equal(a.refusals.v[i].why, why[i]);
}

static void test_what_is_no_answer_is_refused(void **state)
{
	static const char *const texts[] = { "", "I would rather not.", "{\"trim\":[", "[1,2]",
		"{\"trim\":7}", "{\"other\":[]}", "null", "{'trim': []}" };
	const struct smart_opts opts = opts_of(*state);
	CLEANUP(smart_digest_release) struct smart_digest d = SMART_DIGEST_INIT;

	assert_int_equal(smart_digest(&opts, &d, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct smart_answer a = SMART_ANSWER_INIT;
		struct err err = ERR_INIT;
		assert_int_equal(smart_read_answer(&d, sv_of(texts[i]), &a, &err), ERR_INPUT);
		assert_int_not_equal(err.msg[0], '\0');
	}
}

static void test_summary_is_bounded(void **state)
{
	CLEANUP(smart_digest_release) struct smart_digest d = SMART_DIGEST_INIT;
	CLEANUP(smart_answer_release) struct smart_answer a = SMART_ANSWER_INIT;
	AUTO_FREE char *text = xcalloc(1, SMART_SUMMARY_MAX * 2);

	memset(text, 'x', SMART_SUMMARY_MAX + 100);
	AUTO_FREE char *json =
		xasprintf("{\"trim\":[{\"number\":3,\"summary\":\"\\u001b[2J%s\"}]}", text);
	read_answer(*state, json, &d, &a);
	assert_int_equal(a.choices.n, 1);
	assert_true(strlen(a.choices.v[0].summary) <= SMART_SUMMARY_MAX);
	assert_null(strchr(a.choices.v[0].summary, '\033'));
}

static size_t count_lines(const struct str *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->len; i++)
		n += s->buf[i] == '\n';
	return n;
}

static void test_apply_writes_a_new_session(void **state)
{
	struct world *w = *state;
	CLEANUP(smart_digest_release) struct smart_digest d = SMART_DIGEST_INIT;
	CLEANUP(smart_answer_release) struct smart_answer a = SMART_ANSWER_INIT;
	CLEANUP(smart_report_release) struct smart_report r = SMART_REPORT_INIT;
	AUTO_STR before = STR_INIT;
	AUTO_STR same = STR_INIT;
	AUTO_STR after = STR_INIT;
	AUTO_STR raw = STR_INIT;
	AUTO_STR text = STR_INIT;
	char ref[RECALL_REF];
	const struct smart_opts opts = opts_of(w);

	assert_int_equal(file_read(w->path, 1 << 20, &before, NULL), 0);
	read_answer(w,
		"{\"trim\":[{\"number\":4,\"summary\":\"only \\\"betas\\\"\"},"
		"{\"number\":3,\"summary\":\"just alphas\"}]}",
		&d, &a);
	assert_int_equal(smart_apply(&opts, &d, &a, &w->archive, &r, NULL), 0);
	assert_int_equal(r.replaced, 2);
	assert_true(r.saved.tokens > 0);
	assert_int_equal(file_read(w->path, 1 << 20, &same, NULL), 0);
	assert_string_equal(same.buf, before.buf);
	assert_int_equal(file_read(r.file.path, 1 << 20, &after, NULL), 0);
	assert_int_equal(count_lines(&after), count_lines(&before));
	assert_non_null(
		strstr(after.buf, "\"content\":\"just alphas\\n\\n[Summarised - original was"));
	assert_non_null(strstr(after.buf, "\"text\":\"only \\\"betas\\\"\\n\\n[Summarised"));
	assert_non_null(strstr(after.buf, "\"trim_metadata\":{"));
	assert_non_null(strstr(after.buf, "\"method\":\"smart-trim\""));
	recall_ref_text(d.entries.v[2].hash, ref);
	assert_int_equal(recall_get(&w->archive, sv_of(ref), &raw, NULL, NULL), 0);
	assert_true(original_decode(RECALL_TEXT, str_sv(&raw), &text));
	AUTO_FREE char *alpha = long_text("alpha");
	assert_string_equal(text.buf, alpha);
}

/* A text that was summarised once is left alone. */
static void test_summaries_are_not_summed_again(void **state)
{
	struct world *w = *state;
	CLEANUP(smart_digest_release) struct smart_digest d = SMART_DIGEST_INIT;
	CLEANUP(smart_answer_release) struct smart_answer a = SMART_ANSWER_INIT;
	CLEANUP(smart_report_release) struct smart_report r = SMART_REPORT_INIT;
	CLEANUP(smart_digest_release) struct smart_digest again = SMART_DIGEST_INIT;
	struct smart_opts opts = opts_of(w);

	read_answer(w, "[{\"number\":3,\"summary\":\"s\"}]", &d, &a);
	assert_int_equal(smart_apply(&opts, &d, &a, &w->archive, &r, NULL), 0);
	opts.path = r.file.path;
	assert_int_equal(smart_digest(&opts, &again, NULL), 0);
	assert_int_equal(again.entries.v[2].keep, SMART_SUMMED);
}

static void test_dry_and_nothing(void **state)
{
	struct world *w = *state;
	CLEANUP(smart_digest_release) struct smart_digest d = SMART_DIGEST_INIT;
	CLEANUP(smart_answer_release) struct smart_answer a = SMART_ANSWER_INIT;
	CLEANUP(smart_report_release) struct smart_report r = SMART_REPORT_INIT;
	struct smart_opts opts = opts_of(w);

	opts.dry = true;
	read_answer(w, "[{\"number\":3,\"summary\":\"s\"}]", &d, &a);
	assert_int_equal(smart_apply(&opts, &d, &a, &w->archive, &r, NULL), 0);
	assert_null(r.file.path);
	assert_int_equal(r.replaced, 1);
	assert_false(path_exists(w->dir));
	struct smart_answer none = SMART_ANSWER_INIT;
	struct smart_report no = SMART_REPORT_INIT;
	opts.dry = false;
	assert_int_equal(smart_apply(&opts, &d, &none, &w->archive, &no, NULL), ERR_NOTFOUND);
	assert_false(path_exists(w->dir));
}

static void test_changed_meanwhile(void **state)
{
	struct world *w = *state;
	CLEANUP(smart_digest_release) struct smart_digest d = SMART_DIGEST_INIT;
	CLEANUP(smart_answer_release) struct smart_answer a = SMART_ANSWER_INIT;
	struct smart_report r = SMART_REPORT_INIT;
	AUTO_STR text = STR_INIT;
	const struct smart_opts opts = opts_of(w);

	read_answer(w, "[{\"number\":3,\"summary\":\"s\"}]", &d, &a);
	assert_int_equal(file_read(w->path, 1 << 20, &text, NULL), 0);
	char *at = strstr(text.buf, "alpha");
	assert_non_null(at);
	at[0] = 'A';
	assert_int_equal(file_replace(w->path, str_sv(&text), 0600, NULL), 0);
	assert_int_equal(smart_apply(&opts, &d, &a, &w->archive, &r, NULL), ERR_BUSY);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_digest_says_what_may_go),
		CASE(test_prompts_when_asked),
		CASE(test_answers_in_words),
		CASE(test_refusals_say_why),
		CASE(test_what_is_no_answer_is_refused),
		CASE(test_summary_is_bounded),
		CASE(test_apply_writes_a_new_session),
		CASE(test_summaries_are_not_summed_again),
		CASE(test_dry_and_nothing),
		CASE(test_changed_meanwhile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
