#!/bin/sh
# faden lineage: where a session comes from and what came of it.
. "$(dirname "$0")/../lib.sh"

claude=$t_home/.claude
codex=$t_home/.codex
here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1
a=aaaaaaaa-0000-4000-8000-000000000001
b=bbbbbbbb-0000-4000-8000-000000000002
c=cccccccc-0000-4000-8000-000000000003
d=01a00000-0000-7000-8000-000000000004
# Each session has records of its own: the same first one would make them forks.
make() {
	made=$("$t_helper/make-session" "$@")
	sed -i "s/00000000-0000-4000-8000-/${4%%-*}-1111-4000-8000-/g" "$made"
	echo "$made"
}
# note FILE JSON-MEMBER: adds a member to the first line.
note() {
	sed -i "1s|}\$|,$2}|" "$1"
}
fa=$(make claude "$claude" "$here" "$a" --time 2026-03-01T10:00:00Z 'first words')
fb=$(make claude "$claude" "$here" "$b" --time 2026-03-02T10:00:00Z 'second words')
fc=$(make claude "$claude" "$here" "$c" --time 2026-03-03T10:00:00Z 'third words')
fd=$(make codex "$codex" "$here" "$d" --time 2026-03-04T10:00:00Z 'fourth words')

t_exit 'a session without a family has a lineage' 0 t_faden lineage "$a"
t_is 'a session without a family is alone' "$(wc -l <"$t_out")" 1
t_exit 'its lineage is there as JSON' 0 t_faden lineage --json "$a"
t_ok 'the JSON has that session alone' python3 - "$t_out" "$a" <<'END'
import json, sys
doc = json.load(open(sys.argv[1]))
assert doc["session_id"] == doc["root_id"] == sys.argv[2] and doc["chain"] == [sys.argv[2]]
assert len(doc["sessions"]) == 1 and doc["sessions"][0]["parent"] is None
END

note "$fb" "\"trim_metadata\":{\"parent_file\":\"$fa\"}"
note "$fc" "\"continue_metadata\":{\"parent_session_file\":\"$fb\",\"parent_session_id\":\"$b\"}"
note "$fd" "\"faden_metadata\":{\"relation\":\"ported\",\"parent_file\":\"$fb\",\"parent_id\":\"$b\"}"
t_exit 'a family is found by a fragment' 0 t_faden lineage cccc --json
t_exit 'a family is found by an id' 0 t_faden lineage --json "$c"
t_ok 'the JSON has the chain and its branches' python3 - "$t_out" "$a" "$b" "$c" "$d" <<'END'
import json, sys
doc = json.load(open(sys.argv[1]))
a, b, c, d = sys.argv[2:]
assert doc["chain"] == [a, b, c], doc["chain"]
how = lambda s: s["parent"] and s["parent"]["relation"]
assert [(s["session_id"], how(s), s["depth"], s["this"]) for s in doc["sessions"]] == [
    (a, None, 0, False), (b, "trimmed", 1, False), (c, "continued", 2, True),
    (d, "ported", 2, False)], doc["sessions"]
assert all(s["state"] == "here" and not s["circle"] for s in doc["sessions"])
END
t_exit 'a family is shown to people' 0 t_faden lineage "$c"
t_like 'the root is shown first' "$(cat "$t_out")" "^$a .*first words"
t_like 'its child is shown below with how it was made' "$(cat "$t_out")" "^└─ trimmed  $b"
t_like 'the session itself is marked' "$(cat "$t_out")" "^   ├─ continued  $c .*<- this session"
t_like 'its brother of another agent is shown' "$(cat "$t_out")" "^   └─ ported  $d +codex"
t_is 'what follows the ids stands in columns' \
	"$(python3 -c 'import sys; print(len({line.index("  2026-") for line in open(sys.argv[1], encoding="utf-8")}))' "$t_out")" 1
t_exit '--chain is taken' 0 t_faden lineage --chain "$c"
t_is '--chain shows only the way to the root' "$(wc -l <"$t_out")" 3

# what a moved file left behind is not a second session
ids() {
	python3 -c 'import json, sys; print(*[s["session_id"][0] for s in json.load(open(sys.argv[1]))["sessions"]])' "$t_out"
}
mkdir -p "$claude/projects/-other"
mv "$fb" "$claude/projects/-other/"
for asked in "$c" "$a" "$b"; do
	t_exit 'a session between that was moved is no failure' 0 t_faden lineage --json "$asked"
	t_is 'a session between that was moved is there once' "$(ids)" 'a b c 0'
done
t_exit '--dot of a moved session is taken' 0 t_faden lineage --dot "$c"
t_is '--dot has a moved session once' "$(grep -c 'label="bbbbbbbb' "$t_out")" 1
mv "$claude/projects/-other/$b.jsonl" "$fb"

