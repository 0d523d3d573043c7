#!/bin/sh
# Sessions that were made in the agents' own screens go on with `faden ask continue`.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../tty/tmux.sh"
t_need_agents
tty_need
t_model_start
t_claude_env
t_codex_env
mkdir "$t_tmp/claude" "$t_tmp/codex"

# screen AGENT PROMPT READY: says a sentence in the agent's own screen; it stays open.
screen() {
	cd "$t_tmp/$1" || exit 1
	tty_start 100 40 "$1"
	# Questions of a first start; what is marked already is the answer.
	for _ in 1 2 3 4 5 6; do
		t_wait_for 30 tty_shows "$3|Enter to confirm|Trust and continue|Press Enter to continue" || break
		tty_shows "$3" && break
		tty_shows 'Detected a custom API key' && tty_type Up
		sleep 1
		tty_type Enter
		sleep 1
	done
	t_ok "$1 starts" t_wait_for 60 tty_shows "$3"
	tty_type "$2"
	t_wait_for 20 tty_shows "$2"
	sleep 1
	tty_type Enter
	t_ok "$1 answers in its own screen" t_wait_for 60 tty_shows "last=$2"
	# It writes a little later than it shows.
	t_ok "$1 has written its answer down" t_wait_for 30 grep -rqs "last=$2" "$t_home/.$1" --include='*.jsonl'
}

# goes_on AGENT PROMPT
goes_on() {
	t_exit "a session that is open in $1 is asked about" 0 t_faden route --json continue
	t_like "a session that is open in $1 is waited for" "$(cat "$t_out")" '"action":"wait"'
	t_exit "to go on with a session that is open in $1 is refused" 5 t_faden ask continue
	t_like "it is said which, by whom, and what to do" "$(cat "$t_err")" "nothing was sent: \"$2\" is open in $1.* \(process [0-9]+.*right now; end it there, or begin another conversation with --new\$"
	t_is "nothing was begun beside what is open in $1" "$(t_faden list -F '{title}')" "$2"
	tty_stop
	# Whoever sat there is gone a moment later.
	left() { t_faden route --json continue | grep -q '"action":"resume"' || pgrep -f "^$t_home/.codex/packages/.* app-server" >/dev/null; }
	t_wait_for 20 left
	# Codex leaves a server behind that holds the session.
	server=$(t_faden route --json continue | sed -n 's/.*"action":"wait".*//p' | wc -l)
	if [ "$server" = 1 ]; then
		held() { t_run timeout 5 "$FADEN" ask continue; }
		t_exit "what only the server of $1 holds is waited for" 124 held
		t_like "it is said how to end the server of $1" "$(cat "$t_err")" "\"$2\" is open in $1's background server \(process [0-9]+; it lets go about a minute after .*\"kill [0-9]+\" ends it and all it works on\) right now\. Waiting"
		holder=$(sed -n 's/.*"kill \([0-9]*\)".*/\1/p' "$t_err")
		if [ -n "${FADEN_LONG-}" ]; then
			# It takes a minute to let go.
			t_exit "what the server of $1 lets go of is gone on with" 0 t_faden ask continue
			return
		fi
		kill "$holder"
	fi
	t_wait_for 20 eval 't_faden route --json continue | grep -q resume'
	t_exit "the session of $1 is asked about when it is closed" 0 t_faden route --json continue
	t_like "the session of $1 goes on when it is closed" "$(cat "$t_out")" "\"action\":\"resume\",\"by\":\"router\",\"conversation_id\":null,\"session_id\":\"[0-9a-f-]*\",\"agent\":\"$1\",\"title\":\"$2\""
	session=$(sed 's/.*"conversation_id":null,"session_id":"\([^"]*\)".*/\1/; s/","agent.*//' "$t_out" | head -n 1)
	t_exit "faden goes on with the session of $1" 0 t_faden ask --json continue
	t_like "it is told that $1's session goes on" "$(cat "$t_err")" "Resuming what was begun in $1: $2, "
	t_like "the turn was in the same session of $1" "$(cat "$t_out")" "\"session_id\":\"$session\""
	t_like "$1 was given what was said before" "$(t_model_query 'json.dumps(log[-1]["body"])')" "$2"
}

cat >"$t_home/.claude.json" <<-JSON
	{"hasCompletedOnboarding":true,"theme":"dark","numStartups":5,
	 "customApiKeyResponses":{"approved":["test-key"],"rejected":[]},
	 "projects":{"$t_tmp/claude":{"hasTrustDialogAccepted":true,"hasCompletedProjectOnboarding":true}}}
JSON
screen claude 'remember the milk' '^(❯|>)'
goes_on claude 'remember the milk'
screen codex 'count the apples' '^› '
goes_on codex 'count the apples'
# That one sentence did not belong there says nothing of what else was said in a session.
mkdir "$t_tmp/third" && cd "$t_tmp/third" || exit 1
t_exit 'a conversation is begun' 0 t_faden ask --agent claude water the tomatoes
session=cccccccc-0000-4000-8000-000000000001
"$t_helper/make-session" claude "$t_home/.claude" "$t_tmp/third" $session --time "$(date -u +%Y-%m-%dT%H:%M:%SZ)" \
	'the invoice parser drops the last line' 'and keep the header' >/dev/null
t_exit 'one of the agent goes on' 0 t_faden ask --json continue
t_like 'it is that' "$(cat "$t_out")" "\"session_id\":\"$session\""
t_exit 'the other one was meant' 0 t_faden ask no, the other one
t_exit 'the first is asked about' 0 t_faden route --json back to the invoice parser
t_like 'and is still there' "$(sed 's/"candidates".*//' "$t_out")" "\"action\":\"resume\".*\"session_id\":\"$session\""
# Nothing of what Codex keeps running stays behind.
for pid in $(pgrep -f "^$t_home/.codex/packages/.* app-server"); do
	kill "$pid"
done
t_done
