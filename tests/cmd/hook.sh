#!/bin/sh
# faden hook: what the agent calls at every prompt, and its place in the agent's settings.
. "$(dirname "$0")/../lib.sh"

claude=$t_home/.claude
state=$t_home/.local/state/faden
here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1
a=aaaaaaaa-0000-4000-8000-000000000001
b=bbbbbbbb-0000-4000-8000-000000000002
fa=$("$t_helper/make-session" claude "$claude" "$here" "$a" 'build the parser for the session files')
fb=$("$t_helper/make-session" claude "$claude" "$here" "$b" 'and its child')
sed -i "1s|}\$|,\"trim_metadata\":{\"parent_file\":\"$fa\"}}|" "$fb"
t_setenv 'FADEN_CLOCK=2026-03-10T12:00:00Z'

# prompt WORDS [ID [FILE]]: the hook on a prompt.
prompt() {
	python3 -c 'import json, sys; print(json.dumps({"session_id": sys.argv[2], "transcript_path": sys.argv[3],
	"cwd": sys.argv[4], "hook_event_name": "UserPromptSubmit", "prompt": sys.argv[1]}))' \
		"$1" "${2-$a}" "${3-$fa}" "$here" | t_faden hook user-prompt-submit
}
# event VERB JSON
event() { printf '%s' "$2" | t_faden hook "$1"; }
field() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$t_out" "$1"; }
settings() { cat "$claude/settings.json"; }

# --- prompts that are none of ours
for words in 'mend the build' '' '>' '> resume' '>resumed' 'please >resume' '>>resume' '/compact' '>resume!'; do
	t_exit "a prompt like '$words' passes" 0 prompt "$words"
	t_is "a prompt like '$words' passes without a word" "$(cat "$t_out" "$t_err")" ''
done
t_ok "a prompt like '$words' leaves nothing behind" test ! -e "$t_home/.local" -a ! -e "$t_home/.config"
t_exit 'a prompt of a hundred kilobytes passes' 0 prompt "$(head -c 100000 /dev/zero | tr '\0' x)"
t_is 'a long prompt passes without a word' "$(cat "$t_out")" ''

# --- broken input never stops the user's work
for json in '' 'null' '[]' '{' '"x"' '{"prompt":">resume"}' '{"prompt":">resume","session_id":"../../x"}' \
	'{"prompt":">resume","session_id":7}' "{\"prompt\":[\">resume\"],\"session_id\":\"$a\"}"; do
	t_exit "input like $json does not fail" 0 event user-prompt-submit "$json"
	t_is "input like $json blocks nothing" "$(cat "$t_out")" ''
done
t_like 'the log tells of input that is no object' "$(cat "$state/faden.log")" 'error hook: user-prompt-submit: standard input is no JSON object'
head -c 17000000 /dev/zero | tr '\0' ' ' >"$t_tmp/long"
t_exit 'input beyond the limit does not fail' 0 t_faden hook user-prompt-submit <"$t_tmp/long"
printf '{"session_id":"%s","prompt":">resume\0"}' "$a" >"$t_tmp/nul"
t_exit 'input with a raw NUL does not fail' 0 t_faden hook user-prompt-submit <"$t_tmp/nul"
t_exit 'an event that there is not does not fail' 0 event no-such-event '{}'
t_exit 'another event of the agent does not fail' 0 event SubagentStop '{}'
t_exit 'an event of a single word does not fail' 0 event notification '{}'
t_like 'an event that there is not is logged' "$(cat "$state/faden.log")" 'error hook: notification: there is no such hook'
for word in instal Install sttaus removed uninstall foo; do
	t_exit "what no agent calls is a mistake of usage: $word" 2 event "$word" '{}'
	t_like "the mistake is told with the known names: $word" "$(cat "$t_err")" "no 'hook $word'.*install, status and remove"
done
t_exit 'a state folder that cannot be does not fail' 0 t_run "$FADEN" --state "$fa" hook user-prompt-submit </dev/null

