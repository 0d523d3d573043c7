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
	STAT_FIELD_STATE = 3, /* counted from 1, as in proc(5) */
	STAT_FIELD_FLAGS = 9,
	STAT_FIELD_USER = 14, /* time on processors */
	STAT_FIELD_SYSTEM = 15,
	STAT_FIELD_START = 22,
	STAT_FIELD_PENDING = 31, /* signals */
	EXITING = 0x4, /* of the flags: PF_EXITING */
	LOCKS_MAX = 4 * 1024 * 1024, /* of the whole machine */
	/* A tree that forks while we look is stopped first and looked at again. */
	STOP_ROUNDS = 8,
};

struct proc_stat {
	pid_t pid;
	char state;
	pid_t parent;
	pid_t group;
	uint64_t ticks;
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
		else if (field == STAT_FIELD_USER || field == STAT_FIELD_SYSTEM)
			st->ticks += (uint64_t)value;
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

void proc_command(pid_t pid, struct str *out)
{
	enum { COMMAND_MAX = 16 };
	AUTO_STR words = STR_INIT;
	struct sv word = SV("");

	if (!proc_arguments(pid, &words))
		return;
	struct sv rest = str_sv(&words);
	(void)sv_split(&rest, '\0', &word); /* its name */
	if (!sv_split(&rest, '\0', &word) || word.n >= COMMAND_MAX || sv_starts(word, SV("-")))
		return;
	for (size_t i = 0; i < word.n; i++)
		if (word.p[i] != '-' && (word.p[i] < 'a' || word.p[i] > 'z'))
			return;
	str_add(out, word);
}

void proc_describe(pid_t pid, struct str *out)
{
	AUTO_STR name = STR_INIT;
	AUTO_STR command = STR_INIT;
	struct sv comm = SV("");

	if (read_words(pid, "comm", &name))
		comm = sv_trim(str_sv(&name));
	if (comm.n > 0)
		utf8_scrub_line(out, comm);
	else
		str_adds(out, "a program");
	if (sv_is(comm, "faden"))
		proc_command(pid, &command);
	str_addf(out, "%s%s (process %ld)", command.len ? " " : "", command.buf, (long)pid);
}

/* ---- the files that they have open ---- */

static bool has_open(pid_t pid, const struct stat *file, bool for_writing)
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
			(!for_writing ||
				(fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) ==
						0 &&
					(st.st_mode & S_IWUSR) != 0));
	if (dir)
		(void)closedir(dir);
	return found;
}

pid_t proc_writer_of(const struct stat *file, struct str *out)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	long long pid;
	pid_t found = 0;

	while (dir && !found && (entry = readdir(dir)))
		if (sv_parse_i64(sv_of(entry->d_name), &pid) && pid != getpid() &&
			has_open((pid_t)pid, file, true))
			found = (pid_t)pid;
	if (dir)
		(void)closedir(dir);
	if (found && out)
		proc_describe(found, out);
	return found;
}

/* ---- the locks that they hold ---- */

bool proc_work(pid_t pid, uint64_t *ret_ticks, bool *ret_stopped)
{
	struct proc_stat st;

	if (!read_stat(pid, &st) || !is_living(&st))
		return false;
	*ret_ticks = st.ticks;
	*ret_stopped = st.state == 'T' || st.state == 't';
	return true;
}

/* "7: FLOCK  ADVISORY  WRITE 123 08:01:456 0 EOF"; who only waits for it has a "->" behind the
 * number. */
static bool parse_lock(struct sv line, pid_t *ret_pid, long long *ret_inode)
{
	struct sv word, words[6];
	size_t n = 0;
	long long pid;

	while (n < ARRAY_LEN(words) && sv_split(&line, ' ', &word))
		if (word.n > 0)
			words[n++] = word;
	if (n < ARRAY_LEN(words) || !sv_is(words[1], "FLOCK") || !sv_parse_i64(words[4], &pid))
		return false;
	*ret_pid = (pid_t)pid;
	(void)sv_split(&words[5], ':', &word);
	(void)sv_split(&words[5], ':', &word);
	return sv_parse_i64(words[5], ret_inode);
}

/* The device in the list is not always that of stat() (btrfs), so its files are looked at. */
pid_t proc_locker_of(const struct stat *file)
{
	AUTO_STR all = STR_INIT;
	struct sv line;
	long long inode;
	pid_t pid;

	if (file_read("/proc/locks", LOCKS_MAX, &all, NULL) < 0)
		return 0;
	struct sv rest = str_sv(&all);
	while (sv_split(&rest, '\n', &line))
		if (parse_lock(line, &pid, &inode) && pid > 0 && (uint64_t)inode == file->st_ino &&
			has_open(pid, file, false))
			return pid;
	return 0;
}
