#!/bin/sh
# faden export --format bundle, faden import: conversations go from one home to another.
. "$(dirname "$0")/../lib.sh"
t_tools setsid

here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1
a=aaaaaaaa-0000-4000-8000-000000000001
b=aaaaaaaa-0000-4000-8000-000000000002
c=01a00000-0000-7000-8000-000000000003
fa=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$a" one two three)
"$t_helper/make-session" claude "$t_home/.claude" "$here" "$b" other >/dev/null
"$t_helper/make-session" codex "$t_home/.codex" "$here" "$c" --title 'Green door' uno due >/dev/null
# Odd bytes, a torn end, the work of sub-agents and what tools leave.
printf '\000\377not json\n{"type":"user","torn' >>"$fa"
beside=${fa%.jsonl}
mkdir -p "$beside/subagents" "$beside/tool-results"
printf '{"type":"user","isSidechain":true,"uuid":"s1"}\n' >"$beside/subagents/agent-1.jsonl"
printf '{"type":"user","isSidechain":true,"uuid":"s2"}\n' >"$beside/subagents/agent-2.jsonl"
head -c 5000000 /dev/urandom >"$beside/tool-results/big.bin"
: >"$beside/tool-results/empty"
t_faden rename "$a" 'Blue door'

first=$t_home
# on NAME: from here on HOME is another machine's.
on() {
	t_home=$t_tmp/$1
	mkdir -p "$t_home"
	t_setenv "HOME=$t_home"
	for dir in CONFIG_HOME=.config DATA_HOME=.local/share STATE_HOME=.local/state CACHE_HOME=.cache; do
		t_setenv "XDG_${dir%%=*}=$t_home/${dir#*=}"
	done
}
files() { (cd "$1" && find .claude .codex -type f ! -name session_index.jsonl -exec cmp {} "$2/{}" \; 2>&1); }

# --- there and back ---
t_exit 'a bundle is written' 0 t_faden export "$a" "$b" "$c" -o "$t_tmp/all.faden"
t_is 'only its owner may read it' "$(stat -c %a "$t_tmp/all.faden")" 600
t_exit 'to a pipe it is the same' 0 t_faden export "$a" "$b" "$c" --format bundle
cp "$t_out" "$t_tmp/piped.faden"
t_exit 'a document has no ancestors' 2 t_faden export "$a" --with-ancestors
t_exit 'a bundle has no parts' 2 t_faden export "$a" --last 1 --format bundle
if command -v script >/dev/null; then
	t_tools script
	t_run script -qec "$FADEN export $a --format bundle" /dev/null >"$t_out" </dev/null
	t_like 'a terminal gets no bundle' "$(cat "$t_out")" 'nothing for a terminal'
fi
on second
t_exit 'what is in it is listed' 0 t_faden import --list "$t_tmp/all.faden"
t_is 'agent, id and name' "$(cut -f 1,2,5 "$t_out")" "claude	$a	Blue door
claude	$b	other
codex	$c	Green door"
t_exit '--dry-run says what would be' 0 t_faden import --dry-run "$t_tmp/all.faden"
t_is 'all would be new' "$(cut -f 1 "$t_out" | sort | uniq -c | tr -s ' ')" ' 3 new'
t_is 'and nothing was written' "$(find "$t_home" -name '*.jsonl')" ''
t_exit 'it is imported' 0 t_faden import "$t_tmp/all.faden"
t_is 'every file is there byte for byte' "$(files "$first" "$t_home")" ''
t_is 'and no other' "$(cd "$t_home" && find .claude .codex -type f | wc -l)" "$(cd "$first" && find .claude .codex -type f ! -name session_index.jsonl | wc -l)"
t_is 'only their owner may read them' "$(find "$t_home/.claude" "$t_home/.codex" -type f ! -perm 600)" ''
t_exit 'they are found' 0 t_faden list --all -F '{id} {name}'
t_is 'with their names' "$(sort "$t_out")" "$c Green door
$a Blue door
$b "
t_exit 'again it is there already' 0 t_faden import "$t_tmp/all.faden"
t_is 'all of it' "$(cut -f 1 "$t_out" | sort | uniq -c | tr -s ' ')" ' 3 there'
on third
t_exit 'it comes from a pipe too' 0 t_faden import - <"$t_tmp/piped.faden"
t_is 'byte for byte' "$(files "$first" "$t_home")" ''

