#!/bin/sh
# faden show: one session, readable.
. "$(dirname "$0")/../lib.sh"

claude=$t_home/.claude
codex=$t_home/.codex
here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1
a=aaaaaaaa-0000-4000-8000-000000000001
b=aaaabbbb-0000-4000-8000-000000000002
c=01a00000-0000-7000-8000-000000000003
file=$("$t_helper/make-session" claude "$claude" "$here" "$a" --title 'Blue door' one two three)
"$t_helper/make-session" claude "$claude" "$here" "$b" other >/dev/null
"$t_helper/make-session" codex "$codex" "$here" "$c" --title 'Green door' uno due >/dev/null

for spec in "$a" "$file" aaaaaaaa 'Blue door' blue 000000000001; do
	t_exit "a session is found as $spec" 0 t_faden show "$spec"
	t_like "what is found as $spec is that session" "$(cat "$t_out")" 'answer 3 to \*\*three\*\*'
done
t_exit 'a fragment of three characters finds nothing' 1 t_faden show aaa
t_exit 'a fragment that fits two is ambiguous' 3 t_faden show aaaa
t_like 'an ambiguous fragment shows both' "$(cat "$t_err")" "^$b  claude  [0-9]+ [a-z]+ ago  .*$(basename "$here")  other$"
t_like 'candidates are shown with when and where' "$(cat "$t_err")" '^ID +AGENT +LAST +FOLDER +NAME'
t_exit 'a name that fits none is not found' 1 t_faden show nobody
t_like 'a name that fits none says where to look' "$(cat "$t_err")" "no session is called 'nobody' \('faden list --all' shows what there is\)"
t_exit 'a word of a first prompt is no name' 1 t_faden show othe
t_like 'but it is said how it is found' "$(cat "$t_err")" "no session is called 'othe', but .* first prompt of some: faden search othe"
t_exit 'a file that is not there is not found' 1 t_faden show /no/such/file.jsonl
t_exit 'a file that is no session is refused' 3 t_faden show "$t_root/meson.build"
t_exit 'nothing is shown where nothing ever happened' 1 t_elsewhere show
t_exit 'without a session the last one of the folder is shown' 0 t_faden show
t_like 'it is said that it is the last one of the folder' "$(cat "$t_err")" 'the last session of this folder: '
t_exit 'too short a fragment is no id' 1 t_faden show aaa
t_like 'too short a fragment says how long it must be' "$(cat "$t_err")" '4 characters or more'

t_exit 'a session is shown by its name' 0 t_faden show blue
t_is 'prompts, calls and answers are shown in order' "$(sed 's/  20.*//' "$t_out" | tail -n +4 | head -n 6)" "you
one

claude
  Bash: echo 1
answer 1 to **one**"
t_unlike 'outputs of tools are not shown' "$(cat "$t_out")" 'out 1'
t_like 'one turn is not called turns' "$(t_faden show "$b")" ' 1 turn, last'
t_exit '--tools is taken' 0 t_faden show blue --tools
t_like '--tools shows outputs' "$(cat "$t_out")" '^    out 1$'
t_exit '--last 1 is taken' 0 t_faden show blue --last 1
t_like '--last 1 shows the last turn' "$(cat "$t_out")" '^three$'
t_unlike '--last 1 leaves out the turns before' "$(cat "$t_out")" '^(one|two)$'
t_exit '--last with more than there are is taken' 0 t_faden show blue --last 99
t_like '--last with more than there are shows all' "$(cat "$t_out")" '^one$'
t_exit '--last 0 is refused' 2 t_faden show blue --last 0

t_exit '--raw is taken' 0 t_faden show blue --raw
t_ok '--raw is the file' cmp "$file" "$t_out"
t_exit '--raw --last 1 is taken' 0 t_faden show blue --raw --last 1
tail -n 5 "$file" >"$t_tmp/tail"
t_ok '--raw --last 1 is the end of the file' cmp "$t_tmp/tail" "$t_out"

t_exit '--json is taken' 0 t_faden show blue --json
t_ok '--json has what is shown' python3 - "$t_out" <<'END'
import json, sys
doc = json.load(open(sys.argv[1]))
assert doc["session"]["name"] == "Blue door"
kinds = [i["kind"] for i in doc["items"]]
assert kinds[:4] == ["user", "tool_call", "tool_result", "assistant"], kinds
assert [i["text"] for i in doc["items"] if i.get("prompt")] == ["one", "two", "three"]
END

