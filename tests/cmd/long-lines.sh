#!/bin/sh
# A line too long to look into: it is said which one, it stays byte for byte, nothing wrong is said
# about the rest, and it is not held in memory.
. "$(dirname "$0")/../lib.sh"
cd "$t_home" || exit 1
python=$(command -v python3)
size=300000000
limit_kb=262144
claude=aaaaaaaa-0000-4000-8000-000000000001
codex=bbbbbbbb-0000-4000-8000-000000000001

# session AGENT ID: ten lines or so, the fifth of them long.
session() {
	"$python" - "$1" "$2" "$t_home" $size <<'EOF'
import json, os, sys
agent, sid, home, size = *sys.argv[1:4], int(sys.argv[4])

def claude(n, kind, message):
    return {"parentUuid": f"00000000-0000-4000-8000-{n - 1:012d}" if n else None, "isSidechain": False,
            "type": kind, "message": message, "uuid": f"00000000-0000-4000-8000-{n:012d}",
            "timestamp": "2026-03-01T10:00:00.000Z", "sessionId": sid, "cwd": home}

def answer(n, block):
    return claude(n, "assistant", {"id": f"m{n}", "role": "assistant", "model": "claude-sonnet-4-5",
        "content": [block], "usage": {"input_tokens": 9000 * (n + 1), "output_tokens": 9}})

def call(n):
    return answer(n, {"type": "tool_use", "id": f"t{n}", "name": "Bash", "input": {"command": "ls"}})

def result(n, text):
    return claude(n, "user", {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": f"t{n - 1}", "content": text}]})

def codex(kind, payload):
    return {"timestamp": "2026-03-01T10:00:00.000Z", "type": kind, "payload": payload}

def message(role, text):
    return codex("response_item", {"type": "message", "role": role, "content": [
        {"type": "output_text" if role == "assistant" else "input_text", "text": text}]})

def output(n, text):
    return codex("response_item", {"type": "function_call_output", "call_id": f"c{n}", "output": text})

def function(n):
    return codex("response_item", {"type": "function_call", "name": "shell", "call_id": f"c{n}", "arguments": "{}"})

if agent == "claude":
    path = f"{home}/.claude/projects/-w/{sid}.jsonl"
    lines = [claude(0, "user", {"role": "user", "content": "look at it"}), call(1), result(2, "word " * 2000),
             call(3), result(4, "@"), call(5), result(6, "other " * 2000),
             answer(7, {"type": "text", "text": "All was read."}),
             claude(8, "user", {"role": "user", "content": "and then?"}), answer(9, {"type": "text", "text": "That too."})]
else:
    path = f"{home}/.codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-{sid}.jsonl"
    lines = [codex("session_meta", {"id": sid, "timestamp": "2026-03-01T10:00:00.000Z", "cwd": home,
                                    "originator": "codex_exec", "cli_version": "0.0.0"}),
             message("user", "look at it"), codex("event_msg", {"type": "user_message", "message": "look at it"}),
             function(1), output(1, "@"), function(2), output(2, "word " * 2000), message("assistant", "All was read."),
             codex("event_msg", {"type": "agent_message", "message": "All was read."})]
os.makedirs(os.path.dirname(path), exist_ok=True)
with open(path, "w") as file:
    for line in lines:
        before, at, after = json.dumps(line).partition("@")
        file.write(before)
        for _ in range(size // 1000000 if at else 0):
            file.write("0123456789" * 100000)
        file.write(after + "\n")
print(path)
EOF
}
# bounded COMMAND…: runs it and leaves its peak memory in KB in $t_tmp/peak.
bounded() {
	t_run "$python" -c 'import resource, subprocess, sys
status = subprocess.run(sys.argv[2:]).returncode
open(sys.argv[1], "w").write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(status)' "$t_tmp/peak" "$FADEN" "$@"
}
fits() {
	t_ok "$1 does not hold the line in memory ($(cat "$t_tmp/peak") KB)" test "$(cat "$t_tmp/peak")" -lt $limit_kb
}

for agent in claude codex; do
	id=$claude
	[ $agent = claude ] || id=$codex
	path=$(session $agent $id)
	sum=$(sed -n 5p "$path" | cksum)
	t_exit "$agent: a list takes a long line" 0 bounded list --all
	fits "$agent: list"
	for words in show advise 'trim --dry-run' 'rollover --dry-run' 'smart-trim --digest' lineage; do
		# shellcheck disable=SC2086
		t_exit "$agent: $words takes a long line" 0 bounded $words $id
		fits "$agent: $words"
		[ "$words" = lineage ] ||
			t_like "$agent: $words names the line" "$(cat "$t_err")" 'a line that is too long to look into, 5; it'
	done
	t_exit "$agent: repair calls a session with a long line healthy" 0 bounded repair $id
	fits "$agent: repair"
	t_like "$agent: repair names the line" "$(cat "$t_out")" '^  note  oversize-line, line 5$'
	t_unlike "$agent: repair says nothing wrong about the rest" "$(cat "$t_out")" '^ +(minor|loss|block) '
	t_exit "$agent: a session with a long line is trimmed" 0 bounded trim --min-savings 0 --out "$t_tmp/out" $id
	fits "$agent: trim"
	t_is "$agent: the long line stays byte for byte" "$(sed -n 5p "$t_tmp"/out/*.jsonl | cksum)" "$sum"
	rm -rf "$t_tmp/out"
	sed 2d "$path" >"$path.new" && mv "$path.new" "$path"
	printf '{"torn' >>"$path"
	t_exit "$agent: a damaged session with a long line is not mended" 3 bounded repair --apply $id
	t_like "$agent: and it is said why" "$(cat "$t_err")" 'has lines that are too long to look into'
	rm "$path"
done
t_done
