/*
 * Diagnosis and mending, line by line: what a session is, what must be named, what becomes of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/path.h"
#include "os/test-temp.h"
#include "strategy/repair.h"
#include "transcript/transcript.h"
#include "json/scan.h"

#define ID "11111111-2222-4333-8444-555555555555"
#define TIME "\"timestamp\":\"2026-03-01T10:00:00.000Z\""
#define U(n) "00000000-0000-4000-8000-00000000000" #n
#define Z(n) "00000000-0000-0000-8000-00000000000" #n
#define Q(text) "\"" text "\""

/* Claude Code: parent is raw JSON. */
#define HEAD(type, uuid, parent)                                                \
	"{\"parentUuid\":" parent                                               \
	",\"isSidechain\":false,\"type\":" Q(type) ","                          \
						   "\"uuid\":" Q(uuid) "," TIME \
								       ",\"sessionId\":" Q(ID)
#define USER(uuid, parent, text) \
	HEAD("user", uuid, parent) ",\"message\":{\"role\":\"user\",\"content\":" Q(text) "}}\n"
#define ANSWER_OF(uuid, parent, members, content)          \
	HEAD("assistant", uuid, parent)                    \
	",\"message\":{" members "\"role\":\"assistant\"," \
	"\"content\":" content "}}\n"
#define KNOWN "\"id\":\"m1\",\"model\":\"big\","
#define TEXT(text) "[{\"type\":\"text\",\"text\":" Q(text) "}]"
#define ANSWER(uuid, parent, text) ANSWER_OF(uuid, parent, KNOWN, TEXT(text))
#define CALL(uuid, parent, tool)       \
	ANSWER_OF(uuid, parent, KNOWN, \
		"[{\"type\":\"tool_use\",\"id\":" Q(tool) ",\"name\":\"Bash\",\"input\":{}}]")
#define RESULT(uuid, parent, tool)                                \
	HEAD("user", uuid, parent)                                \
	",\"message\":{\"role\":\"user\",\"content\":[{\"type\":" \
	"\"tool_result\",\"tool_use_id\":" Q(tool) ",\"content\":\"ok\"}]}}\n"
#define TOLD(uuid, parent)                                   \
	HEAD("user", uuid, parent)                           \
	",\"message\":{\"role\":\"user\",\"content\":" TEXT( \
		"[result of a tool whose call is lost]\\nok") "}}\n"
#define CALLS(uuid, parent, tool, other)                          \
	ANSWER_OF(uuid, parent, KNOWN,                            \
		"[{\"type\":\"tool_use\",\"id\":" Q(              \
			tool) ",\"name\":\"Bash\",\"input\":{}}," \
			      "{\"type\":\"tool_use\",\"id\":" Q( \
				      other) ",\"name\":\"Bash\",\"input\":{}}]")
#define ONE USER(U(1), "null", "one")
#define TWO ANSWER(U(2), Q(U(1)), "two")
#define THREE USER(U(3), Q(U(2)), "three")
#define FOUR(parent) ANSWER_OF(U(4), parent, "\"id\":\"m2\",\"model\":\"big\",", TEXT("four"))

#define LEAF(uuid) "{\"type\":\"last-prompt\",\"leafUuid\":" Q(uuid) ",\"sessionId\":" Q(ID) "}\n"
#define TOLD_CALL                                                         \
	"{\"type\":\"text\",\"text\":\"[no result was recorded for this " \
	"call of Bash] {}\"}"

/* Codex */
#define LINE(n, type, payload) \
	"{" TIME ",\"ordinal\":" #n ",\"type\":" Q(type) ",\"payload\":{" payload "}}\n"
#define META(n)                 \
	LINE(n, "session_meta", \
		"\"id\":" Q(ID) ",\"session_id\":" Q(ID) ",\"history_mode\":\"paginated\"")
#define ITEM(n, text)                                                                           \
	LINE(n, "response_item",                                                                \
		"\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\"," \
		"\"text\":" Q(text) "}]")
#define COMPACTED \
	"\"type\":\"compacted\",\"payload\":{\"message\":\"s\",\"replacement_history\":[]}}\n"
