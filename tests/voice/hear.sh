#!/bin/sh
# What is heard in recordings: calls, speech and text, of synthetic voices, with the real networks.
. "$(dirname "$0")/../lib.sh"
command -v espeak-ng >/dev/null || t_skip_all 'espeak-ng is not installed'
command -v sox >/dev/null || t_skip_all 'sox is not installed'
t_need_models voice whisper-base

# say FILE VOICE TEXT: with silence around it
say() {
	espeak-ng -v "$2" -s 140 -w "$t_tmp/espeak.wav" "$3"
	sox "$t_tmp/espeak.wav" -r 16000 -c 1 -b 16 "$t_tmp/$1" norm -6 pad 0.6 1.2
}
# of FILE KEY: what `voice hear` says of a file
of() {
	python3 - "$t_out" "$1" "$2" <<-'END'
		import json, sys
		for line in open(sys.argv[1]):
		    heard = json.loads(line)
		    if heard["file"].endswith("/" + sys.argv[2]):
		        print(eval(sys.argv[3], {}, heard))
	END
}

say call.wav en-us 'Hey Jarvis!'
say time.wav en-us 'What time is it?'
say speech.wav en-gb 'The morning train was late again, and nobody on the platform seemed to know why.'
sox -n -r 16000 -c 1 -b 16 "$t_tmp/silence.wav" trim 0 2
sox -n -r 16000 -c 1 -b 16 "$t_tmp/noise.wav" synth 2 pinknoise vol 0.1
sox "$t_tmp/time.wav" -r 44100 -c 2 "$t_tmp/other.wav"

t_exit 'recordings are heard' 0 t_faden voice hear --json --model base "$t_tmp/call.wav" "$t_tmp/time.wav" "$t_tmp/speech.wav" \
	"$t_tmp/silence.wav" "$t_tmp/noise.wav" "$t_tmp/other.wav"
cp "$t_out" "$t_tmp/heard"
{
	echo '['
	sed '$!s/$/,/' "$t_out"
	echo ']'
} >"$t_tmp/list"
t_ok 'and told as the page says' "$t_helper/check-json" "$t_root/docs/man/json.mdoc" voice <"$t_tmp/list"
t_is 'the wake word is a call, once' "$(of call.wav 'len(wakes)')" 1
t_is 'another sentence is none' "$(of speech.wav 'len(wakes)')" 0
t_like 'what is said is written' "$(of time.wav 'text')" '^[Ww]hat time is it\??$'
t_is 'and its language' "$(of time.wav 'language')" en
t_like 'also of another rate with two channels' "$(of other.wav 'text')" '^[Ww]hat time is it\??$'
t_like 'a longer one' "$(of speech.wav 'text')" 'platform seemed to know why'
t_is 'speech has a place' "$(of time.wav 'len(speech) == 1 and 0.2 < speech[0][0] < 0.8 < speech[0][1] < 2.6')" True
t_is 'silence has no speech and no text' "$(of silence.wav '(speech, text)')" "([], '')"
t_is 'noise has none either' "$(of noise.wav '(speech, text, wakes)')" "([], '', [])"
t_exit 'a language can be given' 0 t_faden voice hear --lang en --json "$t_tmp/time.wav"
t_exit 'only calls and speech' 0 t_faden voice hear --json --no-text "$t_tmp/time.wav"
t_is 'have no text' "$(of time.wav 'text')" None
t_exit 'for people' 0 t_faden voice hear "$t_tmp/call.wav"
t_like 'it is a list' "$(cat "$t_out")" 'called at [0-9.]+ s'
t_exit 'an unknown language is refused' 2 t_faden voice hear --lang xx "$t_tmp/time.wav"
t_exit 'a missing file is an error' 5 t_faden voice hear "$t_tmp/none.wav"
head -c 1000 /dev/urandom >"$t_tmp/junk.wav"
t_exit 'so is one that is no recording' 3 t_faden voice hear "$t_tmp/junk.wav"
t_exit 'beside it the others are heard' 3 t_faden voice hear --no-text "$t_tmp/junk.wav" "$t_tmp/call.wav"
t_like 'as ever' "$(cat "$t_out")" 'call\.wav'
t_like 'and which one is none is told' "$(cat "$t_err")" 'junk\.wav: '

# Words that sound like the name for a moment, in a quiet place.
espeak-ng -v en-us+f3 -s 160 -p 58 -w "$t_tmp/espeak.wav" \
	'In January, nobody in the office argued about two cups of coffee behind the station.'
