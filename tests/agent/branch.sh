#!/bin/sh
# Forks, ports, merges and replays: the real agents resume them, and the model sees what was promised.
. "$(dirname "$0")/../lib.sh"
t_need_agents
t_model_start
t_claude_env
t_codex_env
mkdir "$t_tmp/work"
cd "$t_tmp/work" || exit 1

claude() { t_run claude -p --output-format json "$@" </dev/null; }
newer() { t_run "$t_claude_new" -p --output-format json "$@" </dev/null; }
codex() { t_run codex exec "$@" --skip-git-repo-check </dev/null; }
# field NAME: of the one JSON object that was printed.
field() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$t_out" "$1"; }
# seen: what the model was sent last, a letter an item: user, assistant, call, result; with the texts that
# an agent puts in left out. The words are those of the test.
seen() {
	t_model_query '" ".join(
		f"{kind}:" + " ".join(text.split())
		for kind, text in (
			[item
			 for m in log[-1]["body"].get("messages", [])
			 for b in ([{"type": "text", "text": m["content"]}] if isinstance(m["content"], str) else m["content"])
			 for item in [
				(m["role"][0], b.get("text", "")) if b["type"] == "text" else
				("call", b["name"] + "(" + b["input"].get("command", "") + ")") if b["type"] == "tool_use" else
				("result", b["content"] if isinstance(b["content"], str) else b["content"][0]["text"])]]
			or
			[((i["role"][0], i["content"][0]["text"]) if i["type"] == "message" else
			  ("call", i["name"] + "(" + json.loads(i["arguments"]).get("cmd", "") + ")") if i["type"] == "function_call" else
			  ("result", i["output"]))
			 for i in log[-1]["body"].get("input", []) if i["type"] in ("message", "function_call", "function_call_output")])
		if kind not in ("s", "d") and not text.lstrip().startswith("<"))'
}

old=11111111-2222-4333-8444-555555555555
t_exit 'claude: a session is begun' 0 claude 'first [[bash: echo one]] [[say: it is one]]' --session-id $old --allowedTools Bash
t_exit 'claude: it goes on' 0 claude 'second [[say: it is two]]' --resume $old
t_exit 'claude: and on' 0 claude 'third [[say: it is three]]' --resume $old
one='u:first [[bash: echo one]] [[say: it is one]] call:Bash(echo one) result:one a:it is one'
two='u:second [[say: it is two]] a:it is two'
three='u:third [[say: it is three]] a:it is three'

# ---- fork ----
t_exit 'claude: a fork is made' 0 t_faden fork --json --at 2 $old
fork=$(field session_id)
t_exit 'claude: the fork resumes' 0 claude 'other way [[say: found 42]]' --resume "$fork"
t_is 'claude: the fork keeps its id' "$(field session_id)" "$fork"
t_is 'claude: the model sees two turns and the new words' "$(seen)" "$one $two u:other way [[say: found 42]]"
t_exit 'newer claude: the fork resumes' 0 newer 'more [[say: nothing more]]' --resume "$fork"
t_is 'newer claude: the model sees them too' "$(seen)" "$one $two u:other way [[say: found 42]] a:found 42 u:more [[say: nothing more]]"

# ---- merge ----
t_exit 'claude: the fork is brought home' 0 t_faden merge --json $old "$fork"
merged=$(field session_id)
t_exit 'claude: the merge resumes' 0 claude 'and now?' --resume "$merged"
home="$one $two $three u:\[From another branch: session $fork, turn 3\] other way \[\[say: found 42\]\] a:found 42 \
u:\[From another branch: session $fork, turn 4\] more \[\[say: nothing more\]\] a:nothing more u:\[Merged\] .* a:I have what was found there, .* u:and now\?"
t_like 'claude: the model sees its own turns and those brought home' "$(seen)" "^$(printf '%s' "$home" | sed 's/\[\[/\\[\\[/g; s/(echo one)/\\(echo one\\)/; s/\\\\\[/\\[/g')\$"
t_exit 'newer claude: the merge resumes' 0 newer 'and then?' --resume "$merged"
t_like 'newer claude: the model sees what was brought home' "$(seen)" "a:found 42 .*u:and then\?\$"

