/*
 * From a file to facts: threads read chunks of lines, one after the other adds its facts to all.
 */
#include "strategy/repair-facts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/mem.h"
#include "os/pool.h"
#include "json/jsonl.h"
#include "json/text.h"

/* ---- ids ---- */

uint64_t fact_hash(struct sv text)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < text.n; i++)
		h = (h ^ (unsigned char)text.p[i]) * UINT64_C(0x100000001b3);
	h ^= h >> 32;
	h *= UINT64_C(0x9e3779b97f4a7c15);
	return text.n > 0 ? (h ^ h >> 29) | 1 : 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Only the spelling that facts_id_json() gives back, and none that looks like no id. */
static bool parse_uuid(struct sv text, struct fact_id *ret)
{
	uint64_t half[2] = { 0, 0 };
	size_t digits = 0;
	if (text.n != UUID_TEXT - 1)
		return false;
	for (size_t i = 0; i < text.n; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;
		int digit = hex_digit(text.p[i]);
		if (dash != (text.p[i] == '-') || (!dash && digit < 0))
			return false;
		if (dash)
			continue;
		half[digits / 16] = half[digits / 16] << 4 | (unsigned)digit;
		digits++;
	}
	*ret = (struct fact_id){ half[0], half[1] };
	return half[0] && fact_key(*ret);
}

struct fact_id fact_id(struct sv text, bool *ret_plain)
{
	struct fact_id id = { 0, 0 };
	*ret_plain = text.n == 0 || parse_uuid(text, &id);
	return *ret_plain ? id : (struct fact_id){ fact_hash(text), 0 };
}

static struct sv key_bytes(const uint64_t *key)
{
	return sv_make((const char *)key, sizeof(*key));
}

void facts_name(struct facts *f, struct fact_id id, struct sv text)
{
	uint64_t name;
	if (map_get(&f->name_of, key_bytes(&id.a), &name))
		return;
	(void)map_put(&f->name_of, key_bytes(&id.a), f->names.n);
	strv_addsv(&f->names, text);
}

void facts_id_json(const struct facts *f, struct fact_id id, struct str *out)
{
	uint64_t name;
	if (id.b == 0 && map_get(&f->name_of, key_bytes(&id.a), &name))
		str_addf(out, "\"%s\"", f->names.v[name]);
	else
		str_addf(out, "\"%08x-%04x-%04x-%04x-%012llx\"", (unsigned)(id.a >> 32),
			(unsigned)(id.a >> 16 & 0xffff), (unsigned)(id.a & 0xffff),
			(unsigned)(id.b >> 48), (unsigned long long)(id.b & 0xffffffffffff));
}

struct fact_id facts_new_id(void)
{
	char text[UUID_TEXT];
	struct fact_id id = { 0, 0 };
	uuid_new(text);
	(void)parse_uuid(sv_of(text), &id);
	return id;
}

/* ---- findings ---- */

void finding_add(struct repair_finding *finding, uint32_t line)
{
	finding->count++;
	if (line > 0 && finding->n_lines < REPAIR_LINES_SHOWN)
		finding->lines[finding->n_lines++] = line;
}

static void finding_join(
	struct repair_finding *to, const struct repair_finding *from, uint32_t base)
{
	to->count += from->count;
	for (size_t i = 0; i < from->n_lines && to->n_lines < REPAIR_LINES_SHOWN; i++)
		to->lines[to->n_lines++] = from->lines[i] + base;
}

static void count_damage(struct facts *f, unsigned damage, uint32_t line)
{
	static const struct {
		unsigned bit;
		enum repair_cause cause;
	} causes[] = {
		{ LINE_NULL, REPAIR_NULL_LINE },
		{ LINE_OTHER, REPAIR_NOT_OBJECT },
		{ LINE_TORN, REPAIR_TORN },
		{ LINE_BURIED, REPAIR_BURIED },
		{ LINE_GLUED, REPAIR_GLUED },
		{ LINE_NUL, REPAIR_NUL },
		{ LINE_CONTROL, REPAIR_CONTROL },
	};
	for (size_t i = 0; i < ARRAY_LEN(causes); i++)
		if (damage & causes[i].bit)
			finding_add(&f->found[causes[i].cause], line);
}

/* ---- lines ---- */

struct read {
	const struct repair *r;
	struct facts *all;
};

struct piece {
	struct facts facts;
	struct mended mended;
};

