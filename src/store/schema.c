#include "store/schema.h"

#include "base/attr.h"

/* Times ending in _ms are wall time; age_ms is the age clock of the boot named beside it. */
static const char step_1[] =
	"CREATE TABLE conversation ("
	" seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	" id TEXT NOT NULL UNIQUE,"
	" name TEXT," /* given by the user */
	" title TEXT," /* first words of the first prompt */
	" dir TEXT NOT NULL,"
	" project TEXT NOT NULL,"
	" agent TEXT NOT NULL,"
	" session TEXT," /* the agent's session id that the next turn resumes */
	" status INTEGER NOT NULL DEFAULT 0," /* enum conv_status */
	" task INTEGER NOT NULL DEFAULT 0," /* enum conv_task */
	" created_ms INTEGER NOT NULL,"
	" active_ms INTEGER NOT NULL,"
	" age_ms INTEGER NOT NULL,"
	" boot TEXT NOT NULL,"
	" turns INTEGER NOT NULL DEFAULT 0,"
	" epoch INTEGER NOT NULL DEFAULT 0," /* resets of its folder that it has seen */
	" owner_pid INTEGER, owner_start INTEGER, owner_boot TEXT, owner_host TEXT,"
	" heartbeat_ms INTEGER"
	") STRICT;"
	"CREATE INDEX conversation_active ON conversation(active_ms);"
	"CREATE INDEX conversation_project ON conversation(project, active_ms);"
	"CREATE INDEX conversation_dir ON conversation(dir, active_ms);"

	/* Every session id an agent ever used for a conversation. */
	"CREATE TABLE agent_session ("
	" agent TEXT NOT NULL,"
	" id TEXT NOT NULL,"
	" conversation TEXT NOT NULL REFERENCES conversation(id),"
	" created_ms INTEGER NOT NULL,"
	" PRIMARY KEY (agent, id)"
	") STRICT, WITHOUT ROWID;"
	"CREATE INDEX agent_session_conversation ON agent_session(conversation);"

	/* What goes on in a folder; conversation NULL: the next turn is fresh. */
	"CREATE TABLE current ("
	" dir TEXT PRIMARY KEY,"
	" conversation TEXT,"
	" previous TEXT," /* for undoing a reset of an earlier version */
	" pinned INTEGER NOT NULL DEFAULT 0," /* 1: the next turn goes there unrouted; 2: see
						 conv_place() */
	" epoch INTEGER NOT NULL DEFAULT 0,"
	" changed_ms INTEGER NOT NULL"
	") STRICT, WITHOUT ROWID;"

	/* The journal: a row is on disk before the agent sees the prompt. */
	"CREATE TABLE turn ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" conversation TEXT NOT NULL REFERENCES conversation(id),"
	" session TEXT,"
	" state INTEGER NOT NULL," /* enum turn_state */
	" prompt TEXT NOT NULL,"
	" transcript TEXT," /* path and size of the transcript before the turn */
	" before_size INTEGER NOT NULL DEFAULT 0,"
	" started_ms INTEGER NOT NULL,"
	" ended_ms INTEGER,"
	" fail TEXT"
	") STRICT;"
	"CREATE INDEX turn_conversation ON turn(conversation, id);"

	/* What conversations are about, for the router; made again from the prompts when lost. */
	"CREATE TABLE topic ("
	" seq INTEGER PRIMARY KEY REFERENCES conversation(seq),"
	" data BLOB NOT NULL"
	") STRICT;"
	"CREATE TABLE term ("
	" stem TEXT NOT NULL,"
	" seq INTEGER NOT NULL,"
	" PRIMARY KEY (stem, seq)"
	") STRICT, WITHOUT ROWID;"

	/* Routing that the user corrected: this text belongs there, not here. */
	"CREATE TABLE correction ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" text TEXT NOT NULL,"
	" wrong TEXT NOT NULL,"
	" \"right\" TEXT," /* NULL: a conversation of its own */
	" made_ms INTEGER NOT NULL"
	") STRICT;"

	"CREATE TABLE pref (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;";

