#!/bin/sh
# A passphrase at a terminal: it is not shown, asked for twice when it seals, and again when it is wrong.
# shellcheck disable=SC2154 # variables of lib.sh
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/tmux.sh"
tty_need
cd "$t_home" || exit 1
a=aaaaaaaa-0000-4000-8000-000000000001
"$t_helper/make-session" claude "$t_home/.claude" "$t_home" "$a" one two >/dev/null
try() { tty_start 70 16 sh -c "'$FADEN' $1; echo status \$?; stty -a | grep -o ' -*echo ' | tr -d ' '; exec cat"; }

try "export $a --seal -o x.faden"
tty_wait 'the passphrase is asked for' '^Passphrase for x.faden: *$'
tty_type 'horsx' BSpace 'e' Enter
tty_wait 'and once more' '^Once more: *$'
tty_type 'horse' Enter
tty_wait 'it is written' '^status 0'
tty_wait 'the terminal shows what is typed again' '^echo$'
t_unlike 'it was never to be seen' "$(tty_screen)" hors
tty_stop

try "export $a --seal -o y.faden"
tty_wait 'it is asked for another time' '^Passphrase'
tty_type 'horse' Enter
tty_wait 'once more too' '^Once more'
tty_type 'house' Enter
tty_wait 'two that differ are refused' 'the two passphrases differ; nothing was written'
t_ok 'nothing was written' test ! -e y.faden
tty_stop

try "export $a --seal -o y.faden"
tty_wait 'it can be left' '^Passphrase'
tty_type 'hor' C-c
tty_wait 'with Ctrl-C' '^status 130'
tty_wait 'and the terminal is as it was' '^echo$'
t_ok 'and nothing was written' test ! -e y.faden
tty_stop

rm -r .claude
try "import x.faden"
tty_wait 'it is asked for to import' '^Passphrase for x.faden'
tty_type 'house' Enter
tty_wait 'a wrong one is asked for again' 'not the passphrase it was sealed with'
tty_type 'horse' Enter
tty_wait 'the right one opens it' '^status 0'
t_is 'it is there' "$(find .claude -name "$a.jsonl" | wc -l)" 1
tty_stop
t_done