# --- our words
for word in '>resume' '>RESUME' '  >Continue '; do
	t_exit "$word does not fail" 0 prompt "$word"
	t_is "$word blocks the prompt" "$(field decision)" block
	t_like "$word shows the id" "$(field reason)" "$a"
	t_like "$word shows the command to run" "$(field reason)" "^  faden rollover $a$"
done
t_exit '>handoff with words does not fail' 0 prompt '>handoff the tests are next'
t_is '>handoff blocks the prompt' "$(field decision)" block
t_like 'the command of >handoff takes the words along' "$(field reason)" "^  faden rollover $a --prompt 'the tests are next'$"
t_is 'each of four prompts left a note' "$(find "$state/handoffs" -name '*.md' | wc -l)" 4
t_is 'the notes are for nobody else' "$(find "$state/handoffs" -perm 600 -name '*.md' | wc -l)" 4
note=$(field reason | sed -n 's/^Handoff note: //p')
t_like 'the note has the words' "$(cat "$note")" '^the tests are next$'
t_like 'the note has the brief' "$(cat "$note")" 'As last stated: build the parser for the session files'
words="it's \$HOME \"quoted\" \`date\` \\
and a second line"
t_exit '>continue with words that mean something to a shell does not fail' 0 prompt ">continue $words"
t_exit 'the command can be pasted into a shell' 0 t_run sh -c "$(field reason | sed -n "s|^  faden|'$FADEN'|;/rollover/,/line'/p") --dry-run --json"
t_is 'the pasted command gives the words as they were' "$(field message | sed -n '/^# What to do/,$p' | sed 1d)" "$words"
t_exit '>handoff of many words does not fail' 0 prompt ">handoff $(seq 1 500 | tr '\n' ' ')"
note=$(field reason | sed -n 's/^Handoff note: //p')
t_like 'the command of many words points to the note' "$(field reason)" "^  faden rollover $a --prompt 'First read the note in $note'$"
t_like 'the note has the many words' "$(cat "$note")" ' 499 500$'

# --- a session that is none yet, or too much
: >"$t_tmp/none.jsonl"
echo '{"type":"file-history-snapshot","messageId":"x","snapshot":{}}' >"$t_tmp/bare.jsonl"
notes=$(find "$state/handoffs" -name '*.md' | wc -l)
for file in /no/such/file.jsonl "$t_tmp/none.jsonl" "$t_tmp/bare.jsonl"; do
	t_exit "a session without words does not fail: $(basename " $file")" 0 prompt '>resume' "$b" "$file"
	t_is '>resume of a session without words is blocked' "$(field decision)" block
	t_like '>resume says that there is nothing to resume' "$(field reason)" '^Nothing was said in this session yet'
	t_unlike 'a session without words gets no command to run' "$(field reason)" 'faden r'
done
t_is 'a session without words gets no note' "$(find "$state/handoffs" -name '*.md' | wc -l)" "$notes"
t_exit '>handoff with words in an empty session does not fail' 0 prompt '>handoff begin with the docs' "$b" /no/such/file.jsonl
note=$(field reason | sed -n 's/^Handoff note: //p')
t_like 'words of the user are noted without a session' "$(cat "$note")" '^begin with the docs$'
t_unlike 'the note without a session has no commands' "$(cat "$note")" 'faden r'
cp "$fa" "$t_tmp/large.jsonl"
truncate -s 600M "$t_tmp/large.jsonl"
t_exit 'a session of 600 MB does not fail' 0 prompt '>handoff' "$a" "$t_tmp/large.jsonl"
note=$(field reason | sed -n 's/^Handoff note: //p')
t_like 'a session of 600 MB has a note that says why it has no facts' "$(cat "$note")" "^No facts were gathered: .* more than 512 MB.*faden rollover --dry-run $a"
rm "$t_tmp/large.jsonl"
rm -r "$state/handoffs"
: >"$state/handoffs"
t_exit 'a note that cannot be saved does not fail' 0 prompt '>resume'
t_like 'it is said that the note could not be saved' "$(field reason)" 'could not be saved'
t_like 'the command is shown without a note' "$(field reason)" "^  faden resume $a$"
t_like 'it is said that this session must be left first' "$(field reason)" 'leave this one first \(/exit\), then:$'
rm "$state/handoffs"

