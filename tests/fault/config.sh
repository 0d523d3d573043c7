#!/bin/sh
# faden config set under storage faults: after each the file is the old one or the new one, with its
# comments, and nothing is left beside it.
. "$(dirname "$0")/../lib.sh"
t_need_faults 1
. "$(dirname "$0")/sweep.sh"

folder=$t_home/.config/faden
mkdir -p "$folder"
printf '# mine\nai:\n  agent: codex # for now\n' >"$t_tmp/old"
printf '# mine\nai:\n  agent: claude # for now\n' >"$t_tmp/new"
printf 'ai:\n  agent: claude\n' >"$t_tmp/made"

restore() {
	rm -rf "$folder"
	mkdir -p "$folder"
	[ "$what" = make ] || cp "$t_tmp/old" "$folder/config.yaml"
}
change() { t_faden config set ai.agent claude; }
make() { t_faden config set ai.agent claude; }

look_change() {
	cmp -s "$t_tmp/old" "$folder/config.yaml" || cmp -s "$t_tmp/new" "$folder/config.yaml" || echo "$1: neither old nor new"
	[ "$t_rc" != 0 ] || cmp -s "$t_tmp/new" "$folder/config.yaml" || echo "$1: said done, and is not"
	look_rest "$1"
}
look_make() {
	[ ! -e "$folder/config.yaml" ] || cmp -s "$t_tmp/made" "$folder/config.yaml" || echo "$1: half made"
	[ "$t_rc" != 0 ] || [ -e "$folder/config.yaml" ] || echo "$1: said done, and is not"
	look_rest "$1"
}
# A kill may leave a temporary file, which is swept; a failure may not.
look_rest() {
	[ "$killed" = 1 ] || [ -z "$(ls -A "$folder" | grep -v '^config.yaml$')" ] || echo "$1: left behind: $(ls -A "$folder")"
	[ "$killed" = 1 ] || [ "$t_rc" = 0 ] || grep -q '^faden: config: ' "$t_err" || echo "$1: failed without a word"
}
sweep 'a change, killed' change look_change FADEN_FAULT_KILL=1
sweep 'a change, a call fails' change look_change FADEN_FAULT_ERRNO=EIO
sweep 'a change, the disk is full' change look_change FADEN_FAULT_ERRNO=ENOSPC FADEN_FAULT_STICKY=1
sweep 'a new file, killed' make look_make FADEN_FAULT_KILL=1
sweep 'a new file, a call fails' make look_make FADEN_FAULT_ERRNO=EIO
t_done
