#!/bin/sh
# faden listen at a terminal: the state, typing, questions, leaving.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/tmux.sh"
. "$(dirname "$0")/../cmd/voice.sh"
tty_need
t_setenv FADEN_ASSISTANT_LANGUAGE=en
mkdir -p "$t_tmp/work"
cd "$t_tmp/work" || exit 1
start() {
	tty_start 80 16 sh -c "trap : INT; '$FADEN' listen --mute $1; echo status \$?; exec cat"
}

# no microphone here
start '--no-wake'
tty_wait 'the state stands in the last line' '^● LISTENING  no microphone; press any key to type'
tty_wait 'that there is no microphone is said, with what to do' "faden voice test"
mode=$(tty_mode)
tty_type 'hel'
tty_wait 'any key opens a line to type in, and is in it' '^TYPING › hel$'
tty_type Escape
tty_wait 'Escape leaves it' '^● LISTENING'
t_is 'and nothing of it is left' "$(tty_screen | grep -c TYPING)" 0
tty_type 'x'
tty_wait 'what was typed is there again' '^TYPING › helx$'
tty_type BSpace
tty_type 'lo' Enter
tty_wait 'what was typed stands there once, with time and source' '^\[[0-9:]{8}\] You \[keyboard\]: hello$'
tty_wait 'the answer is below its name' '^You said: hello'
t_is 'the line it was typed in is gone' "$(tty_screen | grep -c '› hello')" 0
tty_wait 'and it listens again' '^● LISTENING'
tty_type 'ask me' Enter
tty_wait 'a question stands on the screen' 'May it use Note\?'
sleep 1.2
tty_type y
tty_wait 'a key answers it' '^That was a question for permission'
tty_type '/clear' Enter
tty_wait 'words for faden itself work' 'starting a new conversation'
tty_wait 'it listens again' '^● LISTENING'
t_unlike 'the conversation before is named no more' "$(tty_screen | tail -n 1)" 'hello'
tty_type 'a'
tty_wait 'a line is open' '^TYPING › a$'
tty_type BSpace
tty_wait 'also when it is empty' '^TYPING › ?$'
tty_type BSpace
tty_wait 'until there is nothing more to take away' '^● LISTENING'
tty_type '?' Enter
tty_wait 'help is there' '/resume NAME'
tty_paste "$(printf 'one line\n\tanother')"
tty_wait 'what is pasted opens a line too' '^TYPING › one line$'
tty_wait 'and is one text' '^        another$'
tty_type Enter
tty_wait 'it is sent as one' '^You said: one line'
tty_resize 60 16
tty_wait 'a narrower terminal has the state in one line' '^● LISTENING'
t_is 'the terminal is in the mode it had while nothing is typed' "$(tty_mode)" "$mode"
tty_type C-c
tty_wait 'Ctrl-C once warns' 'Ctrl-C again'
tty_type C-c
tty_wait 'twice it leaves' '^status 0'
t_like 'the terminal is as it was' "$(tty_mode)" ' icanon.* echo '
tty_stop

# stopping
printf 'wait 30000\nsay never\n' >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
start '--no-wake --new-session'
tty_wait 'it listens' '^● LISTENING'
tty_type 'work' Enter
tty_wait 'it works' 'PROCESSING  Esc stops it'
tty_type Escape
tty_wait 'Escape stops it' '^Cancelled'
tty_wait 'and it listens again' '^● LISTENING'
tty_type C-d
tty_wait 'Ctrl-D leaves' '^status 0'
tty_stop
t_unsetenv FADEN_AI_REHEARSAL_SCRIPT

