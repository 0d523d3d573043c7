#!/bin/sh
# Sessions whose files are gone: what the archive has of them is found, shown and brought back as if
# they were there, of every agent and of Codex's compressed ones too.
. "$(dirname "$0")/../lib.sh"

here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1
a=aaaaaaaa-0000-4000-8000-000000000001
b=01a00000-0000-7000-8000-00000000000b
c=01a00000-0000-7000-8000-00000000000c
fa=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$a" 'the kumquat tree bears fruit')
fb=$("$t_helper/make-session" codex "$t_home/.codex" "$here" "$b" 'the loquat tree bears fruit')
fc=$("$t_helper/make-session" codex "$t_home/.codex" "$here" "$c" 'the medlar tree bears fruit')
cp "$fc" "$t_tmp/c"
zstd -q --rm "$fc"
side=${fa%.jsonl}/subagents/agent-7.jsonl
mkdir -p "${side%/*}"
sed 's/kumquat/quince/' "$fa" >"$side"
cp "$fa" "$t_tmp/a" && cp "$fb" "$t_tmp/b" && cp "$fc.zst" "$t_tmp/c.zst" && cp "$side" "$t_tmp/side"

t_exit 'they are archived' 0 t_faden archive
t_exit 'and indexed' 0 t_faden index
rm "$fa" "$fb" "$fc.zst" "$side"
rmdir -p "${side%/*}" 2>/dev/null
t_exit 'the index learns that they are gone' 0 t_faden index
t_like 'and says so' "$(cat "$t_out")" '4 sessions are gone'

# found ID WORD: by the word, with the message it stands in.
found() {
	t_exit "$2 is found" 0 t_faden search --json "$2"
	t_like "$2 is in the session" "$(cat "$t_out")" "\"session_id\":\"$1\""
	t_like "$2 stands in its message" "$(cat "$t_out")" "the $2 tree bears fruit"
	t_like "$2 is said to be of a file that is gone" "$(cat "$t_out")" '"gone":true'
}
found "$a" kumquat
found "$b" loquat
found "$c" medlar
found "$a" quince
t_exit 'it is found for people, too' 0 t_faden search medlar
t_like 'with the words around it' "$(cat "$t_out")" 'the medlar tree bears'
t_like 'and that its file is gone' "$(cat "$t_out")" 'file is gone'
for id in $a $b $c; do
	t_exit "$id is shown" 0 t_faden show "$id"
	t_like "$id is shown with its words" "$(cat "$t_out")" 'the (kumquat|loquat|medlar) tree bears fruit'
done
# What lies in its place is not the session: a folder, or a file that may not be read.
index=$t_home/.local/state/faden/index
mkdir -p "$fa/within"
rm -r "$index"
t_exit 'with a folder where a session lay the index is made anew' 0 t_faden index
found "$a" kumquat
rm -r "$fa"
if [ "$(id -u)" -ne 0 ]; then
	cp "$t_tmp/b" "$fb" && chmod 000 "$fb"
	rm -r "$index"
	t_exit 'with a session that may not be read it is, too' 0 t_faden index
	t_exit 'and it is found in what the archive has of it' 0 t_faden search loquat
	t_exit 'the next one says that it cannot be read' 0 t_faden index
	t_like 'and which' "$(cat "$t_err")" "$b.*Permission denied"
	t_exit 'and it is still found' 0 t_faden search loquat
	rm -f "$fb"
else
	t_skip 'a session that may not be read is found' 'root may read everything'
