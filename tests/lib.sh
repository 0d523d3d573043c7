# Tests of real programs: TAP on standard output, a clean environment, nothing left behind.
# shellcheck shell=sh
#
#	. "$(dirname "$0")/../lib.sh"
#	t_exit 'lists nothing' 1 t_faden list
#	t_is 'and says so' "$(cat "$t_err")" 'no sessions'
#	t_done
#
# FADEN names the program under test, build/faden unless it is set. A test sees $t_build (the build
# folder), $t_tmp (removed at the end; T_KEEP=1 keeps it), $t_home (its HOME, empty), $t_out and
# $t_err (what the last t_exit printed), $t_rc (its status).
# Programs run by t_run and t_faden see only the variables set here or by t_setenv, and only the
# tools linked into $t_bin: neither the user's HOME nor the agents of this machine.

set -u

t_root=$(cd "$(dirname "$0")" && until [ -f tests/lib.sh ] || [ "$PWD" = / ]; do cd ..; done && pwd)
t_helper=$t_root/tests/helper
FADEN=$(realpath "${FADEN:-$t_root/build/faden}")
t_build=$(dirname "$FADEN")
# A python3 that is a script to choose one costs more than most tests run in it.
PATH=$(dirname "$(python3 -c 'import sys; print(sys.executable)')"):$PATH
t_newline='
'
t_count=0
t_failed=0
t_pids=
t_finished=no
t_rc=0
t_tmp=$(mktemp -d "${TMPDIR:-/tmp}/faden-test.XXXXXX") || exit 1
t_tmp=$(cd "$t_tmp" && pwd -P)
t_bin=$t_tmp/bin
t_home=$t_tmp/home
t_out=$t_tmp/stdout
t_err=$t_tmp/stderr
t_port=
t_log=$t_tmp/model.log

t_running() {
	case $(ps -o stat= -p "$1" 2>/dev/null) in '' | Z*) return 1 ;; esac
}

# t_stop PID: stops what t_start started. A child that has not yet become its program may swallow
# the first signal: ask again, then kill.
t_stop() {
	for t_try in 02 05 1 2 4 8; do
		t_running "$1" || break
		kill "$1" 2>/dev/null
		sleep "0.$t_try"
	done
	kill -KILL "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}

t_clean_up() {
	for t_pid in $t_pids; do
		t_stop "$t_pid"
	done
	[ "$t_finished" = yes ] || echo "Bail out! the test ended early"
	[ -n "${T_KEEP-}" ] || rm -rf "$t_tmp"
}
trap t_clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# --- environment ------------------------------------------------------------------------------

# t_setenv NAME=VALUE: for every t_run from now on. The value has no newline.
t_setenv() {
	t_unsetenv "${1%%=*}"
	printf '%s\n' "$1" >>"$t_tmp/env"
}

# t_unsetenv NAME
t_unsetenv() {
	t_kept=
	while IFS= read -r t_pair; do
		case $t_pair in "$1="*) ;; *) t_kept="$t_kept$t_pair$t_newline" ;; esac
	done <"$t_tmp/env"
	printf %s "$t_kept" >"$t_tmp/env"
}

# t_run COMMAND…: in the clean environment, with the caller's directory and streams.
t_run() {
	while IFS= read -r t_pair; do
		set -- "$t_pair" "$@"
	done <"$t_tmp/env"
	env -i "$@"
}

# t_faden ARGUMENTS…: the program under test.
t_faden() {
	t_run "$FADEN" "$@"
}

# t_on_tty ARGUMENT…: the same at a terminal, whose output is standard output.
t_on_tty() {
	t_tools script
	t_words=
	for t_word in "$FADEN" "$@"; do
		t_words="$t_words '$t_word'"
	done
	t_run script -qec "$t_words 2>'$t_tmp/tty.err'" /dev/null >"$t_tmp/tty.out" </dev/null
	t_ended=$?
	tr -d '\r' <"$t_tmp/tty.out"
	cat "$t_tmp/tty.err" >&2
	return "$t_ended"
}

# t_elsewhere ARGUMENT…: the same in a folder where nothing ever happened.
t_elsewhere() {
	mkdir -p "$t_tmp/elsewhere"
	(cd "$t_tmp/elsewhere" && t_faden "$@")
}

# t_tools NAME…: makes tools of this machine visible to what t_run runs; the missing are left out.
t_tools() {
	for t_tool; do
		t_path=$(command -v "$t_tool") && [ -x "$t_path" ] && ln -sf "$t_path" "$t_bin/$t_tool"
	done
}

# t_has_library PATTERN: a library is installed. A plain PATH has no sbin.
t_has_library() {
	PATH=$PATH:/usr/sbin:/sbin ldconfig -p 2>/dev/null | grep -q "$1"
}

