/*
 * Conversations as Markdown. What was said is Markdown already; it is kept as far as it cannot
 * break the document: its headings stand below those of the speakers, a code block that was left
 * open ends with its message, and tags are text.
 */
#include "base/clock.h"
#include "base/utf8.h"
#include "ui/format.h"
#include "view/export-impl.h"

enum { FENCE_MIN = 3, HEADINGS_BELOW = 2, HEADING_MAX = 6, GIST_COLUMNS = 160 };

static size_t run_of(struct sv s, char c)
{
	size_t n = 0;

	while (n < s.n && s.p[n] == c)
		n++;
	return n;
}

static void add_run(struct str *out, char c, size_t n)
{
	for (; n > 0; n--)
		str_addc(out, c);
}

static size_t longest_run(struct sv s, char c)
{
	size_t most = 0;

	while (s.n > 0) {
		size_t n = run_of(s, c);
		most = n > most ? n : most;
		s = sv_from(s, n + 1);
	}
	return most;
}

/* One line as a code span, whatever stands in it. */
static void add_code(struct str *out, struct sv line)
{
	size_t ticks = longest_run(line, '`') + 1;
	bool pad = line.n > 0 && (line.p[0] == '`' || line.p[line.n - 1] == '`');

	add_run(out, '`', ticks);
	str_adds(out, pad ? " " : "");
	str_add(out, line);
	str_adds(out, pad ? " " : "");
	add_run(out, '`', ticks);
}

static void add_block(struct str *out, struct sv text)
{
	size_t ticks = longest_run(text, '`') + 1;

	ticks = ticks < FENCE_MIN ? FENCE_MIN : ticks;
	add_run(out, '`', ticks);
	str_addc(out, '\n');
	str_add(out, text);
	str_addc(out, '\n');
	add_run(out, '`', ticks);
	str_adds(out, "\n\n");
}

/* A line of text outside code blocks: no tag begins in it but within a code span, where none does.
 */
