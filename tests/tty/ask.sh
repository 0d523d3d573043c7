#!/bin/sh
# faden ask at a terminal: it shows that it works, and nothing of that is left beside the answer.
# shellcheck disable=SC2154 # variables of lib.sh
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/tmux.sh"
tty_need
cd "$t_home" || exit 1
printf '*\nwait 2500\nsay Half an answer,\ntool Bash make => done\nwait 2500\nsay and the rest.\n' >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"

tty_start 70 16 sh -c "'$FADEN' ask --agent rehearsal hello; echo status \$?; exec cat"
tty_wait 'it is shown who works' 'thinking.* · rehearsal'
tty_wait 'it is shown for how long' '[1-9] s · rehearsal'
tty_wait 'the answer is shown' '^Half an answer,'
tty_wait 'a tool is shown while it runs, or what comes after it' '(Bash|thinking).* · rehearsal'
tty_once 'the status is there once' ' · rehearsal'
tty_wait 'the answer goes on' '^and the rest\.'
tty_wait 'it ends' '^status 0'
t_is 'nothing but the answer is left' "$(tty_screen)" 'Half an answer,
and the rest.
status 0'
tty_stop

tty_start 70 16 sh -c "'$FADEN' ask --agent rehearsal hello >'$t_tmp/answer'; echo status \$?; exec cat"
tty_wait 'it is shown though the answer goes to a file' 'thinking.* · rehearsal'
tty_wait 'it ends with the answer in a file' '^status 0'
t_is 'nothing is left on the screen' "$(tty_screen)" 'status 0'
t_is 'the file has the answer' "$(cat "$t_tmp/answer")" 'Half an answer,

and the rest.'
tty_stop

tty_start 70 16 sh -c "trap : INT; '$FADEN' ask --agent rehearsal hello; echo status \$?; exec cat"
tty_wait 'it is shown before a cancel' 'thinking.* · rehearsal'
tty_type C-c
tty_wait 'Ctrl-C ends it' '^status 130'
t_unlike 'nothing is left after Ctrl-C' "$(tty_screen)" 'thinking|cancelling'
tty_stop

t_exit 'on a pipe it answers' 0 t_faden ask --agent rehearsal --new hello
t_is 'on a pipe nothing is shown' "$(cat "$t_err")" ''

tty_start 70 16 sh -c "sleep 5 | '$FADEN' ask --agent rehearsal hello; echo status \$?; exec cat"
tty_wait 'a pipeline that is slow is waited for at a terminal' '^faden: waiting for standard input; Ctrl-C gives up'
tty_wait 'and answered' '^status 0'
t_done
