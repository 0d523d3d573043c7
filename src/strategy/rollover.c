#include "strategy/rollover.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "os/file.h"
#include "os/path.h"
#include "strategy/advise.h"
#include "json/write.h"

enum { TITLE_COLUMNS = 120 };

void rollover_release(struct rollover *r)
{
	free(r->path);
	brief_release(&r->brief);
	lineage_release(&r->chain);
	str_release(&r->message);
	vec_release(&r->places);
	*r = (struct rollover)ROLLOVER_INIT;
}

/* ---- the first message ---- */

static const char *label(const struct lineage_node *n)
{
	const char *relation = lineage_relation_name(n);
	return relation[0] ? relation : "original";
}

static void add_row(struct str *out, size_t number, const struct lineage_node *n)
{
	AUTO_STR name = STR_INIT;
	struct sv base = n->path[0] ? path_base(sv_of(n->path)) : sv_of(n->id);
	utf8_scrub_line(&name, base);
	str_addf(out, "%zu. %s (%s%s%s)\n", number, name.buf, label(n),
		n->state == LINEAGE_HERE ? "" : ", ",
		n->state == LINEAGE_HERE ? "" : lineage_state_name(n->state));
}

void rollover_lineage_block(const struct lineage *chain, const char *current, struct str *out)
{
	size_t n = chain->nodes.n;
	size_t from = n > ROLLOVER_LINEAGE_MAX ? n - ROLLOVER_LINEAGE_MAX : 0;
	struct sv name = path_base(sv_of(current));
	str_adds(out, BRIEF_LINEAGE_BEGIN "\nThis session continues from previous work:\n");
	if (from > 0)
		str_addf(out, "(%zu earlier sessions: faden lineage)\n", from);
	for (size_t i = from; i < n; i++)
		add_row(out, i + 1, &chain->nodes.v[i]);
	str_addf(out, "%zu. %.*s (current)\n", n + 1, SV_ARG(name));
	str_adds(out, "\nContext from parent sessions may be relevant.\n" BRIEF_LINEAGE_END "\n");
}

static void add_brief(struct str *out, const struct rollover_opts *opts, const struct rollover *r)
{
	str_addf(out, "\n" BRIEF_STANDS "\nFacts from session %s, gathered without a model.",
		opts->parent->info.id);
	brief_explain(&r->brief, opts->parent->info.path, out);
	str_adds(out, "\n\n");
	brief_render(&r->brief, ROLLOVER_BRIEF_MAX, out);
}

/* A piece of the message that is not ours, under its heading. */
static void add_piece(struct str *out, const char *heading, const char *text, size_t max)
{
	if (!text || !text[0])
		return;
	AUTO_STR clean = STR_INIT;
	utf8_scrub(&clean, utf8_cut(sv_of(text), max));
	str_addf(out, "\n%s\n%.*s\n", heading, SV_ARG(sv_trim(str_sv(&clean))));
}

/* What lists of sessions show: the first words of the first message. */
static void add_title(struct str *out, const struct rollover_opts *opts, const struct brief *b)
{
	AUTO_STR clean = STR_INIT;
	const char *text = opts->prompt && opts->prompt[0] ? opts->prompt : NULL;
	vec_each (&b->facts, fact)
		if (!text && fact->kind == BRIEF_TASK)
			text = fact->text;
	utf8_scrub_line(&clean, utf8_cut(sv_of(text ? text : "the work so far"), BRIEF_TASK_MAX));
	str_adds(out, "Continue: ");
	utf8_fit(out, str_sv(&clean), TITLE_COLUMNS);
	str_adds(out, "\n\n");
}

static void build_message(const struct rollover_opts *opts, struct rollover *r)
{
	add_title(&r->message, opts, &r->brief);
	rollover_lineage_block(&r->chain, r->path, &r->message);
	add_brief(&r->message, opts, r);
	if (opts->summary && opts->summary[0])
		add_piece(&r->message, BRIEF_SUMMARY, opts->summary, ROLLOVER_SUMMARY_MAX);
	else
		add_piece(
			&r->message, BRIEF_SUMMARY_BEFORE, r->brief.summary, ROLLOVER_SUMMARY_MAX);
	add_piece(&r->message, BRIEF_WISH, opts->prompt, ROLLOVER_PROMPT_MAX);
}

/* ---- references ---- */

static int keep_originals(
	const struct rollover_opts *opts, const struct rollover *plan, struct err *reterr)
{
	char key[ARCHIVE_KEY_MAX];
	if (!opts->archive || plan->places.n == 0)
		return 0;
	int rc = archive_keep(opts->archive, opts->parent->info.path, ARCHIVE_GROWING, key, reterr);
	if (rc < 0)
		return rc;
	return recall_add(opts->archive, key, plan->places.v, plan->places.n, reterr);
}

/* ---- where it goes ---- */

/* Beside the parent when both are of one home, else where the agent looks for sessions of the
 * folder. */
static bool same_folder(const struct rollover_opts *opts)
{
	AUTO_FREE char *real = NULL;
	const char *cwd = opts->parent->info.cwd;
	return path_real(cwd, &real, NULL) >= 0 ? strcmp(real, opts->dir) == 0
						: strcmp(cwd, opts->dir) == 0;
}

