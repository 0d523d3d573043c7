/*
 * What it costs to keep a run of the pair: bench-master FOLDER plays 2,000 rounds of five steps
 * with texts of a kilobyte and prints what a step took around some of them, beside a plain append
 * that is synced, by turns, and how many writes of how many bytes it was, which no disk disturbs;
 * then a run of 10,000 rounds is made and opened in a process of its own. bench-master FOLDER open
 * opens the latest run.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "master/run.h"
#include "os/file.h"
#include "os/path.h"

enum { ROUNDS = 2000, LONG = 10000, PER_ROUND = 5, TEXT = 1024, WINDOW = 10 };

static const struct clock wall;
static char text[TEXT];

static double now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void must(int r, const struct err *err)
{
	if (r < 0) {
		(void)fprintf(stderr, "%s\n", err->msg);
		exit(1);
	}
}

/* What this process has written so far, by any call. */
struct written {
	long long calls, bytes;
};

static struct written written_now(void)
{
	struct written w = { 0, 0 };
	char line[100];
	FILE *io = fopen("/proc/self/io", "re");

	while (io && fgets(line, sizeof(line), io)) {
		struct sv rest = sv_trim(sv_of(line)), key;
		if (!sv_split(&rest, ' ', &key))
			continue;
		if (sv_is(key, "syscw:"))
			(void)sv_parse_i64(rest, &w.calls);
		else if (sv_is(key, "wchar:"))
			(void)sv_parse_i64(rest, &w.bytes);
	}
	if (io)
		(void)fclose(io);
	return w;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const double *v, size_t n)
{
	double *sorted = xmalloc(n * sizeof(*v));

	memcpy(sorted, v, n * sizeof(*v));
	qsort(sorted, n, sizeof(*v), compare);
	double m = sorted[n / 2];
	free(sorted);
	return m;
}

static void play(struct master_run *run, int round, double *took, double *plain, int plain_fd)
{
	static const struct {
		enum master_step_kind kind;
		enum master_role role;
	} steps[PER_ROUND] = {
		{ MASTER_STEP_ASK, MASTER_INSTRUCTOR },
		{ MASTER_STEP_ANSWER, MASTER_INSTRUCTOR },
		{ MASTER_STEP_DECIDED, MASTER_INSTRUCTOR },
		{ MASTER_STEP_ASK, MASTER_WORKER },
		{ MASTER_STEP_ANSWER, MASTER_WORKER },
	};
	struct err err = ERR_INIT;

	for (size_t i = 0; i < PER_ROUND; i++) {
		struct master_step s = MASTER_STEP_INIT(steps[i].kind);
		s.role = steps[i].role;
		s.round = round;
		s.act = MASTER_ACT_GO_ON;
		s.prompt_id = SV("aaaaaaaa-0000-4000-8000-000000000001");
		s.text = sv_make(text, TEXT);
		double at = now_ms();
		must(master_step(run, &s, &err), &err);
		if (took)
			took[i] = now_ms() - at;
		if (!plain)
			continue;
		at = now_ms();
		if (write(plain_fd, text, TEXT) != TEXT || fdatasync(plain_fd) < 0)
			exit(1);
		plain[i] = now_ms() - at;
	}
}

static struct master_run *create(const char *folder, unsigned flags)
{
	AUTO_MASTER_CONFIG c = MASTER_CONFIG_INIT;
	struct master_run *run = NULL;
	struct err err = ERR_INIT;

	c.dir = xstrdup(folder);
	must(master_create(folder, &c, NULL, flags, &wall, &run, &err), &err);
	return run;
}

