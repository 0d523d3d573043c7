#!/bin/sh
# faden listen when a part of it fails: said once, with what to do, and typing goes on.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/voice.sh"
mkdir -p "$t_tmp/work"
cd "$t_tmp/work" || exit 1
voice_says eins zwei drei
voice_make twice.wav p1 1 p4 2 p3
printf 'say Done.\n' >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
# talk OPTIONS…: hears twice.wav, and then a line is typed.
talk() {
	: >"$voice_spoken"
	rm -f "$t_tmp/out.wav"
	printf 'typed all the same\n' | t_faden listen --no-wake --new-session --output "$t_tmp/out.wav" --input twice.wav "$@"
}
# trouble NAME PATTERN: once it is said, and what is typed is answered.
trouble() {
	t_exit "$1" 0 talk
	t_is "$1: it is said once" "$(grep -Ec "$2" "$t_err")" 1
	t_like "$1: with what to do" "$(grep -E "$2" "$t_err")" "'faden (voice|model) "
	t_like "$1: and typing goes on" "$(cat "$t_out")" 'You \[keyboard\]: typed all the same'
	t_like "$1: and is answered" "$(cat "$t_out")" '^Done\.'
}
apologies() { grep -c 'nicht verstehen' "$voice_spoken"; }
# deaf NAME: to say it again would be no use, and nobody is asked to.
deaf() {
	t_is "$1: whoever spoke is told that it does not work" "$(grep -c 'Spracherkennung funktioniert nicht' "$voice_spoken")" 2
	t_is "$1: and is not asked to say it again" "$(apologies)" 0
}

# ---- the recogniser ----
t_setenv 'FADEN_STT_COMMAND=sh,-c,exit 1'
trouble 'a recogniser that fails' 'sh failed'
deaf 'a recogniser that fails'
t_setenv 'FADEN_STT_COMMAND=head,-c,5000,/dev/urandom'
trouble 'a recogniser that writes anything' 'no text of speech'
t_is 'whoever spoke is asked to say it again' "$(apologies)" 1
t_is 'and told that it is no use when it fails again' "$(grep -c 'Spracherkennung funktioniert nicht' "$voice_spoken")" 1
t_setenv 'FADEN_STT_COMMAND=sh,-c,kill -9 $$'
trouble 'a recogniser that dies' 'signal 9'
t_setenv FADEN_STT_COMMAND=sleep,60
t_setenv FADEN_STT_TIMEOUT=1
trouble 'a recogniser that hangs' 'sleep'
t_setenv FADEN_STT_COMMAND=nowhere/recogniser
trouble 'a recogniser that is not there' 'nowhere/recogniser'
t_is 'and is known before anybody speaks' "$(apologies)" 0
t_unsetenv FADEN_STT_COMMAND

# answers HOW: a server for speech to text that is out of order; its port is in $port.
cat >"$t_tmp/server.py" <<'END'
import socket, sys
s = socket.create_server(("127.0.0.1", 0))
open(sys.argv[2], "w").write(str(s.getsockname()[1]))
kept = []
while True:
    c = s.accept()[0]
    kept.append(c)  # closed by none but who asked
    answers = {"nonsense": b"HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n<html>hi</html>",
               "number": b'HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{"text": 42}',
               "error": b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n", "garbage": b"\0\1\2\3\n\n", "closes": b""}
    if sys.argv[1] in answers:
        got = b"" if sys.argv[1] != "garbage" else b"--\r\n"
        while not got.endswith(b"--\r\n"):
            more = c.recv(65536)
            got = got[-8:] + more if more else b"--\r\n"
        c.sendall(answers[sys.argv[1]])
    if sys.argv[1] == "closes":
        kept.pop().close()
END
answers() {
	rm -f "$t_tmp/port"
	t_start python3 "$t_tmp/server.py" "$1" "$t_tmp/port"
	server=$t_pid
	t_wait_for 20 test -s "$t_tmp/port"
	t_setenv "FADEN_STT_URL=http://127.0.0.1:$(cat "$t_tmp/port")/v1/audio/transcriptions"
}
t_no_network
for how in hangs closes garbage nonsense number error; do
	answers "$how"
	trouble "a server: $how" 'speech to text:'
	case $how in
	nonsense | number) t_is "a server: $how: whoever spoke is asked to say it again" "$(apologies)" 1 ;;
	*) deaf "a server: $how" ;;
	esac
	t_stop "$server"
