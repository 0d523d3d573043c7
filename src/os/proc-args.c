/* The words that processes were started with. */
#include <dirent.h>
#include <stdio.h>

#include "os/file.h"
#include "os/proc.h"

enum { ARGUMENTS_MAX = 256 * 1024 };

bool proc_arguments(pid_t pid, struct str *out)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%ld/cmdline", (long)pid);
	return pid > 0 && file_read(path, ARGUMENTS_MAX, out, NULL) == 0 && out->len > 0;
}

pid_t proc_find(bool (*fn)(void *data, struct sv arguments), void *data)
{
	DIR *dir = opendir("/proc");
	AUTO_STR arguments = STR_INIT;
	const struct dirent *entry;
	long long pid;
	pid_t found = 0;

	while (dir && !found && (entry = readdir(dir)))
		if (sv_parse_i64(sv_of(entry->d_name), &pid) &&
			proc_arguments((pid_t)pid, &arguments) && fn(data, str_sv(&arguments)))
			found = (pid_t)pid;
	if (dir)
		(void)closedir(dir);
	return found;
}
