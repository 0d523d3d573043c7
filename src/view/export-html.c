/*
 * Conversations as one HTML page that needs nothing else: no script, no font, no picture is loaded.
 * Calls are folded and have their results in them; each message has a number that leads to it.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/format.h"
#include "view/export-impl.h"
#include "view/html.h"

enum { TITLE_COLUMNS = 100, GIST_COLUMNS = 140, PROMPT_COLUMNS = 70 };

/* clang-format off */
static const char *const page_style[] = {
":root{color-scheme:light dark;--ink:#1f2328;--soft:#626a73;--faint:#8c959f;--paper:#fdfcfa;--tint:#f3f1ec;"
"--line:#e2dfd8;--user:#0b6e4f;--agent:#3451a3;--bad:#b3261e;--code:#f4f2ee}\n",
"@media (prefers-color-scheme:dark){:root{--ink:#d9dde2;--soft:#9aa3ad;--faint:#717b86;--paper:#15181c;"
"--tint:#1d2126;--line:#2d333a;--user:#5cc8a1;--agent:#93aef5;--bad:#f2867d;--code:#1b1f24}}\n",
"*{box-sizing:border-box}\n",
"html{-webkit-text-size-adjust:100%;text-size-adjust:100%;scroll-padding-top:1rem}\n",
"body{margin:0;background:var(--paper);color:var(--ink);font:1.0625rem/1.6 Charter,'Bitstream Charter',"
"'Iowan Old Style','Sitka Text',Cambria,Georgia,'Liberation Serif',serif;overflow-wrap:anywhere}\n",
"body>header,main,footer,nav{max-width:44rem;margin:0 auto;padding:0 1.25rem}\n",
"body>header{padding-top:2.5rem}\n",
"h1,.who,summary,dl,nav,footer,.mark{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Liberation Sans',sans-serif}\n",
"h1{font-size:1.6rem;line-height:1.25;font-weight:650;letter-spacing:-.01em;margin:0 0 .75rem;text-wrap:balance}\n",
"a{color:inherit;text-decoration-color:var(--faint);text-underline-offset:.15em}\n",
"dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem .9rem;margin:0;padding:0 0 1.5rem;"
"font-size:.85rem;line-height:1.5;color:var(--soft);border-bottom:1px solid var(--line)}\n",
"dt{color:var(--faint)}dd{margin:0}\n",
"article{position:relative;margin:2rem 0}\n",
"article.user{margin-top:2.75rem;padding:.9rem 1.1rem 1rem;background:var(--tint);border-radius:.6rem}\n",
".who{margin:0 0 .35rem;font-size:.8rem;font-weight:650;line-height:1.5;color:var(--agent)}\n",
".user .who{color:var(--user)}\n",
".who time{font-weight:400;color:var(--faint);margin-left:.5em}\n",
".no{float:right;font:400 .72rem/2 system-ui,sans-serif;color:var(--faint);text-decoration:none;"
"font-variant-numeric:tabular-nums;margin-left:.75rem}\n",
".no:hover{text-decoration:underline}\n",
":target{outline:2px solid var(--agent);outline-offset:.5rem;border-radius:.4rem}\n",
".words>:first-child{margin-top:0}.words>:last-child{margin-bottom:0}\n",
".words+.words,details+.words,.words+details{margin-top:1rem}\n",
".said{white-space:pre-wrap}\n",
"p,ul,ol,blockquote,pre,.wide{margin:.75em 0}\n",
"ul,ol{padding-left:1.4em}li{margin:.2em 0}li>ul,li>ol{margin:.2em 0}\n",
"h3,h4,h5,h6{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Liberation Sans',sans-serif;line-height:1.3;"
"margin:1.5em 0 .5em;font-size:1rem}h3{font-size:1.2rem}h4{font-size:1.07rem}\n",
"blockquote{margin-left:0;padding-left:1em;border-left:3px solid var(--line);color:var(--soft)}\n",
"hr{border:0;border-top:1px solid var(--line);margin:1.5em 0}\n",
"code,pre{font-family:ui-monospace,SFMono-Regular,'Cascadia Code',Menlo,Consolas,'Liberation Mono',monospace}\n",
"code{font-size:.86em;background:var(--code);padding:.1em .3em;border-radius:.25em}\n",
"pre{font-size:.8rem;line-height:1.5;background:var(--code);border:1px solid var(--line);border-radius:.5rem;"
"padding:.7rem .9rem;overflow-x:auto;white-space:pre;overflow-wrap:normal;tab-size:4}\n",
"pre code{font-size:inherit;background:none;padding:0}\n",
".wide{overflow-x:auto}\n",
"table{border-collapse:collapse;font-size:.93em;overflow-wrap:normal}\n",
"th,td{text-align:left;vertical-align:top;padding:.3em .8em .3em 0;border-bottom:1px solid var(--line)}\n",
"th{font-weight:650}.r{text-align:right}.c{text-align:center}\n",
"details{margin:.3rem 0}\n",
"summary{cursor:pointer;font-size:.82rem;line-height:1.6;color:var(--soft);padding:.1rem 0;list-style:none;"
"overflow:hidden;text-overflow:ellipsis;white-space:nowrap}\n",
"summary::-webkit-details-marker{display:none}\n",
"summary::before{content:'\\25b8';display:inline-block;width:1.1em;color:var(--faint)}\n",
"details[open]>summary::before{content:'\\25be'}\n",
"details[open]>summary{white-space:normal}\n",
"summary b{font-weight:600;color:var(--ink)}\n",
"summary code{font-size:.95em;background:none;padding:0;margin-left:.35em}\n",
".failed>summary{color:var(--bad)}.failed>summary b{color:var(--bad)}\n",
"details>:not(summary){margin-left:1.1em}\n",
".mark{margin:.5em 0 .2em;font-size:.75rem;color:var(--faint)}\n",
"details pre{margin:.2em 0 .6em;max-height:30rem;overflow:auto}\n",
"details .said,.thinking p{color:var(--soft);font-size:.95em}\n",
"main>details{margin:-1.5rem 0 2rem}\n",
".compaction{display:flex;gap:1rem;align-items:center;color:var(--faint);font:.8rem/1.5 system-ui,sans-serif;margin:2.5rem 0}\n",
".compaction::before,.compaction::after{content:'';flex:1;border-top:1px dashed var(--line)}\n",
"nav{padding-top:2rem;font-size:.85rem}nav h2{font-size:.8rem;color:var(--faint);font-weight:650;margin:0 0 .4rem}\n",
"nav ol{list-style:none;padding:0;margin:0}nav li{margin:.15rem 0;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}\n",
"nav a{color:var(--soft);text-decoration:none}nav a:hover{color:var(--ink);text-decoration:underline}\n",
".to{font:.8rem/1.5 system-ui,sans-serif;color:var(--soft);margin:.75rem 0 0}\n",
"footer{padding-top:2rem;padding-bottom:3rem;font-size:.75rem;color:var(--faint)}\n",
"@media (min-width:84rem){nav{position:fixed;left:0;top:0;bottom:0;width:calc((100vw - 46rem)/2);max-width:20rem;margin:0;"
"padding:2.75rem 1.25rem;overflow-y:auto}.to{display:none}}\n",
"@media (max-width:30rem){body{font-size:1rem}body>header{padding-top:1.5rem}h1{font-size:1.35rem}"
"dl{grid-template-columns:1fr;gap:0}dt{margin-top:.3rem;font-size:.75rem}article.user{margin-left:-.5rem;margin-right:-.5rem;padding:.8rem}}\n",
"@media print{:root{--ink:#000;--soft:#333;--faint:#555;--paper:#fff;--tint:#fff;--line:#bbb;--code:#fff;--user:#000;--agent:#000}"
"body{font-size:10.5pt}body>header,main,footer{max-width:none;padding:0}nav,.to,.no{display:none}"
"article.user{border:1px solid var(--line)}pre{white-space:pre-wrap;overflow-wrap:anywhere;max-height:none}"
".who{break-after:avoid}details pre{max-height:none}a{text-decoration:none}}\n",
};
/* clang-format on */

