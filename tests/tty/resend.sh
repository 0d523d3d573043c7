#!/bin/sh
# What a killed faden did not get to its agent, at a terminal: one is asked whether to send it again,
# once, and the answer is followed; with ai.resend: never nobody is asked.
# shellcheck disable=SC2154 # variables of lib.sh
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/tmux.sh"
tty_need
mkdir -p "$t_home/.config/faden" "$t_tmp/work" && cd "$t_tmp/work" || exit 1
cat >"$t_tmp/claude" <<-END
	#!/bin/sh
	[ ! -e "$t_tmp/hangs" ] || { echo \$\$ >"$t_tmp/started" && exec sleep 60; }
	IFS= read -r line
	printf '%s\n' "\$line" >>"$t_tmp/heard"
	echo '{"type":"result","subtype":"success","is_error":false,"result":"painted"}'
END
chmod +x "$t_tmp/claude"

# settings RESEND
settings() {
	printf 'ai:\n  agent: claude\n  resend: %s\n  claude: {program: %s}\n' "$1" "$t_tmp/claude" \
		>"$t_home/.config/faden/config.yaml"
}

# lose WORD…: a turn that does not reach its agent, and both are gone.
lose() {
	rm -f "$t_tmp/started" "$t_tmp/heard"
	touch "$t_tmp/hangs"
	t_faden ask --new "$@" >/dev/null 2>&1 &
	t_wait_for 10 test -s "$t_tmp/started" || return
	pid=$(pgrep -f -x "$FADEN ask --new $*")
	agent=$(cat "$t_tmp/started")
	kill -KILL "$pid" "$agent"
	rm -f "$t_tmp/hangs"
	t_wait_for 10 eval '! t_running "$pid" && ! t_running "$agent"'
}

heard() {
	grep -oE 'paint it [a-z]+|count the [a-z]+' "$t_tmp/heard" | tr '\n' ,
}

settings ask
t_ok 'a turn is lost' lose paint it red
tty_start 90 16 sh -c "'$FADEN' ask --new count the doors; echo status \$?; exec cat"
tty_wait 'it is told' '"paint it red" did not reach the agent'
tty_wait 'one is asked' '^Send it again now\?'
tty_wait 'no is what Enter says' 'Number \[1\]'
tty_type Enter
tty_wait 'the next sentence is answered' '^status 0'
t_is 'what was lost is not sent' "$(heard)" 'count the doors,'
tty_stop

t_ok 'another turn is lost' lose paint it blue
tty_start 90 16 sh -c "'$FADEN' ask --new count the roofs; echo status \$?; exec cat"
tty_wait 'one is asked again' '^Send it again now\?'
tty_type yes Enter
tty_wait 'both are answered' '^status 0'
t_is 'what was lost is sent first' "$(heard)" 'paint it blue,count the roofs,'
tty_stop

settings never
t_ok 'a third turn is lost' lose paint it pink
tty_start 90 16 sh -c "'$FADEN' ask --new count the walls; echo status \$?; exec cat"
tty_wait 'the next sentence is answered with ai.resend: never' '^status 0'
t_like 'what was lost is told' "$(tty_screen)" '"paint it pink" did not reach'
t_unlike 'nobody is asked' "$(tty_screen)" 'Send it again now'
t_is 'nothing is sent again' "$(heard)" 'count the walls,'
tty_stop
# The status line of a talk tells for whom it waits, after a cancel too.
mkdir -p "$t_tmp/left" && cd "$t_tmp/left" || exit 1
rm -f "$t_tmp/started"
touch "$t_tmp/hangs"
t_faden ask --new paint it grey >/dev/null 2>&1 &
t_ok 'an agent is at work' t_wait_for 10 test -s "$t_tmp/started"
orphan=$(cat "$t_tmp/started")
kill -KILL "$(pgrep -f -x "$FADEN ask --new paint it grey")"
rm -f "$t_tmp/hangs"
tty_start 110 20 sh -c "'$FADEN'; echo status \$?; exec cat"
tty_wait 'the talk goes on there' '^›'
tty_type 'and now green' Enter
tty_wait 'it waits for the agent' "still works on it\. Waiting for it"
tty_wait 'the status line says so' "waiting for claude \($orphan\)"
tty_type C-c
tty_wait 'that is cancelled' '^Cancelled'
tty_type 'and now black' Enter
tty_wait 'the next one waits' "waiting for claude \($orphan\)"
t_unlike 'and is not called what the last one was' "$(tty_screen)" 'cancelling|ready · [0-9]'
kill "$orphan"
tty_wait 'until the agent ends' '^painted'
tty_stop
# What the agent has deleted and the archive has is offered before anything is said.
printf 'ai:\n  agent: rehearsal\n' >"$t_home/.config/faden/config.yaml"
mkdir -p "$t_tmp/deleted" && cd "$t_tmp/deleted" || exit 1
t_faden ask remember the heron >/dev/null
t_faden archive >/dev/null
file=$(t_faden list -F '{path}')
rm "$file"
tty_start 80 24 "$FADEN"
t_ok 'it is offered to get back what was deleted' t_wait_for 20 tty_shows 'Get it back now\?'
tty_type 1 Enter
t_ok 'it is brought back' t_wait_for 20 test -e "$file"
t_wait_for 20 tty_shows '^›'
tty_type 'what did I say?' Enter
t_ok 'and goes on' t_wait_for 20 tty_shows '1\. remember the heron'
tty_stop
t_done
