#include "cli/pick-rows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/archive.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "os/path.h"
#include "os/unpack.h"
#include "search/find.h"
#include "store/store.h"
#include "view/hit.h"
#include "view/item.h"

/* ---- candidates ---- */

void pick_rows_init(struct pick_rows *p, const struct app *app)
{
	*p = (struct pick_rows){
		.app = app, .all = VEC_INIT, .by_id = MAP_INIT, .fits_words = STR_INIT
	};
	p->now_ms = clock_wall_ms(&app->clock);
	p->index_dir = app->paths.index_dir;
}

void pick_rows_release(struct pick_rows *p)
{
	vec_each (&p->all, c) {
		session_row_release(&c->row);
		free(c->dir);
		free(c->text);
	}
	vec_release(&p->all);
	vec_release(&p->fits);
	str_release(&p->fits_words);
	map_release(&p->by_id);
	index_view_close(p->view);
}

static void id_key(struct str *key, const char *agent, const char *id)
{
	str_clear(key);
	str_addf(key, "%s %s", agent, id);
}

static bool wanted(const struct pick_rows *p, const struct session_row *row)
{
	bool here = p->n_dirs == 0;

	for (size_t i = 0; i < p->n_dirs && !here; i++)
		here = path_within(sv_of(row->info.cwd), sv_of(p->dirs[i]));
	return here && (!p->agent || sv_is(sv_of(row->agent), p->agent));
}

void pick_rows_add(struct pick_rows *p, const struct session_row *row)
{
	const struct session_info *i = &row->info;
	AUTO_STR text = STR_INIT;
	AUTO_STR key = STR_INIT;
	struct candidate c;

	if (!wanted(p, row))
		return;
	c = (struct candidate){
		.row = { .agent = xstrdup(row->agent),
			.own_name = xstrdup(row->own_name),
			.active_ms = row->active_ms,
			.gone = row->gone },
		.dir = path_show(i->cwd, p->app->paths.home),
	};
	session_info_init(&c.row.info, i->format, i->path);
	const struct {
		char **to;
		const char *from;
	} copied[] = { { &c.row.info.id, i->id }, { &c.row.info.name, i->name },
		{ &c.row.info.cwd, i->cwd }, { &c.row.info.branch, i->branch },
		{ &c.row.info.prompt, i->prompt } };
	for (size_t k = 0; k < ARRAY_LEN(copied); k++) {
		free(*copied[k].to);
		*copied[k].to = xstrdup(copied[k].from);
	}
	c.row.info.turns = i->turns;
	utf8_normalise(&text, sv_of(session_title(&c.row)), true);
	c.title_n = text.len;
	const char *const others[] = { i->name, i->prompt, c.dir, i->branch, i->id, row->agent };
	for (size_t k = 0; k < ARRAY_LEN(others); k++) {
		/* The title is one of them as a rule: it need not be gone through twice. */
		if (others[k][0] == '\0' || strcmp(others[k], session_title(&c.row)) == 0)
			continue;
		str_addc(&text, '\n');
		utf8_normalise(&text, sv_of(others[k]), true);
	}
	c.text_n = text.len;
	c.text = str_detach(&text);
	id_key(&key, row->agent, i->id);
	(void)map_put(&p->by_id, str_sv(&key), p->all.n);
	vec_push(&p->all, c);
}

/* ---- what is found ---- */

struct row {
	const struct candidate *of;
	char *path; /* that of `at`, owned */
	struct pick_place at;
};

struct rows {
	VEC(struct row) v;
	struct strv words; /* folded */
};

static void rows_free(struct rows *rows)
{
	vec_each (&rows->v, row)
		free(row->path);
	vec_release(&rows->v);
	strv_release(&rows->words);
	free(rows);
}

/* Each of the words is in it somewhere; *ret_title when all are in the title. */
static bool fits(const struct candidate *c, struct sv words, bool *ret_title)
{
	struct sv text = sv_make(c->text, c->text_n), word;
	size_t at;

	*ret_title = true;
	while (sv_split(&words, ' ', &word)) {
		if (!word.n)
			continue;
		if (!sv_find(text, word, &at))
			return false;
		if (at + word.n > c->title_n)
			*ret_title = false;
	}
	return true;
}

/* Which candidates fit: looked for among those that fitted before, where the words go on from what
 * they were. A key asks twice, and the second time they are known. */
