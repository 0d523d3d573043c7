#!/bin/sh
# What a killed faden leaves behind: told once by whoever comes next in its folder, whatever
# conversation that one goes to; sent again only with a word; and a store that goes away is no store.
. "$(dirname "$0")/../lib.sh"
state=$t_home/.local/state/faden
config=$t_home/.config/faden/config.yaml
mkdir -p "$t_home/.config/faden" "$t_tmp/work" && cd "$t_tmp/work" || exit 1

# killed ARGUMENT…: kills the faden that runs with these arguments.
killed() {
	pid=$(pgrep -f -x "$FADEN $*")
	kill -KILL "$pid"
	t_wait_for 10 eval "! t_running $pid"
}

# --- the prompt has arrived ---
printf 'wait 60000\nsay late\n*\n' >"$t_tmp/slow"
printf 'ai:\n  agent: rehearsal\n  rehearsal: {script: %s}\n' "$t_tmp/slow" >"$config"
t_faden ask --new water the kumquat >/dev/null 2>&1 &
t_ok 'a prompt arrives' t_wait_for 10 grep -rq kumquat "$state/rehearsal"
t_ok 'faden is killed while the agent works' killed ask --new water the kumquat
printf 'ai: {agent: rehearsal}\n' >"$config"
t_exit 'list takes no notice away' 0 t_faden list -F '{interrupted} {title}'
t_like 'it marks what was interrupted' "$(cat "$t_out")" '^interrupted water the kumquat'
t_exit 'also for programs' 0 t_faden list --json
t_like 'as a member of the session' "$(cat "$t_out")" '"interrupted":true'
t_exit 'a sentence in another conversation is answered' 0 t_faden ask --new 'count the windows'
t_like 'it tells of the turn that it leaves' "$(cat "$t_err")" '"water the kumquat" reached the agent, no answer'
id=$(grep -oE 'faden show [0-9a-f-]{36}' "$t_err" | cut -d' ' -f3)
t_exit 'the command to look with works' 0 t_faden show "$id"
t_like 'and shows it' "$(cat "$t_out")" 'water the kumquat'
t_exit 'the next sentence is answered' 0 t_faden ask --new 'count the doors'
t_unlike 'it does not tell it again' "$(cat "$t_err")" kumquat
t_exit 'the list is shown once more' 0 t_faden list --json
t_unlike 'nothing is marked any more' "$(cat "$t_out")" '"interrupted":true'
t_exit 'what has arrived is not sent again' 1 t_faden ask --again
t_like 'that there is nothing is said' "$(cat "$t_err")" 'nothing to send: no prompt was interrupted here that did not reach its agent'
t_exit '--again takes no text' 2 t_faden ask --again x

# --- the prompt was not sent: it waited for another turn ---
printf 'ai:\n  agent: rehearsal\n  rehearsal: {script: %s}\n' "$t_tmp/slow" >"$config"
t_faden ask --new mow the lawn >/dev/null 2>&1 &
mower=$!
t_ok 'a turn runs' t_wait_for 10 grep -rq 'mow the lawn' "$state/rehearsal"
id=$(t_faden list -F '{id} {title}' | sed -n 's/ mow the lawn//p')
t_faden ask --in "$id" rake the leaves >/dev/null 2>"$t_tmp/waits" &
t_ok 'another one waits for it' t_wait_for 10 grep -q Waiting "$t_tmp/waits"
t_ok 'that one is killed' killed ask --in "$id" rake the leaves
printf 'ai: {agent: rehearsal}\n' >"$config"
t_exit 'a sentence in another conversation is answered' 0 t_faden ask --new 'count the weeds'
t_like 'it tells what was not sent' "$(cat "$t_err")" '"rake the leaves" was not sent. To send it: faden ask --again --in [0-9a-f-]{36}'
t_unlike 'the turn that runs is no crash' "$(cat "$t_err")" 'mow the lawn'
id=$(grep -oE -e '--in [0-9a-f-]{36}' "$t_err" | cut -d' ' -f2)
kill "$(pgrep -f -x "$FADEN ask --new mow the lawn")"
wait "$mower"
t_exit 'it is sent with a word' 0 t_faden ask --again --in "$id"
t_like 'and answered' "$(cat "$t_out")" 'rake the leaves'
t_unlike 'it is told once' "$(cat "$t_err")" 'was not sent'
t_exit 'not a second time' 1 t_faden ask --again --in "$id"
t_exit 'and not by the folder either' 1 t_faden ask --again

# --- the prompt has not arrived, and its agent is still there ---
cat >"$t_tmp/claude" <<-END
	#!/bin/sh
	[ ! -e "$t_tmp/hangs" ] || { echo \$\$ >"$t_tmp/started" && exec sleep 60; }
	IFS= read -r line
	printf '%s\n' "\$line" >>"$t_tmp/heard"
	printf '%s\n' "\$*" >>"$t_tmp/calls"
	echo '{"type":"result","subtype":"success","is_error":false,"result":"painted"}'
