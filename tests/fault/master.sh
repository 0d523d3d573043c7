#!/bin/sh
# A run of the pair under storage faults: kill -9, a failing call, a short write, a full disk at every
# step that changes a file, with a journal that is folded in meanwhile and without. After each: every
# step that was told to be on disk is there, in its place; each file is whole; and the run goes on to
# the same end as one that nothing happened to.
. "$(dirname "$0")/../lib.sh"
t_need_faults 13
. "$(dirname "$0")/sweep.sh"

player=$t_build/tests/fault-master
root=$t_tmp/work/.claude-master

# prepare ROUNDS BYTES: what a run that nothing happens to comes to.
prepare() {
	rounds=$1 bytes=$2
	restore
	play >/dev/null
	steps >"$t_tmp/want"
}

restore() { rm -rf "$t_tmp/work"; }
play() { t_run "$player" "$root" "$rounds" "$bytes"; }
steps() { t_run "$player" "$root"; }

look() {
	told=$(tail -n 1 "$t_out")
	[ "$t_rc" = 0 ] || [ "$killed" = 1 ] || [ -s "$t_err" ] || echo "$1: fails without a word"
	for file in "$root"/sessions/session-*.json "$root"/sessions/current.json; do
		[ ! -e "$file" ] || python3 -m json.tool "$file" >/dev/null || echo "$1: half: $file"
	done
	left=$(find "$root" -type f ! -name 'session-*.json' ! -name 'session-*.journal' \
		! -name 'session-*.lock' ! -name current.json ! -name .gitignore ! -name '.faden-*.tmp' 2>/dev/null)
	[ -z "$left" ] || echo "$1: left behind: $left"
	open=$(find "$root" -type f -perm /077 2>/dev/null)
	[ -z "$open" ] || echo "$1: others may read $open"
	if [ -n "$told" ]; then
		steps >"$t_tmp/got" 2>"$t_tmp/why" || echo "$1: cannot be opened: $(cat "$t_tmp/why")"
		[ "$(wc -l <"$t_tmp/got")" -ge "$told" ] ||
			echo "$1: step $told was told, $(wc -l <"$t_tmp/got") are there"
		head -n "$(wc -l <"$t_tmp/got")" "$t_tmp/want" | cmp -s - "$t_tmp/got" ||
			echo "$1: other steps than those that were made"
	fi
	play >/dev/null 2>"$t_tmp/why" || echo "$1: does not go on: $(cat "$t_tmp/why")"
	steps 2>&1 | cmp -s - "$t_tmp/want" || echo "$1: comes to another end"
}

sweeps() {
	for mode; do
		case $mode in
		KILL) set -- FADEN_FAULT_KILL=1 ;;
		SHORT) set -- FADEN_FAULT_SHORT=1 ;;
		*-stays) set -- "FADEN_FAULT_ERRNO=${mode%-stays}" FADEN_FAULT_STICKY=1 ;;
		*) set -- "FADEN_FAULT_ERRNO=$mode" ;;
		esac
		sweep "$rounds rounds of $bytes bytes: $mode" play look FADEN_FAULT_MATCH=work "$@"
	done
}

# Small texts: the journal is folded in at the end. Large ones: several times on the way.
prepare 3 20
sweeps KILL SHORT EIO ENOSPC ENOSPC-stays EROFS-stays
prepare 2 200000
sweeps KILL ENOSPC-stays
t_done