#define CODEX_CALL(n, id)                                                                         \
	LINE(n, "response_item",                                                                  \
		"\"type\":\"function_call\",\"name\":\"sh\",\"arguments\":\"{}\",\"call_id\":" Q( \
			id))
#define CODEX_OUTPUT(n, id)      \
	LINE(n, "response_item", \
		"\"type\":\"function_call_output\",\"call_id\":" Q(id) ",\"output\":\"ok\"")

static const struct clock fixed = { true, INT64_C(1767225600000) };

struct test {
	const char *name;
	struct sv before;
	struct sv after; /* mended in place; empty: healthy as it is; "*": it has new ids */
	enum repair_cause cause;
	enum repair_level level;
	size_t reachable, entries;
};

#define CASE(name, before, after, ...)                                                          \
	{                                                                                       \
		name, { before, sizeof(before) - 1 }, { after, sizeof(after) - 1 }, __VA_ARGS__ \
	}

static const struct test claude_tests[] = {
	CASE("healthy", ONE TWO THREE, "", 0, REPAIR_NOTE, 3, 3),
	CASE("calls at the same time are fine",
		ONE CALL(U(2), Q(U(1)), "t1") CALL(U(3), Q(U(2)), "t2") RESULT(U(4), Q(U(2)), "t1")
			RESULT(U(5), Q(U(3)), "t2") USER(U(6), Q(U(5)), "six"),
		"", 0, REPAIR_NOTE, 6, 6),
	CASE("null parent", ONE TWO USER(U(3), "null", "three") FOUR(Q(U(3))),
		ONE TWO THREE FOUR(Q(U(3))), REPAIR_NULL_PARENT, REPAIR_LOSS, 2, 4),
	CASE("dangling parent", ONE TWO USER(U(3), Q(U(9)), "three"), ONE TWO THREE,
		REPAIR_DANGLING_PARENT, REPAIR_MINOR, 3, 3),
	CASE("a circle", USER(U(1), Q(U(2)), "one") TWO THREE, ONE TWO THREE, REPAIR_SHAPE,
		REPAIR_MINOR, 3, 3),
	CASE("uuids that begin with zeros", USER(Z(1), "null", "one") ANSWER(Z(2), Q(Z(1)), "two"),
		"", 0, REPAIR_NOTE, 2, 2),
	CASE("behind its follower, and lost", ONE FOUR(Q(U(3))) USER(U(3), Q(U(9)), "three"),
		ONE FOUR(Q(U(3))) USER(U(3), Q(U(1)), "three") LEAF(U(4)), REPAIR_WRONG_ORDER,
		REPAIR_LOSS, 3, 3),
	CASE("a copy behind its follower, without parent",
		ONE TWO THREE ANSWER(U(2), "null", "two"), ONE TWO THREE TWO LEAF(U(3)),
		REPAIR_NULL_PARENT, REPAIR_LOSS, 1, 3),
	CASE("null line", ONE "null\n" TWO, ONE TWO, REPAIR_SHAPE, REPAIR_BLOCK, 0, 2),
	CASE("an array", ONE "[1]\n" TWO, ONE TWO, REPAIR_SHAPE, REPAIR_MINOR, 2, 2),
	CASE("torn end", ONE TWO "{\"parentUuid\":\"000", ONE TWO, REPAIR_TORN, REPAIR_LOSS, 2, 2),
	CASE("a bracket of the wrong kind", ONE "{\"x\":[1}}\n" TWO, ONE TWO, REPAIR_TORN,
		REPAIR_LOSS, 2, 2),
	CASE("no newline", ONE "{\"type\":\"mode\",\"sessionId\":" Q(ID) "}",
		ONE "{\"type\":\"mode\",\"sessionId\":" Q(ID) "}\n", REPAIR_NO_NEWLINE,
		REPAIR_MINOR, 1, 1),
	CASE("control character", ONE USER(U(2), Q(U(1)), "a\tb"),
		ONE USER(U(2), Q(U(1)), "a\\u0009b"), REPAIR_SHAPE, REPAIR_LOSS, 1, 2),
	CASE("NUL", ONE USER(U(2), Q(U(1)), "a\0b"), ONE USER(U(2), Q(U(1)), "a\\u0000b"),
		REPAIR_NUL, REPAIR_LOSS, 1, 2),
	CASE("invalid UTF-8 is read, if not as it is", ONE USER(U(2), Q(U(1)), "a\xff"), "", 0,
		REPAIR_NOTE, 2, 2),
	CASE("NUL in mid-escape", ONE USER(U(2), Q(U(1)), "a\\\0nb"),
		ONE USER(U(2), Q(U(1)), "a\\u0000nb"), REPAIR_NUL, REPAIR_LOSS, 1, 2),
	CASE("two torn lines",
		ONE "{\"parentUuid\":" Q(U(1)) ",\"uuid\":" Q(
			U(8)) ",\n"
			      "{\"parentUuid\":" Q(U(8)) ",\"uuid\":" Q(U(9)) ",\n" ANSWER(
				      U(2), Q(U(9)), "two"),
		ONE TWO, REPAIR_TORN, REPAIR_LOSS, 2, 2),
	CASE("results of a torn line with calls",
		ONE "{\"parentUuid\":" Q(U(1)) ",\"uuid\":" Q(U(9)) ",\n" ANSWER(
			U(2), Q(U(9)), "two") USER(U(3), Q(U(9)), "three"),
		ONE TWO THREE, REPAIR_TORN, REPAIR_LOSS, 3, 3),
	CASE("torn, and written once more",
		"{\"parentUuid\":null,\"uuid\":" Q(U(1)) ",\n" TWO ONE THREE, TWO ONE THREE,
		REPAIR_TORN, REPAIR_LOSS, 3, 3),
	CASE("no model",
		ONE ANSWER_OF(U(2), Q(U(1)), "\"id\":\"m1\",", TEXT("two")) THREE ANSWER_OF(
			U(4), Q(U(3)), "\"id\":\"m2\",\"model\":\"big\",", TEXT("four")),
		ONE ANSWER_OF(U(2), Q(U(1)), "\"model\":\"big\",\"id\":\"m1\",", TEXT("two"))
			THREE ANSWER_OF(
				U(4), Q(U(3)), "\"id\":\"m2\",\"model\":\"big\",", TEXT("four")),
		REPAIR_SHAPE, REPAIR_BLOCK, 0, 4),
	CASE("an answer as a string", ONE ANSWER_OF(U(2), Q(U(1)), KNOWN, "\"two\""), ONE TWO,
		REPAIR_SHAPE, REPAIR_BLOCK, 0, 2),
	CASE("a result without call, copied",
		ONE RESULT(U(2), Q(U(1)), "t9") RESULT(U(2), Q(U(1)), "t9"),
		ONE TOLD(U(2), Q(U(1))) TOLD(U(2), Q(U(1))), REPAIR_RESULT_ALONE, REPAIR_LOSS, 2,
		2),
	CASE("a wrong tool id beside a right one",
		ONE CALLS(U(2), Q(U(1)), "t1", "t2") RESULT(U(3), Q(U(2)), "t1")
			RESULT(U(4), Q(U(2)), "t9"),
		ONE ANSWER_OF(U(2), Q(U(1)), KNOWN,
			"[{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Bash\",\"input\":{}}"
			"," TOLD_CALL "]") RESULT(U(3), Q(U(2)), "t1") TOLD(U(4), Q(U(2))),
		REPAIR_RESULT_ALONE, REPAIR_LOSS, 4, 4),
	CASE("a wrong tool id", ONE CALL(U(2), Q(U(1)), "t1") RESULT(U(3), Q(U(2)), "t9"),
		ONE ANSWER_OF(U(2), Q(U(1)), KNOWN, "[" TOLD_CALL "]") TOLD(U(3), Q(U(2))),
		REPAIR_CALL_ALONE, REPAIR_LOSS, 3, 3),
	CASE("different entries of one uuid",
		ONE TWO USER(U(1), Q(U(2)), "three") FOUR(Q(U(1))) USER(U(5), Q(U(4)), "five"), "*",
		REPAIR_SHAPE, REPAIR_LOSS, 4, 5),
	CASE("no uuid", ONE ANSWER("", Q(U(1)), "two") USER(U(3), Q(U(9)), "three"), "*",
		REPAIR_SHAPE, REPAIR_LOSS, 2, 3),
	CASE("a parent of a sub-agent",
		ONE "{\"parentUuid\":null,\"isSidechain\":true,\"type\":\"user\",\"uuid\":" Q(
			U(8)) "," TIME
			      ",\"sessionId\":" Q(ID) ",\"message\":{\"role\":\"user\",\"content\":"
						      "\"side\"}}\n" ANSWER(U(2), Q(U(8)), "two"),
		ONE "{\"parentUuid\":null,\"isSidechain\":true,\"type\":\"user\",\"uuid\":" Q(
			U(8)) "," TIME ",\"sessionId\":" Q(ID) ",\"message\":{\"role\":\"user\","
							       "\"content\":\"side\"}}\n" TWO,
		REPAIR_SHAPE, REPAIR_LOSS, 1, 2),
	CASE("a stale note", ONE TWO THREE LEAF(U(3)) FOUR(Q(U(2))),
		ONE TWO THREE LEAF(U(3)) FOUR(Q(U(2))) LEAF(U(4)), REPAIR_STALE_LEAF, REPAIR_LOSS,
		2, 3),
	CASE("a note that was chosen", ONE TWO THREE FOUR(Q(U(2))) LEAF(U(3)), "", 0, REPAIR_NOTE,
		3, 3),
	CASE("no message", ONE HEAD("assistant", U(2), Q(U(1))) "}\n" USER(U(3), Q(U(2)), "three"),
		ONE USER(U(3), Q(U(1)), "three"), REPAIR_SHAPE, REPAIR_BLOCK, 0, 2),
};

