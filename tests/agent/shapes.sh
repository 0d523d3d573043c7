#!/bin/sh
# Prompts that the real agents keep in another form than they were typed in: after a kill each is
# found again by its id.
#
#	shapes.sh [claude|claude_new|codex]…
. "$(dirname "$0")/../lib.sh"
t_need_agents
t_model_start
t_claude_env
t_codex_env
t_setenv "FADEN=$FADEN"
mkdir "$t_tmp/work" && cd "$t_tmp/work" || exit 1
git init -q .
[ $# -gt 0 ] || set -- claude claude_new codex

for which; do
	case $which in
	claude) program=$t_claude agent=claude ;;
	claude_new) program=$t_claude_new agent=claude ;;
	codex) program=$t_codex agent=codex ;;
	esac
	ln -sf "$program" "$t_bin/$agent"
	t_ok "$("$program" --version): what is told of each prompt is true" \
		t_run "$(command -v python3)" "$t_helper/prompt-shapes" "$agent"
	tail -n 1 "$t_tmp/ok.out" | t_note
	rm -rf "$t_home/.local" "$t_home/.claude"
done
t_done