END
chmod +x "$t_tmp/claude"
printf 'ai:\n  agent: claude\n  claude: {program: %s}\nrouting: {enabled: false}\n' "$t_tmp/claude" >"$config"
# lose WORD…: a turn whose agent takes nothing.
lose() {
	rm -f "$t_tmp/started"
	touch "$t_tmp/hangs"
	t_faden ask --new "$@" >/dev/null 2>&1 &
	t_wait_for 10 test -s "$t_tmp/started" && killed ask --new "$@"
	rm -f "$t_tmp/hangs"
	orphan=$(cat "$t_tmp/started")
	t_running "$orphan"
}
t_ok 'an agent outlives its faden' lose paint it red
t_exit 'a sentence in another conversation does not wait' 0 t_faden ask --new 'count the floors'
t_like 'it tells who is still at it' "$(cat "$t_err")" "claude \(process $orphan\) still works on it \(faden show"
t_exit 'it is not told twice' 0 t_faden ask --new 'count the roofs'
t_unlike 'not by another one either' "$(cat "$t_err")" 'still works'
t_exit 'what may still be taken is not sent again' 1 t_faden ask --again
kill "$orphan"
t_ok 'the agent ends' t_wait_for 10 eval '! t_running "$orphan"'
t_exit 'then it is known' 0 t_faden ask --new 'count the walls'
t_like 'that it did not reach the agent' "$(cat "$t_err")" '"paint it red" did not reach the agent. To send it again: faden ask --again --in [0-9a-f-]{36}'
id=$(grep -oE -e '--in [0-9a-f-]{36}' "$t_err" | cut -d' ' -f2)
rm -f "$t_tmp/heard" "$t_tmp/calls"
t_exit 'it is sent again with a word' 0 t_faden ask --again --in "$id"
t_like 'and it is said what is sent' "$(cat "$t_err")" 'sending what was interrupted just now: "paint it red"'
t_is 'once' "$(grep -c 'paint it red' "$t_tmp/heard")" 1
t_like 'its session is begun, which it had not been' "$(cat "$t_tmp/calls")" '--session-id'
t_exit 'not a second time' 1 t_faden ask --again --in "$id"

for text in /clear '/new plan for the door' ' /reset'; do
	t_exit "what the agent would forget the conversation by is refused: $text" 3 t_faden ask "$text"
done
t_like 'it is said what does that' "$(cat "$t_err")" "nothing was sent: claude would forget .* by \"/reset\"; 'faden reset' begins another"
t_unlike 'nothing of it was sent' "$(cat "$t_tmp/heard")" '/clear|/new|/reset'
t_exit 'a word that only begins so is sent' 0 t_faden ask /clearance

t_ok 'an agent outlives its faden once more' lose paint it blue
(sleep 1 && kill "$orphan") &
t_exit 'a turn in that conversation waits for the agent' 0 t_faden ask 'and now green'
t_like 'and says so' "$(cat "$t_err")" "claude \(process $orphan\) still works on it. Waiting for it."
t_like 'then it tells what became of it' "$(cat "$t_err")" '"paint it blue" did not reach the agent'
wait

# --- by itself ---
printf 'ai:\n  agent: claude\n  resend: auto\n  claude: {program: %s}\n' "$t_tmp/claude" >"$config"
t_ok 'an agent outlives its faden a third time' lose paint it pink
kill "$orphan"
t_ok 'and ends' t_wait_for 10 eval '! t_running "$orphan"'
rm -f "$t_tmp/heard"
t_exit 'with ai.resend: auto the next sentence sends it first' 0 t_faden ask --new 'count the beams'
t_is 'both, in their order' "$(grep -oE 'paint it pink|count the beams' "$t_tmp/heard" | tr '\n' ,)" 'paint it pink,count the beams,'
t_like 'and says so' "$(cat "$t_err")" 'It is sent again now'

lose_alone() {
	lose "$@" && kill "$orphan" && t_wait_for 10 eval '! t_running "$orphan"'
	rm -f "$t_tmp/heard" "$t_tmp/started"
}
t_ok 'a turn is lost' lose_alone paint it grey
touch "$t_tmp/hangs"
t_faden ask --new count the posts >"$t_out" 2>"$t_err" &
asked=$!
t_ok 'it is sent again' t_wait_for 10 test -s "$t_tmp/started"
rm -f "$t_tmp/hangs"
kill "$(pgrep -f -x "$FADEN ask --new count the posts")"
t_rc=0
wait "$asked" || t_rc=$?
t_is 'a signal meanwhile ends the command' "$t_rc" 143
t_ok 'and what was to follow is not sent' test ! -e "$t_tmp/heard"

t_ok 'another turn is lost' lose_alone paint it black
python3 - "$state/faden.db" <<-'END'
import sqlite3, sys
sqlite3.connect(sys.argv[1]).executescript("CREATE TRIGGER full BEFORE INSERT ON step "
		"WHEN NEW.prompt = 'paint it black' BEGIN SELECT RAISE(ABORT, 'no room'); END;")
