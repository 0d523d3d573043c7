#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A message cut in the middle of a UTF-8 sequence would show as garbage: cut before it. */
static void trim_partial_char(char *msg, size_t len)
{
	size_t i = len;

	while (i > 0 && ((unsigned char)msg[i - 1] & 0xC0) == 0x80)
		i--;
	if (i == 0 || (unsigned char)msg[i - 1] < 0xC0)
		return;
	unsigned char lead = (unsigned char)msg[i - 1];
	size_t want = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
	if (len - (i - 1) < want)
		msg[i - 1] = '\0';
}

static void set_message(struct err *reterr, const char *fmt, va_list ap) PRINTF(2, 0);
static void set_message(struct err *reterr, const char *fmt, va_list ap)
{
	int n = vsnprintf(reterr->msg, sizeof(reterr->msg), fmt, ap);

	if (n >= (int)sizeof(reterr->msg))
		trim_partial_char(reterr->msg, sizeof(reterr->msg) - 1);
	for (char *p = reterr->msg; *p; p++)
		if (*p == '\n' || *p == '\r')
			*p = ' ';
}

int err_set(struct err *reterr, int code, const char *fmt, ...)
{
	if (reterr) {
		va_list ap;
		va_start(ap, fmt);
		set_message(reterr, fmt, ap);
		va_end(ap);
		reterr->code = code;
	}
	return code;
}

int err_errno(struct err *reterr, int errnum, const char *fmt, ...)
{
	if (reterr) {
		va_list ap;
		va_start(ap, fmt);
		set_message(reterr, fmt, ap);
		va_end(ap);
		size_t len = strlen(reterr->msg);
		(void)snprintf(
			reterr->msg + len, sizeof(reterr->msg) - len, ": %s", strerror(errnum));
		reterr->code = -errnum;
	}
	return -errnum;
}

void err_prefix(struct err *reterr, const char *fmt, ...)
{
	if (!reterr)
		return;
	char old[ERR_MSG_MAX];
	memcpy(old, reterr->msg, sizeof(old));

	va_list ap;
	va_start(ap, fmt);
	set_message(reterr, fmt, ap);
	va_end(ap);
	size_t len = strlen(reterr->msg);
	int n = snprintf(reterr->msg + len, sizeof(reterr->msg) - len, ": %s", old);
	if (n >= (int)(sizeof(reterr->msg) - len))
		trim_partial_char(reterr->msg, sizeof(reterr->msg) - 1);
}

const char *err_name(int code)
{
	switch (code) {
#define X(name, number, text, status) \
	case name:                    \
		return text;
		ERR_LIST(X)
#undef X
	default:
		return "io";
	}
}

int err_exit_status(int code)
{
	switch (code) {
#define X(name, number, text, status) \
	case name:                    \
		return status;
		ERR_LIST(X)
#undef X
	default:
		return code >= 0 ? 0 : 5;
	}
}
