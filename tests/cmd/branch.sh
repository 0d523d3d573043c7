#!/bin/sh
# Sessions made from others by what was said in them: fork, port, diff, merge, replay.
. "$(dirname "$0")/../lib.sh"

here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1
a=aaaaaaaa-0000-4000-8000-000000000001
c=01a00000-0000-7000-8000-000000000003
fa=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$a" 'one thing' 'two things' 'three things')
fc=$("$t_helper/make-session" codex "$t_home/.codex" "$here" "$c" 'eins' 'zwei' 'drei')
sums=$(cksum "$fa" "$fc")

# field NAME: of the one JSON object that was printed.
field() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$t_out" "$1"; }
# said ID: what was said in a session, one line.
said() { t_faden show "$1" | grep -v '^\(you\|claude\|codex\) ' | sed '1,2d' | tr -s '\n' '|'; }
# diff_of NEW OLD NEW_ID OLD_ID: what differs between two files but for the id and the note.
diff_of() {
	sed -e "s/$3/$4/g" -e 's/,"faden_metadata":{[^}]*}//; s/"faden_metadata":{[^}]*},//; s/"faden_metadata":{[^}]*}//' "$1" |
		cmp - "$2" 2>&1
}

# ---- turns ----
t_exit 'a session is shown' 0 t_faden show "$a"
t_is 'its turns are numbered' "$(sed -n 's/^you .*turn //p' "$t_out" | tr '\n' ' ')" '1 2 3 '
t_exit 'its last turn is shown' 0 t_faden show --last 1 "$a"
t_like 'the last turn has its number' "$(cat "$t_out")" '^you .*turn 3$'
t_unlike 'no other turn is shown' "$(cat "$t_out")" 'turn 2'
t_exit 'a session is shown from a message on' 0 t_faden show --at 00000000-0000-4000-8000-000000000005 "$a"
t_like 'it has its number there' "$(cat "$t_out")" 'turn 2'

# ---- fork ----
t_exit 'a session is forked' 0 t_faden fork --json "$a"
new=$(field session_id)
t_is 'a whole fork differs by its id and the note alone' "$(diff_of "$(field path)" "$fa" "$new" "$a")" ''
t_exit 'a session is forked at a turn' 0 t_faden fork --json --at 2 --name 'the other way' "$a"
new=$(field session_id)
lines=$(wc -l <"$(field path)")
head -n "$lines" "$fa" >"$t_tmp/head"
t_is 'the fork is the beginning of the session' "$(diff_of "$(field path)" "$t_tmp/head" "$new" "$a")" ''
t_is 'it has two turns' "$(said "$new")" "$(t_faden show "$a" | grep -v '^\(you\|claude\) ' | sed '1,2d' | sed '/three things/,$d' | tr -s '\n' '|')"
t_like 'it has its name' "$(t_faden list --all)" 'the other way'
t_like 'the lineage knows it' "$(t_faden lineage "$new")" "forked .*$new"
t_exit 'a fork of codex is made at a turn' 0 t_faden fork --json --at 1 "$c"
new=$(field session_id)
head -n "$(wc -l <"$(field path)")" "$fc" >"$t_tmp/head"
t_is 'the fork of codex is the beginning of the session' "$(diff_of "$(field path)" "$t_tmp/head" "$new" "$c")" ''
t_exit 'a turn that is not there' 3 t_faden fork --at 4 "$a"
t_like 'it is said how many there are' "$(cat "$t_err")" 'no turn 4: the session has 3'
t_exit 'a turn that is none' 2 t_faden fork --at 0 "$a"
t_exit 'a dry run' 0 t_faden fork --dry-run --at 1 "$a"
t_like 'a dry run says how far, and how much that is' "$(cat "$t_out")" 'up to +turn 1, [1-9]'
t_exit 'a fork elsewhere has no name' 2 t_faden fork --out "$t_tmp" --name x "$a"
t_exit 'a fork goes elsewhere' 0 t_faden fork --out "$t_tmp/there" --json "$a"
t_ok 'it is there' test -f "$t_tmp/there/$(field session_id).jsonl"
t_exit 'the folder goes on with a fork' 0 t_faden fork --current --json --at 1 "$a"
new=$(field session_id)
t_like 'it is current' "$(cat "$t_out")" '"current":true'
t_exit 'what goes on here is the fork' 0 t_faden show
t_like 'the fork is shown' "$(cat "$t_out")" "$new"
t_exit 'a fork of the fork' 0 t_faden fork --json
t_like 'its parent is the fork' "$(cat "$t_out")" "\"parent\":\{\"session_id\":\"$new\""

