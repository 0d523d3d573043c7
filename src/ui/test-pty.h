/*
 * A terminal for tests: what the program sees is `slave`, what the user does is `master`.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/str.h"

struct test_pty {
	int master, slave;
};

static inline void test_pty_open(struct test_pty *p)
{
	const struct winsize size = { .ws_row = 24, .ws_col = 40 };
	char name[64];

	p->master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(p->master >= 0);
	assert_int_equal(grantpt(p->master), 0);
	assert_int_equal(unlockpt(p->master), 0);
	assert_int_equal(ptsname_r(p->master, name, sizeof(name)), 0);
	p->slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(p->slave >= 0);
	assert_int_equal(ioctl(p->slave, TIOCSWINSZ, &size), 0);
}

static inline void test_pty_close(struct test_pty *p)
{
	(void)close(p->slave);
	(void)close(p->master);
}

/* What has arrived on the screen so far. */
static inline void test_pty_drain(const struct test_pty *p, struct str *out)
{
	struct pollfd ready = { .fd = p->master, .events = POLLIN };
	char buf[4096];

	while (poll(&ready, 1, 50) > 0 && (ready.revents & POLLIN)) {
		ssize_t n = read(p->master, buf, sizeof(buf));
		if (n <= 0)
			break;
		str_add(out, sv_make(buf, (size_t)n));
	}
}
