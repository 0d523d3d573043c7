#!/bin/sh
# Rollover, smart-trim and the hook under storage faults: kill -9, a failing call, a full disk at
# every step that changes a file.
# After each: the session is untouched, the agent's folder holds nothing half-made, every reference
# of a new session can be recalled, the agent's settings are the old or the new ones, and a hook
# never ends with a failure.
. "$(dirname "$0")/../lib.sh"
t_need_faults 5
. "$(dirname "$0")/sweep.sh"

id=11111111-2222-4333-8444-555555555555
mkdir -p "$t_tmp/work"
cd "$t_tmp/work" || exit 1
file=$("$t_helper/make-session" claude "$t_home/.claude" "$t_tmp/work" $id 'mend the parser of this program' two)
project=$(dirname "$file")
long=$(head -c 3000 /dev/zero | tr '\0' 'y')
sed -i "s/\"out 1\"/\"$long\"/" "$file"
cp "$file" "$t_tmp/before"
settings=$t_home/.claude/settings.json
printf '{\n  "model": "x"\n}\n' >"$settings"
printf '*\nsay {"trim":[{"number":3,"reason":"r","summary":"all y"}]}\n' >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
# The store is there before: making it is tested elsewhere.
t_faden lineage $id >/dev/null
cp -a "$t_home" "$t_tmp/clean-home"
t_faden hook install >/dev/null
cp "$settings" "$t_tmp/settings-new"
cp -a "$t_home" "$t_tmp/installed-home"

restore() {
	rm -rf "$t_home"
	case $what in
	remove) cp -a "$t_tmp/installed-home" "$t_home" ;;
	*) cp -a "$t_tmp/clean-home" "$t_home" ;;
	esac
}

# What is swept.
rollover() { t_faden rollover --json $id; }
smart() { t_faden smart-trim --json --agent rehearsal --keep-recent 0 $id; }
install() { t_faden hook install; }
remove() { t_faden hook remove; }
handoff() {
	printf '{"session_id":"%s","transcript_path":"%s","prompt":">handoff"}' $id "$file" |
		t_faden hook user-prompt-submit
}

# What holds after each.
look_rollover() { look_new "$1" 2; }
look_smart() { look_new "$1" "$(wc -l <"$t_tmp/before")"; }
look_new() {
	cmp -s "$t_tmp/before" "$file" || echo "$1: the session changed"
	others=$(ls -A "$project" | grep -v "^$id.jsonl$")
	[ "$(printf '%s\n' "$others" | wc -l)" -le 1 ] || echo "$1: left behind: $others"
	case $others in
	'') [ "$t_rc" != 0 ] || echo "$1: said done, and nothing is there" ;;
	.*) echo "$1: left behind: $others" ;;
	*)
		python3 -c 'import json, sys; lines = [json.loads(l) for l in open(sys.argv[1])]; assert len(lines) == int(sys.argv[2])' \
			"$project/$others" "$2" || echo "$1: not whole"
		for ref in $(grep -o -e '\[[0-9a-f]\{16\}\]' -e 'recall [0-9a-f]\{16\}' "$project/$others" | grep -o '[0-9a-f]\{16\}' | sort -u); do
			t_faden recall "$ref" >/dev/null || echo "$1: $ref leads nowhere"
		done
		;;
	esac
	[ "$(find "$t_home/.local/state/faden" -name 'ask-*' | wc -l)" -le "$killed" ] || echo "$1: a question is left"
}
# kept FILE: the copies of settings that are this.
kept() { find "$t_home/.local/share/faden/settings" -type f ! -name '.*' -exec cmp -s "$1" {} \; -print 2>/dev/null; }
look_install() {
	cmp -s "$settings" "$t_tmp/clean-home/.claude/settings.json" ||
		[ -n "$(kept "$t_tmp/clean-home/.claude/settings.json")" ] || echo "$1: changed without a copy"
	[ "$t_rc" != 0 ] || cmp -s "$settings" "$t_tmp/settings-new" || echo "$1: said done, and it is not"
	look_settings "$1"
}
look_remove() {
	old=$t_tmp/clean-home/.claude/settings.json
	[ "$t_rc" != 0 ] || cmp -s "$settings" "$old" || echo "$1: said done, and it is not"
	cmp -s "$settings" "$old" || [ -n "$(kept "$old")" ] || echo "$1: what was before is lost"
	cmp -s "$settings" "$t_tmp/settings-new" || [ -n "$(kept "$t_tmp/settings-new")" ] || echo "$1: changed without a copy"
	look_settings "$1"
}
look_settings() {
	cmp -s "$settings" "$t_tmp/settings-new" || cmp -s "$settings" "$t_tmp/clean-home/.claude/settings.json" ||
		echo "$1: the settings are neither the old nor the new ones"
	for other in $(ls -A "$t_home/.claude" | grep -v -e '^projects$' -e '^settings.json$'); do
		case $killed,$other in
		1,.faden-*) ;;
		*) echo "$1: left behind: $other" ;;
		esac
	done
}
look_handoff() {
	[ "$killed" = 1 ] || [ "$t_rc" = 0 ] || echo "$1: the hook failed: $(cat "$t_err")"
	[ "$killed" = 1 ] || python3 -c 'import json, sys; assert json.load(open(sys.argv[1]))["decision"] == "block"' "$t_out" ||
		echo "$1: no answer"
	for note in $(find "$t_home/.local/state/faden/handoffs" -name '[!.]*' -type f 2>/dev/null); do
		tail -n 1 "$note" | grep -q 'answer 2' || echo "$1: half a note"
	done
}

for each in rollover smart install remove handoff; do
	sweep "$each, kill" $each look_$each FADEN_FAULT_KILL=1
	sweep "$each, fails once" $each look_$each FADEN_FAULT_ERRNO=EIO
	sweep "$each, full disk" $each look_$each FADEN_FAULT_STICKY=1
done
t_done
