#!/bin/sh
# faden repair: what is wrong with a session, for every kind of damage and for what only looks so.
. "$(dirname "$0")/../lib.sh"

here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1

# field EXPRESSION: Python over `r`, the last answer.
field() {
	python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' \
		"$t_out" "$1"
}

number=0
check() {
	number=$((number + 1))
	id=$(printf 'aaaaaaaa-0000-4000-8000-%012d' $number)
	"$t_helper/damage-session" "$1" "$2" "$t_home/.$1" "$here" "$id" >"$t_tmp/made"
	file=$(sed -n 1p "$t_tmp/made")
	sum=$(cksum <"$file")
	case $3 in
	-)
		t_exit "$1 $2: it is found healthy" 0 t_faden repair --json "$id"
		t_is "$1 $2: every entry is reached" "$(field 'r["found"]["healthy"] and r["found"]["reachable"] == r["found"]["entries"]')" True
		;;
	*)
		t_exit "$1 $2: it is found damaged" 1 t_faden repair --json "$id"
		t_is "$1 $2: the cause is ${3#!}" "$(field "'${3#!}' in [f['cause'] for f in r['found']['findings'] if f['level'] != 'note']")" True
		;;
	esac
	case $3 in - | !*) return ;; esac
	t_exit "$1 $2: a mended copy is made" 0 t_faden repair --apply --json "$id"
	# these are about every line
	case $2 in stale-usage | other-session-id | ordinal*) compare=0 ;; *) compare=1 ;; esac
	mended "$file" "$id" $compare >"$t_tmp/mended"
	t_is "$1 $2: the mended copy is healthy and whole" "$(sed -n 1p "$t_tmp/mended")" True
	t_is "$1 $2: the original is as it was" "$(cksum <"$file")" "$sum"
	[ $compare = 1 ] || return
	t_is "$1 $2: what was fine stays byte for byte" "$(sed -n 2p "$t_tmp/mended")" 'as it was'
	t_exit "$1 $2: the mended copy has nothing left to mend" 0 t_faden repair --apply --json "$(sed -n 3p "$t_tmp/mended")"
}

# mended OLD ID COMPARE: looks at the last answer, three lines: whether the copy is healthy and whole;
# whether, but for the ids, no more lines differ than findings there are, and the one with the note;
# its path.
mended() {
	python3 - "$t_out" "$@" <<-'END'
		import collections, json, sys
		answer, old, old_id, compare = sys.argv[1:]
		r = json.load(open(answer))
		found, mended = r["found"], r["mended"]
		print(mended["healthy"] and mended["reachable"] == found["entries"])
		read = lambda path: [l.strip() for l in open(path, "rb").read().split(b"\n")]
		had = collections.Counter(l.replace(old_id.encode(), r["session_id"].encode()) for l in read(old))
		lost = sum((had - collections.Counter(read(r["path"]))).values())
		most = sum(f["count"] for f in found["findings"])
		print(f"{lost} lines differ, {most} findings" if compare == "1" and lost > most + 2 else "as it was")
		print(r["path"])
	END
}

for agent in claude codex; do
	"$t_helper/damage-session" $agent --list >"$t_tmp/kinds"
	while read -r kind cause; do
		check $agent "$kind" "$cause"
	done <"$t_tmp/kinds"
done

"$t_helper/damage-session" claude null-parent "$t_home/.claude" "$here" \
	bbbbbbbb-0000-4000-8000-000000000001 >/dev/null
t_exit 'a damaged session is told to people' 1 t_faden repair bbbbbbbb
t_like 'it is said how much is reached' "$(cat "$t_out")" '^reachable 8 of 19 entries'
t_like 'the cause is told with its line' "$(cat "$t_out")" '^  loss  null-parent, line 13$'
t_like 'it is said what can be done' "$(cat "$t_out")" '^--apply writes a mended copy$'

