#!/bin/sh
# What faden does to its terminal: keys typed during an answer wait for the prompt, and every way
# out leaves the terminal as it was.
# shellcheck disable=SC2154 # variables of lib.sh
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/tmux.sh"
tty_need
cd "$t_home" || exit 1

talk() {
	tty_start 70 16 sh -c "trap : INT; '$FADEN' $*; echo status \$?; exec cat"
}

talk --agent rehearsal
tty_wait 'the first start shows a prompt' '^› *$'
tty_type C-d
tty_wait 'Ctrl-D leaves' '^status 0'
t_is 'after Ctrl-D the terminal is as it was' "$(tty_mode)" 'icrnl opost isig icanon echo '
tty_stop

talk
tty_wait 'the second start shows a prompt' '^›'
tty_type 'half a line' C-c
tty_wait 'Ctrl-C at the prompt warns' '^Ctrl-C again, or Ctrl-D, leaves'
tty_prompt
tty_type 'another half'
tty_wait 'more is typed after it' '^› another half'
tty_type C-c
tty_wait 'Ctrl-C on what was typed since drops that' '^› another half\^C'
tty_prompt
tty_type C-c
tty_wait 'Ctrl-C twice leaves' '^status '
t_is 'after Ctrl-C the terminal is as it was' "$(tty_mode)" 'icrnl opost isig icanon echo '
tty_stop

cat >"$t_tmp/script" <<'END'
say Looking around.
tool Bash ls -l => total 0
wait 60000
---
say Here **again**.
*
say ESC]0;ownedBELplain
wait 1500
say the end
END
sed -i "s/ESC/$(printf '\033')/; s/BEL/$(printf '\007')/" "$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
talk --agent rehearsal --new-session
tty_wait 'a fresh conversation shows a prompt' '^› *$'
tty_type 'go' Enter
tty_wait 'text before a tool is shown' '^Looking around\.'
tty_wait 'the tool is named' '^Bash ls -l'
tty_wait 'the status line says who works' ' · rehearsal'
tty_once 'the status line is there once' ' · rehearsal'
tty_resize 30 16
tty_resize 70 16
tty_type 'early'
tty_type C-c
tty_wait 'Ctrl-C cancels the turn' '[Cc]ancelled'
tty_wait 'the prompt is back after a cancel' '^›( early)? *$'
t_unlike 'the status line is gone after a cancel' "$(tty_screen | tail -n 1)" 'rehearsal'
tty_type C-u 'go on' Enter
tty_wait 'the conversation is alive after a cancel' '^Here again\.'
tty_type 'more' Enter
tty_wait 'an answer streams' '^plain'
tty_type 'typed ahead'
tty_wait 'what is typed meanwhile is shown at the prompt' '^› typed ahead'
t_unlike 'what is typed meanwhile is not mixed into the answer' "$(tty_screen | grep -v '^› ')" 'typed ahead'
t_unlike 'an answer cannot set the title' "$(tty_do display-message -p '#{pane_title}')" 'owned'
tty_type C-u
tty_type 'Neustart' Enter
tty_wait 'a restart goes on in the same conversation' '^Going on with rehearsal'
tty_prompt
tty_type C-d
tty_wait 'Ctrl-D leaves after a restart' '^status 0'
t_is 'after a restart the terminal is as it was' "$(tty_mode)" 'icrnl opost isig icanon echo '
tty_stop
t_unsetenv FADEN_AI_REHEARSAL_SCRIPT

talk --agent rehearsal
tty_wait 'the start before a signal shows a prompt' '^›'
pid=$(tty_do display-message -p '#{pane_pid}')
kill -TERM "$(ps -o pid= --ppid "$pid" | head -n 1)"
tty_wait 'a signal ends faden' '^status 143'
t_is 'after a signal the terminal is as it was' "$(tty_mode)" 'icrnl opost isig icanon echo '
tty_stop

# A conversation that is longer than the screen, and one that is not.
{ printf 'say first line' && seq 1 40 | sed 's/.*/\\nline &/' | tr -d '\n' && echo; } >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
t_exit 'a long answer is taken' 0 t_faden ask --new long
t_unsetenv FADEN_AI_REHEARSAL_SCRIPT
t_exit 'the long answer is listed' 0 t_faden list -F '{id}'
id=$(head -n 1 "$t_out")
shown() {
	tty_start 70 16 sh -c "trap : INT; '$FADEN' show $id; echo status \$?; exec cat"
}
# less drops what was typed behind a Ctrl-C while it deals with that.
last_screen() {
	tty_type G
	tty_shows 'line 40'
}
if command -v less >/dev/null; then
	t_tools less
	shown
	tty_wait 'a long text stops at the first screen' 'line 3'
	t_unlike 'a long text is in the pager' "$(tty_screen)" '^ *line 40|^status'
	tty_type C-c
	t_ok 'Ctrl-C does not end the pager' t_wait_for 10 last_screen
	tty_type q
	tty_wait 'q ends the pager' '^status 0'
	t_is 'after the pager the terminal is as it was' "$(tty_mode)" 'icrnl opost isig icanon echo '
	tty_stop
	rm "$t_bin/less"
else
	t_skip 'a long text is in the pager' 'less is not installed'
fi
t_setenv 'PAGER=no-such-pager'
shown
tty_wait 'a long text is shown whole without a pager' 'line 40'
tty_wait 'show ends at once without a pager' '^status 0'
tty_stop
t_done
