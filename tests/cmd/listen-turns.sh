#!/bin/sh
# faden listen: restarts, beeps, stopping, questions, errors.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/voice.sh"
mkdir -p "$t_tmp/work"
cd "$t_tmp/work" || exit 1
prompts() { cat "$t_home/.local/state/faden/rehearsal"/projects/*/*.jsonl | grep -c '"type":"user"'; }
voice_make 1.wav p1 1 p3

# ---- restart by voice ----
voice_says 'remember the quince' Neustart 'what did I say?'
voice_make restart.wav p1 1 p6 2 p6 3 p3
t_exit 'a restart by voice comes back and goes on' 0 listen --new-session --input restart.wav
t_like 'the restart is confirmed aloud' "$(cat "$voice_spoken")" '^Alles klar, ich starte jetzt neu\.$'
t_like 'after it the conversation goes on, though it began with --new-session' "$(cat "$t_out")" '^1\. remember the quince'
t_is 'it began twice, and each time said where' "$(grep -cE 'Going on|new conversation' "$t_err")" 2
t_like 'after a restart it says that it is ready' "$(voice_sounds)" 'speech ready ready'
t_like 'a restart keeps the options that it was started with' "$(voice_sounds)" 'speech ready ready processing speech ready$'

# ---- nothing is sent ----
voice_says . 'Untertitel der Amara.org-Community' 'Hey Jarvis.'
voice_make nothing.wav p1 1 p3 2 p3 3 p3
before=$(prompts)
t_exit 'what is no speech is no error' 0 listen --input nothing.wav
t_is 'a lone dot, invented credits and the mere name are not sent' "$(prompts)" "$before"
t_is 'nothing is said about it' "$(cat "$voice_spoken")" ''
voice_make silence.wav p8
t_exit 'silence is no error' 0 listen --input silence.wav
t_is 'nothing is heard of it' "$(voice_sounds)" ''

# ---- beeps ----
printf 'wait 1000\nsay There.\n' >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
t_setenv FADEN_AI_THINKING_BEEP_INTERVAL=0.4
voice_says Rechne
t_exit 'a turn that takes a while' 0 listen --new-session --input 1.wav
t_is 'it beeps every interval until the answer, and not after it' "$(voice_sounds)" 'processing thinking thinking speech ready'
typed() { printf 'Rechne\n' | t_faden listen --no-wake --new-session --input silence.wav --output "$t_tmp/out.wav"; }
t_exit 'what is typed is answered too' 0 typed
t_like 'it is marked' "$(cat "$t_out")" '^\[[0-9:]{8}\] You \[keyboard\]: Rechne$'
t_is 'what is typed is answered on the screen only' "$(voice_sounds)" ''
t_unsetenv FADEN_AI_THINKING_BEEP_INTERVAL

# ---- stopping ----
printf 'wait 20000\nsay Never.\n' >"$t_tmp/script"
voice_says Rechne Stopp
voice_make stop.wav p1 1 p4 2 p4
t_exit 'a word stops what runs' 0 listen --new-session --input stop.wav
t_is 'that it was cancelled is said aloud' "$(cat "$voice_spoken")" 'Abgebrochen.'
t_is 'and then it is ready' "$(voice_sounds | sed 's/thinking //g')" 'processing speech ready'
t_setenv VOICE_PACE=0.03
long=$(printf 'Und so weiter und so fort. %.0s' 1 2 3 4 5 6 7 8)
printf 'say %s\n' "$long" >"$t_tmp/script"
t_exit 'a word stops what is said' 0 listen --new-session --input stop.wav
t_like 'and that is said' "$(tail -n 1 "$voice_spoken")" '^Abgebrochen\.$'
log=$t_home/.local/state/faden/faden.log
since=$(sed -n 's/.*somebody speaks since \([0-9]*\) samples.*/\1/p' "$log")
quiet=$(sed -n 's/.*a pause, quiet within \([0-9]*\) samples at 24000 Hz.*/\1/p' "$log")
t_ok "who speaks is noticed within 100 ms (${since:-no} samples)" test "${since:-9999}" -le 1600
t_ok "and it is quiet while that is looked at (${quiet:-no} samples)" test "${quiet:-9999}" -le 480
t_ok 'most of it was not heard' test "$(python3 "$voice_py" seconds "$t_tmp/out.wav" | cut -d. -f1)" -lt 9

voice_says Rechne Jawohl
: >"$log"
printf 'say %s\n' "$long" >"$t_tmp/script"
t_exit 'somebody says something else while it speaks' 0 listen --new-session --input stop.wav
t_like 'there is a pause' "$(cat "$log")" 'a pause, quiet within'
t_is 'and it speaks on to its end' "$(voice_sounds)" 'processing speech ready'
t_is 'nothing was lost of it' "$(grep -c 'so fort' "$voice_spoken")" 8
t_unsetenv VOICE_PACE
# ---- permission ----
printf 'ask Bash make => done\nsay Built.\n' >"$t_tmp/script"
voice_says 'Baue es' Ja Nein Vielleicht
voice_make yes.wav p1 1 p6 2 p4
t_exit 'a question is asked aloud' 0 listen --new-session --input yes.wav
t_like 'it says what it wants' "$(cat "$voice_spoken")" '^Darf ich Bash benutzen\? make$'
t_like 'and how it can be answered' "$(cat "$voice_spoken")" '^Ja oder nein\?$'
t_like 'yes allows it' "$(cat "$voice_spoken")" '^Erlaubt\.$'
t_is 'and the work goes on' "$(tail -n 1 "$voice_spoken")" 'Built.'
voice_make no.wav p1 1 p6 3 p4
t_exit 'no is an answer too' 0 listen --new-session --input no.wav
t_like 'no denies it' "$(cat "$voice_spoken")" '^Nicht erlaubt\.$'
t_setenv VOICE_PACE=0.15 # the question takes some four seconds
voice_make early.wav p1 1 p3 2 p4
t_exit 'somebody answers while the question is being read' 0 listen --new-session --input early.wav
t_like 'that allows it' "$(cat "$voice_spoken")" '^Erlaubt\.$'
t_is 'and the work goes on' "$(tail -n 1 "$voice_spoken")" 'Built.'
t_ok 'the question is not read to its end' test "$(python3 "$voice_py" seconds "$t_tmp/out.wav" | cut -d. -f1)" -lt 9
voice_says 'Baue es' Stopp
t_exit 'somebody says stop while it is being read' 0 listen --new-session --input early.wav
t_like 'that is heard, too' "$(cat "$voice_spoken")" '^Abgebrochen\.$'
t_unsetenv VOICE_PACE
voice_says 'Baue es' Ja Nein Vielleicht
voice_make end.wav p1 1 p2
t_exit 'nobody is there to answer' 0 listen --new-session --input end.wav
t_like 'then it is denied, which is said' "$(cat "$voice_spoken")" '^Nicht erlaubt: niemand'

# ---- too long ----
printf 'say Gut.\n' >"$t_tmp/script"
voice_says Kurz
voice_make long.wav p1 20 p3 1 p3
before=$(prompts)
t_setenv FADEN_AUDIO_MAX_RECORDING_SEC=2
t_exit 'what is longer than a recording may be is no error' 0 listen --new-session --input long.wav
t_unsetenv FADEN_AUDIO_MAX_RECORDING_SEC
t_is 'that it was too long is told once, with the setting' "$(grep -c 'nach 2 s (audio\.max_recording_sec)' "$t_err")" 1
t_like 'and said' "$(cat "$voice_spoken")" '^Das war zu lang\. Ich habe nichts davon abgeschickt\.$'
t_is 'what was heard is shown' "$(grep -c 'You \[not sent\]: ' "$t_out")" 1
t_like 'the next sentence is taken' "$(cat "$t_out")" 'You: Kurz$'
t_is 'and nothing else is sent' "$(prompts)" "$((before + 1))"

# ---- errors, spoken by kind ----
voice_says Rechne
printf 'fail timed-out\n' >"$t_tmp/script"
t_exit 'a turn that took too long' 0 listen --new-session --input 1.wav
t_is 'is said to have' "$(cat "$voice_spoken")" 'Die Verarbeitung hat zu lange gedauert. Bitte versuche es nochmal.'
printf 'fail failed broken\n' >"$t_tmp/script"
t_exit 'a turn that failed' 0 listen --new-session --input 1.wav
t_is 'is said to have failed' "$(cat "$voice_spoken")" 'Entschuldigung, bei der Verarbeitung ist ein Fehler aufgetreten.'
t_like 'why stands on standard error' "$(cat "$t_err")" 'broken'
t_setenv VOICE_STT_FAILS=1
t_exit 'a recogniser that fails' 0 listen --new-session --input 1.wav
t_is 'is said to' "$(cat "$voice_spoken")" 'Die Spracherkennung funktioniert nicht. Mehr dazu steht auf dem Bildschirm.'
t_is 'then it is ready again' "$(voice_sounds)" 'processing speech ready'
t_unsetenv VOICE_STT_FAILS
t_setenv FADEN_TTS_COMMAND=false
printf 'say One. Two.\n' >"$t_tmp/script"
t_exit 'a voice that fails' 0 listen --new-session --input 1.wav
t_is 'is the error sound in place of the answer, and then ready' "$(voice_sounds)" 'processing error ready'
t_exit 'a recording that is not there is an error' 5 listen --input nowhere.wav
t_like 'which is said' "$(cat "$t_err")" 'nowhere\.wav'
printf 'no sound' >text.wav
: >empty.wav
printf 'fLaC\0\0\0\042' >song.flac
head -c 30 1.wav >torn.wav
mkdir folder.wav
for file in text.wav empty.wav song.flac torn.wav folder.wav; do
	t_exit "so is one that is none: $file" 3 listen --input "$file"
	t_is "which is said once: $file" "$(grep -c "^faden: listen: .*$file" "$t_err")" 1
	t_like "and what it is not: $file" "$(cat "$t_err")" 'not a WAV|not one byte|ends before|is a folder'
	t_unlike "and nothing of a microphone: $file" "$(cat "$t_err")" "$file.*voice test"
done
t_unlike 'and it is said before anything else' "$(cat "$t_err")" 'conversation'

# ---- what is written to is nobody's ----
cp 1.wav own.wav
ln -s own.wav link.wav
ln own.wav second.wav
: >"$t_tmp/spoken"
for file in own.wav link.wav second.wav ./own.wav; do
	t_exit "a recording is not spoken over: $file" 2 t_faden listen --no-tty --no-wake --input own.wav --output "$file"
done
over_itself() { t_faden listen --no-tty --no-wake --input - --output own.wav <own.wav; }
t_exit 'nor as standard input' 2 over_itself
t_is 'it stays as it was' "$(cksum <own.wav)" "$(cksum <1.wav)"
t_exit 'a file that is no WAV is not spoken over' 2 t_faden listen --no-tty --no-wake --input 1.wav --output text.wav
t_is 'that stays, too' "$(cat text.wav)" 'no sound'

t_done
