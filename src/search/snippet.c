#include "search/snippet.h"

#include <string.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "os/file.h"
#include "search/calls.h"
#include "search/index.h"

static void take_tool(void *data, const struct item *item)
{
	str_add(data, item->tool);
}

/* Appends the text that was indexed of a document, as it was: from its line, when that is given,
 * or from the file. Which tool it is about, or of a result which call it answers. */
static int snippet_text(const char *path, const struct transcript_format *format,
	const struct segment_doc *doc, struct index_beside *beside, struct sv line, bool cut,
	size_t result_max, struct str *out, struct str *tool, struct str *call, struct err *reterr)
{
	const struct transcript_read_opts opts = {
		.offset = doc->offset, .line = line, .cut = cut
	};
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
			index_item(format, &item, beside, result_max, &kind, out) &&
			kind == doc->kind;
		if (!found)
			str_cut(out, before);
		else if (kind == DOC_RESULT)
			str_add(call, item.tool_id);
		else
			str_add(tool, item.tool);
	}
	transcript_close(reader);
	if (r < 0 || found)
		return r < 0 ? r : 0;
	return err_set(reterr, ERR_NOTFOUND, "%s: the message is not there any more", path);
}

/* The line at this place of a plain file, or its head, closed where it is cut off; false when there
 * is none that can be read so. */
