#!/bin/sh
# Settings: where they come from, what is wrong with them.
. "$(dirname "$0")/../lib.sh"
cd "$t_home" || exit 1
file=$t_home/.config/faden/config.yaml

t_exit 'config works without a file' 0 t_faden config
t_like 'without a file all values are defaults' "$(cat "$t_out")" '^assistant\.name = Jarvis  \(default\)$'
t_exit 'check passes without a file' 0 t_faden config check
t_like 'check says that there is no file' "$(cat "$t_out")" 'there is none'
t_exit 'config path is taken' 0 t_faden config path
t_is 'config path tells where the file would be' "$(cat "$t_out")" "$file"
t_exit 'a file that --config names must be there' 5 t_faden --config "$t_tmp/none.yaml" config
t_like 'a missing file is named' "$(cat "$t_err")" 'none\.yaml: No such file'

mkdir -p "$t_home/.config/faden"
t_exit 'config example is taken' 0 t_faden config example
cp "$t_out" "$file"
t_exit 'the example passes check' 0 t_faden config check
t_is 'check says that the file is good' "$(cat "$t_out")" "$file: ok"
t_like 'the example warns about permissions' "$(tr '\n#' '  ' <"$file" | tr -s ' ')" \
	'bypassPermissions is what a hands-free assistant needs.*afford to lose'

cat >"$file" <<'END'
ai:
  agent: codex
  exec: {command: [cat, -n]}
END
t_setenv 'FADEN_ASSISTANT_NAME=Ada'
t_exit 'config shows where values come from' 0 t_faden config
t_like 'a value of the file is shown with its line' "$(cat "$t_out")" "^ai\.agent = codex  \($file:2\)$"
t_like 'a value of the environment is shown as such' "$(cat "$t_out")" '^assistant\.name = Ada  \(environment\)$'
t_like 'a default is shown as such' "$(cat "$t_out")" '^ui\.pager = true  \(default\)$'
t_exit 'config --json is taken' 0 t_faden config --json
t_like 'the JSON has values with their types' "$(cat "$t_out")" \
	'\{"name":"ai.exec.command","value":\["cat","-n"\],"source":"file","path":"[^"]*","line":3,'
t_exit 'config get is taken' 0 t_faden config get ai.agent
t_is 'config get prints the value alone' "$(cat "$t_out")" codex
t_exit 'config get of an unknown key fails' 1 t_faden config get ai.agnet
t_like 'an unknown key gets a suggestion' "$(cat "$t_err")" "did you mean 'ai\.agent'"
t_unsetenv FADEN_ASSISTANT_NAME
t_setenv 'FADEN_AI_TIMEOUT=soon'
t_exit 'a wrong variable is refused' 3 t_faden commands stopp
t_like 'a wrong variable is named with its value' "$(cat "$t_err")" "FADEN_AI_TIMEOUT: 'soon'"
t_unsetenv FADEN_AI_TIMEOUT

# broken TEXT MESSAGE: refused by whatever reads the settings, and by check
broken() {
	printf '%b' "$1" >"$file"
	t_exit "a file with this mistake is refused: $2" 3 t_faden commands stopp
	t_like "the mistake is named with its place: $2" "$(cat "$t_err")" "^faden: commands: $file:$2"
	t_exit 'check refuses a broken file' 3 t_faden config check
	t_exit 'help works with a broken file' 0 t_faden help
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
t_exit 'a file with an unknown key is read' 0 t_faden commands stopp
t_like 'an unknown key is named and passed over' "$(cat "$t_err")" \
	"config\.yaml:2: unknown key 'ai\.modle' \(did you mean 'ai\.model'\?\); ignored$"
t_exit 'check does not pass over an unknown key' 3 t_faden config check
t_like 'check names the unknown key' "$(cat "$t_out")" "unknown key 'ai\.modle'"
printf 'commands: {reset_keywords: [Stopp]}\n' >"$file"
t_exit 'check refuses a keyword that is never reached' 3 t_faden config check
t_like 'check names the keyword that is never reached' "$(cat "$t_out")" "the reset keyword 'Stopp' is never reached: it is taken as cancel"
t_exit 'check takes another file' 0 t_faden config check /dev/null

printf 'ai: {model: "a\\e[31mb\\a"}\n' >"$file"
t_exit 'a value with control characters is shown' 0 t_faden config
t_is 'control characters of a value do not reach the terminal' "$(tr -dc '\033\007' <"$t_out" | wc -c)" 0
printf 'ai:\n  timeout: soon\nui:\n  pager: sometimes\n' >"$file"
t_setenv 'FADEN_AI_AGENT=nobody'
t_exit 'check refuses a file with several mistakes' 3 t_faden config check
t_is 'all mistakes are told, one a line' "$(sed 's/: .*//' "$t_out" | tr '\n' ' ')" "$file:2 $file:4 FADEN_AI_AGENT "
t_exit 'check --json refuses them as well' 3 t_faden config --json check
t_like 'check --json has all mistakes' "$(cat "$t_out")" \
	'^\{"path":"[^"]*","exists":true,"ok":false,"findings":\[\{"line":2,"message":"ai\.timeout: .*"\},\{"line":4,.*\{"line":null,'
t_unsetenv FADEN_AI_AGENT
rm "$file"
t_exit 'check --json passes where nothing is wrong' 0 t_faden config --json check
t_like 'check --json says that nothing is wrong' "$(cat "$t_out")" '"exists":false,"ok":true,"findings":\[\]\}$'
head -c 262145 /dev/zero | tr '\0' '#' >"$file"
t_exit 'a file beyond the limit is refused' 3 t_faden config
chmod 000 "$file"
if [ "$(id -u)" = 0 ]; then
	t_skip 'a file that may not be read is a failure' 'root may read everything'
else
	t_exit 'a file that may not be read is a failure' 5 t_faden config
fi
t_done
