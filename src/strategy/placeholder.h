/*
 * What stands in place of a text that was taken out, and the counting and cutting of text as it
 * stands in JSON.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "archive/archive.h"
#include "base/str.h"
#include "json/scan.h"

/* Characters (code points) of the inside of a JSON string. */
size_t text_chars(struct sv inner);
/* Its beginning of at most `chars` characters, cut between characters and escapes. */
struct sv text_head(struct sv inner, size_t chars);
/*
 * From the decoded text of a JSON string back to the bytes it was made from, going forward: begin
 * with string and text, which is what scan_string() gives.
 */
struct text_walk {
	struct jval string;
	struct sv text;
	size_t raw, decoded; /* how far: this byte of its inside has become that one of text */
};
/*
 * The bytes of the string that become the bytes [from, from + n) of its text, which do not begin
 * before the end of those asked for last. Empty when they cannot be told apart (invalid UTF-8 in
 * it).
 */
struct sv text_span(struct text_walk *w, size_t from, size_t n);

enum placeholder_kind {
	PLACEHOLDER_RESULT,
	PLACEHOLDER_INPUT,
	PLACEHOLDER_ANSWER,
	PLACEHOLDER_IMAGE,
	PLACEHOLDER_SUMMARY, /* a summary by an agent stands for it */
};
struct placeholder {
	enum placeholder_kind kind;
	struct sv name; /* tool; agent's name for ANSWER; media type for IMAGE */
	struct sv part; /* INPUT: which one */
	size_t length; /* characters; IMAGE: bytes */
	size_t shown; /* characters of the original before it; 0: none */
	struct recall_hash hash;
};
/* Plain text, one line, of a few ASCII characters and the names. */
void placeholder_text(const struct placeholder *p, struct str *out);
/* Whether the inside of a JSON string is, or ends with, a placeholder of ours or of others. */
bool placeholder_is(struct sv inner);
/* The reference that such a text of ours ends with: to the first original. Points into inner. */
bool placeholder_ref(struct sv inner, struct sv *ret);