# in place: same file and id, the original in the archive
id=bbbbbbbb-0000-4000-8000-000000000001
file=$t_home/.claude/projects/$(printf %s "$here" | sed 's/[^A-Za-z0-9]/-/g')/$id.jsonl
cp "$file" "$t_tmp/before"
chmod 640 "$file"
t_exit '--in-place is taken' 0 t_faden repair --in-place --json $id
t_is '--in-place keeps the id' "$(field 'r["session_id"]')" $id
t_is '--in-place keeps the mode' "$(stat -c %a "$file")" 640
t_is '--in-place changes one line' "$(diff "$t_tmp/before" "$file" | grep -c '^<')" 1
t_ok '--in-place keeps the original in the archive' cmp "$t_tmp/before" "$t_home/.local/share/faden/archive/$(field 'r["backup_key"]').jsonl"
mended=$(cat "$file")
cp "$t_tmp/before" "$file"
t_exit '--in-place for people is taken' 0 t_faden repair --in-place $id
t_ok 'the way back can be run' t_run sh -c "$(sed -n "s|^  undo     faden|$FADEN|p" "$t_out")"
t_ok 'the way back brings back the original' cmp "$t_tmp/before" "$file"
t_is 'the same bytes are kept once' "$(find "$t_home/.local/share/faden/archive" -type f -name "$id*" | wc -l)" 1
printf '%s\n' "$mended" >"$file"
t_exit '--in-place has nothing left to mend' 0 t_faden repair --in-place $id
cp "$t_tmp/before" "$t_tmp/$id.jsonl"
t_exit 'a copy where no agent looks is made' 0 t_faden repair --apply "$t_tmp/$id.jsonl"
t_unlike 'a copy where no agent looks is not to go on with' "$(cat "$t_out")" 'Go on|faden resume'
t_like 'it is said where a copy where no agent looks can be moved' "$(cat "$t_out")" '^  mv '
t_exit '--out is taken' 0 t_faden repair --apply --out "$t_tmp/out" "$t_tmp/before"
t_is '--out makes one file' "$(find "$t_tmp/out" -name '*.jsonl' | wc -l)" 1

# a sub-agent's file: its copy is a session of its own, and stays whole
entry='"timestamp":"2026-03-01T10:00:00.000Z","message":{"role":"user","content":"said"}'
for n in 1 2; do
	printf '{"parentUuid":null,"isSidechain":true,"type":"user","uuid":"u%d",%s}\n' $n "$entry"
done >"$t_tmp/agent-a1.jsonl"
t_exit 'the file of a sub-agent is mended' 0 t_faden repair --apply --json --out "$t_tmp/agents" "$t_tmp/agent-a1.jsonl"
t_is 'the mended file of a sub-agent is healthy' "$(field 'r["mended"]["healthy"] and r["mended"]["reachable"]')" 2
t_is "the copy of a sub-agent's file is a session of its own" "$(grep -c '"isSidechain":true' "$(field 'r["path"]')")" 0

# somebody is at it
"$t_helper/damage-session" claude null-parent "$t_home/.claude" "$here" $id >/dev/null
mkdir -p "$t_home/.claude/sessions"
printf '{"pid":%d,"sessionId":"%s","procStart":"%s"}' $$ $id "$(cut -d' ' -f22 /proc/$$/stat)" \
	>"$t_home/.claude/sessions/$$.json"
t_exit '--in-place of a session in use is refused' 5 t_faden repair --in-place $id
t_like 'it is said that the session is in use' "$(cat "$t_err")" 'in use'
t_exit 'a copy of a session in use is made' 0 t_faden repair --apply $id
t_like 'the copy is told as by trim' "$(cat "$t_out")" '^New session [0-9a-f-]{36}$'
t_like 'the copy is told with its file' "$(cat "$t_out")" '^  file     ~/'
t_like 'it is said how to go on' "$(cat "$t_out")" '^  faden resume [0-9a-f-]{36}$'
rm "$t_home/.claude/sessions/$$.json"

