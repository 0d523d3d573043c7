#include "view/json.h"

#include "archive/archive.h"
#include "assist/assistant.h"
#include "assist/decide.h"
#include "assist/tell.h"
#include "base/clock.h"

/* ---- members ---- */

void view_put_text(struct jw *w, const char *key, const char *text)
{
	jw_put_cstr(w, key, text && text[0] ? text : NULL);
}

void view_put_time(struct jw *w, const char *key, int64_t ms)
{
	char text[CLOCK_TEXT_MAX];

	clock_format_iso(ms, text);
	jw_put_cstr(w, key, ms ? text : NULL);
}

void view_put_count(struct jw *w, const char *key, int64_t n, bool known)
{
	jw_key(w, key);
	if (known)
		jw_i64(w, n);
	else
		jw_null(w);
}

void view_put_strings(struct jw *w, const char *key, const struct strv *list)
{
	jw_key(w, key);
	jw_array(w);
	for (size_t i = 0; i < list->n; i++)
		jw_string(w, sv_of(list->v[i]));
	jw_end(w);
}

void view_put_figure(struct jw *w, const char *key, const struct figure *f)
{
	jw_key(w, key);
	if (!f) {
		jw_null(w);
		return;
	}
	jw_object(w);
	jw_put_i64(w, "tokens", f->tokens);
	jw_put_cstr(w, "sure", sure_name(f->sure));
	jw_end(w);
}

void view_put_parent(struct jw *w, const char *id, const char *path, const char *relation)
{
	jw_key(w, "parent");
	if (!id[0] && !path[0]) {
		jw_null(w);
		return;
	}
	jw_object(w);
	view_put_text(w, "session_id", id);
	view_put_text(w, "path", path);
	view_put_text(w, "relation", relation);
	jw_end(w);
}

void view_put_damage(struct jw *w, const struct damage *d)
{
	jw_key(w, "damage");
	if (!d || !d->level) {
		jw_null(w);
		return;
	}
	jw_object(w);
	jw_put_cstr(w, "level", d->level);
	jw_put_cstr(w, "cause", d->cause);
	jw_put_i64(w, "reachable", (int64_t)d->reachable);
	jw_put_i64(w, "entries", (int64_t)d->entries);
	jw_end(w);
}

void view_put_error(struct jw *w, const struct err *err, const struct catalogue_matches *fit)
{
	jw_key(w, "error");
	if (!err) {
		jw_null(w);
		return;
	}
	jw_object(w);
	jw_put_cstr(w, "code", err_name(err->code));
	jw_put_cstr(w, "message", err->msg);
	if (fit && fit->rows.n > 0) {
		jw_key(w, "candidates");
		jw_array(w);
		vec_each (&fit->rows, row)
			view_json_session(w, &(struct session_view){ .row = row });
		jw_end(w);
	}
	jw_end(w);
}

void view_put_conversation_id(struct jw *w, const struct conv *c, const char *dir)
{
	view_put_text(w, "conversation_id", c ? c->id : NULL);
	jw_put_cstr(w, "session_id", c ? c->session : NULL);
	jw_put_cstr(w, "agent", c ? c->agent : NULL);
	jw_put_cstr(w, "title", c ? conv_label(c) : NULL);
	jw_put_cstr(w, "directory", c ? c->dir : dir);
}

/* ---- values ---- */

void view_json_failure(
	struct jw *w, const struct err *err, const struct catalogue_matches *candidates)
{
	jw_object(w);
	view_put_error(w, err, candidates);
	jw_end(w);
}

