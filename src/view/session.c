#include "view/session.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "os/path.h"
#include "ui/table.h"
#include "ui/wrap.h"

static struct sv gone_word(const struct session_view *view)
{
	static const char *const words[] = { [SESSION_NOT_ASKED] = "gone",
		[SESSION_WHOLE] = "gone",
		[SESSION_DAMAGED] = "damaged",
		[SESSION_LOST] = "lost" };

	return sv_of(view->row->gone ? words[view->kept] : "");
}

/* clang-format off */
#define FIELDS(X) \
	X(id,       TEXT,   sv_of(r->info.id),          "full session id") \
	X(short,    TEXT,   session_short_id(r->info.id), "beginning of the id") \
	X(agent,    TEXT,   sv_of(r->agent),            "whose session it is") \
	X(name,     TEXT,   sv_of(session_row_name(r)), "name, given here or in the agent") \
	X(title,    TEXT,   sv_of(session_title(r)),    "name, else first prompt, else id") \
	X(prompt,   TEXT,   sv_of(r->info.prompt),      "first words of the user") \
	X(dir,      TEXT,   sv_of(r->info.cwd),         "folder it was begun in") \
	X(branch,   TEXT,   sv_of(r->info.branch),      "git branch") \
	X(model,    TEXT,   sv_of(r->info.model),       "model that answered last") \
	X(first,    TIME,   r->info.first_ms,           "when it was begun") \
	X(last,     TIME,   r->active_ms,               "last activity") \
	X(turns,    NUMBER, r->info.turns,              "prompts of the user") \
	X(size,     SIZE,   r->info.size,               "bytes of the file") \
	X(context,  NUMBER, usage_context(&r->info.usage), "tokens of context at the last answer") \
	X(window,   NUMBER, r->info.window,             "tokens the model can take, 0 unknown") \
	X(parent,   TEXT,   sv_of(r->info.parent_id),   "session it comes from") \
	X(relation, TEXT,   sv_of(session_relation_name(r->info.relation)), \
		"how it was made: trimmed, smart-trimmed, continued, ported, forked, repaired, moved") \
	X(path,     TEXT,   sv_of(r->info.path),        "the file") \
	X(live,     TEXT,   view->live ? SV("live") : SV(""), "\"live\" while a process has it open") \
	X(pid,      NUMBER, view->pid,                  "that process, 0 none known") \
	X(current,  TEXT,   view->current ? SV("current") : SV(""), \
		"\"current\" for the conversation that goes on here") \
	X(interrupted, TEXT, view->interrupted ? SV("interrupted") : SV(""), \
		"\"interrupted\" when its last turn was, until the next one tells of it") \
	X(gone,     TEXT,   gone_word(view), \
		"\"gone\" when its file is; \"damaged\", \"lost\": not whole, not at all in the archive")

const struct format_field session_fields[] = {
#define X(name, kind, value, help) { #name, FORMAT_##kind, help },
	FIELDS(X)
#undef X
	{ NULL, FORMAT_TEXT, NULL },
};
/* clang-format on */
const size_t session_fields_n = ARRAY_LEN(session_fields) - 1;
_Static_assert(ARRAY_LEN(session_fields) <= SESSION_FIELDS_MAX, "SESSION_FIELDS_MAX is too small");

/* How each kind of field is put into its value. */
#define VALUE_TEXT .text
#define VALUE_NUMBER .number
#define VALUE_SIZE .number
#define VALUE_TIME .number

void session_values(const struct session_view *view, union format_value *values)
{
	const struct session_row *r = view->row;
	size_t i = 0;

#define X(name, kind, value, help) values[i++] = (union format_value){ VALUE_##kind = (value) };
	FIELDS(X)
#undef X
}

struct sv session_short_id(const char *id)
{
	enum { VERSION_AT = 14, SHORT = 8, SHORT_BY_TIME = 13 };
	struct sv text = sv_of(id);
	bool by_time = uuid_valid(text) && id[VERSION_AT] == '7';

	return sv_head(text, by_time ? SHORT_BY_TIME : SHORT);
}

void view_session(struct term *t, const struct session_row *row)
{
	enum { TITLE_COLUMNS = 76 };
	const char *relation = session_relation_name(row->info.relation);
	char when[CLOCK_TEXT_MAX];
	AUTO_STR title = STR_INIT;
	AUTO_STR line = STR_INIT;

	clock_format_local(row->active_ms, when);
	utf8_fit(&title, sv_of(session_title(row)), TITLE_COLUMNS);
	term_styled(t, STYLE_BOLD, str_sv(&title));
	term_newline(t);
	str_addf(&line, "%s  %s  %s  %lld %s, last %s", row->agent, row->info.id, row->info.cwd,
		(long long)row->info.turns, row->info.turns == 1 ? "turn" : "turns", when);
	if (relation[0] && row->info.parent_id[0])
		str_addf(&line, ", %s from %.*s", relation,
			SV_ARG(session_short_id(row->info.parent_id)));
	wrap_line(t, STYLE_NOTICE, str_sv(&line));
}

void view_candidates(
	struct term *t, const struct catalogue_matches *matches, int64_t now_ms, const char *home)
{
	enum { SHOWN = 10 };
	static const struct table_column columns[] = {
		{ .title = "ID" },
		{ .title = "AGENT" },
		{ .title = "LAST" },
		{ .title = "FOLDER", .shrink = true, .room = 12, .tail = true },
		{ .title = "NAME OR FIRST PROMPT", .shrink = true, .room = 24 },
	};
	struct table table;

	table_init(&table, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < matches->rows.n && i < SHOWN; i++) {
		const struct session_row *row = &matches->rows.v[i];
		AUTO_FREE char *dir = path_show(row->info.cwd, home);
		char last[CLOCK_TEXT_MAX];
		clock_format_ago(now_ms - row->active_ms, last);
		table_add(&table, sv_of(row->info.id));
		table_add(&table, sv_of(row->agent));
		table_add(&table, sv_of(last));
		table_add(&table, sv_of(dir));
		table_add(&table, sv_of(session_title(row)));
	}
	table_print(&table, t);
	if (matches->more || matches->rows.n > SHOWN)
		term_puts(t, t->ascii ? "...\n" : "…\n");
	table_release(&table);
}
