#!/bin/sh
# faden search: words, what is exact, fields, dates, what is shown, and what is not there any more.
. "$(dirname "$0")/../lib.sh"

here=$t_tmp/here
mkdir -p "$here" "$t_tmp/other"
cd "$here" || exit 1
shop=aaaaaaaa-0000-4000-8000-000000000001
sign=aaaaaaaa-0000-4000-8000-000000000002
disk=aaaaaaaa-0000-4000-8000-000000000003
evil=aaaaaaaa-0000-4000-8000-000000000004
codex=01a00000-0000-7000-8000-000000000005
projects=$t_home/.claude/projects
t_setenv 'FADEN_CLOCK=2026-11-17T09:30:00Z'

"$t_helper/say-session" "$projects/-here/$shop.jsonl" "$shop" "$here" 2026-03-10T10:00:00Z <<'END'
user Please raise the retry limit of the payment client
thinking the secret zebra is in the thoughts
call:Bash {"command": "grep -rn parseRetryLimit src/pay.c", "description": "look for it"}
result src/pay.c:12: int parseRetryLimit(void)
assistant The retries are now limited to seven
END
"$t_helper/say-session" "$projects/-other/$sign.jsonl" "$sign" "$t_tmp/other" 2026-05-02T10:00:00Z feature <<'END'
user Draw a sign for the café in the Straße
assistant I wrote the sign, and it went well. 日本語の看板です
call:Write {"file_path": "/work/sign.svg", "content": "<svg/>"}
result done
END
"$t_helper/say-session" "$projects/-other/$disk.jsonl" "$disk" "$t_tmp/other" 2026-11-16T10:00:00Z <<'END'
user the limit of the disk is a hard limit, and error: cannot open 'x.c'
assistant no retry there, it is limitless
END
"$t_helper/say-session" "$projects/-other/$evil.jsonl" "$evil" "$t_tmp/other" 2026-11-01T10:00:00Z <<'END'
user hostile \e[31mred\e]0;title\nand a second line
END
"$t_helper/say-session" "$projects/-here/$shop/subagents/agent-7.jsonl" "$shop" "$here" 2026-03-10T10:30:00Z <<'END'
user find the walrus in the tests
assistant the walrus is in test-pay.c
END
"$t_helper/make-session" codex "$t_home/.codex" "$t_tmp/other" "$codex" 'tell the giraffe' >/dev/null

# ids WORD…: the sessions that are found, by the last digit of their ids.
ids() {
	t_faden search --json --sessions "$@" >"$t_out" 2>"$t_err"
	python3 -c 'import json, sys; print(" ".join(o["session_id"][-1] for o in json.load(open(sys.argv[1]))))' "$t_out"
}
# finds WHAT WANT WORD…
finds() {
	what=$1
	want=$2
	shift 2
	t_is "$what" "$(ids "$@")" "$want"
}
# value KEY: of the first result of the last search.
value() {
	python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[0][sys.argv[2]])' "$t_out" "$1"
}

# given KEY: runs the command that the last search gives for its first result.
given() {
	eval "t_faden $(value "$1" | sed 's/^faden //')" >"$t_tmp/given"
	cp "$t_tmp/given" "$t_out"
}

t_exit 'how words are written' 0 t_faden search --help
for word in '"a phrase"' '+word -word' 'word\*' 'one OR other' agent: dir: branch: role: tool: file: after: before:; do
	t_like "--help has $word" "$(cat "$t_out")" "$(printf %s "$word" | sed 's/+/[+]/')"
done
t_exit 'a search makes the index' 0 t_faden search payment
t_like 'the session is named by its title' "$(cat "$t_out")" 'Please raise the retry limit of the payment client'
t_like 'the message is shown' "$(cat "$t_out")" 'you: Please raise the retry limit'
t_like 'and how to go on' "$(cat "$t_out")" "^ +faden resume $shop\$"
t_like 'and how to read it there' "$(cat "$t_out")" "^ +faden show --at 0 $shop\$"
t_exit 'nothing is found' 1 t_faden search paymant
t_like 'what is near is named' "$(cat "$t_err")" 'payment instead of paymant'
t_exit 'as JSON it is an empty array' 1 t_faden search --json paymant
t_is 'which stands on standard output' "$(cat "$t_out")" '[]'
t_exit 'no words are refused' 2 t_faden search
t_exit 'only words that must not be there are refused' 2 t_faden search -- -limit
t_like 'it is said why' "$(cat "$t_err")" 'add a word to look for'

