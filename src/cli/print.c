#include "cli/print.h"

#include <stdarg.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cli/env.h"
#include "config/settings.h"
#include "view/json.h"
#include "json/write.h"

/* ---- to a stream ---- */

void say_text(FILE *to, struct sv text)
{
	AUTO_STR clean = STR_INIT;

	utf8_scrub(&clean, text);
	say_bytes(to, str_sv(&clean));
}

static void put_line(FILE *to, const char *before, const char *fmt, va_list ap) PRINTF(3, 0);
static void put_line(FILE *to, const char *before, const char *fmt, va_list ap)
{
	AUTO_STR text = STR_INIT;
	AUTO_STR line = STR_INIT;

	str_addvf(&text, fmt, ap);
	utf8_scrub_line(&line, str_sv(&text));
	(void)fprintf(to, "%s%s\n", before, line.buf);
}

void say_line(FILE *to, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_line(to, "", fmt, ap);
	va_end(ap);
}

void say_note(FILE *to, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_line(to, "faden: ", fmt, ap);
	va_end(ap);
}

void say_waiting(FILE *to, const char *whom)
{
	say_note(to, "waiting for %s", whom);
	(void)fflush(to);
}

void say_json(FILE *to, struct sv json)
{
	AUTO_STR clean = STR_INIT;

	utf8_scrub_json(&clean, json);
	say_bytes(to, str_sv(&clean));
}

void say_bytes(FILE *to, struct sv bytes)
{
	if (bytes.n > 0)
		(void)fwrite(bytes.p, 1, bytes.n, to);
}

/* ---- results ---- */

/* Whether all could be written is looked at once, at the end of the program. */
static int write_out(void *data, struct sv bytes, struct err *reterr)
{
	const struct app *app = data;

	(void)reterr;
	say_bytes(app->out, bytes);
	return 0;
}

void print_begin(struct app *app, struct term *t)
{
	struct term_opts screen = app_screen(app, STDOUT_FILENO);

	screen.ascii = !env_use_locale();
	term_init(t, &screen);
	t->tty = app->out_tty;
	t->fd = -1;
	t->sink = (struct term_sink){ write_out, app };
}

void print_flush(struct term *t)
{
	if (term_flush(t, NULL) < 0)
		t->broken = true;
}

void print_end(struct term *t)
{
	print_flush(t);
	term_release(t);
}

void print_doc(struct app *app, const struct str *json)
{
	say_json(app->out, str_sv(json));
	(void)fputc('\n', app->out);
}

void print_failure(FILE *to, const struct err *err, const struct catalogue_matches *candidates)
{
	AUTO_STR json = STR_INIT;
	struct jw w = JW_INIT(&json);

	view_json_failure(&w, err, candidates);
	say_json(to, str_sv(&json));
	(void)fputc('\n', to);
}

/* ---- the pager ---- */

void app_pager_begin(struct app *app)
{
	struct pager_opts opts = {
		.command = env_pager(),
		.path = env_get("PATH"),
		.envp = env_all(),
		.out_fd = fileno(app->out),
		.term_name = env_get("TERM"),
		.stays = app->pager_stays,
	};
	int fd;

	if (!app->out_tty || (app->settings && !app->settings->ui_pager))
		return;
	(void)fflush(app->out);
	if (!pager_open(&app->pager, &opts, &fd))
		return;
	FILE *to_pager = fdopen(fd, "w");
	if (to_pager) {
		app->out = to_pager;
		return;
	}
	(void)close(fd);
	pager_close(&app->pager);
}

void app_pager_end(struct app *app)
{
	if (!app->pager.running)
		return;
	/* A pager that was left early does not want the rest: no error. */
	(void)fclose(app->out);
	app->out = stdout;
	pager_close(&app->pager);
}

/* ---- sentences ---- */

size_t prose_width(FILE *out)
{
	const struct term_opts screen = { .fd = fileno(out) };
	struct term t;

	if (screen.fd < 0)
		return 0;
	term_init(&t, &screen);
	size_t width = !t.tty ? 0 : t.cols > PROSE_LEAST ? t.cols : PROSE_LEAST;
	term_release(&t);
	return width;
}

static void pad(FILE *out, size_t n)
{
	while (n--)
		(void)fputc(' ', out);
}

void prose_wrap(FILE *out, size_t width, struct sv text, size_t column, size_t indent)
{
	struct sv word;
	bool first = true;

	while (sv_split(&text, ' ', &word)) {
		size_t wide = utf8_width(word);
		if (!first && column + 1 + wide > width) {
			(void)fputc('\n', out);
			pad(out, indent);
			column = indent;
			first = true;
		}
		if (!first) {
			(void)fputc(' ', out);
			column++;
		}
		(void)fprintf(out, "%.*s", SV_ARG(word));
		column += wide;
		first = false;
	}
	(void)fputc('\n', out);
}

/* Where a command begins that ends the text and is there to be pasted: a line break in it would run
 * half of it. The length of the text when there is none. */
static size_t find_command(struct sv text)
{
	static const char *const begins[] = { ": faden ", ": cp " };
	size_t first = text.n;

	for (size_t i = 0; i < ARRAY_LEN(begins); i++) {
		size_t at;
		if (sv_find(text, sv_of(begins[i]), &at) && at + 1 < first)
			first = at + 1;
	}
	return first;
}

void prose_put(FILE *out, size_t indent, const char *text)
{
	size_t width = prose_width(out), blanks = 0;

	if (width == 0) {
		(void)fprintf(out, "%s\n", text);
		return;
	}
	while (text[blanks] == ' ')
		blanks++;
	pad(out, blanks);
	struct sv rest = sv_of(text + blanks);
	size_t command = blanks + utf8_width(rest) > width ? find_command(rest) : rest.n;
	prose_wrap(out, width, sv_head(rest, command), blanks, indent);
	if (command < rest.n)
		(void)fprintf(out, " %s\n", rest.p + command);
}
