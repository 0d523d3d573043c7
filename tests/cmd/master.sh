#!/bin/sh
# faden master with the rehearsal agents: a run from its task to its end, rounds, guards, going on,
# and what is said when something is wrong.
. "$(dirname "$0")/../lib.sh"

here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1
t_setenv 'FADEN_CLOCK=2026-03-10T12:00:00Z'
# state PATH: of the newest run.
state() {
	python3 - "$here/.claude-master/sessions" "$1" <<'END'
import json, sys, pathlib
folder = pathlib.Path(sys.argv[1])
run = json.loads((folder / "current.json").read_text())["sessionId"]
value = json.loads((folder / f"session-{run}.json").read_text())
for key in sys.argv[2].split("."):
    value = value[key]
print(value)
END
}
script() {
	cat >"$t_tmp/script"
	t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
}
no_script() { t_unsetenv FADEN_AI_REHEARSAL_SCRIPT; }

t_exit 'without a task nothing begins' 2 t_faden master
t_exit 'nor with an empty one' 2 t_faden master '  '
t_exit 'there is nothing to go on with' 1 t_faden master --resume
t_exit 'an id is no task' 2 t_faden master aaaaaaaa-0000-4000-8000-000000000001
t_like 'and it is said what is' "$(cat "$t_err")" 'session aaaaaaaa'
t_exit 'rounds are a number' 2 t_faden master -r some 'count to three'
t_exit 'a look is for what cleans, and runs nothing' 2 t_faden master --dry-run 'count to two'
t_exit 'so is an age' 2 t_faden master --older-than 1s 'count to two'
t_exit 'a budget is a sum' 2 t_faden master --max-budget-usd -1 x
t_exit 'once is not again' 2 t_faden master --stall 1 x
t_exit 'a name is a line' 3 t_faden master --name 'a
b' x
t_ok 'none of that left anything' test ! -e .claude-master

t_exit 'a run comes to its end' 0 t_faden master 'count to three'
t_is 'all of it is told' "$(grep -v '^$' "$t_out")" '── instructor · rehearsal ──
That is 3 steps. I begin with the first.
── instruction · round 1 ──
Say the number 1.
── worker · rehearsal ──
1, one.
── instructor · rehearsal ──
1 of 3 is done.
── instruction · round 2 ──
Say the number 2.
── worker · rehearsal ──
2, two.
── instructor · rehearsal ──
2 of 3 is done.
── instruction · round 3 ──
Say the number 3.
── worker · rehearsal ──
3, three.
── instructor · rehearsal ──
The worker has said 3 numbers.
DONE
Done after 3 rounds.'
t_like 'unlimited is said as such' "$(cat "$t_err")" 'unlimited rounds'
t_is 'the folder is private' "$(stat -c %a .claude-master .claude-master/sessions | tr '\n' ' ')" '700 700 '
t_is 'the conversations are not what goes on here' "$(t_faden route --json something 2>/dev/null | grep -c '"action":"new"')" 1
t_exit 'what is done does not go on by itself' 1 t_faden master --resume
t_exit 'words for it do' 0 t_faden master --resume 'and now to 2'
t_like 'with them' "$(cat "$t_out")" 'That is 2 steps'
t_is 'rounds go on' "$(state currentRound)" 5

t_exit 'rounds run out' 7 t_faden master -r 2 'count to 4'
t_like 'and it is said how to go on' "$(cat "$t_out")" 'faden master --resume -r N'
t_like 'and with what it begins' "$(cat "$t_out")" 'no rounds are left. Go on for N rounds more, beginning with the instruction that is ready: faden'
t_is 'two were used' "$(state remainingRounds)" 0
t_exit 'more of them go on' 0 t_faden master --continue -r 5
t_is 'with the instruction that was kept' "$(sed -n 2p "$t_out")" 'Say the number 3.'
t_is 'three are left' "$(state remainingRounds)" 3
t_exit 'rounds run out again' 7 t_faden master -r 1 'count to 4'
t_exit 'words are heard before anything else is done' 0 t_faden master --resume -r 9 'count to 2'
t_is 'by the instructor' "$(grep -v '^$' "$t_out" | sed -n '1,3p' | tr '\n' '|')" \
	'── instructor · rehearsal ──|That is 2 steps. I begin with the first.|── instruction · round 2 ──|'
