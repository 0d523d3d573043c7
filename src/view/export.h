/*
 * Conversations as documents: text as `faden show` prints it, Markdown, one HTML page, JSON. An
 * exporter takes sessions and their items one after the other and gives the document to a sink
 * piece by piece; it keeps no more than one item and the calls that wait for their results.
 *
 * Nothing of a transcript gets into a document raw: control characters and those of the direction
 * of writing are taken out or shown, HTML is escaped, in the page and in Markdown. A page loads
 * nothing, runs nothing, and can be read and printed as it is.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "master/run.h"
#include "transcript/transcript.h"
#include "ui/term.h"
#include "view/session.h"

enum export_format { EXPORT_TEXT, EXPORT_MARKDOWN, EXPORT_HTML, EXPORT_JSON, EXPORT_FORMATS };

struct export_style {
	bool tools; /* everything: calls and results in full, thinking, what programs put in */
	bool thinking; /* thinking too */
	bool live; /* the items are those that a resume would send */
	size_t sessions; /* how many will come */
};

struct exporter;
struct exporter *exporter_new(
	enum export_format format, const struct export_style *style, struct term_sink sink);
void exporter_free(struct exporter *x); /* NULL is fine */
/* The next session begins; the row is borrowed until the one after it, or the end. */
int exporter_session(
	struct exporter *x, const struct session_view *view, struct err *reterr) MUST_USE;
/* turn: the item's, as of struct conversation. */
int exporter_item(
	struct exporter *x, const struct item *item, uint64_t turn, struct err *reterr) MUST_USE;
/* A run of the pair as one more session, with all its steps. Who speaks stands at each. */
int exporter_run(struct exporter *x, struct master_run *run, struct err *reterr) MUST_USE;
int exporter_end(struct exporter *x, struct err *reterr) MUST_USE;
