#!/bin/sh
# Microphone and loudspeaker through the real drivers: a PulseAudio of the test's own, and ALSA's
# plugins that need no card.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/pulse.sh"
t_need_pulse
sound=$t_build/tests/sound
tone=$t_tmp/tone.wav
t_tone "$tone" 3
short=$t_tmp/short.wav
t_tone "$short" 1

# What is heard is listened to from before on, since a sink that nobody listens to takes its time.
listen() {
	rm -f "$t_tmp/heard.wav"
	t_start_sound record pulse speaker.monitor "$t_tmp/heard.wav" 60
	recorder=$t_pid
	t_wait_for 20 grows
}
t_start_sound() {
	t_start env HOME="$t_home" PULSE_SERVER="unix:$t_pulse/socket" "$sound" "$@" >"$t_tmp/recorder" 2>&1
}
grows() { [ "$(stat -c %s "$t_tmp/heard.wav" 2>/dev/null || echo 0)" -gt 4000 ]; }
# heard_seconds: of sound, between the first and the last loud sample.
heard_seconds() { t_loud "$t_tmp/heard.wav" | awk '{ print $3 - $2 }'; }
heard_enough() { awk -v got="$(heard_seconds)" -v want="$1" 'BEGIN { exit !(got >= want) }'; }
between() { awk -v x="$1" -v low="$2" -v high="$3" 'BEGIN { exit !(x >= low && x <= high) }'; }

listen
t_ok 'a file is played' t_run "$sound" play pulse speaker "$short"
t_ok 'all of it is heard' t_wait_for 10 heard_enough 0.9
t_stop "$recorder"
t_ok 'and nothing else' between "$(heard_seconds)" 0.9 1.1

listen
t_exit 'playing is stopped in the middle' 0 t_run "$sound" play pulse speaker "$tone" 700
t_like 'who waited is told' "$(cat "$t_out")" '^stopped$'
sleep 0.5
t_stop "$recorder"
t_note "stopped 0.7 s after the beginning: $(heard_seconds) s were heard"
t_ok 'there is silence within 200 ms' between "$(heard_seconds)" 0.2 0.9

# The microphone is taken away and comes back.
rm -f "$t_tmp/heard.wav"
t_start_sound record pulse mic.monitor "$t_tmp/heard.wav" 60
recorder=$t_pid
t_wait_for 20 grows
module=$(t_run pactl list short modules | awk '/sink_name=mic/ { print $1 }')
t_run pactl unload-module "$module"
t_ok 'a microphone that is taken away is told' t_wait_for 10 grep -q '^lost: ' "$t_tmp/recorder"
t_run pactl load-module module-null-sink sink_name=mic rate=48000 channels=2 >/dev/null
t_ok 'it is opened again when it comes back' t_wait_for 10 grep -q '^again: ' "$t_tmp/recorder"
# The server dies and is started again.
: >"$t_tmp/recorder"
t_stop "$t_pulse_pid"
t_ok 'a server that dies is told' t_wait_for 10 grep -q 'lost: ' "$t_tmp/recorder"
t_ok 'the server is there again' t_pulse_start
t_ok 'sound comes from it again' t_wait_for 10 grep -q 'again: ' "$t_tmp/recorder"
t_stop "$recorder"
t_ok 'the recording can be read' t_loud "$t_tmp/heard.wav"

t_exit 'what is played is no microphone, unless it is asked for' 1 \
	t_run "$sound" record pulse - "$t_tmp/none.wav" 1
t_like 'which is said' "$(cat "$t_err")" '^no microphone \(pulse: the default is [a-z]+\.monitor, which hears a loudspeaker: name it \(--device, audio\.input_device\) if that is meant\)$'
t_exit 'a device that is not there is an error' 1 t_run "$sound" play pulse nowhere "$short"
t_like 'which names it' "$(cat "$t_err")" 'there is no device "nowhere"'
t_like 'and those that there are' "$(cat "$t_err")" '"nowhere", but .*speaker'
t_exit 'no server is an error' 1 t_run env PULSE_SERVER=unix:/nowhere "$sound" play pulse - "$short"
t_like 'which says so' "$(cat "$t_err")" 'no server'
t_exit 'no sound system at all is an error' 1 t_run env PULSE_SERVER=unix:/nowhere "$sound" play - - "$short"
t_like 'which says why of each' "$(cat "$t_err")" 'pulse: .*alsa: '
t_is 'and nothing else is printed' "$(wc -l <"$t_err")" 1

if t_has_library 'libasound\.so\.2'; then
	t_ok 'ALSA plays' t_run "$sound" play alsa "file:$t_tmp/alsa.raw,raw" "$short"
	t_is 'every sample' "$(stat -c %s "$t_tmp/alsa.raw")" 32000
	t_ok 'ALSA records' t_run "$sound" record alsa null "$t_tmp/null.wav" 0.2
	t_ok 'what it gave' test -s "$t_tmp/null.wav"
	t_exit 'a card that is not there is an error' 1 t_run "$sound" play alsa hw:9 "$short"
	t_is 'of one line' "$(wc -l <"$t_err")" 1
else
	t_skip 'ALSA' 'libasound2 is not installed'
fi
t_done