static void find_fits(struct pick_rows *p, struct sv words)
{
	struct sv before = str_sv(&p->fits_words);
	bool among = p->fits_known && sv_starts(words, before);
	size_t n = among ? p->fits.n : p->all.n;
	struct candidate_fit fit;

	if (among && sv_eq(words, before))
		return;
	p->fits.n = 0;
	for (size_t i = 0; i < n; i++) {
		/* Where it was among them, it moves forward. */
		fit.at = among ? p->fits.v[i].at : i;
		if (fits(&p->all.v[fit.at], words, &fit.title))
			vec_push(&p->fits, fit);
	}
	str_clear(&p->fits_words);
	str_add(&p->fits_words, words);
	p->fits_known = true;
}

/* What is typed while it is typed: the last word may be the beginning of another one. */
static void typed_query(struct sv words, struct str *out)
{
	size_t from = words.n;
	unsigned quotes = 0;

	for (size_t i = 0; i < words.n; i++)
		quotes += words.p[i] == '"';
	while (from > 0 && words.p[from - 1] != ' ')
		from--;
	struct sv last = sv_from(words, from);
	str_add(out, words);
	bool word = last.n > 0;
	for (size_t i = 0; i < last.n; i++)
		word = word &&
			((unsigned char)last.p[i] >= 0x80 || last.p[i] == '_' ||
				(last.p[i] >= '0' && last.p[i] <= '9') ||
				((last.p[i] | 0x20) >= 'a' && (last.p[i] | 0x20) <= 'z'));
	if (quotes % 2)
		str_addc(out, '"');
	else if (word && utf8_length(last) >= QUERY_PREFIX_MIN && !sv_is(last, "OR"))
		str_addf(out, " %.*s*", SV_ARG(last));
}

/* Adds the places of hits, the best session first. Without an index, or with one that cannot be
 * read, there are none; what is only half typed is no error. */
static void find_hits(struct pick_rows *p, struct sv words, struct rows *ret, struct str *note)
{
	const struct query_context context = { p->now_ms, p->app->paths.home, p->app->cwd };
	const struct find_opts opts = {
		.n = 200, /* more than anybody goes through */
		.sessions = true,
		.now_ms = p->now_ms,
		.dirs = p->dirs,
		.n_dirs = p->n_dirs,
	};
	AUTO_STR typed = STR_INIT;
	AUTO_STR key = STR_INIT;
	struct query query = QUERY_INIT;
	struct find_result found = FIND_RESULT_INIT;
	struct err err = ERR_INIT;
	uint64_t at;

	if (!p->view && !p->no_view)
		p->no_view = index_view_open(p->index_dir, &p->view, NULL) < 0;
	if (!p->view)
		return;
	/* A date is one as it is typed. */
	if (query_parse(words, &context, &query, NULL) < 0 || !query.dated) {
		query_release(&query);
		query = (struct query)QUERY_INIT;
		typed_query(words, &typed);
		if (query_parse(str_sv(&typed), &context, &query, &err) < 0) {
			str_adds(note, err.msg);
			return;
		}
	}
	int r = query_empty(&query) ? 0 : find(p->view, &query, &opts, &found, &err);
	if (r == SEGMENT_DAMAGED)
		index_blame(p->index_dir, &err);
	if (r < 0)
		str_addf(note, "%s%s", err.msg,
			r == SEGMENT_DAMAGED ? "; the next search makes it anew" : "");
	else if (found.hits.n == 0 && !query_empty(&query)) {
		AUTO_STR near = STR_INIT;
		if (find_near(p->view, &query, &found, &near))
			str_addf(note, "near to it: %s", near.buf);
	}
	vec_each (&found.hits, hit) {
		struct index_source *source = &hit->source;
		id_key(&key, source->agent, source->session);
		if (!map_get(&p->by_id, str_sv(&key), &at))
			continue;
		/* Of one that is gone the archive has one file, that of the session itself. */
		bool placed = hit->hit.at.kind != DOC_SESSION &&
			!(p->all.v[at].row.gone && source->subagent);
		vec_push(&ret->v,
			(struct row){ .of = &p->all.v[at],
				.path = placed ? xstrdup(source->path) : NULL,
				.at = { .format = source->format,
					.offset = hit->hit.at.offset,
					.part = hit->hit.at.part,
					.subagent = source->subagent,
					.hidden = view_hit_hidden(hit->hit.at.kind) } });
	}
	find_result_release(&found);
	query_release(&query);
}

/* What has all words in its title, then what the index has, the best first, then what has them in
 * its folder, branch or id; of the first and the last, the newest first. */
