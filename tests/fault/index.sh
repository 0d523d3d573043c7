#!/bin/sh
# The index under kills and storage faults: at every point what is there can be read, the next run
# finishes, and then all is found that a fresh index finds.
. "$(dirname "$0")/../lib.sh"
t_need_faults 3
. "$(dirname "$0")/sweep.sh"

project=$t_home/.claude/projects/-work
index=$t_home/.local/state/faden/index
dump=$t_build/tests/index-dump
mkdir -p "$project"

# sessions FROM TO LINES: files of that many lines, the same every time.
sessions() {
	python3 - "$project" "$@" <<-'END'
		import json, random, sys
		folder, first, last, lines = sys.argv[1], *map(int, sys.argv[2:])
		words = [f"w{i * 7919 % 9973}" for i in range(4000)] + ["retryLimit", "src/cli/main.c", "Straße"]
		for n in range(first, last):
		    rng = random.Random(n)
		    with open(f"{folder}/aaaaaaaa-0000-4000-8000-{n:012}.jsonl", "w") as file:
		        for i in range(lines):
		            text = " ".join(words[int(rng.random() ** 3 * len(words))] for _ in range(60))
		            role = "user" if i % 2 == 0 else "assistant"
		            file.write(json.dumps({"type": role, "uuid": f"{n}-{i}", "cwd": "/work",
		                "timestamp": "2026-03-01T10:00:00.000Z", "message": {"role": role, "content": text}}) + "\n")
	END
}
file() { printf '%s/aaaaaaaa-0000-4000-8000-%012d.jsonl' "$project" "$1"; }
update() { t_faden index; }
find_all() { "$dump" "$index" | LC_ALL=C sort; }

# fresh: what an index that was made in one go finds, in $t_tmp/want.
fresh() {
	mv "$index" "$t_tmp/aside" 2>/dev/null
	update >/dev/null 2>&1
	find_all >"$t_tmp/want"
	rm -rf "$index"
	mv "$t_tmp/aside" "$index" 2>/dev/null
}

# An index, and sessions that are new, grown, rewritten and of which the last line is torn.
sessions 1 9 20
update >"$t_out" 2>&1
for i in 1 2 3 4 5 6; do # small segments, nearly enough for a merge
	tail -n 1 "$(file $i)" >>"$(file $i)"
	update >"$t_out" 2>&1
done
t_exit 'the index before is sound' 0 t_faden index --check
sessions 20 24 30
for i in 1 2; do tail -n 2 "$(file $i)" >"$t_tmp/x" && cat "$t_tmp/x" >>"$(file $i)"; done
sed -i 's/w/ww/' "$(file 3)"
printf '%s' "$(tail -n 1 "$(file 4)")" >>"$(file 4)"
cp -a "$t_home" "$t_tmp/clean-home"
fresh
t_ok 'something is found' test "$(wc -l <"$t_tmp/want")" -gt 250

restore() {
	rm -rf "$t_home"
	cp -a "$t_tmp/clean-home" "$t_home"
}

look() {
	find_all >"$t_tmp/got" 2>"$t_tmp/why" || echo "$1: cannot be read: $(cat "$t_tmp/why")"
	[ ! -s "$t_tmp/why" ] || echo "$1: cannot be read: $(cat "$t_tmp/why")"
	update >"$t_tmp/second" 2>&1 || echo "$1: the next run fails: $(cat "$t_tmp/second")"
	! grep -q anew "$t_tmp/second" || echo "$1: it was taken for damaged: $(cat "$t_tmp/second")"
	t_faden index --check >"$t_tmp/second" 2>&1 || echo "$1: not sound: $(cat "$t_tmp/second")"
	find_all | cmp -s - "$t_tmp/want" || echo "$1: another result than a fresh index"
	[ "$(find "$index" -name '.faden*' | wc -l)" = 0 ] || echo "$1: left behind: $(ls -A "$index")"
}

