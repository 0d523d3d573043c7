/*
 * Replays labelled dialogues as they should have gone and prints every decision as the router sees
 * it, one JSON object a line, for the training:
 *
 *	route-features tokens FILE…        the tokens and words of each text
 *	route-features manner FORMS FILE…  turns of phrase; FORMS has the words that are not masked
 *	route-features rows MANNER FILE…   features; MANNER has three numbers a decision
 *
 * NO_ANSWERS leaves out what the agents said. RARITY is a file of words and how rare they are, for
 * those of the model. MEANING is a folder of models: what texts mean counts
 * then, and is kept in the file MEANING_KEPT.
 */
#include <jansson.h>
#include <stdio.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "eval/memstore.h"
#include "meaning/meaning.h"
#include "os/file.h"
#include "route/feature.h"

enum { FILE_MAX = 16 * 1024 * 1024 };

struct run {
	int64_t end_ms;
	char ref[16];
	struct sv answer;
};

struct play {
	const char *mode, *set, *dialogue;
	struct map forms, rarity;
	FILE *manner;
	struct stemmers stemmers;
	struct memstore store;
	VEC(struct run) runs;
	json_t *where;
	unsigned refs, step;
	struct meaning *network;
	struct map kept; /* text → vector */
	FILE *keep;
	struct route_meaning meaning;
};

/* What a text means, kept from one run to the next: each takes milliseconds. */
static bool meant(void *data, struct sv text, const char *language, int8_t *ret)
{
	struct play *p = data;
	AUTO_STR key = STR_INIT;
	struct err err = ERR_INIT;
	uint64_t at;

	str_addf(&key, "%s %.*s", language, SV_ARG(text));
	if (map_get(&p->kept, str_sv(&key), &at)) {
		memcpy(ret, (const void *)(uintptr_t)at, ROUTE_MEANING_SIZE);
		return true;
	}
	if (meaning_of(p->network, text, language, ret, &err) < 0) {
		fprintf(stderr, "route-features: %s\n", err.msg);
		exit(1);
	}
	uint32_t n = (uint32_t)key.len;
	fwrite(&n, sizeof(n), 1, p->keep);
	fwrite(key.buf, n, 1, p->keep);
	fwrite(ret, ROUTE_MEANING_SIZE, 1, p->keep);
	map_put(&p->kept, str_sv(&key),
		(uint64_t)(uintptr_t)xmemdup0((const char *)ret, ROUTE_MEANING_SIZE));
	return true;
}

static void open_meaning(struct play *p, const char *models, const char *kept)
{
	char key[4096], vector[ROUTE_MEANING_SIZE];
	uint32_t n;

	p->network = meaning_new(models);
	p->keep = fopen(kept, "a+e");
	rewind(p->keep);
	while (fread(&n, sizeof(n), 1, p->keep) == 1 && n < sizeof(key) &&
		fread(key, n, 1, p->keep) == 1 && fread(vector, sizeof(vector), 1, p->keep) == 1)
		map_put(&p->kept, sv_make(key, n),
			(uint64_t)(uintptr_t)xmemdup0(vector, sizeof(vector)));
	p->meaning = (struct route_meaning){ .data = p, .of = meant };
}

static const char *text_of(const json_t *o, const char *key)
{
	const char *v = json_string_value(json_object_get(o, key));

	return v ? v : "";
}

static void read_text(struct play *p, struct text *t, struct sv bytes)
{
	text_read(t, bytes, &p->stemmers);
	for (size_t i = 0; p->rarity.n > 0 && i < t->words.n; i++) {
		uint64_t v = 255;
		(void)map_get(&p->rarity, text_word_sv(t, &t->words.v[i]), &v);
		t->words.v[i].rarity = (float)v / 255;
	}
}

static void learn(struct play *p, const char *ref, struct sv text, enum topic_source source)
{
	struct memstore_conv *c = memstore_get(&p->store, sv_of(ref));
	struct text t = TEXT_INIT;

	if (!c)
		return;
	if (!c->topic)
		c->topic = route_topic_new();
	read_text(
		p, &t, utf8_cut(text, source == TOPIC_ANSWER ? ROUTE_ANSWER_MAX : ROUTE_TEXT_MAX));
	memory_add(c->topic, &t, text, source);
	if (p->meaning.of)
		memory_understand(c->topic, &p->meaning);
	text_release(&t);
}

