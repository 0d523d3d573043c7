#!/bin/sh
# faden smart-trim: an agent chooses what a session no longer needs, and is not trusted.
. "$(dirname "$0")/../lib.sh"

claude=$t_home/.claude
codex=$t_home/.codex
here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1
a=aaaaaaaa-0000-4000-8000-000000000001
c=01a00000-0000-7000-8000-000000000003
fa=$("$t_helper/make-session" claude "$claude" "$here" "$a" 'one thing' 'two things' 'three things')
fc=$("$t_helper/make-session" codex "$codex" "$here" "$c" 'one thing' 'two things' 'three things')
long=$(head -c 4000 /dev/zero | tr '\0' 'y')
# The first results are long; numbers of texts: 1 prompt, 2 call, 3 result, 4 answer, 5 prompt …
sed -i "s/\"out 1\"/\"$long one\"/; s/\"out 2\"/[{\"type\":\"text\",\"text\":\"$long two\"}]/" "$fa"
sed -i "s/\"out 1\"/\"$long one\"/" "$fc"
t_setenv 'FADEN_CLOCK=2026-03-10T12:00:00Z'
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
files() { find "$claude" "$codex" "$t_home/.local" -type f ! -name '*.db*' ! -name '*.log' | sort; }
field() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$t_out" "$1"; }
# says TEXT: what the agent answers.
says() { printf '*\nsay %s\n' "$1" >"$t_tmp/script"; }
smart() { t_faden smart-trim --agent rehearsal --keep-recent 3 "$@"; }

t_exit '--digest is taken' 0 t_faden smart-trim --digest --keep-recent 3 -i 'keep the cats' "$a"
t_like 'the digest numbers what may go' "$(cat "$t_out")" '^#3 result of Bash, 4004 characters: yyy'
t_like 'the digest says what stays' "$(cat "$t_out")" '^#1 \(stays\) user, 9 characters: one thing$'
t_like 'the digest has the words of the user' "$(cat "$t_out")" 'keep the cats'
t_is 'the digest asks nobody' "$(files | grep -c handoff)" 0

sum=$(cksum "$fa" "$fc")
all=$(files)
says '{"trim":[{"number":3,"reason":"old","summary":"it was all y"}]}'
t_exit '--dry-run is taken' 0 smart --dry-run "$a"
t_is '--dry-run makes nothing' "$(files)" "$all"
t_like '--dry-run shows the choice' "$(cat "$t_out")" 'line 3, tool_result of 4004 characters: old'
t_like '--dry-run says how sure the figures are' "$(cat "$t_out")" '^It would save [0-9,]+ of [0-9,]+ tokens \((fitted|assumed)\), leaving'

says '{"trim":[{"number":3,"reason":"old","summary":"it was all y"},{"number":7,"reason":"x","summary":"the second"},{"number":1,"summary":"s"},{"number":99,"summary":"s"},{"number":12,"summary":"s"},7]}'
t_exit 'smart-trim makes a session' 0 smart --json "$a"
t_ok 'what was named is replaced in a new session' python3 - "$t_out" "$fa" <<'END'
import json, sys
doc = json.load(open(sys.argv[1]))
assert doc["replaced"] == 2 and doc["chosen_by"] == "rehearsal" and doc["saved"]["tokens"] > 0
assert [r["reason"] for r in doc["refused"]] == ["it is what the user said", "there is no such number",
    "it is too short to be worth it", "it is no object"], doc["refused"]
old = [json.loads(l) for l in open(sys.argv[2])]
new = [json.loads(l) for l in open(doc["path"])]
assert len(old) == len(new)
assert [l["uuid"] for l in old] == [l["uuid"] for l in new]
assert {l["sessionId"] for l in new} == {doc["session_id"]}
note = new[0]["trim_metadata"]
assert note["parent_file"] == sys.argv[2] and note["trim_params"]["method"] == "smart-trim"
assert note["stats"]["texts_summarised"] == 2
first = new[2]["message"]["content"][0]["content"]
assert first.startswith("it was all y\n\n[Summarised - original was 4004 characters] Original: faden recall "), first
second = new[6]["message"]["content"][0]["content"]
assert second[0]["type"] == "text" and second[0]["text"].startswith("the second\n\n["), second
assert new[6]["message"]["content"][0]["tool_use_id"] == old[6]["message"]["content"][0]["tool_use_id"]
assert all(u == 0 for l in new for u in l["message"].get("usage", {}).values())
END
new=$(field session_id)
t_is 'the parents are untouched' "$(cksum "$fa" "$fc")" "$sum"
python3 -c 'import json, sys; print(*[c["ref"] for c in json.load(open(sys.argv[1]))["chosen"]])' "$t_out" >"$t_tmp/refs"
read -r one two <"$t_tmp/refs"
t_is 'the first original can be recalled' "$(t_faden recall "$one")" "$long one"
t_is 'the second original can be recalled' "$(t_faden recall "$two")" "$long two"
t_exit 'the new session has a lineage' 0 t_faden lineage --chain "$new"
t_like 'the lineage says that it was smart-trimmed' "$(tail -n 1 "$t_out")" "smart-trimmed  $new"
t_unlike 'nothing of the question is kept' "$(files)" 'ask-|rehearsal/projects'