void view_json_session(struct jw *w, const struct session_view *view)
{
	static const char *const kept[] = { [SESSION_NOT_ASKED] = NULL,
		[SESSION_WHOLE] = "whole",
		[SESSION_DAMAGED] = "damaged",
		[SESSION_LOST] = "none" };
	const struct session_row *row = view->row;
	const struct session_info *info = &row->info;

	jw_object(w);
	jw_put_cstr(w, "session_id", info->id);
	jw_put_cstr(w, "agent", row->agent);
	jw_put_cstr(w, "title", session_title(row));
	view_put_text(w, "name", session_row_name(row));
	view_put_text(w, "first_prompt", info->prompt);
	view_put_text(w, "directory", info->cwd);
	view_put_text(w, "branch", info->branch);
	view_put_text(w, "model", info->model);
	view_put_time(w, "started_at", info->first_ms);
	view_put_time(w, "active_at", row->active_ms);
	jw_put_i64(w, "turns", info->turns);
	jw_put_i64(w, "size_bytes", info->size);
	jw_put_i64(w, "context_tokens", usage_context(&info->usage));
	view_put_count(w, "window_tokens", info->window, info->window > 0);
	view_put_parent(
		w, info->parent_id, info->parent_path, session_relation_name(info->relation));
	jw_put_bool(w, "live", view->live);
	view_put_count(w, "pid", view->pid, view->pid > 0);
	jw_put_bool(w, "current", view->current);
	jw_put_bool(w, "interrupted", view->interrupted);
	jw_put_bool(w, "subagent", info->flags & SESSION_SUBAGENT);
	jw_put_bool(w, "torn", info->flags & SESSION_TORN);
	jw_put_bool(w, "gone", row->gone);
	jw_put_cstr(w, "archived", kept[view->kept]);
	view_put_text(w, "path", info->path);
	jw_end(w);
}

void view_json_recall(struct jw *w, const struct recall_found *found, struct sv raw, struct sv text)
{
	static const char *const kinds[] = {
		[RECALL_TEXT] = "text",
		[RECALL_BLOCKS] = "blocks",
		[RECALL_IMAGE] = "image",
		[RECALL_JSON] = "json",
	};
	const struct recall_place *place = &found->place;
	char ref[RECALL_REF];

	recall_ref_text(place->hash, ref);
	jw_object(w);
	jw_put_cstr(w, "ref", ref);
	jw_put_cstr(w, "kind", kinds[place->kind]);
	jw_put_cstr(w, "session_id", found->session);
	jw_put_cstr(w, "path", found->path);
	jw_put_cstr(w, "archive_key", found->key);
	jw_put_i64(w, "offset_bytes", (int64_t)place->offset);
	jw_put_i64(w, "size_bytes", (int64_t)place->size);
	if (place->kind != RECALL_IMAGE)
		jw_put_string(w, "text", text);
	jw_put_string(w, "raw", raw);
	jw_end(w);
}

static void put_conversation(struct jw *w, const struct conv *c)
{
	static const char *const statuses[] = {
		[CONV_IDLE] = "idle", [CONV_ACTIVE] = "active", [CONV_ERRORED] = "errored"
	};
	static const char *const tasks[] = { [CONV_EDIT] = "edit", [CONV_PLAN] = "plan" };

	view_put_conversation_id(w, c, NULL);
	view_put_text(w, "name", c->name);
	view_put_text(w, "project", c->project);
	jw_put_cstr(w, "status", statuses[c->status]);
	jw_put_cstr(w, "task", tasks[c->task]);
	view_put_time(w, "started_at", c->created_ms);
	view_put_time(w, "active_at", c->active_ms);
	jw_put_i64(w, "age_ms", c->age_ms);
	jw_put_i64(w, "turns", c->turns);
}

static void json_candidate(struct jw *w, const struct conv *c, const struct route_candidate *k)
{
	jw_object(w);
	put_conversation(w, c);
	jw_put_bool(w, "routable", k->routable);
	jw_put_double(w, "keyword", k->keyword);
	jw_put_double(w, "recency", k->recency);
	jw_put_double(w, "continuation", k->continuation);
	jw_put_double(w, "score", k->score);
	jw_put_cstr(w, "reason", k->reason);
	jw_end(w);
}

const char *view_action(const struct decision *d)
{
	if (d->what == DECIDED_SWITCH)
		return "switch";
	if (d->what != DECIDED_TURN)
		return "none";
	return d->waits ? "wait" : d->conv.id[0] || is_member(&d->conv) ? "resume" : "new";
}

/* "judge": null when nobody was asked. */
static void put_judgement(struct jw *w, const struct judgement *j)
{
	jw_key(w, "judge");
	if (j->end == JUDGE_UNASKED) {
		jw_null(w);
		return;
	}
	jw_object(w);
	jw_put_cstr(w, "agent", j->agent);
	jw_put_cstr(w, "status", judge_end_name(j->end));
	view_put_text(w, "message", j->why);
	if (j->cost_usd >= 0)
		jw_put_double(w, "cost_usd", j->cost_usd);
	jw_put_i64(w, "duration_ms", j->duration_ms);
	jw_end(w);
}

