#!/bin/sh
# faden hook in the real Claude Code: a prompt of ours makes no request.
. "$(dirname "$0")/../lib.sh"
t_need_agents
t_model_start
t_claude_env
t_codex_env
mkdir "$t_tmp/work"
cd "$t_tmp/work" || exit 1

field() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$t_out" "$1"; }
requests() { t_model_query 'len(log)'; }
# by the hooks alone: nothing that looks for what is new has run
in_index() { "$t_build/tests/index-dump" "$t_home/.local/state/faden/index" | grep -q "$1"; }
in_archive() { t_faden archive list | grep -q "$1"; }
sent() { t_model_query 'repr(log[-1]["body"])'; }

t_exit 'the hooks are installed' 0 t_faden hook install
for version in "$t_claude" "$t_claude_new"; do
	name=$(basename "$(dirname "$(dirname "$(dirname "$(dirname "$version")")")")")
	claude() { t_run "$version" -p --output-format json "$@" </dev/null; }
	id=$(cat /proc/sys/kernel/random/uuid)
	t_exit "$name: a session is begun" 0 claude 'remember the milk and the bread' --session-id "$id"
	before=$(requests)
	t_exit "$name: >handoff does not fail" 0 claude '>handoff bread first' --resume "$id"
	t_is "$name: >handoff makes no request" "$(requests)" "$before"
	t_like "$name: >handoff shows the command" "$(field result)" "faden rollover $id"
	note=$(field result | sed -n 's/^Handoff note: //p')
	t_like "$name: the note has the words" "$(cat "$note")" '^bread first$'
	t_like "$name: the note has the brief" "$(cat "$note")" 'As last stated: remember the milk'
	t_exit "$name: >RESUME does not fail" 0 claude '>RESUME' --resume "$id"
	t_is "$name: >RESUME makes no request" "$(requests)" "$before"
	t_exit "$name: any other prompt succeeds" 0 claude 'and the butter' --resume "$id"
	t_ok "$name: any other prompt makes a request" test "$(requests)" -gt "$before"
	t_is "$name: what was blocked is not sent" "$(sent | grep -c -e 'bread first' -e '>RESUME')" 0
	t_exit "$name: >lineage does not fail" 0 claude '>lineage' --resume "$id"
	t_like "$name: >lineage shows the session" "$(field result)" "$id.*this session"
	t_ok "$name: what was said is in the index by the hooks alone" t_wait_for 30 in_index "$id"
	t_ok "$name: and in the archive" t_wait_for 30 in_archive "$id"
done

# where a session comes from is told when it starts
t_setenv FADEN_HOOK_LINEAGE=true
claude() { t_run "$t_claude" -p --output-format json "$@" </dev/null; }
file=$(echo "$t_home"/.claude/projects/*/"$id.jsonl")
child=$(cat /proc/sys/kernel/random/uuid)
sed "1s|}\$|,\"trim_metadata\":{\"parent_file\":\"$file\"}}|; s/$id/$child/g" "$file" >"$(dirname "$file")/$child.jsonl"
sed -i "1s|/$child.jsonl|/$id.jsonl|" "$(dirname "$file")/$child.jsonl"
t_exit 'claude: a session made from another is resumed' 0 claude 'go on' --resume "$child"
t_like 'claude: a session made from another is told its lineage' "$(sent)" "1\. $id\.jsonl \(original\)"

# a compaction keeps the session first
t_exit 'claude: a compaction succeeds' 0 claude '/compact' --resume "$id"
t_ok 'claude: a compaction keeps the session in the archive' sh -c "find '$t_home/.local/share/faden/archive' -type f | grep -q ."
t_exit 'the hooks are removed' 0 t_faden hook remove
before=$(requests)
t_exit 'claude: >resume without hooks succeeds' 0 claude '>resume' --resume "$id"
t_ok 'claude: >resume without hooks is a prompt like any other' test "$(requests)" -gt "$before"

# Codex: the same hooks, which it runs only when they are trusted; here it is told to trust all
codex() { t_run codex exec "$@" --skip-git-repo-check </dev/null; }
notes() { find "$t_home/.local/state/faden/handoffs" -name '*.md' | wc -l; }
t_exit 'the hooks of Codex are installed' 0 t_faden hook install --agent codex
t_exit 'codex: a session is begun' 0 codex 'remember the milk and the bread'
thread=$(sed -n 's/^session id: //p' "$t_err")
before=$(requests)
kept=$(notes)
t_exit 'codex: >handoff does not fail' 0 codex --dangerously-bypass-hook-trust resume "$thread" '>handoff butter last'
t_is 'codex: >handoff makes no request' "$(requests)" "$before"
t_is 'codex: >handoff leaves a note' "$(notes)" $((kept + 1))
note=$(grep -l -r 'butter last' "$t_home/.local/state/faden/handoffs")
t_like 'codex: the note has the brief' "$(cat "$note")" 'As last stated: remember the milk'
t_exit 'codex: any other prompt succeeds' 0 codex --dangerously-bypass-hook-trust resume "$thread" 'and the butter'
t_ok 'codex: any other prompt makes a request' test "$(requests)" -gt "$before"
t_is 'codex: what was blocked is not sent' "$(sent | grep -c 'butter last')" 0
t_ok 'codex: what was said is in the index by the hooks alone' t_wait_for 30 in_index "$thread"
t_ok 'codex: and in the archive' t_wait_for 30 in_archive "$thread"
t_exit 'codex: a rollover is made' 0 t_faden rollover --json "$thread"
file=$(field path)
child=$(field session_id)
sed -i '2,$d' "$file"
sed 1d "$(find "$t_home/.codex/sessions" -name "*$thread.jsonl")" | grep response_item | sed 's/"ordinal":[0-9]*,//' >>"$file"
t_exit 'codex: a session made from another is resumed' 0 codex --dangerously-bypass-hook-trust resume "$child" 'go on'
t_like 'codex: a session made from another is told its lineage' "$(sent)" "$thread\\.jsonl \\(original\\)"
before=$(requests)
t_exit 'codex: a prompt succeeds with hooks that are not trusted' 0 codex resume "$thread" '>handoff'
t_ok 'codex: hooks that are not trusted do not run' test "$(requests)" -gt "$before"
t_done
