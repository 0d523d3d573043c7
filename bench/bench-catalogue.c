/*
 * Brings a catalogue up to date and lists the newest sessions, as `faden list` does:
 *
 *	bench-catalogue CLAUDE_HOME STORE [THREADS]
 *
 * Prints one JSON line: time, files, bytes and peak memory. bench/catalogue.sh sets it beside cat,
 * cp and find.
 */
#include <stdio.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "store/catalogue.h"

enum { LISTED = 50 };

static int count_row(void *data, const struct session_row *row)
{
	int *rows = data;

	*rows += row->info.id[0] != '\0';
	return 0;
}

static int run(const char *root, const char *path, unsigned threads, struct err *reterr)
{
	const struct transcript_home home = { "claude", TRANSCRIPT_CLAUDE, root };
	const struct catalogue_opts opts = { .threads = threads };
	const struct catalogue_query query = { .limit = LISTED };
	const struct clock clock = { .fixed = false };
	struct catalogue_stats stats;
	AUTO_STORE *store = NULL;
	int rows = 0;
	int64_t start = clock_age_ms(&clock);
	int r = store_open(path, 0, NULL, &store, reterr);

	if (r >= 0)
		r = catalogue_refresh(store, &home, 1, &opts, &stats, reterr);
	if (r >= 0)
		r = catalogue_query(store, &query, count_row, &rows, reterr);
	if (r < 0)
		return r;
	struct rusage usage;
	(void)getrusage(RUSAGE_SELF, &usage);
	(void)printf("{\"ms\":%lld,\"files\":%zu,\"read\":%zu,\"bytes\":%llu,\"rows\":%d,"
		     "\"rss_kb\":%ld}\n",
		(long long)(clock_age_ms(&clock) - start), stats.files, stats.read,
		(unsigned long long)stats.bytes_read, rows, usage.ru_maxrss);
	return 0;
}

int main(int argc, char **argv)
{
	struct err err = ERR_INIT;
	long long threads = 0;

	if (argc < 3 || argc > 4 || (argc == 4 && !sv_parse_i64(sv_of(argv[3]), &threads))) {
		(void)fprintf(stderr, "usage: bench-catalogue CLAUDE_HOME STORE [THREADS]\n");
		return 2;
	}
	if (run(argv[1], argv[2], (unsigned)threads, &err) < 0) {
		(void)fprintf(stderr, "bench-catalogue: %s\n", err.msg);
		return 1;
	}
	return 0;
}
