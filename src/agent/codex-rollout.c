#include "agent/codex-rollout.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/codex-stream.h"
#include "agent/launch.h"
#include "base/mem.h"
#include "os/path.h"
#include "json/scan.h"
#include "json/write.h"

enum { TAIL = 1024 * 1024 }; /* a count follows every answer, so it is near the end */

char *codex_root(const struct agent_opts *opts)
{
	const char *set = launch_env_get(opts->envp, "CODEX_HOME");
	const char *user = launch_env_get(opts->envp, "HOME");

	if (opts->home || set)
		return xstrdup(opts->home ? opts->home : set);
	return user ? path_join(user, ".codex") : NULL;
}

static bool read_tail(const char *path, struct str *out)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	off_t from = st.st_size > TAIL ? st.st_size - TAIL : 0;
	if (!str_reserve(out, TAIL))
		return false;
	ssize_t n = pread(fd, out->buf, TAIL, from);
	if (n <= 0)
		return false;
	out->len = (size_t)n;
	out->buf[n] = '\0';
	return true;
}

struct agent_usage codex_usage_of_file(const char *path)
{
	struct agent_usage usage = AGENT_USAGE_NONE;
	AUTO_STR text = STR_INIT;
	struct sv line, rest;
	struct jval whole, counts;

	if (!path || !read_tail(path, &text))
		return usage;
	rest = str_sv(&text);
	while (sv_split(&rest, '\n', &line)) {
		if (!sv_find(line, SV("\"total_token_usage\""), NULL) ||
			scan_text(line, &whole) < 0 ||
			scan_path(whole, "payload.info.total_token_usage", &counts) <= 0)
			continue;
		usage = codex_usage(&counts);
	}
	return usage;
}

static int64_t since(int64_t total, int64_t before)
{
	return total < 0 || before < 0 || total < before ? -1 : total - before;
}

struct agent_usage codex_usage_since(
	const struct agent_usage *total, const struct agent_usage *before)
{
	return (struct agent_usage){
		.input = since(total->input, before->input),
		.cache_read = since(total->cache_read, before->cache_read),
		.cache_write = since(total->cache_write, before->cache_write),
		.output = since(total->output, before->output),
		.cost_usd = -1,
	};
}

/* TOML forbids DEL in a string; the rest of JSON's spelling is TOML's as well. */
void codex_toml_string(struct str *out, struct sv text)
{
	AUTO_STR json = STR_INIT;

	json_quote(&json, text);
	for (size_t i = 0; i < json.len; i++) {
		if (json.buf[i] == '\x7f')
			str_adds(out, "\\u007f");
		else
			str_addc(out, json.buf[i]);
	}
}