t_exit 'no rounds are none' 7 t_faden master -r 0 'count to 4'
t_is 'and nobody is asked' "$(grep -c '^──' "$t_out")" 0
first=$(state sessionId)
t_exit 'another run begins' 7 t_faden master -r 1 --name 'the other' 'count to 2'
t_is 'with its name' "$(state name)" 'the other'
t_exit 'the first one goes on by its id' 0 t_faden master --session "$first" -r unlimited
t_is 'which is current now' "$(state sessionId)" "$first"
t_exit 'an id that is none is not found' 1 t_faden master --session aaaaaaaa-0000-4000-8000-00000000000f

t_exit 'a check is content' 0 t_faden master --check 'test -d .claude-master' 'count to 1'
t_exit 'a check that fails has the last word' 8 t_faden master --check 'echo no parser here; exit 3' --check-max 1 'count to 1'
t_like 'the instructor was told' "$(state instructor.conversationHistory)" 'ended with status 3.*no parser here'
t_like 'it is said that it is not done' "$(cat "$t_out")" 'Not done'
t_is 'once it was told to the instructor, the last time it was not' \
	"$(grep -o 'check failed with status 3.*' "$t_err" | tr '\n' '|')" \
	'check failed with status 3; the instructor is told|check failed with status 3|'
t_exit 'words try again' 0 t_faden master --resume --check '' 'count to 1'

script <<'END'
*
say I should think about it.
END
t_exit 'no decision after three corrections is a stop of its own' 9 t_faden master 'count to 3'
t_is 'it was corrected three times' "$(grep -c 'is corrected' "$t_err")" 3
t_is 'of the last answer that is not claimed' "$(grep -c 'answer cannot be followed' "$t_err")" 1
t_unlike 'it is not called done' "$(cat "$t_out")" 'Done after'
script <<'END'
*
say {"act":"tell","message":"once more"}
END
t_exit 'no progress is seen' 8 t_faden master 'count to 3'
t_like 'and said' "$(cat "$t_out")" 'no progress: the worker got the same instruction 3 times'
t_exit 'another guard holds' 7 t_faden master --stall 0 -r 4 'count to 3'
script <<'END'
ask Bash touch made => done
say {"act":"start","instruction":"make it"}
---
say DONE
END
t_exit 'a worker that may not' 0 t_faden master 'make it'
t_like 'is told to the user' "$(cat "$t_err")" 'worker was not allowed: Bash: touch made; the instructor is told.*--permission-mode'
t_like 'and to who reads it later' "$(t_faden show "$(state sessionId)" 2>/dev/null)" '^It was not allowed:'
t_like 'and to the instructor' "$(state instructor.conversationHistory)" 'not allowed to do this.*Bash: touch made'
t_faden master --json 'make it' >"$t_out" 2>/dev/null
t_is 'and to programs' "$(grep '"event":"ends"' "$t_out" | grep '"role":"worker"' | grep -o '"denied":\[.*\]')" \
	'"denied":[{"tool":"Bash","what":"touch made","asked":false}]'
script <<'END'
ask Write plan.md => written
say DONE
END
t_exit 'an instructor that wants to write' 0 t_faden master 'look at it'
t_like 'may not, and that is told' "$(cat "$t_err")" 'the instructor was not allowed: Write: plan.md; it only reads'
script <<'END'
fail not-logged-in log in first
END
t_exit 'an agent that cannot work ends it' 4 t_faden master 'count to 3'
t_like 'with its reason' "$(cat "$t_out")" 'log in first.*--resume'
no_script
t_exit 'and it goes on when that is mended' 0 t_faden master --resume
t_is 'the task arrived once, and a word to go on' "$(state instructor.conversationHistory | grep -o "count to 3" | wc -l)" 1

t_exit 'an agent that is not there is named' 4 t_faden master --worker-agent claude x
t_like 'with the way out' "$(cat "$t_err")" 'worker-agent'
t_exit 'a run stops after a round' 7 t_faden master -r 1 'count to 2'
t_setenv 'FADEN_AI_EXEC_COMMAND=cat'
t_exit 'another agent needs a word' 3 t_faden master --resume --worker-agent exec -r 5
t_like 'and it is said which' "$(cat "$t_err")" 'was rehearsal so far; --force'
mkdir "$t_tmp/moved"
mv .claude-master "$t_tmp/moved"
cd "$t_tmp/moved" || exit 1
t_exit 'a run that was moved is not taken silently' 3 t_faden master --resume -r 5
t_like 'it is said where it was' "$(cat "$t_err")" "works in $here:.*--force goes on here"
t_exit 'but with a word' 0 t_faden master --resume --force -r 5
t_like 'where it was' "$(cat "$t_out")" '2, two'
cd "$here" || exit 1

