#include "route/hurried.h"

enum { LATIN1_LEAD = 0xc3 }; /* first of the two bytes of U+00C0 to U+00FF */

/* The letter under an accent, by the second byte; 0 for any other. */
static char plain_letter(unsigned char second)
{
	static const char plain[0x40] = {
		[0x20] = 'a',
		[0x21] = 'a',
		[0x22] = 'a', /* àáâ */
		[0x27] = 'c', /* ç */
		[0x28] = 'e',
		[0x29] = 'e',
		[0x2a] = 'e',
		[0x2b] = 'e', /* èéêë */
		[0x2d] = 'i',
		[0x2e] = 'i',
		[0x2f] = 'i', /* íîï */
		[0x31] = 'n', /* ñ */
		[0x33] = 'o',
		[0x34] = 'o', /* óô */
		[0x39] = 'u',
		[0x3a] = 'u',
		[0x3b] = 'u',
		[0x3c] = 'u', /* ùúûü */
	};

	return plain[second & 0x3f];
}

bool hurried(enum hurry how, struct sv word, char *out, size_t size, size_t *ret_n)
{
	bool changed = false;
	size_t n = 0;

	if (word.n > size)
		return false;
	for (size_t i = 0; i < word.n; i++) {
		bool accent = how == HURRY_ACCENTS && (unsigned char)word.p[i] == LATIN1_LEAD &&
			i + 1 < word.n;
		char plain = accent ? plain_letter((unsigned char)word.p[i + 1])
			: how == HURRY_HYPHENS && word.p[i] == '-' ? ' '
								   : 0;
		out[n++] = plain ? plain : word.p[i];
		i += accent && plain;
		changed |= plain != 0;
	}
	*ret_n = n;
	return changed;
}
