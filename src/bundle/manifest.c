#include "bundle/manifest.h"

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "master/run.h"
#include "os/path.h"
#include "os/unpack.h"
#include "json/scan.h"
#include "json/write.h"

enum { PLACE_MAX = 4096, PLACE_PART_MAX = 255, PLACE_PARTS_MAX = 32 };

void bundle_manifest_release(struct bundle_manifest *m)
{
	vec_each (&m->sessions, s) {
		char *const texts[] = { s->agent, s->id, s->title, s->name, s->dir, s->branch,
			s->parent_id, s->relation };
		for (size_t i = 0; i < ARRAY_LEN(texts); i++)
			free(texts[i]);
		strv_release(&s->marks);
	}
	vec_each (&m->files, f)
		free(f->place);
	vec_release(&m->sessions);
	vec_release(&m->files);
	free(m->made_by);
	*m = (struct bundle_manifest)BUNDLE_MANIFEST_INIT;
}

/* ---- places ---- */

bool bundle_place_valid(struct sv place)
{
	struct sv rest = place, part;
	size_t parts = 0;

	if (place.n == 0 || place.n > PLACE_MAX || place.p[0] == '/' || place.p[place.n - 1] == '/')
		return false;
	for (struct sv s = place; s.n > 0;) {
		uint32_t cp;
		s = sv_from(s, utf8_decode(s, &cp));
		if (utf8_unsafe(cp))
			return false;
	}
	while (sv_split(&rest, '/', &part))
		if (part.n == 0 || part.n > PLACE_PART_MAX || sv_is(part, ".") ||
			sv_is(part, "..") || ++parts > PLACE_PARTS_MAX)
			return false;
	return true;
}

/* Whether `place` is in the folder that belongs to the session at `main`: what it has beside it. */
static bool is_beside(struct sv place, struct sv main)
{
	static const struct sv end = { ".jsonl", 6 };
	struct sv folder = unpack_plain(main);

	if (!sv_ends(folder, end))
		return false;
	folder = sv_head(folder, folder.n - end.n);
	return sv_starts(place, folder) && place.n > folder.n + 1 && place.p[folder.n] == '/';
}

/* A run is one file, which is called by its id. */
static bool is_run(struct sv place, const char *id)
{
	AUTO_FREE char *want = xasprintf(MASTER_FOLDER "/sessions/session-%s.json", id);

	return sv_is(place, want);
}

/* ---- out ---- */

static void put_text(struct jw *w, const char *key, const char *text)
{
	jw_put_cstr(w, key, text[0] ? text : NULL);
}

static void put_time(struct jw *w, const char *key, int64_t ms)
{
	char text[CLOCK_TEXT_MAX];

	if (ms > 0)
		clock_format_iso(ms, text);
	jw_put_cstr(w, key, ms > 0 ? text : NULL);
}

void bundle_manifest_encode(const struct bundle_manifest *m, struct str *out)
{
	struct jw w = JW_INIT(out);

	jw_object(&w);
	jw_put_cstr(&w, "made_by", m->made_by);
	put_time(&w, "made_at", m->made_ms);
	jw_key(&w, "sessions");
	jw_array(&w);
	vec_each (&m->sessions, s) {
		jw_object(&w);
		jw_put_cstr(&w, "session_id", s->id);
		put_text(&w, "agent", s->agent);
		jw_put_bool(&w, "run", s->run);
		jw_put_bool(&w, "ancestor", s->ancestor);
		put_text(&w, "title", s->title);
		put_text(&w, "name", s->name);
		put_text(&w, "directory", s->dir);
		put_text(&w, "branch", s->branch);
		put_text(&w, "parent_id", s->parent_id);
		put_text(&w, "relation", s->relation);
		put_time(&w, "started_at", s->first_ms);
		put_time(&w, "active_at", s->active_ms);
		jw_put_i64(&w, "turns", s->turns);
		jw_key(&w, "marks");
		jw_array(&w);
		for (size_t i = 0; i < s->marks.n; i++)
			jw_string(&w, sv_of(s->marks.v[i]));
		jw_end(&w);
		jw_key(&w, "files");
		jw_array(&w);
		for (size_t i = s->first; i < s->first + s->files; i++) {
			jw_object(&w);
			jw_put_cstr(&w, "place", m->files.v[i].place);
			jw_put_i64(&w, "size_bytes", (int64_t)m->files.v[i].size);
			jw_end(&w);
		}
		jw_end(&w);
		jw_end(&w);
	}
	jw_end(&w);
	jw_end(&w);
}

/* ---- in ---- */

static struct jval member(struct jval object, const char *key)
{
	struct jval val;

	return scan_get(object, sv_of(key), &val) > 0 ? val : (struct jval){ .type = J_NONE };
}

/* "" for what is missing or null; NULL when it is no text, too long, or has a NUL. */
static char *take_text(struct jval object, const char *key)
{
	struct jval val = member(object, key);
	AUTO_STR text = STR_INIT;

	if (val.type == J_NONE || val.type == J_NULL)
		return xstrdup("");
	if (val.type != J_STRING || val.raw.n > BUNDLE_TEXT_MAX || !scan_string(val, &text) ||
		memchr(text.buf, '\0', text.len))
		return NULL;
	return str_detach(&text);
}

