#!/bin/sh
# The scripted model and the real agents: what the tests of the drivers stand on.
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
codex() { t_run codex exec "$@" --skip-git-repo-check </dev/null; }

# field NAME: of the one JSON object the agent printed.
field() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$t_out" "$1"; }

# usage NAME: of the same object.
usage() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["usage"][sys.argv[2]])' "$t_out" "$1"; }

# --- Claude Code
t_exit 'claude: a first turn succeeds' 0 claude 'my cat is Tom' --session-id $uuid
t_like 'claude: a first turn is answered' "$(field result)" '^prompts=1 .*last=my cat is Tom$'
t_exit 'claude: a resume succeeds' 0 claude 'what did I say?' --resume $uuid
t_like 'claude: a resume remembers' "$(field result)" '^- my cat is Tom$'
t_is 'claude: a resume keeps the id' "$(field session_id)" $uuid

t_ok 'claude: a resume reads the first turn from the cache' test "$(usage cache_read_input_tokens)" -gt 0

t_exit 'claude: a turn with tools succeeds' 0 claude '[[think: hm]] [[par: echo one || echo two]] [[say: all done]]' \
	--resume $uuid --allowedTools Bash
t_is 'claude: what comes after the tools is said' "$(field result)" 'all done'
t_is 'claude: two calls were answered in one message' "$(t_model_query \
	'sorted(b["content"] for b in log[-1]["body"]["messages"][-1]["content"])')" "['one', 'two']"
t_exit 'claude: thinking is taken back with its signature' 0 claude 'again' --resume $uuid

t_exit 'claude: a refused request is a failure' 1 claude '[[error: 400 no such luck]]'
t_like 'claude: a refused request carries the words of the API' "$(field result)" '400 no such luck'
t_exit 'claude: a broken stream is a failure' 1 claude '[[say: half]] [[drop]]'
t_like 'claude: a broken stream is named' "$(field result)" 'Connection closed mid-response'
t_exit 'claude: a retried request succeeds' 0 claude '[[error: 529 x1 busy]] [[say: now]]'
t_is 'claude: a retried request is answered' "$(field result)" now
sed -i 's/"thinking":"hm"/"thinking":"ho"/' "$project/$uuid.jsonl"
t_exit 'claude: a transcript with foreign thinking is resumed' 0 claude 'again' --resume $uuid
t_is 'claude: foreign thinking is refused, and sent again without' \
	"$(t_model_query '[(e["status"], "signature" in str(e["body"]["messages"])) for e in log[-2:]]')" \
	'[(400, True), (200, False)]'

t_model_control '{"limit": 1000}'
t_exit 'claude: a prompt too long is a failure' 1 claude 'hello'
t_like 'claude: a prompt too long is named so' "$(field result)" '^Prompt is too long'
t_model_control '{"limit": 200000, "queue": [{"when": "queued", "text": "from the [[queue]]"}]}'
t_exit 'claude: a queued answer succeeds' 0 claude 'a queued one'
t_is 'claude: a queued answer is taken as it stands' "$(field result)" 'from the [[queue]]'

# --- the newer Claude Code
newer() { t_run "$t_claude_new" -p --output-format json "$@" </dev/null; }
t_exit 'newer claude: resumes what the older one began' 0 newer 'what did I say?' --resume $uuid
t_like 'newer claude: remembers what the older one heard' "$(field result)" '^- my cat is Tom$'
t_exit 'newer claude: a turn with tools succeeds' 0 newer '[[bash: echo one]] [[say: all done]]' --allowedTools Bash
t_is 'newer claude: what comes after the tools is said' "$(field result)" 'all done'

# --- Codex
t_exit 'codex: a first turn succeeds' 0 codex 'my dog is Rex'
t_like 'codex: a first turn is answered' "$(cat "$t_out")" '^prompts=1 .*last=my dog is Rex$'
thread=$(sed -n 's/^session id: //p' "$t_err")
t_exit 'codex: a resume succeeds' 0 codex resume "$thread" 'what did I say?'
t_like 'codex: a resume remembers' "$(cat "$t_out")" '^- my dog is Rex$'
t_exit 'codex: a turn with tools succeeds' 0 codex --json resume "$thread" '[[think: hm]] [[par: echo one || echo two]] [[say: all done]]'
t_like 'codex: the first of two tools is run' "$(cat "$t_out")" 'item.completed.*"aggregated_output":"one\\n"'
t_like 'codex: the second of two tools is run' "$(cat "$t_out")" 'item.completed.*"aggregated_output":"two\\n"'
t_like 'codex: what comes after the tools is said' "$(cat "$t_out")" '"agent_message","text":"all done"'
t_exit 'codex: a broken stream is a failure' 1 codex --json '[[say: half]] [[drop]]'
t_like 'codex: a broken stream is tried again, then fails' "$(cat "$t_out")" 'turn.failed.*stream disconnected'
t_exit 'codex: a refused request is a failure' 1 codex --json '[[error: 400 no such luck]]'
t_like 'codex: a refused request carries the words of the API' "$(cat "$t_out")" 'turn.failed.*no such luck'

# --- what no agent sends
# post PATH JSON: the status, then the body.
post() {
	python3 - "$t_port" "$1" "$2" <<-'END'
		import sys, urllib.error, urllib.request
		opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
		try:
		    answer = opener.open(f"http://127.0.0.1:{sys.argv[1]}{sys.argv[2]}", sys.argv[3].encode())
		except urllib.error.HTTPError as error:
		    answer = error
		print(answer.status, answer.read().decode())
	END
}
messages() { post /v1/messages "{\"model\":\"m\",\"max_tokens\":9,\"messages\":[$1]}"; }
ask='{"role":"user","content":"[[bash: true]]"}'
call='{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{}}]}'
result='{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":""}]}'
t_like 'a whole answer is given without a stream' "$(messages '{"role":"user","content":"hi"}')" '^200 .*last=hi'
t_like 'a call and its result are accepted' "$(messages "$ask,$call,$result")" '^200 .*end_turn'
t_like 'a call without result is refused' \
	"$(messages "$ask,$call,$ask")" '^400 .*messages.1: `tool_use` ids were found without.*toolu_1'
t_like 'a call without result is refused at the end' "$(messages "$ask,$call")" '^400 .*without `tool_result`'
t_like 'a result without call is refused' \
	"$(messages "$ask,$result")" '^400 .*messages.0.content.1: unexpected `tool_use_id`.*toolu_1'
t_like 'an answer first is refused' "$(messages "$call,$result")" '^400 .*first message must use'
t_like 'an empty text is refused' "$(messages '{"role":"user","content":""}')" '^400 .*non-empty'
t_like 'no message is refused' "$(messages '')" '^400 .*at least one message'
output='{"type":"function_call_output","call_id":"call_1","output":""}'
t_like 'a result without call is refused by the other API' "$(post /v1/responses "{\"model\":\"m\",\"input\":[$output]}")" \
	'^400 .*No tool call found for function call output with call_id call_1'
t_like 'any other path is harmless' "$(post /api/anything '{}')" '^200 \{\}'
t_done