/* ---- pieces ---- */

static void add_line(struct str *out, struct sv text, size_t columns)
{
	AUTO_STR line = STR_INIT;
	AUTO_STR fit = STR_INIT;

	utf8_scrub_line(&line, text);
	utf8_fit(&fit, sv_trim(str_sv(&line)), columns);
	html_text(out, str_sv(&fit));
}

static void add_time(struct str *out, int64_t ms)
{
	char iso[CLOCK_TEXT_MAX], local[CLOCK_TEXT_MAX];

	if (ms <= 0)
		return;
	clock_format_iso(ms, iso);
	clock_format_local(ms, local);
	str_addf(out, "<time datetime=\"%s\">%s</time>", iso, local);
}

/* A block of text as it is, and in short what is left out of it. */
static void add_pre(struct exporter *x, struct str *out, struct sv text)
{
	char size[SIZE_TEXT_MAX];
	struct sv shown = x->style.tools ? text : utf8_cut(text, EXPORT_BRIEF);

	str_adds(out, "<pre dir=\"auto\">");
	html_text(out, shown);
	str_adds(out, "</pre>\n");
	if (shown.n == text.n)
		return;
	size_format(text.n - shown.n, size);
	str_addf(out, "<p class=\"mark\">%s more</p>\n", size);
}

