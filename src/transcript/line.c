#include "transcript/line.h"

#include <string.h>

#include "transcript/adapter.h"

void line_reader_init(struct line_reader *r, const struct transcript_format *format)
{
	*r = (struct line_reader){ .line = { .format = format } };
	scan_table_init(&r->keys, format->keys, format->n_keys);
	scan_table_init(&r->row_keys, format->row_keys, format->n_row_keys);
	r->row_keys.rows = r->keys.rows = &r->row_keys;
	r->keys.lists = format->lists;
	r->row_keys.lists = format->row_lists;
}

void line_reader_release(struct line_reader *r)
{
	vec_release(&r->line.rows.v);
	vec_release(&r->look.pieces);
}

static bool is_object(struct sv text)
{
	struct sv mark = SV("\xef\xbb\xbf");

	if (sv_starts(text, mark))
		text = sv_from(text, mark.n);
	return sv_starts(text, SV("{")) || sv_starts(sv_trim(text), SV("{"));
}

bool line_reader_read(struct line_reader *r, struct sv text)
{
	struct line *line = &r->line;

	line->text = text;
	bool ok = scan_table_read(&r->keys, text, line->vals, &line->rows) >= 0 && is_object(text);
	if (ok && line->format->shape)
		line->format->shape(line);
	return ok;
}

const struct line_look *line_look(struct line_reader *r)
{
	struct line_look *look = &r->look;

	look->pieces.n = 0;
	look->side = look->breaks = look->called = false;
	look->left = 0;
	look->model = look->message = look->time = (struct sv){ NULL, 0 };
	look->window = look->cache_life_ms = 0;
	r->line.format->look(&r->line, look);
	return look;
}

void line_swaps(const struct line *line, unsigned changes, struct sv own, struct line_swaps *out)
{
	line->format->swaps(line, changes, own, out);
}

struct jval line_note_place(const struct line *line)
{
	return line->format->note_place(line);
}

struct jval line_cwd(const struct transcript_format *format, const struct jval *vals)
{
	return format->cwd_key ? vals[format->cwd_key] : (struct jval){ .type = J_NONE };
}

struct sv line_model(const struct line *line)
{
	return line->format->model ? line->format->model(line) : (struct sv){ NULL, 0 };
}

const char *line_text_type(const struct transcript_format *format)
{
	return format->text_type;
}

const char *line_agent_title(const struct transcript_format *format)
{
	return format->title;
}

bool line_usage_follows(const struct transcript_format *format)
{
	return format->usage_follows;
}

struct jval line_member(struct jval obj, const char *key)
{
	struct jval val;

	return scan_get(obj, sv_of(key), &val) > 0 ? val : (struct jval){ .type = J_NONE };
}

/* ---- what adapters share ---- */

static bool in_number(char c)
{
	return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || (c | 0x20) == 'e';
}

/* One past the string whose opening quote p is at; its end is there. */
static const char *past_string(const char *p, const char *end)
{
	const char *start = p, *q = p;

	while ((q = memchr(q + 1, '"', (size_t)(end - q - 1)))) {
		for (p = q; p > start && p[-1] == '\\'; p--)
			;
		if ((q - p) % 2 == 0)
			return q + 1;
	}
	return end;
}

void line_zeros(struct jval val, struct str *out)
{
	const char *p = val.raw.p, *end = p + val.raw.n, *kept = p;

	/* What is no string and no number is passed over byte by byte, brackets too. */
	while (p < end) {
		const char *from = p++;
		if (*from == '"') {
			p = past_string(from, end);
		} else if (*from == '-' || (*from >= '0' && *from <= '9')) {
			while (p < end && in_number(*p))
				p++;
			str_add(out, sv_make(kept, (size_t)(from - kept)));
			str_addc(out, '0');
			kept = p;
		}
	}
	str_add(out, sv_make(kept, (size_t)(end - kept)));
}

void line_zero_usage(struct jval usage, struct line_swaps *out)
{
	if (usage.type == J_OBJECT || usage.type == J_ARRAY)
		vec_push(&out->v, (struct line_swap){ usage, SWAP_ZEROS, SV("") });
}

void line_count_blocks(const struct line *line, size_t at, unsigned level, unsigned under,
	unsigned text, struct line_piece *piece)
{
	const struct scan_rows *rows = &line->rows;

	if (rows->cut)
		return;
	piece->bytes = 0;
	for (; at < rows->v.n && rows->v.v[at].level >= level; at++) {
		const struct scan_row *row = &rows->v.v[at];
		if (row->level > level || row->under != under)
			continue;
		if (row->vals[text].type == J_STRING)
			piece->bytes += row->vals[text].raw.n;
		else
			piece->images++;
	}
}