/* The catalogue: all of it but session_name can be made again from the agents' files. */
static const char step_2[] =
	"CREATE TABLE session ("
	" path TEXT NOT NULL UNIQUE,"
	" agent TEXT NOT NULL,"
	" id TEXT NOT NULL,"
	" dev INTEGER NOT NULL, ino INTEGER NOT NULL," /* what stat() said when it was read */
	" size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,"
	" gone INTEGER NOT NULL DEFAULT 0,"
	" offset INTEGER NOT NULL, anchor INTEGER NOT NULL," /* struct session_mark */
	" tail_turns INTEGER NOT NULL, mark_flags INTEGER NOT NULL,"
	" format INTEGER NOT NULL,"
	" flags INTEGER NOT NULL,"
	" relation INTEGER NOT NULL,"
	" turns INTEGER NOT NULL,"
	" first_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL,"
	" active_ms INTEGER NOT NULL,"
	" context_window INTEGER NOT NULL,"
	" tokens_in INTEGER NOT NULL, tokens_cache_read INTEGER NOT NULL,"
	" tokens_cache_write INTEGER NOT NULL, tokens_out INTEGER NOT NULL,"
	" name TEXT NOT NULL, cwd TEXT NOT NULL, branch TEXT NOT NULL, model TEXT NOT NULL,"
	" root TEXT NOT NULL, parent_id TEXT NOT NULL, parent_path TEXT NOT NULL,"
	" prompt TEXT NOT NULL"
	") STRICT;"
	/* Seeing what changed reads this index and not the rows. */
	"CREATE INDEX session_stat ON session(path, agent, dev, ino, size, mtime_ns, gone);"
	"CREATE INDEX session_id ON session(id);"
	"CREATE INDEX session_ino ON session(ino);"
	"CREATE INDEX session_active ON session(active_ms);"
	"CREATE INDEX session_cwd ON session(cwd, active_ms);"
	"CREATE INDEX session_parent ON session(parent_id) WHERE parent_id <> '';"

	"CREATE TABLE session_name ("
	" agent TEXT NOT NULL,"
	" id TEXT NOT NULL,"
	" name TEXT NOT NULL,"
	" PRIMARY KEY (agent, id)"
	") STRICT, WITHOUT ROWID;"

	/* Files that hold names of many sessions, as stat() last saw them. */
	"CREATE TABLE catalogue_file ("
	" path TEXT PRIMARY KEY,"
	" ino INTEGER NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL"
	") STRICT, WITHOUT ROWID;";

/* Originals that are kept, and where in them the texts behind placeholders stand. */
static const char step_3[] =
	"CREATE TABLE archive ("
	" seq INTEGER PRIMARY KEY AUTOINCREMENT,"
	" key TEXT NOT NULL UNIQUE," /* its file is KEY.jsonl in the archive's folder */
	" session TEXT NOT NULL," /* the agent's id of it */
	" path TEXT NOT NULL," /* where it lay */
	" how INTEGER NOT NULL," /* enum archive_how */
	" dev INTEGER NOT NULL, ino INTEGER NOT NULL," /* of the original when it was kept */
	" size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,"
	" kept_ms INTEGER NOT NULL"
	") STRICT;"
	"CREATE INDEX archive_ino ON archive(ino, dev);"
	"CREATE INDEX archive_session ON archive(session);"

	/* One text may stand in several places: the first that still has it is taken. */
	"CREATE TABLE recall ("
	" low INTEGER NOT NULL, high INTEGER NOT NULL," /* struct recall_hash */
	" archive INTEGER NOT NULL REFERENCES archive(seq),"
	" offset INTEGER NOT NULL, size INTEGER NOT NULL,"
	" inner_offset INTEGER NOT NULL, inner_size INTEGER NOT NULL,"
	" kind INTEGER NOT NULL," /* enum recall_kind */
	" PRIMARY KEY (low, high, archive, offset, inner_offset)"
	") STRICT, WITHOUT ROWID;";

