#!/bin/sh
# One turn: text, options, JSON, exit status.
. "$(dirname "$0")/../lib.sh"
cd "$t_home" || exit 1

t_exit 'several words are taken' 0 t_faden ask --agent rehearsal two words
t_like 'several words are one text' "$(cat "$t_out")" '^You said: two words$'
t_unlike 'a named agent needs no explanation' "$(cat "$t_err")" 'rehearsal agent'

stdin() { printf 'from\nstdin\n' | t_faden ask --agent rehearsal "$@"; }
t_exit 'a dash takes the text from standard input' 0 stdin -
t_like 'the text from standard input is taken as it is' "$(cat "$t_out")" '^stdin$'
t_exit 'without a text it is read from standard input' 0 stdin
t_exit 'behind -- everything is text' 0 t_faden ask --agent rehearsal -- --help
t_like 'a text that looks like an option is a text' "$(cat "$t_out")" '^You said: --help$'

t_exit 'an empty text is refused' 2 t_faden ask '   '
t_like 'it is said that the text is empty' "$(cat "$t_err")" 'empty'
t_exit 'an unknown agent is refused' 2 t_faden ask --agent nobody x
t_like 'an unknown agent is named with the known ones' "$(cat "$t_err")" "no agent 'nobody'.*claude"
t_exit 'a mistyped agent is refused' 2 t_faden ask --agent cloude hello
t_like 'it is said which one may be meant' "$(cat "$t_err")" "no agent 'cloude' \(did you mean 'claude'\?\); there are"
t_exit 'an agent that is not installed cannot be asked' 4 t_faden ask --agent claude x
t_like 'an agent that is not installed is said to be missing' "$(cat "$t_err")" 'not installed'
t_setenv 'FADEN_AI_CLAUDE_PROGRAM=/opt/none/claude'
t_exit 'a program that is not where it should be cannot be asked' 4 t_faden ask --agent claude x
t_like 'a missing program is named with the setting' "$(cat "$t_err")" "ai\.claude\.program: no program '/opt/none/claude'"
t_unsetenv FADEN_AI_CLAUDE_PROGRAM
nul() { printf 'a\0b' | t_faden ask --new --agent rehearsal -; }
t_exit 'a NUL in the text is taken' 0 nul
t_like 'a NUL does not end the text' "$(cat "$t_out")" '^You said: a.*b$'
t_exit '--new and --in exclude each other' 2 t_faden ask --new --in x y
t_exit 'an unknown conversation is not found' 1 t_faden ask --in 00000000-0000-4000-8000-000000000000 x

t_exit '--json answers' 0 t_faden ask --agent rehearsal --new --json hello
json=$(cat "$t_out")
t_is 'the JSON answer is one line' "$(wc -l <"$t_out")" 1
t_like 'the JSON has the answer' "$json" '"answer":"You said: hello'
t_like 'the JSON has the conversation' "$json" '"conversation_id":"[0-9a-f-]{36}"'
t_like 'the JSON has the session' "$json" '"session_id":"[0-9a-f-]{36}"'
t_like 'the JSON has the time it took' "$json" '"duration_ms":[0-9]'
id=$(sed 's/.*"conversation_id":"\([^"]*\)".*/\1/' "$t_out")
session=$(sed 's/.*"session_id":"\([^"]*\)".*/\1/' "$t_out")
t_exit '--new begins another conversation' 0 t_faden ask --new other
t_exit '--in takes a conversation by its id' 0 t_faden ask --in "$id" 'what did I say?'
t_like '--in with the id goes on in that conversation' "$(cat "$t_out")" '^1\. hello'
t_exit '--in takes a session id' 0 t_faden ask --in "$session" 'what did I say?'
t_like '--in with the session id goes on in that conversation' "$(cat "$t_out")" '^1\. hello'
t_exit '--in takes the beginning of a session id' 0 t_faden ask --in "$(echo "$session" | cut -c1-9)" 'what did I say?'
t_like '--in with the beginning goes on in that conversation' "$(cat "$t_out")" '^1\. hello'

for kind in not-logged-in rate-limited context-full timed-out died failed; do
	printf 'fail %s because of %s\n' "$kind" "$kind" >"$t_tmp/script"
	t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
	t_exit "an agent that says $kind is a failure" 4 t_faden ask --new --json x
	t_like "the failure $kind is named with its message" "$(cat "$t_out")" "\"status\":\"$kind\",\"error\":\{\"code\":\"$kind\",\"message\":\"because of $kind"