printf '#!/bin/sh\ncat >"%s/clip"\n' "$t_tmp" >"$t_bin/xclip"
chmod +x "$t_bin/xclip"
t_setenv DISPLAY=:9
t_exit '>resume with a clipboard does not fail' 0 prompt '>resume'
t_is 'the id is on the clipboard' "$(cat "$t_tmp/clip")" "$a"
t_like 'it is said that the id is on the clipboard' "$(field reason)" '^Session id on the clipboard: '
printf '#!/bin/sh\nexit 1\n' >"$t_bin/xclip"
t_exit 'a clipboard that fails does not fail the hook' 0 prompt '>resume'
t_like 'the id is shown when the clipboard fails' "$(field reason)" "^Session id: $a$"

t_exit '>lineage does not fail' 0 prompt '>lineage' "$b" "$fb"
t_like '>lineage shows the family' "$(field reason)" "^└─ trimmed  $b .*this session"
t_exit '>trim with nothing to trim does not fail' 0 prompt '>trim 1000 Read,Bash'
t_like '>trim says that there is nothing to trim' "$(field reason)" 'nothing to trim'
long=$(head -c 5000 /dev/zero | tr '\0' 'y')
sed -i "s/out 1/$long/" "$fa"
before=$(cksum <"$fa")
t_exit '>TRIM does not fail' 0 prompt '>TRIM 1000 Read,Bash'
t_is '>trim blocks the prompt' "$(field decision)" block
new=$(field reason | sed -n 's/^  claude --resume //p')
t_like '>trim makes a trimmed copy' "$(cat "$(dirname "$fa")/$new.jsonl")" 'Results from Bash tool suppressed'
t_is '>trim leaves the session untouched' "$(cksum <"$fa")" "$before"
t_exit '>trim of a tool that there is does not fail' 0 prompt '>trim bash,'
t_unlike '>trim does not warn of a tool that there is' "$(field reason)" 'No tool'
t_exit '>trim of a tool that there is not does not fail' 0 prompt '>trim bash,foo'
t_like '>trim names the tool that there is not' "$(field reason)" '^No tool of this name was used in the session: foo$'
t_like '>trim trims the other tool' "$(field reason)" 'A trimmed copy'
t_exit '>trim of nothing but unknown tools does not fail' 0 prompt '>trim foo'
t_is '>trim says once that there is no such tool' "$(field reason | grep -ci 'no tool')" 1
t_exit '>trim with two lengths does not fail' 0 prompt '>trim 500 500'
t_like '>trim with two lengths says what it takes' "$(field reason)" '^>trim \[LENGTH\] .*texts of LENGTH characters or more'
t_exit '>trim of a tool without long texts does not fail' 0 prompt '>trim Read'
t_like '>trim of a tool without long texts finds nothing' "$(field reason)" 'nothing to trim'
t_exit '>trim with nonsense does not fail' 0 prompt '>trim $(reboot)'
t_like '>trim with nonsense says what it takes' "$(field reason)" 'LENGTH'
t_unlike '>trim does not repeat nonsense' "$(field reason)" 'reboot'
t_exit '>advise does not fail' 0 prompt '>advise'
t_is '>advise blocks the prompt' "$(field decision)" block
t_like '>advise tells how full the session is' "$(field reason)" '^Context .* tokens'

