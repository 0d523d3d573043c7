#!/bin/sh
# The picker: who leaves out a SESSION or names several gets a list to choose from at a terminal,
# and the terminal back as it was, whatever happens.
# shellcheck disable=SC2154 # variables of lib.sh
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/tmux.sh"
tty_need
shop=$t_home/src/shop
blog=$t_home/src/blog
mkdir -p "$shop" "$blog" "$t_home/elsewhere"
cd "$t_home/elsewhere" || exit 1
t_setenv 'FADEN_CLOCK=2026-03-10T12:00:00Z'
make() {
	agent=$1
	shift
	"$t_helper/make-session" "$agent" "$t_home/.$agent" "$@" >/dev/null
}
a=aaaaaaaa-0000-4000-8000-000000000001
b=bbbbbbbb-0000-4000-8000-000000000002
c=01a00000-0000-7000-8000-000000000003
d=dddddddd-0000-4000-8000-000000000004
e=eeeeeeee-0000-4000-8000-000000000005
make claude "$shop" "$a" --time 2026-03-09T10:00:00Z \
	'the rounding error in the checkout total of orders with two discounts' 'now run the tests'
make claude "$shop" "$b" --time 2026-03-08T10:00:00Z --title twin 'first twin'
make codex "$blog" "$c" --time 2026-03-07T10:00:00Z --title twin 'second twin'
make claude "$blog" "$d" --time 2026-03-06T10:00:00Z \
	--title '日本語の長い題名がここにありますので、この行の終わりで切られます' 'Straße und Gärten'
make claude "$blog" "$e" --time 2026-03-05T10:00:00Z \
	--title "$(printf 'hostile \033]0;owned\a\033[31mred\033[2J')" 'words'

# pick COLUMNS ROWS ARGUMENTS: in a shell that says how it ended.
pick() {
	tty_start "$1" "$2" sh -c "echo before; '$FADEN' $3; status=\$?; sleep 0.3; echo status \$status; exec cat"
}
plain='icrnl opost isig icanon echo '
as_before() {
	t_is "$1: the mode of the terminal is as it was" "$(tty_mode)" "$plain"
	t_is "$1: the screen, its cursor and its margin are as they were" \
		"$(tty_do display-message -p '#{alternate_on} #{cursor_flag} #{wrap_flag}')" '0 1 1'
	t_like "$1: what was on the screen is there again" "$(tty_screen)" '^before$'
	t_unlike "$1: nothing of the list is left" "$(tty_screen)" '[23] days ago'
}

pick 80 24 show
tty_wait 'without a session here there is a list' '^> the rounding error in the check'
tty_wait 'with the last words of the first' '^answer 2 to now run the tests'
t_is 'at 80x24 it is drawn right' "$(tty_screen)" "$(
	cat <<-'END'
		>                                                                          5/5
		No session was begun in this folder: which one?
		> the rounding error in the checko…  25 h ago      claude   ~/src/shop
		  twin                               2 days ago    claude   ~/src/shop
		  twin                               3 days ago    codex    ~/src/blog
		  日本語の長い題名がここにあります…  4 days ago    claude   ~/src/blog
		  hostile red                        5 days ago    claude   ~/src/blog
		────────────────────────────────────────────────────────────────────────────────
		aaaaaaaa-0000-4000-8000-000000000001  2 turns  main  ~/src/shop
		answer 1 to the rounding error in the checkout total of orders with two
		discounts
		you  2026-03-09 10:00
		now run the tests
		claude  2026-03-09 10:00
		  Bash: echo 2
		answer 2 to now run the tests
		Enter choose  F1 keys  ^O read  ^Y copy id  Esc leave
	END
)"
t_is 'the title of the window is nobody else'"'"'s' \
	"$(tty_do display-message -p '#{pane_title}' | grep -c owned)" 0
tty_type 'gärten'
tty_wait 'what is typed is listed, by the first prompt too' '^> gärten  *1/5$'
tty_wait 'wide characters keep their place' '^> 日本語の長い題名がここにあります…  4 days ago    claude'
tty_type C-w 'STRASSE'
tty_wait 'letters count in any case' '^> STRASSE  *1/5$'
tty_type C-u 'blog twin'
tty_wait 'several words count together' '^> blog twin  *1/5$'
tty_type C-u 'no such'
tty_wait 'nothing may fit' '^  nothing fits'
tty_type Enter BSpace C-u
tty_wait 'and Enter does nothing then' '^>  *5/5$'
tty_type '?'
tty_wait 'a question mark shows the keys' '^\^W \^U  *delete the word'
tty_type Escape
tty_wait 'a key brings the list back' '^> the rounding error'
tty_type Down Down Up Enter
tty_wait 'what was chosen is shown' '^status 0'
t_like 'it is the one under the cursor' "$(tty_screen)" "^claude  $b"
tty_stop

