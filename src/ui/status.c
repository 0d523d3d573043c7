#include "ui/status.h"

#include "base/utf8.h"

enum { MS_PER_S = 1000, S_PER_MIN = 60 };

/* Below the cursor and to its right there is nothing but the status line. */
static const char erase_below[] = "\033[J";
/* Down and up again without changing the column: scrolls when the cursor is in the last row. */
static const char make_room[] = "\033D\033M";
static const char save_cursor[] = "\0337";
static const char restore_cursor[] = "\0338";

void status_init(struct status *s, struct term *term)
{
	*s = (struct status){
		.term = term,
		.agent = STR_INIT,
		.conversation = STR_INIT,
		.tool = STR_INIT,
		.typed = STR_INIT,
	};
}

void status_release(struct status *s)
{
	str_release(&s->agent);
	str_release(&s->conversation);
	str_release(&s->tool);
	str_release(&s->typed);
}

static void set_clean(struct str *out, struct sv text)
{
	str_clear(out);
	utf8_scrub_line(out, sv_trim(text));
}

void status_set_names(struct status *s, struct sv agent, struct sv conversation)
{
	set_clean(&s->agent, agent);
	set_clean(&s->conversation, conversation);
}

void status_set_state(struct status *s, enum status_state state, struct sv tool)
{
	s->state = state;
	set_clean(&s->tool, state == STATUS_TOOL || state == STATUS_WORDS ? tool : SV(""));
}

void status_set_typed(struct status *s, struct sv typed)
{
	enum { COLUMNS = 40, BYTES = 1000 };
	AUTO_STR clean = STR_INIT;

	set_clean(&clean, typed);
	/* Of a long one only the end is measured, from the beginning of a character on. */
	struct sv shown = sv_from(str_sv(&clean), clean.len > BYTES ? clean.len - BYTES : 0);
	while (shown.n && ((unsigned char)shown.p[0] & 0xC0) == 0x80)
		shown = sv_from(shown, 1);
	while (utf8_width(shown) > COLUMNS) {
		uint32_t ignored;
		shown = sv_from(shown, utf8_decode(shown, &ignored));
	}
	str_clear(&s->typed);
	if (shown.n)
		str_addf(&s->typed, "%s%.*s", s->term->ascii ? "> " : "› ", SV_ARG(shown));
}

void status_set_bypass(struct status *s, bool bypass)
{
	s->bypass = bypass;
}

const char *status_state_name(enum status_state state)
{
	static const char *const names[STATUS_STATES] = {
		[STATUS_READY] = "ready",
		[STATUS_THINKING] = "thinking",
		[STATUS_ANSWERING] = "answering",
		[STATUS_TOOL] = "tool",
		[STATUS_ASKING] = "waiting for your answer",
		[STATUS_CANCELLING] = "cancelling",
		[STATUS_WORDS] = "",
	};

	return state < STATUS_STATES ? names[state] : "?";
}

static void add_part(const struct status *s, struct str *line, struct sv part)
{
	if (!part.n)
		return;
	if (!sv_ends(str_sv(line), SV(" "))) /* the spinner's blank */
		str_adds(line, s->term->ascii ? " - " : " · ");
	str_add(line, part);
}

/* What must not be cut off comes first: the state, then what it costs, then the names. */
static void compose(const struct status *s, struct str *line)
{
	static const char *const dots[] = { "⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏" };
	static const char *const bars[] = { "|", "/", "-", "\\" };
	const char *state = status_state_name(s->state);
	long long seconds = s->elapsed_ms / MS_PER_S;
	AUTO_STR elapsed = STR_INIT;

	if (s->state == STATUS_READY || s->state == STATUS_WORDS)
		str_adds(line, s->term->ascii ? "*" : "●");
	else if (s->state == STATUS_ASKING)
		str_adds(line, "?");
	else
		str_adds(line,
			s->term->ascii ? bars[s->turn % ARRAY_LEN(bars)]
				       : dots[s->turn % ARRAY_LEN(dots)]);
	str_addc(line, ' ');
	add_part(s, line, s->tool.len ? str_sv(&s->tool) : sv_of(state));
	if (seconds >= S_PER_MIN)
		str_addf(&elapsed, "%lld:%02lld min", seconds / S_PER_MIN, seconds % S_PER_MIN);
	else if (seconds >= 1)
		str_addf(&elapsed, "%lld s", seconds);
	add_part(s, line, str_sv(&elapsed));
	add_part(s, line, str_sv(&s->typed));
	if (s->bypass)
		add_part(
			s, line, s->term->ascii ? SV("!permissions off") : SV("⚠ permissions off"));
	add_part(s, line, str_sv(&s->agent));
	add_part(s, line, str_sv(&s->conversation));
}

static void put_line(struct status *s)
{
	AUTO_STR whole = STR_INIT;
	AUTO_STR fitting = STR_INIT;
	size_t col = s->term->col;

	compose(s, &whole);
	utf8_fit(&fitting, str_sv(&whole), s->term->cols - 1);
	term_style(s->term, s->bypass ? STYLE_WARNING : STYLE_DIM);
	term_put(s->term, str_sv(&fitting));
	term_style(s->term, STYLE_PLAIN);
	s->term->col = col;
}

void status_show(struct status *s)
{
	struct term *t = s->term;

	if (!t->cursor || s->visible)
		return;
	s->visible = true;
	/* The answer's style goes on after the status line. */
	unsigned style = t->style;
	if (t->col == 0) {
		put_line(s);
		term_control(t, "\r");
	} else {
		term_control(t, make_room);
		term_control(t, save_cursor);
		term_control(t, "\r\n");
		put_line(s);
		term_control(t, restore_cursor);
	}
	term_style(t, style);
}

void status_hide(struct status *s)
{
	if (s->visible)
		term_control(s->term, erase_below);
	s->visible = false;
}

static void redraw(struct status *s)
{
	if (!s->visible)
		return;
	status_hide(s);
	status_show(s);
}

void status_tick(struct status *s, int64_t elapsed_ms)
{
	s->turn++;
	s->elapsed_ms = elapsed_ms;
	redraw(s);
}

void status_resize(struct status *s)
{
	(void)term_resize(s->term);
	redraw(s);
}
