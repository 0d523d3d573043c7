/*
 * Who is writing now, by the notes the agents leave for their own use; and the names that Codex
 * keeps beside its sessions.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/path.h"
#include "os/proc.h"
#include "transcript/adapter.h"
#include "transcript/home.h"

enum {
	NOTE_MAX = 256 * 1024, /* bytes of <pid>.json */
	LOCKS_MAX = 4 * 1024 * 1024, /* bytes of /proc/locks */
};

static void closedirp(DIR **dir)
{
	if (*dir)
		(void)closedir(*dir);
}

/* ---- Claude: sessions/<pid>.json ---- */

/* procStart is the start time from /proc as text; where it is something else, the pid alone must
 * do. */
static bool note_alive(struct jval note, pid_t *ret_pid)
{
	int64_t pid;
	long long start;
	if (!scan_i64(value_member(note, "pid"), &pid) || pid <= 0 || pid > INT32_MAX)
		return false;
	uint64_t now = proc_start_time((pid_t)pid);
	if (now == 0)
		return false;
	*ret_pid = (pid_t)pid;
	struct jval then = value_member(note, "procStart");
	struct sv text = then.type == J_STRING ? scan_inner(then) : then.raw;
	return then.type == J_NONE || !sv_parse_i64(text, &start) || (uint64_t)start == now;
}

static void claude_note(const char *path, struct map *ids)
{
	AUTO_STR text = STR_INIT;
	AUTO_STR id = STR_INIT;
	struct jval note;
	pid_t pid;
	if (file_read(path, NOTE_MAX, &text, NULL) < 0 || scan_text(str_sv(&text), &note) < 0)
		return;
	if (scan_string(value_member(note, "sessionId"), &id) && note_alive(note, &pid))
		(void)map_put(ids, str_sv(&id), (uint64_t)pid);
}

void claude_writers(const char *root, struct map *ids)
{
	AUTO_FREE char *folder = path_join(root, "sessions");
	CLEANUP(closedirp) DIR *dir = opendir(folder);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir)))
		if (sv_ends(sv_of(entry->d_name), SV(".json"))) {
			AUTO_FREE char *path = path_join(folder, entry->d_name);
			claude_note(path, ids);
		}
}

/* ---- Codex: thread-writer-locks/<id>.lock, locked while the thread is open ---- */

/* Taking the lock to see whether it is free could make a Codex that starts just now fail, so the
 * kernel's list is read instead: "1: FLOCK ADVISORY WRITE pid maj:min:inode 0 EOF". */
static bool lock_line(struct sv line, uint64_t *ret_inode, long long *ret_pid)
{
	struct sv field, last = { NULL, 0 };
	int i = 0;
	while (sv_split(&line, ' ', &field)) {
		if (field.n == 0)
			continue;
		if (i == 4 && !sv_parse_i64(field, ret_pid))
			return false;
		if (i++ == 5)
			last = field;
	}
	long long inode;
	struct sv piece = { NULL, 0 };
	while (sv_split(&last, ':', &piece))
		;
	if (!sv_parse_i64(piece, &inode) || inode <= 0)
		return false;
	*ret_inode = (uint64_t)inode;
	return true;
}

static void locked_inodes(struct map *inodes)
{
	AUTO_STR text = STR_INIT;
	if (file_read("/proc/locks", LOCKS_MAX, &text, NULL) < 0)
		return;
	struct sv rest = str_sv(&text), line;
	while (sv_split(&rest, '\n', &line)) {
		uint64_t inode;
		long long pid = 0;
		if (lock_line(line, &inode, &pid))
			(void)map_put(inodes, sv_make((const char *)&inode, sizeof(inode)),
				pid > 0 ? (uint64_t)pid : 0);
	}
}

void codex_writers(const char *root, struct map *ids)
{
	static const struct sv end = { ".lock", 5 };
	AUTO_FREE char *folder = path_join(root, "thread-writer-locks");
	CLEANUP(closedirp) DIR *dir = opendir(folder);
	if (!dir)
		return;
	AUTO_MAP inodes = MAP_INIT;
	locked_inodes(&inodes);
	const struct dirent *entry;
	while ((entry = readdir(dir))) {
		struct sv name = sv_of(entry->d_name);
		struct stat st;
		uint64_t pid;
		if (!sv_ends(name, end) || fstatat(dirfd(dir), entry->d_name, &st, 0) < 0)
			continue;
		uint64_t inode = st.st_ino;
		if (map_get(&inodes, sv_make((const char *)&inode, sizeof(inode)), &pid))
			(void)map_put(ids, sv_head(name, name.n - end.n), pid);
	}
}