for signs in '🦊' '€' '&&' '->' '"…"'; do
	t_exit "$signs has no word" 2 t_faden search -- "$signs"
	t_like 'which is said' "$(cat "$t_err")" "^faden: search: $signs: there is no word in it, and signs are not indexed"
done
t_exit 'a word that is too long is none' 2 t_faden search "$(printf '%0100000d' 0)"
t_like 'which is said, but not repeated' "$(cat "$t_err")" '^faden: search: the word is too long'
for signs in C++ 'c#' C++17 C++, 'c#?'; do
	t_faden search "$signs" >"$t_out" 2>"$t_err"
	t_like "of $(echo "$signs" | tr "#" H) the signs are left out" "$(tr + p <"$t_err")" "signs are not indexed: $(printf %s "$signs" | tr '+?' p.) is looked for as c\$"
done
t_exit 'of others nothing is said' 0 t_faden search -- limit +limit '#limit'
t_is 'nothing at all' "$(cat "$t_err")" ''

finds 'a question finds its session first' '1 3' 'where did we change the retry limit?'
finds 'an identifier is found by its parts' '1 3' retry limit
finds 'and as a whole' '1' +parseRetryLimit
finds 'other forms of a word count' '1' raising
finds 'irregular ones too' '2' write
finds 'letters are folded' '2' STRASSE
finds 'both ways' '2' straße
finds 'marks tell words apart' '' cafe
t_like 'it is said what would find it' "$(cat "$t_err")" 'with --unaccented, .* that finds it'
finds 'unless that is not wanted' '2' --unaccented cafe
finds 'CJK is found without blanks' '2' 看板
finds 'a single character is found' '2' 語
finds 'a phrase' '1' '"retry limit"'
finds 'in this order only' '' '"limit retry"'
finds 'a word that must be there, as it is spelt' '3' +limitless
finds 'not in another form' '' +raises
finds 'a word that must not be there' '3' -- limit -payment
finds 'in no message of the session' '' -- limit -payment -retry
finds 'where only fields are asked for as well' '4 2' -- 'dir:other' -limit agent:claude
# Behind the first word it needs no --, and options of one letter are still taken.
finds 'a word that must not be there, behind one that is looked for' '3' limit -payment
finds 'one that begins as an option does' '3' limit -nothing -payment -absent
finds 'a phrase that must not be there' '3' limit '-"payment client"'
finds 'a field that must not be so' '1' limit -dir:other
t_exit 'options stand behind words as well' 0 t_faden search limit -payment -s -n 1 --json
t_is 'and count' "$(grep -o '"session_id":' "$t_out" | wc -l)" 1
t_exit 'with their value at them, too' 0 t_faden search limit -n1 --json
t_is 'which counts' "$(grep -o '"session_id":' "$t_out" | wc -l)" 1
for word in -payment -nginx; do
	t_exit "$word is refused when it comes first" 2 t_faden search "$word" limit
	t_like "$word: it is said how it is written" "$(cat "$t_err")" 'put -- before words that begin with a dash'
done
for field in agent after before branch; do
	t_exit "$field: without a value is refused" 2 t_faden search "$field: zebra"
	t_like "$field: has none" "$(cat "$t_err")" "$field: has no value; it follows without a blank: $field:[a-zA-Z2]"
