#include "route/correct.h"

#include "route/token.h"

static const char denials[] =
	"no|nope|nah|wrong|stop|wait|sorry|nein|nee|nö|falsch|halt|stopp|moment|"
	"doch|non|faux|attends|espera|mal|不|不是|不对|等等|please|bitte|oh|ach";

static const char fresh[] =
	"new conversation|a new conversation|in a new conversation|start a new conversation|"
	"start a new one|a new one|new one|new session|new topic|that was a new topic|"
	"this is a new topic|that's a new topic|that is a new topic|this is something new|"
	"that was something new|that was something else|this is something else|"
	"that should be a new conversation|make that a new conversation|make it a new conversation|"
	"open a new conversation|that does not belong here|that doesn't belong here|"
	"neues gespräch|ein neues gespräch|neue unterhaltung|eine neue unterhaltung|"
	"neue konversation|eine neue konversation|neuer chat|neues thema|ein neues thema|"
	"das ist ein neues thema|das war ein neues thema|das ist was neues|das war was neues|"
	"das ist was anderes|das war was anderes|in einem neuen gespräch|"
	"in einer neuen unterhaltung|mach ein neues gespräch auf|fang ein neues gespräch an|"
	"starte ein neues gespräch|das gehört nicht hierher|das gehört nicht dazu|"
	"nouvelle conversation|une nouvelle conversation|c est un nouveau sujet|"
	"commence une nouvelle conversation|nueva conversación|una nueva conversación|"
	"es un tema nuevo|empieza una nueva conversación|新对话|新的对话|开始新对话|这是新话题";

static const char other[] =
	"the other one|the other conversation|the other thread|the other session|not that one|"
	"not this one|other conversation|wrong conversation|wrong one|wrong thread|that's the "
	"wrong one|"
	"that's the wrong conversation|the previous one|the previous conversation|the one before|"
	"i meant the other one|i mean the other one|i meant the other conversation|"
	"die andere|das andere|den anderen|die andere unterhaltung|das andere gespräch|"
	"die andere konversation|falsche konversation|die falsche konversation|"
	"das war die falsche konversation|das ist die falsche konversation|das war die falsche|"
	"das war das falsche|die vorige konversation|die vorherige|das vorherige|"
	"der andere faden|nicht die|nicht das|nicht diese|falsches gespräch|falsche unterhaltung|"
	"das falsche gespräch|die falsche unterhaltung|das ist das falsche gespräch|"
	"das war das falsche gespräch|das vorige|das vorige gespräch|die vorige|"
	"das gespräch davor|ich meine die andere|ich meine das andere|ich meinte die andere|"
	"ich meinte das andere|l autre|l autre conversation|pas celle-là|mauvaise conversation|"
	"la otra|la otra conversación|esa no|conversación equivocada|另一个|另一个对话|不是这个";

static const char about[] =
	"go back to the one about|back to the one about|go back to the conversation about|"
	"back to the conversation about|the one about|the conversation about|the thread about|"
	"the one with|the one where we|i meant the one about|i mean the one about|"
	"i meant the conversation about|i mean the conversation about|that belongs to|"
	"this belongs to|that was about|switch to the one about|switch to the conversation about|"
	"geh zurück zu dem über|geh zurück zu der über|geh zurück zu dem mit|"
	"geh zurück zu der mit|geh zurück zur konversation über|zurück zur konversation über|"
	"die konversation über|wechsle zu der über|wechsle zu dem über|"
	"zurück zu dem über|zurück zu der über|zurück zu dem mit|"
	"zurück zu der mit|zurück zum gespräch über|zurück zur unterhaltung über|"
	"geh zurück zum gespräch über|das gespräch über|die unterhaltung über|"
	"ich meine das gespräch über|ich meinte das gespräch über|ich meine die unterhaltung über|"
	"ich meinte die unterhaltung über|ich meine das mit|ich meinte das mit|ich meine die mit|"
	"ich meinte die mit|das mit|die mit|das gehört zu|das gehört zum|das gehört zur|"
	"das war zu|la conversation sur|celle sur|je parle de celle sur|"
	"reviens à celle sur|reviens à la conversation sur|la conversación sobre|la de|"
	"vuelve a la de|vuelve a la conversación sobre|关于|回到关于";

static const char threads[] = "conversation|conversations|thread|session|the one "
			      "about|gespräch|unterhaltung|konversation|"
			      "faden|celle sur|discussion|conversación|对话";

static bool is_whole(const struct token_list *t, size_t from, const char *list)
{
	size_t n = phrase_at(t, from, list);

	if (n == 0)
		return false;
	n += phrase_at(t, from + n, "please|bitte|s il te plaît|por favor");
	return from + n == t->v.n;
}

static enum route_correction classify(const struct token_list *t, size_t from, struct sv *ret_about)
{
	if (is_whole(t, from, fresh) || is_whole(t, 0, fresh))
		return CORRECT_NEW;
	if (is_whole(t, from, other) || is_whole(t, 0, other))
		return CORRECT_OTHER;
	size_t n = phrase_at(t, from, about);
	if (n == 0 || from + n >= t->v.n)
		return CORRECT_NONE;
	n += phrase_at(
		t, from + n, "the|der|die|das|den|dem|le|la|les|l|el|los|las|our|unser|unsere");
	*ret_about = phrase_rest(t, from + n);
	return ret_about->n > 0 ? CORRECT_ABOUT : CORRECT_NONE;
}

enum route_correction route_correct(struct sv text, struct route_correct_words *ret)
{
	enum { LONGEST = 400 }; /* a correction is said in a breath */

	if (text.n > LONGEST)
		return CORRECT_NONE;
	struct token_list t = TOKENS_INIT;
	phrase_read(&t, text);
	size_t from = 0;
	for (size_t denied; (denied = phrase_at(&t, from, denials)) > 0;)
		from += denied;
	struct route_correct_words words = { .denies = from > 0 };
	for (size_t i = 0; i < t.v.n && !words.sure; i++)
		words.sure = phrase_at(&t, i, threads) > 0;
	enum route_correction kind = classify(&t, from, &words.about);
	tokens_release(&t);
	if (ret && kind != CORRECT_NONE)
		*ret = words;
	return kind;
}
