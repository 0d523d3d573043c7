#!/bin/sh
# What lies in a session's own folder belongs to it: big results of tools in files of their own, and
# what sub-agents leave. Searched, archived, brought back, deleted and forgotten with the session.
. "$(dirname "$0")/../lib.sh"

here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1
a=aaaaaaaa-0000-4000-8000-000000000001
b=aaaaaaaa-0000-4000-8000-000000000002
fa=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$a" 'the kumquat tree bears fruit')
fb=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$b" 'the loquat tree bears fruit')
project=$(dirname "$fa")
beside=$project/$a
mkdir -p "$beside/subagents/deeper" "$beside/tool-results"
sed 's/kumquat/quince/' "$fa" >"$beside/subagents/agent-7.jsonl"
printf '{"agentType":"general-purpose","spawnDepth":1}' >"$beside/subagents/agent-7.meta.json"
printf 'deep' >"$beside/subagents/deeper/x.zst"
{
	seq 1 20000
	echo 'and the carambola at the end'
} >"$beside/tool-results/b8rh2.txt"
printf '\000\377\n{"type":"user"}\n' >"$beside/tool-results/data.jsonl"
printf '[{"type":"text","text":"one\\nfeijoa\\ttwo"}]' >"$beside/tool-results/mcp.json"

# stub FILE NAME…: lines in a session that stand for results in files of their own.
stub() {
	python3 - "$@" <<'END'
import json, sys
path = sys.argv[1]
with open(path, "a") as f:
    for i, name in enumerate(sys.argv[2:]):
        said = f"<persisted-output>\nOutput too large (106.3KB). Full output saved to: {name}\n\nPreview (first 2KB):\n1\n2\n"
        f.write(json.dumps({"type": "user", "uuid": f"11110000-0000-4000-8000-00000000000{i}", "parentUuid": None,
            "timestamp": "2026-03-01T10:00:00.000Z", "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": f"t{i}", "content": said}]}}) + "\n")
END
}
echo 'no pitahaya of others' >"$t_tmp/outside.txt"
ln -s "$t_tmp/outside.txt" "$beside/tool-results/link.txt"
stub "$fa" "/elsewhere/$a/tool-results/b8rh2.txt" "$beside/tool-results/mcp.json" \
	"$beside/tool-results/link.txt" "$beside/tool-results/../../../x" "$t_tmp/outside.txt" "$beside/tool-results/late.txt"
mkdir -p "$project/$b"
ln -s "$beside/tool-results" "$project/$b/tool-results"
stub "$fb" "$project/$b/tool-results/b8rh2.txt"
mkdir -p "$project/memory" && echo 'x' >"$project/memory/notes.md"
cp -r "$project" "$t_tmp/before"

# hits WORD: kinds of message, with the session and whether it is gone.
hits() {
	t_faden search --json "$1" | python3 -c 'import json, sys
print(*sorted({(x["session_id"][-1], x["role"], x["gone"]) for x in json.load(sys.stdin)}))'
}

# --- searched ---
t_exit 'all is indexed' 0 t_faden index
t_is 'what only the file beside it has is found, in that session alone' "$(hits carambola)" "('1', 'result', False)"
t_exit 'it is shown' 0 t_faden search carambola
t_like 'with its words' "$(cat "$t_out")" 'and the carambola at the end'
t_like 'the message is the one that stands for it' "$(t_faden search --json carambola)" \
	"\"offset_bytes\":$(grep -b -m 1 persisted "$fa" | cut -d : -f 1)[,}]"
t_is 'JSON is read as what it says' "$(hits feijoa)" "('1', 'result', False)"
t_is 'no link is followed, and no way out of the folder' "$(hits pitahaya)" ''
t_exit 'again, nothing is read' 0 t_faden index --json
t_like 'no file' "$(cat "$t_out")" '"files_read":0'
echo 'the rambutan came late' >"$beside/tool-results/late.txt"
t_exit 'one that comes later is seen' 0 t_faden index --json
t_like 'by its mark' "$(cat "$t_out")" '"files_read":1'
t_is 'and found' "$(hits rambutan) $(hits kumquat | tr -s ' ')" "('1', 'result', False) ('1', 'assistant', False) ('1', 'user', False)"
t_exit 'once' 0 t_faden index --json
t_like 'no file again' "$(cat "$t_out")" '"files_read":0'
t_exit 'the index is sound' 0 t_faden index --check
t_exit 'the cap is a setting' 0 t_faden config set search.result_kb 1
t_exit 'it counts' 0 t_faden index --rebuild
t_is 'what is beyond it is not found' "$(hits carambola)" ''
t_exit 'as it was' 0 t_faden config set search.result_kb 256
t_exit 'anew' 0 t_faden index --rebuild
cp "$beside/tool-results/late.txt" "$t_tmp/before/$a/tool-results/"

