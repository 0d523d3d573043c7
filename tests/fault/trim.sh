#!/bin/sh
# Trim under storage faults: kill -9, a failing call, a full disk at every step that changes a file.
# After each: the parent is untouched (in place: the old or the new file, whole), the agent's folder
# holds nothing half-made, and every placeholder that is there can be recalled.
. "$(dirname "$0")/../lib.sh"
t_need_faults
. "$(dirname "$0")/sweep.sh"

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

# What is swept.
copy() { t_faden trim --json $id; }
in_place() { t_faden trim --json --in-place $id; }

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
	# A kill around the exchange leaves the new file, or the old one, under a temporary name: whole.
	for other in $(beside); do
		! cmp -s "$t_tmp/before" "$project/$other" || continue
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

sweep 'kill' copy look_at_new FADEN_FAULT_KILL=1
sweep 'fails once' copy look_at_new FADEN_FAULT_ERRNO=EIO
sweep 'full disk' copy look_at_new FADEN_FAULT_STICKY=1
sweep 'in place, kill' in_place look_in_place FADEN_FAULT_KILL=1
sweep 'in place, full disk' in_place look_in_place FADEN_FAULT_STICKY=1

# A folder that takes no files: what can be done is said.
restore
full() {
	t_run LD_PRELOAD="$t_fault" FADEN_FAULT_AT=1 FADEN_FAULT_STICKY=1 FADEN_FAULT_MATCH="$1" \
		FADEN_FAULT_ERRNO=EROFS "$FADEN" trim $id
}
t_exit 'a folder of the agent that cannot be written is a failure' 5 full "$project"
t_like 'it is said where else the session can go' "$(cat "$t_err")" 'Read-only file system \(--out DIR writes a new session elsewhere\)'
t_exit 'an archive that cannot be written is a failure' 5 full /share/faden/archive
t_like 'it is said how the archive can be another folder' "$(cat "$t_err")" 'Read-only file system \(originals are kept there; XDG_DATA_HOME names another folder\)'
t_done