/* size: that of the line when the chain does not know it yet, else 0. */
static void take(const struct read *run, struct facts *f, const struct jval *vals, struct fact fact,
	uint64_t size)
{
	const struct entry entry = { vals, fact, sv_of(run->r->file_id), size };
	if (run->r->format == TRANSCRIPT_CODEX)
		codex_fact(f, &entry);
	else
		claude_fact(f, &entry);
}

/* What cannot be read any more may still tell where it stood in the chain. */
static void take_torn(const struct read *run, struct facts *f, struct sv text, struct fact fact)
{
	struct jval vals[LINE_KEYS_MAX];
	bool plain;
	/* Behind lost blocks the rest of an entry need not begin like one; it has no keys then. */
	if (run->r->format != TRANSCRIPT_CLAUDE || !sv_starts(text, SV("{")))
		return;
	(void)line_read(TRANSCRIPT_CLAUDE, text, vals);
	fact.flags = FACT_GONE | FACT_LINE | FACT_UNSEEN;
	fact.id = fact_id(scan_inner(vals[CLAUDE_UUID]), &plain);
	fact.parent = fact_key(fact_id(scan_inner(vals[CLAUDE_PARENT]), &plain));
	if (fact.id.a)
		vec_push(&f->v, fact);
}

/* How Claude Code reads a line that is not one plain object; Codex's chain grows with the facts. */
static void chain_broken(const struct read *run, struct piece *p, const struct jsonl_line *line)
{
	const struct mended *m = &p->mended;
	bool seen = !line->too_long && m->parts.n > 0 && m->parts.v[0].seen;
	if (run->r->format == TRANSCRIPT_CLAUDE)
		(void)chain_add_line(
			p->facts.chain, seen ? m->parts.v[0].text : sv_make("", 1), line->size);
}

/* A line that has nothing to say still must go. */
static void take_nothing(const struct read *run, struct facts *f, struct fact fact)
{
	fact.flags = FACT_GONE | FACT_LINE;
	vec_push(&f->v, fact);
	if (run->r->format == TRANSCRIPT_CODEX)
		(void)chain_add_line(f->chain, sv_make("", 1), 0);
}

static void read_broken(
	const struct read *run, struct piece *p, const struct jsonl_line *line, struct fact fact)
{
	struct facts *f = &p->facts;
	struct jval vals[LINE_KEYS_MAX];
	/* Of several entries Codex reads none. */
	bool whole = run->r->format == TRANSCRIPT_CLAUDE || p->mended.damage == 0;
	chain_broken(run, p, line);
	count_damage(f, p->mended.damage, fact.line);
	take_torn(run, f, p->mended.torn, fact);
	vec_each (&p->mended.parts, part) {
		if (!line_read(run->r->format, part->text, vals))
			continue;
		fact.flags &= FACT_NOT_UTF8;
		fact.flags |= FACT_LINE | (part->seen && whole ? 0 : FACT_UNSEEN);
		take(run, f, vals, fact, 0);
	}
	if (p->mended.damage && (f->v.n == 0 || f->v.v[f->v.n - 1].offset != fact.offset))
		take_nothing(run, f, fact);
}

static void check_utf8(struct facts *f, struct sv text, struct fact *fact)
{
	if (json_utf8_prefix(text) == text.n)
		return;
	finding_add(&f->found[REPAIR_UTF8], fact->line);
	fact->flags |= FACT_NOT_UTF8;
}

static void read_line(const struct read *run, struct piece *p, const struct jsonl_line *line)
{
	struct facts *f = &p->facts;
	struct jval vals[LINE_KEYS_MAX];
	struct fact fact = { .offset = line->offset, .line = (uint32_t)++f->lines };
	f->unterminated = !line->terminated;
	if (line->too_long) {
		finding_add(&f->found[REPAIR_OVERSIZE], fact.line);
		chain_broken(run, p, line);
		return;
	}
	struct sv text = line->text;
	if (sv_ends(text, SV("\r")))
		text.n--;
	bool low = line->bytes & JSONL_LOW && line_is_low(text);
	if (line->bytes & JSONL_HIGH)
		check_utf8(f, text, &fact);
	if (!low && line_read(run->r->format, text, vals)) {
		take(run, f, vals, fact, line->size);
		return;
	}
	line_mend(&p->mended, run->r->format, text);
	if (p->mended.damage == 0 && p->mended.parts.n == 1 &&
		line_read(run->r->format, text, vals)) {
		take(run, f, vals, fact, line->size);
	} else {
		read_broken(run, p, line, fact);
	}
}

/* ---- the file ---- */

