#!/bin/sh
# The conversation goes on after a restart, and a reset is kept.
. "$(dirname "$0")/../lib.sh"
mkdir -p "$t_tmp/a" "$t_tmp/b"
cd "$t_tmp/a" || exit 1

t_exit 'the first start ever asks an agent' 0 t_faden ask the blue door
t_like 'the first start ever is answered' "$(cat "$t_out")" 'You said: the blue door'
t_like 'the first start ever says who answers' "$(cat "$t_err")" 'rehearsal agent'

t_exit 'the next process goes on' 0 t_faden ask 'what did I say?'
t_like 'the next process goes on with the same conversation' "$(cat "$t_out")" '^1\. the blue door'

cd "$t_tmp/b" || exit 1
t_exit 'a turn in another folder succeeds' 0 t_faden ask 'what did I say?'
t_like 'another folder has a conversation of its own' "$(cat "$t_out")" 'Nothing yet'
cd "$t_tmp/a" || exit 1
ln -s a "$t_tmp/link"
cd "$t_tmp/link" || exit 1
t_exit 'a turn in a link to the folder succeeds' 0 t_faden ask 'what did I say?'
t_like 'a link to the folder is the folder' "$(cat "$t_out")" '^1\. the blue door'
cd "$t_tmp/a" || exit 1

t_exit 'a fresh conversation can be asked for' 0 t_faden ask --new 'what did I say?'
t_like 'a fresh conversation knows nothing' "$(cat "$t_out")" 'Nothing yet'
t_exit 'a turn after a fresh one succeeds' 0 t_faden ask 'what did I say?'
t_like 'the fresh conversation is the one that goes on' "$(cat "$t_out")" '^1\. what did I say\?$'

t_exit 'a reset succeeds' 0 t_faden reset
t_is 'a reset says so' "$(cat "$t_out")" 'All right, I am starting a new conversation.'
t_exit 'a reset twice is fine' 0 t_faden reset
t_exit 'the turn after a reset succeeds' 0 t_faden ask 'what did I say?'
t_like 'the turn after a reset is fresh' "$(cat "$t_out")" 'Nothing yet'
t_exit 'another reset succeeds' 0 t_faden reset
t_exit 'a reset can be undone' 0 t_faden reset --undo
t_like 'an undo names what goes on' "$(cat "$t_out")" '^The previous conversation goes on: .+, (just now|[0-9]+ (s|min) ago)\.$'
t_exit 'reset --json succeeds' 0 t_faden reset --json
t_like 'reset --json tells that nothing goes on' "$(cat "$t_out")" '^\{"conversation_id":null,"session_id":null,"agent":null,"title":null,"directory":"/[^"]*"\}$'
t_exit 'reset --undo --json succeeds' 0 t_faden reset --undo --json
t_like 'reset --undo --json tells what goes on' "$(cat "$t_out")" '^\{"conversation_id":"[0-9a-f-]{36}","session_id":"[0-9a-f-]{36}","agent":"rehearsal","title":"what did I say\?","directory"'
t_exit 'the turn after the undo succeeds' 0 t_faden ask 'what did I say?'
t_like 'the turn after the undo goes on where it was' "$(cat "$t_out")" '^1\. what did I say\?$'

mkdir "$t_tmp/new"
cd "$t_tmp/new" || exit 1
t_exit 'a reset before the first turn succeeds' 0 t_faden reset
t_exit 'an undo without a conversation fails' 1 t_faden reset --undo
t_like 'an undo without a conversation says that there is nothing' "$(cat "$t_err")" 'no reset to undo'

# a refused command changes nothing
mkdir "$t_tmp/open"
cd "$t_tmp/open" || exit 1
claude=$t_home/.claude
open=0aaaaaaa-0000-4000-8000-000000000001
printf '#!/bin/sh\n' >"$t_bin/claude"
chmod +x "$t_bin/claude"
t_exit 'a conversation of our own begins' 0 t_faden ask --agent rehearsal --json the red door
own=$(sed 's/.*"conversation_id":"\([^"]*\)".*/\1/' "$t_out")
"$t_helper/make-session" claude "$claude" "$t_tmp/open" $open 'the green door' >/dev/null
mkdir -p "$claude/sessions"
printf '{"pid":%d,"sessionId":"%s","procStart":"%s"}' $$ $open "$(cut -d' ' -f22 /proc/$$/stat)" >"$claude/sessions/$$.json"
t_exit 'a turn in a session that is open in its agent is refused' 5 t_faden ask --in $open x
t_like 'it is said who has it open' "$(cat "$t_err")" "open in claude \(process $$\)"
t_exit 'a turn with the wrong agent is refused' 2 t_faden ask --in $open --agent rehearsal x
t_exit 'the next sentence is asked about' 0 t_faden route --json and now
t_like 'what was refused is not what goes on' "$(cat "$t_out")" "\"action\":\"resume\",\"by\":\"router\",\"conversation_id\":\"$own\""
t_is 'what was refused is no conversation' "$(sed 's/.*"candidates"//' "$t_out" | grep -o '"conversation_id":"' | wc -l)" 1
rm "$claude/sessions/$$.json" "$t_bin/claude"

t_setenv FADEN_ASSISTANT_LANGUAGE=de
t_exit 'a reset in German succeeds' 0 t_faden reset
t_is 'the words of the assistant are German' "$(cat "$t_out")" 'Alles klar, ich starte eine neue Konversation.'
t_done
