#!/bin/sh
# faden archive, delete, clean: every session is kept, comes back byte for byte, and leaves only when
# asked to.
. "$(dirname "$0")/../lib.sh"

here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1
a=aaaaaaaa-0000-4000-8000-000000000001
b=aaaaaaaa-0000-4000-8000-000000000002
c=01a00000-0000-7000-8000-000000000003
fa=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$a" --title 'A name' 'one thing' 'two things')
fb=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$b" 'another thing')
fc=$("$t_helper/make-session" codex "$t_home/.codex" "$here" "$c" 'one thing' 'two things')
long=$(head -c 4000 /dev/zero | tr '\0' 'y')
sed -i "s/\"out 1\"/\"$long one\"/" "$fa"
cp "$fa" "$t_tmp/a"
cp "$fb" "$t_tmp/b"
cp "$fc" "$t_tmp/c"
dir=$t_home/.local/share/faden/archive
field() { python3 -c 'import json, sys; r = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$t_out" "$1"; }

# nothing yet
t_exit 'an empty archive lists nothing' 1 t_faden archive list
t_like 'it is said how it is filled' "$(cat "$t_err")" "'faden archive' fills it"
t_exit 'nothing is there to verify' 1 t_faden archive verify
t_exit 'an unknown verb is refused' 2 t_faden archive lits

# a trim before: what it set aside goes in as well, and the references still lead there
t_exit 'a session is trimmed' 0 t_faden trim "$a"
new=$(find "$(dirname "$fa")" -name '*.jsonl' ! -name "$a*" ! -name "$b*")
ref=$(grep -o 'faden recall [0-9a-f]*' "$new" | head -n 1 | sed 's/.* //')
t_faden recall "$ref" >"$t_tmp/original"
t_ok 'the parent is set aside' sh -c "ls '$dir' | grep -q '$a.*jsonl'"
t_exit 'every session is taken' 0 t_faden archive --json
t_is 'with what was set aside' "$(field 'r["files"]')" 5
t_is 'all of them are new' "$(field 'r["troubles"]')" 0
t_ok 'what was set aside is there no more' sh -c "! ls '$dir' | grep -q jsonl"
rm "$fa"
t_faden recall "$ref" >"$t_tmp/again"
t_ok "a reference leads to the same text" cmp "$t_tmp/again" "$t_tmp/original"
cp "$t_tmp/a" "$fa"
t_exit 'a second time' 0 t_faden archive --json
t_is 'nothing is new' "$(field 'r["taken_files"]')" 0
t_exit 'it is whole' 0 t_faden archive verify
t_like 'as is said' "$(cat "$t_out")" 'every byte is as it was'
t_is 'the packs are private' "$(stat -c %a "$dir/packs")" 700

t_exit 'for people' 0 t_faden archive
t_like 'it is said what was new' "$(cat "$t_out")" '^0 of 4 files new or grown, 0 B read$'
t_like 'and what there is' "$(cat "$t_out")" '^The archive has 4 files of .* in .* on the disk$'

# grown, deleted, overwritten
printf '{"type":"user","more":1}\n' >>"$fb"
cp "$fb" "$t_tmp/b"
t_exit 'a session has grown' 0 t_faden archive --json
t_is 'that alone is taken' "$(field 'r["taken_files"]')" 1
t_is 'and only what is new' "$(field 'r["read_bytes"]')" 25
rm "$fb" "$fc"
t_exit 'gone sessions are listed' 0 t_faden list --gone --json
t_exit 'one that is gone can be shown' 0 t_faden show "$b"
t_like 'as it was' "$(cat "$t_out")" 'another thing'
t_exit 'one of Codex too' 0 t_faden show "$c"
t_like 'with all that was said' "$(cat "$t_out")" 'two things'
t_exit 'raw as well' 0 t_faden show --raw "$b"
t_ok 'byte for byte' cmp "$t_out" "$t_tmp/b"
t_exit 'a command that needs the file says how to get it back' 1 t_faden trim "$b"
t_like 'by restoring it' "$(cat "$t_err")" "faden archive restore $b"
t_exit 'it is restored' 0 t_faden archive restore "$b"
t_ok 'byte for byte, where the agent finds it' cmp "$fb" "$t_tmp/b"
t_exit 'by the beginning of its id' 0 t_faden archive restore 01a0
t_ok 'Codex has it back' cmp "$fc" "$t_tmp/c"
t_exit 'again: it is there' 0 t_faden archive restore "$b"
t_like 'as is said' "$(cat "$t_out")" 'is there already'
printf 'blank\n' >"$fb"
t_exit 'nothing is overwritten' 6 t_faden archive restore "$b"
t_is 'what is there stays' "$(cat "$fb")" blank
t_exit 'but on request' 0 t_faden archive restore --replace "$b"
t_like 'it is said where that is now' "$(cat "$t_err")" "what lay there has other bytes, and is in the archive: 'faden archive export $b\.[0-9a-f]+'$"
t_ok 'then it is back' cmp "$fb" "$t_tmp/b"
t_exit 'and what was there is in the archive' 0 t_faden archive list --json
t_is 'as another file of the path' "$(field "len([f for f in r if f['session_id'] == '$b'])")" 2
key=$(field "min((f for f in r if f['session_id'] == '$b'), key=lambda f: f['content_bytes'])['archive_key']")
t_exit 'each can be had by its key' 0 t_faden archive export "$key" -o "$t_tmp/out"
t_is 'here the other one' "$(cat "$t_tmp/out")" blank
t_exit 'or by the end of its key' 0 t_faden archive export "${key##*.}" -o "$t_tmp/out2"
t_is 'which is the same' "$(cat "$t_tmp/out2")" blank
mkdir "$t_tmp/folder"
t_exit 'into a folder' 0 t_faden archive export "$c" -o "$t_tmp/folder"
t_ok 'under its own name' cmp "$t_tmp/folder/$(basename "$fc")" "$t_tmp/c"
printf 'other\n' >"$t_tmp/out"
t_exit 'export overwrites nothing either' 6 t_faden archive export "$key" -o "$t_tmp/out"
t_exit 'a session that nobody knows' 1 t_faden archive restore ffffffff-0000-4000-8000-00000000000f

# all of it
t_exit 'where to must be said' 2 t_faden archive export --all
t_exit 'everything is exported' 0 t_faden archive export --all -o "$t_tmp/all" --json
t_is 'every file that is kept' "$(field 'r["written_files"]')" "$(t_faden archive list | wc -l)"
t_ok 'under its key' cmp "$t_tmp/all/$key.jsonl" "$t_tmp/out2"
mv "$t_home/.claude/projects" "$t_tmp/projects"
t_exit 'all that is gone comes back' 0 t_faden archive restore --all --json
t_is 'what is there stays' "$(field 'r["present_files"]')" 1
t_ok 'byte for byte' diff -r "$t_home/.claude/projects" "$t_tmp/projects"

# the database can be lost, a byte can flip
rm -f "$dir"/archive.db*
t_exit 'without its database it is made again' 0 t_faden archive verify
t_like 'and that is said' "$(cat "$t_err")" 'made again from its packs'
t_exit 'a reference works as before' 0 t_faden recall "$ref"
pack=$(find "$dir/packs" -name '*.pack' | sort | head -n 1)
cp "$pack" "$t_tmp/pack"
printf 'X' | dd of="$pack" bs=1 seek=60 conv=notrunc 2>/dev/null
t_exit 'a flipped byte is found' 3 t_faden archive verify --json
t_is 'in one frame' "$(field 'r["damaged_frames"]')" 1
cp "$t_tmp/pack" "$pack"
t_exit 'mended it is whole' 0 t_faden archive verify

# deleting
t_exit 'without a terminal -y is needed' 2 t_faden delete "$b"
t_ok 'nothing was deleted' test -e "$fb"
t_exit 'what would go' 0 t_faden delete -n "$b"
t_ok 'nothing went' test -e "$fb"
t_exit 'named twice' 0 t_faden delete -n "$b" "$b" "$fb"
t_like 'it is one' "$(cat "$t_out")" '^1 session would be deleted \(1 file, '
t_is 'and named once' "$(grep -c "^$b" "$t_out")" 1
printf '{"type":"user","last":1}\n' >>"$fb"
cp "$fb" "$t_tmp/b"
t_exit 'a session is deleted' 0 t_faden delete -y "$b" --json
t_is 'one' "$(field 'r["sessions"]')" 1
t_ok 'its file is gone' test ! -e "$fb"
t_exit 'with its last line it comes back' 0 t_faden archive restore "$b"
t_ok 'byte for byte' cmp "$fb" "$t_tmp/b"
t_exit 'it is forgotten' 0 t_faden delete -y --forget "$b" --json
t_ok 'with what the archive had of it' test "$(field 'r["kept_files"]')" -ge 2
t_ok 'its file is gone too' test ! -e "$fb"
t_exit 'there is no way back' 1 t_faden archive restore "$b"
t_exit 'the others are whole' 0 t_faden archive verify
rm -f "$dir"/archive.db*
t_exit 'also when the database is made again' 1 t_faden archive restore "$b"

# where nothing can be written it can still be looked at
kept=$t_home/.local/share/faden/archive
rm "$kept/lock"
mkdir "$kept/lock"
t_exit 'an archive that cannot be written is verified' 0 t_faden archive verify
rmdir "$kept/lock"

# cleaning
t_setenv 'FADEN_CLOCK=2036-01-01T00:00:00Z'
t_exit 'how old must be said' 2 t_faden clean
t_exit 'what would go is named' 0 t_faden delete --dry-run "$a"
t_like 'by what it is called' "$(cat "$t_out")" "^$a  claude  .*  [A-Za-z]"
t_exit 'what is old would go' 0 t_faden clean --older-than 7d --dry-run --json
t_ok 'more than one' test "$(field 'r["sessions"]')" -ge 2
t_exit 'nothing is older than that' 1 t_faden clean --older-than 900w -y
t_like 'where was looked is said' "$(cat "$t_err")" 'no session in this folder is that old; --all'
t_exit 'old sessions are cleaned up' 0 t_faden clean --older-than 7d -y
t_like 'it is said what went and how it comes back' "$(cat "$t_out")" "^[0-9]+ sessions deleted \([0-9]+ files, .*\); 'faden archive restore SESSION' gets one back$"
t_ok 'their files are gone' test ! -e "$fa"
t_exit 'they come back' 0 t_faden archive restore "$a"
t_ok 'byte for byte' cmp "$fa" "$t_tmp/a"

# retention
t_exit 'nothing is pruned without a word' 2 t_faden archive prune
t_like 'as is said, with what it needs' "$(cat "$t_err")" 'nothing leaves the archive by itself: .*--older-than SPAN or --max-size SIZE'
t_exit 'what would be pruned' 0 t_faden archive prune --older-than 900w -n --json
t_is 'nothing that was taken since' "$(field 'r["files"]')" 0
t_setenv 'FADEN_CLOCK=2046-01-01T00:00:00Z'
t_exit 'without a terminal -y is needed' 2 t_faden archive prune --older-than 1w
t_like 'as is said' "$(cat "$t_err")" 'would go, and nobody can be asked here: give -y'
t_like 'with what would go' "$(cat "$t_err")" "^$c	.*	the only copy	"
t_exit 'what would go is named' 0 t_faden archive prune --older-than 1w -n
t_like 'with age, size, and that nothing else is left of it' "$(cat "$t_out")" '^[0-9a-f-]+	[0-9].* ago	[0-9.]+ k?B	the only copy	[a-zA-Z]'
t_exit 'years later' 0 t_faden archive prune --older-than 1w -y --json
t_ok 'what the agents have no more goes' test "$(field 'r["files"]')" -ge 1
t_exit 'a reference still works' 0 t_faden recall "$ref"

# retention by settings: only what the agents have no more, and not before it is due
d=aaaaaaaa-0000-4000-8000-000000000004
fd=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$d" 'a thing for the settings')
t_exit 'a session is kept' 0 t_faden archive
rm "$fd"
t_exit 'a size that is none is no setting' 3 t_faden config set archive.max_size 5Q
t_like 'as is said' "$(cat "$t_err")" "archive.max_size: '5Q' is not a size such as 500M or 2G"
t_exit 'a large one' 0 t_faden config set archive.max_size 2G
t_is 'is told as it was given' "$(t_faden config get archive.max_size)" 2G
t_exit 'and a term' 0 t_faden config set archive.keep_days 30
t_setenv 'FADEN_CLOCK=2046-01-30T00:00:00Z'
t_exit 'before the term' 0 t_faden archive --json
t_exit 'it is still there' 0 t_faden archive list "$d"
t_setenv 'FADEN_CLOCK=2046-02-02T00:00:00Z'
t_exit 'after it' 0 t_faden archive
t_like 'what goes is named' "$(cat "$t_out")" "^$d	.*	the only copy	a thing for the settings"
t_exit 'it is let go' 1 t_faden archive list "$d"
fd=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$d" 'a thing for the settings')
t_exit 'another one is kept' 0 t_faden archive
rm "$fd"
t_exit 'no room at all' 0 t_faden config set archive.max_size 1k
t_exit 'for what is gone' 0 t_faden archive --json
t_is 'names it for programs too' "$(field '[f["session_id"] for f in r["pruned"]]')" "['$d']"
t_exit 'lets it go' 1 t_faden archive list "$d"
t_exit 'what is there stays' 0 t_faden archive list "$a"

# forgotten means: nobody knows it any more, and it is said what went
e=aaaaaaaa-0000-4000-8000-000000000005
fe=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$e" 'the narwhal is to be forgotten')
t_exit 'one more session' 0 t_faden archive
t_exit 'is found' 0 t_faden search narwhal
t_exit 'what would be forgotten is said' 0 t_faden delete --forget -n "$e"
t_ok 'and still there' test -e "$fe"
t_exit 'it is forgotten, for people' 0 t_faden delete --forget -y "$e"
t_like 'with its name' "$(cat "$t_out")" "^$e .*  the narwhal is to be forgotten$"
t_like 'with what was removed' "$(cat "$t_out")" '^1 session forgotten \(1 file, [0-9.]+ kB\); 1 file of [0-9.]+ kB in the archive \([0-9.]+ k?B on the disk\); 1 row of the store, and what the index had$'
t_exit 'it is not found any more' 1 t_faden search narwhal
t_exit 'nor listed among those that are gone' 0 t_faden list --gone --all --json
t_unlike 'by its id' "$(cat "$t_out")" "$e"
t_exit 'nor shown' 1 t_faden show "$e"
t_exit 'nor in the archive' 1 t_faden archive list "$e"
t_unlike 'no word of it is in any file of ours' "$(grep -rl narwhal "$t_home/.local" 2>/dev/null)" .

# what is shorter than its copy is said, and mended
t_faden config set archive.max_size '' >/dev/null
t_faden config set archive.keep_days 0 >/dev/null
g=aaaaaaaa-0000-4000-8000-000000000006
fg=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$g" --title 'The Ocelot naps' 'one nap' 'two naps')
cp "$fg" "$t_tmp/g"
t_exit 'a session is kept' 0 t_faden archive
truncate -s 900 "$fg"
t_exit 'it is torn' 0 t_faden archive --json
t_is 'that is counted' "$(field 'r["torn_files"]')" 1
t_like 'and said' "$(cat "$t_err")" "session $g is shorter .* than its copy .*faden archive restore $g --replace"
t_exit 'what is left of it is shown' 0 t_faden show "$g"
t_like 'and that there is more' "$(cat "$t_err")" "faden archive restore $g --replace"
t_is 'once' "$(wc -l <"$t_err")" 1
t_exit 'all that is gone comes back; this is there' 6 t_faden archive restore --all
t_like 'it is named' "$(cat "$t_err")" "session $g is shorter"
t_like 'and counted' "$(cat "$t_out")" "^1 file is shorter than the archive's copy, or damaged; with --replace that takes its place$"
mkdir "$t_tmp/held"
mv "$dir/lock" "$t_tmp/held" && mkdir "$dir/lock"
t_exit 'one that cannot be replaced stays' 3 t_faden archive restore --all --replace
t_like 'and is counted' "$(cat "$t_out")" ' 1 could not be written$'
rmdir "$dir/lock" && mv "$t_tmp/held/lock" "$dir"
t_exit 'all of it is brought back' 0 t_faden archive restore --all --replace --json
t_is 'that one' "$(field 'r["written_files"], r["torn_files"]')" '(1, 0)'
t_ok 'byte for byte' cmp "$fg" "$t_tmp/g"
t_exit 'nothing is said any more' 0 t_faden show "$g"
t_is 'not a word' "$(cat "$t_err")" ''
t_exit 'one that is trimmed in place is shorter' 0 t_faden trim --in-place "$a"
t_exit 'as it should be' 0 t_faden archive --json
t_is 'and not torn' "$(field 'r["torn_files"]')" 0

# listed by words of the title
t_exit 'listed by words of its title' 0 t_faden archive list nap OCELOT
t_is 'alone' "$(wc -l <"$t_out")" 1
t_exit 'in one argument as well' 0 t_faden archive list 'ocelot naps'
t_exit 'but not by a word that it has not' 1 t_faden archive list ocelot quokka
sed 's/Ocelot/Margay/' "$t_tmp/g" >"$fg"
t_exit 'it is rewritten' 0 t_faden archive
t_exit 'both versions are listed' 0 t_faden archive list "$g"
t_is 'each by its own title' "$(cut -f 7 "$t_out" | sort | tr '\n' ,)" 'The Margay naps,The Ocelot naps,'
t_is 'and the one that is older is marked' "$(cut -f 1,7 "$t_out" | grep Ocelot | cut -f 1)" o
t_is 'also for programs' "$(t_faden archive list --json "$g" | python3 -c 'import json, sys
print(sorted((x["title"], x["older"]) for x in json.load(sys.stdin)))')" "[('The Margay naps', False), ('The Ocelot naps', True)]"
t_is 'as the newest is not' "$(cut -f 1,7 "$t_out" | grep Margay | cut -f 1)" ''
old=$(grep Ocelot "$t_out" | cut -f 2)
new=$(grep Margay "$t_out" | cut -f 2)
for key in "$old" "${old##*.}"; do
	t_exit "$key: what it was is shown" 0 t_faden show "$key"
	t_like "$key: with its words" "$(cat "$t_out")" 'Ocelot naps'
	t_unlike "$key: not what it is" "$(cat "$t_out")" 'Margay'
	t_like "$key: and said" "$(cat "$t_out")" '^an older version of the archive, taken .* \(1 of 2: faden archive list [0-9a-f-]+\)$'
done
t_exit 'the newest is shown by its key' 0 t_faden show "$new"
t_like 'and said, on a line of its own' "$(cat "$t_out")" '^the newest version of the archive, taken .*\)$'
t_exit 'raw it is what it was' 0 t_faden show --raw "$old"
t_ok 'byte for byte' cmp "$t_out" "$t_tmp/g"
t_exit 'for programs as well' 0 t_faden show --json "$old"
t_like 'with its words' "$(cat "$t_out")" 'Ocelot naps'
t_exit 'a key that nobody has' 1 t_faden show "${old%.*}.00000000"
t_like 'is no session' "$(cat "$t_err")" 'no session is called'
t_exit 'the session is what it is' 0 t_faden show "$g"
t_like 'now' "$(cat "$t_out")" 'Margay naps'
t_exit 'the older one is put back' 0 t_faden archive restore --replace "$old"
t_is 'at once it is the other that is older' "$(t_faden archive list "$g" | cut -f 1,2 | grep '^o' | cut -f 2)" "$new"
t_is 'each has its agent' "$(t_faden archive list "$g" | cut -f 4 | sort -u)" claude
t_exit 'the other is shown by its key' 0 t_faden show "$new"
t_like 'as older, too' "$(cat "$t_out")" '^an older version of the archive, taken .* \(2 of 2: '
rm "$fg"
t_exit 'it comes back by its id' 0 t_faden archive restore "$g"
t_ok 'as it was last' cmp "$fg" "$t_tmp/g"
t_exit 'the newer one takes its place again' 0 t_faden archive restore --replace "$new"

# forgotten, with a copy that names it
p=aaaaaaaa-0000-4000-8000-000000000009
fp=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$p" 'the serval has a copy')
t_exit 'a copy is made' 0 t_faden fork --json "$p"
copy=$(field 'r["session_id"]')
t_exit 'what it is of is forgotten' 0 t_faden delete --forget -y "$p"
t_exit 'twice it is not' 1 t_faden delete --forget -y "$p"
t_like 'as is said' "$(cat "$t_err")" "nothing is left of session $p to forget; only sessions that were made from it still name it"
t_is 'nothing is named as forgotten' "$(cat "$t_out")" ''
t_exit 'the copy is what it was' 0 t_faden show "$copy"
t_exit 'and can be forgotten, too' 0 t_faden delete --forget -y "$copy"

# a limit that cannot be reached
t_exit 'what is there cannot be pruned' 0 t_faden archive prune --max-size 1 -y
t_like 'and that is said' "$(cat "$t_out")" '^The limit is not reached, by .* of sessions that the agents still have'

# cleaned away, then forgotten
t_exit 'an unknown agent is refused' 2 t_faden clean --older-than 7d --agent codx -n
t_exit 'so is no time at all' 2 t_faden clean --older-than 0d -n
t_like 'as such' "$(cat "$t_err")" "'0d' is not a span of time"
t_exit 'old sessions are cleaned up' 0 t_faden clean --older-than 7d -y
t_exit 'the archive has it' 0 t_faden archive list "$g"
t_exit 'none is there to clean' 1 t_faden clean --older-than 7d -y
t_exit 'but to forget' 0 t_faden clean --older-than 7d --forget -y --json
t_ok 'that one too' test "$(field 'r["kept_files"]')" -ge 2
t_exit 'nothing of it is left' 1 t_faden archive list "$g"
t_exit 'nor found' 1 t_faden list --gone "$g"
# An option of another verb is refused: what only looks must not prune.
for wrong in '--dry-run' 'list --older-than 3d' 'verify --max-size 3k' 'prune --all' 'list -y'; do
	# shellcheck disable=SC2086 # words
	t_exit "archive $wrong is refused" 2 t_faden archive $wrong
	t_like "of $wrong it is said what it is for" "$(cat "$t_err")" "is for 'archive (prune|restore' and 'archive export)'"
done
t_done
