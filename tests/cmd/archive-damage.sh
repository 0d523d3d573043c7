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
t_like 'that is said' "$(cat "$t_err")" '1 pack of the archive became shorter or vanished'
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
rm "$dir"/packs/*.pack
sessions 36 37
t_exit 'without its packs' 0 t_faden archive
t_like 'it is said that they are gone' "$(cat "$t_err")" '2 packs of the archive became shorter or vanished'
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

# what the agent has no more is named, and stays damaged
flip 300000
t_exit 'other bytes flip' 3 t_faden archive verify
damaged=$(sed -n 's/^.*damaged: .* (\(.*\))$/\1/p' "$t_err" | head -n 1)
mv "$damaged" "$t_tmp/gone"
t_exit 'and one of the sessions is gone' 0 t_faden archive
t_like 'what cannot be made good is told' "$(cat "$t_out")" "^1 frame of the archive cannot be read; 'faden archive verify' names the files\$"
t_exit 'it is found' 3 t_faden archive verify --json
t_is 'and only that one is not whole' "$(field 'r["damaged_files"]')" 1
t_like 'it is named' "$(cat "$t_err")" "$damaged"
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
t_done
