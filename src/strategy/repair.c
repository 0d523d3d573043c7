#include "strategy/repair.h"

#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "strategy/repair-run.h"
#include "transcript/home.h"

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

/* ---- for the rules ---- */

void report_live(
	struct repair *rep, const struct transcript_live *now, const struct transcript_live *mended)
{
	size_t both = 0;

	for (size_t i = 0; i < (mended->records + 63) / 64; i++)
		both += (size_t)__builtin_popcountll(now->bits[i] & mended->bits[i]);
	rep->report.entries = mended->live;
	rep->report.reachable = both;
	rep->report.left = now->live - both;
}

struct numbers {
	VEC(uint64_t) v; /* sorted */
};

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static bool has(const uint64_t *v, size_t n, uint64_t number)
{
	return n > 0 && bsearch(&number, v, n, sizeof(number), by_number) != NULL;
}

void plan_tools(struct repair *rep, const struct transcript_live *sent,
	bool (*running)(const struct repair *rep, uint32_t call))
{
	struct facts *f = &rep->facts;
	struct numbers calls = { VEC_INIT }, results = { VEC_INIT };

	vec_each (&f->tools, tool)
		if (transcript_is_live(sent, tool->fact))
			vec_push(&(tool->result ? &results : &calls)->v, tool->id);
	vec_sort(&calls.v, by_number);
	vec_sort(&results.v, by_number);
	vec_each (&f->tools, tool) {
		const struct numbers *others = tool->result ? &calls : &results;
		struct fact *fact = &f->v.v[tool->fact];
		if (!transcript_is_live(sent, tool->fact) ||
			has(others->v.v, others->v.n, tool->id) ||
			(!tool->result && rep->in_use && running(rep, tool->fact)))
			continue;
		fact->flags |= tool->result ? FACT_RESULT : FACT_CALL;
		found(rep->report.findings, tool->result ? REPAIR_RESULT_ALONE : REPAIR_CALL_ALONE,
			REPAIR_LOSS, fact->line);
		vec_push(&rep->alone, tool->id);
	}
	vec_sort(&rep->alone, by_number);
	vec_release(&calls.v);
	vec_release(&results.v);
}

bool tool_is_alone(const struct repair *rep, struct jval id)
{
	return has(rep->alone.v, rep->alone.n, fact_hash(&rep->facts, scan_inner(id)));
}

/* ---- the whole ---- */

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

static int look(struct repair *rep, unsigned threads, struct err *reterr)
{
	static const struct repair_rules *const all[] = { &repair_claude, &repair_codex };
	struct stat st;

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (all[i]->format == rep->format)
			rep->rules = all[i];
	if (!rep->rules)
		return err_set(reterr, ERR_INPUT, "%s: repair does not know sessions of %s",
			rep->path, transcript_format_name(rep->format));
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
	r = rep->rules->plan(rep, reterr);
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
