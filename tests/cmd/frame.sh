#!/bin/sh
# What every command has: help, options, errors, exit status, one check of the output.
. "$(dirname "$0")/../lib.sh"
cd "$t_home" || exit 1

t_exit '--version is taken' 0 t_faden --version
t_like 'the version is one line' "$(cat "$t_out")" '^faden [0-9]+\.[0-9]+\.[0-9]+$'
t_exit '--version wins over everything' 0 t_faden list --version --agent codex
t_is '--version makes no file' "$(find "$t_home" -type f | wc -l)" 0

# --- help ---
commands=$(t_faden help --json | tr '{' '\n' |
	sed -n 's/^"name":"\([^"]*\)","alias".*/\1/p')
t_like 'help --json names the commands' "$commands" '^ask$'
for command in '' $commands; do
	# shellcheck disable=SC2086 # none or one word
	t_exit "faden $command --help is taken" 0 t_faden $command --help
	t_is "faden $command --help goes to standard output" "$(cat "$t_err")" ''
	t_is "faden $command --help fits 80 columns" "$(awk '{ gsub(/…/, "."); if (length($0) > 80) print }' "$t_out")" ''
	cp "$t_out" "$t_tmp/long"
	# shellcheck disable=SC2086
	t_exit "faden $command -h is taken" 0 t_faden $command -h
	t_ok "faden $command -h says the same as --help" cmp "$t_tmp/long" "$t_out"
	[ -z "$command" ] || {
		t_exit "faden help $command is taken" 0 t_faden help "$command"
		t_ok "faden help $command says the same as --help" cmp "$t_tmp/long" "$t_out"
	}
done
t_exit '-h wins over a wrong option' 0 t_faden list --nonsense -h
t_like '-h beside a wrong option is help' "$(cat "$t_out")" '^usage: faden list'

# --- usage errors ---
wrong() {
	t_exit "a mistake of usage is refused: faden $*" 2 t_faden "$@"
	t_is "a mistake of usage prints nothing on standard output: faden $*" "$(cat "$t_out")" ''
}
wrong lsit
t_like 'a command is suggested' "$(cat "$t_err")" "^faden: there is no command 'lsit' \(did you mean 'list'\?\)$"
wrong tell me a joke
t_like 'what is no command is no prompt' "$(cat "$t_err")" "no command 'tell'"
wrong list --al
t_like 'an option is suggested' "$(cat "$t_err")" "unknown option '--al' \(did you mean '--all'\?\)"
wrong --nonsense
wrong help one two
t_like 'a word too many is named' "$(cat "$t_err")" "too many: 'two'"
wrong rename
t_like 'a missing word is named' "$(cat "$t_err")" 'missing: faden rename SESSION NAME'
wrong list --color blue
wrong list --limit
wrong help nonsense
# An empty path is none: it is not the folder that one is in.
mkdir "$t_tmp/untouched"
cd "$t_tmp/untouched" || exit 1
for option in state config; do
	for words in 'ask hello' list config doctor; do
		# shellcheck disable=SC2086
		wrong "--$option" '' $words
		t_like "an empty name is told: --$option, $words" "$(cat "$t_err")" "--$option '': an empty name is no "
	done
	wrong list "--$option="
done
wrong import ''
t_like 'so is that of a bundle' "$(cat "$t_err")" "^faden: import: '': an empty name is no bundle"
# The XDG rules have it that such a variable is not set.
for value in '' relative/path; do
	for kind in CONFIG STATE DATA CACHE; do
		t_setenv "XDG_${kind}_HOME=$value"
	done
	t_setenv "XDG_RUNTIME_DIR=$value"
	t_exit "a folder that is none is passed over: XDG_*_HOME='$value'" 0 t_faden ask hello
	t_is "its place is taken by that below the home: XDG_*_HOME='$value'" "$(t_faden config path)" "$t_home/.config/faden/config.yaml"
