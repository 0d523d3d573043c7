/* Sessions made by hand, and what is found in them. */
#include "search/rank.h"

#include <limits.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/mem.h"
#include "os/test-temp.h"
#include "search/score.h"

#define NOW "2026-11-17T09:30:00Z"
enum { BUDGET = 1 << 20, SEGMENTS_MAX = 4 };

static int64_t ms_of(const char *iso)
{
	int64_t ms = -1;

	assert_true(clock_parse_iso(sv_of(iso), &ms));
	return ms;
}

/* One document; a source of 0 ends the list, a new number begins a run. */
struct line {
	uint32_t source;
	enum doc_kind kind;
	const char *at; /* minutes are added, so that no two have one time */
	const char *text;
	const char *tool, *file;
};

struct corpus {
	char *dir;
	struct segment *segs[SEGMENTS_MAX];
	size_t n;
};

static void corpus_add(struct corpus *c, const struct line *lines)
{
	struct builder *b = builder_new(BUDGET);
	AUTO_STR term = STR_INIT;
	AUTO_STR path = STR_INIT;
	struct err err = ERR_INIT;

	for (const struct line *l = lines; l->source; l++) {
		if (l == lines || l->source != l[-1].source)
			builder_run(b, l->source, 1, 0);
		builder_doc(b,
			&(struct segment_doc){ .offset = (uint64_t)(l - lines),
				.kind = l->kind,
				.time_s = (uint32_t)(ms_of(l->at) / 1000 + 60 * (l - lines)) });
		uint32_t end = builder_text(b, sv_of(l->text), 0);
		const char *values[] = { l->tool, l->file };
		for (unsigned i = 0; i < 2; i++)
			if (values[i]) {
				str_clear(&term);
				term_of_field(&term, i ? TERM_FILE : TERM_TOOL, sv_of(values[i]));
				builder_add(b, str_sv(&term), end);
			}
	}
	str_addf(&path, "%s/%zu", c->dir, c->n);
	if (builder_write(b, path.buf, false, &err) < 0 ||
		segment_open(path.buf, &c->segs[c->n], &err) < 0)
		fail_msg("%s", err.msg);
	c->n++;
	builder_free(b);
}

static void corpus_release(struct corpus *c)
{
	for (size_t i = 0; i < c->n; i++)
		segment_close(c->segs[i]);
	temp_remove(c->dir);
}

static struct ranking ask_with(const struct corpus *c, const char *typed, struct rank_opts opts)
{
	const struct query_context context = { .now_ms = ms_of(NOW), .home = "/h", .cwd = "/w" };
	struct query q = QUERY_INIT;
	struct ranking found = RANKING_INIT;
	struct err err = ERR_INIT;

	opts.now_ms = context.now_ms;
	if (query_parse(sv_of(typed), &context, &q, &err) < 0 ||
		rank_search((const struct segment *const *)c->segs, c->n, &q, &opts, &found, &err) <
			0)
		fail_msg("%s: %s", typed, err.msg);
	query_release(&q);
	return found;
}

/* Results as "source/line source/line". */
static void write_hits(const struct ranking *found, struct str *out)
{
	vec_each (&found->hits, hit)
		str_addf(out, "%s%u/%llu", out->len > 0 ? " " : "", hit->source,
			(unsigned long long)hit->at.offset);
}

static void finds_with(
	const struct corpus *c, const char *typed, struct rank_opts opts, const char *want)
{
	struct ranking found = ask_with(c, typed, opts);
	AUTO_STR got = STR_INIT;

	write_hits(&found, &got);
	if (strcmp(got.buf, want) != 0)
		fail_msg("%s: %s, not %s", typed, got.buf, want);
	ranking_release(&found);
}

static void finds(const struct corpus *c, const char *typed, const char *want)
{
	finds_with(c, typed, (struct rank_opts){ .n = 0 }, want);
}

