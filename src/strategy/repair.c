#include "strategy/repair.h"

#include <string.h>
#include <sys/stat.h>

#include "agent/agents.h"
#include "base/mem.h"
#include "strategy/repair-run.h"
#include "transcript/home.h"
#include "transcript/ids.h"

static const struct {
	const char *name, *effect, *remedy;
} causes[] = {
#define X(id, name, effect, remedy) [id] = { name, effect, remedy },
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

/* ---- the plan ---- */

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Calls and results that have no counterpart among what is sent are told as text; the others are
 * nobody's loss. */
static void plan_tools(struct repair *rep, const struct transcript_live *sent)
{
	struct facts *f = &rep->facts;
	struct ids calls = ids_new(&f->tools, id);
	struct ids results = ids_new(&f->tools, id);
	uint32_t number = 0;

	vec_each (&f->tools, tool) {
		number++;
		if (transcript_is_live(sent, tool->fact))
			*ids_slot(tool->result ? &results : &calls, tool->id) = number;
	}
	vec_each (&f->tools, tool) {
		struct fact *fact = &f->v.v[tool->fact];
		if (!transcript_is_live(sent, tool->fact) ||
			*ids_slot(tool->result ? &calls : &results, tool->id) ||
			(!tool->result && rep->in_use && rep->rules->running(rep, tool->fact)))
			continue;
		fact->flags |= tool->result ? FACT_RESULT : FACT_CALL;
		found(rep->report.findings, tool->result ? REPAIR_RESULT_ALONE : REPAIR_CALL_ALONE,
			REPAIR_LOSS, fact->line);
		vec_push(&rep->alone, tool->id);
	}
	vec_each (&f->v, fact)
		if (fact->flags & FACT_COPY)
			fact->flags |= f->v.v[fact->link - 1].flags & FACT_TOOLS;
	vec_sort(&rep->alone, by_number);
	ids_release(&calls);
	ids_release(&results);
}

bool tool_is_alone(const struct repair *rep, struct jval id)
{
	uint64_t hash = fact_hash(&rep->facts, scan_inner(id));

	return rep->alone.n > 0 &&
		bsearch(&hash, rep->alone.v, rep->alone.n, sizeof(hash), by_number);
}

/* What an entry lacks may stand on a line that nobody looked into: then nothing is wrong with it.
 */
static void excuse(struct repair_report *report)
{
	static const enum repair_cause lacks[] = { REPAIR_EMPTY, REPAIR_DANGLING_PARENT,
		REPAIR_NULL_PARENT, REPAIR_WRONG_ORDER, REPAIR_STALE_LEAF, REPAIR_CALL_ALONE,
		REPAIR_RESULT_ALONE, REPAIR_STALE_USAGE, REPAIR_ORDINALS };

	for (size_t i = 0; i < ARRAY_LEN(lacks); i++)
		report->findings[lacks[i]] = (struct repair_finding){ .count = 0 };
	report->reachable = report->entries;
}

/* What is only minor where the agent guesses right is a loss where it does not. */
static void weigh(struct repair_report *report)
{
	static const enum repair_cause guesses[] = { REPAIR_DANGLING_PARENT, REPAIR_SHAPE,
		REPAIR_ORDINALS };

	for (size_t i = 0; i < ARRAY_LEN(guesses); i++) {
		struct repair_finding *finding = &report->findings[guesses[i]];
		if (finding->level == REPAIR_MINOR && report->reachable < report->entries)
			finding->level = REPAIR_LOSS;
	}
	for (size_t i = 0; i < REPAIR_CAUSE_COUNT; i++)
		if (report->findings[i].level > report->worst)
			report->worst = report->findings[i].level;
	if (report->worst == REPAIR_BLOCK)
		report->reachable = 0;
}

static int plan(struct repair *rep, struct err *reterr)
{
	enum {
		MOVED = FACT_UNSEEN | FACT_GONE | FACT_DROP | FACT_PARENT | FACT_UUID |
			FACT_NO_MESSAGE_ID
	};
	const struct repair_rules *rules = rep->rules;
	struct repair_report *report = &rep->report;
	struct transcript_live now = { .bits = NULL }, mended = { .bits = NULL };
	bool moved;

	rules->check(rep);
	if (report->findings[REPAIR_EMPTY].count > 0)
		return 0;
	int r = rules->live(rep, false, &now, reterr);
	if (r < 0)
		return r;
	if (rules->plan)
		rules->plan(rep, &now);
	moved = rep->note_leaf;
	vec_each (&rep->facts.v, fact)
		moved |= (fact->flags & MOVED) != 0;
	if (moved)
		r = rules->live(rep, true, &mended, reterr);
	const struct transcript_live *sent = moved ? &mended : &now;
	for (size_t i = 0; r >= 0 && i < (sent->records + 63) / 64; i++)
		report->reachable += (size_t)__builtin_popcountll(now.bits[i] & sent->bits[i]);
	if (r >= 0) {
		report->entries = sent->live;
		report->left = now.live - report->reachable;
		report->others -= report->others > sent->live ? sent->live : report->others;
		/* The base of a fork may hold the call to a result. */
		if (!rep->facts.based)
			plan_tools(rep, sent);
	}
	transcript_live_release(&now);
	transcript_live_release(&mended);
	return r;
}

static int look(struct repair *rep, unsigned threads, struct err *reterr)
{
	static const struct repair_rules *const all[] = { &repair_claude, &repair_codex };
	struct stat st;

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (all[i]->format == rep->format)
			rep->rules = all[i];
	if (!rep->rules)
		return err_set(reterr, ERR_INPUT, "%s: repair does not know sessions of %s",
			rep->path, agent_of_format(rep->format)->name);
	if (stat(rep->path, &st) == 0)
		rep->report.bytes = (uint64_t)st.st_size;
	int r = facts_read(rep, threads, reterr);
	if (r < 0)
		return r;
	memcpy(rep->report.findings, rep->facts.found, sizeof(rep->report.findings));
	rep->report.lines = rep->facts.lines;
	if (rep->facts.unterminated && !rep->in_use)
		found(rep->report.findings, REPAIR_NO_NEWLINE, REPAIR_MINOR,
			(uint32_t)rep->facts.lines);
	r = plan(rep, reterr);
	if (rep->report.findings[REPAIR_OVERSIZE].count > 0)
		excuse(&rep->report);
	if (r >= 0)
		weigh(&rep->report);
	return r;
}

int repair_open(const struct repair_opts *opts, struct repair **ret, struct err *reterr)
{
	struct sv id = transcript_path_id(opts->format, sv_of(opts->path));
	struct repair *rep = xcalloc(1, sizeof(*rep));

	*rep = (struct repair){
		.path = xstrdup(opts->path),
		.file_id = xmemdup0(id.n > 0 ? id.p : "", id.n),
		.format = opts->format,
		.in_use = opts->in_use,
		.facts = { .ids = STR_INIT },
		.report = { .format = opts->format },
	};
	int r = look(rep, opts->threads, reterr);
	if (r < 0)
		repair_free(rep);
	else
		*ret = rep;
	return r;
}

void repair_free(struct repair *rep)
{
	if (!rep)
		return;
	facts_release(&rep->facts);
	vec_release(&rep->alone);
	free(rep->path);
	free(rep->file_id);
	free(rep);
}

const struct repair_report *repair_report(const struct repair *rep)
{
	return &rep->report;
}

bool report_can_mend(const struct repair_report *report, bool in_place)
{
	if (report->findings[REPAIR_OVERSIZE].count > 0)
		return false;
	for (size_t i = 0; i < REPAIR_CAUSE_COUNT; i++)
		if (report->findings[i].level > REPAIR_NOTE && causes[i].remedy[0] &&
			!(in_place && i == REPAIR_FILE_NAME))
			return report->findings[REPAIR_EMPTY].count == 0;
	return false;
}

bool repair_possible(const struct repair *rep)
{
	return report_can_mend(&rep->report, false);
}
