#include "gen-text.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- chance ---- */

uint64_t rng_next(struct rng *r)
{
	uint64_t z = (r->state += UINT64_C(0x9E3779B97F4A7C15));

	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

size_t rng_below(struct rng *r, size_t n)
{
	return (size_t)(rng_next(r) % n);
}

size_t rng_size(struct rng *r, size_t low, size_t high)
{
	unsigned doublings = 0;

	while (low << (doublings + 1) <= high)
		doublings++;
	size_t base = low << rng_below(r, doublings + 1);
	size_t size = base + rng_below(r, base);
	return size < high ? size : high;
}

void rng_uuid(struct rng *r, char out[static UUID_TEXT])
{
	uint64_t a = rng_next(r), b = rng_next(r);

	(void)snprintf(out, UUID_TEXT, "%08x-%04x-4%03x-%04x-%012" PRIx64, (unsigned)(a >> 32),
		(unsigned)(a >> 16 & 0xFFFF), (unsigned)(a & 0xFFF),
		(unsigned)(0x8000 | (b >> 48 & 0x3FFF)), b & UINT64_C(0xFFFFFFFFFFFF));
}

/* ---- text ---- */

static const char *const words[] = { "the", "session", "parser", "a", "buffer", "fails", "when",
	"line", "is", "longer", "than", "config", "reads", "token", "of", "thread", "queue",
	"waits", "for", "lock", "database", "index", "query", "returns", "no", "rows", "until",
	"cache", "refresh", "test", "passes", "but", "build", "with", "sanitizer", "reports",
	"leak", "in", "handler", "request", "response", "header", "timeout", "retry", "café",
	"größe", "naïve", "module", "import", "class", "function", "variable", "branch", "merge",
	"commit", "server", "client", "socket", "writes", "bytes", "offset", "length", "string",
	"integer", "→", "ok" };

const char *common_word(struct rng *r)
{
	return words[rng_below(r, 20)];
}

/* A word by its rank: the first are known ones, the others of syllables, longer the rarer. */
static void add_ranked(struct str *out, uint64_t rank)
{
	static const char *const common[] = { "the", "to", "of", "and", "a", "in", "is", "it",
		"for", "that", "we", "this", "die", "der", "und", "with", "not", "file", "das",
		"ist", "I", "on", "test", "ich", "nicht", "error", "line", "function", "use", "ein",
		"zu", "mit", "return", "value", "code", "run", "add", "wir", "auf", "now", "change",
		"should" };
	static const char *const syllables[] = { "ba", "re", "con", "ti", "mo", "ver", "sch",
		"lich", "ung", "tion", "er", "en", "pro", "ge", "stel", "da", "ma", "trix", "qua",
		"li", "se", "ar", "ön", "ing", "able", "ment", "fi", "lo", "ker", "ex" };
	uint64_t mixed = rank * UINT64_C(0x9E3779B97F4A7C15);

	if (rank < ARRAY_LEN(common)) {
		str_adds(out, common[rank]);
		return;
	}
	/* The rank itself in syllables, and one or two more: no two are the same. */
	for (uint64_t left = rank; left > 0; left /= ARRAY_LEN(syllables))
		str_adds(out, syllables[left % ARRAY_LEN(syllables)]);
	str_adds(out, syllables[mixed >> 59 & 15]);
}

static void add_zipf(struct str *out, struct rng *r)
{
	enum { DOUBLINGS = 18 }; /* 300,000 words: each doubling of the rank is as common */
	unsigned at = (unsigned)rng_below(r, DOUBLINGS);

	add_ranked(out, (UINT64_C(1) << at) - 1 + rng_below(r, (size_t)1 << at));
}

void add_words(struct str *out, struct rng *r, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i)
			str_addc(out, ' ');
		if (r->zipf) {
			add_zipf(out, r);
			continue;
		}
		str_adds(out, words[rng_below(r, ARRAY_LEN(words))]);
		if (rng_below(r, 12) == 0)
			str_addf(out, "_%" PRIx64, rng_next(r) & 0xFFFFF);
	}
}

/* What stands between prose in sessions. */
static void add_search_line(struct str *out, struct rng *r)
{
	static const char base64[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	AUTO_STR word = STR_INIT;

	switch (rng_below(r, 8)) {
	case 0: /* code */
		add_zipf(&word, r);
		str_addf(out, "\tstatic int %s", word.buf);
		for (size_t i = rng_below(r, 3); i-- > 0;) {
			str_clear(&word);
			add_zipf(&word, r);
			if (word.buf[0] >= 'a' && word.buf[0] <= 'z')
				word.buf[0] = (char)(word.buf[0] - 32);
			str_adds(out, word.buf);
		}
		str_adds(out, "(const char *");
		add_words(out, r, 1);
		str_addf(out, "_%zu) /* ", rng_below(r, 100));
		add_words(out, r, 4);
		str_adds(out, " */ {");
		break;
	case 1: /* a log */
		str_addf(out, "2025-%02zu-%02zuT12:%02zu:%02zu ", 1 + rng_below(r, 12),
			1 + rng_below(r, 28), rng_below(r, 60), rng_below(r, 60));
		str_addf(out, "[%zu] commit %010" PRIx64 " ", rng_below(r, 40000),
			rng_next(r) & UINT64_C(0xFFFFFFFFFF));
		add_words(out, r, 8);
		break;
	case 2: /* a place */
		str_adds(out, "src/");
		add_words(out, r, 1);
		str_adds(out, "/");
		add_words(out, r, 1);
		str_addf(out, ".c:%zu: ", rng_below(r, 2000));
		add_words(out, r, 6);
		break;
	case 3:
		if (rng_below(r, 6) == 0)
			for (size_t i = 64 + rng_below(r, 2000); i-- > 0;)
				str_addc(out, base64[rng_below(r, 64)]);
		break;
	default:
		add_words(out, r, 6 + rng_below(r, 18));
		break;
	}
	str_addc(out, '\n');
}

void add_output_line(struct str *out, struct rng *r)
{
	if (r->zipf) {
		add_search_line(out, r);
		return;
	}
	switch (rng_below(r, 6)) {
	case 0:
		str_adds(out, "\tif (strcmp(name, \"");
		add_words(out, r, 1);
		str_adds(out, "\") == 0)\n\t\treturn \"\\n\";");
		break;
	case 1:
		str_addf(out, "2025-03-%02zu 12:%02zu INFO ", 1 + rng_below(r, 28),
			rng_below(r, 60));
		add_words(out, r, 8);
		break;
	case 2:
		str_adds(out, "src/");
		add_words(out, r, 1);
		str_addf(out, "/main.c:%zu: ", rng_below(r, 2000));
		add_words(out, r, 6);
		break;
	case 3:
		str_adds(out, "\x1b[32mok\x1b[0m ");
		add_words(out, r, 4);
		break;
	default:
		add_words(out, r, 4 + rng_below(r, 14));
		break;
	}
	str_addc(out, '\n');
}
