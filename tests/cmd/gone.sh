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
at=$(t_faden search --json medlar | sed -n 's/.*"offset_bytes":\([0-9]*\).*/\1/p' | head -n 1)
t_exit 'it is shown from a message on' 0 t_faden show --at "$at" "$c"
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
print(x["written"], [(y["path"].endswith("agent-7.jsonl"), y["written"]) for y in x["subagents"]])' "$t_out")" 'False [(True, True)]'
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
rm -r "$t_home/.local/state"
t_exit 'index and store are lost: all is made again' 0 t_faden index
t_is 'from the archive, too' "$(hits jujube) $(hits kumquat) $(hits quince)" "('e', True) ('1', True) ('1', True)"
t_exit 'and they are known' 0 t_faden list --gone --all -F '{id}'
t_is 'all of them' "$(sort "$t_out" | tr '\n' ' ')" "$b $c $a $d $e "
t_exit 'it is brought back' 0 t_faden archive restore "$d"
t_is 'and there at once' "$(hits tamarillo)" "('d', False)"
t_exit 'for the index as well' 0 t_faden index
t_is 'still' "$(hits tamarillo)" "('d', False)"
t_exit 'one is forgotten' 0 t_faden delete -y --forget "$e"
t_exit 'an index made anew' 0 t_faden index --rebuild
t_is 'does not know it' "$(hits jujube)" ''
t_done