static void close_article(struct exporter *x)
{
	if (x->speaker == ITEM_USER || x->speaker == ITEM_ASSISTANT)
		str_adds(&x->out, "</article>\n");
	x->speaker = ITEM_META;
}

static void speaker(struct exporter *x, const struct item *item, enum item_kind kind)
{
	if (x->speaker == kind && kind != ITEM_USER)
		return;
	close_article(x);
	x->speaker = kind;
	str_addf(&x->out, "<article class=\"%s\">\n<h2 class=\"who\">",
		kind == ITEM_USER ? "user" : "agent");
	html_text(&x->out, sv_of(kind == ITEM_USER ? "You" : x->agent));
	add_time(&x->out, transcript_time(item));
	str_adds(&x->out, "</h2>\n");
}

/* Words with a number that leads to them. */
static void begin_words(struct exporter *x, const char *class)
{
	x->messages++;
	str_addf(&x->out,
		"<div class=\"words\" id=\"m%zu\"><a class=\"no\" href=\"#m%zu\">%zu</a>"
		"<div class=\"words%s\" dir=\"auto\">",
		x->messages, x->messages, x->messages, class);
}

static void end_words(struct exporter *x)
{
	str_adds(&x->out, "</div></div>\n");
}

static void aside(struct exporter *x, const struct item *item, const char *label, const char *class)
{
	struct sv text = export_text(x, item);

	if (text.n == 0)
		return;
	str_addf(&x->out,
		"<details class=\"%s\"><summary>%s</summary>\n<div class=\"said\" dir=\"auto\">",
		class, label);
	html_text(&x->out, text);
	str_adds(&x->out, "</div></details>\n");
}

/* ---- calls ---- */

static void add_call(struct str *out, const struct export_call *c)
{
	str_adds(out,
		c->failed ? "<details class=\"call failed\"><summary>"
			  : "<details class=\"call\"><summary>");
	str_add(out, str_sv(&c->head));
	str_adds(out, c->failed ? " – failed</summary>\n" : "</summary>\n");
	str_add(out, str_sv(&c->body));
	str_adds(out, "</details>\n");
}

/* Writes the calls that have their results, in order, or all of them. */
static void write_calls(struct exporter *x, bool all)
{
	size_t n = 0;

	for (; n < x->calls.n && (all || x->calls.v[n].answered); n++) {
		struct export_call *c = &x->calls.v[n];
		add_call(&x->out, c);
		x->held -= c->head.len + c->body.len;
		str_release(&c->id);
		str_release(&c->head);
		str_release(&c->body);
	}
	if (n == 0)
		return;
	memmove(x->calls.v, x->calls.v + n, (x->calls.n - n) * sizeof(*x->calls.v));
	x->calls.n -= n;
}

/* The members of a call one below the other, texts as they are. */
static void add_input(struct exporter *x, struct str *out, const struct item *item)
{
	AUTO_STR text = STR_INIT;
	AUTO_STR clean = STR_INIT;
	struct jval args, val;
	struct sv key;

	transcript_text(item, &text);
	if (scan_text(str_sv(&text), &args) < 0 || args.type != J_OBJECT) {
		utf8_scrub(&clean, str_sv(&text));
		add_pre(x, out, str_sv(&clean));
		return;
	}
	struct scan_iter it = scan_iter(args);
	while (scan_next(&it, &key, &val) > 0) {
		AUTO_STR value = STR_INIT;
		AUTO_STR name = STR_INIT;
		if (val.type != J_STRING || !scan_string(val, &value))
			str_add(&value, val.raw);
		if (!scan_string((struct jval){ .type = J_STRING, .raw = key }, &name))
			str_add(&name, key);
		str_adds(out, "<p class=\"mark\">");
		add_line(out, str_sv(&name), PROMPT_COLUMNS);
		str_adds(out, "</p>\n");
		str_clear(&clean);
		utf8_scrub(&clean, str_sv(&value));
		add_pre(x, out, str_sv(&clean));
	}
}

