#!/bin/sh
# What an utterance is, by the real program.
. "$(dirname "$0")/../lib.sh"
cd "$t_home" || exit 1

# is COMMAND TEXT
is() {
	t_like "$2" "$(t_faden commands --json -- "$2")" "^\{\"command\":\"$1\","
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

t_exit 'words without quotes' 0 t_faden commands never mind
t_is 'are one text' "$(cat "$t_out")" "cancel: the whole utterance is the cancel keyword 'never mind'"
t_exit 'JSON' 0 t_faden commands --json -- Halt
t_is 'is one object' "$(cat "$t_out")" '{"command":"cancel","keyword":"halt","language":"de","reason":"the whole utterance is the cancel keyword '"'halt'"'"}'
t_exit 'without a text' 0 t_faden commands
t_like 'the keywords are listed' "$(cat "$t_out")" '^reset +de +von vorne$'
t_exit 'as JSON too' 0 t_faden commands --json
t_like 'by command' "$(cat "$t_out")" '"restart":\[\{"keyword":"neustart","language":"de"\}'
t_is 'no state is made' "$(find "$t_home" -type f | wc -l)" 0

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
