/*
 * Bytes as the snapshot of a run, as its journal, and as a run in another form. Steps that are told
 * are in order, can be folded, and are the same when they are written and read again.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"
#include "master/foreign.h"
#include "master/snapshot.h"
#include "os/file.h"

struct told {
	struct master_state state;
	struct master_step_hold hold;
	struct str line;
};

static int take(void *data, const struct master_step *step, struct err *reterr)
{
	struct told *t = data;
	struct master_step s = *step, again;

	(void)reterr;
	s.n = t->state.steps + 1;
	str_clear(&t->line);
	master_step_write(&s, &t->line);
	REQUIRE(master_step_read(str_sv(&t->line), true, &t->hold, &again, NULL) == 0);
	REQUIRE(again.n == s.n && again.kind == s.kind);
	master_fold(&t->state, &again);
	return 0;
}

static void told_init(struct told *t)
{
	master_state_init(&t->state);
	master_step_hold_init(&t->hold);
	t->line = (struct str)STR_INIT;
}

static void told_release(struct told *t)
{
	master_state_release(&t->state);
	master_step_hold_release(&t->hold);
	str_release(&t->line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sv text = sv_make((const char *)data, size);
	struct foreign_report report;
	struct journal_end end;
	struct snapshot s;
	struct told t;
	AUTO_CLOSE int fd = memfd_create("run", MFD_CLOEXEC);

	if (fd < 0 || file_write_all(fd, text, NULL) < 0)
		return 0;
	told_init(&t);
	if (snapshot_look(fd, &s, &t.state, NULL) == 0) {
		master_state_release(&t.state);
		(void)!snapshot_steps(&s, take, &t, NULL);
		REQUIRE(t.state.steps <= s.steps);
	}
	told_release(&t);
	told_init(&t);
	if (journal_steps(fd, 0, take, &t, &end, NULL) == 0)
		REQUIRE(end.good <= end.size && end.size <= size && end.steps == t.state.steps);
	told_release(&t);
	told_init(&t);
	(void)!foreign_steps(text, take, &t, &report, NULL);
	told_release(&t);
	return 0;
}
