#include "store/journal.h"

#include <stdlib.h>

#include "store/conv.h"
#include "store/sql.h"

void turn_record_release(struct turn_record *t)
{
	free(t->agent);
	free(t->session);
	str_release(&t->prompt);
	free(t->prompt_id);
	free(t->transcript);
	free(t->fail);
	*t = (struct turn_record)TURN_RECORD_INIT;
}

static int count_turn(struct store *store, const struct turn_record *t, const struct clock *clock,
	struct err *reterr)
{
	AUTO_STR title = STR_INIT;

	conv_title_of(str_sv(&t->prompt), &title);
	/* A talk that stays in its conversation does not bring it back from behind a reset that was
	 * made elsewhere: it is not what goes on anywhere. */
	return SQL_RUN(store, reterr,
		"UPDATE conversation SET turns = turns + 1, active_ms = ?2, age_ms = ?3,"
		" title = coalesce(title, ?4),"
		" epoch = CASE WHEN EXISTS (SELECT 1 FROM current k WHERE k.conversation = ?1)"
		" THEN coalesce((SELECT k.epoch FROM current k WHERE k.dir = conversation.dir), 0)"
		" ELSE epoch END WHERE id = ?1",
		SQL_T(t->conversation), SQL_I(clock_wall_ms(clock)), SQL_I(clock_age_ms(clock)),
		SQL_T(title.buf));
}

int journal_turn(struct store *store, const struct turn_record *t, const struct clock *clock,
	int64_t *ret_id, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = store_begin(store, reterr);

	if (r < 0)
		return r;
	r = SQL_PREPARE(&q, store, reterr,
		"INSERT INTO step (kind, parent, at_ms, conversation, agent, session, prompt,"
		" prompt_id, transcript, before_size)"
		" VALUES (?, nullif(?, 0), ?, nullif(?, ''), ?, ?, ?, ?, ?, ?) RETURNING id",
		SQL_I(JOURNAL_TURN), SQL_I(t->parent), SQL_I(clock_wall_ms(clock)),
		SQL_T(t->conversation), SQL_T(t->agent), SQL_T(t->session),
		SQL_S(str_sv(&t->prompt)), SQL_T(t->prompt_id), SQL_T(t->transcript),
		SQL_I(t->before_size));
	if (r == 0)
		r = sql_step(&q, reterr);
	if (r > 0) {
		*ret_id = sql_get_int(&q, 0);
		r = sql_run(&q, reterr);
	}
	if (r == 0 && t->conversation[0])
		r = count_turn(store, t, clock, reterr);
	return store_end(store, r, reterr);
}

int journal_session(struct store *store, int64_t turn, const char *session,
	const struct clock *clock, struct err *reterr)
{
	return SQL_RUN(store, reterr,
		"INSERT INTO step (kind, parent, at_ms, session) VALUES (?, ?, ?, ?)",
		SQL_I(JOURNAL_SESSION), SQL_I(turn), SQL_I(clock_wall_ms(clock)), SQL_T(session));
}

int journal_end(struct store *store, int64_t turn, enum turn_state state, const char *fail,
	const struct clock *clock, struct err *reterr)
{
	return SQL_RUN(store, reterr,
		"INSERT INTO step (kind, parent, at_ms, state, fail) VALUES (?, ?, ?, ?, ?)",
		SQL_I(JOURNAL_END), SQL_I(turn), SQL_I(clock_wall_ms(clock)), SQL_I(state),
		SQL_T(fail));
}

int journal_told(struct store *store, int64_t turn, const struct clock *clock, struct err *reterr)
{
	return SQL_RUN(store, reterr, "INSERT INTO step (kind, parent, at_ms) VALUES (?, ?, ?)",
		SQL_I(JOURNAL_TOLD), SQL_I(turn), SQL_I(clock_wall_ms(clock)));
}

static bool has_child(struct store *store, int64_t turn, enum journal_kind kind)
{
	AUTO_SQL q = SQL_INIT;

	return SQL_PREPARE(&q, store, NULL, "SELECT 1 FROM step WHERE parent = ? AND kind = ?",
		       SQL_I(turn), SQL_I(kind)) == 0 &&
		sql_step(&q, NULL) > 0;
}

bool journal_was_told(struct store *store, int64_t turn)
{
	return has_child(store, turn, JOURNAL_TOLD);
}

/* From four columns on. */
static bool is_owner_gone(struct sql *q, int from)
{
	struct proc_id owner = { .pid = (pid_t)sql_get_int(q, from),
		.start = (uint64_t)sql_get_int(q, from + 1) };
	const char *boot = sql_get_text(q, from + 2), *host = sql_get_text(q, from + 3);

	(void)snprintf(owner.boot, sizeof(owner.boot), "%s", boot ? boot : "");
	(void)snprintf(owner.host, sizeof(owner.host), "%s", host ? host : "");
	return proc_id_check(&owner) == PROC_GONE;
}

