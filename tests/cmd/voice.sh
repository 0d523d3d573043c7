# A voice and a recogniser for tests, after lib.sh. No model is needed: an utterance is noise of a
# length that says which one it is (helper/voice.py).
#
#	voice_says 'my cat is Mia' 'what did I say?'     # utterances 1, 2 …
#	voice_make in.wav p1 1 p4 2 p4                   # pauses and utterances
#	t_exit 'both are answered' 0 listen --input in.wav
#	$voice_spoken                                    # what was said aloud, a line each
# shellcheck shell=sh

t_tools python3
voice_py=$t_helper/voice.py
voice_said=$t_tmp/said
voice_spoken=$t_tmp/spoken
# As lists have it: a comma between words.
t_setenv "FADEN_STT_COMMAND=python3,$voice_py,stt,$voice_said"
t_setenv "FADEN_TTS_COMMAND=python3,$voice_py,tts,$voice_spoken,16000"
t_setenv FADEN_AUDIO_VAD=energy
t_setenv FADEN_AI_AGENT=rehearsal
t_setenv FADEN_ASSISTANT_LANGUAGE=de

voice_says() {
	printf '%s\n' "$@" >"$voice_said"
}

# voice_make FILE WORD…: in the current folder's way of naming.
voice_make() {
	python3 "$voice_py" make "$@"
}

# listen OPTIONS…: without a terminal and a wake word, into $t_tmp/out.wav.
listen() {
	: >"$voice_spoken"
	t_faden listen --no-tty --no-wake --output "$t_tmp/out.wav" "$@"
}

voice_sounds() {
	python3 "$voice_py" sounds "${1:-$t_tmp/out.wav}"
}

# t_need_voice: the models, got once, and espeak-ng to speak to them. Without them the whole test is
# skipped.
t_need_voice() {
	command -v espeak-ng >/dev/null || t_skip_all 'espeak-ng is not installed'
	command -v npm >/dev/null || t_skip_all 'npm is not installed'
	voice_cache=${FADEN_VOICE_CACHE:-$t_root/build/voice}
	mkdir -p "$voice_cache"
	# One at a time; those that wait find everything there.
	(
		flock 9
		env HOME="$voice_cache" XDG_DATA_HOME="$voice_cache" XDG_STATE_HOME="$voice_cache/state" \
			"$FADEN" voice install >"$t_tmp/install" 2>&1
	) 9>"$voice_cache/lock" || t_skip_all "the models cannot be had: $(tail -n 1 "$t_tmp/install")"
	mkdir -p "$t_home/.local/share/faden"
	ln -s "$voice_cache/faden/models" "$t_home/.local/share/faden/models"
	t_unsetenv FADEN_STT_COMMAND
	t_unsetenv FADEN_TTS_COMMAND
	t_unsetenv FADEN_AUDIO_VAD
	t_tools espeak-ng
}

# voice_speak FILE PART…: a WAV; 'p1.5' is a pause, everything else is spoken, by $VOICE; but the call
# alone always as the wake word's model has learned it.
voice_speak() {
	voice_file=$1
	voice_n=0
	shift
	for voice_part; do
		shift
		case $voice_part in
		p[0-9]*) set -- "$@" "$voice_part" ;;
		*)
			voice_n=$((voice_n + 1))
			voice_of=${VOICE-en-us+f3}
			[ "$voice_part" != 'Hey Jarvis' ] || voice_of=en-us+f3
			espeak-ng -v "$voice_of" -s 145 -w "$t_tmp/part$voice_n.wav" "$voice_part"
			set -- "$@" "$t_tmp/part$voice_n.wav"
			;;
		esac
	done
	python3 "$voice_py" join "$voice_file" "$@"
}
