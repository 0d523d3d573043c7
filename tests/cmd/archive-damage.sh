#!/bin/sh
# An archive that was damaged: nothing that is taken later is lost with it, what the agents still have is
# taken again, and what they have no more is named.
. "$(dirname "$0")/../lib.sh"

here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1
dir=$t_home/.local/share/faden/archive
pack=$dir/packs/00000001.pack
field() { python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$t_out" "$1"; }

# sessions FROM TO: with lines of their own that do not compress to nothing
sessions() {
	t_run "$(command -v python3)" - "$t_home/.claude/projects/-damage" "$1" "$2" <<'PY'
import json, random, sys
from pathlib import Path
folder = Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)
for n in range(int(sys.argv[2]), int(sys.argv[3]) + 1):
    rng = random.Random(n)
    session = f"dddddddd-0000-4000-8000-{n:012}"
    with open(folder / f"{session}.jsonl", "w") as file:
        for i in range(40):
            text = "".join(rng.choice("abcdefghijklmnopqrstuvwxyz ABCDEFG") for _ in range(800))
            file.write(json.dumps({"type": "user", "sessionId": session, "uuid": f"{n}-{i}", "cwd": "/damage",
                                   "timestamp": "2026-03-01T10:00:00.000Z",
                                   "message": {"role": "user", "content": text}}) + "\n")
PY
}
all() { find "$t_home/.claude" -name '*.jsonl' | wc -l; }
# Whether each session that is there comes out of the archive as it lies in the agent's folder.
readable() {
	rm -rf "$t_tmp/all"
	t_faden archive export --all -o "$t_tmp/all" >/dev/null 2>&1 || return 1
	for file in "$t_home"/.claude/projects/-damage/*.jsonl; do
		name=$(basename "$file" .jsonl)
		cmp -s "$t_tmp/all/$name".*.jsonl "$file" || return 1
	done
}

# a pack gets shorter
sessions 1 30
t_exit 'thirty sessions are taken' 0 t_faden archive
t_ok 'there is a pack to cut' test "$(stat -c %s "$pack")" -gt 200000
truncate -s 80000 "$pack"
sessions 31 35
t_exit 'five more are taken, though the pack is shorter than it was' 0 t_faden archive --json
t_like 'that is said' "$(cat "$t_err")" '1 pack of the archive became shorter or vanished, .* what the agents still have is taken again$'
t_is 'once' "$(wc -l <"$t_err")" 1
t_is 'five are new' "$(field 'r["taken_files"]')" 5
t_ok 'and what is damaged is taken again' test "$(field 'r["mended_files"]')" -ge 20
t_is 'nothing is left damaged' "$(field 'r["damaged_frames"]')" 0
t_ok 'in another pack' test -e "$dir/packs/00000002.pack"
t_is 'the old one is not added to' "$(stat -c %s "$pack")" 80000
t_exit 'it is whole' 0 t_faden archive verify
t_ok 'every session can be had' readable
t_is 'and there is one copy of each' "$(t_faden archive list | wc -l)" 35
rm -f "$dir"/archive.db*
t_exit 'so it is when the database is made again' 0 t_faden archive verify
t_ok 'with the same bytes' readable

# a pack is gone, and the sessions are not
rm "$dir"/packs/00000002.pack
sessions 36 37
t_exit 'without a pack' 0 t_faden archive
t_like 'it is said that it is gone' "$(cat "$t_err")" '1 pack of the archive became shorter or vanished'
t_like 'and everything is taken again' "$(cat "$t_out")" '^35 files were damaged in the archive and have been taken again$'
t_exit 'then it is whole' 0 t_faden archive verify
t_ok 'as it was' readable

# a byte flips
pack=$(find "$dir/packs" -name '*.pack' | sort | tail -n 1)
flip() { printf '\377\000\377\000' | dd of="$pack" bs=1 seek="$1" conv=notrunc 2>/dev/null; }
flip 3000
t_exit 'flipped bytes are found' 3 t_faden archive verify --json
t_is 'in one frame' "$(field 'r["damaged_frames"]')" 1
t_ok 'that a session needs' test "$(field 'r["damaged_files"]')" -ge 1
t_exit 'the next run takes them again' 0 t_faden archive --json
t_ok 'all of these' test "$(field 'r["mended_files"]')" -ge 1
t_is 'and nothing else' "$(field 'r["taken_files"]')" 0
t_exit 'then it is whole' 0 t_faden archive verify
t_ok 'as it was' readable
t_is 'one copy of each' "$(t_faden archive list | wc -l)" 37
t_like 'what was damaged belongs to nobody' "$(t_faden archive verify)" "belong to nobody: .* 'faden archive prune --older-than SPAN' takes them away\$"
cp -r "$dir" "$t_tmp/swept"
t_exit 'a prune that lets go of nothing' 0 t_faden archive prune --older-than 900w
t_unlike 'takes it away' "$(t_faden archive verify)" 'belong to nobody'
rm -rf "$dir"
mv "$t_tmp/swept" "$dir"

# what the agent has no more is named, and stays damaged
flip 300000
t_exit 'other bytes flip' 3 t_faden archive verify
damaged=$(sed -n 's/^.*damaged: .* (\(.*\))$/\1/p' "$t_err" | head -n 1)
mv "$damaged" "$t_tmp/gone"
t_exit 'and one of the sessions is gone' 3 t_faden archive
t_like 'what cannot be made good is told' "$(cat "$t_out")" "^1 frame of the archive cannot be read; 'faden archive verify' names the files\$"
t_exit 'it is found' 3 t_faden archive verify --json
t_is 'and only that one is not whole' "$(field 'r["damaged_files"]')" 1
t_like 'it is named' "$(cat "$t_err")" "$damaged"
id=$(basename "$damaged" .jsonl)
t_like 'among those that are gone it has a mark' "$(t_faden list --gone --all | grep "$id")" '^xd	'
t_like 'also for programs' "$(t_faden list --gone --all --json | grep "$id")" '"gone":true,"archived":"damaged"'
t_exit 'it does not come back' 3 t_faden archive restore "$id"
t_like 'but what is left of it can be had' "$(cat "$t_err")" 'damaged at byte .*; with --partial what is left is written$'
t_exit 'here that is nothing' 3 t_faden archive restore --partial "$id"
t_like 'as is said' "$(cat "$t_err")" 'all that the archive has of it is damaged$'
t_ok 'and no empty file is made' test ! -e "$damaged"
t_exit 'nor is anything shown' 3 t_faden show "$id"
t_like 'for the same reason' "$(cat "$t_err")" 'all that the archive has of it is damaged$'
t_exit 'all but that one come back' 3 t_faden archive restore --all
t_like 'and how many do not is said' "$(cat "$t_out")" '^0 files written, 36 there already, 1 could not be written$'
mkdir -p "$(dirname "$damaged")" && mv "$t_tmp/gone" "$damaged"
t_exit 'it comes back' 0 t_faden archive
t_exit 'and is whole again' 0 t_faden archive verify
t_ok 'as all the others' readable
# a session is not deleted with a copy that is damaged: it is taken again first, and no other one waits
flip 300000
n=$(all)
t_exit 'old sessions are cleaned up, one with a damaged copy' 0 t_faden clean --all --older-than 1m -y --json
t_is 'all of them' "$(field '(r["sessions"], r["stayed_sessions"])')" "($n, 0)"
t_is 'no file is left' "$(all)" 0
t_exit 'the archive is whole' 0 t_faden archive verify
t_exit 'they come back' 0 t_faden archive restore --all
t_is 'every one' "$(all)" "$n"

# of a long one, what is left can be had
rm -rf "$t_tmp/long" && mkdir "$t_tmp/long"
long=dddddddd-0000-4000-8000-000000000099
mkdir -p "$t_home/.claude/projects/-long"
{
	"$t_helper/say-session" /dev/stdout "$long" /long 2026-03-01T09:00:00Z <<'END'
user the kumquat is at its beginning
END
	for n in 1 2 3 4 5 6 7 8 9; do
		cat "$t_home/.claude/projects/-damage/"*0"$n.jsonl" "$t_home/.claude/projects/-damage/"*1"$n.jsonl"
	done | sed "s/dddddddd-0000-4000-8000-[0-9]*/$long/; s/a/$long/"
	"$t_helper/say-session" /dev/stdout "$long" /long 2026-03-01T11:00:00Z <<'END'
user the loquat is at its end
END
} | cat >"$t_home/.claude/projects/-long/$long.jsonl"
t_exit 'a long one is taken' 0 t_faden archive
t_exit 'and indexed' 0 t_faden index --no-archive
rm "$t_home/.claude/projects/-long/$long.jsonl"
pack=$(find "$dir/packs" -name '*.pack' | sort | tail -n 1)
flip "$(($(stat -c %s "$pack") - 250000))"
t_exit 'what stands before damaged bytes is found' 0 t_faden search kumquat
t_like 'and shown' "$(cat "$t_out")" 'the kumquat is at its beginning'
t_exit 'what stands behind them is found' 0 t_faden search loquat
t_like 'and shown, too' "$(cat "$t_out")" 'the loquat is at its end'
t_exit 'it is indexed anew' 0 t_faden index --rebuild --no-archive
t_exit 'what stands behind them is still found' 0 t_faden search --json loquat
t_like 'and shown as it was' "$(cat "$t_out")" 'the loquat is at its end'
at=$(sed -n 's/.*"offset_bytes":\([0-9]*\).*/\1/p' "$t_out" | head -n 1)
t_exit 'also by its place' 0 t_faden show --at "$at" "$long"
t_like 'with its words' "$(cat "$t_out")" 'the loquat is at its end'
flip "$(($(stat -c %s "$pack") - 9000))"
t_exit 'a part of it is damaged' 0 t_faden show "$long"
t_like 'it is said what was left out, and how to get the rest' "$(cat "$t_err")" "^faden: warning: [0-9]+ bytes are damaged in the archive and left out; 'faden archive restore --partial $long' brings back what is left$"
t_exit 'what stood there is found' 0 t_faden search loquat
t_like 'it is said that the bytes are damaged' "$(cat "$t_out")" "what the archive has of it is damaged: 'faden archive verify'"
t_exit 'an index that is made anew has what is left' 0 t_faden index --rebuild --no-archive
t_exit 'which is found' 0 t_faden search --json "+$long"
t_like 'in that session' "$(cat "$t_out")" "\"session_id\":\"$long\""
t_is 'and nothing is said to be missing' "$(cat "$t_err")" ''
t_exit 'as said' 0 t_faden archive restore --partial "$long"
t_like 'with what was left out' "$(cat "$t_err")" 'warning: [0-9]+ bytes are damaged and were left out$'
t_exit 'then it is forgotten' 0 t_faden delete -y --forget "$long"

