#!/bin/sh
# faden rollover: a fresh session that knows where the old one stood.
. "$(dirname "$0")/../lib.sh"

claude=$t_home/.claude
codex=$t_home/.codex
here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1
a=aaaaaaaa-0000-4000-8000-000000000001
c=01a00000-0000-7000-8000-000000000003
fa=$("$t_helper/make-session" claude "$claude" "$here" "$a" 'build the parser for the session files' 'yes')
fc=$("$t_helper/make-session" codex "$codex" "$here" "$c" 'mend the build of this program here')
t_setenv 'FADEN_CLOCK=2026-03-10T12:00:00Z'
files() { find "$claude" "$codex" -type f | sort; }
field() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$t_out" "$1"; }

all=$(files)
sum=$(cksum "$fa" "$fc")
t_exit '--dry-run is taken' 0 t_faden rollover --dry-run "$a"
t_is '--dry-run makes nothing' "$(files)" "$all"
t_like '--dry-run shows the lineage' "$(cat "$t_out")" '^\[SESSION LINEAGE\]$'
t_like '--dry-run shows the task' "$(cat "$t_out")" 'As last stated: build the parser for the session files \['
t_like '--dry-run shows what was said since' "$(cat "$t_out")" 'Said since: yes \['
t_like '--dry-run shows the commands' "$(cat "$t_out")" '^- exit 0: echo 2 \['
t_like '--dry-run says how sure the figures are' "$(cat "$t_out")" '^It would save nothing: [0-9]+ tokens \(assumed\), was 26$'
t_exit '--dry-run --json is taken' 0 t_faden rollover --dry-run --json "$a"
t_is '--dry-run --json names no session' "$(field session_id) $(field path) $(field resume)" 'None None None'

t_exit 'rollover without a session fails where nothing goes on' 1 t_elsewhere rollover
t_like 'it is said that no session was begun here' "$(cat "$t_err")" 'no session was begun in this folder'
t_exit 'a rollover is made' 0 t_faden rollover --json --prompt 'go on with the tests' "$a"
t_ok 'rollover --json is one line with all figures' python3 - "$t_out" "$a" "$fa" "$here" <<'END'
import json, os, sys
lines = open(sys.argv[1]).read().splitlines()
assert len(lines) == 1
doc = json.loads(lines[0])
assert doc["parent"] == {"session_id": sys.argv[2], "path": sys.argv[3], "relation": "continued"}
assert doc["path"] == os.path.join(os.path.dirname(sys.argv[3]), doc["session_id"] + ".jsonl")
assert doc["resume"] == ["claude", "--resume", doc["session_id"]] and doc["directory"] == sys.argv[4]
assert doc["before"] == {"tokens": 26, "sure": "assumed"}
assert doc["saved"]["tokens"] == 0 and doc["left"]["sure"] == "assumed"
assert {"task", "command", "said_since"} <= {f["kind"] for f in doc["facts"]}
assert os.stat(doc["path"]).st_mode & 0o777 == 0o600
first, second = map(json.loads, open(doc["path"]))
note = first["continue_metadata"]
assert note["parent_file"] == sys.argv[3] and note["continuation_type"] == "rollover"
assert note["continued_at"] == "2026-03-10T12:00:00.000Z" and note["summary_included"] is False
assert first["sessionId"] == second["sessionId"] == doc["session_id"]
assert first["parentUuid"] is None and second["parentUuid"] == first["uuid"]
assert second["message"]["model"] == "model-a" and second["message"]["id"]
assert "# What to do in this session\ngo on with the tests" in first["message"]["content"]
END
new=$(field session_id)
t_ok 'every fact has a reference that leads to its original' env FADEN="$FADEN" python3 - "$t_out" "$t_tmp/env" <<'END'
import json, os, subprocess, sys
doc = json.load(open(sys.argv[1]))
env = dict(line.rstrip("\n").split("=", 1) for line in open(sys.argv[2]))
want = {"task": "build the parser for the session files", "said_since": "yes",
        "last_answer": "answer 2 to **yes**", "command": "out"}