#define DAY "2026-10-01T10:00:00Z"
static const struct line shop[] = {
	{ 1, DOC_SESSION, DAY, "retry work /home/me/shop", NULL, NULL },
	{ 1, DOC_USER, DAY, "Please raise the retry limit of the payment client", NULL, NULL },
	{ 1, DOC_THINKING, DAY, "the secret zebra is in the thoughts", NULL, NULL },
	{ 1, DOC_CALL, DAY, "grep -rn parseRetryLimit src", "Bash", "src/pay.c" },
	{ 1, DOC_RESULT, DAY, "src/pay.c:12: int parseRetryLimit(void)", NULL, NULL },
	{ 1, DOC_ASSISTANT, DAY, "The retries are now limited to seven", NULL, NULL },
	{ 2, DOC_USER, DAY, "Draw a café sign for the Straße, with colour", NULL, NULL },
	{ 2, DOC_ASSISTANT, DAY, "I wrote the sign; it went well. 日本語の看板", NULL, NULL },
	{ 2, DOC_CALL, DAY, "write", "Write", "sign.svg" },
	{ 3, DOC_USER, DAY, "the limit of the disk is a hard limit", NULL, NULL },
	{ 3, DOC_ASSISTANT, DAY, "no limit on retry there, it is limitless", NULL, NULL },
	{ 0, DOC_USER, NULL, NULL, NULL, NULL },
};

static void setup(struct corpus *c, const struct line *lines)
{
	*c = (struct corpus){ .n = 0 };
	c->dir = temp_folder();
	corpus_add(c, lines);
}

static void test_words(void **state)
{
	struct corpus c;

	(void)state;
	setup(&c, shop);
	finds(&c, "payment", "1/1");
	finds(&c, "PAYMENT client", "1/1");
	finds(&c, "zzz", "");
	finds(&c, "zzz payment", "1/1");
	finds(&c, "STRASSE", "2/6");
	finds(&c, "Straße", "2/6");
	/* The message with both words and its session come before others. */
	struct ranking found =
		ask_with(&c, "where did we change the retry limit?", (struct rank_opts){ .n = 2 });
	assert_int_equal(found.hits.n, 2);
	assert_int_equal(found.hits.v[0].source, 1);
	/* "change" is nowhere. */
	assert_int_equal(found.parts_found >> 3, 0xE);
	ranking_release(&found);
	/* Words that only hold a question together are looked for when there are no others. */
	finds(&c, "the", "3/9 1/1 1/5 2/6 2/7");
	corpus_release(&c);
}

static void test_forms(void **state)
{
	struct corpus c;

	(void)state;
	setup(&c, shop);
	finds(&c, "limited role:user", "3/9 1/1");
	/* As typed comes before another form of the word. */
	finds(&c, "limited role:assistant", "1/5 3/10");
	finds(&c, "raising", "1/1");
	finds(&c, "go", "2/7");
	finds(&c, "\"go\"", "");
	finds(&c, "+raises", "");
	finds(&c, "cafe", "");
	finds_with(&c, "cafe", (struct rank_opts){ .unmarked = true }, "2/6");
	finds(&c, "看板", "2/7");
	finds(&c, "語", "2/7");
	finds(&c, "\"本語の\"", "2/7");
	finds(&c, "\"語本\"", "");
	corpus_release(&c);
}

static void test_exact(void **state)
{
	struct corpus c;

	(void)state;
	setup(&c, shop);
	finds(&c, "\"retry limit\"", "1/3 1/4 1/1");
	finds(&c, "\"limit retry\"", "");
	finds(&c, "\"retry limit of the\"", "1/1");
	finds(&c, "\"the limit of the\"", "3/9");
	finds(&c, "+parseRetryLimit", "1/3 1/4");
	finds(&c, "+limit +retry -payment", "1/3 1/4 3/10");
	finds(&c, "limit -disk -retry", "1/5");
	finds(&c, "disk OR payment", "3/9 1/1");
	finds(&c, "disk OR \"no limit\" payment", "3/10 3/9");
	finds(&c, "limitl*", "3/10");
	finds(&c, "+\"no limit\" +limitl*", "3/10");
	finds(&c, "pars*", "1/3 1/4");
	corpus_release(&c);
}

