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
	t_exit "a prompt like '$words'" 0 prompt "$words"
	t_is 'passes without a word' "$(cat "$t_out" "$t_err")" ''
done
t_ok 'and leaves nothing behind' test ! -e "$t_home/.local" -a ! -e "$t_home/.config"
t_exit 'a prompt of two megabytes' 0 prompt "$(head -c 100000 /dev/zero | tr '\0' x)"
t_is 'passes too' "$(cat "$t_out")" ''

# --- broken input never stops the user's work
for json in '' 'null' '[]' '{' '"x"' '{"prompt":">resume"}' '{"prompt":">resume","session_id":"../../x"}' \
	'{"prompt":">resume","session_id":7}' "{\"prompt\":[\">resume\"],\"session_id\":\"$a\"}"; do
	t_exit "input like $json" 0 event user-prompt-submit "$json"
	t_is 'blocks nothing' "$(cat "$t_out")" ''
done
t_like 'the log says so' "$(cat "$state/faden.log")" 'error hook: user-prompt-submit: standard input is no JSON object'
head -c 17000000 /dev/zero | tr '\0' ' ' >"$t_tmp/long"
t_exit 'input beyond the limit' 0 t_faden hook user-prompt-submit <"$t_tmp/long"
printf '{"session_id":"%s","prompt":">resume\0"}' "$a" >"$t_tmp/nul"
t_exit 'input with a raw NUL' 0 t_faden hook user-prompt-submit <"$t_tmp/nul"
t_exit 'an event that there is not' 0 event no-such-event '{}'
t_exit 'another event of the agent' 0 event SubagentStop '{}'
t_exit 'one of a single word' 0 event stop '{}'
t_like 'is logged' "$(cat "$state/faden.log")" 'error hook: stop: there is no such hook'
for word in instal Install sttaus removed uninstall foo; do
	t_exit "what no agent calls, $word" 2 event "$word" '{}'
	t_like 'is a mistake, with the known names' "$(cat "$t_err")" "no 'hook $word'.*install, status and remove"
done
t_exit 'a state folder that cannot be' 0 t_run "$FADEN" --state "$fa" hook user-prompt-submit </dev/null

# --- our words
for word in '>resume' '>RESUME' '  >Continue '; do
	t_exit "$word" 0 prompt "$word"
	t_is 'blocks the prompt' "$(field decision)" block
	t_like 'with the id' "$(field reason)" "$a"
	t_like 'and the command to run' "$(field reason)" "^  faden rollover $a$"
done
t_exit '>handoff' 0 prompt '>handoff the tests are next'
t_is 'blocks it too' "$(field decision)" block
t_like 'its command takes the words along' "$(field reason)" "^  faden rollover $a --prompt 'the tests are next'$"
t_is 'four notes are there' "$(find "$state/handoffs" -name '*.md' | wc -l)" 4
t_is 'for nobody else' "$(find "$state/handoffs" -perm 600 -name '*.md' | wc -l)" 4
note=$(field reason | sed -n 's/^Handoff note: //p')
t_like 'the note has the words' "$(cat "$note")" '^the tests are next$'
t_like 'and the brief' "$(cat "$note")" 'As last stated: build the parser for the session files'
words="it's \$HOME \"quoted\" \`date\` \\
and a second line"
t_exit '>continue with words for no shell' 0 prompt ">continue $words"
t_exit 'the command, pasted' 0 t_run sh -c "$(field reason | sed -n "s|^  faden|'$FADEN'|;/rollover/,/line'/p") --dry-run --json"
t_is 'gives them as they were' "$(field message | sed -n '/^# What to do/,$p' | sed 1d)" "$words"
t_exit '>handoff of many words' 0 prompt ">handoff $(seq 1 500 | tr '\n' ' ')"
note=$(field reason | sed -n 's/^Handoff note: //p')
t_like 'takes the note along' "$(field reason)" "^  faden rollover $a --prompt 'First read the note in $note'$"
t_like 'which has them' "$(cat "$note")" ' 499 500$'

# --- a session that is none yet, or too much
: >"$t_tmp/none.jsonl"
echo '{"type":"file-history-snapshot","messageId":"x","snapshot":{}}' >"$t_tmp/bare.jsonl"
notes=$(find "$state/handoffs" -name '*.md' | wc -l)
for file in /no/such/file.jsonl "$t_tmp/none.jsonl" "$t_tmp/bare.jsonl"; do
	t_exit "a session without words, $(basename "$file")" 0 prompt '>resume' "$b" "$file"
	t_is 'is blocked all the same' "$(field decision)" block
	t_like 'there is nothing to resume' "$(field reason)" '^Nothing was said in this session yet'
	t_unlike 'and no command to run' "$(field reason)" 'faden r'
