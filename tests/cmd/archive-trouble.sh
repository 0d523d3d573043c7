#!/bin/sh
# The archive where something is in its way: a file in place of its folder, one that cannot be written,
# a session that its agent has compressed since, sizes that are none; and what lies beside a session.
. "$(dirname "$0")/../lib.sh"

here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1
a=aaaaaaaa-0000-4000-8000-000000000001
c=01a00000-0000-7000-8000-00000000000c
data=$t_home/.local/share/faden
fa=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$a" 'the kumquat tree')
fc=$("$t_helper/make-session" codex "$t_home/.codex" "$here" "$c" 'the medlar tree')
cp "$fa" "$t_tmp/a" && cp "$fc" "$t_tmp/c"

# --- a file in place of a folder: nobody is told that there is nothing
refuses() {
	for verb in '' list verify "export $a" 'prune --older-than 1d -y'; do
		# shellcheck disable=SC2086
		t_exit "$1: archive $verb" 5 t_faden archive $verb
		t_like "$1: archive $verb says what is wrong" "$(cat "$t_err")" 'archive.*: Not a directory'
	done
	t_exit "$1: nothing is deleted" 5 t_faden delete -y "$a"
	t_exit "$1: nothing is forgotten" 5 t_faden delete -y --forget "$a"
	t_ok "$1: the session is there" cmp "$fa" "$t_tmp/a"
	t_exit "$1: sessions are listed" 0 t_faden list --all
	t_exit "$1: and with those that are gone" 0 t_faden list --all --gone
	t_exit "$1: they are indexed" 0 t_faden index
	t_like "$1: and that nothing is archived" "$(cat "$t_err")" 'nothing was archived: .*: Not a directory'
	t_exit "$1: they are found" 0 t_faden search kumquat
	t_exit "$1: and shown" 0 t_faden show "$a"
}
mkdir -p "$data"
: >"$data/archive"
refuses 'a file for the folder'
rm "$data/archive"
mkdir -p "$data/archive"
: >"$data/archive/packs"
refuses 'a file for the packs'
rm -r "$data/archive"

# --- what only the archive has is not taken for lost while that cannot be read
t_exit 'then all is archived and indexed' 0 t_faden index
mv "$data/archive/packs" "$t_tmp/packs" && : >"$data/archive/packs"
rm "$fa"
t_exit 'one is gone' 0 t_faden index
t_like 'it is said what is left out' "$(cat "$t_err")" 'what only the archive has: .*packs: Not a directory; left out'
t_unlike 'it is not said to be lost' "$(cat "$t_out")" 'lost'
t_exit 'the index is made anew' 0 t_faden index --rebuild
t_exit 'it is still found' 0 t_faden search kumquat
rm "$data/archive/packs" && mv "$t_tmp/packs" "$data/archive/packs"
cp "$t_tmp/a" "$fa"

# --- out to a pipe
t_exit 'all is archived' 0 t_faden archive
t_faden archive export "$a" -o - >"$t_tmp/out"
t_ok 'standard output gets the bytes' cmp "$t_tmp/out" "$t_tmp/a"
t_ok 'and no file is made' test ! -e ./-
t_is 'who reads no further is no trouble' "$(t_faden archive export "$a" -o - 2>&1 | head -c 5)" "$(head -c 5 "$fa")"
t_exit 'JSON does not go with it' 2 t_faden archive export "$a" --json -o -
t_exit '/dev/stdout is written into as well' 0 t_faden archive export "$a" -o /dev/stdout
t_ok 'and with nothing else' cmp "$fa" "$t_out"
t_exit 'nor does JSON go with that' 2 t_faden archive export "$a" --json -o /dev/null

if [ "$(id -u)" -ne 0 ]; then
	chmod a-w "$data/archive" "$data/archive/packs"
	t_exit 'what cannot be written can be read' 0 t_faden archive export "$a" -o "$t_tmp/read"
	t_ok 'all of it' cmp "$t_tmp/read" "$t_tmp/a"
	chmod u+w "$data/archive" "$data/archive/packs"
fi

# --- compressed since
zstd -q --rm "$fc"
t_exit 'one that was compressed since is there' 0 t_faden archive restore "$c"
t_like 'and that is said' "$(cat "$t_out")" 'is there already'
t_ok 'no second one of that id is made' test ! -e "$fc"
echo more | zstd -q >"$fc.zst"
t_exit 'with other bytes it is in the way' 6 t_faden archive restore "$c"
t_ok 'and stays' test -e "$fc.zst"
rm "$fc.zst"
t_exit 'else it comes back' 0 t_faden archive restore "$c"
t_ok 'plain' cmp "$fc" "$t_tmp/c"