void transcript_writers(const struct transcript_home *home, struct map *ids)
{
	home->format->writers(home->root, ids);
}

/* ---- by the arguments of processes ---- */

struct loading {
	const struct transcript_home *home;
	struct sv id;
};

/* argv[0], or argv[1] of an interpreter; also as "NAME.js" or "NAME-x86_64". */
static bool is_program(struct sv word, struct sv agent)
{
	return sv_starts(path_base(word), agent);
}

/* The folder in which a process keeps its sessions. False when that cannot be known: another
 * user's, or one that is relative to where it runs. */
static bool home_of(pid_t pid, const struct transcript_home *home, struct str *out)
{
	int r = home->variable ? proc_variable(pid, home->variable, out) : -1;

	if (r >= 0 && out->len == 0 && (r = proc_variable(pid, "HOME", out)) > 0)
		str_addf(out, "/%s", home->below);
	return r > 0 && sv_starts(str_sv(out), SV("/"));
}

/* Sessions of one id may lie in two homes: a copy, or another user's. */
static bool in_home(pid_t pid, const struct transcript_home *home)
{
	AUTO_STR dir = STR_INIT;
	AUTO_FREE char *its = NULL;
	AUTO_FREE char *ours = NULL;

	if (!home->root || path_real(home->root, &ours, NULL) < 0 || !home_of(pid, home, &dir))
		return true;
	int r = path_real(dir.buf, &its, NULL);
	return r == 0 ? strcmp(its, ours) == 0 : r != -ENOENT;
}

static bool is_loading(void *data, pid_t pid, struct sv arguments)
{
	const struct loading *l = data;
	struct sv word;
	bool program = false;

	for (int i = 0; sv_split(&arguments, '\0', &word); i++) {
		if (i < 2)
			program |= is_program(word, sv_of(l->home->agent));
		else if (program && sv_ends(word, l->id))
			return in_home(pid, l->home);
	}
	return false;
}

int64_t transcript_loader(const struct transcript_home *home, const char *id)
{
	struct loading l = { home, sv_of(id) };

	return l.id.n > 0 ? proc_find(is_loading, &l) : 0;
}

bool writer_is_server(int64_t pid)
{
	AUTO_STR arguments = STR_INIT;

	if (pid <= 0 || !proc_arguments((pid_t)pid, &arguments))
		return false;
	struct sv rest = str_sv(&arguments), word;
	while (sv_split(&rest, '\0', &word))
		if (sv_is(word, "app-server"))
			return true;
	return false;
}

void writer_describe(const char *agent, int64_t pid, struct str *out)
{
	if (writer_is_server(pid))
		str_addf(out, "%s's background server (process %lld; \"kill %lld\" ends it)", agent,
			(long long)pid, (long long)pid);
	else
		str_addf(out, "%s (process %lld)", agent, (long long)pid);
}

/* ---- Codex: session_index.jsonl ---- */

struct names {
	struct map *ids;
	struct strv *names;
};

static int names_take(void *data, struct sv text)
{
	static const struct scan_key keys[] = {
		SCAN_KEY("id", SCAN_TOP),
		SCAN_KEY("thread_name", SCAN_TOP),
	};
	struct names *n = data;
	struct jval vals[ARRAY_LEN(keys)];
	if (record_keys(text, keys, ARRAY_LEN(keys), vals) < 0)
		return ERR_INPUT;
	AUTO_STR id = STR_INIT;
	AUTO_STR name = STR_INIT;
	if (scan_string(vals[0], &id) && scan_string(vals[1], &name)) {
		(void)map_put(n->ids, str_sv(&id), n->names->n);
		strv_addsv(n->names, str_sv(&name));
	}
	return 0;
}

int codex_names(const char *root, struct map *ids, struct strv *names, struct err *reterr)
{
	static const struct record_fns fns = { .take = names_take };
	AUTO_FREE char *path = path_join(root, "session_index.jsonl");
	CLEANUP(jsonl_freep) struct jsonl *lines = NULL;
	int rc = jsonl_open(path, NULL, &lines, reterr);
	if (rc == -ENOENT)
		return 0;
	struct jsonl_line line;
	struct names n = { ids, names };
	while (rc >= 0 && (rc = jsonl_next(lines, &line, reterr)) > 0)
		record_each(line.text, &fns, &n);
	return rc;
}
