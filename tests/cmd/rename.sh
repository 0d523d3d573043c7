#!/bin/sh
# faden rename: names of the user's own.
. "$(dirname "$0")/../lib.sh"

claude=$t_home/.claude
here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1
a=aaaaaaaa-0000-4000-8000-000000000001
file=$("$t_helper/make-session" claude "$claude" "$here" "$a" --title 'agent name' one)
sum=$(cksum <"$file")

t_exit 'a session gets a name' 0 t_faden rename aaaaaaaa 'My  own'
t_is 'the name is listed' "$(t_faden list -F '{name}')" 'My  own'
t_exit 'the name finds the session' 0 t_faden show 'my  own'
t_exit 'the name the agent gave does not find it any more' 1 t_faden show 'agent name'
t_exit 'a session gets another name' 0 t_faden rename 'My  own' 'über'
t_is 'another name replaces the first' "$(t_faden list -F '{name}')" 'über'
t_exit '--remove takes the name away' 0 t_faden rename --remove über
t_is 'the name of the agent is back' "$(t_faden list -F '{name}')" 'agent name'
t_is 'renaming leaves the file of the agent as it was' "$(cksum <"$file")" "$sum"

t_exit 'rename --json is taken' 0 t_faden rename --json aaaaaaaa 'One "more"'
t_like 'rename --json tells session, title and name' "$(cat "$t_out")" "^\{\"session_id\":\"$a\",\"agent\":\"claude\",\"title\":\"One \\\\\"more\\\\\"\",\"name\":\"One \\\\\"more\\\\\"\","
t_exit 'rename --json --remove is taken' 0 t_faden rename --json --remove aaaaaaaa
t_like 'rename --json --remove tells the name of the agent' "$(cat "$t_out")" '"name":"agent name"'
t_exit 'a failure of rename --json has its status' 1 t_faden rename --json nobody name
t_like 'a failure of rename --json is an object' "$(cat "$t_out")" '^\{"error":\{"code":"not-found","message":"'

printf '#!/bin/sh\n' >"$t_bin/claude"
chmod +x "$t_bin/claude"
t_exit 'resume --json is taken' 0 t_faden resume --json aaaaaaaa
t_is 'resume --json tells what it would run' "$(cat "$t_out")" "{\"session_id\":\"$a\",\"agent\":\"claude\",\"title\":\"agent name\",\"directory\":\"$here\",\"command\":[\"$t_bin/claude\",\"--resume\",\"$a\"]}"
t_exit 'resume --print is taken' 0 t_faden resume --print aaaaaaaa
t_is 'resume --print is quoted for a shell' "$(cat "$t_out")" "cd '$here' && '$t_bin/claude' '--resume' '$a'"
t_exit 'resume without a session is taken' 0 t_faden resume --print
t_is 'resume without a session takes the last one here' "$(cat "$t_out")" "cd '$here' && '$t_bin/claude' '--resume' '$a'"
t_like 'resume without a session says which one that is' "$(cat "$t_err")" "the last session of this folder: $a"
t_exit 'resume without a session where there is none is refused' 1 t_elsewhere resume --print
t_like 'it is said that none was begun here' "$(cat "$t_err")" 'no session was begun in this folder: name one'
t_exit 'resume --json of no session has its status' 1 t_faden resume --json nobody
t_like 'resume --json of no session is an object' "$(cat "$t_out")" '"code":"not-found"'

# Of our own ids a beginning is enough, too.
t_exit 'a conversation is begun' 0 t_faden ask --agent rehearsal --new --json count the swans
conversation=$(sed 's/.*"conversation_id":"\([^"]*\)".*/\1/' "$t_out")
ours=$(sed 's/.*"session_id":"\([^"]*\)".*/\1/' "$t_out")
for part in "$conversation" "${conversation%%-*}" "${conversation%-*}"; do
	t_is "show takes $part" "$(t_faden show --json "$part" 2>&1 | grep -c 'count the swans')" "$(t_faden show --json "$ours" | grep -c 'count the swans')"
	t_exit "ask --in takes $part" 0 t_faden ask --json --in "$part" 'what did I say?'
	t_like 'and is there' "$(cat "$t_out")" "\"conversation_id\":\"$conversation\""
	t_exit "advise takes $part" 0 t_faden advise "$part"
done
t_exit 'a beginning that nothing has is not found' 1 t_faden show 00ff00ff00ff
t_exit 'what is gone is said to be' 0 t_faden delete -y "${conversation%%-*}"

t_exit 'a name with a slash is taken' 0 t_faden rename aaaaaaaa feature/login
for words in show rename\ --json\ --remove advise; do
	# shellcheck disable=SC2086
	t_exit "a name with a slash is a name for $words" 0 t_faden $words feature/login
	t_faden rename aaaaaaaa feature/login
