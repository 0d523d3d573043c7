#!/bin/sh
# Standard input that is no terminal: one turn a line.
. "$(dirname "$0")/../lib.sh"
cd "$t_home" || exit 1

lines() { printf '%s\n' "$@" | t_faden; }

t_exit 'each line is a turn' 0 lines one '' two 'what did I say?'
t_is 'answers are on standard output, in order' "$(grep -c '^You said' "$t_out")" 2
t_like 'the lines are one conversation' "$(cat "$t_out")" '^2\. two'
t_like 'diagnostics are not among the answers' "$(cat "$t_err")" 'rehearsal'

mkdir new
undo() (cd new && lines 'undo reset' 'what did I say?')
t_exit 'an undo with nothing to undo is no failure' 0 undo
t_like 'an undo with nothing to undo is answered' "$(cat "$t_out")" '^There is nothing to bring back'
t_like 'the lines after it are taken' "$(cat "$t_out")" 'Nothing yet'

t_exit 'commands in words are recognised' 0 lines 'Jarvis, von vorne bitte!' 'what did I say?'
t_like 'a reset asks no agent, and answers in the language of the command' "$(cat "$t_out")" '^Alles klar, ich starte eine neue Konversation\. /undo holt die alte zurück\.$'
t_like 'a reset is in force' "$(cat "$t_out")" 'Nothing yet'
t_exit 'a cancel with nothing running succeeds' 0 lines stopp
t_is 'a cancel with nothing running is answered' "$(cat "$t_out")" 'Alles klar.'
t_exit 'a word of two languages is taken' 0 lines stop
t_is 'a word of two languages is answered in that of the locale' "$(cat "$t_out")" 'All right.'
german() { printf '%s\n' "$@" | t_run LC_ALL=de_DE.UTF-8 "$FADEN"; }
t_exit 'the locale may be German' 0 german stop 'start over' 'undo reset'
t_is 'in a German locale a word of two languages is answered in German, English in English' "$(head -n 2 "$t_out")" 'Alles klar.
All right, I am starting a new conversation. /undo brings the old one back.'
t_like 'an undo by words names what goes on' "$(tail -n 1 "$t_out")" '^The previous conversation goes on: what did I say\?, just now\.$'
chosen() { printf '%s\n' "$@" | t_run FADEN_ASSISTANT_LANGUAGE=en "$FADEN"; }
t_exit 'a language may be chosen' 0 chosen 'von vorne' 'reset rückgängig'
t_is 'a language that was chosen is kept to' "$(sed 's/: .*//' "$t_out")" 'All right, I am starting a new conversation. /undo brings the old one back.
The previous conversation goes on'
odd() { printf 'Gr\374\337e\000\nand plain\n' | t_faden --new-session; }
t_exit 'a line of another encoding is taken' 0 odd
t_like 'each of its bytes and NUL is replaced' "$(cat "$t_out")" '^You said: Gr��e�$'
t_is 'that is said, once for the line' "$(grep -c 'faden: 3 bytes of the text are NUL or not UTF-8, and were replaced by U+FFFD' "$t_err")" 1
route() { t_faden ask --agent rehearsal --new 'water the tomatoes' >/dev/null 2>&1; t_faden ask --agent rehearsal "$@"; }
t_exit 'a sentence for another subject is taken' 0 route 'Schreib bitte eine Rechnung für den Umzug nach Bremen'
t_like 'what is told of a sentence is in its language' "$(cat "$t_err")" '^faden: Neue Konversation \(sonst sag: "nein, die andere"\)'
t_exit 'words inside a sentence are no command' 0 lines 'Stelle die Stoppuhr auf fünf Minuten'
t_like 'words inside a sentence go to the agent' "$(cat "$t_out")" '^You said: Stelle die Stoppuhr'

fresh() { printf 'what did I say?\n' | t_faden --new-session; }
t_exit '--new-session is taken' 0 fresh
t_like '--new-session starts fresh' "$(cat "$t_out")" 'Nothing yet'
t_exit 'the next start goes on' 0 lines 'and more'
t_like 'the conversation that goes on is named on standard error' "$(cat "$t_err")" '^faden: Going on with rehearsal: "what did I say\?" \(1 turn, just now\)\.$'
no_newline() { printf 'no newline at the end' | t_faden; }
t_exit 'the last line needs no newline' 0 no_newline
t_like 'a last line without newline is a turn' "$(cat "$t_out")" '^You said: no newline'

