#!/bin/sh
# A run goes on where its agents' sessions are not: another home and another folder, with nothing but
# the file of the run. The real agents resume the sessions that are written back, and send the model
# what was said before; a fork has the turns up to its round and no more.
. "$(dirname "$0")/../lib.sh"
t_need_agents
t_model_start
t_claude_env
t_codex_env
t_setenv "IS_SANDBOX=1" # the agents refuse to be let loose as root otherwise
mkdir "$t_tmp/work" "$t_tmp/there" && cd "$t_tmp/work" || exit 1
git init -q .
git init -q "$t_tmp/there"
runs=$t_tmp/work/.claude-master/sessions
plan='[[plan: {{bash: echo one >>ran}} {{say: one is there}} || {{bash: echo two >>ran}} {{say: two is there}} || {{bash: echo three >>ran}} {{say: three}}]]'
current() { sed 's/.*"sessionId":"\([^"]*\)".*/\1/' "$runs/current.json"; }

# sent TEXT: how many requests of the worker since $from had this text anywhere in what was said.
sent() {
	t_model_query "sum(1 for r in log[$from:] if '$1' in str(r['body'].get('messages', r['body'].get('input')))
    and 'You are the instructor' not in str(r['body']))"
}

# there NAME OPTION…: two rounds here, the last one there.
there() {
	name=$1
	shift
	cd "$t_tmp/work" || exit 1
	rm -rf .claude-master ran "$t_tmp/there/ran"
	t_exit "$name: two rounds" 7 t_faden master --permission-mode bypass "$@" -r 2 "$plan"
	run=$(current)
	cp "$runs/session-$run.json" "$t_tmp/taken.json"
	cd "$t_tmp/there" || exit 1
	for agent in claude codex; do mv "$t_home/.$agent" "$t_tmp/$agent-home" && mkdir "$t_home/.$agent"; done
	cp "$t_tmp"/claude-home/*.json "$t_home/.claude/" 2>/dev/null
	cp "$t_tmp"/codex-home/*.toml "$t_tmp"/codex-home/*.json "$t_home/.codex/" 2>/dev/null
	from=$(t_model_query 'len(log)')
	t_exit "$name: it goes on there" 0 t_faden master --session-file "$t_tmp/taken.json" --force -r 5
	t_like "$name: both sessions are written back" "$(cat "$t_err")" "instructor's session is not on this machine"
	t_like "$name: the worker's too" "$(cat "$t_err")" "worker's session is not on this machine"
	t_is "$name: only what was left ran there" "$(tr '\n' ' ' <ran)" 'three '
	t_ok "$name: the model was sent what the worker had said" test "$(sent 'two is there')" -gt 0
	t_unlike "$name: no resume was refused" "$(cat "$t_err")" 'new session|begins anew'
	for agent in claude codex; do rm -rf "$t_home/.$agent" && mv "$t_tmp/$agent-home" "$t_home/.$agent"; done
}

there 'Claude Code as both' --agent claude
there 'Claude Code instructs Codex' --instructor-agent claude --worker-agent codex

# A fork of the run that stands here, behind its first round.
cd "$t_tmp/work" || exit 1
run=$(current)
from=$(t_model_query 'len(log)')
: >ran
t_exit 'a fork goes its own way' 0 t_faden master --session "$run" --resume --fork-at-round 1 -r 5
t_is 'from that round on' "$(tr '\n' ' ' <ran)" 'two three '
t_ok 'its agents know the first' test "$(sent 'one is there')" -gt 0

# A port: Codex goes on in both roles, and its model is sent what was said to Claude Code's.
: >ran
t_exit 'a run of Claude Code' 7 t_faden master --agent claude --permission-mode bypass -r 1 --name home "$plan"
t_exit 'is ported' 0 t_faden port home --to codex --name away
from=$(t_model_query 'len(log)')
t_exit 'Codex goes on with it' 0 t_faden master --session away -r 5
t_is 'where it was' "$(tr '\n' ' ' <ran)" 'one two three '
t_ok 'it knows what was said' test "$(sent 'one is there')" -gt 0
t_is 'and is asked by its own interface' "$(t_model_query "sum(1 for r in log[$from:] if 'input' not in r['body'])")" 0

# A merge: the instructor gets what the other run came to.
from=$(t_model_query 'len(log)')
t_exit 'a fork of the first goes another way' 0 t_faden fork home --name branch
t_exit 'two are merged' 0 t_faden merge branch away --name both
t_exit 'the merge goes on' 0 t_faden master --session both -r 5
t_ok 'with what the other came to' t_model_query "next(1 for r in log[$from:] if 'This comes from another run' in str(r['body'].get('messages')))"

# Somebody goes on by hand in the worker's session: the run does not, and the model is not sent it.
: >ran
t_exit 'a round' 7 t_faden master --agent claude --permission-mode bypass -r 1 "$plan"
worker=$(grep -o '"kind":"session","of":"worker".*' "$runs/session-$(current).json" | sed -n 's/.*"session":"\([^"]*\)".*/\1/p' | tail -n 1)
t_ok 'somebody says something there' t_run claude -p --resume "$worker" '[[say: by hand]]'
from=$(t_model_query 'len(log)')
t_exit 'the run goes on' 0 t_faden master --resume -r 5
t_like 'it is said that somebody did' "$(cat "$t_err")" "somebody else has gone on in the worker's session .1 turn."
t_is 'each step ran once' "$(tr '\n' ' ' <ran)" 'one two three '
t_ok 'the worker knows what it did' test "$(sent 'one is there')" -gt 0
t_is 'and nothing of what somebody said' "$(sent 'by hand')" 0

# The folder is renamed: Claude Code looks for sessions by it, and finds those of the run.
mv "$t_tmp/work" "$t_tmp/renamed"
cd "$t_tmp/renamed" || exit 1
runs=$t_tmp/renamed/.claude-master/sessions
from=$(t_model_query 'len(log)')
t_exit 'a run whose folder was renamed goes on' 0 t_faden master --resume --force -r 5 '[[say: Good. DONE]]'
t_like 'in copies of its sessions' "$(cat "$t_err")" "Claude Code looks for sessions by their folder: the instructor's goes on here in a copy"
t_unlike 'nobody starts afresh' "$(cat "$t_err")" 'starts afresh'
t_ok 'the model is sent what was said before' t_model_query "next(1 for r in log[$from:] if len(r['body'].get('messages', [])) > 3)"
t_done