END
t_exit 'what cannot be sent again does not keep the next sentence' 0 t_faden ask --new 'count the nails'
t_like 'it is told' "$(cat "$t_err")" 'could not be sent again'

# --- never ---
printf 'ai:\n  agent: claude\n  resend: never\n  claude: {program: %s}\n' "$t_tmp/claude" >"$config"
t_ok 'one more turn is lost' lose_alone paint it white
t_exit 'with ai.resend: never the next sentence is answered' 0 t_faden ask --new 'count the tiles'
t_like 'what was lost is told, with how to send it' "$(cat "$t_err")" '"paint it white" did not reach the agent. To send it again: faden ask --again'
t_is 'and is not sent' "$(grep -oE 'paint it white|count the tiles' "$t_tmp/heard" | tr '\n' ,)" 'count the tiles,'

# --- something else since ---
printf 'ai:\n  agent: rehearsal\n  rehearsal: {script: %s}\n' "$t_tmp/slow" >"$config"
t_faden ask --new sweep the yard >/dev/null 2>&1 &
t_ok 'another prompt arrives' t_wait_for 10 grep -rq 'sweep the yard' "$state/rehearsal"
t_ok 'and is interrupted' killed ask --new sweep the yard
printf 'ai:\n  agent: claude\n  resend: never\n  claude: {program: %s}\n' "$t_tmp/claude" >"$config"
rm -f "$t_tmp/heard"
t_exit 'an older one is not sent in its place' 1 t_faden ask --again
t_like 'what came of the last is told' "$(cat "$t_err")" '"sweep the yard" reached the agent'
t_like 'and how the older one is sent' "$(cat "$t_err")" 'An earlier one has not, "paint it white" \(just now\); to send it: faden ask --again --in [0-9a-f-]{36}'
t_ok 'nothing was sent' test ! -e "$t_tmp/heard"

# --- it ended alone ---
# answered PROMPT: its agent has written it down and answered, as one that went on would have.
answered() {
	python3 - "$state/faden.db" "$t_home/.claude/projects" "$PWD" "$1" <<-'END'
		import json, os, re, sqlite3, sys
		db, projects, here, prompt = sys.argv[1:]
		session, uuid = sqlite3.connect(db).execute(
		  "SELECT session, prompt_id FROM step WHERE prompt = ?", (prompt,)).fetchone()
		folder = os.path.join(projects, re.sub("[^A-Za-z0-9]", "-", os.path.realpath(here)))
		os.makedirs(folder, exist_ok=True)
		said = {"type": "user", "uuid": uuid, "parentUuid": None,
		  "message": {"role": "user", "content": prompt}}
		done = {"type": "assistant", "uuid": "a", "parentUuid": uuid, "message": {"id": "m",
		  "role": "assistant", "content": [{"type": "text", "text": "it is done"}]}}
		with open(os.path.join(folder, session + ".jsonl"), "w") as out:
		  for line in said, done:
		    print(json.dumps({**line, "sessionId": session, "isSidechain": False}), file=out)
	END
}
t_ok 'a turn goes on alone' lose_alone paint it gold
t_ok 'and is answered' answered 'paint it gold'
t_exit 'the next sentence tells it' 0 t_faden ask --new 'count the tables and the chairs'
t_like 'in English' "$(cat "$t_err")" 'A turn was interrupted here, but the agent finished it'
t_like 'with the answer' "$(cat "$t_err")" '"paint it gold" was answered: it is done'
t_ok 'another one goes on alone' lose_alone paint it silver
t_ok 'and is answered too' answered 'paint it silver'
t_exit 'a sentence in German tells it' 0 t_faden ask --new 'Zähle bitte die Tische und die Stühle'
t_like 'in German' "$(cat "$t_err")" 'Eine Anfrage wurde hier unterbrochen, aber der Agent hat sie zu Ende gebracht'
t_like 'with the answer in it' "$(cat "$t_err")" 'Die Antwort auf "paint it silver": it is done'

# --- the store goes away ---
printf 'ai:\n  agent: rehearsal\n  rehearsal: {script: %s}\n' "$t_tmp/slow" >"$config"
t_faden ask --new mind the store >"$t_out" 2>"$t_err" &
asked=$!
t_ok 'a turn runs' t_wait_for 10 grep -rq 'mind the store' "$state/rehearsal"
rm -rf "$state"
# On a slow machine it may be about to write there, and ends by itself.
t_ok 'that its store is gone is said while it runs' t_wait_for 30 grep -Eq 'was removed while faden was running|faden\.db' "$t_err"
pid=$(pgrep -f -x "$FADEN ask --new mind the store") && kill "$pid"
t_rc=0
wait "$asked" || t_rc=$?
t_like 'the turn is no success' "$t_rc" '^(143|5)$'
t_ok 'nothing is made in its place' test ! -e "$state/faden.db"
t_done
