/*
 * Text as HTML: escaped, and Markdown as elements. What is given must be scrubbed already
 * (utf8_scrub()); nothing in it can become a tag, an attribute or an address that is fetched or
 * run. Links lead to http, https and mailto; others, and pictures, are shown as text.
 */
#pragma once

#include "base/str.h"

/* Characters that mean something in HTML, also within quotes, become references. */
void html_text(struct str *out, struct sv text);
/* Headings become h3 and below; line breaks are kept, as agents mean them. */
void html_markdown(struct str *out, struct sv text);
