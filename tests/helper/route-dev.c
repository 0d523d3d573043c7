/* Speaks `route --stdio` and `route --replay FILE` until the program does. */
#include <stdio.h>

#include "os/file.h"
#include "route/replay.h"
#include "route/stdio.h"

static int print_line(void *data, struct sv json, struct err *reterr)
{
	(void)data;
	(void)reterr;
	printf("%.*s\n", SV_ARG(json));
	return 0;
}

static void read_all(FILE *f, struct str *out)
{
	char buf[65536];
	size_t n;
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		str_add(out, sv_make(buf, n));
}

static int replay(struct router *r, const char *path)
{
	struct err err = ERR_INIT;
	AUTO_STR text = STR_INIT;
	FILE *f = fopen(path, "re");
	if (!f)
		return 3;
	read_all(f, &text);
	fclose(f);
	if (route_replay(r, str_sv(&text), print_line, NULL, &err) == 0)
		return 0;
	fprintf(stderr, "%s\n", err.msg);
	return 3;
}

static int serve(struct router *r)
{
	struct route_stdio s;
	route_stdio_init(&s, r);
	AUTO_FREE char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	while ((n = getline(&line, &cap, stdin)) > 0) {
		struct err err = ERR_INIT;
		AUTO_STR out = STR_INIT;
		if (route_stdio_line(&s, sv_make(line, (size_t)n), &out, &err) < 0)
			fprintf(stderr, "%s\n", err.msg);
		if (out.len > 0)
			printf("%s\n", out.buf);
		fflush(stdout);
	}
	route_stdio_release(&s);
	return 0;
}

int main(int argc, char **argv)
{
	enum route_profile p = ROUTE_FADEN;
	if (argc < 3 || !route_profile_parse(sv_of(argv[1]), &p))
		return 2;
	struct route_opts opts = route_opts_default(p);
	struct router *r = router_new(&opts);
	int rc = sv_is(sv_of(argv[2]), "--stdio") ? serve(r) : replay(r, argv[2]);
	router_free(r);
	return rc;
}