done
t_is 'nor a note' "$(find "$state/handoffs" -name '*.md' | wc -l)" "$notes"
t_exit 'words of the user' 0 prompt '>handoff begin with the docs' "$b" /no/such/file.jsonl
note=$(field reason | sed -n 's/^Handoff note: //p')
t_like 'are noted' "$(cat "$note")" '^begin with the docs$'
t_unlike 'without commands' "$(cat "$note")" 'faden r'
cp "$fa" "$t_tmp/large.jsonl"
truncate -s 600M "$t_tmp/large.jsonl"
t_exit 'a session of 600 MB' 0 prompt '>handoff' "$a" "$t_tmp/large.jsonl"
note=$(field reason | sed -n 's/^Handoff note: //p')
t_like 'has a note without facts that says why' "$(cat "$note")" "^No facts were gathered: .* more than 512 MB.*faden rollover --dry-run $a"
rm "$t_tmp/large.jsonl"
rm -r "$state/handoffs"
: >"$state/handoffs"
t_exit 'a note that cannot be saved' 0 prompt '>resume'
t_like 'is said, and the rest is there' "$(field reason)" 'could not be saved'
t_like 'with the command' "$(field reason)" "^  faden resume $a$"
t_like 'which needs this one left first' "$(field reason)" 'leave this one first \(/exit\), then:$'
rm "$state/handoffs"

printf '#!/bin/sh\ncat >"%s/clip"\n' "$t_tmp" >"$t_bin/xclip"
chmod +x "$t_bin/xclip"
t_setenv DISPLAY=:9
t_exit 'with a clipboard' 0 prompt '>resume'
t_is 'the id is on it' "$(cat "$t_tmp/clip")" "$a"
t_like 'which is said' "$(field reason)" '^Session id on the clipboard: '
printf '#!/bin/sh\nexit 1\n' >"$t_bin/xclip"
t_exit 'a clipboard that fails' 0 prompt '>resume'
t_like 'is no reason to fail' "$(field reason)" "^Session id: $a$"

t_exit '>lineage' 0 prompt '>lineage' "$b" "$fb"
t_like 'shows the family' "$(field reason)" "^└─ trimmed  $b .*this session"
t_exit '>trim with nothing to trim' 0 prompt '>trim 1000 Read,Bash'
t_like 'says so' "$(field reason)" 'nothing to trim'
long=$(head -c 5000 /dev/zero | tr '\0' 'y')
sed -i "s/out 1/$long/" "$fa"
before=$(cksum <"$fa")
t_exit '>trim' 0 prompt '>TRIM 1000 Read,Bash'
t_is 'is blocked' "$(field decision)" block
new=$(field reason | sed -n 's/^  claude --resume //p')
t_like 'a trimmed copy is there' "$(cat "$(dirname "$fa")/$new.jsonl")" 'Results from Bash tool suppressed'
t_is 'the session is untouched' "$(cksum <"$fa")" "$before"
t_exit '>trim of one that there is' 0 prompt '>trim bash,'
t_unlike 'warns of none' "$(field reason)" 'No tool'
t_exit '>trim of a tool that there is not' 0 prompt '>trim bash,foo'
t_like 'names it' "$(field reason)" '^No tool of this name was used in the session: foo$'
t_like 'and trims the other' "$(field reason)" 'A trimmed copy'
t_exit '>trim of none that there is' 0 prompt '>trim foo'
t_is 'says so once' "$(field reason | grep -ci 'no tool')" 1
t_exit '>trim with two lengths' 0 prompt '>trim 500 500'
t_like 'says what it takes, as it is' "$(field reason)" '^>trim \[LENGTH\] .*texts of LENGTH characters or more'
t_exit '>trim of other tools' 0 prompt '>trim Read'
t_like 'finds nothing' "$(field reason)" 'nothing to trim'
t_exit '>trim with nonsense' 0 prompt '>trim $(reboot)'
t_like 'says what it takes' "$(field reason)" 'LENGTH'
t_unlike 'and repeats none of it' "$(field reason)" 'reboot'
t_exit '>advise' 0 prompt '>advise'
t_is 'is blocked too' "$(field decision)" block
t_like 'and tells how full it is' "$(field reason)" '^Context .* tokens'

