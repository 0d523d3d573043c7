#include "store/conv.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "store/project.h"
#include "store/sql.h"
#include "transcript/transcript.h"

enum { LATE_LINES_MS = 5000 };
enum { PINNED = 1, PLACED = 2 }; /* current.pinned */
/* Before the id of a conversation: a note that the user deleted it, and when. */
#define DELETED "deleted:"

#define OWN_NAME "(SELECT n.name FROM session_name n WHERE n.agent = c.agent AND n.id = c.session)"

/* The order of columns is that of read_row(). Name and title are those of the session that goes on,
 * as far as the catalogue knows it, which may have been named or begun elsewhere. The folder's
 * epoch tells whether a reset came since.
 */
/* clang-format off */
#define CONV_SELECT \
	"SELECT c.id, c.seq, coalesce(c.name, " OWN_NAME ", nullif(g.name, ''))," \
	" c.dir, c.project, c.agent, c.session, c.status, c.task," \
	" c.created_ms, c.active_ms, c.age_ms, c.boot, c.turns," \
	" c.epoch < coalesce((SELECT epoch FROM current WHERE dir = c.dir), 0)," \
	" c.owner_pid, c.owner_start, c.owner_boot, c.owner_host," \
	" coalesce(nullif(iif(length(g.prompt) > 80, substr(g.prompt, 1, 79) || '…'," \
		" g.prompt), ''), c.title)," \
	" c.heartbeat_ms, g.active_ms," \
	" g.id IS NULL AND EXISTS (SELECT 1 FROM pref WHERE key = '" DELETED "' || c.id)" \
	" FROM conversation c LEFT JOIN session g ON g.rowid = (SELECT rowid FROM session" \
		" WHERE id = c.session AND agent = c.agent AND NOT gone LIMIT 1) "
/* clang-format on */
/* To compile it costs more than all that is asked with it, so that a decision asks for single ones
 * with the same words each time. */
#define BY_SEQ CONV_SELECT "WHERE c.seq = ?"

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

void conv_title_of(struct sv prompt, struct str *out)
{
	struct sv words = sv_trim(prompt);

	utf8_scrub_line(out, utf8_cut(words, CONV_TITLE_MAX));
	str_adds(out, words.n > CONV_TITLE_MAX ? "…" : "");
}

/* Now, as the rows of a call are compared with it. */
struct present {
	const struct clock *clock;
	struct store *store;
};

/* The age clock starts anew at each boot: across a reboot only wall time can tell the age. */
static int64_t age_since(
	const struct present *now, int64_t wall_ms, int64_t age_ms, const char *boot)
{
	bool same_boot = (now->clock && now->clock->fixed) ||
		(boot && *boot && strcmp(store_boot(now->store), boot) == 0);
	int64_t age =
		same_boot ? clock_age_ms(now->clock) - age_ms : clock_wall_ms(now->clock) - wall_ms;

	return age < 0 ? 0 : age;
}

static void read_row(struct sql *q, const struct present *now, struct conv *c)
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
		.beat_ms = sql_get_int(q, 20),
		.deleted = sql_get_int(q, 22) != 0,
	};
	c->age_ms = age_since(now, c->active_ms, sql_get_int(q, 11), sql_get_text(q, 12));
	/* What the agent writes about a turn of ours it has written soon after its end. */
	int64_t used_ms = sql_get_int(q, 21), used_ago = clock_wall_ms(now->clock) - used_ms;
	if (used_ms > c->active_ms + LATE_LINES_MS && used_ago < c->age_ms) {
		c->used_elsewhere = true;
		c->active_ms = used_ms;
		c->age_ms = used_ago < 0 ? 0 : used_ago;
	}
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
	read_row(q, &(struct present){ .clock = clock, .store = q->store }, ret);
	return 0;
}

int conv_get(struct store *store, const char *id, const struct clock *clock, struct conv *ret,
	struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, store, reterr, CONV_SELECT "WHERE c.id = ?", SQL_T(id));

	return r < 0 ? r : fetch_one(&q, clock, id, ret, reterr);
}

