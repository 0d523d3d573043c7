#!/bin/sh
# faden master at a terminal of 80 columns: what is seen, words and round control while it runs,
# Escape, Ctrl-C, a resume, and a question for permission.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/tmux.sh"
tty_need
mkdir -p "$t_tmp/work"
cd "$t_tmp/work" || exit 1

tty_start 80 40 "$FADEN" master 'count to 500'
tty_wait 'who speaks stands above it' '^── instructor · rehearsal ──$'
tty_wait 'the plan is told, the object is not' '^That is 500 steps\. I begin with the first\.$'
tty_wait 'the worker is told in rounds' '^── instruction · round [0-9]+ ──$'
tty_wait 'the status line has the round and how many are left' 'round [0-9]+ · unlimited rounds$'
t_is 'no object is shown' "$(tty_screen | grep -c '"act"')" 0
t_is 'no line is longer than the terminal' "$(tty_screen | awk 'length($0) > 80' | wc -l)" 0
tty_type '[r=40]'
tty_wait 'what is typed is seen' '› \[r=40\]'
tty_type Enter
tty_wait 'rounds are set' '^rounds left: 40$'
tty_wait 'the status line knows' '[0-9]+ rounds left$'
tty_type '[r=unlimted] x' Enter
tty_wait 'what is mistyped is said' '^nothing was done: \[r=unlimted\] is none of \[r\+5\], \[r=9\]'
tty_type '[compact]' Enter
tty_wait 'the sessions are looked at' "^in the worker.s session is nothing to shorten"
tty_type 'be quick' Enter
tty_wait 'words are taken' '^the instructor gets that with what it is sent next$'
tty_paste "$(printf 'first\nsecond')"
tty_wait 'what is pasted is seen as one' '› first second'
tty_type ' third' Enter
tty_once 'and is said as one' '^› first second third$'
tty_type 'be quick [r+2]' Enter
tty_wait 'rounds behind them are not, which is said' '^\[r\+2\] is only words for the instructor there: it counts at the beginning$'
tty_type Escape
tty_wait 'Escape interrupts' '^interrupted\. What should the instructor know\?'
tty_wait 'it waits' 'paused · '
tty_type '[r5]' Enter
tty_wait 'also then' '^nothing was done: \[r5\]'
tty_wait 'it still waits' 'paused · '
tty_type 'count to 300' Enter
tty_wait 'and goes on with what was said' '^That is 300 steps\.|of 300 is done|^── instruction'
tty_type C-c
tty_wait 'Ctrl-C saves and leaves' '^Saved in round [0-9]+\. Go on with: faden master --resume$'
t_ok 'the program has ended' t_wait_for 10 sh -c "! pgrep -P $(tty_do display-message -p '#{pane_pid}') >/dev/null"
tty_stop
t_like 'what was pasted has reached the run with its lines' \
	"$(cat .claude-master/sessions/session-*.json)" '"first\\nsecond third"'

t_exit 'the run is there' 7 t_faden master --resume -r 0
tty_start 80 40 "$FADEN" master --resume -r 1
tty_wait 'a resume says where it is' '^Going on with run [0-9a-f]{8}: round [0-9]+, 1 round left'
tty_wait 'one round, and it stops' '^Stopped after round'
tty_stop

cat >"$t_tmp/script" <<'END'
say {"act":"start","instruction":"write it"}
ask Write notes.txt => written
---
say DONE
END
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
tty_start 80 40 "$FADEN" master 'write notes'
tty_wait 'the worker asks for permission' '^May it use Write\? notes\.txt$'
sleep 0.3 # nobody answers faster
tty_type y
tty_wait 'it is allowed' '^Allowed once: Write notes\.txt'
tty_wait 'and the run is done' '^Done after 1 round'
tty_stop

t_unsetenv FADEN_AI_REHEARSAL_SCRIPT
tty_start 80 60 sh -c "$FADEN help master; read -r line"
tty_wait 'help without a manual page does not send back to itself' '^The manual page faden-master\(1\), which says it at length, is not beside this'
tty_stop

# The command that goes on is never broken.
mkdir "$t_tmp/a folder with a long name"
tty_start 60 40 "$FADEN" master -r 1 -d "$t_tmp/a folder with a long name" 'count to 2'
tty_wait 'it stands on a line of its own' "^  faden master --resume -d '/[^']*/a folde"
tty_stop
t_done