message = json.loads(open(doc["path"]).readline())["message"]["content"]
for fact in doc["facts"]:
    assert f"[{fact['ref']}]" in message, fact
    got = subprocess.run([os.environ["FADEN"], "recall", fact["ref"]], env=env, check=True,
                         capture_output=True, text=True).stdout
    assert got.startswith(want[fact["kind"]]), (fact, got)
END
t_is 'the parents are untouched' "$(cksum "$fa" "$fc")" "$sum"
t_is 'one file is new, no temporary is left' "$(files | wc -l)" 3
t_exit 'the new session is listed' 0 t_faden list -F '{relation} {parent} {title}'
t_like 'the new session is listed with its parent and its task' "$(cat "$t_out")" "^continued $a Continue: go on with the tests\$"
t_exit 'the new session has a lineage' 0 t_faden lineage "$new"
t_is 'the family is two' "$(wc -l <"$t_out")" 2

# the next generation: nothing was done, so nothing is lost
t_exit 'a rollover of the rollover is made' 0 t_faden rollover --json "$new"
t_ok 'the second rollover has every fact, and references that lead to the originals' env FADEN="$FADEN" python3 - "$t_out" "$t_tmp/env" <<'END'
import json, os, subprocess, sys
doc = json.load(open(sys.argv[1]))
env = dict(line.rstrip("\n").split("=", 1) for line in open(sys.argv[2]))
want = {"command": "out", "last_answer": "answer 2 to **yes**", "first_task": "build the parser"}
seen = {}
for fact in doc["facts"]:
    seen[fact["kind"]] = fact["text"]
    got = subprocess.run([os.environ["FADEN"], "recall", fact["ref"]], env=env, check=True,
                         capture_output=True, text=True).stdout
    assert got.startswith(want.get(fact["kind"], "")), (fact, got)
assert set(want) <= set(seen), seen
assert seen["task"] == "go on with the tests" and seen["unfinished"] == "the last prompt has no answer"
assert "I have the lineage" not in json.dumps(doc["facts"])
message = json.loads(open(doc["path"]).readline())["message"]["content"]
assert "- exit 0: echo 2 (from before) [" in message, message
assert "faden recall REF" in message, message
END

# a session whose long texts are gone: references lead to the first originals
t_ok 'a session with long texts is written' python3 - "$fa" <<'END'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
call, result = lines[1]["message"]["content"], lines[2]["message"]["content"]
result[0]["content"] = "\n".join(f"row {n}" for n in range(900))
call.append({"type": "tool_use", "id": "w", "name": "Write",
             "input": {"file_path": "/w/a.c", "content": "int a;\n" * 300}})
result.append({"type": "tool_result", "tool_use_id": "w",
               "content": [{"type": "text", "text": "written " * 200}]})
call.append({"type": "tool_use", "id": "r", "name": "Read", "input": {"file_path": "/w/b.c"}})
result.append({"type": "tool_result", "tool_use_id": "r",
               "content": [{"type": "text", "text": "int b;\n" * 300}]})
long = sys.argv[1].replace("aaaaaaaa", "abcabcab")
for line in lines:
    line["sessionId"] = line["sessionId"].replace("aaaaaaaa", "abcabcab")