static void test_fields(void **state)
{
	struct corpus c;
	uint64_t second = 1u << 2;

	(void)state;
	setup(&c, shop);
	finds(&c, "tool:bash", "1/3");
	finds(&c, "tool:Bash OR tool:Write", "2/8 1/3");
	finds(&c, "file:sign.svg", "2/8");
	finds(&c, "limit role:user", "3/9 1/1");
	finds(&c, "limit -role:user role:assistant role:user", "3/10 1/5");
	finds(&c, "zebra", "");
	finds(&c, "zebra role:thinking", "1/2");
	finds_with(&c, "zebra", (struct rank_opts){ .thinking = true }, "1/2");
	/* Nothing to rank by: the latest first. */
	finds(&c, "role:user", "3/9 2/6 1/1");
	finds(&c, "limit before:2026-10-01", "");
	finds(&c, "after:2026-10-02", "");
	finds_with(&c, "the", (struct rank_opts){ .sources = &second, .n_sources = 3 }, "2/6 2/7");
	finds_with(&c, "the", (struct rank_opts){ .sources = &second, .n_sources = 1 }, "");
	corpus_release(&c);
}

static uint64_t all_one(void *data, uint32_t source)
{
	(void)data;
	return source == 3 ? 1 : source;
}

static void test_sessions(void **state)
{
	struct corpus c;
	struct rank_opts sessions = { .sessions = true };

	(void)state;
	setup(&c, shop);
	finds_with(&c, "retry limit", sessions, "1/3 3/10");
	sessions.session_of = all_one;
	finds_with(&c, "retry limit", sessions, "1/3");
	sessions.n = 1;
	sessions.session_of = NULL;
	finds_with(&c, "sign OR disk", sessions, "2/6");
	corpus_release(&c);
}

/* Results do not depend on how documents are spread over segments; dead runs do not count. */
static void test_segments(void **state)
{
	static const char *const asked[] = { "retry limit", "limit*", "\"retry limit\"", "sign",
		"limit -retry", "role:user", "disk OR payment" };
	struct corpus one, two;
	struct line part[ARRAY_LEN(shop)];

	(void)state;
	setup(&one, shop);
	two = (struct corpus){ .n = 0 };
	two.dir = temp_folder();
	for (uint32_t source = 1; source <= 3; source++) {
		size_t n = 0;
		/* Lines of other sources stay, as empty ones, so that times are the same. */
		for (size_t i = 0; i < ARRAY_LEN(shop) - 1; i++) {
			part[n] = shop[i];
			if (shop[i].source != source)
				part[n] = (struct line){ 9, DOC_RESULT, DAY, "", NULL, NULL };
			n++;
		}
		part[n] = (struct line){ .source = 0 };
		corpus_add(&two, part);
	}
	for (size_t i = 0; i < ARRAY_LEN(asked); i++) {
		struct ranking a = ask_with(&one, asked[i], (struct rank_opts){ .sessions = true });
		struct ranking b = ask_with(&two, asked[i], (struct rank_opts){ .sessions = true });
		AUTO_STR x = STR_INIT;
		AUTO_STR y = STR_INIT;
		write_hits(&a, &x);
		for (size_t k = 0; k < b.hits.n; k++)
			if (b.hits.v[k].source == 9)
				b.hits.n = k;
		write_hits(&b, &y);
		assert_string_equal(x.buf, y.buf);
		ranking_release(&a);
		ranking_release(&b);
	}
	segment_set_dead(one.segs[0], SV("\x01"));
	finds(&one, "payment", "");
	finds(&one, "\"no limit\"", "3/10");
	corpus_release(&one);
	corpus_release(&two);
}

