#!/bin/sh
# faden export: conversations as documents.
. "$(dirname "$0")/../lib.sh"

claude=$t_home/.claude
codex=$t_home/.codex
here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1
a=aaaaaaaa-0000-4000-8000-000000000001
c=01a00000-0000-7000-8000-000000000003
"$t_helper/make-session" claude "$claude" "$here" "$a" --title 'Blue door' one two three >/dev/null
"$t_helper/make-session" codex "$codex" "$here" "$c" --title 'Green door' uno due >/dev/null
page() { "$t_helper/check-page" "$@"; }

# --- text ---
t_exit 'without more it is text on a pipe' 0 t_faden export blue
cp "$t_out" "$t_tmp/text"
t_is 'text is what show prints' "$(cat "$t_tmp/text")" "$(t_faden show blue)"
t_is 'all of it is what show prints' "$(t_faden export blue --tools)" "$(t_faden show blue --tools)"
t_is 'the last turn is what show prints' "$(t_faden export blue -n 1)" "$(t_faden show blue -n 1)"
t_is 'what is live is what show prints' "$(t_faden export blue --live)" "$(t_faden show blue --live)"
t_exit 'what goes on here needs no name' 0 t_faden export
t_exit 'nobody is nobody' 1 t_faden export nobody
t_exit '--at and --last do not go together' 2 t_faden export blue --at 0 --last 1
t_exit 'a message that is not there is said' 1 t_faden export blue --at 7

# --- files ---
t_exit 'the ending of the file says what to write' 0 t_faden export blue -o "$t_tmp/x.txt"
t_ok 'and it is written' cmp "$t_tmp/text" "$t_tmp/x.txt"
t_is 'only its owner may read it' "$(stat -c %a "$t_tmp/x.txt")" 600
t_exit 'a file that is there is not replaced' 6 t_faden export blue -o "$t_tmp/x.txt" -n 1
t_like 'it is said how it would be' "$(cat "$t_err")" '^faden: .*x.txt is there already; --force replaces it$'
t_ok 'it is as it was' cmp "$t_tmp/text" "$t_tmp/x.txt"
t_exit '--force replaces it' 0 t_faden export blue -o "$t_tmp/x.txt" -n 1 --force
t_unlike 'it is the new one' "$(cat "$t_tmp/x.txt")" '^one$'
t_exit 'an ending that says nothing is refused' 2 t_faden export blue -o "$t_tmp/x.bin"
t_like 'it is said what to do' "$(cat "$t_err")" 'say it with --format'
t_exit '--format outranks the ending' 0 t_faden export blue -o "$t_tmp/x.bin" --format text
t_ok 'and is what is written' cmp "$t_tmp/text" "$t_tmp/x.bin"
t_exit 'an unknown format is refused' 2 t_faden export blue --format pdf
t_is 'md is Markdown' "$(t_faden export blue --format md)" "$(t_faden export blue --format markdown)"
t_is 'txt is text' "$(t_faden export blue --format txt)" "$(t_faden export blue --format text)"
t_exit 'in a folder it is called by its id' 0 t_faden export blue -o "$t_tmp" --format markdown
t_ok 'and lies there' test -s "$t_tmp/$a.md"
t_exit 'a folder that is not there is said' 5 t_faden export blue -o "$t_tmp/none/x.md"
t_exit '--json without a file is refused' 2 t_faden export blue --json
mkfifo "$t_tmp/pipe"
for more in '' --force; do
	timeout 60 cat "$t_tmp/pipe" >"$t_tmp/read" &
	# shellcheck disable=SC2086 # none or one
	t_exit "a pipe is written into ${more:-without more}" 0 t_faden export blue --format text $more -o "$t_tmp/pipe"
	wait $!
	t_ok "with what a file would have ${more:-without more}" cmp "$t_tmp/text" "$t_tmp/read"
	t_ok "and is a pipe yet ${more:-without more}" test -p "$t_tmp/pipe"
done
t_exit 'so is /dev/stdout' 0 sh -c '{ echo before; "$@"; echo behind; } >"$0"' "$t_tmp/all" \
	env HOME="$t_home" "$FADEN" export blue --format text --force -o /dev/stdout
{ echo before && cat "$t_tmp/text" && echo behind; } >"$t_tmp/want"
t_ok 'where it stands, also when that is a file' cmp "$t_tmp/want" "$t_tmp/all"
t_exit 'a folder that is called like the file is refused' 5 sh -c 'mkdir -p "$0/in/$1.txt" && shift && "$@" -o "$0/in"' "$t_tmp" "$a" \
	env HOME="$t_home" "$FADEN" export blue --format text --force
t_exit '/dev/full is an error' 5 sh -c '"$@" >/dev/full' sh env HOME="$t_home" "$FADEN" export blue
t_is 'nothing else is left behind' "$(find "$t_tmp" -name '.faden-*')" ''

# --- JSON ---
t_is 'JSON is what show --json prints' "$(t_faden export blue --format json)" "$(t_faden show blue --json)"
t_exit 'several sessions are an array' 0 t_faden export blue green --format json
t_ok 'of all of them' python3 -c 'import json, sys
both = json.load(open(sys.argv[1]))
assert [s["session"]["name"] for s in both] == ["Blue door", "Green door"]
assert [sum(1 for i in s["items"] if i.get("prompt")) for s in both] == [3, 2]' "$t_out"