done
finds 'other names with a colon are words of a message' '1' 'file: walrus'
t_exit 'nothing of that is here' 1 t_elsewhere search --here giraffe
t_like 'but may be elsewhere' "$(cat "$t_err")" 'without --here sessions of every folder are searched'
t_unlike 'signs were not given' "$(cat "$t_err")" 'words alone'
t_exit 'by messages it is the message that must not have it' 0 t_faden search --json -- limit -payment -retry
t_is 'though another of its session does' "$(grep -o '"session_id":"[^"]*"' "$t_out" | sort -u | wc -l)" 2
t_exit 'a session that is found by fields alone' 0 t_faden search -s -n 1 branch:feature
t_like 'is shown by a message or its title' "$(cat "$t_out")" '^   [a-z]+: [^ ]'
t_unlike 'not by its folder alone' "$(cat "$t_out")" 'title:  '
finds 'one or the other' '3 1' disk OR payment
finds 'the beginning of a word' '3' 'limitl*'
finds 'thinking is left out' '' zebra
t_like 'it is said that it would be found there' "$(cat "$t_err")" 'with --thinking, .* that finds it'
t_exit 'with both nothing is found' 1 t_faden search --thinking --unaccented nothingofthekind
t_unlike 'and nothing is promised' "$(cat "$t_err")" 'finds it'
finds 'unless it is asked for' '1' --thinking zebra
finds 'or named' '1' zebra role:thinking
t_like 'an error message can be pasted as it is' "$(ids "error: cannot open 'x.c'")" '^3'
finds 'by agent' '5' agent:codex giraffe
finds 'by agent as an option' '' --agent claude giraffe
finds 'by directory' '3' limit "dir:$t_tmp/other"
finds 'by a directory on the way' '3' limit dir:other
finds 'by a piece of the way' '3' limit "dir:$(basename "$t_tmp")/other"
finds 'by a name in any case' '3' limit dir:OTHER
mkdir "$t_tmp/Über"
echo 'user tell the axolotl' | "$t_helper/say-session" "$projects/-other/cccccccc-0000-4000-8000-00000000000c.jsonl" \
	cccccccc-0000-4000-8000-00000000000c "$t_tmp/Über" 2025-02-01T10:00:00Z
finds 'by such a name also beyond ASCII' 'c' axolotl dir:über
finds 'but by whole names' '' limit "dir:$(basename "$t_tmp" | cut -c2-)/other"
finds 'but not these' '1' -- limit -dir:other
finds 'by branch' '2' sign branch:feature
finds 'by tool' '1' tool:bash
finds 'what a tool said is of its call' '1' '"int parseRetryLimit" tool:Bash'
t_is 'the tool is named' "$(value role) $(value tool)" 'result Bash'
finds 'and of the file that it was about' '1' '"int parseRetryLimit" file:pay.c'
finds 'not of another tool' '' '"int parseRetryLimit" tool:Write'
finds 'by file' '2' file:sign.svg
finds 'by its whole path' '2' file:/work/sign.svg
finds 'by role' '3' -- retry role:assistant -dir:here
finds 'after a day' '3' limit after:2026-11-01
finds 'before one' '1' limit before:april
finds 'of this folder' '1' --here limit
finds 'of all' '1 3' --all limit
finds 'a month in the question' '1 3' 'what was the limit in March'
finds 'a day in German' '3 1' 'limit gestern'
finds 'a date alone is what is from then' '3' yesterday
finds 'also as a question' '2' 'what did we do in May?'
finds 'in German, with what was done' '1 5' 'was haben wir im März 2026 gemacht?'
finds 'by a day' '2' 'woran haben wir am 2. Mai 2026 gearbeitet?'
finds 'counted from now' '3' 'was ist vor 1 Tag passiert?'
finds 'by the sessions of then' '1 5' 'show me the sessions of March 2026'
finds 'with slashes, where there is one reading' '3' 11/16/2026
finds 'and the other' '3' 16/11/2026
for time in 'am 3. Mai 2025:2025-05-03' 'last week:2026-11-09 to 2026-11-15' 'im Jahr 2024:2024-01-01 to 2024-12-31'; do
	t_exit "nothing is from ${time%:*}" 1 t_faden search "${time%:*}"
	t_is 'which is said of the time, not of words' "$(sed -n '2,$p' "$t_err")" "faden: there is no session of that time, ${time#*:}"
done
t_exit 'nothing is from then and of that agent' 1 t_faden search --agent codex yesterday
t_like 'which is said, too' "$(cat "$t_err")" 'no session of that time, 2026-11-16, that is what else was asked for'
finds 'the words of a date are not looked for beside others' '' 'xylophone in 2026'
finds 'with a field' '' yesterday agent:codex
t_exit 'by messages' 0 t_faden search --json 'on 2026-11-16'
t_is 'there is one of each session, too' "$(grep -c '"session_id"' "$t_out")" 1
finds 'words that hold a question together are looked for where there are no others' '3 1 2' 'is it in there'
finds 'not instead of what the question is about' '' 'where did we put the xylophone in the end?'
t_like 'that is said' "$(cat "$t_err")" 'nothing found for where did we put'
finds 'the work of a sub-agent counts for its session' '1' walrus
t_is 'and is marked' "$(value subagent)" 'True'
t_ok 'it is read by the command that is given' given show_command
t_like 'from that message on' "$(sed -n 4,9p "$t_out")" 'walrus'
t_like 'with the answer' "$(cat "$t_out")" 'the walrus is in test-pay.c'
finds 'a title is found too' '1' client
t_exit 'at most so many' 0 t_faden search --json -n 1 limit
t_is 'one is one' "$(python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))))' "$t_out")" '1'

for bad in agent:nobody role:usr after:soon 'x*'; do
	t_exit "$bad is refused" 2 t_faden search word "$bad"
	t_like 'by its name' "$(cat "$t_err")" "$(printf '%s' "$bad" | sed 's/\*/\\*/')"
done
t_exit '--here --all is refused' 2 t_faden search --here --all x

# What is printed cannot harm a terminal.
t_exit 'hostile text is found' 0 t_faden search hostile
t_unlike 'without its escapes' "$(cat -v "$t_out")" '\^\[\|\^G'
t_like 'on one line' "$(cat "$t_out")" 'red and a second line'

# There.
t_exit 'a message of a tool' 0 t_faden search --json role:result parseRetryLimit
at=$(value offset_bytes)
t_is 'the command names it' "$(value show_command)" "faden show --at $at --tools $shop"
t_exit 'show begins there' 0 t_faden show --at "$at" --tools "$shop"
t_like 'with it' "$(sed -n 4,8p "$t_out")" 'int parseRetryLimit'
t_unlike 'not before it' "$(cat "$t_out")" 'secret zebra'
finds 'a word of what a tool was called with' '1' '"look for it"'
t_ok 'is read by the command that is given' given show_command
t_like 'as it was written' "$(sed -n 4,8p "$t_out")" 'look for it'
t_exit 'the message of a tool is shown without --tools as well' 0 t_faden show --at "$at" "$shop"
t_like 'with all of it' "$(sed -n 4,8p "$t_out")" 'int parseRetryLimit'
t_exit 'for programs it begins there, too' 0 t_faden show --json --at "$at" "$shop"
t_is 'with its numbers in the whole file' "$(python3 -c 'import json, sys
item = json.load(open(sys.argv[1]))["items"][0]
lines = open(sys.argv[2], "rb").read()[:item["offset_bytes"]].count(b"\n")
print(item["offset_bytes"], item["line"] - lines)' "$t_out" "$projects/-here/$shop.jsonl")" "$at 1"
t_exit 'another place is refused' 1 t_faden show --at 7 "$shop"
t_like 'and said' "$(cat "$t_err")" '--at 7: no message of this session'
uuid=$(sed -n 's/.*"uuid": "\([^"]*\)".*/\1/p' "$projects/-here/$shop.jsonl" | sed -n 5p)
t_exit 'a uuid will do' 0 t_faden show --at "$uuid" "$shop"
t_like 'it is the last message' "$(cat "$t_out")" 'The retries are now limited'
t_unlike 'alone' "$(cat "$t_out")" 'you '
t_exit '--at and --last are refused' 2 t_faden show --at 0 --last 1 "$shop"

# An address.
web=aaaaaaaa-0000-4000-8000-000000000007
"$t_helper/say-session" "$projects/-other/$web.jsonl" "$web" "$t_tmp/other" 2026-02-01T10:00:00Z <<'END'
user look at https://example.org/wiki/Lemur and tell a very long story about it, which has a title that is much too long for any line, since whoever wrote it did not stop where everybody else would have stopped
assistant that is on example.com, not on https://example.org/wiki/Lemming
END
finds 'an address is found as it is' '7' https://example.org/wiki/Lemur
t_is 'in the one message that has it' "$(t_faden search --json https://example.org/wiki/Lemur | grep -c '"session_id"')" 1
finds 'not by its parts' '' https://example.org/wiki/Gibbon
finds 'with other words it ranks as they do' '7' 'the story at https://example.org/wiki/Gibbon'
t_exit 'what has a long title' 0 t_faden search Lemur
t_ok 'is headed by one line that can be read' test "$(head -n 1 "$t_out" | wc -m)" -le 162
t_like 'with what is behind the title' "$(head -n 1 "$t_out")" '…  .*claude  .*other$'
t_exit 'for programs' 0 t_faden search --json Lemur
t_like 'it is whole' "$(value title)" 'everybody else would have stopped$'

# What is new since the index was made.
cat >>"$projects/-other/$disk.jsonl" <<END
{"parentUuid":null,"isSidechain":false,"type":"user","uuid":"bbbbbbbb-0000-4000-8000-000000000001","timestamp":"2026-11-17T09:00:00.000Z","sessionId":"$disk","cwd":"$t_tmp/other","message":{"role":"user","content":"a brand new okapi"}}
END
finds 'what a session has that is new' '3' okapi
line='{"parentUuid":null,"isSidechain":false,"timestamp":"2026-11-17T09:01:00.000Z","sessionId":"'$disk'","cwd":"'$t_tmp/other'"'
printf '%s,"type":"assistant","uuid":"c1","message":{"role":"assistant","content":[{"type":"tool_use","id":"toolu_x","name":"Grep","input":{"path":"src/disk.c"}}]}}\n' "$line" >>"$projects/-other/$disk.jsonl"
finds 'a call' '3' tool:Grep
printf '%s,"type":"user","uuid":"c2","message":{"role":"user","content":[{"tool_use_id":"toolu_x","type":"tool_result","content":"a bongo"}]}}\n' "$line" >>"$projects/-other/$disk.jsonl"
finds 'its result may come later' '3' '+bongo tool:Grep file:disk.c'
new=99999999-0000-4000-8000-000000000001
sed "s/okapi/tapir/;s/$disk/$new/" "$projects/-other/$disk.jsonl" >"$projects/-other/$new.jsonl"
t_exit 'a session that is new is found at once' 0 t_faden search --json tapir
t_like 'it and no other' "$(cat "$t_out")" "$new"
mkdir "$projects/-new"
sed "s/tapir/quagga/;s/$new/${new%1}2/" "$projects/-other/$new.jsonl" >"$projects/-new/${new%1}2.jsonl"
t_exit 'and so is one in a new folder' 0 t_faden search --json quagga
rm "$projects/-new/${new%1}2.jsonl" "$projects/-other/$new.jsonl"

# How much of a tool's result is read is a setting.
far=aaaaaaaa-0000-4000-8000-000000000006
{
	echo 'user list it'
	printf 'result the wombat is near'
	seq 1 600 | tr '\n' ' '
	echo 'and the quokka is far'
} | "$t_helper/say-session" "$projects/-other/$far.jsonl" "$far" "$t_tmp/other" 2026-11-02T10:00:00Z
t_exit 'a session with a long result' 0 t_faden index
finds 'all of a result is found' '6' quokka
t_exit 'less of it is wanted' 0 t_faden config set search.result_kb 1
finds 'what was read before stays until it is read anew' '6' quokka
t_exit 'it is read anew' 0 t_faden index --rebuild
finds 'then its head is found' '6' wombat
finds 'and what is behind it is not' '' quokka
t_exit 'more of it is wanted again' 0 t_faden config set search.result_kb 256
t_exit 'and it is read so' 0 t_faden index --rebuild
finds 'all of it is found again' '6' quokka

# A session whose file is gone.
rm "$projects/-other/$sign.jsonl"
t_exit 'the index is brought up to date' 0 t_faden index
finds 'it is still found' '2' sign
t_is 'and said to be gone' "$(value gone)" 'True'


# Two copies of one conversation: one result, the one that can be gone on with.
mkdir -p "$t_tmp/new"
x=aaaaaaaa-0000-4000-8000-00000000000a
y=aaaaaaaa-0000-4000-8000-00000000000b
"$t_helper/make-session" claude "$t_home/.claude" "$t_tmp/old" "$x" 'the narwhal sings' 'more of the narwhal' >/dev/null
"$t_helper/make-session" claude "$t_home/.claude" "$t_tmp/new" "$y" 'the narwhal sings' 'more of the narwhal' >/dev/null
finds 'of copies there is one, whose folder is there' 'b' narwhal
t_is 'and the others are counted' "$(value copies)" 1
z=aaaaaaaa-0000-4000-8000-00000000000c
"$t_helper/make-session" claude "$t_home/.claude" "$t_tmp/new" "$z" 'the ibex sings' 'more of the narwhal' >/dev/null
finds 'what only looks alike by its time is another session' 'b c' narwhal sings

# Whom a program asks at once, answer within one second, and often with the same words.
for id in d e; do
	"$t_helper/make-session" claude "$t_home/.claude" "$t_tmp/same" "aaaaaaaa-0000-4000-8000-00000000000$id" "okapi $id" >/dev/null
	sed -i "s/00000000-0000-4000-8000-/${id}0000000-0000-4000-8000-/g; s/answer 1 to [^\"]*/the same quagga/" \
		"$t_home"/.claude/projects/*/"aaaaaaaa-0000-4000-8000-00000000000$id.jsonl"
done
finds 'the same answer in the same second is no copy' 'e d' -s quagga
finds 'nor is a title' 'e d' -s "dir:$t_tmp/same"

# An agent without a program of its own: the command is one that works.
t_exit 'something is rehearsed' 0 t_faden ask --agent rehearsal --new the axolotl sleeps
t_exit 'what was rehearsed is found' 0 t_faden search axolotl
id=$(t_faden list --all --agent rehearsal -n 1 -F '{id}')
t_like 'how to go on there is no command that is refused' "$(cat "$t_out")" "^ +faden talk --in=$id\$"
t_exit 'it is found as JSON' 0 t_faden search --json axolotl
t_is 'which says the same' "$(value resume_command)" "faden talk --in=$id"
goes_on() { echo 'what did I say?' | given resume_command; }
t_exit 'the command goes on with it' 0 goes_on
t_like 'there' "$(cat "$t_out")" 'axolotl'

# Many sessions, and one that was active long before all others.
many=$t_tmp/many
t_setenv "CLAUDE_CONFIG_DIR=$many"
i=100
while [ $i -lt 400 ]; do
	printf '{"type":"user","uuid":"u","timestamp":"2026-03-01T10:00:00.000Z","sessionId":"eeeeeeee-0000-4000-8000-000000000%s","cwd":"/work","message":{"role":"user","content":"a plum"}}\n' $i
	i=$((i + 1))
done | awk -F'"' -v top="$many/projects/-work" '{ if (!n++) system("mkdir -p " top); print > (top "/" $16 ".jsonl") }'
touch -d '1 hour ago' "$many/projects" "$many/projects/-work"
t_exit 'many sessions are indexed' 0 t_faden index
sed -n 's/a plum/it has grown a mirabelle/p' "$many/projects/-work/eeeeeeee-0000-4000-8000-000000000100.jsonl" \
	>>"$many/projects/-work/eeeeeeee-0000-4000-8000-000000000100.jsonl"
t_exit 'what an old one of many has grown by is found at once' 0 t_faden search mirabelle

t_done
