#!/bin/sh
# faden rollover: the real agents resume what it wrote, and the model sees lineage and brief.
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
# sent: all texts of the last request, one string.
sent() { t_model_query 'repr(log[-1]["body"].get("messages") or log[-1]["body"].get("input"))'; }
# count TEXT: of how many times it is in the last request.
count() { sent | grep -o -F -e "$1" | wc -l; }

old=11111111-2222-4333-8444-555555555555
t_exit 'claude: a session is begun' 0 claude 'please count the lines of the file README here' --session-id $old
t_exit 'claude: a command is run in it' 0 claude '[[bash: echo counted; exit 3]] [[say: Decision: no cats]]' \
	--resume $old --allowedTools Bash
parent=$(echo "$t_home"/.claude/projects/*/$old.jsonl)
before=$(cksum <"$parent")

t_exit 'claude: a rollover is made' 0 t_faden rollover --json $old --prompt 'count the cats'
new=$(field session_id)
file=$(field path)
t_is 'claude: the parent is untouched' "$(cksum <"$parent")" "$before"
t_ok 'claude: the file is where the agent looks' test "$file" = "$(dirname "$parent")/$new.jsonl"
t_exit 'claude: a rollover resumes' 0 claude 'and now?' --resume "$new"
t_is 'claude: a rollover keeps its id' "$(field session_id)" "$new"
t_like 'claude: a rollover is answered' "$(field result)" 'last=and now\?$'
t_is 'claude: the model sees the lineage once' "$(count '[SESSION LINEAGE]')" 1
t_like 'claude: the lineage has the parent' "$(sent)" "1\. $old\.jsonl \(original\)"
t_like 'claude: the lineage has the session itself' "$(sent)" "2\. $new\.jsonl \(current\)"
t_like 'claude: the model sees the command and its exit status' "$(sent)" 'exit 3: echo counted; exit 3'
t_ok 'claude: a reference that the model sees is recalled' t_faden recall "$(sent | sed -n 's/.*no cats \[\([0-9a-f]\{16\}\)\].*/\1/p')"
t_like 'claude: the model sees the decision' "$(sent)" 'no cats'
t_like 'claude: the model sees the words of the user' "$(sent)" 'count the cats'
t_is 'claude: the model sees nothing of the old history' "$(t_model_query \
	'sum(b.get("type") in ("tool_use", "tool_result") for m in log[-1]["body"]["messages"] if isinstance(m["content"], list) for b in m["content"])')" 0
t_is 'claude: the model is the same' "$(t_model_query 'len({e["body"]["model"] for e in log})')" 1
t_exit 'newer claude: a rollover resumes' 0 newer 'and then?' --resume "$new"
t_is 'newer claude: the model sees the lineage once' "$(count '[SESSION LINEAGE]')" 1
t_exit 'claude: faden asks in the rollover' 0 t_faden --agent claude ask --in "$new" 'what did I say?'
t_like 'claude: faden asks in the same session' "$(sent)" 'and then\?'

t_exit 'claude: a rollover of the rollover is made' 0 t_faden rollover --json "$new"
third=$(field session_id)
t_exit 'claude: the second rollover resumes' 0 claude 'third?' --resume "$third"
t_like 'claude: the chain has the first session' "$(sent)" "1\. $old\.jsonl \(original\)"
t_like 'claude: the chain has the second session' "$(sent)" "2\. $new\.jsonl \(continued\)"
t_like 'claude: the chain has the third session' "$(sent)" "3\. $third\.jsonl \(current\)"
t_exit 'claude: the third session has a lineage' 0 t_faden lineage --json "$third"
t_is 'claude: the lineage has all three' "$(python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["chain"]))' "$t_out")" 3

t_exit 'claude: a rollover with a summary is made' 0 t_faden rollover --json --with-summary --prompt '[[say: Beware of the cats.]]' "$old"
t_is 'claude: nothing is left of the question' "$(find "$t_home" -name '*ask-*')" ''
t_exit 'claude: a rollover with a summary resumes' 0 claude 'summary?' --resume "$(field session_id)"
t_like 'claude: the model sees the summary' "$(sent)" '# Summary by an agent.{1,4}Beware of the cats'

t_exit 'a rollover from claude to codex is made' 0 t_faden rollover --json --agent codex "$old"
ported=$(field session_id)
t_exit 'codex: faden asks first in the rollover' 0 t_faden --agent codex ask --in "$ported" 'well?'
t_exit 'codex: a rollover from claude resumes' 0 codex --json resume "$ported" 'go on?'
t_like 'codex: a rollover from claude keeps its id' "$(cat "$t_out")" "thread.started.*$ported"
t_is 'codex: the model sees the lineage once' "$(count '[SESSION LINEAGE]')" 1
t_like 'codex: the model sees the brief' "$(sent)" 'exit 3: echo counted; exit 3'
t_exit 'codex: faden asks in the rollover' 0 t_faden --agent codex ask --in "$ported" 'once more'
t_like 'codex: faden asks in the same session' "$(sent)" 'go on\?'

t_exit 'codex: a session is begun' 0 codex 'please count the lines of [[bash: echo rex; exit 4]]'
thread=$(sed -n 's/^session id: //p' "$t_err")
t_exit 'codex: a rollover is made' 0 t_faden rollover --json "$thread"
rolled=$(field session_id)
t_exit 'codex: faden goes on with the rollover of its own' 0 t_faden --agent codex ask --in "$rolled" 'well?'
t_exit 'codex: a rollover resumes' 0 codex resume "$rolled" 'next'
t_like 'codex: the model sees the lineage' "$(sent)" "$thread\.jsonl \(original\)"
t_like 'codex: the model sees the command and its exit status' "$(sent)" 'exit 4: echo rex; exit 4'
t_exit 'a rollover from codex to claude is made' 0 t_faden rollover --json --agent claude "$thread"
back=$(field session_id)
t_exit 'claude: a rollover from codex resumes' 0 claude 'here again' --resume "$back"
t_like 'claude: the model sees the lineage of codex' "$(sent)" "$thread\.jsonl \(original\)"

# A provider that is no longer set up: Codex refuses its sessions, a rollover takes the one that is.
sed -i 's/"scripted"$/"moved"/; s/model_providers\.scripted/model_providers.moved/' "$t_home/.codex/config.toml"
t_exit 'codex: a session of another provider is refused' 4 t_faden --agent codex ask --in "$rolled" 'still there?'
t_like 'codex: what helps is told' "$(cat "$t_err")" "no longer configured.*\('faden rollover' goes on with the provider that is\)"
t_exit 'codex: a rollover of it is made' 0 t_faden rollover --json "$rolled"
t_exit 'codex: which goes on' 0 t_faden --agent codex ask --in "$(field session_id)" 'still there?'
t_done
