#include "agent/orphan.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "base/str.h"
#include "os/file.h"

enum {
	ENVIRON_MAX = 4 * 1024 * 1024, /* the kernel allows less on common systems */
	ROUNDS = 8, /* what forks away while we look is found in the next round */
};

static bool has_pair(struct sv environment, struct sv pair)
{
	struct sv item;

	while (sv_split(&environment, '\0', &item))
		if (sv_eq(item, pair))
			return true;
	return false;
}

static bool is_marked(pid_t pid, struct sv pair)
{
	char path[64];
	AUTO_STR text = STR_INIT;

	(void)snprintf(path, sizeof(path), "/proc/%ld/environ", (long)pid);
	return file_read(path, ENVIRON_MAX, &text, NULL) == 0 && has_pair(str_sv(&text), pair);
}

/* The descriptor is opened before the second look, so the number cannot be another's by then. */
static bool kill_marked(pid_t pid, struct sv pair)
{
	if (pid == getpid() || !is_marked(pid, pair))
		return false;
	AUTO_CLOSE int fd = pidfd_open(pid, 0);
	return fd >= 0 && is_marked(pid, pair) && pidfd_send_signal(fd, SIGKILL, NULL, 0) == 0;
}

static size_t kill_round(struct sv pair)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	long long pid;
	size_t n = 0;

	while (dir && (entry = readdir(dir)))
		if (sv_parse_i64(sv_of(entry->d_name), &pid) && kill_marked((pid_t)pid, pair))
			n++;
	if (dir)
		(void)closedir(dir);
	return n;
}

size_t orphan_kill(const char *name, const char *value)
{
	AUTO_STR pair = STR_INIT;
	size_t total = 0, n;
	int rounds = 0;

	str_addf(&pair, "%s=%s", name, value);
	do {
		n = kill_round(str_sv(&pair));
		total += n;
	} while (n > 0 && ++rounds < ROUNDS);
	return total;
}