# --- what is here stays ---
mine=$t_home/.claude${fa#"$first"/.claude}
printf '\n{"type":"user","more":1}\n' >>"$mine"
cp "$mine" "$t_tmp/mine"
t_exit 'one that has gone on here is there' 0 t_faden import "$t_tmp/all.faden"
t_like 'it says so' "$(cat "$t_out")" "^there	claude	$a"
sed -i 's/answer 1/another 1/' "$mine" && cp "$mine" "$t_tmp/mine"
rm "${mine%.jsonl}/subagents/agent-2.jsonl"
t_exit 'other contents are no obstacle' 0 t_faden import "$t_tmp/all.faden"
copy=$(sed -n 's/^copy	claude	\([^	]*\).*/\1/p' "$t_out")
t_like 'it is said what became of it' "$(cat "$t_err")" "session $a is here with other contents, which stay; this one is $copy$"
t_ok 'what was here is as it was' cmp "$mine" "$t_tmp/mine"
t_is 'the copy has all of it' "$(t_faden show --json "$copy" | python3 -c 'import json, sys
print(*[i["text"] for i in json.load(sys.stdin)["items"] if i.get("prompt")])')" 'one two three'
t_ok 'and its sub-agents' cmp "$beside/subagents/agent-2.jsonl" "$(dirname "$mine")/$copy/subagents/agent-2.jsonl"
t_like 'lineage knows it' "$(t_faden lineage "$copy")" "forked +$copy"
t_exit 'the same bundle makes no second copy' 0 t_faden import "$t_tmp/all.faden"
t_like 'it knows the first' "$(cat "$t_out")" "^there	claude	$copy"
t_is 'nothing is staged any more' "$(find "$t_home/.local" -name '*.jsonl' -o -name import)" ''
cp "$t_tmp/all.faden" "$t_tmp/same.faden"
on fourth
t_faden import "$t_tmp/all.faden" >/dev/null
rm -r "$t_home/.claude/projects"/*/"$a"
t_exit 'what is missing beside a session comes' 0 t_faden import "$t_tmp/all.faden"
t_like 'which is said' "$(cat "$t_out")" "^partly	claude	$a"
t_is 'byte for byte' "$(files "$first" "$t_home")" ''

# --- another folder ---
on fifth
mv "$here" "$t_tmp/was"
mkdir "$t_tmp/there" && cd "$t_tmp/there" || exit 1
t_exit 'it is imported where its folder is not' 0 t_faden import "$t_tmp/all.faden"
t_like 'and said how to go on' "$(cat "$t_err")" "its folder $here is not here; go on in another one with: faden resume --here $a"
t_exit '--here brings it to this folder' 0 t_faden import --here "$t_tmp/all.faden"
moved=$(sed -n "s/.*: $a goes on here as its copy //p" "$t_err")
t_is 'as a copy that the agent finds here' "$(find "$t_home/.claude" -name "$moved.jsonl" -exec dirname {} \; | sed 's|.*/||')" \
	"$(printf %s "$PWD" | tr -c 'a-zA-Z0-9' -)"
t_exit 'once' 0 t_faden import --here --json "$t_tmp/all.faden"
t_like 'the copy is known' "$(cat "$t_out")" "\"here_id\":\"$moved\""
t_is 'the original is byte for byte what it was' "$(cd "$first" && cmp "$fa" "$t_home${fa#"$first"}")" ''
mv "$t_tmp/was" "$here" && cd "$here" || exit 1

# --- ancestors ---
on home
t_faden trim "$b" --min-savings 0 --threshold 1 >/dev/null 2>&1
rolled=$(t_faden rollover --json "$a" | python3 -c 'import json, sys; print(json.load(sys.stdin)["session_id"])')
t_exit 'a session goes without its ancestors' 0 t_faden export "$rolled" -o "$t_tmp/alone.faden" --json
t_is 'alone' "$(t_faden import --list "$t_tmp/alone.faden" | wc -l)" 1
t_exit 'or with them' 0 t_faden export "$rolled" --with-ancestors -o "$t_tmp/line.faden"
t_is 'in one bundle' "$(t_faden import --list "$t_tmp/line.faden" | cut -f 2 | sort)" "$(printf '%s\n' "$rolled" "$a" | sort)"
on sixth
t_faden import "$t_tmp/line.faden" >/dev/null
t_is 'the line is whole on the other machine' "$(t_faden lineage --json "$rolled" | python3 -c 'import json, sys
print(*json.load(sys.stdin)["chain"])')" "$a $rolled"
on home
forked=$("$t_helper/live-cases" codex "$t_home/.codex" "$here" | sed -n 's/^codex_forked //p')
want=$(t_faden show "$forked" | tail -n +3)
t_exit 'a fork takes along the file that its history begins in' 0 t_faden export "$forked" -o "$t_tmp/fork.faden"
on seventh
t_faden import "$t_tmp/fork.faden" >/dev/null
t_is 'and shows whole' "$(t_faden show "$forked" | tail -n +3)" "$want"
on home
t_faden archive >/dev/null 2>&1
rm -r "$fa" "$beside"
t_exit 'a session that is gone comes from the archive' 0 t_faden export "$a" -o "$t_tmp/gone.faden"
on eighth
t_faden import "$t_tmp/gone.faden" >/dev/null
t_ok 'byte for byte' cmp "$t_tmp/second/.claude${fa#"$first"/.claude}" "$t_home/.claude${fa#"$first"/.claude}"

# --- refused: nothing is written, and which and why is said ---
on ninth
python3 - "$t_tmp/all.faden" "$t_tmp" <<'END'
import sys
whole = open(sys.argv[1], "rb").read()
def put(name, data): open(f"{sys.argv[2]}/{name}.faden", "wb").write(data)
put("torn", whole[:len(whole) // 2])
put("headless", whole[1:])
put("newer", whole[:8] + b"\x02" + whole[9:])
put("longer", whole + b"x")
put("unclosed", whole[:-20])
flipped = bytearray(whole)
flipped[len(whole) // 2] ^= 1
put("flipped", bytes(flipped))
put("empty", b"")
put("text", b"hello\n")
END
refused() {
	t_exit "a bundle that $1 is refused" "$3" t_faden import "$t_tmp/$2.faden"
	t_like "it is said that it $1" "$(cat "$t_err")" "$4"
}
refused 'is torn' torn 3 'file [0-9]+ of 7, projects/.*: it ends early, after [0-9]+ bytes: it is torn'
refused 'has no head' headless 3 'it is no bundle of faden'
refused 'is newer' newer 5 'written by a later faden \(its format is 2'
refused 'goes on behind its end' longer 3 'something behind its end'
refused 'has lost its end' unclosed 3 'its end: it ends early'
refused 'was changed' flipped 3 'file [0-9]+ of 7, projects/.*: at [0-9]+: its bytes have changed'
refused 'is empty' empty 3 'it is no bundle of faden'
refused 'is a text' text 3 'it is no bundle of faden'
t_exit 'one that is not there is not found' 5 t_faden import "$t_tmp/none.faden"
t_exit 'a folder is none' 3 t_faden import "$t_tmp"
t_is 'nothing was written' "$(find "$t_home" -name '*.jsonl*')" ''
t_exit 'every flipped byte is noticed' 0 python3 - "$FADEN" "$t_tmp" "$t_home" <<'END'
import os, subprocess, sys
faden, tmp, home = sys.argv[1:]
small = f"{tmp}/small.faden"
env = {"HOME": home, "PATH": os.environ["PATH"]}
subprocess.run([faden, "export", "--force", "-o", small, "aaaaaaaa-0000-4000-8000-000000000002"], check=True,
               env={"HOME": f"{tmp}/home", "PATH": os.environ["PATH"]})
whole = open(small, "rb").read()
for at in range(0, len(whole), 13):
    if 9 <= at < 16:
        continue  # of the head, for later versions
    bad = bytearray(whole)
    bad[at] ^= 1 << at % 8
    open(f"{tmp}/bad.faden", "wb").write(bad)
    run = subprocess.run([faden, "import", "--dry-run", f"{tmp}/bad.faden"], capture_output=True, env=env)
    assert run.returncode in (3, 5), (at, run)
END

# --- sealed ---
on home
printf 'correct horse\n' >"$t_tmp/pass" && printf 'wrong horse\n' >"$t_tmp/other" && : >"$t_tmp/blank"
chmod 600 "$t_tmp/pass" "$t_tmp/other" "$t_tmp/blank"
t_exit 'a bundle is sealed' 0 t_faden export "$b" -o "$t_tmp/sealed.faden" --passphrase-file "$t_tmp/pass"
t_is 'nothing of it can be read' "$(grep -ac -e other -e claude -e manifest "$t_tmp/sealed.faden")" 0
t_exit 'an empty passphrase is none' 2 t_faden export "$b" -o "$t_tmp/y.faden" --passphrase-file "$t_tmp/blank"
t_exit 'without a terminal a passphrase needs a file' 2 t_run setsid -w "$FADEN" export "$b" -o "$t_tmp/y.faden" --seal
t_like 'which is said' "$(cat "$t_err")" 'no terminal to ask .*--passphrase-file'
t_exit 'only bundles are sealed' 2 t_faden export "$b" --seal
t_ok 'nothing was written' test ! -e "$t_tmp/y.faden"
chmod 644 "$t_tmp/pass"
on tenth
t_exit 'with the passphrase it is imported' 0 t_faden import "$t_tmp/sealed.faden" --passphrase-file "$t_tmp/pass"
t_like 'a file that others can read is named' "$(cat "$t_err")" 'others can read .*pass'
t_is 'the session is there' "$(find "$t_home/.claude" -name "$b.jsonl" -exec cmp {} "$first/.claude/projects/$(basename "$(dirname "$fa")")/$b.jsonl" \; -print | wc -l)" 1
on eleventh
t_exit 'another passphrase is denied' 6 t_faden import "$t_tmp/sealed.faden" --passphrase-file "$t_tmp/other"
t_like 'as such' "$(cat "$t_err")" 'the passphrase is not the one it was sealed with'
python3 - "$t_tmp/sealed.faden" "$t_tmp" <<'END'
import sys
whole = open(sys.argv[1], "rb").read()
def put(name, at, data=None):
    bad = bytearray(whole if data is None else data)
    if at is not None:
        bad[at] ^= 1
    open(f"{sys.argv[2]}/{name}.faden", "wb").write(bad)
put("s-head", 30)
put("s-body", len(whole) // 2)
put("s-torn", None, whole[:-100])
put("s-stub", None, whole[:40])
put("s-more", None, whole + b"x")
put("s-newer", 9)
END
sealed() {
	t_exit "a sealed bundle that $1 is refused" "$3" t_faden import "$t_tmp/$2.faden" --passphrase-file "$t_tmp/pass"
	t_like "it is told from a wrong passphrase that it $1" "$(cat "$t_err")" "$4"
}
sealed 'has another head' s-head 3 'its head was changed or is damaged'
sealed 'was changed' s-body 3 'cut off or changed behind [0-9]+'
sealed 'was cut' s-torn 3 'cut off or changed behind [0-9]+'
sealed 'is a stub' s-stub 3 'ends within its head'
sealed 'goes on' s-more 3 'cut off or changed|behind its end'
sealed 'is newer' s-newer 5 'sealed by a later faden'
t_is 'nothing was written by any of them' "$(find "$t_home" -name '*.jsonl*')" ''

# --- where nothing goes on, it does ---
on twelfth
mkdir "$t_tmp/far" "$t_tmp/near" && cd "$t_tmp/far" || exit 1
t_exit 'a conversation' 0 t_faden ask --agent rehearsal 'my cat is called Tom'
t_exit 'is taken out' 0 t_faden export --format bundle -o "$t_tmp/cat.faden" "$(t_faden list -F '{id}')"
on thirteenth
cd "$t_tmp/near" || exit 1
t_exit 'and brought in on another machine' 0 t_faden import --here "$t_tmp/cat.faden"
t_exit 'where nothing went on here' 0 t_faden route --json continue
t_like 'it does now' "$(cat "$t_out")" '"action":"resume"'
cd "$t_tmp/far" || exit 1
on fourteenth
t_exit 'in its own folder' 0 t_faden import "$t_tmp/cat.faden"
t_exit 'as well' 0 t_faden ask 'what did I say?'
t_like 'with all that was said' "$(cat "$t_out")" 'my cat is called Tom'
on fifteenth
t_exit 'where something goes on' 0 t_faden ask --agent rehearsal 'feed the fish'
t_exit 'it is brought in too' 0 t_faden import "$t_tmp/cat.faden"
t_exit 'then' 0 t_faden ask 'what did I say?'
t_like 'that goes on as before' "$(cat "$t_out")" 'feed the fish'
t_unlike 'and not what came' "$(cat "$t_out")" 'called Tom'
t_done
