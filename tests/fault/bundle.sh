#!/bin/sh
# Bundles under storage faults: kill -9, a failing call, a full disk at every step that changes a file.
# An export leaves the old file or a whole new one; an import leaves files that are whole or none, what
# was here as it was, and the next import does the rest.
. "$(dirname "$0")/../lib.sh"
t_need_faults 2
. "$(dirname "$0")/sweep.sh"

here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1
a=aaaaaaaa-0000-4000-8000-000000000001
c=01a00000-0000-7000-8000-000000000003
fa=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$a" 'one thing' 'two things')
"$t_helper/make-session" codex "$t_home/.codex" "$here" "$c" 'one thing' >/dev/null
mkdir -p "${fa%.jsonl}/subagents"
printf '{"type":"user","isSidechain":true}\n' >"${fa%.jsonl}/subagents/agent-1.jsonl"
t_faden rename "$a" 'A name'
t_faden list --all >/dev/null
t_faden export "$a" "$c" -o "$t_tmp/all.faden"
t_faden export "$c" -o "$t_tmp/old.faden"
cp -a "$t_home" "$t_tmp/source"
source=$t_tmp/source

# --- export ---
cp -a "$t_home" "$t_tmp/clean-home"
restore() {
	rm -rf "$t_home"
	cp -a "$t_tmp/clean-home" "$t_home"
	rm -f "$t_tmp"/out/* "$t_tmp"/out/.faden*
	mkdir -p "$t_tmp/out"
	cp "$t_tmp/old.faden" "$t_tmp/out/x.faden"
}
new_file() { t_faden export "$a" "$c" -o "$t_tmp/out/y.faden"; }
replaced() { t_faden export "$a" "$c" --force -o "$t_tmp/out/x.faden"; }
page() { t_faden export "$a" "$c" -o "$t_tmp/out/y.html"; }
whole() { [ "$(t_faden import --list "$1" 2>&1 | cut -f 2)" = "$2" ]; }
look_at_export() {
	diff -r "$source/.claude" "$t_home/.claude" >/dev/null && diff -r "$source/.codex" "$t_home/.codex" >/dev/null || echo "$1: a session changed"
	for file in "$t_tmp"/out/*.faden; do
		whole "$file" "$a
$c" || { [ "$file" = "$t_tmp/out/x.faden" ] && cmp -s "$file" "$t_tmp/old.faden"; } || echo "$1: half: $file"
	done
	[ ! -e "$t_tmp/out/y.html" ] || "$t_helper/check-page" "$t_tmp/out/y.html" >/dev/null || echo "$1: half a page"
	[ "$t_rc" != 0 ] || [ "$what" != new_file ] || [ -e "$t_tmp/out/y.faden" ] || echo "$1: said done, and nothing is there"
	[ "$killed" = 1 ] || [ -z "$(find "$t_tmp/out" -name '.faden*')" ] || echo "$1: left behind"
}
sweep 'export, kill' new_file look_at_export FADEN_FAULT_KILL=1
sweep 'export, full disk' new_file look_at_export FADEN_FAULT_STICKY=1
sweep 'export over another, kill' replaced look_at_export FADEN_FAULT_KILL=1
sweep 'export over another, fails once' replaced look_at_export FADEN_FAULT_ERRNO=EIO
sweep 'a page, full disk' page look_at_export FADEN_FAULT_STICKY=1

# --- import, where nothing is ---
rm -rf "$t_home" && mkdir "$t_home"
t_faden list --all >/dev/null 2>&1
rm -rf "$t_tmp/clean-home" && cp -a "$t_home" "$t_tmp/clean-home"
restore() {
	rm -rf "$t_home"
	cp -a "$t_tmp/clean-home" "$t_home"
}
import() { t_faden import "$t_tmp/all.faden"; }
files() { (cd "$1" && find .claude .codex -type f 2>/dev/null ! -name session_index.jsonl | sort); }
look_at_import() {
	for file in $(files "$t_home"); do
		cmp -s "$t_home/$file" "$source/$file" || echo "$1: half: $file"
	done
	[ "$t_rc" != 0 ] || [ "$(files "$t_home")" = "$(files "$source")" ] || echo "$1: said done, and not all is there"
	[ -e "$t_home${fa#"$t_home"}" ] && [ ! -e "$t_home/.claude/projects/$(basename "$(dirname "$fa")")/$a/subagents/agent-1.jsonl" ] && echo "$1: a session without its sub-agent"
	import >/dev/null 2>"$t_tmp/next" || echo "$1: the next import fails: $(cat "$t_tmp/next")"
	[ "$(files "$t_home")" = "$(files "$source")" ] || echo "$1: not all is there after the next"
	[ "$(t_faden list --all -F '{name}' | sort | tail -n 1)" = 'A name' ] || echo "$1: the name is lost"
	t_rc=$t_rc
}
sweep 'import, kill' import look_at_import FADEN_FAULT_KILL=1
sweep 'import, full disk' import look_at_import FADEN_FAULT_STICKY=1
sweep 'import, fails once' import look_at_import FADEN_FAULT_ERRNO=EIO

# --- import, where another session has the id ---
t_faden import "$t_tmp/all.faden" >/dev/null 2>&1
sed -i 's/answer 1/another 1/' "$fa"
cp "$fa" "$t_tmp/mine"
t_faden list --all >/dev/null
rm -rf "$t_tmp/clean-home" && cp -a "$t_home" "$t_tmp/clean-home"
look_at_copy() {
	cmp -s "$fa" "$t_tmp/mine" || echo "$1: what was here changed"
	import >/dev/null 2>"$t_tmp/next" || echo "$1: the next import fails: $(cat "$t_tmp/next")"
	[ "$(find "$(dirname "$fa")" -maxdepth 1 -name '*.jsonl' | wc -l)" = 2 ] || echo "$1: not one copy"
	[ "$(find "$(dirname "$fa")" -name 'agent-1.jsonl' | wc -l)" = 2 ] || echo "$1: not one copy of the sub-agent"
	[ -z "$(find "$t_home/.local" -name '*.jsonl')" ] || echo "$1: something is left on the way"
	t_rc=$t_rc
}
sweep 'import of a copy, kill' import look_at_copy FADEN_FAULT_KILL=1
sweep 'import of a copy, full disk' import look_at_copy FADEN_FAULT_STICKY=1
t_done
