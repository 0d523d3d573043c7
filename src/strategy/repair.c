#include "strategy/repair.h"

#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "strategy/repair-facts.h"
#include "transcript/home.h"

static const struct {
	const char *name;
	enum repair_level level;
	const char *effect, *remedy;
} causes[] = {
#define X(id, name, level, effect, remedy) [id] = { name, level, effect, remedy },
	REPAIR_CAUSES(X)
#undef X
};

const char *repair_cause_name(enum repair_cause cause)
{
	return causes[cause].name;
}

const char *repair_cause_effect(enum repair_cause cause)
{
	return causes[cause].effect;
}

const char *repair_cause_remedy(enum repair_cause cause)
{
	return causes[cause].remedy;
}

const char *repair_level_name(enum repair_level level)
{
	static const char *const names[] = {
		[REPAIR_NOTE] = "note",
		[REPAIR_MINOR] = "minor",
		[REPAIR_LOSS] = "loss",
		[REPAIR_BLOCK] = "block",
	};
	return names[level];
}

/* Claude Code reads bytes that are no UTF-8 as replacement characters, misses times only when all
 * are missing, and goes on after errors that another try may pass. */
static enum repair_level claude_level(const struct repair *r, enum repair_cause cause)
{
	if (cause == REPAIR_UTF8)
		return REPAIR_NOTE;
	if (cause == REPAIR_NO_TIME && r->report.findings[cause].count < r->spoken)
		return REPAIR_MINOR;
	if (cause == REPAIR_ERROR_MARK && r->facts.last == FACT_ANSWER_FAILED)
		return REPAIR_NOTE;
	return causes[cause].level;
}

/* Codex passes over what is no object, and loses lines without a time; a session in which nothing
 * was said yet it takes up. */
static enum repair_level codex_level(const struct repair *r, enum repair_cause cause)
{
	const struct facts *f = &r->facts;
	bool headed = f->v.n > 0 && f->v.v[0].flags & FACT_META;
	if (cause == REPAIR_NULL_LINE)
		return REPAIR_MINOR;
	if (cause == REPAIR_NO_TIME)
		return f->v.n > 0 && f->v.v[0].flags & FACT_NO_TIME ? REPAIR_BLOCK : REPAIR_LOSS;
	if (cause == REPAIR_ORDINALS && !r->no_last_ordinal)
		return r->report.reachable < r->report.entries ? REPAIR_LOSS : REPAIR_MINOR;
	if (cause == REPAIR_EMPTY && headed)
		return REPAIR_NOTE;
	return causes[cause].level;
}

/* Whether the agent goes on at a guess where a parent leads nowhere, in a circle, to another entry
 * with the same uuid or to a sub-agent, or is one of those that it cannot read: it may then reach
 * a branch that was left, or what was compacted. Of several results of one call it takes all as
 * long as none is on its way. Codex may not be able to read that it compacted or went back. */
static bool is_guess(const struct repair *r)
{
	static const enum repair_cause guesses[] = { REPAIR_SIDE_PARENT, REPAIR_DUPLICATE_UUID,
		REPAIR_GLUED, REPAIR_BURIED, REPAIR_NUL, REPAIR_CONTROL, REPAIR_NOT_OBJECT,
		REPAIR_NO_UUID };
	bool guess = r->format == TRANSCRIPT_CODEX || r->live.healed > 0 || r->compacted ||
		has_results_twice(&r->facts);
	for (size_t i = 0; i < ARRAY_LEN(guesses); i++)
		guess |= r->report.findings[guesses[i]].count > 0;
	return guess;
}

static void weigh(struct repair *r)
{
	struct repair_report *report = &r->report;
	for (size_t i = 0; i < REPAIR_CAUSE_COUNT; i++) {
		struct repair_finding *finding = &report->findings[i];
		finding->level = r->format == TRANSCRIPT_CODEX
			? codex_level(r, (enum repair_cause)i)
			: claude_level(r, (enum repair_cause)i);
		if (finding->count > 0 && finding->level > report->worst)
			report->worst = finding->level;
	}
	if (report->worst == REPAIR_BLOCK)
		report->reachable = 0;
	if (report->entries < report->reachable && is_guess(r))
		report->reachable = report->entries;
}

static int plan(struct repair *r, struct err *reterr)
{
	int rc = chain_live(r->facts.chain, &r->live, reterr);
	if (rc < 0)
		return rc;
	memcpy(r->report.findings, r->facts.found, sizeof(r->report.findings));
	if (r->facts.unterminated && !r->in_use)
		finding_add(&r->report.findings[REPAIR_NO_NEWLINE], (uint32_t)r->facts.lines);
	r->report.lines = r->facts.lines;
	rc = r->format == TRANSCRIPT_CODEX ? codex_plan(r, reterr) : claude_plan(r, reterr);
	if (rc >= 0)
		weigh(r);
	return rc;
}

int repair_open(const struct repair_opts *opts, struct repair **ret, struct err *reterr)
{
	struct repair *r = xcalloc(1, sizeof(*r));
	struct sv id = transcript_path_id(opts->format, sv_of(opts->path));
	*r = (struct repair){
		.path = xstrdup(opts->path),
		.file_id = xmemdup0(id.n > 0 ? id.p : "", id.n),
		.format = opts->format,
		.in_use = opts->in_use,
		.report = { .format = opts->format },
	};
	struct stat st;
	if (stat(r->path, &st) == 0)
		r->report.bytes = (uint64_t)st.st_size;
	int rc = facts_read(r, opts->threads, reterr);
	if (rc >= 0)
		rc = plan(r, reterr);
	if (rc < 0)
		repair_free(r);
	else
		*ret = r;
	return rc;
}

void repair_free(struct repair *r)
{
	if (!r)
		return;
	facts_release(&r->facts);
	transcript_live_release(&r->live);
	vec_release(&r->pairs);
	vec_release(&r->alone);
	free(r->path);
	free(r->file_id);
	free(r);
}

const struct repair_report *repair_report(const struct repair *r)
{
	return &r->report;
}
