#!/bin/sh
# faden index: made, brought up to date, checked, made anew.
. "$(dirname "$0")/../lib.sh"

here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1
a=aaaaaaaa-0000-4000-8000-000000000001
b=aaaaaaaa-0000-4000-8000-000000000002
c=01a00000-0000-7000-8000-000000000003
fa=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$a" 'one thing' 'two things')
fb=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$b" 'other thing')
"$t_helper/make-session" codex "$t_home/.codex" "$here" "$c" 'one thing' >/dev/null
state=$t_home/.local/state/faden
index=$state/index

# value KEY: of the last --json.
value() {
	python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$t_out" "$1"
}

t_exit 'there is nothing to check yet' 1 t_faden index --check
t_like 'that is said' "$(cat "$t_err")" 'no index yet'
t_exit 'an index is made' 0 t_faden index
t_like 'it tells what was read' "$(cat "$t_out")" 'read 3 of 3 sessions'
t_exit 'it is sound' 0 t_faden index --check
t_like 'that is said' "$(cat "$t_out")" 'sound'
t_exit 'a second time' 0 t_faden index
t_like 'nothing is read' "$(cat "$t_out")" '^up to date'
t_is 'nobody else can read it' "$(stat -c %a "$index" "$index"/*.segment "$index/index.db" | sort -u | tr '\n' ' ')" '600 700 '

size=$(stat -c %s "$fa")
tail -n 1 "$fa" >>"$fa"
t_exit 'a session has grown' 0 t_faden index --json
t_is 'its end alone is read' "$(value files_read) $(value read_bytes)" "1 $(($(stat -c %s "$fa") - size))"
sed -i 's/other/another/' "$fb"
t_exit 'a session was written anew' 0 t_faden index --json
t_is 'it is read from its start' "$(value files_rewritten) $(value read_bytes)" "1 $(stat -c %s "$fb")"
rm "$fb"
t_exit 'a session is gone' 0 t_faden index
t_like 'that is said' "$(cat "$t_out")" '1 session is gone'
t_exit 'the index is still sound' 0 t_faden index --check

t_exit '--rebuild makes it anew' 0 t_faden index --rebuild --json
t_is 'and says so' "$(value made_anew) $(value files_read)" 'asked 2'
t_exit '--check --rebuild is refused' 2 t_faden index --check --rebuild
t_exit 'a word is refused' 2 t_faden index something

# A byte of a segment.
segment=$(find "$index" -name '*.segment' | head -n 1)
printf 'X' | dd of="$segment" bs=1 seek=20 conv=notrunc 2>/dev/null
t_exit 'a flipped byte is found' 3 t_faden index --check
t_like 'it says what to do' "$(cat "$t_err")" "damaged.*'faden index' makes it anew"
t_exit 'it is made anew' 0 t_faden index
t_like 'with a notice' "$(cat "$t_err")" 'damaged.*it was made anew'
t_exit 'then it is sound' 0 t_faden index --check
t_exit 'once' 0 t_faden index
t_is 'the next time nothing is said' "$(cat "$t_err")" ''

# Of another version, an older one or a newer one.
for version in 1 0x7fffffff; do
	python3 - "$index/index.db" "$version" <<-'END'
		import sqlite3, sys
		db = sqlite3.connect(sys.argv[1])
		db.execute("UPDATE meta SET value = ? WHERE key = 'version'", (int(sys.argv[2], 0),))
		db.commit()
	END
	t_exit "one of version $version cannot be checked" 1 t_faden index --check
	t_exit 'it is made anew' 0 t_faden index
	t_like 'with a notice' "$(cat "$t_err")" 'another version of faden'
	t_exit 'then it is sound' 0 t_faden index --check
done

# Leftovers of a crash.
cp "$segment" "$index/0000ffff.segment" 2>/dev/null || : >"$index/0000ffff.segment"
: >"$index/.faden-abcdef"
t_exit 'a run after a crash' 0 t_faden index
t_is 'files of nobody are removed' "$(ls -A "$index" | grep -c -e ffff -e '^\.faden')" 0

# Somebody writes.
python3 - "$index/lock" "$t_tmp/held" <<'END' &
import fcntl, os, sys, time
fd = os.open(sys.argv[1], os.O_RDWR)
fcntl.flock(fd, fcntl.LOCK_EX)
open(sys.argv[2], "w").close()
while os.path.exists(sys.argv[2]):
    time.sleep(0.01)
END
until [ -e "$t_tmp/held" ]; do sleep 0.01; done
t_exit 'a reader does not wait for a writer' 0 t_faden index --check
t_faden index >"$t_tmp/waited" 2>&1 &
waiting=$!
rm "$t_tmp/held"
t_ok 'a second writer waits and goes on' wait $waiting

# Interrupted: what was read is kept, and the next run goes on there.
python3 - "$t_home/.claude/projects/-many" <<'END'
import json, os, sys
os.makedirs(sys.argv[1])
text = " ".join(f"word{i * 7919 % 30011}" for i in range(30000))
for n in range(200):
    with open(f"{sys.argv[1]}/cccccccc-0000-4000-8000-{n:012}.jsonl", "w") as file:
        file.write(json.dumps({"type": "user", "uuid": f"{n}", "cwd": "/w", "message":
            {"role": "user", "content": f"only{n} {text}"}}) + "\n")
END
rm -rf "$index"
: >"$t_err"
python3 - "$index" "$t_tmp/env" "$FADEN" 2>"$t_err" <<'END'
import os, signal, subprocess, sys, time
index, env, faden = sys.argv[1:]
child = subprocess.Popen([faden, "index"], env=dict(line.split("=", 1) for line in open(env).read().splitlines()))
while not os.path.exists(index + "/index.db"):
    time.sleep(0.001)
time.sleep(0.05)
child.send_signal(signal.SIGINT)
sys.exit(child.wait())
END
t_is 'an interrupted run has its status' "$?" 130
t_like 'it says what was kept' "$(cat "$t_err")" "interrupted: [0-9]+ sessions? w.* kept, [0-9]+ left; 'faden index' goes on"
t_exit 'the index is sound then' 0 t_faden index --check
t_exit 'the next run does the rest' 0 t_faden index --json
t_ok 'and not all of it again' python3 -c 'import json, sys
sys.exit(not 0 < json.load(open(sys.argv[1]))["files_read"] <= 204)' "$t_out"
t_exit 'then the last one is found' 0 t_faden search --json only199
rm -r "$t_home/.claude/projects/-many"

# Where nothing can be written.
if [ "$(id -u)" -ne 0 ]; then
	chmod 500 "$index"
	tail -n 1 "$fa" >>"$fa"
	t_exit 'a folder that cannot be written is an error' 5 t_faden index
	chmod 700 "$index"
fi
t_done