/* A turn without an end was, where nobody holds its conversation any more. */
bool journal_interrupted_since(struct store *store, const char *dir, int64_t turn)
{
	AUTO_SQL q = SQL_INIT;
	bool found = false;
	int r = SQL_PREPARE(&q, store, NULL,
		"SELECT t.state, c.owner_pid, c.owner_start, c.owner_boot, c.owner_host FROM turn t"
		" JOIN conversation c ON c.id = t.conversation WHERE t.id > ? AND c.dir = ?"
		" AND t.state IN (?, ?, ?)",
		SQL_I(turn), SQL_T(dir), SQL_I(TURN_UNANSWERED), SQL_I(TURN_NOT_KNOWN),
		SQL_I(TURN_INTENT));

	while (r >= 0 && !found && (r = sql_step(&q, NULL)) > 0)
		found = sql_get_int(&q, 0) != TURN_INTENT || sql_get_int(&q, 1) == 0 ||
			is_owner_gone(&q, 1);
	return found;
}

bool journal_said_since(struct store *store, const char *dir, const struct turn_record *turn)
{
	AUTO_SQL q = SQL_INIT;
	bool found = false;
	int r = SQL_PREPARE(&q, store, NULL,
		"SELECT t.prompt FROM turn t JOIN conversation c ON c.id = t.conversation"
		" WHERE t.id > ? AND c.dir = ? AND t.state <> ?",
		SQL_I(turn->id), SQL_T(dir), SQL_I(TURN_LOST));

	while (r >= 0 && !found && (r = sql_step(&q, NULL)) > 0)
		found = sv_eq(sv_trim(sql_get_blob(&q, 0)), sv_trim(str_sv(&turn->prompt)));
	return found;
}

bool journal_was_sent_again(struct store *store, int64_t turn)
{
	return has_child(store, turn, JOURNAL_TURN);
}

int journal_wait(struct store *store, const struct turn_record *t, const char *dir,
	const struct proc_id *self, const struct clock *clock, int64_t *ret_id, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, store, reterr,
		"INSERT INTO step (kind, at_ms, conversation, agent, prompt, dir, owner_pid,"
		" owner_start, owner_boot, owner_host)"
		" VALUES (?, ?, (SELECT id FROM conversation WHERE id = ?), ?, ?, ?, ?, ?, ?, ?)"
		" RETURNING id",
		SQL_I(JOURNAL_WAIT), SQL_I(clock_wall_ms(clock)), SQL_T(t->conversation),
		SQL_T(t->agent), SQL_S(str_sv(&t->prompt)), SQL_T(dir), SQL_I(self->pid),
		SQL_I(self->start), SQL_T(self->boot), SQL_T(self->host));

	if (r == 0)
		r = sql_step(&q, reterr);
	if (r > 0) {
		*ret_id = sql_get_int(&q, 0);
		r = sql_run(&q, reterr);
	}
	return r;
}

#define TURN_FROM(what)                                                                        \
	"SELECT id, coalesce(parent, 0), agent, nullif(session, ''), prompt, prompt_id,"       \
	" transcript, before_size, started_ms, state, ended_ms, fail, conversation FROM " what \
	" t "
#define TURN_SELECT TURN_FROM("turn")

static int read_turn(struct sql *q, const char *none, struct turn_record *ret, struct err *reterr)
{
	int r = sql_step(q, reterr);

	if (r < 0)
		return r;
	if (r == 0)
		return err_set(reterr, ERR_NOTFOUND, "%s", none);
	*ret = (struct turn_record){
		.id = sql_get_int(q, 0),
		.parent = sql_get_int(q, 1),
		.agent = sql_dup_text(q, 2),
		.session = sql_dup_text(q, 3),
		.prompt = STR_INIT,
		.prompt_id = sql_dup_text(q, 5),
		.transcript = sql_dup_text(q, 6),
		.before_size = sql_get_int(q, 7),
		.started_ms = sql_get_int(q, 8),
		.state = (enum turn_state)sql_get_int(q, 9),
		.ended_ms = sql_get_int(q, 10),
		.fail = sql_dup_text(q, 11),
	};
	ret->blind = ret->session && strcmp(ret->session, JOURNAL_BLIND) == 0;
	if (ret->blind) {
		free(ret->session);
		ret->session = NULL;
	}
	str_add(&ret->prompt, sql_get_blob(q, 4));
	const char *conversation = sql_get_text(q, 12);
	(void)snprintf(ret->conversation, sizeof(ret->conversation), "%s",
		conversation ? conversation : "");
	return 0;
}

int journal_last(
	struct store *store, const char *conversation, struct turn_record *ret, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, store, reterr,
		TURN_SELECT "WHERE conversation = ? ORDER BY id DESC LIMIT 1", SQL_T(conversation));

	return r < 0 ? r : read_turn(&q, "this conversation has no turn yet", ret, reterr);
}

