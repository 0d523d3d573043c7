#!/bin/sh
# Questions for permission at a terminal: shown, answered with a key, cancelled, and never answered
# by what was typed for something else.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/tmux.sh"
tty_need
mkdir -p "$t_tmp/work"
cd "$t_tmp/work" || exit 1
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
start() {
	tty_start "${2-70}" 20 sh -c "trap : INT; '$FADEN' --agent rehearsal --new-session ${1-}; echo status \$?; exec cat"
	tty_prompt
}
# The question stands there long enough to be read, so that a key is an answer.
asked() {
	tty_wait "$1" "$2"
	sleep 0.3
}
leave() {
	tty_prompt
	tty_type C-d
	tty_wait "$1" '^status 0'
	tty_stop
}

printf '*\nsay First a look.\nask Bash make install\nask Bash make clean\nsay All done.\n' >"$t_tmp/script"
start
tty_type 'go' Enter
asked 'the question names tool and command' '^May it use Bash\? make install$'
t_like 'the keys are named' "$(tty_screen)" '^y once · a always for Bash in this talk · n no · Esc cancels the turn$'
tty_wait 'the status line says who waits' '^\? waiting for your answer.*rehearsal'
t_is 'Ctrl-C is a signal meanwhile, nothing typed is shown' "$(tty_mode)" 'icrnl opost isig -icanon -echo '
tty_type x
t_unlike 'another key is no answer' "$(tty_screen)" 'llowed'
sleep 1.1
tty_type y Enter
tty_wait 'y allows it once' '^Allowed once: Bash make install$'
asked 'the next one is asked' '^May it use Bash\? make clean$'
tty_type n
tty_wait 'n denies it' '^Not allowed: Bash make clean$'
tty_wait 'the answer goes on' '^All done\.$'
t_unlike 'who said no is not told again' "$(tty_screen)" 'not allowed'
tty_prompt
t_unlike 'a key that was no answer is not typed for the prompt' "$(tty_screen)" '^› x'
tty_type 'go' Enter
asked 'a new turn asks again' '^\? waiting for your answer'
tty_type a
tty_wait 'a allows it from now on' '^Allowed for this talk: Bash$'
tty_prompt
t_is 'the second call of the turn is not asked for' "$(tty_screen | grep -c 'May it use Bash? make clean')" 1
leave 'Ctrl-D leaves after questions'

start
tty_type 'go' Enter
asked 'a question to cancel' '^May it use Bash\? make install$'
tty_type Up
t_unlike 'an arrow is no Escape' "$(sleep 0.3 && tty_screen)" 'Cancelled'
tty_paste "$(printf 'y\nand n')"
tty_wait 'what is pasted is no answer, and waits' 'waiting for your answer.* · › y and n'
sleep 1.1
tty_type Escape
tty_wait 'Escape cancels the turn, and nothing was done' '^Cancelled\.$'
tty_wait 'what was pasted is at the prompt' '^› y$'
tty_type C-u
tty_prompt
tty_type 'go' Enter
asked 'the conversation goes on' '^\? waiting for your answer'
tty_type C-c
t_wait_for 10 eval '[ "$(tty_screen | grep -c "^Cancelled\.$")" = 2 ]'
t_ok 'Ctrl-C cancels the turn too' eval '[ "$(tty_screen | grep -c "^Cancelled\.$")" = 2 ]'
leave 'the terminal takes lines again'

printf '*\nsay Working.\nwait 1500\nask Write notes.txt\nsay Written.\n' >"$t_tmp/script"
start '' 30
tty_type 'go' Enter
t_wait_for 10 tty_shows '^Working'
tty_type 'yes, and then any'
asked 'a question comes while somebody types' '^May it use Write\? notes'
tty_type 'n'
sleep 0.2
tty_type 'a'
t_unlike 'no letter of it is an answer' "$(sleep 0.3 && tty_screen)" 'llowed'
sleep 1
tty_type n
tty_wait 'after a pause a key is an answer' '^Not allowed: Write notes\.txt$'
tty_wait 'what was typed ahead is all there, and only that' '^› yes, and then anyna$'
tty_type C-u
leave 'Ctrl-D leaves after typing ahead'

