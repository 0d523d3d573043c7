#!/bin/sh
# faden master with the real agents against the scripted model, from the first command to DONE, with
# a resume in the middle: Claude Code as both, then Claude Code and Codex mixed. What the worker was
# told ran exactly once, and the instructor had no right to change anything.
. "$(dirname "$0")/../lib.sh"
t_need_agents
t_model_start
t_claude_env
t_codex_env
t_setenv "IS_SANDBOX=1" # the agents refuse to be let loose as root otherwise
mkdir "$t_tmp/work" && cd "$t_tmp/work" || exit 1
git init -q .
ran=$t_tmp/work/ran

plan='[[plan: {{bash: echo one >>ran}} {{say: one is there}} || {{bash: echo two >>ran}} {{say: two}} || {{bash: echo three >>ran}} {{say: three}}]]'

# run NAME OPTION…: the whole way.
run() {
	name=$1
	shift
	rm -rf "$ran" .claude-master
	t_exit "$name: a round, then none is left" 7 t_faden master --permission-mode bypass "$@" -r 1 "$plan"
	t_is "$name: the first step ran" "$(cat "$ran")" one
	t_like "$name: its answer is shown" "$(cat "$t_out")" 'one is there'
	t_unlike "$name: the object is not" "$(cat "$t_out")" '"act"'
	t_exit "$name: it goes on to its end" 0 t_faden master --resume -r 5
	t_is "$name: each step ran once" "$(tr '\n' ' ' <"$ran")" 'one two three '
	t_like "$name: done" "$(cat "$t_out")" '^Done after 3 rounds'
}

run 'Claude Code as both' --agent claude
t_is 'the worker was told each thing once' "$(t_model_query '
sum(1 for r in log for m in r["body"].get("messages", [])[-1:] for b in (m["content"] if isinstance(m["content"], list) else [])
    if b.get("type") == "text" and b["text"].strip().startswith("[[bash: echo two"))')" 1
t_ok 'the instructor had its prompt' t_model_query 'next(1 for r in log if "You are the instructor of a pair" in str(r["body"].get("system")))'
t_ok 'the worker had its own' t_model_query 'next(1 for r in log if "You do as you are told." in str(r["body"].get("system")))'
run 'Claude Code instructs Codex' --instructor-agent claude --worker-agent codex
run 'Codex instructs Claude Code' --instructor-agent codex --worker-agent claude
t_ok 'Claude Code checked the decisions by a schema' t_model_query 'next(1 for r in log for t in r["body"].get("tools", [])
    if t.get("name") == "StructuredOutput" and "worker_timeout_s" in t["input_schema"]["properties"])'
t_ok 'Codex did too' t_model_query 'next(1 for r in log if "worker_timeout_s" in str(r["body"].get("text")))'
t_is 'workers have none' "$(t_model_query 'sum(1 for r in log if "You are the worker" in str(r["body"]) and "worker_timeout_s" in str(r["body"].get("text"))
    or "You are the worker" in str(r["body"].get("system")) and "worker_timeout_s" in str(r["body"].get("tools")))')" 0
t_like 'what Codex thinks stands in the object, and is shown' "$(t_faden show "$(sed 's/.*"sessionId":"\([^"]*\)".*/\1/' .claude-master/sessions/current.json)" 2>/dev/null)" 'Step 2 of 3'

# A model that writes the object, and does not give it by the tool, is told by Claude Code.
rm -rf "$ran" .claude-master
t_model_control '{"queue": [{"when": "have a look", "script": "[[say: I do not know.]]"}]}'
from=$(t_model_query 'len(log)')
t_exit 'an answer without a decision is mended' 0 t_faden master --agent claude 'have a look [[say: Well. DONE]]'
t_unlike 'by Claude Code itself' "$(cat "$t_err")" 'is corrected'

# An instructor that wants to act is not let.
rm -rf "$ran" .claude-master
t_faden master --agent claude --permission-mode bypass '[[write: made | x]] [[say: DONE]]' >/dev/null 2>&1
t_ok 'the instructor changes nothing' test ! -e made

# A limit is waited out; the agent is asked to go on.
rm -rf .claude-master
t_exit 'an outage of the model does not end it' 0 t_faden master --agent claude --permission-mode bypass \
	'[[plan: {{error: 529 x3 overloaded}} {{bash: echo late >>ran}} {{say: late}}]]'
t_is 'the step ran once' "$(cat "$ran")" late

# The turn that the budget stops is counted, and is not tried again while it is used up.
rm -rf "$ran" .claude-master
t_exit 'a budget stops the turn that passes it' 8 t_faden master --agent claude --permission-mode bypass \
	--max-budget-usd 0.001 "$plan"
t_like 'what it took is told' "$(cat "$t_out")" 'Stopped in round .*--max-budget-usd'
cost() { t_faden master --list-sessions --json 2>/dev/null | sed 's/.*"cost_usd":\([0-9.e-]*\).*/\1/'; }
t_ok 'and counted' python3 -c "import sys; sys.exit(not float('$(cost)') >= 0.001)"
from=$(t_model_query 'len(log)')
t_exit 'without a higher one it stops again' 8 t_faden master --resume
t_is 'and nothing is sent' "$(t_model_query "len(log) - $from")" 0
t_exit 'with one it comes to its end' 0 t_faden master --resume --max-budget-usd 9
t_is 'each step ran once there too' "$(tr '\n' ' ' <"$ran")" 'one two three '

# Left in the middle of an answer: half of it is none, the worker goes on.
rm -rf .claude-master
t_start_faden master --agent claude --permission-mode bypass --json '[[plan: {{slow: 200, 60}}]]' >"$t_tmp/half" 2>/dev/null
t_ok 'the worker has begun to answer' t_wait_for 30 grep -q 'piece 5' "$t_tmp/half"
kill -INT "$t_pid"
wait "$t_pid"
t_is 'it is left' "$?" 130
t_exit 'it goes on' 0 t_faden master --resume
t_unlike 'half an answer is not taken for one' "$(cat "$t_err")" 'had answered already'
t_like 'the worker is asked to go on' "$(cat "$t_err")" 'the worker goes on with what was interrupted'

# A worker that may not act: the instructor is told.
rm -rf .claude-master
t_faden master --agent claude -r 2 '[[plan: {{write: made | x}} {{say: tried}}]]' >/dev/null 2>"$t_err"
t_like 'what was denied is said' "$(cat "$t_err")" 'the worker was not allowed: Write.*made'
t_ok 'and the instructor was told' t_model_query \
	'next(1 for r in log if "not allowed to do this, which was therefore not done" in str(r["body"].get("messages")))'

# Killed at random instants and resumed; FADEN_KILLS (4; with FADEN_LONG 200), from FADEN_SEED (1).
kills=${FADEN_KILLS:-4}
[ -z "${FADEN_LONG-}" ] || kills=${FADEN_KILLS:-200}
t_setenv "FADEN=$FADEN"
t_ok "$kills kills: each step ran once, each run came to its end" \
	t_run "$(command -v python3)" "$t_helper/kill-master" claude claude "$kills" "${FADEN_SEED:-1}"
tail -n 1 "$t_tmp/ok.out" | t_note
t_done