done
printf 'fail rate-limited 60000 too much\n' >"$t_tmp/script"
t_exit 'a limit is a failure' 4 t_faden ask --new x
t_like 'a limit with an end says when it ends' "$(cat "$t_err")" 'too much \(the limit ends at 20[0-9-]+ [0-9:]+; ai\.on_limit'
printf 'retry 50 the model is overloaded (529)\nsay there\n' >"$t_tmp/script"
t_exit 'an agent that tries again succeeds later' 0 t_faden ask --new x
t_is 'an agent that tries again says why and when' "$(cat "$t_err")" 'faden: the model is overloaded (529); trying again in 1 s'
t_is 'the answer after a retry is the answer alone' "$(cat "$t_out")" there
printf 'die\n' >"$t_tmp/script"
t_exit 'an agent that dies is a failure' 4 t_faden ask --new x
t_like 'an agent that dies is said to have died' "$(cat "$t_err")" 'died'
printf 'say Looking.\ntool Bash ls => a\nsay Done.\n' >"$t_tmp/script"
t_exit 'an answer with a tool in between succeeds' 0 t_faden ask --new x
t_is 'a tool in between leaves the texts' "$(cat "$t_out")" "$(printf 'Looking.\n\nDone.')"
t_unsetenv FADEN_AI_REHEARSAL_SCRIPT

big() { head -c 1000000 /dev/zero | tr '\0' 'x' | t_faden ask --agent rehearsal --new -; }
t_exit 'a megabyte is taken' 0 big
t_is 'a megabyte comes back whole' "$(head -n 1 "$t_out" | wc -c)" 1000011
full() { t_faden ask --agent rehearsal hi >/dev/full; }
closed() { t_faden ask hi >&-; }
t_exit 'an answer to a closed output is a failure' 5 closed
t_exit 'an answer that cannot be written is a failure' 5 full
# A store that may not grow is a failure, not our death.
small() { (ulimit -f 8 && t_faden ask --json --agent rehearsal hi); }
t_exit 'nor can a store beyond the limit of files' 5 small
t_like 'which is one object, too' "$(cat "$t_out")" '^\{.*"error":\{"code":"store"'
t_like 'and says what there is none of' "$(cat "$t_out")" 'the disk is full'