static char *new_path(const struct rollover_opts *opts, const char *id)
{
	const struct transcript_home *home = opts->target;
	const char *parent = opts->parent->info.path;
	if (home->format == TRANSCRIPT_CODEX)
		return codex_rollout_path(home->root, clock_wall_ms(opts->clock), id);
	AUTO_FREE char *projects = path_join(home->root, "projects");
	AUTO_FREE char *real = NULL;
	const char *top = path_real(projects, &real, NULL) < 0 ? projects : real;
	/* The parent's own folder, whatever the agent calls it, unless the work has moved. */
	if (!path_within(sv_of(parent), sv_of(top)) || !same_folder(opts))
		return claude_session_path(home->root, opts->dir, id);
	struct sv folder = path_parent(sv_of(parent));
	return xasprintf("%.*s/%s.jsonl", SV_ARG(folder), id);
}

/* ---- how much ---- */

/* Bytes of the new session's texts, as they stand in its file. */
static uint64_t bytes_of(const struct rollover *r)
{
	AUTO_STR text = STR_INIT;
	json_quote(&text, str_sv(&r->message));
	json_quote(&text, SV(BRIEF_OWN_ANSWER));
	return text.len;
}

/* What the new session has at its first call, and what that is less than now. */
static void count(struct rollover *r, struct figure before, int64_t base)
{
	enum sure sure = before.sure > r->texts.sure ? before.sure : r->texts.sure;
	int64_t left = base + r->texts.tokens;
	r->before = before;
	r->base = base;
	r->left = (struct figure){ left, sure > SURE_FITTED ? sure : SURE_FITTED };
	r->saved.tokens = before.tokens > left ? before.tokens - left : 0;
	r->saved.sure = r->left.sure;
	r->counted = true;
}

/* Figures are good to have; a session that cannot be measured rolls over all the same. What
 * another agent's own prompt takes is not known. */
static void measure(const struct rollover_opts *opts, struct rollover *r)
{
	const struct session_info *parent = &opts->parent->info;
	const struct advise_opts how = {
		.path = parent->path, .format = parent->format, .clock = opts->clock
	};
	AUTO_ADVICE advice = ADVICE_INIT;
	struct token_ratio ratio = { tokens_assumed_ratio(sv_of(parent->model)), SURE_ASSUMED, 0 };
	bool known = advise_session(&how, &advice, NULL) >= 0 && !advice.empty;
	bool same = parent->format == opts->target->format;

	if (known && same && advice.ratio.sure == SURE_FITTED) {
		ratio = advice.ratio;
		r->bytes_per_token = ratio.bytes;
	}
	r->texts = tokens_of(&ratio, bytes_of(r));
	if (known)
		r->before = advice.context;
	if (known && same) {
		count(r, advice.context, advice.kinds[ADVISE_BASE].tokens);
		r->most = advice.most;
		r->window = advice.window.sure == SURE_EXACT ? advice.window.tokens : 0;
	}
}

/* ---- the work ---- */

int rollover_nothing(const struct session_info *parent, struct err *reterr)
{
	return err_set(reterr, ERR_NOTFOUND,
		"there is nothing to go on from in %s: it holds no prompt and no answer; begin a "
		"new session, or look for a copy of this one: faden repair %s",
		parent->path, parent->id);
}

int rollover_plan(const struct rollover_opts *opts, struct rollover *ret, struct err *reterr)
{
	const struct session_info *parent = &opts->parent->info;
	AUTO_ROLLOVER r = ROLLOVER_INIT;
	if (opts->prompt && strlen(opts->prompt) > ROLLOVER_PROMPT_MAX)
		return err_set(reterr, ERR_LIMIT, "the prompt is longer than %d bytes",
			ROLLOVER_PROMPT_MAX);
	uuid_new(r.id);
	r.path = new_path(opts, r.id);
	int rc = brief_make(parent->path, parent->format, &r.brief, reterr);
	if (rc >= 0 && r.brief.facts.n == 0 && !r.brief.summary)
		return rollover_nothing(parent, reterr);
	if (rc >= 0)
		rc = lineage_chain(
			opts->store, opts->homes, opts->n_homes, opts->parent, &r.chain, reterr);
	if (rc < 0)
		return rc;
	if (opts->archive)
		rollover_refer(opts, &r);
	build_message(opts, &r);
	measure(opts, &r);
	*ret = r;
	r = (struct rollover)ROLLOVER_INIT;
	return 0;
}

static int write_file(const char *path, struct sv lines, struct err *reterr)
{
	struct sv parent = path_parent(sv_of(path));
	AUTO_FREE char *folder = xmemdup0(parent.p, parent.n);
	CLEANUP(file_new_release) struct file_new f = FILE_NEW_INIT;
	int rc = file_mkdirs(folder, reterr);
	if (rc >= 0)
		rc = file_new_open_unnamed(&f, path, 0600, reterr);
	if (rc >= 0)
		rc = file_new_write(&f, lines, reterr);
	return rc < 0 ? rc : file_new_commit_excl(&f, reterr);
}

int rollover_apply(
	const struct rollover_opts *opts, const struct rollover *plan, struct err *reterr)
{
	AUTO_STR lines = STR_INIT;
	int rc = keep_originals(opts, plan, reterr);
	if (rc < 0)
		return rc;
	rollover_lines(opts, plan, &lines);
	return write_file(plan->path, str_sv(&lines), reterr);
}