static void piece_drop(void *data UNUSED, void *own)
{
	struct piece *p = own;
	facts_release(&p->facts);
	mended_release(&p->mended);
	free(p);
}

static int read_work(
	void *data, const struct jsonl_chunk *in, struct str *out UNUSED, struct err *reterr UNUSED)
{
	const struct read *run = data;
	struct piece *p = xcalloc(1, sizeof(*p));
	p->mended.buf = (struct str)STR_INIT;
	p->facts.chain = chain_new(run->r->format);
	*in->own = p;
	struct jsonl_line line;
	size_t at = 0;
	while (jsonl_chunk_next(in, &at, &line))
		read_line(run, p, &line);
	if (in->skipped > 0) {
		line = (struct jsonl_line){ .offset = in->offset + in->bytes.n,
			.size = in->skipped,
			.terminated = true,
			.too_long = true };
		read_line(run, p, &line);
	}
	return 0;
}

static void join_lists(struct facts *to, const struct facts *from)
{
	uint32_t base = (uint32_t)to->v.n, lines = (uint32_t)to->lines;
	vec_each (&from->v, fact) {
		vec_push(&to->v, *fact);
		to->v.v[to->v.n - 1].line += lines;
	}
	vec_each (&from->tools, tool)
		vec_push(&to->tools,
			(struct fact_tool){ tool->id, tool->fact + base, tool->result });
	vec_each (&from->kept, kept)
		vec_push(&to->kept, (struct fact_kept){ kept->id, kept->fact + base, kept->must });
	vec_each (&from->times, time) {
		vec_push(&to->times, *time);
		struct fact_time *last = &to->times.v[to->times.n - 1];
		last->fact += base;
		if (last->text[0] == '\0')
			memcpy(last->text, to->time, sizeof(last->text));
	}
	for (size_t i = 0; i < REPAIR_CAUSE_COUNT; i++)
		finding_join(&to->found[i], &from->found[i], lines);
}

static void join_names(struct facts *to, const struct facts *from)
{
	struct sv key;
	uint64_t name;
	size_t at = 0;
	while (map_next(&from->name_of, &at, &key, &name)) {
		struct fact_id id = { 0, 0 };
		memcpy(&id.a, key.p, sizeof(id.a));
		facts_name(to, id, sv_of(from->names.v[name]));
	}
}

static int read_sink(
	void *data, const struct jsonl_chunk *in, struct sv out UNUSED, struct err *reterr)
{
	const struct read *run = data;
	struct facts *to = run->all, *from = &((struct piece *)*in->own)->facts;
	if (to->v.n + from->v.n > UINT32_MAX / 2 || to->lines + from->lines > UINT32_MAX / 2)
		return err_set(reterr, ERR_LIMIT, "%s: too many lines", run->r->path);
	join_lists(to, from);
	join_names(to, from);
	chain_join(to->chain, from->chain);
	to->lines += from->lines;
	if (from->time[0])
		memcpy(to->time, from->time, sizeof(to->time));
	if (!to->first_time[0])
		memcpy(to->first_time, from->first_time, sizeof(to->first_time));
	if (!to->cwd)
		to->cwd = TAKE_PTR(from->cwd);
	if (to->own_ids + to->other_ids == 0) {
		to->paginated = from->paginated;
		to->based = from->based;
	}
	to->other_ids += from->other_ids;
	to->own_ids += from->own_ids;
	if (from->model[0])
		memcpy(to->model, from->model, sizeof(to->model));
	if (from->context)
		to->context = from->context;
	if (from->last != FACT_NO_ANSWER)
		to->last = from->last;
	to->unterminated = from->unterminated;
	return 0;
}

int facts_read(struct repair *r, unsigned threads, struct err *reterr)
{
	static const struct jsonl_map_ops ops = {
		.work = read_work, .sink = read_sink, .drop = piece_drop
	};
	AUTO_CLOSE int fd = open(r->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(reterr, errno, "open %s", r->path);
	const struct jsonl_opts opts = { .threads = threads ? threads : pool_cpus() };
	struct read run = { r, &r->facts };
	r->facts.chain = chain_new(r->format);
	return jsonl_map(fd, &opts, &ops, &run, reterr);
}

void facts_release(struct facts *f)
{
	vec_release(&f->v);
	vec_release(&f->tools);
	vec_release(&f->kept);
	vec_release(&f->times);
	strv_release(&f->names);
	map_release(&f->name_of);
	chain_free(f->chain);
	free(f->cwd);
	*f = (struct facts){ .chain = NULL };
}
