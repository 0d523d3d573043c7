#!/bin/sh
# What `faden show --live` says a resume would send, beside what the agents do send.
. "$(dirname "$0")/../lib.sh"
t_need_agents
t_model_start
t_claude_env
t_codex_env
mkdir "$t_tmp/work" && cd "$t_tmp/work" || exit 1

words() {
	grep -oE '_m[0-9][0-9]_' | sort -u | tr '\n' ' '
}

# compare NAME ID COMMAND…: the command resumes the session.
compare() {
	name=$1
	id=$2
	shift 2
	want=$(t_faden show --live --json "$id" 2>"$t_err" | sed 1d | words)
	t_model_control '{"reset":true}'
	t_run "$@" </dev/null >"$t_out" 2>&1
	t_is "$name: show --live is what a resume sends" "${want:-nothing}" "$(t_model_query 'json.dumps(log[0]) if log else ""' | words)"
}

for claude in "$t_claude" "$t_claude_new"; do
	version=$("$claude" --version | cut -d" " -f1)
	rm -rf "$t_home/.claude"
	"$t_helper/live-cases" claude "$t_home/.claude" "$t_tmp/work" >"$t_tmp/cases" || exit 1
	while read -r case id; do
		compare "claude $version, $case" "$id" "$claude" -p probe --resume "$id"
	done <"$t_tmp/cases"
done
"$t_helper/live-cases" codex "$t_home/.codex" "$t_tmp/work" >"$t_tmp/cases" || exit 1
while read -r case id; do
	compare "codex, $case" "$id" "$t_codex" exec --skip-git-repo-check resume "$id" probe
done <"$t_tmp/cases"
t_done
