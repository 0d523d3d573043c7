#!/bin/sh
# The catalogue under storage faults: kill -9 and a full disk at every step that changes a file.
# A full disk costs a warning, not the list; after kill -9 the next list is whole.
. "$(dirname "$0")/../lib.sh"
t_need_faults 3
mkdir -p "$t_tmp/work"
cd "$t_tmp/work" || exit 1

for i in 1 2 3; do
	id=aaaaaaaa-0000-4000-8000-00000000000$i
	"$t_helper/make-session" claude "$t_home/.claude" "$PWD" "$id" "words $i" >/dev/null
done
"$t_helper/make-session" codex "$t_home/.codex" "$PWD" 01a00000-0000-7000-8000-000000000009 \
	--title 'a name' 'other words' >/dev/null
want=$(t_faden list -F '{id} {turns} {name}' | sort)

# faulty N MODE: lists with nothing remembered.
faulty() {
	rm -rf "$t_home/.local/state"
	t_setenv "LD_PRELOAD=$t_fault"
	t_setenv "FADEN_FAULT_AT=$1"
	t_setenv "FADEN_FAULT_COUNT=$t_tmp/count"
	# what faden itself writes; reading the agents' folders is no matter of room
	t_setenv "FADEN_FAULT_MATCH=/.local/state"
	t_setenv "$2"
	t_faden list -F '{id} {turns} {name}' >"$t_out" 2>"$t_err"
	t_rc=$?
	for name in LD_PRELOAD \
		FADEN_FAULT_AT FADEN_FAULT_COUNT FADEN_FAULT_MATCH "${2%%=*}"; do t_unsetenv "$name"; done
}

whole() {
	[ "$(sort "$1")" = "$want" ]
}

# sweep NAME MODE
sweep() {
	n=1
	: >"$t_tmp/bad"
	while :; do
		faulty "$n" "$2"
		[ "$n" -le "$(cat "$t_tmp/count" 2>/dev/null || echo 0)" ] || [ "$t_rc" -ge 128 ] || break
		if [ "$1" = full ]; then
			[ "$t_rc" = 0 ] || echo "full at $n: status $t_rc: $(cat "$t_err")"
			whole "$t_out" || echo "full at $n: the list is not whole"
		fi
		t_faden list -F '{id} {turns} {name}' >"$t_tmp/next" 2>"$t_tmp/next.err" ||
			echo "$1 at $n: the next list fails: $(cat "$t_tmp/next.err")"
		whole "$t_tmp/next" || echo "$1 at $n: the next list is not whole"
		n=$((n + t_step))
	done >"$t_tmp/bad"
	t_note "$1: $((n - 1)) steps"
	t_ok "$1 at every step: steps were tried" test "$n" -gt 5
	t_is "$1 at every step: the sessions are listed" "$(head -n 5 "$t_tmp/bad")" ''
}

# What only looks needs no room: it is shown with at most a warning.
t_exit 'a session gets a name' 0 t_faden rename 000000000001 'my own name'
look() {
	why=$1
	shift
	fail "$why" 0 "$@"
}
# fail ERRNO STATUS WORD…
fail() {
	t_setenv "LD_PRELOAD=$t_fault"
	t_setenv 'FADEN_FAULT_AT=1'
	t_setenv 'FADEN_FAULT_STICKY=1'
	t_setenv 'FADEN_FAULT_MATCH=/.local/state'
	t_setenv "FADEN_FAULT_ERRNO=$1"
	why=$1 status=$2
	shift 2
	t_exit "$why: faden $* ends with $status" "$status" t_faden "$@"
	for name in LD_PRELOAD FADEN_FAULT_AT FADEN_FAULT_STICKY FADEN_FAULT_MATCH FADEN_FAULT_ERRNO; do
		t_unsetenv "$name"
	done
}
for errno in ENOSPC EROFS; do
	look "$errno" show aaaaaaaa-0000-4000-8000-000000000001
	t_like "$errno: a session is shown" "$(cat "$t_out")" '^words 1$'
	t_is "$errno: show has one line about it" "$(wc -l <"$t_err")" 1
	look "$errno" show 'my own name'
	t_like "$errno: a session is shown by its name" "$(cat "$t_out")" '^words 1$'
	look "$errno" lineage aaaaaaaa-0000-4000-8000-000000000001
	t_like "$errno: the lineage has the name" "$(cat "$t_out")" 'my own name'
	# the same for every command that writes nothing, however the session is called
	long=$t_home/.claude/projects/$(printf %s "$PWD" | tr -c 'a-zA-Z0-9\n' -)/aaaaaaaa-0000-4000-8000-000000000001.jsonl
	sed -i "s/\"content\":\"out 1[^\"]*\"/\"content\":\"out 1 $(printf %05000d 0)\"/" "$long"
	for session in 000000000001 'my own name' "$long"; do
		touch "$long"
		look "$errno" advise "$session"
		look "$errno" repair "$session"
		look "$errno" trim -n "$session"
		look "$errno" rollover -n "$session"
		look "$errno" smart-trim --digest "$session"
		t_ok "$errno: there is one warning at most" test "$(wc -l <"$t_err")" -le 1
	done
	look "$errno" advise 000000000001
	t_like "$errno: the warning names the file" "$(cat "$t_err")" 'warning: .*/state/faden/faden\.db.*; the sessions are read for this once'
	t_is "$errno: the warning is there once" "$(wc -l <"$t_err")" 1
	fail "$errno" 5 trim 000000000001
	t_like "$errno: what writes says where it cannot" "$(cat "$t_err")" '/state/faden/faden\.db'
	t_is "$errno: what writes makes no session" "$(find "$t_home/.claude" -name '*.jsonl' | wc -l)" 3
	# A copy is mended all the same; that nothing else was written down is said, and a failure.
	torn=$(find "$t_home/.claude" -name '*000000000001.jsonl')
	cp "$torn" "$t_tmp/whole"
	t_faden list >/dev/null
	truncate -s -9 "$torn"
	fail "$errno" 5 repair --apply 000000000001
	t_like "$errno: the mended copy is told" "$(cat "$t_out")" '^New session '
	t_unlike "$errno: that it has the name or the place is not" "$(cat "$t_out")" 'It is now'
	t_like "$errno: but what it does not have" "$(cat "$t_err")" "does not take the old one's place: .*cannot be written"
	rm "$(sed -n "s|^  file *~|$t_home|p" "$t_out")"
	cp "$t_tmp/whole" "$torn"
	fail "$errno" 5 index
	t_unlike "$errno: no index that is up to date" "$(cat "$t_out")" 'up to date'
	look "$errno" config get ai.agent
done

# What was trimmed before is referred to as ever, also from memory.
refs() {
	python3 -c 'import json, sys; print(*[f["ref"] for f in json.load(open(sys.argv[1]))["facts"]])' "$t_out"
}
t_exit 'a trimmed copy is made' 0 t_faden trim --json --min-savings 0 "$long"
copy=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["path"])' "$t_out")
t_exit 'a rollover of the copy is planned' 0 t_faden rollover -n --json "$copy"
refs=$(refs)
touch "$copy"
look EROFS rollover -n --json "$copy"
t_like 'the plan is made in memory on a read-only disk' "$(cat "$t_err")" 'the sessions are read for this once'
t_is 'the plan in memory has the same references' "$(refs)" "$refs"
rm "$copy"

sweep full FADEN_FAULT_STICKY=1
sweep kill FADEN_FAULT_KILL=1
t_done
