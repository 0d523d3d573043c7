#!/bin/sh
# faden listen with the real models: speech in, speech out, and that recognised again.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/voice.sh"
t_need_voice
t_setenv FADEN_ASSISTANT_LANGUAGE=en
mkdir -p "$t_tmp/work"
cd "$t_tmp/work" || exit 1
printf 'say Good morning, my friend. The secret word is banana.\n' >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
speech() { t_faden listen --no-tty --lang en --new-session --output "$t_tmp/out.wav" "$@"; }
transcript() { t_faden voice hear --json --lang en "$1" | sed 's/.*"text":"\([^"]*\)".*/\1/'; }

voice_speak ask.wav p1.5 'Hey Jarvis' p1 'what is the word' p4
t_exit 'a call and a question are answered' 0 speech --input ask.wav
t_like 'the question was understood' "$(cat "$t_out")" '^\[[0-9:]{8}\] You: .*word'
t_unlike 'the call is no part of it' "$(cat "$t_out")" 'You: .*Jarvis'
t_like 'the answer is heard in what was spoken' "$(transcript "$t_tmp/out.wav")" '[Gg]ood morning,? my friend'
voice_speak breath.wav p1.5 'Hey Jarvis, what is the word?' p4
t_exit 'both in one breath are answered too' 0 speech --input breath.wav
t_like 'all of the question was heard' "$(cat "$t_out")" '^\[[0-9:]{8}\] You: [Ww]hat is (the|my) word'
voice_speak nothing.wav p1.5 'what is the word' p4
t_exit 'without a call' 0 speech --input nothing.wav
t_is 'nothing is answered' "$(cat "$t_out")" ''
voice_speak alone.wav p1.5 'Hey Jarvis' p7
t_exit 'a call and nothing more' 0 speech --input alone.wav
t_is 'is not sent' "$(cat "$t_out")" ''
t_is 'a ding asks to speak, a second sound says that nobody did' "$(voice_sounds)" 'ding ready'

# barge-in: called while it speaks
printf 'say One is a long sentence that goes on and on. Two is a long sentence that goes on and on. Three is a long sentence that goes on and on. Four is a long sentence that goes on and on.\n' >"$t_tmp/script"
voice_speak barge.wav p1.5 'Hey Jarvis' p1 'tell me a story' p5 'Hey Jarvis' p1 'stop' p4
t_exit 'called while it speaks' 0 speech --input barge.wav
t_like 'and told to stop, it says that it did' "$(cat "$t_out")" 'Jarvis: Cancelled\.$'
log=$t_home/.local/state/faden/faden.log
quiet=$(sed -n 's/.*hushed within \([0-9]*\) samples at 24000 Hz.*/\1/p' "$log" | head -n 1)
t_ok "it is quiet within 200 ms (${quiet:-no} samples)" test "${quiet:-99999}" -le 4800

# start PROGRAM…: as t_start does, in the environment of t_run, and the id is the program's own.
start() {
	(
		while IFS= read -r pair; do
			set -- "$pair" "$@"
		done <"$t_tmp/env"
		exec env -i "$@" </dev/null
	) >"$t_tmp/started.out" 2>"$t_tmp/pulse.log" &
	t_pid=$!
	t_pids="$t_pids $t_pid"
}

if command -v pulseaudio >/dev/null && command -v pacat >/dev/null; then
	t_tools pulseaudio pactl pacat parec
	t_setenv "PULSE_SERVER=unix:$t_tmp/run/pulse.sock"
	start "$(command -v pulseaudio)" -n --daemonize=no --exit-idle-time=-1 --use-pid-file=no \
		--disable-shm=yes -L "module-native-protocol-unix auth-anonymous=1 socket=$t_tmp/run/pulse.sock" \
		-L 'module-null-sink sink_name=mic rate=16000' -L 'module-null-sink sink_name=speaker rate=24000'
	if t_wait_for 20 t_run pactl info; then
		printf 'say Good morning, my friend. The secret word is banana.\n' >"$t_tmp/script"
		t_setenv FADEN_AUDIO_INPUT_DEVICE=mic.monitor
		t_setenv FADEN_AUDIO_OUTPUT_DEVICE=speaker
		t_start_faden listen --no-tty --lang en --new-session >"$t_tmp/pulse.out" 2>"$t_tmp/pulse.err"
		faden_pid=$t_pid
		start "$(command -v parec)" -d speaker.monitor --rate=16000 --channels=1 --format=s16le --file-format=wav "$t_tmp/heard.wav"
		parec_pid=$t_pid
		sleep 2
		rss=$(awk '/^VmRSS/ { print $2 }' "/proc/$faden_pid/status")
		t_ok "while it waits for a call it is small (${rss:-no} KiB)" test "${rss:-999999}" -le 81920
		voice_speak now.wav p0.5 'Hey Jarvis' p1 'what is the word' p3
		t_run timeout 60 pacat --playback -d mic --file-format=wav now.wav
		t_ok 'through a sound server a question is answered' t_wait_for 40 grep -q banana "$t_tmp/pulse.out"
		sleep 4
		kill -TERM "$faden_pid" "$parec_pid"
		wait "$faden_pid" "$parec_pid" 2>/dev/null
		t_like 'and the answer is heard' "$(transcript "$t_tmp/heard.wav")" '[Gg]ood morning,? my friend'
		# The microphone hears all that is played, and nothing else: as loud as our own voice can be.
		printf 'say To call me, say hey Jarvis. Hey Jarvis! And then it says whatever it wants to. That is how hey Jarvis works. Now this is the end.\n' >"$t_tmp/script"
		t_setenv FADEN_AUDIO_INPUT_DEVICE=speaker.monitor
		: >"$log"
		t_start_faden listen --no-tty --lang en --new-session >"$t_tmp/echo.out" 2>"$t_tmp/echo.err"
		faden_pid=$t_pid
		t_wait_for 40 grep -q 'listen: microphone' "$log"
		t_run timeout 60 pacat --playback -d speaker --file-format=wav now.wav
		t_ok 'in a room where it hears itself a call is answered' t_wait_for 40 grep -q 'this is the end' "$t_tmp/echo.out"
		sleep 14
		kill -TERM "$faden_pid"
		wait "$faden_pid" 2>/dev/null
		t_is 'its own voice that says "Hey Jarvis" is no call' "$(grep -c 'listen: called' "$log")" 1
		t_is 'nor is anything else of it said to the agent' "$(grep -c 'You: ' "$t_tmp/echo.out")" 1
		t_unlike 'and it is not stopped by itself' "$(cat "$log")" 'hushed'
		t_note "pauses that it made for itself: $(grep -c 'a pause' "$log")"
	else
		t_skip 'through a sound server' "pulseaudio does not start here: $(tail -n 1 "$t_tmp/pulse.log")"
	fi
else
	t_skip 'through a sound server' 'pulseaudio is not installed'
fi
t_done
