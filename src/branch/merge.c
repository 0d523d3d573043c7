#include "branch/merge.h"

#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "branch/fork.h"
#include "transcript/line.h"
#include "transcript/native.h"

enum { FILES_NAMED = 40, TITLE_COLUMNS = 60 };

#define OWN_ANSWER                                                                          \
	"I have what was found there, and will look at the files as they are now before I " \
	"rely on it."

void merge_report_release(struct merge_report *r)
{
	rewrite_result_release(&r->file);
}

/* ---- where the session ends ---- */

struct tip {
	uint64_t end; /* of its last line that counts */
	struct str uuid; /* Claude: of the record that the next one follows */
	int64_t ordinal; /* Codex: of the next line; negative: lines have none */
	struct str model; /* that answered last */
};

static bool is_said(const struct item *item)
{
	return item->kind == ITEM_USER || item->kind == ITEM_ASSISTANT ||
		item->kind == ITEM_TOOL_CALL || item->kind == ITEM_TOOL_RESULT ||
		item->kind == ITEM_THINKING;
}

static int find_tip(const struct session_part *own, const struct transcript_format *format,
	struct tip *ret, struct err *reterr)
{
	struct transcript_reader *reader = NULL;
	struct item item;
	int64_t ordinal;
	int r = transcript_open(own->path, format, NULL, &reader, reterr);

	while (r >= 0 && (r = transcript_next(reader, &item, reterr)) > 0) {
		/* A last line that is half there is no part of it. */
		if (item.flags & ITEM_UNTERMINATED && item.flags & ITEM_BROKEN)
			continue;
		ret->end = item.offset + item.size;
		if (scan_i64(line_member(item.object, "ordinal"), &ordinal))
			ret->ordinal = ordinal + 1;
		if (!is_said(&item) || !transcript_is_live(&own->live, item.record))
			continue;
		if (item.uuid.n > 0) {
			str_clear(&ret->uuid);
			str_add(&ret->uuid, item.uuid);
		}
		if (item.model.n > 0 && !(item.flags & ITEM_SYNTHETIC)) {
			str_clear(&ret->model);
			str_add(&ret->model, item.model);
		}
	}
	transcript_close(reader);
	return r < 0 ? r : 0;
}

/* ---- what is brought ---- */

struct told {
	struct str prompt, answer;
};

static void told_clear(struct told *t)
{
	str_clear(&t->prompt);
	str_clear(&t->answer);
}

static void told_release(struct told *t)
{
	str_release(&t->prompt);
	str_release(&t->answer);
}

struct merging {
	const struct merge_opts *opts;
	struct merge_report *report;
	struct native_lines lines;
	struct str out; /* lines to be added */
	struct told there, brought, here; /* a turn of the other, what is made of it, one of home */
	struct branch_note note;
};

/* The words of the user, and what was said last: a call means that more is to come. */
static int take_item(void *data, const struct item *item, struct err *reterr UNUSED)
{
	struct told *told = data;
	AUTO_STR text = STR_INIT;

	if (item->flags & ITEM_PROMPT && told->prompt.len == 0)
		transcript_text(item, &told->prompt);
	if (item->kind != ITEM_ASSISTANT || item->flags & (ITEM_FAILED | ITEM_SYNTHETIC))
		return 0;
	transcript_text(item, &text);
	if (transcript_is_filler(str_sv(&text)) || sv_trim(str_sv(&text)).n == 0)
		return 0;
	str_clear(&told->answer);
	str_add(&told->answer, sv_trim(str_sv(&text)));
	return 0;
}

static void add_files(struct str *out, const struct strv *files)
{
	for (size_t i = 0; i < files->n && i < FILES_NAMED; i++) {
		str_adds(out, i ? ", " : "");
		utf8_scrub_line(out, sv_of(files->v[i]));
	}
	if (files->n > FILES_NAMED)
		str_addf(out, " and %zu more", files->n - FILES_NAMED);
}

static void say(struct merging *m, enum item_kind kind, struct sv text)
{
	native_put(&m->lines, &(struct native_item){ .kind = kind, .text = text });
}