t_make_environment() {
	mkdir -p "$t_bin" "$t_home" "$t_tmp/run"
	chmod 700 "$t_tmp/run" "$t_home"
	: >"$t_tmp/env"
	t_tools sh bash env cat cp mv rm ls ln mkdir rmdir touch chmod sleep sed grep awk head tail wc \
		sort uniq tr cut tee date find xargs seq stat readlink realpath dirname basename mktemp \
		id uname ps kill stty tty git diff cmp timeout true false test printf echo
	t_setenv "PATH=$t_bin"
	t_setenv "HOME=$t_home"
	t_setenv "XDG_CONFIG_HOME=$t_home/.config"
	t_setenv "XDG_DATA_HOME=$t_home/.local/share"
	t_setenv "XDG_STATE_HOME=$t_home/.local/state"
	t_setenv "XDG_CACHE_HOME=$t_home/.cache"
	t_setenv "XDG_RUNTIME_DIR=$t_tmp/run"
	t_setenv "TMPDIR=$t_tmp"
	t_setenv "LANG=C.UTF-8"
	t_setenv "TZ=UTC"
	t_setenv "TERM=dumb"
	t_setenv "USER=tester"
	t_setenv "SHELL=$t_bin/bash"
	# Sanitizers keep what the caller asked of them.
	for t_name in ASAN_OPTIONS UBSAN_OPTIONS LSAN_OPTIONS; do
		eval "t_value=\${$t_name-}"
		[ -z "$t_value" ] || t_setenv "$t_name=$t_value"
	done
}

# --- results ----------------------------------------------------------------------------------