int conv_by_prefix(struct store *store, const char *prefix, const struct clock *clock,
	struct conv *ret, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	AUTO_CONV found = CONV_INIT;
	size_t n = strlen(prefix);

	if (n < CONV_PREFIX_MIN || n >= UUID_TEXT || strspn(prefix, "0123456789abcdefABCDEF-") != n)
		return err_set(reterr, ERR_NOTFOUND, "no conversation %s", prefix);
	AUTO_FREE char *like = xasprintf("%s%%", prefix);
	int r = SQL_PREPARE(
		&q, store, reterr, CONV_SELECT "WHERE c.id LIKE ? LIMIT 2", SQL_T(like));
	if (r == 0)
		r = fetch_one(&q, clock, prefix, &found, reterr);
	if (r < 0)
		return r;
	r = sql_step(&q, reterr);
	if (r > 0)
		return err_set(reterr, ERR_AMBIGUOUS,
			"'%s' is the beginning of more than one conversation's id", prefix);
	if (r < 0)
		return r;
	*ret = found;
	found = (struct conv)CONV_INIT;
	return 0;
}

int conv_by_session(struct store *store, const char *agent, const char *session,
	const struct clock *clock, struct conv *ret, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, store, reterr,
		CONV_SELECT "JOIN agent_session s ON s.conversation = c.id"
			    " WHERE s.agent = ? AND s.id = ?",
		SQL_T(agent), SQL_T(session));

	return r < 0 ? r : fetch_one(&q, clock, session, ret, reterr);
}

int conv_current(struct store *store, const char *dir, const struct clock *clock, struct conv *ret,
	struct err *reterr)
{
	AUTO_SQL number = SQL_INIT, q = SQL_INIT;
	int r = SQL_PREPARE(&number, store, reterr,
		"SELECT c.seq FROM current k JOIN conversation c ON c.id = k.conversation"
		" WHERE k.dir = ?",
		SQL_T(dir));

	AUTO_CONV c = CONV_INIT;
	if (r == 0)
		r = sql_step(&number, reterr);
	if (r >= 0) /* no number: none is found */
		r = SQL_PREPARE(
			&q, store, reterr, BY_SEQ, SQL_I(r > 0 ? sql_get_int(&number, 0) : 0));
	if (r == 0)
		r = fetch_one(&q, clock, "goes on here", &c, reterr);
	if (r == 0 && c.deleted)
		return err_set(reterr, ERR_NOTFOUND, "no conversation goes on here");
	if (r == 0) {
		*ret = c;
		c = (struct conv)CONV_INIT;
	}
	return r;
}

int conv_last(struct store *store, const char *dir, const struct clock *clock, struct conv *ret,
	struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, store, reterr,
		CONV_SELECT "WHERE c.dir = ? ORDER BY c.active_ms DESC, c.seq DESC LIMIT 1",
		SQL_T(dir));

	return r < 0 ? r : fetch_one(&q, clock, "here yet", ret, reterr);
}

int conv_set_current(struct store *store, const char *dir, const char *id,
	const struct clock *clock, struct err *reterr)
{
	return SQL_RUN(store, reterr,
		"INSERT INTO current (dir, conversation, changed_ms) VALUES (?1, ?2, ?3)"
		" ON CONFLICT (dir) DO UPDATE SET conversation = ?2, changed_ms = ?3, pinned = 0",
		SQL_T(dir), SQL_T(id), SQL_I(clock_wall_ms(clock)));
}

static int each_row(
	struct sql *q, const struct present *now, conv_each_fn fn, void *data, struct err *reterr)
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
	const struct present now = { .clock = clock, .store = store };
	int r = SQL_PREPARE(&q, store, reterr,
		CONV_SELECT "WHERE c.active_ms >= ? ORDER BY c.active_ms DESC, c.seq DESC LIMIT ?",
		SQL_I(since_ms), SQL_I(max));

	return r < 0 ? r : each_row(&q, &now, fn, data, reterr);
}

int conv_move(struct store *store, const char *id, const char *dir, const char *project,
	struct err *reterr)
{
	return SQL_RUN(store, reterr, "UPDATE conversation SET dir = ?, project = ? WHERE id = ?",
		SQL_T(dir), SQL_T(project), SQL_T(id));
}

