#!/bin/sh
# faden smart-trim with the real agents: they are asked without tools, and resume the result.
. "$(dirname "$0")/../lib.sh"
t_need_agents
t_model_start
t_claude_env
t_codex_env
mkdir "$t_tmp/work"
cd "$t_tmp/work" || exit 1

field() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$t_out" "$1"; }
sent() { t_model_query 'repr(log[-1]["body"].get("messages") or log[-1]["body"].get("input"))'; }
tools() { t_model_query '[t.get("name") or t.get("type") for t in log[-1]["body"].get("tools", [])]'; }
# answer JSON: what the model says to the next question of faden, and nothing else.
sessions() { find "$t_home/.claude/projects" "$t_home/.codex/sessions" -name '*.jsonl' 2>/dev/null | wc -l; }
line=$(head -c 3000 /dev/zero | tr '\0' 'y')
printf '%s\n' "$line" >long.txt
pick='{"trim": [{"number": 3, "reason": "read once", "summary": "a line of y"}]}'

for version in "$t_claude" "$t_claude_new"; do
	ln -sf "$version" "$t_bin/claude"
	claude() { t_run claude -p --output-format json "$@" </dev/null; }
	id=$(cat /proc/sys/kernel/random/uuid)
	t_exit 'claude: a session is begun' 0 claude '[[bash: cat long.txt]] [[say: read it]]' --session-id "$id" --allowedTools Bash
	t_exit 'claude: the session goes on' 0 claude 'and another thing' --resume "$id"
	t_exit 'claude: the digest is printed' 0 t_faden smart-trim --digest --keep-recent 0 "$id"
	number=$(sed -n 's/^#\([0-9]*\) result of Bash.*/\1/p' "$t_out")
	pick="{\"trim\": [{\"number\": $number, \"reason\": \"read once\", \"summary\": \"a line of y\"}]}"
	before=$(sessions)
	t_exit 'claude: smart-trim asks claude' 0 t_faden smart-trim --json --keep-recent 0 --instructions "[[tool: StructuredOutput $pick]]" "$id"
	t_is 'claude: it is asked with the schema and no other tool' "$(tools | tr -d '[]'"' " | tr ',' '\n' | grep -v -e DeferredToolPlaceholder | tr '\n' ' ')" 'StructuredOutput '
	t_is 'claude: one text is replaced' "$(field replaced)" 1
	new=$(field session_id)
	t_is 'claude: one session is new' "$(sessions)" $((before + 1))
	t_is 'claude: nothing else is left of the question' "$(find "$t_home" -name '*ask-*')" ''
	t_exit 'claude: a smart-trimmed session resumes' 0 claude 'still there?' --resume "$new"
	t_like 'claude: the model sees the summary' "$(sent)" 'a line of y.*Summarised - original was 3000 characters'
	t_is 'claude: the model does not see the text' "$(sent | grep -c yyyyyyyyyy)" 0
	t_is 'claude: call and result are still a pair' "$(t_model_query '[b["type"] for m in log[-1]["body"]["messages"] if isinstance(m["content"], list) for b in m["content"] if b["type"].startswith("tool")]')" \
		"['tool_use', 'tool_result']"
	t_like 'claude: recall gives the text back' "$(t_faden recall "$(sent | sed -n 's/.*faden recall \([0-9a-f]\{16\}\).*/\1/p')")" '^yyyy'
done

codex() { t_run codex exec "$@" --skip-git-repo-check </dev/null; }
t_exit 'codex: a session is begun' 0 codex '[[bash: cat long.txt]] [[say: read it]]'
thread=$(sed -n 's/^session id: //p' "$t_err")
t_exit 'codex: the digest is printed' 0 t_faden smart-trim --digest --keep-recent 0 "$thread"
number=$(sed -n 's/^#\([0-9]*\) result of exec_command.*/\1/p' "$t_out")
pick="{\"trim\": [{\"number\": $number, \"reason\": \"read once\", \"summary\": \"a line of y\"}]}"
before=$(sessions)
t_exit 'codex: smart-trim asks codex' 0 t_faden smart-trim --json --keep-recent 0 --instructions "[[say: $pick]]" "$thread"
t_unlike 'codex: it is asked without a shell' "$(tools)" 'exec_command|shell|apply_patch|web_search'
t_like 'codex: it is asked with the schema' "$(t_model_query 'log[-1]["body"].get("text")')" 'json_schema'
new=$(field session_id)
t_is 'codex: one session is new' "$(sessions)" $((before + 1))
t_exit 'codex: a smart-trimmed session resumes' 0 codex resume "$new" 'still there?'
t_like 'codex: the model sees the summary' "$(sent)" 'a line of y.*Summarised - original was'
t_is 'codex: the model does not see the text' "$(sent | grep -c yyyyyyyyyy)" 0
t_done