fi
t_exit 'the index is up to date' 0 t_faden index
# The store goes as well: what only the archive has is learned from there.
mkdir "$t_tmp/store" && mv "$t_home/.local/state/faden/"faden.db* "$t_tmp/store"
t_exit 'without the store they are listed' 0 t_faden list --all --gone -F '{id} {agent} {last:iso}'
t_like 'each with its agent and its time' "$(sort "$t_out" | tr '\n' ' ')" "^$b codex 20[^ ]* $c codex 20[^ ]* $a claude 20[^ ]* \$"
rm -f "$t_home/.local/state/faden/"faden.db*
t_exit 'by a piece of its id one is shown' 0 t_faden show "${a%0000001}"
t_like 'as what it is' "$(cat "$t_out")" 'the kumquat tree bears fruit'
rm -f "$t_home/.local/state/faden/"faden.db*
t_exit 'so is one by its id' 0 t_faden show "$c"
t_unlike 'with what is known of it' "$(cat "$t_out")" '1970-01-01|0 turns'
# Damage at any place of it hides none of them either.
python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("PRAGMA wal_checkpoint(TRUNCATE)")' "$t_tmp/store/faden.db"
size=$(stat -c %s "$t_tmp/store/faden.db")
hidden=
for n in 1 2 3 4 5 6 7 8 9 10 11 12; do
	at=$((size * n / 13))
	for how in cut blanked; do
		rm -f "$t_home/.local/state/faden/"faden.db*
		cp "$t_tmp/store/faden.db" "$t_home/.local/state/faden/faden.db"
		case $how in
		cut) truncate -s "$at" "$t_home/.local/state/faden/faden.db" ;;
		*) dd if=/dev/zero of="$t_home/.local/state/faden/faden.db" bs=1 seek=$((at / 4096 * 4096)) count=64 conv=notrunc 2>"$t_err" ;;
		esac
		[ "$(t_faden list --all --gone 2>"$t_err" | grep -c '^x')" = 3 ] || hidden="$hidden list:$how:$at"
		t_faden show "${a%0000001}" 2>"$t_err" | grep -q kumquat || hidden="$hidden show:$how:$at"
		[ "$(t_faden archive list 2>"$t_err" | wc -l)" -ge 3 ] || hidden="$hidden archive:$how:$at"
		t_faden archive export "$a" -o - 2>"$t_err" | cmp -s - "$t_tmp/a" || hidden="$hidden export:$how:$at"
	done
done
t_is 'with a damaged store they are listed, shown and exported' "$hidden" ''
rm -f "$t_home/.local/state/faden/"faden.db* && mv "$t_tmp/store/"* "$t_home/.local/state/faden/"
at=$(t_faden search --json medlar | sed -n 's/.*"offset_bytes":\([0-9]*\).*/\1/p' | head -n 1)
t_exit 'it is shown from a message on' 0 t_faden show --at "$at" "$c"
# shown_by_search: the command that search gives for what the sub-agent was told.
shown_by_search() {
	line=$(t_faden search -n 1 quince | sed -n 's/^ *faden \(show .*\)/\1/p')
	t_like 'search names the file of the sub-agent' "$line" 'show --at [0-9]+ .*/agent-7[.]jsonl'
	eval "set -- $line"
	t_exit 'what search names is shown' 0 t_faden "$@"
	t_like 'from that message on' "$(cat "$t_out")" 'quince'
}
shown_by_search
t_exit 'it is shown by its path alone' 0 t_faden show "$side"
t_like 'with its words' "$(cat "$t_out")" 'the quince tree bears fruit'
ln -s "$t_home" "$t_tmp/link"
t_exit 'by a path with a link in it' 0 t_faden show "$t_tmp/link${side#"$t_home"}"
t_like 'it is the same' "$(cat "$t_out")" 'the quince tree bears fruit'
mkdir "$t_tmp/new"
t_exit 'where only the archive knows it' 0 t_faden show --state "$t_tmp/new" "$side"
t_like 'it is shown as well' "$(cat "$t_out")" 'the quince tree bears fruit'
t_exit 'a path that only ends so is none' 1 t_faden show "$t_tmp/elsewhere/subagents/agent-7.jsonl"
t_like 'which is said' "$(cat "$t_err")" 'no such file'
t_exit 'they are listed' 0 t_faden list --gone --all -F '{id}'
t_is 'all of them' "$(sort "$t_out" | tr '\n' ' ')" "$b $c $a "

# Back, with what was done for it.
t_exit 'one comes back' 0 t_faden archive restore "$a"
t_ok 'byte for byte' cmp "$fa" "$t_tmp/a"
t_ok 'with the work of its sub-agents' cmp "$side" "$t_tmp/side"
t_is 'both are named' "$(cat "$t_out" | wc -l)" 2
t_exit 'again, it is there' 0 t_faden archive restore "$a"
t_like 'and said' "$(cat "$t_out")" 'is there already'
rm "$side"
t_exit 'what is missing comes back' 0 t_faden archive restore "$a" --json
t_ok 'beside what is there' cmp "$side" "$t_tmp/side"
t_is 'and stands in its object' "$(python3 -c 'import json, sys
x = json.load(open(sys.argv[1]))
print(x["written"], [(y["path"].endswith("agent-7.jsonl"), y["written"]) for y in x["beside"]])' "$t_out")" 'False [(True, True)]'
t_exit 'one of Codex comes back' 0 t_faden archive restore "$b"
t_ok 'byte for byte' cmp "$fb" "$t_tmp/b"
t_exit 'a compressed one comes back' 0 t_faden archive restore "$c"
t_ok 'plain, under the name that Codex knows' cmp "$fc" "$t_tmp/c"
t_exit 'the index learns that they are there' 0 t_faden index
for word in kumquat loquat medlar quince; do
	t_exit "$word is found again" 0 t_faden search --json "$word"
	t_like "$word is there" "$(cat "$t_out")" '"gone":false'
	t_is "$word is there in what was said and in the answer" "$(grep -o '"gone":' "$t_out" | wc -l)" 2