static int list_rows(struct pick_rows *p, struct sv words, bool searched,
	const struct worker *worker, struct picker_found *ret, struct err *reterr)
{
	AUTO_STR folded = STR_INIT;
	AUTO_STR note = STR_INIT;
	struct rows hits = { .v = VEC_INIT };
	struct rows *rows = xcalloc(1, sizeof(*rows));
	const struct candidate **others = xcalloc(p->all.n + 1, sizeof(*others));
	/* Of each candidate: 1 + its place among the hits; 0 none, SIZE_MAX it is a row already. */
	size_t *places = xcalloc(p->all.n + 1, sizeof(*places)), n_others = 0;
	struct sv rest, word;

	utf8_normalise(&folded, words, true);
	rest = str_sv(&folded);
	while (sv_split(&rest, ' ', &word))
		if (word.n)
			strv_addsv(&rows->words, word);
	if (searched && rows->words.n)
		find_hits(p, words, &hits, &note);
	for (size_t i = hits.v.n; i-- > 0;)
		places[hits.v.v[i].of - p->all.v] = i + 1;
	find_fits(p, str_sv(&folded));
	vec_each (&p->fits, fit) {
		const struct candidate *c = &p->all.v[fit->at];
		size_t *place = &places[fit->at];
		if (!fit->title) {
			others[n_others++] = c;
			continue;
		}
		vec_push(&rows->v, *place ? hits.v.v[*place - 1] : (struct row){ .of = c });
		if (*place)
			hits.v.v[*place - 1].path = NULL; /* moved */
		*place = SIZE_MAX;
	}
	vec_each (&hits.v, hit) {
		size_t *place = &places[hit->of - p->all.v];
		if (*place == SIZE_MAX)
			continue;
		vec_push(&rows->v, *hit);
		hit->path = NULL;
		*place = SIZE_MAX;
	}
	for (size_t i = 0; i < n_others; i++)
		if (places[others[i] - p->all.v] != SIZE_MAX)
			vec_push(&rows->v, (struct row){ .of = others[i] });
	vec_each (&hits.v, hit) /* further ones of the same sessions */
		free(hit->path);
	vec_release(&hits.v);
	free(others);
	free(places);
	if (worker_cancelled(worker)) {
		rows_free(rows);
		return err_set(reterr, ERR_CANCELLED, "overtaken");
	}
	*ret = (struct picker_found){ .rows = rows, .n = rows->v.n, .total = p->all.n };
	if (note.len > 0)
		ret->note = str_detach(&note);
	return 0;
}

static int find_rows(void *data, struct sv words, const struct worker *worker,
	struct picker_found *ret, struct err *reterr)
{
	return list_rows(data, words, true, worker, ret, reterr);
}

/* What is known of the sessions without looking into them. */
static int glance_at_rows(void *data, struct sv words, const struct worker *worker,
	struct picker_found *ret, struct err *reterr)
{
	return list_rows(data, words, false, worker, ret, reterr);
}

static void release(void *data UNUSED, struct picker_found *found)
{
	rows_free(found->rows);
	free(found->note);
}

static const struct row *row_at(const struct picker_found *found, size_t row)
{
	return &((const struct rows *)found->rows)->v.v[row];
}

struct pick_place pick_rows_place(const struct picker_found *found, size_t row)
{
	struct pick_place at = row_at(found, row)->at;

	at.path = row_at(found, row)->path;
	return at;
}

const struct candidate *pick_rows_at(const struct picker_found *found, size_t row)
{
	return row_at(found, row)->of;
}

enum { COL_TITLE, COL_AGE, COL_AGENT, COL_DIR, COLS };
enum { DIR_COLS = 20 };
const size_t pick_rows_columns_n = COLS;
const struct picker_column pick_rows_columns[COLS] = {
	[COL_TITLE] = { .marked = true },
	[COL_AGE] = { .width = 12, .from = 36, .style = STYLE_DIM },
	[COL_AGENT] = { .width = 7, .from = 50, .style = STYLE_DIM },
	[COL_DIR] = { .width = DIR_COLS, .from = 64, .style = STYLE_DIM, .marked = true },
};

static void put_row(void *data, const struct picker_found *found, size_t row, struct str *cells)
{
	const struct pick_rows *p = data;
	const struct candidate *c = pick_rows_at(found, row);
	char age[CLOCK_TEXT_MAX];
	size_t at;

	clock_format_ago(p->now_ms - c->row.active_ms, age);
	str_addf(&cells[COL_TITLE], "%s%s", c->row.gone ? "(gone) " : "", session_title(&c->row));
	str_adds(&cells[COL_AGE], age);
	str_adds(&cells[COL_AGENT], c->row.agent);
	/* The end of a long path tells more than its beginning. */
	struct sv dir = sv_of(c->dir);
	while (utf8_width(dir) >= DIR_COLS && sv_find(sv_from(dir, 1), SV("/"), &at))
		dir = sv_from(dir, at + 1);
	str_adds(&cells[COL_DIR], dir.n < strlen(c->dir) ? "…" : "");
	str_add(&cells[COL_DIR], dir);
}

