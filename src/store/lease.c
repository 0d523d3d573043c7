/*
 * The lease part of conv.h: one writer a conversation.
 */
#include <stdlib.h>

#include "store/conv.h"
#include "store/sql.h"

static int heartbeat_of(struct store *store, const char *id, int64_t *ret, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(
		&q, store, "SELECT heartbeat_ms FROM conversation WHERE id = ?", reterr);

	if (r < 0)
		return r;
	sql_text(&q, id);
	r = sql_step(&q, reterr);
	*ret = r > 0 ? sql_get_int(&q, 0) : 0;
	return r < 0 ? r : 0;
}

static bool same_process(const struct proc_id *a, const struct proc_id *b)
{
	return a->pid == b->pid && a->start == b->start && strcmp(a->boot, b->boot) == 0 &&
		strcmp(a->host, b->host) == 0;
}

/* 0: free to take. */
static int check_holder(struct store *store, const struct conv *c, const struct proc_id *self,
	const struct clock *clock, struct err *reterr)
{
	int64_t beat;

	if (c->owner.pid == 0 || same_process(&c->owner, self))
		return 0;
	switch (proc_id_check(&c->owner)) {
	case PROC_GONE:
		return 0;
	case PROC_ALIVE:
		return err_set(reterr, ERR_BUSY,
			"in use by process %d; wait for it, or start another conversation",
			(int)c->owner.pid);
	case PROC_ELSEWHERE:
		break;
	}
	int r = heartbeat_of(store, c->id, &beat, reterr);
	if (r < 0)
		return r;
	if (clock_wall_ms(clock) - beat > CONV_LEASE_MS)
		return 0;
	return err_set(
		reterr, ERR_BUSY, "in use by process %d on %s", (int)c->owner.pid, c->owner.host);
}

static int write_owner(struct store *store, const char *id, const struct proc_id *self,
	const struct clock *clock, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store,
		"UPDATE conversation SET owner_pid = ?, owner_start = ?, owner_boot = ?,"
		" owner_host = ?, heartbeat_ms = ?, status = ? WHERE id = ?",
		reterr);

	if (r < 0)
		return r;
	sql_int(&q, self->pid);
	sql_int(&q, (int64_t)self->start);
	sql_text(&q, self->boot);
	sql_text(&q, self->host);
	sql_int(&q, clock_wall_ms(clock));
	sql_int(&q, CONV_ACTIVE);
	sql_text(&q, id);
	return sql_run(&q, reterr);
}

int conv_take(struct store *store, const char *id, const struct proc_id *self,
	const struct clock *clock, struct err *reterr)
{
	AUTO_CONV c = CONV_INIT;
	int r = store_begin(store, reterr);

	if (r < 0)
		return r;
	r = conv_get(store, id, clock, &c, reterr);
	if (r == 0)
		r = check_holder(store, &c, self, clock, reterr);
	if (r == 0)
		r = write_owner(store, id, self, clock, reterr);
	return store_end(store, r, reterr);
}

int conv_beat(struct store *store, const char *id, const struct proc_id *self,
	const struct clock *clock, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store,
		"UPDATE conversation SET heartbeat_ms = ? WHERE id = ? AND owner_pid = ?"
		" AND owner_start = ?",
		reterr);

	if (r < 0)
		return r;
	sql_int(&q, clock_wall_ms(clock));
	sql_text(&q, id);
	sql_int(&q, self->pid);
	sql_int(&q, (int64_t)self->start);
	r = sql_run(&q, reterr);
	if (r == 0 && sql_changes(store) == 0)
		return err_set(reterr, ERR_BUSY, "the lease on this conversation was lost");
	return r;
}

int conv_give(struct store *store, const char *id, const struct proc_id *self,
	enum conv_status status, const struct clock *clock, struct err *reterr)
{
	struct proc_id here;
	AUTO_SQL q = SQL_INIT;
	int r = proc_id_self(&here, reterr);

	if (r == 0)
		r = sql_prepare(&q, store,
			"UPDATE conversation SET owner_pid = NULL, owner_start = NULL,"
			" owner_boot = NULL, owner_host = NULL, heartbeat_ms = NULL, status = ?,"
			" active_ms = ?, age_ms = ?, boot = ?"
			" WHERE id = ? AND owner_pid = ? AND owner_start = ?",
			reterr);
	if (r < 0)
		return r;
	sql_int(&q, (int64_t)status);
	sql_int(&q, clock_wall_ms(clock));
	sql_int(&q, clock_age_ms(clock));
	sql_text(&q, here.boot);
	sql_text(&q, id);
	sql_int(&q, self->pid);
	sql_int(&q, (int64_t)self->start);
	return sql_run(&q, reterr);
}
