#!/bin/sh
# Sessions that Codex has compressed (.jsonl.zst) are read like the others.
. "$(dirname "$0")/../lib.sh"

codex=$t_home/.codex
here=$t_tmp/here
mkdir -p "$here"
a=01a00000-0000-7000-8000-00000000000a
b=01a00000-0000-7000-8000-00000000000b
t_setenv 'FADEN_CLOCK=2026-03-10T00:00:00Z'
cd "$here" || exit 1

# make ID WORD…: prints the path.
make() {
	id=$1
	shift
	"$t_helper/make-session" codex "$codex" "$here" "$id" --time 2026-03-03T10:00:00Z "$@"
}
pack() {
	zstd -q --rm "$1"
}
shown() {
	t_faden list "$@" -F '{id} {turns} {title}'
}

long=$(printf 'all the words of a long answer %.0s' $(seq 100))
plain=$(make $a --title 'Green door' 'codex words' "$long")
make $b 'another' >/dev/null
before=$(shown)
words() {
	sed 's/[0-9.]* *[kMB]*B\b//; s/\.zst\b//'
}
t_faden show $a | words >"$t_tmp/show.plain"
t_faden show --raw $a >"$t_tmp/raw.plain"
t_faden advise --json $a | sed 's/\.zst"/"/g; s/"size":[0-9]*//' >"$t_tmp/advise.plain"
cp "$plain" "$t_tmp/original"
pack "$plain"
packed=$plain.zst

t_is 'a compressed session is listed as it was' "$(shown)" "$before"
t_is 'it is listed once, also among those that are gone' "$(shown --gone)" "$before"
t_is 'its size is that of its file' "$(t_faden list -F '{size:raw} {id}' | sed -n "s/ $a//p")" "$(stat -c %s "$packed")"
t_exit 'it is shown by its id' 0 t_faden show $a
t_is 'what is shown is what was shown' "$(words <"$t_out")" "$(cat "$t_tmp/show.plain")"
t_exit 'it is shown by its name' 0 t_faden show 'green door'
t_exit 'it is shown by a part of its id' 0 t_faden show 00000000000a
t_exit 'it is shown by its path' 0 t_faden show "$packed"
t_exit 'its bytes are shown' 0 t_faden show --raw $a
t_ok 'they are the plain ones' cmp "$t_out" "$t_tmp/raw.plain"
t_is 'the advice is what it was' "$(t_faden advise --json $a | sed 's/\.zst"/"/g; s/"size":[0-9]*//')" "$(cat "$t_tmp/advise.plain")"
t_exit 'its lineage is told' 0 t_faden lineage $a
t_exit 'nothing is damaged' 0 t_faden repair $a
printf '#!/bin/sh\n' >"$t_bin/codex"
chmod +x "$t_bin/codex"
t_exit 'the command to go on is printed' 0 t_faden resume --print $a

t_exit 'it is trimmed to a new session' 0 t_faden trim --json $a --min-savings 0 --assistant 1
new=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["path"])' <"$t_out")
t_like 'the new session is plain' "$new" '/rollout-[^/]*\.jsonl$'
t_ok 'it is one of plain lines' grep -q '"session_meta"' "$new"
t_like 'it says where it comes from' "$(head -n 1 "$new")" "\"parent_file\":\"$packed\""
ref=$(grep -o 'faden recall [0-9a-f]*' "$new" | head -n 1 | sed 's/.* //')
t_exit 'what was cut can be had back' 0 t_faden recall "$ref"
mv "$packed" "$t_tmp/away.zst"
t_exit 'also when the session is gone' 0 t_faden recall "$ref"
mv "$t_tmp/away.zst" "$packed"
t_exit 'it goes on in a new session' 0 t_faden rollover --json $a
t_exit 'it is not trimmed in place' 3 t_faden trim --in-place $a --min-savings 0
t_like 'it is said why not, and what to do' "$(cat "$t_err")" 'codex keeps the session compressed: trim to a new session'
t_ok 'the session is as it was' sh -c "zstd -q -d -c '$packed' | cmp - '$t_tmp/original'"

# While Codex makes one of the other, there are both.
zstd -q -d -k "$packed" -o "$plain"
t_is 'a session that is there twice is listed once' "$(shown | grep -c "^$a")" 1
t_exit 'the id is not ambiguous then' 0 t_faden show $a
rm "$packed"
t_is 'unpacked again it is listed once' "$(shown --gone | grep -c "^$a")" 1

# One that was deleted while it was compressed comes back plain, and is no second one.
pack "$plain"
t_exit 'it is compressed once more' 0 t_faden list
t_exit 'and deleted' 0 t_faden delete -y $a
t_is 'it is gone, once' "$(shown --gone | grep -c "^$a")" 1
t_exit 'it is restored' 0 t_faden archive restore $a
t_is 'it is there, once' "$(shown --gone | grep -c "^$a")" 1
t_unlike 'and not gone' "$(t_faden list --gone -F '{gone} {id}')" "^gone $a"
t_exit 'nothing of it is old enough to be forgotten' 1 t_faden clean --older-than 1000d --forget -y --all
t_exit 'the archive is listed' 0 t_faden archive list $a
t_like 'and has it' "$(cat "$t_out")" $a

# What is no good is named, and the others are there.
pack "$plain"
head -c 400 "$packed" >"$t_tmp/torn" && cp "$t_tmp/torn" "$packed"
t_exit 'beside a torn one the others are listed' 0 t_faden list
t_like 'the torn one is named' "$(cat "$t_err")" "$a\.jsonl\.zst is damaged: it ends within a frame; left out"
t_exit 'a torn one cannot be trimmed' 3 t_faden trim "$packed"
t_like 'it is said that it is torn' "$(cat "$t_err")" 'is damaged: it ends within a frame'
echo 'no frame' >"$packed"
t_exit 'beside one that is no such file the others are listed' 0 t_faden list
t_like 'that one is named' "$(cat "$t_err")" "$a\.jsonl\.zst is damaged: no zstd frame"
head -c 400M /dev/zero | zstd -q >"$packed"
t_exit 'beside a bomb the others are listed' 0 t_faden list
t_like 'the bomb is named' "$(cat "$t_err")" "$a\.jsonl\.zst holds more than [0-9]+ bytes"
t_is 'nothing is left behind' "$(find "$codex" -name '.faden*' | wc -l)" 0
t_done
