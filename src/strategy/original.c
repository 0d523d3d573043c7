#include "strategy/original.h"

#include "transcript/line.h"
#include "json/scan.h"

/* ---- base64 ---- */

static int base64_value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

static bool base64_decode(struct sv text, struct str *out)
{
	unsigned bits = 0, value = 0;

	while (sv_ends(text, SV("=")))
		text = sv_head(text, text.n - 1);
	for (size_t i = 0; i < text.n; i++) {
		int digit = base64_value(text.p[i]);
		if (digit < 0)
			return false;
		value = (value << 6 | (unsigned)digit) & 0xffff;
		bits += 6;
		if (bits >= 8) {
			bits -= 8;
			str_addc(out, (char)(value >> bits & 0xff));
		}
	}
	return true;
}

/* ---- kinds ---- */

static bool decode_blocks(struct jval list, struct str *out)
{
	struct scan_iter it = scan_iter(list);
	struct jval item;
	bool first = true;

	if (list.type != J_ARRAY)
		return false;
	while (scan_next(&it, NULL, &item) > 0) {
		if (!first)
			str_addc(out, '\n');
		first = false;
		(void)scan_string(line_member(item, "text"), out);
	}
	return true;
}

/* Claude: source.data; Codex: image_url, "data:image/png;base64,…". */
static bool decode_image(struct jval block, struct str *out)
{
	AUTO_STR text = STR_INIT;
	struct jval data = line_member(line_member(block, "source"), "data");
	size_t at = 0;

	if (data.type == J_STRING)
		return scan_string(data, &text) && base64_decode(str_sv(&text), out);
	return scan_string(line_member(block, "image_url"), &text) &&
		sv_find(str_sv(&text), SV(";base64,"), &at) &&
		base64_decode(sv_from(str_sv(&text), at + 8), out);
}

bool original_decode(enum recall_kind kind, struct sv raw, struct str *out)
{
	struct jval val;
	size_t before = out->len;
	bool ok = false;

	if (scan_text(raw, &val) < 0)
		return false;
	switch (kind) {
	case RECALL_TEXT:
		ok = scan_string(val, out);
		break;
	case RECALL_BLOCKS:
		ok = decode_blocks(val, out);
		break;
	case RECALL_IMAGE:
		ok = decode_image(val, out);
		break;
	case RECALL_JSON:
		str_add(out, raw);
		ok = true;
		break;
	}
	if (!ok)
		str_cut(out, before);
	return ok;
}