static const struct line story[] = {
	{ 1, DOC_USER, "2026-03-10T08:00:00Z", "we spoke of the parser", NULL, NULL },
	{ 1, DOC_ASSISTANT, "2026-03-10T08:00:00Z", "it has a bug", NULL, NULL },
	{ 2, DOC_USER, "2026-05-02T08:00:00Z", "we spoke of the parser", NULL, NULL },
	{ 2, DOC_ASSISTANT, "2026-05-02T08:00:00Z", "it has a bug in the lexer", NULL, NULL },
	{ 3, DOC_USER, "2026-11-16T08:00:00Z", "we spoke of the parser", NULL, NULL },
	{ 3, DOC_ASSISTANT, "2026-11-16T08:00:00Z", "all is well", NULL, NULL },
	{ 4, DOC_USER, "2026-08-16T08:00:00Z", "tokens of the lexer", NULL, NULL },
	{ 4, DOC_ASSISTANT, "2026-08-16T08:00:00Z", "and a word about the old parser", NULL, NULL },
	{ 0, DOC_USER, NULL, NULL, NULL, NULL },
};

static void first_is(const struct corpus *c, const char *typed, uint32_t source)
{
	struct ranking found = ask_with(c, typed, (struct rank_opts){ .sessions = true });

	if (found.hits.n == 0 || found.hits.v[0].source != source)
		fail_msg("%s", typed);
	ranking_release(&found);
}

static void test_context(void **state)
{
	struct corpus c;

	(void)state;
	setup(&c, story);
	/* Of equals the latest. */
	first_is(&c, "parser", 3);
	first_is(&c, "what was it about the parser in March?", 1);
	first_is(&c, "the parser, on 2 May 2026", 2);
	first_is(&c, "parser gestern", 3);
	/* Words in messages beside one another tell more than one of them alone. */
	first_is(&c, "the bug of the parser in the lexer", 2);
	corpus_release(&c);
}

static const struct line copies[] = {
	{ 1, DOC_USER, DAY, "rename the widget table", NULL, NULL },
	{ 1, DOC_ASSISTANT, DAY, "renamed", NULL, NULL },
	{ 0, DOC_USER, NULL, NULL, NULL, NULL },
};

static void test_copies(void **state)
{
	struct corpus c;
	struct line fork[ARRAY_LEN(copies)];

	(void)state;
	setup(&c, copies);
	memcpy(fork, copies, sizeof(copies));
	fork[0].source = fork[1].source = 2;
	corpus_add(&c, fork);
	struct ranking found = ask_with(&c, "widget table", (struct rank_opts){ .n = 0 });
	assert_int_equal(found.hits.n, 1);
	assert_int_equal(found.hits.v[0].copies, 1);
	ranking_release(&found);
	corpus_release(&c);
}

static bool all_same(void *data, uint32_t a, uint32_t b)
{
	return *(const bool *)data || a == b;
}

/* Titles say nothing of when they were given: sessions that began at one time and are called the
 * same are copies, others are not. */
static void test_copied_titles(void **state)
{
	static const struct line titles[] = {
		{ 1, DOC_SESSION, DAY, "the widget", NULL, NULL },
		{ 0, DOC_USER, NULL, NULL, NULL, NULL },
	};
	struct line copy[] = { titles[0], titles[1] }, later[] = { titles[0], titles[1] };
	struct corpus c;
	bool same = true;
	struct rank_opts opts = { .same_title = all_same, .data = &same };

	(void)state;
	setup(&c, titles);
	copy[0].source = 2;
	corpus_add(&c, copy);
	later[0].source = 3;
	later[0].at = "2026-10-02T10:00:00Z";
	corpus_add(&c, later);
	struct ranking found = ask_with(&c, "widget", opts);
	assert_int_equal(found.hits.n, 2);
	assert_int_equal(found.hits.v[0].copies + found.hits.v[1].copies, 1);
	ranking_release(&found);
	same = false;
	finds_with(&c, "widget", opts, "3/0 1/0 2/0");
	corpus_release(&c);
}

