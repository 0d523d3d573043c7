#include "assist/tasktype.h"

#include "route/phrase.h"

enum { OBJECT_WORDS = 5 };

struct lists {
	const struct route_task_words *more;
	const struct text *t;
};

static size_t find(const struct lists *l, size_t i, enum phrase_list own, const char *more)
{
	size_t n = phrase_at(l->t, i, own);
	size_t m = more && *more ? phrase_among(l->t, i, more) : 0;

	return n > m ? n : m;
}

/* Nothing is said behind the plan at word i. */
static bool ends_with(const struct lists *l, size_t i)
{
	size_t next = i + find(l, i, PHRASE_PLAN_NOUN, l->more ? l->more->plan_nouns : NULL);

	return next >= l->t->tokens.n || l->t->tokens.v[next].apart;
}

/* A plan at word i, and nothing that makes another thing of it. */
static bool means_a_plan(const struct lists *l, size_t i)
{
	size_t n = find(l, i, PHRASE_PLAN_NOUN, l->more ? l->more->plan_nouns : NULL);

	return n > 0 && (ends_with(l, i) || phrase_at(l->t, i + n, PHRASE_PLAN_FOLLOWS));
}

/* A word for planning at word i is an order, no thing: it stands where orders do, and what follows
 * is what to plan, not what is wrong with it. */
static bool is_order(const struct lists *l, size_t i)
{
	size_t next = i + 1, n = l->t->tokens.n;
	bool has_object = next < n &&
		(phrase_at(l->t, next, PHRASE_THING_KNOWN) ||
			phrase_at(l->t, next, PHRASE_THING_NEW) ||
			phrase_at(l->t, next, PHRASE_OBJECTS));

	if (!phrase_at(l->t, i, PHRASE_PLAN_ORDER))
		return false;
	if (i > 0 && !l->t->tokens.v[i].apart && !phrase_at(l->t, i - 1, PHRASE_ORDER_OPENS))
		return has_object && phrase_at(l->t, i - 1, PHRASE_JOINS);
	for (size_t j = next; !has_object && j < n && j < i + OBJECT_WORDS; j++)
		if (phrase_at(l->t, j, PHRASE_STATES))
			return false;
	return true;
}

/* "a plan for the move", "I need a plan": it is what the sentence asks for. */
static bool asks_for_one(const struct lists *l, size_t i)
{
	size_t article = i > 0 && phrase_at(l->t, i - 1, PHRASE_THING_NEW) ? i - 1 : i;

	return means_a_plan(l, i) &&
		(article == 0 || (article < i && phrase_at(l->t, article - 1, PHRASE_NEEDS)));
}

/* "make me a plan": the object of the verb before word i is a new plan. At the end of a longer
 * name, "a vegetable garden plan", it is a thing like others. */
static bool object_is_plan(const struct lists *l, size_t i)
{
	enum { NAME_WORDS = 2 };
	size_t article = SIZE_MAX;

	for (size_t j = i; j < l->t->tokens.n && j < i + OBJECT_WORDS; j++) {
		if (j > i && l->t->tokens.v[j].apart)
			return false;
		if (phrase_at(l->t, j, PHRASE_THING_NEW))
			article = j;
		if (phrase_at(l->t, j, PHRASE_THING_KNOWN))
			return false;
		if (article != SIZE_MAX && means_a_plan(l, j))
			return j - article <= NAME_WORDS || !ends_with(l, j);
	}
	return false;
}

/* "plan and implement it", "think about the bug and fix it": more than a plan is wanted. */
static bool goes_on_to_edit(const struct lists *l, size_t i)
{
	for (size_t j = i + 1; j + 1 < l->t->tokens.n; j++) {
		size_t n = phrase_at(l->t, j, PHRASE_JOINS);
		if (n > 0 && find(l, j + n, PHRASE_EDIT_VERB, l->more ? l->more->edit_verbs : NULL))
			return true;
	}
	return false;
}

/* The first word that says what is to be done decides. */
static enum route_task classify(const struct lists *l)
{
	for (size_t i = 0; i < l->t->tokens.n; i++)
		if (find(l, i, PHRASE_PLAN_SAID, l->more ? l->more->plan_phrases : NULL))
			return ROUTE_TASK_PLAN;
	for (size_t i = 0; i < l->t->tokens.n; i++) {
		if (l->t->tokens.v[i].quoted)
			continue;
		bool after_article = i > 0 && phrase_at(l->t, i - 1, PHRASE_THING_KNOWN);
		if (!after_article &&
			(is_order(l, i) ||
				find(l, i, PHRASE_PLAN_VERB, l->more ? l->more->plan_verbs : NULL)))
			return goes_on_to_edit(l, i) ? ROUTE_TASK_EDIT : ROUTE_TASK_PLAN;
		size_t n = find(l, i, PHRASE_EDIT_VERB, l->more ? l->more->edit_verbs : NULL);
		if (n)
			return object_is_plan(l, i + n) ? ROUTE_TASK_PLAN : ROUTE_TASK_EDIT;
		if (asks_for_one(l, i))
			return ROUTE_TASK_PLAN;
	}
	return ROUTE_TASK_EDIT;
}

enum route_task route_task_of(struct sv text, const struct route_task_words *more)
{
	enum { READ_MAX = 4096 }; /* what is to be done is said first */
	struct text t = TEXT_INIT;

	phrase_read(&t, sv_head(text, READ_MAX));
	struct lists l = { more, &t };
	enum route_task task = classify(&l);
	text_release(&t);
	return task;
}