sox "$t_tmp/espeak.wav" -r 16000 -c 1 -b 16 "$t_tmp/january.wav"
espeak-ng -v en-us+f5 -s 175 -p 44 -w "$t_tmp/espeak.wav" \
	'Last Thursday, the whole family forgot an article about java in front of the museum.'
sox "$t_tmp/espeak.wav" -r 16000 -c 1 -b 16 "$t_tmp/java.wav"
t_exit 'words like the name are heard' 0 t_faden voice hear --json --no-text "$t_tmp/january.wav" "$t_tmp/java.wav"
t_is 'they are no calls' "$(of january.wav 'len(wakes)') $(of java.wav 'len(wakes)')" '0 0'

# A name alone, where that is wanted.
say name.wav en-us 'Jarvis!'
t_exit 'the name alone is heard' 0 t_faden voice hear --json --no-text --bare "$t_tmp/name.wav" "$t_tmp/speech.wav" "$t_tmp/time.wav"
t_is 'it is a call' "$(of name.wav 'len(wakes)')" 1
t_is 'other sentences are none' "$(of speech.wav 'len(wakes)') $(of time.wav 'len(wakes)')" '0 0'

# Others speak at the same time, 9 dB below.
for voice in en-us en-gb en-us+f3 de de+f2; do
	espeak-ng -v "$voice" -s 150 -w "$t_tmp/espeak.wav" 'The morning train was late again, and nobody on the platform seemed to know why.
		A long letter lay under the table, next to seven cups of coffee and an umbrella.'
	sox "$t_tmp/espeak.wav" -r 16000 -c 1 "$t_tmp/other-$voice.wav" norm -6 trim 0 6
done
sox -m "$t_tmp"/other-*.wav -r 16000 -c 1 -b 16 "$t_tmp/others.wav" norm -6
espeak-ng -v en-us+m2 -s 140 -w "$t_tmp/espeak.wav" 'Hey Jarvis!'
sox "$t_tmp/espeak.wav" -r 16000 -c 1 -b 16 "$t_tmp/alone.wav" norm -6 pad 2.5 2
sox -m -v 1 "$t_tmp/alone.wav" -v 0.35 "$t_tmp/others.wav" -r 16000 -c 1 -b 16 "$t_tmp/among.wav" trim 0 6
t_exit 'many voices are heard' 0 t_faden voice hear --json --no-text "$t_tmp/among.wav" "$t_tmp/others.wav"
t_is 'a call among them is one' "$(of among.wav 'len(wakes)')" 1
t_is 'they are none' "$(of others.wav 'len(wakes)')" 0