pick 200 60 show
tty_wait 'a wide terminal has the words beside the list' '│ answer 2 to now run the tests'
t_is 'at 200x60 it is drawn right' "$(tty_screen | head -n 12 | sed 's| *5/5$||')" "$(
	cat <<-'END'
		>
		No session was begun in this folder: which one?
		> the rounding error in the checkout total of orders w…  25 h ago      claude   ~/src/shop          │ aaaaaaaa-0000-4000-8000-000000000001  2 turns  main  ~/src/shop
		  twin                                                   2 days ago    claude   ~/src/shop          │ you  2026-03-09 10:00
		  twin                                                   3 days ago    codex    ~/src/blog          │ the rounding error in the checkout total of orders with two discounts
		  日本語の長い題名がここにありますので、この行の終わり…  4 days ago    claude   ~/src/blog          │
		  hostile red                                            5 days ago    claude   ~/src/blog          │ claude  2026-03-09 10:00
		                                                                                                    │   Bash: echo 1
		                                                                                                    │ answer 1 to the rounding error in the checkout total of orders with two discounts
		                                                                                                    │
		                                                                                                    │ you  2026-03-09 10:00
		                                                                                                    │ now run the tests
	END
)"
t_is 'it uses all lines' "$(tty_screen | wc -l)" 60
tty_resize 40 10
tty_wait 'a smaller one is drawn anew' '^> the rounding error in t…  25 h ago *$'
t_unlike 'without what has no room' "$(tty_screen)" '│|claude'
tty_resize 20 5
tty_wait 'a tiny one has the titles' '^> the rounding erro…$'
t_is 'and nothing is wrapped' "$(tty_screen | wc -l)" 5
tty_resize 80 24
tty_wait 'and back' '^answer 2 to now run the tests'
tty_type Escape
tty_wait 'Escape leaves' '^status 130'
as_before 'Escape'
t_like 'it is said that nothing was chosen' "$(tty_screen)" '^faden: show: nothing was chosen'
tty_stop

pick 80 24 show
tty_wait 'the list is there before it is searched' '^>  *5/5$'
tty_type 'answer run'
tty_wait 'without an index what was said is not found' '^  nothing fits'
tty_type Escape
tty_wait 'it is left' '^status 130'
tty_stop
t_exit 'the index is made' 0 t_faden index
pick 80 24 show
tty_wait 'the list is there as well with an index' '^>  *5/5$'
tty_type 'answer run'
tty_wait 'with an index what was said is found' '^> the rounding error'
tty_wait 'and shown where it stands' '^answer 2 to now run the tests'
tty_type C-u 'ech'
tty_wait 'a word need not be whole' '^> ech  *[1-5]/5$'
tty_wait 'a hit is shown that is passed over otherwise' '"command":"echo 2"'
tty_type C-u 'out' Space
tty_wait 'what a tool said is found' '^> out  *[1-5]/5$'
tty_wait 'and shown' '^    out 2'
tty_type C-o
tty_wait 'it is read with what tools said' '^    out 2'
tty_wait 'to its end' '^faden: Enter goes back'
tty_type Enter
tty_wait 'and the list is there again' '^> out  *[1-5]/5$'
tty_type C-u '"unclosed -rounding agent:'
tty_wait 'what is half typed is no error' '^> "unclosed'
tty_type C-u 'rounding agent:codex'
tty_wait 'fields count' '^> rounding agent:codex  *[0-9]/5$'
t_unlike 'so that others are left out' "$(tty_screen)" 'the rounding error'
tty_type C-u yesterday
tty_wait 'a date lists what is from then' '^> yesterday  *1/5$'
tty_wait 'and is no word' '^> the rounding error'
tty_type C-u twin
tty_wait 'a title goes before what was said' '^> twin  *2 days ago'
tty_type Escape
tty_wait 'it is left with an index' '^status 130'
tty_stop

pick 80 24 'lineage twin'
tty_wait 'a name of several asks which' "^'twin' fits several sessions: which one"
tty_wait 'and lists only those' '^>  *2/2$'
tty_type Down Enter
tty_wait 'the command goes on with the one' '^status 0'
t_like 'which is the second' "$(tty_screen)" '01a00000-0000'
tty_stop

pick 80 24 'show discounts'
tty_wait 'a word of a first prompt is no name, but something to choose by' "^No session is called 'discounts': which one"
tty_wait 'it is typed already' '^> discounts  *1/5$'
tty_type Enter
tty_wait 'and it is chosen from what has it' '^status 0'
t_like 'by that word' "$(tty_screen)" "^claude  $a"
tty_stop
pick 80 24 'show disc0unts'
tty_wait 'what is nowhere is no name of anything' '^status 1'
tty_stop

