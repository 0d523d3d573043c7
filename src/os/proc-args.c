/* The arguments and the environment that processes were started with. */
#include <dirent.h>
#include <stdio.h>

#include "os/file.h"
#include "os/proc.h"

enum { WORDS_MAX = 256 * 1024 };

static bool read_words(pid_t pid, const char *file, struct str *out)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, file);
	return pid > 0 && file_read(path, WORDS_MAX, out, NULL) == 0 && out->len > 0;
}

bool proc_arguments(pid_t pid, struct str *out)
{
	return read_words(pid, "cmdline", out);
}

int proc_variable(pid_t pid, const char *name, struct str *out)
{
	AUTO_STR all = STR_INIT;
	struct sv word, key = sv_of(name);

	if (!read_words(pid, "environ", &all))
		return -1;
	struct sv rest = str_sv(&all);
	while (sv_split(&rest, '\0', &word))
		if (sv_starts(word, key) && word.n > key.n && word.p[key.n] == '=') {
			str_add(out, sv_from(word, key.n + 1));
			return 1;
		}
	return 0;
}

pid_t proc_find(bool (*fn)(void *data, pid_t pid, struct sv arguments), void *data)
{
	DIR *dir = opendir("/proc");
	AUTO_STR arguments = STR_INIT;
	const struct dirent *entry;
	long long pid;
	pid_t found = 0;

	while (dir && !found && (entry = readdir(dir)))
		if (sv_parse_i64(sv_of(entry->d_name), &pid) &&
			proc_arguments((pid_t)pid, &arguments) &&
			fn(data, (pid_t)pid, str_sv(&arguments)))
			found = (pid_t)pid;
	if (dir)
		(void)closedir(dir);
	return found;
}
