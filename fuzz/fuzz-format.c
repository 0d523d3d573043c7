/*
 * Format strings: refused with a message, or a row that ends with a newline, the same each time,
 * in which no field brings in a control character.
 */
#include "fuzz.h"
#include "ui/format.h"

static const struct format_field fields[] = {
	{ "id", FORMAT_TEXT, NULL },
	{ "turns", FORMAT_NUMBER, NULL },
	{ "size", FORMAT_SIZE, NULL },
	{ "last", FORMAT_TIME, NULL },
};

static const union format_value values[] = {
	{ .text = { "a\033[2J\n\xff日本", 13 } },
	{ .number = -1234567 },
	{ .number = 2500000 },
	{ .number = 1699992800000 },
};

static void check_row(const struct format *f, struct sv text)
{
	AUTO_STR row = STR_INIT;
	AUTO_STR again = STR_INIT;

	format_row(f, values, 1700000000000, &row);
	format_row(f, values, 1700000000000, &again);
	REQUIRE(sv_eq(str_sv(&row), str_sv(&again)));
	REQUIRE(sv_ends(str_sv(&row), SV("\n")));
	if (!memchr(text.p, '\033', text.n))
		REQUIRE(!memchr(row.buf, '\033', row.len));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sv text = sv_make((const char *)data, size);
	struct format f;
	struct err err = ERR_INIT;

	if (!size)
		return 0;
	if (format_parse(&f, text, fields, ARRAY_LEN(fields), &err) < 0) {
		REQUIRE(err.code == ERR_USAGE);
		REQUIRE(err.msg[0]);
		return 0;
	}
	check_row(&f, text);
	format_release(&f);
	return 0;
}
