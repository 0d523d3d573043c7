#include "base/log.h"

#include <stdarg.h>
#include <unistd.h>

#include "base/utf8.h"

static const char *const level_names[] = {
	[LOG_ERROR] = "error",
	[LOG_WARN] = "warn",
	[LOG_INFO] = "info",
	[LOG_DEBUG] = "debug",
};

bool log_level_parse(struct sv name, enum log_level *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(level_names); i++) {
		if (!sv_is(name, level_names[i]))
			continue;
		*ret = (enum log_level)i;
		return true;
	}
	return false;
}

void log_write(const struct log *log, enum log_level level, const char *fmt, ...)
{
	if (!log || log->fd < 0 || level > log->level)
		return;

	AUTO_STR text = STR_INIT;
	va_list ap;
	va_start(ap, fmt);
	str_addvf(&text, fmt, ap);
	va_end(ap);

	AUTO_STR line = STR_INIT;
	char when[CLOCK_TEXT_MAX];
	clock_format_iso(clock_wall_ms(log->clock), when);
	str_addf(&line, "%s %s ", when, level_names[level]);
	utf8_scrub_line(&line, str_sv(&text));
	str_addc(&line, '\n');
	/* A log that cannot be written must not stop the work it describes. */
	ssize_t n = write(log->fd, line.buf, line.len);
	(void)n;
}