static void finish_until(struct play *p, int64_t t)
{
	for (;;) {
		size_t at = SIZE_MAX;
		for (size_t i = 0; i < p->runs.n; i++)
			if (p->runs.v[i].end_ms <= t &&
				(at == SIZE_MAX || p->runs.v[i].end_ms < p->runs.v[at].end_ms))
				at = i;
		if (at == SIZE_MAX)
			return;
		struct run r = p->runs.v[at];
		memmove(&p->runs.v[at], &p->runs.v[at + 1], (p->runs.n - at - 1) * sizeof(r));
		p->runs.n--;
		memstore_ended(&p->store, sv_of(r.ref), ROUTE_IDLE, r.end_ms);
		if (r.answer.n > 0)
			learn(p, r.ref, r.answer, TOPIC_ANSWER);
	}
}

static bool is_form(const void *data, struct sv word)
{
	uint64_t v;

	return map_get(data, word, &v);
}

static void add_gram(void *data, struct sv gram, double value)
{
	json_array_append_new(data, json_pack("[o,f]", json_stringn(gram.p, gram.n), value));
}

static json_t *tokens_of(const struct text *t)
{
	json_t *tokens = json_array(), *words = json_array();

	vec_each (&t->tokens, k)
		if (!k->mark)
			json_array_append_new(tokens, json_stringn(text_token_sv(t, k).p, k->n));
	vec_each (&t->words, w)
		if (!(w->flags & WORD_JOINED))
			json_array_append_new(words, json_stringn(text_word_sv(t, w).p, w->n));
	return json_pack("{s:o,s:o}", "tokens", tokens, "words", words);
}

static json_t *rows_of(struct play *p, const struct text *t, const json_t *step, const char *due)
{
	double manner[MANNER_COUNT] = { 0 };
	size_t n;
	const struct route_conv *convs = memstore_view(&p->store, &n);
	AUTO_FREE struct route_topic **topics = xcalloc(n + 1, sizeof(*topics));
	struct route_query q = { .text = sv_of(text_of(step, "text")),
		.now_ms = json_integer_value(json_object_get(step, "t_ms")),
		.cwd = sv_of(text_of(step, "cwd")) };
	struct features f;
	json_t *rows = json_array(), *s = json_array();
	int target = -1;

	if (fscanf(p->manner, "%lf %lf %lf", &manner[0], &manner[1], &manner[2]) != 3)
		fprintf(stderr, "route-features: manner too short\n");
	for (size_t i = 0; i < n; i++)
		topics[i] = convs[i].topic;
	struct memory_vector v;
	bool meant = p->meaning.of && memory_meaning(&p->meaning, q.text, t->langs, v.v);
	/* In another language nothing is known of it; that is learned too. */
	if (p->meaning.of && !meant)
		memset(&v, 0, sizeof(v));
	features_read(t, manner, &q, convs, topics, n, p->meaning.of ? v.v : NULL, &f);
	for (size_t i = 0; i < SENTENCE_FEATURE_COUNT; i++)
		json_array_append_new(s, json_real(f.s[i]));
	for (size_t i = 0; i < f.rows.n; i++) {
		json_t *x = json_array();
		for (size_t k = 0; k < CONV_FEATURE_COUNT; k++)
			json_array_append_new(x, json_real(f.rows.v[i].x[k]));
		json_array_append_new(rows, x);
		if (sv_is(convs[f.rows.v[i].index].id, due))
			target = (int)i;
	}
	vec_release(&f.rows);
	return json_pack("{s:o,s:o,s:i}", "s", s, "x", rows, "target", target);
}

static void decide(struct play *p, const json_t *step, const char *due)
{
	struct text t = TEXT_INIT;
	json_t *o = NULL;

	read_text(p, &t, utf8_cut(sv_of(text_of(step, "text")), ROUTE_TEXT_MAX));
	if (!strcmp(p->mode, "tokens")) {
		struct text a = TEXT_INIT;
		o = tokens_of(&t);
		read_text(p, &a, utf8_cut(sv_of(text_of(step, "answer")), ROUTE_ANSWER_MAX));
		json_object_set_new(o, "answer", tokens_of(&a));
		text_release(&a);
	} else if (!strcmp(p->mode, "manner")) {
		json_t *grams = json_array();
		manner_grams(&t, is_form, &p->forms, add_gram, grams);
		o = json_pack("{s:o}", "grams", grams);
	} else {
		o = rows_of(p, &t, step, due);
	}
	json_object_set_new(o, "set", json_string(p->set));
	json_object_set_new(o, "dialogue", json_string(p->dialogue));
	json_object_set_new(o, "step", json_integer(p->step));
	json_object_set_new(o, "text", json_string(text_of(step, "text")));
	json_object_set_new(o, "category", json_string(text_of(step, "category")));
	json_object_set_new(o, "language", json_string(text_of(step, "language")));
	json_object_set_new(o, "new", json_boolean(!*due));
	json_dumpf(o, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9));
	putchar('\n');
	json_decref(o);
	text_release(&t);
}

