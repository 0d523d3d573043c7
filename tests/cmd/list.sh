#!/bin/sh
# faden list: every agent's sessions, by every way to ask for them.
. "$(dirname "$0")/../lib.sh"

claude=$t_home/.claude
codex=$t_home/.codex
here=$t_tmp/here
there=$t_tmp/there
mkdir -p "$here" "$there"
make() {
	"$t_helper/make-session" "$@" >/dev/null
}
a=aaaaaaaa-0000-4000-8000-000000000001
b=bbbbbbbb-0000-4000-8000-000000000002
c=01a00000-0000-7000-8000-000000000003
t_setenv 'FADEN_CLOCK=2026-03-10T00:00:00Z'
cd "$here" || exit 1

t_exit 'list fails where no agent ever was' 1 t_faden list
t_like 'list says that there are no sessions' "$(cat "$t_err")" 'no sessions'
t_exit 'list --json fails where no agent ever was' 1 t_faden list --json
t_is 'list --json of nothing is an empty array' "$(cat "$t_out")" '[]'

make claude "$claude" "$here" "$a" --time 2026-03-01T10:00:00Z 'first words here' 'and more'
make claude "$claude" "$there" "$b" --time 2026-03-02T10:00:00Z --title 'Over there' 'elsewhere'
make codex "$codex" "$here" "$c" --time 2026-03-03T10:00:00Z --title 'Green door' 'codex words'

t_exit 'list shows the sessions of this folder' 0 t_faden list
t_is 'the list is newest first and tab-separated' "$(cut -f 2-6,8 "$t_out")" \
	"$c	codex	2026-03-03T10:00:07.000Z	1	$(cat "$codex"/sessions/*/*/*/*.jsonl | wc -c)	Green door
