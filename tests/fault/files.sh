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
		"$writer" "$action" "$dir/work/f" "$new" 2>"$dir/stderr" >"$dir/stdout"
}

# bearable ACTION MODE: how many faults the action may pass over and still say that it is done.
# A short write of a file in the making goes on; a file system without RENAME_NOREPLACE is served
# by link(), one that cannot sync folders is taken as it is, one without unnamed files gets a named
# one; and the last two closes of a swap come when all is synced.
bearable() {
	case $1,$2 in
	swap,*SHORT*) echo 4 ;;
	swap,*KILL*) echo 0 ;;
	swap,*) echo 3 ;;
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
	check swap "$old" "$new" "$mode"
	check swap "$old" "$new" "$mode" FADEN_FAULT_NO_LEASE=1
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

# at_exchange KEEP NO_LEASE: another program opens the file when all is ready for the exchange, which is
# the sixth call; it writes a line then, and one when it has kept the file open for KEEP seconds.
at_exchange() {
	rm -rf "$dir/work"
	mkdir "$dir/work"
	echo "$old" >"$dir/work/f"
	env -i LD_PRELOAD="$t_fault" FADEN_FAULT_AT=6 FADEN_FAULT_STOP=1 FADEN_FAULT_MATCH="$dir/work" \
		FADEN_FAULT_NO_LEASE="$2" "$writer" swap "$dir/work/f" "$new$t_newline" >"$t_out" 2>"$t_err" &
	swapper=$!
	until grep -q '^State:.T' "/proc/$swapper/status"; do sleep 0.01; done
	(exec 3>>"$dir/work/f" && echo late >&3 && sleep "$1" && echo later >&3) &
	appender=$!
	sleep 0.2
	kill -CONT $swapper
	wait $swapper
	status=$?
	wait $appender
}

for no_lease in 0 1; do
	how=$([ $no_lease = 1 ] && echo 'without leases' || echo 'with leases')
	at_exchange 0.3 $no_lease
	t_is "opened at the last moment and closed again, $how: the swap is made" "$status" 0
	t_is "opened at the last moment and closed again, $how: its lines follow" \
		"$(tr '\n' ' ' <"$dir/work/f")" "$new late later "
	t_is "opened at the last moment and closed again, $how: they are counted" "$(cat "$t_out")" 11
	at_exchange 3 $no_lease
	t_is "opened at the last moment and kept, $how: the swap is taken back" "$status" 1
	t_is "opened at the last moment and kept, $how: the old file is there with its lines" \
		"$(tr '\n' ' ' <"$dir/work/f")" "$old late later "
	t_like "opened at the last moment and kept, $how: who has it is named" "$(cat "$t_err")" \
		"/f: (sh|sleep) \(process [0-9]+\) has it open for writing"
	t_is "opened at the last moment, $how: nothing is left behind" "$(ls -A "$dir/work")" f
done
t_done