static void hold_call(struct exporter *x, const struct item *item)
{
	struct export_call call = { .id = STR_INIT, .head = STR_INIT, .body = STR_INIT };
	AUTO_STR gist = STR_INIT;

	speaker(x, item, ITEM_ASSISTANT);
	str_add(&call.id, item->tool_id);
	str_adds(&call.head, "<b>");
	add_line(&call.head, item->tool, PROMPT_COLUMNS);
	str_adds(&call.head, "</b> ");
	view_call_gist(item, &gist);
	if (gist.len > 0) {
		str_adds(&call.head, "<code>");
		add_line(&call.head, sv_head(str_sv(&gist), EXPORT_BRIEF), GIST_COLUMNS);
		str_adds(&call.head, "</code>");
	}
	add_input(x, &call.body, item);
	x->held += call.head.len + call.body.len;
	vec_push(&x->calls, call);
	if (x->held > EXPORT_HELD_MAX)
		write_calls(x, true);
}

static void take_result(struct exporter *x, const struct item *item)
{
	struct export_call alone = { .id = STR_INIT,
		.head = STR_INIT,
		.body = STR_INIT,
		.failed = item->flags & ITEM_FAILED };
	struct export_call *call = NULL;

	for (size_t i = 0; i < x->calls.n && !call; i++)
		if (!x->calls.v[i].answered && item->tool_id.n > 0 &&
			sv_eq(str_sv(&x->calls.v[i].id), item->tool_id))
			call = &x->calls.v[i];
	struct export_call *into = call ? call : &alone;
	size_t before = into->body.len;
	struct sv text = export_text(x, item);
	str_adds(&into->body, call ? "<p class=\"mark\">result</p>\n" : "");
	add_pre(x, &into->body, text);
	if (call) {
		call->answered = true;
		call->failed = alone.failed;
		x->held += call->body.len - before;
		write_calls(x, x->held > EXPORT_HELD_MAX);
		return;
	}
	write_calls(x, true);
	str_adds(&alone.head, "result");
	add_call(&x->out, &alone);
	str_release(&alone.head);
	str_release(&alone.body);
}

/* ---- items ---- */

static void user_words(struct exporter *x, const struct item *item)
{
	speaker(x, item, ITEM_USER);
	begin_words(x, " said");
	struct sv text = export_text(x, item);
	html_text(&x->out, text);
	end_words(x);
	if (!(item->flags & ITEM_PROMPT) || x->prompts++ >= EXPORT_CONTENTS_MAX)
		return;
	str_addf(&x->contents, "<li><a href=\"#m%zu\">", x->messages);
	add_line(&x->contents, sv_head(text, EXPORT_BRIEF), PROMPT_COLUMNS);
	str_adds(&x->contents, "</a></li>\n");
}

static void html_item(struct exporter *x, const struct item *item)
{
	if (!export_shown(x, item))
		return;
	if (item->kind != ITEM_TOOL_CALL && item->kind != ITEM_TOOL_RESULT)
		write_calls(x, true);
	switch (item->kind) {
	case ITEM_USER:
		if (item->flags & ITEM_SUMMARY)
			aside(x, item, "summary of what was before", "summary");
		else if (item->flags & (ITEM_PROMPT | ITEM_IMAGE))
			user_words(x, item);
		else
			aside(x, item, "put in by a program", "aside");
		break;
	case ITEM_ASSISTANT:
		speaker(x, item, ITEM_ASSISTANT);
		begin_words(x, "");
		html_markdown(&x->out, export_text(x, item));
		end_words(x);
		break;
	case ITEM_TOOL_CALL:
		hold_call(x, item);
		break;
	case ITEM_TOOL_RESULT:
		take_result(x, item);
		break;
	case ITEM_COMPACTION:
		close_article(x);
		str_adds(&x->out, "<p class=\"compaction\">context compacted ");
		add_time(&x->out, transcript_time(item));
		str_adds(&x->out, "</p>\n");
		if (item->flags & ITEM_SUMMARY)
			aside(x, item, "summary of what was before", "summary");
		break;
	case ITEM_THINKING:
		speaker(x, item, ITEM_ASSISTANT);
		aside(x, item, "thinking", "thinking");
		break;
	case ITEM_SYSTEM:
		aside(x, item, "system", "aside");
		break;
	case ITEM_META:
	case ITEM_KINDS:
		break;
	}
}

