#!/bin/sh
# Standard input that is no terminal: one turn a line.
. "$(dirname "$0")/../lib.sh"
cd "$t_home" || exit 1

lines() { printf '%s\n' "$@" | t_faden; }

t_exit 'each line is a turn' 0 lines one '' two 'what did I say?'
t_is 'answers on standard output, in order' "$(grep -c '^You said' "$t_out")" 2
t_like 'the conversation is one' "$(cat "$t_out")" '^2\. two'
t_like 'diagnostics are not among them' "$(cat "$t_err")" 'rehearsal'

t_exit 'commands are recognised' 0 lines 'Jarvis, von vorne bitte!' 'what did I say?'
t_like 'a reset asks no agent' "$(cat "$t_out")" '^All right, I am starting a new conversation\.$'
t_like 'and is in force' "$(cat "$t_out")" 'Nothing yet'
t_exit 'cancel with nothing running' 0 lines stopp
t_is 'is answered' "$(cat "$t_out")" 'All right.'
t_exit 'words inside a sentence are no command' 0 lines 'Stelle die Stoppuhr auf fünf Minuten'
t_like 'but go to the agent' "$(cat "$t_out")" '^You said: Stelle die Stoppuhr'

fresh() { printf 'what did I say?\n' | t_faden --new-session; }
t_exit '--new-session' 0 fresh
t_like 'starts fresh' "$(cat "$t_out")" 'Nothing yet'
t_exit 'a conversation that goes on' 0 lines 'and more'
t_like 'is named on standard error' "$(cat "$t_err")" '^faden: Going on with rehearsal: "what did I say\?" \(1 turn, just now\)\.$'
no_newline() { printf 'no newline at the end' | t_faden; }
t_exit 'the last line needs no newline' 0 no_newline
t_like 'to be a turn' "$(cat "$t_out")" '^You said: no newline'

printf 'fail rate-limited wait a bit\n---\nsay fine\n' >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
failing() { printf 'a\nb\n' | t_faden --new-session; }
t_exit 'a failed turn shows in the exit status' 4 failing
t_like 'and is explained' "$(cat "$t_err")" 'rehearsal: wait a bit'
t_like 'the next one is taken all the same' "$(cat "$t_out")" '^fine'
printf 'retry 50 the model is overloaded\nsay there\n' >"$t_tmp/script"
retrying() { printf 'a\n' | t_faden --new-session; }
t_exit 'an agent that tries again' 0 retrying
t_like 'is said so' "$(cat "$t_err")" '^faden: the model is overloaded; trying again in 1 s$'
t_unsetenv FADEN_AI_REHEARSAL_SCRIPT

t_exit 'empty input' 0 t_faden </dev/null
t_is 'says nothing' "$(cat "$t_out")" ''
t_done
