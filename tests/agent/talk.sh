#!/bin/sh
# Two terminals in one folder, with the real agents: one talks and waits for its next line with an
# agent that it keeps; the other wants the same conversation.
. "$(dirname "$0")/../lib.sh"
t_need_agents
t_model_start
t_claude_env
t_codex_env
t_setenv 'IS_SANDBOX=1'
ln -sf "$t_claude" "$t_bin/claude"
ln -sf "$t_codex" "$t_bin/codex"
# Claude Code writes what was said a moment after it has said it.
turns() { [ "$(t_faden list --json | python3 -c 'import json, sys; print([s["turns"] for s in json.load(sys.stdin)])')" = "[$1]" ]; }
said() { [ "$(grep -c "^$1\$" "$t_tmp/talk")" = 1 ]; }

for agent in claude codex; do
	mkdir "$t_tmp/$agent"
	cd "$t_tmp/$agent" && git init -q . || exit 1
	rm -f "$t_tmp/lines" "$t_tmp/talk"
	mkfifo "$t_tmp/lines"
	t_faden --agent "$agent" --permission-mode bypass <"$t_tmp/lines" >"$t_tmp/talk" 2>"$t_tmp/talk.err" &
	talk=$!
	t_pids="$t_pids $talk"
	exec 4>"$t_tmp/lines"
	echo 'the quince tree [[say: one]]' >&4
	t_ok "$agent: a talk begins" t_wait_for 20 said one
	t_exit "$agent: another terminal goes on with it between two turns" 0 \
		t_faden ask --agent "$agent" 'the quince tree again [[say: two]]'
	t_is "$agent: it is answered" "$(cat "$t_out")" two
	echo 'the quince tree once more [[say: three]]' >&4
	t_ok "$agent: the talk goes on" t_wait_for 20 said three
	t_ok "$agent: it was one conversation" t_wait_for 20 turns 3
	t_unlike "$agent: nobody was told of a fault" "$(cat "$t_tmp/talk.err" "$t_err")" 'no longer|interrupted|ended|in use|is open'
	echo 'the quince tree, slowly [[bash: touch busy; sleep 6]][[bash: touch late; sleep 3]][[say: four]]' >&4
	t_ok "$agent: a turn runs there" t_wait_for 20 test -e busy
	# What it writes this late might as well be written by somebody else.
	t_wait_for 20 test -e late
	t_exit "$agent: while a turn runs it is waited for, by what says nothing else too" 0 t_faden ask --agent "$agent" continue
	t_like "$agent: that is told" "$(cat "$t_err")" 'in use by process [0-9]*.*Waiting'
	t_ok "$agent: the turn that ran was not harmed" said four
	echo 'the quince tree again [[say: six]]' >&4
	t_ok "$agent: the talk keeps an agent again" t_wait_for 20 said six
	t_exit "$agent: the agent's own program gets it too" 0 t_faden resume --print
	t_is "$agent: it is one conversation to the end" "$(t_faden list --json | grep -c '"agent":"')" 1
	if [ "$agent" = claude ]; then
		id=$(t_faden list --json | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["session_id"])')
		# by itself: as somebody who is in Claude Code itself, there and gone, then there to stay
		by_itself() { t_run claude -p --resume "$id" --permission-mode bypassPermissions "$@"; }
		t_exit 'something is said in the program itself' 0 by_itself 'the medlar tree [[say: seven]]'
		t_is 'and answered there' "$(cat "$t_out")" seven
		echo 'the quince tree: what did I say? [[recall]]' >&4
		t_ok 'the talk knows it' t_wait_for 20 grep -q 'the medlar tree' "$t_tmp/talk"
		mkfifo "$t_tmp/stays"
		by_itself --verbose --input-format stream-json --output-format stream-json <"$t_tmp/stays" >"$t_tmp/stays.out" 2>&1 &
		stays=$!
		exec 5>"$t_tmp/stays"
		open_there() {
			for note in $(grep -ls "$id" "$t_home"/.claude/sessions/*.json); do
				there=$(sed 's/.*"pid":\([0-9]*\).*/\1/' "$note")
				case " $there $(ps -o ppid= -p "$there" | tr -d ' ') " in *" $stays "*) return 0 ;; esac
			done
			return 1
		}
		t_ok 'it is opened there' t_wait_for 20 open_there
		echo 'the loquat tree [[say: nine]]' >&4
		t_ok 'nothing is said beside it' t_wait_for 20 grep -q 'is open in claude (process' "$t_tmp/talk.err"
		t_is 'not even a word' "$(grep -c '^nine$' "$t_tmp/talk")" 0
		# On a pipe that ends the talk, too.
		exec 5>&-
		wait "$stays"
	fi
	exec 4>&-
	t_ok "$agent: the talk ends" t_wait_for 20 eval "! t_running $talk"
done
t_done