static int64_t take_time(struct jval object, const char *key)
{
	AUTO_STR text = STR_INIT;
	int64_t ms = 0;

	return scan_string(member(object, key), &text) && clock_parse_iso(str_sv(&text), &ms) ? ms
											      : 0;
}

static int take_file(struct bundle_manifest *m, struct bundle_session *s, struct jval object,
	struct map *places, struct err *reterr)
{
	struct bundle_file file = { .place = take_text(object, "place") };
	int64_t size;

	if (!file.place)
		return err_set(reterr, ERR_INPUT, "session %s: a file has no place", s->id);
	vec_push(&m->files, file);
	s->files++;
	struct sv place = sv_of(file.place);
	if (!bundle_place_valid(place))
		return err_set(reterr, ERR_INPUT,
			"session %s: a file would lie outside the agent's folder: %s", s->id,
			file.place);
	if (s->run && (s->files > 1 || !is_run(place, s->id)))
		return err_set(reterr, ERR_INPUT, "run %s: %s is no file of it", s->id, file.place);
	if (s->files > 1 && !is_beside(place, sv_of(m->files.v[s->first].place)))
		return err_set(reterr, ERR_INPUT,
			"session %s: a file would lie among those of others: %s", s->id,
			file.place);
	/* Folders are told apart by the home that they are below. */
	AUTO_FREE char *key = xasprintf("%s/%s", s->run ? s->dir : s->agent, file.place);
	if (!map_put(places, sv_of(key), 0))
		return err_set(reterr, ERR_INPUT, "two files are called %s", file.place);
	if (!scan_i64(member(object, "size_bytes"), &size) || size < 0 ||
		(uint64_t)size > BUNDLE_SIZE_MAX)
		return err_set(reterr, ERR_LIMIT, "%s: its size cannot be", file.place);
	m->files.v[m->files.n - 1].size = (uint64_t)size;
	return 0;
}

static int take_session(
	struct bundle_manifest *m, struct jval object, struct map *places, struct err *reterr)
{
	struct bundle_session now = { .agent = take_text(object, "agent"),
		.id = take_text(object, "session_id"),
		.title = take_text(object, "title"),
		.name = take_text(object, "name"),
		.dir = take_text(object, "directory"),
		.branch = take_text(object, "branch"),
		.parent_id = take_text(object, "parent_id"),
		.relation = take_text(object, "relation"),
		.first_ms = take_time(object, "started_at"),
		.active_ms = take_time(object, "active_at"),
		.run = scan_true(member(object, "run")),
		.ancestor = scan_true(member(object, "ancestor")),
		.first = m->files.n };
	struct jval list = member(object, "marks"), val;
	int r = 0;

	vec_push(&m->sessions, now);
	struct bundle_session *s = &m->sessions.v[m->sessions.n - 1];
	if (!s->agent || !s->id || !s->title || !s->name || !s->dir || !s->branch ||
		!s->parent_id || !s->relation || !bundle_place_valid(sv_of(s->id)) ||
		strchr(s->id, '/') || s->run == (s->agent[0] != '\0'))
		return err_set(reterr, ERR_INPUT, "a session is not told of as it must be");
	if (!scan_i64(member(object, "turns"), &s->turns) || s->turns < 0)
		s->turns = 0;
	struct scan_iter marks = scan_iter(list);
	while (scan_next(&marks, NULL, &val) > 0 && s->marks.n < BUNDLE_MARKS_MAX) {
		AUTO_STR mark = STR_INIT;
		if (val.raw.n <= BUNDLE_TEXT_MAX && scan_string(val, &mark))
			strv_addsv(&s->marks, str_sv(&mark));
	}
	struct scan_iter files = scan_iter(member(object, "files"));
	while (r == 0 && scan_next(&files, NULL, &val) > 0)
		r = m->files.n < BUNDLE_FILES_MAX
			? take_file(m, s, val, places, reterr)
			: err_set(reterr, ERR_LIMIT, "it has more than %d files", BUNDLE_FILES_MAX);
	if (r == 0 && s->files == 0)
		return err_set(reterr, ERR_INPUT, "session %s has no file", s->id);
	return r;
}

int bundle_manifest_decode(struct sv json, struct bundle_manifest *ret, struct err *reterr)
{
	AUTO_MAP places = MAP_INIT;
	struct jval object, val;
	int r = 0;

	*ret = (struct bundle_manifest)BUNDLE_MANIFEST_INIT;
	if (scan_check(json, NULL) < 0 || scan_text(json, &object) < 0 || object.type != J_OBJECT ||
		member(object, "sessions").type != J_ARRAY)
		return err_set(reterr, ERR_INPUT, "it is no list of sessions");
	ret->made_by = take_text(object, "made_by");
	ret->made_ms = take_time(object, "made_at");
	if (!ret->made_by)
		return err_set(reterr, ERR_INPUT, "who made it is no text");
	struct scan_iter sessions = scan_iter(member(object, "sessions"));
	while (r == 0 && scan_next(&sessions, NULL, &val) > 0)
		r = ret->sessions.n < BUNDLE_SESSIONS_MAX
			? take_session(ret, val, &places, reterr)
			: err_set(reterr, ERR_LIMIT, "it has more than %d sessions",
				  BUNDLE_SESSIONS_MAX);
	return r;
}
