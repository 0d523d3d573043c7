/* What /proc tells: who lives, since when, whose child it is, and with which words it was started.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/utf8.h"
#include "base/vec.h"
#include "os/file.h"
#include "os/proc.h"

enum {
	STAT_MAX = 4096, /* /proc/PID/stat is one line of numbers and a name of 64 bytes */
	STAT_FIELD_START = 22, /* counted from 1, as in proc(5) */
	STAT_FIELD_STATE = 3,
	STAT_FIELD_FLAGS = 9,
	STAT_FIELD_PENDING = 31, /* signals */
	EXITING = 0x4, /* of the flags: PF_EXITING */
	/* A tree that forks while we look is stopped first and looked at again. */
	STOP_ROUNDS = 8,
};

struct proc_stat {
	pid_t pid;
	char state;
	pid_t parent;
	pid_t group;
	uint64_t start;
	bool dying;
};

/* ---- /proc/PID/stat ---- */

/* The name may hold blanks and brackets: the fields begin behind the last ')'. */
static bool parse_stat(struct sv line, struct proc_stat *st)
{
	const char *close = line.n ? memrchr(line.p, ')', line.n) : NULL;

	if (!close)
		return false;
	struct sv rest = sv_trim(sv_from(line, (size_t)(close - line.p) + 1)), piece;
	int field = STAT_FIELD_STATE;
	for (; field <= STAT_FIELD_PENDING && sv_split(&rest, ' ', &piece); field++) {
		long long value = 0;
		(void)sv_parse_i64(piece, &value);
		if (field == STAT_FIELD_STATE)
			st->state = piece.n > 0 ? piece.p[0] : '?';
		else if (field == STAT_FIELD_STATE + 1)
			st->parent = (pid_t)value;
		else if (field == STAT_FIELD_STATE + 2)
			st->group = (pid_t)value;
		else if (field == STAT_FIELD_START)
			st->start = (uint64_t)value;
		else if (field == STAT_FIELD_FLAGS)
			st->dying |= (value & EXITING) != 0;
		else if (field == STAT_FIELD_PENDING)
			st->dying |= (value >> (SIGKILL - 1) & 1) != 0;
	}
	return field > STAT_FIELD_START;
}

static bool read_stat(pid_t pid, struct proc_stat *st)
{
	char path[64];
	AUTO_STR text = STR_INIT;

	*st = (struct proc_stat){ .pid = pid };
	(void)snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	return pid > 0 && file_read(path, STAT_MAX, &text, NULL) == 0 &&
		parse_stat(str_sv(&text), st);
}

/* A zombie holds no file, no lock and no memory: for every purpose here it is gone. So is one that
 * has been killed and only has not had a processor since: it does nothing of its own any more. */
static bool is_living(const struct proc_stat *st)
{
	return !st->dying && st->state != 'Z' && st->state != 'X' && st->state != 'x';
}

/* ---- trees ---- */