/* How often a phrase stands in a document, by its words alone. */
static uint32_t count_in(struct sv text, const struct query_part *part)
{
	VEC(struct query_term) all = VEC_INIT; /* every word that is there */
	struct word_walk walk;
	struct word_at word;
	uint32_t count = 0;

	words_begin(&walk, text);
	while (words_next(&walk, &word))
		vec_push(&all,
			(struct query_term){ xmemdup0(word.text.p, word.text.n), word.position });
	vec_each (&all, first) {
		bool here = strcmp(first->text, part->terms.v[0].text) == 0;
		for (size_t i = 1; here && i < part->terms.n; i++) {
			const struct query_term *want = &part->terms.v[i];
			bool found = false, begun = part->prefix && i + 1 == part->terms.n;
			vec_each (&all, other)
				found |= other->offset == first->offset + want->offset &&
					(begun ? sv_starts(sv_of(other->text), sv_of(want->text))
					       : strcmp(other->text, want->text) == 0);
			here = found;
		}
		count += here;
	}
	vec_each (&all, one)
		free(one->text);
	vec_release(&all);
	return count;
}

/* Common words, which have pairs in the index, and others, in every order: what is found is what is
 * there. */
static void test_phrases(void **state)
{
	enum { DOCS = 400, WORDS = 24 };
	static const char *const words[] = { "the", "of", "int", "for", "ox", "intFor", "the_yak",
		"InT", "yak" };
	static const char *const typed[] = { "\"the of\"", "\"of the\"", "\"the the\"",
		"\"int for\"", "\"the of the\"", "\"of the int for\"", "\"ox of the\"",
		"\"the of ox\"", "\"ox of the yak\"", "\"the int ox for\"", "\"ox yak\"",
		"\"the yak\"", "\"the of ya*\"", "\"of the*\"", "\"for int\"",
		"\"int for the_yak of\"" };
	struct corpus c = { .dir = temp_folder(), .n = 1 };
	struct builder *b = builder_new(BUDGET);
	AUTO_STRV texts = STRV_INIT;
	AUTO_STR path = STR_INIT;
	struct err err = ERR_INIT;
	uint32_t chance = 1, found_all = 0;

	(void)state;
	builder_run(b, 1, 1, 0);
	for (uint32_t doc = 0; doc < DOCS; doc++) {
		AUTO_STR text = STR_INIT;
		for (int i = 0; i < WORDS; i++) {
			chance = chance * 1664525 + 1013904223;
			str_addf(&text, "%s ", words[(chance >> 16) % ARRAY_LEN(words)]);
		}
		strv_add(&texts, text.buf);
		builder_doc(b, &(struct segment_doc){ .offset = doc });
		(void)builder_text(b, str_sv(&text), 0);
	}
	str_addf(&path, "%s/0", c.dir);
	if (builder_write(b, path.buf, false, &err) < 0 ||
		segment_open(path.buf, &c.segs[0], &err) < 0)
		fail_msg("%s", err.msg);
	builder_free(b);
	for (size_t i = 0; i < ARRAY_LEN(typed); i++) {
		struct query q = QUERY_INIT;
		struct matcher m;
		const struct matcher_opts opts = { .kinds = UINT_MAX };
		uint32_t counts[DOCS] = { 0 };
		if (query_parse(sv_of(typed[i]), &(struct query_context){ .now_ms = 0 }, &q, &err) <
				0 ||
			matcher_init(
				&m, (const struct segment *const *)c.segs, 1, &q, &opts, &err) < 0)
			fail_msg("%s: %s", typed[i], err.msg);
		const struct found *f = matcher_found(&m, 0, 0);
		vec_each (&f->matches, match)
			counts[match->doc] += (uint32_t)match->count;
		vec_each (&f->spellings, spelling) {
			struct postings p;
			postings_begin(&p, c.segs[0], &spelling->term);
			while (postings_next(&p, &err) > 0)
				for (unsigned k = 0; k < p.n; k++)
					counts[p.doc[k]] += p.count[k];
			postings_release(&p);
		}
		for (uint32_t doc = 0; doc < DOCS; doc++) {
			uint32_t want = count_in(sv_of(texts.v[doc]), &q.parts.v[0]);
			if (counts[doc] != want)
				fail_msg("%s: %u times, not %u in %s", typed[i], counts[doc], want,
					texts.v[doc]);
			found_all += want;
		}
		matcher_release(&m);
		query_release(&q);
	}
	assert_true(found_all > DOCS);
	corpus_release(&c);
}