mv "$fa" "$t_tmp/away"
t_exit 'a parent whose file is gone is no failure' 0 t_faden lineage "$b"
t_like 'a parent whose file is gone is shown as gone' "$(cat "$t_out")" "^$a.*its file is gone"
for asked in "$a" aaaaaaaa "$fa"; do
	t_exit 'a session that is gone is found by what it was called' 0 t_faden lineage "$asked"
	t_like 'a session that is gone is marked' "$(cat "$t_out")" "^$a.*<- this session  \[its file is gone"
	t_is 'a session that is gone shows all that came of it' "$(wc -l <"$t_out")" 4
	for command in advise repair show trim resume; do
		t_exit "$command fails for a session that is gone" 1 t_faden $command "$asked"
		t_like "$command says that the session is gone" "$(cat "$t_err")" "the file of session $a is gone \(~/.*\); the archive has no copy of it"
	done
done
t_exit 'a name that is none is not found' 1 t_faden lineage nobody
mkdir -p "$claude/projects/-elsewhere"
mv "$t_tmp/away" "$claude/projects/-elsewhere/$a.jsonl"
t_exit 'a parent that was moved is no failure' 0 t_faden lineage "$b"
t_like 'a parent that was moved is found by its id' "$(cat "$t_out")" "^$a.*moved here from $fa"
rm -r "$claude/projects/-elsewhere" "$t_home/.local/state/faden"
t_exit 'a parent that nobody knows is no failure' 0 t_faden lineage "$b"
t_like 'a parent that nobody knows is called missing' "$(cat "$t_out")" "^$a  \[missing: $fa\]"
t_exit 'a missing parent has a lineage itself' 0 t_faden lineage "$a"
t_like 'a missing parent is known by its children' "$(cat "$t_out")" "^$a  <- this session  \[missing: $fa\]"
t_is 'all children of a missing parent are there' "$(wc -l <"$t_out")" 4
t_exit 'a missing parent is no failure of --json' 0 t_faden lineage --json "$b"
t_is '--json tells a missing parent without prose' "$(python3 -c 'import json,sys; print([s["state"] for s in json.load(open(sys.argv[1]))["sessions"]][:2])' "$t_out")" "['missing', 'here']"

fa=$(make claude "$claude" "$here" "$a" 'first words')
note "$fa" "\"trim_metadata\":{\"parent_file\":\"$fc\"}"
t_exit 'a circle is no failure' 0 t_faden lineage "$b"
t_like 'a circle is named' "$(cat "$t_out")" 'a circle'
t_is 'a circle shows every session once' "$(wc -l <"$t_out")" 4

# children that were made later than their records; siblings in the order of their making
rm "$fa" "$fb" "$fc" "$fd"
rm -r "$t_home/.local/state/faden"
fa=$(make claude "$claude" "$here" "$a" --time 2026-03-01T10:00:00Z 'first words')
fb=$(dirname "$fa")/$b.jsonl
fc=$(dirname "$fa")/$c.jsonl
cp "$fa" "$fb"
cp "$fa" "$fc"
note "$fb" "\"trim_metadata\":{\"parent_file\":\"$fa\",\"trimmed_at\":\"2026-03-08T10:00:00Z\",\"stats\":{\"tokens_saved\":12345}}"
note "$fc" "\"trim_metadata\":{\"parent_file\":\"$fa\",\"trimmed_at\":\"2026-03-07T10:00:00Z\",\"trim_params\":{\"method\":\"smart-trim\"}}"
fd=$(make codex "$codex" "$here" "$d" --time 2026-03-04T10:00:00Z 'fourth words')
note "$fd" "\"continue_metadata\":{\"parent_session_file\":\"$fa\"}"
t_exit 'the children of one parent are there as JSON' 0 t_faden lineage --json "$a"
t_ok 'each child has how and when it was made' python3 - "$t_out" "$a" "$b" "$c" "$d" <<'END'
import json, sys
doc = json.load(open(sys.argv[1]))
a, b, c, d = sys.argv[2:]
how = lambda s: s["parent"] and s["parent"]["relation"]
assert [(s["session_id"], how(s), s["made_at"][:10], s["saved_tokens"]) for s in doc["sessions"]] == [
    (a, None, "2026-03-01", None), (d, "ported", "2026-03-04", None),
    (c, "smart-trimmed", "2026-03-07", None), (b, "trimmed", "2026-03-08", 12345)], doc["sessions"]
END
t_exit 'the children of one parent are shown to people' 0 t_faden lineage "$a"
t_like 'a trimmed child tells what was saved' "$(cat "$t_out")" "^└─ trimmed  $b +claude  2026-03-08 .*  12,345 tokens less  first words"
t_like 'a smart-trimmed child tells how it was made' "$(cat "$t_out")" "^├─ smart-trimmed  $c  claude  2026-03-07 "

# every row fits a terminal, whatever its width; other locales get no lines
rm "$fa" "$fb" "$fc" "$fd"
rm -r "$t_home/.local/state/faden"
before=
for n in 1 2 3 4 5 6 7 8; do
	made=$(make claude "$claude" "$here" "eeeeeee$n-0000-4000-8000-00000000000$n" "a title that is long, as first words often are, number $n")
	[ -z "$before" ] || note "$made" "\"trim_metadata\":{\"parent_file\":\"$before\",\"trim_params\":{\"method\":\"smart-trim\"},\"stats\":{\"tokens_saved\":123456}}"
	before=$made
