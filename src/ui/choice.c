#include "ui/choice.h"

#include <errno.h>
#include <unistd.h>

#include "base/utf8.h"

/* One line without its newline; *ret_end when the input ended before one. Byte by byte, so that
 * what is typed ahead stays for whoever reads next. */
static int read_line(int fd, struct str *line, bool *ret_end, struct err *reterr)
{
	str_clear(line);
	for (;;) {
		char c;
		ssize_t n = read(fd, &c, 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(reterr, errno, "read the answer");
		*ret_end = n == 0;
		if (n == 0 || c == '\n')
			return 0;
		if (line->len < CHOICE_LINE_MAX)
			str_addc(line, c);
	}
}

static void show(struct term *term, const char *question, const struct choice_item *items, size_t n)
{
	size_t widest = 0;

	term_fresh_line(term);
	term_styled(term, STYLE_BOLD, sv_of(question));
	term_newline(term);
	for (size_t i = 0; i < n; i++) {
		size_t width = utf8_width(sv_of(items[i].label));
		widest = width > widest ? width : widest;
	}
	for (size_t i = 0; i < n; i++) {
		term_putf(term, "  %zu) ", i + 1);
		term_text_line(term, sv_of(items[i].label));
		if (items[i].hint) {
			size_t pad = widest - utf8_width(sv_of(items[i].label));
			term_putf(term, "%*s", (int)pad + 2, "");
			term_styled(term, STYLE_DIM, sv_of(items[i].hint));
		}
		term_newline(term);
	}
}

/* True when the answer names an item. */
static bool understand(struct sv answer, const struct choice_item *items, size_t n, int *ret_item)
{
	long long number;

	if (sv_parse_i64(answer, &number) && number >= 1 && (unsigned long long)number <= n) {
		*ret_item = (int)number - 1;
		return true;
	}
	for (size_t i = 0; i < n; i++) {
		if (sv_is(answer, items[i].label)) {
			*ret_item = (int)i;
			return true;
		}
	}
	return false;
}

int choice_ask(struct term *term, int in_fd, const char *question, const struct choice_item *items,
	size_t n, int default_item, int *ret_item, struct err *reterr)
{
	AUTO_STR line = STR_INIT;

	show(term, question, items, n);
	for (int tries = 0; tries < CHOICE_TRIES; tries++) {
		bool ended = false;
		if (default_item >= 0)
			term_putf(term, "Number [%d]: ", default_item + 1);
		else
			term_puts(term, "Number: ");
		int r = term_flush(term, reterr);
		if (r == 0)
			r = read_line(in_fd, &line, &ended, reterr);
		if (r < 0)
			return r;
		term->col = 0; /* the terminal echoed the newline */
		struct sv answer = sv_trim(str_sv(&line));
		if (ended && !answer.n) {
			term_newline(term);
			break;
		}
		if (!answer.n) {
			*ret_item = default_item;
			return 0;
		}
		if (understand(answer, items, n, ret_item))
			return 0;
		term_putf(term, "Please type a number from 1 to %zu.\n", n);
	}
	*ret_item = CHOICE_NONE;
	return term_flush(term, reterr);
}