open(long, "w").write("".join(json.dumps(line) + "\n" for line in lines))
END
long=$(echo "$a" | sed s/aaaaaaaa/abcabcab/)
t_exit 'a rollover of the long session is planned' 0 t_faden rollover --dry-run --json "$long"
refs() { python3 -c 'import json, sys; print([f["ref"] for f in json.load(open(sys.argv[1]))["facts"] if f["text"] == "echo 1"])' "$t_out"; }
first=$(refs)
t_exit 'a trimmed copy is made' 0 t_faden trim --json --min-savings 0 "$long"
t_exit 'a rollover of the trimmed copy is made' 0 t_faden rollover --json "$(field session_id)"
t_is 'a rollover of a trimmed copy refers to the same original' "$(refs)" "$first"
originals() {
	FADEN=$FADEN python3 - "$t_out" "$t_tmp/env" <<'END'
import json, os, subprocess, sys
doc = json.load(open(sys.argv[1]))
env = dict(line.rstrip("\n").split("=", 1) for line in open(sys.argv[2]))
want = {"echo 1": "row 0\nrow 1\n", "/w/a.c": "int a;\nint a;", "/w/b.c": "int b;\nint b;"}
for fact in doc["facts"]:
    got = subprocess.run([os.environ["FADEN"], "recall", fact["ref"]], env=env, check=True,
                         capture_output=True, text=True).stdout
    assert "suppressed" not in got, (fact, got)
    assert got.startswith(want.pop(fact["text"], "")), (fact, got)
assert not want, want
END
}
t_ok 'no reference is one to a placeholder' originals
t_exit 'the next rollover is made' 0 t_faden rollover --json "$(field session_id)"
t_is 'the next rollover inherits the reference' "$(refs)" "$first"
t_ok 'no inherited reference is one to a placeholder' originals

t_exit 'a rollover for people is made' 0 t_faden rollover "$a"
t_like 'the command of the agent to go on is shown' "$(cat "$t_out")" '^  claude --resume [0-9a-f-]{36}$'
t_like 'the command of faden to go on is shown' "$(cat "$t_out")" '^  faden ask --in [0-9a-f-]{36} TEXT$'

t_exit 'a rollover to another agent is made' 0 t_faden rollover --json --agent codex "$a"
t_is "the size of another agent's own prompt is not known" "$(field before) $(field saved) $(field left)" \
	"{'tokens': 26, 'sure': 'assumed'} None None"
t_like "a session for another agent lies in that agent's folder" "$(field path)" "^$codex/sessions/2026/03/10/rollout-2026-03-10T12-00-00-"
t_exit 'a rollover from Codex is made' 0 t_faden rollover --json "$c"
t_like 'a rollover from Codex stays with Codex' "$(field path)" "^$codex/sessions/"
t_exit 'a rollover to the rehearsal agent is made' 0 t_faden rollover --json --agent rehearsal "$a"
new=$(field session_id)
t_exit 'the rehearsal agent goes on at once' 0 t_faden --agent rehearsal ask --in "$new" 'what did I say?'
t_like 'the rehearsal agent knows the lineage' "$(cat "$t_out")" 'SESSION LINEAGE'
t_exit 'a rollover to an agent without sessions is refused' 2 t_faden rollover --agent exec "$a"

# a summary by an agent
printf '*\nsay The parser is half done.\\nMind the tests.\n' >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
t_exit '--with-summary is taken' 0 t_faden rollover --json --with-summary --agent rehearsal "$a"
t_ok 'the summary stands in the first message' python3 - "$(field path)" <<'END'
import json, sys
first = json.loads(open(sys.argv[1]).readline())
assert "# Summary by an agent\nThe parser is half done.\nMind the tests.\n" in first["message"]["content"]
assert first["continue_metadata"]["summary_included"] is True
END
t_exit 'a rollover after one with a summary is made' 0 t_faden rollover --json "$(field session_id)"
t_exit 'the rollover after that is made' 0 t_faden rollover --json --prompt 'finish it' "$(field session_id)"
t_ok 'the summary goes on as one from before' python3 - "$(field path)" <<'END'
import json, sys
first = json.loads(open(sys.argv[1]).readline())
assert ("# Summary by an agent (from before)\nThe parser is half done.\nMind the tests.\n\n"
	"# What to do in this session\nfinish it\n") in first["message"]["content"], first
