#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/path.h"
#include "os/test-temp.h"
#include "strategy/rewrite.h"
#include "transcript/test-session.h"

#define PARENT "11111111-2222-4333-8444-555555555555"

static const struct clock fixed = { true, INT64_C(1767225600000) };

static void remove_temp(char **dir)
{
	temp_remove(*dir);
}
#define TEMP_DIR(name) CLEANUP(remove_temp) char *name = temp_folder()

static char *make(const char *dir, const char *name, struct sv text)
{
	char *path = path_join(dir, name);

	assert_int_equal(file_replace(path, text, 0600, NULL), 0);
	return path;
}

static void slurp(const char *path, struct str *out)
{
	assert_int_equal(file_read(path, SIZE_MAX, out, NULL), 0);
}

/* ---- callbacks ---- */

struct seen {
	size_t lines, records, folds;
	const char *note;
	int result; /* of done() */
	size_t grow; /* of the note */
	bool over;
};

static int count_edit(void *data, void *chunk, struct rewrite_line *line, struct edit *e,
	struct str *out, struct err *reterr)
{
	(void)data;
	(void)chunk;
	(void)reterr;
	struct jval val;
	if (line->object && scan_text(line->text, &val) == 0 &&
		scan_get(val, SV("change"), &val) > 0)
		edit_string(e, val, SV("changed"));
	if (sv_is(line->text, "drop me"))
		return REWRITE_DROP;
	if (sv_is(line->text, "double me")) {
		str_adds(out, "{}\n{}\n");
		return REWRITE_OWN;
	}
	return REWRITE_EDITED;
}

static int seen_done(void *data, const struct transcript_live *live, struct err *reterr)
{
	struct seen *s = data;

	(void)reterr;
	s->records = live ? live->records : 0;
	s->over = true;
	return s->result;
}

static void seen_note(void *data, struct jw *w)
{
	const struct seen *s = data;
	AUTO_STR pad = STR_INIT;

	for (size_t i = 0; s->over && i < s->grow; i++)
		str_addc(&pad, 'x');
	jw_put_cstr(w, "parent_file", "/p");
	jw_put_string(w, "pad", str_sv(&pad));
}

static const struct rewrite_ops ops = { .edit = count_edit, .done = seen_done, .note = seen_note };

static struct rewrite_opts opts_for(const char *path)
{
	return (struct rewrite_opts){
		.format = TRANSCRIPT_CLAUDE,
		.path = path,
		.changes = REWRITE_ALL,
		.note_key = "trim_metadata",
		.clock = &fixed,
		.threads = 2,
		.live = true,
	};
}

/* ---- cases ---- */

static void replace_all(struct str *text, const char *from, const char *to)
{
	AUTO_STR out = STR_INIT;
	struct sv rest = str_sv(text);
	size_t at;

	while (sv_find(rest, sv_of(from), &at)) {
		str_add(&out, sv_head(rest, at));
		str_adds(&out, to);
		rest = sv_from(rest, at + strlen(from));
	}
	str_add(&out, rest);
	str_clear(text);
	str_add(text, str_sv(&out));
}

/* Writes text, rewrites it, and compares with `want`, where NEW is the new id and PARENT the old.
 */
static void check(struct sv text, struct sv want)
{
	TEMP_DIR(dir);
	AUTO_FREE char *path = make(dir, PARENT ".jsonl", text);
	const struct rewrite_opts opts = opts_for(path);
	struct seen seen = { .lines = 0 };
	struct rewrite_result result = REWRITE_RESULT_INIT;
	struct err err = ERR_INIT;
	AUTO_STR got = STR_INIT;
	AUTO_STR kept = STR_INIT;

	assert_int_equal(rewrite_session(&opts, &ops, &seen, &result, &err), 0);
	slurp(result.path, &got);
	replace_all(&got, result.id, "NEW");
	assert_true(sv_eq(str_sv(&got), want));
	slurp(path, &kept);
	assert_true(sv_eq(str_sv(&kept), text));
	assert_int_equal(result.bytes_in, text.n);
	rewrite_result_release(&result);
}

#define NOTE "\"trim_metadata\":{\"parent_file\":\"/p\",\"pad\":\"\"}"