# --- Markdown ---
t_exit 'Markdown is written' 0 t_faden export blue --format markdown
t_is 'it names the conversation, the speakers and the calls' "$(sed -n '/^# /p;/^## /p;/^- \*/p' "$t_out" | sed 's/ · .*//' | head -n 4)" \
	"# Blue door
## You
## Claude Code
- **Bash** \`echo 1\`"
t_unlike 'results are left out' "$(cat "$t_out")" 'out 1'
t_like '--tools has them' "$(t_faden export blue --format markdown --tools)" '^out 1$'

# --- the page ---
t_exit 'a page is written' 0 t_faden export blue green -o "$t_tmp/x.html"
t_ok 'it is a sound page that loads nothing' page "$t_tmp/x.html"
page "$t_tmp/x.html" --text >"$t_tmp/seen"
for word in 'Blue door' 'Green door' 'answer 3 to three' 'Claude Code' 'exec_command' 'echo 2' 'out 1'; do
	t_ok "it has: $word" grep -q "$word" "$t_tmp/seen"
done
t_ok 'a call has its result in it' python3 -c 'import re, sys
assert re.search("(?s)<summary><b>Bash</b> <code>echo 1</code></summary>(?:(?!</details>).)*out 1", open(sys.argv[1]).read())' "$t_tmp/x.html"

# --- what bites ---
evil=$t_tmp/eeeeeeee-0000-4000-8000-000000000005.jsonl
python3 - >"$evil" <<'END'
import json
BITE = "<script>alert(1)</script><img src=x onerror='y'>&lt;\"'`~ \u202eright\u202c \x07\x1b[31m\x1b]0;t\x07 \u2028 -->]]>"
DEEP = "\n".join("> " * n + "- " * n + BITE for n in range(1, 40)) + "\n" + "\n".join("  " * n + "- x" for n in range(40))
MARKDOWN = f"""# {BITE}
```{BITE}
</code></pre>{BITE}
```
**{BITE}** *{BITE}* `{BITE}` [{BITE}](https://x/"{BITE}) [a](javascript:alert(1)) ![p](http://x/y.png)
[b]( jAvAsCrIpT:x ) [c](data:text/html,x) [d](//x) <https://x>
| a | {BITE} |
|---|:--:|
| {BITE} | b \\| c |
{DEEP}
***
```
left open {BITE}"""
n, parent = 0, None
def line(kind, message, **more):
    global n, parent
    n += 1
    uuid = f"00000000-0000-4000-8000-{n:012d}"
    print(json.dumps({"parentUuid": parent, "type": kind, "message": message, "uuid": uuid, "cwd": "/w/" + BITE, "gitBranch": BITE,
                      "timestamp": f"2026-03-01T10:00:{n:02d}.000Z", "sessionId": "eeeeeeee-0000-4000-8000-000000000005", **more}))
    parent = uuid
def answer(block):
    line("assistant", {"id": f"m{n}", "role": "assistant", "model": BITE, "content": [block]})
line("user", {"role": "user", "content": BITE + "\n# heading\n```\nopen"})
answer({"type": "thinking", "thinking": BITE})
answer({"type": "tool_use", "id": "t" + BITE, "name": BITE, "input": {BITE: BITE, "command": BITE, "list": [BITE]}})
line("user", {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t" + BITE, "content": BITE, "is_error": True}]})
line("user", {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "other", "content": BITE}]})
answer({"type": "tool_use", "id": "never", "name": "Read", "input": []})
answer({"type": "text", "text": MARKDOWN})
END
for more in '' --tools; do
	# shellcheck disable=SC2086 # none or one
	t_exit "a session that bites becomes a page ${more:-in short}" 0 t_faden export "$evil" $more --force -o "$t_tmp/e.html"
	t_ok "in which nothing bites ${more:-in short}" page "$t_tmp/e.html"
	page "$t_tmp/e.html" --text >"$t_tmp/seen"
	t_ok "its words are there as text ${more:-in short}" grep -q '<script>alert(1)</script><img src=x onerror=.y.>&lt;"' "$t_tmp/seen"
	# shellcheck disable=SC2086
	t_exit "it becomes Markdown ${more:-in short}" 0 t_faden export "$evil" $more --format markdown
	t_is "in which no tag begins outside code ${more:-in short}" "$(python3 - "$t_out" <<'END'
import re, sys
fence = None
for line in open(sys.argv[1]):
    mark = re.match(r" *(`{3,}|~{3,})", line)
    if fence:
        if mark and mark[1].startswith(fence) and not line.strip(" `~\n"):
            fence = None
    elif mark and "`" not in line.strip(" `~\n"):
        fence = mark[1]
    elif re.search(r"(?<!\\)<[A-Za-z/!?]", re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", line)):
        print(line)
print(fence or "", end="")
END
)" ''
done

# One that is gone is read from the archive.
t_faden archive >/dev/null 2>&1
rm -r "$claude"
t_exit 'a session that is gone is exported from the archive' 0 t_faden export blue
t_is 'as it was' "$(grep -c '^answer' "$t_out")" 3

t_done