int conv_in_project(struct store *store, const char *project, int64_t max,
	const struct clock *clock, conv_each_fn fn, void *data, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	VEC(int64_t) seqs = VEC_INIT;
	int r = SQL_PREPARE(&q, store, reterr,
		"SELECT seq FROM conversation WHERE project = ? ORDER BY active_ms DESC LIMIT ?",
		SQL_T(project), SQL_I(max));

	while (r >= 0 && (r = sql_step(&q, reterr)) > 0)
		vec_push(&seqs, sql_get_int(&q, 0));
	if (r == 0)
		r = conv_by_seqs(store, seqs.v, seqs.n, clock, fn, data, reterr);
	vec_release(&seqs);
	return r;
}

#define UNFINISHED                                                                 \
	" c.status = ?2 AND (SELECT state FROM turn t WHERE t.conversation = c.id" \
	" ORDER BY t.id DESC LIMIT 1) = 0 ORDER BY c.active_ms DESC"

/* Whoever begins a turn makes the conversation active, and its end makes it idle again: most rows
 * need no look into the journal. */
int conv_unfinished(struct store *store, const char *dir, const struct clock *clock,
	conv_each_fn fn, void *data, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	const struct present now = { .clock = clock, .store = store };
	int r = sql_prepare(&q, store,
		dir ? CONV_SELECT "WHERE c.dir = ?1 AND" UNFINISHED
		    : CONV_SELECT "WHERE ?1 IS NULL AND" UNFINISHED,
		reterr);

	if (r == 0) {
		sql_text(&q, dir);
		sql_int(&q, CONV_ACTIVE);
	}
	return r < 0 ? r : each_row(&q, &now, fn, data, reterr);
}

int conv_by_seqs(struct store *store, const int64_t *seqs, size_t n, const struct clock *clock,
	conv_each_fn fn, void *data, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	const struct present now = { .clock = clock, .store = store };
	int r = sql_prepare(&q, store, BY_SEQ, reterr);

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
	static const struct proc_id nobody;
	const struct proc_id *owner = self ? self : &nobody;
	struct proc_id here;
	int r = proc_id_self(&here, reterr);

	return r < 0
		? r
		: SQL_RUN(store, reterr,
			  "INSERT INTO conversation (id, dir, project, agent, status, task,"
			  " created_ms, active_ms, age_ms, boot, epoch, owner_pid, owner_start,"
			  " owner_boot, owner_host, heartbeat_ms) VALUES (?1, ?2, ?3, ?4, ?5,"
			  " ?6, ?7, ?7, ?8, ?9,"
			  " coalesce((SELECT epoch FROM current WHERE dir = ?2), 0),"
			  " nullif(?10, 0), ?11, ?12, ?13, ?7)",
			  SQL_T(id), SQL_T(what->dir),
			  SQL_T(what->project ? what->project : what->dir), SQL_T(what->agent),
			  SQL_I(self ? CONV_ACTIVE : CONV_IDLE), SQL_I(what->task),
			  SQL_I(clock_wall_ms(clock)), SQL_I(clock_age_ms(clock)), SQL_T(here.boot),
			  SQL_I(owner->pid), SQL_I(owner->start), SQL_T(owner->boot),
			  SQL_T(owner->host));
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
	if (r == 0 && !what->aside)
		r = conv_set_current(store, what->dir, id, clock, reterr);
	r = store_end(store, r, reterr);
	if (r < 0)
		return r;
	return conv_get(store, id, clock, ret, reterr);
}

int conv_adopt(struct store *store, const struct conv_new *what, const char *session,
	const struct clock *clock, struct conv *ret, struct err *reterr)
{
	AUTO_CONV found = CONV_INIT;
	char id[UUID_TEXT];
	int r = conv_by_session(store, what->agent, session, clock, ret, reterr);

	if (r != ERR_NOTFOUND)
		return r;
	r = store_begin(store, reterr);
	if (r < 0)
		return r;
	/* Again, inside the transaction: another process may have adopted it meanwhile, and two
	 * conversations with one session would be two leases on it. */
	r = conv_by_session(store, what->agent, session, clock, &found, reterr);
	if (r == ERR_NOTFOUND) {
		uuid_new(id);
		r = insert_conv(store, what, id, NULL, clock, reterr);
		if (r == 0)
			r = conv_set_session(store, id, what->agent, session, clock, reterr);
		if (r == 0)
			r = conv_get(store, id, clock, &found, reterr);
	}
	r = store_end(store, r, reterr);
	if (r < 0)
		return r;
	*ret = found;
	found = (struct conv)CONV_INIT;
	return 0;
}

