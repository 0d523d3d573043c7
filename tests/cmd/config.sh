#!/bin/sh
# Settings: where they come from, what is wrong with them.
. "$(dirname "$0")/../lib.sh"
cd "$t_home" || exit 1
file=$t_home/.config/faden/config.yaml

t_exit 'config works without a file' 0 t_faden config
t_like 'without a file all values are defaults' "$(cat "$t_out")" '^assistant\.name = Jarvis  \(default\)$'
t_like 'who answers is told where that is left open' "$(cat "$t_out")" '^ai\.agent = auto  \(default; rehearsal answers: no other was chosen\)$'
t_ok 'to look makes no store' test ! -e "$t_home/.local/state/faden/faden.db"
# nobody was chosen, but somebody answered here
mkdir "$t_tmp/shop" && cd "$t_tmp/shop" || exit 1
t_setenv 'FADEN_AI_EXEC_COMMAND=/bin/cat'
t_exit 'an agent is asked once' 0 t_faden ask --agent exec 'count the till'
t_faden reset >/dev/null
t_exit 'the settings are shown there' 0 t_faden config
t_like 'with who answers in this folder, and why' "$(cat "$t_out")" '^ai\.agent = auto  \(default; exec answers: it did in this folder last, and nobody was chosen\)$'
t_exit 'and one of them' 0 t_faden config get ai.agent
t_like 'with what changes it' "$(cat "$t_err")" "^faden: exec answers: it did in this folder last.*config set ai\.agent"
t_like 'for programs too' "$(t_faden config --json)" '"in_force":"exec"'
t_like 'doctor says the same' "$(t_faden doctor)" "answers +exec, in this folder: .*config set ai\.agent"
t_exit 'a new conversation begins' 0 t_faden ask --new 'sweep the floor'
t_is 'it does answer' "$(cat "$t_out")" 'sweep the floor'
t_like 'which is said where one begins' "$(cat "$t_err")" '^faden: exec answers, as it did here last; '
t_exit 'it goes on' 0 t_faden ask 'and the yard'
t_unlike 'and is not said again' "$(cat "$t_err")" 'as it did here last'
cd "$t_home" || exit 1
t_like 'another folder has none' "$(t_faden config)" '^ai\.agent = auto  \(default; rehearsal answers'
t_unsetenv FADEN_AI_EXEC_COMMAND
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
broken 'stt: {language: fr}\n' '1: stt\.language'

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

# set: one value changes, and nothing else
was() { printf '%b' "$1" >"$file"; }
set_is() { # NAME BEFORE AFTER WORD…
	name=$1 after=$3
	was "$2"
	shift 3
	t_exit "$name is set" 0 t_faden config set "$@"
	printf '%b' "$after" >"$t_tmp/after"
	t_ok "$name changes and nothing else" cmp "$t_tmp/after" "$file"
}
set_is 'a value' 'ai:\n  agent: codex # mine\n  timeout: 15m\n' 'ai:\n  agent: claude # mine\n  timeout: 15m\n' ai.agent claude
t_is 'set says what holds now' "$(cat "$t_out")" "ai.agent = claude  ($file:2)"
set_is 'a value behind umlauts' 'ai:\n  model: ä # ü\n  agent: codex # ö\n' 'ai:\n  model: ä # ü\n  agent: claude # ö\n' ai.agent claude
set_is 'a value in braces' 'ai: {agent: codex}\n' 'ai: {agent: claude}\n' ai.agent claude
set_is 'a new value in braces' 'ai: {agent: codex}\n' 'ai: {timeout: 5, agent: codex}\n' ai.timeout 5
set_is 'a new value' '# top\nai:\n  agent: codex # mine\n\n# next\nui:\n  pager: false\n' '# top\nai:\n  agent: codex # mine\n  timeout: 2h\n\n# next\nui:\n  pager: false\n' ai.timeout 2h
set_is 'a value of a section with comments only' 'ai:\n#  agent: auto\nui:\n  pager: no\n' 'ai:\n  agent: claude\n#  agent: auto\nui:\n  pager: no\n' ai.agent claude
set_is 'a value of a section within one' 'routing:\n  enabled: auto\n' 'routing:\n  enabled: auto\n  weights:\n    keyword: 0.5\n' routing.weights.keyword 0.5
set_is 'a value of a new section' 'ai:\n  agent: codex' 'ai:\n  agent: codex\nui:\n  pager: no\n' ui.pager no
set_is 'a value before the end of the document' '---\nai:\n  agent: codex\n...\n' '---\nai:\n  agent: codex\nui:\n  pager: no\n...\n' ui.pager no
set_is 'a key without a value' 'ai:\n  agent:\n  timeout: 5\n' 'ai:\n  agent: claude\n  timeout: 5\n' ai.agent claude
set_is 'a list over lines' 'ai:\n  exec:\n    command: # runs\n      - a\n      - b\n  agent: exec\n' 'ai:\n  exec:\n    command: ["my prog", x] # runs\n  agent: exec\n' ai.exec.command 'my prog' x
set_is 'a block of text' 'ai:\n  system_prompt: |\n    one\n    two\n  agent: codex\n' 'ai:\n  system_prompt: "say: #1"\n  agent: codex\n' ai.system_prompt 'say: #1'
set_is 'a word that YAML takes for nothing' 'ai:\n' 'ai:\n  model: "null"\n' ai.model null
set_is 'a value that was wrong' 'ai:\n  agent: nosuch\n' 'ai:\n  agent: claude\n' ai.agent claude
rm "$file"
t_exit 'set makes a file' 0 t_faden config set ai.agent claude
t_is 'the file that was made has the value' "$(cat "$file")" 'ai:
  agent: claude'