pick 80 24 'show twin'
tty_wait 'it is there before it is read' '^>  *2/2$'
tty_type C-o
tty_wait 'what is under the cursor is read' '^first twin'
tty_wait 'without a pager it waits for the reader' '^faden: Enter goes back'
tty_type Enter
tty_wait 'and the list is back' '^>  *2/2$'
tty_do set-option -s set-clipboard on
tty_type C-y
tty_wait 'without a program for it the id is given to the terminal' "^given to the terminal's clipboard: $b"
copied() { [ "$(tty_do show-buffer 2>/dev/null)" = "$b" ]; }
t_ok 'which has it' t_wait_for 10 copied
tty_type C-c
tty_wait 'Ctrl-C leaves' '^status 130'
as_before 'Ctrl-C'
tty_stop

long=ffffffff-0000-4000-8000-000000000006
make claude "$shop" "$long" --time 2026-03-04T10:00:00Z --title 'much output' 'print much'
sed -i "s/out 1/$(printf '%06000d' 7)/" "$t_home/.claude/projects/"*/$long.jsonl
pick 100 24 search
tty_wait 'search without words lists all' '^>  *6/6$'
tty_wait 'with the keys that do something' '^Enter resume  F1 keys  \^O read  \^Y copy id  M-t trim  M-r rollover'
tty_type 'much'
tty_wait 'what is typed is searched' '^> much  *1/6$'
tty_type M-t
tty_wait 'a key trims it' '^status 0'
t_like 'as faden trim does' "$(tty_screen)" "from  *$long"
tty_stop
pick 100 24 'search --agent codex'
tty_wait 'search of one agent lists its sessions' '^>  *1/1$'
tty_type M-r
tty_wait 'a key makes a rollover of it' '^status 0'
t_like 'as faden rollover does' "$(tty_screen)" "01a00000-0000-7000-8000-000000000003"
tty_stop
pick 100 24 'search --here'
tty_wait 'in a project without sessions there is nothing to choose from' '^status 1'
tty_stop
pick 100 24 search
tty_wait 'the list is there before Enter' '^>  *[78]/[78]$'
tty_type rounding
tty_wait 'the session is the first' '^> the rounding error'
tty_type Enter
tty_wait 'Enter resumes, if the agent is there' '^status 4'
t_like 'and it is said that it is not' "$(tty_screen)" "no program 'claude'"
tty_stop
t_exit 'search without words is an error on a pipe' 2 t_faden search

# Every command that takes a SESSION.
for command in advise export fork lineage repair replay resume rollover smart-trim trim 'port --to codex' \
	delete diff 'diff twin' merge 'merge twin' 'archive restore --replace' 'archive export' 'rename twin new'; do
	pick 80 24 "$command"
	tty_wait "faden $command lets one choose" '^Enter choose'
	tty_type Escape
	tty_wait "faden $command is left" '^status 130'
	tty_stop
done
pick 80 24 diff
tty_wait 'the first of two' '^Which session is the first of the two\?'
tty_type 'rounding' Enter
tty_wait 'and then the other' '^Which other session\?'
tty_type 'much' Enter
tty_wait 'are compared' '^status 1'
t_like 'these two' "$(tty_screen)" '^.*much output'
tty_stop
t_exit 'on a pipe what is missing is said' 2 t_faden delete
t_like 'as ever' "$(cat "$t_err")" 'something is missing: faden delete SESSION'
t_exit 'also of two' 2 t_faden diff "$a"

# The first child of the shell, which the picker is.
picker_pid() {
	ps -o pid=,comm= --ppid "$(tty_do display-message -p '#{pane_pid}')" | awk '$2 == "faden" { print $1 }'
}
for signal in TERM HUP KILL; do
	pick 80 24 'show twin'
	tty_wait "it is there before SIG$signal" '^>  *2/2$'
	kill "-$signal" "$(picker_pid)"
	tty_wait "SIG$signal ends it" '^status (143|129|137)'
	as_before "SIG$signal"
	tty_stop
done
# A shell may hear of the death before the guard has brought its screen back.
tty_start 80 24 bash --norc --noprofile -i
tty_type "PS1='next> '" Enter "'$FADEN' show twin" Enter
tty_wait 'it is there before a shell that is faster' '^>  *2/2$'
picker=$(picker_pid)
guard=$(ps -o pid=,comm= --ppid "$picker" | awk '$2 == "faden-guard" { print $1 }')
kill -STOP "$guard"
kill -KILL "$picker"
tty_wait 'the prompt is on the screen that goes' '^next>'
kill -CONT "$guard"
tty_wait 'and comes again on the one that stays' "show twin$"
tty_wait 'as the last line' '^next>$'
tty_stop
# Only this one: other tests have theirs meanwhile.
gone() { ! t_running "$guard"; }
t_ok 'its guard is gone, too' t_wait_for 10 gone