/* The resets of a folder that were not undone, the last one first: a line each, with its wall time
 * and the conversation that went on until then, if one did. */
enum { RESETS_KEPT = 16 };

static int write_resets(struct store *store, const char *dir, struct sv lines, struct err *reterr)
{
	AUTO_FREE char *key = xasprintf("reset:%s", dir);
	AUTO_FREE char *value = xmemdup0(lines.p, lines.n);

	return store_pref_set(store, key, value, reterr);
}

static char *read_resets(struct store *store, const char *dir)
{
	AUTO_FREE char *key = xasprintf("reset:%s", dir);
	char *value = NULL;

	return store_pref_get(store, key, &value, NULL) == 0 ? value : xstrdup("");
}

/* Takes the first off; false when there is none. */
static bool next_reset(struct sv *resets, int64_t *ret_ms, struct sv *ret_conversation)
{
	struct sv line, word = SV("");
	long long ms = 0;

	if (!sv_split(resets, '\n', &line) || !sv_split(&line, ' ', &word) ||
		!sv_parse_i64(word, &ms) || ms <= 0)
		return false;
	*ret_ms = ms;
	*ret_conversation = line;
	return true;
}

int64_t conv_reset_ms(struct store *store, const char *dir)
{
	AUTO_FREE char *value = read_resets(store, dir);
	struct sv rest = sv_of(value), ignored;
	int64_t ms;

	return next_reset(&rest, &ms, &ignored) ? ms : 0;
}

int conv_reset(struct store *store, const char *dir, const struct clock *clock, struct err *reterr)
{
	AUTO_CONV until = CONV_INIT;
	AUTO_STR lines = STR_INIT;
	int r = store_begin(store, reterr);

	if (r < 0)
		return r;
	r = conv_current(store, dir, clock, &until, reterr);
	if (r == 0 || r == ERR_NOTFOUND)
		r = SQL_RUN(store, reterr,
			"INSERT INTO current (dir, epoch, changed_ms) VALUES (?1, 1, ?2)"
			" ON CONFLICT (dir) DO UPDATE SET conversation = NULL, previous = NULL,"
			" epoch = epoch + 1, pinned = 0, changed_ms = ?2",
			SQL_T(dir), SQL_I(clock_wall_ms(clock)));
	if (r == 0) {
		AUTO_FREE char *before = read_resets(store, dir);
		struct sv rest = sv_of(before), line;
		str_addf(&lines, "%lld %s\n", (long long)clock_wall_ms(clock), until.id);
		for (int i = 1; i < RESETS_KEPT && sv_split(&rest, '\n', &line); i++)
			str_addf(&lines, "%.*s\n", SV_ARG(line));
		r = write_resets(store, dir, str_sv(&lines), reterr);
	}
	/* It holds when the folder is moved, too. */
	if (r == 0)
		r = project_note(store, dir, reterr);
	return store_end(store, r, reterr);
}

int conv_before_reset(struct store *store, const char *dir, const struct clock *clock,
	struct conv *ret, struct err *reterr)
{
	AUTO_FREE char *resets = read_resets(store, dir);
	struct sv rest = sv_of(resets), conversation;
	int64_t ms;

	if (!next_reset(&rest, &ms, &conversation) || conversation.n == 0)
		return err_set(reterr, ERR_NOTFOUND, "no reset to undo in %s", dir);
	AUTO_FREE char *id = xmemdup0(conversation.p, conversation.n);
	return conv_get(store, id, clock, ret, reterr);
}

int conv_reset_undo(
	struct store *store, const char *dir, const struct clock *clock, struct err *reterr)
{
	AUTO_FREE char *resets = read_resets(store, dir);
	struct sv rest = sv_of(resets), conversation;
	int64_t ms;

