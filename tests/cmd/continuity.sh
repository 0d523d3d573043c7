#!/bin/sh
# The conversation goes on after a restart, and a reset is kept.
. "$(dirname "$0")/../lib.sh"
mkdir -p "$t_tmp/a" "$t_tmp/b"
cd "$t_tmp/a" || exit 1

t_exit 'the first start ever' 0 t_faden ask the blue door
t_like 'is answered' "$(cat "$t_out")" 'You said: the blue door'
t_like 'and says who answers' "$(cat "$t_err")" 'rehearsal agent'

t_exit 'the next process goes on' 0 t_faden ask 'what did I say?'
t_like 'with the same conversation' "$(cat "$t_out")" '^1\. the blue door'

cd "$t_tmp/b" || exit 1
t_exit 'another folder' 0 t_faden ask 'what did I say?'
t_like 'has its own' "$(cat "$t_out")" 'Nothing yet'
cd "$t_tmp/a" || exit 1
ln -s a "$t_tmp/link"
cd "$t_tmp/link" || exit 1
t_exit 'a link to the folder' 0 t_faden ask 'what did I say?'
t_like 'is the folder' "$(cat "$t_out")" '^1\. the blue door'
cd "$t_tmp/a" || exit 1

t_exit 'a fresh one on request' 0 t_faden ask --new 'what did I say?'
t_like 'knows nothing' "$(cat "$t_out")" 'Nothing yet'
t_exit 'and is the one that goes on' 0 t_faden ask 'what did I say?'
t_like 'from then on' "$(cat "$t_out")" '^1\. what did I say\?$'

t_exit 'reset' 0 t_faden reset
t_is 'says so' "$(cat "$t_out")" 'All right, I am starting a new conversation.'
t_exit 'twice is fine' 0 t_faden reset
t_exit 'the next turn' 0 t_faden ask 'what did I say?'
t_like 'is fresh' "$(cat "$t_out")" 'Nothing yet'
t_exit 'reset again' 0 t_faden reset
t_exit 'undo' 0 t_faden reset --undo
t_exit 'reset for programs' 0 t_faden reset --json
t_like 'nothing goes on' "$(cat "$t_out")" '^\{"directory":"/[^"]*","conversation":null,"agent":null,"session_id":null\}$'
t_exit 'undo for programs' 0 t_faden reset --undo --json
t_like 'says what does' "$(cat "$t_out")" '"conversation":"[0-9a-f-]{36}","agent":"rehearsal","session_id":"[0-9a-f-]{36}"\}$'
t_exit 'brings it' 0 t_faden ask 'what did I say?'
t_like 'back' "$(cat "$t_out")" '^1\. what did I say\?$'

mkdir "$t_tmp/new"
cd "$t_tmp/new" || exit 1
t_exit 'reset before the first turn' 0 t_faden reset
t_exit 'undo without a conversation' 1 t_faden reset --undo
t_like 'says that there is nothing' "$(cat "$t_err")" 'no reset to undo'

t_setenv FADEN_ASSISTANT_LANGUAGE=de
t_exit 'in German' 0 t_faden reset
t_is 'the words of the assistant' "$(cat "$t_out")" 'Alles klar, ich starte eine neue Konversation.'
t_done
