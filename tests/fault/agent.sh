#!/bin/sh
# kill -9 of faden at every step of a turn with a real agent that changes faden's own files.
#	agent.sh claude|codex
# Each time: the prompt reaches the model at most once, the transcript's old bytes stay, and the
# next start goes on with the conversation and says what became of the prompt.
agent=$1
. "$(dirname "$0")/../lib.sh"
t_need_faults 7
t_need_agents
t_model_start
"t_${agent}_env"
# The words of the sweep are one conversation.
t_setenv FADEN_ROUTING_ENABLED=false
mkdir -p "$t_tmp/work"
cd "$t_tmp/work" || exit 1

t_exit "$agent answers" 0 t_faden ask --agent "$agent" first words
session=$(t_faden list --json | python3 -c 'import json,sys; print(json.load(sys.stdin)[0]["path"])')
cp -a "$t_home" "$t_tmp/clean-home"
cp "$session" "$t_tmp/before.jsonl"
size=$(wc -c <"$session")

restore() {
	rm -rf "$t_home"
	cp -a "$t_tmp/clean-home" "$t_home"
}

faulty() {
	t_setenv "LD_PRELOAD=$t_fault"
	t_setenv "FADEN_FAULT_AT=$1"
	t_setenv FADEN_FAULT_KILL=1
	# The agent inherits the library: only faden's own folder counts.
	t_setenv "FADEN_FAULT_MATCH=/state/faden/"
	t_faden ask "second words $1." >"$t_out" 2>"$t_err"
	t_rc=$?
	for name in LD_PRELOAD FADEN_FAULT_AT FADEN_FAULT_KILL FADEN_FAULT_MATCH; do
		t_unsetenv "$name"
	done
}

# The agent outlives faden and ends its turn: until then the session is in use, and that is said.
ask_next() {
	for t_try in 1 2 3 4 5 6 7 8 9 10; do
		t_faden ask 'what did I say?' >"$t_tmp/next.out" 2>"$t_tmp/next.err" && return
		grep -q 'is open in' "$t_tmp/next.err" || return 1
		sleep 1
	done
	return 1
}

check() {
	ask_next || echo "at $1: the next turn fails: $(tail -n 2 "$t_tmp/next.err")"
	head -c "$size" "$session" | cmp -s - "$t_tmp/before.jsonl" ||
		echo "at $1: the old transcript is no prefix of the new one"
	sent=$(t_model_query "sum('second words $1.' in b and 'what did I say' not in b
		for b in (json.dumps(e['body']) for e in log))")
	[ "$sent" -le 1 ] || echo "at $1: the prompt went to the model $sent times"
	grep -q 'first words' "$t_tmp/next.out" || echo "at $1: the conversation is lost"
	if [ "$sent" = 1 ]; then
		grep -q "second words $1\\." "$t_tmp/next.out" || echo "at $1: the prompt is forgotten"
	fi
}

n=1
seen=0
: >"$t_tmp/bad"
while :; do
	restore
	faulty "$n"
	[ "$t_rc" != 0 ] || break
	seen=$((seen + 1))
	check "$n" >>"$t_tmp/bad"
	n=$((n + t_step))
done
t_note "$seen steps tried"
t_ok 'kill at a step of a turn: steps were tried' test "$seen" -gt 2
t_is 'kill at a step of a turn: nothing is lost, nothing sent twice' "$(head -n 5 "$t_tmp/bad")" ''
t_done
