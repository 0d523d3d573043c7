/*
 * From a file to facts: threads read chunks of lines, one after the other adds its facts to all.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/pool.h"
#include "os/unpack.h"
#include "strategy/repair-run.h"
#include "json/jsonl.h"
#include "json/text.h"

/* Places where an entry may begin again behind a torn one. More than a few cannot be honest. */
enum {
	BURIED_TRIES = 64,
	EFFORT_LINES = 128, /* how often the whole of a broken line may be read */
};

static const struct sv byte_order_mark = { "\xef\xbb\xbf", 3 };

/* ---- a line that is not one plain object ---- */

void mended_init(struct mended *m, const struct transcript_format *format)
{
	*m = (struct mended){ .buf = STR_INIT };
	line_reader_init(&m->reader, format);
}

void mended_release(struct mended *m)
{
	line_reader_release(&m->reader);
	str_release(&m->buf);
	vec_release(&m->parts);
}

/* Bytes below blank: a parse alone does not tell whether it is fine. */
static bool has_controls(struct sv text)
{
	for (size_t i = 0; i < text.n; i++)
		if ((unsigned char)text.p[i] < ' ')
			return true;
	return false;
}

/* Copies text: control characters inside strings escaped, NULs elsewhere left out; nuls false: all
 * of them are. Returns the damage that was seen. */
static unsigned escape_controls(struct str *out, struct sv text, bool nuls)
{
	unsigned damage = 0;
	bool string = false;

	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		size_t next = i + 1;
		while (!nuls && next < text.n && text.p[next] == '\0')
			next++;
		if (c == '\0' && !nuls)
			continue;
		if (c == '\\' && string && next < text.n) {
			/* A block that was lost may begin in mid-escape. */
			if ((unsigned char)text.p[next] >= ' ') {
				str_addc(out, c);
				str_addc(out, text.p[i = next]);
			}
			continue;
		}
		if (c == '"')
			string = !string;
		if ((unsigned char)c >= ' ' || (!string && c != '\0')) {
			str_addc(out, c);
			continue;
		}
		damage |= c == '\0' ? LINE_NUL : LINE_CONTROL;
		if (string)
			str_addf(out, "\\u%04x", (unsigned)c);
	}
	return damage;
}

/* A NUL in a string may be a character of it, or part of a block that the disk never got. */
static struct sv clean(struct mended *m, struct sv text)
{
	bool nuls = memchr(text.p, '\0', text.n) != NULL;
	struct jval val;

	m->damage |= escape_controls(&m->buf, text, true);
	if (nuls && scan_text(str_sv(&m->buf), &val) < 0) {
		str_clear(&m->buf);
		m->damage |= LINE_NUL | escape_controls(&m->buf, text, false);
	}
	return m->damage ? str_sv(&m->buf) : text;
}

/*
 * The first place behind the start of text where a whole entry begins; its end when there is none.
 * Entries have a type at the top, and a mark of their own: nested objects do not.
 *
 * What has no end is read to that of the line, again and again where the line is made so: *effort
 * is how many bytes may still be read of it, and what is left of the line when they are used up is
 * lost.
 */
static size_t find_buried(struct sv text, uint64_t *effort)
{
	static const struct scan_key keys[] = {
		SCAN_KEY("type", SCAN_TOP),
		SCAN_KEY("uuid", SCAN_TOP),
		SCAN_KEY("sessionId", SCAN_TOP),
		SCAN_KEY("payload", SCAN_TOP),
	};
	struct jval vals[ARRAY_LEN(keys)], val;
	struct sv rest = sv_from(text, 1);
	size_t at;

	for (int tries = 0; tries < BURIED_TRIES && sv_find(rest, SV("{\""), &at); tries++) {
		struct sv from = sv_from(rest, at), after = from;
		bool whole = scan_value(&after, &val) > 0;
		size_t cost = whole ? val.raw.n : from.n;
		if (*effort < cost)
			break;
		*effort -= cost;
		if (whole && scan_keys(val.raw, keys, ARRAY_LEN(keys), vals) > 0 &&
			vals[0].type == J_STRING &&
			(vals[1].type == J_STRING || vals[2].type == J_STRING ||
				vals[3].type == J_OBJECT))
			return (size_t)(from.p - text.p);
		rest = sv_from(from, 1);
	}
	return text.n;
}

