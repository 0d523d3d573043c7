#include "search/find.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/mem.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "os/path.h"

/* ---- which files ---- */

/* Some directories on the way that follow one another, in any case. */
static bool leads_through(const char *path, const char *dirs)
{
	AUTO_STR way = STR_INIT;
	AUTO_STR piece = STR_INIT;
	size_t at;

	/* Within slashes, so that only whole names are met. */
	utf8_normalise(&way, sv_of(path), true);
	str_addc(&way, '/');
	str_addc(&piece, '/');
	utf8_normalise(&piece, sv_of(dirs), true);
	str_addc(&piece, '/');
	return sv_find(str_sv(&way), str_sv(&piece), &at);
}

/* The folder or below it; a value that does not begin with a slash is any piece of the path. */
static bool is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	if (dir[0] != '/')
		return leads_through(path, dir);
	if (n == 1)
		return path[0] == '/';
	return strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

struct choosing {
	const struct query *query;
	const struct find_opts *opts;
	VEC(uint64_t) bits;
};

static bool meets(const struct query_filter *f, const struct index_source *s)
{
	switch (f->field) {
	case QUERY_AGENT:
		return strcmp(s->agent, f->value) == 0;
	case QUERY_DIR:
		return is_below(s->cwd, f->value);
	case QUERY_BRANCH:
		return strcmp(s->branch, f->value) == 0;
	}
	return false;
}

/* Of several values of one field any will do; of those that must not be, none may. */
static bool is_chosen(const struct choosing *c, const struct index_source *s)
{
	bool here = c->opts->n_dirs == 0;
	unsigned said = 0, met = 0; /* a bit a field */

	for (size_t i = 0; !here && i < c->opts->n_dirs; i++)
		here = is_below(s->cwd, c->opts->dirs[i]);
	vec_each (&c->query->filters, f) {
		bool meets_it = meets(f, s);
		if (f->negated && meets_it)
			return false;
		if (!f->negated)
			said |= 1u << f->field;
		if (!f->negated && meets_it)
			met |= 1u << f->field;
	}
	return here && said == met;
}

static int choose(void *data, const struct index_source *s)
{
	struct choosing *c = data;

	while (c->bits.n <= s->id / 64)
		vec_push(&c->bits, 0);
	if (is_chosen(c, s))
		c->bits.v[s->id / 64] |= UINT64_C(1) << (s->id % 64);
	return 0;
}

/* ---- which session ---- */

struct sessions {
	struct index_view *view;
	VEC(struct index_source) known;
	struct map numbers; /* agent and session → its number, from 1 */
};

static const struct index_source *source_of(struct sessions *s, uint32_t id, struct err *reterr)
{
	struct index_source one = { .id = 0 };

	vec_each (&s->known, source)
		if (source->id == id)
			return source;
	if (index_source(s->view, id, &one, reterr) < 0)
		return NULL;
	vec_push(&s->known, one);
	return &s->known.v[s->known.n - 1];
}

static uint64_t session_of(void *data, uint32_t id)
{
	struct sessions *s = data;
	const struct index_source *source = source_of(s, id, NULL);
	AUTO_STR key = STR_INIT;

	/* One that the index does not know counts for itself. */
	if (!source)
		return UINT64_MAX - id;
	str_addf(&key, "%s %s", source->agent, source->session);
	uint64_t *number = map_ref(&s->numbers, str_sv(&key));
	*number = *number ? *number : s->numbers.n;
	return *number;
}

/* A message of a file, as far as it tells copies from what only looks like it. */
struct said {
	struct str id; /* its own, or where the agent gives none, when it was written */
	struct str text;
};

static void said_release(struct said *s)
{
	str_release(&s->id);
	str_release(&s->text);
}

/* The message of the hit, from its file; hit NULL: the first of the source. False when it is not
 * there. */
static bool read_said(struct sessions *s, uint32_t id, const struct hit *hit, struct said *ret)
{
	const struct index_source *source = source_of(s, id, NULL);
	const struct transcript_read_opts opts = { .offset = hit ? hit->at.offset : 0 };
	struct transcript_reader *reader = NULL;
	struct item item;
	bool found = false;

	if (!source || transcript_open(source->path, source->format, &opts, &reader, NULL) < 0)
		return false;
	while (!found && transcript_next(reader, &item, NULL) > 0 &&
		(!hit || item.offset == hit->at.offset)) {
		found = hit ? item.part == hit->at.part
			    : item.kind == ITEM_USER && item.uuid.n + item.time.n > 0;
		if (!found)
			continue;
		str_add(&ret->id, item.uuid.n > 0 ? item.uuid : item.time);
		transcript_text(&item, &ret->text);
	}
	transcript_close(reader);
	return found;
}

/* Of one that cannot be read, what it looks like has to do. */
static bool same_said(
	struct sessions *s, uint32_t a, const struct hit *in_a, uint32_t b, const struct hit *in_b)
{
	CLEANUP(said_release) struct said x = { STR_INIT, STR_INIT };
	CLEANUP(said_release) struct said y = { STR_INIT, STR_INIT };

	return !read_said(s, a, in_a, &x) || !read_said(s, b, in_b, &y) ||
		(sv_eq(str_sv(&x.id), str_sv(&y.id)) && sv_eq(str_sv(&x.text), str_sv(&y.text)));
}

