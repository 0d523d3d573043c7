#!/bin/sh
# faden at a terminal: talking, cancelling, leaving, resizing, restarting.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/tmux.sh"
tty_need
mkdir -p "$t_tmp/work"
cd "$t_tmp/work" || exit 1
start() {
	tty_start 70 16 sh -c "trap : INT; '$FADEN' ${1-}; echo status \$?; exec cat"
	tty_prompt
}

start
t_like 'a first start says who answers' "$(tty_screen)" 'A new conversation with rehearsal'
tty_type 'my **cat** is Mia' Enter
tty_wait 'the answer is shown plainly' '^You said: my cat is Mia'
tty_type 'what did I say?' Enter
tty_wait 'the conversation is remembered' '^1\. my cat is Mia'
tty_prompt
t_is 'where one is stands there once, as long as it is the same' "$(tty_screen | grep -c ' ready$')" 1
tty_type C-c
tty_wait 'Ctrl-C once warns' 'Ctrl-C again'
tty_prompt
tty_type C-d
tty_wait 'Ctrl-D leaves' '^status 0'
tty_stop

start
t_like 'the next start goes on and says so' "$(tty_screen)" 'Going on with rehearsal: "my \*\*cat\*\* is Mia" \(2 turns'
tty_type 'Neue Konversation' Enter
tty_wait 'a word resets the conversation, in its language' 'ich starte eine neue Konversation'
tty_wait 'and says how it is undone, as /clear does' '/undo holt die alte'
tty_type 'what did I say?' Enter
tty_wait 'the reset is in force' 'Nothing yet'
tty_type Up Up Enter
tty_wait 'the history brings the word back' 'ich starte eine neue Konversation'
tty_type 'restart' Enter
tty_wait 'a word restarts faden' 'restarting now'
tty_prompt
tty_type 'hello after the restart' Enter
tty_wait 'the conversation goes on after the restart' '^You said: hello after the restart'
tty_prompt
tty_type C-c
tty_wait 'Ctrl-C warns after a restart' 'Ctrl-C again'
tty_prompt
tty_type C-c
tty_wait 'Ctrl-C twice leaves' '^status 0'
tty_stop

printf '*\nsay one two three four five six seven eight nine ten eleven twelve\nwait 60000\nsay never\n' >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
start --new-session
tty_type 'count' Enter
tty_wait 'an answer streams' '^one two three four five'
tty_type Escape
tty_wait 'Escape cancels the turn' '^Cancelled'
tty_prompt
tty_type Escape
sleep 0.4 # nothing tells that it was taken
tty_type '/help' Enter
tty_wait 'and at the prompt it takes no other key with it' '^More such words'
tty_type 'exit' Enter
tty_wait 'what is typed is whole after it' '^status 0'
tty_stop

start --new-session
tty_type 'count' Enter
tty_wait 'the answer streams' '^one two three four five'
tty_wait 'the answer streams to the last word, though more may come' 'eleven twelve$'
tty_wait 'a status line is below the answer' '(answering|thinking).*rehearsal'
tty_resize 50 12
tty_wait 'a smaller window keeps the status line' '(answering|thinking).*rehearsal'
tty_type C-c
tty_wait 'Ctrl-C cancels the turn' '^Cancelled'
tty_prompt
tty_unlike_status() { ! tty_shows 'answering|thinking'; }
t_ok 'the status line is gone after a cancel' tty_unlike_status
tty_type C-d
tty_wait 'the program goes on after a cancel until Ctrl-D' '^status 0'
tty_stop

