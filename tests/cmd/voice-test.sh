#!/bin/sh
# faden voice test where nothing can be heard or played: of each part it says what is wrong with that
# one, and what to do. tests/voice/listen.sh has devices.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/voice.sh"
t_setenv FADEN_AUDIO_DRIVER=pulse
t_no_network
# tries NAME PART PATTERN REMEDY: the line of a part and the one below it; no REMEDY: it is well.
tries() {
	t_exit "$1: the models are missing in any case" 1 t_faden voice test
	tries_lines=$(grep -A1 -E "^(ok|fail) +$2 " "$t_out")
	t_like "$1" "$tries_lines" "^$([ -n "${4-}" ] && echo fail || echo ok) +$2 +$3"
	[ -z "${4-}" ] || t_like "$1: what to do" "$tries_lines" "^ +-> .*$4"
}

# ---- the recogniser, to which nothing is said ----
tries 'a program that is there' recogniser '/.*/python3 is there; not tried: nothing was said$'
t_setenv FADEN_STT_COMMAND=no/where
tries 'a program that is not there' recogniser 'no/where is not there' 'program of stt\.command'
t_unsetenv FADEN_STT_COMMAND
t_setenv FADEN_STT_PROVIDER=exec
tries 'no program at all' recogniser 'no program is set .*stt\.command' 'stt\.command'
t_setenv FADEN_STT_PROVIDER=http
tries 'no server at all' recogniser 'no server is set .*stt\.url' 'stt\.url'
t_unsetenv FADEN_STT_PROVIDER
if t_has_library libcurl; then
	python3 -c 'import socket, sys
s = socket.create_server(("127.0.0.1", 0))
open(sys.argv[1], "w").write(str(s.getsockname()[1]))
while True:
    c = s.accept()[0]
    open(sys.argv[2], "ab").write(c.recv(100))' "$t_tmp/port" "$t_tmp/asked" &
	server=$!
	t_pids="$t_pids $server"
	t_wait_for 20 test -s "$t_tmp/port"
	url=http://127.0.0.1:$(cat "$t_tmp/port")
	t_setenv "FADEN_STT_URL=$url"
	tries 'a server that is there' recogniser "$url can be reached; not tried: nothing was said\$"
	t_wait_for 20 test -e "$t_tmp/asked"
	t_is 'it was sent nothing' "$(cat "$t_tmp/asked")" ''
	t_stop "$server"
	tries 'a server that refuses' recogniser "$url.*: .*[Cc]onnect" 'server of stt\.url'
	t_unsetenv FADEN_STT_URL
else
	t_skip 'servers' 'libcurl is not installed'
fi

# ---- the voice ----
t_setenv FADEN_TTS_COMMAND=no/where
tries 'a voice that is not there' voice 'no/where is not there' 'program of tts\.command'
t_setenv FADEN_TTS_PROVIDER=exec
t_unsetenv FADEN_TTS_COMMAND
tries 'a voice without its program' voice 'no program is set .*tts\.command' 'tts\.command'
printf '#!/bin/sh\n' >"$t_bin/espeak-ng"
chmod +x "$t_bin/espeak-ng"
t_setenv FADEN_TTS_PROVIDER=piper
tries 'a voice of piper that was not said which' voice 'no voice is set' 'set tts\.voice'
tries 'a loudspeaker that is not there' loudspeaker 'no loudspeaker' 'audio\.output_device'
t_done