# overwritten with nothing: the archive may have it
head -c 4096 /dev/zero >"$t_tmp/blank"
cp "$t_tmp/blank" "$file"
t_exit 'a session overwritten with nothing is found damaged' 1 t_faden repair "$file"
copy=$(sed -n "s/^  faden archive restore --replace //p" "$t_out")
t_exit 'the archive has what was overwritten' 0 t_faden archive export "$copy" -o "$t_tmp/back"
t_is 'as it was last' "$(cat "$t_tmp/back")" "$mended"
t_exit '--json finds it damaged' 1 t_faden repair --json "$file"
t_is '--json names the copy in the archive' "$(field 'r["archive_key"]')" "$copy"
never=$t_tmp/cccccccc-0000-4000-8000-000000000001.jsonl
cp "$t_tmp/blank" "$never"
t_exit 'an overwritten session that was never kept is found damaged' 1 t_faden repair "$never"
t_like 'it is said that the archive has no copy' "$(cat "$t_out")" '^The archive has no copy of it'
"$t_helper/damage-session" claude null-parent "$t_home/.claude" "$here" $id >/dev/null

# a fork of a Codex session reads its file; it was made since the last look at the folder
parent=aaaaaaaa-0000-4000-8000-999999999999
"$t_helper/damage-session" codex ordinals-missing "$t_home/.codex" "$here" $parent >"$t_tmp/made"
base=$(sed -n 1p "$t_tmp/made")
t_exit 'a session without forks is diagnosed' 1 t_faden repair $parent
fork=bbbbbbbb-0000-4000-8000-999999999999
sed "1s/\"id\":\"$parent\"/\"id\":\"$fork\",\"forked_from_id\":\"$parent\"/" "$base" \
	>"$(echo "$base" | sed "s/$parent/$fork/")"
sum=$(cksum <"$base")
t_exit '--in-place of a session with forks is refused' 5 t_faden repair --in-place $parent
t_like 'it is said that a fork reads this file' "$(cat "$t_err")" 'forked from this one.*write a copy \(--apply\)'
t_is 'a session with forks is left as it was' "$(cksum <"$base")" "$sum"

t_exit '--dry-run is taken' 1 t_faden repair --dry-run $id
t_exit '--dry-run and --apply exclude each other' 2 t_faden repair --dry-run --apply $id
t_exit '--in-place and --out exclude each other' 2 t_faden repair --in-place --out x $id
t_exit '--out without --apply is refused' 2 t_faden repair --out x $id
printf '\000\001\033[31mx{"type":"user"' >"$never"
t_exit 'a file of nothing is found damaged' 1 t_faden repair "$never"
cp "$never" "$(dirname "$file")/lost.jsonl"
t_exit 'a file of nothing where sessions lie is found damaged' 1 t_faden repair "$(dirname "$file")/lost.jsonl"
cp "$never" "$t_tmp/rollout-2026-03-01T10-00-00-01a00000-0000-7000-8000-000000000009.jsonl"
t_exit 'a file of nothing with the name of a Codex session is found damaged' 1 t_faden repair --json "$t_tmp"/rollout-*.jsonl
t_is 'a file with the name of a Codex session is one of Codex' "$(field 'r["agent"]')" codex
# what is no session is not one to mend
printf '{"a":1,"b":[1,2]}\n' >"$t_tmp/y.json"
cp "$t_tmp/y.json" "$t_tmp/y.jsonl"
printf 'x\n' >"$t_home/.claude/history.jsonl"
for other in /etc/passwd "$t_tmp/y.json" "$t_tmp/y.jsonl" "$t_home/.claude/history.jsonl"; do
	sum=$(cksum <"$other" 2>&1)
	t_exit "what is no session is refused: $other" 3 t_faden repair --in-place "$other"
	t_is "what is no session is left as it is: $other" "$(cksum <"$other" 2>&1)" "$sum"
done
t_like 'it is said that it is no session of a known agent' "$(t_faden repair "$t_tmp/y.json" 2>&1)" 'y\.json: not a session of a known agent'
t_exit 'a session that is not there is not found' 1 t_faden repair nowhere
t_exit 'a file that is not there is not found' 1 t_faden repair "$t_tmp/none.jsonl"
t_done