static const struct test codex_tests[] = {
	CASE("healthy", META(0) ITEM(1, "one") ITEM(2, "two"), "", 0, REPAIR_NOTE, 2, 2),
	CASE("ordinals twice", META(0) ITEM(1, "one") ITEM(1, "two"),
		META(0) ITEM(1, "one") ITEM(2, "two"), REPAIR_ORDINALS, REPAIR_MINOR, 2, 2),
	CASE("no last ordinal",
		META(0) ITEM(1, "one") "{" TIME ",\"type\":\"event_msg\",\"payload\":{}}\n",
		META(0) ITEM(1, "one") "{\"ordinal\":2," TIME
				       ",\"type\":\"event_msg\",\"payload\":{}}\n",
		REPAIR_ORDINALS, REPAIR_BLOCK, 0, 1),
	CASE("invalid UTF-8", META(0) ITEM(1, "a\xff"), META(0) ITEM(1, "a\xef\xbf\xbd"),
		REPAIR_UTF8, REPAIR_LOSS, 0, 1),
	CASE("a header without id", LINE(0, "session_meta", "") ITEM(1, "one"),
		LINE(0, "session_meta", "\"id\":" Q(ID)) ITEM(1, "one"), REPAIR_SESSION_ID,
		REPAIR_LOSS, 1, 1),
	CASE("null line", META(0) "null\n" ITEM(1, "one"), META(0) ITEM(1, "one"), REPAIR_SHAPE,
		REPAIR_MINOR, 1, 1),
	CASE("torn end", META(0) ITEM(1, "one") "{\"timestamp\":", META(0) ITEM(1, "one"),
		REPAIR_TORN, REPAIR_LOSS, 1, 1),
	CASE("a call and its output", META(0) CODEX_CALL(1, "c1") CODEX_OUTPUT(2, "c1"), "", 0,
		REPAIR_NOTE, 2, 2),
	CASE("of several entries on a line none is read",
		META(0) ITEM(1, "one") "{" TIME ",\"ordinal\":2,\"type\":\"response_item\","
				       "\"payload\":{\"type\":\"message\",\"role\":\"assistant\","
				       "\"content\":[]}}" ITEM(3, "three"),
		META(0) ITEM(1, "one") "{" TIME ",\"ordinal\":2,\"type\":\"response_item\","
				       "\"payload\":{\"type\":\"message\",\"role\":\"assistant\","
				       "\"content\":[]}}\n" ITEM(3, "three"),
		REPAIR_GLUED, REPAIR_LOSS, 1, 3),
	CASE("a compaction without time",
		META(0) ITEM(1, "one") ITEM(2, "two") "{\"ordinal\":3," COMPACTED,
		META(0) ITEM(1, "one") ITEM(2, "two") "{" TIME ",\"ordinal\":3," COMPACTED,
		REPAIR_SHAPE, REPAIR_LOSS, 0, 1),
	CASE("glued", META(0) ITEM(1, "one") "{\"a\":1}" ITEM(2, "two"),
		META(0) ITEM(1, "one") "{\"a\":1}\n" ITEM(2, "two"), REPAIR_GLUED, REPAIR_LOSS, 1,
		2),
};