done
mkdir feature
cp "$file" feature/login
t_exit 'a file of that name does not hide the name' 0 t_faden rename --json feature/login other/name
t_like 'the session of that name is meant, not the file' "$(cat "$t_out")" "\"path\":\"$file\""
t_exit 'a path is a path where no session is called so' 0 t_faden show feature/login
t_exit 'a part of a name with a slash is enough' 0 t_faden show other/na
t_exit 'neither a file nor a name is refused' 1 t_faden show feature/none
t_is 'what is neither is told as both' "$(cat "$t_err")" 'faden: show: feature/none: no such file, and no session is called so'
t_faden rename --remove other/name

t_exit 'rename without a name is refused' 2 t_faden rename aaaaaaaa
t_exit 'an empty name is refused' 2 t_faden rename aaaaaaaa ''
t_exit 'a name of two lines is refused' 3 t_faden rename aaaaaaaa 'a
b'
t_exit 'a name with an escape sequence is refused' 3 t_faden rename aaaaaaaa "$(printf 'a\033[31mb')"
t_exit 'a name of bytes that are no text is refused' 3 t_faden rename aaaaaaaa "$(printf 'a\377')"
long=$(printf '%200s' '' | tr ' ' x)
t_exit 'a name as long as may be is taken' 0 t_faden rename aaaaaaaa "$long"
t_exit 'a longer name is refused' 3 t_faden rename aaaaaaaa "${long}x"
t_exit 'a name for a session that is not there is refused' 1 t_faden rename nobody name
t_exit '--remove with a name is refused' 2 t_faden rename --remove aaaaaaaa name

# a folder whose name would act when it is pasted
odd=$t_tmp/$(printf 'odd\n\033[201~ name')
mkdir "$odd"
h=eeeeeeee-0000-4000-8000-000000000099
long=$(head -c 4000 /dev/zero | tr '\0' 'y')
made=$("$t_helper/make-session" claude "$claude" "$odd" "$h" one two | tail -n 1)
sed -i "s/\"out 1\"/\"$long\"/" "$made"
t_is 'what resume would run names the folder without its controls' "$(t_faden resume --print "$h")" \
	"cd \$'$t_tmp/odd\\012\\033[201~ name' && '$t_bin/claude' '--resume' '$h'"
for words in "trim $h" "rollover $h" "repair $h" "lineage $h" "show $h" "advise $h" 'list --all'; do
	# shellcheck disable=SC2086 # words
	t_faden $words >"$t_out" 2>&1
	t_is "$words prints no escape character" "$(tr -cd '\033' <"$t_out" | wc -c)" 0
done

# one title, whoever says it: given here, else in the agent, else the first prompt
e=eeeeeeee-0000-4000-8000-000000000005
f=ffffffff-0000-4000-8000-000000000006
cd "$t_tmp" && mkdir -p titles && cd titles || exit 1
"$t_helper/make-session" claude "$t_home/.local/state/faden/rehearsal" "$PWD" "$e" --title 'blue door' 'the first words' >/dev/null
"$t_helper/make-session" claude "$t_home/.local/state/faden/rehearsal" "$PWD" "$f" 'other first words' >/dev/null
# title ID: as list, show, ask and route have it
title() {
	t_faden list -a -F '{title}' "$1"
	t_faden show "$1" | head -n 1
	t_faden ask --in "$1" --json 'paint it' 2>/dev/null | sed 's/.*"title":"\([^"]*\)".*/\1/'
	t_faden route --json 'paint it' | python3 -c 'import json, sys
print(*[c["title"] for c in json.load(sys.stdin)["candidates"] if c["session_id"] == sys.argv[1]])' "$1"
}
t_is 'the name given in the agent is the title everywhere' "$(title "$e" | sort -u)" 'blue door'
t_is 'the first prompt is the title everywhere' "$(title "$f" | sort -u)" 'other first words'
t_exit 'a session of a conversation is renamed' 0 t_faden rename "$e" 'red door'
t_is 'the name given here is the title everywhere' "$(title "$e" | sort -u)" 'red door'
t_unlike 'a name that nobody else has is no news' "$(cat "$t_err")" 'another session'
t_exit 'a name may be given twice' 0 t_faden rename "$f" 'Red door'
t_like 'it is said whose it is as well' "$(cat "$t_err")" "^faden: another session is called that too: $e; "

# --- two of one name ---
mkdir -p "$t_tmp/two" && cd "$t_tmp/two" || exit 1
for text in 'count the red tiles' 'paint the blue door'; do
	t_exit "it begins: $text" 0 t_faden ask --new --agent rehearsal "$text"
	t_exit 'it gets the name' 0 t_faden rename "$(t_faden list -F '{id} {title}' | sed -n "s/ $text//p")" melon
