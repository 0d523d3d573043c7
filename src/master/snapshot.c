#include "master/snapshot.h"

#include <errno.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "os/file.h"
#include "json/jsonl.h"

/* What stands before each list but the first, and behind the last. */
#define TEXT(literal)                           \
	{                                       \
		"" literal, sizeof(literal) - 1 \
	}
static const struct sv between[PARTS] = {
	TEXT("]},\"worker\":{\"conversationHistory\":[\n"),
	TEXT("]},\"log\":[\n"),
	TEXT("]}\n"),
};
#define HEAD_END ",\"conversationHistory\":[\n"

void snapshot_count(struct snapshot_lists *lists, enum snapshot_part part, size_t line)
{
	/* The comma before all but the first, and the newline. */
	lists->bytes[part] += line + 1 + (lists->count[part] > 0);
	lists->count[part]++;
}

enum snapshot_part snapshot_part_of(const struct master_step *step)
{
	if (step->kind != MASTER_STEP_SESSION && step->kind != MASTER_STEP_ASK &&
		step->kind != MASTER_STEP_ANSWER)
		return PART_LOG;
	return step->role == MASTER_WORKER ? PART_WORKER : PART_INSTRUCTOR;
}

/* ---- the first line ---- */

static void put_time(struct jw *w, const char *key, int64_t ms)
{
	char text[CLOCK_TEXT_MAX];

	clock_format_iso(ms, text);
	jw_put_cstr(w, key, text);
}

static void put_response(struct jw *w, const struct master_state *s)
{
	jw_key(w, "lastInstructorResponse");
	if (s->decided.n == 0) {
		jw_null(w);
		return;
	}
	bool correct = s->decided.act == MASTER_ACT_CORRECT;
	jw_object(w);
	jw_put_cstr(w, "thinking", "");
	jw_put_string(w, "instruction", correct ? SV("") : str_sv(&s->decided.text));
	jw_put_cstr(w, "workerModel", s->decided.model);
	jw_put_bool(w, "shouldContinue", s->decided.act != MASTER_ACT_DONE);
	jw_put_bool(w, "needsCorrection", correct);
	jw_end(w);
}

static void put_head(struct str *out, const struct master_state *s, const struct snapshot_lists *l)
{
	struct jw w = JW_INIT(out);

	jw_object(&w);
	jw_put_cstr(&w, "version", MASTER_VERSION);
	jw_put_cstr(&w, "sessionId", s->id);
	jw_put_cstr(&w, "name", s->name);
	jw_put_cstr(&w, "origin", s->origin);
	if (s->origin) {
		jw_put_cstr(&w, "originHow", master_begin_name(s->origin_how));
		jw_put_i64(&w, "originRound", s->origin_round);
	}
	if (s->origin_other)
		jw_put_cstr(&w, "originOther", s->origin_other);
	put_time(&w, "createdAt", s->created_ms);
	put_time(&w, "lastUpdatedAt", s->updated_ms);
	jw_key(&w, "config");
	master_put_config(&w, &s->config);
	jw_put_i64(&w, "currentRound", s->round);
	master_put_rounds(&w, "remainingRounds", s->remaining);
	jw_put_string(&w, "task", str_sv(&s->task));
	jw_put_string(&w, "lastInstruction", str_sv(&s->instruction));
	put_response(&w, s);
	jw_put_cstr(&w, "stopped", master_stop_name(s->stopped.stop));
	jw_put_i64(&w, "tokensIn", s->tokens_in);
	jw_put_i64(&w, "tokensOut", s->tokens_out);
	jw_put_double(&w, "costUsd", s->cost_usd);
	jw_put_i64(&w, "workedMs", s->worked_ms);
	jw_put_i64(&w, "steps", s->steps);
	jw_key(&w, "layout");
	jw_array(&w);
	for (int i = 0; i < PARTS; i++) {
		jw_i64(&w, (int64_t)l->bytes[i]);
		jw_i64(&w, l->count[i]);
	}
	jw_end(&w);
	jw_key(&w, "instructor");
	jw_object(&w);
	jw_put_string(&w, "systemPrompt", str_sv(&s->side[MASTER_INSTRUCTOR].system_prompt));
	str_adds(out, HEAD_END); /* both objects stay open: the lists follow */
}

