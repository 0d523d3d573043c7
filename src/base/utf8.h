/*
 * UTF-8: validation, folding for comparison, display width, and making foreign text safe for a
 * terminal. All of it accepts any bytes; invalid sequences count as U+FFFD, one a bad byte.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Decodes one code point at s.p (s.n > 0); returns its length in bytes, at least 1. An invalid
 * byte gives U+FFFD and 1. */
size_t utf8_decode(struct sv s, uint32_t *ret_cp);
/* Bytes of the character that begins with `lead`; 1 when none can. */
size_t utf8_expect(unsigned char lead);
void utf8_add(struct str *out, uint32_t cp);
bool utf8_valid(struct sv s);
/* Number of code points. */
size_t utf8_length(struct sv s);
/* Longest prefix of at most max_bytes that ends at a character boundary. */
struct sv utf8_cut(struct sv s, size_t max_bytes);

/* Appends s in composed form (NFC); with fold also case-folded, for comparing words. */
void utf8_normalise(struct str *out, struct sv s, bool fold);

/* Bytes of the grapheme cluster at the start of s (s.n > 0), and the columns it takes. */
size_t utf8_cluster(struct sv s, size_t *ret_width);
/* Columns that s takes on a terminal, by grapheme cluster. Control characters count 0. */
size_t utf8_width(struct sv s);
/* Appends as much of s as fits `columns`, with "…" as the last column when something was cut. */
void utf8_fit(struct str *out, struct sv s, size_t columns);

/* What must not reach a terminal: C0 and C1 controls, newline and tab among them, DEL, controls of
 * the direction of writing, line separators. */
bool utf8_unsafe(uint32_t cp);
/*
 * Makes text from outside harmless: C0 and C1 controls, DEL, controls of the direction and invalid
 * bytes cannot reach the terminal. utf8_scrub keeps newline and tab; utf8_scrub_line turns them
 * and runs of them into one blank. Escape sequences go as a whole, other controls
 * show as U+FFFD.
 */
void utf8_scrub(struct str *out, struct sv s);
void utf8_scrub_line(struct str *out, struct sv s);
/* JSON text with the same as escapes instead: it stays the same document. */
void utf8_scrub_json(struct str *out, struct sv s);