/* ---- the page ---- */

static void fact(struct str *out, const char *name, const char *value, const char *tag)
{
	AUTO_STR line = STR_INIT;

	if (!value[0])
		return;
	utf8_scrub_line(&line, sv_of(value));
	str_addf(out, "<dt>%s</dt><dd>%s%s%s", name, tag[0] ? "<" : "", tag, tag[0] ? ">" : "");
	html_text(out, str_sv(&line));
	str_addf(out, "%s%s%s</dd>\n", tag[0] ? "</" : "", tag, tag[0] ? ">" : "");
}

static void begin_page(struct exporter *x, const char *title)
{
	str_adds(&x->out,
		"<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
		"<meta http-equiv=\"Content-Security-Policy\" "
		"content=\"default-src 'none';style-src 'unsafe-inline'\">\n"
		"<meta name=\"referrer\" content=\"no-referrer\">\n"
		"<meta name=\"generator\" content=\"faden " FADEN_VERSION "\">\n<title>");
	add_line(&x->out, sv_of(title), GIST_COLUMNS);
	str_adds(&x->out, "</title>\n<style>\n");
	for (size_t i = 0; i < ARRAY_LEN(page_style); i++)
		str_adds(&x->out, page_style[i]);
	str_adds(&x->out, "</style>\n</head>\n<body>\n");
}

static void html_session(struct exporter *x, const struct session_view *view)
{
	const struct session_row *row = view->row;
	AUTO_STR agent = STR_INIT;

	if (x->sessions == 1)
		begin_page(x, session_title(row));
	str_addf(&x->out, "<header id=\"s%zu\">\n<h1 dir=\"auto\">", x->sessions);
	add_line(&x->out, sv_of(session_title(row)), TITLE_COLUMNS);
	str_adds(&x->out, "</h1>\n<dl>\n");
	str_addf(&agent, "%s%s%s", x->agent, row->info.model[0] ? ", " : "", row->info.model);
	fact(&x->out, "agent", agent.buf, "");
	fact(&x->out, "folder", row->info.cwd, "code");
	fact(&x->out, "branch", row->info.branch, "code");
	str_adds(&x->out, "<dt>time</dt><dd>");
	add_time(&x->out, row->info.first_ms);
	str_adds(&x->out, row->info.first_ms > 0 ? " – " : "");
	add_time(&x->out, row->active_ms);
	str_addf(&x->out, ", %lld %s</dd>\n", (long long)row->info.turns,
		row->info.turns == 1 ? "turn" : "turns");
	fact(&x->out, "session", row->info.id, "code");
	str_adds(&x->out, "</dl>\n");
	if (x->sessions == 1)
		str_adds(&x->out, "<p class=\"to\"><a href=\"#contents\">What was asked</a></p>\n");
	str_adds(&x->out, "</header>\n<main>\n");
	str_addf(&x->contents, "<li><h2><a href=\"#s%zu\">", x->sessions);
	add_line(&x->contents, sv_of(session_title(row)), PROMPT_COLUMNS);
	str_adds(&x->contents, "</a></h2></li>\n");
}

static void html_pause(struct exporter *x)
{
	write_calls(x, true);
	close_article(x);
}

static void html_session_end(struct exporter *x)
{
	write_calls(x, true);
	close_article(x);
	str_adds(&x->out, "</main>\n");
}

static void html_end(struct exporter *x)
{
	if (x->sessions == 0)
		begin_page(x, "faden");
	str_adds(&x->out, "<nav id=\"contents\"><ol>\n");
	str_add(&x->out, str_sv(&x->contents));
	str_adds(&x->out,
		"</ol></nav>\n<footer>Exported by faden " FADEN_VERSION
		"</footer>\n</body>\n</html>\n");
}

const struct export_driver export_html = {
	.session = html_session,
	.item = html_item,
	.pause = html_pause,
	.session_end = html_session_end,
	.end = html_end,
};
