#!/bin/sh
# Tab in the shells people use: commands, options, values, verbs and sessions.
# shellcheck disable=SC2154 # variables of lib.sh
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/tmux.sh"
tty_need
comp=$t_tmp/comp
t_ok 'completions are made' python3 "$t_root/tools/gen-completions" "$FADEN" "$comp"
mkdir -p "$t_tmp/bin" "$t_home/.config/fish/completions"
ln -s "$FADEN" "$t_tmp/bin/faden"
cp "$comp/faden.fish" "$t_home/.config/fish/completions/"
t_setenv "PATH=$t_tmp/bin:$PATH"
cat >"$t_home/.zshrc" <<END
PS1='> '
fpath=($comp \$fpath)
autoload -Uz compinit && compinit -u
END
cat >"$t_home/.bashrc" <<END
PS1='> '
. $comp/faden
END
printf 'set -g fish_greeting\nfunction fish_prompt\n\techo -n "> "\nend\n' \
	>"$t_home/.config/fish/config.fish"
cd "$t_home" || exit 1
t_faden ask --agent rehearsal 'hello there' >/dev/null
id=$(t_faden list --json | sed -n 's/.*"session_id":"\([^"]*\)".*/\1/p')
t_faden rename "$id" seven

# tab NAME TEXT PATTERN: TEXT and Tab show it. Lines are taken back with Ctrl-U: after a
# Ctrl-C a busy bash was once seen to complete nothing more.
tab() {
	tty_type C-l
	t_wait_for 10 tty_shows '^> *$'
	tty_type "$2" Tab
	tty_wait "$shell completes $1" "$3"
	tty_type C-u
}

try_all() {
	tab 'a command' 'faden smart' '^> faden smart-trim'
	tab 'an option' 'faden trim --thr' '^> faden trim --threshold'
	tab 'a value' 'faden trim --style h' '^> faden trim --style head'
	tab 'a verb' 'faden hook inst' '^> faden hook install'
	tab 'a session' "faden show $(printf %.4s "$id")" "^> faden show $id"
	tab 'a name' 'faden show sev' '^> faden show seven'
	tab 'a session behind an option' 'faden ask --in sev' '^> faden ask --in seven'
	tab 'a command to read about' 'faden help rollo' '^> faden help rollover'
}

for shell in bash zsh fish; do
	if ! command -v "$shell" >/dev/null; then
		t_skip "$shell" 'not installed'
		continue
	fi
	tty_start 100 20 "$shell" -i
	tty_wait "$shell starts" '^> *$'
	try_all
	tty_stop
done
t_done
