#include "ui/table.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"

enum { GAP = 2 };

void table_init(struct table *t, const struct table_column *columns, size_t n)
{
	*t = (struct table){ .columns = columns, .n = n, .cells = VEC_INIT };
}

void table_release(struct table *t)
{
	vec_each (&t->cells, cell)
		free(cell->text);
	vec_release(&t->cells);
}

void table_add_styled(struct table *t, struct sv text, unsigned style)
{
	struct str clean = STR_INIT;

	utf8_scrub_line(&clean, text);
	size_t width = utf8_width(str_sv(&clean));
	vec_push(&t->cells, (struct table_cell){ str_detach(&clean), width, style });
}

void table_add(struct table *t, struct sv text)
{
	table_add_styled(t, text, STYLE_PLAIN);
}

void table_addf(struct table *t, const char *fmt, ...)
{
	AUTO_STR text = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_addvf(&text, fmt, ap);
	va_end(ap);
	table_add(t, str_sv(&text));
}

void table_hide(struct table *t, size_t column)
{
	t->hidden |= UINT64_C(1) << column;
}

/* What is shown, and how wide: one a column, 0 for what is hidden. */
struct layout {
	const struct table *table;
	uint64_t hidden;
	size_t *widths;
};

static bool shown(const struct layout *l, size_t column)
{
	return !(l->hidden & UINT64_C(1) << column);
}

/* With every column that may be cut as narrow as its room allows; or as wide as it is now. */
static size_t total_width(const struct layout *l, bool cut)
{
	size_t total = 0;

	for (size_t c = 0; c < l->table->n; c++) {
		const struct table_column *column = &l->table->columns[c];
		size_t width = l->widths[c];
		if (!shown(l, c))
			continue;
		total += GAP +
			(cut && column->shrink && width > column->room ? column->room : width);
	}
	return total > GAP ? total - GAP : 0;
}

/* The column that is left out next; n when none can be spared. */
static size_t most_spare(const struct layout *l)
{
	const struct table *t = l->table;
	size_t best = t->n;

	for (size_t c = 0; c < t->n; c++)
		if (shown(l, c) && t->columns[c].spare > 0 &&
			(best == t->n || t->columns[c].spare > t->columns[best].spare))
			best = c;
	return best;
}

/* The column to cut next: the one that is furthest above its room, then, of those that may be cut,
 * the one that needs least and still is wide; n when none can give more. */
static size_t widest(const struct layout *l, bool any)
{
	const struct table *t = l->table;
	size_t best = t->n;
	long most = 0;
	bool above = false;

	for (size_t c = 0; c < t->n; c++) {
		const struct table_column *column = &t->columns[c];
		size_t width = l->widths[c];
		if (!shown(l, c) || (!any && !column->shrink) || width <= TABLE_SHRINK_MIN)
			continue;
		bool roomy = width > column->room;
		long give = (long)width - (long)column->room * (roomy ? 1 : 2);
		if (best != t->n && (above > roomy || (above == roomy && give <= most)))
			continue;
		best = c;
		most = give;
		above = roomy;
	}
	return best;
}

static void fit(struct layout *l, size_t cols)
{
	size_t c;

	while (total_width(l, true) > cols && (c = most_spare(l)) < l->table->n)
		l->hidden |= UINT64_C(1) << c;
	for (size_t total = total_width(l, false); total > cols; total--) {
		/* Shrinkable columns give first; when that is not enough, the others do. */
		c = widest(l, false);
		if (c == l->table->n)
			c = widest(l, true);
		if (c == l->table->n)
			break;
		l->widths[c]--;
	}
}

/* As utf8_fit(), but what is cut is the beginning. */
static void fit_tail(struct str *out, struct sv text, size_t width)
{
	if (utf8_width(text) > width) {
		str_adds(out, "…");
		width -= width > 0;
	}
	while (utf8_width(text) > width) {
		size_t ignored;
		text = sv_from(text, utf8_cluster(text, &ignored));
	}
	str_add(out, text);
}

/* `owed` collects the blanks that are written only when something follows them. */
static void put_cell(struct term *term, const struct table_column *column, struct sv text,
	unsigned style, size_t width, size_t *owed)
{
	AUTO_STR cut = STR_INIT;
	bool right = column->right;

	(column->tail ? fit_tail : utf8_fit)(&cut, text, width);
	size_t taken = utf8_width(str_sv(&cut));
	size_t pad = taken < width ? width - taken : 0;
	if (!cut.len) {
		*owed += width + GAP;
		return;
	}
	for (size_t blanks = *owed + (right ? pad : 0); blanks > 0; blanks--)
		term_put(term, SV(" "));
	term_style(term, style);
	term_put(term, str_sv(&cut));
	term_style(term, STYLE_PLAIN);
	*owed = GAP + (right ? 0 : pad);
}

void table_print(const struct table *t, struct term *term)
{
	const size_t columns = t->n;
	const size_t cells = t->cells.n / columns * columns; /* of whole rows */
	size_t owed = 0;

	for (size_t i = 0; !term->tty && i < cells; i++) {
		term_puts(term, t->cells.v[i].text);
		term_puts(term, i % columns + 1 < columns ? "\t" : "\n");
	}
	if (!term->tty || cells == 0)
		return;

	AUTO_FREE size_t *widths = xcalloc(columns, sizeof(*widths));
	struct layout l = { .table = t, .hidden = t->hidden, .widths = widths };
	for (size_t c = 0; c < columns; c++)
		widths[c] = utf8_width(sv_of(t->columns[c].title));
	for (size_t i = 0; i < t->cells.n; i++)
		if (t->cells.v[i].width > widths[i % columns])
			widths[i % columns] = t->cells.v[i].width;
	fit(&l, term->cols);

	for (size_t c = 0; c < columns; c++)
		if (shown(&l, c))
			put_cell(term, &t->columns[c], sv_of(t->columns[c].title), STYLE_BOLD,
				widths[c], &owed);
	term_newline(term);
	for (size_t i = 0; i < cells; i++) {
		size_t c = i % columns;
		if (c == 0)
			owed = 0;
		if (shown(&l, c))
			put_cell(term, &t->columns[c], sv_of(t->cells.v[i].text),
				t->cells.v[i].style, widths[c], &owed);
		if (c + 1 == columns)
			term_newline(term);
	}
}
