#!/bin/sh
# What is broken is said with a remedy, and nothing is lost.
. "$(dirname "$0")/../lib.sh"
cd "$t_home" || exit 1
state=$t_home/.local/state/faden
mkdir -p "$t_home/.config/faden"
config=$t_home/.config/faden/config.yaml

t_exit 'a turn makes a store' 0 t_faden ask remember me
cp "$state/faden.db" "$t_tmp/good.db"
[ ! -f "$state/faden.db-wal" ] || cp "$state/faden.db-wal" "$t_tmp/good.db-wal"

printf 'ai:\n  agent: [oops\n' >"$config"
t_exit 'a broken configuration is refused' 3 t_faden ask x
t_like 'a broken configuration is named with its line' "$(cat "$t_err")" 'config\.yaml:[0-9]'
printf 'ai:\n  agent: nobody\n' >"$config"
t_exit 'a wrong value is refused' 3 t_faden ask x
t_like 'a wrong value is named with its line' "$(cat "$t_err")" 'config\.yaml:2'
printf 'commands:\n  reset_keywords:\n    - ""\n' >"$config"
t_exit 'an empty keyword is refused' 3 t_faden ask x
t_like 'an empty keyword is named with its line' "$(cat "$t_err")" 'config\.yaml:3'
t_exit 'doctor works with a broken configuration' 1 t_faden doctor
t_like 'doctor shows the broken configuration' "$(cat "$t_out")" '^fail  config .*config\.yaml:3'
rm "$config"
t_exit 'doctor finds nothing wrong without a configuration' 0 t_faden doctor
t_like 'doctor tells where the agents keep their sessions' "$(cat "$t_out")" '^ok    claude sessions  .*/\.claude'
t_exit 'doctor says the same as JSON' 0 t_faden doctor --json
t_like 'its JSON names each check' "$(cat "$t_out")" '"name":"codex sessions","status":"ok"'

# a program that keeps no record is asked, and faden is killed meanwhile
printf '#!/bin/sh\ncat >/dev/null\necho $$ >%s\nexec sleep 60\n' "$t_tmp/asked" >"$t_tmp/program"
chmod +x "$t_tmp/program"
mkdir -p "$t_home/elsewhere"
cd "$t_home/elsewhere" || exit 1
printf 'ai:\n  agent: exec\n  exec: {command: [%s]}\n' "$t_tmp/program" >"$config"
t_faden ask 'paint it red' >/dev/null 2>&1 &
t_ok 'an agent is asked' t_wait_for 10 test -s "$t_tmp/asked"
pid=$(pgrep -f -x "$FADEN ask paint it red")
kill -KILL "$pid" "$(cat "$t_tmp/asked")"
t_ok 'faden is killed while the agent works' t_wait_for 10 eval '! t_running "$pid"'
printf '#!/bin/sh\ncat\n' >"$t_tmp/program"
t_exit 'the turn after a kill succeeds' 0 t_faden ask and blue
t_like 'the turn after a kill says what is not known' "$(cat "$t_err")" 'whether "paint it red" reached the agent is not known'

# started by one who does not care how its children end
printf '#!/bin/sh\ncat >/dev/null\nexit 7\n' >"$t_tmp/program"
t_exit 'a program that fails below a parent that ignores SIGCHLD is a failure' 4 \
	t_run env --ignore-signal=CHLD "$FADEN" ask x
t_like 'the exit status is known though SIGCHLD is ignored' "$(cat "$t_err")" 'exit status 7'
cd "$t_home" || exit 1
rm "$config"

rm -f "$state/faden.db-wal" "$state/faden.db-shm"
head -c 100000 /dev/zero | tr '\0' 'z' >"$state/faden.db"
t_exit 'a damaged store is a failure' 5 t_faden ask x
t_like 'a damaged store is told with the remedy' "$(cat "$t_err")" 'damaged.*faden doctor'
t_is 'a damaged store is left as it is' "$(head -c 3 "$state/faden.db")" zzz
cp "$t_tmp/good.db" "$state/faden.db"
[ ! -f "$t_tmp/good.db-wal" ] || cp "$t_tmp/good.db-wal" "$state/faden.db-wal"
t_exit 'a store that is put back is used' 0 t_faden ask 'what did I say?'
t_like 'a store that is put back goes on where it was' "$(cat "$t_out")" '^1\. remember me'

