#!/bin/sh
# What commands print with --json is what faden-json(7) says: every object, key and type.
. "$(dirname "$0")/../lib.sh"

page=$t_root/docs/man/json.mdoc
here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1
a=aaaaaaaa-0000-4000-8000-000000000001
b=aaaaaaaa-0000-4000-8000-000000000002
c=01a00000-0000-7000-8000-000000000003
fa=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$a" --title 'A name' 'one thing' 'two things' 'three things')
"$t_helper/make-session" claude "$t_home/.claude" "$here" "$b" 'one thing' >/dev/null
"$t_helper/make-session" codex "$t_home/.codex" "$here" "$c" 'one thing' 'two things' >/dev/null
long=$(head -c 4000 /dev/zero | tr '\0' 'y')
sed -i "s/\"out 1\"/\"$long one\"/" "$fa"
printf '#!/bin/sh\n' >"$t_bin/claude"
chmod +x "$t_bin/claude"
t_setenv 'FADEN_CLOCK=2026-03-10T12:00:00Z'
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
cat >"$t_tmp/script" <<'END'
*
say {"trim":[{"number":3,"reason":"old","summary":"it was all y"},{"number":1,"summary":"s"}]}
END

# check STATUS COMMAND ARGUMENT…: its answer is of the kind that the page says.
tried=
check() {
	tried="$tried $2"
	check_as "$2" "$@"
}
# check_as OBJECT STATUS COMMAND ARGUMENT…
check_as() {
	kind=$1
	status=$2
	shift 2
	t_exit "$* ends as without --json" "$status" t_faden "$@" --json
	t_ok "$* prints what the page says" "$t_helper/check-json" "$page" "$kind" <"$t_out"
}

check 0 list
check 0 show "$a"
check 0 show "$c" --live
check 0 export "$a" "$c" -o "$t_tmp/both.html"
t_faden export "$a" --format json >"$t_out"
t_ok 'export --format json is what show --json is' "$t_helper/check-json" "$page" show <"$t_out"
check 0 export "$a" "$c" -o "$t_tmp/both.faden"
check 0 import "$t_tmp/both.faden"
check 0 import "$t_tmp/both.faden" --dry-run
check 0 import "$t_tmp/both.faden" --list
check 0 rename "$b" 'a new name'
check 0 resume "$a"
check 0 advise "$a"
check 0 advise "$c"
check 0 trim "$a"
ref=$(grep -o 'faden recall [0-9a-f]*' "$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["path"])' "$t_out")" | sed 's/.* //')
check 0 recall "$ref"
check 0 trim --dry-run "$a"
check 1 trim "$c"
check 0 smart-trim --agent rehearsal --keep-recent 3 "$a"
check 1 smart-trim --agent rehearsal --keep-recent 3 "$b"
check 0 rollover "$a"
check 0 rollover --dry-run --agent codex "$a"
check 0 fork "$a"
check 0 fork --dry-run --at 2 "$c"
check 1 diff "$a" "$c"
check 0 merge --unrelated "$a" "$c"
check 0 replay --agent rehearsal "$a"
check 0 replay --dry-run --from 2 "$a"
check 0 port "$a" --to codex
check 0 port "$c" --to claude --dry-run
check 0 repair "$a"
sed '2s/"parentUuid":"[^"]*"/"parentUuid":"99999999-0000-4000-8000-000000000099"/' "$fa" >"$t_tmp/x"
sed '$d' "$t_tmp/x" >"$fa"
printf '{"type":"user","uu' >>"$fa"
check 0 repair --apply "$a"
check 0 repair --in-place "$a"
check 0 lineage "$a"
check 0 index
check 0 index --check
check 0 archive
check 0 archive list
check 0 archive verify
check 0 archive restore "$b"
check 0 archive export "$b" -o "$t_tmp/exported"
check 6 archive restore --all
check 0 archive prune --older-than 900w
check 0 clean --older-than 1w --dry-run
check 0 delete --dry-run "$b"
check 0 search thing
check 1 search nothingofthatkind
check 0 doctor
check 0 config
check 0 config check
check 0 config get ai.agent
check 0 commands
check 0 commands Halt
check 0 model
check 0 model remove meaning
check_as failure 1 voice install # npm is not in the test's PATH
tried="$tried voice"
check 1 hook status
check 0 help

printf '*\nsay all right\n' >"$t_tmp/script"
check 0 ask --agent rehearsal fix the parser of the shop
check 0 route fix the parser
check 0 route something else entirely
check 0 reset
check 0 reset --undo
printf '*\nfail died because\n' >"$t_tmp/script"
check 4 ask --agent rehearsal --new x

for words in 'show nobody' 'trim nobody' 'advise --bogus' 'recall 0123456789abcdef' 'config get no.such'; do
	# shellcheck disable=SC2086 # words
	t_faden $words >/dev/null 2>&1
	# shellcheck disable=SC2086
	check_as failure $? $words
done
check_as failure 3 show aaaaaaaa
t_like 'and names the sessions that fit' "$(cat "$t_out")" "\"candidates\":\\[\\{\"session_id\":\"$a\".*\"session_id\":\"$b\""

# An object a line.
master() {
	want=$1
	shift
	t_exit "master $* ends as without --json" "$want" t_faden master --agent rehearsal --json "$@"
	{
		echo '['
		sed '$!s/$/,/' "$t_out"
		echo ']'
	} >"$t_tmp/events"
	t_ok "master $* prints what the page says" "$t_helper/check-json" "$page" master <"$t_tmp/events"
}
tried="$tried master"
: >"$t_tmp/script"
master 7 -r 1 --check false --check-max 0 'count to 2'
master 8 --resume -r 5
printf '*\ntool Bash ls => x\nsay Hm.\n' >"$t_tmp/script"
master 9 --name nine 'count to 2'
t_like 'a tool is an event' "$(cat "$t_out")" '"event":"tool","tool":"Bash","what":"ls","role":"instructor"'
check_as failure 1 master --session aaaaaaaa-0000-4000-8000-00000000000f
echo '{}' >.claude-master/sessions/session-x.json
check_as 'array of run' 0 master --list-sessions
t_like 'a file that is no run is among them' "$(cat "$t_out")" '"path":"[^"]*session-x.json","error":\{"code":"bad-input"'
check_as run-made 0 master --fork-at-round 0 --name forked
check_as runs-diff 0 master --diff forked nine
check 0 fork nine
check_as runs-diff 0 diff forked nine
check 0 lineage forked
check 0 show forked
check 0 port forked --to codex
check_as runs-cleaned 1 master --clean-sessions --older-than 7d

# This one runs until it is told to end: its first update.
"$t_helper/make-session" claude "$t_home/.claude" "$here" "${a%1}9" 'another thing' >/dev/null
t_faden watch --json >"$t_tmp/watched" 2>/dev/null &
watch=$!
t_ok 'watch tells of an update' t_wait_for 30 grep -q '}' "$t_tmp/watched"
pkill -TERM -P "$watch"
wait "$watch"
head -n 1 "$t_tmp/watched" >"$t_out"
t_ok 'watch prints what the page says' "$t_helper/check-json" "$page" watch <"$t_out"
tried="$tried watch"

for command in $("$t_helper/check-json" "$page" --commands); do
	t_like "$command was tried" "$tried" " $command( |$)"
done
with=$(t_faden help --json | python3 -c '
import json, sys
print(*[c["name"] for c in json.load(sys.stdin)["commands"] if any(o["long"] == "json" for o in c["options"])])')
for command in $with; do
	t_like "the page has $command" "$("$t_helper/check-json" "$page" --commands | tr ' ' '\n')" "^$command$"
done
t_done