# ---- an interrupted turn ----
open=aaaaaaaa-0000-4000-8000-000000000009
fo=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$open" 'one thing' 'two things')
sed -i '$d' "$fo"
sed -i '$d' "$fo"
t_exit 'an interrupted session is forked' 0 t_faden fork --at 2 "$open"
t_like 'the open call is said' "$(cat "$t_out")" '1 call has no result there'

# ---- port ----
t_exit 'a session goes on with codex' 0 t_faden port --json --to codex "$a"
new=$(field session_id)
t_like 'all goes along' "$(cat "$t_out")" '"prompts":3,"answers":3,"calls":3'
t_is 'it says the same' "$(t_faden show "$new" | sed -n '/^[a-z]* thing/p')" "$(t_faden show "$a" | sed -n '/^[a-z]* thing/p')"
t_like 'the lineage knows the port' "$(t_faden lineage "$new")" "ported .*$new"
t_exit 'it goes back to claude' 0 t_faden port --json --to claude "$new"
t_is 'it still says the same' "$(t_faden show "$(field session_id)" | sed -n '/^[a-z]* thing/p')" "$(t_faden show "$a" | sed -n '/^[a-z]* thing/p')"
t_exit 'a session of codex goes on with claude' 0 t_faden port --to claude "$c"
t_like 'what it holds is said' "$(cat "$t_out")" 'holds +3 prompts'
t_exit 'a port to its own agent' 2 t_faden port --to claude "$a"
t_like 'a fork is named instead' "$(cat "$t_err")" "faden fork $a"
t_exit 'a port to nobody' 2 t_faden port "$a"
t_like 'the agents are named' "$(cat "$t_err")" 'claude'
t_exit 'a port to an unknown agent' 2 t_faden port --to nobody "$a"
t_exit 'a dry port' 0 t_faden port --dry-run --to codex "$a"
t_like 'a dry port makes nothing' "$(cat "$t_out")" 'would have been made'

# ---- diff ----
t_exit 'a session and itself' 0 t_faden diff "$a" "$a"
t_like 'nothing differs' "$(cat "$t_out")" 'Nothing differs'
t_exit 'a session and its port' 0 t_faden diff "$a" "$new"
t_like 'they are the same' "$(cat "$t_out")" 'the same 3 turns. The second comes from the first'
t_faden fork --json --at 2 "$a" >"$t_out"
branch=$(field session_id)
fb=$(field path)
t_exit 'a session and its beginning' 1 t_faden diff "$a" "$branch"
t_like 'what is common is said' "$(cat "$t_out")" 'Both begin with the same 2 turns'
t_like 'the turn that only one has is shown' "$(cat "$t_out")" 'Turn 3 of A alone'
t_like 'its answer is marked' "$(cat "$t_out")" '^  - answer 3 to'
# say FILE UUID PARENT PROMPT TOOL INPUT ANSWER: one more turn.
say() {
	python3 - "$@" <<'END'
import json, os, sys
file, uuid, parent, prompt, tool, given, answer = sys.argv[1:]
head = {"isSidechain": False, "timestamp": "2026-03-02T10:00:00.000Z", "sessionId": os.path.basename(file)[:36]}
def line(n, p, kind, message):
    return json.dumps({"parentUuid": p, "type": kind, "uuid": uuid + str(n), "message": message, **head}) + "\n"
with open(file, "a") as out:
    out.write(line(1, parent, "user", {"role": "user", "content": prompt}))
    for n, block in ((2, {"type": "tool_use", "id": "t" + uuid, "name": tool, "input": json.loads(given)}),
                     (4, {"type": "text", "text": answer})):
        if n == 4:
            out.write(line(3, uuid + "2", "user", {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "t" + uuid, "content": "ok"}]}))
        out.write(line(n, uuid + str(n - 1), "assistant", {"id": f"m{uuid}{n}", "role": "assistant",
            "model": "model-a", "content": [block], "usage": {"input_tokens": 100, "output_tokens": 7}}))
