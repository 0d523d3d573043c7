#!/bin/sh
# What an utterance is, by the real program.
. "$(dirname "$0")/../lib.sh"
cd "$t_home" || exit 1

# is COMMAND TEXT
is() {
	t_like "$2 is $1" "$(t_faden commands --json -- "$2")" "^\{\"command\":\"$1\","
}
is cancel 'Jarvis, bitte stopp!'
is cancel 'FORGET IT'
is reset 'Ein neues Gespräch, bitte'
is reset 'start   over.'
is restart 'Jarvis: Neustart'
is undo 'undo the reset'
is agent 'Hilfe!'
is agent 'stop the server'
is agent '--help'
is ignored ''
is ignored ' ?! '

t_exit 'words without quotes are taken' 0 t_faden commands never mind
t_is 'words without quotes are one text' "$(cat "$t_out")" "cancel: the whole utterance is the cancel keyword 'never mind'"
t_exit '--json is taken' 0 t_faden commands --json -- Halt
t_is '--json is one object' "$(cat "$t_out")" '{"command":"cancel","keyword":"halt","language":"de","reason":"the whole utterance is the cancel keyword '"'halt'"'"}'
t_exit 'without a text the keywords are listed' 0 t_faden commands
t_like 'each keyword is listed with command and language' "$(cat "$t_out")" '^reset +de +von vorne$'
t_exit 'the keywords are listed as JSON' 0 t_faden commands --json
t_like 'the JSON has the keywords by command' "$(cat "$t_out")" '"restart":\[\{"keyword":"neustart","language":"de"\}'
t_is 'commands makes no state' "$(find "$t_home" -type f | wc -l)" 0

mkdir -p "$t_home/.config/faden"
cat >"$t_home/.config/faden/config.yaml" <<'END'
assistant: {name: Frau Holle}
commands:
  match: whole
  cancel_keywords: ["Es   REICHT!"]
END
is cancel 'frau holle, es reicht'
is agent 'stopp'
is ignored 'Frau Holle?'
printf 'commands: {match: contains}\n' >"$t_home/.config/faden/config.yaml"
is cancel 'Stelle die Stoppuhr'
t_setenv 'FADEN_COMMANDS_MATCH=whole'
is agent 'Stelle die Stoppuhr'
t_done
