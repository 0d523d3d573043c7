/*
 * Claude Code's folder: projects/NAME/ID.jsonl with NAME made from the path of the project, and a
 * note of each running process in sessions/PID.json.
 */
#include <dirent.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "os/file.h"
#include "os/path.h"
#include "os/proc.h"
#include "transcript/adapter.h"
#include "transcript/home.h"

enum {
	PROJECT_NAME_MAX = 200,
	NOTE_MAX = 256 * 1024, /* bytes of PID.json */
};

static void add_unit(struct str *out, uint32_t unit, uint32_t *hash)
{
	bool plain = (unit >= '0' && unit <= '9') || (unit >= 'a' && unit <= 'z') ||
		(unit >= 'A' && unit <= 'Z');

	*hash = *hash * 31 + unit;
	str_addc(out, plain ? (char)unit : '-');
}

/* Counts in UTF-16 units, as the agent's language does; a long name ends in a hash of the whole
 * path to the base of 36, read as a signed number without its sign. */
void claude_project_name(struct str *out, struct sv cwd)
{
	size_t start = out->len;
	uint32_t hash = 0;
	char digits[8];
	size_t at = sizeof(digits);

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
	hash = hash > INT32_MAX ? 0u - hash : hash;
	do {
		digits[--at] = "0123456789abcdefghijklmnopqrstuvwxyz"[hash % 36];
		hash /= 36;
	} while (hash > 0);
	str_cut(out, start + PROJECT_NAME_MAX);
	str_addc(out, '-');
	str_add(out, sv_make(digits + at, sizeof(digits) - at));
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

char *claude_session_elsewhere(const char *root, const char *cwd, const char *id)
{
	const struct transcript_home home = {
		.agent = "", .format = TRANSCRIPT_CLAUDE, .root = root
	};
	AUTO_FREE char *real = NULL;
	char *found = NULL;

	if (path_real(cwd, &real, NULL) < 0)
		return NULL;
	AUTO_FREE char *here = claude_session_path(root, real, id);
	if (path_exists(here) || transcript_find(&home, sv_of(id), &found, NULL) < 0)
		return NULL;
	return found;
}

static char *new_path(const char *root, const char *cwd, int64_t wall_ms UNUSED, const char *id)
{
	return cwd[0] ? claude_session_path(root, cwd, id) : NULL;
}

static struct sv path_id(struct sv base)
{
	static const struct sv end = { ".jsonl", 6 };

	return sv_ends(base, end) ? sv_head(base, base.n - end.n) : (struct sv){ NULL, 0 };
}

/* The work of a sub-agent lies in the folder of the session it was done for. */
static struct sv subagent_of(struct sv path)
{
	struct sv folder = path_parent(path);

	return sv_is(path_base(folder), "subagents") ? path_base(path_parent(folder)) : SV("");
}

/* project/id.jsonl, and project/id/subagents/agent-x.jsonl. Other files of the same ending lie
 * about too: of the project's memory, of tools. */
static bool is_session(const struct tree_file *file, bool *ret_subagent)
{
	*ret_subagent = file->depth > 1 || sv_starts(file->name, SV("agent-"));
	return path_id(file->name).n > 0 &&
		(file->depth == 1 || (file->depth == 3 && subagent_of(sv_of(file->path)).n > 0));
}

/* Whether the process that has the pid now is the one of the note: by its start time, which the
 * note has from /proc as text; where it has something else, by what it is called. */
static bool is_noted(pid_t pid, struct jval note)
{
	uint64_t now = proc_start_time(pid);
	struct jval then = line_member(note, "procStart");
	struct sv since = then.type == J_STRING ? scan_inner(then) : then.raw;
	AUTO_STR arguments = STR_INIT;
	long long start;

	if (now == 0)
		return false;
	if (then.type != J_NONE && sv_parse_i64(since, &start))
		return (uint64_t)start == now;
	/* Its own program, or an interpreter with a script somewhere in its folder. */
	struct sv program, script = SV(""), rest;
	if (!proc_arguments(pid, &arguments))
		return false;
	rest = str_sv(&arguments);
	(void)(sv_split(&rest, '\0', &program) && sv_split(&rest, '\0', &script));
	return sv_starts(path_base(program), SV("claude")) || sv_find(script, SV("claude"), NULL);
}

static void take_note(const char *path, writer_ours_fn ours, struct map *ids)
{
	AUTO_STR text = STR_INIT;
	AUTO_STR id = STR_INIT;
	struct jval note;
	int64_t pid;

	if (file_read(path, NOTE_MAX, &text, NULL) < 0 || scan_text(str_sv(&text), &note) < 0 ||
		!scan_string(line_member(note, "sessionId"), &id) ||
		!scan_i64(line_member(note, "pid"), &pid) || pid <= 0 || pid > INT32_MAX)
		return;
	if (is_noted((pid_t)pid, note) && !(ours && ours(pid)))
		(void)map_put(ids, str_sv(&id), (uint64_t)pid);
}

static void writers(const char *root, writer_ours_fn ours, struct map *ids)
{
	AUTO_FREE char *folder = path_join(root, "sessions");
	DIR *dir = opendir(folder);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (sv_ends(sv_of(entry->d_name), SV(".json"))) {
			AUTO_FREE char *path = path_join(folder, entry->d_name);
			take_note(path, ours, ids);
		}
	if (dir)
		(void)closedir(dir);
}

const struct transcript_places claude_places = {
	.tops = { "projects" },
	.is_session = is_session,
	.subagent_of = subagent_of,
	.beside = 2,
	.path_id = path_id,
	.new_path = new_path,
	.writers = writers,
};
