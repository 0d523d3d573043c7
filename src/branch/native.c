#include "branch/native.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "os/file.h"
#include "os/path.h"

enum {
	PIECE = 256 * 1024, /* bytes of lines that are written at once */
	HELD_MAX = 64, /* items that wait for the results of calls before them … */
	HELD_BYTES = 4 * 1024 * 1024, /* … and their bytes */
};

#define NO_RESULT "[no result was recorded]"
#define NO_PROMPT "[the session begins here, with an answer]"

struct held {
	struct native_item item; /* its slices are owned by what follows */
	char *text, *tool, *id, *model;
};

struct native {
	struct native_lines lines;
	struct file_new file;
	bool dry;
	int64_t now_ms;
	struct str buf; /* lines on their way to the file */
	struct native_report report;
	struct strv open; /* ids of calls without a result; "" where it has come */
	size_t n_open;
	bool some; /* a result has come for one of them: no call can join them any more */
	VEC(struct held) held;
	size_t held_bytes;
};

void native_report_release(struct native_report *r)
{
	free(TAKE_PTR(r->path));
}

/* ---- to the file ---- */

static int flush(struct native *n, size_t least, struct err *reterr)
{
	if (n->buf.len < least)
		return 0;
	int r = n->dry ? 0 : file_new_write(&n->file, str_sv(&n->buf), reterr);
	n->report.bytes += n->buf.len;
	str_clear(&n->buf);
	return r;
}

static int put(struct native *n, const struct native_item *item, struct err *reterr)
{
	static const struct native_item prompt = { .kind = ITEM_USER,
		.text = { NO_PROMPT, sizeof(NO_PROMPT) - 1 } };

	if (!n->lines.begun)
		n->lines.time_ms = item->time_ms > 0 ? item->time_ms : n->now_ms;
	if (!n->lines.begun && item->kind != ITEM_USER) {
		native_put(&n->lines, &prompt);
		n->report.prompts++;
	}
	native_put(&n->lines, item);
	n->report.prompts += item->kind == ITEM_USER;
	n->report.answers += item->kind == ITEM_ASSISTANT;
	n->report.calls += item->kind == ITEM_TOOL_CALL;
	n->report.results += item->kind == ITEM_TOOL_RESULT;
	return flush(n, PIECE, reterr);
}

/* ---- calls and results ---- */

static void open_clear(struct native *n)
{
	strv_release(&n->open);
	n->n_open = 0;
	n->some = false;
}

static int put_open(struct native *n, const struct native_item *call, struct err *reterr)
{
	strv_addsv(&n->open, call->tool_id);
	n->n_open++;
	return put(n, call, reterr);
}

static void held_release(struct held *h)
{
	free(h->text);
	free(h->tool);
	free(h->id);
	free(h->model);
}

static char *copy(struct sv *s)
{
	char *own = xmemdup0(s->n ? s->p : "", s->n);

	s->p = own;
	return own;
}

static void hold(struct native *n, const struct native_item *item)
{
	struct held h = { .item = *item };

	h.text = copy(&h.item.text);
	h.tool = copy(&h.item.tool);
	h.id = copy(&h.item.tool_id);
	h.model = copy(&h.item.model);
	n->held_bytes += item->text.n;
	vec_push(&n->held, h);
}

/* Calls that are still open have no result: the models refuse a call without one. */
static int end_calls(struct native *n, struct err *reterr)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n->open.n; i++) {
		const struct native_item none = { .kind = ITEM_TOOL_RESULT,
			.text = SV(NO_RESULT),
			.tool_id = sv_of(n->open.v[i]),
			.failed = true };
		if (!n->open.v[i][0])
			continue;
		n->report.unanswered++;
		r = put(n, &none, reterr);
	}
	open_clear(n);
	return r;
}

static int take(struct native *n, const struct native_item *item, struct err *reterr);
static int settle(struct native *n, struct err *reterr);

/* What waited for the last result; calls among it may make the rest wait anew. */
static int release_held(struct native *n, struct err *reterr)
{
	VEC(struct held) waiting = VEC_INIT;
	int r = 0;

	if (n->held.n == 0)
		return 0;
	vec_each (&n->held, h)
		vec_push(&waiting, *h);
	vec_release(&n->held);
	n->held_bytes = 0;
	vec_each (&waiting, h) {
		if (r >= 0)
			r = take(n, &h->item, reterr);
		held_release(h);
	}
	vec_release(&waiting);
	return r;
}

/* The result of a call that is open; false when there is none such. */
static bool close_call(struct native *n, struct sv id)
{
	for (size_t i = 0; i < n->open.n; i++) {
		if (id.n == 0 || !sv_is(id, n->open.v[i]))
			continue;
		n->open.v[i][0] = '\0';
		n->n_open--;
		n->some = true;
		return true;
	}
	return false;
}