done

# What only the archive has is in the index however that is made.
# hits WORD: sessions that are found, with whether their files are gone.
hits() {
	t_faden search --json "$1" | python3 -c 'import json, sys
print(*sorted({(x["session_id"][-1], x["gone"]) for x in json.load(sys.stdin)}))'
}
t_exit 'one is deleted' 0 t_faden delete -y "$a"
t_is 'it is found at once, as gone' "$(hits kumquat)" "('1', True)"
t_exit 'the index is made anew' 0 t_faden index --rebuild
for word in kumquat quince; do
	t_is "$word is found in what is gone" "$(hits $word)" "('1', True)"
done
t_is 'loquat is there' "$(hits loquat)" "('b', False)"
t_exit 'again' 0 t_faden index --json
t_like 'nothing is read twice' "$(cat "$t_out")" '"files_read":0'
rm "$fb"
t_is 'one that was just removed is said to be gone' "$(hits loquat)" "('b', True)"
d=aaaaaaaa-0000-4000-8000-00000000000d
fd=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$d" 'the tamarillo tree bears fruit')
t_exit 'one that was never indexed is archived' 0 t_faden archive
rm "$fd"
t_exit 'and goes; the index takes it from the archive' 0 t_faden index
t_is 'so that it is found' "$(hits tamarillo)" "('d', True)"
t_is 'as are the others' "$(hits kumquat) $(hits medlar)" "('1', True) ('c', False)"
e=aaaaaaaa-0000-4000-8000-00000000000e
fe=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$e" 'the jujube tree bears fruit')
t_exit 'one that was never indexed is deleted' 0 t_faden delete -y "$e"
t_is 'and found' "$(hits jujube)" "('e', True)"
# What a session was last is what comes back, though it was more before.
g=aaaaaaaa-0000-4000-8000-0000000000a1
fg=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$g" 'the rambutan tree bears fruit' 'and more of it' 'and more')
t_exit 'one is indexed' 0 t_faden index
"$t_helper/make-session" claude "$t_home/.claude" "$here" "$g" 'the salak tree bears fruit' >/dev/null
t_exit 'it becomes another, and less' 0 t_faden archive
t_is 'which is found' "$(hits salak)" "('1', False)"
t_exit 'it is deleted' 0 t_faden delete -y "$g"
t_is 'its last words are found' "$(hits salak)" "('1', True)"
t_exit 'and shown' 0 t_faden show "$g"
t_like 'as they were' "$(cat "$t_out")" 'salak'
t_exit 'after another look, too' 0 t_faden index
t_is 'they are found' "$(hits salak)" "('1', True)"
t_exit 'it is restored' 0 t_faden archive restore "$g"
t_ok 'as it was last' grep -q salak "$fg"
t_like 'the other version is named' "$(cat "$t_err")" "1 other version of it is kept, too: 'faden archive list aaaaaaaa' names it"
rm "$fg"
t_exit 'without it all is as before' 0 t_faden delete -y --forget "$g"