# --- a session starts
start() { event session-start "{\"session_id\":\"$b\",\"transcript_path\":\"$1\",\"cwd\":\"/\",\"hook_event_name\":\"SessionStart\",\"source\":\"$2\"}"; }
t_exit 'the start of a session does not fail' 0 start "$fb" resume
t_is 'the lineage is not told unless it is set' "$(cat "$t_out")" ''
t_setenv FADEN_HOOK_LINEAGE=true
t_exit 'the start of a session with lineage set does not fail' 0 start "$fb" resume
t_like 'the lineage is told when it is set' "$(cat "$t_out")" 'hookSpecificOutput.*SessionStart.*\[SESSION LINEAGE\]'
t_like 'the lineage is told with the parent first' "$(cat "$t_out")" "1\. $a\.jsonl \(original\)\\\\n2\. $b\.jsonl \(current\)"
t_exit 'the start of an original does not fail' 0 start "$fa" resume
t_is 'an original has no lineage to tell' "$(cat "$t_out")" ''
t_exit 'the start of a new session does not fail' 0 start /no/such/file.jsonl startup
t_is 'a new session has no lineage to tell' "$(cat "$t_out")" ''
echo '{"type":"attachment","attachment":{"content":"[SESSION LINEAGE]"}}' >>"$fb"
t_exit 'the start of a session that was told does not fail' 0 start "$fb" resume
t_is 'a lineage that is in the file is not told again' "$(cat "$t_out")" ''
t_exit 'the start after a compaction does not fail' 0 start "$fb" compact
t_like 'the lineage is told again after a compaction' "$(cat "$t_out")" 'SESSION LINEAGE'
t_exit 'broken settings do not fail the start' 0 t_run "$FADEN" --config "$fa" hook session-start <"$t_out"
t_unsetenv FADEN_HOOK_LINEAGE

# --- a context is to be compacted
compact() { event pre-compact "{\"session_id\":\"$a\",\"transcript_path\":\"$1\",\"hook_event_name\":\"PreCompact\",\"trigger\":\"auto\"}"; }
t_exit 'a compaction does not fail' 0 compact "$fa"
t_is 'nothing is said before a compaction' "$(cat "$t_out" "$t_err")" ''
t_ok 'the session is kept before a compaction' sh -c "find '$t_home/.local/share/faden/archive' -type f -exec cmp -s '$fa' {} \\; -print | grep -q ."
t_exit 'a compaction of a file that is gone does not fail' 0 compact /no/such/file.jsonl
t_like 'a file that is gone is logged' "$(cat "$state/faden.log")" 'error hook: pre-compact: .*/no/such/file'

# --- an answer is there, or a session ends: it is found and kept, and nobody waits for that
ended() { event "$1" "{\"session_id\":\"$a\",\"transcript_path\":\"$2\",\"hook_event_name\":\"Stop\"}"; }
t_exit 'the end of a turn does not fail' 0 ended stop "$fa"
t_is 'nothing is said at the end of a turn' "$(cat "$t_out" "$t_err")" ''
t_is 'the end of a turn is noted' "$(tr -d '\0' <"$state/told")" "$fa"
t_exit 'what was noted is taken in' 0 t_faden watch --told
t_like 'it is said what was taken in' "$(cat "$t_out")" '1 session indexed .*, 1 archived$'
t_exit 'and once' 0 t_faden watch --told
t_is 'a second time there is nothing' "$(cat "$t_out")" ''
for path in /no/such/file.jsonl /etc/passwd '' '../x' 7; do
	t_exit "the end of a turn with a path like '$path' does not fail" 0 ended stop "$path"