enum head_key {
	H_VERSION,
	H_ID,
	H_NAME,
	H_ORIGIN,
	H_ORIGIN_HOW,
	H_ORIGIN_ROUND,
	H_ORIGIN_OTHER,
	H_CREATED,
	H_UPDATED,
	H_CONFIG,
	H_ROUND,
	H_REMAINING,
	H_TASK,
	H_STOPPED,
	H_TOKENS_IN,
	H_TOKENS_OUT,
	H_COST,
	H_WORKED,
	H_STEPS,
	H_LAYOUT,
	H_KEYS
};
static const struct scan_key head_keys[H_KEYS] = {
	[H_VERSION] = SCAN_KEY("version", SCAN_TOP),
	[H_ID] = SCAN_KEY("sessionId", SCAN_TOP),
	[H_NAME] = SCAN_KEY("name", SCAN_TOP),
	[H_ORIGIN] = SCAN_KEY("origin", SCAN_TOP),
	[H_ORIGIN_HOW] = SCAN_KEY("originHow", SCAN_TOP),
	[H_ORIGIN_ROUND] = SCAN_KEY("originRound", SCAN_TOP),
	[H_ORIGIN_OTHER] = SCAN_KEY("originOther", SCAN_TOP),
	[H_CREATED] = SCAN_KEY("createdAt", SCAN_TOP),
	[H_UPDATED] = SCAN_KEY("lastUpdatedAt", SCAN_TOP),
	[H_CONFIG] = SCAN_KEY("config", SCAN_TOP),
	[H_ROUND] = SCAN_KEY("currentRound", SCAN_TOP),
	[H_REMAINING] = SCAN_KEY("remainingRounds", SCAN_TOP),
	[H_TASK] = SCAN_KEY("task", SCAN_TOP),
	[H_STOPPED] = SCAN_KEY("stopped", SCAN_TOP),
	[H_TOKENS_IN] = SCAN_KEY("tokensIn", SCAN_TOP),
	[H_TOKENS_OUT] = SCAN_KEY("tokensOut", SCAN_TOP),
	[H_COST] = SCAN_KEY("costUsd", SCAN_TOP),
	[H_WORKED] = SCAN_KEY("workedMs", SCAN_TOP),
	[H_STEPS] = SCAN_KEY("steps", SCAN_TOP),
	[H_LAYOUT] = SCAN_KEY("layout", SCAN_TOP),
};

static void get_time(struct jval val, int64_t *ret)
{
	AUTO_STR tmp = STR_INIT;

	(void)clock_parse_iso(scan_string_view(val, &tmp), ret);
}

static void get_state(const struct jval *v, struct master_state *s)
{
	AUTO_STR tmp = STR_INIT;
	struct sv name = scan_string_view(v[H_NAME], &tmp);

	master_state_release(s);
	if (name.n)
		s->name = xmemdup0(name.p, name.n);
	struct sv origin = scan_string_view(v[H_ORIGIN], &tmp);
	if (uuid_valid(origin))
		s->origin = xmemdup0(origin.p, origin.n);
	struct sv other = scan_string_view(v[H_ORIGIN_OTHER], &tmp);
	if (uuid_valid(other))
		s->origin_other = xmemdup0(other.p, other.n);
	(void)scan_i64(v[H_ORIGIN_ROUND], &s->origin_round);
	for (int i = 0; i < MASTER_BEGIN_COUNT; i++)
		if (scan_string_eq(v[H_ORIGIN_HOW], sv_of(master_begin_name((enum master_begin)i))))
			s->origin_how = (enum master_begin)i;
	struct sv id = scan_string_view(v[H_ID], &tmp);
	if (uuid_valid(id))
		memcpy(s->id, id.p, id.n);
	get_time(v[H_CREATED], &s->created_ms);
	get_time(v[H_UPDATED], &s->updated_ms);
	master_get_config(v[H_CONFIG], &s->config);
	(void)scan_i64(v[H_ROUND], &s->round);
	s->remaining = master_get_rounds(v[H_REMAINING]);
	(void)scan_string(v[H_TASK], &s->task);
	for (int i = 0; i < MASTER_STOP_COUNT; i++)
		if (scan_string_eq(v[H_STOPPED], sv_of(master_stop_name((enum master_stop)i))))
			s->stopped.stop = (enum master_stop)i;
	(void)scan_i64(v[H_TOKENS_IN], &s->tokens_in);
	(void)scan_i64(v[H_TOKENS_OUT], &s->tokens_out);
	(void)scan_double(v[H_COST], &s->cost_usd);
	(void)scan_i64(v[H_WORKED], &s->worked_ms);
}

