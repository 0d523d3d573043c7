#!/bin/sh
# Settings: where they come from, what is wrong with them.
. "$(dirname "$0")/../lib.sh"
cd "$t_home" || exit 1
file=$t_home/.config/faden/config.yaml

t_exit 'no file' 0 t_faden config
t_like 'all defaults' "$(cat "$t_out")" '^assistant\.name = Jarvis  \(default\)$'
t_exit 'is fine' 0 t_faden config check
t_like 'and said' "$(cat "$t_out")" 'there is none'
t_exit 'where it would be' 0 t_faden config path
t_is 'is told' "$(cat "$t_out")" "$file"
t_exit 'a file that --config names' 5 t_faden --config "$t_tmp/none.yaml" config
t_like 'must be there' "$(cat "$t_err")" 'none\.yaml: No such file'

mkdir -p "$t_home/.config/faden"
t_exit 'the example' 0 t_faden config example
cp "$t_out" "$file"
t_exit 'is a good file' 0 t_faden config check
t_is 'and says so' "$(cat "$t_out")" "$file: ok"
t_like 'with a warning about permissions' "$(tr '\n#' '  ' <"$file" | tr -s ' ')" \
	'bypassPermissions is what a hands-free assistant needs.*afford to lose'

cat >"$file" <<'END'
ai:
  agent: codex
  exec: {command: [cat, -n]}
END
t_setenv 'FADEN_ASSISTANT_NAME=Ada'
t_exit 'three sources' 0 t_faden config
t_like 'file' "$(cat "$t_out")" "^ai\.agent = codex  \($file:2\)$"
t_like 'environment' "$(cat "$t_out")" '^assistant\.name = Ada  \(environment\)$'
t_like 'default' "$(cat "$t_out")" '^ui\.pager = true  \(default\)$'
t_exit 'as JSON' 0 t_faden config --json
t_like 'with types' "$(cat "$t_out")" \
	'\{"name":"ai.exec.command","value":\["cat","-n"\],"source":"file","file":"[^"]*","line":3,'
t_exit 'one of them' 0 t_faden config get ai.agent
t_is 'alone' "$(cat "$t_out")" codex
t_exit 'an unknown one' 1 t_faden config get ai.agnet
t_like 'with a suggestion' "$(cat "$t_err")" "did you mean 'ai\.agent'"
t_unsetenv FADEN_ASSISTANT_NAME
t_setenv 'FADEN_AI_TIMEOUT=soon'
t_exit 'a wrong variable' 3 t_faden commands stopp
t_like 'is named' "$(cat "$t_err")" "FADEN_AI_TIMEOUT: 'soon'"
t_unsetenv FADEN_AI_TIMEOUT

# broken TEXT MESSAGE: refused by whatever reads the settings, and by check
broken() {
	printf '%b' "$1" >"$file"
	t_exit "broken: $2" 3 t_faden commands stopp
	t_like 'with the place' "$(cat "$t_err")" "^faden: commands: $file:$2"
	t_exit 'also by check' 3 t_faden config check
	t_exit 'help still works' 0 t_faden help
}
broken 'ai: {\n' '2: not YAML'
broken 'ai: {exec: {command: [\n' "2: not YAML: a '\[' or '\{' is not closed"
broken 'ai:\n\tmodel: x\n' '2: not YAML: a tab'
broken 'ai:\n  model: "x\n' '3: not YAML: a quotation mark is not closed \(it begins on line 2\)'
broken 'ai:\n  timeout: soon\n' "2: ai\.timeout: 'soon'"
broken 'commands:\n  cancel_keywords:\n  - stopp\n  - ""\n' '4: commands\.cancel_keywords: empty keyword'
broken 'a: &a [*a]\n' '1: aliases'
broken 'ui:\n  pager: sometimes\n' '2: ui\.pager'

printf 'ai:\n  modle: x\n' >"$file"
t_exit 'an unknown key' 0 t_faden commands stopp
t_like 'is named and passed over' "$(cat "$t_err")" \
	"config\.yaml:2: unknown key 'ai\.modle' \(did you mean 'ai\.model'\?\); ignored$"
t_exit 'check does not pass it over' 3 t_faden config check
t_like 'it says which' "$(cat "$t_out")" "unknown key 'ai\.modle'"
printf 'commands: {reset_keywords: [Stopp]}\n' >"$file"
t_exit 'a keyword that is never reached' 3 t_faden config check
t_like 'is found' "$(cat "$t_out")" "the reset keyword 'Stopp' is never reached: it is taken as cancel"
t_exit 'another file can be checked' 0 t_faden config check /dev/null

printf 'ai: {model: "a\\e[31mb\\a"}\n' >"$file"
t_exit 'control characters in a value' 0 t_faden config
t_is 'do not reach the terminal' "$(tr -dc '\033\007' <"$t_out" | wc -c)" 0
printf 'ai:\n  timeout: soon\nui:\n  pager: sometimes\n' >"$file"
t_setenv 'FADEN_AI_AGENT=nobody'
t_exit 'several mistakes' 3 t_faden config check
t_is 'are all told, one a line' "$(sed 's/: .*//' "$t_out" | tr '\n' ' ')" "$file:2 $file:4 FADEN_AI_AGENT "
t_exit 'and for programs' 3 t_faden config --json check
t_like 'as JSON' "$(cat "$t_out")" \
	'^\{"file":"[^"]*","exists":true,"ok":false,"findings":\[\{"line":2,"message":"ai\.timeout: .*"\},\{"line":4,.*\{"line":null,'
t_unsetenv FADEN_AI_AGENT
rm "$file"
t_exit 'nothing wrong' 0 t_faden config --json check
t_like 'as JSON too' "$(cat "$t_out")" '"exists":false,"ok":true,"findings":\[\]\}$'
head -c 262145 /dev/zero | tr '\0' '#' >"$file"
t_exit 'a file beyond the limit' 3 t_faden config
chmod 000 "$file"
if [ "$(id -u)" = 0 ]; then
	t_skip 'a file that may not be read' 'root may read everything'
else
	t_exit 'a file that may not be read' 5 t_faden config
fi
t_done
