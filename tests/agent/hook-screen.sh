#!/bin/sh
# faden hook in Codex's own screen: what a blocked prompt shows, and that the archive has what was
# compacted.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../tty/tmux.sh"
t_need_agents
tty_need
t_model_start
t_codex_env
mkdir "$t_tmp/work"
cd "$t_tmp/work" || exit 1
requests() { t_model_query 'len(log)'; }
archived() {
	rm -rf "$t_tmp/kept"
	t_faden archive export --all --out "$t_tmp/kept" && grep -rq 'and the bread' "$t_tmp/kept"
}

# say TEXT: what comes faster than a person types is taken for a pasted text, and Enter with it.
say() {
	tty_type "$1"
	t_wait_for 20 tty_shows "^› $1"
	sleep 1
	tty_type Enter
}

t_exit 'the hooks are installed' 0 t_faden hook install --agent codex
tty_start 100 40 codex --dangerously-bypass-hook-trust
t_wait_for 60 tty_shows 'Trust and continue' && tty_type Enter
t_ok 'codex starts' t_wait_for 60 tty_shows '^› Ask Codex'
say 'remember the milk'
t_ok 'codex answers' t_wait_for 60 tty_shows 'last=remember the milk'
before=$(requests)
say '>resume'
t_ok 'a prompt of ours is blocked' t_wait_for 60 tty_shows 'Blocked by hook'
tty_wait 'a blocked prompt shows the command to resume' '^ *faden resume [0-9a-f-]{36}$'
tty_wait 'a blocked prompt shows the command of a rollover' '^ *faden rollover [0-9a-f-]{36}$'
t_is 'a blocked prompt makes no request' "$(requests)" "$before"
say 'and the bread'
t_ok 'another prompt goes through' t_wait_for 60 tty_shows 'last=and the bread'
say '/compact'
t_ok 'a session is compacted' t_wait_for 60 tty_shows 'Context compacted'
t_ok 'the archive has all of the session' t_wait_for 30 archived
tty_stop
t_done
