#!/bin/sh
# The real Claude Code asks for permission, through faden: in talk at a terminal, and where nobody
# can be asked.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../tty/tmux.sh"
tty_need
t_need_agents
t_model_start
t_claude_env
t_setenv 'IS_SANDBOX=1'
get() {
	python3 -c 'import json, sys; print(eval("v" + sys.argv[1], {"v": json.load(open(sys.argv[2]))}))' "$1" "$t_out"
}
# asked NAME N: the Nth question of the screen is there long enough to be read.
asked() {
	t_wait_for 20 eval "[ \"\$(tty_screen | grep -c '^May it use')\" = $2 ]"
	t_is "$1" "$(tty_screen | grep -c '^May it use')" "$2"
	sleep 0.3
}

for program in "$t_claude" "$t_claude_new"; do
	version=$("$program" --version | cut -d" " -f1)
	ln -sf "$program" "$t_bin/claude"
	rm -rf "$t_tmp/work" "$t_home/.claude"
	mkdir "$t_tmp/work"
	cd "$t_tmp/work" || exit 1

	t_exit "$version: without anybody to ask a command is denied" 6 \
		t_faden ask --agent claude --new --json "[[bash: touch a]][[write: $PWD/b | x]][[say: end]]"
	t_is "$version: what was denied is told" "$(get '["status"], [(d["tool"], d["what"].split("/")[-1]) for d in v["denied"]]')" \
		"('denied', [('Bash', 'touch a'), ('Write', 'b')])"
	t_like "$version: it is said how to allow it" "$(cat "$t_err")" 'not allowed: Bash: touch a; Write: .*--permission-mode'
	t_exit "$version: accept-edits lets it write" 0 \
		t_faden ask --agent claude --permission-mode accept-edits --new "[[write: $PWD/b | x]][[say: end]]"
	t_exit "$version: bypass lets it do all" 0 \
		t_faden ask --agent claude --permission-mode bypass --new --json "[[bash: touch a]][[say: end]]"
	t_is "$version: nothing is denied then" "$(get '["status"], v["denied"]')" "('ok', [])"
	t_is "$version: what was allowed was done" "$(echo *)" 'a b'

	rm -f a b
	tty_start 90 40 sh -c "'$FADEN' --agent claude --new-session; echo status \$?; exec cat"
	tty_prompt
	tty_type "[[bash: touch c]][[bash: touch d]][[bash: touch d]][[bash: touch e]][[say: it is over]]" Enter
	asked "$version: a command is asked for" 1
	t_like "$version: it is shown" "$(tty_screen)" '^May it use Bash\? touch c$'
	tty_type y
	asked "$version: once is once" 2
	tty_type a
	asked "$version: always covers the second of the same, not another" 3
	tty_type n
	tty_wait "$version: no is no end" '^it is over$'
	t_is "$version: what was allowed was done, and no more" "$(echo *)" 'c d'
	t_ok "$version: nothing of it is written into the folder" test ! -e .claude
	tty_prompt
	tty_type "[[bash: touch d]][[par: touch f || touch g]][[say: two of them]]" Enter
	asked "$version: always holds in the next turn" 4
	tty_type y
	asked "$version: two calls at once are asked for one by one" 5
	tty_type Escape
	tty_wait "$version: only what ran counts as done" '^Cancelled\. What was done stands: Bash ×2\.$'
	t_is "$version: what waited was not done" "$(echo *)" 'c d f'
	tty_prompt
	tty_type "[[say: still here]]" Enter
	tty_wait "$version: the conversation goes on" '^still here$'
	tty_prompt
	tty_type C-d
	tty_wait "$version: and ends" '^status 0'
	tty_stop
done
t_done
