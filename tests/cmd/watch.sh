#!/bin/sh
# faden watch: what an agent writes is found and kept while it runs.
. "$(dirname "$0")/../lib.sh"

here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1
a=aaaaaaaa-0000-4000-8000-000000000001
b=aaaaaaaa-0000-4000-8000-000000000002
# finds WORD: in the index as it is.
finds() { t_faden search --json "$1" >"$t_tmp/found" 2>/dev/null && grep -q session_id "$t_tmp/found"; }
# told N: so many updates of the index were told.
told() { [ "$(grep -c '"files_read":[1-9]' "$t_tmp/told")" -ge "$1" ]; }
kept() { t_faden archive list 2>/dev/null | grep -q "$1"; }

t_exit 'a unit is printed' 0 t_faden watch --unit
t_like 'it runs this program' "$(cat "$t_out")" "^ExecStart=\"/.*faden\" watch\$"

t_faden watch --json >"$t_tmp/told" 2>"$t_tmp/said" &
watch=$!
index=$t_home/.local/state/faden/index/index.db
t_ok 'it begins where no agent has a home yet' t_wait_for 30 test -e "$index"
"$t_helper/make-session" claude "$t_home/.claude" "$here" "$a" 'the kumquat tree' >/dev/null
t_ok 'what comes with the home is indexed' t_wait_for 30 told 1
t_ok 'and found' finds kumquat
t_ok 'and archived' t_wait_for 30 kept "$a"
"$t_helper/make-session" claude "$t_home/.claude" "$here" "$b" 'the persimmon tree' >/dev/null
t_ok 'a new session is told' t_wait_for 30 told 2
t_ok 'and found' finds persimmon
t_ok 'and archived' t_wait_for 30 kept "$b"
"$t_helper/make-session" claude "$t_home/.claude" "$t_tmp/else" "${b%2}4" 'the medlar tree' >/dev/null
t_ok 'a session in a new folder is told' t_wait_for 30 told 3
t_ok 'and found' finds medlar
side=$(find "$t_home/.claude/projects" -name "$a.jsonl")
side=${side%.jsonl}/subagents/agent-1.jsonl
mkdir -p "${side%/*}"
sed 's/kumquat/quince/' "${side%/subagents*}.jsonl" >"$side"
t_ok 'the work of a sub-agent is told' t_wait_for 30 told 4
t_ok 'and found' finds quince
sed 's/kumquat/loquat/' "${side%/subagents*}.jsonl" >>"$side"
t_ok 'and so is what it does then' t_wait_for 30 told 5
t_ok 'each line is JSON' python3 -c 'import json, sys
for line in open(sys.argv[1]): json.loads(line)' "$t_tmp/told"
t_is 'nothing went wrong' "$(cat "$t_tmp/said")" ''
pkill -TERM -P "$watch"
wait "$watch"
t_is 'it ends when it is told to' "$?" 0
t_exit 'the index is sound' 0 t_faden index --check
t_exit 'and so is the archive' 0 t_faden archive verify
rm "${index%/*}"/*.segment
t_start_faden watch --json >"$t_tmp/told" 2>"$t_tmp/said"
t_ok 'an index that is damaged is made anew' t_wait_for 30 told 1
t_like 'and that is said' "$(cat "$t_tmp/said")" 'damaged .*; it was made anew from the sessions'
t_like 'and noted' "$(cat "$t_home/.local/state/faden/"*log*)" 'damaged .*; it is made anew'
t_done
