#!/bin/sh
# Trim under storage faults: kill -9, a failing call, a full disk at every step that changes a file.
#	trim.sh FAULT-LIBRARY
# After each: the parent is untouched (in place: the old or the new file, whole), the agent's folder
# holds nothing half-made, and every placeholder that is there can be recalled.
library=$(realpath "$1")
. "$(dirname "$0")/../lib.sh"
step=${FADEN_SWEEP_STEP:-1}
[ -z "${FADEN_LONG-}" ] || step=1

id=11111111-2222-4333-8444-555555555555
project=$t_home/.claude/projects/-work
file=$project/$id.jsonl
mkdir -p "$project"
python3 "$t_helper/trim-sessions" tools >"$file"
cp "$file" "$t_tmp/before"
# The store is there before: making it is tested elsewhere.
t_faden trim -n $id >/dev/null
cp -a "$t_home" "$t_tmp/clean-home"
t_setenv "FADEN=$FADEN"
check() { t_run "$(command -v python3)" "$t_helper/trim-check" "$@"; }

restore() {
	rm -rf "$t_home"
	cp -a "$t_tmp/clean-home" "$t_home"
}

# faulty N OPTION MODE…
faulty() {
	at=$1 option=$2
	shift 2
	t_setenv "LD_PRELOAD=$library"
	t_setenv "FADEN_FAULT_AT=$at"
	t_setenv "FADEN_FAULT_COUNT=$t_tmp/count"
	for pair; do t_setenv "$pair"; done
	rm -f "$t_tmp/count"
	t_faden trim --json ${option:+"$option"} $id >"$t_out" 2>"$t_err"
	t_rc=$?
	for pair in LD_PRELOAD FADEN_FAULT_AT FADEN_FAULT_COUNT "$@"; do t_unsetenv "${pair%%=*}"; done
}

# beside: what is in the agent's folder but the parent.
beside() { find "$project" -mindepth 1 ! -name "$id.jsonl" -printf '%f\n'; }

look_at_new() {
	cmp -s "$t_tmp/before" "$file" || echo "$1: the parent changed"
	others=$(beside)
	[ "$(printf '%s\n' "$others" | wc -l)" -le 1 ] || echo "$1: left behind: $others"
	case $others in
	'') [ "$t_rc" != 0 ] || echo "$1: said done, and nothing is there" ;;
	.*) echo "$1: left behind: $others" ;;
	*) check "$file" "$project/$others" >/dev/null || echo "$1: not whole" ;;
	esac
}

look_in_place() {
	# A kill just before the renaming leaves the new file under its temporary name: whole.
	for other in $(beside); do
		case $other in
		.faden-*.tmp) check "$t_tmp/before" "$project/$other" >/dev/null || echo "$1: half: $other" ;;
		*) echo "$1: left behind: $other" ;;
		esac
	done
	if cmp -s "$t_tmp/before" "$file"; then
		[ "$t_rc" != 0 ] || echo "$1: said done, and nothing is changed"
	else
		check "$t_tmp/before" "$file" >/dev/null || echo "$1: not whole"
	fi
}

# sweep NAME LOOK OPTION MODE…
sweep() {
	name=$1 look=$2 with=$3
	shift 3
	n=1
	seen=0
	: >"$t_tmp/bad"
	while :; do
		restore
		faulty "$n" "$with" "$@"
		[ -s "$t_tmp/count" ] || break
		[ "$(cat "$t_tmp/count")" -ge "$n" ] || break
		seen=$((seen + 1))
		$look "$name at $n ($t_rc)" >>"$t_tmp/bad" 2>&1
		n=$((n + step))
	done
	t_note "$name: $seen steps tried"
	t_ok "$name: something was tried" test "$seen" -gt 5
	t_is "$name: done when nothing fails" "$t_rc" 0
	t_is "$name: nothing lost, nothing half-made" "$(head -n 5 "$t_tmp/bad")" ''
}

sweep 'kill' look_at_new '' FADEN_FAULT_KILL=1
sweep 'fails once' look_at_new '' FADEN_FAULT_ERRNO=EIO
sweep 'full disk' look_at_new '' FADEN_FAULT_STICKY=1
sweep 'in place, kill' look_in_place --in-place FADEN_FAULT_KILL=1
sweep 'in place, full disk' look_in_place --in-place FADEN_FAULT_STICKY=1
t_done
