#!/bin/sh
# faden doctor tries the store out: what a turn would meet is said before one meets it, with what to do.
. "$(dirname "$0")/../lib.sh"
cd "$t_home" || exit 1
state=$t_home/.local/state/faden
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do t_faden ask "remember me $i" >/dev/null 2>&1; done
python3 -c 'import sqlite3, sys
c = sqlite3.connect(sys.argv[1], isolation_level=None)
c.execute("VACUUM")
c.execute("PRAGMA wal_checkpoint(TRUNCATE)")' "$state/faden.db"
rm -f "$state/faden.db-wal" "$state/faden.db-shm"
cp -a "$state" "$t_tmp/good"
size=$(stat -c %s "$state/faden.db")

fresh() {
	rm -rf "$state"
	cp -a "$t_tmp/good" "$state"
}
store() { grep -E '^[a-z]+ +store ' "$t_out"; }

t_exit 'a sound store is no trouble' 0 t_faden doctor
t_like 'a sound store was read and written to' "$(store)" '^ok +store +/.*/faden\.db: all of it was read, and a record written$'
t_like 'the room on the disk is told' "$(cat "$t_out")" '^ok +disk +[0-9.]+ [kMGT]B left at /'
t_exit 'a turn works after doctor' 0 t_faden ask 'what did I say?'
t_like 'nothing was lost by doctor' "$(cat "$t_out")" 'remember me 12'
rm -rf "$state"
t_exit 'no store is no trouble' 0 t_faden doctor
t_like 'no store is told' "$(store)" '^ok +store .*: there was none; made now$'
t_ok 'and so it is' test -s "$state/faden.db"

# Cut at many places. The last page may be one that a turn does not need: that is not said to be well.
# The zeros at the end of it are not missed, so that the last cut is before them.
for bytes in 0 1; do
	fresh
	truncate -s $bytes "$state/faden.db"
	t_exit "a store of $bytes bytes is no failure" 0 t_faden doctor
	t_like "a store of $bytes bytes is called empty" "$(store)" '^warn +store .*is empty: what it remembered is gone — put a copy back'
	t_is "a store of $bytes bytes is left as it is" "$(stat -c %s "$state/faden.db")" $bytes
done
fresh
zeros=$(python3 -c 'import sys; t = open(sys.argv[1], "rb").read(); print(len(t) - len(t.rstrip(b"\0")))' "$state/faden.db")
for bytes in 2 50 99 100 512 4096 8192 20000 $((size / 2)) $((size - 4096)) $((size - zeros - 1)); do
	fresh
	truncate -s $bytes "$state/faden.db"
	cp "$state/faden.db" "$t_tmp/cut"
	t_exit "a store cut to $bytes bytes is a failure" 1 t_faden doctor
	t_like "a store cut to $bytes bytes is called damaged" "$(store)" "^fail +store .*/faden\\.db is damaged \\(.*'faden ask' fails with that, now or later — move it away"
	t_ok "a store cut to $bytes bytes is not written to" cmp "$state/faden.db" "$t_tmp/cut"