static bool read_head(const char *path, uint64_t offset, struct str *out, bool *ret_whole)
{
	enum { HEAD = 48 * 1024 };
	AUTO_CLOSE int fd = file_open(path, NULL, NULL);

	if (fd < 0 || !str_reserve(out, HEAD))
		return false;
	ssize_t n = pread(fd, out->buf, HEAD, (off_t)offset);
	if (n <= 0 || out->buf[0] != '{')
		return false;
	const char *end = memchr(out->buf, '\n', (size_t)n);
	*ret_whole = end || n < HEAD;
	out->len = end ? (size_t)(end - out->buf) : (size_t)n;
	out->buf[out->len] = '\0';
	return *ret_whole || scan_close(out);
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

/* What is looked for. */
struct looking {
	const struct query *query;
	const struct map *marks;
	uint64_t parts; /* of the query, a bit each */
	uint64_t ranked; /* those of them that tell more than the others */
	size_t most; /* of these that can be found in one place */
	uint64_t phrases; /* those of them that are hits only as a whole */
	bool begins[UINT8_MAX + 1]; /* a byte: a word that is looked for begins with it */
};

/* How far a phrase has come. */
struct phrase {
	size_t n; /* of its words */
	uint32_t position; /* of the first one */
	size_t from;
};

/* Weak words are hits only when they were asked for exactly, or there are no others. */
static void looking_init(
	struct looking *l, const struct query *q, const struct map *marks, const struct hit *hit)
{
	uint64_t wanted = 0, strong = 0, marked = 0, part;
	struct sv word;

	*l = (struct looking){ .query = q, .marks = marks };
	for (size_t at = 0; map_next(marks, &at, &word, &part);) {
		marked |= (unsigned char)word.p[0] < ' ' ? 0 : UINT64_C(1) << part;
		l->begins[(unsigned char)word.p[0]] = true;
	}
	for (size_t i = 0; i < q->parts.n; i++) {
		const struct query_part *p = &q->parts.v[i];
		uint64_t bit = UINT64_C(1) << i;
		wanted |= p->demand != QUERY_NOT ? bit : 0;
		strong |= p->weak ? 0 : bit;
		marked |= p->prefix ? bit : 0;
		l->phrases |= p->terms.n > 1 ? bit : 0;
		vec_each (&p->terms, term)
			l->begins[(unsigned char)term->text[0]] = true;
	}
	l->parts = (wanted & strong ? wanted & strong : wanted) & marked & ~(hit ? hit->lacks : 0);
	l->ranked = hit && (hit->ranked & l->parts) ? hit->ranked & l->parts : l->parts;
	l->most = (size_t)__builtin_popcountll(l->ranked);
	if (hit && hit->together > 0 && hit->together < l->most)
		l->most = hit->together;
}

static bool is_term(const struct query_part *part, size_t i, struct sv word)
{
	struct sv term = sv_of(part->terms.v[i].text);

	return part->prefix && i + 1 == part->terms.n ? sv_starts(word, term) : sv_eq(word, term);
}

/* Whether a phrase ends with this word. Where it begins anew within itself one may be missed. */
static bool ends_phrase(const struct query_part *part, struct phrase *p, const struct word_at *word)
{
	if (p->n > 0 && word->position == p->position + part->terms.v[p->n].offset &&
		is_term(part, p->n, word->text))
		p->n++;
	else if (is_term(part, 0, word->text))
		*p = (struct phrase){ 1, word->position, word->from };
	else if (p->n > 0 && word->position > p->position + part->terms.v[p->n].offset)
		p->n = 0;
	if (p->n < part->terms.n)
		return false;
	p->n = 0;
	return true;
}

/* Whether the word makes up a hit, and of which part of the query. */
static bool is_hit(const struct looking *l, struct phrase *phrases, const struct word_at *word,
	struct spot *ret)
{
	const struct query_part *parts = l->query->parts.v;
	uint64_t value;

	*ret = (struct spot){ word->from, word->from + word->size, 0 };
	if (!l->begins[(unsigned char)word->text.p[0]])
		return false;
	for (size_t i = 0; l->phrases && i < l->query->parts.n; i++)
		if ((l->phrases & l->parts) >> i & 1 && ends_phrase(&parts[i], &phrases[i], word)) {
			ret->from = phrases[i].from;
			ret->part = i;
			return true;
		}
	if (map_get(l->marks, word->text, &value)) {
		ret->part = (size_t)value;
		return (l->parts & ~l->phrases) >> value & 1;
	}
	for (size_t i = 0; i < l->query->parts.n; i++)
		if (parts[i].prefix && (l->parts & ~l->phrases) >> i & 1 &&
			is_term(&parts[i], parts[i].terms.n - 1, word->text)) {
			ret->part = i;
			return true;
		}
	return false;
}

/*
 * Of the stretches of at most `room` bytes the first with most different parts, above all of those
 * that rank, as the number of its first spot; spots are added from there to `shown` bytes on. A
 * text may be long: what follows a stretch that has all there is, is not read. *ret_most: how many
 * of the parts that rank it has.
 */
static size_t find_spots(struct sv text, const struct looking *l, size_t room, size_t shown,
	spots *ret, size_t *ret_most)
{
	enum { RANKS = QUERY_PARTS_MAX + 1 }; /* one that ranks outweighs all others */
	unsigned counts[QUERY_PARTS_MAX] = { 0 };
	struct phrase phrases[QUERY_PARTS_MAX] = { { .n = 0 } };
	size_t best = 0, most = 0, now = 0, from = 0;
	struct word_walk walk;
	struct word_at word;
	struct spot spot;

	words_begin(&walk, text);
	while (words_next(&walk, &word)) {
		if (most / RANKS >= l->most &&
			(ret->n == 0 || word.from > ret->v[best].from + shown))
			break;
		if (!is_hit(l, phrases, &word, &spot))
			continue;
		struct spot *last = ret->n > 0 ? &ret->v[ret->n - 1] : NULL;
		/* The parts of an identifier that is one, and characters of pairs. */
		if (last && spot.from < last->end) {
			last->end = spot.end > last->end ? spot.end : last->end;
			continue;
		}
		vec_push(ret, spot);
		if (counts[spot.part]++ == 0)
			now += l->ranked >> spot.part & 1 ? RANKS : 1;
		for (; spot.end - ret->v[from].from > room && from + 1 < ret->n; from++)
			if (--counts[ret->v[from].part] == 0)
				now -= l->ranked >> ret->v[from].part & 1 ? RANKS : 1;
		if (now > most) {
			most = now;
			best = from;
		}
	}
	*ret_most = most / RANKS;
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

bool snippet_make(struct sv text, const struct query *query, const struct map *marks,
	const struct hit *hit, size_t columns, struct snippet *ret)
{
	enum { BEFORE = 40, BYTES_A_COLUMN = 4, LEAST = 16 };
	spots all = VEC_INIT;
	size_t left = columns > LEAST ? columns - 1 : LEAST;

	struct looking looking;
	size_t most;

	looking_init(&looking, query, marks, hit);
	size_t room = left > BEFORE ? left - BEFORE / 2 : left, fits = left * BYTES_A_COLUMN;
	size_t first = find_spots(text, &looking, room, fits, &all, &most);
	/* Without the phrase at least its words. */
	if (all.n == 0 && looking.phrases) {
		looking.phrases = 0;
		first = find_spots(text, &looking, room, fits, &all, &most);
	}
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
		/* What is cut is not what was looked for. */
		if (whole && ret->line.len > from)
			vec_push(&ret->marks, (struct snippet_mark){ from, ret->line.len - from });
		at = all.v[i].end;
	}
	if (whole)
		whole = add_piece(ret, sv_make(text.p + at, end - at), &left);
	/* A column was left for it. */
	if ((whole && end < text.n) || (!whole && !sv_ends(str_sv(&ret->line), SV("…"))))
		str_adds(&ret->line, "…");
	vec_release(&all);
	return most >= looking.most && end < text.n;
}

int snippet_read(const char *path, const struct transcript_format *format, const struct hit *hit,
	struct index_beside *beside, const struct query *query, const struct map *marks,
	size_t result_max, size_t columns, struct snippet *ret, struct str *ret_tool,
	struct err *reterr)
{
	AUTO_STR line = STR_INIT;
	AUTO_STR text = STR_INIT;
	AUTO_STR tool = STR_INIT;
	AUTO_STR call = STR_INIT;
	bool whole;
	int r = 0;

	/* Most of what is looked for stands in the head of a line, which may be a megabyte long. */
	bool done = read_head(path, hit->at.offset, &line, &whole) &&
		snippet_text(path, format, &hit->at, beside, str_sv(&line), !whole, result_max,
			&text, &tool, &call, NULL) >= 0 &&
		(snippet_make(str_sv(&text), query, marks, hit, columns, ret) || whole ||
			(beside && beside->spilled.len > 0));
	if (!done) {
		str_clear(&ret->line);
		ret->marks.n = 0;
		str_clear(&text);
		str_clear(&tool);
		str_clear(&call);
		r = snippet_text(path, format, &hit->at, beside, (struct sv){ NULL, 0 }, false,
			result_max, &text, &tool, &call, reterr);
		if (r >= 0)
			(void)snippet_make(str_sv(&text), query, marks, hit, columns, ret);
	}
	/* The call may stand far before it: it is looked for once. */
	if (r >= 0 && ret_tool && call.len > 0)
		(void)call_before(path, format, hit->at.offset, str_sv(&call), take_tool, ret_tool);
	else if (r >= 0 && ret_tool)
		str_add(ret_tool, str_sv(&tool));
	return r;
}