printf 'fail rate-limited wait a bit\n---\nsay fine\n' >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
failing() { printf 'a\nb\n' | t_faden --new-session; }
t_exit 'a failed turn shows in the exit status' 4 failing
t_like 'a failed turn is explained' "$(cat "$t_err")" 'rehearsal: wait a bit'
t_like 'the turn after a failed one is taken all the same' "$(cat "$t_out")" '^fine'
printf 'retry 50 the model is overloaded\nsay there\n' >"$t_tmp/script"
retrying() { printf 'a\n' | t_faden --new-session; }
t_exit 'a turn that the agent tries again succeeds' 0 retrying
t_like 'a retry is told on standard error' "$(cat "$t_err")" '^faden: the model is overloaded; trying again in 1 s$'
t_unsetenv FADEN_AI_REHEARSAL_SCRIPT

# what is for faden itself
mkdir words && cd words || exit 1
typed() { printf '%s\n' "$@" | t_faden; }
t_exit 'exit leaves' 0 typed 'remember the quince' exit 'never said'
t_unlike 'nothing is said behind exit' "$(cat "$t_out")" 'never said'
for word in quit QUIT /exit; do
	t_exit "$word leaves" 0 typed "$word" 'never said'
	t_is "$word asks nobody" "$(cat "$t_out")" ''
done
t_exit '? helps' 0 typed '?'
t_like '? tells of the words' "$(cat "$t_out")" '^  >trim '
t_like '? tells of the keys' "$(cat "$t_out")" '^Keys: Escape or Ctrl-C cancels'
cp "$t_out" "$t_tmp/help"
t_exit '/help helps' 0 typed /help
t_ok '/help says the same' cmp "$t_tmp/help" "$t_out"
t_is 'every word of the help is in the man page' "$(grep -oE '^  [>/?a-z]+' "$t_tmp/help" | tr -d ' ' | while read -r word; do
	grep -qF -e "Li $word" -e "Li \\&$word" "$t_root/docs/man/talk.mdoc" || echo "$word"
done)" ''
t_exit '/clear and /undo are taken' 0 typed /clear 'what did I say?' /undo 'what did I say?'
t_is '/clear resets and /undo brings it back, by name' "$(cat "$t_out")" 'All right, I am starting a new conversation. /undo brings the old one back.
Nothing yet: this is our first message.
The previous conversation goes on: remember the quince, just now.
So far you said:

1. remember the quince'
t_exit 'a reset can be taken back at once' 0 typed /clear /undo 'what did I say?'
t_like '/undo names what goes on' "$(sed -n 2p "$t_out")" '^The previous conversation goes on: remember the quince, just now\.$'
t_exit '/compact is answered' 0 typed /compact '/compact keep the plan'
t_is '/compact asks no agent, and names what there is' "$(grep -c '^Nothing was sent.*>trim .*>continue .*>advise' "$t_out")" 2
t_exit 'other slash words go to the agent' 0 typed '/init now' '> quoted' '>unknown'
t_like 'a slash word goes to the agent' "$(cat "$t_out")" '^You said: /init now'
t_like 'a quoted line goes to the agent' "$(cat "$t_out")" '^You said: > quoted'
t_like 'an unknown word behind > goes to the agent' "$(cat "$t_out")" '^You said: >unknown'
t_like 'that is said' "$(cat "$t_err")" "^faden: None of faden's words"
t_exit 'words that are nearly ours are taken' 0 typed /unod '>tirm' '>tirm 400' '>contiune write the tests' '/cost'
t_is 'they are not sent, others are' "$(grep -E '^(Nothing was|You said)' "$t_out")" "Nothing was sent: did you mean /undo? (? shows what can be typed)
Nothing was sent: did you mean >trim? (? shows what can be typed)
Nothing was sent: did you mean >trim? (? shows what can be typed)
Nothing was sent: did you mean >continue? (? shows what can be typed)
You said: /cost"
t_exit 'an unknown word behind > may have others behind it' 0 typed '>foo bar'
t_like 'that is said as well' "$(cat "$t_err")" "^faden: None of faden's words"
t_exit '> words are taken' 0 typed '>lineage' '>advise' '>continue with the quince' 'what did I say?' '>resume'
t_like '>lineage shows where it comes from' "$(cat "$t_out")" 'rehearsal'
t_like '>advise says how full it is' "$(cat "$t_out")" '^Context'
t_like '>continue makes a session that takes over' "$(cat "$t_out")" 'now what goes on in its folder'
t_unlike 'no command is named to go on with what goes on here' "$(cat "$t_out")" 'Go on with:|ask --in'
t_like 'the next line is said in it' "$(cat "$t_out")" '^1\. .*with the quince'
t_like '>resume says what it cannot do here' "$(cat "$t_err")" 'agent rehearsal has no program of its own'
printf '*\ntool Bash cat long => %s\nsay done\n' "$(seq 1 900 | tr '\n' ' ')" >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
t_exit '>trim is taken' 0 typed /clear look '>trim 600 bash'
t_unsetenv FADEN_AI_REHEARSAL_SCRIPT
t_like '>trim makes a session that takes over' "$(cat "$t_out")" 'now what goes on in its folder'
cd .. || exit 1

