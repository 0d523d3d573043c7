/*
 * A brief of a session that began with one: what the earlier brief said goes on.
 */
#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "strategy/brief-impl.h"

enum {
	LINEAGE_WITHIN = 4096, /* bytes of a message in which the block must begin */
};

bool brief_is_rollover(struct sv text)
{
	size_t at;
	struct sv head = sv_head(text, LINEAGE_WITHIN);
	return sv_find(head, SV(BRIEF_LINEAGE_BEGIN "\n"), &at) &&
		(at == 0 || text.p[at - 1] == '\n') &&
		sv_find(text, SV("\n" BRIEF_LINEAGE_END "\n"), NULL);
}

/* One item of a section: its first line without the mark, and the lines below it. */
struct carried {
	struct str text;
	char ref[BRIEF_REF];
};

/* Takes " [0123456789abcdef]" off the end. References of other kinds mean nothing any more. */
static void split_ref(struct carried *item)
{
	struct sv s = str_sv(&item->text);
	size_t open = s.n;
	item->ref[0] = '\0';
	if (s.n == 0 || s.p[s.n - 1] != ']')
		return;
	while (open > 0 && s.p[open - 1] != '[')
		open--;
	if (open < 2 || s.p[open - 2] != ' ')
		return;
	struct sv ref = sv_make(s.p + open, s.n - open - 1);
	bool hex = ref.n == BRIEF_REF - 1;
	for (size_t i = 0; i < ref.n; i++)
		hex = hex && isxdigit((unsigned char)ref.p[i]);
	if (hex)
		memcpy(item->ref, ref.p, ref.n);
	item->ref[hex ? ref.n : 0] = '\0';
	str_cut(&item->text, open - 2);
}

static struct brief_fact fact_of(
	const struct carried *item, enum brief_kind kind, struct brief_place place)
{
	bool lines = kind == BRIEF_TASK || kind == BRIEF_FIRST;
	struct sv text = sv_from(str_sv(&item->text), strlen(brief_prefix(kind)));
	struct brief_fact fact =
		brief_fact_new(kind, text, lines ? BRIEF_TASK_MAX : BRIEF_TEXT_MAX, lines, place);
	memcpy(fact.ref, item->ref, sizeof(fact.ref));
	return fact;
}

static void keep(struct brief_collect *c, const struct carried *item, enum brief_kind kind,
	struct brief_place place)
{
	struct sv text = str_sv(&item->text);
	if (kind == BRIEF_DECISION) {
		brief_ring_push(&c->decisions, fact_of(item, kind, place));
	} else if (kind == BRIEF_CHANGED) {
		struct brief_known *k = brief_know(&c->files, text);
		if (!k)
			return;
		k->changes++;
		k->place = place;
		memcpy(k->ref, item->ref, sizeof(k->ref));
	} else if (sv_starts(text, sv_of(brief_prefix(BRIEF_FIRST)))) {
		brief_fact_clear(&c->first);
		c->first = fact_of(item, BRIEF_FIRST, place);
	} else if (sv_starts(text, sv_of(brief_prefix(BRIEF_TASK)))) {
		brief_fact_clear(&c->task);
		c->task = fact_of(item, BRIEF_TASK, place);
	}
}

static bool kind_of_heading(struct sv line, enum brief_kind *ret)
{
	static const enum brief_kind kinds[] = { BRIEF_TASK, BRIEF_DECISION, BRIEF_CHANGED };
	*ret = BRIEF_KINDS;
	if (!sv_starts(line, SV("## ")))
		return sv_starts(line, SV("# "));
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (sv_is(sv_from(line, 3), brief_heading(kinds[i])))
			*ret = kinds[i];
	return true;
}

static void end_item(struct brief_collect *c, struct carried *item, enum brief_kind kind,
	struct brief_place place)
{
	if (item->text.len > 0 && kind != BRIEF_KINDS) {
		split_ref(item);
		keep(c, item, kind, place);
	}
	str_clear(&item->text);
}

static void take_sections(struct brief_collect *c, struct sv text, struct brief_place place)
{
	struct carried item = { .text = STR_INIT };
	enum brief_kind kind = BRIEF_KINDS, next;
	struct sv line;
	while (sv_split(&text, '\n', &line)) {
		if (kind_of_heading(line, &next)) {
			end_item(c, &item, kind, place);
			kind = next;
		} else if (sv_starts(line, SV("- "))) {
			end_item(c, &item, kind, place);
			str_add(&item.text, sv_from(line, 2));
		} else if (item.text.len > 0 && sv_starts(line, SV("  "))) {
			str_addc(&item.text, '\n');
			str_add(&item.text, sv_from(line, 2));
		}
	}
	end_item(c, &item, kind, place);
	str_release(&item.text);
}

void brief_take_rollover(struct brief_collect *c, const struct item *item)
{
	size_t at;
	struct sv text = str_sv(&c->text);
	struct brief_place place = brief_place_of(item);
	bool wish = sv_find(text, SV("\n" BRIEF_WISH "\n"), &at);
	take_sections(c, wish ? sv_head(text, at) : text, place);
	if (!wish)
		return;
	if (c->task.text && !c->first.text) {
		c->first = c->task;
		c->first.kind = BRIEF_FIRST;
	} else {
		brief_fact_clear(&c->task);
	}
	struct sv words = sv_from(text, at + 1 + strlen(BRIEF_WISH));
	c->task = brief_fact_new(BRIEF_TASK, words, BRIEF_TASK_MAX, true, place);
	c->turns++;
}