# Another archive in its place, with what was taken long ago: all of it is looked at.
kept=$t_home/.local/share/faden/archive
cp -r "$kept" "$t_tmp/kept"
f=aaaaaaaa-0000-4000-8000-00000000000f
ff=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$f" 'the feijoa tree bears fruit')
t_exit 'one more is archived' 0 t_faden archive
rm "$ff"
python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE file SET last_ms = first_ms - 86400000")
db.commit()' "$kept/archive.db"
mv "$kept" "$t_tmp/later"
cp -r "$t_tmp/kept" "$kept"
t_exit 'the index knows the archive without it' 0 t_faden index
mv "$kept" "$t_tmp/before"
cp -r "$t_tmp/later" "$kept"
t_exit 'and one with it' 0 t_faden index
t_is 'from which it is found' "$(hits feijoa)" "('f', True)"
rm -r "$t_home/.local/state"
t_exit 'index and store are lost: all is made again' 0 t_faden index
t_is 'from the archive, too' "$(hits jujube) $(hits kumquat) $(hits quince)" "('e', True) ('1', True) ('1', True)"
t_exit 'and they are known' 0 t_faden list --gone --all -F '{id}'
t_is 'all of them' "$(sort "$t_out" | tr '\n' ' ')" "$b $c $a $d $e $f "
t_exit 'it is brought back' 0 t_faden archive restore "$d"
t_is 'and there at once' "$(hits tamarillo)" "('d', False)"
t_exit 'for the index as well' 0 t_faden index
t_is 'still' "$(hits tamarillo)" "('d', False)"

# The index archives what it reads; what nobody kept is lost, and no command is offered for it.
g=aaaaaaaa-0000-4000-8000-000000000010
h=aaaaaaaa-0000-4000-8000-000000000011
fg=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$g" 'the cherimoya tree bears fruit')
cp "$fg" "$t_tmp/g"
t_exit 'one is indexed' 0 t_faden index
t_like 'and archived with that' "$(cat "$t_out")" '1 file was taken into the archive'
t_exit 'again' 0 t_faden index --json
t_like 'nothing is' "$(cat "$t_out")" '"files_archived":0'
printf '{"type":"user","message":{"role":"user","content":"and the jabuticaba"}}\n' >>"$fg"
cp "$fg" "$t_tmp/g"
t_exit 'what it grew by is found by a search' 0 t_faden search jabuticaba
t_exit 'and archived by the next index, which has it already' 0 t_faden index --json
t_like 'one file' "$(cat "$t_out")" '"files_archived":1'
rm "$fg"
t_exit 'it goes' 0 t_faden index
t_like 'and is still found' "$(cat "$t_out")" '1 session is gone; what was said there is still found'
t_exit 'it comes back' 0 t_faden archive restore "$g"
t_ok 'byte for byte' cmp "$fg" "$t_tmp/g"
fh=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$h" 'the soursop tree bears fruit')
t_exit 'one is only indexed' 0 t_faden index --no-archive
rm "$fh"
t_exit 'and goes' 0 t_faden index
t_like 'that is said' "$(cat "$t_out")" '1 session is gone, and not in the archive: its words are found'
t_exit 'its words are found' 0 t_faden search soursop
t_like 'it says what is left' "$(cat "$t_out")" 'only the index is left of it'
t_like 'and of what' "$(cat "$t_out")" 'file is gone, not in the archive'
t_unlike 'and offers nothing' "$(cat "$t_out")" 'faden (archive restore|show|resume)'
t_exit 'for programs' 0 t_faden search --json soursop
t_like 'no command' "$(cat "$t_out")" '"resume_command":null,"show_command":null'
t_exit 'those that are gone are listed' 0 t_faden list --gone --all
t_like 'with a mark for what can come back' "$(grep "$b" "$t_out")" '^x	'
t_like 'and another for what cannot' "$(grep "$h" "$t_out")" '^X	'
t_is 'also by a format' "$(t_faden list --gone --all -F '{id} {gone}' | grep -e "$b" -e "$h" | sort)" "$b gone
$h lost"
t_faden list --gone --all --json >"$t_out"
t_is 'and for programs' "$(python3 -c 'import json, sys
for x in sorted(json.load(open(sys.argv[1])), key=lambda x: x["session_id"]):
    if x["session_id"] in sys.argv[2:]: print(x["gone"], x["archived"], end=" ")' "$t_out" "$b" "$g" "$h")" 'True whole False None True none '
t_exit 'what the archive lets go of' 0 t_faden delete -y "$g"
sleep 1
t_exit 'is gone from it' 0 t_faden archive prune --older-than 1s -y
t_like 'and named' "$(cat "$t_out")" "^$g	.*	the cherimoya"
t_exit 'it is found' 0 t_faden search cherimoya
t_unlike 'and nothing is offered' "$(cat "$t_out")" 'faden (archive restore|show|resume)'