says 'Sure:\n```json\n{"trim":[{"number":3,"reason":"old","summary":"words"}]}\n```\nThat is all.'
t_exit 'smart-trim for people makes a session' 0 smart "$a"
t_like 'the command to go on is shown' "$(cat "$t_out")" '^  claude --resume '
t_like 'one text is not called texts' "$(cat "$t_out")" '^rehearsal replaced 1 text:$'
says '{"trim":[{"number":4,"reason":"old","summary":"words"}]}'
t_exit 'smart-trim makes a session of Codex' 0 smart --json "$c"
t_like 'a text of Codex is replaced' "$(cat "$(field path)")" '"output":"words\\n\\n\[Summarised - original was 4004 characters\]'
says '{"trim":[{"number":1,"summary":"s"}]}'
t_exit 'an answer that names only what is protected is refused' 1 smart "$a"
t_like 'it is said what was refused and why' "$(cat "$t_err")" 'refused: 1: it is what the user said'
t_exit 'such an answer is refused with --json' 1 smart --json "$a"
t_is 'the JSON of a refused answer names no session' "$(field session_id)" None
t_is 'the JSON of a refused answer has no figures' "$(field replaced) $(field before) $(field saved) $(field left)" \
	'None None None None'
says '{"trim":[]}'
t_exit 'an answer that names nothing makes nothing' 1 smart "$a"
for words in 'I would rather not.' '{"trim":[{"number":3,' '[1,2,3]' '{"trim":"all"}'; do
	says "$words"
	t_exit "an answer like $words is refused" 3 smart "$a"
	t_like "an answer like $words is said to be none" "$(cat "$t_err")" 'not the JSON asked for'
done
printf '*\nfail rate-limited try later\n' >"$t_tmp/script"
t_exit 'an agent that fails is a failure' 4 smart "$a"
t_like 'the words of an agent that fails are quoted' "$(cat "$t_err")" 'try later'
says '{"trim":[{"number":3,"summary":"\\u001b]0;owned\\u0007 all y"}]}'
t_exit 'a hostile summary is taken' 0 smart "$a"
t_is 'a hostile summary brings no escape sequence' "$(grep -c "$(printf '\033')" "$t_out")" 0
t_exit 'nothing to ask about when nothing is long enough' 1 smart --min-length 100000 "$a"
t_exit 'nothing to ask about when everything is recent' 1 t_faden smart-trim --agent rehearsal --keep-recent 100 "$a"
t_setenv 'FADEN_AI_EXEC_COMMAND=cat'
t_exit 'an agent that cannot be kept from its tools is refused' 3 t_faden smart-trim --keep-recent 3 --agent exec "$a"
t_like 'it is said why that agent is not asked' "$(cat "$t_err")" 'exec cannot be kept from using tools'
t_unsetenv FADEN_AI_EXEC_COMMAND
t_exit 'an unknown agent is refused' 2 t_faden smart-trim --keep-recent 3 --agent nobody "$a"
t_exit 'an agent that is not installed cannot be asked' 4 t_faden smart-trim --keep-recent 3 "$a"
t_like 'an agent that is not installed is named' "$(cat "$t_err")" 'claude.*not installed'
t_exit 'a session that is not there is not found' 1 smart nobody
t_exit 'smart-trim without a session fails where nothing goes on' 1 t_elsewhere smart-trim --agent rehearsal
t_like 'it is said that no session was begun here' "$(cat "$t_err")" 'no session was begun in this folder'
t_faden --agent rehearsal ask --new 'remember the milk' >/dev/null 2>&1
t_exit 'smart-trim without a session takes what goes on here' 1 smart
t_like 'what goes on here has nothing to trim' "$(cat "$t_err")" 'nothing to trim'
says '{"trim":[{"number":3,"summary":"s"}]}'
t_exit '--out below a folder that is missing is refused' 3 smart --out "$t_tmp/out/deep" "$a"
t_exit '--out makes a session in another folder' 0 smart --out "$t_tmp/out" "$a"
t_like 'the folder that was made is told' "$(cat "$t_err")" "^faden: made the folder $t_tmp/out$"
t_is 'the new session is in the other folder' "$(find "$t_tmp/out" -name '*.jsonl' | wc -l)" 1
t_exit 'a failure of --json has its status' 1 t_faden smart-trim --json nobody
t_is 'a failure of --json is one object' "$(python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(list(d), d["error"]["code"])' "$t_out")" "['error'] not-found"
t_done