/* ---- what is shown of one ---- */

/* The beginning of the first line at or behind a byte of the file. */
static int line_from(int fd, uint64_t at, uint64_t *ret, struct err *reterr)
{
	char piece[4096];
	ssize_t n = 1;

	*ret = 0;
	if (at == 0)
		return 0;
	for (at--; n > 0; at += (uint64_t)n) {
		n = pread(fd, piece, sizeof(piece), (off_t)at);
		if (n < 0)
			return err_errno(reterr, errno, "read the session");
		const char *end = memchr(piece, '\n', (size_t)n);
		*ret = at + (uint64_t)(end ? end - piece + 1 : n);
		if (end)
			return 0;
	}
	return 0;
}

struct showing {
	const struct rows *rows;
	const struct row *row;
	const struct worker *worker;
	const struct archive *archive;
	const char *key; /* of the archive's copy, of one that is gone; else "" */
	uint64_t lost; /* bytes of it that are damaged, as far as it was read */
	struct term *term;
	size_t at; /* of the hit in what is written; PICKER_END: none yet */
};

/* The line of the text that has most of the words. */
static size_t best_line(const struct showing *s, size_t from)
{
	struct sv rest = sv_from(str_sv(&s->term->buf), from), line;
	size_t best = from, most = 0, at;

	while (sv_split(&rest, '\n', &line)) {
		AUTO_STR folded = STR_INIT;
		size_t has = 0;
		utf8_normalise(&folded, line, true);
		for (size_t i = 0; i < s->rows->words.n; i++)
			has += sv_find(str_sv(&folded), sv_of(s->rows->words.v[i]), &at);
		if (has > most) {
			most = has;
			best = (size_t)(line.p - s->term->buf.buf);
		}
	}
	return best;
}

/* All items from this line on; of a hit also those that are passed over otherwise, and not much
 * more behind it than fits the screen. */
static int show_from(struct showing *s, const char *path, const struct transcript_format *format,
	uint64_t offset, struct err *reterr)
{
	enum { BEHIND = 64 * 1024 };
	const struct row *row = s->row;
	const struct transcript_read_opts opts = { .offset = offset,
		.subagent = row->path && row->at.subagent };
	struct show_state state = SHOW_STATE_INIT;
	struct transcript_reader *reader = NULL;
	struct item item;
	int r = transcript_open(path, format, &opts, &reader, reterr);

	while (r >= 0 && (r = transcript_next(reader, &item, reterr)) > 0) {
		bool hit = row->path && item.offset == row->at.offset && item.part == row->at.part;
		const struct show_style style = { .agent = row->of->row.agent, .tools = hit };
		size_t from = s->term->buf.len;
		if (row->path && item.offset > row->at.offset + BEHIND)
			break;
		view_item(&state, &style, s->term, &item);
		if (hit)
			s->at = best_line(s, from);
		if (worker_cancelled(s->worker))
			r = err_set(reterr, ERR_CANCELLED, "overtaken");
	}
	transcript_close(reader);
	show_state_release(&state);
	return r < 0 ? r : 0;
}

/* The file; of one that is gone these bytes of the archive's copy, in place of what *fd was. */
static int open_at(struct showing *s, const char *path, int64_t from, uint64_t size, int *fd,
	struct err *reterr)
{
	bool kept = s->key[0] != '\0';

	if (*fd >= 0 && !kept)
		return 0;
	if (*fd >= 0)
		(void)close(*fd);
	*fd = -1;
	if (kept)
		return archive_open_part(s->archive, s->key, from, size, fd, &s->lost, reterr);
	*fd = unpack_open(path, NULL, reterr);
	return *fd < 0 ? *fd : 0;
}

/* What is written from the line at or behind a byte on, in place of what was behind `head`. */
static int show_anew(struct showing *s, size_t head, int fd, const struct transcript_format *format,
	uint64_t at, uint64_t *ret_from, struct err *reterr)
{
	AUTO_FREE char *name = xasprintf("/proc/self/fd/%d", fd);
	int r = line_from(fd, at, ret_from, reterr);

	str_cut(&s->term->buf, head);
	s->term->col = 0;
	if (r >= 0 && s->row->path && *ret_from > s->row->at.offset)
		*ret_from = s->row->at.offset;
	return r < 0 ? r : show_from(s, name, format, *ret_from, reterr);
}