# what an agent was told elsewhere counts
mkdir turns && cd turns || exit 1
"$t_helper/make-session" claude "$t_home/.local/state/faden/rehearsal" "$PWD" "99999999-0000-4000-8000-000000000009" 'dig a pond' two three four five >/dev/null
t_exit 'a session with turns of its own goes on' 0 t_faden ask --in 99999999 'and a bridge'
t_exit 'it goes on in a talk' 0 lines 'and a gate'
t_like 'all its turns are counted' "$(cat "$t_err")" '"dig a pond" \([56] turns, '
cd .. || exit 1

# two terminals in one folder
mkdir two && cd two || exit 1
mkfifo "$t_tmp/lines"
t_faden <"$t_tmp/lines" >"$t_tmp/talk" 2>"$t_tmp/talk.err" &
t_pids="$t_pids $!"
exec 4>"$t_tmp/lines"
answers() { [ "$(grep -cE '^(You said|So far)' "$t_tmp/talk")" = "$1" ]; }
echo 'secret plan alpha' >&4
t_ok 'a talk begins' t_wait_for 10 answers 1
t_exit 'another terminal begins a conversation there' 0 t_faden ask --new 'unrelated banana bread'
echo 'what did I say?' >&4
t_ok 'the talk is answered' t_wait_for 10 answers 2
t_like 'the talk stays in its conversation' "$(tail -n 1 "$t_tmp/talk")" '^1\. secret plan alpha$'
t_like 'it is said that something else goes on in the folder' "$(cat "$t_tmp/talk.err")" '^faden: Still in "secret plan alpha" here; what goes on in this folder is "unrelated banana bread" by now\.$'
t_exit 'a reset elsewhere is taken' 0 t_faden reset
echo 'what did I say?' >&4
t_ok 'the talk is answered after it' t_wait_for 10 answers 3
t_like 'a reset elsewhere does not move the talk' "$(tail -n 2 "$t_tmp/talk")" '^1\. secret plan alpha
2\. what did I say'
t_like 'a reset elsewhere is told' "$(tail -n 1 "$t_tmp/talk.err")" '^faden: Still in "secret plan alpha" here; the folder was reset elsewhere\.$'
exec 4>&-
t_exit 'the reset is in force all the same' 0 t_faden ask 'what did I say?'
t_like 'what the talk said since did not undo it' "$(cat "$t_out")" 'Nothing yet'
cd .. || exit 1

