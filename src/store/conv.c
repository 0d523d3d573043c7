#include "store/conv.h"

#include <stdlib.h>

#include "base/mem.h"
#include "store/sql.h"

/* The order of columns is that of read_row(). The folder's epoch tells whether a reset came since.
 */
#define CONV_SELECT                                                                           \
	"SELECT c.id, c.seq, c.name, c.dir, c.project, c.agent, c.session, c.status, c.task," \
	" c.created_ms, c.active_ms, c.age_ms, c.boot, c.turns,"                              \
	" c.epoch < coalesce((SELECT epoch FROM current WHERE dir = c.dir), 0),"              \
	" c.owner_pid, c.owner_start, c.owner_boot, c.owner_host, c.title FROM conversation c "

void conv_release(struct conv *c)
{
	free(c->name);
	free(c->title);
	free(c->dir);
	free(c->project);
	free(c->agent);
	free(c->session);
	*c = (struct conv)CONV_INIT;
}

const char *conv_label(const struct conv *c)
{
	return c->name ? c->name : c->title ? c->title : c->id;
}

static void copy_text(char *out, size_t size, const char *text)
{
	(void)snprintf(out, size, "%s", text ? text : "");
}

/* Now, as the rows of a call are compared with it. */
struct present {
	const struct clock *clock;
	bool asked; /* what boot this is: files are read for it, so only when there is a row */
	char boot[sizeof(((struct proc_id *)NULL)->boot)]; /* empty when unknown */
};

static const char *boot_of(struct present *now)
{
	struct proc_id self;

	if (!now->asked && proc_id_self(&self, NULL) == 0)
		memcpy(now->boot, self.boot, sizeof(now->boot));
	now->asked = true;
	return now->boot;
}

/* The age clock starts anew at each boot: across a reboot only wall time can tell the age. */
static int64_t age_since(struct present *now, int64_t wall_ms, int64_t age_ms, const char *boot)
{
	bool same_boot = (now->clock && now->clock->fixed) ||
		(boot && *boot && strcmp(boot_of(now), boot) == 0);
	int64_t age =
		same_boot ? clock_age_ms(now->clock) - age_ms : clock_wall_ms(now->clock) - wall_ms;

	return age < 0 ? 0 : age;
}

static void read_row(struct sql *q, struct present *now, struct conv *c)
{
	*c = (struct conv){
		.seq = sql_get_int(q, 1),
		.name = sql_dup_text(q, 2),
		.title = sql_dup_text(q, 19),
		.dir = sql_dup_text(q, 3),
		.project = sql_dup_text(q, 4),
		.agent = sql_dup_text(q, 5),
		.session = sql_dup_text(q, 6),
		.status = (enum conv_status)sql_get_int(q, 7),
		.task = (enum conv_task)sql_get_int(q, 8),
		.created_ms = sql_get_int(q, 9),
		.active_ms = sql_get_int(q, 10),
		.turns = sql_get_int(q, 13),
		.before_reset = sql_get_int(q, 14) != 0,
		.owner = { .pid = (pid_t)sql_get_int(q, 15),
			.start = (uint64_t)sql_get_int(q, 16) },
	};
	c->age_ms = age_since(now, c->active_ms, sql_get_int(q, 11), sql_get_text(q, 12));
	copy_text(c->id, sizeof(c->id), sql_get_text(q, 0));
	copy_text(c->owner.boot, sizeof(c->owner.boot), sql_get_text(q, 17));
	copy_text(c->owner.host, sizeof(c->owner.host), sql_get_text(q, 18));
}

static int fetch_one(struct sql *q, const struct clock *clock, const char *what, struct conv *ret,
	struct err *reterr)
{
	int r = sql_step(q, reterr);

	if (r < 0)
		return r;
	if (r == 0)
		return err_set(reterr, ERR_NOTFOUND, "no conversation %s", what);
	struct present now = { .clock = clock };
	read_row(q, &now, ret);
	return 0;
}