# A file that was blanked has nothing of its session: that is gone as if the file were.
i=aaaaaaaa-0000-4000-8000-000000000012
fi=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$i" 'the feijoa tree bears fruit')
cp "$fi" "$t_tmp/i"
t_exit 'one is indexed and archived' 0 t_faden index
: >"$fi"
t_is 'blanked it is found at once, as gone' "$(hits feijoa)" "('2', True)"
t_exit 'the index learns of it' 0 t_faden index
t_is 'it is still found' "$(hits feijoa)" "('2', True)"
t_exit 'it is shown' 0 t_faden show "$i"
t_like 'with its words' "$(cat "$t_out")" 'the feijoa tree bears fruit'
t_like 'it is among those that are gone' "$(t_faden list --gone --all -F '{gone} {id} {title}')" "$i the feijoa tree"
t_unlike 'and not among the others' "$(t_faden list --all -F '{id}')" "$i"
t_like 'the archive says so, too' "$(t_faden archive list feijoa)" "^x"
t_exit 'it comes back without more words' 0 t_faden archive restore "$i"
t_ok 'byte for byte' cmp "$fi" "$t_tmp/i"
: >"$fi"
t_exit 'or with all that are gone' 0 t_faden archive restore --all
t_ok 'byte for byte' cmp "$fi" "$t_tmp/i"
: >"$fi"
t_exit 'the index learns of it once more' 0 t_faden index
t_exit 'it is forgotten' 0 t_faden delete -y --forget "$i"
t_ok 'with the empty file' test ! -e "$fi"
t_exit 'the next run' 0 t_faden archive
t_exit 'does not learn of it again' 1 grep -rl "$i" "$t_home"

# So is what a power loss has filled with NULs: it never takes the place of what there was.
k=aaaaaaaa-0000-4000-8000-000000000013
fk=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$k" 'the pitanga tree bears fruit')
cp "$fk" "$t_tmp/k"
# zero FILE: as many NULs as it has bytes.
zero() {
	n=$(wc -c <"$1")
	head -c "$n" /dev/zero >"$1"
}
t_exit 'one is indexed and archived' 0 t_faden index
zero "$fk"
t_is 'full of NULs it is found at once, as gone' "$(hits pitanga)" "('3', True)"
t_exit 'it is shown' 0 t_faden show "$k"
t_like 'with its words' "$(cat "$t_out")" 'the pitanga tree bears fruit'
t_exit 'the archive runs' 0 t_faden archive
t_exit 'and the index' 0 t_faden index
t_is 'it is still found' "$(hits pitanga)" "('3', True)"
t_like 'it is among those that are gone' "$(t_faden list --gone --all -F '{gone} {id} {title}')" "$k the pitanga tree"
t_unlike 'and not among the others' "$(t_faden list --all -F '{id}')" "$k"
t_is 'the archive has no second version of it' "$(t_faden archive list --json pitanga | grep -c archive_key)" 1
t_unlike 'nothing is offered to go on with' "$(t_faden resume --print "$k" 2>&1)" '^claude'
t_exit 'it comes back without more words' 0 t_faden archive restore "$k"
t_ok 'byte for byte' cmp "$fk" "$t_tmp/k"
zero "$fk"
t_exit 'or with all that are gone' 0 t_faden archive restore --all
t_ok 'byte for byte' cmp "$fk" "$t_tmp/k"
t_exit 'the index has it again' 0 t_faden index
t_unlike 'as one that is there' "$(cat "$t_out")" 'gone'
zero "$fk"
t_exit 'the index notices by itself' 0 t_faden index
t_like 'that it is gone' "$(cat "$t_out")" '1 session is gone; what was said there is still found'
t_exit 'once' 0 t_faden index --json
t_like 'and for all' "$(cat "$t_out")" '"files_read":0,.*"files_gone":0'
t_exit 'made anew' 0 t_faden index --rebuild
t_is 'the index has it from the archive' "$(hits pitanga)" "('3', True)"
# Neither size nor time tell of it when what was written last never came to the disk: of those that were
# written to right before the machine was started, the bytes do.
cp "$t_tmp/k" "$fk"
touch -d 2020-01-01 "$fk"
t_exit 'it is there again, and old' 0 t_faden index
t_like 'also for the list' "$(t_faden list --all -F '{id}')" "$k"
zero "$fk"
touch -d 2020-01-01 "$fk"
t_exit 'the index sees that it has nothing but NULs' 0 t_faden index
t_like 'though nothing else of it has changed' "$(cat "$t_out")" '1 session is gone; what was said there is still found'
t_like 'so does the list' "$(t_faden list --gone --all -F '{gone} {id} {title}')" "gone $k the pitanga tree"
t_unlike 'which does not have it among the others' "$(t_faden list --all -F '{id}')" "$k"
t_exit 'it comes back' 0 t_faden archive restore "$k"
t_ok 'byte for byte' cmp "$fk" "$t_tmp/k"