# what is typed while the agent works
start --new-session
tty_type 'count' Enter
tty_wait 'an answer streams that somebody does not want' 'eleven twelve$'
tty_type 'and then'
tty_wait 'what is typed meanwhile is seen' '(answering|thinking).* · › and then'
tty_type C-u 'stop' Enter
tty_wait '"stop" ends what runs' '^Cancelled'
t_unlike 'it is not said once more afterwards' "$(tty_screen)" '^All right'
tty_prompt
tty_type 'count' Enter
tty_wait 'another answer streams' '(answering|thinking).*rehearsal'
tty_type '/clear' Enter
tty_wait '/clear ends what runs, and is obeyed' 'starting a new conversation'
tty_prompt
tty_type 'count' Enter
tty_wait 'one more answer streams' '(answering|thinking).*rehearsal'
block=$(printf 'busy one\nbusy two\n\tbusy three')
tty_paste "$block"
tty_wait 'what is pasted meanwhile is seen as one' '(answering|thinking).* · › busy one busy two busy three'
tty_type ' now'
tty_wait 'and more can be typed behind it' ' · › .*busy three now'
tty_type Escape
tty_wait 'it stands at the prompt' '^› busy one'
tty_wait 'line by line, with its tab' '^        busy three now$'
tty_type Enter
tty_wait 'it is sent' '(answering|thinking).*rehearsal'
pasted=$(printf 'busy one\\nbusy two\\n\tbusy three now')
t_is 'as one prompt' "$(tail -n 1 "$t_home/.local/state/faden/history")" "$pasted"
tty_type Escape
tty_prompt
tty_type C-d
tty_wait 'Ctrl-D leaves after that' '^status 0'
tty_stop

# What waits for its turn is in the history, should somebody kill us.
start --new-session
tty_type 'count' Enter
tty_wait 'an answer streams once more' '(answering|thinking).*rehearsal'
tty_type 'a line that waits' Enter
tty_wait 'a line waits' ' · › a line that waits'
t_ok 'it is on disk already' grep -qx 'a line that waits' "$t_home/.local/state/faden/history"
tty_type Escape
tty_wait 'then it is said' '^› a line that waits'
tty_wait 'and answered' '(answering|thinking).*rehearsal'
t_is 'the history has it once' "$(grep -cx 'a line that waits' "$t_home/.local/state/faden/history")" 1
tty_type Escape
tty_prompt
tty_type C-d
tty_wait 'Ctrl-D leaves behind it' '^status 0'
tty_stop

printf '*\ntool Bash ls\ntool Bash pwd\nsay | Name | Count |\\n|---|--:|\\n| one | 1 |\\n\\nand\nwait 60000\n' >"$t_tmp/script"
start --new-session
tty_type 'a table' Enter
tty_wait 'a table is aligned' '^Name  Count'
tty_wait 'a column of a table is aligned to the right' '^one       1'
tty_resize 30 16
tty_type C-c
tty_wait 'a cancel says that something was done' '^Cancelled\. What was done'
tty_wait 'a cancel says what was done' '^stands: Bash ×2\.'
tty_wait 'the state keeps to one line in a narrow window' '^rehearsal · a ta.* · ready$'
tty_prompt
tty_type C-d
tty_wait 'Ctrl-D leaves after a table' '^status 0'
tty_stop
printf '*\nretry 60000 the model is overloaded (529)\nsay never\n' >"$t_tmp/script"
start --new-session
tty_type 'hello' Enter
tty_wait 'a retry says why and when' '^the model is overloaded \(529\); trying again in 60 s, at 20'
tty_wait 'the wait for a retry counts down' '[1-5][0-9] s left'
tty_type C-c
tty_wait 'the wait for a retry can be cancelled' '^Cancelled'
tty_prompt
tty_type C-d
tty_wait 'Ctrl-D leaves after a retry' '^status 0'
tty_stop
t_unsetenv FADEN_AI_REHEARSAL_SCRIPT

start
tty_type "$(printf 'say \033]0;evil\007 it')" Enter
t_wait_for 10 tty_shows '^You said'
t_unlike 'control characters of the user do not set the title' "$(tty_do display-message -p '#{pane_title}')" 'evil'
tty_prompt
tty_type C-d
tty_wait 'Ctrl-D leaves at the end' '^status 0'
tty_stop