long=$(printf 'word%02d ' $(seq 30))
printf '*\nask Bash %sthe end\n' "$long" >"$t_tmp/script"
start '' 40
tty_type 'go' Enter
asked 'a long command is shown to its end' 'the end$'
t_like 'a long command is wrapped' "$(tty_screen)" '^word'
tty_resize 60 20
tty_wait 'the status line outlives another size' '^\? waiting for your answer'
tty_type y
tty_wait 'it can be answered in the other size' '^Allowed once: Bash word01'
leave 'Ctrl-D leaves after a long command'

t_unsetenv FADEN_AI_REHEARSAL_SCRIPT
start
tty_type 'ask me' Enter
asked 'the rehearsal agent shows a question without a script' '^May it use Note\?'
tty_type y
tty_wait 'and says what it was' '^That was a question for permission'
leave 'Ctrl-D leaves after a rehearsal'
start '--permission-mode bypass'
t_like 'bypass is said at the start' "$(tty_screen)" '^Permissions are off'
tty_type 'ask me' Enter
tty_wait 'bypass asks nothing' '^That was a question'
t_unlike 'bypass shows no question' "$(tty_screen)" 'May it'
leave 'Ctrl-D leaves after bypass'

# --- stopped and continued ----------------------------------------------------------------------

printf '*\nask Bash make install\nsay Made.\n' >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
t_setenv 'PS1=shell> '
for command in talk 'ask go'; do
	tty_start 70 30 sh -i
	t_wait_for 5 tty_shows '^shell>'
	tty_type "'$FADEN' $command --agent rehearsal" Enter
	if [ "$command" = talk ]; then
		tty_prompt
		tty_type go Enter
	fi
	asked "$command: a question to leave" '^y once'
	tty_type C-z
	tty_wait "$command: Ctrl-Z stops the program" 'Stopped'
	t_wait_for 5 eval '[ "$(tty_mode)" = "icrnl opost isig icanon echo " ]'
	t_is "$command: the shell has its terminal" "$(tty_mode)" 'icrnl opost isig icanon echo '
	tty_type 'echo between' Enter
	tty_wait "$command: the shell takes lines" '^between$'
	tty_type fg Enter
	t_wait_for 10 eval '[ "$(tty_screen | grep -c "^y once")" = 2 ]'
	t_is "$command: the question is asked again" "$(tty_screen | grep -c '^y once')" 2
	sleep 0.3
	tty_type y
	tty_wait "$command: it can be answered" '^Allowed once: Bash make install$'
	tty_wait "$command: the turn goes on" '^Made\.$'
	tty_stop
done

# --- faden ask ----------------------------------------------------------------------------------

printf '*\nsay One.\nask Bash make install\nsay Two.\n' >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
once() {
	tty_start 70 16 sh -c "trap : INT; '$FADEN' ask --agent rehearsal --new $1; echo status \$?; exec cat"
}
once go
asked 'ask on a terminal asks' '^May it use Bash\? make install$'
tty_wait 'ask: the status line says who waits' '^\? waiting for your answer.*rehearsal'
tty_type y
tty_wait 'ask: allowed' '^Allowed once: Bash make install$'
tty_wait 'ask: a success' '^status 0'
t_is 'ask: the answer is whole' "$(tty_screen | grep -E '^(One|Two)' | tr '\n' ' ')" 'One. Two. '
t_is 'ask: the terminal is as before' "$(tty_mode)" 'icrnl opost isig icanon echo '
tty_stop
once "--json go </dev/null >'$t_tmp/json'"
asked 'ask asks on the terminal, whatever its streams are' '^May it use Bash\?'
tty_type n
tty_wait 'ask: denied is no success' '^status 6'
t_like 'ask: the object says that it was asked for' "$(cat "$t_tmp/json")" '"denied":\[\{"tool":"Bash","what":"make install","asked":true\}\]'
tty_stop
once go
asked 'ask: a question to interrupt' '^May it use Bash\?'
tty_type C-c
tty_wait 'ask: Ctrl-C ends it' '^status 130'
t_is 'ask: the terminal is as before after Ctrl-C' "$(tty_mode)" 'icrnl opost isig icanon echo '
tty_stop
once "go 2>'$t_tmp/err'"
tty_wait 'ask without a terminal to say it on does not ask' '^status 6'
t_like 'ask: it is written where everything else is' "$(cat "$t_tmp/err")" 'not allowed: Bash: make install'
t_done