# What Codex has compressed since it was archived is there.
j=01a00000-0000-7000-8000-00000000000e
fj=$("$t_helper/make-session" codex "$t_home/.codex" "$here" "$j" 'the mamoncillo tree bears fruit')
t_exit 'one of Codex is archived' 0 t_faden archive
zstd -q --rm "$fj"
t_exit 'compressed it is indexed' 0 t_faden index
t_exit 'the archive has it once' 0 t_faden archive list --json "$j"
t_is 'as one that is there, by its name' "$(python3 -c 'import json, sys
print([(x["gone"], x["title"]) for x in json.load(open(sys.argv[1]))])' "$t_out")" "[(False, 'the mamoncillo tree bears fruit')]"
sleep 1.1
t_exit 'what is old and gone would leave the archive' 0 t_faden archive prune --older-than 1s --dry-run
t_unlike 'but not that one' "$(cat "$t_out")" "$(echo "$j" | cut -c1-13)|mamoncillo"
t_exit 'to bring back all' 0 t_faden archive restore --all
t_ok 'makes no second file of it' test ! -e "$fj"

t_exit 'one is forgotten' 0 t_faden delete -y --forget "$e"
t_exit 'an index made anew' 0 t_faden index --rebuild
t_is 'does not know it' "$(hits jujube)" ''
zero "$fk"
rm -r "$t_home/.local/state"
t_exit 'index and store are lost: all is made again' 0 t_faden index
t_is 'what is full of NULs is known from the archive' "$(hits pitanga)" "('3', True)"
t_exit 'it comes back' 0 t_faden archive restore "$k"
t_ok 'byte for byte' cmp "$fk" "$t_tmp/k"
zero "$fk"
{ head -c $(($(wc -c <"$t_tmp/k") - 2)) /dev/zero && echo x; } >"$fk"
t_exit 'one that begins with NULs and has a line is archived' 0 t_faden archive
t_exit 'what it was goes before that' 0 t_faden archive restore --replace "$k"
t_ok 'byte for byte' cmp "$fk" "$t_tmp/k"
zero "$fk"
t_exit 'the index learns of it' 0 t_faden index
t_exit 'it is forgotten' 0 t_faden delete -y --forget "$k"
t_ok 'with the file that has nothing' test ! -e "$fk"

# One that was torn: the archive has what it lost, and so has the index, however that is made.
l=aaaaaaaa-0000-4000-8000-000000000020
fl=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$l" 'the rambutan tree bears fruit' 'the salak palm bears fruit')
cp "$fl" "$t_tmp/l"
tear() {
	head -c "$1" "$t_tmp/l" >"$fl"
}
# both WHEN: the words of both halves, with the messages they stand in.
both() {
	for word in 'rambutan tree' 'salak palm'; do
		t_exit "$1: ${word% *} is found" 0 t_faden search --json "${word% *}"
		t_like "$1: ${word% *} stands in its message" "$(cat "$t_out")" "the $word bears fruit"
	done
}
t_exit 'one is indexed' 0 t_faden index
both 'whole'
tear 600
both 'torn'
t_like 'how it comes back is said' "$(cat "$t_err")" "archive restore $l --replace"
t_exit 'what is left is found' 0 t_faden search rambutan
t_exit 'the index looks at it' 0 t_faden index --json
t_like 'once' "$(cat "$t_out")" '"files_read":0'
both 'torn, then indexed'
t_exit 'it is sound' 0 t_faden index --check
t_exit 'it gets a name' 0 t_faden rename "$l" 'the pulasan'
t_exit 'which the index takes' 0 t_faden index
t_exit 'by which it is found' 0 t_faden search pulasan
both 'torn, then named'
t_exit 'the index is made anew' 0 t_faden index --rebuild
both 'torn, and the index made anew'
t_exit 'again' 0 t_faden index --json
t_like 'nothing is read twice' "$(cat "$t_out")" '"files_read":0'
rm -r "$t_home/.local/state"
t_exit 'index and store are lost: all is made again' 0 t_faden index
both 'torn, and the state lost'
t_unlike 'it is not gone' "$(cat "$t_out")" '"gone":true'
tear 20
both 'torn within its first line'
# The line that the end is in now is whole in the copy.
tear $(($(grep -b -o 'salak palm' "$t_tmp/l" | head -n 1 | cut -d: -f1) + 5))
both 'torn within the words'
t_exit 'it comes back' 0 t_faden archive restore --replace "$l"
t_ok 'byte for byte' cmp "$fl" "$t_tmp/l"
both 'back'
t_unlike 'with nothing more to be said' "$(cat "$t_err")" 'shorter'
t_exit 'the index has it' 0 t_faden index --json
t_like 'as it was' "$(cat "$t_out")" '"files_read":0'
tear 600
both 'torn again'
at=$(t_faden search --json salak | sed -n 's/.*"offset_bytes":\([0-9]*\).*/\1/p' | head -n 1)
t_exit 'what the file has lost is shown by the command that search gives' 0 t_faden show --at "$at" "$l"
t_like 'from the copy' "$(cat "$t_out")" 'the salak palm bears fruit'
t_like 'and how that takes its place is said' "$(cat "$t_err")" 'archive restore [^ ]* --replace'
t_exit 'a message that there never was is none' 1 t_faden show --at 999999 "$l"
for command in 'resume --print' 'trim --dry-run' 'fork --at 1 --dry-run'; do
	# shellcheck disable=SC2086 # words
	t_faden $command "$l" >"$t_out" 2>"$t_err"
	t_like "$command says it before it works with the rest" "$(cat "$t_err")" 'is shorter .* than its copy .*restore [^ ]* --replace'