t_exit 'a Codex session is shown' 0 t_faden show green
t_like 'calls of Codex are shown like those of others' "$(cat "$t_out")" '^  exec_command: echo 2$'
t_unlike 'what Codex itself put in is left out' "$(cat "$t_out")" environment_context

# a branch that was left
printf '%s\n' '{"type":"user","uuid":"z","parentUuid":"00000000-0000-4000-8000-000000000004","timestamp":"2026-03-01T11:00:00Z","message":{"content":"rewound"}}' >>"$file"
t_exit '--live is taken' 0 t_faden show blue --live
t_like '--live shows the new branch' "$(cat "$t_out")" '^rewound$'
t_like '--live shows what the new branch hangs on' "$(cat "$t_out")" '^one$'
t_unlike '--live leaves out the old branch' "$(cat "$t_out")" '^(two|three)$'

# a Codex fork: its history is in another file
forked=$("$t_helper/live-cases" codex "$codex" "$here" | sed -n 's/^codex_forked //p')
t_is 'a fork is shown with what it was forked from' "$(t_faden show "$forked" | tail -n +3 | grep -o "_m.._" | tr '\n' ' ')" \
	'_m01_ _m02_ _m03_ _m04_ _m07_ _m08_ '
t_is 'the last turns of a fork reach into its parent' "$(t_faden show --last 2 "$forked" | tail -n +3 | grep -o "_m.._" | tr '\n' ' ')" \
	'_m03_ _m04_ _m07_ _m08_ '
rm "$codex"/sessions/2026/03/01/*"$(sed -n 's/.*"forked_from_id":"\([^"]*\)".*/\1/p' \
	"$codex"/sessions/2026/03/01/*"$forked".jsonl)".jsonl
t_is 'a fork without its parent is shown as far as it is there' "$(t_faden show "$forked" | tail -n +3 | grep -o "_m.._" | tr '\n' ' ')" \
	'_m07_ _m08_ '

# broken lines
{ printf 'null\n[1]\nnot json\n{"type":"user","message":{"content":"after the bad"}}\n{"type":'; } >>"$file"
t_exit 'broken lines are passed over' 0 t_faden show blue
t_like 'what follows them is shown' "$(cat "$t_out")" 'after the bad'

# control characters, on a terminal
printf '%s\n' '{"type":"assistant","message":{"content":[{"type":"text","text":"x\u001b]0;owned\u0007y\u009b31mz\u202e"}]}}' >"$t_tmp/evil.jsonl"
sed -i 's/"type":"assistant"/"type":"assistant","uuid":"u"/' "$t_tmp/evil.jsonl"
if command -v script >/dev/null; then
	t_tools script
	t_setenv TERM=xterm
	t_setenv PAGER=cat
	t_run script -qec "$FADEN --color never show $t_tmp/evil.jsonl" /dev/null >"$t_out" </dev/null
	t_like 'control characters on a terminal leave the words' "$(cat "$t_out")" 'x.*y.*z'
	t_unlike 'control characters do not reach a terminal' "$(cat "$t_out")" "$(printf '\033|\007|\302\233|\342\200\256')"
else
	t_skip 'control characters on a terminal' 'no script(1)'
fi
filler='{"type":"assistant","uuid":"f","message":{"id":"f","model":"<synthetic>","content":[{"type":"text","text":"No response requested."}]}}'
echo "$filler" >>"$file"
t_unlike 'a filler of the agent is no answer' "$(t_faden show blue)" 'No response requested'

twice=$t_tmp/twice
mkdir "$twice"
cd "$twice" || exit 1
file=$("$t_helper/make-session" claude "$claude" "$twice" dddddddd-0000-4000-8000-000000000004 words)
mkdir "$claude/projects/copied"
cp "$file" "$claude/projects/copied/"
t_exit 'the last session of a folder is ambiguous when two files have its id' 3 t_faden show
t_like 'both files of that id are shown' "$(cat "$t_err")" 'fits 2 sessions'
t_unlike 'nothing is called the last session then' "$(cat "$t_err")" 'the last session of this folder'

t_done
