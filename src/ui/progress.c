#include "ui/progress.h"

#include "base/utf8.h"
#include "ui/format.h"

static const char erase_line[] = "\r\033[K";

void progress_init(struct progress *p, struct term *term, struct sv label, enum progress_unit unit,
	int64_t now_ms)
{
	*p = (struct progress){ .term = term, .label = STR_INIT, .unit = unit, .start_ms = now_ms };
	str_add(&p->label, label);
}

static void add_amount(const struct progress *p, struct str *line, uint64_t amount)
{
	char text[SIZE_TEXT_MAX];

	switch (p->unit) {
	case PROGRESS_ITEMS:
		size_format_count(amount > INT64_MAX ? INT64_MAX : (int64_t)amount, text);
		break;
	case PROGRESS_SECONDS:
		(void)snprintf(text, sizeof(text), "%llu s", (unsigned long long)amount);
		break;
	case PROGRESS_BYTES:
		size_format(amount, text);
		break;
	}
	str_adds(line, text);
}

/* A progress line that cannot be written is no reason to stop the work. */
static void flush(struct progress *p)
{
	(void)!term_flush(p->term, NULL);
}

void progress_update(struct progress *p, uint64_t done, uint64_t total, int64_t now_ms)
{
	AUTO_STR line = STR_INIT;
	AUTO_STR fitting = STR_INIT;

	if (!p->term->cursor || now_ms - p->start_ms < PROGRESS_DELAY_MS ||
		(p->drawn && now_ms - p->drawn_ms < PROGRESS_EVERY_MS))
		return;
	str_add(&line, str_sv(&p->label));
	str_adds(&line, ": ");
	add_amount(p, &line, done);
	if (total) {
		double percent = done >= total ? 100.0 : (double)done * 100.0 / (double)total;
		str_adds(&line, " of ");
		add_amount(p, &line, total);
		str_addf(&line, " (%d%%)", (int)percent);
	}
	utf8_fit(&fitting, str_sv(&line), p->term->cols - 1);
	term_control(p->term, erase_line);
	p->term->col = 0;
	term_put(p->term, str_sv(&fitting));
	p->drawn = true;
	p->drawn_ms = now_ms;
	flush(p);
}

void progress_release(struct progress *p)
{
	if (p->drawn) {
		term_control(p->term, erase_line);
		p->term->col = 0;
		flush(p);
	}
	p->drawn = false;
	str_release(&p->label);
}
