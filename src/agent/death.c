#include "agent/death.h"

#include <sys/wait.h>

#include "agent/fault.h"

void death_tell(struct agent_result *result, const char *agent, const struct child *child,
	bool took, int status)
{
	struct fault fault = fault_of(0, str_sv(&child->errors));
	AUTO_STR last = STR_INIT;
	AUTO_STR said = STR_INIT;
	char how[64];

	if (result->delivery != AGENT_DELIVERED && (fault.not_delivered || !took))
		result->delivery = AGENT_NOT_DELIVERED;
	/* One that was killed did not end for what it complained of before. */
	if (fault.kind != AGENT_FAILED && !WIFSIGNALED(status)) {
		fault_tell(result, agent, fault.kind, fault.line);
		return;
	}
	child_last_error(child, &last);
	proc_describe_status(status, how, sizeof(how));
	str_addf(&said, "ended without an answer (%s)%s%s", how, last.len ? ": " : "", last.buf);
	fault_tell(result, agent, AGENT_DIED, str_sv(&said));
}