/* The last words; of a file that ends with much that is not shown, more is read. */
static int show_end(struct showing *s, struct err *reterr)
{
	enum { FIRST = 64 * 1024, MOST = 16 * 1024 * 1024, STEP = 8 };
	const struct session_info *info = &s->row->of->row.info;
	size_t head = s->term->buf.len;
	AUTO_CLOSE int fd = -1;
	uint64_t offset = 1;
	struct stat st;
	int r = 0;

	for (uint64_t most = FIRST; r >= 0 && offset > 0 && most <= MOST; most *= STEP) {
		r = open_at(s, info->path, -(int64_t)most, UINT64_MAX, &fd, reterr);
		if (r < 0 || fstat(fd, &st) < 0)
			return r;
		uint64_t size = (uint64_t)st.st_size;
		r = show_anew(
			s, head, fd, info->format, size > most ? size - most : 0, &offset, reterr);
		if (s->term->buf.len > head)
			break;
	}
	return r;
}

/* What is around it; of a copy all that follows where its own line is longer than that. */
static int show_hit(struct showing *s, struct err *reterr)
{
	enum { BEFORE = 16 * 1024, AROUND = 512 * 1024 };
	const uint64_t at = s->row->at.offset, from = at > BEFORE ? at - BEFORE : 0;
	size_t head = s->term->buf.len;
	AUTO_CLOSE int fd = -1;
	uint64_t offset;
	int r = open_at(s, s->row->path, (int64_t)from, AROUND, &fd, reterr);

	if (r >= 0)
		r = show_anew(s, head, fd, s->row->at.format, from, &offset, reterr);
	if (r < 0 || s->at != PICKER_END || !s->key[0])
		return r;
	r = open_at(s, s->row->path, (int64_t)from, UINT64_MAX, &fd, reterr);
	return r < 0 ? r : show_anew(s, head, fd, s->row->at.format, from, &offset, reterr);
}

static int preview(void *data, const struct picker_found *found, size_t row,
	const struct worker *worker, struct term *t, struct picker_view *ret, struct err *reterr)
{
	const struct pick_rows *p = data;
	const struct session_info *info = &pick_rows_at(found, row)->row.info;
	char key[ARCHIVE_KEY_MAX] = "";
	AUTO_STORE *store = NULL;
	struct archive archive = { .dir = p->app->paths.archive_dir, .clock = &p->app->clock };
	struct showing s = {
		.rows = found->rows,
		.row = row_at(found, row),
		.worker = worker,
		.archive = &archive,
		.key = key,
		.term = t,
		.at = PICKER_END,
	};
	int r = 0;
	AUTO_STR line = STR_INIT;
	AUTO_STR clean = STR_INIT;
	AUTO_STR head = STR_INIT;

	str_addf(&line, "%s  %lld %s  %s%s%s", info->id, (long long)info->turns,
		info->turns == 1 ? "turn" : "turns", info->branch, info->branch[0] ? "  " : "",
		s.row->of->dir);
	utf8_scrub_line(&clean, str_sv(&line));
	utf8_fit(&head, str_sv(&clean), t->cols);
	term_styled(t, STYLE_NOTICE, str_sv(&head));
	term_newline(t);
	if (s.row->of->row.gone) {
		/* The store that is open is another thread's. */
		AUTO_FREE char *state = path_join(p->app->paths.state_dir, "faden.db");
		if (store_open(state, STORE_READONLY, NULL, &store, NULL) < 0)
			store = NULL;
		archive.store = store;
		r = archive_find(&archive, info->path, key, reterr);
		if (r == ERR_NOTFOUND)
			return err_set(reterr, ERR_NOTFOUND,
				"it is gone, and the archive does not have it");
	}
	if (r >= 0)
		r = s.row->path ? show_hit(&s, reterr) : show_end(&s, reterr);
	if (r >= 0 && s.lost > 0 && s.at == PICKER_END) {
		if (t->col > 0)
			term_newline(t);
		term_styled(t, STYLE_NOTICE,
			SV("(what the archive has here is damaged: 'faden archive verify')"));
	}
	*ret = (struct picker_view){ .fixed = 1, .at = s.at };
	return r;
}

const struct picker_source pick_rows_source = {
	.glance = glance_at_rows,
	.find = find_rows,
	.release = release,
	.row = put_row,
	.preview = preview,
};
