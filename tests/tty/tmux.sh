# A terminal to drive: tmux with a server of its own, stopped at the end. After lib.sh:
#
#	. "$(dirname "$0")/tmux.sh"
#	tty_start 60 14 COMMAND…
#	tty_type 'some text' Enter
#	tty_wait 'the answer' PATTERN
#	tty_stop
# shellcheck shell=sh

tty_need() {
	tty_tmux=$(command -v tmux) || t_skip_all 'tmux is not installed'
	t_setenv "LANG=C.UTF-8"
}

tty_do() {
	t_run "$tty_tmux" -S "$t_tmp/tmux" -f /dev/null "$@"
}

# tty_start COLUMNS ROWS COMMAND…: in a fresh terminal, in the environment of t_run.
tty_start() {
	tty_cols=$1
	tty_rows=$2
	shift 2
	t_setenv 'TERM=xterm-256color'
	tty_do new-session -d -x "$tty_cols" -y "$tty_rows" "$@"
	tty_do set-option -g status off
	tty_do set-option -g remain-on-exit on
	tty_pid=$(tty_do display-message -p '#{pid}')
	t_pids="$t_pids $tty_pid"
}

# tty_type KEYS…: as tmux send-keys: text, or names such as Enter, C-c, Up.
tty_type() {
	tty_do send-keys "$@"
}

# tty_paste TEXT: as a terminal pastes, marked as such when the program asked for it.
tty_paste() {
	printf '%s' "$1" >"$t_tmp/paste"
	tty_do load-buffer "$t_tmp/paste"
	tty_do paste-buffer -p
}

# tty_resize COLUMNS ROWS
tty_resize() {
	tty_do resize-window -x "$1" -y "$2"
}

# tty_screen: what is to be seen, without the empty lines.
tty_screen() {
	tty_do capture-pane -p | grep -v '^ *$'
}

tty_shows() {
	tty_screen | grep -Eq -e "$1"
}

# tty_wait NAME PATTERN: passes as soon as a line of the screen matches.
tty_wait() {
	if t_wait_for 10 tty_shows "$2"; then
		t_result 0 "$1"
	else
		t_result 1 "$1"
		t_note "no line matches: $2"
		tty_screen | t_note
	fi
}

tty_shows_once() {
	[ "$(tty_screen | grep -Ec -e "$1")" = 1 ]
}

# tty_once NAME PATTERN: passes as soon as one line of the screen matches and no other does; a line
# that is just drawn again may be there twice or not at all.
tty_once() {
	if t_wait_for 10 tty_shows_once "$2"; then
		t_result 0 "$1"
	else
		t_result 1 "$1"
		t_note "not one line matches: $2"
		tty_screen | t_note
	fi
}

# tty_prompt: waits until faden asks for the next line. A key that comes before, on a line just
# beginning or a turn just ending, may mean something else.
tty_prompt() {
	t_wait_for 10 tty_shows '^› *$'
}

# tty_mode: the settings of the terminal that a program may have changed.
tty_mode() {
	stty -a -F "$(tty_do display-message -p '#{pane_tty}')" |
		grep -oE '[-]?(isig|icanon|echo|icrnl|opost)\b' | tr '\n' ' '
}

tty_stop() {
	tty_do kill-server
	t_wait_for 5 eval '! t_running "$tty_pid"'
}