$a	claude	2026-03-01T10:00:08.000Z	2	$(cat "$claude"/projects/*/$a.jsonl | wc -c)	first words here"
t_exit '--all lists all folders' 0 t_faden list --all -F '{id}'
t_is '--all lists this folder first' "$(cat "$t_out")" "$c
$a
$b"
t_exit '--agent lists one agent' 0 t_faden list --all --agent claude -F '{id}'
t_is '--agent lists only the sessions of that agent' "$(cat "$t_out")" "$a
$b"
t_exit '--since takes a date' 0 t_faden list -a --since 2026-03-02 -F '{id}'
t_is '--since a date leaves out what is older' "$(cat "$t_out")" "$c
$b"
t_exit '--since takes a span' 0 t_faden list -a --since 7d -F '{id}'
t_is '--since a span counts from now' "$(cat "$t_out")" "$c"
t_exit 'nothing since then is a failure' 1 t_faden list -a --since 1h
t_exit 'a since that is none is refused' 2 t_faden list --since whenever
t_setenv 'TZ=XXX-14'
t_exit '--since takes a day' 0 t_faden list -a --since 2026-03-04 -F '{id}'
t_is 'a day is one of the local calendar' "$(cat "$t_out")" "$c"
t_setenv 'TZ=UTC'
t_setenv 'FADEN_CLOCK=2026-03-03T12:00:00Z'
t_is '--since today lists what is of today' "$(t_faden list -a --since today -F '{id}')" "$c"
t_is '--since yesterday lists what is of both days' "$(t_faden list -a --since yesterday -F '{id}' | wc -l)" 2
t_setenv 'FADEN_CLOCK=2026-03-10T00:00:00Z'
t_exit 'a text that fits none is a failure' 1 t_faden list no such
t_like 'the text that fits none is named' "$(cat "$t_err")" "^faden: no sessions in this folder: none matches 'no such'; --all shows"
t_exit 'a question that fits none is a failure' 1 t_faden list --all --agent claude --since 1h
t_is 'the question that fits none is told' "$(cat "$t_err")" 'faden: no sessions of claude since 1h'
t_exit 'an agent without sessions is refused' 2 t_faden list --agent exec
t_like 'an agent without sessions is called so' "$(cat "$t_err")" 'agent exec keeps no session; there are those of claude, codex and rehearsal'
t_exit 'an agent that is none is refused' 2 t_faden list --agent foo
t_like 'an agent that is none is named with the known ones' "$(cat "$t_err")" "no agent 'foo'; there are claude, codex and rehearsal"
t_like 'the fields are in the help' "$(t_faden list --help)" '^  prompt +first words of the user'
t_exit '-n limits the list' 0 t_faden list -a -n 2 -F '{id}'
t_is '-n 2 lists two' "$(wc -l <"$t_out")" 2
t_exit 'a text filters the list' 0 t_faden list -a over there -F '{name}'
t_is 'a text is looked for in the name' "$(cat "$t_out")" 'Over there'
t_exit '--sort sorts the list' 0 t_faden list -a --sort turns -n 1 -F '{turns}'
t_is '--sort turns puts the most turns first' "$(cat "$t_out")" 2
t_is 'one order is that of all folders' "$(t_faden list -a --sort name -F '{name}' | tr '\n' ,)" 'Green door,Over there,,'
t_is 'also of the most recent' "$(t_faden list -a --sort recent -F '{id}' | tr '\n' ' ')" "$c $b $a "
t_is 'without --all it is that of this folder' "$(t_faden list --sort turns -F '{id}' | tr '\n' ' ')" "$a $c "
t_exit 'an unknown field is refused' 2 t_faden list -F '{nome}'
t_like 'an unknown field is named with the known ones' "$(cat "$t_err")" 'name'
fields=$(sed -n 's/.*there are: //p' "$t_err" | tr -d ,)
for field in $fields; do
	grep -q "^\.It $field Ta" "$t_root/docs/man/list.mdoc" || echo "$field"
done >"$t_tmp/undocumented"
t_like 'there are many fields' "$fields" 'id short .* current'
t_is 'each field is in the man page' "$(cat "$t_tmp/undocumented")" ''

t_exit 'list --json lists' 0 t_faden list --all --json
t_ok 'the JSON has all that was asked for' python3 - "$t_out" "$there" <<'END'
import json, sys
rows = json.load(open(sys.argv[1]))
row = next(r for r in rows if r["name"] == "Over there")
assert row["agent"] == "claude" and row["turns"] == 1 and row["directory"] == sys.argv[2]
assert row["first_prompt"] == "elsewhere" and row["active_at"] == "2026-03-02T10:00:04.000Z"
assert row["live"] is False and row["parent"] is None and row["size_bytes"] > 0
assert len(rows) == 3
END

t_is 'complete sessions gives a shell the sessions' "$(t_faden complete sessions | head -n 2)" "$c	codex Green door
Green door	codex $c"
# what another process writes now
sleep 1000 &
t_pids="$t_pids $!"
mkdir -p "$claude/sessions"
start=$(sed 's/.*) //' "/proc/$!/stat" | cut -d ' ' -f 20)
printf '{"pid":%d,"sessionId":"%s","procStart":"%s"}' "$!" "$a" "$start" >"$claude/sessions/$!.json"
printf '{"pid":%d,"sessionId":"%s","procStart":"1"}' "$!" "$b" >"$claude/sessions/1.json"
t_is 'a live session is marked' "$(t_faden list -a -F '{live}{short}' | sort)" "01a00000-0000
bbbbbbbb
liveaaaaaaaa"

# growth, loss
line='{"type":"user","uuid":"x","message":{"content":"third"}}'
echo "$line" >>"$(echo "$claude"/projects/*/$a.jsonl)"
t_is 'a session that has grown is read again' "$(t_faden list -F '{turns}' first)" 3
printf '%s' '{"type":"user","uuid":"y","mess' >>"$(echo "$claude"/projects/*/$a.jsonl)"
t_is 'a half-written last line counts for nothing' "$(t_faden list -F '{turns}' first)" 3
mv "$codex/sessions" "$codex/moved"
t_is 'a session that vanished is not listed' "$(t_faden list -a -F '{agent}')" 'claude
claude'
t_is 'a session that vanished and is not in the archive is marked in the table of --gone' "$(t_faden list -a --gone | cut -f 1 | sort -u | tr -d '\n!')" X
t_is '--gone --json says which are gone' "$(t_faden list -a --gone --json | grep -c '"gone":true')" 1
mv "$codex/moved" "$codex/sessions"
t_is 'a session that comes back is listed' "$(t_faden list -a -F '{agent}' | sort -u | tr '\n' ' ')" 'claude codex '