void line_mend(struct mended *m, struct sv text)
{
	bool marked = sv_starts(text, byte_order_mark);
	struct sv rest = marked ? sv_from(text, byte_order_mark.n) : text;
	uint64_t effort = (uint64_t)EFFORT_LINES * text.n;
	struct jval val;

	m->damage = 0;
	m->parts.n = 0;
	str_clear(&m->buf);
	if (has_controls(rest))
		rest = clean(m, rest);
	rest = sv_trim(rest);
	if (rest.n == 0 && marked)
		m->damage |= LINE_OTHER; /* a mark alone */
	while (rest.n > 0) {
		struct sv before = rest;
		int r = scan_value(&rest, &val);
		/* Brackets that fit do not make an object: between them must be members. */
		if (r > 0 && (val.type != J_OBJECT || line_reader_read(&m->reader, val.raw))) {
			bool seen = m->parts.n == 0 && m->damage == 0;
			if (val.type == J_OBJECT)
				vec_push(&m->parts, (struct line_part){ val.raw, seen });
			else
				m->damage |= val.type == J_NULL ? LINE_NULL : LINE_OTHER;
		} else if (r != 0) {
			size_t at = find_buried(before, &effort);
			bool buried = at < before.n;
			m->damage |= before.p[0] == '{' || buried ? LINE_TORN : LINE_OTHER;
			m->damage |= buried ? LINE_GLUED : 0;
			rest = sv_from(before, at);
		}
		rest = sv_trim(rest);
	}
	if (m->parts.n > 1)
		m->damage |= LINE_GLUED;
}

/* ---- facts ---- */

void found(
	struct repair_finding *all, enum repair_cause cause, enum repair_level level, uint32_t line)
{
	struct repair_finding *finding = &all[cause];

	finding->count++;
	finding->level = level > finding->level ? level : finding->level;
	if (line > 0 && finding->n_lines < REPAIR_LINES_SHOWN)
		finding->lines[finding->n_lines++] = line;
}

void fact_text(char to[static FACT_TEXT_MAX], struct jval val)
{
	struct sv text = scan_inner(val);

	if (text.n == 0 || text.n >= FACT_TEXT_MAX || memchr(text.p, '\\', text.n))
		return;
	memcpy(to, text.p, text.n);
	to[text.n] = '\0';
}

struct read {
	const struct repair *rep;
	struct facts *all;
};

/* A chunk. */
struct piece {
	struct facts facts;
	struct mended mended;
};

static void read_broken(const struct read *run, struct piece *p, struct fact fact)
{
	const struct repair_rules *rules = run->rep->rules;
	const struct {
		unsigned bit;
		enum repair_cause cause;
		enum repair_level level;
	} causes[] = {
		{ LINE_NULL, REPAIR_SHAPE, rules->null_line },
		{ LINE_OTHER, REPAIR_SHAPE, REPAIR_MINOR },
		{ LINE_TORN, REPAIR_TORN, REPAIR_LOSS },
		{ LINE_GLUED, REPAIR_GLUED, REPAIR_LOSS },
		{ LINE_NUL, REPAIR_NUL, REPAIR_LOSS },
		{ LINE_CONTROL, REPAIR_SHAPE, REPAIR_LOSS },
	};
	struct facts *f = &p->facts;
	unsigned damage = p->mended.damage;
	size_t before = f->v.n;
	uint32_t flags = fact.flags & FACT_NOT_UTF8;

	for (size_t i = 0; i < ARRAY_LEN(causes); i++)
		if (damage & causes[i].bit)
			found(f->found, causes[i].cause, causes[i].level, fact.line);
	vec_each (&p->mended.parts, part) {
		bool seen = part->seen && (rules->reads_first || damage == 0);
		if (!line_reader_read(&p->mended.reader, part->text))
			continue;
		fact.flags = flags | FACT_LINE | (seen ? 0 : FACT_UNSEEN);
		rules->take(f,
			&(struct entry){ &p->mended.reader.line, fact, sv_of(run->rep->file_id) });
		fact.size = 0;
	}
	/* A line that has nothing to say still must go. */
	fact.flags = FACT_GONE | FACT_UNSEEN | FACT_LINE;
	fact.message = ORDINAL_NONE;
	if (damage && f->v.n == before)
		vec_push(&f->v, fact);
}

