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

# writer MODE: appends numbered lines until the file $t_tmp/stop is there, each by opening the file by its
# name, as Claude Code does. `fast` without much of a pause; `slow` with the file open for some time
# before and after each line; `held` keeps it open all the time; `halves` too, with two writes a line.
writer() {
	cat >"$t_tmp/writer.py" <<-'END'
		import json, os, random, sys, time
		path, mode, stop = sys.argv[1:]
		held = os.open(path, os.O_WRONLY | os.O_APPEND) if mode in ("halves", "held") else -1
		n = 0
		open(stop + ".ready", "w").close()
		while not os.path.exists(stop):
		    line = (json.dumps({"late": n, "pad": "y" * 500}) + "\n").encode()
		    if mode == "halves":
		        os.write(held, line[:200])
		        time.sleep(0.03)
		        os.write(held, line[200:])
		        time.sleep(0.05)
		    elif mode == "held":
		        os.write(held, line)
		        time.sleep(random.random() * 0.1)
		    else:
		        fd = os.open(path, os.O_WRONLY | os.O_APPEND)
		        if mode == "slow":
		            time.sleep(random.random() * 0.01)
		        os.write(fd, line)
		        if mode == "slow":
		            time.sleep(random.random() * 0.01)
		        os.close(fd)
		        time.sleep(0.001 if mode == "fast" else random.random() * 0.02)
		    n += 1
		print(n)
	END
	rm -f "$t_tmp/stop" "$t_tmp/stop.ready"
	python3 "$t_tmp/writer.py" "$file" "$1" "$t_tmp/stop" >"$t_tmp/written" &
	t_writer=$!
	until [ -e "$t_tmp/stop.ready" ]; do sleep 0.01; done
	sleep 0.05
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

# leases: whether the file system here has them; without, two lines may change places.
leases() {
	python3 -c 'import fcntl, os, sys
fd = os.open(sys.argv[1], os.O_RDONLY)
fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_RDLCK)' "$file" 2>/dev/null
}

# in_place COMMAND…: in place while another writes; every line is there afterwards, done or refused.
in_place() {
	writer $mode
	t_rc=0
	t_faden "$@" >"$t_out" 2>"$t_err" || t_rc=$?
	status=$t_rc
	sleep 0.1
	end_writer
	t_ok "in place while another writes ($mode): $1 is done or refused" test "$status" = 0 -o "$status" = 5
	t_is "in place while another writes ($mode): $1 loses no line" "$(whole "$file" $any)" "$(cat "$t_tmp/written")"
	t_is "in place while another writes ($mode): $1 leaves nothing behind" "$(ls -A "$project")" "$id.jsonl"
	[ "$status" != 0 ] || done_in_place=$((done_in_place + 1))
}
base
any=any
leases && any=
done_in_place=0
for mode in whole fast slow whole fast slow; do
	base
	in_place trim --json --in-place $id
	sed -i '2s/"parentUuid": "[^"]*"/"parentUuid": "nobody"/' "$file"
	sed -i '/"late"/d' "$file"
	in_place repair --json --in-place $id
done
t_ok "in place: not all were refused ($done_in_place of 12 done)" test "$done_in_place" -gt 3

# A program that keeps the file open and tells nobody is found and named, before anything is done.
mode=held
for command in trim repair; do
	base
	sed -i '2s/"parentUuid": "[^"]*"/"parentUuid": "nobody"/' "$file"
	in_place $command --in-place $id
	t_is "held open: $command is refused" "$status" 5
	t_like "held open: $command names who has it open" "$(cat "$t_err")" "in use by python3[^ ]* \(process $t_writer\)"
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