static void test_limits(void **state)
{
	struct corpus c = { .n = 0 };
	VEC(struct line) lines = VEC_INIT;

	(void)state;
	finds(&c, "anything", "");
	c.dir = temp_folder();
	for (uint32_t i = 0; i < 3000; i++)
		vec_push(&lines,
			(struct line){ i / 4 + 1, DOC_USER, DAY,
				i % 3 ? "common words here" : "common rare0 here", NULL, NULL });
	vec_push(&lines, (struct line){ .source = 0 });
	corpus_add(&c, lines.v);
	static const struct {
		size_t n, want;
	} limits[] = { { 0, RANK_DEFAULT }, { 1, 1 }, { 100, 100 }, { RANK_MAX, RANK_MAX },
		{ RANK_MAX + 1, RANK_MAX } };
	for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
		struct ranking found =
			ask_with(&c, "common rare0", (struct rank_opts){ .n = limits[i].n });
		assert_int_equal(found.hits.n, limits[i].want);
		for (size_t k = 1; k < found.hits.n; k++)
			assert_true(found.hits.v[k - 1].score >= found.hits.v[k].score);
		ranking_release(&found);
	}
	struct ranking found =
		ask_with(&c, "common", (struct rank_opts){ .n = RANK_MAX, .sessions = true });
	assert_int_equal(found.hits.n, 750);
	ranking_release(&found);
	vec_release(&lines);
	corpus_release(&c);
}

/* So many documents that they are added up in pieces, and phrases found so: no run is missed, none
 * counted twice. */
static void test_pieces(void **state)
{
	enum { SOURCES = 1400, DOCS = 100, EACH = SOURCES / 2 };
	static const uint32_t loud[] = { 1, 10, EACH, EACH + 1, 1000, SOURCES };
	struct corpus c = { .dir = temp_folder(), .n = 2 };
	struct err err = ERR_INIT;

	(void)state;
	for (uint32_t part = 0; part < 2; part++) {
		struct builder *b = builder_new(BUDGET);
		AUTO_STR path = STR_INIT;
		for (uint32_t source = part * EACH + 1; source <= (part + 1) * EACH; source++) {
			bool is_loud = false;
			for (size_t i = 0; i < ARRAY_LEN(loud); i++)
				is_loud |= loud[i] == source;
			builder_run(b, source, 1, 0);
			for (uint32_t doc = 0; doc < DOCS; doc++) {
				builder_doc(b, &(struct segment_doc){ .offset = doc });
				(void)builder_text(b,
					is_loud ? SV("ox yak ox yak ox yak")
						: SV("ox or yak ox yak b"),
					0);
			}
		}
		str_addf(&path, "%s/%u", c.dir, part);
		if (builder_write(b, path.buf, false, &err) < 0 ||
			segment_open(path.buf, &c.segs[part], &err) < 0)
			fail_msg("%s", err.msg);
		builder_free(b);
	}
	static const char *const typed[] = { "ox", "yak ox", "\"ox yak\"" };
	for (size_t i = 0; i < ARRAY_LEN(typed); i++) {
		struct ranking found = ask_with(
			&c, typed[i], (struct rank_opts){ .n = ARRAY_LEN(loud), .sessions = true });
		assert_int_equal(found.hits.n, ARRAY_LEN(loud));
		for (size_t k = 0; k < ARRAY_LEN(loud); k++) {
			assert_int_equal(found.hits.v[k].source, loud[k]);
			assert_int_equal(found.hits.v[k].messages, DOCS);
		}
		ranking_release(&found);
	}
	corpus_release(&c);
}