static void read_line(const struct read *run, struct piece *p, const struct jsonl_line *line)
{
	struct facts *f = &p->facts;
	struct sv text = line->text;
	struct fact fact = {
		.offset = line->offset,
		.size = line->size < UINT32_MAX ? (uint32_t)line->size : UINT32_MAX,
		.line = (uint32_t)++f->lines,
	};

	f->unterminated = !line->terminated;
	if (line->too_long) {
		found(f->found, REPAIR_OVERSIZE, REPAIR_NOTE, fact.line);
		return;
	}
	if (sv_ends(text, SV("\r")))
		text.n--;
	if (line->bytes & JSONL_HIGH && run->rep->rules->utf8_only &&
		json_utf8_prefix(text) < text.n) {
		found(f->found, REPAIR_UTF8, REPAIR_LOSS, fact.line);
		fact.flags |= FACT_NOT_UTF8;
	}
	bool whole = !(line->bytes & JSONL_LOW && has_controls(text)) &&
		line_reader_read(&p->mended.reader, text);
	if (!whole) {
		line_mend(&p->mended, text);
		whole = p->mended.damage == 0 && p->mended.parts.n == 1 &&
			line_reader_read(&p->mended.reader, text);
	}
	if (whole)
		run->rep->rules->take(f,
			&(struct entry){ &p->mended.reader.line, fact, sv_of(run->rep->file_id) });
	else
		read_broken(run, p, fact);
}

static int read_work(
	void *data, const struct jsonl_chunk *in, struct str *out UNUSED, struct err *reterr UNUSED)
{
	const struct read *run = data;
	struct piece *p = xcalloc(1, sizeof(*p));
	struct jsonl_line line;
	size_t at = 0;

	mended_init(&p->mended, run->rep->format);
	p->facts.ids = (struct str)STR_INIT;
	p->facts.seed = run->all->seed;
	*in->own = p;
	while (jsonl_chunk_next(in, &at, &line))
		read_line(run, p, &line);
	if (in->skipped > 0) {
		line = (struct jsonl_line){ .terminated = true, .too_long = true };
		read_line(run, p, &line);
	}
	return 0;
}

static void piece_drop(void *data UNUSED, void *own)
{
	struct piece *p = own;

	facts_release(&p->facts);
	mended_release(&p->mended);
	free(p);
}

static void join_lists(struct facts *to, struct facts *from)
{
	uint32_t base = (uint32_t)to->v.n, lines = (uint32_t)to->lines;

	vec_each (&from->v, fact) {
		fact->line += lines;
		fact->id += (uint32_t)to->ids.len;
		vec_push(&to->v, *fact);
	}
	vec_each (&from->tools, tool) {
		tool->fact += base;
		vec_push(&to->tools, *tool);
	}
	vec_each (&from->kept, kept) {
		kept->fact += base;
		vec_push(&to->kept, *kept);
	}
	str_add(&to->ids, str_sv(&from->ids));
	for (size_t i = 0; i < REPAIR_CAUSE_COUNT; i++) {
		struct repair_finding *a = &to->found[i];
		const struct repair_finding *b = &from->found[i];
		a->count += b->count;
		a->level = b->level > a->level ? b->level : a->level;
		for (size_t k = 0; k < b->n_lines && a->n_lines < REPAIR_LINES_SHOWN; k++)
			a->lines[a->n_lines++] = b->lines[k] + lines;
	}
}

static int read_sink(
	void *data, const struct jsonl_chunk *in, struct sv out UNUSED, struct err *reterr)
{
	const struct read *run = data;
	struct facts *to = run->all, *from = &((struct piece *)*in->own)->facts;

	if (to->v.n + from->v.n > UINT32_MAX / 2 || to->lines + from->lines > UINT32_MAX / 2 ||
		to->ids.len + from->ids.len > UINT32_MAX)
		return err_set(reterr, ERR_LIMIT, "%s: too many lines", run->rep->path);
	join_lists(to, from);
	to->lines += from->lines;
	if (!to->time[0])
		memcpy(to->time, from->time, sizeof(to->time));
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

int facts_read(struct repair *rep, unsigned threads, struct err *reterr)
{
	static const struct jsonl_map_ops ops = {
		.work = read_work, .sink = read_sink, .drop = piece_drop
	};
	const struct jsonl_opts opts = { .threads = threads ? threads : pool_cpus() };
	struct read run = { rep, &rep->facts };
	/* What has nothing but NULs is looked at all the same. */
	AUTO_CLOSE int fd = unpack_blank(rep->path) ? file_open(rep->path, NULL, reterr)
						    : unpack_open(rep->path, NULL, reterr);

	if (fd < 0)
		return fd;
	rep->facts.seed = hash_seed();
	return jsonl_map(fd, &opts, &ops, &run, reterr);
}

void facts_release(struct facts *f)
{
	vec_release(&f->v);
	vec_release(&f->tools);
	vec_release(&f->kept);
	str_release(&f->ids);
	free(f->cwd);
	*f = (struct facts){ .ids = STR_INIT };
}