# a database that knows nothing, and cannot be brought up to date: no word of "as it was"
mv "$dir" "$t_tmp/kept"
mv "$t_home/.claude" "$t_tmp/agent"
t_exit 'an archive of nothing' 0 t_faden archive
mkdir "$t_tmp/empty"
cp "$dir"/archive.db* "$t_tmp/empty"
rm -rf "$dir"
mv "$t_tmp/kept" "$dir"
rm -f "$dir"/archive.db* "$dir/lock"
cp "$t_tmp/empty"/* "$dir"
mkdir "$dir/lock"
t_exit 'verify fails' 5 t_faden archive verify
t_like 'and says why' "$(cat "$t_err")" "the archive's database knows nothing of its packs"
t_exit 'so does restore' 5 t_faden archive restore --all
rmdir "$dir/lock"
t_exit 'when it can be written, all comes back' 0 t_faden archive restore --all --json
t_is 'every one of them' "$(field 'r["written_files"]')" "$n"
t_exit 'and it is whole' 0 t_faden archive verify
rm -rf "$t_home/.claude"
mv "$t_tmp/agent" "$t_home/.claude"

# something else in the place of the database
rm -f "$dir"/archive.db*
mkdir "$dir/archive.db"
t_exit 'a folder in place of the database' 5 t_faden archive
t_like 'it is said what to do' "$(cat "$t_err")" 'is a folder.*move it away'
rmdir "$dir/archive.db"
t_exit 'then it is made again' 0 t_faden archive verify

# all of them: they may lie on a disk that is not there now
missing() {
	for verb in '' verify list "restore dddddddd-0000-4000-8000-000000000003" 'prune --older-than 1d'; do
		# shellcheck disable=SC2086 # words
		t_exit "$1: refused: archive $verb" 3 t_faden archive $verb
		t_like "$1: with what to do" "$(cat "$t_err")" 'packs of the archive are missing: .*/archive/packs has none .* mount it'
	done
	t_exit "$1: nothing is deleted" 3 t_faden delete -y "$(t_faden list --all -n 1 -F '{id}')"
	t_exit "$1: others are indexed" 0 t_faden index
	for verb in show resume; do
		t_exit "$1: $verb: one that is gone cannot be read" 3 t_faden $verb "$away"
		t_like "$1: $verb: which is not to say that it is lost" "$(cat "$t_err")" 'is gone, and what the archive has of it cannot be told now: the packs of the archive are missing'
	done
	t_exit "$1: it is listed" 0 t_faden list --all --gone
	t_like "$1: as one that may come back" "$(cat "$t_out")" "^x\?.$away"
	t_is "$1: for formats, too" "$(t_faden list --all --gone -F '{id} {gone}' 2>/dev/null | grep "$away")" "$away gone"
	t_exit "$1: it is found" 0 t_faden search tapir
	t_like "$1: with why there is no more of it" "$(cat "$t_out")" '\(the archive cannot be read now\)'
	t_unlike "$1: and nothing else" "$(cat "$t_out")" 'not in the archive'
	t_like "$1: and what to do" "$(cat "$t_err")" 'packs of the archive are missing'
	t_run "$FADEN" repair "$emptied" >"$t_out" 2>&1
	t_like "$1: of one that is empty it is not said that there is no copy" "$(cat "$t_out")" 'Whether the archive has a copy cannot be told: the packs'
}
away=dddddddd-0000-4000-8000-00000000000a
file=$("$t_helper/make-session" claude "$t_home/.claude" "$t_tmp" "$away" 'the tapir is away')
emptied=$("$t_helper/make-session" claude "$t_home/.claude" "$t_tmp" dddddddd-0000-4000-8000-00000000000b 'the okapi is emptied')
t_exit 'two more are indexed' 0 t_faden index
t_exit 'and archived' 0 t_faden archive
rm "$file"
: >"$emptied"
t_exit 'then they are gone' 0 t_faden index
mv "$dir/packs" "$t_tmp/packs"
missing 'no folder'
t_ok 'none is made' test ! -e "$dir/packs"
ln -s "$t_tmp/unmounted" "$dir/packs"
missing 'a link'
rm "$dir/packs"
mkdir "$dir/packs"
missing 'an empty folder'
t_is 'it stays empty' "$(ls "$dir/packs")" ''
rmdir "$dir/packs"
mv "$t_tmp/packs" "$dir/packs"
t_exit 'with them all is as it was' 0 t_faden archive verify
rm -r "$dir"/packs "$dir"/archive.db*
t_exit 'who wants to begins anew' 0 t_faden archive
t_ok 'with what is there' readable

t_done
