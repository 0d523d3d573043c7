#!/bin/sh
# Another process holds the lock of the index or of the archive: one that works is waited for, and
# that is said; one that is stopped is named and given up, and nothing is lost by that.
. "$(dirname "$0")/../lib.sh"

here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1
# Nothing is begun in the background, and what would be too young to go is old.
t_setenv 'FADEN_CLOCK=2036-01-01T00:00:00Z'
a=aaaaaaaa-0000-4000-8000-000000000001
b=aaaaaaaa-0000-4000-8000-000000000002
fa=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$a" 'the kumquat tree')
fb=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$b" 'the loquat tree')
cp "$fa" "$t_tmp/a"
t_exit 'a session is indexed and archived' 0 t_faden index
index=$t_home/.local/state/faden/index/lock
archive=$t_home/.local/share/faden/archive/lock

# hold LOCK SECONDS [MODE]: it is held for so long, by one process, $holder.
hold() {
	t_start python3 -c '
import fcntl, sys, time
lock = open(sys.argv[1], sys.argv[4])
fcntl.flock(lock, fcntl.LOCK_EX)
open(sys.argv[2], "w")
time.sleep(float(sys.argv[3]))' "$1" "$t_tmp/held" "$2" "${3:-r+}"
	holder=$t_pid
	t_wait_for 20 test -e "$t_tmp/held" || t_note "nobody holds $1"
	rm -f "$t_tmp/held"
}
let_go() {
	kill -CONT "$holder"
	kill -KILL "$holder"
	wait "$holder" 2>/dev/null
}
# begin NAME ARGUMENT…: faden in the background; ended NAME: its status, output in $t_tmp/NAME.out.
begin() {
	name=$1
	shift
	(
		t_faden "$@" >"$t_tmp/$name.out" 2>&1
		echo $? >"$t_tmp/$name.rc"
	) &
	began="${began-} $!"
}
ended() {
	for one in $began; do wait "$one"; done
	began=
}
# refused NAME LOCK HOLDER: it was given up, and is said why.
refused() {
	t_is "$1 gives up" "$(cat "$t_tmp/$1.rc")" 5
	t_like "$1 says whom it waits for" "$(cat "$t_tmp/$1.out")" \
		"^faden: waiting for python3.* \(process $3\), which is stopped and holds $2\$"
	t_like "$1 says why, and what to do" "$(cat "$t_tmp/$1.out")" \
		"^faden: .*$2 is held by python3.* \(process $3\), which is stopped: .*'kill -CONT $3'"
}

# --- stopped
hold "$index" 600
by_index=$holder
kill -STOP "$holder"
# Open for reading is enough for a lock, as flock(1) has it.
hold "$archive" 600 r
kill -STOP "$holder"
t_start_faden watch >"$t_tmp/watch.out" 2>&1
watch=$t_pid
begin index index
begin archive archive
begin prune archive prune --older-than 1d -y
begin delete delete -y "$a"
begin clean clean --older-than 1d -y
begin forget delete --forget -y "$b"
t_exit 'meanwhile they are listed' 0 t_faden list
t_exit 'and found' 0 t_faden search kumquat
t_exit 'and shown' 0 t_faden show "$a"
ended
refused index "$index" "$by_index"
for one in archive prune delete clean forget; do
	refused "$one" "$archive" "$holder"
done
t_ok 'a watch goes on waiting' t_running "$watch"
t_like 'and says for whom' "$(cat "$t_tmp/watch.out")" "waiting for .* \(process $by_index\), which is stopped"
kill -TERM "$watch"
t_ok 'it ends when it is asked to' t_wait_for 5 eval "! t_running $watch"
t_unlike 'and complains of nothing' "$(cat "$t_tmp/watch.out")" 'tried again'
t_ok 'the sessions are there' cmp "$fa" "$t_tmp/a"
t_ok 'both' test -e "$fb"
let_go

# --- only the index: what has begun with the archive can be done again
holder=$by_index
begin forget delete --forget -y "$b"
ended
refused forget "$index" "$holder"
let_go
t_exit 'then it is forgotten' 0 t_faden delete --forget -y "$b"
t_exit 'and not found' 1 t_faden search loquat

# --- only the archive: the index does not wait for it
echo '{"type":"summary","summary":"the medlar tree"}' >>"$fa"
hold "$archive" 600
kill -STOP "$holder"
t_exit 'the index is brought up to date' 0 t_faden index
t_like 'the archive is left to the next run' "$(cat "$t_err")" 'written to by another faden'
let_go

# --- at work: its end is waited for
hold "$index" 2
t_exit 'one that goes on is waited for' 0 t_faden index
t_like 'and that is said' "$(cat "$t_err")" "^faden: waiting for python3.* \(process $holder\), which holds $index\$"
hold "$archive" 2
t_exit 'by the archive, too' 0 t_faden archive
t_like 'which says so' "$(cat "$t_err")" "^faden: waiting for .* \(process $holder\), which holds $archive\$"

# --- Ctrl-C
hold "$archive" 600
for verb in archive 'archive verify' "delete -y $a"; do
	# shellcheck disable=SC2086
	t_exit "$verb is interrupted while it waits" 130 \
		t_run "$t_bin/timeout" --preserve-status -k 20 -s INT 2 "$FADEN" $verb
	t_like "$verb had said why" "$(cat "$t_err")" 'waiting for '
done
let_go
hold "$index" 600
t_exit 'so is the index' 130 t_run "$t_bin/timeout" --preserve-status -k 20 -s INT 2 "$FADEN" index
let_go
t_exit 'then all is archived' 0 t_faden archive
t_exit 'and deleted' 0 t_faden delete -y "$a"
t_ok 'which was there until then' test ! -e "$fa"
t_exit 'and comes back' 0 t_faden archive restore "$a"
t_ok 'with what was said last' grep -q medlar "$fa"
t_done