rm -r "$(dirname "$file")"
t_exit 'set makes the folder too' 0 t_faden config set --json ui.pager false
t_is 'set --json tells the value' "$(cat "$t_out")" false
t_faden config example >"$file"
t_exit 'a value of the example is set' 0 t_faden config set ai.on_limit wait
t_is 'one line of the example is new' "$(t_faden config example | diff - "$file" | grep '^[<>]')" '>   on_limit: wait'
t_exit 'a number below zero is a value' 0 t_faden config set routing.threshold -1
t_is 'which is set' "$(t_faden config get routing.threshold)" -1
mv "$file" "$t_tmp/real.yaml"
ln -s "$t_tmp/real.yaml" "$file"
chmod 640 "$t_tmp/real.yaml"
t_exit 'a file behind a link is changed' 0 t_faden config set ai.on_limit fail
t_ok 'the link stays' test -L "$file"
t_is 'the file keeps its mode' "$(stat -c %a "$t_tmp/real.yaml")" 640
t_like 'the file behind the link has the value' "$(cat "$t_tmp/real.yaml")" '^  on_limit: fail$'
rm "$file"
was 'ai:\n  agent: codex\nui:\n  pager: sometimes\n'
cp "$file" "$t_tmp/before"
t_exit 'a file that is wrong elsewhere is refused' 3 t_faden config set ai.agent claude
t_like 'it is said where it is wrong' "$(cat "$t_err")" "$file:4: ui.pager: 'sometimes'"
t_ok 'a file that is refused stays as it was' cmp "$t_tmp/before" "$file"
was 'ai:\n  agent: codex\n'
cp "$file" "$t_tmp/before"
t_exit 'a value that is none is refused' 3 t_faden config set ai.agent nosuch
t_like 'a value that is none is named with those that are' "$(cat "$t_err")" "ai.agent: 'nosuch' is none of auto, claude"
t_exit 'one that is too small is no value' 3 t_faden config set routing.close -1
t_like 'that is said' "$(cat "$t_err")" 'routing\.close: .*-1'
t_exit 'a setting that is none is refused' 1 t_faden config set ai.agnt claude
t_like 'a setting that is none is named with the one likely meant' "$(cat "$t_err")" "no setting 'ai.agnt' \(did you mean 'ai.agent'"
t_exit 'two words for one value are refused' 2 t_faden config set ai.model a b
t_exit 'lists by language are refused' 2 t_faden config set commands.cancel_keywords x
t_exit 'set without a value is refused' 2 t_faden config set ai.agent
t_like 'the values that there are are named' "$(cat "$t_err")" 'which value\? ai\.agent is one of auto, claude, codex, exec, rehearsal$'
t_exit 'set of any value without one is refused' 2 t_faden config set ai.model
t_like 'it is said how to see the one it has' "$(cat "$t_err")" "which value\? 'faden config get ai\.model' shows"
t_exit 'set of nothing is refused' 2 t_faden config set
t_ok 'what is refused changes nothing' cmp "$t_tmp/before" "$file"
set_many() { for n in 1 2 3 4 5 6 7 8; do t_faden config set ai.timeout $n & t_faden config set ai.idle_timeout $n & done >/dev/null 2>&1; wait; }
set_many
t_is 'many at once lose nothing' "$(grep -cE '^  (agent: codex|timeout: [1-8]|idle_timeout: [1-8])$' "$file") $(wc -l <"$file")" '3 4'

# what has no use any more is read, and not shown
t_unlike 'settings without a use are not listed' "$(t_faden config)" '^(audio.sample_rate|audio.chunk_size|wake_word.model_name)'
t_unlike 'settings without a use are not in the example' "$(t_faden config example)" '^# *(sample_rate|chunk_size|model_name):'
was 'tts:\n  speed: 2\n'
t_exit 'a file may have them' 0 t_faden config check
t_like 'what a file has is listed' "$(t_faden config)" '^tts\.speed = 2 '
rm "$file"
head -c 262145 /dev/zero | tr '\0' '#' >"$file"
t_exit 'a file beyond the limit is refused' 3 t_faden config
chmod 000 "$file"
if [ "$(id -u)" = 0 ]; then
	t_skip 'a file that may not be read is a failure' 'root may read everything'
else
	t_exit 'a file that may not be read is a failure' 5 t_faden config
fi
t_exit 'the path as JSON' 0 t_faden config path --json
t_like 'it is one string' "$(cat "$t_out")" '^"/.*config\.yaml"$'
t_exit 'an example is no JSON' 2 t_faden config example --json
t_exit 'a list in brackets is refused' 2 t_faden config set ai.exec.command "[sh, -c, 'cat']"
t_like 'it is said how a list is given' "$(cat "$t_err")" 'without brackets: faden config set ai.exec.command ONE TWO'
t_done