# --- compressed, and torn
cp "$fc" "$t_tmp/c"
t_exit 'it is archived' 0 t_faden archive
zstd -q --rm "$fc"
cp "$fc.zst" "$t_tmp/c.zst"
# torn: what a crash leaves of it, at the place of whatever lies there.
torn() {
	rm -f "$fc"
	head -c 200 "$t_tmp/c.zst" >"$fc.zst"
}
for known in plain packed; do
	torn
	t_exit "$known: it is shown" 0 t_faden show "$c"
	t_like "$known: with its words" "$(cat "$t_out")" 'the medlar tree'
	t_like "$known: from the archive" "$(cat "$t_err")" "is damaged, .*faden archive restore --replace $c"
	t_exit "$known: by a part of its id, too" 0 t_faden show 01a00000-0000-7000-8000
	t_like "$known: with its words" "$(cat "$t_out")" 'the medlar tree'
	t_exit "$known: it is exported" 0 t_faden archive export -o - "$c"
	t_ok "$known: all of it" cmp "$t_out" "$t_tmp/c"
	t_exit "$known: it is in the way" 6 t_faden archive restore "$c"
	t_like "$known: and how to get it is said" "$(cat "$t_err")" 'is damaged, and the archive has .*--replace'
	t_exit "$known: it cannot be deleted" 3 t_faden delete -y "$c"
	t_like "$known: and how to get it is said" "$(cat "$t_err")" "faden archive restore --replace $c"
	t_exit "$known: it makes room" 0 t_faden archive restore --replace "$c"
	t_ok "$known: for the whole one" cmp "$fc" "$t_tmp/c"
	t_ok "$known: and goes" test ! -e "$fc.zst"
	key=$(sed -n "s/.*faden archive export \([^']*\)'.*/\1/p" "$t_err")
	t_exit "$known: what was left of it is in the archive" 0 t_faden archive export -o - "$key"
	t_ok "$known: as it is" sh -c 'head -c 200 "$1" | cmp - "$2"' - "$t_tmp/c.zst" "$t_out"
	torn
	t_exit "$known: a run that cannot read it says so" 3 t_faden archive --json
	t_like "$known: to programs, too" "$(cat "$t_out")" '"troubles":[1-9]'
	t_exit "$known: among all it is named" 6 t_faden archive restore --all
	t_like "$known: as damaged" "$(cat "$t_err")" "$c is damaged"
	t_exit "$known: and comes back with all" 0 t_faden archive restore --all --replace
	t_ok "$known: whole" cmp "$fc" "$t_tmp/c"
	t_ok "$known: alone" test ! -e "$fc.zst"
	rm "$fc"
	cp "$t_tmp/c.zst" "$fc.zst"
	t_exit "$known: compressed it is known" 0 t_faden archive
done
torn
t_exit 'torn it is forgotten' 0 t_faden delete -y --forget "$c"
t_ok 'with its file' test ! -e "$fc.zst"
t_unlike 'and with what was left of it' "$(t_faden archive list)" "$c"

# --- sizes
for size in 0 0G 5Q -1 1.5G 2GB 99999999999G ''; do
	t_exit "a size is not '$size'" 2 t_faden archive prune --dry-run "--max-size=$size"
	t_like "and '$size' is named" "$(cat "$t_err")" "'$size'"
done

# --- what lies beside a session
beside=${fa%.jsonl}
mkdir -p "$beside/tool-results" "$beside/subagents"
echo 'a long output' >"$beside/tool-results/b1.txt"
echo '{"agentType":"x"}' >"$beside/subagents/agent-7.meta.json"
mkdir "$beside-other"
echo stays >"$beside-other/x"
t_exit 'a session is deleted' 0 t_faden delete -y "$a"
t_ok 'with what its tools said' test ! -e "$beside"
t_exit 'it comes back' 0 t_faden archive restore "$a"
t_is 'with that' "$(cat "$beside/tool-results/b1.txt")" 'a long output'
t_exit 'it is forgotten' 0 t_faden delete -y --forget "$a"
t_ok 'with what lay beside it' test ! -e "$beside"
t_ok 'and nothing else' test -e "$beside-other/x"

# --- a byte that was changed in the middle of what has grown since: neither its times nor its ends tell
d=dddddddd-0000-4000-8000-000000000001
fd=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$d" 'the jujube tree bears fruit')
for i in $(seq 400); do tail -n 1 "$fd" | sed "s/answer/answer $i of the jujube/"; done >"$t_tmp/more"
cat "$t_tmp/more" >>"$fd"
# change WORD: in the middle, and the last line once more.
change() {
	python3 - "$fd" "$1" <<'PY'
import sys
with open(sys.argv[1], "r+b") as file:
    data = file.read()
    file.seek(data.index(b"jujube", len(data) // 2))
    file.write(sys.argv[2].encode())
PY
	tail -n 1 "$t_tmp/more" >>"$fd"
}
t_exit 'a long session is archived' 0 t_faden archive
change medlar
cp "$fd" "$t_tmp/d"
t_exit 'changed and grown it is, too' 0 t_faden archive
t_exit 'it is deleted' 0 t_faden delete -y "$d"
t_exit 'and comes back' 0 t_faden archive restore "$d"
t_ok 'as it was at last' cmp "$fd" "$t_tmp/d"
t_exit 'come back it is archived' 0 t_faden archive
change quince
cp "$fd" "$t_tmp/e"
t_exit 'changed and grown once more it is archived' 0 t_faden archive
t_faden archive list "$d" --json >"$t_out" 2>"$t_err"
key=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[0]["archive_key"])' "$t_out")
t_exit 'an older version takes its place' 0 t_faden archive restore --replace "$key"
t_ok 'as it was' test "$(grep -c quince "$fd")" -eq 0
aside=$(sed -n "s/^.*'faden archive export \([^ ']*\)'.*$/\1/p" "$t_err")
t_exit 'what lay there is in the archive' 0 t_faden archive export "$aside"
t_ok 'as it was, too' cmp "$(cat "$t_out")" "$t_tmp/e"
rm "$(cat "$t_out")"
t_done