/* The turn as it stands at home. ret_mark: how many bytes say where it comes from. */
static void tell_turn(struct merging *m, const struct turn_view *turn, size_t *ret_mark)
{
	struct str *words = &m->brought.prompt, *answer = &m->brought.answer;

	told_clear(&m->brought);
	str_addf(words, "[From another branch: session %s, turn %llu] ", m->opts->other->info.id,
		(unsigned long long)turn->number);
	*ret_mark = words->len;
	str_add(words, str_sv(&m->there.prompt));
	str_add(answer,
		m->there.answer.len ? str_sv(&m->there.answer) : SV("(It was not answered.)"));
	if (turn->calls > 0 || turn->files.n > 0) {
		str_addf(answer, "\n\n[There, with %u call%s of tools", turn->calls,
			turn->calls == 1 ? "" : "s");
		str_adds(answer, turn->files.n > 0 ? "; files changed: " : "");
		add_files(answer, &turn->files);
		str_addc(answer, ']');
	}
}

/* Whether an earlier merge has brought the turn, as it is now: one that has got another answer
 * since is news. 1: it has. */
static int is_home(struct merging *m, size_t mark, struct err *reterr)
{
	const struct turn_views *home = &m->opts->diff->of[DIFF_A];
	const struct sv marked = sv_trim((struct sv){ m->brought.prompt.buf, mark });

	vec_each (&home->v, turn) {
		if (turn->left || !sv_starts(sv_of(turn->head), marked))
			continue;
		told_clear(&m->here);
		int r = turn_view_items(home, turn, take_item, &m->here, reterr);
		if (r < 0)
			return r;
		if (sv_eq(sv_trim(str_sv(&m->here.prompt)), sv_trim(str_sv(&m->brought.prompt))) &&
			sv_eq(str_sv(&m->here.answer), sv_trim(str_sv(&m->brought.answer))))
			return 1;
	}
	return 0;
}

/* What the one who goes on must know of it. */
static void bring_note(struct merging *m)
{
	const struct session_row *other = m->opts->other;
	AUTO_STR title = STR_INIT;
	AUTO_STR clean = STR_INIT;
	AUTO_STR words = STR_INIT;

	utf8_scrub_line(&clean, sv_of(session_title(other)));
	utf8_fit(&title, str_sv(&clean), TITLE_COLUMNS);
	str_addf(&words,
		"[Merged] What is marked so above (%llu turn%s) comes from another branch of this "
		"work, session %s (%s) with %s. It was not done here: only what was asked and what "
		"was concluded has been brought.",
		(unsigned long long)m->report->turns, m->report->turns == 1 ? "" : "s",
		other->info.id, title.buf, other->agent);
	if (m->opts->diff->both.n > 0) {
		str_adds(&words, " Files that both branches have changed: ");
		add_files(&words, &m->opts->diff->both);
		str_adds(&words,
			". What they hold now is what the disk has; the two may not go "
			"together.");
	}
	const struct diff_side *side = m->opts->diff->side;
	if (side[DIFF_B].commands > 0)
		str_addf(&words,
			" Commands in a shell were run there (%llu; %llu here): which files those "
			"changed is not known.",
			(unsigned long long)side[DIFF_B].commands,
			(unsigned long long)side[DIFF_A].commands);
	say(m, ITEM_USER, str_sv(&words));
	say(m, ITEM_ASSISTANT, SV(OWN_ANSWER));
}

