#include "route/tasktype.h"

#include "route/token.h"

static const char plan_phrases[] =
	"no code yet|no code for now|without code|without changing anything|don't change anything|"
	"don't edit anything|don't write any code|don't implement|do not change anything|"
	"just look|only look|just have a look|read only|don't touch anything|"
	"ändere nichts|ändere noch nichts|ändern sie nichts|schau nur|schau nur mal|nur schauen|"
	"nur anschauen|nur ansehen|nur lesen|fass nichts an|nichts anfassen|"
	"just the idea|just an idea|only the idea|just the plan|only a plan|in theory|"
	"noch keinen code|noch kein code|ohne code|nichts ändern|noch nichts ändern|"
	"ohne etwas zu ändern|nur die idee|nur den plan|nur planen|erst mal nur planen|"
	"noch nicht umsetzen|sans coder|sans rien changer|pas de code|sin código|"
	"sin cambiar nada|todavía sin código|先不写代码|不要改代码|先不要改";

/* Orders to plan that are names of things as well: "the floor plan viewer crashes". */
static const char plan_words[] = "plan|design|architect|sketch|outline|draft|plane|esquisse|diseña";

static const char plan_verbs[] =
	"propose|brainstorm|think about|think through|strategize|come up with|how could we|how "
	"should we|how would we|how would you|"
	"how would you approach|what would be the best way to|what's the best way to|"
	"what is the best way to|plan mal|planen|entwirf|entwerfen|skizzier|skizziere|"
	"überleg|überlege|überlegen|denk darüber nach|konzipiere|konzipieren|wie könnten wir|"
	"wie sollten wir|wie würdest du|wie können wir|wie könnte man|wie würde man|"
	"how could one|how would one|planifie|planifier|conçois|"
	"réfléchis|comment pourrait-on|comment pourrions nous|planifica|planificar|"
	"esboza|piensa|cómo podríamos|计划|规划|设计|想想|构思";

static const char plan_nouns[] =
	"plan|design|proposal|strategy|approach|blueprint|architecture|concept|outline|roadmap|"
	"draft|sketch|konzept|entwurf|vorschlag|vorschläge|strategie|architektur|ansatz|skizze|"
	"stratégie|proposition|ébauche|esquema|propuesta|estrategia|arquitectura|diseño|方案|计划|"
	"设计方案";

static const char edit_verbs[] =
	"implement|fix|build|add|change|update|remove|delete|rename|refactor|rewrite|move|replace|"
	"create|make|write|generate|set|put|run|test|deploy|commit|push|merge|install|convert|"
	"cancel|book|order|buy|send|call|kündige|bestell|bestelle|buch|buche|sende|schick|schicke|"
	"follow|apply|execute|finish|show|give|open|use|improve|correct|repair|setz|setze|"
	"implementier|implementiere|bau|baue|mach|mache|schreib|schreibe|erstell|erstelle|fixe|"
	"beheb|behebe|reparier|repariere|änder|ändere|lösch|lösche|entfern|entferne|füg|füge|"
	"ersetz|ersetze|benenne|verschieb|verschiebe|führ|führe|korrigier|korrigiere|leg|lege|"
	"zeig|zeige|gib|richte|verbesser|verbessere|ajoute|corrige|crée|écris|fais|change|modifie|"
	"supprime|remplace|implémente|montre|donne|añade|arregla|crea|escribe|haz|cambia|modifica|"
	"borra|elimina|implementa|muestra|dame|实现|修复|添加|删除|修改|写";

static const char new_things[] =
	"a|an|some|another|two|three|ein|eine|einen|mir einen|mir ein|mir eine|"
	"me a|me an|us a|uns einen|uns ein|un|une|moi un|moi une|una|unos|一个";
static const char known_things[] = "the|this|that|du|des|au|aux|del|al|zum|zur|im|vom|am|beim|der|"
				   "die|das|den|dem|diesen|diese|dieses|le|la|les|"
				   "l|el|los|las|ce|cette|este|esta|my|our|unser|unseren|mein";
/* What may follow "a plan" when a plan is meant; "a plan page" is a page. */
static const char goes_on[] =
	"for|to|of|how|that|which|on|about|and|with|first|für|wie|zu|zum|zur|von|"
	"um|dafür|der|die|das|und|mit|pour|de|du|des|et|para|sobre|y|que";

