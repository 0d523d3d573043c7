#include "search/snippet.h"

#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "os/file.h"
#include "search/index.h"

/* Where the line ends, when it is a short one of a plain file: no more is read then. 0: not known.
 */
static uint64_t line_end(const char *path, uint64_t offset)
{
	enum { PEEK = 16 * 1024 };
	AUTO_CLOSE int fd = file_open(path, NULL, NULL);
	char buf[PEEK];
	ssize_t n = fd < 0 ? -1 : pread(fd, buf, sizeof(buf), (off_t)offset);
	const char *end = n > 0 && buf[0] == '{' ? memchr(buf, '\n', (size_t)n) : NULL;

	return end ? offset + (uint64_t)(end - buf) + 1 : 0;
}

int snippet_text(const char *path, const struct transcript_format *format,
	const struct segment_doc *doc, size_t result_max, struct str *out, struct str *ret_tool,
	struct err *reterr)
{
	const struct transcript_read_opts opts = { .offset = doc->offset,
		.end = line_end(path, doc->offset) };
	struct transcript_reader *reader = NULL;
	struct item item;
	bool found = false;
	int r = transcript_open(path, format, &opts, &reader, reterr);

	while (r >= 0 && !found && (r = transcript_next(reader, &item, reterr)) > 0) {
		size_t before = out->len;
		enum doc_kind kind;
		/* Parts beyond what a byte can say are one. */
		if (item.offset != doc->offset)
			break;
		found = (item.part < 255 ? item.part : 255) == doc->part &&
			index_item(format, &item, result_max, &kind, out) && kind == doc->kind;
		if (!found)
			str_cut(out, before);
		else if (ret_tool)
			str_add(ret_tool, item.tool);
	}
	transcript_close(reader);
	if (r < 0 || found)
		return r < 0 ? r : 0;
	return err_set(reterr, ERR_NOTFOUND, "%s: the message is not there any more", path);
}

void snippet_release(struct snippet *s)
{
	str_release(&s->line);
	vec_release(&s->marks);
}

/* ---- the hits ---- */

struct spot {
	size_t from, end;
	size_t part; /* of the query */
};
typedef VEC(struct spot) spots;

enum { SPOTS_MAX = 4096 };

/* The part of the query that the word is a hit of. */
static bool is_hit(
	const struct query *q, const struct map *marks, const struct word_at *word, size_t *ret)
{
	uint64_t value;

	if (map_get(marks, word->text, &value)) {
		*ret = (size_t)value;
		return true;
	}
	for (size_t i = 0; i < q->parts.n; i++) {
		const struct query_part *part = &q->parts.v[i];
		if (part->prefix && part->demand != QUERY_NOT &&
			sv_starts(word->text, sv_of(part->terms.v[part->terms.n - 1].text))) {
			*ret = i;
			return true;
		}
	}
	return false;
}

/* Weak words are hits only when they were asked for exactly, or there are no others. */
static void find_spots(struct sv text, const struct query *q, const struct map *marks, spots *ret)
{
	bool strong = false;
	struct word_walk walk;
	struct word_at word;
	size_t part;

	vec_each (&q->parts, p)
		strong |= !p->weak && p->demand != QUERY_NOT;
	words_begin(&walk, text);
	while (ret->n < SPOTS_MAX && words_next(&walk, &word)) {
		if (!is_hit(q, marks, &word, &part) || (strong && q->parts.v[part].weak) ||
			q->parts.v[part].demand == QUERY_NOT)
			continue;
		struct spot spot = { word.from, word.from + word.size, part };
		struct spot *last = ret->n > 0 ? &ret->v[ret->n - 1] : NULL;
		/* The parts of an identifier that is one, and characters of pairs. */
		if (last && spot.from < last->end)
			last->end = spot.end > last->end ? spot.end : last->end;
		else
			vec_push(ret, spot);
	}
}

/* Of the stretches of at most `room` bytes, the first with most different parts in it. */
static size_t best_spot(const spots *all, size_t room)
{
	size_t best = 0, most = 0;

	for (size_t i = 0; i < all->n; i++) {
		uint64_t parts = 0;
		for (size_t k = i; k < all->n && all->v[k].end - all->v[i].from <= room; k++)
			parts |= UINT64_C(1) << all->v[k].part % 64;
		size_t n = (size_t)__builtin_popcountll(parts);
		if (n > most) {
			most = n;
			best = i;
		}
	}
	return best;
}

/* ---- the line ---- */

static bool is_inside(struct sv text, size_t at)
{
	return at < text.n && ((unsigned char)text.p[at] & 0xC0) == 0x80;
}

/* A place at most `back` bytes before `at`, after a blank when there is one. */
static size_t step_back(struct sv text, size_t at, size_t back)
{
	size_t from = at > back ? at - back : 0;

	while (is_inside(text, from))
		from++;
	for (size_t i = from; from > 0 && i < at; i++)
		if (text.p[i] == ' ' || text.p[i] == '\n')
			return i + 1;
	return from;
}

/* Appends a piece of the text within the columns that are left. False when it had to be cut. */
static bool add_piece(struct snippet *s, struct sv piece, size_t *left)
{
	AUTO_STR clean = STR_INIT;

	utf8_scrub_line(&clean, piece);
	size_t width = utf8_width(str_sv(&clean));
	/* Blanks on both sides of a cut are one. */
	struct sv add = str_sv(&clean);
	if (add.n > 0 && add.p[0] == ' ' && s->line.len > 0 && s->line.buf[s->line.len - 1] == ' ')
		add = sv_from(add, 1);
	if (width <= *left) {
		str_add(&s->line, add);
		*left -= width;
		return true;
	}
	utf8_fit(&s->line, add, *left);
	*left = 0;
	return false;
}

void snippet_make(struct sv text, const struct query *query, const struct map *marks,
	size_t columns, struct snippet *ret)
{
	enum { BEFORE = 40, BYTES_A_COLUMN = 4, LEAST = 16 };
	spots all = VEC_INIT;
	size_t left = columns > LEAST ? columns - 1 : LEAST;

	find_spots(text, query, marks, &all);
	size_t first = best_spot(&all, left > BEFORE ? left - BEFORE / 2 : left);
	size_t at =
		all.n > 0 ? step_back(text, all.v[first].from, left > 2 * BEFORE ? BEFORE : 8) : 0;
	/* A text that fits is shown from its beginning. */
	if (at > 0 && all.n > 0 && all.v[first].end + LEAST < left)
		at = 0;
	if (at > 0) {
		str_adds(&ret->line, "…");
		left--;
	}
	/* No more is looked at than can be shown. */
	struct sv shown = utf8_cut(sv_from(text, at), left * BYTES_A_COLUMN + LEAST);
	bool whole = true;
	size_t end = at + shown.n;
	for (size_t i = first; whole && i < all.n && all.v[i].end <= end; i++) {
		whole = add_piece(ret, sv_make(text.p + at, all.v[i].from - at), &left);
		size_t from = ret->line.len;
		if (whole)
			whole = add_piece(ret,
				sv_make(text.p + all.v[i].from, all.v[i].end - all.v[i].from),
				&left);
		if (ret->line.len > from)
			vec_push(&ret->marks, (struct snippet_mark){ from, ret->line.len - from });
		at = all.v[i].end;
	}
	if (whole && add_piece(ret, sv_make(text.p + at, end - at), &left) && end < text.n)
		str_adds(&ret->line, "…");
	vec_release(&all);
}
