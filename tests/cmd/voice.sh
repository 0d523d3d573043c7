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