int conv_get(struct store *store, const char *id, const struct clock *clock, struct conv *ret,
	struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store, CONV_SELECT "WHERE c.id = ?", reterr);

	if (r < 0)
		return r;
	sql_text(&q, id);
	return fetch_one(&q, clock, id, ret, reterr);
}

int conv_by_session(struct store *store, const char *agent, const char *session,
	const struct clock *clock, struct conv *ret, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store,
		CONV_SELECT "JOIN agent_session s ON s.conversation = c.id"
			    " WHERE s.agent = ? AND s.id = ?",
		reterr);

	if (r < 0)
		return r;
	sql_text(&q, agent);
	sql_text(&q, session);
	return fetch_one(&q, clock, session, ret, reterr);
}

int conv_current(struct store *store, const char *dir, const struct clock *clock, struct conv *ret,
	struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store,
		CONV_SELECT "JOIN current k ON k.conversation = c.id WHERE k.dir = ?", reterr);

	if (r < 0)
		return r;
	sql_text(&q, dir);
	return fetch_one(&q, clock, "goes on here", ret, reterr);
}

int conv_last(struct store *store, const char *dir, const struct clock *clock, struct conv *ret,
	struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store,
		CONV_SELECT "WHERE c.dir = ? ORDER BY c.active_ms DESC, c.seq DESC LIMIT 1",
		reterr);

	if (r < 0)
		return r;
	sql_text(&q, dir);
	return fetch_one(&q, clock, "here yet", ret, reterr);
}

int conv_set_current(struct store *store, const char *dir, const char *id,
	const struct clock *clock, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store,
		"INSERT INTO current (dir, conversation, changed_ms) VALUES (?1, ?2, ?3)"
		" ON CONFLICT (dir) DO UPDATE SET conversation = ?2, changed_ms = ?3, pinned = 0",
		reterr);

	if (r < 0)
		return r;
	sql_text(&q, dir);
	sql_text(&q, id);
	sql_int(&q, clock_wall_ms(clock));
	return sql_run(&q, reterr);
}

static int each_row(
	struct sql *q, struct present *now, conv_each_fn fn, void *data, struct err *reterr)
{
	int r;

	while ((r = sql_step(q, reterr)) > 0) {
		AUTO_CONV c = CONV_INIT;
		read_row(q, now, &c);
		r = fn(data, &c);
		if (r < 0)
			return r;
	}
	return r;
}

int conv_each(struct store *store, int64_t since_ms, int64_t max, const struct clock *clock,
	conv_each_fn fn, void *data, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	struct present now = { .clock = clock };
	int r = sql_prepare(&q, store,
		CONV_SELECT "WHERE c.active_ms >= ? ORDER BY c.active_ms DESC, c.seq DESC LIMIT ?",
		reterr);

	if (r < 0)
		return r;
	sql_int(&q, since_ms);
	sql_int(&q, max);
	return each_row(&q, &now, fn, data, reterr);
}

int conv_in_project(struct store *store, const char *project, int64_t max,
	const struct clock *clock, conv_each_fn fn, void *data, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	struct present now = { .clock = clock };
	int r = sql_prepare(&q, store,
		CONV_SELECT "WHERE c.project = ? ORDER BY c.active_ms DESC LIMIT ?", reterr);

	if (r < 0)
		return r;
	sql_text(&q, project);
	sql_int(&q, max);
	return each_row(&q, &now, fn, data, reterr);
}

int conv_by_seqs(struct store *store, const int64_t *seqs, size_t n, const struct clock *clock,
	conv_each_fn fn, void *data, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	struct present now = { .clock = clock };
	int r = sql_prepare(&q, store, CONV_SELECT "WHERE c.seq = ?", reterr);

	for (size_t i = 0; r == 0 && i < n; i++) {
		sql_int(&q, seqs[i]);
		r = each_row(&q, &now, fn, data, reterr);
		sql_reset(&q);
	}
	return r;
}