static int bring(struct merging *m, struct err *reterr)
{
	const struct session_diff *d = m->opts->diff;

	vec_each (&d->rest, pair) {
		const struct turn_view *turn;
		if (pair->same || pair->at[DIFF_B] == DIFF_NONE)
			continue;
		turn = &d->of[DIFF_B].v.v[pair->at[DIFF_B]];
		if (turn->left || turn->brief)
			continue;
		size_t mark;
		told_clear(&m->there);
		int r = turn_view_items(&d->of[DIFF_B], turn, take_item, &m->there, reterr);
		if (r < 0)
			return r;
		tell_turn(m, turn, &mark);
		r = is_home(m, mark, reterr);
		if (r < 0)
			return r;
		if (r > 0)
			continue;
		say(m, ITEM_USER, str_sv(&m->brought.prompt));
		say(m, ITEM_ASSISTANT, str_sv(&m->brought.answer));
		m->report->turns++;
		m->report->calls += turn->calls;
	}
	if (m->report->turns == 0)
		return err_set(reterr, ERR_NOTFOUND,
			"there is nothing to bring home: session %s has no turn that %s has not",
			m->opts->other->info.id, m->opts->home->info.id);
	bring_note(m);
	m->report->bytes = m->out.len;
	return 0;
}

/* ---- the child ---- */

static int put_tail(void *data, struct str *out, struct err *reterr UNUSED)
{
	const struct merging *m = data;

	str_add(out, str_sv(&m->out));
	return 0;
}

static void put_note(void *data, struct jw *w)
{
	const struct merging *m = data;

	branch_note_put(&m->note, w);
}

static int write_child(struct merging *m, const struct tip *tip, struct err *reterr)
{
	static const struct rewrite_ops ops = { .tail = put_tail, .note = put_note };
	const struct session_info *home = &m->opts->home->info;
	const struct rewrite_opts how = {
		.path = home->path,
		.format = home->format,
		.changes = REWRITE_ID,
		.note_key = SESSION_NOTE_KEY,
		.id = m->lines.id,
		.end = tip->end,
		.dry = m->opts->dry,
		.clock = m->opts->clock,
	};

	return rewrite_session(&how, &ops, m, &m->report->file, reterr);
}

static int check(const struct merge_opts *opts, struct err *reterr)
{
	if (!native_writes(opts->home->info.format))
		return err_set(reterr, ERR_INPUT, "nothing can be added to sessions of %s",
			opts->home->agent);
	if (opts->diff->common == 0 && !opts->ancestor && !opts->unrelated)
		return err_set(reterr, ERR_INPUT,
			"the sessions have no beginning in common, and neither comes from the "
			"other; --unrelated merges them all the same");
	return 0;
}

int merge_sessions(const struct merge_opts *opts, struct merge_report *ret, struct err *reterr)
{
	const struct session_info *home = &opts->home->info;
	const struct session_parts *parts = &opts->diff->of[DIFF_A].parts;
	struct tip tip = { .ordinal = -1, .uuid = STR_INIT, .model = STR_INIT };
	struct merging m = { .opts = opts, .report = ret, .lines = NATIVE_LINES_INIT };
	char id[UUID_TEXT];
	int r = check(opts, reterr);

	if (r >= 0)
		r = find_tip(&parts->v.v[parts->v.n - 1], home->format, &tip, reterr);
	uuid_new(id);
	m.note = (struct branch_note){
		.relation = SESSION_MERGED,
		.id = home->id,
		.path = home->path,
		.other_id = opts->other->info.id,
		.other_path = opts->other->info.path,
		.now_ms = clock_wall_ms(opts->clock),
	};
	m.lines.format = home->format;
	m.lines.out = &m.out;
	m.lines.id = id;
	m.lines.dir = home->cwd;
	m.lines.branch = home->branch;
	m.lines.model = tip.model.len ? tip.model.buf : home->model;
	m.lines.time_ms = m.note.now_ms;
	m.lines.begun = true;
	m.lines.ordinal = tip.ordinal;
	if (tip.uuid.len > 0 && tip.uuid.len < UUID_TEXT)
		memcpy(m.lines.parent, tip.uuid.buf, tip.uuid.len + 1);
	if (r >= 0)
		r = bring(&m, reterr);
	if (r >= 0)
		r = write_child(&m, &tip, reterr);
	str_release(&m.out);
	told_release(&m.there);
	told_release(&m.brought);
	told_release(&m.here);
	str_release(&tip.uuid);
	str_release(&tip.model);
	return r;
}