/* Six numbers, and the lists they tell of lie within the file. */
static bool get_layout(struct jval val, uint64_t head, struct snapshot *s)
{
	struct scan_iter it = scan_iter(val);
	struct jval item;
	int64_t n[PARTS * 2];
	size_t i = 0;

	while (i < ARRAY_LEN(n) && scan_next(&it, NULL, &item) > 0 && scan_i64(item, &n[i]) &&
		n[i] >= 0)
		i++;
	if (i < ARRAY_LEN(n))
		return false;
	uint64_t at = head;
	for (i = 0; i < PARTS; i++) {
		s->at[i] = at;
		s->lists.bytes[i] = (uint64_t)n[i * 2];
		s->lists.count[i] = n[i * 2 + 1];
		if (s->lists.bytes[i] > s->size)
			return false;
		at += s->lists.bytes[i] + between[i].n;
	}
	return at == s->size;
}

bool master_is_newer(struct sv version)
{
	struct sv first;
	long long major;

	return sv_split(&version, '.', &first) && sv_parse_i64(first, &major) &&
		major > MASTER_VERSION_MAJOR;
}

static bool stands_at(int fd, uint64_t at, struct sv text)
{
	char buf[64];

	return pread(fd, buf, text.n, (off_t)at) == (ssize_t)text.n &&
		memcmp(buf, text.p, text.n) == 0;
}

int snapshot_look(int fd, struct snapshot *ret, struct master_state *state, struct err *reterr)
{
	struct jsonl *lines = jsonl_new(fd, NULL);
	struct snapshot s = { .fd = fd };
	struct jsonl_line line;
	struct jval v[H_KEYS];
	struct stat st;
	AUTO_STR tmp = STR_INIT;

	if (fstat(fd, &st) == 0)
		s.size = (uint64_t)st.st_size;
	int r = jsonl_next(lines, &line, reterr);
	if (r <= 0) {
		jsonl_free(lines);
		return r < 0 ? r : err_set(reterr, ERR_INPUT, "the file is empty");
	}
	(void)scan_keys(line.text, head_keys, H_KEYS, v); /* it ends within the object */
	bool fits = scan_i64(v[H_STEPS], &s.steps) && s.steps > 0 && !line.too_long &&
		get_layout(v[H_LAYOUT], line.size, &s);
	for (int i = 0; fits && i < PARTS; i++)
		fits = stands_at(fd, s.at[i] + s.lists.bytes[i], between[i]);
	s.newer = master_is_newer(scan_string_view(v[H_VERSION], &tmp));
	if (state)
		get_state(v, state);
	jsonl_free(lines);
	*ret = s;
	return fits ? 0 : err_set(reterr, ERR_INPUT, "it is not in the form that faden writes");
}

/* ---- steps ---- */

struct cursor {
	struct jsonl *lines;
	struct sv text; /* the line it stands at, without the comma */
	int64_t n; /* the number on it; 0: at its end */
};

static int advance(struct cursor *c, struct err *reterr)
{
	const struct sv head = SV("{\"n\":");
	struct jsonl_line line;
	int r = jsonl_next(c->lines, &line, reterr);

	c->n = 0;
	if (r <= 0)
		return r;
	c->text = sv_from(line.text, sv_starts(line.text, SV(",")));
	struct sv rest = sv_from(c->text, head.n), number;
	long long n;
	if (!sv_starts(c->text, head) || !sv_split(&rest, ',', &number) ||
		!sv_parse_i64(number, &n) || n < 1)
		return err_set(reterr, ERR_INPUT, "a line in it is no step");
	c->n = n;
	return 0;
}