# --- a session starts
start() { event session-start "{\"session_id\":\"$b\",\"transcript_path\":\"$1\",\"cwd\":\"/\",\"hook_event_name\":\"SessionStart\",\"source\":\"$2\"}"; }
t_exit 'a session starts' 0 start "$fb" resume
t_is 'nothing is told unless set' "$(cat "$t_out")" ''
t_setenv FADEN_HOOK_LINEAGE=true
t_exit 'when set' 0 start "$fb" resume
t_like 'the lineage is told' "$(cat "$t_out")" 'hookSpecificOutput.*SessionStart.*\[SESSION LINEAGE\]'
t_like 'parent first' "$(cat "$t_out")" "1\. $a\.jsonl \(original\)\\\\n2\. $b\.jsonl \(current\)"
t_exit 'an original' 0 start "$fa" resume
t_is 'has none to tell' "$(cat "$t_out")" ''
t_exit 'a new session' 0 start /no/such/file.jsonl startup
t_is 'neither' "$(cat "$t_out")" ''
echo '{"type":"attachment","attachment":{"content":"[SESSION LINEAGE]"}}' >>"$fb"
t_exit 'once it is in the file' 0 start "$fb" resume
t_is 'it is not told again' "$(cat "$t_out")" ''
t_exit 'after a compaction' 0 start "$fb" compact
t_like 'it is' "$(cat "$t_out")" 'SESSION LINEAGE'
t_exit 'broken settings' 0 t_run "$FADEN" --config "$fa" hook session-start <"$t_out"
t_unsetenv FADEN_HOOK_LINEAGE

# --- a context is to be compacted
compact() { event pre-compact "{\"session_id\":\"$a\",\"transcript_path\":\"$1\",\"hook_event_name\":\"PreCompact\",\"trigger\":\"auto\"}"; }
t_exit 'before a compaction' 0 compact "$fa"
t_is 'nothing is said' "$(cat "$t_out" "$t_err")" ''
t_ok 'the session is kept' sh -c "find '$t_home/.local/share/faden/archive' -type f -exec cmp -s '$fa' {} \\; -print | grep -q ."
t_exit 'a file that is gone' 0 compact /no/such/file.jsonl
t_like 'is logged' "$(cat "$state/faden.log")" 'error hook: pre-compact: .*/no/such/file'

# --- settings that are broken stop nothing, and are logged
mkdir -p "$t_home/.config/faden"
printf 'hook:\n  lineage: [tr\n' >"$t_home/.config/faden/config.yaml"
logged() { grep -c 'error hook: .*config.yaml:2: ' "$state/faden.log"; }
t_exit 'a prompt with broken settings' 0 prompt 'mend the build'
t_is 'is none of ours' "$(logged)" 0
t_exit 'one of ours' 0 prompt '>resume'
t_is 'is answered' "$(field decision)" block
t_is 'and logged' "$(logged)" 1
t_exit 'a start' 0 start "$fb" resume
t_is 'is logged' "$(logged)" 2
t_exit 'a compaction' 0 compact "$fa"
t_is 'is logged too' "$(logged)" 3
rm "$t_home/.config/faden/config.yaml"

# --- the agent's settings
t_exit 'not installed' 1 t_faden hook status
t_like 'and says so' "$(cat "$t_out")" 'UserPromptSubmit +not installed'
t_exit 'install, no settings yet' 0 t_faden hook install
t_exit 'now they are' 0 t_faden hook status
t_exit 'for programs' 0 t_faden hook status --json
t_is 'each by name' "$(python3 -c 'import json, sys; print(sorted(json.load(open(sys.argv[1]))["hooks"].items()))' "$t_out")" \
	"[('PreCompact', 'installed'), ('SessionStart', 'installed'), ('UserPromptSubmit', 'installed')]"