static char *copy_or_null(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

void conv_copy(struct conv *to, const struct conv *from)
{
	*to = *from;
	to->name = copy_or_null(from->name);
	to->title = copy_or_null(from->title);
	to->dir = copy_or_null(from->dir);
	to->project = copy_or_null(from->project);
	to->agent = copy_or_null(from->agent);
	to->session = copy_or_null(from->session);
}

static int insert_conv(struct store *store, const struct conv_new *what, const char *id,
	const struct proc_id *self, const struct clock *clock, struct err *reterr)
{
	struct proc_id here;
	AUTO_SQL q = SQL_INIT;
	int r = proc_id_self(&here, reterr);

	if (r == 0)
		r = sql_prepare(&q, store,
			"INSERT INTO conversation (id, dir, project, agent, status, task,"
			" created_ms, active_ms, age_ms, boot, epoch, owner_pid, owner_start,"
			" owner_boot, owner_host, heartbeat_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7,"
			" ?7, ?8, ?9, coalesce((SELECT epoch FROM current WHERE dir = ?2), 0),"
			" ?10, ?11, ?12, ?13, ?7)",
			reterr);
	if (r < 0)
		return r;
	sql_text(&q, id);
	sql_text(&q, what->dir);
	sql_text(&q, what->project ? what->project : what->dir);
	sql_text(&q, what->agent);
	sql_int(&q, self ? CONV_ACTIVE : CONV_IDLE);
	sql_int(&q, (int64_t)what->task);
	sql_int(&q, clock_wall_ms(clock));
	sql_int(&q, clock_age_ms(clock));
	sql_text(&q, here.boot);
	if (self) {
		sql_int(&q, self->pid);
		sql_int(&q, (int64_t)self->start);
		sql_text(&q, self->boot);
		sql_text(&q, self->host);
	}
	return sql_run(&q, reterr);
}

int conv_create(struct store *store, const struct conv_new *what, const struct proc_id *self,
	const struct clock *clock, struct conv *ret, struct err *reterr)
{
	char id[UUID_TEXT];
	int r = store_begin(store, reterr);

	if (r < 0)
		return r;
	uuid_new(id);
	r = insert_conv(store, what, id, self, clock, reterr);
	if (r == 0)
		r = conv_set_current(store, what->dir, id, clock, reterr);
	r = store_end(store, r, reterr);
	if (r < 0)
		return r;
	return conv_get(store, id, clock, ret, reterr);
}

static int insert_adopted(struct store *store, const struct conv_new *what, const char *session,
	const struct clock *clock, struct conv *ret, struct err *reterr)
{
	char id[UUID_TEXT];
	/* Again, inside the transaction: another process may have adopted it meanwhile, and two
	 * conversations with one session would be two leases on it. */
	int r = conv_by_session(store, what->agent, session, clock, ret, reterr);

	if (r != ERR_NOTFOUND)
		return r;
	uuid_new(id);
	r = insert_conv(store, what, id, NULL, clock, reterr);
	if (r == 0)
		r = conv_set_session(store, id, what->agent, session, clock, reterr);
	return r < 0 ? r : conv_get(store, id, clock, ret, reterr);
}

int conv_adopt(struct store *store, const struct conv_new *what, const char *session,
	const struct clock *clock, struct conv *ret, struct err *reterr)
{
	AUTO_CONV found = CONV_INIT;
	int r = conv_by_session(store, what->agent, session, clock, ret, reterr);

	if (r != ERR_NOTFOUND)
		return r;
	r = store_begin(store, reterr);
	if (r < 0)
		return r;
	r = insert_adopted(store, what, session, clock, &found, reterr);
	r = store_end(store, r, reterr);
	if (r < 0)
		return r;
	*ret = found;
	found = (struct conv)CONV_INIT;
	return 0;
}

int conv_reset(struct store *store, const char *dir, const struct clock *clock, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store,
		"INSERT INTO current (dir, epoch, changed_ms) VALUES (?1, 1, ?2)"
		" ON CONFLICT (dir) DO UPDATE SET previous = coalesce(conversation, previous),"
		" conversation = NULL, epoch = epoch + 1, pinned = 0, changed_ms = ?2",
		reterr);

	if (r < 0)
		return r;
	sql_text(&q, dir);
	sql_int(&q, clock_wall_ms(clock));
	return sql_run(&q, reterr);
}

