#!/bin/sh
# The conversation goes on after a restart, and a reset is kept.
. "$(dirname "$0")/../lib.sh"
mkdir -p "$t_tmp/a" "$t_tmp/b"
cd "$t_tmp/a" || exit 1

t_exit 'the first start ever asks an agent' 0 t_faden ask the blue door
t_like 'the first start ever is answered' "$(cat "$t_out")" 'You said: the blue door'
t_like 'the first start ever says who answers' "$(cat "$t_err")" 'rehearsal agent'

t_exit 'the next process goes on' 0 t_faden ask 'what did I say?'
t_like 'the next process goes on with the same conversation' "$(cat "$t_out")" '^1\. the blue door'

cd "$t_tmp/b" || exit 1
t_exit 'a turn in another folder succeeds' 0 t_faden ask 'what did I say?'
t_like 'another folder has a conversation of its own' "$(cat "$t_out")" 'Nothing yet'
cd "$t_tmp/a" || exit 1
ln -s a "$t_tmp/link"
cd "$t_tmp/link" || exit 1
t_exit 'a turn in a link to the folder succeeds' 0 t_faden ask 'what did I say?'
t_like 'a link to the folder is the folder' "$(cat "$t_out")" '^1\. the blue door'
cd "$t_tmp/a" || exit 1

t_exit 'a fresh conversation can be asked for' 0 t_faden ask --new 'what did I say?'
t_like 'a fresh conversation knows nothing' "$(cat "$t_out")" 'Nothing yet'
t_exit 'a turn after a fresh one succeeds' 0 t_faden ask 'now do that once more'
t_exit 'what was said there can be asked for' 0 t_faden show --json
t_like 'the fresh conversation is the one that goes on' "$(tr '\n' ' ' <"$t_out")" 'what did I say\?.*now do that once more'

t_exit 'a reset succeeds' 0 t_faden reset
t_is 'a reset says so' "$(cat "$t_out")" 'All right, I am starting a new conversation.'
t_exit 'a reset twice is fine' 0 t_faden reset
t_exit 'the turn after a reset succeeds' 0 t_faden ask 'what did I say?'
t_like 'the turn after a reset is fresh' "$(cat "$t_out")" 'Nothing yet'
t_exit 'another reset succeeds' 0 t_faden reset
t_exit 'a reset can be undone' 0 t_faden reset --undo
t_like 'an undo names what goes on' "$(cat "$t_out")" '^The previous conversation goes on: .+, (just now|[0-9]+ (s|min) ago)\.$'
t_exit 'reset --json succeeds' 0 t_faden reset --json
t_like 'reset --json tells that nothing goes on' "$(cat "$t_out")" '^\{"conversation_id":null,"session_id":null,"agent":null,"title":null,"directory":"/[^"]*"\}$'
t_exit 'reset --undo --json succeeds' 0 t_faden reset --undo --json
t_like 'reset --undo --json tells what goes on' "$(cat "$t_out")" '^\{"conversation_id":"[0-9a-f-]{36}","session_id":"[0-9a-f-]{36}","agent":"rehearsal","title":"what did I say\?","directory"'
t_exit 'the turn after the undo succeeds' 0 t_faden ask 'what did I say?'
t_like 'the turn after the undo goes on where it was' "$(cat "$t_out")" '^1\. what did I say\?$'

mkdir "$t_tmp/new"
cd "$t_tmp/new" || exit 1
t_exit 'a reset before the first turn succeeds' 0 t_faden reset
t_exit 'an undo without a conversation fails' 1 t_faden reset --undo
t_like 'an undo without a conversation says that there is nothing' "$(cat "$t_err")" 'no reset to undo'

