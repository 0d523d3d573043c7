/*
 * A session of two records, as each agent reads it: the message, and a short answer, so that the
 * next prompt follows an answer as the agents expect.
 */
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "strategy/known.h"
#include "strategy/rollover.h"
#include "transcript/line.h"
#include "json/write.h"

static const char answer_text[] = BRIEF_OWN_ANSWER;

struct lines;
/* How a format's session is written. */
struct writer {
	const struct transcript_format *format;
	uint64_t lines; /* how many it has */
	void (*write)(struct lines *l);
};

struct lines {
	const struct writer *writer;
	const struct rollover_opts *opts;
	const struct rollover *plan;
	struct str *out;
	struct jw w;
	int64_t now_ms;
};

static void put_time(struct jw *w, const char *key, int64_t ms)
{
	char text[CLOCK_TEXT_MAX];

	clock_format_iso(ms, text);
	jw_put_cstr(w, key, text);
}

/* The agent counts its own prompt anew; until then this is the best that is known. */
static void put_stats(struct lines *l)
{
	const struct rollover *plan = l->plan;
	const struct known known = {
		.left = plan->left,
		.bytes_per_token = plan->bytes_per_token,
		.base = plan->base,
		.most = plan->most,
		.window = plan->window,
		.lines = l->writer->lines,
	};

	/* Without either, what the file itself shows is as good. */
	if (plan->base == 0 && plan->bytes_per_token <= 0)
		return;
	jw_key(&l->w, "stats");
	jw_object(&l->w);
	jw_put_i64(&l->w, "original_tokens", plan->before.tokens);
	if (plan->counted)
		jw_put_i64(&l->w, "tokens_saved", plan->saved.tokens);
	known_put(&l->w, &known);
	jw_end(&l->w);
}

static void put_note(struct lines *l)
{
	const struct session_info *parent = &l->opts->parent->info;

	jw_key(&l->w, "continue_metadata");
	jw_object(&l->w);
	jw_put_cstr(&l->w, "parent_file", parent->path);
	jw_put_cstr(&l->w, "parent_session_file", parent->path);
	jw_put_cstr(&l->w, "parent_session_id", parent->id);
	put_time(&l->w, "continued_at", l->now_ms);
	jw_put_cstr(&l->w, "continuation_type", "rollover");
	if (strcmp(l->opts->parent->agent, l->opts->target->agent) != 0)
		jw_put_cstr(&l->w, "ported_from", l->opts->parent->agent);
	jw_put_bool(&l->w, "summary_included", l->opts->summary && l->opts->summary[0]);
	put_stats(l);
	jw_end(&l->w);
}

static void begin(struct lines *l)
{
	l->w = (struct jw)JW_INIT(l->out);
	jw_object(&l->w);
}

static void end(struct lines *l)
{
	jw_end(&l->w);
	str_addc(l->out, '\n');
	l->now_ms++;
}

/* ---- Claude Code ---- */

static void claude_head(struct lines *l, const char *type, const char *uuid, const char *parent)
{
	const char *branch = l->opts->parent->info.branch;

	jw_put_cstr(&l->w, "parentUuid", parent);
	jw_put_bool(&l->w, "isSidechain", false);
	jw_put_cstr(&l->w, "userType", "external");
	jw_put_cstr(&l->w, "cwd", l->opts->dir);
	jw_put_cstr(&l->w, "sessionId", l->plan->id);
	if (branch[0])
		jw_put_cstr(&l->w, "gitBranch", branch);
	jw_put_cstr(&l->w, "type", type);
	jw_put_cstr(&l->w, "uuid", uuid);
	put_time(&l->w, "timestamp", l->now_ms);
}

static void claude_answer(struct lines *l, const char *uuid)
{
	static const char *const tokens[] = { "input_tokens", "cache_creation_input_tokens",
		"cache_read_input_tokens", "output_tokens" };
	const struct session_info *parent = &l->opts->parent->info;
	bool same = parent->format == l->opts->target->format && parent->model[0];
	struct jw *w = &l->w;
	AUTO_FREE char *id = xasprintf("msg_%s", uuid);

	jw_key(w, "message");
	jw_object(w);
	jw_put_cstr(w, "id", id);
	jw_put_cstr(w, "type", "message");
	jw_put_cstr(w, "role", "assistant");
	/* The model that answered in the parent goes on; without one it is the agent's to decide.
	 */
	jw_put_cstr(w, "model", same ? parent->model : "<synthetic>");
	jw_key(w, "content");
	jw_array(w);
	jw_object(w);
	jw_put_cstr(w, "type", "text");
	jw_put_cstr(w, "text", answer_text);
	jw_end(w);
	jw_end(w);
	jw_put_cstr(w, "stop_reason", "end_turn");
	jw_put_cstr(w, "stop_sequence", NULL);
	jw_key(w, "usage");
	jw_object(w);
	for (size_t i = 0; i < ARRAY_LEN(tokens); i++)
		jw_put_i64(w, tokens[i], 0);
	jw_end(w);
	jw_end(w);
}