# what was lost is sent again at the start, and can be cancelled there
printf '#!/bin/sh\necho $$ >%s && exec sleep 60\n' "$t_tmp/started" >"$t_tmp/claude"
chmod +x "$t_tmp/claude"
lost() (
	mkdir -p "$t_tmp/lost" && cd "$t_tmp/lost" || exit 1
	t_faden ask --agent claude --new paint it red >/dev/null 2>&1 &
	t_wait_for 10 test -s "$t_tmp/started" || exit 1
	kill -KILL "$(pgrep -f -x "$FADEN ask --agent claude --new paint it red")" "$(cat "$t_tmp/started")"
	rm "$t_tmp/started"
)
t_setenv "FADEN_AI_CLAUDE_PROGRAM=$t_tmp/claude"
t_setenv FADEN_AI_RESEND=auto
t_ok 'a turn is lost' lost
cd "$t_tmp/lost" || exit 1
tty_start 70 16 sh -c "trap : INT; '$FADEN' --agent rehearsal; echo status \$?; exec cat"
t_ok 'it is sent again at the start' t_wait_for 10 test -s "$t_tmp/started"
tty_type C-c
tty_wait 'Ctrl-C cancels that' '^Cancelled'
tty_prompt
tty_type C-d
tty_wait 'the conversation goes on after it' '^status 0'
tty_stop
t_unsetenv FADEN_AI_RESEND
t_unsetenv FADEN_AI_CLAUDE_PROGRAM
cd "$t_tmp/work" || exit 1

# words for faden itself
start
tty_type '?' Enter
tty_wait '? shows what can be typed' '^  >trim \[LENGTH\]'
tty_prompt
tty_type '/clear' Enter
tty_wait '/clear resets' '/undo brings the old one'
tty_prompt
tty_type '/undo' Enter
tty_wait '/undo names what is back' '^The previous conversation goes on: hello, just now'
tty_prompt
tty_type '/compact' Enter
tty_wait '/compact names what there is' '>continue in'
tty_prompt
tty_type '>lineage' Enter
tty_wait '>lineage shows the session' '^[0-9a-f]{8}  20[0-9-]+ '
tty_prompt
tty_type '>continue the cat' Enter
tty_wait '>continue goes on elsewhere' '^It is now what goes on in its folder\.$'
tty_prompt
tty_type '>resume' Enter
tty_wait '>resume says why it cannot' 'has no program of its own'
tty_wait 'and faden is back' '^Going on with rehearsal: "Continue: the cat'
tty_prompt
tty_type 'what did I say?' Enter
tty_wait 'the conversation goes on' '^the cat'
tty_prompt
tty_type 'exit' Enter
tty_wait 'exit leaves' '^status 0'
tty_stop

# what another terminal keeps from being sent stands at the prompt again
mkdir "$t_tmp/two" && cd "$t_tmp/two" || exit 1
printf '*\nsay Working.\nwait 60000\nsay Done.\n' >"$t_tmp/script"
start '--agent rehearsal'
tty_type 'continue' Enter
tty_wait 'our own words are broken between words' '^there is elsewhere: faden list --all$'
tty_prompt
tty_type 'paint the fence' Enter
tty_wait 'a talk is begun' '^You said: paint the fence'
tty_prompt
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
t_start_faden ask --agent rehearsal and the gate >"$t_tmp/other" 2>&1
other=$t_pid
t_ok 'another terminal is at it' t_wait_for 20 grep -q Working "$t_tmp/other"
t_unsetenv FADEN_AI_REHEARSAL_SCRIPT
tty_type 'in blue' Enter
tty_wait 'the line is refused' 'in use by process [0-9]+ '
tty_wait 'in a sentence like any other' '^Nothing was sent: '
again() { [ "$(tty_screen | grep -c '^› in blue$')" = 2 ]; }
t_ok 'and stands at the prompt again' t_wait_for 10 again
kill -INT "$other"
t_wait_for 20 eval '! t_running $other'
tty_type ' please' Enter
tty_wait 'it can be sent' '^You said: in blue please'
tty_prompt
tty_type C-d
tty_wait 'Ctrl-D leaves after a line that was kept' '^status 0'
tty_stop
cd "$t_tmp/work" || exit 1

