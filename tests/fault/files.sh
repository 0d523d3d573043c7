#!/bin/sh
# Every write of os/file with each of its storage calls failing in turn, N = 1 until none is left, and
# with the process killed there. Afterwards the file is the old one or the new one, and what a killed
# writer left is swept.
. "$(dirname "$0")/../lib.sh"
t_need_faults
writer=$t_build/tests/fault-writer
dir=$t_tmp
cases=0
: >"$dir/complaints"

# Longer than a byte, so that half of it can be told from all of it.
old=old-content-of-the-file
new=new-content-that-is-written

complain() {
	printf '%s\n' "$*" >>"$dir/complaints"
}

content() {
	if [ -e "$1" ]; then cat "$1"; else echo none; fi
}

# The number of calls that the library has seen; 0 when it was not even loaded.
count() {
	if [ -s "$dir/count" ]; then cat "$dir/count"; else echo 0; fi
}

# is_whole ACTION GOT BEFORE AFTER: an append that fails may leave the file it created, empty.
is_whole() {
	case $2 in
	"$3" | "$4") true ;;
	'') [ "$3" = none ] && [ "$1" = journal ] ;;
	*) false ;;
	esac
}

# run ACTION N MODE...: one call of the writer; MODE are variables for the library.
run() {
	action=$1
	n=$2
	shift 2
	rm -f "$dir/count"
	env -i LD_PRELOAD="$t_fault" FADEN_FAULT_AT="$n" FADEN_FAULT_MATCH="$dir/work" \
		FADEN_FAULT_COUNT="$dir/count" "$@" \
		"$writer" "$action" "$dir/work/f" "$new" 2>"$dir/stderr"
}

# bearable ACTION MODE: how many faults the action may pass over and still say that it is done.
# A short write of a file in the making goes on; a file system without RENAME_NOREPLACE is served
# by link(), one that cannot sync folders is taken as it is.
bearable() {
	case $1,$2 in
	replace,*SHORT* | create,*SHORT* | pieces,*SHORT*) echo 1 ;;
	create,*EINVAL) echo 2 ;;
	*) echo 0 ;;
	esac
}

# check ACTION BEFORE AFTER MODE...: BEFORE and AFTER are the file's two possible contents.
check() {
	action=$1 before=$2 after=$3
	shift 3
	n=0
	borne=0
	while :; do
		n=$((n + 1))
		rm -rf "$dir/work"
		mkdir "$dir/work"
		[ "$before" = none ] || printf %s "$before" >"$dir/work/f"
		run "$action" "$n" "$@"
		status=$?
		got=$(content "$dir/work/f")
		what="$action, call $n, $*: status $status, '$got'"
		is_whole "$action" "$got" "$before" "$after" || complain "half a file: $what"
		[ "$status" -ne 0 ] || [ "$got" = "$after" ] || complain "said done: $what"
		[ "$status" -ne 1 ] || [ -s "$dir/stderr" ] || complain "no message: $what"
		[ "$status" -eq 0 ] || [ "$status" -eq 1 ] || [ "$status" -eq 137 ] ||
			complain "odd status: $what"
		[ "$status" -eq 137 ] && "$writer" sweep "$dir/work"
		left=$(ls -A "$dir/work" | grep -v '^f$')
		[ -z "$left" ] || complain "left behind: $what: $left"
		[ "$(count)" -lt "$n" ] && break
		cases=$((cases + 1))
		[ "$status" -eq 0 ] && borne=$((borne + 1))
	done
	[ "$borne" -eq "$(bearable "$action" "$1")" ] ||
		complain "$action, $*: $borne faults were passed over"
	[ "$n" -gt 2 ] || complain "$action, $*: only $n calls were seen"
	[ "$status" -eq 0 ] || complain "$action, $*: fails without a fault"
}

for mode in FADEN_FAULT_ERRNO=ENOSPC FADEN_FAULT_ERRNO=EIO FADEN_FAULT_KILL=1 \
	FADEN_FAULT_SHORT=1; do
	check replace "$old" "$new" "$mode"
	check replace none "$new" "$mode"
	check create none "$new" "$mode"
	check pieces "$old" "$new" "$mode"
	check append "$old" "$old$new" "$mode"
	check journal "$old" "$old$new" "$mode"
	check journal none "$new" "$mode"
done
check create none "$new" FADEN_FAULT_ERRNO=EINVAL
check replace "$old" "$new" FADEN_FAULT_ERRNO=ENOSPC FADEN_FAULT_STICKY=1

t_note "$cases faults"
t_is 'each file is the old or the new one, whatever call fails' "$(cat "$dir/complaints")" ''
t_done
