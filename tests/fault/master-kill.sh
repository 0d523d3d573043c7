#!/bin/sh
# faden master killed at every step of its journal, and where the disk fails: a run of thirty rounds
# with the rehearsal agents, resumed after each. The end is the same as that of a run nothing happened
# to, and every instruction reached the worker exactly once.
. "$(dirname "$0")/../lib.sh"
t_need_faults 25
t_setenv 'FADEN_CLOCK=2026-03-10T12:00:00Z'
here=$t_tmp/work

# look: what the run in $here came to, without what each has of its own (ids, times, sessions that could
# not be written); that somebody should go on is no part of it. Then each instruction that the worker's sessions have, with its count.
cat >"$t_tmp/look" <<'END'
import collections, json, pathlib, re, sys
folder = pathlib.Path(sys.argv[1]) / ".claude-master" / "sessions"
ours = ("You were interrupted", "There was an interruption")
run = json.loads((folder / "current.json").read_text())["sessionId"]
state = json.loads((folder / f"session-{run}.json").read_text())
print("round", state["currentRound"], "remaining", state["remainingRounds"])
print("last", state["lastInstruction"])
def flat(value):
    return json.dumps(value, ensure_ascii=False)
for role in ("instructor", "worker"):
    said = []
    for message in state[role]["conversationHistory"]:
        text = message["content"] if isinstance(message["content"], str) else flat(message["content"])
        if message["role"] != "system" and not any(o in text for o in ours):
            said.append((message["role"], text))
    print(role, len(said))
    for who, text in said:
        print(" ", who, text.replace("\n", "/"))
counts = collections.Counter()
for path in pathlib.Path(sys.argv[2]).rglob("*.jsonl"):
    for line in path.read_text().splitlines():
        entry = json.loads(line)
        if entry.get("type") == "user" and isinstance(entry["message"]["content"], str):
            for order in re.findall(r"^Say the number \d+\.$", entry["message"]["content"], re.M):
                counts[order] += 1
print(sorted(counts.items()))
END
look() { python3 "$t_tmp/look" "$here" "$t_home/.local/state/faden/rehearsal"; }
fresh() {
	rm -rf "$t_home" "$here"
	mkdir -p "$t_home" "$here"
	chmod 700 "$t_home"
}
run() { (cd "$here" && t_faden master "$@"); }
# Where no task was written down yet, it is given again; what was done stays so.
go_on() {
	run --resume >"$t_tmp/next.out" 2>"$t_tmp/next.err" || grep -q 'this run is done' "$t_tmp/next.err" || {
		grep -Eq 'there is no run|say it again' "$t_tmp/next.err" &&
			run "count to $rounds" >"$t_tmp/next.out" 2>"$t_tmp/next.err"
	}
}

# faulty N MODE…
faulty() {
	at=$1
	shift
	for pair in "LD_PRELOAD=$t_fault" "FADEN_FAULT_AT=$at" "FADEN_FAULT_COUNT=$t_tmp/count" "$@"; do t_setenv "$pair"; done
	rm -f "$t_tmp/count"
	run "count to $rounds" >"$t_out" 2>"$t_err"
	t_rc=$?
	for pair in LD_PRELOAD FADEN_FAULT_AT FADEN_FAULT_COUNT "$@"; do t_unsetenv "${pair%%=*}"; done
}

# sweep NAME STEP MODE…
sweep() {
	name=$1 step=$2
	shift 2
	n=1
	seen=0
	: >"$t_tmp/bad"
	while :; do
		fresh
		faulty "$n" "$@"
		[ "$(cat "$t_tmp/count" 2>/dev/null || echo 0)" -ge "$n" ] || break
		seen=$((seen + 1))
		if [ "$t_rc" != 0 ] || ! look >/dev/null 2>&1; then
			[ -s "$t_err" ] || [ "$t_rc" = 137 ] || echo "$name at $n: fails without a word" >>"$t_tmp/bad"
			go_on || go_on || echo "$name at $n: does not go on: $(cat "$t_tmp/next.err")" >>"$t_tmp/bad"
		fi
		look >"$t_tmp/got" 2>&1
		cmp -s "$t_tmp/want" "$t_tmp/got" || {
			echo "$name at $n comes to another end:" >>"$t_tmp/bad"
			diff "$t_tmp/want" "$t_tmp/got" | head -n 6 >>"$t_tmp/bad"
		}
		n=$((n + step))
	done
	t_note "$name: $seen of $(cat "$t_tmp/count") steps tried"
	t_ok "$name: steps were tried" test "$seen" -gt 3
	t_is "$name: the same end, each instruction once" "$(head -n 20 "$t_tmp/bad")" ''
}

rounds=30
fresh
t_exit 'thirty rounds' 0 run "count to $rounds"
look >"$t_tmp/want"
t_like 'each instruction is there once' "$(tail -n 1 "$t_tmp/want")" "'Say the number 30.', 1"
sweep 'killed at a step of the journal' "$t_step" FADEN_FAULT_KILL=1 FADEN_FAULT_MATCH=.journal

# Wherever a file is changed, the store and the agents' sessions too.
rounds=3
fresh
t_exit 'three rounds' 0 run "count to $rounds"
look >"$t_tmp/want"
sweep 'killed anywhere' "$t_step" FADEN_FAULT_KILL=1
sweep 'a full disk' "$((t_step * 2))" FADEN_FAULT_STICKY=1
sweep 'a call that fails' "$((t_step * 2))" FADEN_FAULT_ERRNO=EIO
t_done
