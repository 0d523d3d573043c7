#include "view/bundle.h"

#include "base/clock.h"
#include "ui/format.h"
#include "ui/table.h"
#include "view/json.h"
#include "view/session.h"

static const char *state_name(enum bring_state state)
{
	static const char *const names[] = { "new", "there", "partly", "copy" };

	return names[state];
}

/* Not only when all will be written. */
static bool is_there(const struct bring_session *s)
{
	return s->written || s->state == BRING_THERE || s->state == BRING_PARTLY;
}

static uint64_t size_of(const struct bundle_manifest *m, const struct bundle_session *s)
{
	uint64_t size = 0;

	for (size_t i = s->first; i < s->first + s->files; i++)
		size += m->files.v[i].size;
	return size;
}

void view_bundle(struct term *t, const struct bundle_manifest *m, const struct bring *b)
{
	static const struct table_column columns[] = {
		{ .title = "STATE" },
		{ .title = "AGENT" },
		{ .title = "ID" },
		{ .title = "LAST" },
		{ .title = "SIZE", .right = true },
		{ .title = "NAME OR FIRST PROMPT", .shrink = true, .room = 20 },
	};
	size_t from = b ? 0 : 1;
	struct table table;

	table_init(&table, columns + from, ARRAY_LEN(columns) - from);
	for (size_t i = 0; i < m->sessions.n; i++) {
		const struct bundle_session *s = &m->sessions.v[i];
		const struct bring_session *now = b ? &b->sessions.v[i] : NULL;
		const char *id = now && is_there(now) ? now->id : s->id;
		char last[CLOCK_TEXT_MAX] = "", size[SIZE_TEXT_MAX];
		if (s->active_ms > 0)
			clock_format_local(s->active_ms, last);
		size_format(size_of(m, s), size);
		if (now)
			table_add(&table, sv_of(state_name(now->state)));
		table_add(&table, sv_of(s->run ? "master" : s->agent));
		table_add(&table, t->tty ? session_short_id(id) : sv_of(id));
		table_add(&table, sv_of(last));
		if (t->tty)
			table_add(&table, sv_of(size));
		else
			table_addf(&table, "%llu", (unsigned long long)size_of(m, s));
		table_add(&table, sv_of(s->title[0] ? s->title : s->id));
	}
	table_print(&table, t);
	table_release(&table);
}

static void put_session(struct jw *w, const struct bundle_told *told, size_t i)
{
	const struct bundle_manifest *m = told->manifest;
	const struct bundle_session *s = &m->sessions.v[i];
	const struct bring_session *now = told->bring ? &told->bring->sessions.v[i] : NULL;
	bool there = now && is_there(now);
	const char *moved = told->moved ? told->moved->v[i] : "";

	jw_object(w);
	jw_put_cstr(w, "session_id", s->id);
	view_put_text(w, "agent", s->agent);
	jw_put_bool(w, "run", s->run);
	jw_put_cstr(w, "title", s->title[0] ? s->title : s->id);
	view_put_text(w, "name", s->name);
	view_put_text(w, "directory", s->dir);
	view_put_text(w, "branch", s->branch);
	view_put_parent(w, s->parent_id, "", s->relation);
	view_put_time(w, "started_at", s->first_ms);
	view_put_time(w, "active_at", s->active_ms);
	jw_put_i64(w, "turns", s->turns);
	jw_put_bool(w, "ancestor", s->ancestor);
	jw_put_i64(w, "files", (int64_t)s->files);
	jw_put_i64(w, "size_bytes", (int64_t)size_of(m, s));
	jw_put_cstr(w, "state", now ? state_name(now->state) : NULL);
	jw_put_cstr(w, "imported_id", there ? now->id : NULL);
	jw_put_cstr(w, "path", there ? now->path : NULL);
	view_put_text(w, "here_id", moved);
	jw_end(w);
}

void view_json_bundle(struct jw *w, const struct bundle_told *told)
{
	jw_object(w);
	jw_put_cstr(w, "path", told->path);
	view_put_text(w, "made_by", told->manifest->made_by);
	view_put_time(w, "made_at", told->manifest->made_ms);
	jw_put_bool(w, "dry_run", told->dry);
	jw_key(w, "sessions");
	jw_array(w);
	for (size_t i = 0; i < told->manifest->sessions.n; i++)
		put_session(w, told, i);
	jw_end(w);
	jw_end(w);
}