# t_note TEXT…: a diagnostic line, or standard input line by line.
t_note() {
	if [ $# -gt 0 ]; then printf '%s\n' "$*"; else cat; fi | sed 's/^/# /'
}

t_result() {
	t_count=$((t_count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $t_count - $2"
	else
		t_failed=$((t_failed + 1))
		echo "not ok $t_count - $2"
	fi
	return "$1"
}

# t_ok NAME COMMAND…: the command succeeds. What it prints is shown when it does not.
t_ok() {
	t_name=$1
	shift
	t_rc=0
	"$@" >"$t_tmp/ok.out" 2>&1 || t_rc=$?
	[ "$t_rc" = 0 ] && t_result 0 "$t_name" && return
	t_result 1 "$t_name"
	t_note "status $t_rc of: $*"
	t_note <"$t_tmp/ok.out"
	return 1
}

# t_exit NAME STATUS COMMAND…: the command ends with that status; output in $t_out and $t_err.
t_exit() {
	t_name=$1
	t_want=$2
	shift 2
	t_rc=0
	"$@" >"$t_out" 2>"$t_err" || t_rc=$?
	[ "$t_rc" = "$t_want" ] && t_result 0 "$t_name" && return
	t_result 1 "$t_name"
	t_note "status $t_rc, not $t_want, of: $*"
	tail -n 20 "$t_out" "$t_err" | t_note
	return 1
}

# t_is NAME GOT WANT
t_is() {
	[ "$2" = "$3" ] && t_result 0 "$1" && return
	t_result 1 "$1"
	printf 'got:  %s\nwant: %s\n' "$2" "$3" | t_note
	return 1
}

# t_like NAME TEXT PATTERN: some line of the text matches the extended regular expression.
t_like() {
	printf '%s\n' "$2" | grep -Eq -e "$3" && t_result 0 "$1" && return
	t_result 1 "$1"
	printf 'no line matches: %s\n%s\n' "$3" "$2" | head -n 30 | t_note
	return 1
}

# t_unlike NAME TEXT PATTERN: no line matches.
t_unlike() {
	printf '%s\n' "$2" | grep -Eq -e "$3" || { t_result 0 "$1" && return; }
	t_result 1 "$1"
	printf 'a line matches: %s\n%s\n' "$3" "$2" | head -n 30 | t_note
	return 1
}

# t_skip NAME REASON: counts as one test that was not run.
t_skip() {
	t_count=$((t_count + 1))
	echo "ok $t_count - $1 # SKIP $2"
}

# t_skip_all REASON: ends the test; only before the first result.
t_skip_all() {
	t_finished=yes
	echo "1..0 # SKIP $1"
	exit 0
}

# t_done: the plan. Every test ends with it.
t_done() {
	t_finished=yes
	echo "1..$t_count"
	[ "$t_failed" = 0 ] || exit 1
	exit 0
}

# --- processes --------------------------------------------------------------------------------

# t_start COMMAND…: in the background, stopped at the end of the test; its id is in $t_pid.
t_start() {
	"$@" &
	t_pid=$!
	t_pids="$t_pids $t_pid"
}

# t_start_faden ARGUMENTS…: the program under test in the same way; the id is its own.
t_start_faden() {
	(
		set -- "$FADEN" "$@"
		while IFS= read -r t_pair; do
			set -- "$t_pair" "$@"
		done <"$t_tmp/env"
		exec env -i "$@"
	) &
	t_pid=$!
	t_pids="$t_pids $t_pid"
}

# t_wait_for SECONDS COMMAND…: until the command succeeds; fails when the time is over.
t_wait_for() {
	t_tries=$(($1 * 20))
	shift
	until "$@" >/dev/null 2>&1; do
		t_tries=$((t_tries - 1))
		[ "$t_tries" -gt 0 ] || return 1
		sleep 0.05
	done
}

# t_need_faults [STEP]: the library that makes storage calls fail as $t_fault; without it the whole
# test is skipped. A sweep tries every STEPth call ($t_step): each one with make test-long, others
# with FADEN_SWEEP_STEP.
t_need_faults() {
	t_fault=$t_build/tests/fault.so
	[ -f "$t_fault" ] || t_skip_all 'storage faults need Linux and a build without sanitizers'
	t_step=${FADEN_SWEEP_STEP:-${1:-1}}
	[ -z "${FADEN_LONG-}" ] || t_step=1
}

# --- the model and the agents -----------------------------------------------------------------

# t_model_start [OPTIONS of model-server]: the scripted model; its port is in $t_port.
t_model_start() {
	rm -f "$t_tmp/port"
	t_start "$t_helper/model-server" --port-file "$t_tmp/port" --log "$t_log" "$@"
	t_wait_for 20 test -s "$t_tmp/port" || { t_note "the model does not start" && exit 1; }
	t_port=$(cat "$t_tmp/port")
}

# t_model_control JSON: orders for the model, see modelserver/server.py.
t_model_control() {
	python3 - "$t_port" "$1" <<-'END'
		import sys, urllib.request
		opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
		opener.open(f"http://127.0.0.1:{sys.argv[1]}/control", sys.argv[2].encode()).read()
	END
}

# t_model_query EXPRESSION: Python over `log`, the requests to the model so far.
t_model_query() {
	python3 - "$t_port" "$1" <<-'END'
		import json, sys, urllib.request
		opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
		text = opener.open(f"http://127.0.0.1:{sys.argv[1]}/log").read().decode()
		log = [e for e in map(json.loads, text.splitlines())
		       if e["method"] == "POST" and e["path"].split("?")[0] in ("/v1/messages", "/v1/responses")]
		print(eval(sys.argv[2]))
	END
}

# t_need_models NAME…: these models, installed once below the build folder, as the user has them.
# Without them the whole test is skipped.
t_need_models() {
	t_status=0
	t_models=$("$t_helper/get-models" "$FADEN" "$t_root/build/models" "$@") || t_status=$?
	[ "$t_status" != 77 ] || t_skip_all "$t_models"
	[ "$t_status" = 0 ] || { t_note "get-models: status $t_status" && exit 1; }
	mkdir -p "$t_home/.local/share/faden"
	ln -sfn "$t_models" "$t_home/.local/share/faden/models"
}

# t_need_agents: the real agents as $t_claude, $t_claude_new, $t_codex, and as `claude` and `codex`
# in the PATH of what t_run runs. Without them the whole test is skipped.
t_need_agents() {
	t_status=0
	t_found=$("$t_helper/get-agents" "$t_root/build/agents") || t_status=$?
	[ "$t_status" != 77 ] || t_skip_all "$t_found"
	[ "$t_status" = 0 ] || { t_note "get-agents: status $t_status" && exit 1; }
	t_claude=$(printf '%s\n' "$t_found" | sed -n 's/^claude=//p')
	# shellcheck disable=SC2034
	t_claude_new=$(printf '%s\n' "$t_found" | sed -n 's/^claude_new=//p')
	t_codex=$(printf '%s\n' "$t_found" | sed -n 's/^codex=//p')
	ln -sf "$t_claude" "$t_bin/claude"
	ln -sf "$t_codex" "$t_bin/codex"
}

# Only loopback can be reached: every proxy is a port where nobody listens.
t_no_network() {
	for t_name in HTTP_PROXY HTTPS_PROXY ALL_PROXY http_proxy https_proxy all_proxy; do
		t_setenv "$t_name=http://127.0.0.1:9"
	done
	t_setenv "NO_PROXY=127.0.0.1,localhost"
	t_setenv "no_proxy=127.0.0.1,localhost"
}

# t_claude_env: Claude Code talks to the scripted model.
t_claude_env() {
	t_no_network
	t_setenv "ANTHROPIC_BASE_URL=http://127.0.0.1:$t_port"
	t_setenv "ANTHROPIC_API_KEY=test-key"
	t_setenv "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1"
	t_setenv "DISABLE_TELEMETRY=1"
	t_setenv "DISABLE_ERROR_REPORTING=1"
	t_setenv "DISABLE_AUTOUPDATER=1"
	t_setenv "CLAUDE_CODE_MAX_RETRIES=1"
}

# t_codex_env: Codex talks to the scripted model.
t_codex_env() {
	t_no_network
	t_setenv "SCRIPTED_MODEL_KEY=test-key"
	mkdir -p "$t_home/.codex"
	cat >"$t_home/.codex/config.toml" <<-END
		model = "scripted"
		model_provider = "scripted"
		check_for_update_on_startup = false

		[model_providers.scripted]
		name = "scripted"
		base_url = "http://127.0.0.1:$t_port/v1"
		env_key = "SCRIPTED_MODEL_KEY"
		wire_api = "responses"
		request_max_retries = 1
		stream_max_retries = 1

		[analytics]
		enabled = false
	END
}

t_make_environment
