#!/bin/sh
# faden killed at random instants while a real agent works, each time with a next ask at once: what
# is told is true, no two agents have one session, nothing is run twice, nothing goes unsaid.
#
#	kills.sh [claude|claude_new|codex]…
#
# FADEN_KILLS (6; with FADEN_LONG 200 for Claude Code and 100 for Codex) kills for each, drawn from
# FADEN_SEED (1).
. "$(dirname "$0")/../lib.sh"
t_need_agents
t_model_start
t_claude_env
t_codex_env
t_setenv "IS_SANDBOX=1" # the agents refuse to be let loose as root otherwise
t_setenv "FADEN=$FADEN"
t_setenv 'FADEN_ASSISTANT_LANGUAGE=en' # that of the words that are looked for
mkdir "$t_tmp/work" && cd "$t_tmp/work" || exit 1
git init -q .
[ $# -gt 0 ] || set -- claude claude_new codex

for which; do
	case $which in
	claude) program=$t_claude agent=claude long=200 ;;
	claude_new) program=$t_claude_new agent=claude long=200 ;;
	codex) program=$t_codex agent=codex long=100 ;;
	esac
	ln -sf "$program" "$t_bin/$agent"
	kills=${FADEN_KILLS:-6}
	[ -z "${FADEN_LONG-}" ] || kills=${FADEN_KILLS:-$long}
	t_ok "$("$program" --version): $kills kills, and all that is told is true" \
		t_run "$(command -v python3)" "$t_helper/kill-sweep" "$agent" "$kills" "${FADEN_SEED:-1}"
	tail -n 1 "$t_tmp/ok.out" | t_note
	rm -rf "$t_home/.local" "$t_home/.claude" "$t_tmp/work/ran"
done
t_done
