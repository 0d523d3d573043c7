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

# --- the terminal is gone: nobody has heard how it ended ---
printf 'ai:\n  agent: rehearsal\n  rehearsal: {script: %s}\n' "$t_tmp/slow" >"$config"
t_faden ask --new shake the medlar >/dev/null 2>&1 &
t_ok 'a prompt arrives before that' t_wait_for 10 grep -rq medlar "$state/rehearsal"
hung_up() {
	pid=$(pgrep -f -x "$FADEN ask --new shake the medlar")
	kill -HUP "$pid"
	t_wait_for 10 eval "! t_running $pid"
}
t_ok 'faden ends with its terminal' hung_up
printf 'ai: {agent: rehearsal}\n' >"$config"
t_exit 'list marks it' 0 t_faden list -F '{interrupted} {title}'
t_like 'as interrupted' "$(cat "$t_out")" '^interrupted shake the medlar'
t_exit 'the next sentence is answered as well' 0 t_faden ask --new 'count the gates'
t_like 'and tells of it' "$(cat "$t_err")" '"shake the medlar" reached the agent, no answer'
t_exit 'another one is answered' 0 t_faden ask --new 'count the posts'
t_unlike 'and does not tell it again' "$(cat "$t_err")" medlar

# --- the very same is said again before it is known what became of it ---
printf 'ai:\n  agent: rehearsal\n  rehearsal: {script: %s}\n' "$t_tmp/slow" >"$config"
t_faden ask --new prune the quince >/dev/null 2>&1 &
t_ok 'another prompt arrives' t_wait_for 10 grep -rq quince "$state/rehearsal"
t_ok 'faden is killed once more' killed ask --new prune the quince
printf 'ai: {agent: rehearsal}\n' >"$config"
t_exit 'the very same is not sent at once' 3 t_faden ask prune the quince
t_like 'but told what became of it' "$(cat "$t_err")" '"prune the quince" reached the agent, no answer'
t_like 'and how it is sent all the same' "$(cat "$t_err")" '^faden: ask: nothing was sent: this is what was interrupted, .*; say it once more'
t_is 'it ran once' "$(grep -rh '"type":"user"' "$state/rehearsal" | grep -c quince)" 1
t_exit 'said once more it is sent' 0 t_faden ask prune the quince
t_is 'and runs' "$(grep -rh '"type":"user"' "$state/rehearsal" | grep -c quince)" 2
t_exit 'what ended well is said again without a question' 0 t_faden ask prune the quince

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
t_exit 'what may still be taken is not sent again' 5 t_faden ask --json --again
t_like 'for programs too' "$(cat "$t_out")" '"code":"busy","message":"nothing was sent: whether ..paint it red.. reached its agent is not known yet, which is still at work"'
t_like 'because somebody is still at it' "$(cat "$t_err")" "claude \(process $orphan\) still works on it \(faden show"
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
t_exit 'so is what it would make a summary by' 3 t_faden ask '/compact keep the plan'
t_like 'as at the prompt of a talk' "$(cat "$t_err")" "nothing was sent: the summary .* loses what is not in it; 'faden trim'"
t_unlike 'nothing of it was sent' "$(cat "$t_tmp/heard")" '/clear|/new|/reset|/compact'
t_exit 'a word that only begins so is sent' 0 t_faden ask /clearance

t_ok 'an agent outlives its faden once more' lose paint it blue
(sleep 1 && kill "$orphan") &
t_exit 'a turn in that conversation waits for the agent' 0 t_faden ask 'and now green'
t_like 'and says so' "$(cat "$t_err")" "claude \(process $orphan\) still works on it. Waiting for it."
t_like 'then it tells what became of it' "$(cat "$t_err")" '"paint it blue" did not reach the agent'
wait

