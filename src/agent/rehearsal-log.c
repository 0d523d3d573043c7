#include "agent/rehearsal-log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/path.h"
#include "transcript/home.h"
#include "json/jsonl.h"
#include "json/scan.h"
#include "json/write.h"

enum { K_TYPE, K_UUID, K_MESSAGE, K_CONTENT };
static const struct scan_key keys[] = {
	[K_TYPE] = SCAN_KEY("type", SCAN_TOP),
	[K_UUID] = SCAN_KEY("uuid", SCAN_TOP),
	[K_MESSAGE] = SCAN_KEY("message", SCAN_TOP),
	[K_CONTENT] = SCAN_KEY("content", K_MESSAGE),
};

/* Kept as C strings: a NUL is shown as what cannot be shown. */
static void add_said(struct rehearsal_log *log, struct sv text)
{
	AUTO_STR whole = STR_INIT;
	const char *nul;

	while ((nul = memchr(text.p, '\0', text.n))) {
		str_add(&whole, sv_head(text, (size_t)(nul - text.p)));
		str_adds(&whole, "\xEF\xBF\xBD");
		text = sv_from(text, (size_t)(nul - text.p) + 1);
	}
	str_add(&whole, text);
	strv_addsv(&log->said, str_sv(&whole));
}

static void read_line(struct rehearsal_log *log, struct sv line)
{
	struct jval vals[ARRAY_LEN(keys)];
	AUTO_STR text = STR_INIT;

	if (scan_keys(line, keys, ARRAY_LEN(keys), vals) < 0)
		return;
	if (vals[K_UUID].type == J_STRING && vals[K_UUID].raw.n == UUID_TEXT + 1) {
		memcpy(log->parent, vals[K_UUID].raw.p + 1, UUID_TEXT - 1);
		log->parent[UUID_TEXT - 1] = '\0';
	}
	if (!scan_string_eq(vals[K_TYPE], SV("user")) || vals[K_CONTENT].type != J_STRING)
		return;
	(void)scan_string(vals[K_CONTENT], &text);
	add_said(log, str_sv(&text));
}

static int read_all(struct rehearsal_log *log, bool *ret_exists, struct err *reterr)
{
	struct jsonl *r = NULL;
	struct jsonl_line line;
	int n = jsonl_open(log->path, NULL, &r, reterr);

	*ret_exists = n != -ENOENT;
	if (n < 0)
		return n == -ENOENT ? 0 : n;
	while ((n = jsonl_next(r, &line, reterr)) > 0)
		read_line(log, line.text);
	jsonl_free(r);
	return n;
}

int rehearsal_log_open(struct rehearsal_log *log, const char *home, const char *cwd,
	const char *session, const struct clock *clock, bool *ret_exists, struct err *reterr)
{
	*log = (struct rehearsal_log){ .cwd = cwd, .clock = clock, .said = STRV_INIT };
	(void)snprintf(log->session, sizeof(log->session), "%s", session);
	*ret_exists = false;
	if (!home)
		return 0;
	log->path = claude_session_elsewhere(home, cwd, session);
	if (!log->path)
		log->path = claude_session_path(home, cwd, session);
	return read_all(log, ret_exists, reterr);
}

void rehearsal_log_release(struct rehearsal_log *log)
{
	free(log->path);
	strv_release(&log->said);
	*log = (struct rehearsal_log){ .path = NULL };
}

static void begin_line(struct rehearsal_log *log, struct jw *w, const char *type)
{
	jw_object(w);
	jw_put_cstr(w, "parentUuid", log->parent[0] ? log->parent : NULL);
	jw_put_bool(w, "isSidechain", false);
	jw_put_cstr(w, "type", type);
	jw_key(w, "message");
	jw_object(w);
	jw_put_cstr(w, "role", type);
}