# A full context: what can be is cut, else the session is begun anew, and the run goes on.
script <<'END'
fail context-full the prompt is too long
---
say DONE
END
t_exit 'a full context does not end it' 0 t_faden master 'look around'
t_like 'it is told' "$(cat "$t_err")" "the instructor's context was full: it goes on in a shorter session"
script <<'END'
*
fail context-full the prompt is too long
END
t_exit 'one that stays full does' 4 t_faden master 'look around'
t_like 'and it is said' "$(cat "$t_out")" "instructor.s context is full"
no_script

# Somebody else has it; then a kill, a torn line and a clock that was set back.
script <<'END'
wait 60000
END
t_start_faden master 'count to 2' >/dev/null 2>&1
t_ok 'a run is under way' t_wait_for 20 sh -c 'ls .claude-master/sessions/*.journal && grep -q "\"ask\"" .claude-master/sessions/*.journal'
t_exit 'nobody else goes on with it' 5 t_faden master --resume
t_like 'it is said who has it' "$(cat "$t_err")" "process [0-9]+"
ln -s "$here/.claude-master/sessions/session-$(sed 's/.*"sessionId":"\([^"]*\)".*/\1/' .claude-master/sessions/current.json).json" "$t_tmp/link.json"
t_exit 'nor by another name of its file' 5 t_faden master --session-file "$t_tmp/link.json" x
kill -KILL "$t_pid"
wait "$t_pid" 2>/dev/null
no_script
printf '{"n":99,"kind":"say","te' >>"$(ls .claude-master/sessions/*.journal)"
t_setenv 'FADEN_CLOCK=2026-03-09T12:00:00Z'
t_exit 'after a kill it goes on' 0 t_faden master --resume
t_like 'a torn line is said' "$(cat "$t_err")" 'cut off by a crash'
t_like 'a clock that was set back too' "$(cat "$t_err")" 'clock is behind'
t_like 'to its end' "$(cat "$t_out")" '2, two'

# What is on standard input belongs to the task, as it does for ask.
printf 'count to 2\n' >"$t_tmp/task"
t_exit 'the task comes from a file' 0 t_faden master --name piped <"$t_tmp/task"
t_like 'and is carried out' "$(cat "$t_out")" 'That is 2 steps'
printf 'and nothing else\n' >"$t_tmp/task"
t_exit 'words and standard input' 0 t_faden master --name both 'count to 1' <"$t_tmp/task"
t_is 'are one task' "$(state task)" 'count to 1

and nothing else'
t_exit 'a name is one run'"'"'s' 3 t_faden master --name both 'count to 1'
t_like 'and it is said whose' "$(cat "$t_err")" 'is called "both" already'
t_exit 'the run itself may be called so again' 0 t_faden master --resume --name both 'count to 1'
t_exit 'other rights on a resume' 0 t_faden master --resume --permission-mode accept-edits --stall 0 'count to 2'
t_like 'are said' "$(cat "$t_err")" "worker's permission mode is accept-edits from here on; it was default"

# What goes on can be pasted wherever one is.
mkdir "$t_tmp/far away"
(cd "$t_tmp/far away" && t_faden master -d "$here" -r 1 'count to 2' >"$t_tmp/far" 2>&1)
t_like 'another folder is in the command that goes on' "$(tail -n 1 "$t_tmp/far")" "faden master --resume -d '$here' -r N"
cp ".claude-master/sessions/session-$(state sessionId).json" "$t_tmp/taken run.json"
t_exit 'a run in a file stops' 7 t_faden master --session-file "$t_tmp/taken run.json" -r 0
t_like 'so is the file' "$(cat "$t_out")" "faden master --session-file '$t_tmp/taken run.json' -r N"
t_exit 'and it goes on' 0 t_faden master --session-file "$t_tmp/taken run.json" -r 5
mkdir ro
chmod 500 ro
if [ "$(id -u)" != 0 ]; then
	t_exit 'a folder that takes nothing is said at once' 5 t_faden master -d ro 'count to 1'
fi
t_exit 'a folder that is not there is said' 5 t_faden master -d nowhere 'count to 1'
t_setenv "ANTHROPIC_API_KEY=sk-ant-secret-1"
t_exit 'a run with a key in the environment' 0 t_faden master 'count to 1'
t_is 'writes none of it' "$(grep -rl 'sk-ant-secret' .claude-master | wc -l)" 0
full() { t_faden master 'count to 1' >/dev/full; }
closed() { t_faden master 'count to 1' >&-; }
t_exit 'a full disk behind standard output ends it as an error' 5 full
t_like 'which is said' "$(cat "$t_err")" 'No space left on device'
t_exit 'a closed standard output, too' 5 closed
t_exit 'the run goes on elsewhere' 0 t_faden master --resume
t_done