# a refused command changes nothing
mkdir "$t_tmp/open"
cd "$t_tmp/open" || exit 1
claude=$t_home/.claude
open=0aaaaaaa-0000-4000-8000-000000000001
printf '#!/bin/sh\n' >"$t_bin/claude"
chmod +x "$t_bin/claude"
t_exit 'a conversation of our own begins' 0 t_faden ask --agent rehearsal --json the red door
own=$(sed 's/.*"conversation_id":"\([^"]*\)".*/\1/' "$t_out")
"$t_helper/make-session" claude "$claude" "$t_tmp/open" $open 'the green door' >/dev/null
mkdir -p "$claude/sessions"
printf '{"pid":%d,"sessionId":"%s","procStart":"%s"}' $$ $open "$(cut -d' ' -f22 /proc/$$/stat)" >"$claude/sessions/$$.json"
t_exit 'a turn in a session that is open in its agent is refused' 5 t_faden ask --in $open x
t_like 'it is said who has it open' "$(cat "$t_err")" "open in claude \(process $$\)"
t_exit 'a turn with the wrong agent is refused' 2 t_faden ask --in $open --agent rehearsal x
t_exit 'the next sentence is asked about' 0 t_faden route --json and now
t_like 'what was refused is not what goes on' "$(cat "$t_out")" "\"action\":\"resume\",\"by\":\"router\",\"conversation_id\":\"$own\""
t_is 'what was refused is no conversation' "$(sed 's/.*"candidates"//' "$t_out" | grep -o '"conversation_id":"' | wc -l)" 1
rm "$claude/sessions/$$.json" "$t_bin/claude"

# what was begun in the agents themselves goes on as well
mkdir -p "$t_tmp/own" "$t_tmp/own-other"
cd "$t_tmp/own" || exit 1
cat >"$t_bin/claude" <<'END'
#!/bin/sh
printf '%s\n' "$PWD" "$@" >"$HOME/claude.args"
END
chmod +x "$t_bin/claude"
cp "$t_bin/claude" "$t_bin/codex"
sed -i 's/claude.args/codex.args/' "$t_bin/codex"
at() { t_setenv "FADEN_CLOCK=2026-05-01T$1:00Z"; } # HOUR:MINUTE
session() { # AGENT NUMBER TIME FOLDER WORD…
	agent=$1 id=0bbbbbbb-0000-4000-8000-00000000000$2 when=$3 folder=$4
	shift 4
	"$t_helper/make-session" "$agent" "$t_home/.$agent" "$folder" "$id" --time "$when:00Z" "$@" >"$t_tmp/made"
}
decision() { sed 's/"candidates".*//' "$t_out"; }
b=0bbbbbbb-0000-4000-8000-00000000000
at 10:00
t_exit 'a conversation of our own is begun before them' 0 t_faden ask --agent rehearsal --json paint the fence
own=$(sed 's/.*"conversation_id":"\([^"]*\)".*/\1/' "$t_out")
at 10:05
session claude 1 2026-05-01T09:50 "$t_tmp/own" 'write a parser for tax forms' 'and its tests'
session codex 2 2026-05-01T09:40 "$t_tmp/own" 'compare the harbour tariffs'
session claude 3 2026-05-01T10:04 "$t_tmp/own-other" 'bake a cake of lemons'
session claude 4 2026-04-01T10:00 "$t_tmp/own" 'count the elephants'
t_exit 'what is older than our own is left' 0 t_faden route --json continue
t_like 'our own goes on while it is the newest' "$(decision)" "\"action\":\"resume\".*\"conversation_id\":\"$own\""
for spec in "go on with the parser=$b"1=claude "back to the harbour tariffs=$b"2=codex "back to counting the elephants=$b"4=claude; do
	text=${spec%%=*} rest=${spec#*=}
	t_exit "'$text' is asked about" 0 t_faden route --json "$text"
	t_like "'$text' finds the session of its agent" "$(decision)" "\"action\":\"resume\",\"by\":\"router\",\"conversation_id\":null,\"session_id\":\"${rest%%=*}\",\"agent\":\"${rest#*=}\""
done
t_exit 'route says in words what goes on' 0 t_faden route 'go on with the parser'
t_like 'route names the session by its first words' "$(cat "$t_out")" '^resume write a parser for tax forms'
session claude 5 2026-05-01T10:03 "$t_tmp/own" 'sort the invoices by date'
t_exit 'a newer session of the agent is asked about' 0 t_faden route --json continue
t_like 'the newest session of the folder is what goes on' "$(decision)" "\"conversation_id\":null,\"session_id\":\"${b}5\""
t_exit 'a session of the agent is taken' 4 t_faden ask continue
t_like 'it is told what goes on, and how to say no' "$(cat "$t_err")" '^faden: Resuming what was begun in claude: sort the invoices by date, 1 min ago \(if not, say: "no, the other one"\)\.$'
t_like 'the session is what the agent is given' "$(cat "$t_home/claude.args")" "${b}5"
t_exit 'it is a conversation now' 0 t_faden route --json continue
t_like 'the conversation has the session' "$(decision)" "\"conversation_id\":\"[0-9a-f-]*\",\"session_id\":\"${b}5\""
t_exit 'its subject is known now' 0 t_faden route --json 'back to the invoices'
t_like 'its subject leads there' "$(decision)" "\"conversation_id\":\"[0-9a-f-]*\",\"session_id\":\"${b}5\""
sed -i 's/"entrypoint":"[^"]*"//; s/"type":"user"/"entrypoint":"sdk-cli","type":"user"/' "$(
	session claude 6 2026-05-01T10:06 "$t_tmp/own" 'a script asked this'
	cat "$t_tmp/made"
)"
at 10:10
session claude 7 2026-05-01T10:07 "$t_tmp/own" 'sharpen the pencils'
printf '{"pid":%d,"sessionId":"%s","procStart":"%s"}' $$ "${b}7" "$(cut -d' ' -f22 /proc/$$/stat)" >"$claude/sessions/$$.json"
t_exit 'what programs began, or is open, is asked about' 0 t_faden route --json continue
t_like 'what is open and the newest is waited for' "$(decision)" "\"action\":\"wait\".*\"session_id\":\"${b}7\""
t_unlike 'what a program began is no candidate' "$(cat "$t_out")" "${b}6"
t_exit 'to go on with what is open is refused, whatever else is there' 5 t_faden ask continue
t_like 'and said' "$(cat "$t_err")" "nothing was sent: \"sharpen the pencils\" is open in claude"
t_exit 'a sentence about what is not open goes there, and fails here' 4 t_faden ask back to the invoices, sort them
t_like 'that one is open is told' "$(cat "$t_err")" "\"sharpen the pencils\" is open in claude \\(process $$\\) right now and is left alone"
t_exit 'so it does again' 4 t_faden ask back to the invoices, sort them
t_unlike 'that one is open is told once' "$(cat "$t_err")" 'sharpen'
t_exit 'an open session that is named is asked about' 0 t_faden route --json back to the pencils, sharpen them
t_like 'an open session that is named is waited for' "$(decision)" "\"action\":\"wait\".*\"session_id\":\"${b}7\""
rm "$claude/sessions/$$.json"
t_exit 'the same words are asked about when it is closed' 0 t_faden route --json back to the pencils, sharpen them
t_like 'when it is closed it goes on' "$(decision)" "\"action\":\"resume\".*\"session_id\":\"${b}7\""
t_exit 'a reset leaves them behind' 0 t_faden reset
t_exit 'a leaning sentence behind a reset is asked about' 0 t_faden route --json continue
t_like 'what was begun before a reset does not go on by itself' "$(decision)" '"action":"none"'
t_exit 'to go on behind a reset is refused' 1 t_faden ask continue
t_like 'it is said what was there, and how it comes back' "$(cat "$t_err")" '^faden: There is nothing here to go on with since the reset; nothing was sent\. Before it was "sort the invoices by date", just now; to bring it back: faden reset --undo$'
at 10:20
t_exit 'the agent by name is asked for' 4 t_faden ask --agent codex compare the harbour tariffs again, back to the harbour tariffs
t_like 'only sessions of that agent go on' "$(cat "$t_err")" 'begun in codex: compare the harbour tariffs'

