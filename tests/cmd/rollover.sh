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
t_exit 'a dry run' 0 t_faden rollover --dry-run "$a"
t_is 'makes nothing' "$(files)" "$all"
t_like 'shows the lineage' "$(cat "$t_out")" '^\[SESSION LINEAGE\]$'
t_like 'the task' "$(cat "$t_out")" 'As last stated: build the parser for the session files \['
t_like 'what was said since' "$(cat "$t_out")" 'Said since: yes \['
t_like 'the commands' "$(cat "$t_out")" '^- exit 0: echo 2 \['
t_like 'and how sure the figures are' "$(cat "$t_out")" '^It would save nothing: [0-9]+ tokens \(assumed\), was 26$'
t_exit 'a dry run for programs' 0 t_faden rollover --dry-run --json "$a"
t_is 'names no session' "$(field session_id) $(field path) $(field resume)" 'None None None'

t_exit 'without a session, where nothing goes on' 1 t_elsewhere rollover
t_like 'says so' "$(cat "$t_err")" 'no session was begun in this folder'
t_exit 'a rollover' 0 t_faden rollover --json --prompt 'go on with the tests' "$a"
t_ok 'is one line of JSON' python3 - "$t_out" "$a" "$fa" "$here" <<'END'
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
t_exit 'it is listed' 0 t_faden list -F '{relation} {parent} {title}'
t_like 'with its parent and its task' "$(cat "$t_out")" "^continued $a Continue: go on with the tests\$"
t_exit 'its family' 0 t_faden lineage "$new"
t_is 'is two' "$(wc -l <"$t_out")" 2

# the next generation: nothing was done, so nothing is lost
t_exit 'a rollover of the rollover' 0 t_faden rollover --json "$new"
t_ok 'has every fact, and references that still lead to the originals' env FADEN="$FADEN" python3 - "$t_out" "$t_tmp/env" <<'END'
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
t_ok 'a session with long texts' python3 - "$fa" <<'END'
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
t_exit 'of the parent' 0 t_faden rollover --dry-run --json "$long"
refs() { python3 -c 'import json, sys; print([f["ref"] for f in json.load(open(sys.argv[1]))["facts"] if f["text"] == "echo 1"])' "$t_out"; }
first=$(refs)
t_exit 'a trimmed copy' 0 t_faden trim --json --min-savings 0 "$long"
t_exit 'a rollover of it' 0 t_faden rollover --json "$(field session_id)"
t_is 'refers to the same original' "$(refs)" "$first"
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
t_ok 'none of a placeholder' originals
t_exit 'the next rollover' 0 t_faden rollover --json "$(field session_id)"
t_is 'inherits the reference' "$(refs)" "$first"
t_ok 'and all others' originals

t_exit 'for people' 0 t_faden rollover "$a"
t_like 'the ways to go on' "$(cat "$t_out")" '^  claude --resume [0-9a-f-]{36}$'
t_like 'also by faden' "$(cat "$t_out")" '^  faden ask --in [0-9a-f-]{36} TEXT$'

t_exit 'to another agent' 0 t_faden rollover --json --agent codex "$a"
t_is 'whose own prompt is not known' "$(field before) $(field saved) $(field left)" \
	"{'tokens': 26, 'sure': 'assumed'} None None"
t_like 'in its folder' "$(field path)" "^$codex/sessions/2026/03/10/rollout-2026-03-10T12-00-00-"
t_exit 'from codex' 0 t_faden rollover --json "$c"
t_like 'stays with codex' "$(field path)" "^$codex/sessions/"
t_exit 'to the rehearsal agent' 0 t_faden rollover --json --agent rehearsal "$a"
new=$(field session_id)
t_exit 'which goes on at once' 0 t_faden --agent rehearsal ask --in "$new" 'what did I say?'
t_like 'and knows it' "$(cat "$t_out")" 'SESSION LINEAGE'
t_exit 'to an agent without sessions' 2 t_faden rollover --agent exec "$a"