	if (!next_reset(&rest, &ms, &conversation))
		return err_set(reterr, ERR_NOTFOUND, "no reset to undo in %s", dir);
	AUTO_FREE char *id = xmemdup0(conversation.p, conversation.n);
	int r = store_begin(store, reterr);
	if (r < 0)
		return r;
	r = SQL_RUN(store, reterr,
		"UPDATE current SET conversation = coalesce((SELECT id FROM conversation"
		" WHERE id = ?2), previous), previous = NULL, changed_ms = ?3 WHERE dir = ?1",
		SQL_T(dir), SQL_T(id), SQL_I(clock_wall_ms(clock)));
	/* Where nothing went on either, nothing is meant by it. */
	if (r == 0)
		r = SQL_RUN(store, reterr,
			"UPDATE current SET pinned = iif(conversation IS NULL, 0, ?2) WHERE dir = "
			"?1",
			SQL_T(dir), SQL_I(PINNED));
	/* What was brought back is no longer from before the reset, nor is what else went on in the
	 * folder since the one before it. */
	struct sv before = rest, ignored;
	int64_t since_ms = 0;
	(void)next_reset(&before, &since_ms, &ignored);
	if (r == 0)
		r = SQL_RUN(store, reterr,
			"UPDATE conversation SET epoch = (SELECT epoch FROM current WHERE dir = ?1)"
			" WHERE id = (SELECT conversation FROM current WHERE dir = ?1)"
			" OR (dir = ?1 AND active_ms > ?2)",
			SQL_T(dir), SQL_I(since_ms));
	if (r == 0)
		r = write_resets(store, dir, rest, reterr);
	return store_end(store, r, reterr);
}

int conv_pin(struct store *store, const char *dir, struct err *reterr)
{
	return SQL_RUN(store, reterr, "UPDATE current SET pinned = ?2 WHERE dir = ?1", SQL_T(dir),
		SQL_I(PINNED));
}

static bool is_set(struct store *store, const char *dir, const char *id, int how)
{
	AUTO_SQL q = SQL_INIT;

	return SQL_PREPARE(&q, store, NULL,
		       "SELECT 1 FROM current WHERE dir = ? AND pinned = ?"
		       " AND (?3 IS NULL OR conversation = ?3)",
		       SQL_T(dir), SQL_I(how), SQL_T(id)) == 0 &&
		sql_step(&q, NULL) > 0;
}

bool conv_pinned(struct store *store, const char *dir)
{
	return is_set(store, dir, NULL, PINNED);
}

int conv_place(struct store *store, const char *dir, const char *id, const struct clock *clock,
	struct err *reterr)
{
	int r = conv_set_current(store, dir, id, clock, reterr);

	return r < 0 ? r
		     : SQL_RUN(store, reterr, "UPDATE current SET pinned = ?2 WHERE dir = ?1",
			       SQL_T(dir), SQL_I(PLACED));
}

bool conv_placed(struct store *store, const char *dir, const char *id)
{
	return is_set(store, dir, id, PLACED);
}

/* Of a folder: when the session was active that went on there last and was deleted, and its id. */
#define OVER "over:"

/* Whether it may go on there by itself: it is what does, or was used in the agent since. */
static int note_over(struct store *store, const char *path, struct err *reterr)
{
	return SQL_RUN(store, reterr,
		"INSERT OR REPLACE INTO pref (key, value)"
		" SELECT '" OVER "' || s.cwd, s.active_ms || ' ' || s.id FROM session s"
		" WHERE s.path = ?1 AND NOT s.gone AND s.turns > 0 AND s.flags & ?2 = 0"
		" AND s.cwd <> ''"
		" AND iif(EXISTS (SELECT 1 FROM agent_session a"
		" WHERE a.agent = s.agent AND a.id = s.id),"
		" EXISTS (SELECT 1 FROM conversation c WHERE c.agent = s.agent"
		" AND c.session = s.id AND (s.active_ms > c.active_ms + ?4"
		" OR EXISTS (SELECT 1 FROM current k WHERE k.conversation = c.id))),"
		" s.flags & ?3 = 0)"
		" AND s.active_ms > coalesce((SELECT CAST(value AS INTEGER) FROM pref"
		" WHERE key = '" OVER "' || s.cwd), 0)",
		SQL_T(path), SQL_I(SESSION_SUBAGENT | SESSION_HELPER), SQL_I(SESSION_EXEC),
		SQL_I(LATE_LINES_MS));
}

