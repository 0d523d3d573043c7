#!/bin/sh
# A toy agent is one driver, one adapter and one row (tests/toy): the same commands do for it what
# they do for the agents of src/.
. "$(dirname "$0")/../lib.sh"

FADEN=$t_build/tests/faden-toy
t_tools python3
ln -s "$t_root/tests/toy/toy" "$t_bin/toy"
here=$t_tmp/here
mkdir "$here"
cd "$here" || exit 1

t_exit 'an agent that is not in the table is refused' 2 t_faden ask --agent toys hello
t_like 'the toy is among those there are' "$(cat "$t_err")" 'mute, claude, codex, exec, rehearsal and toy'
t_exit 'the toy answers' 0 t_faden ask --agent toy 'my hen is called Ada'
t_is 'what it says is the answer' "$(cat "$t_out")" 'You said: my hen is called Ada'
t_exit 'a second turn goes to the same conversation' 0 t_faden ask 'count 400'
t_exit 'a third turn goes to the same conversation' 0 t_faden ask 'what did I say'
t_is 'the toy remembers the conversation' "$(cat "$t_out")" 'my hen is called Ada, count 400'

t_exit 'its session is listed' 0 t_faden list --json
id=$(python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["session_id"])' <"$t_out")
t_is "its session is listed with the toy's name, turns and first words" \
	"$(t_faden list -F '{agent} {turns} {prompt}')" 'toy 3 my hen is called Ada'
t_is 'its file is where the toy keeps it' \
	"$(t_faden list -F '{path}')" "$t_home/.toy/threads/t-$id.jsonl"
t_is '--agent lists the sessions of the toy' "$(t_faden list --agent toy -F '{id}')" "$id"
t_exit 'its session is shown' 0 t_faden show --tools "$id"
t_like 'what is shown has the words of the user' "$(cat "$t_out")" 'my hen is called Ada'
t_like 'what is shown has the output of the tool' "$(cat "$t_out")" 'line 399'

t_exit 'a copy elsewhere is recognised by what stands in it' 0 sh -c \
	'cp "$1" "$2/x.jsonl" && env -i HOME="$3" PATH="$4" "$5" show "$2/x.jsonl"' - \
	"$t_home/.toy/threads/t-$id.jsonl" "$t_tmp" "$t_home" "$t_bin" "$FADEN"

t_like 'a copy elsewhere is told as one of the toy' "$(t_faden advise "$t_tmp/x.jsonl")" '^Session .* toy$'

t_exit 'its session is trimmed' 0 t_faden trim --json "$id"
new=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["session_id"])' <"$t_out")
t_ok 'the trimmed one has another id, and the toy finds it under that' \
	test "$new" != "$id" -a -f "$t_home/.toy/threads/t-$new.jsonl"
t_like 'what the tool gave is a placeholder with the tool'"'"'s name' \
	"$(cat "$t_home/.toy/threads/t-$new.jsonl")" 'Results from counter tool suppressed'
t_is 'its parent is known' "$(t_faden list -F '{id} {parent}' | grep "^$new")" "$new $id"
t_exit 'the toy goes on with the trimmed session' 0 t_faden ask --in "$new" 'what did I say'
t_is 'the toy remembers all that was said before the trim' "$(cat "$t_out")" \
	'my hen is called Ada, count 400, what did I say'
mv "$t_home/.toy/threads/t-$id.jsonl" "$t_tmp/parent.jsonl"
t_setenv "XDG_STATE_HOME=$t_tmp/fresh"
t_exit 'a parent that only its child knows of is gone' 1 t_faden show "$id"
t_like 'it is said that the parent is gone' "$(cat "$t_err")" "the file of session $id is gone"
t_setenv "XDG_STATE_HOME=$t_home/.local/state"
mv "$t_tmp/parent.jsonl" "$t_home/.toy/threads/t-$id.jsonl"
t_exit 'advice is given about its session' 0 t_faden advise "$id"
t_exit 'a repair, which knows no damage of the toy, refuses' 3 t_faden repair "$id"
t_like 'the repair says whose sessions it does not know' "$(cat "$t_err")" 'sessions of toy'
t_exit 'a rollover, which cannot write for the toy, refuses' 3 t_faden rollover "$id"
t_like 'the rollover says whose sessions it cannot begin' "$(cat "$t_err")" 'sessions of toy'
t_exit 'hooks of an agent that has none are refused' 2 t_faden hook status --agent toy

t_exit 'doctor checks its program' 0 t_faden doctor
t_like 'doctor names the toy' "$(cat "$t_out")" 'toy +Toy 1\.0'
t_like 'doctor names the folder of its sessions' "$(cat "$t_out")" 'toy sessions +/.*/\.toy'
t_is 'its program is a setting' "$(t_faden config get ai.toy.program)" toy
t_setenv 'FADEN_AI_TOY_PROGRAM=/nowhere/toy'
t_exit 'a program that is not there is told by its setting' 4 t_faden ask --agent toy hello
t_like 'the setting is named' "$(cat "$t_err")" "ai.toy.program: no program '/nowhere/toy'"
t_unsetenv FADEN_AI_TOY_PROGRAM

t_like 'help names the toy among those who answer' "$(t_faden help ask | tr '\n' ' ')" 'who answers: .*\btoy\b'
t_unlike 'help names only agents with hooks for hooks' "$(t_faden help hook)" '\btoy\b'

t_ok 'completions are made' python3 "$t_root/tools/gen-completions" "$FADEN" "$t_tmp/comp"
for shell in faden _faden faden.fish; do
	t_like "the completions of $shell offer the toy" "$(cat "$t_tmp/comp/$shell")" '\btoy\b'
done

t_done