done
trouble 'a server that is gone' 'speech to text:'
deaf 'a server that is gone'
t_is 'without a time that is another each time' "$(grep -Ec '[0-9] (ms|milliseconds)' "$t_err")" 0
t_unsetenv FADEN_STT_URL

# ---- models ----
t_unsetenv FADEN_STT_TIMEOUT
models=$t_home/.local/share/faden/models
mkdir -p "$models/whisper-base"
: >"$models/whisper-base/encoder.onnx"
trouble 'a model of 0 bytes' 'whisper-base|voice install'
t_is 'whoever speaks is not asked to try again' "$(apologies)" 0
rm -r "$models"
trouble 'a model that is not installed' 'voice install'

# a file that is mapped and cut off is that signal
t_start_faden listen --no-tty --no-wake 2>"$t_tmp/told"
t_ok 'it listens, to no microphone' t_wait_for 20 grep -q 'tried again every second' "$t_tmp/told"
kill -BUS "$t_pid"
wait "$t_pid"
t_is 'a runtime that is cut off under it is its end, as a fault' "$?" 70
t_like 'with what to do' "$(cat "$t_tmp/told")" "^faden: listen: .*'faden voice install'"

# ---- the voice ----
t_setenv "FADEN_STT_COMMAND=python3,$voice_py,stt,$voice_said"
t_setenv 'FADEN_TTS_COMMAND=sh,-c,kill -9 $$'
trouble 'a voice that dies' 'signal 9'
t_is 'the error sound is heard in its place' "$(voice_sounds)" 'processing error ready processing error ready'
t_setenv FADEN_TTS_COMMAND=nowhere/voice
trouble 'a voice that is not there' 'nowhere/voice'
t_setenv 'FADEN_TTS_COMMAND=sh,-c,cat >/dev/null'
trouble 'a voice that says nothing' 'sh: '

# ---- the files in place of devices ----
t_setenv "FADEN_TTS_COMMAND=python3,$voice_py,tts,$voice_spoken,16000"
full() { printf 'typed all the same\n' | t_faden listen --no-wake --new-session --output - --input twice.wav >/dev/full; }
t_exit 'a disk that is full where it speaks to is no end' 0 full
t_like 'is said' "$(cat "$t_err")" 'No space left'
t_like 'and typing goes on' "$(cat "$t_err")" 'typed all the same'
samples() { tail -c +45 twice.wav | listen --new-session --input -; }
t_exit 'samples are heard from standard input' 0 samples
t_is 'all of them' "$(grep -c 'You: ' "$t_out")" 2
restart() { voice_make restart.wav p1 1 p6 2 p6 3 p3 && tail -c +45 restart.wav | listen --new-session --input -; }
voice_says 'remember the quince' Neustart 'what did I say?'
t_exit 'and after a restart the rest of them' 0 restart
t_like 'which goes on' "$(cat "$t_out")" 'You: what did I say'
raw() { listen --input twice.wav --output - >"$t_tmp/raw"; }
voice_says eins zwei
t_exit 'what is spoken goes to standard output' 0 raw
t_like 'and what is said elsewhere' "$(cat "$t_err")" 'You: zwei'
wave() { python3 -c 'import sys, wave
w = wave.open(sys.argv[2], "wb")
w.setparams((1, 2, 24000, 0, "NONE", ""))
w.writeframes(open(sys.argv[1], "rb").read())' "$@"; }
wave "$t_tmp/raw" "$t_tmp/raw.wav"
t_is 'it is 16 bit at 24 kHz' "$(voice_sounds "$t_tmp/raw.wav")" 'processing speech ready processing speech ready'
head_only() { listen --input twice.wav --output - | head -c 100 >/dev/null; }
t_exit 'who hears no more ends nothing' 0 head_only
t_done