END
}
cp "$fa" "$t_tmp/kept"
say "$fb" other- 00000000-0000-4000-8000-000000000008 'three things' Write '{"file_path":"/x/a.c"}' 'the other
answer 3'
say "$fa" main- 00000000-0000-4000-8000-000000000012 'four' Edit '{"file_path":"/x/a.c"}' 'four is done'
t_exit 'the same words, answered otherwise' 1 t_faden diff "$a" "$branch"
t_like 'their turns stand beside each other' "$(cat "$t_out")" '^Turn 3$'
t_like 'a line of the other is marked' "$(cat "$t_out")" '^  [+] the other$'
t_like 'a call is marked' "$(cat "$t_out")" '^  [+] .Write. /x/a.c$'
t_like 'tokens are counted' "$(cat "$t_out")" '[+] B +1 turn, 1 call of tools, 0 failed; 200 tokens in, 14 out'
t_like 'files of both are named' "$(cat "$t_out")" '! both +/x/a.c'
t_like 'what commands change is not known' "$(cat "$t_out")" 'shell +1 shell command in A, 0 in B; which files it changes is not known'
say "$fb" cmd- other-4 'four things' Bash '{"command":"make > log"}' 'made'
t_exit 'a command is run' 1 t_faden diff --stat "$a" "$branch"
t_like 'it is counted' "$(cat "$t_out")" 'shell +1 shell command in A, 1 in B; which files they change is not known'
t_exit 'to programs too' 1 t_faden diff --json --stat "$a" "$branch"
t_like 'by a number' "$(cat "$t_out")" '"shell_commands":1.*"shell_commands":1'
t_exit 'the figures alone' 1 t_faden diff --stat "$a" "$branch"
t_unlike 'no line is shown' "$(cat "$t_out")" 'the other'
t_exit 'no session' 1 t_faden diff "$a" nothing-like-that
t_exit 'one session' 2 t_faden diff "$a"

# ---- merge ----
t_exit 'a branch is brought home' 0 t_faden merge "$a" "$branch"
t_like 'it is said how much' "$(cat "$t_out")" 'holds +2 turns brought home, 2 calls of tools left there'
t_like 'what commands have changed is not known' "$(cat "$t_out")" 'shell +1 shell command here, 1 there'
t_like 'the conflict is named' "$(cat "$t_out")" 'conflict +/x/a.c'
t_exit 'once more' 0 t_faden merge --json "$a" "$branch"
merged=$(field session_id)
t_is 'the merge begins as the session' "$(head -n "$(wc -l <"$fa")" "$(field path)" >"$t_tmp/head" && diff_of "$t_tmp/head" "$fa" "$merged" "$a")" ''
t_exit 'the merge is shown' 0 t_faden show "$merged"
t_like 'the turn says where it comes from' "$(cat "$t_out")" "^.From another branch: session $branch, turn 3. three things"
t_like 'its answer is there' "$(cat "$t_out")" '^answer 3$'
t_like 'what was done there is said' "$(cat "$t_out")" 'with 1 call of tools; files changed: /x/a.c'
t_like 'the conflict is told' "$(cat "$t_out")" 'both branches have changed: /x/a.c'
t_like 'and that there were commands' "$(tr '\n' ' ' <"$t_out")" 'in a shell were run there .1; 1 here.: which'
t_is 'a resume sends it all' "$(t_faden show --live "$merged" | grep -c '^you ')" 7
t_like 'the lineage has both parents' "$(t_faden lineage "$merged")" "merged with ${branch%%-*} +$merged"
made=$(find "$t_home/.claude" -name '*.jsonl' | wc -l)
t_exit 'what is home is not brought again' 1 t_faden merge "$merged" "$branch"
t_like 'and that is said' "$(cat "$t_err")" 'nothing to bring home'
t_exit 'nor is it said that it would be' 1 t_faden merge --dry-run "$merged" "$branch"
t_is 'nothing was written' "$(find "$t_home/.claude" -name '*.jsonl' | wc -l)" "$made"
say "$fb" more- cmd-4 'five things' Read '{"file_path":"/x/b.c"}' 'five is found'
t_exit 'something is new there' 0 t_faden merge --json "$merged" "$branch"
t_exit 'the merge has it' 0 t_faden show "$(field session_id)"
t_is 'and what was there, once' "$(sed -n 's/^.From another branch: .*, turn \([0-9]*\). .*/\1/p' "$t_out" | tr '\n' ' ')" '3 4 5 '
t_exit 'a merge into codex' 0 t_faden merge --unrelated --json "$c" "$branch"
t_exit 'does not bring it again either' 1 t_faden merge --unrelated "$(field session_id)" "$branch"
sed -i '$d' "$fb"
t_exit 'a turn whose answer is not there yet' 0 t_faden merge --json "$a" "$branch"
merged=$(field session_id)
say "$fb" end- more-3 'six things' Read '{"file_path":"/x/b.c"}' 'six'
python3 - "$fb" <<'END'
import sys
lines = open(sys.argv[1]).readlines()
at = next(i for i, l in enumerate(lines) if '"more-3"' in l and '"uuid": "more-3"' in l)
late = lines[at].replace('"uuid": "more-3"', '"uuid": "more-4"').replace('"parentUuid": "more-2"', '"parentUuid": "more-3"')
late = late[:late.index('"message": ')] + '"message": {"id": "late", "role": "assistant", "model": "model-a", "content": [{"type": "text", "text": "late"}]}' + late[late.index(', "isSidechain"'):]
lines.insert(at + 1, late.replace('"type": "user"', '"type": "assistant"', 1))
open(sys.argv[1], "w").writelines(l.replace('"parentUuid": "more-3", "type": "user"', '"parentUuid": "more-4", "type": "user"') for l in lines)
END
t_exit 'is brought when it is' 0 t_faden merge --json "$merged" "$branch"
t_is 'with what is new' "$(field turns)" 2
t_exit 'a merge with a name' 0 t_faden merge --name 'both ways' "$a" "$branch"
t_unlike 'that nobody has' "$(cat "$t_err")" 'called that too'
t_exit 'with one that another has' 0 t_faden merge --json --name 'The other way' "$a" "$branch"
t_like 'it is said' "$(cat "$t_err")" 'another session is called that too: [0-9a-f-]{36}; the name alone'
t_unlike 'of the other one' "$(cat "$t_err")" "$(field session_id)"
t_exit 'so it is of a fork' 0 t_faden fork --name 'the other way' "$a"
t_like 'too' "$(cat "$t_err")" 'another session is called that too'
t_exit 'nothing to bring' 1 t_faden merge "$a" "$a"
t_exit 'a merge of what is not related' 3 t_faden merge "$a" "$c"
t_like 'a way is told' "$(cat "$t_err")" '--unrelated'
t_exit 'a merge of what is not related, if asked for' 0 t_faden merge --unrelated --dry-run "$c" "$a"
t_like 'all of it would be brought' "$(cat "$t_out")" '4 turns brought home'
cp "$t_tmp/kept" "$fa"

