#!/bin/sh
# routing.judge with the real agents: asked with the schema, without tools, with the cost told.
. "$(dirname "$0")/../lib.sh"
t_need_agents
t_model_start
t_claude_env
t_codex_env
mkdir "$t_tmp/work"
cd "$t_tmp/work" || exit 1
ask() { t_faden ask --agent rehearsal --json "$@"; }
conversation() { sed 's/.*"conversation_id":"\([^"]*\)".*/\1/' "$t_out"; }
tools() { t_model_query '[t.get("name") or t.get("type") for t in log[-1]["body"].get("tools", [])]'; }
files() { find "$t_home/.claude/projects" "$t_home/.codex/sessions" -name '*.jsonl' 2>/dev/null | wc -l; }
settings() {
	mkdir -p "$t_home/.config/faden"
	cat >"$t_home/.config/faden/config.yaml"
}
# answers SCRIPT: what the model says to the next question about a sentence.
answers() { t_model_control "{\"queue\": [{\"when\": \"Which one does the sentence\", \"script\": \"$1\"}]}"; }

t_exit 'a first task is taken' 0 ask --new fix the rounding error in the checkout total
t_exit 'a second task is taken' 0 ask --new write a Dockerfile for the image server
docker=$(conversation)

for version in "$t_claude" "$t_claude_new"; do
	ln -sf "$version" "$t_bin/claude"
	settings <<-END
		routing: {judge: claude, judge_timeout: 60, close: 1}
	END
	answers '[[tool: StructuredOutput {\"choice\": \"new\"}]]'
	before=$(files)
	t_exit 'claude: a close choice is put to it' 0 t_faden route --json now run it
	t_like 'claude: its choice counts, its cost is told' "$(cat "$t_out")" '"action":"new","by":"judge".*"judge":\{"agent":"claude","status":"chose","message":null,"cost_usd":[0-9.e-]+,"duration_ms":[0-9]+\}'
	t_is 'claude: it is asked with the schema and no other tool' "$(tools | tr -d '[]'"' " | tr ',' '\n' | grep -v -e DeferredToolPlaceholder | tr '\n' ' ')" 'StructuredOutput '
	t_is 'claude: no session is left of it' "$(files)" "$before"
	answers '[[tool: StructuredOutput {\"choice\": \"1\"}]]'
	t_exit 'claude: another choice is put to it' 0 ask now run it
	t_is 'claude: the sentence goes where it says' "$(conversation)" "$docker"
	t_like 'claude: time and cost are told' "$(cat "$t_err")" 'claude was asked where that belongs \([0-9.]+ s, [0-9.]+ \$\)'
	answers '[[say: it is the one about the image server]]'
	t_exit 'claude: an answer in prose is no failure' 0 t_faden route --json now run it
	t_like 'claude: an answer in prose does not count' "$(cat "$t_out")" '"by":"router".*"status":"(else|failed)"'
	answers '[[error: 400 no credit]]'
	t_exit 'claude: an error of the service is no failure' 0 t_faden route --json now run it
	t_like 'claude: an error of the service leaves the choice' "$(cat "$t_out")" '"by":"router".*"status":"(else|failed)"'
done

settings <<-END
	routing: {judge: codex, judge_timeout: 60, close: 1}
END
answers '[[say: {\"choice\": \"new\"}]]'
before=$(files)
t_exit 'codex: a close choice is put to it' 0 t_faden route --json now run it
t_like 'codex: its choice counts' "$(cat "$t_out")" '"action":"new","by":"judge".*"judge":\{"agent":"codex","status":"chose"'
t_like 'codex: it is asked with the schema' "$(t_model_query 'repr(log[-1]["body"].get("text"))')" "enum.*'new', '1', '2'"
t_is 'codex: no session is left of it' "$(files)" "$before"
answers '[[bash: touch done.txt]] [[say: {\"choice\": \"new\"}]]'
t_exit 'codex: a call of a tool instead of an answer is no failure' 0 t_faden route --json now run it
t_ok 'codex: nothing was done' test ! -e done.txt
settings <<-END
	routing: {judge: codex, judge_timeout: 2, close: 1}
END
answers '[[hang]]'
t_exit 'codex: silence is no failure' 0 t_faden route --json now run it
t_like 'codex: silence leaves the choice' "$(cat "$t_out")" '"by":"router".*"status":"failed"'
t_is 'nothing else is left of the questions' "$(find "$t_home" -name '*ask-*')" ''
t_done