t_exit 'empty input is no failure' 0 t_faden </dev/null
t_is 'empty input is answered with nothing' "$(cat "$t_out")" ''
# Another conversation, by its name: at the start, and at the prompt.
mkdir -p "$t_tmp/named" "$t_tmp/unnamed" && cd "$t_tmp/named" || exit 1
t_exit 'a conversation is begun' 0 t_faden ask --agent rehearsal remember the egret
named=$(t_faden list -F '{id}')
t_exit 'it is called checkout' 0 t_faden rename "$named" checkout
t_exit 'another one is begun after it' 0 t_faden ask --agent rehearsal --new remember the ibis
say() { printf '%s\n' "$1" | t_faden ${2+"$2" "$3"}; }
t_exit 'a talk begins in the one that is named' 0 say 'what did I say?' --in checkout
t_like 'it is the one that is named' "$(cat "$t_out")" 'remember the egret'
t_like 'that is said' "$(cat "$t_err")" '^faden: Going on with rehearsal: "checkout" \(1 turn'
t_exit 'it is what goes on here then' 0 say 'what did I say?'
t_like 'with all that was said' "$(cat "$t_out")" 'remember the egret'
cd "$t_tmp/unnamed" || exit 1
t_exit 'a name is taken at the prompt, in any folder' 0 say "/resume checkout
what did I say?"
t_like 'the talk is there from then on' "$(cat "$t_out")" 'remember the egret'
t_like 'and where it works is said' "$(cat "$t_out")" "Going on with .*\"checkout\".*, in $t_tmp/named"
t_setenv 'FADEN_AI_EXEC_COMMAND=cat'
t_exit 'a talk with another agent is led there, too' 0 say "hello
/resume checkout
what did I say?
and then?" '--agent' exec
t_like 'and what is said goes there' "$(cat "$t_out")" 'remember the egret'
t_like 'also what comes after it' "$(cat "$t_out")" '^You said: and then\?'
t_unsetenv FADEN_AI_EXEC_COMMAND
t_exit 'an unknown name ends a script' 1 say "/resume chekout
drop the table"
t_unlike 'before anything is sent' "$(cat "$t_out")" 'drop the table'
t_exit 'without a name nothing is sent' 0 say '/resume'
t_like 'it is said what is meant' "$(cat "$t_out")" '/resume NAME'
t_exit 'one cannot begin anew and be in another' 2 say x --new --in=checkout
t_exit 'a name that does not exist is an error at the start' 1 say x --in nowhere
t_exit 'a correction of single sentences is not sent' 1 say 'count the hens
no, the other one'
t_like 'it is said what leads elsewhere' "$(cat "$t_out")" '^Nothing was sent: a talk stays in its conversation\. /resume NAME .*/clear'
t_exit 'in its own program by name' 0 say '>resume checkout'
t_like 'the name is not ignored' "$(cat "$t_err")$(cat "$t_out")" 'rehearsal'

# A terminal may claim any size; no room is made for each place of one that cannot be.
vast() {
	t_setenv 'TERM=xterm'
	t_run "$(command -v python3)" - "$t_tmp/peak" "$FADEN" --agent rehearsal <<'EOF'
import fcntl, os, pty, select, struct, sys, termios, time
peak, *command = sys.argv[1:]
go, ready = os.pipe()
pid, fd = pty.fork()
if pid == 0:
    os.read(go, 1)  # the size is set
    os.execv(command[0], command)
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 5000, 20000, 0, 0))
os.write(ready, b"x")
shown = b""
def until(text, start=0):
    global shown
    end = time.monotonic() + 20
    while text not in shown[start:] and time.monotonic() < end and select.select([fd], [], [], 20)[0]:
        try:
            shown += os.read(fd, 1 << 16)
        except OSError:  # it has ended
            break
    return len(shown)
prompt = "› ".encode()
until(prompt)
os.write(fd, b"remember the curlew\n")
until(prompt, until(b"You said: "))
os.write(fd, b"\x04")
until(b"the end of it")
pid, status, usage = os.wait4(pid, 0)
open(peak, "w").write(str(usage.ru_maxrss))
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(status))
EOF
}
t_exit 'one talks on a terminal that claims to be vast' 0 vast
t_like 'what is typed there is answered' "$(cat "$t_out")" 'You said: remember'
t_ok "it takes no memory for its size ($(cat "$t_tmp/peak") KB)" test "$(cat "$t_tmp/peak")" -lt 300000
t_done
