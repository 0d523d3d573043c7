#include "strategy/damage.h"

#include <string.h>
#include <sys/stat.h>

#include "base/shell.h"
#include "strategy/repair.h"

struct damage damage_of(const char *path, const struct transcript_format *format, bool in_use)
{
	const struct repair_opts opts = { .path = path, .format = format, .in_use = in_use };
	struct damage d = { .level = NULL };
	struct repair *r = NULL;
	struct stat st;

	if (stat(path, &st) < 0 || st.st_size > DAMAGE_SIZE_MOST ||
		repair_open(&opts, &r, NULL) < 0)
		return d;
	const struct repair_report *report = repair_report(r);
	for (size_t i = 0; report->worst >= REPAIR_LOSS && i < REPAIR_CAUSE_COUNT; i++) {
		const struct repair_finding *f = &report->findings[i];
		if (f->count == 0 || f->level != report->worst)
			continue;
		d = (struct damage){
			.level = repair_level_name(f->level),
			.cause = repair_cause_name((enum repair_cause)i),
			.reachable = report->reachable,
			.entries = report->entries,
		};
		break;
	}
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
	str_adds(out, ": faden repair ");
	shell_operand(out, id);
}