before=$(settings)
t_exit 'install again' 0 t_faden hook install
t_is 'changes nothing' "$(settings)" "$before"
printf '{\n  "model": "x",\n  "odd": [1E2 , "\\u00e9"],\n  "hooks": {\n    "Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]\n  }\n}\n' >"$claude/settings.json"
before=$(settings)
t_exit 'install beside others' 0 t_faden hook install
t_like 'theirs stay as they were' "$(settings)" '^    "Stop": \[\{"hooks": \[\{"type": "command", "command": "mine"\}\]\}\],$'
t_like 'and the rest' "$(settings)" '^  "odd": \[1E2 , "\\u00e9"\],$'
t_is 'what was there is kept' "$(cat "$claude/settings.json.before-faden")" "$before"
t_ok 'what runs is this program' sh -c "sh -c \"\$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[\"hooks\"][\"UserPromptSubmit\"][-1][\"hooks\"][0][\"command\"])' '$claude/settings.json')\" </dev/null"
sed -i "s|'[^']*/faden' hook|'/old/faden' hook|" "$claude/settings.json"
t_exit 'another faden is mended' 0 t_faden hook install
t_is 'and the first state is still kept' "$(cat "$claude/settings.json.before-faden")" "$before"
t_exit 'remove' 0 t_faden hook remove
t_is 'leaves what was there' "$(settings)" "$before"
t_ok 'and no copy of it' test ! -e "$claude/settings.json.before-faden"
t_exit 'remove again' 0 t_faden hook remove
t_like 'finds nothing' "$(cat "$t_out")" 'nothing to change'
for broken in '{"a":1,}' '{
// a comment
}' '{"a":1' '[]' '{"hooks":[]}' '{"hooks":{"PreCompact":7}}'; do
	printf '%s' "$broken" >"$claude/settings.json"
	t_exit "settings like $(printf '%s' "$broken" | tr '\n' ' ')" 3 t_faden hook install
	t_like 'are refused by line' "$(cat "$t_err")" 'settings.json: line [0-9]'
	t_is 'and left alone' "$(settings)" "$broken"
done
printf '{"a":1}' >"$t_tmp/dotfile"
ln -sf "$t_tmp/dotfile" "$claude/settings.json"
t_exit 'settings that are a link' 0 t_faden hook install
t_ok 'stay one' test -L "$claude/settings.json"
t_like 'its target is changed' "$(cat "$t_tmp/dotfile")" UserPromptSubmit
t_exit 'remove there' 0 t_faden hook remove
t_is 'gives the bytes back' "$(cat "$t_tmp/dotfile")" '{"a":1}'
t_ok 'through the link' test -L "$claude/settings.json"
t_exit 'the settings of a project' 0 t_faden hook install --project
t_like 'are its own' "$(cat "$here/.claude/settings.json")" UserPromptSubmit
t_exit 'install again' 0 t_faden hook install --project
t_exit 'taken out of it' 0 t_faden hook remove --project
t_ok 'nothing is left' test ! -e "$here/.claude"
mkdir "$here/.claude"
for text in '{}' '' '{"a":1}' '{"a":1, "hooks":{}}' '{ "hooks": {"Stop": []} }' '{"hooks":{"PreCompact":[ ]}}'; do
	printf '%s' "$text" >"$here/.claude/settings.json"
	t_exit "a project's settings like '$text'" 0 t_faden hook install --project
	t_exit 'removed again' 0 t_faden hook remove --project
	t_is 'are the same bytes' "$(cat "$here/.claude/settings.json")" "$text"
	t_is 'and alone' "$(ls "$here/.claude")" settings.json
done
t_exit 'a change of the user' 0 t_faden hook install --project
sed -i '1s/{/{"mine":true,/' "$here/.claude/settings.json"
t_exit 'stays when the hooks go' 0 t_faden hook remove --project
t_like 'in the file' "$(cat "$here/.claude/settings.json")" '"mine":true'
t_unlike 'without the hooks' "$(cat "$here/.claude/settings.json")" 'user-prompt-submit'
t_like 'and what was before is named' "$(cat "$t_out")" 'changed since the install.*before-faden'

# --- Codex
t_exit 'Codex has hooks too' 0 t_faden hook install --agent codex
t_like 'which it must be told to trust' "$(cat "$t_out")" '/hooks'
t_like 'in a file of their own' "$(cat "$t_home/.codex/hooks.json")" 'hook user-prompt-submit'
t_exit 'they are there' 0 t_faden hook status --agent codex --json
t_is 'for Codex' "$(field agent) $(field path)" "codex $t_home/.codex/hooks.json"
t_exit 'and go' 0 t_faden hook remove --agent codex
t_ok 'with their file' test ! -e "$t_home/.codex/hooks.json"
t_ok 'not with the folder' test -d "$t_home/.codex"
t_exit 'of a project' 2 t_faden hook install --agent codex --project
t_exit 'of another agent' 2 t_faden hook install --agent rehearsal
rm -rf "$claude/settings.json"
mkdir "$claude/settings.json"
t_exit 'settings that are a folder' 5 t_faden hook install
rmdir "$claude/settings.json"
for i in 1 2 3 4; do t_faden hook install >/dev/null 2>&1 & done
wait
t_exit 'four at once' 0 t_faden hook status
t_is 'one hook each' "$(grep -c '"command":' "$claude/settings.json")" 3
t_done
