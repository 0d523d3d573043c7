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
t_done