/*
 * The journal: steps are added. What a turn has become is the last thing that
 * its steps say. The conversation stands in the turn alone, so that its index is one of turns.
 */
static const char step_4[] =
	"CREATE TABLE step ("
	" id INTEGER PRIMARY KEY," /* grows, but with what is forgotten the last ones go */
	" kind INTEGER NOT NULL," /* enum journal_kind */
	" parent INTEGER REFERENCES step(id)," /* the turn it tells of, or what a turn is part of */
	" at_ms INTEGER NOT NULL,"
	/* The intent of a turn: */
	" conversation TEXT REFERENCES conversation(id)," /* NULL: a question that belongs to none
							   */
	" agent TEXT,"
	" session TEXT,"
	" prompt TEXT,"
	" prompt_id TEXT,"
	" transcript TEXT," /* path and size of the transcript before the turn */
	" before_size INTEGER,"
	/* Its end: */
	" state INTEGER," /* enum turn_state */
	" fail TEXT"
	") STRICT;"
	"CREATE INDEX step_conversation ON step(conversation, id) WHERE conversation IS NOT NULL;"
	"CREATE INDEX step_parent ON step(parent, kind) WHERE parent IS NOT NULL;"

	"INSERT INTO step (id, kind, at_ms, conversation, agent, session, prompt, transcript,"
	" before_size) SELECT t.id, 0, t.started_ms, t.conversation, c.agent, t.session, t.prompt,"
	" t.transcript, t.before_size FROM turn t JOIN conversation c ON c.id = t.conversation"
	" ORDER BY t.id;"
	"INSERT INTO step (kind, parent, at_ms, state, fail)"
	" SELECT 2, id, coalesce(ended_ms, started_ms), state, fail FROM turn WHERE state <> 0"
	" ORDER BY id;"
	"DROP TABLE turn;"

	/* The turns as they stand, for looking. */
	"CREATE VIEW turn AS SELECT t.id, t.parent, t.conversation, t.agent,"
	" coalesce((SELECT s.session FROM step s WHERE s.parent = t.id AND s.kind = 1"
	" ORDER BY s.id DESC LIMIT 1), t.session) AS session,"
	" t.prompt, t.prompt_id, t.transcript, t.before_size, t.at_ms AS started_ms,"
	" coalesce(e.state, 0) AS state, e.at_ms AS ended_ms, e.fail"
	" FROM step t LEFT JOIN step e ON e.id ="
	" (SELECT max(id) FROM step WHERE parent = t.id AND kind = 2) WHERE t.kind = 0;";

/* Which of the trimmed sessions an agent chose for is in their files: they are read anew. */
static const char step_5[] = "DELETE FROM session WHERE relation = 1 AND gone = 0;";

/* The same places as in recall, many in a row: a row each would cost more than the trim they are
 * of.
 */
static const char step_6[] = "CREATE TABLE recall_pack ("
			     " archive INTEGER NOT NULL REFERENCES archive(seq),"
			     " lows BLOB NOT NULL," /* eight bytes each: low of its hash */
			     " places BLOB NOT NULL" /* the rest, in the same order; see recall.c */
			     ") STRICT;";

/* Where projects are and were, and by what they are known: see project.h. */
static const char step_7[] =
	"CREATE TABLE place ("
	" id INTEGER PRIMARY KEY,"
	" top TEXT NOT NULL,"
	" since_ms INTEGER NOT NULL, until_ms INTEGER NOT NULL," /* open: the largest number */
	" UNIQUE (top, until_ms)"
	") STRICT;"
	"CREATE TABLE place_mark ("
	" mark TEXT NOT NULL,"
	" place INTEGER NOT NULL REFERENCES place(id),"
	" PRIMARY KEY (mark, place)"
	") STRICT, WITHOUT ROWID;"
	"CREATE INDEX place_mark_place ON place_mark(place);"
	/* Folders of sessions that were looked at. */
	"CREATE TABLE folder (dir TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;";