done
fresh
truncate -s 20000 "$state/faden.db"
t_exit 'what ask meets there is a failure' 5 t_faden ask x
t_like 'ask points to doctor' "$(cat "$t_err")" "damaged .*'faden doctor' says what to do"
t_exit 'doctor says it as JSON' 1 t_faden doctor --json
remedy=$(python3 -c 'import json, sys
print(next(c["remedy"] for c in json.load(open(sys.argv[1]))["checks"] if c["name"] == "store"))' "$t_out" | sed 's/^[^:]*: //; s/ (that .*//')
t_ok 'the remedy is a command that works' sh -c "$remedy"
t_exit 'a turn works after the remedy' 0 t_faden ask x
t_exit 'doctor is content after the remedy' 0 t_faden doctor

# Garbage in one page after the other: found wherever it is.
page=4096
bad=
at=0
while [ $at -lt "$size" ]; do
	fresh
	head -c $page /dev/zero | tr '\0' '\245' | dd of="$state/faden.db" bs=$page seek=$((at / page)) conv=notrunc status=none
	t_rc=0
	t_faden doctor >"$t_out" 2>&1 || t_rc=$?
	[ $t_rc = 1 ] && store | grep -q '^fail' || bad="$bad $((at / page))"
	at=$((at + page))
done
t_is "garbage in any of $((size / page)) pages is found" "$bad" ''
fresh
printf 'this is no database, but a text of more than a hundred bytes, which somebody has put in its place, for whatever reason\n' >"$state/faden.db"
t_exit 'a text in its place is a failure' 1 t_faden doctor
t_like 'a text in its place is told' "$(store)" '^fail +store .*is damaged \(file is not a database\)'
fresh
python3 -c 'import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute("PRAGMA user_version = 999"); c.commit()' "$state/faden.db"
t_exit 'a store of a newer faden is a failure' 1 t_faden doctor
t_like 'a store of a newer faden is told' "$(store)" '^fail +store .*newer faden \(schema 999, .*upgrade'

# Held by another process for longer than doctor waits.
fresh
python3 -c 'import sqlite3, sys, time
c = sqlite3.connect(sys.argv[1], isolation_level=None)
c.execute("BEGIN IMMEDIATE")
open(sys.argv[2], "w").close()
time.sleep(60)' "$state/faden.db" "$t_tmp/held" &
holder=$!
t_wait_for 10 test -e "$t_tmp/held"
t_exit 'a store that is held is no failure' 0 t_faden doctor
t_like 'a store that is held is told' "$(store)" '^warn +store .*is held by another process'
kill $holder
wait $holder 2>/dev/null

# What may not be read or written. The superuser may everything, so another user tries.
if [ "$(id -u)" = 0 ]; then
	chmod 711 "$t_tmp"
	as_user() { t_run setpriv --reuid=65534 --regid=65534 --clear-groups "$FADEN" "$@"; }
	fresh_user() {
		fresh
		chown -R 65534:65534 "$t_home"
	}
else
	as_user() { t_faden "$@"; }
	fresh_user() { fresh; }
fi
t_tools setpriv unshare mount dd sh
fresh_user
as_user ask x >/dev/null 2>&1
if [ -e "$state/faden.db-wal" ]; then
	for file in faden.db faden.db-wal faden.db-shm; do
		chmod 000 "$state/$file"
		t_exit "$file without permissions is a failure" 1 as_user doctor
		t_like "$file without permissions is named" "$(store)" "^fail +store .*cannot be used \\(/.*/$file: Permission denied\\); 'faden ask' fails with that, now or later — get the right"
		t_exit "ask fails with $file" 5 as_user ask x
		chmod 600 "$state/$file"
	done
else
	t_skip 'files without permissions' 'no user to try with'
fi
chmod 500 "$state"
rm -f "$state/faden.db-wal" "$state/faden.db-shm"
t_exit 'a folder that cannot be written is a failure' 1 as_user doctor
t_like 'a folder that cannot be written is told' "$(cat "$t_out")" '^fail +state .*Permission denied'
t_like 'a store in such a folder is told' "$(store)" '^fail +store .*cannot be written to \('
t_exit 'ask fails in such a folder' 5 as_user ask x
chmod 700 "$state"

# What texts mean: files that are there, of the right size even, may not be what they were.
models=$t_home/.local/share/faden/models
size_of() { sed -n "s|.*\"$1\", \([0-9]*\),.*|\1|p" "$t_root/src/model/table.c"; }
routing() { grep -E '^[a-z]+ +routing ' "$t_out"; }
fresh
mkdir -p "$models/meaning" "$models/runtime"
truncate -s 100 "$models/meaning/model.onnx"
truncate -s "$(size_of model/tokenizer.json)" "$models/meaning/tokenizer.json"
t_exit 'a cut network is no failure' 0 t_faden doctor
t_like 'a cut network is told, with what mends it' "$(routing)" '^warn +routing +by words alone: .* is damaged.*; .faden model install meaning. mends it$'
truncate -s "$(size_of model/onnx/model_quantized.onnx)" "$models/meaning/model.onnx"
t_exit 'a network of the right size alone is no failure' 0 t_faden doctor
t_like 'a network of the right size alone is told' "$(routing)" '^warn +routing +by words alone: [^;]*; .faden model install (meaning|runtime). [a-z]+ it$'
t_exit 'another program is served by words then' 0 t_faden route --stdio </dev/null
t_like 'which route says' "$(cat "$t_err")" 'route: by words alone: .*faden model install meaning'
rm -r "$models"

# A disk without room: a small one, filled.
full() {
	t_run unshare -rm sh -c "mount -t tmpfs -o size=1m none '$state' && cp -a '$t_tmp/good/.' '$state' &&
		{ dd if=/dev/zero of='$state/fill' bs=4096 2>/dev/null; '$FADEN' \"\$@\"; }" sh "$@"
}
t_tools cp
fresh
chown -R "$(id -u):$(id -g)" "$t_home"
if t_run unshare -rm sh -c "mount -t tmpfs none '$state'" 2>/dev/null; then
	t_exit 'a full disk is a failure' 1 full doctor
	t_like 'a full disk is told' "$(cat "$t_out")" '^fail +disk +0 B left at .*make room'
	t_like 'a store on a full disk is told' "$(store)" "^fail +store .*cannot be written to \\(.*(full|No space).*'faden ask' fails with that, now or later — make room"
	t_exit 'ask fails on a full disk' 5 full ask x
else
	t_skip 'a full disk is a failure' 'no file system can be mounted here'
fi

# What a turn meets is what is said of it.
fresh
rm -f "$state/faden.db"* && mkfifo "$state/faden.db"
t_exit 'a pipe in place of the store is a failure' 1 t_faden doctor
t_like 'it is said to be none' "$(store)" '^fail +store .* cannot be used \(it is not a file\)'
t_exit 'as a turn finds' 5 t_faden ask x
fresh
t_exit 'a store with a log is no failure' 0 t_faden doctor
rm -f "$state/faden.db-wal" # which was folded in when it was looked at
python3 - "$state/faden.db" <<'PY'
import sqlite3, sys
pages = [row[0] for row in sqlite3.connect(sys.argv[1]).execute(
    "SELECT rootpage FROM sqlite_schema WHERE type = 'index' AND name NOT LIKE 'sqlite%'")]
with open(sys.argv[1], "r+b") as file:
    for page in pages:
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 4096)
PY
t_exit 'a store with many damaged pages is a failure' 1 t_faden doctor
t_like 'one of them is named, and the way out' "$(store)" '^fail +store .*is damaged \([^()*]+(\(\))?[^()*]*; [0-9]+ more\); .*mkdir damaged && mv faden.db\*'
fresh
python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript("DROP VIEW attempt; DROP TABLE step; PRAGMA wal_checkpoint(TRUNCATE)")' "$state/faden.db"
t_exit 'a store without one of its tables is a failure' 1 t_faden doctor
t_like 'which one is said' "$(store)" '^fail +store .*is damaged \(there is no .*; .faden ask. fails'
t_exit 'as a turn finds again' 5 t_faden ask x
fresh

# The index, which can be made again.
index() { grep -E '^[a-z]+ +index ' "$t_out"; }
t_exit 'no index is no trouble' 0 t_faden doctor
t_like 'that there is none is said' "$(index)" 'no index yet'
t_exit 'an index is made' 0 t_faden index
t_exit 'a sound index is no trouble' 0 t_faden doctor
t_like 'it was looked at' "$(index)" '^ok +index .*database was read'
rm -f "$state/index/index.db-wal" # which was folded in when it was looked at
python3 - "$state/index/index.db" <<'PY'
import os, sys
with open(sys.argv[1], "r+b") as file:
    file.seek(8192)
    file.write(os.urandom(12288))
PY
t_exit 'a damaged index is no failure' 0 t_faden doctor
t_like 'it is said, with the way out' "$(index)" '^warn +index .*damaged.*faden index'

# The voice: what listen would find with the same settings, and how that is mended.
voice() { grep -E '^[a-z]+ +voice ' "$t_out"; }
# finds NAME PATTERN [SETTING…]: a line of the voice with these settings; doctor is content all the same.
finds() {
	finds_name=$1
	finds_pattern=$2
	shift 2
	for finds_setting; do t_setenv "$finds_setting"; done
	t_exit "$finds_name: no failure" 0 t_faden doctor
	t_like "$finds_name" "$(voice)" "$finds_pattern"
	for finds_setting; do t_unsetenv "${finds_setting%%=*}"; done
}
get="what listening needs is not installed: 'faden voice install"
finds 'nothing of the voice is there' "^note +voice +$get' gets it\$"
t_is 'one remedy is said once' "$(voice | grep -c 'faden voice install')" 1
t_like 'nothing that speaks is told, too' "$(voice)" '^note +voice .*no voice to speak with: espeak-ng is not installed'
finds 'a model that was chosen and is not there' "^warn +voice +$get --model small' gets it\$" FADEN_STT_MODEL=small
t_is 'what gets it gets the rest' "$(voice | grep -c 'faden voice install')" 1
finds 'an engine that was chosen and is not there' "^warn +voice +$get --model moonshine' gets it\$" FADEN_STT_PROVIDER=moonshine
finds 'a model that there is none of' "^warn +voice +there is no Whisper 'huge': base or small" FADEN_STT_MODEL=huge
finds 'a recogniser without its program' '^warn +voice +no program is set .*: set stt\.command, or' FADEN_STT_PROVIDER=exec
t_like 'what else is missing is said beside it' "$(voice)" "^note +voice +$get' gets it\$"
finds 'a recogniser without its server' '^warn +voice +no server is set .*: set stt\.url, or' FADEN_STT_PROVIDER=http
finds 'a program that is not there' '^warn +voice +no/where is not there: set stt\.command ' FADEN_STT_COMMAND=no/where
finds 'a voice without its program' '^warn +voice .*no voice to speak with: no program is set .*tts\.command' FADEN_TTS_PROVIDER=exec
finds 'a voice without its server' '^warn +voice .*: set tts\.url, or' FADEN_TTS_PROVIDER=http
finds 'a voice whose program is not there' '^warn +voice .*: no/where is not there: set tts\.command ' FADEN_TTS_COMMAND=no/where
printf '#!/bin/sh\n' >"$t_bin/espeak-ng"
chmod +x "$t_bin/espeak-ng"
finds 'a voice that was not said which' '^warn +voice .*: no voice is set: set tts\.voice to its \.onnx file' FADEN_TTS_PROVIDER=piper
finds 'a voice that is not there' '^warn +voice .*: /no/de\.onnx is not there: set tts\.voice ' FADEN_TTS_PROVIDER=piper FADEN_TTS_VOICE=de=/no/de.onnx
rm "$t_bin/espeak-ng"

t_done
