#include "ui/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sodium.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

/* The other screen, pastes marked as such, and lines that end where the screen does, whatever the
 * terminal takes a character's width to be. */
static const char enter_text[] = "\033[?1049h\033[?2004h\033[?7l\033[2J\033[H";
static const char leave_text[] = "\033[?7h\033[?2004l\033[?25h\033[m\033[?1049l";
/* Terminals that know this show all of it at once; others pass over it. */
static const char begin_text[] = "\033[?2026h\033[?25l";
static const char end_text[] = "\033[?25h\033[?2026l";

void screen_init(struct screen *s, struct term *term, int in_fd)
{
	*s = (struct screen){ .term = term,
		.in_fd = in_fd,
		.out_fd = -1,
		.mode = TERM_MODE_INIT,
		.life = -1,
		.lines = VEC_INIT,
		.out = STR_INIT };
}

/* ---- the guard ---- */

/*
 * The child. It has its own group, so that a signal to ours does not reach it, and holds nothing
 * of ours open but the terminal and its end of the pipe. Only what a signal handler may call is
 * called here: we may have threads. The mode is put back if it is still ours: a shell that heard of
 * our end may have been faster.
 */
/* A shell that was told of our death first has its prompt on the screen that is gone now. It writes
 * it again when the window changes, and only then: so it loses a line for a moment. */
static void wake_shell(void)
{
	enum { MOMENT_MS = 30 };
	struct winsize size, smaller, now;

	if (ioctl(0, TIOCGWINSZ, &size) < 0 || size.ws_row < 2)
		return;
	smaller = size;
	smaller.ws_row--;
	if (ioctl(0, TIOCSWINSZ, &smaller) < 0)
		return;
	(void)poll(NULL, 0, MOMENT_MS);
	/* Unless it has really changed meanwhile. */
	if (ioctl(0, TIOCGWINSZ, &now) == 0 && now.ws_row == smaller.ws_row &&
		now.ws_col == smaller.ws_col)
		(void)ioctl(0, TIOCSWINSZ, &size);
}

static NORETURN void stand_guard(const struct screen *s, int life)
{
	int fds[] = { s->in_fd, s->term->fd, life };
	struct termios ours, now;
	sigset_t all;
	char byte;

	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	(void)setpgid(0, 0);
	(void)prctl(PR_SET_NAME, "faden-guard");
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		fds[i] = fcntl(fds[i], F_DUPFD, ARRAY_LEN(fds));
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		(void)dup2(fds[i], (int)i);
	(void)close_range(ARRAY_LEN(fds), ~0U, 0);
	(void)!read(2, &byte, 1); /* the end, when nobody can write any more */
	(void)!write(1, leave_text, sizeof(leave_text) - 1);
	term_mode_make_raw(&s->mode, &ours);
	if (tcgetattr(0, &now) == 0 && now.c_lflag == ours.c_lflag && now.c_iflag == ours.c_iflag)
		(void)tcsetattr(0, TCSANOW, &s->mode.original);
	wake_shell();
	_exit(0);
}

/* Without it, which only a system without room for a process refuses, a kill leaves the terminal as
 * it would have anyway. */
static void post_guard(struct screen *s)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	s->guard = fork();
	if (s->guard == 0) {
		(void)close(ends[1]);
		stand_guard(s, ends[0]);
	}
	(void)close(ends[0]);
	s->life = ends[1];
}

static void dismiss_guard(struct screen *s)
{
	if (s->guard > 0) {
		(void)kill(s->guard, SIGKILL);
		while (waitpid(s->guard, NULL, 0) < 0 && errno == EINTR) {
		}
	}
	if (s->life >= 0)
		(void)close(s->life);
	s->guard = 0;
	s->life = -1;
}

/* ---- output ---- */

