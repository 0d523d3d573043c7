#!/bin/sh
# faden list in a window: the names get the room, and what was made from another session says how.
# shellcheck disable=SC2154 # variables of lib.sh
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/tmux.sh"
tty_need
here=$t_tmp/here
there=$t_tmp/there-where-the-work-of-last-week-was-done
mkdir -p "$here" "$there"
cd "$here" || exit 1
t_setenv 'FADEN_CLOCK=2026-03-01T12:00:00Z'
make() {
	"$t_helper/make-session" claude "$t_home/.claude" "$@" >/dev/null
}
note() {
	sed -i "1s/^{/{\"trim_metadata\":{\"parent_session_id\":\"x\"$2},/" "$t_home/.claude"/projects/*/"$1.jsonl"
}
a=aaaaaaaa-0000-4000-8000-000000000001
b=bbbbbbbb-0000-4000-8000-000000000002
c=cccccccc-0000-4000-8000-000000000003
d=dddddddd-0000-4000-8000-000000000004
make "$here" "$a" 'the rounding error in the checkout total of orders with two discounts'
make "$here" "$b" --title 'trimmed one' words
make "$here" "$c" --title '日本語の長い題名がここにありますので切られます' words
make "$there" "$d" --title 'the work of last week, in short' words
note "$b" ''
note "$c" ',"trim_params":{"method":"smart-trim"}'

list() {
	tty_start "$1" "$2" sh -c "'$FADEN' list $3; echo end; exec cat"
	t_wait_for 10 tty_shows '^end'
	tty_screen | sed '/^end/d' >"$t_tmp/screen"
	tty_stop
}

list 80 24 ''
t_is 'at 80 columns, with all sessions here, there is no folder' \
	"$(head -n 1 "$t_tmp/screen" | tr -s ' ')" ' ID AGENT LAST TURNS SIZE NAME OR FIRST PROMPT'
t_like 'the title has the room' "$(cat "$t_tmp/screen")" \
	'aaaaaaaa .* the rounding error in the checkout …$'
t_like 'a trimmed session is marked' "$(cat "$t_tmp/screen")" '  \[trimmed\] trimmed one$'
t_like 'what an agent chose to trim is marked by the word of lineage' "$(cat "$t_tmp/screen")" \
	'  \[smart-trimmed\] 日本語の長い.*…$'
t_like 'no line is wrapped' "$(wc -l <"$t_tmp/screen")" '^4$'

list 80 24 --all
t_like 'where one is elsewhere, the folder is shown' "$(head -n 1 "$t_tmp/screen")" ' FOLDER  *NAME OR FIRST'
t_like 'the title goes before the folder' "$(cat "$t_tmp/screen")" \
	'dddddddd .* …[^ ]*-was-done  the work of last week, in short$'
t_like 'no line of all folders is wrapped' "$(wc -l <"$t_tmp/screen")" '^5$'

list 60 24 --all
t_like 'where it is narrow, the folder gives first, and keeps its end' "$(cat "$t_tmp/screen")" \
	'dddddddd .*  …-done  the work of last week,…$'

list 66 24 ''
t_is 'where it is narrow, size and turns make room' \
	"$(head -n 1 "$t_tmp/screen" | tr -s ' ')" ' ID AGENT LAST NAME OR FIRST PROMPT'
list 66 24 '--sort size'
t_like 'what is sorted by is shown' "$(head -n 1 "$t_tmp/screen")" ' SIZE '

list 200 60 --all
t_is 'a wide window shows all' "$(head -n 1 "$t_tmp/screen" | tr -s ' ')" \
	' ID AGENT LAST TURNS SIZE FOLDER NAME OR FIRST PROMPT'
t_like 'a wide window cuts no title' "$(cat "$t_tmp/screen")" ' of orders with two discounts$'
t_like 'a wide window cuts no folder' "$(cat "$t_tmp/screen")" 'last-week-was-done '
t_is 'one vocabulary: list' "$(t_faden list -F '{relation}' | sort | tr '\n' ' ')" ' smart-trimmed trimmed '
t_like 'one vocabulary: show' "$(t_faden show --json "$c" | head -c 2000)" '"relation":"smart-trimmed"'
t_like 'one vocabulary: lineage' "$(t_faden lineage "$c")" 'smart-trimmed'
t_done