done
t_exit 'paths that are none of a session are passed over' 0 t_faden watch --told
t_is 'without a word' "$(cat "$t_out" "$t_err")" ''
t_setenv FADEN_HOOK_KEEP=false
t_exit 'the end of a turn does not fail when it is not wanted' 0 ended stop "$fa"
t_ok 'and is not noted then' test ! -e "$state/told"
t_unsetenv FADEN_HOOK_KEEP
sed 's/build the parser/graft the medlar/' "$fa" >>"$fa.new" && cat "$fa.new" >>"$fa" && rm "$fa.new"
documents() { "$t_build/tests/index-dump" "$state/index" | grep -c "$a"; }
before=$(documents)
grown() { [ "$(documents)" -gt "$before" ]; }
t_unsetenv FADEN_CLOCK
t_setenv FADEN_RUN=1.2.x
t_exit 'the end of a session does not fail' 0 ended session-end "$fa"
t_unsetenv FADEN_RUN
t_ok 'what is new in it comes into the index by itself' t_wait_for 30 grown
t_ok 'and the one who does it ends' t_wait_for 30 sh -c "flock -n '$state/told.taking' true"
t_setenv 'FADEN_CLOCK=2026-03-10T12:00:00Z'

# --- settings that are broken stop nothing, and are logged
mkdir -p "$t_home/.config/faden"
printf 'hook:\n  lineage: [tr\n' >"$t_home/.config/faden/config.yaml"
logged() { grep -c 'error hook: .*config.yaml:2: ' "$state/faden.log"; }
t_exit 'a prompt with broken settings passes' 0 prompt 'mend the build'
t_is 'a prompt that is none of ours logs nothing' "$(logged)" 0
t_exit 'a prompt of ours with broken settings does not fail' 0 prompt '>resume'
t_is 'a prompt of ours is answered with broken settings' "$(field decision)" block
t_is 'broken settings are logged for a prompt of ours' "$(logged)" 1
t_exit 'a start with broken settings does not fail' 0 start "$fb" resume
t_is 'broken settings are logged for a start' "$(logged)" 2
t_exit 'a compaction with broken settings does not fail' 0 compact "$fa"
t_is 'broken settings are logged for a compaction' "$(logged)" 3
rm "$t_home/.config/faden/config.yaml"

# --- the agent's settings
t_exit 'status without hooks has its status' 1 t_faden hook status
t_like 'status says that they are not installed' "$(cat "$t_out")" 'UserPromptSubmit +not installed'
t_exit 'install makes settings that were not there' 0 t_faden hook install
t_exit 'status passes after the install' 0 t_faden hook status
t_exit 'status --json passes after the install' 0 t_faden hook status --json
t_is 'status --json has each hook by name' "$(python3 -c 'import json, sys; print(sorted(json.load(open(sys.argv[1]))["hooks"].items()))' "$t_out")" \
	"[('PreCompact', 'installed'), ('SessionEnd', 'installed'), ('SessionStart', 'installed'), ('Stop', 'installed'), ('UserPromptSubmit', 'installed')]"
