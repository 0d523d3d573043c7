/*
 * What the note in a session's first lines says about how and when the session was made.
 */
#include "lineage/lineage-note.h"

#include "base/clock.h"
#include "base/str.h"
#include "transcript/note.h"
#include "transcript/transcript.h"
#include "json/scan.h"

static const char *const keys[] = { SESSION_NOTE_KEY, "continue_metadata", "trim_metadata" };

static void take_time(struct jval note, struct lineage_note *ret)
{
	static const char *const times[] = { "trimmed_at", "continued_at", "repaired_at",
		"created_at" };
	struct jval val;

	for (size_t i = 0; i < ARRAY_LEN(times) && ret->made_ms == 0; i++) {
		AUTO_STR text = STR_INIT;
		int64_t ms;
		if (scan_get(note, sv_of(times[i]), &val) > 0 && scan_string(val, &text) &&
			clock_parse_iso(str_sv(&text), &ms) && ms > 0)
			ret->made_ms = ms;
	}
}

static void take(struct jval note, struct lineage_note *ret)
{
	struct jval val;
	int64_t saved;

	take_time(note, ret);
	ret->smart = scan_path(note, "trim_params.method", &val) > 0 &&
		scan_string_eq(val, SV("smart-trim"));
	if (scan_path(note, "stats.tokens_saved", &val) > 0 && scan_i64(val, &saved) && saved >= 0)
		ret->saved = saved;
}

void lineage_note_read(const char *path, struct lineage_note *ret)
{
	AUTO_STR text = STR_INIT;
	struct jval note;
	size_t key;

	*ret = (struct lineage_note)LINEAGE_NOTE_INIT;
	if (session_note_find(path, keys, ARRAY_LEN(keys), &text, &note, &key))
		take(note, ret);
}