/* A prompt that waits for its turn, where and by whom: its process may be killed as well. */
static const char step_8[] =
	"ALTER TABLE step ADD COLUMN dir TEXT;"
	"ALTER TABLE step ADD COLUMN owner_pid INTEGER;"
	"ALTER TABLE step ADD COLUMN owner_start INTEGER;"
	"ALTER TABLE step ADD COLUMN owner_boot TEXT;"
	"ALTER TABLE step ADD COLUMN owner_host TEXT;"
	"CREATE INDEX step_dir ON step(dir) WHERE dir IS NOT NULL;"

	/* A wait beside the turns, as one that was never begun. */
	"CREATE VIEW attempt AS SELECT *, NULL AS dir FROM turn UNION ALL"
	" SELECT t.id, t.parent, t.conversation, t.agent, NULL, t.prompt, NULL, NULL, 0, t.at_ms,"
	" coalesce(e.state, 0), e.at_ms, e.fail, t.dir FROM step t LEFT JOIN step e"
	" ON e.parent = t.id AND e.kind = 2 WHERE t.kind = 4;";

/* What a place is known by is looked at anew when the settings of its repository have changed. */
static const char step_9[] = "ALTER TABLE place ADD COLUMN config_ns INTEGER NOT NULL DEFAULT 0;";

/* Which sessions were active last is answered without a look at their rows, and which were written
 * to without one at all others. */
static const char step_10[] =
	"DROP INDEX session_active;"
	"CREATE INDEX session_active ON session(active_ms, gone, turns, path);"
	"CREATE INDEX IF NOT EXISTS session_mtime ON session(mtime_ns);"
	/* One that was gone and comes back compressed, or not any more, is no second one. */
	"CREATE TRIGGER IF NOT EXISTS session_back AFTER INSERT ON session WHEN NEW.gone = 0 BEGIN"
	" DELETE FROM session WHERE gone <> 0 AND path <> NEW.path AND"
	" path IN (NEW.path || '.zst', replace(NEW.path, '.jsonl.zst', '.jsonl')); END;";

/* What was said, in order and by whom; it was one sentence a folder before. See said.h. */
static const char step_11[] =
	"CREATE TABLE said ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" project TEXT NOT NULL, dir TEXT NOT NULL,"
	/* Of the session of processes it came from; 0: not known. */
	" pid INTEGER NOT NULL, start INTEGER NOT NULL,"
	" boot TEXT NOT NULL, host TEXT NOT NULL,"
	" note TEXT NOT NULL"
	") STRICT;"
	"CREATE INDEX said_project ON said(project, id);"
	"INSERT INTO said (project, dir, pid, start, boot, host, note)"
	" SELECT substr(key, 7), substr(key, 7), 0, 0, '', '', value FROM pref"
	" WHERE key > 'route:' AND key < 'route;';"
	"DELETE FROM pref WHERE key > 'route:' AND key < 'route;';";

/* What was written with the time of before is told by the time of the change. */
static const char step_12[] = "ALTER TABLE session ADD COLUMN ctime_ns INTEGER NOT NULL DEFAULT 0;"
			      "DROP INDEX session_stat;"
			      "CREATE INDEX session_stat ON session(path, agent, dev, ino, size, "
			      "mtime_ns, ctime_ns, gone);"
			      "CREATE INDEX session_ctime ON session(ctime_ns);";

const char *const schema_steps[] = { step_1, step_2, step_3, step_4, step_5, step_6, step_7, step_8,
	step_9, step_10, step_11, step_12 };
const size_t schema_version = ARRAY_LEN(schema_steps);
const struct schema schema_own = {
	.application_id = 0x66646e31, /* "fdn1" */
	.version = ARRAY_LEN(schema_steps),
	.steps = schema_steps,
};
