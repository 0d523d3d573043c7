#!/bin/sh
# Repair under storage faults: kill -9, a failing call, a full disk at every step that changes a
# file, for a copy and in place, for both agents.
# After each: the original is untouched (in place: the old file, or the new one with the old in the
# archive), and the agent's folder holds nothing half-made.
. "$(dirname "$0")/../lib.sh"
t_need_faults 3
. "$(dirname "$0")/sweep.sh"

id=11111111-2222-4333-8444-555555555555
mkdir -p "$t_tmp/here"
cd "$t_tmp/here" || exit 1

# prepare AGENT KIND: a damaged session, and what it is when it is mended.
prepare() {
	rm -rf "$t_home"
	mkdir -p "$t_home"
	file=$("$t_helper/damage-session" "$1" "$2" "$t_home/.$1" "$t_tmp/here" $id | sed -n 1p)
	top=$t_home/.$1
	cp "$file" "$t_tmp/before"
	# The store is there before: making it is tested elsewhere.
	t_faden repair $id >/dev/null
	rm -rf "$t_tmp/clean-home"
	cp -a "$t_home" "$t_tmp/clean-home"
}

restore() {
	rm -rf "$t_home"
	cp -a "$t_tmp/clean-home" "$t_home"
}

# What is swept.
copy() { t_faden repair --json --apply $id; }
in_place() { t_faden repair --json --in-place $id; }

# beside: what is in the agent's folder but the session.
beside() { find "$top" -type f ! -path "$file"; }
whole() { t_faden repair "$1" >/dev/null 2>&1; }

look_at_copy() {
	cmp -s "$t_tmp/before" "$file" || echo "$1: the original changed"
	others=$(beside)
	[ "$(printf '%s\n' "$others" | wc -l)" -le 1 ] || echo "$1: left behind: $others"
	case $others in
	'') [ "$t_rc" != 0 ] || echo "$1: said done, and nothing is there" ;;
	*/.*.tmp) echo "$1: left behind: $others" ;;
	*) whole "$others" || echo "$1: not whole: $others" ;;
	esac
}

look_in_place() {
	# A kill around the exchange leaves the new file, or the old one, under a temporary name: whole.
	for other in $(beside); do
		! cmp -s "$t_tmp/before" "$other" || continue
		case $other in
		*/.faden-*.tmp)
			cp "$other" "$t_tmp/${file##*/}"
			whole "$t_tmp/${file##*/}" || echo "$1: half: $other"
			;;
		*) echo "$1: left behind: $other" ;;
		esac
	done
	if cmp -s "$t_tmp/before" "$file"; then
		[ "$t_rc" != 0 ] || echo "$1: said done, and nothing is changed"
		return
	fi
	whole "$file" || echo "$1: not whole"
	find "$t_home/.local/share/faden/archive" -type f -exec cmp -s "$t_tmp/before" {} \; -print | grep -q . ||
		echo "$1: changed, and no copy of the original is kept"
}

for damage in claude,null-parent codex,ordinals-missing; do
	agent=${damage%%,*}
	prepare "$agent" "${damage#*,}"
	sweep "$agent, kill" copy look_at_copy FADEN_FAULT_KILL=1
	sweep "$agent, fails once" copy look_at_copy FADEN_FAULT_ERRNO=EIO
	sweep "$agent, full disk" copy look_at_copy FADEN_FAULT_STICKY=1
	sweep "$agent in place, kill" in_place look_in_place FADEN_FAULT_KILL=1
	sweep "$agent in place, fails once" in_place look_in_place FADEN_FAULT_ERRNO=EIO
	sweep "$agent in place, full disk" in_place look_in_place FADEN_FAULT_STICKY=1
done
t_done
