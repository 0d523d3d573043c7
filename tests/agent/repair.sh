#!/bin/sh
# faden repair --apply of every kind of damage, resumed by the real agents: the model sees the whole
# history.
. "$(dirname "$0")/../lib.sh"
t_need_agents
t_model_start --limit 900000
t_claude_env
t_codex_env
work=$t_tmp/work
mkdir -p "$work"
cd "$work" || exit 1

# resume AGENT ID: one more turn; what the model was sent, as the words of our own in their order.
resume() {
	t_model_control '{"reset": true}'
	case $1 in
	claude) t_run timeout 60 "$t_claude" -p 'final-word' --resume "$2" ;;
	codex) t_run timeout 60 "$t_codex" exec --skip-git-repo-check resume "$2" 'final-word' ;;
	esac </dev/null >"$t_out" 2>"$t_err" || t_note "$1: status $?: $(tail -n 3 "$t_out" "$t_err")"
	t_model_query '" ".join(
		w.replace(" ", "_") for w in __import__("re").findall(
			r"(?:prompt|answer|result|summary-of|final)-[a-z0-9]+(?:-[a-z0-9]+)?|call of Bash",
			json.dumps(log[-1]["body"].get("messages") or log[-1]["body"]["input"]))) if log else "nothing"'
}

number=0
try() {
	number=$((number + 1))
	id=$(printf 'aaaaaaaa-0000-4000-8000-%012d' $number)
	"$t_helper/damage-session" "$1" "$2" "$t_home/.$1" "$work" "$id" >"$t_tmp/made"
	words=$(sed -n 3p "$t_tmp/made")
	if t_exit "$1 $2: a mended copy is made" 0 t_faden repair --apply --json "$id"; then
		new=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["session_id"])' <"$t_out")
		t_is "$1 $2: the mended session resumes whole" "$(resume "$1" "$new")" "$words final-word"
	fi
}

for agent in ${AGENTS:-claude codex}; do
	"$t_helper/damage-session" $agent --list >"$t_tmp/kinds"
	while read -r kind cause; do
		case $cause in - | !*) ;; *) [ -n "${KIND-}" ] && [ "$KIND" != "$kind" ] || try $agent "$kind" ;; esac
	done <"$t_tmp/kinds"
done
t_done