# --- the very same is said again while the agent of the first is still at it ---
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
# waits ARGUMENT…: asks, and ends the orphan when that is waited for.
waits() {
	: >"$t_err"
	t_faden ask "$@" >"$t_out" 2>"$t_err" &
	asked=$!
	t_wait_for 10 grep -q 'still works on it. Waiting for it' "$t_err" && kill "$orphan"
	t_rc=0
	wait "$asked" || t_rc=$?
}
t_exit 'what was lost before is sent' 0 t_faden ask --again
rm -f "$t_tmp/heard"
t_ok 'an agent works on alone' lose paint it mauve
t_ok 'and has the prompt' answered 'paint it mauve'
t_exit 'a conversation that is named gets the same words' 0 t_faden ask --in "$id" paint it mauve
t_is 'which mean something else there' "$(grep -c 'paint it mauve' "$t_tmp/heard")" 1
rm -f "$t_tmp/heard"
t_exit 'so does another folder' 0 t_elsewhere ask --new paint it mauve
rm -f "$t_tmp/heard"
waits --new paint it mauve
t_is 'a new conversation does not get them as well' "$t_rc" 3
t_like 'it is waited for what becomes of the first' "$(cat "$t_err")" '"paint it mauve" was answered: it is done'
t_like 'and how it is sent all the same is told' "$(cat "$t_err")" 'nothing was sent: this is what was interrupted, .*; say it once more'
t_ok 'nothing was sent' test ! -e "$t_tmp/heard"
t_exit 'nothing else waits there either' 1 t_faden ask --again
t_exit 'said once more it is sent' 0 t_faden ask --new paint it mauve
t_is 'once' "$(grep -c 'paint it mauve' "$t_tmp/heard")" 1
rm -f "$t_tmp/heard"
t_ok 'another agent works on alone' lose paint it ochre
waits --new paint it ochre
t_is 'what it had not taken is sent in its place' "$t_rc" 0
t_is 'once, too' "$(grep -c 'paint it ochre' "$t_tmp/heard")" 1
t_exit 'and is not left to send' 1 t_faden ask --again

# --- and what did not arrive is said again in another conversation ---
t_ok 'a turn is lost' lose paint it khaki
kill "$orphan"
t_ok 'for its agent ends' t_wait_for 10 eval '! t_running "$orphan"'
t_exit 'the same is said where somebody named' 0 t_faden ask --in "$id" paint it khaki
at=$(grep -oE -e '--in [0-9a-f-]{36}' "$t_err" | cut -d' ' -f2)
rm -f "$t_tmp/heard"
t_exit 'then it is not sent again by itself' 1 t_faden ask --again
t_like 'why is told, and how to' "$(cat "$t_err")" \
	"\"paint it khaki\", which was interrupted .*, was said again since; to send it all the same: faden ask --again --in $at"
t_ok 'nothing was sent' test ! -e "$t_tmp/heard"
t_exit 'who names its conversation means it' 0 t_faden ask --again --in "$at"
t_is 'that sends it' "$(grep -c 'paint it khaki' "$t_tmp/heard")" 1
t_ok 'one more is lost' lose paint it beige
kill "$orphan"
t_ok 'for its agent ends as well' t_wait_for 10 eval '! t_running "$orphan"'
t_exit 'which is told' 0 t_faden ask --new 'count the hinges'
t_like 'by who comes next' "$(cat "$t_err")" '"paint it beige" did not reach the agent'
t_ok 'a later one is still worked on' lose paint it amber
rm -f "$t_tmp/heard"
t_exit 'the older is not sent in its place' 1 t_faden ask --again
t_like 'it is told who is at the later one' "$(cat "$t_err")" "claude \(process $orphan\) still works on it"
t_like 'and what was not sent' "$(cat "$t_err")" 'An earlier one has not, "paint it beige"'
t_ok 'nothing was sent there either' test ! -e "$t_tmp/heard"
kill "$orphan"
t_ok 'the later agent ends' t_wait_for 10 eval '! t_running "$orphan"'
t_exit 'then the later is sent' 0 t_faden ask --again
t_like 'as what it is' "$(cat "$t_err")" 'sending what was interrupted .*: "paint it amber"'
t_exit 'and then the older' 0 t_faden ask --again

