#include "agent/deeds.h"

#include <stdio.h>

#include "base/utf8.h"

void deeds_add(struct deeds *d, struct sv tool)
{
	AUTO_STR name = STR_INIT;

	utf8_scrub_line(&name, utf8_cut(tool, DEEDS_NAME_MAX - 1));
	struct sv clean = utf8_cut(str_sv(&name), DEEDS_NAME_MAX - 1);
	unsigned i = 0;
	while (i < d->kinds && !sv_is(clean, d->tool[i].name))
		i++;
	if (i == DEEDS_MAX) {
		d->others++;
		return;
	}
	if (i == d->kinds) {
		(void)snprintf(d->tool[i].name, DEEDS_NAME_MAX, "%.*s", SV_ARG(clean));
		d->kinds++;
	}
	d->tool[i].times++;
}

void deeds_print(struct str *out, const struct deeds *d)
{
	for (unsigned i = 0; i < d->kinds; i++) {
		str_addf(out, "%s%s", i ? ", " : "", d->tool[i].name);
		if (d->tool[i].times > 1)
			str_addf(out, " ×%u", d->tool[i].times);
	}
	if (d->others)
		str_addf(out, " +%u", d->others);
}
