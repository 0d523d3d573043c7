/*
 * Command lines: lines of the input are the arguments. No line is lost, and every refusal has a
 * message.
 */
#include "fuzz.h"

#include "base/vec.h"
#include "cli/opt.h"

struct sample {
	bool flag;
	enum opt_tri tri;
	long long number;
	double real;
	const char *text;
	struct strv list;
	int choice;
	int64_t span;
};

static const char *const choices[] = { "one", "two", NULL };
static const struct opt options[] = {
	OPT_FLAG('f', "flag", struct sample, flag, ""),
	OPT_NEGATABLE(0, "tri", struct sample, tri, ""),
	OPT_INT('n', "number", struct sample, number, "N", -5, 5, ""),
	OPT_DOUBLE('r', "real", struct sample, real, "X", ""),
	OPT_STRING('t', "text", struct sample, text, "T", ""),
	OPT_LIST('l', "list", struct sample, list, "L", ""),
	OPT_CHOICE('c', "choice", struct sample, choice, "C", choices, ""),
	OPT_SPAN('s', "span", struct sample, span, "S", ""),
	OPT_END,
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_STRV args = STRV_INIT;
	struct sv rest = sv_make((const char *)data, size), line;

	while (sv_split(&rest, '\n', &line) && args.n < 1000)
		strv_addsv(&args, line);
	struct sample sample = { .flag = false };
	const struct opt_set set = { options, &sample };
	char **words = xcalloc(args.n + 1, sizeof(*words));
	struct err err = ERR_INIT;
	int argc = (int)args.n;
	int n = opt_parse(&set, 1, size % 2, argc, args.v, words, &err);
	REQUIRE(n <= argc);
	if (n < 0)
		REQUIRE(n == ERR_USAGE && err.msg[0] != '\0');
	else
		REQUIRE(sample.number >= -5 && sample.number <= 5 && sample.choice < 2);
	int first = opt_first_word(&set, 1, argc, args.v);
	REQUIRE(first >= 0 && first <= argc);
	opt_release(options, &sample);
	free(words);
	return 0;
}
