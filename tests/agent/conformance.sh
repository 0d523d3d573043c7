#!/bin/sh
# conformance.sh rehearsal|claude|claude-new|codex: the suite of the agent interface on one agent.
. "$(dirname "$0")/../lib.sh"
kind=${1%-new}
if [ "$kind" = rehearsal ]; then
	set -- rehearsal
else
	t_need_agents
	t_model_start --limit 900000
	"t_${kind}_env"
	case $1 in
	claude) set -- claude "$t_claude" ;;
	claude-new) set -- claude "$t_claude_new" ;;
	codex) set -- codex "$t_codex" ;;
	esac
fi
mkdir "$t_tmp/work"
cd "$t_tmp/work" || exit 1
t_rc=0
t_run CASE="${CASE-}" "$t_build/tests/agent-conformance" "$@" >"$t_out" 2>"$t_err" || t_rc=$?
# The C library spells a test that is left out "not ok # SKIP", which readers of TAP take for a
# failure.
sed 's/^not ok \([0-9]*\) # SKIP/ok \1 # SKIP/' "$t_out"
t_note <"$t_err"
t_finished=yes
exit "$t_rc"