static void ids_usage_and_errors(void **state)
{
	(void)state;
	check(SV("{\"type\":\"user\", \"sessionId\" : \"" PARENT "\"}\n"
		 "{\"type\":\"assistant\",\"sessionId\":\"other\",\"message\":{\"model\":\"m-1\","
		 "\"usage\":{\"a\":12,\"b\":0,\"c\":{\"d\":[1E2,\"x\"]}}}}\r\n"
		 "{\"type\":\"assistant\",\"error\":\"invalid_request\",\"isApiErrorMessage\":true,"
		 "\"message\":{\"model\":\"<synthetic>\",\"content\":[{\"type\":\"text\",\"text\":"
		 "\"too long\"}]}}\n"),
		SV("{\"type\":\"user\", \"sessionId\" : \"NEW\"," NOTE "}\n"
		   "{\"type\":\"assistant\",\"sessionId\":\"NEW\",\"message\":{\"model\":\"m-1\","
		   "\"usage\":{\"a\":0,\"b\":0,\"c\":{\"d\":[0,\"x\"]}}}}\r\n"
		   "{\"type\":\"assistant\",\"error\":null,\"isApiErrorMessage\":false,"
		   "\"message\":{\"model\":\"m-1\",\"content\":[{\"type\":\"text\",\"text\":"
		   "\"[API error in parent session - removed]\"}]}}\n"));
}

static void what_is_no_object_stays(void **state)
{
	(void)state;
	check(SV("[]\n\n\xff{\n{\"a\":\"\xff\",\"n\":1e400,\"n\":2}\n{\"x\":\n{\"a\":1}{\"b\":2}\n"
		 "null\n\"s\"\n42\n{\"nul\":\"\0\"}\ntorn"),
		SV("[]\n\n\xff{\n{\"a\":\"\xff\",\"n\":1e400,\"n\":2," NOTE
		   "}\n{\"x\":\n{\"a\":1}{\"b\":2}\nnull\n\"s\"\n42\n{\"nul\":\"\0\"}\ntorn\n"));
}

static void callbacks_change_lines(void **state)
{
	(void)state;
	check(SV("{\"change\":\"me\"}\ndrop me\ndouble me\nkeep\n"),
		SV("{\"change\":\"changed\"," NOTE "}\n{}\n{}\nkeep\n"));
}

static void old_notes_go(void **state)
{
	(void)state;
	check(SV("{\"trim_metadata\":{\"parent_file\":\"/old\"},\"continue_metadata\":1,"
		 "\"faden_metadata\":{},\"type\":\"user\"}\n{\"trim_metadata\":2}\n"),
		SV("{" NOTE ",\"type\":\"user\"}\n{\"trim_metadata\":2}\n"));
}

static void codex(void **state)
{
	TEMP_DIR(dir);
	AUTO_FREE char *folder = path_join(dir, "sessions/2025/01/02");
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(file_mkdirs(folder, &err), 0);
	AUTO_FREE char *path = make(folder, "rollout-2025-01-02T03-04-05-" PARENT ".jsonl",
		SV("{\"timestamp\":\"t\",\"ordinal\":0,\"type\":\"session_meta\",\"payload\":{"
		   "\"id\":\"" PARENT "\",\"session_id\":\"" PARENT "\",\"trim_metadata\":1}}\n"
		   "{\"type\":\"session_meta\",\"payload\":{\"id\":\"ancestor\"}}\n"
		   "{\"type\":\"event_msg\",\"payload\":{\"type\":\"token_count\",\"info\":{"
		   "\"last_token_usage\":{\"input_tokens\":7},\"model_context_window\":9}}}\n"
		   "{\"type\":\"event_msg\",\"payload\":{\"thread_id\":\"" PARENT "\"}}\n"));
	struct rewrite_opts opts = opts_for(path);
	struct seen seen = { .lines = 0 };
	struct rewrite_result result = REWRITE_RESULT_INIT;
	AUTO_STR got = STR_INIT;
	opts.format = TRANSCRIPT_CODEX;

	assert_int_equal(rewrite_session(&opts, &ops, &seen, &result, &err), 0);
	assert_true(path_within(sv_of(result.path), sv_of(dir)));
	assert_true(strstr(result.path, "/sessions/2026/01/01/rollout-2026-01-01T00-00-00-"));
	slurp(result.path, &got);
	replace_all(&got, result.id, "NEW");
	assert_string_equal(got.buf,
		"{\"timestamp\":\"t\",\"ordinal\":0,\"type\":\"session_meta\",\"payload\":{"
		"\"id\":\"NEW\",\"session_id\":\"NEW\"," NOTE "}}\n"
		"{\"type\":\"session_meta\",\"payload\":{\"id\":\"ancestor\"}}\n"
		"{\"type\":\"event_msg\",\"payload\":{\"type\":\"token_count\",\"info\":{"
		"\"last_token_usage\":{\"input_tokens\":0},\"model_context_window\":9}}}\n"
		"{\"type\":\"event_msg\",\"payload\":{\"thread_id\":\"NEW\"}}\n");
	rewrite_result_release(&result);
}