# nothing of ours can be written, or read
t_exit 'a state folder that is a file is no failure' 0 t_faden --state "$claude/sessions/1.json" list -a -F '{id}'
t_is 'the list is whole without a state folder' "$(wc -l <"$t_out")" 3
t_like 'the missing state folder is a warning' "$(cat "$t_err")" 'warning'
rm -rf "$claude/projects"
ln -s projects "$claude/projects"
t_exit 'a home that cannot be read is no failure' 0 t_faden list -a -F '{agent}'
t_like 'a home that cannot be read is named' "$(cat "$t_err")" 'warning: .*/projects'
t_like 'the sessions of other homes are listed' "$(cat "$t_out")" codex

# a hostile name cannot reach the terminal
esc=$(printf '\033')
make codex "$codex" "$here" "$c" 'title ]0;owned and more'
sed -i "s/title /title \\\\u001b/" "$codex"/sessions/*/*/*/*.jsonl
t_unlike 'no escape sequence gets through' "$(t_faden list)" "$esc"

mkdir "$t_tmp/vanishes" && cd "$t_tmp/vanishes" && rmdir "$t_tmp/vanishes"
t_exit 'list works in a folder that is gone' 0 t_faden list --all -F '{agent}'
t_like '--all lists from a folder that is gone' "$(cat "$t_out")" codex
cd "$here" || exit 1

# a session counts whatever time its file has; a disk may know fewer years than these
rm -rf "$t_home/.local" "$claude" "$codex"
ids=
for time in 1601-01-01 1960-01-01 @-1 @0 2300-01-01 9999-01-01; do
	id=dddddddd-0000-4000-8000-00000000000$(printf %s "$ids" | wc -w)
	ids="$ids $id"
	make claude "$claude" "$there" "$id" "a heron by the ${time#@}th pond"
	touch -d "$time" "$claude"/projects/*/"$id".jsonl
done
every() {
	# shellcheck disable=SC2086 # words
	printf '%s\n' $ids
}
for turn in first second; do
	t_exit "sessions of any time are listed, the $turn time" 0 t_faden list --all -F '{id}'
	t_is "all of them, the $turn time" "$(sort "$t_out")" "$(every)"
	t_exit "they are found, the $turn time" 0 t_faden search --all --json heron
	t_is "all of them are found, the $turn time" "$(grep -o 'dddddddd-[0-9-]*' "$t_out" | sort -u)" "$(every)"
	t_exit "they are archived, the $turn time" 0 t_faden archive --json
	t_like "each once, the $turn time" "$(cat "$t_out")" "\"taken_files\":$([ $turn = first ] && echo 6 || echo 0),"
done
for id in $ids; do
	t_exit "a session of any time is shown: $id" 0 t_faden show "$id"
	t_like "with what was said: $id" "$(cat "$t_out")" 'heron'
done
make claude "$claude" "$here" "$a" 'first words here'
make codex "$codex" "$here" "$c" 'codex words'

# two at once, from nothing
rm -rf "$t_home/.local/state/faden"
t_faden list -a >"$t_tmp/one" 2>&1 &
t_faden list -a >"$t_tmp/two" 2>&1
wait $!
t_ok 'two lists at the same time are the same' cmp "$t_tmp/one" "$t_tmp/two"
t_done