# talking goes on with the newest too
at 10:30
session claude 8 2026-05-01T10:29 "$t_tmp/own" 'polish the silver'
talk() { printf 'hello\n' | t_faden; }
t_exit 'talking goes on with a session of an agent' 4 talk
t_like 'talking says what goes on' "$(cat "$t_err")" '^faden: Going on with claude: "polish the silver" \(begun there, 1 turn, just now; /new starts another\)\.$'
t_like 'the session is what is talked to' "$(cat "$t_home/claude.args")" "${b}8"

# a name goes before everything
t_exit 'a session of another folder gets a name' 0 t_faden rename "${b}3" kumquat
for text in 'back to kumquat' 'zurück zu kumquat' 'Kumquat' 'continue with kumquat please' \
	'kumquat weiter' 'kumquat, add comments' 'kumquat please handle unicode' 'in kumquat, add comments'; do
	t_exit "'$text' is asked about" 0 t_faden route --json "$text"
	t_like "'$text': its row says so" "$(cat "$t_out")" "\"score\":1,\"reason\":\"it is called 'kumquat'\""
	t_like "'$text' leads to what is called so" "$(decision)" "\"action\":\"resume\".*\"session_id\":\"${b}3\".*\"confidence\":1,\"reason\":\"it is called 'kumquat'\""
