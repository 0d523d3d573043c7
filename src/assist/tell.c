#include "assist/tell.h"

#include <string.h>

#include "base/utf8.h"

static int count_turns(void *data, const struct session_row *row)
{
	int64_t *turns = data;

	if (row->info.turns > *turns)
		*turns = row->info.turns;
	return 1;
}

/* In the session, wherever they were taken: here, in the agent, or before it was trimmed. */
static int64_t turns_of(const struct kit *kit, const struct conv *c)
{
	const struct catalogue_query query = { .agent = c->agent, .id = c->session, .limit = 1 };
	int64_t turns = c->turns;

	if (c->session)
		(void)!catalogue_query(kit->opts.store, &query, count_turns, &turns, NULL);
	return turns;
}

bool tell_greeting(const struct kit *kit, bool fresh, struct conv *ret, struct str *out)
{
	const struct kit_opts *o = &kit->opts;
	const struct decide_opts how = kit_decide_opts(kit, false);
	char ago[CLOCK_TEXT_MAX];
	struct err err = ERR_INIT;

	if (!fresh && !ret->agent && decide_refresh(&how, SV(""), &err) < 0)
		log_write(o->log, LOG_WARN, "sessions: %s", err.msg);
	if (!fresh && !ret->agent && decide_here(&how, ret, out, &err) < 0)
		log_write(o->log, LOG_WARN, "what goes on here: %s", err.msg);
	bool told = out->len > 0;
	if (ret->agent) {
		str_adds(out, told ? " " : "");
		int64_t turns = turns_of(kit, ret);
		bool away = strcmp(ret->dir, kit->dir) != 0;
		const char *back = NULL;
		clock_format_ago(ret->age_ms, ago);
		if (resolve_lost(&kit->where, ret, &back)) {
			str_addf(out, "%s no longer has \"%s\" (%lld %s, %s)", ret->agent,
				conv_label(ret), (long long)turns, turns == 1 ? "turn" : "turns",
				ago);
			if (back)
				str_addf(out, ", but the archive does: %s %s", back, ret->session);
			else
				str_adds(out,
					", nor does the archive: what is said next begins anew.");
			return true;
		}
		str_addf(out, "Going on with %s: \"%s\" (%s%lld %s, %s%s%s%s).", ret->agent,
			conv_label(ret), is_member(ret) ? "begun there, " : "", (long long)turns,
			turns == 1 ? "turn" : "turns", ago, away ? ", in " : "",
			away ? ret->dir : "", is_member(ret) ? "; /new starts another" : "");
		return true;
	}
	if (!told)
		str_addf(out, "A new conversation with %s.", kit->kind->name);
	return told;
}

bool tell_answerer(const struct kit *kit, const struct conv *c, struct str *out)
{
	static const char told[] = "rehearsal introduced";
	AUTO_FREE char *before = NULL;
	bool installed = false;

	if (kit->by_folder && c->turns == 0 && strcmp(c->agent, kit->kind->name) == 0) {
		str_addf(out,
			"%s answers, as it did here last; 'faden config set ai.agent' with a name "
			"chooses for good.",
			c->agent);
		return true;
	}
	if (!kit->by_default || strcmp(c->agent, agent_embedded()->name) != 0 ||
		store_pref_get(kit->opts.store, told, &before, NULL) == 0)
		return false;
	if (store_pref_set(kit->opts.store, told, "yes", NULL) < 0)
		log_write(kit->opts.log, LOG_WARN, "the introduction will be repeated");
	for (size_t i = 0; i < agent_count; i++)
		installed |= agent_table[i].program && kit_has(kit, &agent_table[i]);
	str_addf(out, "The %s agent answers: it only repeats and remembers. For a real one %s ",
		c->agent, installed ? "use --agent" : "install");
	agents_list(out, agent_has_program, installed ? " or --agent " : " or ");
	str_adds(out, installed ? ", or set ai.agent." : " and use --agent, or set ai.agent.");
	return true;
}

void tell_failure(const struct turn_outcome *out, struct str *ret)
{
	bool named = !out->conv.agent;

	for (size_t i = 0; i < agent_count; i++)
		named |= agent_table[i].program &&
			sv_starts(sv_of(out->message), sv_of(agent_table[i].title));
	str_addf(ret, "%s%s%s", named ? "" : out->conv.agent, named ? "" : ": ", out->message);
}

void tell_retry(const struct agent_event *ev, struct str *ret)
{
	enum { LONG_MS = 60 * 1000 };
	char when[CLOCK_TEXT_MAX];

	str_add(ret, ev->text.n ? ev->text : SV("the model does not answer"));
	if (ev->delay_ms <= 0) {
		str_adds(ret, "; trying again");
		return;
	}
	str_addf(ret, "; trying again in %lld s", (long long)((ev->delay_ms + 999) / 1000));
	if (ev->delay_ms < LONG_MS)
		return;
	clock_format_local(clock_wall_ms(NULL) + ev->delay_ms, when);
	str_addf(ret, ", at %s", when);
}

void tell_cancelled(const struct turn_outcome *out, enum text_language language, struct str *ret)
{
	if (out->deeds.len == 0)
		str_adds(ret, text_get(TEXT_CANCELLED, language));
	else
		text_fill(ret, TEXT_CANCELLED_DONE, language, TEXT_WORDS(out->deeds.buf));
	if (out->begun.len > 0) {
		str_adds(ret, " ");
		text_fill(ret, TEXT_CANCELLED_BEGUN, language, TEXT_WORDS(out->begun.buf));
	}
}

void tell_denied(const struct agent_denials *denied, struct str *ret)
{
	enum { SHOWN = 3, COLUMNS = 60 };
	size_t n = denied->list.n;

	for (size_t i = 0; i < n && i < SHOWN; i++) {
		const struct agent_denial *d = &denied->list.v[i];
		str_addf(ret, "%s%s", i ? "; " : "not allowed: ", d->tool);
		str_adds(ret, d->about[0] ? ": " : "");
		utf8_fit(ret, sv_of(d->about), COLUMNS);
	}
	if (n > SHOWN)
		str_addf(ret, "; and %zu more", n - SHOWN);
}