static void claude_lines(struct lines *l)
{
	char question[UUID_TEXT], answer[UUID_TEXT];

	uuid_new(question);
	uuid_new(answer);
	begin(l);
	claude_head(l, "user", question, NULL);
	jw_key(&l->w, "message");
	jw_object(&l->w);
	jw_put_cstr(&l->w, "role", "user");
	jw_put_string(&l->w, "content", str_sv(&l->plan->message));
	jw_end(&l->w);
	put_note(l);
	end(l);
	begin(l);
	claude_head(l, "assistant", answer, question);
	claude_answer(l, answer);
	end(l);
}

/* ---- Codex ---- */

static void codex_begin(struct lines *l, const char *type)
{
	begin(l);
	put_time(&l->w, "timestamp", l->now_ms);
	jw_put_cstr(&l->w, "type", type);
	jw_key(&l->w, "payload");
	jw_object(&l->w);
}

static void codex_end(struct lines *l)
{
	jw_end(&l->w);
	end(l);
}

/* The provider that the first line of a session names; appends. */
static void provider_of(const char *path, struct str *out)
{
	struct transcript_reader *reader = NULL;
	struct item item;

	if (transcript_open(path, TRANSCRIPT_CODEX, NULL, &reader, NULL) >= 0 &&
		transcript_next(reader, &item, NULL) > 0)
		(void)scan_string(
			line_member(line_member(item.object, "payload"), "model_provider"), out);
	transcript_close(reader);
}

/* Codex goes on with no session that does not say whose model answers: the parent's, else whose the
 * user has set. */
static void put_provider(struct lines *l)
{
	const struct session_info *parent = &l->opts->parent->info;
	AUTO_STR provider = STR_INIT;

	if (parent->format == TRANSCRIPT_CODEX)
		provider_of(parent->path, &provider);
	if (provider.len == 0)
		codex_provider(l->opts->target->root, &provider);
	jw_put_string(&l->w, "model_provider", str_sv(&provider));
}

/* The words twice, as Codex does: for the model, and for its own screen. */
static void codex_message(
	struct lines *l, const char *role, const char *block, const char *event, struct sv text)
{
	codex_begin(l, "response_item");
	jw_put_cstr(&l->w, "type", "message");
	jw_put_cstr(&l->w, "role", role);
	jw_key(&l->w, "content");
	jw_array(&l->w);
	jw_object(&l->w);
	jw_put_cstr(&l->w, "type", block);
	jw_put_string(&l->w, "text", text);
	jw_end(&l->w);
	jw_end(&l->w);
	codex_end(l);
	codex_begin(l, "event_msg");
	jw_put_cstr(&l->w, "type", event);
	jw_put_string(&l->w, "message", text);
	codex_end(l);
}

static void codex_lines(struct lines *l)
{
	const char *branch = l->opts->parent->info.branch;

	codex_begin(l, "session_meta");
	jw_put_cstr(&l->w, "id", l->plan->id);
	jw_put_cstr(&l->w, "session_id", l->plan->id);
	put_time(&l->w, "timestamp", l->now_ms);
	jw_put_cstr(&l->w, "cwd", l->opts->dir);
	jw_put_cstr(&l->w, "originator", "faden");
	jw_put_cstr(&l->w, "cli_version", FADEN_VERSION);
	jw_put_cstr(&l->w, "source", "cli");
	put_provider(l);
	if (branch[0]) {
		jw_key(&l->w, "git");
		jw_object(&l->w);
		jw_put_cstr(&l->w, "branch", branch);
		jw_end(&l->w);
	}
	put_note(l);
	codex_end(l);
	codex_message(l, "user", "input_text", "user_message", str_sv(&l->plan->message));
	codex_message(l, "assistant", "output_text", "agent_message", sv_of(answer_text));
}

/* ---- any ---- */

static const struct writer *writer_of(const struct transcript_format *format)
{
	static const struct writer writers[] = {
		{ TRANSCRIPT_CLAUDE, 2, claude_lines },
		{ TRANSCRIPT_CODEX, 5, codex_lines },
	};

	for (size_t i = 0; i < ARRAY_LEN(writers); i++)
		if (writers[i].format == format)
			return &writers[i];
	return NULL;
}

bool rollover_writes(const struct transcript_format *format)
{
	return writer_of(format) != NULL;
}

void rollover_lines(const struct rollover_opts *opts, const struct rollover *plan, struct str *out)
{
	struct lines l = {
		.writer = writer_of(opts->target->format),
		.opts = opts,
		.plan = plan,
		.out = out,
		.now_ms = clock_wall_ms(opts->clock),
	};

	assert(l.writer);
	l.writer->write(&l);
}