/* A line with a text of n bytes before what changes, and one after. */
static void long_line(struct str *out, size_t n, const char *id)
{
	str_adds(out, "{\"before\":\"");
	for (size_t i = 0; i < n; i++)
		str_addc(out, (char)('a' + i % 26));
	str_addf(out, "\",\"sessionId\":\"%s\",\"after\":\"", id);
	for (size_t i = 0; i < n; i++)
		str_addc(out, (char)('A' + i % 26));
	str_adds(out, "\"}\n");
}

/* More than a chunk: the note is filled in at the end, and threads see the lines in order. */
static void large(void **state)
{
	TEMP_DIR(dir);
	AUTO_STR text = STR_INIT;
	AUTO_STR want = STR_INIT;
	AUTO_STR got = STR_INIT;
	struct err err = ERR_INIT;

	(void)state;
	str_adds(&text, "{\"type\":\"mode\"}\n");
	for (int i = 0; i < 40000; i++) {
		str_addf(&text, "{\"i\":%d,\"sessionId\":\"" PARENT "\"}\n", i);
		str_addf(&want, "{\"i\":%d,\"sessionId\":\"NEW\"}\n", i);
		if (i % 100 == 0) {
			str_addf(&text, "broken %d {\n", i);
			str_addf(&want, "broken %d {\n", i);
		}
		if (i % 400 == 0) {
			long_line(&text, (size_t)i, PARENT);
			long_line(&want, (size_t)i, "NEW");
		}
	}
	AUTO_FREE char *path = make(dir, PARENT ".jsonl", str_sv(&text));
	const struct rewrite_opts opts = opts_for(path);
	struct seen seen = { .grow = 100 };
	struct rewrite_result result = REWRITE_RESULT_INIT;
	assert_int_equal(rewrite_session(&opts, &ops, &seen, &result, &err), 0);
	slurp(result.path, &got);
	replace_all(&got, result.id, "NEW");
	assert_true(sv_ends(str_sv(&got), str_sv(&want)));
	struct sv first = sv_head(str_sv(&got), got.len - want.len);
	assert_true(sv_starts(first, SV("{\"type\":\"mode\",\"trim_metadata\":{\"parent_file\"")));
	assert_int_equal(memchr(first.p, '\n', first.n) == first.p + first.n - 1, 1);
	assert_int_equal(scan_check(sv_trim(first), NULL), 0);
	assert_int_equal(seen.records, 40501);
	assert_int_equal(result.lines, 40501);
	assert_int_equal(result.copied, 400);
	rewrite_result_release(&result);
}

/* ---- the live chain, gathered on the way, is the one that transcript_live() finds ---- */

static int compare_live(void *data, const struct transcript_live *live, struct err *reterr)
{
	const struct transcript_live *want = data;

	(void)reterr;
	assert_int_equal(live->records, want->records);
	assert_int_equal(live->live, want->live);
	assert_int_equal(live->live_bytes, want->live_bytes);
	assert_int_equal(live->healed, want->healed);
	assert_int_equal(live->compacted, want->compacted);
	assert_string_equal(live->base_id, want->base_id);
	for (size_t i = 0; i < live->records; i++)
		assert_int_equal(transcript_is_live(live, i), transcript_is_live(want, i));
	return 0;
}

static void check_live(const struct transcript_format *format, struct sv text)
{
	static const struct rewrite_ops live_ops = { .done = compare_live };

	TEMP_DIR(dir);
	AUTO_FREE char *path = make(dir, PARENT ".jsonl", text);
	struct rewrite_opts opts = opts_for(path);
	struct rewrite_result result = REWRITE_RESULT_INIT;
	struct transcript_live want;
	struct err err = ERR_INIT;

	opts.format = format;
	opts.dry = true;
	assert_int_equal(transcript_live(path, format, &want, &err), 0);
	assert_int_equal(rewrite_session(&opts, &live_ops, &want, &result, &err), 0);
	assert_null(result.path);
	transcript_live_release(&want);
	rewrite_result_release(&result);
}