static bool same_title(void *data, uint32_t a, uint32_t b)
{
	struct sessions *s = data;

	/* The second look may move what the first one found. */
	if (!source_of(s, a, NULL) || !source_of(s, b, NULL))
		return false;
	const struct index_source *x = source_of(s, a, NULL), *y = source_of(s, b, NULL);
	return strcmp(x->agent, y->agent) == 0 && strcmp(x->name, y->name) == 0 &&
		strcmp(x->cwd, y->cwd) == 0 && same_said(s, a, NULL, b, NULL);
}

static bool same_text(void *data, const struct hit *a, const struct hit *b)
{
	return same_said(data, a->source, a, b->source, b);
}

/* One that can be gone on with: its file is there, and the folder of its work. */
static bool prefers(void *data, uint32_t a, uint32_t b)
{
	struct sessions *s = data;
	unsigned worth[2] = { 0, 0 };
	uint32_t ids[2] = { a, b };

	for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
		const struct index_source *source = source_of(s, ids[i], NULL);
		if (source)
			worth[i] = 2u * path_exists(source->path) + path_exists(source->cwd);
	}
	return worth[1] > worth[0];
}

static void sessions_release(struct sessions *s)
{
	vec_each (&s->known, source)
		index_source_release(source);
	vec_release(&s->known);
	map_release(&s->numbers);
}

/* ---- all of it ---- */

void find_result_release(struct find_result *f)
{
	vec_each (&f->hits, hit)
		index_source_release(&hit->source);
	vec_release(&f->hits);
	map_release(&f->marks);
}

/* The hits with their files; one whose file the index has just forgotten is none. */
static int take_hits(struct index_view *view, struct ranking *ranking, struct find_result *ret,
	struct err *reterr)
{
	vec_each (&ranking->hits, hit) {
		struct found_hit one = { .hit = *hit };
		int r = index_source(view, hit->source, &one.source, reterr);
		if (r < 0 && r != ERR_NOTFOUND)
			return r;
		if (r >= 0)
			vec_push(&ret->hits, one);
	}
	ret->parts_found = ranking->parts_found;
	ret->marks = ranking->marks;
	ranking->marks = (struct map)MAP_INIT;
	return 0;
}

int find(struct index_view *view, const struct query *query, const struct find_opts *opts,
	struct find_result *ret, struct err *reterr)
{
	size_t n = index_view_segments(view);
	AUTO_FREE const struct segment **segs = xcalloc(n + 1, sizeof(struct segment *));
	struct choosing choosing = { .query = query, .opts = opts };
	CLEANUP(sessions_release) struct sessions sessions = { .view = view };
	struct ranking ranking = RANKING_INIT;
	struct find_result found = FIND_RESULT_INIT;
	struct rank_opts ranks = { .n = opts->n,
		.sessions = opts->sessions,
		.thinking = opts->thinking,
		.unmarked = opts->unmarked,
		.now_ms = opts->now_ms,
		.session_of = session_of,
		.same_title = same_title,
		.same_text = same_text,
		.prefers = prefers,
		.data = &sessions };
	int r = 0;

	for (size_t i = 0; i < n; i++)
		segs[i] = index_view_segment(view, i);
	if (opts->n_dirs > 0 || query->filters.n > 0) {
		vec_push(&choosing.bits, 0);
		r = index_sources(view, choose, &choosing, reterr);
		ranks.sources = choosing.bits.v;
		ranks.n_sources = choosing.bits.n * 64;
	}
	if (r >= 0)
		r = rank_search(segs, n, query, &ranks, &ranking, reterr);
	if (r >= 0)
		r = take_hits(view, &ranking, &found, reterr);
	ranking_release(&ranking);
	vec_release(&choosing.bits);
	if (r < 0)
		find_result_release(&found);
	else
		*ret = found;
	return r < 0 ? r : 0;
}

/* ---- words that are near ---- */

struct near {
	struct sv word;
	size_t distance;
	uint32_t docs;
	struct str *out;
};

static int on_near(void *data, struct sv text, const struct segment_term *term)
{
	struct near *n = data;

	if (text.n + 2 < n->word.n || text.n > n->word.n + 2 || sv_eq(text, n->word))
		return 0;
	size_t distance = suggest_distance(text, n->word);
	if (distance > n->distance || (distance == n->distance && term->docs <= n->docs))
		return 0;
	n->distance = distance;
	n->docs = term->docs;
	str_clear(n->out);
	str_add(n->out, text);
	return 0;
}

static bool find_word(const struct index_view *view, struct sv word, struct str *out)
{
	enum { SAME = 2, LEAST = 4, FAR = 2 };
	struct near n = { .word = word, .distance = word.n > 7 ? FAR : 1, .out = out };

	if (utf8_length(word) < LEAST)
		return false;
	for (size_t i = 0; i < index_view_segments(view); i++)
		if (segment_prefix(index_view_segment(view, i), utf8_cut(word, SAME), on_near, &n,
			    NULL) < 0)
			break;
	return out->len > 0;
}

bool find_near(const struct index_view *view, const struct query *query,
	const struct find_result *found, struct str *out)
{
	bool any = false;

	for (size_t i = 0; i < query->parts.n; i++) {
		const struct query_part *part = &query->parts.v[i];
		struct sv word = sv_of(part->terms.v[0].text);
		AUTO_STR near = STR_INIT;
		if (part->terms.n != 1 || part->prefix || part->weak ||
			found->parts_found >> i & 1 || !find_word(view, word, &near))
			continue;
		str_addf(out, "%s%s instead of %.*s", any ? ", " : "", near.buf, SV_ARG(word));
		any = true;
	}
	return any;
}
