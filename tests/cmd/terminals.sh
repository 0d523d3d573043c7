#!/bin/sh
# A correction is of the sentence that was told of last in its terminal, whatever runs or ends besides.
. "$(dirname "$0")/../lib.sh"
t_tools setsid
mkdir -p "$t_tmp/bakery"
cd "$t_tmp/bakery" || exit 1
ask() { t_faden ask --agent rehearsal --json "$@"; }
conversation() { sed 's/"next":.*//; s/"candidates":.*//; s/.*"conversation_id":"\([^"]*\)".*/\1/' "$t_out"; }

t_exit 'a parser is begun' 0 ask --new write a parser for ini files
parser=$(conversation)
t_exit 'a logo is begun' 0 ask --new design a logo for the bakery
logo=$(conversation)
printf 'wait 600000\nsay done\n' >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
t_start_faden ask --agent rehearsal --new deploy the release to staging >/dev/null 2>&1
t_ok 'a long turn runs beside' t_wait_for 20 grep -rqs 'deploy the release' "$t_home"
t_unsetenv FADEN_AI_REHEARSAL_SCRIPT
t_exit 'something is said of the parser meanwhile' 0 ask --in "$parser" comments begin with a semicolon
t_is 'and gone on with' "$(conversation)" "$parser"
t_exit 'route tells what a correction says' 0 t_faden route no, new conversation
t_like 'what was said after the long turn began' "$(cat "$t_out")" '^It would say: comments'
kill -INT "$t_pid"
wait "$t_pid" 2>/dev/null
t_exit 'route tells it when the long turn has ended' 0 t_faden route no, new conversation
t_like 'which is what it was' "$(cat "$t_out")" '^It would say: comments'
t_exit 'another terminal corrects as well' 0 t_run setsid -w "$FADEN" ask --agent rehearsal no, the other one
t_like 'which is nothing that was said here' "$(cat "$t_err")" 'From now on: '
t_unlike 'and nothing is said again' "$(cat "$t_out")" 'You said'
t_exit 'another terminal says something' 0 t_run setsid -w "$FADEN" ask --agent rehearsal --in "$logo" with a loaf in it
t_exit 'the correction is taken' 0 ask no, the one about the logo
t_is 'it leads where it should' "$(conversation)" "$logo"
t_like 'with what was told here' "$(cat "$t_out")" 'You said: comments begin with a semicolon'

t_done
