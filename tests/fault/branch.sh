#!/bin/sh
# Fork, port and merge under storage faults: kill -9, a failing call, a full disk at every step that
# changes a file. After each: the sessions they are made from are untouched, and the agents' folders
# hold one whole new session or none.
. "$(dirname "$0")/../lib.sh"
t_need_faults 3
. "$(dirname "$0")/sweep.sh"

id=11111111-2222-4333-8444-555555555555
other=11111111-2222-4333-8444-555555555556
mkdir -p "$t_tmp/work"
cd "$t_tmp/work" || exit 1
file=$("$t_helper/make-session" claude "$t_home/.claude" "$t_tmp/work" $id one two three)
"$t_helper/make-session" claude "$t_home/.claude" "$t_tmp/work" $other one two four >/dev/null
mkdir -p "$t_home/.codex/sessions"
t_faden lineage $id >/dev/null
t_faden lineage $other >/dev/null
cp -a "$t_home" "$t_tmp/clean-home"
before=$(cd "$t_home" && find .claude .codex -name '*.jsonl' -exec cksum {} + | sort)

restore() {
	rm -rf "$t_home"
	cp -a "$t_tmp/clean-home" "$t_home"
}

# What is swept, and how many lines it makes.
fork() { t_faden fork --json --at 2 --name 'a fork' "$id"; }
port() { t_faden port --json --to codex "$id"; }
merge() { t_faden merge --json --current "$id" "$other"; }
look_fork() { look "$1" "$(python3 -c 'import sys; print(len(open(sys.argv[1]).readlines()) * 2 // 3)' "$file")"; }
look_port() { look "$1" 19; }
look_merge() { look "$1" "$(($(wc -l <"$file") + 4))"; }

look() {
	now=$(cd "$t_home" && find .claude .codex -name '*.jsonl' -exec cksum {} + | sort)
	[ "$(printf '%s\n%s\n' "$before" "$now" | sort | uniq -d)" = "$before" ] || echo "$1: a session changed"
	left=$(find "$t_home/.claude" "$t_home/.codex" -name '.faden-*')
	[ -z "$left" ] || echo "$1: left behind: $left"
	new=$(cd "$t_home" && find .claude .codex -name '*.jsonl' -newer "$t_tmp/clean-home/.claude" ! -name "$id.jsonl" ! -name "$other.jsonl")
	case $new in
	'') [ "$t_rc" != 0 ] || echo "$1: said done, and nothing is there" ;;
	*)
		python3 -c 'import json, sys; lines = [json.loads(l) for l in open(sys.argv[1])]; assert len(lines) == int(sys.argv[2]), len(lines)' \
			"$t_home/$new" "$2" || echo "$1: not whole"
		;;
	esac
}

for mode in FADEN_FAULT_KILL=1 FADEN_FAULT_ERRNO=EIO FADEN_FAULT_STICKY=1; do
	sweep "fork, $mode" fork look_fork $mode
	sweep "port, $mode" port look_port $mode
	sweep "merge, $mode" merge look_merge $mode
done
t_done
