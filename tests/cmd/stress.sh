#!/bin/sh
# Eight processes route commands on one store at once, then with kill -9 at random: no conversation
# is taken twice, nothing hangs, nothing is lost.
. "$(dirname "$0")/../lib.sh"
command -v sqlite3 >/dev/null || t_skip_all 'sqlite3 is not installed'
commands=25
[ -z "${FADEN_LONG-}" ] || commands=200
mkdir -p "$t_tmp/work"
cd "$t_tmp/work" || exit 1
t_setenv FADEN_ROUTING_ENABLED=true
db=$t_home/.local/state/faden/faden.db

texts() {
	awk -v seed="$1" -v n="$2" 'BEGIN {
		srand(seed)
		split("fix the login page|the parser drops comments|write a Dockerfile for the server|" \
			"also add a test|now run it|the login page again|translate the manual|" \
			"yes|the parser again|undo that|speed up the search index|and commit it", t, "|")
		for (i = 0; i < n; i++) print t[1 + int(rand() * 12)]
	}'
}

# Every transcript: prompt and answer take turns on one chain, as they only do without a second
# writer. A kill may leave a prompt without its answer. Prints what is wrong, then the prompts.
audit() {
	find "$t_home/.local/state/faden/rehearsal" -name '*.jsonl' | python3 -c '
import json, sys
killed = sys.argv[1] == "killed"
prompts = 0
for path in sys.stdin.read().split():
    parent, last = None, "assistant"
    for line in open(path):
        entry = json.loads(line)
        if entry["parentUuid"] != parent:
            print("two writers in", path)
        if entry["type"] == last and not (killed and last == "user"):
            print("two", last, "lines in a row in", path)
        prompts += entry["type"] == "user"
        parent, last = entry["uuid"], entry["type"]
print(prompts)' "$1"
}

run() { texts "$1" "$commands" | t_faden >"$t_tmp/out.$1" 2>"$t_tmp/err.$1"; }

for i in 1 2 3 4 5 6 7 8; do run "$i" & done
wait
answered=$(cat "$t_tmp"/out.? | grep -c '^You said: ')
t_is 'every command is answered' "$answered" $((8 * commands))
t_is 'each transcript has one writer at a time, and each prompt once' "$(audit whole)" $((8 * commands))
t_is 'every command is journalled' "$(sqlite3 "$db" 'SELECT count(*) FROM turn WHERE state = 1')" $((8 * commands))
t_is 'no conversation is held any more' "$(sqlite3 "$db" 'SELECT count(*) FROM conversation WHERE owner_pid IS NOT NULL')" 0

for i in 1 2 3 4 5 6 7 8; do
	texts "$((i + 10))" "$commands" >"$t_tmp/in.$i"
	t_run sh -c 'echo $$ >"$0"; exec "$@"' "$t_tmp/pid.$i" "$FADEN" \
		<"$t_tmp/in.$i" >"$t_tmp/out.$i" 2>"$t_tmp/err.$i" &
done
for i in 1 2 3 4 5 6 7 8; do
	sleep 0.2
	kill -KILL "$(cat "$t_tmp/pid.$i")" 2>/dev/null
done
wait
t_exit 'the next command after the kills succeeds' 0 t_faden ask 'what did I say?'
# Whoever goes on with a conversation looks what became of an interrupted turn: another process may
# have done so before the end. Of what nobody looked at, or could tell, both are right.
turns() { sqlite3 "$db" "SELECT count(*) FROM turn WHERE state IN ($1)"; }
journalled=$(turns '0, 1, 2, 3, 4, 5, 6')
arrived=$((journalled - $(turns 4)))
unsure=$(turns '0, 6')
prompts=$(audit killed | tail -n 1)
t_note "killed: $((journalled - 8 * commands)) more turns, $((journalled - arrived)) did not arrive, $unsure not known"
t_is 'every transcript has one writer at a time' "$(audit killed | grep -c writers)" 0
t_is 'every turn is in a state that is known' "$(sqlite3 "$db" 'SELECT count(*) FROM turn')" "$journalled"
t_ok 'no prompt is delivered without its journal, nor one that is said not to have arrived' \
	test "$prompts" -le "$arrived"
t_ok 'every prompt that is said to have arrived did' test "$prompts" -ge $((arrived - unsure))
t_done
