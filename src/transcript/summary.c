/*
 * The summary of a session: its life cycle, and the fields that adapters fill.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "os/file.h"
#include "os/unpack.h"
#include "transcript/adapter.h"
#include "transcript/home.h"

/* Every owned string but path. */
#define INFO_STRINGS(X) \
	X(id) X(name) X(cwd) X(branch) X(prompt) X(model) X(root) X(parent_id) X(parent_path)

void session_info_init(
	struct session_info *info, const struct transcript_format *format, const char *path)
{
	*info = (struct session_info){ .path = xstrdup(path), .format = format };
	struct sv id = transcript_path_id(format, sv_of(path));
	info->id = xmemdup0(id.p ? id.p : "", id.n);
#define X(field)          \
	if (!info->field) \
		info->field = xstrdup("");
	INFO_STRINGS(X)
#undef X
}

void session_info_release(struct session_info *info)
{
	free(info->path);
#define X(field) free(info->field);
	INFO_STRINGS(X)
#undef X
	*info = (struct session_info){ .path = NULL };
}

bool transcript_speaks(struct sv text)
{
	for (size_t i = 0; i < transcript_format_count; i++)
		if (transcript_formats[i] &&
			sv_find(text, sv_of(transcript_formats[i]->speaks), NULL))
			return true;
	return false;
}

bool transcript_is_silent(const char *path)
{
	enum { SILENT_MAX = 64 * 1024 };
	AUTO_STR text = STR_INIT;

	/* What is compressed was not written to by an agent that resumes. */
	return !unpack_is(sv_of(path)) && file_read(path, SILENT_MAX, &text, NULL) == 0 &&
		!transcript_speaks(str_sv(&text));
}

bool transcript_fell_silent(const char *path, uint64_t had)
{
	struct stat st;

	return stat(path, &st) == 0 && (uint64_t)st.st_size < had && transcript_is_silent(path);
}

const char *session_relation_name(enum session_relation relation)
{
	static const char *const names[] = {
		[SESSION_ROOT] = "",
		[SESSION_TRIMMED] = "trimmed",
		[SESSION_CONTINUED] = "continued",
		[SESSION_FORKED] = "forked",
		[SESSION_PORTED] = "ported",
		[SESSION_REPAIRED] = "repaired",
		[SESSION_SMART_TRIMMED] = "smart-trimmed",
		[SESSION_MOVED] = "moved",
		[SESSION_MERGED] = "merged",
		[SESSION_REPLAYED] = "replayed",
	};

	return names[relation];
}

static void replace(char **field, struct sv text)
{
	char *fresh = xmemdup0(text.p ? text.p : "", text.n);

	free(*field);
	*field = fresh;
}

/* Escapes are at most six bytes for one. */
enum { RAW_FACTOR = 6 };

static void replace_line(char **field, struct sv text, size_t max)
{
	AUTO_STR line = STR_INIT;

	utf8_scrub_line(&line, sv_trim(text));
	replace(field, utf8_cut(str_sv(&line), max));
}

void summary_field(struct summary *s, char **field, struct jval val, size_t max)
{
	if (val.type != J_STRING)
		return;
	str_clear(&s->tmp);
	value_head(val, max * RAW_FACTOR, &s->tmp);
	replace_line(field, str_sv(&s->tmp), max);
}

void summary_path(struct summary *s, char **field, struct jval val)
{
	str_clear(&s->tmp);
	if (!scan_string(val, &s->tmp) || s->tmp.len > SESSION_PATH_MAX)
		return;
	if (memchr(s->tmp.buf, '\0', s->tmp.len) == NULL)
		replace(field, str_sv(&s->tmp));
}

bool summary_changed(struct str *last, struct jval val)
{
	if (val.type != J_STRING || sv_eq(str_sv(last), val.raw))
		return false;
	str_clear(last);
	str_add(last, val.raw);
	return true;
}

void summary_time(struct summary *s, struct jval val)
{
	int64_t ms;

	if (val.type != J_STRING || !clock_parse_iso(scan_inner(val), &ms))
		return;
	if (s->info->first_ms == 0)
		s->info->first_ms = ms;
	s->info->last_ms = ms;
}

void summary_prompt(struct summary *s, struct jval text)
{
	size_t at;

	s->info->turns++;
	if (s->info->prompt[0] != '\0' || text.type != J_STRING)
		return;
	str_clear(&s->tmp);
	value_head(text, SESSION_PROMPT_MAX * RAW_FACTOR, &s->tmp);
	struct sv words = str_sv(&s->tmp);
	/* The message of a rollover: what it is about stands before its own lines. */
	if (sv_find(words, SV("\n\n" SESSION_LINEAGE_BEGIN "\n"), &at))
		words = sv_head(words, at);
	replace_line(&s->info->prompt, words, SESSION_PROMPT_MAX);
}

void summary_usage(struct summary *s, struct jval usage)
{
	if (usage.type != J_OBJECT)
		return;
	str_clear(&s->usage);
	str_add(&s->usage, usage.raw);
}

static struct jval either(struct jval obj, const char *key, const char *other)
{
	struct jval val = line_member(obj, key);

	return val.type == J_STRING ? val : line_member(obj, other);
}

static enum session_relation relation_by_name(struct jval val)
{
	for (int r = SESSION_TRIMMED; r < SESSION_RELATIONS; r++)
		if (scan_string_eq(val, sv_of(session_relation_name((enum session_relation)r))))
			return (enum session_relation)r;
	return SESSION_CONTINUED;
}

void summary_parent(struct summary *s, struct jval trim, struct jval cont, struct jval ours)
{
	if (s->info->relation != SESSION_ROOT)
		return;
	struct jval note = ours.type == J_OBJECT ? ours : cont.type == J_OBJECT ? cont : trim;
	if (note.type != J_OBJECT)
		return;
	if (ours.type == J_OBJECT)
		s->info->relation = relation_by_name(line_member(note, "relation"));
	else if (cont.type == J_OBJECT)
		s->info->relation = line_member(note, "ported_from").type == J_NONE
			? SESSION_CONTINUED
			: SESSION_PORTED;
	else
		s->info->relation = SESSION_TRIMMED;
	if (s->info->relation == SESSION_TRIMMED &&
		scan_string_eq(
			line_member(line_member(note, "trim_params"), "method"), SV("smart-trim")))
		s->info->relation = SESSION_SMART_TRIMMED;
	summary_field(s, &s->info->parent_id, either(note, "parent_session_id", "parent_id"),
		SESSION_NAME_MAX);
	summary_path(s, &s->info->parent_path, either(note, "parent_session_file", "parent_file"));
	if (s->info->parent_id[0] == '\0' && s->info->parent_path[0] != '\0')
		replace(&s->info->parent_id,
			transcript_path_id(s->info->format, sv_of(s->info->parent_path)));
}