static bool held_has(const struct native *n, struct sv id)
{
	vec_each (&n->held, h)
		if (h->item.kind == ITEM_TOOL_CALL && sv_eq(h->item.tool_id, id))
			return true;
	return false;
}

static int take(struct native *n, const struct native_item *item, struct err *reterr)
{
	bool call = item->kind == ITEM_TOOL_CALL, result = item->kind == ITEM_TOOL_RESULT;
	int r = 0;

	if (result && close_call(n, item->tool_id)) {
		r = put(n, item, reterr);
		if (r < 0 || n->n_open > 0)
			return r;
		open_clear(n);
		return release_held(n, reterr);
	}
	if (result && !held_has(n, item->tool_id)) {
		n->report.orphans++;
		return 0;
	}
	if (n->n_open > 0 && call && !n->some && n->held.n == 0)
		return put_open(n, item, reterr);
	/* Words of the user end what was under way. */
	if (n->n_open > 0 && item->kind != ITEM_USER && n->held.n < HELD_MAX &&
		n->held_bytes + item->text.n <= HELD_BYTES) {
		hold(n, item);
		return 0;
	}
	if (n->n_open > 0) {
		r = settle(n, reterr);
		return r < 0 ? r : take(n, item, reterr);
	}
	return call ? put_open(n, item, reterr) : put(n, item, reterr);
}

static int settle(struct native *n, struct err *reterr)
{
	int r = 0;

	/* Each round ends the calls that are open now; what is held grows fewer. */
	while (r >= 0 && (n->n_open > 0 || n->held.n > 0)) {
		r = end_calls(n, reterr);
		if (r >= 0)
			r = release_held(n, reterr);
	}
	return r;
}

int native_add(struct native *n, const struct native_item *item, struct err *reterr)
{
	bool words = item->kind == ITEM_USER || item->kind == ITEM_ASSISTANT;

	if (words && sv_trim(item->text).n == 0)
		return 0;
	return take(n, item, reterr);
}

/* ---- the session ---- */

static struct native *native_new(const struct native_lines *lines)
{
	struct native *n = xcalloc(1, sizeof(*n));

	n->lines = *lines;
	n->file = (struct file_new)FILE_NEW_INIT;
	n->buf = (struct str)STR_INIT;
	n->open = (struct strv)STRV_INIT;
	return n;
}

void native_close(struct native *n)
{
	if (!n)
		return;
	vec_each (&n->held, h)
		held_release(h);
	vec_release(&n->held);
	strv_release(&n->open);
	file_new_release(&n->file);
	str_release(&n->buf);
	native_report_release(&n->report);
	free(n);
}

static int open_file(struct native *n, const struct native_opts *opts, struct err *reterr)
{
	n->report.path = opts->path
		? xstrdup(opts->path)
		: transcript_new_path(opts->home, opts->dir, n->now_ms, n->report.id);
	if (!n->report.path)
		return err_set(reterr, ERR_INPUT, "sessions of %s need a folder of work",
			opts->home->agent);
	AUTO_FREE char *folder = path_folder(n->report.path);
	int r = file_mkdirs(folder, reterr);
	if (r >= 0)
		r = file_new_open_unnamed(&n->file, n->report.path, 0600, reterr);
	n->file.lazy = !opts->durable;
	return r;
}

int native_open(const struct native_opts *opts, struct native **ret, struct err *reterr)
{
	struct native_lines lines = NATIVE_LINES_INIT;

	if (!native_writes(opts->home->format))
		return err_set(reterr, ERR_INPUT, "sessions of %s cannot be written from here",
			opts->home->agent);
	struct native *n = native_new(&lines);
	if (opts->id)
		(void)snprintf(n->report.id, sizeof(n->report.id), "%s", opts->id);
	else
		uuid_new(n->report.id);
	n->lines.format = opts->home->format;
	n->lines.out = &n->buf;
	n->lines.id = n->report.id;
	n->lines.dir = opts->dir;
	n->lines.branch = opts->branch;
	n->lines.model = opts->model;
	n->lines.like = opts->like;
	n->lines.root = opts->home->root;
	n->lines.note_key = opts->note ? SESSION_NOTE_KEY : NULL;
	n->lines.note = opts->note;
	n->lines.data = opts->data;
	n->now_ms = clock_wall_ms(opts->clock);
	n->dry = opts->dry;
	int r = n->dry ? 0 : open_file(n, opts, reterr);
	if (r < 0) {
		native_close(n);
		return r;
	}
	*ret = n;
	return 0;
}

int native_finish(struct native *n, struct native_report *ret, struct err *reterr)
{
	int r = settle(n, reterr);

	if (r >= 0 && !n->lines.begun)
		return err_set(reterr, ERR_NOTFOUND, "nothing was said in it");
	if (r >= 0)
		r = flush(n, 1, reterr);
	if (r >= 0 && !n->dry)
		r = file_new_commit_excl(&n->file, reterr);
	if (r < 0)
		return r;
	*ret = n->report;
	n->report.path = NULL;
	return 0;
}
