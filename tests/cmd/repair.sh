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
		t_exit "$1 $2: healthy" 0 t_faden repair --json "$id"
		t_is "$1 $2: all is reached" "$(field 'r["healthy"] and r["reachable"] == r["entries"]')" True
		;;
	*)
		t_exit "$1 $2: damaged" 1 t_faden repair --json "$id"
		t_is "$1 $2: ${3#!}" "$(field "'${3#!}' in [f['cause'] for f in r['findings'] if f['level'] != 'note']")" True
		;;
	esac
	t_is "$1 $2: the file is as it was" "$(cksum <"$file")" "$sum"
}

for agent in claude; do
	"$t_helper/damage-session" $agent --list >"$t_tmp/kinds"
	while read -r kind cause; do
		check $agent "$kind" "$cause"
	done <"$t_tmp/kinds"
done

"$t_helper/damage-session" claude null-parent "$t_home/.claude" "$here" \
	bbbbbbbb-0000-4000-8000-000000000001 >/dev/null
t_exit 'for people' 1 t_faden repair bbbbbbbb
t_like 'how much is reached' "$(cat "$t_out")" '^reachable 8 of 19 entries'
t_like 'the cause with its line' "$(cat "$t_out")" '^  loss  null-parent, line 13$'
printf '\000\001\033[31mx{"type":"user"' >"$t_tmp/junk.jsonl"
t_exit 'a file of nothing' 1 t_faden repair "$t_tmp/junk.jsonl"
t_exit 'no such session' 1 t_faden repair nowhere
t_exit 'no such file' 1 t_faden repair "$t_tmp/none.jsonl"
t_done