int64_t conv_over(struct store *store, const char *dir, char **ret_session)
{
	AUTO_FREE char *key = xasprintf(OVER "%s", dir);
	AUTO_FREE char *value = NULL;
	struct sv rest, word;
	long long ms;

	if (store_pref_get(store, key, &value, NULL) < 0)
		return 0;
	rest = sv_of(value);
	if (!sv_split(&rest, ' ', &word) || !sv_parse_i64(word, &ms))
		return 0;
	if (ret_session && rest.n > 0)
		*ret_session = xmemdup0(rest.p, rest.n);
	return ms;
}

int conv_forgotten(struct store *store, const char *session, const char *path, struct err *reterr)
{
	int r = note_over(store, path, reterr);

	return r < 0 ? r
		     : SQL_RUN(store, reterr,
			       "UPDATE pref SET value = CAST(CAST(value AS INTEGER) AS TEXT)"
			       " WHERE key > '" OVER "' AND key < 'over;'"
			       " AND value LIKE '% ' || ?",
			       SQL_T(session));
}

int conv_deleted(struct store *store, const char *agent, const char *session, const char *path,
	const struct clock *clock, struct err *reterr)
{
	int r = store_begin(store, reterr);

	if (r < 0)
		return r;
	r = note_over(store, path, reterr);
	if (r == 0)
		r = SQL_RUN(
			store, reterr, "UPDATE session SET gone = 1 WHERE path = ?", SQL_T(path));
	if (r == 0)
		r = SQL_RUN(store, reterr,
			"INSERT OR REPLACE INTO pref (key, value) SELECT '" DELETED "' || id, ?3"
			" FROM conversation WHERE agent = ?1 AND session = ?2 AND NOT EXISTS"
			" (SELECT 1 FROM session WHERE agent = ?1 AND id = ?2 AND NOT gone)",
			SQL_T(agent), SQL_T(session), SQL_I(clock_wall_ms(clock)));
	return store_end(store, r, reterr);
}

int conv_restored(struct store *store, const char *session, struct err *reterr)
{
	return SQL_RUN(store, reterr,
		"DELETE FROM pref WHERE key IN"
		" (SELECT '" DELETED "' || id FROM conversation WHERE session = ?)",
		SQL_T(session));
}

int conv_rename(struct store *store, const char *id, const char *name, struct err *reterr)
{
	int r = SQL_RUN(store, reterr, "UPDATE conversation SET name = ? WHERE id = ?", SQL_T(name),
		SQL_T(id));

	if (r == 0 && sql_changes(store) == 0)
		return err_set(reterr, ERR_NOTFOUND, "no conversation %s", id);
	return r;
}

int conv_set_task(struct store *store, const char *id, enum conv_task task, struct err *reterr)
{
	return SQL_RUN(store, reterr, "UPDATE conversation SET task = ? WHERE id = ?", SQL_I(task),
		SQL_T(id));
}

int conv_retitle(struct store *store, struct conv *c, struct sv prompt, struct err *reterr)
{
	AUTO_STR title = STR_INIT;

	conv_title_of(prompt, &title);
	int r = SQL_RUN(store, reterr, "UPDATE conversation SET title = ? WHERE id = ?",
		SQL_T(title.buf), SQL_T(c->id));
	if (r == 0) {
		free(c->title);
		c->title = str_detach(&title);
	}
	return r;
}

int conv_set_session(struct store *store, const char *id, const char *agent, const char *session,
	const struct clock *clock, struct err *reterr)
{
	int r = store_begin(store, reterr);

	if (r < 0)
		return r;
	r = SQL_RUN(store, reterr,
		"INSERT OR IGNORE INTO agent_session (agent, id, conversation, created_ms)"
		" VALUES (?, ?, ?, ?)",
		SQL_T(agent), SQL_T(session), SQL_T(id), SQL_I(clock_wall_ms(clock)));
	if (r == 0)
		r = SQL_RUN(store, reterr,
			"UPDATE conversation SET agent = ?, session = ? WHERE id = ?", SQL_T(agent),
			SQL_T(session), SQL_T(id));
	return store_end(store, r, reterr);
}

