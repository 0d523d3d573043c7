#include "store/topic.h"

#include <stdlib.h>

#include "base/map.h"
#include "store/sql.h"

int topic_put(struct store *store, int64_t seq, struct sv data, const struct strv *stems,
	struct err *reterr)
{
	AUTO_SQL topic = SQL_INIT;
	AUTO_SQL term = SQL_INIT;
	int r = store_begin(store, reterr);

	if (r < 0)
		return r;
	r = sql_prepare(
		&topic, store, "INSERT OR REPLACE INTO topic (seq, data) VALUES (?, ?)", reterr);
	if (r == 0) {
		sql_int(&topic, seq);
		sql_blob(&topic, data);
		r = sql_run(&topic, reterr);
	}
	if (r == 0)
		r = sql_prepare(&term, store,
			"INSERT OR IGNORE INTO term (stem, seq) VALUES (?, ?)", reterr);
	for (size_t i = 0; r == 0 && i < stems->n; i++) {
		sql_text(&term, stems->v[i]);
		sql_int(&term, seq);
		r = sql_run(&term, reterr);
		sql_reset(&term);
	}
	return store_end(store, r, reterr);
}

int topic_get(struct store *store, int64_t seq, struct str *out, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, store, reterr, "SELECT data FROM topic WHERE seq = ?", SQL_I(seq));

	if (r == 0)
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
		while ((r = sql_step(&q, reterr)) > 0) {
			int64_t seq = sql_get_int(&q, 0);
			if (map_put(&seen, sv_make((const char *)&seq, sizeof(seq)), 1))
				vec_push(&hits->seqs, seq);
		}
		sql_reset(&q);
	}
	vec_sort(&hits->seqs, newest_first);
	return r;
}

int correction_add(
	struct store *store, const struct correction *c, int64_t now_ms, struct err *reterr)
{
	return SQL_RUN(store, reterr,
		"INSERT INTO correction (text, wrong, \"right\", made_ms) VALUES (?, ?, ?, ?)",
		SQL_T(c->text), SQL_T(c->wrong), SQL_T(c->right), SQL_I(now_ms));
}

int correction_each(
	struct store *store, int64_t max, correction_each_fn fn, void *data, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, store, reterr,
		"SELECT text, wrong, \"right\" FROM correction ORDER BY id DESC LIMIT ?",
		SQL_I(max));

	while (r == 0 && (r = sql_step(&q, reterr)) > 0) {
		struct correction c = { .text = sql_dup_text(&q, 0),
			.wrong = sql_dup_text(&q, 1),
			.right = sql_dup_text(&q, 2) };
		r = fn(data, &c);
		free(c.text);
		free(c.wrong);
		free(c.right);
	}
	return r;
}