/* What it would be otherwise; null when there is nothing else. */
static void put_next(struct jw *w, const struct decision *d)
{
	const struct conv *next = d->next == ROUTE_NONE ? NULL : &d->convs.v[d->next];

	jw_key(w, "next");
	if (!decision_has_next(d)) {
		jw_null(w);
		return;
	}
	jw_object(w);
	jw_put_cstr(w, "action", next ? "resume" : "new");
	view_put_conversation_id(w, next, NULL);
	jw_put_double(w, "score", next ? d->candidates[d->next].score : d->fresh);
	jw_put_double(w, "margin", d->ahead);
	jw_end(w);
}

void view_json_decision(struct jw *w, const struct decision *d, const struct judgement *judged)
{
	jw_object(w);
	jw_put_cstr(w, "action", view_action(d));
	jw_put_cstr(w, "by", decision_by_name(d->by));
	view_put_conversation_id(w, d->conv.id[0] || is_member(&d->conv) ? &d->conv : NULL, NULL);
	jw_put_double(w, "confidence", d->confidence);
	jw_put_cstr(w, "reason", d->reason);
	jw_put_bool(w, "close", d->close);
	jw_put_bool(w, "meaning", d->by_meaning);
	put_next(w, d);
	jw_key(w, "new_score");
	if (d->fresh >= 0)
		jw_double(w, d->fresh);
	else
		jw_null(w);
	put_judgement(w, judged);
	view_put_text(w, "other_id", d->other);
	view_put_text(w, "prompt", d->by == BY_CORRECTION ? d->prompt.buf : NULL);
	jw_put_cstr(w, "task", d->task == CONV_PLAN ? "plan" : "edit");
	jw_key(w, "candidates");
	jw_array(w);
	for (size_t i = 0; i < d->convs.n; i++)
		json_candidate(w, &d->convs.v[i], &d->candidates[i]);
	jw_end(w);
	jw_end(w);
}

static void put_usage(struct jw *w, const struct agent_usage *u)
{
	jw_key(w, "usage");
	if (u->input < 0 && u->output < 0 && u->cost_usd < 0) {
		jw_null(w);
		return;
	}
	jw_object(w);
	if (u->input >= 0)
		jw_put_i64(w, "input_tokens", u->input);
	if (u->cache_read >= 0)
		jw_put_i64(w, "cache_read_tokens", u->cache_read);
	if (u->cache_write >= 0)
		jw_put_i64(w, "cache_write_tokens", u->cache_write);
	if (u->output >= 0)
		jw_put_i64(w, "output_tokens", u->output);
	if (u->cost_usd >= 0)
		jw_put_double(w, "cost_usd", u->cost_usd);
	jw_end(w);
}

void view_put_denied(struct jw *w, const struct agent_denials *denied)
{
	jw_key(w, "denied");
	jw_array(w);
	for (size_t i = 0; denied && i < denied->list.n; i++) {
		const struct agent_denial *denial = &denied->list.v[i];
		jw_object(w);
		jw_put_cstr(w, "tool", denial->tool);
		jw_put_cstr(w, "what", denial->about);
		jw_put_bool(w, "asked", denial->asked);
		jw_end(w);
	}
	jw_end(w);
}

void view_json_outcome(struct jw *w, const struct assistant_outcome *out)
{
	const struct turn_outcome *turn = out->turn;
	bool denied = turn->fail == AGENT_OK && turn->denied.list.n > 0;
	const char *status = denied ? err_name(ERR_DENIED)
		: out->unplaced	    ? err_name(ERR_NOTFOUND)
				    : agent_fail_name(turn->fail);
	AUTO_STR why = STR_INIT;

	jw_object(w);
	jw_put_string(w, "answer", str_sv(&turn->answer));
	jw_put_cstr(w, "status", status);
	jw_key(w, "error");
	if (turn->fail == AGENT_OK && !denied && !out->unplaced) {
		jw_null(w);
	} else {
		if (denied)
			tell_denied(&turn->denied, &why);
		jw_object(w);
		jw_put_cstr(w, "code", status);
		jw_put_cstr(w, "message",
			denied			? why.buf
				: out->unplaced ? out->reply
						: turn->message);
		jw_end(w);
	}
	view_put_denied(w, &turn->denied);
	view_put_text(w, "reply", out->reply);
	view_put_conversation_id(w, turn->conv.id[0] ? &turn->conv : NULL, NULL);
	jw_put_cstr(w, "by", decision_by_name(out->by));
	put_judgement(w, out->judged);
	put_usage(w, &turn->usage);
	jw_put_i64(w, "duration_ms", turn->duration_ms);
	jw_end(w);
}
