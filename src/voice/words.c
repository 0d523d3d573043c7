#include "voice/words.h"

#include <stdbool.h>

#include <sodium.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "json/scan.h"

void words_release(struct words *w)
{
	for (size_t i = 0; i < w->n; i++)
		str_release(&w->pieces[i]);
	free(w->pieces);
	*w = (struct words)WORDS_INIT;
}

static struct str *piece_at(struct words *w, size_t number)
{
	if (number >= w->n) {
		size_t n = number + 1 > w->n * 2 ? number + 1 : w->n * 2;
		w->pieces = xreallocarray(w->pieces, n, sizeof(*w->pieces));
		for (size_t i = w->n; i < n; i++)
			w->pieces[i] = (struct str)STR_INIT;
		w->n = n;
	}
	return &w->pieces[number];
}

/* Printable bytes stand for themselves, the others from U+0100 on, in their order. */
static int byte_of(uint32_t c)
{
	static const struct {
		uint32_t from, to;
	} plain[] = { { '!', '~' }, { 0xa1, 0xac }, { 0xae, 0xff } };
	uint32_t other = 0x100;

	for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
		if (c >= plain[i].from && c <= plain[i].to)
			return (int)c;
	}
	for (int b = 0; b < 256; b++) {
		bool is_plain = false;
		for (size_t i = 0; i < ARRAY_LEN(plain); i++)
			is_plain = is_plain ||
				((uint32_t)b >= plain[i].from && (uint32_t)b <= plain[i].to);
		if (!is_plain && other++ == c)
			return b;
	}
	return -1;
}

int words_from_json(struct words *w, struct sv json, struct err *reterr)
{
	struct jval all, number;
	struct sv key;
	int bytes[0x200];
	AUTO_STR tmp = STR_INIT;
	int r = scan_text(json, &all);

	for (uint32_t c = 0; c < ARRAY_LEN(bytes); c++)
		bytes[c] = byte_of(c);
	if (r < 0 || all.type != J_OBJECT)
		return err_set(reterr, ERR_INPUT, "the recogniser's words are damaged");
	struct scan_iter it = scan_iter(all);
	while ((r = scan_next(&it, &key, &number)) > 0) {
		int64_t n;
		if (!scan_i64(number, &n) || n < 0 || n >= WORDS_MAX)
			return err_set(reterr, ERR_INPUT,
				"the recogniser's words are damaged: a number is none");
		struct sv text =
			scan_string_view((struct jval){ .raw = key, .type = J_STRING }, &tmp);
		struct str *piece = piece_at(w, (size_t)n);
		str_clear(piece);
		while (text.n > 0) {
			uint32_t c;
			size_t len = utf8_decode(text, &c);
			if (c < ARRAY_LEN(bytes) && bytes[c] >= 0)
				str_addc(piece, (char)(unsigned char)bytes[c]);
			text = sv_from(text, len);
		}
	}
	return r < 0 ? err_set(reterr, ERR_INPUT, "the recogniser's words are damaged") : 0;
}

int words_from_script(struct words *w, struct sv script, struct err *reterr)
{
	static const char mark[] = "vocab_base64 = \"";
	size_t at, n;
	const char *end;

	if (!sv_find(script, SV("vocab_base64 = \""), &at))
		return err_set(reterr, ERR_INPUT, "the recogniser's words are not there");
	struct sv code = sv_from(script, at + sizeof(mark) - 1);
	end = memchr(code.p, '"', code.n);
	code.n = end ? (size_t)(end - code.p) : code.n;
	AUTO_FREE char *text = xmalloc(code.n + 1);
	if (sodium_base642bin((unsigned char *)text, code.n, code.p, code.n, NULL, &n, NULL,
		    sodium_base64_VARIANT_ORIGINAL) != 0)
		return err_set(reterr, ERR_INPUT, "the recogniser's words are damaged");
	struct sv rest = sv_make(text, n), line;
	for (size_t i = 0; sv_split(&rest, '\n', &line); i++) {
		unsigned char byte;
		if (i >= WORDS_MAX)
			return err_set(reterr, ERR_INPUT, "the recogniser has too many words");
		struct str *piece = piece_at(w, i);
		if (line.n == 6 && sv_starts(line, SV("<0x")) && line.p[5] == '>' &&
			sodium_hex2bin(&byte, 1, line.p + 3, 2, NULL, &n, NULL) == 0) {
			str_addc(piece, (char)byte);
			continue;
		}
		while (sv_find(line, SV("▁"), &at)) {
			str_add(piece, sv_head(line, at));
			str_addc(piece, ' ');
			line = sv_from(line, at + strlen("▁"));
		}
		str_add(piece, line);
	}
	return 0;
}

void words_add(const struct words *w, int64_t number, struct str *out)
{
	if (number >= 0 && (size_t)number < w->n)
		str_add(out, str_sv(&w->pieces[number]));
}

size_t words_split(const struct words *w, struct sv text, int64_t *ret, size_t max)
{
	AUTO_MAP by_text = MAP_INIT;
	size_t n = 0, longest = 0;

	for (size_t i = 0; i < w->n; i++) {
		if (w->pieces[i].len == 0)
			continue;
		(void)map_put(&by_text, str_sv(&w->pieces[i]), i);
		longest = w->pieces[i].len > longest ? w->pieces[i].len : longest;
	}
	while (text.n > 0 && n < max) {
		size_t len = text.n < longest ? text.n : longest;
		uint64_t number = 0;
		while (len > 0 && !map_get(&by_text, sv_head(text, len), &number))
			len--;
		if (len > 0)
			ret[n++] = (int64_t)number;
		text = sv_from(text, len > 0 ? len : 1);
	}
	return n;
}
