/*
 * Codex's folder: sessions/YYYY/MM/DD/rollout-TIME-ID.jsonl, archived_sessions/ of the same form,
 * either with .zst behind it when it was not used for long, until it is resumed;
 * names in session_index.jsonl, and thread-writer-locks/ID.lock, locked while a thread is open.
 */
#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/uuid.h"
#include "os/file.h"
#include "os/path.h"
#include "os/unpack.h"
#include "transcript/adapter.h"
#include "transcript/home.h"

enum { LOCKS_MAX = 4 * 1024 * 1024 }; /* bytes of /proc/locks */

char *codex_rollout_path(const char *root, int64_t wall_ms, const char *id)
{
	time_t seconds = (time_t)(wall_ms / 1000);
	struct tm tm = { .tm_year = 70 };
	char day[32] = "", name[40] = "";

	(void)localtime_r(&seconds, &tm);
	(void)strftime(day, sizeof(day), "%Y/%m/%d", &tm);
	(void)strftime(name, sizeof(name), "rollout-%Y-%m-%dT%H-%M-%S", &tm);
	return xasprintf("%s/sessions/%s/%s-%s.jsonl", root, day, name, id);
}

static void read_config(const char *in, struct str *out)
{
	enum { CONFIG_MAX = 1024 * 1024 };
	struct sv root = sv_of(in);
	size_t end;

	if (sv_find(root, SV("/sessions/"), &end) || sv_find(root, SV("/archived_sessions/"), &end))
		root = sv_head(root, end);
	AUTO_FREE char *path = xasprintf("%.*s/config.toml", SV_ARG(root));
	if (file_read(path, CONFIG_MAX, out, NULL) < 0)
		str_clear(out);
}

/* A line `model_provider = "name"` before the first table of config.toml. */
void codex_provider(const char *in, struct str *out)
{
	struct sv rest, line, word;
	AUTO_STR text = STR_INIT;

	read_config(in, &text);
	rest = str_sv(&text);
	while (sv_split(&rest, '\n', &line) && !sv_starts(sv_trim(line), SV("["))) {
		if (!sv_split(&line, '=', &word) || !sv_is(sv_trim(word), "model_provider"))
			continue;
		line = sv_trim(line);
		char quote = line.n > 0 ? line.p[0] : '\0';
		line = sv_from(line, 1);
		if ((quote == '"' || quote == '\'') && sv_split(&line, quote, &word) &&
			word.n > 0) {
			str_add(out, word);
			return;
		}
	}
	str_adds(out, "openai");
}

bool codex_has_provider(const char *in, struct sv name)
{
	static const char *const own[] = { "openai", "oss", "ollama", "lmstudio",
		"amazon-bedrock" };
	AUTO_STR text = STR_INIT;
	struct sv rest, line;

	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if (sv_is(name, own[i]))
			return true;
	read_config(in, &text);
	rest = str_sv(&text);
	while (sv_split(&rest, '\n', &line)) {
		line = sv_trim(line);
		if (!sv_starts(line, SV("[model_providers.")) || line.p[line.n - 1] != ']')
			continue;
		line = sv_from(sv_head(line, line.n - 1), strlen("[model_providers."));
		if (line.n > 1 && (line.p[0] == '"' || line.p[0] == '\''))
			line = sv_head(sv_from(line, 1), line.n - 2);
		if (sv_eq(line, name))
			return true;
	}
	return false;
}

static char *new_path(const char *root, const char *cwd UNUSED, int64_t wall_ms, const char *id)
{
	return codex_rollout_path(root, wall_ms, id);
}

/* rollout-2026-01-31T12-00-00-<uuid>.jsonl; the uuid alone for files that others placed. */
static struct sv path_id(struct sv base)
{
	static const struct sv end = { ".jsonl", 6 };

	enum { UUID_CHARS = UUID_TEXT - 1 };

	if (!sv_ends(base, end) || base.n < end.n + UUID_CHARS)
		return (struct sv){ NULL, 0 };
	struct sv id = sv_make(base.p + base.n - end.n - UUID_CHARS, UUID_CHARS);
	return uuid_valid(id) ? id : (struct sv){ NULL, 0 };
}