two_at_once() {
	printf '*\nwait 1500\nsay slow\n' >"$t_tmp/script"
	t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
	t_faden ask --in "$id" slow >/dev/null 2>&1 &
	sleep 0.7
	t_faden ask --in "$id" second
	t_second=$?
	wait
	return "$t_second"
}
t_exit 'a conversation in use is waited for' 0 two_at_once
t_like 'that a conversation is in use is said' "$(cat "$t_err")" 'in use by process [0-9]+ \(faden (ask|talk)\); .*Waiting'
t_setenv 'FADEN_AI_EXEC_COMMAND=cat'
t_exit 'a conversation keeps its agent' 2 t_faden ask --in "$id" --agent exec x
t_like 'it is said whose conversation it is' "$(cat "$t_err")" "is rehearsal's"
# standard input goes behind the words
cd "$t_home" || exit 1
piped() { printf 'int x;\nint y;\n' | t_faden ask --agent rehearsal --new "$@"; }
said() { t_faden list --agent rehearsal -n 1 -F '{path}' | xargs cat | python3 -c '
import json, sys
for line in sys.stdin:
    entry = json.loads(line)
    if entry.get("type") == "user":
        content = entry["message"]["content"]
        print(json.dumps(content if isinstance(content, str) else content[0]["text"]))
        break'; }
t_exit 'words and standard input are taken' 0 piped review this
t_is 'standard input stands behind the words' "$(said)" '"review this\n\nint x;\nint y;\n"'
t_exit 'words and - are taken' 0 piped review this -
t_is '- as the last word is no word' "$(said)" '"review this\n\nint x;\nint y;\n"'
t_exit 'standard input alone is taken' 0 piped
t_is 'standard input alone is the text' "$(said)" '"int x;\nint y;\n"'
printf 'of a file' >"$t_tmp/input"
t_exit 'a file as standard input is taken' 0 t_faden ask --agent rehearsal --new look <"$t_tmp/input"
t_is 'a file as standard input stands behind the words' "$(said)" '"look\n\nof a file"'
t_is 'what is UTF-8 is sent without a word' "$(cat "$t_err")" ''
printf 'Gr\374\337e\000' >"$t_tmp/input"
t_exit 'bytes of another encoding are taken' 0 t_faden ask --agent rehearsal --new look <"$t_tmp/input"
t_is 'each of them and NUL is replaced' "$(said)" '"look\n\nGr\ufffd\ufffde\ufffd"'
t_like 'that is said once' "$(cat "$t_err")" '^faden: 3 bytes of the text are NUL or not UTF-8, and were replaced by U\+FFFD$'
for from in /dev/null "$t_tmp/nothing"; do
	: >"$t_tmp/nothing"
	t_exit "nothing on $(basename "$from") is taken" 0 t_faden ask --agent rehearsal --new hello <"$from"
	t_is "nothing on $(basename "$from") adds nothing" "$(said)" '"hello"'
done
closed() { t_faden ask --agent rehearsal --new hello <&-; }
t_exit 'a closed standard input is no failure' 0 closed
t_is 'a closed standard input adds nothing' "$(said)" '"hello"'
mkfifo "$t_tmp/open"
never() { t_faden ask --agent rehearsal --new hello <>"$t_tmp/open"; }
t_exit 'a pipe that nobody writes to does not hold it up' 0 never
t_is 'a pipe that nobody writes to adds nothing' "$(said)" '"hello"'
t_like 'it is said that nothing came, and what to do' "$(cat "$t_err")" "nothing came on standard input in 3 s.*'-'.*</dev/null"
endless() { yes | t_faden ask --agent rehearsal --new hello; }
t_exit 'a standard input without end is refused' 3 endless
t_like 'a standard input without end is too long' "$(cat "$t_err")" 'the text with what is on standard input is longer than 16777216 bytes'

# who was chosen answers, whatever was rehearsed before
mkdir -p "$t_tmp/chosen" && cd "$t_tmp/chosen" || exit 1
t_faden ask --agent rehearsal 'plant the tomatoes' >/dev/null 2>&1
printf '#!/bin/sh\ncat >/dev/null\necho exec answers\n' >"$t_bin/answerer"
chmod +x "$t_bin/answerer"
t_setenv "FADEN_AI_EXEC_COMMAND=$t_bin/answerer"
t_setenv 'FADEN_AI_AGENT=exec'
t_is 'route tells that the agent of the settings begins anew' "$(t_faden route --json 'and water the tomatoes' | grep -o '"conversation_id":[^,]*' | head -n 1)" '"conversation_id":null'
t_exit 'the agent of the settings is asked' 0 t_faden ask 'and water the tomatoes'
t_is 'the agent of the settings answers' "$(cat "$t_out")" 'exec answers'
t_faden reset --undo >/dev/null 2>&1
t_faden ask --agent rehearsal 'plant the tomatoes' >/dev/null 2>&1
lines() { printf 'and now?\n' | t_faden; }
t_exit 'the agent of the settings is talked to' 0 lines
t_is 'the agent of the settings answers who talks' "$(cat "$t_out")" 'exec answers'
t_like 'it is said that the rehearsal does not go on' "$(cat "$t_err")" '^faden: "plant the tomatoes" belongs to rehearsal\. Going on with exec: "and water the tomatoes"'
t_faden reset >/dev/null
t_faden ask --agent rehearsal 'plant the tomatoes' >/dev/null 2>&1
t_exit 'what is from before a reset does not go on' 0 lines
t_like 'it is said that a new one begins' "$(cat "$t_err")" '^faden: "plant the tomatoes" belongs to rehearsal: starting another conversation with exec\.$'
for command in show trim advise 'resume --print' rollover; do
	t_exit "$command: what goes on with an agent without sessions is refused" 1 t_faden $command
	t_like "$command: it is said that this agent keeps none" "$(cat "$t_err")" '^faden: [a-z]*: agent exec keeps no session, and it is the one of "and now\?"'
done
t_setenv 'FADEN_AI_AGENT=rehearsal'
t_exit 'an agent that goes on beside the one of the settings is taken' 0 lines
t_like 'it is said who answers' "$(cat "$t_err")" 'Going on with exec|exec answers'
t_is 'the conversation that goes on is not left' "$(cat "$t_out")" 'exec answers'
# says RUN: how often it says that another agent answers.
says() { "$@" 2>&1 >/dev/null | grep -c 'exec answers: "and now?" is its conversation'; }
more() { printf 'and then?\nand after that?\n' | t_faden; }
t_is 'a talk says it when it begins, and with no line' "$(says more)" 0
t_is 'the first sentence without a talk says who answers' "$(says t_faden ask 'and then?')" 1
t_is 'the next one need not' "$(says t_faden ask 'and after that?')" 0
t_unsetenv FADEN_AI_AGENT
t_unsetenv FADEN_AI_EXEC_COMMAND
t_done
