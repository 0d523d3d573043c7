# The suite of the agent interface on one agent; sourced by conformance-AGENT.sh.
# shellcheck shell=sh
#
# conformance KIND [PROGRAM]: prints its TAP and ends the test. The C library spells a test that is
# left out "not ok # SKIP", which readers of TAP take for a failure.
conformance() {
	mkdir "$t_tmp/work"
	cd "$t_tmp/work" || exit 1
	t_rc=0
	t_run "${AGENT_CONFORMANCE:?must name the program of the suite}" "$@" >"$t_out" 2>"$t_err" || t_rc=$?
	sed 's/^not ok \([0-9]*\) # SKIP/ok \1 # SKIP/' "$t_out"
	t_note <"$t_err"
	t_finished=yes
	exit "$t_rc"
}
