#include "ui/input.h"

#include "base/utf8.h"

enum { ESC = 0x1B };

/* A character, or a control character for the key that makes it. */
static size_t plain_key(struct sv bytes, bool ended, uint32_t *ret_key)
{
	unsigned char c = (unsigned char)bytes.p[0];
	uint32_t cp;

	if (c == '\r' || c == '\t')
		*ret_key = c == '\r' ? KEY_ENTER : KEY_TAB;
	else if (c == '\b' || c == 0x7F) /* terminals differ in which of them the key sends */
		*ret_key = KEY_BACKSPACE;
	else if (c == ESC)
		*ret_key = KEY_ESCAPE;
	else if (c == 0 || c > ESC)
		*ret_key = c == 0 ? KEY_CTRL | ' ' : c < 0x20 ? KEY_CTRL | (uint32_t)(c + 0x40) : c;
	else
		*ret_key = KEY_CTRL | (uint32_t)(c + 0x60);
	if (c < 0x80)
		return 1;
	if (!ended && bytes.n < utf8_expect(c))
		return 0;
	size_t n = utf8_decode(bytes, &cp);
	/* Half a character is none; a key that came after it counts. */
	*ret_key = n == 1 || utf8_unsafe(cp) ? KEY_NONE : cp;
	return n;
}

static uint32_t key_of_letter(char final)
{
	switch (final) {
	case 'A':
		return KEY_UP;
	case 'B':
		return KEY_DOWN;
	case 'C':
		return KEY_RIGHT;
	case 'D':
		return KEY_LEFT;
	case 'H':
		return KEY_HOME;
	case 'F':
		return KEY_END;
	case 'P':
		return KEY_F1;
	case 'M': /* of the number pad */
		return KEY_ENTER;
	case 'Z':
		return KEY_SHIFT | KEY_TAB;
	default:
		return KEY_NONE;
	}
}

static uint32_t key_of_number(unsigned number)
{
	switch (number) {
	case 1:
	case 7:
		return KEY_HOME;
	case 2:
		return KEY_INSERT;
	case 3:
		return KEY_DELETE;
	case 4:
	case 8:
		return KEY_END;
	case 5:
		return KEY_PAGE_UP;
	case 6:
		return KEY_PAGE_DOWN;
	case 11:
		return KEY_F1;
	case 200:
		return KEY_PASTE;
	case 201:
		return KEY_PASTED;
	default:
		return KEY_NONE;
	}
}

/* "ESC [ 1 ; 5 A": numbers, then a letter; the second number says what was held down. */
static size_t control_sequence(struct sv bytes, bool ended, uint32_t *ret_key)
{
	enum { HELD_SHIFT = 1, HELD_ALT = 2, HELD_CTRL = 4 };
	unsigned numbers[2] = { 0, 0 };
	size_t at = 2, which = 0;

	*ret_key = KEY_NONE;
	/* The console of Linux has its function keys here. */
	if (bytes.n > 2 && bytes.p[2] == '[') {
		if (bytes.n > 3)
			*ret_key = bytes.p[3] == 'A' ? KEY_F1 : KEY_NONE;
		return bytes.n > 3 ? 4 : ended ? 3 : 0;
	}
	for (; at < bytes.n && at < INPUT_SEQUENCE_MAX; at++) {
		unsigned char c = (unsigned char)bytes.p[at];
		if (c >= '0' && c <= '9' && which < 2 && numbers[which] < 1000)
			numbers[which] = numbers[which] * 10 + (c - '0');
		else if (c == ';')
			which++;
		else if (c < 0x20 || c > 0x3F)
			break;
	}
	if (at == bytes.n && at < INPUT_SEQUENCE_MAX && !ended)
		return 0;
	if (at == bytes.n || at == INPUT_SEQUENCE_MAX)
		return at;
	char final = bytes.p[at];
	if (final < 0x40 || final > 0x7E) /* another key came in between */
		return at;
	unsigned held = numbers[1] > 0 ? numbers[1] - 1 : 0;
	*ret_key = final == '~' ? key_of_number(numbers[0]) : key_of_letter(final);
	if (*ret_key != KEY_NONE)
		*ret_key |= (held & HELD_SHIFT ? KEY_SHIFT : 0U) |
			(held & HELD_ALT ? KEY_ALT : 0U) | (held & HELD_CTRL ? KEY_CTRL : 0U);
	return at + 1;
}

size_t input_key(struct sv bytes, bool ended, uint32_t *ret_key)
{
	if (bytes.p[0] != ESC)
		return plain_key(bytes, ended, ret_key);
	if (bytes.n == 1 && !ended)
		return 0;
	if (bytes.n == 1 || bytes.p[1] == ESC) {
		*ret_key = KEY_ESCAPE;
		return 1;
	}
	if (bytes.p[1] == '[' && (bytes.n > 2 || !ended))
		return control_sequence(bytes, ended, ret_key);
	if (bytes.p[1] == 'O' && (bytes.n > 2 || !ended)) {
		if (bytes.n == 2)
			return 0;
		*ret_key = key_of_letter(bytes.p[2]);
		return 3;
	}
	size_t n = plain_key(sv_from(bytes, 1), ended, ret_key);
	if (n > 0 && *ret_key != KEY_NONE)
		*ret_key |= KEY_ALT;
	return n > 0 ? n + 1 : 0;
}