int journal_said(struct store *store, const char *conversation, struct sv begins,
	struct turn_record *ret, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, store, reterr,
		TURN_SELECT "WHERE conversation = ?1 AND"
			    " instr(CAST(prompt AS BLOB), CAST(?2 AS BLOB)) = 1"
			    " ORDER BY id DESC LIMIT 1",
		SQL_T(conversation), SQL_S(begins));

	return r < 0 ? r : read_turn(&q, "this was not said in this conversation", ret, reterr);
}

static int find_wait(struct store *store, const char *dir, int64_t *ret_id, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, store, reterr,
		"SELECT id, owner_pid, owner_start, owner_boot, owner_host FROM step t"
		" WHERE dir = ? AND kind = ? AND NOT EXISTS"
		" (SELECT 1 FROM step e WHERE e.parent = t.id AND e.kind = ?) ORDER BY id",
		SQL_T(dir), SQL_I(JOURNAL_WAIT), SQL_I(JOURNAL_END));

	while (r >= 0 && (r = sql_step(&q, reterr)) > 0) {
		if (!is_owner_gone(&q, 1))
			continue;
		*ret_id = sql_get_int(&q, 0);
		return 0;
	}
	return r < 0 ? r : err_set(reterr, ERR_NOTFOUND, "nothing waits here");
}

int journal_take_wait(struct store *store, const char *dir, const struct proc_id *self,
	struct turn_record *ret, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int64_t id = 0;
	int r = find_wait(store, dir, &id, reterr); /* mostly there is none, and nothing to lock */

	if (r == 0)
		r = store_begin(store, reterr);
	if (r < 0)
		return r;
	r = find_wait(store, dir, &id, reterr);
	if (r == 0)
		r = SQL_RUN(store, reterr,
			"UPDATE step SET owner_pid = ?, owner_start = ?, owner_boot = ?,"
			" owner_host = ? WHERE id = ?",
			SQL_I(self->pid), SQL_I(self->start), SQL_T(self->boot), SQL_T(self->host),
			SQL_I(id));
	if (r == 0)
		r = journal_get(store, id, ret, reterr);
	return store_end(store, r, reterr);
}

int journal_get(struct store *store, int64_t turn, struct turn_record *ret, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, store, reterr, TURN_FROM("attempt") "WHERE id = ?", SQL_I(turn));

	return r < 0 ? r : read_turn(&q, "there is no such turn", ret, reterr);
}

int journal_lost(struct store *store, const char *conversation, const char *dir, struct sv words,
	struct turn_record *ret, struct err *reterr)
{
	static const char none[] = "nothing to send: no prompt was interrupted here that did not "
				   "reach its agent";
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, store, reterr,
		TURN_FROM("attempt") "WHERE (conversation IN (SELECT id FROM conversation WHERE"
				     " id = ?1 OR (?1 IS NULL AND dir = ?2)) OR (dir = ?2 AND"
				     " (?1 IS NULL OR conversation IS NULL)))"
				     " AND state = ?3 AND prompt <> '' AND NOT EXISTS"
				     " (SELECT 1 FROM step s WHERE s.parent = t.id AND s.kind = ?4)"
				     " ORDER BY id DESC",
		SQL_T(conversation), SQL_T(dir), SQL_I(TURN_LOST), SQL_I(JOURNAL_TURN));

	while (r == 0) {
		AUTO_TURN_RECORD lost = TURN_RECORD_INIT;
		r = read_turn(&q, none, &lost, reterr);
		if (r < 0 || (words.n > 0 && !sv_eq(sv_trim(str_sv(&lost.prompt)), sv_trim(words))))
			continue;
		*ret = lost;
		lost = (struct turn_record)TURN_RECORD_INIT;
		break;
	}
	return r;
}

int journal_prompts(struct store *store, const char *conversation, int64_t max, struct strv *out,
	struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, store, reterr,
		"SELECT prompt FROM (SELECT id, prompt FROM step WHERE conversation = ? AND kind = "
		"?"
		" ORDER BY id DESC LIMIT ?) ORDER BY id",
		SQL_T(conversation), SQL_I(JOURNAL_TURN), SQL_I(max));

	while (r >= 0 && (r = sql_step(&q, reterr)) > 0)
		strv_add(out, sql_get_text(&q, 0));
	return r;
}

int journal_each_prompt(struct store *store, void (*fn)(void *data, struct sv prompt), void *data,
	struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, store, reterr,
		"SELECT prompt FROM step WHERE prompt <> '' AND kind IN (?, ?)",
		SQL_I(JOURNAL_TURN), SQL_I(JOURNAL_WAIT));

	while (r >= 0 && (r = sql_step(&q, reterr)) > 0)
		fn(data, sql_get_blob(&q, 0));
	return r;
}
