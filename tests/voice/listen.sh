#!/bin/sh
# faden listen on devices: a PulseAudio of the test's own, whose microphone goes and comes back, a
# card that another program has, a key in place of the call, and `voice test`.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../tty/tmux.sh"
. "$(dirname "$0")/../cmd/voice.sh"
. "$(dirname "$0")/pulse.sh"
t_need_pulse
tty_need
command -v pacat >/dev/null || t_skip_all 'pacat is not installed'
t_tools pacat
mkdir -p "$t_tmp/work"
cd "$t_tmp/work" || exit 1
voice_says eins zwei drei vier
printf 'say Done.\n' >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
t_setenv FADEN_AUDIO_INPUT_DEVICE=mic.monitor
t_setenv FADEN_AUDIO_OUTPUT_DEVICE=speaker
for n in 1 2 3 4; do voice_make "$n.wav" p0.5 "$n" p0.5; done
# speak N: into the microphone.
speak() { t_run timeout 30 pacat --playback -d mic --file-format=wav "$1.wav"; }
log=$t_home/.local/state/faden/faden.log
microphones() { [ "$(grep -c 'listen: microphone' "$log")" -ge "$1" ]; }
said() { grep -q "You: $1" "$t_tmp/shown"; }
# what is typed comes from a pipe that stays open
mkfifo "$t_tmp/typed"
start() {
	: >"$log"
	(exec 8<>"$t_tmp/typed" && t_faden listen --no-wake --new-session "$@" <&8) >"$t_tmp/shown" 2>"$t_tmp/told" &
	shell=$!
	t_pids="$t_pids $shell"
}
type() { printf '%s\n' "$1" >"$t_tmp/typed"; }

mkdir -p "$t_home/.local/state/faden"
start
t_ok 'the microphone is found' t_wait_for 20 microphones 1
speak 1
t_ok 'what is spoken is heard' t_wait_for 20 said eins
t_ok 'and answered' t_wait_for 20 grep -q '^Done' "$t_tmp/shown"
module=$(t_run pactl list short modules | awk '/sink_name=mic/ { print $1 }')
t_run pactl unload-module "$module"
t_ok 'a microphone that goes away is told' t_wait_for 20 grep -q 'tried again every second' "$t_tmp/told"
type 'typed meanwhile'
t_ok 'typing goes on' t_wait_for 20 grep -q 'keyboard\]: typed meanwhile' "$t_tmp/shown"
sleep 2.5
t_is 'it is told once' "$(grep -c 'tried again every second' "$t_tmp/told")" 1
t_run pactl load-module module-null-sink sink_name=mic rate=48000 channels=2 >/dev/null
t_ok 'that it is back is told' t_wait_for 20 grep -q 'There is a microphone again' "$t_tmp/told"
speak 2
t_ok 'and what is spoken is heard again' t_wait_for 20 said zwei
t_stop "$t_pulse_pid"
t_ok 'a sound server that dies is told' t_wait_for 20 sh -c "[ \"\$(grep -c 'tried again every second' '$t_tmp/told')\" = 2 ]"
t_pulse_start
t_ok 'it is found again' t_wait_for 20 microphones 3
speak 3
t_ok 'and what is spoken is heard' t_wait_for 20 said drei
type /exit
t_ok 'it can be left' t_wait_for 20 eval '! t_running "$shell"'

# ---- a card that another program has ----
if [ -f "$t_build/tests/busy-alsa.so" ]; then
	mkdir "$t_tmp/lib"
	cp "$t_build/tests/busy-alsa.so" "$t_tmp/lib/libasound.so.2"
	t_setenv "LD_LIBRARY_PATH=$t_tmp/lib"
	t_setenv "FADEN_TEST_BUSY=$t_tmp/busy"
	t_setenv FADEN_AUDIO_DRIVER=alsa
	: >"$t_tmp/busy"
	start
	t_ok 'a device that is in use is told' t_wait_for 20 grep -q 'in use by another program' "$t_tmp/told"
	type 'typed meanwhile'
	t_ok 'typing goes on without it' t_wait_for 20 grep -q '^Done' "$t_tmp/shown"
	rm "$t_tmp/busy"
	t_ok 'once it is free it is taken' t_wait_for 20 grep -q 'There is a microphone again' "$t_tmp/told"
	t_is 'that it was in use was told once' "$(grep -c 'in use by another' "$t_tmp/told")" 1
	type /exit
	t_wait_for 20 eval '! t_running "$shell"'
	t_unsetenv LD_LIBRARY_PATH
	t_unsetenv FADEN_AUDIO_DRIVER
else
	t_skip 'a device that is in use' 'it needs a build without sanitizers'
fi

# ---- voice test ----
t_start_faden voice test >"$t_tmp/test" 2>&1
tester=$t_pid
t_ok 'voice test listens on the microphone' t_wait_for 30 grep -q 'listening for 4 seconds on pulse: mic.monitor' "$t_tmp/test"
speak 4
t_wait_for 30 eval '! t_running "$tester"'
t_like 'the loudspeaker is tried' "$(cat "$t_tmp/test")" '^ok    loudspeaker  a sound and a sentence came out'
t_like 'the microphone is tried' "$(cat "$t_tmp/test")" '^ok    microphone   heard'
t_like 'what was said is shown' "$(cat "$t_tmp/test")" '^ok    recogniser   "vier"'
t_like 'what is missing has its remedy' "$(cat "$t_tmp/test")" '-> faden voice install'
mouth=$(sed -n 's/^FADEN_TTS_COMMAND=//p' "$t_tmp/env")
t_setenv 'FADEN_TTS_COMMAND=sh,-c,echo ill >&2; exit 1'
t_exit 'a voice that fails is tried, and nothing is said' 1 t_faden voice test
t_like 'it is told as such' "$(cat "$t_out")" '^fail  voice        sh failed .*: ill'
t_like 'with what to do' "$(grep -A1 '^fail  voice' "$t_out")" '-> see to the program of tts\.command'
t_like 'and not of the loudspeaker' "$(cat "$t_out")" '^ok    loudspeaker  a sound came out$'
t_like 'and the recogniser is not said to work' "$(cat "$t_out")" '^ok    recogniser   .*python3 is there; not tried: nothing was said$'
t_setenv "FADEN_TTS_COMMAND=$mouth"

# ---- a key in place of the call ----
tty_start 80 20 sh -c "'$FADEN' listen --push-to-talk --new-session; echo status \$?; exec cat"
tty_wait 'a key is to be pressed' '^● LISTENING  press Space to speak, any other key to type'
speak 1
tty_type Space
tty_wait 'it records' 'RECORDING  Space or a pause ends it'
speak 2
tty_wait 'what is said then is heard' '^\[[0-9:]{8}\] You: zwei$'
tty_wait 'and answered' '^Done\.'
t_unlike 'what was said before is not' "$(tty_screen)" 'You: eins'
tty_wait 'it is ready again' '^● LISTENING'
tty_type Space
tty_wait 'it records once more' 'RECORDING'
tty_type Space
tty_wait 'the key ends it, and with nothing said nothing is sent' '^● LISTENING'
t_is 'one sentence was heard in all' "$(tty_screen | grep -c 'You: ')" 1
tty_type hello Enter
tty_wait 'other keys type' 'You \[keyboard\]: hello'
tty_type C-d
tty_wait 'and it is left' '^status 0'
tty_stop
t_done
