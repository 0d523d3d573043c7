/*
 * For tests: lines as the agents write them, in words of our own. Text is given plain and escaped
 * here; raw JSON is taken as it is.
 */
#pragma once

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/test-temp.h"
#include "transcript/home.h"
#include "transcript/transcript.h"
#include "json/write.h"

#define T0 "2026-03-01T10:00:00.000Z"
#define T1 "2026-03-01T10:05:00.500Z"
enum { T0_S = 1772359200 };

static inline void put_string(struct str *out, const char *text)
{
	json_quote(out, sv_of(text));
}

/* The members that chained lines of Claude share; parent NULL is null. */
static inline void claude_head(
	struct str *out, const char *type, const char *uuid, const char *parent)
{
	str_addf(out, "{\"parentUuid\":");
	if (parent)
		put_string(out, parent);
	else
		str_adds(out, "null");
	str_addf(out,
		",\"isSidechain\":false,\"type\":\"%s\",\"uuid\":\"%s\",\"timestamp\":\"" T0
		"\",\"cwd\":\"/work/demo\",\"sessionId\":\"s\",\"gitBranch\":\"main\"",
		type, uuid);
}

static inline UNUSED void claude_user(
	struct str *out, const char *uuid, const char *parent, const char *text)
{
	claude_head(out, "user", uuid, parent);
	str_adds(out, ",\"message\":{\"role\":\"user\",\"content\":");
	put_string(out, text);
	str_adds(out, "}}\n");
}

/* content: raw JSON list of blocks. */
static inline UNUSED void claude_answer(struct str *out, const char *uuid, const char *parent,
	const char *message, const char *content)
{
	claude_head(out, "assistant", uuid, parent);
	str_addf(out,
		",\"message\":{\"id\":\"%s\",\"role\":\"assistant\",\"model\":\"model-a\","
		"\"content\":%s,\"usage\":{\"input_tokens\":7,\"cache_creation_input_tokens\":20,"
		"\"cache_read_input_tokens\":300,\"output_tokens\":5}}}\n",
		message, content);
}

static inline UNUSED void claude_result_of(struct str *out, const char *uuid, const char *parent,
	const char *tool, const char *error, const char *text)
{
	claude_head(out, "user", uuid, parent);
	str_addf(out,
		",\"message\":{\"role\":\"user\",\"content\":[{\"tool_use_id\":\"%s\","
		"\"type\":\"tool_result\",%s\"content\":",
		tool, error);
	put_string(out, text);
	str_adds(out, "}]}}\n");
}

static inline UNUSED void claude_result(
	struct str *out, const char *uuid, const char *parent, const char *tool, const char *text)
{
	claude_result_of(out, uuid, parent, tool, "", text);
}

static inline UNUSED void claude_failed(
	struct str *out, const char *uuid, const char *parent, const char *tool, const char *text)
{
	claude_result_of(out, uuid, parent, tool, "\"is_error\":true,", text);
}

#define TOOL_USE(id) "[{\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"Bash\",\"input\":{}}]"
#define TEXT(words) "[{\"type\":\"text\",\"text\":\"" words "\"}]"

static inline UNUSED void codex_line(struct str *out, const char *type, const char *payload)
{
	str_addf(out, "{\"timestamp\":\"" T0 "\",\"type\":\"%s\",\"payload\":%s}\n", type, payload);
}

static inline UNUSED void codex_message(struct str *out, const char *role, const char *text)
{
	AUTO_STR body = STR_INIT;

	str_addf(&body,
		"{\"type\":\"message\",\"role\":\"%s\",\"content\":[{\"type\":\"%s\",\"text\":",
		role, sv_is(sv_of(role), "assistant") ? "output_text" : "input_text");
	put_string(&body, text);
	str_adds(&body, "}]}");
	codex_line(out, "response_item", body.buf);
}

/* Writes bytes (NULs too) to folder/name. */
static inline UNUSED char *session_write(const char *folder, const char *name, struct sv bytes)
{
	char *path = temp_write(folder, name, "");

	if (file_replace(path, bytes, 0600, NULL) < 0)
		abort();
	return path;
}

/* Scans what is in the file now, going on from what info knows. */
static inline UNUSED void session_scan(struct session_info *info)
{
	struct stat st = { .st_size = 0 };
	AUTO_CLOSE int fd = open(info->path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0 && fstat(fd, &st) == 0);
	assert_int_equal(transcript_scan(fd, (uint64_t)st.st_size, info, NULL), 0);
}

static inline UNUSED void assert_same_info(
	const struct session_info *a, const struct session_info *b)
{
	assert_string_equal(a->id, b->id);
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->cwd, b->cwd);
	assert_string_equal(a->branch, b->branch);
	assert_string_equal(a->prompt, b->prompt);
	assert_string_equal(a->model, b->model);
	assert_string_equal(a->root, b->root);
	assert_string_equal(a->parent_id, b->parent_id);
	assert_string_equal(a->parent_path, b->parent_path);
	assert_int_equal(a->relation, b->relation);
	assert_int_equal(a->flags, b->flags);
	assert_int_equal(a->first_ms, b->first_ms);
	assert_int_equal(a->last_ms, b->last_ms);
	assert_int_equal(a->turns, b->turns);
	assert_int_equal(a->size, b->size);
	assert_int_equal(a->window, b->window);
	assert_memory_equal(&a->usage, &b->usage, sizeof(a->usage));
	assert_memory_equal(&a->mark, &b->mark, sizeof(a->mark));
}

/* A file that grows byte by byte must give what one that is read at once gives. */
static inline UNUSED void check_every_split(const char *folder,
	const struct transcript_format *format, const char *name, struct sv bytes)
{
	AUTO_FREE char *path = session_write(folder, name, bytes);
	struct session_info whole, part;

	session_info_init(&whole, format, path);
	session_scan(&whole);
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	for (size_t cut = 0; cut <= bytes.n; cut++) {
		session_info_init(&part, format, path);
		assert_int_equal(transcript_scan(fd, cut, &part, NULL), 0);
		assert_int_equal(transcript_scan(fd, bytes.n, &part, NULL), 0);
		assert_same_info(&whole, &part);
		session_info_release(&part);
	}
	session_info_release(&whole);
}

static inline UNUSED int folder_setup(void **state)
{
	*state = temp_folder();
	return 0;
}

static inline UNUSED int folder_teardown(void **state)
{
	temp_remove(*state);
	return 0;
}
