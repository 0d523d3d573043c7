#!/bin/sh
# faden advise: how full the context is, what fills it, and what would help.
. "$(dirname "$0")/../lib.sh"

claude=$t_home/.claude
codex=$t_home/.codex
here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1
a=aaaaaaaa-0000-4000-8000-000000000001
b=01a00000-0000-7000-8000-000000000002
c=cccccccc-0000-4000-8000-000000000003
e=eeeeeeee-0000-4000-8000-000000000004
fa=$("$t_helper/make-session" claude "$claude" "$here" "$a" 'first words' 'second words')
"$t_helper/make-session" codex "$codex" "$here" "$b" 'other words' >/dev/null

widest() {
	python3 -c 'import sys; print(max(len(l.rstrip("\n")) for l in open(sys.argv[1])))' "$1"
}

before=$(cksum <"$fa")
t_exit 'advise reads a small session' 0 t_faden advise "$a"
t_like 'advise tells how full the session is' "$(cat "$t_out")" '^Context .* tokens \(assumed\), 0 % of 200,000 \(assumed\)'
t_like 'advise tells what fills it' "$(cat "$t_out")" '^  tool results  .*█|^  tool results  .*░'
t_like 'advise tells which tools fill it' "$(cat "$t_out")" '^  Bash  '
t_like 'advise tells that nothing needs to be done' "$(cat "$t_out")" 'Nothing needs to be done'
t_ok 'the advice fits 80 columns' test "$(widest "$t_out")" -le 80
t_is 'advise leaves the file as it was' "$(cksum <"$fa")" "$before"
t_is 'no escape sequences where there is no terminal' "$(tr -cd '\033' <"$t_out" | wc -c)" 0

t_exit 'advise --json is taken' 0 t_faden advise --json "$a"
t_is 'advise --json is one line' "$(wc -l <"$t_out")" 1
t_ok 'advise --json is one object whose parts are the whole' python3 - "$t_out" "$a" "$fa" <<'END'
import json, sys
doc = json.load(open(sys.argv[1]))
assert (doc["session_id"], doc["path"], doc["agent"]) == (sys.argv[2], sys.argv[3], "claude")
assert doc["context"] == {"tokens": 26, "sure": "assumed"}, doc["context"]
assert doc["window"] == {"tokens": 200000, "sure": "assumed"}
assert abs(sum(k["tokens"] for k in doc["kinds"].values()) - 26) <= len(doc["kinds"])
assert doc["kinds"]["prompts"]["count"] == 2 and doc["kinds"]["tool_results"]["count"] == 2
assert [t["name"] for t in doc["tools"]] == ["Bash"]
assert [s["name"] for s in doc["strategies"]] == [
    "trim-500", "trim-1000", "smart-trim", "rollover", "compact"]
assert doc["cache"]["state"] in ("warm", "cold") and doc["cache"]["called_at"].startswith("2026-03-01")
assert doc["advice"]["strategy"] == "nothing" and doc["advice"]["command"] is None
END

t_exit 'advise --json reads a session of Codex' 0 t_faden advise --json "$b"
t_ok 'the advice on a session of Codex has its figures' python3 - "$t_out" <<'END'
import json, sys
doc = json.load(open(sys.argv[1]))
assert doc["agent"] == "codex" and not doc["empty"]
assert doc["kinds"]["prompts"]["count"] == 1 and doc["kinds"]["tool_results"]["count"] == 1, doc["kinds"]
END
t_exit 'advise shows a session of Codex to people' 0 t_faden advise "$b"

# A full one: long results of a tool with a hostile name.
python3 - "$(dirname "$fa")/$c.jsonl" "$c" <<'END'
import json, sys
lines, parent = [], None
def line(kind, message):
    global parent
    uuid = f"00000000-0000-4000-8000-{len(lines):012d}"
    lines.append({"parentUuid": parent, "isSidechain": False, "type": kind, "message": message,
                  "uuid": uuid, "timestamp": "2026-03-01T10:00:00Z", "sessionId": sys.argv[2]})
    parent = uuid
