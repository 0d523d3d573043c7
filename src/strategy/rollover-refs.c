/*
 * From the facts of a brief to their originals.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "os/file.h"
#include "strategy/line.h"
#include "strategy/placeholder.h"
#include "strategy/rollover.h"

enum { VALUE_MAX = 64 * 1024 * 1024 };

static bool read_value(int fd, const struct brief_place *place, struct str *out)
{
	str_clear(out);
	if (place->size == 0 || place->size > VALUE_MAX || !str_reserve(out, place->size))
		return false;
	ssize_t n = pread(fd, out->buf, place->size, (off_t)place->offset);
	out->len = n > 0 ? (size_t)n : 0;
	out->buf[out->len] = '\0';
	return out->len == place->size;
}

static enum recall_kind kind_of(enum jtype type)
{
	return type == J_STRING ? RECALL_TEXT : type == J_ARRAY ? RECALL_BLOCKS : RECALL_JSON;
}

/* ---- what was trimmed before ---- */

/* The one text of a list of blocks; of what a tool was given, the one beside at most a name: of
 * more, the value itself tells more than one of its originals. */
static bool only_placeholder(struct jval val, struct sv *ret)
{
	struct scan_iter it = scan_iter(val);
	struct jval item;
	struct sv ref;
	size_t n = 0, found = 0;

	if (val.type == J_STRING)
		return placeholder_ref(scan_inner(val), ret);
	if (val.type != J_ARRAY && val.type != J_OBJECT)
		return false;
	while (scan_next(&it, NULL, &item) > 0) {
		struct jval text = val.type == J_ARRAY ? line_member(item, "text") : item;
		n++;
		if (text.type != J_STRING || !placeholder_ref(scan_inner(text), &ref))
			continue;
		found++;
		*ret = ref;
	}
	return found == 1 && n <= (val.type == J_ARRAY ? 1 : 2);
}

/* Only what the archive still gives back: a text may end like a placeholder and be none. */
static bool first_original(const struct archive *archive, struct sv raw, char ret[static BRIEF_REF])
{
	AUTO_STR original = STR_INIT;
	struct jval val;
	struct sv ref;

	if (scan_text(raw, &val) < 0 || !only_placeholder(val, &ref) ||
		recall_get(archive, ref, &original, NULL, NULL) < 0)
		return false;
	memcpy(ret, ref.p, BRIEF_REF - 1);
	ret[BRIEF_REF - 1] = '\0';
	return true;
}

/* ---- the facts ---- */

/* Those whose original cannot be pointed at keep their line. */
void rollover_refer(const struct rollover_opts *opts, struct rollover *r)
{
	AUTO_STR raw = STR_INIT;
	AUTO_CLOSE int fd =
		open(opts->parent->info.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	vec_each (&r->brief.facts, fact) {
		if (fd < 0 || fact->ref[0] || !read_value(fd, &fact->place, &raw) ||
			first_original(opts->archive, str_sv(&raw), fact->ref))
			continue;
		struct recall_place place = {
			.hash = recall_hash(str_sv(&raw)),
			.offset = fact->place.offset,
			.size = fact->place.size,
			.kind = kind_of(fact->place.type),
		};
		recall_ref_text(place.hash, fact->ref);
		vec_push(&r->places, place);
	}
}