done
t_exit 'a sentence with the name in it is asked about' 0 t_faden route --json write a poem about a kumquat tree and its leaves
t_like 'a sentence that does not go back is not led by the name' "$(decision)" '"action":"new"'
t_exit 'the one that is called so is taken' 4 t_faden ask back to kumquat
t_like 'it is told where it is' "$(cat "$t_err")" "begun in claude: kumquat, 25 min ago, in $t_tmp/own-other"
t_is 'it runs in its own folder' "$(head -n 1 "$t_home/claude.args")" "$t_tmp/own-other"
# … in any folder, and however new
mkdir -p "$t_tmp/own-third"
"$t_helper/make-session" claude "$t_home/.claude" "$t_tmp/own-third" "${b}d" --title papaya --time 2026-05-01T10:29:30Z 'sell the fruit' >/dev/null
t_exit 'what was just called so elsewhere is asked about' 0 t_faden route --json back to papaya
t_like 'and found' "$(decision)" "\"action\":\"resume\".*\"session_id\":\"${b}d\".*\"reason\":\"it is called 'papaya'\""
rm "$t_home"/.claude/projects/*/"${b}d.jsonl"
t_exit 'a new conversation is asked for by words' 0 t_faden ask new conversation
t_exit 'what comes next is asked about' 0 t_faden route --json sort the stamps
t_like 'what comes next is new' "$(decision)" '"action":"new","by":"pin"'
t_exit 'a name in what comes next is asked about' 0 t_faden route --json back to kumquat
t_like 'a name goes before what was to come next' "$(decision)" "\"action\":\"resume\",\"by\":\"router\".*\"session_id\":\"${b}3\""
session claude 9 2026-05-01T10:29 "$t_tmp/own" hello 'translate the menu into Greek' thanks
t_exit 'the new conversation is begun' 0 t_faden ask --agent rehearsal sort the stamps
t_exit 'what was said later in a session is asked about' 0 t_faden route --json go back to the Greek menu
t_like 'a session is found by what was said later in it' "$(decision)" "\"session_id\":\"${b}9\""

# an agent that a killed faden left has its session open, and is waited for: it is nobody else's
mkdir "$t_tmp/left" && cd "$t_tmp/left" || exit 1
session claude a 2026-05-01T10:20 "$t_tmp/left" 'sort the shells'
at 10:30
t_exit 'a session becomes a conversation' 4 t_faden ask --in "${b}a" 'and the pearls'
at 10:35
t_exit 'another one is begun' 0 t_faden ask --agent rehearsal --new 'whet the knives'
at 10:45
session claude a 2026-05-01T10:40 "$t_tmp/left" 'sort the shells' 'and the pearls'
t_start env FADEN_RUN=4194305.1.x sleep 60
printf '{"pid":%d,"sessionId":"%s","procStart":"%s"}' "$t_pid" "${b}a" "$(cut -d' ' -f22 "/proc/$t_pid/stat")" >"$claude/sessions/$t_pid.json"
t_exit 'what goes on is asked about' 0 t_faden route --json continue
t_like 'it is what the left agent works on' "$(decision)" "\"session_id\":\"${b}a\""
rm "$claude/sessions/$t_pid.json"
rm -f "$t_bin/claude" "$t_bin/codex"
t_exit 'without their programs they are asked about' 0 t_faden route --json go on with the parser for tax forms
t_unlike 'an agent that is not installed has no sessions to go on with' "$(cat "$t_out")" "${b}1"
t_unsetenv FADEN_CLOCK

# "continue" is never the first thing that an agent is told.
mkdir -p "$t_tmp/empty" "$t_tmp/elsewhere" "$t_tmp/held" && cd "$t_tmp/empty" || exit 1
at 12:00
printf '#!/bin/sh\n' >"$t_bin/claude"
chmod +x "$t_bin/claude"
for words in continue 'please go on' 'mach bitte weiter' 'ok, weiter' 'Continue!' 'continue where we left off'; do
	t_exit "'$words' where nothing was begun is refused" 1 t_faden ask --agent rehearsal "$words"
done
t_like 'it is said that there is nothing' "$(cat "$t_err")" '^faden: There is nothing here to go on with; nothing was sent\. To see what there is elsewhere: faden list --all$'
t_exit 'the same for programs' 1 t_faden ask --agent rehearsal --json continue
t_like 'has a status of its own' "$(cat "$t_out")" '"answer":"","status":"not-found","error":\{"code":"not-found","message":"There is nothing here.*"conversation_id":null'
t_is 'no conversation was begun' "$(t_faden list 2>/dev/null)" ''
talk() { printf '%s\n' "$@" | t_faden --agent rehearsal; }
t_exit 'in a talk it is refused as well' 1 talk continue
t_like 'and said' "$(cat "$t_out")" '^There is nothing here to go on with'
t_exit 'but not when a new one was asked for' 0 t_faden ask --agent rehearsal --new continue
cd "$t_tmp/elsewhere" || exit 1
t_exit 'such words elsewhere do not lead to one that began with them' 1 t_faden ask --agent rehearsal continue
t_exit 'nor do others that have the word' 0 t_faden ask --agent rehearsal --json continue with the harbour wall
t_like 'they begin one here' "$(cat "$t_out")" "\"directory\":\"$t_tmp/elsewhere\""
session claude d 2026-04-01T10:00 "$t_tmp/held" 'count the giraffes'
cd "$t_tmp/held" || exit 1
t_exit 'one that is old does not go on by itself' 1 t_faden ask --agent claude continue
t_like 'it is named with the command' "$(cat "$t_err")" "The last one was \"count the giraffes\", 30 days ago; to go on with it: faden ask --in ${b}d\$"
session claude e 2026-05-01T11:58 "$t_tmp/held" 'count the zebras'
printf '{"pid":%d,"sessionId":"%s","procStart":"%s"}' $$ "${b}e" "$(cut -d' ' -f22 /proc/$$/stat)" >"$claude/sessions/$$.json"
t_exit 'to go on with what is open in its agent is refused' 5 t_faden ask continue
t_like 'it is said which one, who has it and what to do' "$(cat "$t_err")" "^faden: ask: nothing was sent: \"count the zebras\" is open in claude \(process $$\) right now; end it there, or begin another conversation with --new\$"
t_exit 'it is refused as often as it is said' 5 t_faden ask --json 'mach weiter'
talk() { printf '%s\n' "$@" | t_faden; }
t_exit 'it is in a talk' 5 talk continue
t_like 'for the same reason' "$(cat "$t_err")" "\"count the zebras\" is open in claude \(process $$\) right now"
t_exit 'route tells it' 0 t_faden route --json continue
t_like 'as a wait' "$(decision)" "\"action\":\"wait\".*\"session_id\":\"${b}e\""
t_exit 'another subject begins a conversation' 0 t_faden ask --agent rehearsal paint the bridge
t_is 'of the only turn' "$(t_faden list --agent rehearsal -F '{title}')" 'paint the bridge'
rm "$claude/sessions/$$.json"

# What was refused is what is corrected, not the sentence before it.
mkdir -p "$t_tmp/refused" && cd "$t_tmp/refused" || exit 1
session claude f 2026-05-01T11:50 "$t_tmp/refused" 'build the login form of the web shop'
printf '{"pid":%d,"sessionId":"%s","procStart":"%s"}' $$ "${b}f" "$(cut -d' ' -f22 /proc/$$/stat)" >"$claude/sessions/$$.json"
t_exit 'something else is begun beside one that is open' 0 t_faden ask --agent rehearsal --new count the penguin eggs
t_exit 'and one more' 0 t_faden ask --agent rehearsal --new --json write a poem on rust
rust=$(sed 's/.*"conversation_id":"\([^"]*\)".*/\1/' "$t_out")
t_exit 'what is open in its agent refuses what is meant for it' 5 t_faden ask 'back to the login form of the web shop, make the captcha bigger'
t_like 'nothing was sent' "$(cat "$t_err")" 'nothing was sent: "build the login form'
t_exit 'the other one is asked about' 0 t_faden route --json no, the other one
t_like 'it would get what was refused' "$(decision)" "\"conversation_id\":\"$rust\".*\"prompt\":\"back to the login form of the web shop, make the captcha bigger\""
t_exit 'the other one is taken' 0 t_faden ask --json no, the other one
t_like 'what was refused is said there' "$(cat "$t_out")" "You said: back to the login form.*\"conversation_id\":\"$rust\""
rm "$claude/sessions/$$.json" "$t_bin/claude"
t_unsetenv FADEN_CLOCK

