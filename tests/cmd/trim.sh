#!/bin/sh
# faden trim and faden recall: what goes, what stays, and that all of it can be had back.
. "$(dirname "$0")/../lib.sh"

id=11111111-2222-4333-8444-555555555555
home=$t_home/.claude
project=$home/projects/-work
mkdir -p "$project"
file=$project/$id.jsonl
make() { python3 "$t_helper/trim-sessions" "$@"; }
# json NAME…: members within members of the object that was printed.
json() {
	python3 - "$t_out" "$@" <<-'END'
		import json, sys
		text = open(sys.argv[1]).read()
		assert text.count("\n") == 1, "not one line"
		value = json.loads(text)
		for name in sys.argv[2:]:
		    value = value[name]
		print(value)
	END
}
check() { t_run "$(command -v python3)" "$t_helper/trim-check" "$@"; }
t_setenv "FADEN=$FADEN"
# begin SESSION…: a parent of that making, alone in its folder.
begin() {
	rm -f "$project"/*
	make "$@" >"$file"
	cp "$file" "$t_tmp/before"
}
# trim NAME OPTIONS…: must succeed; $new is the new file.
trim() {
	name=$1
	shift
	t_exit "$name" 0 t_faden trim --json $id "$@"
	new=$(json path)
	t_ok "$name: the parent is untouched" cmp "$t_tmp/before" "$file"
	t_ok "$name: all of it can be had back" check "$file" "$new"
}
line() { sed -n "$1p" "$new"; }

# --- what goes
begin tools
trim 'tools'
t_is 'results' "$(json results count)" 3
t_is 'inputs, also one that is hardly long enough' "$(json inputs count)" 2
t_is 'the new id is in the name' "$new" "$project/$(json session_id).jsonl"
t_is 'and on every line' "$(grep -c "\"sessionId\":\"$(json session_id)\"" "$new")" "$(grep -c sessionId "$file")"
t_like 'the placeholder' "$(cat "$new")" \
	'"content":"\[Results from Read tool suppressed - original content was 4000 characters\] Original: faden recall [0-9a-f]{16}"'
t_like 'of a list of texts' "$(cat "$new")" '"content":\[\{"type":"text","text":"\[Results from Grep tool suppressed - original content was 800 characters'
t_like 'of an input' "$(cat "$new")" '"content":"\[Input content of Write tool suppressed - original was 3000 characters\]'
t_like 'the note' "$(line 1)" '"trim_metadata":\{"parent_file":"'"$file"'".*"target_tools":null,"threshold":500'
t_is 'copies for the screen stay' "$(grep -o '"toolUseResult"' "$new" | wc -l)" "$(grep -o '"toolUseResult"' "$file" | wc -l)"
t_like 'usage is 0' "$(cat "$new")" '"usage":\{"input_tokens":0,"cache_read_input_tokens":0'
t_exit 'again: nothing is left' 1 t_faden trim "$new"
t_like 'and says so' "$(cat "$t_err")" 'nothing to trim in [0-9a-f-]{36}: no tool.s result or input of 500 characters or more is left that is not trimmed already'
t_exit 'again with a smaller threshold' 1 t_faden trim "$new" --threshold 60
t_like 'leaves placeholders alone' "$(cat "$t_err")" 'nothing to trim'
trim 'only one tool' --tools bash
t_is 'its result' "$(json results count)" 1
t_is 'nobody else'"'"'s input' "$(json inputs count)" 0
t_like 'Write keeps its input' "$(cat "$new")" '"content":"wwwwwwww'
t_exit 'tools that are none' 1 t_faden trim $id --tools Rad,Bsh
t_like 'which there are' "$(cat "$t_err")" "no tool Rad, Bsh here; there are Bash, .*Read"
t_exit 'one that is none' 0 t_faden trim --dry-run $id --tools Rad,Bash
t_like 'is warned about' "$(cat "$t_err")" 'warning: no tool of this name was used in the session: Rad$'
t_exit 'no tool at all' 2 t_faden trim $id --tools ''
t_exit 'blanks for tools' 2 t_faden trim $id --tools ' , '
trim 'no inputs' --no-inputs
t_is 'none' "$(json inputs count)" 0
trim 'a larger threshold' --threshold 2000
t_is 'fewer results' "$(json results count)" 2
trim 'with the beginning' --style head --threshold 1000
t_like 'kept' "$(cat "$new")" '"content":"r{1000}\\n\\n\[Results from Read tool suppressed - original content was 4000 characters, the first 1000 are shown\]'
trim 'a few characters kept' --keep-head 7
t_like 'are' "$(cat "$new")" '"content":"r{7}\\n\\n\[Results'
t_exit 'without copies for the screen' 0 t_faden trim --json $id --tool-use-result
new=$(json path)
t_ok 'all else is there' check "$file" "$new" --display
t_is 'they are gone' "$(grep -c '"toolUseResult"' "$new")" 1
t_exit 'the newer names of the same' 0 t_faden trim -n --json $id -t read,BASH -l 600
t_is 'count' "$(json results count)" 2

# --- repetitions
begin duplicates
t_exit 'repetitions stay' 1 t_faden trim $id --min-savings 0
trim 'repetitions go' --duplicates --min-savings 0
t_is 'all but the first on each side of the compaction' "$(json results count)" 3
t_is 'those stay' "$(grep -c 'same words same' "$new")" 2

# --- answers
begin answers
t_exit 'answers stay as they are' 1 t_faden trim --json $id --min-savings 0
t_is 'unless asked for' "$(json answers count)" 0
trim 'the first two' --assistant 2
t_is 'go' "$(json answers count)" 2
t_like 'with a placeholder' "$(sed -n 3p "$new")" '\[Claude response trimmed - original was 1200 characters\] Original'
t_like 'the third stays' "$(cat "$new")" 'answer 3 answer 3'
trim 'all but the last' --assistant -1
t_is 'go' "$(json answers count)" 4
t_like 'it stays' "$(cat "$new")" 'answer 5 answer 5'
t_exit 'answers when not asked for' 1 t_faden trim $id
t_like 'are offered' "$(cat "$t_err")" '; [0-9]+ long answers would go with --assistant [0-9]+$'
t_exit 'all but more than there are' 1 t_faden trim --json $id --assistant -9 --min-savings 0
t_is 'is none' "$(json answers count)" 0

# --- pictures
begin images
trim 'pictures stay' --min-savings 0
t_is 'both' "$(grep -o '"type":"image"' "$new" | wc -l)" 2
t_is 'their number is said' "$(json images_left)" 2
t_exit 'no long text, but pictures' 1 t_faden trim $id --threshold 1000000
t_like 'says how they would go' "$(cat "$t_err")" '; 1 picture or document would go with --images$'
t_unlike 'and nothing odd is written' "$(cat "$new")" "\\{'type'"
trim 'pictures go' --images --min-savings 0
t_is 'both of them' "$(json images count)" 2
t_unlike 'none is left' "$(cat "$new")" '"type":"image"'
ref=$(grep -o 'Data of type image/png suppressed - original was [0-9]* bytes\] Original: faden recall [0-9a-f]*' "$new" | tail -n 1 | sed 's/.* //')
t_exit 'a picture comes back' 0 t_faden recall "$ref"
t_is 'as it was' "$(od -An -tx1 -N4 "$t_out" | tr -d ' ')" 89504e47

# --- bytes
begin bytes
trim 'odd bytes'
for n in $(make bytes-kept); do
	t_is "line $n is the same" "$(line "$n")" "$(sed -n "${n}p" "$file" | sed "s/$id/$(json session_id)/")"
done
t_ok 'the file did not grow' test "$(wc -c <"$new")" -lt "$(wc -c <"$file")"
begin hostile
trim 'hostile lines' --min-savings 0
make hostile-kept >"$t_tmp/kept"
t_is 'are the same' "$(grep -a -c -F -x -f "$t_tmp/kept" "$new")" "$(wc -l <"$t_tmp/kept")"
begin first-array
trim 'a first line that is no object'
t_is 'stays' "$(line 1)" '[]'
t_like 'the note goes to the first that is' "$(line 2)" trim_metadata
begin cjk
t_exit 'little to gain in Chinese' 0 t_faden trim --json $id --min-savings 0
new=$(json path)
t_ok 'adds only the note' test "$(wc -c <"$new")" -lt "$(($(wc -c <"$file") + 1000))"
begin torn
trim 'a torn last line'
t_is 'stays, with a newline' "$(tail -n 1 "$new")" "$(tail -n 1 "$file")"
begin errors
trim 'API errors'
t_like 'are neutral' "$(tail -n 1 "$new")" '"model":"claude-opus-4-8".*"error":null,"isApiErrorMessage":false'

# --- what is not worth it
begin compacted
t_exit 'all before the compaction' 1 t_faden trim --json $id
t_is 'saves nothing' "$(json tokens saved)" 0
t_is 'and says so to programs' "$(json nothing_to_trim)" True
t_like 'and to people' "$(cat "$t_err")" 'not sent to the model any more'
t_is 'nothing was written' "$(ls "$project")" "$id.jsonl"
begin abandoned
t_exit 'all on a branch that was left' 1 t_faden trim $id
begin small
t_exit 'nothing long' 1 t_faden trim --json $id
t_is 'no id' "$(json session_id)" None
t_is 'nothing was written' "$(ls "$project")" "$id.jsonl"
t_exit 'less than asked for' 1 t_faden trim $id --threshold 100
t_like 'says how much' "$(cat "$t_err")" 'it would save [0-9]+ tokens \((fitted|assumed)\), less than 300'

# --- dry run, folders, words
begin tools
ls -la --time-style=full-iso "$project" >"$t_tmp/ls"
t_exit 'dry run' 0 t_faden trim --dry-run $id
t_like 'says what' "$(cat "$t_out")" 'would save [0-9,]+ of [0-9,]+ tokens \((fitted|assumed)\)'
ls -la --time-style=full-iso "$project" >"$t_tmp/ls2"
t_ok 'leaves the folder as it was' cmp "$t_tmp/ls" "$t_tmp/ls2"
t_exit 'a plan for people' 0 t_faden trim -n $id
t_like 'says what is saved and left' "$(cat "$t_out")" "^Trimming $id would save [0-9,]+ of [0-9,]+ tokens \((fitted|assumed)\), leaving [0-9,]+$"
t_exit 'a plan in place' 0 t_faden trim -n --in-place $id
t_like 'says that it would change' "$(cat "$t_out")" '^The session itself would change'
t_ok 'and changes nothing' cmp "$t_tmp/before" "$file"
t_exit 'to a folder in a folder that is missing' 3 t_faden trim --json $id --out "$t_tmp/out/deep"
t_like 'is an error' "$(json error)" 'there is no such folder'
t_ok 'and makes nothing' test ! -e "$t_tmp/out"
t_exit 'to a file' 3 t_faden trim $id --out "$file"
t_exit 'nothing to trim for a new folder' 1 t_faden trim $id --out "$t_tmp/out" --threshold 1000000
t_ok 'makes none' test ! -e "$t_tmp/out"
cd "$t_tmp" || exit 1
t_exit 'to another folder' 0 t_faden trim --json $id --out out
t_like 'says that it was made' "$(cat "$t_err")" "^faden: made the folder $t_tmp/out$"
t_is 'is there' "$(json path)" "$t_tmp/out/$(json session_id).jsonl"
t_is 'private' "$(stat -c %a "$(json path)")" "$(stat -c %a "$file")"
t_exit 'by path' 0 t_faden trim -n "$file"
t_exit 'by fragment' 0 t_faden trim -n 11111111
t_exit 'no such session' 1 t_faden trim --json nobody
t_like 'one line for programs' "$(cat "$t_out")" '^\{"error":\{"code":"not-found","message":".*"\}\}$'
t_exit 'a bad threshold' 2 t_faden trim $id --threshold 0
for words in "$id --threshold 0" "$id --threshold x" "$id --bogus" "$id two" "$id --in-place --out x"; do
	# shellcheck disable=SC2086 # words
	t_exit "for programs: $words" 2 t_faden trim --json $words
	t_is 'is one object with the error' "$(json error code)" usage
done
cp "$file" "$project/11111111-2222-4333-8444-555555555556.jsonl"
t_exit 'two that fit' 3 t_faden trim --json 11111111
t_like 'one line for programs, with both' "$(cat "$t_out")" '^\{"error":\{"code":"ambiguous","message":".*55555555555[56].*\}$'
rm "$project/11111111-2222-4333-8444-555555555556.jsonl"
t_exit 'a bad style' 2 t_faden trim $id --style odd
t_exit 'no session here' 1 t_faden trim
t_exit 'in place and elsewhere' 2 t_faden trim $id --in-place --out x
t_exit 'no such reference' 1 t_faden recall 0123456789abcdef
t_exit 'no reference at all' 2 t_faden recall xyz

# --- recall
trim 'for recall'
ref=$(grep -o 'Results from Read.*faden recall [0-9a-f]*' "$new" | head -n 1 | grep -o '[0-9a-f]*$')
t_exit 'with the words around it' 0 t_faden recall "Original: faden recall $ref"
t_is 'text' "$(wc -c <"$t_out")" 4000
t_exit 'raw' 0 t_faden recall --raw "$ref"
t_is 'with quotes' "$(wc -c <"$t_out")" 4002
t_exit 'for programs' 0 t_faden recall --json "$ref"
t_is 'session' "$(json session_id)" $id
mv "$file" "$t_tmp/moved.jsonl"
t_exit 'the parent was moved' 0 t_faden recall "$ref"
rm "$t_tmp/moved.jsonl"
t_exit 'the parent was deleted' 0 t_faden recall "$ref"
t_is 'the text is there' "$(wc -c <"$t_out")" 4000
archive=$t_home/.local/share/faden/archive
t_is 'the archive is private' "$(stat -c %a "$archive")" 700
cp "$t_tmp/before" "$file"
mv "$archive" "$archive.away"
t_exit 'the archive is gone, the parent is back' 0 t_faden recall "$ref"
sed -i 's/rrrr/rrrx/' "$file"
t_exit 'neither has it' 3 t_faden recall "$ref"
t_like 'and says so' "$(cat "$t_err")" 'the original is gone'
mv "$archive.away" "$archive"

# --- generations: what the first one took out is had back through all that follow
begin tools
trim 'the first generation' --threshold 2000
first=$new
refs=$(grep -o 'faden recall [0-9a-f]*' "$new" | sort -u)
t_exit 'the second generation' 0 t_faden trim --json "$new" --min-savings 0
new=$(json path)
t_ok 'takes out more' test "$(json results count)" -gt 0
t_is 'names the first originals still' "$(grep -o 'faden recall [0-9a-f]*' "$new" | grep -c -F -e "$refs")" \
	"$(grep -o 'faden recall [0-9a-f]*' "$first" | wc -l)"
rm "$first" "$file"
t_exit 'a parent that is gone' 1 t_faden show $id
copy=$(sed -n "s/.*get it back from the archive: cp '\([^']*\)' .*/\1/p" "$t_err")
t_ok 'is in the archive, as is said' test -s "$copy"
t_exit 'and its family' 0 t_faden lineage $id
t_like 'says it too' "$(cat "$t_out")" "^The archive has a copy of this session: $copy$"
t_ok 'all of both is there when both parents are gone' check "$t_tmp/before" "$new"

# --- where no agent looks
begin tools
mkdir -p "$t_tmp/it's"
cp "$file" "$t_tmp/it's/backup.jsonl"
t_exit 'a file that lies anywhere' 0 t_faden trim "$t_tmp/it's/backup.jsonl"
t_unlike 'there is nothing to go on with' "$(cat "$t_out")" 'Go on|faden (ask|resume)|claude --resume'
t_like 'which is said' "$(cat "$t_out")" '^claude does not look for sessions where this file lies'
new=$(sed -n 's/^New session //p' "$t_out")
move=$(grep -E '^  (mkdir|mv) ' "$t_out")
t_exit 'so it is: nobody knows it' 1 t_faden show "$new"
t_ok 'it can be moved as is said' t_run sh -c "${move:-false}"
t_exit 'then it can' 0 t_faden show "$new"
t_exit 'the same in place' 0 t_faden trim --in-place "$t_tmp/it's/backup.jsonl"
t_unlike 'is not to go on with' "$(cat "$t_out")" 'Go on|faden (ask|resume)|claude --resume'
cp "$file" "$t_tmp/it's/$id.jsonl"
t_exit 'one whose id is in use' 0 t_faden trim --in-place "$t_tmp/it's/$id.jsonl"
t_unlike 'is not moved over the other' "$(cat "$t_out")" 'Go on|mv '
mkdir "$t_tmp/its work"
sed -i "s|\"cwd\":\"/work\"|\"cwd\":\"$t_tmp/its work\"|" "$file"
t_exit 'where it belongs' 0 t_faden trim $id
t_like 'it is, from its folder' "$(cat "$t_out")" "^  cd '$t_tmp/its work' && claude --resume [0-9a-f-]{36}$"
rmdir "$t_tmp/its work"
t_exit 'when that is gone' 0 t_faden trim $id
t_like 'it goes on elsewhere' "$(cat "$t_out")" '^  faden rollover --here [0-9a-f-]{36}$'
t_unlike 'and only there' "$(cat "$t_out")" 'Go on|claude --resume'
rm -f "$project"/*.jsonl

# --- in place
begin tools
chmod 640 "$file"
t_exit 'in place' 0 t_faden trim --json --in-place $id
t_is 'same id' "$(json session_id)" $id
t_is 'same file' "$(json path)" "$file"
t_is 'same mode' "$(stat -c %a "$file")" 640
t_ok 'the copy is the original' cmp "$archive/$(json backup).jsonl" "$t_tmp/before"
t_ok 'all can be had back' check "$t_tmp/before" "$file"
t_is 'alone in its folder' "$(ls -A "$project")" "$id.jsonl"
copies=$(find "$archive" -type f | wc -l)
t_exit 'again' 1 t_faden trim --in-place $id
t_is 'makes no second copy' "$(find "$archive" -type f | wc -l)" "$copies"
begin tools
t_exit 'in place, for people' 0 t_faden trim --in-place $id
undo=$(sed -n 's/^  undo     //p' "$t_out")
t_ok 'says how to take it back' t_run sh -c "$undo"
t_ok 'which does' cmp "$t_tmp/before" "$file"
copies=$(find "$archive" -type f | wc -l)
t_exit 'in place once more' 0 t_faden trim --in-place $id
t_is 'keeps the same bytes once' "$(find "$archive" -type f | wc -l)" "$copies"
begin tools
mkdir -p "$t_tmp/real"
mv "$file" "$t_tmp/real/$id.jsonl"
ln -s "$t_tmp/real/$id.jsonl" "$file"
t_exit 'in place through a link' 0 t_faden trim --in-place "$file"
t_ok 'the link is a link' test -L "$file"
t_like 'what it points to is trimmed' "$(cat "$t_tmp/real/$id.jsonl")" 'faden recall'
rm "$file"
begin tools
sleep 60 &
busy=$!
mkdir -p "$home/sessions"
printf '{"pid":%d,"sessionId":"%s"}\n' $busy $id >"$home/sessions/$busy.json"
t_exit 'in use' 5 t_faden trim --in-place $id
t_like 'is refused' "$(cat "$t_err")" "in use by claude .process $busy"
t_ok 'and untouched' cmp "$t_tmp/before" "$file"
t_exit 'a new session can be made all the same' 0 t_faden trim $id
kill $busy
rm "$home/sessions/$busy.json"

# --- Codex
thread=01a00000-0000-7000-8000-000000000003
folder=$t_home/.codex/sessions/2026/01/02
mkdir -p "$folder"
file=$folder/rollout-2026-01-02T03-04-05-$thread.jsonl
id=$thread
project=$folder
begin codex
trim 'codex'
t_is 'results of every shape' "$(json results count)" 6
t_is 'inputs' "$(json inputs count)" 2
t_is 'copies' "$(json copies count)" 2
t_like 'where Codex looks' "$new" "^$t_home/.codex/sessions/20[0-9/]*/rollout-20[0-9T-]*-$(json session_id).jsonl$"
t_like 'plain text stays plain' "$(cat "$new")" '"output":"\[Results from shell tool suppressed - original content was 900 characters'
t_like 'wrapped stays wrapped' "$(cat "$new")" '"output":"\{\\"output\\":\\"\[Results from shell tool suppressed.*\\",\\"metadata\\":\{\\"exit_code\\": 0\}\}"'
t_like 'arguments' "$(cat "$new")" '"arguments":"\{\\"path\\": \\"a\\", \\"text\\": \\"\[Input text of write tool'
t_like 'the compacted history' "$(grep compacted "$new")" 'faden recall'
t_like 'an ancestor keeps its id' "$(cat "$new")" '"id":"ancestor"'
t_like 'the note' "$(line 1)" '"payload":\{.*"trim_metadata":\{"parent_file"'
t_exit 'again' 1 t_faden trim "$new"
mv "$file" "$t_tmp/gone.jsonl"
t_ok 'all of it can be had back when the parent is gone' check "$t_tmp/before" "$new"
t_exit 'a second generation' 0 t_faden trim --json "$new" --assistant 9 --min-savings 0
t_ok 'still leads to the first originals' check "$t_tmp/before" "$(json path)"
mv "$t_tmp/gone.jsonl" "$file"
trim 'codex answers' --assistant 1 --min-savings 0
t_like 'go' "$(cat "$new")" '\[Codex response trimmed'
begin codex-odd
t_exit 'odd lines of codex' 0 t_faden trim --json "$file" --min-savings 0
new=$(json path)
t_ok 'do no harm' check "$file" "$new"
t_done