if command -v sqlite3 >/dev/null; then
	sqlite3 "$state/faden.db" 'PRAGMA user_version = 999'
	t_exit 'a store of a newer version is refused' 5 t_faden ask x
	t_like 'a store of a newer version asks for an upgrade' "$(cat "$t_err")" 'newer faden.*upgrade'
	t_is 'a store of a newer version is left untouched' "$(sqlite3 "$state/faden.db" 'PRAGMA user_version')" 999
else
	t_skip 'a store of a newer version is refused' 'sqlite3 is not installed'
fi

# What is no file is neither waited for nor read, whoever names it.
no_wait() { t_run timeout -k 1 20 "$FADEN" --state "$t_tmp/fresh" "$@"; }
mkdir -p "$t_home/.claude/projects/-x" "$t_home/.codex" "$t_home/.config/faden"
cd "$t_home" || exit 1
mkfifo "$t_tmp/pipe" "$t_home/.claude/settings.json" "$t_home/.codex/hooks.json" \
	"$t_home/.claude/projects/-x/11111111-1111-4111-8111-111111111111.jsonl"
for words in advise lineage repair resume rollover show smart-trim trim; do
	for what in pipe device; do
		path=$t_tmp/pipe
		[ $what = pipe ] || path=/dev/zero
		# shellcheck disable=SC2086
		t_exit "$words: a $what in place of a session is refused" 3 no_wait $words "$path"
		t_like "$words: it is said that it is a $what" "$(cat "$t_err")" "$path is a $what, not a file"
	done
done
t_exit 'a pipe gets no name' 3 no_wait rename "$t_tmp/pipe" x
t_exit 'a pipe where sessions lie does not hold up the list' 1 no_wait list
for agent in claude codex; do
	for verb in install status remove; do
		t_exit "hook $verb refuses the settings of $agent that are a pipe" 3 no_wait hook "$verb" --agent "$agent"
		t_like "hook $verb says what the settings of $agent are" "$(cat "$t_err")" 'is a pipe, not a file'
	done
done
printf '{"session_id":"x","transcript_path":"%s","cwd":"/","prompt":">handoff","source":"startup"}' \
	"$t_tmp/pipe" >"$t_tmp/input"
event() { no_wait hook "$1" <"$t_tmp/input"; }
for verb in user-prompt-submit session-start pre-compact; do
	t_exit "hook $verb is not held up by a session that is a pipe" 0 event "$verb"
done
t_exit 'a configuration that is a pipe is refused' 3 no_wait --config "$t_tmp/pipe" list
t_exit 'a configuration that is a pipe is not checked' 3 no_wait config check "$t_tmp/pipe"
mkfifo "$config"
t_exit 'a configuration of the user that is a pipe is refused' 3 no_wait list
t_like 'it is said what the configuration is' "$(cat "$t_err")" 'config\.yaml is a pipe, not a file'
t_exit 'doctor is not held up by a configuration that is a pipe' 1 no_wait doctor
rm "$config"
printf 'logging:\n  file: %s\n' "$t_tmp/pipe" >"$config"
t_exit 'a log that is a pipe holds nobody up' 0 no_wait ask x
rm "$config"
t_exit 'a replay that is a pipe is refused' 3 no_wait route --replay "$t_tmp/pipe"

mkdir -p "$t_tmp/piped" && mkfifo "$t_tmp/piped/faden.db"
t_exit 'a store that is a pipe is refused' 5 no_wait --state "$t_tmp/piped" ask x
t_like 'and named' "$(cat "$t_err")" 'piped/faden.db is not a file'
t_exit 'and keeps nobody from looking at the settings' 0 no_wait --state "$t_tmp/piped" config
t_exit 'a state folder that cannot be made is a failure' 5 t_faden --state /dev/null/x ask x
t_like 'a state folder that cannot be made is named' "$(cat "$t_err")" '/dev/null/x'
gone() { mkdir "$t_tmp/gone" && cd "$t_tmp/gone" && rmdir "$t_tmp/gone" && t_faden --state "$t_tmp/s" ask x; }
t_exit 'a turn in a folder that is gone is refused' 3 gone
t_like 'it is said that the folder no longer exists' "$(cat "$t_err")" 'no longer exists'
t_done