/* Words that many documents have and words that few have are added up in different ways: both, and
 * what is of both, come to what the formula says. */
static void test_common_and_rare(void **state)
{
	enum { SOURCES = 60, DOCS = 50, WORDS = 40, ALL = SOURCES * DOCS };
	static const char *const names[] = { "ox", "yak" };
	static uint8_t counts[ALL][2], lengths[ALL];
	struct corpus c = { .dir = temp_folder(), .n = 1 };
	struct builder *b = builder_new(BUDGET);
	AUTO_STR path = STR_INIT;
	struct err err = ERR_INIT;
	uint64_t seed = 1;
	double words = 0, with[2] = { 0 };

	(void)state;
	for (uint32_t doc = 0; doc < ALL; doc++) {
		AUTO_STR text = STR_INIT;
		if (doc % DOCS == 0)
			builder_run(b, doc / DOCS, 1, 0);
		builder_doc(b, &(struct segment_doc){ .offset = doc });
		lengths[doc] = (uint8_t)(1 + doc * 7 % WORDS);
		for (unsigned i = 0; i < lengths[doc]; i++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
			unsigned dice = seed >> 40 & 1023;
			unsigned which = dice < 60 ? 0 : dice < 64 ? 1 : 2;
			str_adds(&text, which < 2 ? names[which] : "b");
			str_addc(&text, ' ');
			if (which < 2)
				counts[doc][which]++;
		}
		(void)builder_text(b, str_sv(&text), 0);
		words += lengths[doc];
		for (unsigned i = 0; i < 2; i++)
			with[i] += counts[doc][i] > 0;
	}
	str_addf(&path, "%s/0", c.dir);
	if (builder_write(b, path.buf, false, &err) < 0 ||
		segment_open(path.buf, &c.segs[0], &err) < 0)
		fail_msg("%s", err.msg);
	builder_free(b);
	assert_true(with[0] > ALL / 4.0 && with[1] > 10 && with[1] < ALL / 4.0);
	static const char *const typed[] = { "ox", "yak", "ox yak", "yak +ox" };
	static const unsigned asks[] = { 1, 2, 3, 3 };
	for (size_t i = 0; i < ARRAY_LEN(typed); i++) {
		struct ranking found = ask_with(&c, typed[i], (struct rank_opts){ .n = RANK_MAX });
		assert_true(found.hits.n > 10);
		vec_each (&found.hits, hit) {
			uint32_t doc = (uint32_t)hit->at.offset, messages = 0;
			double length = doc_length(doc_length_byte(lengths[doc])) / (words / ALL);
			double norm = 0.8 * (0.25 + 0.75 * (length < 4 ? length : 4)), want = 0;
			for (unsigned k = 0; k < 2; k++)
				if (asks[i] >> k & 1)
					want += rarity(ALL, with[k]) * 1.8 * counts[doc][k] /
						(counts[doc][k] + norm);
			for (uint32_t d = hit->source * DOCS; d < (hit->source + 1) * DOCS; d++)
				messages += i == 3 ? counts[d][0] > 0
						   : (asks[i] & 1 && counts[d][0]) ||
						(asks[i] & 2 && counts[d][1]);
			if (fabs(want - (double)hit->own) > 1e-4)
				fail_msg("%s: %u is %f, not %f", typed[i], doc, (double)hit->own,
					want);
			assert_int_equal(hit->messages, messages);
		}
		ranking_release(&found);
	}
	corpus_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_exact),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_sessions),
		cmocka_unit_test(test_segments),
		cmocka_unit_test(test_context),
		cmocka_unit_test(test_copies),
		cmocka_unit_test(test_copied_titles),
		cmocka_unit_test(test_phrases),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_common_and_rare),
	};

	(void)setenv("TZ", "UTC", 1);
	tzset();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