pick 80 24 'show twin </dev/null'
tty_wait 'without a terminal to read from nobody is asked' '^status 3'
t_like 'but those that fit are named' "$(tty_screen)" 'twin$'
tty_stop
pick 80 24 'show --json twin'
tty_wait 'a program is not asked' '^status 3'
tty_stop
pick 80 24 'show twin | cat'
tty_wait 'nor is a pipe' '^status 0'
t_like 'which hears of the error' "$(tty_screen)" "^faden: show: 'twin' "
# Sessions that are gone, and what is wrong with the words.
t_exit 'all are archived' 0 t_faden archive
t_exit 'and indexed' 0 t_faden index
rm "$(find "$t_home/.claude" -name "$a.jsonl")"
pick 80 24 search
tty_wait 'one that is gone is listed as such' '^  \(gone\) the rounding error'
tty_type Down
tty_wait 'with its last words' '^answer 2 to now run the tests'
tty_type 'discounts'
tty_wait 'it is found' '^> discounts  *1/8$'
tty_wait 'with the place' '^answer 1 to the rounding error in the checkout total of orders with two'
tty_type C-u 'agent:codx twin'
tty_wait 'a wrong value is said' '^agent:codx: there are sessions of claude'
tty_type C-u 'roundnig'
tty_wait 'what is near is said' '^near to it: rounding instead of roundnig'
tty_type Escape
tty_wait 'it is left' '^status'
pick 80 24 'archive restore'
tty_wait 'only what is gone can be restored' '^> .* 1/1$'
tty_type Enter
tty_wait 'it comes back' '^status 0'
t_ok 'there' test -n "$(find "$t_home/.claude" -name "$a.jsonl")"
pick 80 24 'archive restore'
tty_wait 'then there is none' 'no session is gone that the archive has'
tty_stop

# A project that was moved: its sessions go on where it lies now.
printf '#!/bin/sh\necho "runs in $PWD: $*"\n' >"$t_bin/codex"
chmod +x "$t_bin/codex"
mv "$blog" "$t_home/src/journal"
pick 100 24 search
tty_wait 'the list is there where the project never was' '^>  *8/8$'
tty_type 01a00000-0000-7000
tty_wait 'it is the first' '^> (\(gone\) )?twin  *3 days ago'
tty_type Enter
tty_wait 'what was begun in a folder that is gone cannot go on elsewhere' '^status 3'
t_like 'it is said how it goes on' "$(tty_screen | tr -d '\n')" "go to where it lies now, and: +faden resume --here $c"
tty_stop
cd "$t_home/src/journal" || exit 1
pick 100 24 search
tty_wait 'the list is there where it lies now' '^>  *8/8$'
tty_type 01a00000-0000-7000
tty_wait 'it is the first' '^> (\(gone\) )?twin  *3 days ago'
tty_type Enter
tty_wait 'there Enter goes on' '^status 0'
t_like 'in this folder' "$(tty_screen | tr -d '\n')" "runs in $t_home/src/journal: resume -C $t_home/src/journal $c"
tty_stop
rm "$(find "$t_home/.codex" -name "*$c.jsonl")"
cd "$t_home/elsewhere" || exit 1
pick 100 24 search
tty_wait 'it is gone as well' '^>  *8/8$'
tty_type 01a00000-0000-7000
tty_wait 'it is the first' '^> (\(gone\) )?twin  *3 days ago'
tty_type Enter
tty_wait 'one that cannot go on here' '^status 3'
t_is 'does not come back' "$(find "$t_home/.codex" -name "*$c.jsonl")" ''
tty_stop

# What was only set aside, for a trimmed copy, is shown as well.
g=aaaaaaaa-0000-4000-8000-000000000007
make claude "$shop" "$g" --time 2026-03-04T10:00:00Z 'the quay wall'
file=$(find "$t_home/.claude" -name "$g.jsonl")
sed -i "s/\"out 1\"/\"$(printf '%04000d' 0)\"/" "$file"
t_exit 'one is trimmed' 0 t_faden trim "$g"
t_exit 'and indexed' 0 t_faden index --no-archive
rm "$file"
pick 100 24 search
tty_wait 'it is listed' '/10$'
tty_type "$g"
tty_wait 'it is the first' '^> \(gone\) the quay wall'
tty_wait 'with its last words' '^answer 1 to the quay wall'
tty_type Escape
tty_stop
t_done
