#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "os/test-temp.h"
#include "strategy/move.h"

#define OLD "11111111-2222-4333-8444-555555555555"

static const struct clock fixed = { true, INT64_C(1767225600000) };

/* The text with each occurrence of one word by another. */
static void swap(struct str *text, const char *word, const char *by)
{
	AUTO_STR out = STR_INIT;
	struct sv rest = str_sv(text);
	size_t at;

	while (sv_find(rest, sv_of(word), &at)) {
		str_add(&out, sv_head(rest, at));
		str_adds(&out, by);
		rest = sv_from(rest, at + strlen(word));
	}
	str_add(&out, rest);
	str_clear(text);
	str_add(text, str_sv(&out));
}

static void test_moved(void **state)
{
	static const char lines[] =
		"{\"type\":\"user\",\"cwd\":\"/old\",\"sessionId\":\"" OLD "\",\"n\":1}\n"
		"{\"type\":\"user\",\"cwd\":\"/old/s \\u0072c\",\"sessionId\":\"" OLD "\"}\n"
		"{\"type\":\"user\", \"cwd\" : \"/older\", \"text\":\"in /old\"}\n"
		"no json /old\n"
		"{\"type\":\"summary\",\"cwd\":7}\n"
		"{\"cwd\":\"/old\"}";
	AUTO_FREE char *path = temp_write(*state, OLD ".jsonl", lines);
	AUTO_FREE char *to = path_join(*state, "folder");
	struct session_info info;
	CLEANUP(rewrite_result_release) struct rewrite_result copy = REWRITE_RESULT_INIT;
	AUTO_STR got = STR_INIT, want = STR_INIT, before = STR_INIT;
	struct jval whole;

	session_info_init(&info, TRANSCRIPT_CLAUDE, path);
	free(info.cwd);
	info.cwd = xstrdup("/old");
	assert_int_equal(
		move_session(&(struct move_opts){ &info, "/new place", to, &fixed }, &copy, NULL),
		0);
	assert_true(path_within(sv_of(copy.path), sv_of(to)));
	assert_int_equal(file_read(copy.path, SIZE_MAX, &got, NULL), 0);
	/* The note goes into the first line; the rest is known. */
	struct sv rest = str_sv(&got), first;
	assert_true(sv_split(&rest, '\n', &first));
	assert_int_equal(scan_text(first, &whole), 0);
	assert_true(scan_string_eq(line_member(whole, "cwd"), SV("/new place")));
	struct jval note = line_member(whole, SESSION_NOTE_KEY);
	assert_true(scan_string_eq(line_member(note, "relation"), SV("moved")));
	assert_true(scan_string_eq(line_member(note, "parent_id"), SV(OLD)));
	assert_true(scan_string_eq(line_member(note, "parent_file"), sv_of(path)));
	str_adds(&want, strchr(lines, '\n') + 1);
	str_addc(&want, '\n');
	swap(&want, OLD, copy.id);
	swap(&want, "\"/old\"", "\"/new place\"");
	swap(&want, "\"/old/s \\u0072c\"", "\"/new place/s rc\"");
	assert_string_equal(rest.p, want.buf);
	assert_int_equal(file_read(path, SIZE_MAX, &before, NULL), 0);
	assert_string_equal(before.buf, lines);
	session_info_release(&info);
}

/* Where it was begun is not known: nothing but the id changes. */
static void test_folder_not_known(void **state)
{
	AUTO_FREE char *path =
		temp_write(*state, OLD ".jsonl", "{\"cwd\":\"/a\"}\n{\"cwd\":\"/b\"}\n");
	struct session_info info;
	CLEANUP(rewrite_result_release) struct rewrite_result copy = REWRITE_RESULT_INIT;
	AUTO_STR got = STR_INIT;

	session_info_init(&info, TRANSCRIPT_CLAUDE, path);
	assert_int_equal(
		move_session(&(struct move_opts){ &info, "/new", *state, &fixed }, &copy, NULL), 0);
	assert_int_equal(file_read(copy.path, SIZE_MAX, &got, NULL), 0);
	assert_non_null(strstr(got.buf, "{\"cwd\":\"/b\"}\n"));
	assert_null(strstr(got.buf, "/new"));
	session_info_release(&info);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FOLDER(test_moved),
		WITH_FOLDER(test_folder_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