# what could not be written down is not sent, and need not be typed again
tty_start 70 16 sh -c "'$FADEN' --agent rehearsal; echo status \$?; exec cat"
tty_prompt
mv "$t_home/.local/state/faden" "$t_tmp/aside"
tty_type 'oil the hinges' Enter
tty_wait 'without its store nothing is sent' '^Nothing was sent: '
back() { [ "$(tty_screen | grep -c '^› oil the hinges$')" = 2 ]; }
t_ok 'and the words stand at the prompt' t_wait_for 10 back
tty_type C-u C-d
tty_wait 'Ctrl-D leaves without a store' '^status [0-9]'
tty_stop
rm -rf "$t_home/.local/state/faden"
mv "$t_tmp/aside" "$t_home/.local/state/faden"

# who is chosen at the question answers, though a rehearsal goes on here
printf '#!/bin/sh\nexit 1\n' >"$t_bin/claude"
chmod +x "$t_bin/claude"
mkdir "$t_tmp/own" && cd "$t_tmp/own" || exit 1
"$t_helper/make-session" claude "$t_home/.claude" "$PWD" aaaaaaaa-0000-4000-8000-0000000000aa --time "$(date -u +%Y-%m-%dT%H:%M:%SZ)" 'paint the barn' >/dev/null
tty_start 70 16 sh -c "'$FADEN'; echo status \$?; exec cat"
tty_wait 'an agent is offered where a session of its own lies' '^Number: *$'
tty_type C-d
tty_wait 'nobody is chosen' '^faden: Nobody was chosen: rehearsal answers'
tty_prompt
t_unlike 'then nobody else goes on' "$(tty_screen)" 'Going on with'
tty_type 'mow the lawn' Enter
tty_wait 'nor answers' '^You said: mow the lawn'
tty_prompt
tty_type C-d
tty_wait 'Ctrl-D leaves without a choice' '^status 0'
tty_stop
cd "$t_tmp/work" || exit 1
tty_start 70 16 sh -c "'$FADEN'; echo status \$?; exec cat"
tty_wait 'an installed agent is offered' '^Who should answer'
tty_wait 'the question waits for a number' '^Number: *$'
tty_type 'claude' Enter
tty_wait 'the agent just chosen is who answers' '^conversation with claude'
tty_prompt
t_unlike 'no rehearsal goes on' "$(tty_screen)" 'Going on with'
tty_type C-d
tty_wait 'Ctrl-D leaves after a choice' '^status 0'
t_exit 'the settings are shown' 0 t_faden config
t_like 'with who answers, and why' "$(cat "$t_out")" '^ai\.agent = auto  \(default; claude answers: chosen at the first start\)$'

# A talk with one agent that is led to another one's session, by way of its own program.
printf '#!/bin/sh\necho opened\n' >"$t_bin/claude"
tty_start 70 16 sh -c "'$FADEN' --agent=rehearsal --new; echo status \$?; exec cat"
tty_prompt
tty_type '>resume nobody' Enter
tty_wait 'what nothing is called is said' 'nobody'
tty_prompt
tty_type '>resume aaaaaaaa-0000-4000-8000-0000000000aa' Enter
tty_wait 'the program of the other agent opens' '^opened'
tty_wait 'the talk comes back and is in that one' 'Going on with claude: "paint the barn"'
tty_prompt
tty_type C-d
tty_wait 'Ctrl-D leaves behind it' '^status 0'
tty_stop

# Over ssh and in containers there is often no locale, or one that is not installed.
for locale in C xx_XX.UTF-8; do
	tty_start 70 16 sh -c "LC_ALL=$locale '$FADEN' --agent rehearsal --new; echo status \$?; exec cat"
	tty_prompt
	tty_type 'Käse heißt 漢字' Enter
	tty_wait "$locale: what is typed arrives" '^You said: Käse heißt 漢字'
	tty_prompt
	tty_type C-d
	tty_wait "$locale: and leaves" '^status 0'
	tty_stop
done
t_done