static int swap_previous(
	struct store *store, const char *dir, const struct clock *clock, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store,
		"UPDATE current SET conversation = previous, previous = conversation,"
		" pinned = 1, changed_ms = ?2 WHERE dir = ?1 AND previous IS NOT NULL",
		reterr);

	if (r < 0)
		return r;
	sql_text(&q, dir);
	sql_int(&q, clock_wall_ms(clock));
	r = sql_run(&q, reterr);
	if (r == 0 && sql_changes(store) == 0)
		return err_set(reterr, ERR_NOTFOUND, "no reset to undo in %s", dir);
	return r;
}

/* What was brought back is no longer from before the reset. */
static int join_epoch(struct store *store, const char *dir, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store,
		"UPDATE conversation SET epoch = (SELECT epoch FROM current WHERE dir = ?1)"
		" WHERE id = (SELECT conversation FROM current WHERE dir = ?1)",
		reterr);

	if (r < 0)
		return r;
	sql_text(&q, dir);
	return sql_run(&q, reterr);
}

int conv_reset_undo(
	struct store *store, const char *dir, const struct clock *clock, struct err *reterr)
{
	int r = store_begin(store, reterr);

	if (r < 0)
		return r;
	r = swap_previous(store, dir, clock, reterr);
	if (r == 0)
		r = join_epoch(store, dir, reterr);
	return store_end(store, r, reterr);
}

int conv_pin(struct store *store, const char *dir, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store, "UPDATE current SET pinned = 1 WHERE dir = ?", reterr);

	if (r < 0)
		return r;
	sql_text(&q, dir);
	return sql_run(&q, reterr);
}

bool conv_pinned(struct store *store, const char *dir)
{
	AUTO_SQL q = SQL_INIT;

	if (sql_prepare(&q, store, "SELECT pinned FROM current WHERE dir = ?", NULL) < 0)
		return false;
	sql_text(&q, dir);
	return sql_step(&q, NULL) > 0 && sql_get_int(&q, 0) != 0;
}

int conv_rename(struct store *store, const char *id, const char *name, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store, "UPDATE conversation SET name = ? WHERE id = ?", reterr);

	if (r < 0)
		return r;
	sql_text(&q, name);
	sql_text(&q, id);
	r = sql_run(&q, reterr);
	if (r == 0 && sql_changes(store) == 0)
		return err_set(reterr, ERR_NOTFOUND, "no conversation %s", id);
	return r;
}

int conv_set_task(struct store *store, const char *id, enum conv_task task, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store, "UPDATE conversation SET task = ? WHERE id = ?", reterr);

	if (r < 0)
		return r;
	sql_int(&q, (int64_t)task);
	sql_text(&q, id);
	return sql_run(&q, reterr);
}

static int add_session(struct store *store, const char *id, const char *agent, const char *session,
	const struct clock *clock, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store,
		"INSERT OR IGNORE INTO agent_session (agent, id, conversation, created_ms)"
		" VALUES (?, ?, ?, ?)",
		reterr);

	if (r < 0)
		return r;
	sql_text(&q, agent);
	sql_text(&q, session);
	sql_text(&q, id);
	sql_int(&q, clock_wall_ms(clock));
	return sql_run(&q, reterr);
}

static int write_session(struct store *store, const char *id, const char *agent,
	const char *session, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(
		&q, store, "UPDATE conversation SET agent = ?, session = ? WHERE id = ?", reterr);

	if (r < 0)
		return r;
	sql_text(&q, agent);
	sql_text(&q, session);
	sql_text(&q, id);
	return sql_run(&q, reterr);
}

int conv_set_session(struct store *store, const char *id, const char *agent, const char *session,
	const struct clock *clock, struct err *reterr)
{
	int r = store_begin(store, reterr);

	if (r < 0)
		return r;
	r = add_session(store, id, agent, session, clock, reterr);
	if (r == 0)
		r = write_session(store, id, agent, session, reterr);
	return store_end(store, r, reterr);
}
