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
t_exit 'claude: a session' 0 claude 'please count the lines of the file README here' --session-id $old
t_exit 'claude: with a command' 0 claude '[[bash: echo counted; exit 3]] [[say: Decision: no cats]]' \
	--resume $old --allowedTools Bash
parent=$(echo "$t_home"/.claude/projects/*/$old.jsonl)
before=$(cksum <"$parent")

t_exit 'rollover' 0 t_faden rollover --json $old --prompt 'count the cats'
new=$(field session_id)
file=$(field path)
t_is 'the parent is untouched' "$(cksum <"$parent")" "$before"
t_ok 'the file is where the agent looks' test "$file" = "$(dirname "$parent")/$new.jsonl"
t_exit 'claude resumes it' 0 claude 'and now?' --resume "$new"
t_is 'under its id' "$(field session_id)" "$new"
t_like 'and answers' "$(field result)" 'last=and now\?$'
t_is 'the model sees the lineage once' "$(count '[SESSION LINEAGE]')" 1
t_like 'with the parent' "$(sent)" "1\. $old\.jsonl \(original\)"
t_like 'and the session itself' "$(sent)" "2\. $new\.jsonl \(current\)"
t_like 'the command and its exit status' "$(sent)" 'exit 3: echo counted; exit 3'
t_ok 'each with a reference that faden recalls' t_faden recall "$(sent | sed -n 's/.*no cats \[\([0-9a-f]\{16\}\)\].*/\1/p')"
t_like 'the decision' "$(sent)" 'no cats'
t_like 'the words of the user' "$(sent)" 'count the cats'
t_is 'nothing of the old history' "$(t_model_query \
	'sum(b.get("type") in ("tool_use", "tool_result") for m in log[-1]["body"]["messages"] if isinstance(m["content"], list) for b in m["content"])')" 0
t_is 'the model is the same' "$(t_model_query 'len({e["body"]["model"] for e in log})')" 1
t_exit 'the newer claude resumes it too' 0 newer 'and then?' --resume "$new"
t_is 'the model sees the lineage' "$(count '[SESSION LINEAGE]')" 1
t_exit 'faden asks in it' 0 t_faden --agent claude ask --in "$new" 'what did I say?'
t_like 'in the same session' "$(sent)" 'and then\?'

t_exit 'a rollover of it' 0 t_faden rollover --json "$new"
third=$(field session_id)
t_exit 'claude resumes that' 0 claude 'third?' --resume "$third"
t_like 'the chain is whole: the first' "$(sent)" "1\. $old\.jsonl \(original\)"
t_like 'the second' "$(sent)" "2\. $new\.jsonl \(continued\)"
t_like 'the third' "$(sent)" "3\. $third\.jsonl \(current\)"
t_exit 'the family' 0 t_faden lineage --json "$third"
t_is 'is known' "$(python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["chain"]))' "$t_out")" 3

t_exit 'with a summary by claude' 0 t_faden rollover --json --with-summary --prompt '[[say: Beware of the cats.]]' "$old"
t_is 'nothing is left of the question' "$(find "$t_home" -name '*ask-*')" ''
t_exit 'claude resumes it' 0 claude 'summary?' --resume "$(field session_id)"
t_like 'the model sees the summary' "$(sent)" '# Summary by an agent.{1,4}Beware of the cats'

t_exit 'from claude to codex' 0 t_faden rollover --json --agent codex "$old"
ported=$(field session_id)
t_exit 'codex resumes it' 0 codex --json resume "$ported" 'go on?'
t_like 'under its id' "$(cat "$t_out")" "thread.started.*$ported"
t_is 'the model sees the lineage once' "$(count '[SESSION LINEAGE]')" 1
t_like 'and the brief' "$(sent)" 'exit 3: echo counted; exit 3'
t_exit 'faden asks in it' 0 t_faden --agent codex ask --in "$ported" 'once more'
t_like 'in the same session' "$(sent)" 'go on\?'

t_exit 'codex: a session' 0 codex 'please count the lines of [[bash: echo rex; exit 4]]'
thread=$(sed -n 's/^session id: //p' "$t_err")
t_exit 'rollover' 0 t_faden rollover --json "$thread"
rolled=$(field session_id)
t_exit 'codex resumes it' 0 codex resume "$rolled" 'next'
t_like 'the model sees the lineage' "$(sent)" "$thread\.jsonl \(original\)"
t_like 'the command and its exit status' "$(sent)" 'exit 4: echo rex; exit 4'
t_exit 'from codex to claude' 0 t_faden rollover --json --agent claude "$thread"
back=$(field session_id)
t_exit 'claude resumes it' 0 claude 'here again' --resume "$back"
t_like 'the model sees the lineage' "$(sent)" "$thread\.jsonl \(original\)"
t_done
