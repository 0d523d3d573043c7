#include "cli/damage.h"

#include <string.h>
#include <sys/stat.h>

#include "cli/sessions.h"
#include "strategy/repair.h"

static const char *first_cause(const struct repair_report *report)
{
	for (size_t i = 0; i < REPAIR_CAUSE_COUNT; i++)
		if (report->findings[i].count > 0 && report->findings[i].level == report->worst)
			return repair_cause_name((enum repair_cause)i);
	return "";
}

struct damage damage_of(struct app *app, const struct session_row *row)
{
	const struct repair_opts opts = {
		.path = row->info.path,
		.format = row->info.format,
		.in_use = sessions_in_use(app, row->info.id),
	};
	struct damage d = { .level = NULL };
	struct repair *r = NULL;
	struct stat st;

	if (stat(opts.path, &st) < 0 || st.st_size > DAMAGE_SIZE_MOST ||
		repair_open(&opts, &r, NULL) < 0)
		return d;
	const struct repair_report *report = repair_report(r);
	if (report->worst >= REPAIR_LOSS)
		d = (struct damage){
			.level = repair_level_name(report->worst),
			.cause = first_cause(report),
			.reachable = report->reachable,
			.entries = report->entries,
		};
	repair_free(r);
	return d;
}

void damage_text(const struct damage *d, const char *id, struct str *out)
{
	if (!d->level)
		return;
	if (strcmp(d->level, repair_level_name(REPAIR_BLOCK)) == 0)
		str_addf(out, "the agent does not resume it (%s)", d->cause);
	else if (d->reachable < d->entries)
		str_addf(out, "only %zu of %zu entries are reached", d->reachable, d->entries);
	else
		str_addf(out, "part of it is not sent (%s)", d->cause);
	str_addf(out, ": faden repair %s", id);
}

void damage_warn(struct app *app, const struct damage *d, const char *id)
{
	AUTO_STR text = STR_INIT;

	damage_text(d, id, &text);
	if (text.len > 0)
		(void)fprintf(app->err, "faden: warning: %s\n", text.buf);
}

void damage_json(struct jw *w, const struct damage *d)
{
	jw_key(w, "damage");
	if (!d->level) {
		jw_null(w);
		return;
	}
	jw_object(w);
	jw_put_cstr(w, "level", d->level);
	jw_put_cstr(w, "cause", d->cause);
	jw_put_i64(w, "reachable", (int64_t)d->reachable);
	jw_put_i64(w, "entries", (int64_t)d->entries);
	jw_end(w);
}