static bool is_session(const struct tree_file *file, bool *ret_subagent)
{
	struct sv plain = unpack_plain(sv_of(file->path));

	*ret_subagent = false;
	if (path_id(unpack_plain(file->name)).n == 0)
		return false;
	/* While one is made of the other there are both: the plain one counts, as for Codex. */
	AUTO_FREE char *twin = unpack_is(file->name) ? xmemdup0(plain.p, plain.n) : NULL;
	return !twin || !path_exists(twin);
}

/* The inode and the holder in a line of the kernel's list of locks: "1: FLOCK ADVISORY WRITE pid
 * maj:min:inode 0 EOF". */
static bool lock_line(struct sv line, uint64_t *ret_inode, long long *ret_pid)
{
	struct sv field, place = { NULL, 0 }, piece = { NULL, 0 };
	long long inode;
	int i = 0;

	while (sv_split(&line, ' ', &field)) {
		if (field.n == 0)
			continue;
		if (i == 4 && !sv_parse_i64(field, ret_pid))
			return false;
		if (i++ == 5)
			place = field;
	}
	while (sv_split(&place, ':', &piece))
		;
	if (!sv_parse_i64(piece, &inode) || inode <= 0)
		return false;
	*ret_inode = (uint64_t)inode;
	return true;
}

/* Taking the lock to see whether it is free could make a Codex that starts just now fail, so the
 * kernel's list is read instead. */
static void writers(const char *root, writer_ours_fn ours, struct map *ids)
{
	static const struct sv end = { ".lock", 5 };
	AUTO_FREE char *folder = path_join(root, "thread-writer-locks");
	AUTO_STR locks = STR_INIT;
	AUTO_MAP inodes = MAP_INIT;
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	struct sv rest, line;

	if (!dir)
		return;
	if (file_read("/proc/locks", LOCKS_MAX, &locks, NULL) == 0)
		for (rest = str_sv(&locks); sv_split(&rest, '\n', &line);) {
			uint64_t inode;
			long long pid = 0;
			if (lock_line(line, &inode, &pid))
				(void)map_put(&inodes, sv_make((const char *)&inode, sizeof(inode)),
					pid > 0 ? (uint64_t)pid : 0);
		}
	while ((entry = readdir(dir))) {
		struct sv name = sv_of(entry->d_name);
		struct stat st;
		uint64_t pid;
		if (!sv_ends(name, end) || fstatat(dirfd(dir), entry->d_name, &st, 0) < 0)
			continue;
		uint64_t inode = st.st_ino;
		if (map_get(&inodes, sv_make((const char *)&inode, sizeof(inode)), &pid) &&
			!(ours && pid && ours((int64_t)pid)))
			(void)map_put(ids, sv_head(name, name.n - end.n), pid);
	}
	(void)closedir(dir);
}

struct names {
	struct map *ids;
	struct strv *names;
};

static int take_name(void *data, struct sv text)
{
	static const struct scan_key keys[] = {
		SCAN_KEY("id", SCAN_TOP),
		SCAN_KEY("thread_name", SCAN_TOP),
	};
	struct names *n = data;
	struct jval vals[ARRAY_LEN(keys)];
	AUTO_STR id = STR_INIT;
	AUTO_STR name = STR_INIT;

	if (record_keys(text, keys, ARRAY_LEN(keys), vals) < 0)
		return ERR_INPUT;
	if (scan_string(vals[0], &id) && scan_string(vals[1], &name)) {
		(void)map_put(n->ids, str_sv(&id), n->names->n);
		strv_addsv(n->names, str_sv(&name));
	}
	return 0;
}

static int read_names(const char *path, struct map *ids, struct strv *names, struct err *reterr)
{
	static const struct record_fns fns = { .take = take_name };
	CLEANUP(jsonl_freep) struct jsonl *lines = NULL;
	struct names n = { ids, names };
	struct jsonl_line line;
	int r = jsonl_open(path, NULL, &lines, reterr);

	if (r == -ENOENT)
		return 0;
	while (r >= 0 && (r = jsonl_next(lines, &line, reterr)) > 0)
		record_each(line.text, &fns, &n);
	return r;
}

const struct transcript_places codex_places = {
	.tops = { "sessions", "archived_sessions" },
	.packs = true,
	.is_session = is_session,
	.path_id = path_id,
	.new_path = new_path,
	.writers = writers,
	.names_file = "session_index.jsonl",
	.read_names = read_names,
	.server_word = "app-server",
};