/* id NULL: a new one. */
static void end_line(struct rehearsal_log *log, struct jw *w, const char *id)
{
	char when[CLOCK_TEXT_MAX];

	jw_end(w);
	if (id)
		(void)snprintf(log->parent, sizeof(log->parent), "%s", id);
	else
		uuid_new(log->parent);
	clock_format_iso(clock_wall_ms(log->clock), when);
	jw_put_cstr(w, "uuid", log->parent);
	jw_put_cstr(w, "timestamp", when);
	jw_put_cstr(w, "userType", "external");
	jw_put_cstr(w, "entrypoint", "faden");
	jw_put_cstr(w, "cwd", log->cwd);
	jw_put_cstr(w, "sessionId", log->session);
	jw_put_cstr(w, "version", FADEN_VERSION);
	jw_end(w);
	str_addc(w->out, '\n');
}

/* Claude Code merges lines without a message id into one, and hangs on one without a model. */
static void put_answer_head(struct jw *w, const char *stop_reason)
{
	char id[UUID_TEXT];

	uuid_new(id);
	jw_put_cstr(w, "id", id);
	jw_put_cstr(w, "type", "message");
	jw_put_cstr(w, "model", "rehearsal");
	jw_put_cstr(w, "stop_reason", stop_reason);
	jw_key(w, "content");
	jw_array(w);
	jw_object(w);
}

static int append(struct rehearsal_log *log, struct sv lines, struct err *reterr)
{
	if (!log->path)
		return 0;
	AUTO_FREE char *dir = path_folder(log->path);
	int r = file_mkdirs(dir, reterr);

	return r < 0 ? r : file_append(log->path, lines, true, reterr);
}

int rehearsal_log_user(
	struct rehearsal_log *log, struct sv text, const char *id, struct err *reterr)
{
	AUTO_STR line = STR_INIT;
	struct jw w = JW_INIT(&line);

	begin_line(log, &w, "user");
	jw_put_string(&w, "content", text);
	end_line(log, &w, id);
	int r = append(log, str_sv(&line), reterr);
	if (r == 0)
		add_said(log, text);
	return r;
}

/* As Claude Code marks it: a list, which no prompt of ours is. */
int rehearsal_log_interrupt(struct rehearsal_log *log, struct err *reterr)
{
	AUTO_STR line = STR_INIT;
	struct jw w = JW_INIT(&line);

	begin_line(log, &w, "user");
	jw_put_raw(&w, "content",
		SV("[{\"type\":\"text\",\"text\":\"[Request interrupted by user]\"}]"));
	end_line(log, &w, NULL);
	return append(log, str_sv(&line), reterr);
}

int rehearsal_log_answer(struct rehearsal_log *log, struct sv text, struct err *reterr)
{
	AUTO_STR line = STR_INIT;
	struct jw w = JW_INIT(&line);

	begin_line(log, &w, "assistant");
	put_answer_head(&w, "end_turn");
	jw_put_cstr(&w, "type", "text");
	jw_put_string(&w, "text", text);
	jw_end(&w);
	jw_end(&w);
	end_line(log, &w, NULL);
	return append(log, str_sv(&line), reterr);
}

int rehearsal_log_tool(struct rehearsal_log *log, const char *tool, const char *input,
	const char *output, struct err *reterr)
{
	AUTO_STR lines = STR_INIT;
	struct jw call = JW_INIT(&lines);
	struct jw result = JW_INIT(&lines);
	char id[UUID_TEXT];

	uuid_new(id);
	begin_line(log, &call, "assistant");
	put_answer_head(&call, "tool_use");
	jw_put_cstr(&call, "type", "tool_use");
	jw_put_cstr(&call, "id", id);
	jw_put_cstr(&call, "name", tool);
	jw_key(&call, "input");
	jw_object(&call);
	/* As the tools of these names have it. */
	bool file = strcmp(tool, "Write") == 0 || strcmp(tool, "Edit") == 0;
	jw_put_cstr(&call, file ? "file_path" : "command", input);
	jw_end(&call);
	jw_end(&call);
	jw_end(&call);
	end_line(log, &call, NULL);

	begin_line(log, &result, "user");
	jw_key(&result, "content");
	jw_array(&result);
	jw_object(&result);
	jw_put_cstr(&result, "tool_use_id", id);
	jw_put_cstr(&result, "type", "tool_result");
	jw_put_cstr(&result, "content", output);
	jw_put_bool(&result, "is_error", false);
	jw_end(&result);
	jw_end(&result);
	end_line(log, &result, NULL);
	return append(log, str_sv(&lines), reterr);
}