/* The descriptor that we were given is shared with others, who do not expect writes to fail. */
static int open_again(int fd)
{
	AUTO_FREE char *path = xasprintf("/proc/self/fd/%d", fd);

	return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* Until it takes more. A loop that gets the signals has them blocked and would hear of them when
 * this is over, which may be never: they do here what they would without it. */
static void wait_until_taken(const struct screen *s)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct pollfd out = { .fd = s->out_fd, .events = POLLOUT };
	sigset_t mask;

	(void)pthread_sigmask(SIG_SETMASK, NULL, &mask);
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		(void)sigdelset(&mask, ends[i]);
	(void)ppoll(&out, 1, NULL, &mask);
}

static int flush(struct screen *s, struct err *reterr)
{
	struct sv rest = str_sv(&s->term->buf);

	if (s->out_fd < 0)
		return term_flush(s->term, reterr);
	while (rest.n > 0) {
		ssize_t n = write(s->out_fd, rest.p, rest.n);
		if (n >= 0)
			rest = sv_from(rest, (size_t)n);
		else if (errno == EAGAIN)
			wait_until_taken(s);
		else if (errno != EINTR)
			break;
	}
	int errnum = errno;
	str_clear(&s->term->buf);
	return rest.n > 0 ? err_errno(reterr, errnum, "write to the terminal") : 0;
}

/* ---- on and off ---- */

int screen_enter(struct screen *s, struct err *reterr)
{
	if (tcgetpgrp(s->in_fd) != getpgrp() || !term_mode_save(&s->mode, s->in_fd))
		return err_set(reterr, ERR_USAGE, "the terminal is not ours");
	post_guard(s);
	s->out_fd = open_again(s->term->fd);
	term_mode_raw(&s->mode);
	(void)term_resize(s->term);
	s->on = true;
	screen_forget(s);
	term_control(s->term, enter_text);
	return flush(s, reterr);
}

void screen_leave(struct screen *s)
{
	if (!s->on)
		return;
	s->on = false;
	term_control(s->term, leave_text);
	(void)!flush(s, NULL); /* a terminal that is gone needs nothing */
	term_mode_restore(&s->mode);
	dismiss_guard(s);
	if (s->out_fd >= 0)
		(void)close(s->out_fd);
	s->out_fd = -1;
}

void screen_release(struct screen *s)
{
	screen_leave(s);
	vec_each (&s->lines, line)
		str_release(line);
	vec_release(&s->lines);
	str_release(&s->out);
}

/* ---- lines ---- */

void screen_forget(struct screen *s)
{
	vec_each (&s->lines, line)
		str_release(line);
	s->lines.n = 0;
	str_clear(&s->out);
	if (s->on)
		str_adds(&s->out, "\033[2J");
}

void screen_line(struct screen *s, size_t row, struct sv line)
{
	while (s->lines.n <= row)
		vec_push(&s->lines, (struct str)STR_INIT);
	struct str *old = &s->lines.v[row];
	if (sv_eq(str_sv(old), line))
		return;
	str_clear(old);
	str_add(old, line);
	str_addf(&s->out, "\033[%zu;1H\033[m\033[K", row + 1);
	str_add(&s->out, line);
}

void screen_clip(struct screen *s, struct sv text)
{
	size_t n = sodium_base64_encoded_len(text.n, sodium_base64_VARIANT_ORIGINAL);
	AUTO_FREE char *coded = xmalloc(n);

	(void)sodium_bin2base64(
		coded, n, (const unsigned char *)text.p, text.n, sodium_base64_VARIANT_ORIGINAL);
	str_addf(&s->out, "\033]52;c;%s\a", coded);
}

int screen_show(struct screen *s, size_t cursor_row, size_t cursor_col, struct err *reterr)
{
	if (!s->out.len && cursor_row == s->cursor_row && cursor_col == s->cursor_col)
		return 0;
	s->cursor_row = cursor_row;
	s->cursor_col = cursor_col;
	str_addf(&s->out, "\033[m\033[%zu;%zuH", cursor_row + 1, cursor_col + 1);
	term_control(s->term, begin_text);
	term_control(s->term, s->out.buf);
	term_control(s->term, end_text);
	str_clear(&s->out);
	return flush(s, reterr);
}