# What the agent has deleted: nothing is said to go on, and nothing is sent where the archive has it.
mkdir -p "$t_tmp/deleted" && cd "$t_tmp/deleted" || exit 1
talk() { printf 'what did I say?\n' | t_faden --agent rehearsal; }
t_exit 'something is said that will be kept' 0 t_faden ask --agent rehearsal remember the heron
file=$(t_faden list -F '{path}')
kept=$(t_faden list -F '{id}')
t_exit 'it is archived' 0 t_faden archive
rm "$file"
t_exit 'talking in what was deleted is refused' 1 talk
t_unlike 'talking does not claim to go on' "$(cat "$t_err")" 'Going on'
t_like 'talking says at once what is gone and how to have it back' "$(head -n 1 "$t_err")" \
	"no longer has \"remember the heron\" \(1 turn, .*\), but the archive does: faden archive restore $kept\$"
t_exit 'a sentence in it is refused' 1 t_faden ask --agent rehearsal 'continue, what did I say?'
t_like 'the refusal says that nothing was sent, and what helps' "$(cat "$t_err")" \
	"^faden: ask: nothing was sent: rehearsal no longer has \"remember the heron\", but the archive does\. Get it back: faden archive restore $kept;"
t_ok 'nothing was begun instead' test ! -e "$file"
for nuls in 0 4096; do
	head -c $nuls /dev/zero >"$file"
	t_exit "a sentence in one of $nuls NULs is refused" 1 t_faden ask --agent rehearsal 'continue, what did I say?'
	t_like "with what helps against $nuls NULs" "$(cat "$t_err")" "no longer has .*, but the archive does\. Get it back: faden archive restore $kept"
