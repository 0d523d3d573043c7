#include "store/said.h"

#include <stdlib.h>
#include <string.h>

#include "store/sql.h"

/* Of a project. A terminal of which none is left any more says nothing again. */
enum { SAID_MAX = 64 };

void said_release(struct said *said)
{
	free(said->dir);
	free(said->note);
	*said = (struct said)SAID_INIT;
}

/* The number of a session stays its own while anything of it lives, also when who began it is gone,
 * which then has no start any more. */
static bool is_same(const struct proc_id *a, const struct proc_id *b)
{
	return a->pid == b->pid && strcmp(a->boot, b->boot) == 0 && strcmp(a->host, b->host) == 0 &&
		(a->start == b->start || b->start == 0);
}

static enum said_by said_by(struct sql *q, const struct proc_id *self)
{
	struct proc_id id = { .pid = (pid_t)sql_get_int(q, 1),
		.start = (uint64_t)sql_get_int(q, 2) };

	(void)snprintf(id.boot, sizeof(id.boot), "%s", sql_get_text(q, 3));
	(void)snprintf(id.host, sizeof(id.host), "%s", sql_get_text(q, 4));
	if (id.pid == 0)
		return self->pid == 0 ? SAID_HERE : SAID_GONE;
	if (is_same(&id, self))
		return SAID_HERE;
	return proc_id_check(&id) == PROC_GONE ? SAID_GONE : SAID_ELSEWHERE;
}

int said_last(
	struct store *store, const struct said_query *query, struct said *ret, struct err *reterr)
{
	const struct proc_id *self =
		query->terminal ? query->terminal : &(const struct proc_id){ .pid = 0 };
	struct said best = { .by = SAID_ELSEWHERE };
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, store, reterr,
		"SELECT id, pid, start, boot, host, dir, note FROM said WHERE project = ?1 AND"
		" (?2 = 0 OR id <= ?2) ORDER BY id DESC",
		SQL_T(query->project), SQL_I(query->until));

	while (r >= 0 && (best.id == 0 || best.by != SAID_HERE) && (r = sql_step(&q, reterr)) > 0) {
		enum said_by by = said_by(&q, self);
		if (best.id != 0 && by >= best.by)
			continue;
		said_release(&best);
		best = (struct said){ .id = sql_get_int(&q, 0),
			.by = by,
			.dir = sql_dup_text(&q, 5),
			.note = sql_dup_text(&q, 6) };
	}
	if (r < 0 || best.id == 0) {
		said_release(&best);
		return r < 0 ? r : err_set(reterr, ERR_NOTFOUND, "nothing was said here");
	}
	*ret = best;
	return 0;
}

int said_newest(struct store *store, int64_t *ret, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store, "SELECT coalesce(max(id), -1) FROM said", reterr);

	if (r == 0)
		r = sql_step(&q, reterr);
	if (r > 0)
		*ret = sql_get_int(&q, 0);
	return r < 0 ? r : 0;
}

int said_add(struct store *store, const struct said_query *by, const char *dir, const char *note,
	int64_t *ret_id, struct err *reterr)
{
	const struct proc_id none = { .pid = 0 };
	const struct proc_id *self = by->terminal ? by->terminal : &none;
	int r = store_begin(store, reterr);

	if (r < 0)
		return r;
	r = SQL_RUN(store, reterr,
		"INSERT INTO said (project, dir, pid, start, boot, host, note)"
		" VALUES (?, ?, ?, ?, ?, ?, ?)",
		SQL_T(by->project), SQL_T(dir), SQL_I(self->pid), SQL_I(self->start),
		SQL_T(self->boot), SQL_T(self->host), SQL_T(note));
	if (r == 0)
		r = said_newest(store, ret_id, reterr);
	if (r == 0)
		r = SQL_RUN(store, reterr,
			"DELETE FROM said WHERE project = ?1 AND id <= (SELECT id FROM said WHERE"
			" project = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)",
			SQL_T(by->project), SQL_I(SAID_MAX));
	return store_end(store, r, reterr);
}

int said_note(struct store *store, int64_t id, const char *note, struct err *reterr)
{
	return SQL_RUN(
		store, reterr, "UPDATE said SET note = ? WHERE id = ?", SQL_T(note), SQL_I(id));
}