int snapshot_steps(const struct snapshot *s, master_step_fn fn, void *data, struct err *reterr)
{
	struct cursor cursors[PARTS];
	struct master_step_hold hold;
	struct master_step step;
	int r = 0;

	master_step_hold_init(&hold);
	for (int i = 0; i < PARTS; i++) {
		struct jsonl_opts opts = { .offset = s->at[i],
			.end = s->at[i] + s->lists.bytes[i] };
		/* An end of 0 means that of the file, and no list begins at the first byte. */
		cursors[i] = (struct cursor){ .lines = jsonl_new(s->fd, &opts) };
		if (r == 0)
			r = advance(&cursors[i], reterr);
	}
	for (int64_t n = 1; r == 0 && n <= s->steps; n++) {
		struct cursor *c = cursors;
		while (c < cursors + PARTS && c->n != n)
			c++;
		if (c == cursors + PARTS) {
			r = err_set(reterr, ERR_INPUT, "step %lld is missing", (long long)n);
			break;
		}
		r = master_step_read(c->text, true, &hold, &step, reterr);
		if (r < 0)
			err_prefix(reterr, "step %lld", (long long)n);
		else
			r = fn(data, &step, reterr);
		if (r == 0)
			r = advance(c, reterr);
	}
	for (int i = 0; i < PARTS; i++)
		jsonl_free(cursors[i].lines);
	master_step_hold_release(&hold);
	return r;
}

int journal_steps(int fd, int64_t after, master_step_fn fn, void *data, struct journal_end *ret,
	struct err *reterr)
{
	struct journal_end end = { .steps = after };
	struct jsonl *lines = jsonl_new(fd, NULL);
	struct master_step_hold hold;
	struct master_step step;
	struct jsonl_line line;
	bool bad = false;
	int r;

	master_step_hold_init(&hold);
	while ((r = jsonl_next(lines, &line, reterr)) > 0) {
		struct err e = ERR_INIT;
		end.size = line.offset + line.size;
		/* Without its end it was being written; so was what has no sum, if nothing that
		 * was saved stands behind it. */
		int ok = line.terminated ? master_step_read(line.text, true, &hold, &step, &e)
					 : ERR_INPUT;
		if (ok == ERR_NEWER) {
			r = err_set(reterr, ok, "%s", e.msg);
			break;
		}
		end.damaged |= ok == 0 && step.n > end.steps && (bad || step.n != end.steps + 1);
		bad |= ok < 0 || end.damaged;
		if (bad)
			continue;
		if (step.n > end.steps) {
			end.steps = step.n;
			r = fn ? fn(data, &step, reterr) : 0;
			if (r != 0)
				break;
		}
		end.good = end.size;
	}
	jsonl_free(lines);
	master_step_hold_release(&hold);
	*ret = end;
	return r;
}

/* ---- writing it anew ---- */

struct adding {
	struct file_new *f;
	enum snapshot_part part;
	bool any; /* something stands in the list already */
};

static int copy_piece(void *data, struct sv piece, struct err *reterr)
{
	return file_new_write(data, piece, reterr);
}

static int add_step(void *data, const struct master_step *step, struct err *reterr)
{
	struct adding *a = data;

	if (snapshot_part_of(step) != a->part)
		return 0;
	const struct sv pieces[] = { SV(","), step->line, SV("\n") };
	size_t skip = !a->any;
	a->any = true;
	return file_new_writev(a->f, pieces + skip, ARRAY_LEN(pieces) - skip, reterr);
}

int snapshot_write(const char *path, const struct master_state *state,
	const struct snapshot_lists *lists, const struct snapshot *old, int journal,
	struct err *reterr)
{
	struct file_new f = FILE_NEW_INIT;
	struct journal_end end = { .good = 0 };
	AUTO_STR head = STR_INIT;
	uint64_t at = 0;

	put_head(&head, state, lists);
	int r = file_new_open(&f, path, 0600, reterr);
	if (r == 0)
		r = file_new_write(&f, str_sv(&head), reterr);
	at = head.len;
	for (int i = 0; i < PARTS && r == 0; i++) {
		struct adding a = { .f = &f, .part = (enum snapshot_part)i };
		if (old) {
			a.any = old->lists.count[i] > 0;
			r = jsonl_copy(
				old->fd, old->at[i], old->lists.bytes[i], copy_piece, &f, reterr);
		}
		if (r == 0)
			r = journal_steps(
				journal, old ? old->steps : 0, add_step, &a, &end, reterr);
		if (r == 0)
			r = file_new_write(&f, between[i], reterr);
		at += lists->bytes[i] + between[i].n;
	}
	/* A file that does not have what its first line says could not be read again. */
	if (r == 0 && f.written != at)
		r = err_set(
			reterr, ERR_STORE, "%s: the journal is not what was written to it", path);
	if (r == 0)
		r = file_new_commit(&f, reterr);
	file_new_release(&f);
	return r;
}