# --- by itself ---
t_ok 'an agent outlives its faden, and its prompt is said elsewhere meanwhile' lose paint it plum
t_exit 'where somebody named' 0 t_faden ask --in "$id" paint it plum
kill "$orphan"
t_ok 'then the agent ends' t_wait_for 10 eval '! t_running "$orphan"'
printf 'ai:\n  agent: claude\n  resend: auto\n  claude: {program: %s}\n' "$t_tmp/claude" >"$config"
rm -f "$t_tmp/heard"
t_exit 'with ai.resend: auto what was said since is not sent' 0 t_faden ask --new 'count the planks'
t_like 'though it is told' "$(cat "$t_err")" '"paint it plum" did not reach the agent'
t_is 'but the next sentence alone' "$(grep -oE 'paint it plum|count the planks' "$t_tmp/heard" | tr '\n' ,)" 'count the planks,'
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
# The very same, typed again, is what is sent again: once, by itself or not.
t_ok 'a turn is lost and typed again' lose_alone paint it teal
t_exit 'it is not sent beside that' 0 t_faden ask paint it teal
t_is 'but once' "$(grep -c 'paint it teal' "$t_tmp/heard")" 1
t_exit 'and there is nothing left to send' 1 t_faden ask --again
printf 'ai:\n  agent: claude\n  claude: {program: %s}\n' "$t_tmp/claude" >"$config"
t_ok 'without ai.resend: auto, too' lose_alone paint it lime
t_exit 'it is answered' 0 t_faden ask --new paint it lime
t_is 'once' "$(grep -c 'paint it lime' "$t_tmp/heard")" 1
t_exit 'and not offered any more' 1 t_faden ask --again
t_exit 'nor by who comes next' 0 t_faden ask --new 'count the knobs'
t_unlike 'in any word' "$(cat "$t_err")" lime
printf 'ai:\n  agent: claude\n  resend: auto\n  claude: {program: %s}\n' "$t_tmp/claude" >"$config"

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

# --- what only waited has no id that the agent could know ---
python3 - "$state/faden.db" "$PWD" <<-'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
wait = db.execute("INSERT INTO step (kind, at_ms, agent, prompt, dir) VALUES (4, 0, 'claude', 'mend the fence', ?)",
		sys.argv[2:]).lastrowid
db.execute("INSERT INTO step (kind, parent, at_ms, state) VALUES (2, ?, 0, 4)", [wait])
db.commit()
END
mv "$t_tmp/claude" "$t_tmp/claude.talks"
printf '#!/bin/sh\nread -r line\n' >"$t_tmp/claude"
chmod +x "$t_tmp/claude"
t_exit 'it is sent to an agent that says nothing' 4 t_faden ask --again
t_like 'what it is is told' "$(cat "$t_err")" 'mend the fence'
t_unlike 'not that the agent had it already' "$(cat "$t_err")" 'had this prompt already'
mv "$t_tmp/claude.talks" "$t_tmp/claude"
t_exit 'and to one that answers' 0 t_faden ask --again

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

# --- the store is emptied, and goes away ---
printf 'ai:\n  agent: rehearsal\n  rehearsal: {script: %s}\n' "$t_tmp/slow" >"$config"
t_faden ask --new mind the shop >"$t_out" 2>"$t_err" &
asked=$!
t_ok 'a turn runs' t_wait_for 10 grep -rq 'mind the shop' "$state/rehearsal"
: >"$state/faden.db"
t_ok 'that its store was emptied is said while it runs' t_wait_for 30 grep -q 'was emptied while faden was running' "$t_err"
pid=$(pgrep -f -x "$FADEN ask --new mind the shop") && kill "$pid"
wait "$asked"
rm -rf "$state"
for part in wal shm; do
	t_faden ask --new mind the "$part" >"$t_out" 2>"$t_err" &
	asked=$!
	t_ok "a turn runs, with a store of its own" t_wait_for 10 grep -rq "mind the $part" "$state/rehearsal"
	rm "$state/faden.db-$part"
	t_ok "that its $part is gone is said" t_wait_for 30 grep -q "faden.db-$part was removed while faden was running" "$t_err"
	pid=$(pgrep -f -x "$FADEN ask --new mind the $part") && kill "$pid"
	wait "$asked"
	rm -rf "$state"
done
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
