#!/bin/sh
# Sentences from text to loudspeaker, with espeak-ng, through a PulseAudio of the test's own.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/pulse.sh"
command -v espeak-ng >/dev/null || t_skip_all 'espeak-ng is not installed'
t_need_pulse
sound=$t_build/tests/sound
between() { awk -v x="$1" -v low="$2" -v high="$3" 'BEGIN { exit !(x >= low && x <= high) }'; }
# say TEXT ARGUMENTS…
say() {
	printf '%s' "$1" >"$t_tmp/text"
	shift
	t_run "$sound" say "$@" <"$t_tmp/text"
}

t_exit 'a text is said into a file' 0 say 'Das ist **der erste** Satz. Hier ist
```
code
```
und der letzte.' wav "$t_tmp/said.wav" en
t_is 'sentence by sentence' "$(grep -E '^[0-9]+ (de|en):' "$t_out")" '1 de: Das ist der erste Satz.
2 de: Hier ist.
3 de: Code auf dem Bildschirm.
4 de: und der letzte.'
t_is 'each begins and ends once, in order' "$(sed -n 's/ at .*//p' "$t_out" | tr '\n' ' ')" \
	'1 begins 1 ends 2 begins 2 ends 3 begins 3 ends 4 begins 4 ends '
t_ok 'and can be heard' between "$(t_loud "$t_tmp/said.wav" | cut -d' ' -f1)" 2 15

# What is heard is listened to from before on, since a sink that nobody listens to takes its time.
t_start env HOME="$t_home" PULSE_SERVER="unix:$t_pulse/socket" "$sound" record pulse speaker.monitor "$t_tmp/heard.wav" 120 \
	>"$t_tmp/recorder" 2>&1
recorder=$t_pid
grows() { [ "$(stat -c %s "$t_tmp/heard.wav" 2>/dev/null || echo 0)" -gt 4000 ]; }
t_wait_for 20 grows
t_exit 'speech is stopped' 0 \
	say 'These words are said aloud, one after the other, until somebody wants them to end. And more.' \
	pulse speaker en 800
sleep 0.5
t_stop "$recorder"
t_like 'what was heard ends so' "$(cat "$t_out")" '^1 ends at [0-9]+ ms: stopped'
t_like 'what was not heard, too' "$(cat "$t_out")" '^2 ends at [0-9]+ ms: stopped'
heard=$(t_loud "$t_tmp/heard.wav" | awk '{ print $3 - $2 }')
begins=$(sed -n 's/^1 begins at \([0-9]*\) ms$/\1/p' "$t_out")
t_note "the first sound went out $begins ms after the first sentence; stopped at 0.8 s: $heard s were heard"
t_ok 'there is silence within 200 ms' between "$heard" 0.2 1.0

# The loudspeaker is taken away while it speaks, and comes back.
t_start env HOME="$t_home" PULSE_SERVER="unix:$t_pulse/socket" sh -c \
	"echo 'These words are said aloud, one after the other, until there are no more of them. And more.' |
	 '$sound' say pulse speaker en" >"$t_tmp/talk" 2>&1
t_wait_for 20 grep -q '1 begins' "$t_tmp/talk"
module=$(t_run pactl list short modules | awk '/sink_name=speaker/ { print $1 }')
t_run pactl unload-module "$module"
t_run pactl load-module module-null-sink sink_name=speaker rate=48000 channels=2 >/dev/null
t_ok 'a loudspeaker that is lost and comes back is spoken to again' t_wait_for 30 grep -q '^2 ends' "$t_tmp/talk"
t_unlike 'nobody is told of it' "$(cat "$t_tmp/talk")" 'ends at [0-9]* ms: '
t_exit 'one that is not there is an error' 1 say 'To nobody.' pulse nowhere en
t_like 'of the sentence' "$(cat "$t_out")" '^1 ends at [0-9]+ ms: no loudspeaker'
t_done