done
for text in 'back to melon' 'go back to the one about melon'; do
	t_exit "a name that two have is said: $text" 0 t_faden ask "$text"
	t_like 'that there are two is told, with how to take the other' "$(cat "$t_err")" '2 conversations have this name; another one of them: faden ask --in [0-9a-f-]{36}'
done
id=$(grep -oE -e '--in [0-9a-f-]{36}' "$t_err" | cut -d' ' -f2)
t_exit 'the other is taken by that' 0 t_faden ask --in "$id" 'what did I say first?'
t_exit 'and is looked at' 0 t_faden show "$id"
t_like 'it is the other one' "$(cat "$t_out")" 'count the red tiles'

# --- one thread: what was trimmed and what goes on ---
mkdir -p "$t_tmp/thread" && cd "$t_tmp/thread" || exit 1
ask() { t_faden ask --agent rehearsal "$@"; }
t_exit 'a thread begins' 0 ask count the tiles of the long corridor
old=$(t_faden list -F '{id}')
t_exit 'it is called papaya' 0 t_faden rename "$old" papaya
t_exit 'it is rolled over' 0 t_faden rollover papaya
new=$(t_faden list -F '{id}' papaya)
t_exit 'another one begins' 0 ask --new paint the old door
t_exit 'it is gone back to by its name' 0 ask --json back to papaya
t_like 'to what goes on of it' "$(cat "$t_out")" "\"session_id\":\"$new\""
t_unlike 'which alone has the name' "$(cat "$t_err")" 'have this name'
t_exit 'something new after what was just rolled over is told' 0 t_faden rollover papaya
t_exit 'that is said' 0 ask translate the manual of the camera into French
t_like 'and told' "$(cat "$t_err")" 'New conversation'

# a name of the agent's own stands in every copy
g=99999999-0000-4000-8000-000000000001
"$t_helper/make-session" claude "$t_home/.claude" "$t_tmp/thread" "$g" 'sort the seeds by weight' >/dev/null
printf '{"type":"custom-title","customTitle":"quince","sessionId":"%s"}\n' "$g" >>"$(t_faden list -F '{path}' "$g")"
t_exit 'and goes on in another session' 0 t_faden rollover "$g"
next=$(t_faden list -F '{parent} {id}' | sed -n "s/^$g //p" | head -n 1)
copy=$(t_faden list -F '{path}' "$next" | head -n 1)
printf '{"type":"custom-title","customTitle":"quince","sessionId":"%s"}\n' "$next" >>"$copy"
t_exit 'the name alone is what goes on' 0 t_faden lineage quince
t_like 'which is the later one' "$(cat "$t_out")" "$next.* <- this session"
t_exit 'it can be shown by it' 0 t_faden show quince

# what the name was taken over from is no other one, nor is what is gone
kin=$t_tmp/kin
mkdir -p "$kin" && cd "$kin" || exit 1
k=99999999-0000-4000-8000-000000000002
made=$("$t_helper/make-session" claude "$t_home/.claude" "$kin" "$k" 'weigh the seeds' | tail -n 1)
sed -i "s/\"out 1\"/\"$long\"/" "$made"
t_exit 'a session is called medlar' 0 t_faden rename "$k" medlar
t_exit 'it is trimmed' 0 t_faden trim medlar
copy=$(t_faden list -F '{id} {parent}' | sed -n "s/ $k\$//p")
for id in "$k" "$copy"; do
	t_exit 'the name is given once more' 0 t_faden rename "$id" medlar
	t_is 'to one of the same thread, which is no news' "$(cat "$t_err")" ''
done
t_exit 'another one is called loquat' 0 t_faden rename "$k" loquat
rm "$made"
t_exit 'its file goes' 0 t_faden list
t_exit 'the name is given to another' 0 t_faden rename "$copy" loquat
t_is 'and nobody is named whom no list shows' "$(cat "$t_err")" ''

# --- from another folder ---
mkdir -p "$t_tmp/far" && cd "$t_tmp/far" || exit 1
t_exit 'what is called so is taken from anywhere' 0 t_faden ask 'back to melon'
t_like 'with where it is' "$(cat "$t_err")" "Resuming: melon, just now, in $t_tmp/two"
t_exit 'and it goes on' 0 t_faden ask 'continue'
t_like 'each time with where the work is done' "$(cat "$t_err")" "^faden: Going on with \"melon\", in $t_tmp/two\.$"
echo continue >"$t_tmp/line"
t_faden <"$t_tmp/line" >"$t_out" 2>"$t_err"
t_like 'a talk says it when it begins' "$(cat "$t_err")" "\"melon\" \([0-9]+ turns, just now, in $t_tmp/two\)"
t_done
