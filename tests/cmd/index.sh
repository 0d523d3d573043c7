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
t_is 'and says so, with what only the archive has' "$(value made_anew) $(value files_read) $(value files)" 'asked 3 3'
printf '{"type":"user","message":{"role":"user","content":"a damson"}}\n' >"${fa%/*}/aaaaaaaa-0000-4000-8000-000000000004.jsonl"
t_exit 'one is indexed and not archived' 0 t_faden index --no-archive --json
t_is 'it is one more' "$(value sources)" 4
rm "${fa%/*}/aaaaaaaa-0000-4000-8000-000000000004.jsonl"
t_exit 'and goes while the index is made anew' 0 t_faden index --rebuild
t_like 'it is said that nothing is left of it' "$(cat "$t_out")" '^1 session is neither there nor in the archive, and is found no more$'
t_unlike 'not that its words are' "$(cat "$t_out")" 'words are found'
t_like 'it is not counted any more' "$(cat "$t_out")" '^3 sessions, '
t_exit 'nor by the next run' 0 t_faden index --json
t_is 'which counts what is there' "$(value sources)" 3
t_exit 'as the check does' 0 t_faden index --check --json
t_is 'the same' "$(value sources)" 3
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

# The log of its database, which would heal it, is folded in: by faden, since another SQLite knows of no
# check sums.
fold() { t_faden index --check >/dev/null && rm -f "$1/index.db-wal"; }

# A search makes it anew as well, and says so: whatever is damaged, and whenever that is noticed.
harm() {
	case $1 in
	footer) truncate -s -8 "$2"/*.segment ;;
	missing) rm "$2"/*.segment ;;
	database)
		fold "$2"
		printf 'this is no database any more' | dd of="$2/index.db" conv=notrunc 2>/dev/null
		;;
	words) # that the segment is whole otherwise is all that is looked at before
		python3 - "$2"/*.segment <<-'END'
			import sys
			for path in sys.argv[1:]:
			    with open(path, "r+b") as file:
			        data = bytearray(file.read())
			        for i in range(0, len(data) // 2, 16):
			            data[i] ^= 0x55
			        file.seek(0)
			        file.write(data)
		END
		;;
	esac
}
for how in footer missing database words; do
	t_exit "before ($how)" 0 t_faden search thing
	t_is 'nothing is said' "$(cat "$t_err")" ''
	harm "$how" "$index"
	t_exit "a search in one with damage ($how) finds what there is" 0 t_faden search --json thing
	t_is 'as if nothing had been' "$(python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))))' "$t_out")" 5
	t_like 'it is said what was wrong, and what is done' "$(cat "$t_err")" '^faden: (index|segment) .*damaged.*; it was made anew from the sessions$'
	t_is 'once' "$(wc -l <"$t_err")" 1
	t_exit 'then it is sound' 0 t_faden index --check
done

# Of another version, an older one or a newer one.
for version in 1 0x7fffffff; do
	python3 - "$index/index.db" "$version" <<-'END'
		import os, sqlite3, sys
		db = sqlite3.connect(sys.argv[1])
		db.execute("UPDATE meta SET value = ? WHERE key = 'version'", (int(sys.argv[2], 0),))
		db.commit()
		os._exit(0) # what is closed is folded in, without check sums
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

# Its database damaged: as of anything else of it, it is made anew with a word.
# damage_database PAGES: random bytes in these, or none at all from there on.
damage_database() {
	fold "$index"
	python3 - "$index/index.db" "$@" <<'PY'
import os, sys
with open(sys.argv[1], "r+b") as file:
    for page in sys.argv[2:]:
        file.seek(int(page) * 4096)
        file.write(os.urandom(4096))
PY
}
t_exit 'the index is made' 0 t_faden index --rebuild
fold "$index"
# A bit of what no key is made of: SQLite has no means to notice that.
python3 - "$index/index.db" <<'PY'
import sys
with open(sys.argv[1], "r+b") as file:
    data = file.read()
    file.seek(data.rindex(b"claude/"))
    file.write(b"alaude/")
PY
t_exit '--check finds a row that is not what was written' 3 t_faden index --check
t_exit 'it is not served' 0 t_faden search --json one
t_unlike 'but made anew' "$(cat "$t_out")" alaude
t_like 'as is said' "$(cat "$t_err")" 'index.db cannot be read.*made anew from the sessions'
t_exit 'the index is sound then' 0 t_faden index --check
fold "$index"
pages=$(($(stat -c %s "$index/index.db") / 4096))
damage_database 2 3 4
t_exit '--check finds a damaged database' 3 t_faden index --check
t_like 'and says what helps' "$(cat "$t_err")" "index.db cannot be read.*'faden index' makes it anew"
t_exit 'what helps does so' 0 t_faden index
t_like 'with a word' "$(cat "$t_err")" 'damaged .*made anew from the sessions'
t_exit 'the index is sound then' 0 t_faden index --check
# at_most_none COMMAND…: it ends well, or finds nothing: what is made anew may not be complete in time.
at_most_none() { t_faden "$@" >"$t_out" 2>"$t_err" || [ $? -eq 1 ]; }
bad=
for page in $(seq 1 "${FADEN_SWEEP_STEP:-3}" $((pages - 1))); do
	for first in 'search one' 'index --rebuild' index; do
		damage_database "$page"
		# shellcheck disable=SC2086 # a command with its word
		at_most_none $first || bad="$bad $page:$first"
		at_most_none search one || bad="$bad $page:$first:search"
		t_faden index >"$t_out" 2>"$t_err" || bad="$bad $page:$first:index"
		# A page that nobody has read yet may still be damaged: the check finds it, and index mends it.
		t_faden index --check >"$t_out" 2>"$t_err" || t_faden index >"$t_out" 2>"$t_err"
		t_faden index --check >"$t_out" 2>"$t_err" || bad="$bad $page:$first:check"
	done
done
t_is 'whichever page it is, and whoever meets it first' "$bad" ''


# What is long, and what is too long.
long=${fa%/*}/aaaaaaaa-0000-4000-8000-00000000000d.jsonl
many() { head -c "$1" /dev/zero | tr '\0' ' '; }
{
	printf '{"type":"user","uuid":"u","message":{"role":"user","content":"%s mirabelle"}}\n' "$(many 3000000)"
	printf '{"type":"user","uuid":"u","message":{"role":"user","content":"' && many 84000000 && printf '"}}\n'
	printf '{"type":"user","uuid":"u","message":{"role":"user","content":"a greengage"}}\n'
} >"$long"
t_exit 'a session with huge lines is indexed' 0 t_faden index
t_like 'what is too long is named' "$(cat "$t_err")" 'warning: .*00d[.]jsonl: the line at byte [0-9]+, which is longer than 80 MB; left out'
t_exit 'the end of 3 MB is found' 0 t_faden search mirabelle
t_exit 'and what comes behind' 0 t_faden search greengage
t_exit 'a second time' 0 t_faden index
t_is 'nothing is said again' "$(cat "$t_err")" ''
rm "$long"

t_done