# ---- port ----
t_exit 'a port from claude to codex is made' 0 t_faden port --json --to codex $old
ported=$(field session_id)
t_exit 'codex: the port resumes' 0 codex resume "$ported" 'fourth [[bash: echo rex]]'
t_like 'codex: the model sees the history as its own' "$(seen)" "^$(printf '%s %s %s' "$one" "$two" "$three" | sed 's/Bash(echo one)/exec_command(echo one)/; s/[][()]/\\&/g') u:fourth"
t_exit 'a fork of codex is made' 0 t_faden fork --json --at 2 "$ported"
t_exit 'codex: the fork resumes' 0 codex resume "$(field session_id)" 'other'
t_is 'codex: the model sees two turns and the new words' "$(seen)" "$(printf '%s %s' "$one" "$two" | sed 's/Bash(/exec_command(/') u:other"
cfork=$(sed -n 's/^session id: //p' "$t_err")
t_exit 'codex: a merge is made' 0 t_faden merge --json "$ported" "$cfork"
t_exit 'codex: the merge resumes' 0 codex resume "$(field session_id)" 'so?'
t_like 'codex: the model sees what was brought home' "$(seen)" "u:fourth .*u:.From another branch: session $cfork, turn 3. other a:.* u:.Merged. .* u:so\?\$"
t_exit 'a port back to claude is made' 0 t_faden port --json --to claude "$ported"
back=$(field session_id)
t_exit 'claude: the port resumes' 0 claude 'fifth' --resume "$back"
t_like 'claude: the model sees it all' "$(seen)" "^$(printf '%s %s %s' "$one" "$two" "$three" | sed 's/[][()]/\\&/g') u:fourth .*call:Bash\(echo rex\) result:.*rex.* u:fifth\$"
t_exit 'newer claude: the port resumes' 0 newer 'sixth' --resume "$back"
t_like 'newer claude: the model sees it all' "$(seen)" "call:Bash\(echo rex\) .* u:fifth a:.* u:sixth\$"

# ---- an interrupted turn ----
cut=$t_home/.claude/projects/$(basename "$(dirname "$(echo "$t_home"/.claude/projects/*/$old.jsonl)")")/22222222-2222-4333-8444-555555555555.jsonl
sed '/it is one"/,$d' "$(echo "$t_home"/.claude/projects/*/$old.jsonl)" | grep -v '"tool_result"' >"$cut"
t_exit 'claude: a fork of an interrupted turn is made' 0 t_faden fork --json --at 1 22222222-2222-4333-8444-555555555555
t_is 'the open call is counted' "$(field open_calls)" 1
t_exit 'claude: it resumes' 0 claude 'go on' --resume "$(field session_id)"
t_like 'claude: the model sees the new words' "$(seen)" 'u:go on$'

# ---- replay ----
t_exit 'claude: the words are said again' 0 t_faden replay --json --model scripted-small $old
t_is 'all were answered' "$(field answered)" 3
replayed=$(field session_id)
t_is 'the model is the other one' "$(t_model_query 'log[-1]["body"]["model"]')" scripted-small
t_is 'no tool was offered' "$(t_model_query 'len(log[-1]["body"].get("tools", []))')" 0
t_exit 'the replay has a parent' 0 t_faden lineage "$replayed"
t_like 'it is the session' "$(cat "$t_out")" "replayed +$replayed"
t_exit 'claude: the replay resumes' 0 claude 'seventh' --resume "$replayed"
t_like 'claude: the model sees the words' "$(seen)" 'u:third .* u:seventh$'
t_exit 'codex: the words are said again from a turn on' 0 t_faden replay --json --agent codex --from 3 $old
t_is 'one was answered' "$(field answered)" 1
t_is 'codex: the model sees what was before as it was' "$(seen)" "$(printf '%s %s' "$one" "$two" | sed 's/Bash(/exec_command(/') u:third [[say: it is three]]"
t_done
