#!/bin/sh
# faden trim while others write to the parent: refused or complete, never torn.
. "$(dirname "$0")/../lib.sh"

id=11111111-2222-4333-8444-555555555555
project=$t_home/.claude/projects/-work
file=$project/$id.jsonl
mkdir -p "$project"
t_tools python3

# base: a parent of some megabytes, so that there is time to write to it meanwhile.
base() {
	rm -f "$project"/*
	python3 - "$file" <<-'END'
		import json, sys
		with open(sys.argv[1], "w") as out:
		    parent = None
		    for i in range(300):
		        for kind, content in (
		            ("assistant", [{"type": "tool_use", "id": f"t{i}", "name": "Read", "input": {}}]),
		            ("user", [{"type": "tool_result", "tool_use_id": f"t{i}", "content": "x" * 20000}])):
		            uuid = f"{kind}-{i}"
		            out.write(json.dumps({"parentUuid": parent, "type": kind, "uuid": uuid, "sessionId": "s",
		                "timestamp": "2026-01-01T00:00:00Z",
		                "message": {"role": kind, "model": "m", "id": uuid, "content": content}}) + "\n")
		            parent = uuid
	END
}

# writer MODE: appends numbered lines until the file $t_tmp/stop is there; `halves` in two writes each,
# with the file held open; otherwise whole and by name, as the agents do it.
writer() {
	cat >"$t_tmp/writer.py" <<-'END'
		import json, os, sys, time
		path, mode, stop = sys.argv[1:]
		held = os.open(path, os.O_WRONLY | os.O_APPEND) if mode == "halves" else -1
		n = 0
		while not os.path.exists(stop):
		    line = (json.dumps({"late": n, "pad": "y" * 500}) + "\n").encode()
		    if mode == "halves":
		        os.write(held, line[:200])
		        time.sleep(0.03)
		        os.write(held, line[200:])
		        time.sleep(0.05)
		    else:
		        fd = os.open(path, os.O_WRONLY | os.O_APPEND)
		        os.write(fd, line)
		        os.close(fd)
		        time.sleep(0.001 if mode == "fast" else 0.01)
		    n += 1
		print(n)
	END
	rm -f "$t_tmp/stop"
	python3 "$t_tmp/writer.py" "$file" "$1" "$t_tmp/stop" >"$t_tmp/written" &
	t_writer=$!
	sleep 0.1
}
end_writer() {
	touch "$t_tmp/stop"
	wait $t_writer
}

# whole NEW [any]: every line is JSON, and the late ones are 0, 1, 2 … without a gap (in any order: a
# writer that had the old file open across the swap comes after one that opened the new one);
# prints how many.
whole() {
	python3 - "$@" <<-'END'
		import json, sys
		text = open(sys.argv[1], "rb").read()
		assert text.endswith(b"\n"), "no newline at the end"
		late = [v["late"] for v in map(json.loads, text.splitlines()) if "late" in v]
		wrong = [(i, n) for i, n in enumerate(sorted(late) if sys.argv[2:] else late) if i != n]
		assert not wrong, (wrong[:5], len(late))
		print(len(late))
	END
}

made=0
for mode in whole fast halves whole fast halves; do
	base
	writer $mode
	t_rc=0
	t_faden trim --json $id >"$t_out" 2>"$t_err" || t_rc=$?
	end_writer
	if [ "$t_rc" = 0 ]; then
		made=$((made + 1))
		new=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["path"])' "$t_out")
		t_ok "while another writes ($mode): what is made is complete" whole "$new"
	else
		t_is "while another writes ($mode): what is not made is refused" "$t_rc" 5
		t_is "while another writes ($mode): a refusal writes nothing" "$(ls -A "$project")" "$id.jsonl"
	fi
done
t_ok 'not all were refused' test "$made" -gt 2

for mode in whole fast whole; do
	base
	writer $mode
	t_rc=0
	t_faden trim --json --in-place $id >"$t_out" 2>"$t_err" || t_rc=$?
	end_writer
	t_ok "in place while another writes ($mode): it is done or refused" test "$t_rc" = 0 -o "$t_rc" = 5
	t_is "in place while another writes ($mode): no line is lost" "$(whole "$file" any)" "$(cat "$t_tmp/written")"
done

# Another file is put in its place, again and again.
base
cp "$file" "$t_tmp/other"
(
	while [ ! -e "$t_tmp/stop2" ]; do
		cp "$t_tmp/other" "$t_tmp/swap"
		mv "$t_tmp/swap" "$file"
	done
) &
swapper=$!
for turn in 1 2 3 4 5; do
	t_rc=0
	t_faden trim --json $id >"$t_out" 2>"$t_err" || t_rc=$?
	status=$t_rc
	t_ok "swapped $turn: it is done or refused ($status)" test "$status" = 0 -o "$status" = 5
	if [ "$status" = 0 ]; then
		new=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["path"])' "$t_out")
		t_is "swapped $turn: what is made is complete" "$(wc -l <"$new")" 600
	fi
done
touch "$t_tmp/stop2"
wait $swapper
t_done
