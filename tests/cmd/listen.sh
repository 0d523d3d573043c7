#!/bin/sh
# faden listen: sound in, sound out. The acceptance lists of continuity and reset, by voice.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/voice.sh"
mkdir -p "$t_tmp/work"
cd "$t_tmp/work" || exit 1
sessions() { find "$t_home/.local/state/faden/rehearsal" -name '*.jsonl' 2>/dev/null | wc -l; }
prompts() { cat "$t_home/.local/state/faden/rehearsal"/projects/*/*.jsonl | grep -c '"type":"user"'; }

# ---- one turn ----
voice_says 'my cat is called Mia' 'what did I say?' 'Neue Konversation' 'Neustart' 'Lade das Preset' '.'
voice_make 1.wav p1 1 p3
voice_make 2.wav p1 2 p3
t_exit 'the very first start, with no conversation, is no error' 0 listen --input 1.wav
t_like 'what was said is shown with its time' "$(cat "$t_out")" '^\[[0-9:]{8}\] You: my cat is called Mia$'
t_like 'the answer stands below its name' "$(cat "$t_out")" '^You said: my cat is called Mia'
t_like 'the answer is spoken' "$(cat "$voice_spoken")" '^You said: my cat is called Mia'
t_is 'the sounds have their order' "$(voice_sounds)" 'processing speech ready'

# ---- continuity (without and with --new-session) ----
t_exit 'without --new-session a start is fine' 0 listen --input 2.wav
t_like 'without --new-session the first sentence goes on with the last conversation' "$(cat "$t_out")" '^1\. my cat is called Mia'
t_like 'which one goes on is said' "$(cat "$t_err")" 'Going on with rehearsal: "my cat is called Mia"'
t_is 'it is the same session' "$(sessions)" 1
voice_make 12.wav p1 1 p6 2 p3
t_exit 'without --new-session, and more than one sentence' 0 listen --input 12.wav
t_is 'the sentences after the first go on in the same session, too' "$(sessions)" 1
t_exit '--new-session is an option' 0 listen --new-session --input 12.wav
t_is 'with --new-session a fresh session begins' "$(sessions)" 2
t_is 'the sentences after the first go on in it' "$(grep -c '^[0-9]*\. ' "$t_out")" 1
find "$t_home/.local/state/faden/rehearsal" -name '*.jsonl' -newer 12.wav -delete
t_exit 'a session that is gone is no failure' 0 listen --input 2.wav
t_like 'that it is gone is told, and a fresh one begins' "$(cat "$t_err")" 'nicht mehr .*sie beginnt neu'
t_like 'and stands in the log' "$(cat "$t_home/.local/state/faden/faden.log")" 'does not know session .*: starting fresh'
t_like 'and the sentence is answered' "$(cat "$t_out")" 'Nothing yet'

# ---- reset by voice ----
before=$(prompts)
voice_make reset.wav p1 3 p3
t_exit 'a reset by voice is taken' 0 listen --input reset.wav
t_is 'no agent is asked for the reset itself' "$(prompts)" "$before"
t_is 'the reset is confirmed aloud' "$(cat "$voice_spoken")" 'Alles klar, ich starte eine neue Konversation.'
t_is 'the ready sound comes after the confirmation' "$(voice_sounds)" 'processing speech ready'
t_exit 'a start after the reset is fine' 0 listen --input 2.wav
t_like 'the reset is in force after a restart of the program' "$(cat "$t_out")" 'Nothing yet'
voice_make resets.wav p1 3 p4 3 p4 2 p3
t_exit 'several resets in a row are no error' 0 listen --input resets.wav
t_is 'each is confirmed' "$(grep -c 'neue Konversation\.$' "$voice_spoken")" 2
t_like 'and the next sentence is fresh' "$(cat "$t_out")" 'Nothing yet'
mkdir -p "$t_tmp/never"
never() (cd "$t_tmp/never" && listen --input ../work/reset.wav)
t_exit 'a reset where no session was ever begun is no error' 0 never
t_is 'it is confirmed all the same' "$(cat "$voice_spoken")" 'Alles klar, ich starte eine neue Konversation.'
voice_says NEUE\ KONVERSATION 'neue conversation!' 'Tabula rasa' 'Lade das Preset'
voice_make 1234.wav p1 1 p4 2 p4 3 p6 4 p3
before=$(prompts)
t_setenv 'FADEN_COMMANDS_RESET_KEYWORDS=neue konversation, tabula rasa'
t_exit 'reset keywords are configurable' 0 listen --input 1234.wav
t_is 'capitals, small slips and a word of your own reset' "$(grep -c 'neue Konversation\.$' "$voice_spoken")" 3
t_is 'a word that only contains one goes to the agent' "$(prompts)" "$((before + 1))"
t_unsetenv FADEN_COMMANDS_RESET_KEYWORDS

voice_make silence.wav p8
# ---- options ----
t_exit 'options that exclude each other are refused' 2 t_faden listen --push-to-talk --no-wake
t_exit 'a key needs a terminal' 2 t_faden listen --push-to-talk
t_exit 'a language that is none is refused' 2 t_faden listen --lang klingon
t_exit 'a unit for systemd is printed' 0 t_faden listen --unit
t_like 'it runs the service' "$(cat "$t_out")" '^ExecStart=".*/faden" listen --no-tty$'
t_exit 'a unit has the options that it is asked for with' 0 t_faden listen --unit --lang de --device 'a "b" %c $d'
t_like 'as systemd reads them' "$(cat "$t_out")" ' --no-tty --lang de --device "a \\"b\\" %%c \$\$d"$'
t_exit 'also in which folder, and that each start is a new conversation' 0 t_faden listen --unit --state "$t_tmp/a state" --verbose --new-session
t_like 'a service is started so' "$(cat "$t_out")" '/faden" --state ".*/a state" --verbose listen --no-tty --new-session$'
t_exit 'what is for one start is refused' 2 t_faden listen --unit --input silence.wav
service=$t_home/.config/systemd/user/faden-listen.service
t_exit 'without systemd the unit is installed, and not started' 1 t_faden listen --install-unit
t_ok 'it is there' test -f "$service"
t_like 'what is left to do is said' "$(cat "$t_err")" 'systemctl --user enable --now faden-listen'
printf '#!/bin/sh\necho "$*" >>"%s"\n' "$t_tmp/systemctl" >"$t_bin/systemctl"
chmod +x "$t_bin/systemctl"
t_exit 'with systemd it is started' 0 t_faden listen --lang en --install-unit
t_is 'now and from now on' "$(tr '\n' ',' <"$t_tmp/systemctl")" '--user daemon-reload,--user enable faden-listen.service,--user restart faden-listen.service,'
t_like 'with its options' "$(cat "$service")" 'listen --no-tty --lang en$'
t_unlike 'who answers is there, so nothing is said of that' "$(cat "$t_err")" 'could not'

# The PATH of a service is none of the user's, so that of the shell goes with it. unit_path: as systemd reads it.
unit_path() {
	python3 -c 'import re, sys
for line in open(sys.argv[1]):
    if line.startswith("Environment=\"PATH=") and line.endswith("\"\n"):
        print(re.sub(r"\\(.)", r"\1", line[18:-2]).replace("%%", "%"))' "$service"
}
of_the_unit() { # PATH: its command in nearly no environment
	env -i "HOME=$t_home" "PATH=$1" timeout 60 sh -c "$(sed -n 's/^ExecStart=//p' "$service")"
}
own=$t_tmp/'own %h "$x\y'
mkdir "$own"
t_setenv "PATH=$own:$t_bin"
t_exit 'a unit for an agent that is nowhere is installed' 0 t_faden listen --agent claude --install-unit
t_like 'but it is said that it would not be found, and what to set' "$(cat "$t_err")" "could not ask claude: its program 'claude' is not found; set ai\.claude\.program "
printf '#!/bin/sh\n' >"$own/claude"
chmod +x "$own/claude"
t_exit 'a unit for an agent in a folder of its own' 0 t_faden listen --agent claude --install-unit
t_is 'is installed without a word' "$(cat "$t_err")" ''
t_is 'it has the PATH of the shell' "$(unit_path)" "$own:$t_bin"
t_exit 'its command, in another PATH' 4 of_the_unit "$t_bin:/usr/bin:/bin"
t_like 'would not find the agent' "$(cat "$t_err")" "'claude', is not installed or not in PATH"
t_exit 'with that of the unit' 1 of_the_unit "$(unit_path)"
t_like 'it comes as far as the models' "$(cat "$t_err")" 'faden voice install'
t_setenv "PATH=$t_bin"
t_exit 'it is removed again' 0 t_faden listen --remove-unit
t_ok 'and is gone' test ! -e "$service"
t_like 'and stopped before' "$(cat "$t_tmp/systemctl")" '^--user stop faden-listen.service$'
t_exit 'a unit that is not installed cannot be removed' 1 t_faden listen --remove-unit
: >"$t_tmp/journal"
t_setenv "JOURNAL_STREAM=$(stat -c %d:%i "$t_tmp/journal")"
in_journal() { listen --input silence.wav 2>>"$t_tmp/journal"; }
t_exit 'as a service it is heard' 0 in_journal
t_like 'its log goes to the journal' "$(cat "$t_tmp/journal")" ' info listen: microphone wav: silence.wav$'
t_unsetenv JOURNAL_STREAM
no_models() { t_faden listen --no-tty --input silence.wav --output "$t_tmp/out.wav"; }
t_exit 'without a wake word model it ends' 1 no_models
t_like 'and names the one command to run' "$(cat "$t_err")" 'faden voice install'
t_done
