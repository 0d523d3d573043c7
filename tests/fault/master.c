/*
 * A run of the pair without agents: fault-master ROOT ROUNDS BYTES plays it to the end from
 * wherever it stands, with texts of that size; what is done next follows from the state alone. The
 * number of each step that was said to be on disk is printed. fault-master ROOT prints its steps.
 * Exit status 0 done, 1 failed (message on standard error).
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "master/run.h"
#include "os/file.h"

static const struct clock noon = { .fixed = true, .fixed_ms = 1750000000000 };

static void say(const char *text)
{
	if (file_write_all(STDOUT_FILENO, sv_of(text), NULL) < 0)
		exit(1);
}

static struct master_step next(const struct master_state *s, int64_t rounds)
{
	const struct master_side *boss = &s->side[MASTER_INSTRUCTOR];
	const struct master_side *hand = &s->side[MASTER_WORKER];
	struct master_step step = MASTER_STEP_INIT(MASTER_STEP_ASK);

	step.round = s->round;
	step.prompt_id = SV("aaaaaaaa-0000-4000-8000-000000000001");
	if (s->task.len == 0) {
		step.kind = MASTER_STEP_SAY;
	} else if (boss->session_n == 0 || hand->session_n == 0) {
		step.kind = MASTER_STEP_SESSION;
		step.role = boss->session_n ? MASTER_WORKER : MASTER_INSTRUCTOR;
		step.agent = SV("rehearsal");
	} else if (master_is_open(boss) || master_is_open(hand)) {
		step.kind = MASTER_STEP_ANSWER;
		step.role = master_is_open(hand) ? MASTER_WORKER : MASTER_INSTRUCTOR;
		step.usage.output = 3;
	} else if (boss->answer.n > s->decided.n) {
		step.kind = MASTER_STEP_DECIDED;
		step.act = s->round < rounds ? MASTER_ACT_GO_ON : MASTER_ACT_DONE;
	} else if (s->decided.n > hand->ask.n && s->decided.act == MASTER_ACT_GO_ON) {
		step.role = MASTER_WORKER;
		step.round = s->round + 1;
	} else if (s->decided.act == MASTER_ACT_DONE) {
		step.kind = MASTER_STEP_STOP;
		step.stop = MASTER_STOP_DONE;
	}
	return step;
}

static int play(struct master_run *run, int64_t rounds, size_t bytes, struct err *reterr)
{
	const struct master_state *s = master_state(run);
	AUTO_STR text = STR_INIT;
	char number[32];

	while (s->stopped.stop != MASTER_STOP_DONE) {
		struct master_step step = next(s, rounds);
		str_clear(&text);
		str_addf(&text, "%s %d: ", master_step_name(step.kind), (int)s->steps);
		while (text.len < bytes)
			str_adds(&text, "word ");
		step.text = str_sv(&text);
		int r = master_step(run, &step, reterr);
		if (r < 0)
			return r;
		(void)snprintf(number, sizeof(number), "%d\n", (int)s->steps);
		say(number);
	}
	return 0;
}

static int print_step(void *data, const struct master_step *step, struct err *reterr)
{
	AUTO_STR line = STR_INIT;

	(void)data;
	(void)reterr;
	str_add(&line, step->line);
	str_addc(&line, '\n');
	say(line.buf);
	return 0;
}

int main(int argc, char **argv)
{
	AUTO_MASTER_CONFIG config = MASTER_CONFIG_INIT;
	struct master_run *run = NULL;
	struct err err = ERR_INIT, late = ERR_INIT;

	if (argc < 2)
		return 2;
	config.dir = xstrdup("/work");
	int r = master_open(argv[1], NULL, 0, &noon, &run, &err);
	if (r == ERR_NOTFOUND && argc > 3)
		r = master_create(argv[1], &config, NULL, 0, &noon, &run, &err);
	if (r == 0 && argc > 3)
		r = play(run, strtoll(argv[2], NULL, 10), strtoul(argv[3], NULL, 10), &err);
	else if (r == 0)
		r = master_steps(run, print_step, NULL, &err);
	int closed = master_close(run, r < 0 ? &late : &err);
	if (r < 0 || closed < 0)
		(void)fprintf(stderr, "%s\n", err.msg);
	return r < 0 || closed < 0;
}
