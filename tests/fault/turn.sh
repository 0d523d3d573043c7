#!/bin/sh
# A turn under storage faults: kill -9 and a full disk at every step that changes a file.
# After each: the old transcript is an exact prefix, the prompt is in it at most once, and the next
# start knows it or says what became of it.
. "$(dirname "$0")/../lib.sh"
t_need_faults
# The words of the sweep are one conversation.
t_setenv FADEN_ROUTING_ENABLED=false
mkdir -p "$t_tmp/work"
cd "$t_tmp/work" || exit 1

transcripts() { find "$t_home/.local/state/faden/rehearsal" -name '*.jsonl' 2>/dev/null; }

# The state before: one conversation of one turn.
t_faden ask first words >/dev/null 2>&1
before=$(transcripts)
cp -a "$t_home" "$t_tmp/clean-home"
cp "$before" "$t_tmp/before.jsonl"
size=$(wc -c <"$before")

restore() {
	rm -rf "$t_home"
	cp -a "$t_tmp/clean-home" "$t_home"
}

# faulty N MODE
faulty() {
	t_setenv "LD_PRELOAD=$t_fault"
	t_setenv "FADEN_FAULT_AT=$1"
	t_setenv "$2"
	t_faden ask second words >"$t_out" 2>"$t_err"
	t_rc=$?
	for name in LD_PRELOAD FADEN_FAULT_AT "${2%%=*}"; do t_unsetenv "$name"; done
}

check() {
	head -c "$size" "$before" | cmp -s - "$t_tmp/before.jsonl" ||
		echo "$1: the old transcript is no prefix of the new one"
	count=$(grep -c '"content":"second words"' "$before")
	[ "$count" -le 1 ] || echo "$1: the prompt was delivered $count times"
	t_faden ask 'what did I say?' >"$t_tmp/next.out" 2>"$t_tmp/next.err" ||
		echo "$1: the next turn fails: $(cat "$t_tmp/next.err")"
	grep -q '^1\. first words' "$t_tmp/next.out" || echo "$1: the conversation is lost"
	if [ "$count" = 1 ]; then
		grep -q '^2\. second words' "$t_tmp/next.out" || echo "$1: the prompt is forgotten"
	elif [ "$journalled" = yes ]; then
		grep -q 'did not reach the agent' "$t_tmp/next.err" || echo "$1: lost unsaid"
	fi
}

sweep() {
	n=1
	seen=0
	: >"$t_tmp/bad"
	while :; do
		restore
		faulty "$n" "$2"
		[ "$t_rc" != 0 ] || break
		seen=$((seen + 1))
		# Before its intent is on disk a turn may vanish with the process that typed it.
		journalled=no
		if [ "$1" = kill ] && command -v sqlite3 >/dev/null; then
			cp -a "$t_home/.local/state/faden" "$t_tmp/peek"
			sqlite3 "$t_tmp/peek/faden.db" \
				"SELECT 1 FROM turn WHERE prompt = 'second words' AND state = 0" |
				grep -q 1 && journalled=yes
			rm -rf "$t_tmp/peek"
		fi
		check "$1 at $n" >>"$t_tmp/bad"
		n=$((n + t_step))
	done
	t_note "$1: $seen steps tried"
	t_ok "$1 at every step: steps were tried" test "$seen" -gt 5
	t_is "$1 at every step: nothing lost, nothing sent twice" "$(head -n 5 "$t_tmp/bad")" ''
}

sweep kill FADEN_FAULT_KILL=1
sweep full FADEN_FAULT_STICKY=1
t_done
