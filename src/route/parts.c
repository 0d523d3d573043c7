#include "route/parts.h"

#include <utf8proc.h>

#include "base/utf8.h"

/* Next part of an identifier or compound: up to a joint, or to a capital after a small letter. */
static bool next_part(struct sv *rest, struct sv *ret)
{
	size_t start = 0, at = 0;
	bool small = false;
	while (at < rest->n) {
		uint32_t cp;
		size_t step = utf8_decode(sv_from(*rest, at), &cp);
		bool joint = cp < 0x80 && strchr("_./-@'+#:", (int)cp);
		bool upper = utf8proc_isupper((utf8proc_int32_t)cp);
		if (at > start && (joint || (small && upper)))
			break;
		small = utf8proc_islower((utf8proc_int32_t)cp);
		at += step;
		if (joint)
			start = at;
	}
	*ret = sv_make(rest->p + start, at - start);
	*rest = sv_from(*rest, at);
	return ret->n > 0;
}

bool part_is_wrapper(struct sv part)
{
	return sv_is(part, "test") || sv_is(part, "tests") || sv_is(part, "spec") ||
		sv_is(part, "src") || sv_is(part, "main") || sv_is(part, "index");
}

void parts_release(struct parts *p)
{
	str_release(&p->text);
	str_release(&p->joined);
}

void parts_read(struct parts *p, struct sv raw)
{
	struct sv part;
	size_t at[PARTS_MAX] = { 0 };
	while (p->n < PARTS_MAX && next_part(&raw, &part)) {
		at[p->n] = p->text.len;
		utf8_normalise(&p->text, part, true);
		p->part[p->n].n = p->text.len - at[p->n];
		p->n++;
	}
	for (size_t i = 0; i < p->n; i++) {
		p->part[i].p = p->text.buf + at[i];
		if (p->n == 1 || !part_is_wrapper(p->part[i]))
			str_add(&p->joined, p->part[i]);
	}
}