/* ---- leases ---- */

int conv_busy(const struct conv *c, struct err *reterr)
{
	AUTO_STR command = STR_INIT;

	proc_command(c->owner.pid, &command);
	return err_set(reterr, ERR_BUSY,
		"in use by process %d%s%s%s; wait for it, or start another conversation",
		(int)c->owner.pid, command.len ? " (faden " : "", command.buf,
		command.len ? ")" : "");
}

/* 0: free to take. */
static int check_holder(const struct conv *c, const struct proc_id *self, const struct clock *clock,
	struct err *reterr)
{
	const struct proc_id *o = &c->owner;
	bool ours = o->pid == self->pid && o->start == self->start &&
		strcmp(o->boot, self->boot) == 0 && strcmp(o->host, self->host) == 0;

	if (o->pid == 0 || ours)
		return 0;
	switch (proc_id_check(o)) {
	case PROC_GONE:
		return 0;
	case PROC_ALIVE:
		return conv_busy(c, reterr);
	case PROC_ELSEWHERE:
		break;
	}
	if (clock_wall_ms(clock) - c->beat_ms > CONV_LEASE_MS)
		return 0;
	return err_set(reterr, ERR_BUSY, "in use by process %d on %s", (int)o->pid, o->host);
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
		r = check_holder(&c, self, clock, reterr);
	if (r == 0)
		r = SQL_RUN(store, reterr,
			"UPDATE conversation SET owner_pid = ?, owner_start = ?, owner_boot = ?,"
			" owner_host = ?, heartbeat_ms = ?, status = ? WHERE id = ?",
			SQL_I(self->pid), SQL_I(self->start), SQL_T(self->boot), SQL_T(self->host),
			SQL_I(clock_wall_ms(clock)), SQL_I(CONV_ACTIVE), SQL_T(id));
	/* It is in use again: should the agent lose it now, that is not the user's wish. */
	if (r == 0)
		r = SQL_RUN(store, reterr, "DELETE FROM pref WHERE key = '" DELETED "' || ?",
			SQL_T(id));
	return store_end(store, r, reterr);
}

int conv_beat(struct store *store, const char *id, const struct proc_id *self,
	const struct clock *clock, struct err *reterr)
{
	int r = SQL_RUN(store, reterr,
		"UPDATE conversation SET heartbeat_ms = ? WHERE id = ? AND owner_pid = ?"
		" AND owner_start = ?",
		SQL_I(clock_wall_ms(clock)), SQL_T(id), SQL_I(self->pid), SQL_I(self->start));

	if (r == 0 && sql_changes(store) == 0)
		return err_set(reterr, ERR_BUSY, "the lease on this conversation was lost");
	return r;
}

int conv_give(struct store *store, const char *id, const struct proc_id *self,
	enum conv_status status, const struct clock *clock, struct err *reterr)
{
	return SQL_RUN(store, reterr,
		"UPDATE conversation SET owner_pid = NULL, owner_start = NULL,"
		" owner_boot = NULL, owner_host = NULL, heartbeat_ms = NULL, status = ?,"
		" active_ms = ?, age_ms = ?, boot = ?"
		" WHERE id = ? AND owner_pid = ? AND owner_start = ?",
		SQL_I(status), SQL_I(clock_wall_ms(clock)), SQL_I(clock_age_ms(clock)),
		SQL_T(self->boot), SQL_T(id), SQL_I(self->pid), SQL_I(self->start));
}

int conv_untake(struct store *store, const char *id, const struct proc_id *self, struct err *reterr)
{
	return SQL_RUN(store, reterr,
		"UPDATE conversation SET owner_pid = NULL, owner_start = NULL, owner_boot = NULL,"
		" owner_host = NULL, heartbeat_ms = NULL, status = ?"
		" WHERE id = ? AND owner_pid = ? AND owner_start = ?",
		SQL_I(CONV_IDLE), SQL_T(id), SQL_I(self->pid), SQL_I(self->start));
}