assert first["continue_metadata"]["summary_included"] is False
END
all=$(files)
printf '*\nfail rate-limited try later\n' >"$t_tmp/script"
t_exit 'an agent that fails to summarise is a failure' 4 t_faden rollover --with-summary --agent rehearsal "$a"
t_is 'an agent that fails to summarise leaves nothing' "$(files)" "$all"
t_exit 'an agent that is not there cannot summarise' 4 t_faden rollover --with-summary "$a"
t_unsetenv FADEN_AI_REHEARSAL_SCRIPT

# the conversation that goes on here is replaced
t_faden --agent rehearsal ask --new 'remember the milk and the bread' >/dev/null 2>&1
old=$(t_faden list --agent rehearsal -F '{current}{id}' | sed -n 's/^current//p')
t_exit 'a rollover of what goes on here is made' 0 t_faden rollover "$old"
t_like 'it is said that it takes the place of what goes on here' "$(cat "$t_out")" 'now what goes on in its folder'
t_exit 'rollover without a session is planned' 0 t_faden rollover --dry-run --json
t_is 'rollover without a session takes what goes on here' "$(field agent)" rehearsal
t_exit 'the turn after a rollover succeeds' 0 t_faden ask --agent rehearsal 'what did I say?'
t_like 'the turn after a rollover is in the new session' "$(cat "$t_out")" 'SESSION LINEAGE'

# trouble
mv "$here" "$t_tmp/moved"
cd "$t_tmp/moved" || exit 1
t_exit 'a session whose folder is gone is refused' 3 t_faden rollover "$a"
t_like 'the folder that is gone is named with the way out' "$(cat "$t_err")" "$here is gone.*--here"
t_exit '--here is taken' 0 t_faden rollover --json --here "$a"
t_like '--here writes where the agent looks from here' "$(field path)" "/projects/$(pwd -P | tr -c 'a-zA-Z0-9\n' -)/[^/]*$"
t_is '--here makes a session of this folder' "$(field directory)" "$t_tmp/moved"
printf '%s\n' 'null' '[1]' '{"type":"user","message":42}' '{"type":' >>"$fa"
t_exit 'broken lines do not stop a rollover' 0 t_faden rollover --here "$a"
t_exit 'a session that is not there is not found' 1 t_faden rollover nobody
: >"$(dirname "$fa")/eeeeeeee-0000-4000-8000-000000000005.jsonl"
all=$(files)
t_exit 'an empty session is refused' 1 t_faden rollover --here eeeeeeee-0000-4000-8000-000000000005
t_like 'an empty session is named with what to do' "$(cat "$t_err")" 'nothing to go on from in .*/eeeeeeee.*no prompt.*faden repair eeeeeeee'
t_exit 'an empty session is refused before anybody is asked for a summary' 1 t_faden rollover --here --with-summary eeeeeeee-0000-4000-8000-000000000005
t_like 'an empty session is named though a summary is wanted' "$(cat "$t_err")" 'nothing to go on from'
t_is 'an empty session makes nothing' "$(files)" "$all"
t_exit 'a prompt too long is refused' 3 t_faden rollover --here -p "$(head -c 70000 /dev/zero | tr '\0' x)" "$a"
chmod 500 "$(dirname "$fa")"
if [ "$(id -u)" != 0 ]; then
	all=$(files)
	t_exit 'a folder that cannot be written is a failure' 5 t_faden rollover --here "$a"
	t_is 'a folder that cannot be written is left as it was' "$(files)" "$all"
else
	t_skip 'a folder that cannot be written is a failure' 'root may write everywhere'
fi
chmod 700 "$(dirname "$fa")"
t_exit 'a failure of --json has its status' 1 t_faden rollover --json nobody
t_is 'a failure of --json is one object' "$(python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(list(d), d["error"]["code"])' "$t_out")" "['error'] not-found"
t_exit 'one more rollover is made' 0 t_faden rollover --json --here "$a"
new=$(field session_id)
conversation=$(field conversation_id)
rm "$(field path)"
t_exit 'a session that is gone is not shown by the id of its conversation' 1 t_faden show "$conversation"
t_like 'it is said that its file is gone' "$(cat "$t_err")" "the file of session $new is gone"
t_done