done
t_is 'nothing is written where one happens to be' "$(ls -A)" ''
t_setenv "XDG_CONFIG_HOME=$t_home/.config"
t_setenv "XDG_DATA_HOME=$t_home/.local/share"
t_setenv "XDG_STATE_HOME=$t_home/.local/state"
t_setenv "XDG_CACHE_HOME=$t_home/.cache"
t_setenv "XDG_RUNTIME_DIR=$t_tmp/run"
cd "$t_root" || exit 1

# --- failures for programs: one shape, whoever it is asked of ---
for words in 'advise nobody' 'lineage nobody' 'recall 0123456789abcdef' 'rename nobody x' 'repair nobody' \
	'resume nobody' 'rollover nobody' 'show nobody' 'smart-trim nobody' 'trim nobody' \
	'config get no.such' 'ask --in nobody x' 'trim --in-place' 'repair --out x' \
	'repair --bogus' 'route' 'advise --state /dev/null/x nobody' \
	'trim --state /dev/null/x nobody' 'list --config /no/where'; do
	# shellcheck disable=SC2086 # words
	t_faden $words >/dev/null 2>&1
	# shellcheck disable=SC2086
	t_exit "a failure for programs has the status of that for people: $words" $? t_faden $words --json
	t_is "a failure for programs is one object: $words" "$(sed -E 's/"message":"[^"]+"/"message":"…"/; s/"code":"[a-z-]+"/"code":"…"/' "$t_out")" \
		'{"error":{"code":"…","message":"…"}}'
done

# --- options in any place ---
t_exit 'global options are taken before the command' 0 t_faden --color never --state "$t_tmp/s" help
t_exit 'global options are taken after the command' 0 t_faden help --color=never list
t_exit 'a global option is taken by a command that has none of that name' 0 t_faden --config "$t_tmp/none" config path
t_is 'a global option has its value' "$(cat "$t_out")" "$t_tmp/none"

# --- output ---
full() { t_faden help >/dev/full; }
t_exit 'output to a full disk is a failure' 5 full
t_like 'a full disk is named' "$(cat "$t_err")" '^faden: standard output: No space left'
# The reader is gone before the writer begins.
mkfifo "$t_tmp/pipe"
gone() {
	(
		exec 3<>"$t_tmp/pipe" 4>"$t_tmp/pipe"
		exec 3>&-
		t_faden help >&4
	)
}
t_exit 'output to a reader that has gone ends with SIGPIPE' 141 gone
t_is 'a reader that has gone is no error to speak of' "$(cat "$t_err")" ''

# On a narrow terminal lines end between words: what is printed has the words of what a pipe gets.
narrow() { t_run script -qec "stty cols 40; $FADEN $1 2>&1" /dev/null </dev/null; }
words() { tr -s ' \r\n' '\n\n\n' | grep -v '^$'; }
if command -v script >/dev/null; then
	t_tools script
	for line in --help 'trim --help' 'trim --bogus' 'repair nobody' 'list --help'; do
		narrow "$line" >"$t_out"
		t_is "no word is torn on a narrow terminal: $line" "$(words <"$t_out")" "$(t_run sh -c "$FADEN $line 2>&1" | words)"
		t_is "lines of several words fit a narrow terminal: $line" "$(tr -d '\r' <"$t_out" | grep -Ev '^usage|^       faden|^  config ' | awk 'length($0) > 40 && NF > 1')" ''
	done
else
	t_skip 'no word is torn on a narrow terminal' 'script is not installed'
fi

# --- environment ---
t_setenv 'FADEN_CLOCK=yesterday'
t_exit 'a wrong clock is refused' 3 t_faden config path
t_like 'a wrong clock is named with its value' "$(cat "$t_err")" "FADEN_CLOCK: 'yesterday'"
t_unsetenv FADEN_CLOCK
t_setenv 'HOME=relative'
t_exit 'a home that is none is refused' 3 t_faden config path
t_setenv "HOME=$t_home"
t_done