static void check(const struct test *t, const struct transcript_format *format)
{
	char *dir = temp_folder();
	AUTO_FREE char *path = path_join(dir,
		format == TRANSCRIPT_CODEX ? "rollout-2026-03-01T10-00-00-" ID ".jsonl"
					   : ID ".jsonl");
	const struct repair_opts opts = { .path = path, .format = format };
	const struct repair_write how = { .in_place = true, .clock = &fixed };
	struct repair_result result = REPAIR_RESULT_INIT;
	struct repair *r = NULL;
	AUTO_STR text = STR_INIT;

	print_message("%s\n", t->name);
	assert_int_equal(file_replace(path, t->before, 0600, NULL), 0);
	assert_int_equal(repair_open(&opts, &r, NULL), 0);
	const struct repair_report *report = repair_report(r);
	assert_int_equal(report->reachable, t->reachable);
	assert_int_equal(report->entries, t->entries);
	assert_int_equal(report->worst, t->level);
	assert_int_equal(repair_possible(r), t->after.n > 0);
	if (t->after.n > 0) {
		assert_int_equal(report->findings[t->cause].level, t->level);
		assert_true(report->findings[t->cause].count > 0);
		assert_int_equal(repair_apply(r, &how, &result, NULL), 0);
		assert_true(repair_healthy(&result.report));
		assert_int_equal(result.report.reachable, t->entries);
		assert_int_equal(file_read(path, SIZE_MAX, &text, NULL), 0);
		if (!sv_is(t->after, "*")) {
			assert_int_equal(text.len, t->after.n);
			assert_memory_equal(text.buf, t->after.p, t->after.n);
		}
	}
	repair_result_release(&result);
	repair_free(r);
	temp_remove(dir);
}