static bool has_pid(const pid_t *pids, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

/*
 * Grows the set until nobody new is found. Members of the group count as well: a process whose
 * parent has ended hangs below init, but it is still in the group, and its children below it.
 */
void proc_descendants(pid_t pid, pid_t **ret_pids, size_t *ret_n)
{
	VEC(pid_t) found = VEC_INIT;
	VEC(struct proc_stat) all = VEC_INIT;
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	struct proc_stat one;
	long long number;
	size_t before;

	while (dir && (entry = readdir(dir)))
		if (sv_parse_i64(sv_of(entry->d_name), &number) && read_stat((pid_t)number, &one))
			vec_push(&all, one);
	if (dir)
		(void)closedir(dir);
	do {
		before = found.n;
		vec_each (&all, st) {
			if (st->pid == pid || !is_living(st) || has_pid(found.v, found.n, st->pid))
				continue;
			if (st->parent == pid || st->group == pid ||
				has_pid(found.v, found.n, st->parent))
				vec_push(&found, st->pid);
		}
	} while (found.n > before);
	vec_release(&all);
	*ret_pids = found.v;
	*ret_n = found.n;
}

static void signal_all(const pid_t *pids, size_t n, int sig)
{
	for (size_t i = 0; i < n; i++)
		(void)kill(pids[i], sig);
}

void proc_kill_tree(const struct proc *p)
{
	pid_t *pids = NULL;
	size_t n = 0, before;

	if (p->pid <= 0)
		return;
	/* Stopped processes cannot fork away from us between looking and killing. */
	proc_signal(p, SIGSTOP);
	for (int i = 0; i < STOP_ROUNDS; i++) {
		before = n;
		free(pids);
		proc_descendants(p->pid, &pids, &n);
		signal_all(pids, n, SIGSTOP);
		if (n == before)
			break;
	}
	signal_all(pids, n, SIGKILL);
	proc_signal(p, SIGKILL);
	free(pids);
}

/* ---- identity ---- */

uint64_t proc_start_time(pid_t pid)
{
	struct proc_stat st;

	return read_stat(pid, &st) && is_living(&st) ? st.start : 0;
}

void proc_boot(char ret[static PROC_BOOT_MAX])
{
	AUTO_STR boot = STR_INIT;

	ret[0] = '\0';
	if (file_read("/proc/sys/kernel/random/boot_id", STAT_MAX, &boot, NULL) == 0)
		(void)snprintf(ret, PROC_BOOT_MAX, "%.*s", SV_ARG(sv_trim(str_sv(&boot))));
}

int proc_id_self(struct proc_id *ret, struct err *reterr)
{
	struct proc_id id = { .pid = getpid() };

	if (gethostname(id.host, sizeof(id.host)) < 0)
		return err_errno(reterr, errno, "the name of this machine");
	id.host[sizeof(id.host) - 1] = '\0';
	id.start = proc_start_time(id.pid);
	proc_boot(id.boot);
	*ret = id;
	return 0;
}

void proc_id_session(struct proc_id *ret)
{
	*ret = (struct proc_id){ .pid = 0 };
	if (proc_id_self(ret, NULL) == 0)
		ret->pid = getsid(0) > 0 ? getsid(0) : 0;
	ret->start = proc_start_time(ret->pid);
}

enum proc_alive proc_id_check(const struct proc_id *id)
{
	struct proc_id self = { .pid = 0 };

	if (proc_id_self(&self, NULL) < 0 || strcmp(id->host, self.host) != 0)
		return PROC_ELSEWHERE;
	if (id->boot[0] && self.boot[0] && strcmp(id->boot, self.boot) != 0)
		return PROC_GONE;
	/* Without a start time (no /proc when it was taken) the number alone has to do. */
	if (id->start == 0 || self.start == 0)
		return id->pid > 0 && (kill(id->pid, 0) == 0 || errno == EPERM) ? PROC_ALIVE
										: PROC_GONE;
	return proc_start_time(id->pid) == id->start ? PROC_ALIVE : PROC_GONE;
}

/* ---- the words that processes were started with ---- */

static bool read_words(pid_t pid, const char *file, struct str *out)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, file);
	return pid > 0 && file_read(path, PROC_WORDS_MAX, out, NULL) == 0 && out->len > 0;
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

/* ---- the files that they have open ---- */

static bool has_open_for_writing(pid_t pid, const struct stat *file)
{
	char path[64];
	const struct dirent *entry;
	struct stat st;
	bool found = false;

	(void)snprintf(path, sizeof(path), "/proc/%ld/fd", (long)pid);
	DIR *dir = opendir(path);
	while (dir && !found && (entry = readdir(dir)))
		/* The mode of the link itself tells for what it was opened. */
		found = fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 &&
			st.st_ino == file->st_ino && st.st_dev == file->st_dev &&
			fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			(st.st_mode & S_IWUSR) != 0;
	if (dir)
		(void)closedir(dir);
	return found;
}

pid_t proc_writer_of(const struct stat *file, struct str *out)
{
	DIR *dir = opendir("/proc");
	AUTO_STR name = STR_INIT;
	const struct dirent *entry;
	long long pid;
	pid_t found = 0;

	while (dir && !found && (entry = readdir(dir)))
		if (sv_parse_i64(sv_of(entry->d_name), &pid) && pid != getpid() &&
			has_open_for_writing((pid_t)pid, file))
			found = (pid_t)pid;
	if (dir)
		(void)closedir(dir);
	if (!found || !out)
		return found;
	if (read_words(found, "comm", &name) && sv_trim(str_sv(&name)).n > 0)
		utf8_scrub_line(out, sv_trim(str_sv(&name)));
	else
		str_adds(out, "a program");
	str_addf(out, " (process %ld)", (long)found);
	return found;
}