static void measure_steps(const char *folder)
{
	static const int at[] = { 10, 100, 1000, 2000 };
	const size_t all = (size_t)(ROUNDS + 1) * PER_ROUND;
	AUTO_FREE double *took = xcalloc(all, sizeof(*took));
	AUTO_FREE double *plain = xcalloc(all, sizeof(*plain));
	AUTO_FREE char *beside = path_join(folder, "plain");
	struct master_run *run = create(folder, 0);
	int fd = open(beside, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	double sum = 0, plain_sum = 0, most = 0;
	AUTO_FREE struct written *io = xcalloc(ROUNDS + 1, sizeof(*io)); /* after each round */

	io[0] = written_now();
	for (int i = 1; i <= ROUNDS; i++) {
		play(run, i, took + (size_t)i * PER_ROUND, plain + (size_t)i * PER_ROUND, fd);
		io[i] = written_now();
	}
	for (size_t i = PER_ROUND; i < all; i++) {
		sum += took[i];
		plain_sum += plain[i];
		most = took[i] > most ? took[i] : most;
	}
	for (size_t i = 0; i < ARRAY_LEN(at); i++) {
		size_t from = (size_t)(at[i] - WINDOW + 1) * PER_ROUND;
		double m = median(took + from, WINDOW * PER_ROUND);
		double p = median(plain + from, WINDOW * PER_ROUND);
		const struct written *b = &io[at[i] - WINDOW], *e = &io[at[i]];
		double steps = WINDOW * PER_ROUND;
		printf("{\"bench\": \"master-step\", \"round\": %d, \"median_ms\": %.3f, "
		       "\"plain_ms\": %.3f, \"ratio\": %.2f, \"writes\": %.2f, \"bytes\": %.0f}\n",
			at[i], m, p, m / p, (double)(e->calls - b->calls) / steps - 1,
			(double)(e->bytes - b->bytes) / steps - TEXT);
	}
	printf("{\"bench\": \"master-written\", \"rounds\": %d, \"writes_per_step\": %.2f, "
	       "\"bytes_per_step\": %.0f}\n",
		ROUNDS, (double)(io[ROUNDS].calls - io[0].calls) / (ROUNDS * PER_ROUND) - 1,
		(double)(io[ROUNDS].bytes - io[0].bytes) / (ROUNDS * PER_ROUND) - TEXT);
	size_t n = all - PER_ROUND;
	for (int part = 0; part < 4; part++) {
		double a = 0, b = 0;
		for (size_t i = 0; i < n / 4; i++) {
			a += took[PER_ROUND + (size_t)part * (n / 4) + i];
			b += plain[PER_ROUND + (size_t)part * (n / 4) + i];
		}
		printf("{\"bench\": \"master-quarter\", \"part\": %d, \"mean_ms\": %.3f, "
		       "\"ratio\": %.2f}\n",
			part + 1, a / (double)(n / 4), a / b);
	}
	printf("{\"bench\": \"master-all\", \"mean_ms\": %.3f, \"plain_mean_ms\": %.3f, "
	       "\"longest_ms\": %.1f}\n",
		sum / (double)n, plain_sum / (double)n, most);
	struct err err = ERR_INIT;
	double begin = now_ms();
	must(master_close(run, &err), &err);
	printf("{\"bench\": \"master-close\", \"ms\": %.1f}\n", now_ms() - begin);
	(void)close(fd);
}

static void measure_open(const char *self, const char *folder)
{
	struct master_run *run = create(folder, MASTER_NO_AUTO_SAVE);
	struct err err = ERR_INIT;
	struct rusage use;
	struct stat st;
	int status;

	for (int i = 1; i <= LONG; i++)
		play(run, i, NULL, NULL, -1);
	AUTO_FREE char *path = xstrdup(master_path(run));
	must(master_close(run, &err), &err);
	(void)fflush(stdout);
	for (int i = 0; i < 5; i++) {
		double begin = now_ms();
		pid_t pid = fork();
		if (pid == 0) {
			(void)execl(self, self, folder, "open", (char *)NULL);
			_exit(1);
		}
		if (pid < 0 || wait4(pid, &status, 0, &use) < 0 || status != 0 ||
			stat(path, &st) < 0)
			exit(1);
		printf("{\"bench\": \"master-open\", \"rounds\": %d, \"bytes\": %lld, \"ms\": "
		       "%.0f, "
		       "\"peak_kb\": %ld}\n",
			LONG, (long long)st.st_size, now_ms() - begin, use.ru_maxrss);
	}
}

int main(int argc, char **argv)
{
	struct master_run *run;
	struct err err = ERR_INIT;

	if (argc < 2)
		return 2;
	for (size_t i = 0; i < TEXT; i++)
		text[i] = i % 60 == 59 ? '\n' : i % 6 == 5 ? ' ' : (char)('a' + i % 23);
	if (argc > 2) {
		must(master_open(argv[1], NULL, 0, &wall, &run, &err), &err);
		must(master_close(run, &err), &err);
		return 0;
	}
	measure_steps(argv[1]);
	measure_open("/proc/self/exe", argv[1]);
	return 0;
}
