#!/bin/sh
# Man pages and completions: made from the tables, complete, well formed.
. "$(dirname "$0")/../lib.sh"

commands=$(t_faden help --json | tr '{' '\n' | sed -n 's/^"name":"\([^"]*\)","alias".*/\1/p')
for command in $commands; do
	t_ok "docs/man/$command.mdoc is there" test -f "$t_root/docs/man/$command.mdoc"
done
for prose in "$t_root"/docs/man/*.mdoc; do
	name=$(basename "$prose" .mdoc)
	case $name in faden | config-file | json) continue ;; esac
	t_like "docs/man/$name.mdoc has a command" "$commands" "^$name$"
	t_like "docs/man/$name.mdoc has an example" "$(cat "$prose")" '^\.Sh EXAMPLES$'
done

t_ok 'man pages are made' python3 "$t_root/tools/gen-man" "$FADEN" "$t_root/docs/man" "$t_tmp/man"
if command -v mandoc >/dev/null; then
	for page in "$t_tmp"/man/*; do
		t_ok "$(basename "$page") is well formed" mandoc -Tlint -Wwarning "$page"
		t_unlike "$(basename "$page") has no quotes within quotes" \
			"$(mandoc -Tutf8 "$page" | sed "s/.$(printf '\b')//g")" '‘[^’]*‘|“[^”]*“|’’|””'
	done
else
	t_skip 'man pages are well formed' 'mandoc is not installed'
fi
t_is 'exit statuses of its own are in the page of a command, each once' \
	"$(sed -n '/^\.Sh EXIT/,/^\.Sh EXAM/s/^\.It //p' "$t_tmp/man/faden-master.1" | tr '\n' ' ')" '0 1 2 4 5 7 8 9 130 3 6 70 128 '
t_like 'every setting has a row in its man page' "$(cat "$t_tmp/man/faden-config.5")" '^\.It Cm ai\.permission_mode$'

mkdir -p "$t_tmp/prefix/bin" "$t_tmp/prefix/share/man/man1"
cp "$FADEN" "$t_tmp/prefix/bin/faden"
printf '#!/bin/sh\necho "page $1"\n' >"$t_bin/man"
chmod +x "$t_bin/man"
t_tools script
cp "$t_tmp/man/faden-list.1" "$t_tmp/prefix/share/man/man1"
on_tty() { t_run script -qec "$t_tmp/prefix/bin/faden help $1" /dev/null </dev/null; }
if command -v script >/dev/null; then
	t_like 'help shows the page beside the program' "$(on_tty list)" 'page .*/share/man/man1/faden-list\.1'
	t_like 'help of a command without a page shows the options' "$(on_tty ask)" '^usage: faden ask'
else
	t_skip 'help shows the page' 'script is not installed'
fi
t_like 'help on a pipe shows the options' "$(t_faden help list)" '^usage: faden list'

t_ok 'completions are made' python3 "$t_root/tools/gen-completions" "$FADEN" "$t_tmp/comp"

# complete WORD…: what bash offers for the last word
complete() {
	bash -c '
		. "$0"
		COMP_WORDS=(faden "$@")
		COMP_CWORD=$#
		compopt() { :; }
		faden() { printf "11111111-session\tclaude words\nmy name\tclaude 11111111\n"; }
		_faden
		printf "%s\n" "${COMPREPLY[@]}"' "$t_tmp/comp/faden" "$@"
}
t_is 'the manual has the groups of commands in the order of --help' \
	"$(sed -n '/^\.Sh COMMANDS/,/^\.Sh SETTINGS/s/^\.Ss //p' "$t_build/docs/faden.1")" \
	"$(t_faden --help | sed -n '/^[A-Z].*:$/s/:$//p' | grep -v '^Options')"
t_is 'a command is completed' "$(complete comm)" commands
t_like 'an option of a command is completed' "$(complete list --a)" '^--all$'
t_is 'a value is completed' "$(complete --color n)" never
t_is 'an agent is completed' "$(complete ask --agent reh)" rehearsal
t_is 'only an agent with hooks is completed for hooks' "$(complete hook --agent reh)" ''
t_like 'an option without a command is completed' "$(complete --new)" '^--new-session$'
t_is 'a verb is completed' "$(complete config ex)" example
t_is 'a session is completed' "$(complete show 1)" 11111111-session
t_is 'a name is completed, quoted' "$(complete show my)" 'my\ name'
t_is 'a quoted name is completed as far as it is typed' "$(complete show 'my\ n')" 'my\ name'
t_is 'a session behind an option is completed' "$(complete ask --in 1)" 11111111-session
t_is 'the command after an option with a value is completed' "$(complete --color never doc)" doctor
t_done