# a microphone that hears noise as long as there is a file; what was said is always the same
if [ -f "$t_build/tests/busy-alsa.so" ]; then
	mkdir "$t_tmp/lib"
	cp "$t_build/tests/busy-alsa.so" "$t_tmp/lib/libasound.so.2"
	t_setenv "LD_LIBRARY_PATH=$t_tmp/lib"
	t_setenv FADEN_AUDIO_DRIVER=alsa
	t_setenv "FADEN_TEST_NOISE=$t_tmp/noise"
	t_setenv "FADEN_STT_COMMAND=sh,-c,cat >/dev/null; echo a long story"
	start '--no-wake --new-session'
	tty_wait 'it hears' '^● LISTENING  speak'
	sleep 1 # how quiet it is here
	touch "$t_tmp/noise"
	tty_wait 'it records' '^. RECORDING  a pause ends it, Esc discards it'
	tty_type Escape
	tty_wait 'Escape discards it' '\] Jarvis: Cancelled\.$'
	tty_wait 'and it listens again' '^● LISTENING'
	sleep 1
	t_is 'what is said on belongs to it' "$(tty_screen | grep -c RECORDING)" 0
	rm "$t_tmp/noise"
	sleep 2
	t_is 'nothing of it is sent' "$(tty_screen | grep -c 'You: ')" 0
	touch "$t_tmp/noise"
	tty_wait 'what is said next is recorded' '^. RECORDING'
	rm "$t_tmp/noise"
	tty_wait 'and sent' '\] You: a long story$'
	tty_wait 'it is answered' '^You said: a long story'
	tty_type C-d
	tty_wait 'Ctrl-D leaves' '^status 0'
	tty_stop
	t_setenv FADEN_AUDIO_MAX_RECORDING_SEC=4
	start '--no-wake --new-session'
	tty_wait 'it hears' '^● LISTENING  speak'
	sleep 1
	touch "$t_tmp/noise"
	tty_wait 'what is left of a recording is counted' '^. RECORDING  [1-3] s left, a pause ends it'
	tty_wait 'that it ended is told, with the name of the setting' 'ended after 4 s \(audio\.max_recording_sec\)'
	tty_wait 'and that nothing is sent' 'Jarvis: That was too long\.'
	tty_wait 'what was heard is shown' '\] You \[not sent\]: a long story$'
	tty_wait 'and it listens again' '^● LISTENING'
	sleep 1
	t_is 'but not to the rest of it' "$(tty_screen | grep -c RECORDING)" 0
	rm "$t_tmp/noise"
	sleep 2
	t_is 'nothing is sent' "$(tty_screen | grep -c 'You said: ')" 0
	tty_type x
	tty_wait 'what is typed begins with it' '^TYPING › a long storyx$'
	tty_type Enter
	tty_wait 'and is sent then' '^You said: a long storyx'
	tty_type C-d
	tty_wait 'Ctrl-D leaves' '^status 0'
	tty_stop
	t_unsetenv FADEN_AUDIO_MAX_RECORDING_SEC
	start '--push-to-talk --new-session'
	tty_wait 'it listens' '^● LISTENING  press Space'
	tty_type Space
	tty_wait 'it records for a key' '^. RECORDING  Space or a pause ends it, Esc discards it'
	touch "$t_tmp/noise"
	sleep 1
	tty_type C-c
	tty_wait 'Ctrl-C discards it' '\] Jarvis: Cancelled\.$'
	rm "$t_tmp/noise"
	sleep 2
	t_is 'nothing of it is sent' "$(tty_screen | grep -c 'You: ')" 0
	t_is 'and of leaving nothing is said' "$(tty_screen | grep -c 'Ctrl-C')" 0
	tty_type C-c
	tty_wait 'Ctrl-C again leaves' '^status 0'
	tty_stop
	t_unsetenv LD_LIBRARY_PATH
	t_unsetenv FADEN_AUDIO_DRIVER
else
	t_skip 'what a microphone hears' 'it needs a build without sanitizers'
fi

# ended from elsewhere, in the middle of a line
start '--no-wake --new-session'
tty_wait 'it listens' '^● LISTENING'
tty_type 'half a li'
tty_wait 'a line is open' '^TYPING › half a li'
kill -TERM "$(ps -o pid= --ppid "$(tty_do display-message -p '#{pane_pid}')" | head -n 1 | tr -d ' ')"
tty_wait 'a signal ends it' '^status 143'
t_like 'and the terminal is as it was' "$(tty_mode)" ' icanon.* echo '
tty_stop

# nothing installed: one can type all the same
start '--new-session'
tty_wait 'without models it names the one command' 'faden voice install'
tty_wait 'and does not blame the microphone' '^● LISTENING  it cannot hear; press any key to type'
tty_type 'typed' Enter
tty_wait 'and what is typed is answered' '^You said: typed'
tty_type C-d
tty_stop
t_done