static void claude(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(claude_tests); i++)
		check(&claude_tests[i], TRANSCRIPT_CLAUDE);
}

static void codex(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(codex_tests); i++)
		check(&codex_tests[i], TRANSCRIPT_CODEX);
}

/* Also where a message has more blocks than are kept, none of them is overlooked. */
static void many_blocks(void **state)
{
	static const size_t numbers[] = { 20 * 1000, SCAN_ROWS_MAX };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		AUTO_STR text = STR_INIT;
		str_adds(&text, ONE CALL(U(2), Q(U(1)), "t1"));
		str_adds(&text,
			HEAD("user", U(3),
				Q(U(2))) ",\"message\":{\"role\":\"user\",\"content\":[");
		for (size_t n = 0; n < numbers[i]; n++)
			str_adds(&text, "{\"type\":\"text\",\"text\":\"x\"},");
		str_adds(&text,
			"{\"type\":\"tool_result\",\"tool_use_id\":\"t1\",\"content\":\"ok\"}]}}"
			"\n");
		const struct test t = {
			.name = "many blocks", .before = str_sv(&text), .reachable = 3, .entries = 3
		};
		check(&t, TRANSCRIPT_CLAUDE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(claude),
		cmocka_unit_test(codex),
		cmocka_unit_test(many_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
