#!/bin/sh
# The archive under storage faults: kill -9, a failing call, a full disk at every step that changes a
# file, and kills at random instants. After each, nothing that was kept is lost, the next run finishes,
# and every byte of the archive is as it was.
. "$(dirname "$0")/../lib.sh"
t_need_faults 3
. "$(dirname "$0")/sweep.sh"

here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1
a=aaaaaaaa-0000-4000-8000-000000000001
b=aaaaaaaa-0000-4000-8000-000000000002
c=01a00000-0000-7000-8000-000000000003
fa=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$a" 'one thing' 'two things')
fb=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$b" 'another thing')
long=$(head -c 4000 /dev/zero | tr '\0' 'y')
sed -i "s/\"out 1\"/\"$long one\"/" "$fa"
cp "$fb" "$t_tmp/b"
# One session is in the vault, one was set aside, one has come since, one has grown.
t_faden archive >/dev/null 2>&1
printf '{"type":"user","more":1}\n' >>"$fb"
t_faden trim "$a" >/dev/null 2>&1
ref=$(cat "$(dirname "$fa")"/*.jsonl | grep -o 'faden recall [0-9a-f]*' | head -n 1 | sed 's/.* //')
fc=$("$t_helper/make-session" codex "$t_home/.codex" "$here" "$c" 'one thing')
cp "$fa" "$t_tmp/a" && cp "$fb" "$t_tmp/b" && cp "$fc" "$t_tmp/c"
cp -a "$t_home" "$t_tmp/clean-home"
restore() {
	rm -rf "$t_home"
	cp -a "$t_tmp/clean-home" "$t_home"
}
run() { t_faden archive; }
delete() { t_faden delete -y "$b"; }
forget() { t_faden delete -y --forget "$b"; }

# same ID FILE: what the archive has of it, or the file where it lies, is what it was.
same() {
	rm -f "$t_tmp/back"
	t_faden archive export "$1" -o "$t_tmp/back" >/dev/null 2>&1
	cmp -s "$t_tmp/back" "$2"
}
whole() {
	t_faden recall "$ref" >/dev/null 2>&1 || echo "$1: a reference is lost"
	t_faden archive >/dev/null 2>"$t_tmp/next" || echo "$1: the next run fails: $(cat "$t_tmp/next")"
	t_faden archive verify >/dev/null 2>&1 || echo "$1: not whole"
	t_faden recall "$ref" >/dev/null 2>&1 || echo "$1: a reference is lost after the next run"
}
look_at_run() {
	cmp -s "$fa" "$t_tmp/a" && cmp -s "$fb" "$t_tmp/b" && cmp -s "$fc" "$t_tmp/c" || echo "$1: a session changed"
	whole "$1"
	same "$a" "$t_tmp/a" && same "$b" "$t_tmp/b" && same "$c" "$t_tmp/c" || echo "$1: not all is kept"
}
look_at_delete() {
	[ ! -e "$fb" ] || cmp -s "$fb" "$t_tmp/b" || echo "$1: the session changed"
	whole "$1"
	[ -e "$fb" ] || same "$b" "$t_tmp/b" || echo "$1: it is gone and not kept"
}
look_at_forget() {
	whole "$1"
	same "$a" "$t_tmp/a" || echo "$1: another is lost"
	restore_rc=$t_rc
	t_faden delete -y --forget "$b" >/dev/null 2>&1
	rm -f "$t_home"/.local/share/faden/archive/archive.db*
	! t_faden archive restore "$b" >/dev/null 2>&1 || echo "$1: not forgotten"
	t_rc=$restore_rc
}

sweep 'run, kill' run look_at_run FADEN_FAULT_KILL=1
sweep 'run, full disk' run look_at_run FADEN_FAULT_STICKY=1
sweep 'run, fails once' run look_at_run FADEN_FAULT_ERRNO=EIO
sweep 'delete, kill' delete look_at_delete FADEN_FAULT_KILL=1
sweep 'delete, full disk' delete look_at_delete FADEN_FAULT_STICKY=1
sweep 'forget, kill' forget look_at_forget FADEN_FAULT_KILL=1

# The way back, and letting go, from a state in which all is in the archive and one session is gone.
restore
t_faden archive >/dev/null 2>&1
rm "$fb"
t_faden archive >/dev/null 2>&1
cp -a "$t_home" "$t_tmp/gone-home"
mv "$t_tmp/clean-home" "$t_tmp/first-home" && mv "$t_tmp/gone-home" "$t_tmp/clean-home"
back() { t_faden archive restore "$b"; }
replace() { t_faden archive restore --replace "$b"; }
verify() { t_faden archive verify; }
prune() { t_faden archive prune --max-size 1 -y; }
look_at_back() {
	[ ! -e "$fb" ] || cmp -s "$fb" "$t_tmp/b" || echo "$1: half of it is there"
	whole "$1"
	t_faden archive restore "$b" >/dev/null 2>&1 && cmp -s "$fb" "$t_tmp/b" || echo "$1: it does not come back"
}
look_at_verify() {
	whole "$1"
	same "$a" "$t_tmp/a" && same "$b" "$t_tmp/b" && same "$c" "$t_tmp/c" || echo "$1: not all is kept"
}
look_at_prune() {
	whole "$1"
	same "$a" "$t_tmp/a" && same "$c" "$t_tmp/c" || echo "$1: another is lost"
	t_faden archive prune --max-size 1 -y >/dev/null 2>&1 || echo "$1: the next one fails"
	! same "$b" "$t_tmp/b" || echo "$1: it is still there"
}
sweep 'restore, kill' back look_at_back FADEN_FAULT_KILL=1
sweep 'restore, full disk' back look_at_back FADEN_FAULT_STICKY=1
sweep 'restore, fails once' back look_at_back FADEN_FAULT_ERRNO=EIO
sweep 'verify, kill' verify look_at_verify FADEN_FAULT_KILL=1
sweep 'verify, full disk' verify look_at_verify FADEN_FAULT_STICKY=1
sweep 'prune, kill' prune look_at_prune FADEN_FAULT_KILL=1
sweep 'prune, full disk' prune look_at_prune FADEN_FAULT_STICKY=1
# What lies there goes to the archive first, and is never lost on the way.
restore
sed 's/another/some other/' "$t_tmp/b" | head -n 2 >"$fb"
cp "$fb" "$t_tmp/there"
cp -a "$t_home" "$t_tmp/torn-home"
rm -rf "$t_tmp/clean-home" && mv "$t_tmp/torn-home" "$t_tmp/clean-home"
kept_b=$(t_faden archive list --json | python3 -c 'import json, sys
print(max((f for f in json.load(sys.stdin) if f["session_id"] == sys.argv[1]), key=lambda f: f["content_bytes"])["archive_key"])' "$b")
look_at_replace() {
	if ! cmp -s "$fb" "$t_tmp/b" && ! cmp -s "$fb" "$t_tmp/there"; then
		[ ! -e "$fb" ] || echo "$1: half of it is there"
	fi
	# Where it was cut off between the two, what lay there was last, and the other one has a key.
	t_faden archive restore --replace "$b" >/dev/null 2>"$t_tmp/next"
	! cmp -s "$fb" "$t_tmp/there" || t_faden archive restore --replace "$kept_b" >/dev/null 2>"$t_tmp/next"
	cmp -s "$fb" "$t_tmp/b" ||
		echo "$1: it does not come back: $(cat "$t_tmp/next")"
	whole "$1"
	rm -rf "$t_tmp/all"
	t_faden archive export --all -o "$t_tmp/all" >/dev/null 2>&1
	for kept in "$t_tmp/all"/*; do ! cmp -s "$kept" "$t_tmp/there" || return 0; done
	echo "$1: what lay there is lost"
}
sweep 'replace, kill' replace look_at_replace FADEN_FAULT_KILL=1
sweep 'replace, full disk' replace look_at_replace FADEN_FAULT_STICKY=1
rm -rf "$t_tmp/clean-home" && mv "$t_tmp/first-home" "$t_tmp/clean-home"

# Kills at random instants, while sessions grow, vanish and are rewritten.
restore
kills=40
[ -z "${FADEN_LONG-}" ] || kills=200
t_setenv "FADEN=$FADEN"
t_exit 'kills at random instants lose nothing' 0 t_run "$(command -v python3)" "$t_helper/kill-archive" "$kills" 7
t_note "$(head -n 1 "$t_out")"
t_like 'and many of them hit' "$(cat "$t_out")" '^killed [1-9][0-9]+ of'

# The same while sessions are forgotten: nothing of them is left when it is done again, others lose nothing.
restore
kills=12
[ -z "${FADEN_LONG-}" ] || kills=200
t_exit 'kills while it forgets harm no other session' 0 t_run "$(command -v python3)" "$t_helper/kill-archive" "$kills" 5 forget
t_note "$(head -n 1 "$t_out")"
t_like 'and some of them hit' "$(cat "$t_out")" '^killed [1-9][0-9]* of'
t_done
