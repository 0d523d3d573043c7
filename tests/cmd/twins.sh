#!/bin/sh
# Two sessions of one id, since the folder of a project was copied or there are two work trees: whoever
# names the id is told of both, and a path means the one that lies there, also when they are gone.
. "$(dirname "$0")/../lib.sh"

mkdir -p "$t_tmp/a" "$t_tmp/b"
cd "$t_tmp/a" || exit 1
id=aaaaaaaa-0000-4000-8000-000000000001
fa=$("$t_helper/make-session" claude "$t_home/.claude" "$t_tmp/a" "$id" 'the kumquat tree')
fb=$("$t_helper/make-session" claude "$t_home/.claude" "$t_tmp/b" "$id" 'the loquat tree' 'and more of it')
for f in "$fa" "$fb"; do
	mkdir -p "${f%.jsonl}/subagents"
	sed 's/tree/grove/' "$f" >"${f%.jsonl}/subagents/agent-7.jsonl"
done
for f in "$fa" "$fb"; do cp "${f%.jsonl}/subagents/agent-7.jsonl" "$t_tmp/side-$(basename "$(dirname "$f")")"; done
ln -s /bin/true "$t_bin/claude"
cp -a "$t_home" "$t_tmp/clean"
again() {
	rm -rf "$t_home"
	cp -a "$t_tmp/clean" "$t_home"
}

# --- both are there
for command in 'show' 'resume --print' 'delete -y' 'delete -y --forget' 'archive export' 'trim' 'advise'; do
	# shellcheck disable=SC2086
	t_exit "$command: the id alone is refused" 3 t_faden $command "$id"
	t_like "$command: the path of one is said" "$(cat "$t_err")" "$fa"
	t_like "$command: the path of the other is said" "$(cat "$t_err")" "$fb"
done
t_is 'both are listed' "$(t_faden list --all | grep -c "$id")" 2
t_like 'the path means the one' "$(t_faden show "$fa")" kumquat
t_like 'or the other' "$(t_faden show "$fb")" loquat
t_like 'the one goes on in its folder' "$(t_faden resume --print "$fa")" "cd '$t_tmp/a' "
t_like 'the other in its own' "$(t_faden resume --print "$fb")" "cd '$t_tmp/b' "
t_like 'in the folder of the other it needs a copy' "$(t_faden resume --here --print "$fb")" "'--here' '$fb'"
t_exit 'that is made' 0 t_on_tty resume --here "$fb"
t_like 'and said' "$(cat "$t_err")" 'its copy'

# The folder of a project was copied in the agent's home: the lines of both name one folder.
again
sed -i "s#$t_tmp/b#$t_tmp/a#g" "$fb"
t_unlike 'the agent would find the other one there' "$(t_faden resume --print "$fb")" "'--resume' '$id'"
t_exit 'a copy goes on' 0 t_on_tty resume "$fb"
t_like 'and that is said' "$(cat "$t_err")" 'its copy'

# --- what is found
again
t_faden index >/dev/null 2>&1
resumes() { python3 -c 'import json, sys; print(" ".join(sorted({h[sys.argv[1]] for h in json.load(sys.stdin)})))' "$1"; }
t_is 'what is found of the one goes on by its path' "$(t_faden search --json '+kumquat tree' | resumes resume_command)" "faden resume '$fa'"
t_is 'what is found of the other by its own' "$(t_faden search --json '+loquat tree' | resumes resume_command)" "faden resume '$fb'"
t_is 'also what was done for it' "$(t_faden search --json '+loquat grove' | resumes resume_command)" "faden resume '$fb'"
t_like 'and is shown by it' "$(t_faden search --json '+loquat tree' | resumes show_command)" "'$fb'"
rm "$fa"
t_is 'the only one left by its id' "$(t_faden search --json '+loquat tree' | resumes resume_command)" "faden resume $id"

# --- the archive
again
t_exit 'both are archived' 0 t_faden archive
for f in "$fa" "$fb"; do
	t_exit 'by its path each is exported' 0 t_faden archive export "$f" -o "$t_tmp/out"
	t_ok 'as it is' cmp "$f" "$t_tmp/out"
	rm -f "$t_tmp/out"
done
t_exit 'one is deleted' 0 t_faden delete -y "$fb"
t_ok 'the other stays, with what was done for it' test -e "$fa" -a -e "${fa%.jsonl}/subagents/agent-7.jsonl"
t_ok 'of the one nothing is left' test ! -e "$fb" -a ! -e "${fb%.jsonl}"
t_like 'the other is the one of that id now' "$(t_faden show "$id")" kumquat
t_like 'the path still means the one that is gone' "$(t_faden show "$fb")" loquat
t_exit 'the other is deleted' 0 t_faden delete -y "$fa"
t_like 'gone, the path means the one' "$(t_faden show "$fa")" kumquat
t_like 'or the other, gone too' "$(t_faden show "$fb")" loquat
t_exit 'a path where none of them lay means none' 1 t_faden archive restore "$t_tmp/a/$id.jsonl"
t_exit 'the id gets one back' 0 t_faden archive restore "$id"
t_like 'and the other is said' "$(cat "$t_err")" 'another session of that id'
rm -f "$fa" "$fb"
for f in "$fa" "$fb"; do
	t_exit 'by its path each comes back' 0 t_faden archive restore "$f"
	t_ok 'byte for byte' cmp "$f" "$t_tmp/clean/${f#"$t_home"}"
	t_ok 'with what was done for it' cmp "${f%.jsonl}/subagents/agent-7.jsonl" \
		"$t_tmp/side-$(basename "$(dirname "$f")")"
done

# --- one is forgotten
forget() { # NAME: what is left must be all of the other
	t_exit "$1: the one is forgotten" 0 t_faden delete -y --forget "$fb"
	t_like "$1: that the other stays is said" "$(cat "$t_out")" 'another session of that id'
	t_exit "$1: the other comes back" 0 t_faden archive restore "$fa"
	t_ok "$1: as it was" cmp "$fa" "$t_tmp/clean/${fa#"$t_home"}"
	t_exit "$1: the one does not" 1 t_faden archive restore "$fb"
	t_exit "$1: the other is found" 0 t_faden search kumquat
	t_like "$1: in its message" "$(cat "$t_out")" 'the kumquat'
	t_exit "$1: the one is not" 1 t_faden search loquat
}
again
t_faden archive >/dev/null
t_faden index >/dev/null 2>&1
forget 'both there'
again
t_faden archive >/dev/null
t_faden index >/dev/null 2>&1
t_faden delete -y "$fa" >/dev/null
forget 'the other deleted'

# By its id it goes from wherever it lay.
again
mkdir -p "$t_home/.claude/projects/-elsewhere"
t_faden archive >/dev/null
mv "$fb" "$t_home/.claude/projects/-elsewhere/"
rm -rf "$fa" "${fa%.jsonl}" "${fb%.jsonl}"
t_faden archive >/dev/null
t_exit 'by its id it is forgotten' 0 t_faden delete -y --forget "$id"
t_exit 'and nothing is kept of it' 1 t_faden archive list
t_done
