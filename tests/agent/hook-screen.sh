#!/bin/sh
# faden hook in the agents' own screens: what a blocked prompt shows, and that the archive has what
# was compacted.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../tty/tmux.sh"
t_need_agents
tty_need
t_model_start
t_codex_env
t_claude_env
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

# Claude Code: the README says which version puts a blocked prompt back into its input line.
# in_claude PROGRAM NAME LINE: what stands there then. The newer one comes first: it has questions
# about what an older one has left.
in_claude() {
	cat >"$t_home/.claude.json" <<-JSON
		{"hasCompletedOnboarding":true,"theme":"dark","numStartups":5,
		 "customApiKeyResponses":{"approved":["test-key"],"rejected":[]},
		 "projects":{"$t_tmp/work":{"hasTrustDialogAccepted":true,"hasCompletedProjectOnboarding":true}}}
	JSON
	tty_start 100 45 "$1"
	t_wait_for 60 tty_shows '^❯'
	for line in 'remember the milk' '>lineage'; do
		sleep 1
		tty_type "$line"
		t_wait_for 20 tty_shows "^❯.$line"
		sleep 1
		tty_type Enter
		t_ok "$2 takes $line" t_wait_for 60 tty_shows "(last=|Original prompt: )$line"
	done
	tty_wait "what the input line has then in $2" "$3"
	tty_type C-u
	tty_wait "it is empty after Ctrl-U in $2" '^❯.?$'
	tty_stop
}
t_exit 'the hooks are installed in Claude Code' 0 t_faden hook install
in_claude "$t_claude_new" 'Claude Code 2.1.325' '^❯.>lineage'
in_claude "$t_claude" 'Claude Code 2.1.197' '^❯.?$'
t_done
