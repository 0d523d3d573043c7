/*
 * The journal part of conv.h: a turn's intent is durable before the agent sees the prompt.
 */
#include <stdlib.h>

#include "base/utf8.h"
#include "store/conv.h"
#include "store/sql.h"

void turn_release(struct turn *t)
{
	free(t->session);
	free(t->prompt);
	free(t->transcript);
	free(t->fail);
	*t = (struct turn)TURN_INIT;
}

static int count_turn(
	struct store *store, const struct turn *t, const struct clock *clock, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	AUTO_STR title = STR_INIT;
	int r = sql_prepare(&q, store,
		"UPDATE conversation SET turns = turns + 1, active_ms = ?2, age_ms = ?3,"
		" title = coalesce(title, ?4),"
		" epoch = coalesce((SELECT k.epoch FROM current k WHERE k.dir = conversation.dir),"
		" 0) WHERE id = ?1",
		reterr);

	if (r < 0)
		return r;
	utf8_scrub_line(&title, utf8_cut(sv_trim(sv_of(t->prompt)), CONV_TITLE_MAX));
	sql_text(&q, t->conversation);
	sql_int(&q, clock_wall_ms(clock));
	sql_int(&q, clock_age_ms(clock));
	sql_text(&q, title.buf);
	return sql_run(&q, reterr);
}

static int insert_turn(
	struct store *store, const struct turn *t, const struct clock *clock, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store,
		"INSERT INTO turn (conversation, session, state, prompt, transcript, before_size,"
		" started_ms) VALUES (?, ?, ?, ?, ?, ?, ?)",
		reterr);

	if (r < 0)
		return r;
	sql_text(&q, t->conversation);
	sql_text(&q, t->session);
	sql_int(&q, TURN_INTENT);
	sql_text(&q, t->prompt);
	sql_text(&q, t->transcript);
	sql_int(&q, t->before_size);
	sql_int(&q, clock_wall_ms(clock));
	return sql_run(&q, reterr);
}

static int last_id(struct store *store, int64_t *ret, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store, "SELECT last_insert_rowid()", reterr);

	if (r == 0)
		r = sql_step(&q, reterr);
	if (r < 0)
		return r;
	*ret = sql_get_int(&q, 0);
	return 0;
}

int turn_begin(struct store *store, const struct turn *t, const struct clock *clock,
	int64_t *ret_id, struct err *reterr)
{
	int r = store_begin(store, reterr);

	if (r < 0)
		return r;
	r = insert_turn(store, t, clock, reterr);
	if (r == 0)
		r = last_id(store, ret_id, reterr);
	if (r == 0)
		r = count_turn(store, t, clock, reterr);
	return store_end(store, r, reterr);
}

int turn_end(struct store *store, int64_t id, enum turn_state state, const char *fail,
	const struct clock *clock, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store,
		"UPDATE turn SET state = ?, fail = ?, ended_ms = ? WHERE id = ?", reterr);

	if (r < 0)
		return r;
	sql_int(&q, (int64_t)state);
	sql_text(&q, fail);
	sql_int(&q, clock_wall_ms(clock));
	sql_int(&q, id);
	return sql_run(&q, reterr);
}

int turn_last(struct store *store, const char *conversation, struct turn *ret, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store,
		"SELECT id, session, state, prompt, transcript, before_size, started_ms, ended_ms,"
		" fail FROM turn WHERE conversation = ? ORDER BY id DESC LIMIT 1",
		reterr);

	if (r < 0)
		return r;
	sql_text(&q, conversation);
	r = sql_step(&q, reterr);
	if (r < 0)
		return r;
	if (r == 0)
		return err_set(reterr, ERR_NOTFOUND, "this conversation has no turn yet");
	*ret = (struct turn){
		.id = sql_get_int(&q, 0),
		.session = sql_dup_text(&q, 1),
		.state = (enum turn_state)sql_get_int(&q, 2),
		.prompt = sql_dup_text(&q, 3),
		.transcript = sql_dup_text(&q, 4),
		.before_size = sql_get_int(&q, 5),
		.started_ms = sql_get_int(&q, 6),
		.ended_ms = sql_get_int(&q, 7),
		.fail = sql_dup_text(&q, 8),
	};
	(void)snprintf(ret->conversation, sizeof(ret->conversation), "%s", conversation);
	return 0;
}

int turn_prompts(struct store *store, const char *conversation, int64_t max, struct strv *out,
	struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store,
		"SELECT prompt FROM (SELECT id, prompt FROM turn WHERE conversation = ?"
		" ORDER BY id DESC LIMIT ?) ORDER BY id",
		reterr);

	if (r < 0)
		return r;
	sql_text(&q, conversation);
	sql_int(&q, max);
	while ((r = sql_step(&q, reterr)) > 0)
		strv_add(out, sql_get_text(&q, 0));
	return r;
}