static void take_step(struct play *p, const json_t *step, bool answers)
{
	int64_t t = json_integer_value(json_object_get(step, "t_ms"));
	const char *event = text_of(step, "event");

	finish_until(p, t);
	p->step++;
	if (!strcmp(event, "reset")) {
		memstore_reset(&p->store);
		return;
	}
	if (*event) {
		const char *ref = text_of(p->where, text_of(step, "conversation"));
		for (size_t i = 0; i < p->runs.n; i++)
			if (!strcmp(p->runs.v[i].ref, ref)) {
				p->runs.v[i] = p->runs.v[--p->runs.n];
				break;
			}
		memstore_ended(&p->store, sv_of(ref), ROUTE_ERRORED, t);
		return;
	}
	const json_t *expect = json_object_get(step, "expect");
	const char *label = text_of(expect, "conversation");
	bool fresh = !strcmp(text_of(expect, "action"), "new");
	decide(p, step, fresh ? "" : text_of(p->where, label));
	const json_t *d = json_object_get(step, "duration_ms");
	struct run r = { .end_ms = t + (d ? json_integer_value(d) : 20000),
		.answer = answers ? sv_of(text_of(step, "answer")) : SV("") };
	if (fresh)
		(void)snprintf(r.ref, sizeof(r.ref), "s%u", ++p->refs);
	else
		(void)snprintf(r.ref, sizeof(r.ref), "%s", text_of(p->where, label));
	json_object_set_new(p->where, label, json_string(r.ref));
	memstore_started(&p->store, sv_of(r.ref), sv_of(text_of(step, "text")),
		sv_of(text_of(step, "cwd")), t);
	learn(p, r.ref, sv_of(text_of(step, "text")), fresh ? TOPIC_FIRST : TOPIC_LATER);
	vec_push(&p->runs, r);
}

static void play_file(struct play *p, const char *path, bool answers)
{
	struct err err = ERR_INIT;
	AUTO_STR text = STR_INIT;
	json_t *root = file_read(path, FILE_MAX, &text, &err) == 0
		? json_loadb(text.buf, text.len, 0, NULL)
		: NULL;
	size_t i, k;
	const json_t *dialogue, *step;

	if (!root) {
		fprintf(stderr, "%s: cannot be read\n", path);
		exit(1);
	}
	p->set = path;
	json_array_foreach (json_object_get(root, "dialogues"), i, dialogue) {
		memstore_clear(&p->store);
		p->dialogue = text_of(dialogue, "id");
		p->where = json_object();
		p->runs.n = 0;
		p->refs = p->step = 0;
		json_array_foreach (json_object_get(dialogue, "steps"), k, step)
			take_step(p, step, answers);
		json_decref(p->where);
	}
	json_decref(root);
}

int main(int argc, char **argv)
{
	struct route_opts opts = { .max = 20, .expiry_ms = 1800000 };
	struct play p = { .mode = argc > 1 ? argv[1] : "",
		.forms = MAP_INIT,
		.rarity = MAP_INIT,
		.kept = MAP_INIT };
	int from = 2;
	bool answers = !getenv("NO_ANSWERS");

	memstore_init(&p.store, &opts);
	if (getenv("MEANING"))
		open_meaning(&p, getenv("MEANING"), getenv("MEANING_KEPT"));
	char line[512];
	FILE *rarity = getenv("RARITY") ? fopen(getenv("RARITY"), "re") : NULL;
	while (rarity && fgets(line, sizeof(line), rarity)) {
		char *tab = strchr(line, '\t');
		if (tab)
			map_put(&p.rarity, sv_make(line, (size_t)(tab - line)),
				strtoul(tab + 1, NULL, 10));
	}
	if (!strcmp(p.mode, "manner")) {
		FILE *f = fopen(argv[from++], "re");
		while (f && fgets(line, sizeof(line), f)) {
			line[strcspn(line, "\n")] = 0;
			map_put(&p.forms, sv_of(line), 1);
		}
		fclose(f);
	} else if (!strcmp(p.mode, "rows")) {
		p.manner = fopen(argv[from++], "re");
	}
	for (int i = from; i < argc; i++)
		play_file(&p, argv[i], answers);
	if (p.keep)
		fclose(p.keep);
	return 0;
}
