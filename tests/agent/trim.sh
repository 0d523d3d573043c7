#!/bin/sh
# What trim writes, resumed by the real agents: the model is sent placeholders, and calls and
# results still belong together (the scripted model refuses a request where they do not).
. "$(dirname "$0")/../lib.sh"
t_need_agents
t_model_start
t_claude_env
t_codex_env
mkdir "$t_tmp/work"
cd "$t_tmp/work" || exit 1

uuid=11111111-2222-4333-8444-555555555555
project=$t_home/.claude/projects/$(printf '%s' "$PWD" | sed 's/[^A-Za-z0-9]/-/g')

claude() { t_run claude -p --output-format json "$@" </dev/null; }
newer() { t_run "$t_claude_new" -p --output-format json "$@" </dev/null; }
codex() { t_run codex exec "$@" --skip-git-repo-check </dev/null; }

# json NAME [FILE]: a member of the object in the file.
json() { python3 -c 'import json, sys; print(json.load(open(sys.argv[2]))[sys.argv[1]])' "$1" "${2:-$t_out}"; }

# sent: the texts of all results in the last request, one a line.
sent() {
	t_model_query '"\n".join(
		(b["content"] if isinstance(b["content"], str) else "".join(x.get("text", "<image>") for x in b["content"]))[:200]
		for m in log[-1]["body"]["messages"] if isinstance(m["content"], list)
		for b in m["content"] if b["type"] == "tool_result")'
}
codex_sent() {
	t_model_query '"\n".join(str(i["output"])[:200] for i in log[-1]["body"]["input"] if i["type"] == "function_call_output")'
}

# --- Claude Code
t_exit 'claude: a session with a long and a short result is begun' 0 claude \
	'[[think: hm]] [[bash: seq 1 3000]] [[bash: echo short]] [[say: done]]' --session-id $uuid --allowedTools Bash
t_exit 'claude: two results in one answer are added' 0 claude '[[par: seq 5000 9000 || echo small]] [[say: done]]' \
	--resume $uuid --allowedTools Bash
t_exit 'claude: an API error is added at the end' 1 claude '[[error: 400 no such luck]]' --resume $uuid
cp "$project/$uuid.jsonl" "$t_tmp/before"
t_exit 'claude: the session is trimmed' 0 t_faden trim --json $uuid
cp "$t_out" "$t_tmp/trimmed"
new=$(json session_id)
t_ok 'claude: the parent is untouched' cmp "$t_tmp/before" "$project/$uuid.jsonl"
t_is 'claude: the new session lies beside it' "$(json path)" "$project/$new.jsonl"
t_exit 'claude: a trimmed session resumes' 0 claude 'what did I say?' --resume "$new"
t_is 'claude: a trimmed session keeps its id' "$(json session_id)" "$new"
t_is 'claude: two results are sent as placeholders' "$(sent | grep -c '^\[Results from Bash tool suppressed - original content was [0-9]* characters\] Original: faden recall [0-9a-f]*$')" 2
t_like 'claude: a short result is sent as it was' "$(sent)" '^short$'
t_like 'claude: the short result beside a long one is sent as it was' "$(sent)" '^small$'
t_unlike 'claude: nothing of the long results is sent' "$(sent)" '^[12]$'
t_is 'claude: thinking is sent with its signature, which the model checks' \
	"$(t_model_query '(log[-1]["status"], "signature" in str(log[-1]["body"]["messages"]))')" "(200, True)"
t_exit 'newer claude: a trimmed session resumes' 0 newer 'again' --resume "$new"
t_is 'newer claude: two results are sent as placeholders' "$(sent | grep -c 'faden recall')" 2
for ref in $(sent | sed -n 's/.*faden recall //p'); do
	t_exit "claude: $ref is recalled" 0 t_faden recall "$ref"
	t_like "claude: $ref is a list of numbers" "$(cat "$t_out")" '^[0-9]+$'
done
t_exit 'claude: a trimmed session goes on after the API error' 0 claude 'and on' --resume "$new"
t_is 'claude: a trimmed session goes on with a real model' "$(t_model_query 'log[-1]["body"]["model"] == log[0]["body"]["model"]')" True
t_exit 'claude: a trimmed session has a lineage' 0 t_faden lineage --json "$new"
t_like 'claude: the lineage has the parent' "$(cat "$t_out")" "$uuid"

t_exit 'claude: a trimmed session has nothing left to trim' 1 t_faden trim "$new"
t_exit 'claude: the session is trimmed in place' 0 t_faden trim --json --in-place $uuid
t_is 'claude: trim in place keeps the id' "$(json session_id)" $uuid
t_exit 'claude: a session trimmed in place resumes' 0 claude 'again' --resume $uuid
t_is 'claude: a session trimmed in place sends placeholders' "$(sent | grep -c 'faden recall')" 2

# --- Codex
t_exit 'codex: a session with a long and a short result is begun' 0 codex '[[bash: seq 1 3000]] [[bash: echo short]] [[say: done]]'
thread=$(sed -n 's/^session id: //p' "$t_err")
file=$(find "$t_home/.codex/sessions" -name "*$thread.jsonl")
cp "$file" "$t_tmp/before"
t_exit 'codex: the session is trimmed' 0 t_faden trim --json "$thread"
new=$(json session_id)
t_ok 'codex: the parent is untouched' cmp "$t_tmp/before" "$file"
t_exit 'codex: a trimmed session resumes' 0 codex resume "$new" 'what did I say?'
t_is 'codex: a trimmed session keeps its id' "$(sed -n 's/^session id: //p' "$t_err")" "$new"
t_like 'codex: a placeholder is sent' "$(codex_sent)" '^\[Results from .* tool suppressed - .* Original: faden recall'
t_like 'codex: the short result is sent as it was' "$(codex_sent)" 'short'
t_unlike 'codex: nothing of the long result is sent' "$(codex_sent)" '^2999$'
ref=$(codex_sent | sed -n 's/.*faden recall \([0-9a-f]*\).*/\1/p')
t_exit 'codex: the reference is recalled' 0 t_faden recall "$ref"
t_like 'codex: what is recalled is the list of numbers' "$(cat "$t_out")" '^2$'
t_exit 'codex: the note is kept after a resume' 0 grep -c '"trim_metadata":{"parent_file"' "$(find "$t_home/.codex/sessions" -name "*$new.jsonl")"
t_exit 'codex: a trimmed session resumes again' 0 codex resume "$new" 'again'
t_exit 'codex: the parent is forked' 0 codex fork "$thread" 'forked'
t_exit 'codex: trim in place of a parent of forks is refused' 5 t_faden trim --in-place "$thread"
t_like 'codex: it is said that the session was forked' "$(cat "$t_err")" 'forked'
t_done