def answer(n, block):
    line("assistant", {"id": f"m{n}", "role": "assistant", "model": "model-a", "content": [block],
                       "usage": {"input_tokens": 20000 + 14000 * n, "output_tokens": 0}})
line("user", {"role": "user", "content": "go"})
for n in range(10):
    answer(n, {"type": "tool_use", "id": f"t{n}", "name": "Evil\x1b[31m\nTool", "input": {"n": n}})
    line("user", {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": f"t{n}", "content": f"{n} " + "word " * 10000}]})
answer(10, {"type": "text", "text": "done"})
open(sys.argv[1], "w").write("".join(json.dumps(l) + "\n" for l in lines))
END
t_exit 'advise reads a full session' 0 t_faden advise "$c"
t_like 'the advice says how full a full session is' "$(cat "$t_out")" '160,000 tokens \(exact\), 80 % of 200,000'
t_like 'a trim is advised for a full session' "$(cat "$t_out")" "^  faden trim -l 1000 $c"
t_like 'the advised trim is marked in the table' "$(cat "$t_out")" '^\* trim -l 1000 '
t_is 'control characters of the session are not shown' "$(tr -cd '\033' <"$t_out" | wc -c)" 0
t_ok 'the advice on a full session fits 80 columns' test "$(widest "$t_out")" -le 80
t_exit 'advise --json reads a full session' 0 t_faden advise --json "$c"
cp "$t_out" "$t_tmp/advice"
t_exit 'the advised trim can be planned' 0 t_faden trim --json --dry-run --threshold 1000 "$c"
t_ok 'the trim saves what advise foretold' python3 - "$t_tmp/advice" "$t_out" <<'END'
import json, sys
advice, trim = (json.load(open(p)) for p in sys.argv[1:])
told = advice["strategies"][1]["saved"]
assert told["sure"] == trim["saved"]["sure"] == "fitted"
assert abs(told["tokens"] - trim["saved"]["tokens"]) <= trim["saved"]["tokens"] * 0.01, (told, trim["saved"])
assert all(s["cached_tokens"] == s["left_tokens"] > 0 for s in advice["strategies"])
assert [s["below"] for s in advice["strategies"]][:2] == [True, True] and advice["damage"] is None
assert advice["context"]["tokens"] == trim["before"]["tokens"]
END

# What newer versions of Claude Code write down of their own prompt and tools is no message.
python3 - "$(dirname "$fa")/$c.jsonl" <<'END'
import json, sys
last = json.loads(open(sys.argv[1]).read().splitlines()[-1])
del last["message"]
last.update(parentUuid=last["uuid"], uuid="00000000-0000-4000-8000-00000000ffff", type="attachment",
            attachment={"type": "prompt_snapshot", "systemPrompt": ["You help. " * 9000], "tools": [{"name": "Bash"}]})
open(sys.argv[1], "a").write(json.dumps(last) + "\n")
END
t_exit 'advise --json reads one with the prompt of its agent' 0 t_faden advise --json "$c"
t_ok 'which changes no figure' python3 - "$t_tmp/advice" "$t_out" <<'END'
import json, sys
before, after = (json.load(open(p)) for p in sys.argv[1:])
for key in "context", "kinds", "tools", "strategies":
    assert before[key] == after[key], (key, before[key], after[key])
END

# What goes is the same for both: texts with a picture among them, and an input that is no JSON.
f=ffffffff-0000-4000-8000-000000000005
g=01a00000-0000-7000-8000-000000000006
python3 - "$(dirname "$fa")/$f.jsonl" "$f" "$("$t_helper/make-session" codex "$codex" "$here" "$g" words)" <<'END'
import json, sys
def entry(n, kind, message):
    return {"parentUuid": n and f"u{n - 1}" or None, "isSidechain": False, "type": kind, "message": message,
            "uuid": f"u{n}", "timestamp": "2026-03-01T10:00:00Z", "sessionId": sys.argv[2]}
text = {"type": "text", "text": "word " * 4000}
picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aaaa" * 200}}
lines = [entry(0, "user", {"role": "user", "content": "go"}),
         entry(1, "assistant", {"id": "m1", "role": "assistant", "model": "model-a", "content": [
             {"type": "tool_use", "id": "t1", "name": "Read", "input": {}}],
             "usage": {"input_tokens": 90, "output_tokens": 0}}),
         entry(2, "user", {"role": "user", "content": [
             {"type": "tool_result", "tool_use_id": "t1", "content": [text, picture, text]}]})]
open(sys.argv[1], "w").write("".join(json.dumps(l) + "\n" for l in lines))
with open(sys.argv[3], "a") as codex:
    for payload in ({"type": "function_call", "name": "sh", "arguments": "word " * 4000, "call_id": "c9"},
                    {"type": "function_call_output", "call_id": "c9", "output": "short"}):
        codex.write(json.dumps({"timestamp": "2026-03-01T10:00:00Z", "type": "response_item",
                                "payload": payload}) + "\n")
END
t_exit 'advise --json reads texts with a picture' 0 t_faden advise --json "$f"
cp "$t_out" "$t_tmp/advice"
t_exit 'texts with a picture can be trimmed' 0 t_faden trim --json --dry-run "$f"
t_ok 'the trim of texts with a picture saves what advise foretold' python3 - "$t_tmp/advice" "$t_out" <<'END'
import json, sys
advice, trim = (json.load(open(p)) for p in sys.argv[1:])
told, saved = advice["strategies"][0]["saved"]["tokens"], trim["saved"]["tokens"]
assert saved > 5000 and abs(told - saved) <= saved * 0.01, (told, saved)
END
t_exit 'advise --json reads an input that is no JSON' 0 t_faden advise --json "$g"
t_is 'no saving is foretold for an input that is no JSON' \
	"$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["strategies"][0]["saved"]["tokens"])' "$t_out")" 0
t_exit 'an input that is no JSON is not trimmed' 1 t_faden trim "$g"

t_exit '--window is taken' 0 t_faden advise --window 1000000 "$c"
t_like 'a larger window is less full' "$(cat "$t_out")" '16 % of 1,000,000 \(told\)'
t_exit '--restart is taken' 0 t_faden advise --restart "$c"
t_like '--restart advises a rollover' "$(cat "$t_out")" "^  faden rollover $c"
t_like 'the rollover is explained by the wish for a fresh start' "$(tr '\n' ' ' <"$t_out" | tr -s ' ')" 'window; a fresh start is wanted: faden rollover'
t_exit 'a window that nothing brings it below is no failure' 0 t_faden advise --window 20000 "$c"
t_like 'the rollover is explained by what does not suffice' "$(tr '\n' ' ' <"$t_out" | tr -s ' ')" 'window; neither trim nor smart-trim would bring it below'
t_like 'it is said that even a rollover is not enough' "$(tr '\n' ' ' <"$t_out" | tr -s ' ')" 'even so it would not come below 80 %'
t_setenv FADEN_CLOCK=2026-03-01T10:02:00Z
t_exit 'advise works while the cache is warm' 0 t_faden advise "$c"
t_like 'what a resume reads from the warm cache is told' "$(tr '\n' ' ' <"$t_out" | tr -s ' ')" 'A resume as it is reads 160,000 tokens from it'
t_like 'what a change costs while the cache is warm is told' "$(tr '\n' ' ' <"$t_out" | tr -s ' ')" 'the next call costs least with the session as it is'
t_unsetenv FADEN_CLOCK

# Part of it is not reached: one line says so, here and in trim.
d=dddddddd-0000-4000-8000-000000000005
sed -e "s/$c/$d/g" -e '12s/"parentUuid": "[^"]*"/"parentUuid": null/' "$(dirname "$fa")/$c.jsonl" \
	>"$(dirname "$fa")/$d.jsonl"
t_exit 'advise reads a damaged session' 0 t_faden advise "$d"
t_like 'the damage is told with the command that repairs it' "$(cat "$t_out")" "^Damaged only 11 of 22 entries are reached: faden repair $d"
t_exit 'advise --json reads a damaged session' 0 t_faden advise --json "$d"
t_like 'advise --json has the damage' "$(cat "$t_out")" '"damage":{"level":"loss","cause":"null-parent","reachable":11,"entries":22}'
t_exit 'trim plans for a damaged session' 0 t_faden trim --dry-run "$d"
t_like 'trim warns of the damage' "$(cat "$t_err")" "^faden: warning: only 11 of 22 entries are reached: faden repair $d"
t_exit 'trim plans for a whole session' 0 t_faden trim --dry-run "$c"
t_is 'trim does not warn of a whole session' "$(cat "$t_err")" ''
# in-columns N COMMAND…: what it shows on a terminal of that width.
cat >"$t_tmp/in-columns" <<'END'
import fcntl, os, pty, re, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 40, int(sys.argv[1]), 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
out = b""
try:
    while data := os.read(fd, 4096):
        out += data
except OSError:
    pass
print(re.sub("\x1b\\[[0-9;]*m|\r", "", out.decode()))
END
t_setenv TERM=xterm
t_run "$(command -v python3)" "$t_tmp/in-columns" 60 "$FADEN" advise "$c" >"$t_out"
t_like 'advise works on a narrow terminal' "$(cat "$t_out")" '^Context '
t_ok 'no line is wider than a narrow terminal' test "$(widest "$t_out")" -le 60
t_unsetenv TERM
t_setenv LANG=C
t_exit 'advise works without UTF-8' 0 t_faden advise "$c"
t_is 'without UTF-8 the advice is ASCII' "$(LC_ALL=C tr -d '\000-\177' <"$t_out" | wc -c)" 0
t_setenv LANG=C.UTF-8

printf '{"type":"custom-title","customTitle":"nothing yet","sessionId":"%s"}\n' "$e" \
	>"$(dirname "$fa")/$e.jsonl"
t_exit 'advise reads an empty session' 0 t_faden advise "$e"
t_like 'an empty session is called empty' "$(cat "$t_out")" '^Empty: '
: >"$t_tmp/empty.jsonl"
t_exit 'a file without a byte is refused' 3 t_faden advise "$t_tmp/empty.jsonl"
t_like 'a file without a byte is called empty' "$(cat "$t_err")" 'empty.jsonl is empty: '
t_exit 'a session that is not there is not found' 1 t_faden advise 99999999
t_is 'a failure prints nothing on standard output' "$(cat "$t_out")" ''
t_exit 'an unknown option is refused' 2 t_faden advise --bogus "$a"

# An id is whatever a file is called.
evil=$(dirname "$fa")/$(printf 'x; touch pwn\033[2Jred').jsonl
cp "$fa" "$evil"
t_exit 'a session with an evil name is read' 0 t_faden advise --json "$evil"
command=$(python3 -c 'import json, sys; d = json.load(sys.stdin); print([s["command"] for s in d["strategies"] if s["command"]][0])' <"$t_out")
t_is 'an evil name is one word of the command' "$command" "faden trim \$'x; touch pwn\\033[2Jred'"
t_setenv TERM=xterm
t_run "$(command -v python3)" "$t_tmp/in-columns" 60 "$FADEN" advise "$evil" >"$t_out"
t_like 'an evil name is shown' "$(cat "$t_out")" '^Session x; touch pwnred'
t_unlike 'an evil name does not reach a terminal as it is' "$(cat "$t_out")" "$(printf '\033')"
t_unsetenv TERM
t_done
