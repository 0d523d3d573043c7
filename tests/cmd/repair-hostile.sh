#!/bin/sh
# Sessions that are made to cost: repair, advise and trim go through them in linear time (a square
# would not end before the test's limit) and within their memory.
. "$(dirname "$0")/../lib.sh"

n=${FADEN_LONG:+1000000}
n=${n:-150000}
id=11111111-2222-4333-8444-555555555555
mkdir -p "$t_tmp/s"
file=$t_tmp/s/$id.jsonl
rollout=$t_tmp/s/rollout-2026-03-01T10-00-00-$id.jsonl

# make KIND: a line has a number; its uuid and parent are what KIND says.
make() {
	python3 - "$1" "$n" $id <<-'END'
		import sys
		kind, n, session = sys.argv[1], int(sys.argv[2]), sys.argv[3]
		uuid = lambda i: f'"00000000-0000-4000-8000-{i:012d}"'
		# what falls into one place where a table takes it from the product with this number
		inverse = pow(0x9e3779b97f4a7c15, -1, 1 << 64)
		def neighbour(i):
		    h = f"{inverse * (i + 1) % (1 << 64) ^ 1:016x}"
		    return f'"{h[:8]}-{h[8:12]}-{h[12:]}-8000-000000000000"'
		own = {"duplicates": lambda i: uuid(7), "neighbours": neighbour}.get(kind, uuid)
		parent = {
		    "chain": lambda i: uuid(i - 1) if i else "null",
		    "backwards": lambda i: uuid(i + 1) if i + 1 < n else "null",
		    "circle": lambda i: uuid((i - 1) % n),
		    "circles": lambda i: uuid(i ^ 1),
		    "dangling": lambda i: uuid(i + 10 ** 11),
		    "roots": lambda i: "null",
		    "neighbours": lambda i: neighbour(i - 1) if i else "null",
		    "star": lambda i: uuid(0) if i else "null",
		    "duplicates": lambda i: uuid(7),
		}[kind]
		for i in range(n):
		    print(f'{{"parentUuid":{parent(i)},"isSidechain":false,"type":"user","message":{{"role":"user",'
		          f'"content":"{i}"}},"uuid":{own(i)},"timestamp":"2026-03-01T10:00:00.000Z",'
		          f'"sessionId":"{session}"}}')
	END
}

# tools KIND: calls without results, results without calls, all of one id.
tools() {
	python3 - "$1" "$n" $id <<-'END'
		import sys
		kind, n, session = sys.argv[1], int(sys.argv[2]), sys.argv[3]
		uuid = lambda i: f'"00000000-0000-4000-8000-{i:012d}"'
		for i in range(n):
		    call = f'{{"type":"tool_use","id":"t{0 if kind == "one-id" else i}","name":"T{i}","input":{{}}}}'
		    result = f'{{"type":"tool_result","tool_use_id":"t{0 if kind == "one-id" else i}","content":"r"}}'
		    use = kind == "calls" or (kind == "one-id" and i % 2 == 0)
		    role, more = ("assistant", f'"id":"m{i}","model":"big",') if use else ("user", "")
		    print(f'{{"parentUuid":{uuid(i - 1) if i else "null"},"isSidechain":false,"type":"{role}","message":'
		          f'{{{more}"role":"{role}","content":[{call if use else result}]}},"uuid":{uuid(i)},'
		          f'"timestamp":"2026-03-01T10:00:00.000Z","sessionId":"{session}"}}')
	END
}

codex() {
	python3 - "$n" $id <<-'END'
		import sys
		n, session = int(sys.argv[1]), sys.argv[2]
		line = '{"timestamp":"2026-03-01T10:00:00.000Z","ordinal":%d,"type":"%s","payload":{%s}}'
		print(line % (0, "session_meta", f'"id":"{session}","session_id":"{session}"'))
		for i in range(1, n):
		    print(line % (i, "event_msg", '"type":"thread_rolled_back","num_turns":1000000') if i % 2 else
		          line % (i, "response_item", '"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]'))
	END
}

# status: 0 or 1 (something is wrong), anything else is a failure of ours.
look() {
	for command in 'repair --json' 'advise --json' 'trim -n --json'; do
		t_faden $command "$2" >"$t_out" 2>"$t_err"
		t_rc=$?
		t_ok "$1: $command ends, and within its memory" test $t_rc -le 1
	done
}

for kind in chain backwards circle circles dangling roots neighbours star duplicates; do
	make $kind >"$file"
	look $kind "$file"
done
t_exit 'a session of one uuid is mended' 0 t_faden repair --apply --out "$t_tmp/out" "$file"
for kind in calls results one-id; do
	tools $kind >"$file"
	look $kind "$file"
done
t_exit 'a session of one call id is mended' 0 t_faden repair --apply --out "$t_tmp/out" "$file"
# One line of entries, each behind openings that are never closed.
make roots >"$t_tmp/roots"
{
	head -n 1 "$t_tmp/roots"
	sed 's/^/{"a":{"b":{"c":/' "$t_tmp/roots" | tr -d '\n'
} >"$file"
look 'openings' "$file"
codex >"$rollout"
look 'roll-backs' "$rollout"
t_done