# --- archived ---
# same: what there is of the first session, against what there was; no links, they are nobody's.
same() {
	(cd "$t_tmp/before" && find "$a" "$a.jsonl" -type f | while read -r f; do cmp "$f" "$project/$f" 2>&1; done)
}
t_exit 'all is archived' 0 t_faden archive --json
t_like 'nothing is trouble' "$(cat "$t_out")" '"troubles":0'
t_exit 'it is sound' 0 t_faden archive verify
t_exit 'again' 0 t_faden archive --json
t_like 'nothing is taken twice' "$(cat "$t_out")" '"taken_files":0'
t_exit 'what is kept is listed' 0 t_faden archive list "$a" --json
t_like 'the results too' "$(cat "$t_out")" 'tool-results/b8rh2.txt'
cp "$beside/subagents/agent-7.meta.json" "$t_tmp/meta"
printf '{}' >"$beside/subagents/agent-7.meta.json"
t_exit 'one that is written anew, shorter, is no torn session' 0 t_faden archive
t_is 'nothing is said' "$(cat "$t_err")" ''
cp "$beside/subagents/agent-7.meta.json" "$t_tmp/before/$a/subagents/agent-7.meta.json"
rm -r "$fa" "$beside"
t_exit 'all of it goes' 0 t_faden index
t_is 'it is found as it was' "$(hits carambola) $(hits rambutan)" "('1', 'result', True) ('1', 'result', True)"
t_exit 'for people' 0 t_faden search carambola
t_like 'with its words' "$(cat "$t_out")" 'and the carambola at the end'
t_exit 'the index is made anew' 0 t_faden index --rebuild
t_is 'from what the archive has' "$(hits carambola) $(hits feijoa)" "('1', 'result', True) ('1', 'result', True)"
t_is 'what only looks like a session is none' "$(t_faden list --gone --all --subagents -F '{id}' | sort | tr '\n' ' ')" "$a $b agent-7 "
t_exit 'it comes back' 0 t_faden archive restore "$a"
t_is 'every byte of it' "$(same)" ''
t_is 'all of it is named' "$(wc -l <"$t_out")" 8
t_is 'and only its owner may read it' "$(find "$fa" "$beside" -type f ! -perm 600)" ''
t_exit 'the index learns it' 0 t_faden index
t_is 'it is there' "$(hits carambola)" "('1', 'result', False)"

# --- deleted ---
t_exit 'what would go is said' 0 t_faden delete --dry-run --json "$a"
t_like 'with all of its files' "$(cat "$t_out")" '"files":8'
ln -s "$t_tmp/outside.txt" "$beside/tool-results/link.txt"
t_exit 'it is deleted' 0 t_faden delete -y --json "$a"
t_like 'with what lies beside it' "$(cat "$t_out")" '"files":8'
t_is 'but for a link, which is nobody'\''s' "$(find "$project/$a"* ! -type d)" "$beside/tool-results/link.txt"
t_ok 'what it leads to stays' test -s "$t_tmp/outside.txt"
t_ok 'and what is the project'\''s' test -s "$project/memory/notes.md"
rm "$beside/tool-results/link.txt"
t_exit 'back again' 0 t_faden archive restore "$a"
t_is 'every byte' "$(same)" ''
t_exit 'deleted once more' 0 t_faden delete -y "$a"
t_ok 'nothing is left of its folder' test ! -e "$beside"
t_ok 'the other is untouched' cmp "$fb" "$t_tmp/before/$b.jsonl"

# --- forgotten ---
t_exit 'back, for the last time' 0 t_faden archive restore "$a"
kept=$(t_faden archive list "$a" | wc -l)
t_exit 'the work of a sub-agent alone is forgotten' 0 t_faden delete -y --forget "$beside/subagents/agent-7.jsonl"
t_is 'the rest of the session is kept' "$(t_faden archive list "$a" | wc -l)" $((kept - 1))
t_ok 'and there' test -s "$fa" -a -s "$beside/tool-results/b8rh2.txt" -a ! -e "$beside/subagents/agent-7.jsonl"
t_exit 'it is forgotten' 0 t_faden delete -y --forget --json "$a"
t_like 'with all that was kept of it' "$(cat "$t_out")" '"kept_files":8'
t_exit 'of what was kept' 0 t_faden archive list --json
t_is 'the other is left' "$(grep -c archive_key "$t_out")" 1
t_is 'and nothing is found' "$(hits carambola)$(hits kumquat)$(hits quince)" ''
mkdir -p "$project/$b.d" && rm "$project/$b/tool-results" && mkdir "$project/$b/tool-results"
echo 'the salak of the other' >"$project/$b/tool-results/b8rh2.txt"
t_exit 'the other has a result of that name' 0 t_faden index
t_is 'found there' "$(hits salak)" "('2', 'result', False)"
t_exit 'it is forgotten at once' 0 t_faden delete -y --forget "$b"
t_ok 'with its folder' test ! -e "$project/$b"
t_ok 'and no other' test -d "$project/$b.d"
t_is 'no byte of it is left' "$(grep -rl salak "$t_home" 2>/dev/null)" ''

# --- deep ---
deep=$project/$a/$(printf 'd/%.0s' $(seq 30))
mkdir -p "$deep"
cp "$t_tmp/before/$a.jsonl" "$fa"
echo 'a tamarillo' >"$deep/file"
t_exit 'what lies deep is archived' 0 t_faden archive
t_exit 'deleted' 0 t_faden delete -y "$a"
t_ok 'with its folder' test ! -e "$project/$a"
t_exit 'and comes back' 0 t_faden archive restore "$a"
t_is 'as it was' "$(cat "$deep/file")" 'a tamarillo'
mkdir -p "$deep/d/d/d/d"
echo 'a cherimoya' >"$deep/d/d/d/d/file"
t_exit 'what lies deeper than anything may is said' 3 t_faden archive
t_like 'which' "$(cat "$t_err")" "$a has folders that lie more than 32 deep"
for how in '' --forget; do
	# shellcheck disable=SC2086 # nothing, or one word
	t_exit "nothing of it is deleted $how" 3 t_faden delete -y $how "$a"
	t_like "for that reason $how" "$(cat "$t_err")" 'more than 32 deep'
	# shellcheck disable=SC2086
	t_exit "and it stays when others go $how" 1 t_faden clean -y $how --all --older-than 1s
	t_like "which is said $how" "$(cat "$t_err")" "more than 32 deep.*session $a stays"
done
t_ok 'all is there' test -s "$deep/d/d/d/d/file" -a -s "$fa"
t_done