# A server in place of the networks: what it is sent, and what it may do wrong.
cat >"$t_tmp/server.py" <<'END'
import http.server, sys, time
class Server(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open(sys.argv[2], "wb") as f:
            f.write(f"{self.path} {self.headers['Authorization']}\n".encode() + body)
        kind = self.path.split("/")[1]
        if kind == "hang":
            time.sleep(60)
        answer = {"good": b'{"text": " Hello from afar. "}', "bad": b"<html>oh</html>"}.get(kind, b"no")
        self.send_response(500 if kind == "fail" else 200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
    def log_message(self, *a): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
open(sys.argv[1], "w").write(str(server.server_port))
server.serve_forever()
END
t_start python3 "$t_tmp/server.py" "$t_tmp/server.port" "$t_tmp/sent"
t_wait_for 20 test -s "$t_tmp/server.port"
t_setenv FADEN_STT_PROVIDER=http
t_setenv FADEN_STT_KEY_ENV=VOICE_KEY
t_setenv VOICE_KEY=secret-of-mine
t_setenv FADEN_STT_TIMEOUT=2s
# by KIND: `voice hear` by the server that behaves so
by() {
	t_setenv "FADEN_STT_URL=http://127.0.0.1:$(cat "$t_tmp/server.port")/$1"
	t_faden voice hear --lang en --json "$t_tmp/time.wav"
}
if t_has_library 'libcurl[a-z-]*\.so\.4'; then
	t_exit 'a server is asked' 0 by good
	t_is 'what it answers is the text' "$(of time.wav 'text')" 'Hello from afar.'
	t_like 'it gets the key' "$(head -n 1 "$t_tmp/sent")" '^/good/v1/audio/transcriptions Bearer secret-of-mine$'
	t_ok 'and a WAV' grep -aq RIFF "$t_tmp/sent"
	t_exit 'nonsense is an error' 5 by bad
	t_like 'that says so' "$(cat "$t_err")" 'no text of speech'
	t_exit 'so is a failure' 4 by fail
	t_unlike 'the key is never told' "$(cat "$t_err" "$t_out")" 'secret-of-mine'
	t_exit 'one that hangs is left' 5 by hang
	t_setenv FADEN_STT_URL=http://127.0.0.1:9
	t_exit 'one that is not there is told' 5 t_faden voice hear "$t_tmp/time.wav"
else
	t_skip 'a server is asked' 'libcurl is not installed'
fi
for name in FADEN_STT_PROVIDER FADEN_STT_KEY_ENV VOICE_KEY FADEN_STT_TIMEOUT FADEN_STT_URL; do t_unsetenv "$name"; done

# Models that are missing or not what they were.
models=$t_home/.local/share/faden/models
rm "$models"
cp -rL "$t_models" "$models"

# ---- doctor says of each what the list says ----
t_tools espeak-ng
t_setenv FADEN_STT_MODEL=base
voice() { grep -E '^[a-z]+ +voice ' "$t_out"; }
t_exit 'doctor looks at whole models' 0 t_faden doctor
t_is 'and names what would be used' "$(voice | tr -s ' ')" 'ok voice it would listen, understand by whisper-base, and speak by espeak'
# damaged FILE HOW WORDS
damaged() {
	t_exit "doctor looks at $1, $2" 0 t_faden doctor
	t_like "$1, $2, is a warning" "$(voice)" "^warn +voice .*$1'?.* is damaged.*$3.*'faden model install ${1%/*}' mends it"
	t_unlike "$1, $2: it would not listen" "$(voice)" '^ok'
	t_exit "$1, $2, is listed" 0 t_faden model list
	t_like "$1, $2, as damaged" "$(cat "$t_out")" "^${1%/*}.damaged"
	cp -L "$t_models/$1" "$models/$1"
}
for file in whisper-base/decoder.onnx whisper-base/vocab.json wake/mel.onnx speech/silero.onnx runtime/libonnxruntime.so; do
	truncate -s 1000 "$models/$file"
	damaged "$file" 'cut off' ': 1000 bytes instead'
	printf 'not what was here' | dd of="$models/$file" bs=1 seek=100000 conv=notrunc status=none
	damaged "$file" 'with other bytes' 'check sum'
done
t_exit 'all is well again' 0 t_faden doctor
t_like 'and said to be' "$(voice)" '^ok'
rm "$models/whisper-base/decoder.onnx"
t_exit 'doctor looks where a part is missing' 0 t_faden doctor
t_like 'which is a damage, too' "$(voice)" "^warn +voice .*whisper-base' is damaged: .*decoder.onnx is missing; 'faden model install whisper-base' mends it"
t_unsetenv FADEN_STT_MODEL

rm -rf "$models/whisper-base"
t_exit 'a missing model is told' 1 t_faden voice hear --model base "$t_tmp/time.wav"
t_like 'with the command that gets it' "$(cat "$t_err")" "faden (voice install|model install whisper-base)"
t_exit 'another that is missing too' 1 t_faden voice hear --model moonshine "$t_tmp/time.wav"
t_like 'with its own' "$(cat "$t_err")" "faden voice install --model moonshine"
for file in wake/hey-jarvis.onnx speech/silero.onnx; do
	printf x | dd of="$models/$file" bs=1 seek=5000 conv=notrunc status=none
	t_exit "one with another byte too: $file" 3 t_faden voice hear --no-text "$t_tmp/time.wav"
	t_like 'with what is wrong' "$(cat "$t_err")" "check sum.*faden model install ${file%/*}"
	cp -L "$t_models/$file" "$models/$file"
done
: >"$models/wake/mel.onnx"
t_exit 'an empty one too' 3 t_faden voice hear --no-text "$t_tmp/time.wav"
t_like 'with the command that mends it' "$(cat "$t_err")" "0 bytes instead of .*faden model install wake"
head -c 1000000 "$t_models/runtime/libonnxruntime.so" >"$models/runtime/libonnxruntime.so"
t_exit 'a runtime that is cut off too' 3 t_faden voice hear --no-text "$t_tmp/time.wav"
t_like 'with its command' "$(cat "$t_err")" 'faden model install runtime'
t_exit 'models are listed' 0 t_faden model list
t_like 'damaged ones as damaged' "$(cat "$t_out")" '^wake.damaged'

FADEN_TEST_ONNX=$t_models/runtime/libonnxruntime.so
export FADEN_TEST_ONNX
t_ok 'networks run' "$t_build/src/test-onnx"
t_done