/* What an order may come after: "please design", "let's plan", "could you draft". */
static const char order_openers[] =
	"please|pls|kindly|to|let's|lets|us|now|first|just|only|should|could|can|you|ok|okay|yes|"
	"hey|bitte|mal|erst|erstmal|zuerst|jetzt|nur|ja|plaît|d'abord|favor|primero";
static const char joins[] = "and|then|und|dann|et|puis|y|luego";
/* "a plan" is asked for by these alone. */
static const char needs[] = "need|want|like|brauche|brauchen|möchte|möchten|hätte|hätten|veux|"
			    "voudrais|quiero|necesito|about";
static const char says_how_it_is[] = "is|are|was|were|isn't|aren't|does|doesn't|has|ist|sind|war|"
				     "hat|est|sont|es|está";
static const char objects[] = "it|them|this|how|out|for|on|wie|es|das";

enum { OBJECT_WORDS = 5 };

struct lists {
	const struct route_task_words *more;
	const struct token_list *t;
};

static size_t find(const struct lists *l, size_t i, const char *own, const char *more)
{
	size_t n = phrase_at(l->t, i, own);
	size_t m = more && *more ? phrase_at(l->t, i, more) : 0;

	return n > m ? n : m;
}

/* A plan at word i, and nothing that makes another thing of it. */
static bool means_a_plan(const struct lists *l, size_t i)
{
	size_t n = find(l, i, plan_nouns, l->more ? l->more->plan_nouns : NULL);

	if (n == 0)
		return false;
	size_t next = i + n;
	return next >= l->t->v.n || l->t->v.v[next].before || phrase_at(l->t, next, goes_on);
}

/* A word for planning at word i is an order, no thing: it stands where orders do, and what follows
 * is what to plan, not what is wrong with it. */
static bool is_order(const struct lists *l, size_t i)
{
	size_t next = i + 1, n = l->t->v.n;
	bool has_object = next < n &&
		(phrase_at(l->t, next, known_things) || phrase_at(l->t, next, new_things) ||
			phrase_at(l->t, next, objects));

	if (!phrase_at(l->t, i, plan_words))
		return false;
	if (i > 0 && !l->t->v.v[i].before && !phrase_at(l->t, i - 1, order_openers))
		return has_object && phrase_at(l->t, i - 1, joins);
	for (size_t j = next; !has_object && j < n && j < i + OBJECT_WORDS; j++)
		if (phrase_at(l->t, j, says_how_it_is))
			return false;
	return true;
}

/* "a plan for the move", "I need a plan": it is what the sentence asks for. */
static bool asks_for_one(const struct lists *l, size_t i)
{
	size_t article = i > 0 && phrase_at(l->t, i - 1, new_things) ? i - 1 : i;

	return means_a_plan(l, i) &&
		(article == 0 || (article < i && phrase_at(l->t, article - 1, needs)));
}

/* "make me a plan": the object of the verb before word i is a new plan. */
static bool object_is_plan(const struct lists *l, size_t i)
{
	bool fresh = false;

	for (size_t j = i; j < l->t->v.n && j < i + OBJECT_WORDS; j++) {
		if (j > i && l->t->v.v[j].before)
			return false;
		fresh |= phrase_at(l->t, j, new_things) > 0;
		if (phrase_at(l->t, j, known_things))
			return false;
		if (fresh && means_a_plan(l, j))
			return true;
	}
	return false;
}

/* The first word that says what is to be done decides. */
static enum route_task classify(const struct lists *l)
{
	for (size_t i = 0; i < l->t->v.n; i++)
		if (find(l, i, plan_phrases, l->more ? l->more->plan_phrases : NULL))
			return ROUTE_TASK_PLAN;
	for (size_t i = 0; i < l->t->v.n; i++) {
		if (l->t->v.v[i].flags & TOKEN_QUOTED)
			continue;
		bool after_article = i > 0 && phrase_at(l->t, i - 1, known_things);
		if (!after_article &&
			(is_order(l, i) ||
				find(l, i, plan_verbs, l->more ? l->more->plan_verbs : NULL)))
			return ROUTE_TASK_PLAN;
		size_t n = find(l, i, edit_verbs, l->more ? l->more->edit_verbs : NULL);
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
	struct token_list t = TOKENS_INIT;

	phrase_read(&t, sv_head(text, READ_MAX));
	struct lists l = { more, &t };
	enum route_task task = classify(&l);
	tokens_release(&t);
	return task;
}