static void add_line(struct str *out, struct sv line)
{
	size_t ticks = 0, start = out->len;

	for (size_t i = 0; i < line.n;) {
		size_t run = run_of(sv_from(line, i), '`');
		if (run > 0) {
			ticks = ticks == 0 ? run : ticks == run ? 0 : ticks;
			add_run(out, '`', run);
			i += run;
			continue;
		}
		char next = i + 1 < line.n ? line.p[i + 1] : '\0';
		bool escaped = i > 0 && line.p[i - 1] == '\\';
		bool tag = (next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') ||
			next == '/' || next == '!' || next == '?';
		if (line.p[i] == '<' && tag && !escaped && ticks == 0)
			str_addc(out, '\\');
		str_addc(out, line.p[i++]);
	}
	/* A span that was not closed was none. */
	if (ticks > 0 && memchr(line.p, '<', line.n)) {
		str_cut(out, start);
		for (size_t i = 0; i < line.n; i++)
			line.p[i] == '<' ? str_adds(out, "&lt;") : str_addc(out, line.p[i]);
	}
}

static void add_words(struct str *out, struct sv text)
{
	struct sv line;
	size_t fence = 0;
	char mark = '`';

	while (sv_split(&text, '\n', &line)) {
		size_t indent = run_of(line, ' ');
		struct sv rest = sv_from(line, indent);
		size_t ticks = run_of(rest, '`'), waves = run_of(rest, '~');
		size_t run = ticks > waves ? ticks : waves;
		char c = ticks > waves ? '`' : '~';
		if (fence > 0) {
			if (run >= fence && c == mark && sv_trim(sv_from(rest, run)).n == 0)
				fence = 0;
			str_add(out, line);
		} else if (run >= FENCE_MIN &&
			(c == '~' || !memchr(rest.p + run, '`', rest.n - run))) {
			fence = run;
			mark = c;
			str_add(out, line);
		} else {
			size_t level = indent < 4 ? run_of(rest, '#') : 0;
			bool heading = level > 0 && level <= HEADING_MAX &&
				(level == rest.n || rest.p[level] == ' ');
			if (heading)
				add_run(out, '#',
					level + HEADINGS_BELOW > HEADING_MAX ? HEADING_MAX - level
									     : HEADINGS_BELOW);
			add_line(out, line);
		}
		str_addc(out, '\n');
	}
	if (fence > 0) {
		add_run(out, mark, fence);
		str_addc(out, '\n');
	}
	str_addc(out, '\n');
}

/* Calls are a list, which a blank line ends. */
static void end_list(struct exporter *x)
{
	str_adds(&x->out, x->listed ? "\n" : "");
	x->listed = false;
}

static void speaker(
	struct exporter *x, const struct item *item, enum item_kind kind, const char *who)
{
	char when[CLOCK_TEXT_MAX];
	int64_t ms = transcript_time(item);

	if (x->speaker == kind && kind != ITEM_USER)
		return;
	end_list(x);
	x->speaker = kind;
	str_addf(&x->out, "## %s", who);
	if (ms > 0) {
		clock_format_local(ms, when);
		str_addf(&x->out, " · %s", when);
	}
	str_adds(&x->out, "\n\n");
}

static void aside(struct exporter *x, const struct item *item, const char *label)
{
	end_list(x);
	str_addf(&x->out, "*%s*\n\n", label);
	struct sv text = export_text(x, item);
	if (text.n > 0)
		add_block(&x->out, text);
}

static void summary(struct exporter *x, const struct item *item)
{
	char count[SIZE_TEXT_MAX];

	if (x->style.tools) {
		aside(x, item, "summary of what was before");
		return;
	}
	end_list(x);
	size_format_count((int64_t)utf8_length(export_text(x, item)), count);
	str_addf(&x->out, "*summary of what was before, %s characters*\n\n", count);
}

static void markdown_call(struct exporter *x, const struct item *item)
{
	AUTO_STR gist = STR_INIT;
	AUTO_STR line = STR_INIT;
	AUTO_STR fit = STR_INIT;
	AUTO_STR tool = STR_INIT;

	speaker(x, item, ITEM_ASSISTANT, x->agent);
	view_call_gist(item, &gist);
	utf8_scrub_line(&line, str_sv(&gist));
	utf8_fit(&fit, sv_trim(str_sv(&line)), GIST_COLUMNS);
	utf8_scrub_line(&tool, item->tool);
	str_adds(&x->out, "- **");
	add_line(&x->out, str_sv(&tool));
	str_adds(&x->out, fit.len > 0 ? "** " : "**");
	if (fit.len > 0)
		add_code(&x->out, str_sv(&fit));
	str_addc(&x->out, '\n');
	x->listed = true;
	if (!x->style.tools)
		return;
	end_list(x);
	add_block(&x->out, export_text(x, item));
}

static void markdown_item(struct exporter *x, const struct item *item)
{
	bool failed = item->flags & ITEM_FAILED;
	char when[CLOCK_TEXT_MAX] = "";

	if (!export_shown(x, item))
		return;
	switch (item->kind) {
	case ITEM_USER:
		if (item->flags & ITEM_SUMMARY) {
			summary(x, item);
		} else if (item->flags & (ITEM_PROMPT | ITEM_IMAGE)) {
			speaker(x, item, ITEM_USER, "You");
			add_words(&x->out, export_text(x, item));
		} else {
			aside(x, item, "put in by a program");
		}
		break;
	case ITEM_ASSISTANT:
		speaker(x, item, ITEM_ASSISTANT, x->agent);
		end_list(x);
		add_words(&x->out, export_text(x, item));
		break;
	case ITEM_TOOL_CALL:
		markdown_call(x, item);
		break;
	case ITEM_TOOL_RESULT:
		if (x->style.tools)
			aside(x, item, failed ? "result: failed" : "result");
		else if (failed)
			str_adds(&x->out, x->listed ? "  - failed\n" : "- failed\n");
		break;
	case ITEM_COMPACTION:
		if (transcript_time(item) > 0)
			clock_format_local(transcript_time(item), when);
		end_list(x);
		x->speaker = ITEM_COMPACTION;
		str_addf(&x->out, "---\n\n*context compacted%s%s*\n\n", when[0] ? " · " : "", when);
		if (item->flags & ITEM_SUMMARY)
			summary(x, item);
		break;
	case ITEM_THINKING:
		speaker(x, item, ITEM_ASSISTANT, x->agent);
		aside(x, item, "thinking");
		break;
	case ITEM_SYSTEM:
		aside(x, item, "system");
		break;
	case ITEM_META:
	case ITEM_KINDS:
		break;
	}
}

static void fact(struct exporter *x, const char *name, const char *value)
{
	AUTO_STR line = STR_INIT;

	if (!value[0])
		return;
	utf8_scrub_line(&line, sv_of(value));
	str_addf(&x->out, "- %s: ", name);
	add_code(&x->out, str_sv(&line));
	str_addc(&x->out, '\n');
}

static void markdown_session(struct exporter *x, const struct session_view *view)
{
	const struct session_row *row = view->row;
	char first[CLOCK_TEXT_MAX] = "", last[CLOCK_TEXT_MAX] = "";
	AUTO_STR title = STR_INIT;

	if (x->sessions > 1)
		str_adds(&x->out, "---\n\n");
	utf8_scrub_line(&title, sv_of(session_title(row)));
	str_adds(&x->out, "# ");
	add_line(&x->out, str_sv(&title));
	str_addf(&x->out, "\n\n- %s, %lld %s\n", x->agent, (long long)row->info.turns,
		row->info.turns == 1 ? "turn" : "turns");
	fact(x, "session", row->info.id);
	fact(x, "model", row->info.model);
	fact(x, "folder", row->info.cwd);
	fact(x, "branch", row->info.branch);
	if (row->info.first_ms > 0)
		clock_format_local(row->info.first_ms, first);
	clock_format_local(row->active_ms, last);
	str_addf(&x->out, "- %s%s%s\n\n", first, first[0] ? " – " : "", last);
}

static void markdown_pause(struct exporter *x)
{
	end_list(x);
	x->speaker = ITEM_META;
}

static void markdown_session_end(struct exporter *x)
{
	end_list(x);
}

const struct export_driver export_markdown = {
	.session = markdown_session,
	.item = markdown_item,
	.pause = markdown_pause,
	.session_end = markdown_session_end,
};