# ---- replay ----
printf '*\nsay another answer\n' >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
t_exit 'the words are said again' 0 t_faden replay --agent rehearsal "$a"
t_like 'each turn is shown' "$(cat "$t_out")" '^Turn 3, 3 of 3$'
t_like 'its answer is shown' "$(cat "$t_out")" '^another answer'
t_like 'it is said how many' "$(cat "$t_out")" 'answered +3 of 3 turns'
t_like 'a comparison is proposed' "$(cat "$t_out")" "^  faden diff $a "
compare=$(sed -n 's/^  faden diff //p' "$t_out")
again=${compare#* }
t_like 'the lineage knows it' "$(t_faden lineage "$again")" "replayed +$again"
# shellcheck disable=SC2086
t_exit 'the comparison can be made' 1 t_faden diff $compare
t_like 'turns stand side by side' "$(cat "$t_out")" '^Turn 1$'
t_like 'answers differ' "$(cat "$t_out")" '^  [+] another answer'
t_exit 'the words are said again from a turn on' 0 t_faden replay --json --agent rehearsal --from 3 "$a"
t_is 'one turn was answered' "$(field answered)" 1
again=$(field session_id)
t_exit 'it is compared' 1 t_faden diff --json "$a" "$again"
t_is 'two turns are the same' "$(field common_turns)" 2
t_like 'it is a child, up to where it was taken' "$(t_faden lineage "$again")" "replayed at 2 +$again"
t_exit 'nothing goes on here because of it' 0 t_faden replay --dry-run --agent rehearsal "$a"
t_like 'a dry run says how much' "$(cat "$t_out")" '3 turns would be said again to rehearsal'
t_exit 'a turn that is not there' 3 t_faden replay --agent rehearsal --from 4 "$a"
t_exit 'rights without --act' 2 t_faden replay --agent rehearsal --permission-mode bypass "$a"
printf '*\nfail rate-limited\n' >"$t_tmp/script"
t_exit 'an agent that fails' 4 t_faden replay --json --agent rehearsal "$a"
t_is 'it ends there' "$(field said)" 1

t_is 'the sessions are as they were' "$(cksum "$fa" "$fc")" "$sums"
t_done