sweep 'kill' update look FADEN_FAULT_MATCH=/index/ FADEN_FAULT_KILL=1
sweep 'full disk' update look FADEN_FAULT_MATCH=/index/ FADEN_FAULT_ERRNO=ENOSPC FADEN_FAULT_STICKY=1
sweep 'an error of the disk' update look FADEN_FAULT_MATCH=/index/ FADEN_FAULT_ERRNO=EIO
sweep 'half a write' update look FADEN_FAULT_MATCH=/index/ FADEN_FAULT_SHORT=1

# Made from nothing. What is there before the first commit is no index yet.
restore
rm -rf "$index"
mv "$t_home" "$t_tmp/none" && rm -rf "$t_tmp/clean-home" && mv "$t_tmp/none" "$t_tmp/clean-home"
look_new() {
	find_all >"$t_tmp/got" 2>"$t_tmp/why"
	[ ! -s "$t_tmp/why" ] || grep -q 'no index yet\|not made yet' "$t_tmp/why" || echo "$1: cannot be read: $(cat "$t_tmp/why")"
	update >"$t_tmp/second" 2>&1 || echo "$1: the next run fails: $(cat "$t_tmp/second")"
	find_all | cmp -s - "$t_tmp/want" || echo "$1: another result than a fresh index"
}
sweep 'kill while it is made' update look_new FADEN_FAULT_MATCH=/index/ FADEN_FAULT_KILL=1
sweep 'full disk while it is made' update look_new FADEN_FAULT_MATCH=/index/ FADEN_FAULT_ERRNO=ENOSPC FADEN_FAULT_STICKY=1

# Kills at random moments of one long story, and nothing between them but more to read.
restore
sessions 100 180 60
update >"$t_out" 2>&1
kills=${FADEN_KILLS:-200}
python3 - "$kills" "$project" "$dump" "$index" - env -i HOME="$t_home" PATH="$PATH" "$FADEN" >"$t_tmp/story" 2>&1 <<'END'
import os, random, signal, subprocess, sys, time

kills, project, dump, index = int(sys.argv[1]), *sys.argv[2:5]
faden = sys.argv[6:]
rng = random.Random(11)
files = sorted(os.path.join(project, name) for name in os.listdir(project))
died = 0
start = time.monotonic()
subprocess.run([*faden, "index", "--rebuild"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
whole = time.monotonic() - start
for n in range(kills):
    for path in rng.sample(files, 8):
        with open(path, "rb") as file:
            lines = file.read().splitlines(True)
        if rng.random() < 0.2:
            with open(path, "wb") as file:
                file.writelines(lines[len(lines) // 3:])
        else:
            with open(path, "ab") as file:
                file.write(lines[-1] if lines[-1].endswith(b"\n") else b"\n")
    argv = [*faden, "index"] + (["--rebuild"] if rng.random() < 0.3 else [])
    child = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        child.wait(rng.random() * whole * 0.8)
    except subprocess.TimeoutExpired:
        child.send_signal(signal.SIGKILL)
        child.wait()
        died += 1
    said = child.stderr.read().decode()
    if "damaged" in said:
        print(f"kill {n}: {said}")
    seen = subprocess.run([dump, index], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if seen.returncode != 0:
        print(f"kill {n}: cannot be read: {seen.stderr.decode()}")
print(f"# {died} of {kills} were killed", file=sys.stderr)
if died < kills // 4:
    print(f"only {died} of {kills} runs were killed")
END
t_note "$(grep '^#' "$t_tmp/story")"
t_is 'after every kill the index can be read' "$(grep -v '^#' "$t_tmp/story" | head -n 5)" ''
t_exit 'the run after the last kill finishes' 0 t_faden index
t_exit 'then the index is sound' 0 t_faden index --check
find_all >"$t_tmp/got"
t_faden index --rebuild >/dev/null 2>&1
find_all >"$t_tmp/want"
t_ok 'and finds what a fresh one finds' cmp "$t_tmp/got" "$t_tmp/want"
t_done
