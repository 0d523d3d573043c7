#!/bin/sh
# delete --forget: nothing of the session is left in any file of ours, not in frames that it shared with
# others, not in the databases or their logs; the others lose no byte.
. "$(dirname "$0")/../lib.sh"

here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1
dir=$t_home/.local/share/faden/archive
secret=eeeeeeee-0000-4000-8000-000000000042
mark=zanzibarquokka
sub=agent-5ec12e7
folder=$t_home/.claude/projects/-forget

# Many small sessions, so that they stand in one frame; one of them has the word. What they have in
# common stays, though it is in the one that goes.
cat >"$t_tmp/make.py" <<'PY'
import json, random, sys
from pathlib import Path
folder, secret, mark, sub = Path(sys.argv[1]), *sys.argv[2:]
def lines(session, n, words, agent=None):
    rng = random.Random(n)
    out = [json.dumps({"type": "user", "sessionId": session, "cwd": "/forget", "uuid": "shared", "timestamp":
                       "2026-03-01T10:00:00.000Z", "message": {"role": "user", "content": "shared " * 60}})]
    for i in range(12):
        text = words + " " + "".join(rng.choice("abcdefghijklmnop qrstuvwxyz") for _ in range(rng.choice((60, 700))))
        line = {"type": "user", "sessionId": session, "uuid": f"{n}-{i}", "cwd": "/forget",
                "timestamp": "2026-03-01T10:00:00.000Z", "message": {"role": "user", "content": text}}
        if agent:
            line |= {"isSidechain": True, "agentId": agent}
        out.append(json.dumps(line))
    return "\n".join(out) + "\n"
folder.mkdir(parents=True)
for n in range(20):
    session = f"eeeeeeee-0000-4000-8000-{n:012}"
    (folder / f"{session}.jsonl").write_text(lines(session, n, f"plain {n}"))
(folder / f"{secret}.jsonl").write_text(lines(secret, 99, mark))
below = folder / secret / "subagents"
below.mkdir(parents=True)
(below / f"{sub}.jsonl").write_text(lines(secret, 98, mark, sub[6:]))
PY
t_run "$(command -v python3)" "$t_tmp/make.py" "$folder" "$secret" "$mark" "$sub"
path=$folder/$secret.jsonl

# left WORD: the files below our folders that have it, frames of packs decompressed.
cat >"$t_tmp/left.py" <<'PY'
import struct, subprocess, sys
from pathlib import Path
root, words = Path(sys.argv[1]), [w.encode() for w in sys.argv[2:]]
for file in sorted(root.rglob("*")):
    if not file.is_file():
        continue
    data = file.read_bytes()
    texts = [data, str(file).encode()]
    at = data.find(b"\x93fadenF\n") if file.suffix == ".pack" else -1
    while at >= 0:
        stored = struct.unpack_from("<I", data, at + 24)[0]
        texts.append(subprocess.run(["zstd", "-dcq"], input=data[at + 40:at + 40 + stored], capture_output=True).stdout)
        at = data.find(b"\x93fadenF\n", at + 1)
    for word in words:
        if any(word in text for text in texts):
            print(file.relative_to(root), word.decode())
PY
left() { python3 "$t_tmp/left.py" "$t_home/.local" "$mark" "$secret" "$sub"; }
others() {
	for file in "$folder"/*.jsonl; do
		rm -f "$t_tmp/back"
		t_faden archive export "$(basename "$file" .jsonl)" -o "$t_tmp/back" >/dev/null 2>&1 || return 1
		cmp -s "$t_tmp/back" "$file" || return 1
	done
}

t_exit 'all are taken' 0 t_faden archive
t_exit 'indexed' 0 t_faden index
t_exit 'found' 0 t_faden search --all "$mark"
t_exit 'named' 0 t_faden rename "$secret" "the $mark one"
t_exit 'shown' 0 t_faden show "$secret"
printf '{"type":"user","sessionId":"%s","more":"%s"}\n' "$secret" "$mark" >>"$path"
t_exit 'and taken again when it has grown' 0 t_faden archive
t_like 'it stands in the packs' "$(left)" "packs/00000001.pack $mark"
t_is 'with all others in one frame' "$(python3 -c 'import sys; print(open(sys.argv[1], "rb").read().count(b"\x93fadenF\n") < 40)' "$dir/packs/00000001.pack")" True
t_exit 'it is forgotten' 0 t_faden delete --forget -y "$secret"
t_is 'no file of ours has word, id or path of it' "$(left)" ''
t_ok 'the agent has it no more' test ! -e "$path"
t_ok 'nor what its sub-agent did' test ! -e "$folder/$secret"
t_exit 'the archive is whole' 0 t_faden archive verify --json
t_like 'with nothing that belongs to nobody' "$(cat "$t_out")" '"unused_bytes": ?0'
t_ok 'the others are what they were' others
rm -f "$dir"/archive.db*
t_exit 'also when the database is made again' 0 t_faden archive verify
t_ok 'byte for byte' others
t_is 'and the word does not come back' "$(left)" ''
t_exit 'the next run finds nothing to do' 0 t_faden archive
t_like 'as is said' "$(cat "$t_out")" '^0 of 20 files new or grown'
t_exit 'another one is forgotten' 0 t_faden delete --forget -y eeeeeeee-0000-4000-8000-000000000007
t_ok 'the rest is what it was' others

# one that was cut short: the sweep finds what nobody needs
t_run "$(command -v python3)" - "$folder" "$secret" "$mark" <<'PY'
import json, sys
from pathlib import Path
folder, secret, mark = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
(folder / f"{secret}.jsonl").write_text("".join(json.dumps({"type": "user", "sessionId": secret, "cwd": "/forget",
    "timestamp": "2026-03-01T10:00:00.000Z", "uuid": str(i), "message": {"role": "user", "content": mark * 9}}) + "\n"
    for i in range(9)))
PY
t_exit 'it comes again' 0 t_faden archive
t_exit 'and is deleted, but kept' 0 t_faden delete -y "$secret"
t_like 'in the packs' "$(left)" "$mark"
t_exit 'one that is gone is forgotten as well' 0 t_faden delete --forget -y "$secret"
t_is 'everywhere' "$(left)" ''
t_ok 'and no other one' others
t_done