done
mkdir -p "$claude/projects/-other"
mv "$(dirname "$made")"/eeeeeee4-* "$claude/projects/-other/"
widest() { python3 -c 'import sys; print(max(len(line.rstrip("\r\n")) for line in open(sys.argv[1], encoding="utf-8")))' "$t_out"; }
on_tty() { t_run script -qec "stty cols $1; $FADEN --color never lineage eeeeeee8" /dev/null </dev/null; }
if command -v script >/dev/null; then
	t_tools script
	for columns in 120 80 60 40; do
		t_exit "lineage is shown on $columns columns" 0 on_tty $columns
		t_ok "no line is wider than $columns columns" test "$(widest)" -le $columns
		t_is "all sessions are there on $columns columns" "$(grep -c 'eeeeeee[1-8]' "$t_out")" 8
		t_like "the session is marked on $columns columns" "$(cat "$t_out")" 'eeeeeee8.*<-'
	done
	t_exit 'lineage is shown where few were made' 0 t_run script -qec "stty cols 80; $FADEN --color never lineage --chain eeeeeee2" /dev/null </dev/null
	t_like 'the mark is whole, and the title can be read' "$(cat "$t_out")" 'a title that [^<]*…  <- this session'
	t_like 'what else has room is told' "$(cat "$t_out")" 'eeeeeee2  20[0-9-]+ [0-9:]+  a title'
	t_setenv LANG=C
	t_exit 'lineage is shown on a terminal without UTF-8' 0 on_tty 80
	t_is 'a terminal without UTF-8 gets ASCII' "$(LC_ALL=C grep -c '[^ -~[:cntrl:]]' "$t_out")" 0
	t_ok 'no line is wider than the terminal without UTF-8' test "$(widest)" -le 80
	t_setenv LANG=C.UTF-8
else
	t_skip 'lineage is shown on a terminal' 'script is not installed'
fi
t_setenv LANG=C
t_exit 'lineage is shown in a file without UTF-8' 0 t_faden lineage eeeeeee8
t_is 'a file without UTF-8 gets ASCII' "$(LC_ALL=C grep -c '[^ -~]' "$t_out")" 0
t_like 'ASCII has branches' "$(cat "$t_out")" '^`- smart-trimmed  eeeeeee2'
t_setenv LANG=C.UTF-8
rm -r "$claude/projects/-other" "$(dirname "$made")"/eeeeeee* "$t_home/.local/state/faden"
# a fork of Claude Code: the same records, its own time
rm -rf "$t_home/.local/state/faden"
fa=$(make claude "$claude" "$here" "$a" 'first words')
fb=$(dirname "$fa")/$b.jsonl
{ echo '{"type":"queue-operation","operation":"enqueue","timestamp":"2026-03-09T10:00:00Z"}'; cat "$fa"; } >"$fb"
t_exit 'a fork that does not say so is no failure' 0 t_faden lineage "$b"
t_like 'a fork that does not say so is known by its beginning' "$(cat "$t_out")" "^└─ forked  $b.*by its beginning"

t_exit '--dot is taken' 0 t_faden lineage --dot "$b"
t_like '--dot is in the language of Graphviz' "$(cat "$t_out")" '^digraph lineage'
t_exit '--svg without Graphviz fails' 1 t_faden lineage --svg "$b"
t_like '--svg without Graphviz says what is missing' "$(cat "$t_err")" 'Graphviz.*not installed'
if command -v dot >/dev/null; then
	t_tools dot
	t_exit '--svg is taken' 0 t_faden lineage --svg "$b"
	t_like '--svg is a picture' "$(cat "$t_out")" '</svg>'
	rm -f "$t_bin/dot"
else
	t_skip '--svg is a picture' 'Graphviz is not installed'
fi
printf '#!/bin/sh\necho "no luck" >&2\nexit 1\n' >"$t_bin/dot"
chmod +x "$t_bin/dot"
t_exit '--svg fails when Graphviz does' 3 t_faden lineage --svg "$b"
t_like 'the words of Graphviz are quoted' "$(cat "$t_err")" 'no luck'
t_exit '--svg and --dot exclude each other' 2 t_faden lineage --svg --dot "$b"
t_exit 'there is no lineage where nothing ever happened' 1 t_elsewhere lineage
t_exit 'the lineage of a session that is not there fails' 1 t_faden lineage nobody
t_exit 'a failure of --json has its status' 1 t_faden lineage --json nobody
t_is 'a failure of --json is one object' "$(python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(list(d), d["error"]["code"])' "$t_out")" "['error'] not-found"

# a parent of which only the id is known has no children but those that name it
f=$(make codex "$codex" "$here" 01a00000-0000-7000-8000-000000000021 'a fork')
sed -i '1s/"payload": *{/&"forked_from_id":"01a00000-0000-7000-8000-000000000020",/' "$f"
for asked in 01a00000-0000-7000-8000-000000000021 01a00000-0000-7000-8000-000000000020; do
	t_exit 'a child of a parent that nobody knows is no failure' 0 t_faden lineage "$asked"
	t_is 'a child of a parent that nobody knows is its only one' "$(wc -l <"$t_out")" 2
done
t_done
