#include "cli/passphrase.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/utf8.h"
#include "bundle/seal.h"
#include "cli/print.h"
#include "os/file.h"
#include "os/loop.h"
#include "ui/term.h"

void passphrase_wipe(struct str *text)
{
	if (text->cap > 0)
		explicit_bzero(text->buf, text->cap);
	str_release(text);
}

/* ---- from the terminal ---- */

enum { KEY_INTERRUPT = 3, KEY_END = 4, KEY_BACK = 8, KEY_KILL = 21, KEY_DELETE = 127 };

struct asking {
	int fd;
	struct str *text;
	bool done, cancelled;
};

static void on_key(void *data, short revents)
{
	struct asking *a = data;
	char c;

	(void)revents;
	ssize_t n = read(a->fd, &c, 1);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0 || c == KEY_INTERRUPT || (c == KEY_END && a->text->len == 0)) {
		a->cancelled = a->done = true;
	} else if (c == '\r' || c == '\n' || c == KEY_END) {
		a->done = true;
	} else if (c == KEY_KILL) {
		str_clear(a->text);
	} else if (c == KEY_BACK || c == KEY_DELETE) {
		size_t len = a->text->len;
		while (len > 0 && ((unsigned char)a->text->buf[len - 1] & 0xc0) == 0x80)
			len--;
		str_cut(a->text, len > 0 ? len - 1 : 0);
	} else if (a->text->len < SEAL_PASSPHRASE_MAX) {
		str_addc(a->text, c);
	}
}

static void on_signal(void *data, int signo)
{
	struct asking *a = data;

	(void)signo;
	a->cancelled = a->done = true;
}

static int ask(int fd, const char *prompt, struct str *ret, struct err *reterr)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct asking a = { .fd = fd, .text = ret };
	struct term_mode mode = TERM_MODE_INIT;
	struct loop *loop = loop_new();
	AUTO_STR line = STR_INIT;
	int r = 0;

	utf8_scrub_line(&line, sv_of(prompt));
	(void)term_mode_save(&mode, fd);
	term_mode_raw(&mode);
	if (r >= 0)
		r = loop_add_signals(loop, signals, ARRAY_LEN(signals), on_signal, &a, reterr);
	(void)loop_add_fd(loop, fd, POLLIN, on_key, &a);
	if (r >= 0)
		r = file_write_all(fd, str_sv(&line), reterr);
	if (r >= 0)
		r = loop_run(loop, &a.done, reterr);
	term_mode_restore(&mode);
	if (r >= 0)
		r = file_write_all(fd, SV("\n"), reterr);
	loop_free(loop);
	if (r >= 0 && a.cancelled)
		r = err_set(reterr, ERR_CANCELLED, "no passphrase was given");
	return r;
}

static int ask_terminal(const char *what, bool twice, struct str *ret, struct err *reterr)
{
	AUTO_PASSPHRASE again = STR_INIT;
	AUTO_CLOSE int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	AUTO_STR prompt = STR_INIT;

	if (fd < 0)
		return err_set(reterr, ERR_USAGE,
			"there is no terminal to ask for the passphrase; --passphrase-file names a "
			"file that has it");
	/* Nothing of it is left behind where a longer one is moved to. */
	(void)str_reserve(ret, SEAL_PASSPHRASE_MAX);
	(void)str_reserve(&again, SEAL_PASSPHRASE_MAX);
	str_addf(&prompt, "Passphrase %s: ", what);
	int r = ask(fd, prompt.buf, ret, reterr);
	if (r < 0 || !twice)
		return r;
	if (ret->len > 0)
		r = ask(fd, "Once more: ", &again, reterr);
	if (r >= 0 && ret->len > 0 && !sv_eq(str_sv(ret), str_sv(&again)))
		r = err_set(reterr, ERR_USAGE, "the two passphrases differ; nothing was written");
	return r;
}

/* ---- any ---- */

int passphrase_get(struct app *app, const char *file, const char *what, bool twice, struct str *ret,
	struct err *reterr)
{
	struct stat st;
	int r;

	if (file) {
		r = file_read(file, SEAL_PASSPHRASE_MAX + 2, ret, reterr);
		char *end = memchr(ret->buf, '\n', ret->len);
		if (end)
			str_cut(ret, (size_t)(end - ret->buf));
		if (ret->len > 0 && ret->buf[ret->len - 1] == '\r')
			str_cut(ret, ret->len - 1);
		if (r >= 0 && stat(file, &st) == 0 && S_ISREG(st.st_mode) && st.st_mode & 077)
			say_note(
				app->err, "warning: others can read %s (chmod 600 keeps it)", file);
	} else {
		r = ask_terminal(what, twice, ret, reterr);
	}
	if (r >= 0 && ret->len == 0)
		r = err_set(reterr, ERR_USAGE, "the passphrase is empty");
	if (r >= 0 && ret->len > SEAL_PASSPHRASE_MAX)
		r = err_set(reterr, ERR_LIMIT, "the passphrase is longer than %d bytes",
			SEAL_PASSPHRASE_MAX);
	return r;
}
