# Storage faults at one step after the other; sourced by the tests that sweep a command.
# shellcheck shell=sh
#
# The test has called t_need_faults and defines restore (the state before each try). LOOK finds the
# command in `what`, its status in t_rc and whether it was killed (1 or 0) in `killed`.

# faulty N COMMAND MODE…: runs the command with the fault at its Nth step; status in t_rc, the steps
# that were counted in $t_tmp/count.
faulty() {
	at=$1 command=$2
	shift 2
	t_setenv "LD_PRELOAD=$t_fault"
	t_setenv "FADEN_FAULT_AT=$at"
	t_setenv "FADEN_FAULT_COUNT=$t_tmp/count"
	for pair; do t_setenv "$pair"; done
	rm -f "$t_tmp/count"
	$command >"$t_out" 2>"$t_err"
	t_rc=$?
	for pair in LD_PRELOAD FADEN_FAULT_AT FADEN_FAULT_COUNT "$@"; do t_unsetenv "${pair%%=*}"; done
}

# sweep NAME COMMAND LOOK MODE…: LOOK gets what to say of a try, and prints what is wrong after it.
sweep() {
	name=$1 what=$2 look=$3
	shift 3
	n=1
	seen=0
	: >"$t_tmp/bad"
	case $* in *KILL*) killed=1 ;; *) killed=0 ;; esac
	while :; do
		restore
		faulty "$n" "$what" "$@"
		[ -s "$t_tmp/count" ] || break
		[ "$(cat "$t_tmp/count")" -ge "$n" ] || break
		seen=$((seen + 1))
		$look "$name at $n ($t_rc)" >>"$t_tmp/bad" 2>&1
		n=$((n + t_step))
	done
	t_note "$name: $seen steps tried"
	t_ok "$name: steps were tried" test "$seen" -gt 2
	t_is "$name: the command succeeds when nothing fails" "$t_rc" 0
	t_is "$name: nothing is lost, nothing half-made" "$(head -n 5 "$t_tmp/bad")" ''
}