static void live_claude_lines(void **state)
{
	AUTO_STR text = STR_INIT;

	(void)state;
	claude_user(&text, "u0", NULL, "left behind");
	claude_user(&text, "u1", NULL, "a");
	claude_answer(&text, "a1", "u1", "m1", TOOL_USE("t1"));
	claude_answer(&text, "a2", "a1", "m1", TOOL_USE("t2"));
	claude_result(&text, "r1", "a1", "t1", "one");
	str_adds(&text, "broken {\n{\"x\":1}{\"y\":2}\n\nnull\n[]\n");
	str_addc(&text, '"');
	str_addc(&text, '\0');
	str_adds(&text, "\"\n");
	claude_result(&text, "r2", "a2", "t2", "two");
	claude_answer(&text, "a3", "r2", "m2", TEXT("done"));
	check_live(TRANSCRIPT_CLAUDE, str_sv(&text));
	str_adds(&text,
		"{\"type\":\"system\",\"subtype\":\"compact_boundary\",\"uuid\":\"c1\","
		"\"parentUuid\":null,\"compactMetadata\":{\"preservedMessages\":{\"uuids\":"
		"[\"a3\"]}}}\n");
	claude_user(&text, "u2", "c1", "summary");
	claude_user(&text, "u3", "missing", "more");
	check_live(TRANSCRIPT_CLAUDE, str_sv(&text));
}

static void live_codex_lines(void **state)
{
	AUTO_STR text = STR_INIT;

	(void)state;
	codex_line(&text, "session_meta",
		"{\"id\":\"x\",\"history_base\":{\"thread_id\":\"y\",\"end_byte_offset\":7}}");
	codex_message(&text, "user", "one");
	codex_message(&text, "assistant", "two");
	codex_message(&text, "user", "three");
	codex_line(&text, "event_msg", "{\"type\":\"thread_rolled_back\",\"num_turns\":1}");
	check_live(TRANSCRIPT_CODEX, str_sv(&text));
	codex_line(&text, "compacted", "{\"message\":\"s\",\"replacement_history\":[]}");
	str_adds(&text, "{\"type\":\"message\",\"role\":\"user\",\"content\":\"old shape\"}\n");
	codex_message(&text, "user", "four");
	check_live(TRANSCRIPT_CODEX, str_sv(&text));
}

/* In place of the C library's. */
static unsigned syncs;
int fsync(int fd)
{
	syncs++;
	return (int)syscall(SYS_fsync, fd);
}

static void what_replaces_its_parent_waits_for_the_disk(void **state)
{
	TEMP_DIR(dir);
	AUTO_FREE char *path = make(dir, PARENT ".jsonl", SV("{\"type\":\"user\"}\n"));
	struct rewrite_opts opts = opts_for(path);

	(void)state;
	for (int in_place = 0; in_place < 2; in_place++) {
		struct seen seen = { .lines = 0 };
		struct rewrite_result result = REWRITE_RESULT_INIT;
		opts.in_place = in_place;
		syncs = 0;
		assert_int_equal(rewrite_session(&opts, &ops, &seen, &result, NULL), 0);
		assert_int_equal(syncs, in_place ? 2 : 0);
		rewrite_result_release(&result);
	}
}

static void nothing_is_left_when_it_fails(void **state)
{
	TEMP_DIR(dir);
	AUTO_FREE char *path = make(dir, PARENT ".jsonl", SV("{}\n"));
	const struct rewrite_opts opts = opts_for(path);
	struct seen seen = { .result = ERR_NOTFOUND };
	struct rewrite_result result = REWRITE_RESULT_INIT;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(rewrite_session(&opts, &ops, &seen, &result, &err), ERR_NOTFOUND);
	assert_null(result.path);
	assert_int_equal(unlink(path), 0);
	/* Only an empty folder can be removed. */
	assert_int_equal(rmdir(dir), 0);
	assert_int_equal(mkdir(dir, 0700), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_usage_and_errors),
		cmocka_unit_test(what_is_no_object_stays),
		cmocka_unit_test(callbacks_change_lines),
		cmocka_unit_test(old_notes_go),
		cmocka_unit_test(codex),
		cmocka_unit_test(large),
		cmocka_unit_test(live_claude_lines),
		cmocka_unit_test(live_codex_lines),
		cmocka_unit_test(what_replaces_its_parent_waits_for_the_disk),
		cmocka_unit_test(nothing_is_left_when_it_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