done
printf '\n{"type":"user","message":{"role":"user","content":"and the longan"}}\n' >>"$fl"
t_exit 'what is written to the torn file is found' 0 t_faden search --json longan
t_like 'in its message' "$(cat "$t_out")" 'and the longan'
t_exit 'and what was before that' 0 t_faden search rambutan
t_exit 'not what it lost: it is another one now' 1 t_faden search salak

# An agent that overwrites a session on resume may leave nothing but a few lines about itself.
o=aaaaaaaa-0000-4000-8000-00000000000f
fo=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$o" 'the langsat tree bears fruit' 'and what else')
cp "$fo" "$t_tmp/o"
t_exit 'it is archived' 0 t_faden archive
t_exit 'and indexed' 0 t_faden index
silence() { printf '{"type":"permission-mode","permissionMode":"default","sessionId":"%s"}\n' "$o" >"$fo"; }
silence
# silent WHEN: what is to be seen of it.
silent() {
	t_exit "$1: what was said is found" 0 t_faden search --json langsat
	t_like "$1: in its message" "$(cat "$t_out")" 'the langsat tree bears fruit'
	t_like "$1: as gone" "$(cat "$t_out")" '"gone":true'
	t_like "$1: by the name that it had" "$(cat "$t_out")" '"title":"the langsat tree bears fruit"'
	t_like "$1: with what brings it back" "$(cat "$t_out")" "archive restore --replace $o"
	t_like "$1: the archive has it as gone" "$(t_faden archive list "$o")" '^x'
	t_exit "$1: it is shown" 0 t_faden show "$o"
	t_like "$1: with its words" "$(cat "$t_out")" 'the langsat tree bears fruit'
	t_exit "$1: it is listed as gone" 0 t_faden list --all --gone -F '{id}'
	t_like "$1: by its id" "$(cat "$t_out")" "$o"
	t_exit "$1: it does not go on" 1 t_faden resume --print "$o"
	t_like "$1: but it is said how it comes back" "$(cat "$t_err")" "archive restore --replace $o"
}
silent 'overwritten'
t_exit 'the index is brought up to date' 0 t_faden index
silent 'after an index'
rm -r "$t_home/.local/state/faden/index"
t_exit 'the index is made again' 0 t_faden index
silent 'in an index made again'
rm -r "$t_home/.local/state/faden"
t_exit 'and so is the catalogue' 0 t_faden list --all
t_exit 'and the index of it' 0 t_faden index
silent 'when all was lost but the archive'
t_exit 'the archive looks at it' 0 t_faden archive
t_like 'and names it' "$(cat "$t_err")" "$o is shorter"
t_exit 'it comes back' 0 t_faden archive restore --replace "$o"
t_ok 'as it was' cmp "$fo" "$t_tmp/o"
t_exit 'it goes on' 0 t_faden show "$o"
t_unlike 'without another word' "$(cat "$t_err")" 'shorter|gone'
t_done
