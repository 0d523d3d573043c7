/*
 * Names of folders and files, and the walk over a home.
 */
#include "transcript/home.h"

#include <errno.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "os/path.h"
#include "os/tree.h"
#include "transcript/adapter.h"

/* ---- Claude's project folders ---- */

enum { PROJECT_NAME_MAX = 200 };

static void add_base36(struct str *out, uint32_t n)
{
	char digits[8];
	size_t at = sizeof(digits);
	do {
		digits[--at] = "0123456789abcdefghijklmnopqrstuvwxyz"[n % 36];
		n /= 36;
	} while (n > 0);
	str_add(out, sv_make(digits + at, sizeof(digits) - at));
}

static bool is_plain(uint32_t unit)
{
	return (unit >= '0' && unit <= '9') || (unit >= 'a' && unit <= 'z') ||
		(unit >= 'A' && unit <= 'Z');
}

static void add_unit(struct str *out, uint32_t unit, uint32_t *hash)
{
	*hash = *hash * 31 + unit;
	str_addc(out, is_plain(unit) ? (char)unit : '-');
}

/* Counts in UTF-16 units, as the agent's language does; a long name ends in a hash of the whole
 * path, read as a signed number without its sign. */
void claude_project_name(struct str *out, struct sv cwd)
{
	size_t start = out->len;
	uint32_t hash = 0;
	while (cwd.n > 0) {
		uint32_t cp;
		cwd = sv_from(cwd, utf8_decode(cwd, &cp));
		if (cp >= 0x10000) {
			add_unit(out, 0xd800 + ((cp - 0x10000) >> 10), &hash);
			cp = 0xdc00 + ((cp - 0x10000) & 0x3ff);
		}
		add_unit(out, cp, &hash);
	}
	if (out->len - start <= PROJECT_NAME_MAX)
		return;
	str_cut(out, start + PROJECT_NAME_MAX);
	str_addc(out, '-');
	add_base36(out, hash > INT32_MAX ? 0u - hash : hash);
}

char *claude_project_dir(const char *root, const char *cwd)
{
	AUTO_STR path = STR_INIT;
	str_addf(&path, "%s/projects/", root);
	claude_project_name(&path, sv_of(cwd));
	return str_detach(&path);
}

char *claude_session_path(const char *root, const char *cwd, const char *id)
{
	AUTO_FREE char *dir = claude_project_dir(root, cwd);
	return xasprintf("%s/%s.jsonl", dir, id);
}

char *codex_rollout_path(const char *root, int64_t wall_ms, const char *id)
{
	time_t seconds = (time_t)(wall_ms / 1000);
	struct tm tm = { .tm_year = 70 };
	(void)localtime_r(&seconds, &tm);
	char day[32] = "", name[40] = "";
	(void)strftime(day, sizeof(day), "%Y/%m/%d", &tm);
	(void)strftime(name, sizeof(name), "rollout-%Y-%m-%dT%H-%M-%S", &tm);
	return xasprintf("%s/sessions/%s/%s-%s.jsonl", root, day, name, id);
}

char *transcript_new_path(
	const struct transcript_home *home, const char *cwd, int64_t wall_ms, const char *id)
{
	return home->format->new_path(home->root, cwd, wall_ms, id);
}

/* ---- the walk ---- */

enum { WALK_DEPTH = 3 }; /* folders between a top and its sessions */

struct walk {
	const struct transcript_home *home;
	int (*fn)(void *data, const struct transcript_file *file);
	void (*trouble)(void *data, const struct err *err);
	void *data;
};

static int walk_file(void *data, const struct tree_file *file)
{
	const struct walk *w = data;
	bool subagent;

	if (!w->home->format->is_session(file, &subagent))
		return 0;
	return w->fn(w->data,
		&(struct transcript_file){
			.path = file->path,
			.dev = file->device,
			.ino = file->inode,
			.size = file->size,
			.mtime_ns = file->mtime_ns,
			.subagent = subagent,
		});
}

static void walk_error(void *data, const char *path, int errnum)
{
	const struct walk *w = data;
	struct err err = ERR_INIT;
	(void)err_errno(&err, errnum, "%s", path);
	if (w->trouble)
		w->trouble(w->data, &err);
}

static int walk_tops(struct walk *w, struct sv suffix, struct err *reterr)
{
	const struct tree_opts opts = {
		.depth = WALK_DEPTH,
		.suffix = suffix,
		.on_file = walk_file,
		.on_error = walk_error,
		.data = w,
	};
	for (const char *const *top = w->home->format->tops; *top; top++) {
		AUTO_FREE char *path = path_join(w->home->root, *top);
		struct err err = ERR_INIT;
		int rc = tree_walk(path, &opts, &err);
		if (rc == -ENOENT || rc == -ENOTDIR)
			continue;
		/* A top that cannot be read is trouble like any other folder. */
		if (rc < 0 && err.code == rc && w->trouble)
			w->trouble(w->data, &err);
		else if (rc != 0)
			return err_set(reterr, rc, "%s: walk ended", path);
	}
	return 0;
}

int transcript_walk(const struct transcript_home *home,
	int (*fn)(void *data, const struct transcript_file *file),
	void (*trouble)(void *data, const struct err *err), void *data, struct err *reterr)
{
	struct walk w = { home, fn, trouble, data };
	return walk_tops(&w, SV(".jsonl"), reterr);
}

struct find {
	const struct transcript_format *format;
	struct sv id;
	char *found;
};

static int find_take(void *data, const struct transcript_file *file)
{
	struct find *f = data;
	if (!f->found && sv_eq(transcript_path_id(f->format, sv_of(file->path)), f->id))
		f->found = xstrdup(file->path);
	return 0;
}

int transcript_find(
	const struct transcript_home *home, struct sv id, char **ret, struct err *reterr)
{
	struct find find = { home->format, id, NULL };
	struct walk w = { home, find_take, NULL, &find };
	AUTO_STR suffix = STR_INIT;
	str_add(&suffix, id);
	str_adds(&suffix, ".jsonl");
	int rc = walk_tops(&w, str_sv(&suffix), reterr);
	if (rc < 0) {
		free(find.found);
		return rc;
	}
	*ret = find.found;
	return 0;
}