# a summary by an agent
printf '*\nsay The parser is half done.\\nMind the tests.\n' >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
t_exit 'with a summary' 0 t_faden rollover --json --with-summary --agent rehearsal "$a"
t_ok 'it stands in the first message' python3 - "$(field path)" <<'END'
import json, sys
first = json.loads(open(sys.argv[1]).readline())
assert "# Summary by an agent\nThe parser is half done.\nMind the tests.\n" in first["message"]["content"]
assert first["continue_metadata"]["summary_included"] is True
END
t_exit 'and goes on into a rollover without one' 0 t_faden rollover --json "$(field session_id)"
t_exit 'and into the next' 0 t_faden rollover --json --prompt 'finish it' "$(field session_id)"
t_ok 'as one from before' python3 - "$(field path)" <<'END'
import json, sys
first = json.loads(open(sys.argv[1]).readline())
assert ("# Summary by an agent (from before)\nThe parser is half done.\nMind the tests.\n\n"
	"# What to do in this session\nfinish it\n") in first["message"]["content"], first
assert first["continue_metadata"]["summary_included"] is False
END
all=$(files)
printf '*\nfail rate-limited try later\n' >"$t_tmp/script"
t_exit 'an agent that fails' 4 t_faden rollover --with-summary --agent rehearsal "$a"
t_is 'leaves nothing' "$(files)" "$all"
t_exit 'an agent that is not there' 4 t_faden rollover --with-summary "$a"
t_unsetenv FADEN_AI_REHEARSAL_SCRIPT

# the conversation that goes on here is replaced
t_faden --agent rehearsal ask --new 'remember the milk and the bread' >/dev/null 2>&1
old=$(t_faden list --agent rehearsal -F '{current}{id}' | sed -n 's/^current//p')
t_exit 'a rollover of what goes on here' 0 t_faden rollover "$old"
t_like 'says that it takes its place' "$(cat "$t_out")" 'now what goes on in its folder'
t_exit 'without a session' 0 t_faden rollover --dry-run --json
t_is 'it is what goes on here' "$(field agent)" rehearsal
t_exit 'the next turn' 0 t_faden ask --agent rehearsal 'what did I say?'
t_like 'is in the new session' "$(cat "$t_out")" 'SESSION LINEAGE'

# trouble
mv "$here" "$t_tmp/moved"
cd "$t_tmp/moved" || exit 1
t_exit 'a folder that is gone' 3 t_faden rollover "$a"
t_like 'is named with the way out' "$(cat "$t_err")" "$here is gone.*--here"
t_exit 'here instead' 0 t_faden rollover --json --here "$a"
t_like 'where the agent looks from here' "$(field path)" "/projects/$(pwd -P | tr -c 'a-zA-Z0-9\n' -)/[^/]*$"
t_is 'is here' "$(field directory)" "$t_tmp/moved"
printf '%s\n' 'null' '[1]' '{"type":"user","message":42}' '{"type":' >>"$fa"
t_exit 'broken lines' 0 t_faden rollover --here "$a"
t_exit 'no such session' 1 t_faden rollover nobody
: >"$(dirname "$fa")/eeeeeeee-0000-4000-8000-000000000005.jsonl"
all=$(files)
t_exit 'an empty session' 1 t_faden rollover --here eeeeeeee-0000-4000-8000-000000000005
t_like 'is refused by name, with what to do' "$(cat "$t_err")" 'nothing to go on from in .*/eeeeeeee.*no prompt.*faden repair eeeeeeee'
t_exit 'with a summary, which nobody is asked for' 1 t_faden rollover --here --with-summary eeeeeeee-0000-4000-8000-000000000005
t_like 'likewise' "$(cat "$t_err")" 'nothing to go on from'
t_is 'nothing is made' "$(files)" "$all"
t_exit 'a prompt too long' 3 t_faden rollover --here -p "$(head -c 70000 /dev/zero | tr '\0' x)" "$a"
chmod 500 "$(dirname "$fa")"
if [ "$(id -u)" != 0 ]; then
	all=$(files)
	t_exit 'a folder that cannot be written' 5 t_faden rollover --here "$a"
	t_is 'is left as it was' "$(files)" "$all"
else
	t_skip 'a folder that cannot be written' 'root may write everywhere'
fi
chmod 700 "$(dirname "$fa")"
t_exit 'a failure for programs' 1 t_faden rollover --json nobody
t_is 'is one object' "$(python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(list(d), d["error"]["code"])' "$t_out")" "['error'] not-found"
t_exit 'one more' 0 t_faden rollover --json --here "$a"
new=$(field session_id)
conversation=$(field conversation_id)
rm "$(field path)"
t_exit 'gone, by the id of its conversation' 1 t_faden show "$conversation"
t_like 'is said to be' "$(cat "$t_err")" "the file of session $new is gone"
t_done
