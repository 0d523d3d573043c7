#include "store/topic.h"

#include <stdlib.h>

#include "base/map.h"
#include "store/sql.h"

static int put_data(struct store *store, int64_t seq, struct sv data, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(
		&q, store, "INSERT OR REPLACE INTO topic (seq, data) VALUES (?, ?)", reterr);

	if (r < 0)
		return r;
	sql_int(&q, seq);
	sql_blob(&q, data);
	return sql_run(&q, reterr);
}

static int put_stems(struct store *store, int64_t seq, const struct strv *stems, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(
		&q, store, "INSERT OR IGNORE INTO term (stem, seq) VALUES (?, ?)", reterr);

	for (size_t i = 0; r == 0 && i < stems->n; i++) {
		sql_text(&q, stems->v[i]);
		sql_int(&q, seq);
		r = sql_run(&q, reterr);
		sql_reset(&q);
	}
	return r;
}

int topic_put(struct store *store, int64_t seq, struct sv data, const struct strv *stems,
	struct err *reterr)
{
	int r = store_begin(store, reterr);

	if (r < 0)
		return r;
	r = put_data(store, seq, data, reterr);
	if (r == 0)
		r = put_stems(store, seq, stems, reterr);
	return store_end(store, r, reterr);
}

int topic_get(struct store *store, int64_t seq, struct str *out, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store, "SELECT data FROM topic WHERE seq = ?", reterr);

	if (r < 0)
		return r;
	sql_int(&q, seq);
	r = sql_step(&q, reterr);
	if (r > 0)
		str_add(out, sql_get_blob(&q, 0));
	return r;
}

static int newest_first(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a;
	int64_t y = *(const int64_t *)b;

	return (x < y) - (x > y);
}

static int collect(struct sql *q, struct map *seen, struct topic_hits *hits, struct err *reterr)
{
	int r;

	while ((r = sql_step(q, reterr)) > 0) {
		int64_t seq = sql_get_int(q, 0);
		if (map_put(seen, sv_make((const char *)&seq, sizeof(seq)), 1))
			vec_push(&hits->seqs, seq);
	}
	return r;
}

int topic_search(
	struct store *store, const struct strv *stems, struct topic_hits *hits, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	AUTO_MAP seen = MAP_INIT;
	int r = sql_prepare(
		&q, store, "SELECT seq FROM term WHERE stem = ? ORDER BY seq DESC LIMIT ?", reterr);

	for (size_t i = 0; r == 0 && i < stems->n; i++) {
		sql_text(&q, stems->v[i]);
		sql_int(&q, TOPIC_SEARCH_DEPTH);
		r = collect(&q, &seen, hits, reterr);
		sql_reset(&q);
	}
	vec_sort(&hits->seqs, newest_first);
	return r;
}

int correction_add(
	struct store *store, const struct correction *c, int64_t now_ms, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store,
		"INSERT INTO correction (text, wrong, \"right\", made_ms) VALUES (?, ?, ?, ?)",
		reterr);

	if (r < 0)
		return r;
	sql_text(&q, c->text);
	sql_text(&q, c->wrong);
	sql_text(&q, c->right);
	sql_int(&q, now_ms);
	return sql_run(&q, reterr);
}

int correction_find(
	struct store *store, const char *wrong, struct correction *ret, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store,
		"SELECT text, wrong, \"right\" FROM correction WHERE wrong = ?"
		" ORDER BY id DESC LIMIT 1",
		reterr);

	if (r < 0)
		return r;
	sql_text(&q, wrong);
	r = sql_step(&q, reterr);
	if (r > 0)
		*ret = (struct correction){ .text = sql_dup_text(&q, 0),
			.wrong = sql_dup_text(&q, 1),
			.right = sql_dup_text(&q, 2) };
	return r;
}

void correction_release(struct correction *c)
{
	free(c->text);
	free(c->wrong);
	free(c->right);
	*c = (struct correction){ .text = NULL };
}