before=$(settings)
t_exit 'install passes when all is installed' 0 t_faden hook install
t_is 'install again changes nothing' "$(settings)" "$before"
printf '{\n  "model": "x",\n  "odd": [1E2 , "\\u00e9"],\n  "hooks": {\n    "Notification": [{"hooks": [{"type": "command", "command": "mine"}]}]\n  }\n}\n' >"$claude/settings.json"
before=$(settings)
t_exit 'install beside other hooks passes' 0 t_faden hook install
t_like 'hooks of others stay as they were' "$(settings)" '^    "Notification": \[\{"hooks": \[\{"type": "command", "command": "mine"\}\]\}\],$'
t_like 'the rest of the settings stays as it was' "$(settings)" '^  "odd": \[1E2 , "\\u00e9"\],$'
kept=$t_home/.local/share/faden/settings/${claude#/}/settings.json
copy=$(sed -n 's/^As it was before: //p' "$t_out")
t_is 'the settings before the install are kept where it says' "$(cat "$copy")" "$before"
t_is 'that is in the data folder' "$(dirname "$copy")" "$kept"
t_is 'the copy is for nobody else' "$(stat -c %a "$copy")" 600
t_is 'nothing is put beside the settings' "$(ls -A "$claude")" "projects${t_newline}settings.json"
installed=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["hooks"]["UserPromptSubmit"][-1]["hooks"][0]["command"])' "$claude/settings.json")
t_like 'the installed command is this program' "$installed" "^'$FADEN' hook user-prompt-submit"
t_ok 'the installed command runs' t_run sh -c "$installed" </dev/null
sed -i "s|'[^']*/faden' hook|'/old/faden' hook|" "$claude/settings.json"
t_exit 'install mends the path of another faden' 0 t_faden hook install
t_like 'the settings with another faden are kept' "$(cat "$(sed -n 's/^As it was before: //p' "$t_out")")" "'/old/faden' hook"
t_is 'the settings before the first install are still kept' "$(cat "$copy")" "$before"
with=$(settings)
t_exit 'remove passes' 0 t_faden hook remove
t_is 'remove leaves the settings as they were' "$(settings)" "$before"
t_is 'the settings before the remove are kept' "$(cat "$(sed -n 's/^As it was before: //p' "$t_out")")" "$with"
t_exit 'remove passes when nothing is installed' 0 t_faden hook remove
t_like 'remove says that there is nothing to change' "$(cat "$t_out")" 'nothing to change'
for broken in '{"a":1,}' '{
// a comment
}' '{"a":1' '[]' '{"hooks":[]}' '{"hooks":{"PreCompact":7}}'; do
	printf '%s' "$broken" >"$claude/settings.json"
	t_exit "broken settings are refused: $(printf '%s' "$broken" | tr '\n' ' ')" 3 t_faden hook install
	t_like 'broken settings are named with the line' "$(cat "$t_err")" 'settings.json: line [0-9]'
	t_is 'broken settings are left alone' "$(settings)" "$broken"
done
printf '{"a":1}' >"$t_tmp/dotfile"
ln -sf "$t_tmp/dotfile" "$claude/settings.json"
t_exit 'install passes with settings that are a link' 0 t_faden hook install
t_ok 'settings that are a link stay a link' test -L "$claude/settings.json"
t_like 'what the link points to is changed' "$(cat "$t_tmp/dotfile")" UserPromptSubmit
t_exit 'remove passes with settings that are a link' 0 t_faden hook remove
t_is 'what the link points to is as it was' "$(cat "$t_tmp/dotfile")" '{"a":1}'
t_ok 'remove leaves the link a link' test -L "$claude/settings.json"
rm "$claude/settings.json"

# --- commands of the user's own that run a faden
cat >"$claude/settings.json" <<'END'
{
  "hooks": {
    "UserPromptSubmit": [{"hooks": [{"type": "command", "command": "cd /w && faden hook user-prompt-submit | tee log"}]}],
    "SessionStart": [{"hooks": [{"type": "command", "command": "'/opt/faden' hook session-start || exit 0; mine"}]}],
    "PreCompact": [{"hooks": [{"type": "command", "command": "faden hook pre-compact"}]}]
  }
}
END
cp "$claude/settings.json" "$t_tmp/own"
t_exit 'remove passes with commands of the user' 0 t_faden hook remove
t_ok 'remove leaves commands of the user alone' cmp "$claude/settings.json" "$t_tmp/own"
t_like 'remove tells of a command of the user' "$(cat "$t_out")" '^SessionStart has a command of your own, which stays as it is: .*exit 0; mine$'
t_exit 'install passes with commands of the user' 0 t_faden hook install
t_like 'install tells of a command of the user' "$(cat "$t_out")" '^UserPromptSubmit has a command of your own, .*: cd /w && faden hook user-prompt-submit \| tee log$'
for event in UserPromptSubmit SessionStart PreCompact; do
	t_is "$event has the user's command first and ours second" "$(python3 -c 'import json, sys
have, own = [[h["command"] for g in json.load(open(p))["hooks"][sys.argv[3]] for h in g["hooks"]] for p in sys.argv[1:3]]
print(len(have), have[0] == own[0])' "$claude/settings.json" "$t_tmp/own" $event)" '2 True'
done
t_exit 'status passes beside commands of the user' 0 t_faden hook status
t_like 'status tells of a command of the user' "$(cat "$t_out")" '^PreCompact has a command of your own, .*: faden hook pre-compact$'
t_exit 'remove passes after the install beside commands of the user' 0 t_faden hook remove
t_ok 'remove leaves the settings with commands of the user as they were' cmp "$claude/settings.json" "$t_tmp/own"
printf '{"hooks":{"PreCompact":[{"hooks":[{"command":"faden hook pre-compact \\u001b[31m\\nrm x"}]}]}}' >"$claude/settings.json"
t_exit 'status of a hostile command' 1 t_faden hook status
t_unlike 'a hostile command does not reach the terminal' "$(cat "$t_out")" "$(printf '\033')"

# --- the file itself
printf '{"a":1}' >"$claude/settings.json"
chmod 640 "$claude/settings.json"
t_exit 'install passes with a mode of its own' 0 t_faden hook install
t_is 'the mode of the settings stays' "$(stat -c %a "$claude/settings.json")" 640
if [ "$(id -u)" = 0 ]; then
	chown 4321:8765 "$claude/settings.json"
	t_exit 'remove passes with settings of another' 0 t_faden hook remove
	t_is 'the owner of the settings stays' "$(stat -c %u:%g:%a "$claude/settings.json")" 4321:8765:640
else
	t_exit 'remove passes before the settings are protected' 0 t_faden hook remove
	chmod 400 "$claude/settings.json"
	t_exit 'settings that are protected are not changed' 5 t_faden hook install
	t_is 'protected settings stay as they were' "$(settings)" '{"a":1}'
fi
rm -f "$claude/settings.json"
printf '{"a":1}' >"$claude/settings.json"
ln "$claude/settings.json" "$t_tmp/second"
t_exit 'install passes with a file of two names' 0 t_faden hook install
t_like 'it is said that they part' "$(cat "$t_out")" 'settings.json: it had other names .hard links., which lead to what it was'
t_is 'the other name has what it had' "$(cat "$t_tmp/second")" '{"a":1}'
t_exit 'remove passes with the one name' 0 t_faden hook remove
t_unlike 'of which nothing more is said' "$(cat "$t_out")" 'hard links'
rm -f "$claude/settings.json"
mkdir "$t_tmp/dotfiles"
ln -s ../../dotfiles/claude.json "$claude/settings.json"
t_exit 'install passes with a link to a file that is not there yet' 0 t_faden hook install
t_is 'the link stays' "$(readlink "$claude/settings.json")" ../../dotfiles/claude.json
t_like 'the file is made where the link leads' "$(cat "$t_tmp/dotfiles/claude.json")" UserPromptSubmit
t_exit 'remove passes with a link to a file that we made' 0 t_faden hook remove
t_is 'the link stays again' "$(readlink "$claude/settings.json")" ../../dotfiles/claude.json
t_is 'the file that we made is gone' "$(ls -A "$t_tmp/dotfiles")" ''
rmdir "$t_tmp/dotfiles"
t_exit 'a link into a folder that is not there is refused' 3 t_faden hook install
t_like 'it is said where the link leads' "$(cat "$t_err")" "settings.json is a link to \.\./\.\./dotfiles/claude.json, and there is no folder .*/dotfiles"
t_is 'a refused link stays' "$(readlink "$claude/settings.json")" ../../dotfiles/claude.json
ln -sf settings.json "$claude/settings.json"
t_exit 'a link to itself is a failure' 5 t_faden hook install
t_ok 'a link to itself stays' test -L "$claude/settings.json"
rm "$claude/settings.json"
printf '{"pristine":true}' >"$claude/settings.json"
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do
	t_faden hook install >/dev/null
	sed -i "s|'[^']*/faden' hook|'/old/$i/faden' hook|" "$claude/settings.json"
done
t_is 'the copies of the settings do not pile up' "$(ls "$kept" | wc -l)" 11
t_is 'what was there before the hooks is among them' "$(grep -lxF '{"pristine":true}' "$kept"/* | wc -l)" 1
t_exit 'remove after many changes passes' 0 t_faden hook remove
t_is 'remove after many changes gives the bytes back' "$(settings)" '{"pristine":true}'
rm -r "$t_home/.local/share/faden/settings"
: >"$t_home/.local/share/faden/settings"
t_exit 'without a copy nothing is changed' 5 t_faden hook install
t_is 'the settings are as they were without a copy' "$(settings)" '{"pristine":true}'
rm "$t_home/.local/share/faden/settings" "$claude/settings.json"

t_exit 'install --project passes' 0 t_faden hook install --project
t_like 'a project has settings of its own' "$(cat "$here/.claude/settings.json")" UserPromptSubmit
t_exit 'install --project passes again' 0 t_faden hook install --project
t_exit 'remove --project passes' 0 t_faden hook remove --project
t_ok 'remove --project leaves nothing in the project' test ! -e "$here/.claude"
mkdir "$here/.claude"
for text in '{}' '' '{"a":1}' '{"a":1, "hooks":{}}' '{ "hooks": {"Stop": []} }' '{"hooks":{"PreCompact":[ ]}}'; do
	printf '%s' "$text" >"$here/.claude/settings.json"
	t_exit "install --project passes with settings like '$text'" 0 t_faden hook install --project
	t_exit "remove --project passes with settings like '$text'" 0 t_faden hook remove --project
	t_is "settings like '$text' are the same bytes afterwards" "$(cat "$here/.claude/settings.json")" "$text"
	t_is "settings like '$text' are alone in their folder" "$(ls "$here/.claude")" settings.json
done
t_exit 'install --project passes before a change of the user' 0 t_faden hook install --project
sed -i '1s/{/{"mine":true,/' "$here/.claude/settings.json"
t_exit 'remove --project passes after a change of the user' 0 t_faden hook remove --project
t_like 'the change of the user stays' "$(cat "$here/.claude/settings.json")" '"mine":true'
t_unlike 'the hooks are gone beside the change of the user' "$(cat "$here/.claude/settings.json")" 'user-prompt-submit'
t_like 'the settings from before are named after a change' "$(cat "$t_out")" '^As it was before: /'

# --- Codex
t_exit 'install --agent codex passes' 0 t_faden hook install --agent codex
t_like 'it is said that Codex must be told to trust the hooks' "$(cat "$t_out")" '/hooks'
t_like 'the hooks of Codex are in a file of their own' "$(cat "$t_home/.codex/hooks.json")" 'hook user-prompt-submit'
t_exit 'status --agent codex passes' 0 t_faden hook status --agent codex --json
t_is 'status --agent codex names agent and file' "$(field agent) $(field path)" "codex $t_home/.codex/hooks.json"
t_exit 'remove --agent codex passes' 0 t_faden hook remove --agent codex
t_ok 'the file of the hooks of Codex is gone' test ! -e "$t_home/.codex/hooks.json"
t_ok 'the folder of Codex is still there' test -d "$t_home/.codex"
t_exit 'Codex has no hooks of a project' 2 t_faden hook install --agent codex --project
t_exit 'the rehearsal agent has no hooks' 2 t_faden hook install --agent rehearsal
rm -rf "$claude/settings.json"
mkdir "$claude/settings.json"
t_exit 'settings that are a folder are a failure' 3 t_faden hook install
rmdir "$claude/settings.json"
for i in 1 2 3 4; do t_faden hook install >/dev/null 2>&1 & done
wait
t_exit 'four installs at once leave whole settings' 0 t_faden hook status
t_is 'four installs at once leave one hook each' "$(grep -c '"command":' "$claude/settings.json")" 5
t_done
