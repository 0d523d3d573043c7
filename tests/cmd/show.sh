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
	t_exit "a session as $spec" 0 t_faden show "$spec"
	t_like 'is that session' "$(cat "$t_out")" 'answer 3 to \*\*three\*\*'
done
t_exit 'too short a fragment' 1 t_faden show aaa
t_exit 'one that fits two' 3 t_faden show aaaa
t_like 'shows both' "$(cat "$t_err")" "^$b  claude  [0-9]+ [a-z]+ ago  .*$(basename "$here")  other$"
t_like 'with when and where' "$(cat "$t_err")" '^ID +AGENT +LAST +FOLDER +NAME'
t_exit 'one that fits none' 1 t_faden show nobody
t_like 'says where to look' "$(cat "$t_err")" "no session is called 'nobody' \('faden list --all' shows what there is\)"
t_exit 'a file that is none' 1 t_faden show /no/such/file.jsonl
t_exit 'a file that is no session' 3 t_faden show "$t_root/meson.build"
t_exit 'nothing goes on there' 1 t_elsewhere show
t_exit 'the last session here' 0 t_faden show
t_like 'is said' "$(cat "$t_err")" 'the last session of this folder: '
t_exit 'too short for an id' 1 t_faden show aaa
t_like 'says how long' "$(cat "$t_err")" '4 characters or more'

t_exit 'the whole' 0 t_faden show blue
t_is 'prompts, calls, answers' "$(sed 's/  20.*//' "$t_out" | tail -n +4 | head -n 6)" "you
one

claude
  Bash: echo 1
answer 1 to **one**"
t_unlike 'without outputs' "$(cat "$t_out")" 'out 1'
t_like 'one is one turn' "$(t_faden show "$b")" ' 1 turn, last'
t_exit 'with tools' 0 t_faden show blue --tools
t_like 'with outputs' "$(cat "$t_out")" '^    out 1$'
t_exit 'the last turn' 0 t_faden show blue --last 1
t_like 'is there' "$(cat "$t_out")" '^three$'
t_unlike 'the ones before are not' "$(cat "$t_out")" '^(one|two)$'
t_exit 'more than there are' 0 t_faden show blue --last 99
t_like 'is all' "$(cat "$t_out")" '^one$'
t_exit 'no turns at all' 2 t_faden show blue --last 0

t_exit 'raw' 0 t_faden show blue --raw
t_ok 'is the file' cmp "$file" "$t_out"
t_exit 'raw, the last turn' 0 t_faden show blue --raw --last 1
tail -n 5 "$file" >"$t_tmp/tail"
t_ok 'is its end' cmp "$t_tmp/tail" "$t_out"

t_exit 'JSON' 0 t_faden show blue --json
t_ok 'is JSON' python3 - "$t_out" <<'END'
import json, sys
doc = json.load(open(sys.argv[1]))
assert doc["session"]["name"] == "Blue door"
kinds = [i["kind"] for i in doc["items"]]
assert kinds[:4] == ["user", "tool_call", "tool_result", "assistant"], kinds
assert [i["text"] for i in doc["items"] if i.get("prompt")] == ["one", "two", "three"]
END

t_exit 'Codex' 0 t_faden show green
t_like 'is shown alike' "$(cat "$t_out")" '^  exec_command: echo 2$'
t_unlike 'without what the program put in' "$(cat "$t_out")" environment_context

# a branch that was left
printf '%s\n' '{"type":"user","uuid":"z","parentUuid":"00000000-0000-4000-8000-000000000004","timestamp":"2026-03-01T11:00:00Z","message":{"content":"rewound"}}' >>"$file"
t_exit 'what a resume sends' 0 t_faden show blue --live
t_like 'the new branch' "$(cat "$t_out")" '^rewound$'
t_like 'what it hangs on' "$(cat "$t_out")" '^one$'
t_unlike 'not the old one' "$(cat "$t_out")" '^(two|three)$'

# a Codex fork: its history is in another file
forked=$("$t_helper/live-cases" codex "$codex" "$here" | sed -n 's/^codex_forked //p')
t_is 'a fork is shown whole' "$(t_faden show "$forked" | tail -n +3 | grep -o "_m.._" | tr '\n' ' ')" \
	'_m01_ _m02_ _m03_ _m04_ _m07_ _m08_ '
t_is 'also its last turns' "$(t_faden show --last 2 "$forked" | tail -n +3 | grep -o "_m.._" | tr '\n' ' ')" \
	'_m03_ _m04_ _m07_ _m08_ '
rm "$codex"/sessions/2026/03/01/*"$(sed -n 's/.*"forked_from_id":"\([^"]*\)".*/\1/p' \
	"$codex"/sessions/2026/03/01/*"$forked".jsonl)".jsonl
t_is 'as far as it is there' "$(t_faden show "$forked" | tail -n +3 | grep -o "_m.._" | tr '\n' ' ')" \
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
	t_like 'on a terminal the words stay' "$(cat "$t_out")" 'x.*y.*z'
	t_unlike 'the sequences go' "$(cat "$t_out")" "$(printf '\033|\007|\302\233|\342\200\256')"
else
	t_skip 'control characters on a terminal' 'no script(1)'
fi
filler='{"type":"assistant","uuid":"f","message":{"id":"f","model":"<synthetic>","content":[{"type":"text","text":"No response requested."}]}}'
echo "$filler" >>"$file"
t_unlike 'a filler is no answer' "$(t_faden show blue)" 'No response requested'
t_done