done
t_exit 'talking in one of NULs is refused' 1 talk
t_like 'and says the same' "$(head -n 1 "$t_err")" "no longer has .*, but the archive does: faden archive restore $kept\$"
t_exit 'it is had back' 0 t_faden archive restore "$kept"
t_exit 'then it goes on' 0 talk
t_like 'with what was said' "$(cat "$t_out")" 'remember the heron'
rm "$file"
rm -r "$t_home/.local/share/faden/archive"
t_exit 'without a copy it begins anew' 0 talk
t_like 'which is said first' "$(head -n 1 "$t_err")" 'no longer has .*, nor does the archive: what is said next begins anew'

# What the user has deleted is over: what leans there is not refused, and goes nowhere else by itself.
mkdir -p "$t_tmp/over" && cd "$t_tmp/over" || exit 1
ask() { t_faden ask --agent rehearsal "$@"; }
t_exit 'something is said that will be deleted' 0 ask fix the rounding of the checkout total
over=$(t_faden list -F '{id}')
t_exit 'the user deletes it' 0 t_faden delete -y "$over"
t_exit 'it is not what goes on' 0 t_faden route --json continue
t_like 'nothing is' "$(cat "$t_out")" '"action":"none".*"session_id":null'
t_exit 'to go on with it is refused' 1 ask continue
t_like 'it is said why, and how it comes back' "$(cat "$t_err")" \
	"nothing here to go on with: \"fix the rounding of the checkout total\" was deleted; nothing was sent\. To get it back: faden archive restore $over\$"
t_exit 'what leans on it is said all the same' 0 ask 'and now do that again'
t_like 'in a new conversation, and it is told why and how the old one comes back' "$(cat "$t_err")" \
	"\"fix the rounding of the checkout total\" was deleted \(faden archive restore $over gets it back\): starting a new"
t_exit 'the next one is no longer told' 0 ask 'and now run it'
t_unlike 'since it goes on in the new one' "$(cat "$t_err")" 'deleted'
t_exit 'it is had back' 0 t_faden archive restore "$over"
t_exit 'then it can be gone back to' 0 ask 'back to the rounding of the checkout total'
t_like 'which it is' "$(cat "$t_err")" 'Resuming: fix the rounding'
t_exit 'it gets a name' 0 t_faden rename "$over" rounding
t_exit 'and is deleted again' 0 t_faden delete -y "$over"
t_exit 'by its name it is refused' 1 ask back to rounding
t_like 'with the way to get it back' "$(cat "$t_err")" "Get it back: faden archive restore $over"

t_setenv FADEN_ASSISTANT_LANGUAGE=de
t_exit 'a reset in German succeeds' 0 t_faden reset
t_is 'the words of the assistant are German' "$(cat "$t_out")" 'Alles klar, ich starte eine neue Konversation.'
t_done
