#include "ui/pager.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "os/path.h"

static const char default_command[] = "less -R -F -X";
static const char staying_command[] = "less -R";
static const char shell[] = "/bin/sh";

static const int held[] = { SIGPIPE, SIGINT, SIGQUIT };

/* What came for the pager meanwhile is forgotten; what was blocked before us stays for its owner.
 */
static void release_signals(const struct pager *p)
{
	const struct timespec at_once = { 0 };
	sigset_t drop;

	(void)sigemptyset(&drop);
	for (size_t i = 0; i < ARRAY_LEN(held); i++)
		if (!sigismember(&p->mask, held[i]))
			(void)sigaddset(&drop, held[i]);
	while (sigtimedwait(&drop, NULL, &at_once) > 0) {
	}
	(void)pthread_sigmask(SIG_SETMASK, &p->mask, NULL);
}

/* Empty when there is nothing that can be run. */
static void make_argv(struct strv *argv, const char *command, const char *path)
{
	struct sv rest = sv_of(command);
	struct sv word;

	if (strpbrk(command, "|&;<>()$`\\\"'*?[#~=%!{}\n")) {
		strv_add(argv, shell);
		strv_add(argv, "-c");
		strv_add(argv, command);
		return;
	}
	while (sv_split(&rest, ' ', &word)) {
		if (word.n && argv->n) {
			strv_addsv(argv, word);
		} else if (word.n) {
			AUTO_FREE char *name = xmemdup0(word.p, word.n);
			char *program = path_find_program(name, path ? path : "");
			if (!program)
				return;
			strv_take(argv, program);
		}
	}
}

/* Our default says all options itself; a user's less learns to show colour unless told otherwise.
 */
static void make_environment(struct strv *env, const char *const *envp, bool by_default, bool stays)
{
	bool has_less = false;

	for (; envp && *envp; envp++) {
		bool less = sv_starts(sv_of(*envp), SV("LESS="));
		has_less = has_less || less;
		if (!less || !by_default)
			strv_add(env, *envp);
	}
	if (!has_less && !by_default)
		strv_add(env, stays ? "LESS=R" : "LESS=FRX");
}

bool pager_open(struct pager *p, const struct pager_opts *opts, int *ret_fd)
{
	const char *command = opts->command ? opts->command
		: opts->stays		    ? staying_command
					    : default_command;
	AUTO_STRV argv = STRV_INIT;
	AUTO_STRV env = STRV_INIT;
	sigset_t set;

	*p = (struct pager)PAGER_INIT;
	if (!term_able(opts->term_name) || !sv_trim(sv_of(command)).n ||
		sv_is(sv_trim(sv_of(command)), "cat"))
		return false;
	make_argv(&argv, command, opts->path);
	if (!argv.n)
		return false;
	make_environment(&env, opts->envp, !opts->command, opts->stays);
	const char *const none[] = { NULL };
	struct proc_opts how = {
		.argv = (const char *const *)argv.v,
		.envp = env.v ? (const char *const *)env.v : none,
		.in = PROC_PIPE,
		.out = opts->out_fd,
		.err = PROC_INHERIT,
		.same_group = true,
	};
	(void)term_mode_save(&p->mode, opts->out_fd);
	/* A write to a pager that is gone, and Ctrl-C, which belongs to the pager. */
	(void)sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_LEN(held); i++)
		(void)sigaddset(&set, held[i]);
	(void)pthread_sigmask(SIG_BLOCK, &set, &p->mask);
	p->running = proc_spawn(&p->proc, &how, NULL) == 0;
	if (!p->running) {
		release_signals(p);
		return false;
	}
	int flags = fcntl(p->proc.in, F_GETFL);
	(void)fcntl(p->proc.in, F_SETFL, flags & ~O_NONBLOCK);
	*ret_fd = TAKE_FD(p->proc.in);
	return true;
}

void pager_close(struct pager *p)
{
	int status = 0;

	if (!p->running)
		return;
	(void)proc_reap(&p->proc, true, &status);
	proc_release(&p->proc);
	term_mode_restore(&p->mode);
	release_signals(p);
	p->running = false;
}
