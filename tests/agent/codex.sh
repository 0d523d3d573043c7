#!/bin/sh
# faden with Codex through its app server: whose sessions they are, what is trusted, what an old
# version without a server says.
. "$(dirname "$0")/../lib.sh"
t_need_agents
t_model_start
t_codex_env
mkdir "$t_tmp/plain" "$t_tmp/repo"
cd "$t_tmp/plain" || exit 1

# key FILE NAME: a value of one JSON object.
key() {
	python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$1" "$2"
}

t_exit 'outside of git it answers' 0 t_faden ask --agent codex --json --new 'my cat is called Tom'
id=$(key "$t_out" session_id)
t_like 'it says in which session' "$id" '^[0-9a-f-]{36}$'
t_like 'the session is one of Codex' "$(find "$t_home/.codex/sessions" -name "*$id.jsonl")" "$id"
t_is 'its file says who began it' "$(head -n 1 "$(find "$t_home/.codex/sessions" -name "*$id.jsonl")" |
	python3 -c 'import json, sys; print(json.loads(sys.stdin.readline())["payload"]["originator"])')" faden
t_exit 'codex itself goes on with it' 0 t_run "$t_codex" exec --skip-git-repo-check resume "$id" \
	'my dog is called Rex'
t_exit 'and faden after that' 0 t_faden ask --in "$id" 'what did I say?'
t_like 'both are remembered: the cat' "$(cat "$t_out")" 'Tom'
t_like 'both are remembered: the dog' "$(cat "$t_out")" 'Rex'

t_exit 'it is listed' 0 t_faden list --json
t_like 'by its id' "$(cat "$t_out")" "$id"
t_exit 'it is shown' 0 t_faden show "$id"
t_like 'with its words' "$(cat "$t_out")" 'my cat is called Tom'
t_exit 'a tool runs in it' 0 t_faden ask --in "$id" '[[bash: seq 2000]][[say: counted]]'
t_exit 'it is trimmed' 0 t_faden trim --json "$id"
t_exit 'the copy goes on' 0 t_faden ask --in "$(key "$t_out" session_id)" 'what did I say?'
t_like 'with all that was said' "$(cat "$t_out")" 'Tom'
t_exit 'it is rolled over' 0 t_faden rollover --json "$id"

cd "$t_tmp/repo" || exit 1
git init -q .
t_setenv 'FADEN_AI_PERMISSION_MODE=bypassPermissions'
t_exit 'a turn with all rights' 0 t_faden ask --agent codex --new '[[bash: touch made]][[say: done]]'
t_ok 'has them' test -e made
t_unlike 'but the folder is not trusted for that' "$(cat "$t_home/.codex/config.toml")" trust_level
# What it says is also kept, since a command may run before it is told.
cat >"$t_bin/codex-heard" <<-END
	#!/bin/sh
	"$t_codex" "\$@" | tee -a "$t_tmp/heard"
END
chmod +x "$t_bin/codex-heard"
t_setenv "FADEN_AI_CODEX_PROGRAM=$t_bin/codex-heard"
begun() { [ "$(grep -c '"item/started".*"commandExecution"' "$t_tmp/heard")" = 2 ]; }
t_start_faden ask --agent codex --new '[[bash: touch one]][[bash: touch begun; sleep 60; touch over]]' 2>"$t_tmp/broken"
t_ok 'a command runs that takes its time' t_wait_for 20 begun
kill -INT "$t_pid"
wait "$t_pid"
t_is 'its turn is cancelled' "$?" 130
t_ok 'what had not ended did not go on' test -e one -a ! -e over
t_like 'and is not said to be done' "$(cat "$t_tmp/broken")" \
	'cancelled; what was done stands: Shell; begun and broken off: Shell$'

t_unsetenv FADEN_AI_CODEX_PROGRAM

# A version without a server: its own way to work, and its own rule about git.
cat >"$t_bin/codex-old" <<-END
	#!/bin/sh
	[ "\$1" != app-server ] || { echo "error: unrecognized subcommand 'app-server'" >&2; exit 2; }
	exec "$t_codex" "\$@"
END
chmod +x "$t_bin/codex-old"
cd "$t_tmp/plain" || exit 1
t_setenv 'FADEN_AI_PERMISSION_MODE=default'
t_setenv "FADEN_AI_CODEX_PROGRAM=$t_bin/codex-old"
t_exit 'an old version refuses a folder without git' 4 t_faden ask --agent codex --new 'hello'
t_like 'it is said what helps' "$(cat "$t_err")" 'ai.outside_git: true'
t_setenv 'FADEN_AI_OUTSIDE_GIT=true'
t_exit 'with the word of the user it answers' 0 t_faden ask --agent codex --new '[[say: well]]'
t_is 'by itself' "$(cat "$t_out")" well
t_exit 'and goes on with what the new one began' 0 t_faden ask --in "$id" 'what did I say?'
t_like 'all of it' "$(cat "$t_out")" 'Rex'

# A first use: codex makes its folder itself, where it is not named to it. What the configuration in
# that folder would say is said to the program.
cat >"$t_bin/codex-first" <<-END
	#!/bin/sh
	exec "$t_codex" -c model=scripted -c model_provider=scripted -c check_for_update_on_startup=false \
		-c 'model_providers.scripted={name="scripted",base_url="http://127.0.0.1:$t_port/v1",env_key="SCRIPTED_MODEL_KEY",wire_api="responses",request_max_retries=1,stream_max_retries=1}' \
		-c analytics.enabled=false "\$@"
END
chmod +x "$t_bin/codex-first"
t_setenv 'FADEN_AI_OUTSIDE_GIT=false'
t_setenv "FADEN_AI_CODEX_PROGRAM=$t_bin/codex-first"
mkdir "$t_tmp/first"
t_setenv "HOME=$t_tmp/first"
t_exit 'where codex was never used it answers' 0 t_faden ask --agent codex --new 'my fish is called Bo'
t_ok 'it has made its folder' test -d "$t_tmp/first/.codex/sessions"
t_exit 'and goes on there' 0 t_faden ask 'what did I say?'
t_like 'with what was said' "$(cat "$t_out")" 'Bo'
t_setenv "CODEX_HOME=$t_tmp/nowhere"
t_exit 'a folder that is named and not there' 4 t_faden ask --agent codex --new 'hello'
t_like 'is what codex complains of' "$(cat "$t_err")" 'CODEX_HOME points to'
t_unlike 'and it surely did not have the prompt' "$(cat "$t_err")" 'not known'
t_done
