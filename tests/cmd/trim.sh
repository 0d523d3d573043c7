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
	t_exit "$name: a new session is made" 0 t_faden trim --json $id "$@"
	new=$(json path)
	t_ok "$name: the parent is untouched" cmp "$t_tmp/before" "$file"
	t_ok "$name: all of it can be had back" check "$file" "$new"
}
line() { sed -n "$1p" "$new"; }

# --- what goes
begin tools
trim 'a session of many tools'
t_is 'three results go' "$(json results count)" 3
t_is 'two inputs go, also one that is hardly long enough' "$(json inputs count)" 2
t_is 'the new id is in the name of the file' "$new" "$project/$(json session_id).jsonl"
t_is 'the new id is on every line' "$(grep -c "\"sessionId\":\"$(json session_id)\"" "$new")" "$(grep -c sessionId "$file")"
t_like 'a placeholder tells tool, size and how to recall it' "$(cat "$new")" \
	'"content":"\[Results from Read tool suppressed - original content was 4000 characters\] Original: faden recall [0-9a-f]{16}"'
t_like 'a placeholder for a list of texts is a list' "$(cat "$new")" '"content":\[\{"type":"text","text":"\[Results from Grep tool suppressed - original content was 800 characters'
t_like 'a placeholder for an input names the input' "$(cat "$new")" '"content":"\[Input content of Write tool suppressed - original was 3000 characters\]'
t_like 'the note tells parent and options' "$(line 1)" '"trim_metadata":\{"parent_file":"'"$file"'".*"target_tools":null,"threshold":500'
t_is 'copies for the screen stay' "$(grep -o '"toolUseResult"' "$new" | wc -l)" "$(grep -o '"toolUseResult"' "$file" | wc -l)"
t_like 'the recorded usage of the copy is 0' "$(cat "$new")" '"usage":\{"input_tokens":0,"cache_read_input_tokens":0'
t_exit 'a trimmed session has nothing left to trim' 1 t_faden trim "$new"
t_like 'it is said that nothing is left to trim' "$(cat "$t_err")" 'nothing to trim in [0-9a-f-]{36}: no tool.s result or input of 500 characters or more is left that is not trimmed already'
t_exit 'a trimmed session has nothing left for a smaller threshold' 1 t_faden trim "$new" --threshold 60
t_like 'placeholders are left alone' "$(cat "$t_err")" 'nothing to trim'
trim '--tools takes one tool' --tools bash
t_is 'one result of that tool goes' "$(json results count)" 1
t_is 'no input of another tool goes' "$(json inputs count)" 0
t_like 'the input of another tool stays' "$(cat "$new")" '"content":"wwwwwwww'
t_exit 'tools that are none are refused' 1 t_faden trim $id --tools Rad,Bsh
t_like 'tools that are none are told with those there are' "$(cat "$t_err")" "no tool Rad, Bsh here; there are Bash, .*Read"
t_exit 'one tool that is none is no failure' 0 t_faden trim --dry-run $id --tools Rad,Bash
t_like 'one tool that is none is warned about' "$(cat "$t_err")" 'warning: no tool of this name was used in the session: Rad$'
t_exit 'an empty list of tools is refused' 2 t_faden trim $id --tools ''
t_exit 'blanks for tools are refused' 2 t_faden trim $id --tools ' , '
trim '--no-inputs' --no-inputs
t_is '--no-inputs leaves the inputs' "$(json inputs count)" 0
trim 'a larger threshold' --length 2000
t_is 'a larger threshold takes fewer results' "$(json results count)" 2
trim '--style head' --style head --length 1000
t_like '--style head keeps the beginning' "$(cat "$new")" '"content":"r{1000}\\n\\n\[Results from Read tool suppressed - original content was 4000 characters, the first 1000 are shown\]'
trim '--keep-head 7' --keep-head 7
t_like '--keep-head 7 keeps seven characters' "$(cat "$new")" '"content":"r{7}\\n\\n\[Results'
t_exit '--tool-use-result makes a new session' 0 t_faden trim --json $id --tool-use-result
new=$(json path)
t_ok '--tool-use-result leaves all else' check "$file" "$new" --display
t_is '--tool-use-result takes the copies for the screen' "$(grep -c '"toolUseResult"' "$new")" 1
t_exit 'short names of the options are taken' 0 t_faden trim -n --json $id -t read,BASH -l 600
t_is 'short names of the options count' "$(json results count)" 2

# --- more blocks than anybody writes
begin blocks 20000
trim 'a message of many blocks'
t_is 'the result among many blocks goes' "$(json results count)" 1
begin blocks 140000
t_exit 'a message of too many blocks is left alone' 1 t_faden trim $id
t_like 'it is said that there is nothing to trim among too many blocks' "$(cat "$t_err")" 'nothing to trim'

# --- repetitions
begin duplicates
t_exit 'repetitions stay when not asked for' 1 t_faden trim $id --min-savings 0
trim 'repetitions' --duplicates --min-savings 0
t_is '--duplicates takes all but the first on each side of the compaction' "$(json results count)" 3
t_is '--duplicates leaves the first on each side' "$(grep -c 'same words same' "$new")" 2

# --- answers
begin answers
t_exit 'answers are not trimmed when not asked for' 1 t_faden trim --json $id --min-savings 0
t_is 'no answer is counted when not asked for' "$(json answers count)" 0
trim '--assistant 2' --assistant 2
t_is '--assistant 2 takes two answers' "$(json answers count)" 2
t_like 'a trimmed answer has a placeholder' "$(sed -n 3p "$new")" '\[Claude response trimmed - original was 1200 characters\] Original'
t_like '--assistant 2 leaves the third answer' "$(cat "$new")" 'answer 3 answer 3'
trim '--assistant -1' --assistant -1
t_is '--assistant -1 takes all answers but the last' "$(json answers count)" 4
t_like '--assistant -1 leaves the last answer' "$(cat "$new")" 'answer 5 answer 5'
t_exit 'a session of nothing but answers has nothing to trim' 1 t_faden trim $id
t_like 'it is said how the answers would go' "$(cat "$t_err")" '; [0-9]+ long answers would go with --assistant [0-9]+$'
t_exit '--assistant -9 of fewer answers has nothing to trim' 1 t_faden trim --json $id --assistant -9 --min-savings 0
t_is '--assistant -9 of fewer answers takes none' "$(json answers count)" 0

# --- pictures
begin images
trim 'pictures that stay' --min-savings 0
t_is 'both pictures stay' "$(grep -o '"type":"image"' "$new" | wc -l)" 2
t_is 'the number of pictures that stay is told' "$(json images_left)" 2
t_exit 'a session with nothing long but pictures has nothing to trim' 1 t_faden trim $id --threshold 1000000
t_like 'it is said how the pictures would go' "$(cat "$t_err")" '; 1 picture or document would go with --images$'
t_unlike 'a picture is never written as program text' "$(cat "$new")" "\\{'type'"
trim '--images' --images --min-savings 0
t_is '--images takes both pictures' "$(json images count)" 2
t_unlike '--images leaves no picture' "$(cat "$new")" '"type":"image"'
ref=$(grep -o 'Data of type image/png suppressed - original was [0-9]* bytes\] Original: faden recall [0-9a-f]*' "$new" | tail -n 1 | sed 's/.* //')
t_exit 'a picture can be recalled' 0 t_faden recall "$ref"
t_is 'a recalled picture is the picture' "$(od -An -tx1 -N4 "$t_out" | tr -d ' ')" 89504e47

# --- bytes
begin bytes
trim 'odd bytes'
for n in $(make bytes-kept); do
	t_is "odd bytes: line $n is the same" "$(line "$n")" "$(sed -n "${n}p" "$file" | sed "s/$id/$(json session_id)/")"
done
t_ok 'odd bytes: the file did not grow' test "$(wc -c <"$new")" -lt "$(wc -c <"$file")"
begin hostile
trim 'hostile lines' --min-savings 0
make hostile-kept >"$t_tmp/kept"
t_is 'hostile lines are the same' "$(grep -a -c -F -x -f "$t_tmp/kept" "$new")" "$(wc -l <"$t_tmp/kept")"
begin first-array
trim 'a first line that is no object'
t_is 'a first line that is no object stays' "$(line 1)" '[]'
t_like 'the note goes to the first line that is an object' "$(line 2)" trim_metadata
begin cjk
t_exit 'little to gain in Chinese is trimmed on request' 0 t_faden trim --json $id --min-savings 0
new=$(json path)
t_ok 'little to gain in Chinese adds only the note' test "$(wc -c <"$new")" -lt "$(($(wc -c <"$file") + 1000))"
begin torn
trim 'a torn last line'
t_is 'a torn last line stays, with a newline' "$(tail -n 1 "$new")" "$(tail -n 1 "$file")"
begin errors
trim 'API errors'
t_like 'an API error is made neutral' "$(tail -n 1 "$new")" '"model":"claude-opus-4-8".*"error":null,"isApiErrorMessage":false'

# --- what is not worth it
begin compacted
t_exit 'results that are all before the compaction are not trimmed' 1 t_faden trim --json $id
t_is 'results before the compaction save nothing' "$(json saved tokens)" 0
t_is 'programs are told that there is nothing to trim' "$(json nothing_to_trim)" True
t_like 'people are told that they are not sent any more' "$(cat "$t_err")" 'not sent to the model any more'
t_is 'nothing is written when all is before the compaction' "$(ls "$project")" "$id.jsonl"
begin abandoned
t_exit 'results that are all on a branch that was left are not trimmed' 1 t_faden trim $id
begin small
t_exit 'a session with nothing long is not trimmed' 1 t_faden trim --json $id
t_is 'a session with nothing long gets no new id' "$(json session_id)" None
t_is 'nothing is written when nothing is long' "$(ls "$project")" "$id.jsonl"
t_exit 'less than --min-savings is not trimmed' 1 t_faden trim $id --threshold 100
t_like 'it is said how much it would save' "$(cat "$t_err")" 'it would save [0-9]+ tokens \((fitted|assumed)\), less than 300'

# --- dry run, folders, words
begin tools
ls -la --time-style=full-iso "$project" >"$t_tmp/ls"
t_exit '--dry-run is taken' 0 t_faden trim --dry-run $id
t_like '--dry-run says what would be saved' "$(cat "$t_out")" 'would save [0-9,]+ of [0-9,]+ tokens \((fitted|assumed)\)'
ls -la --time-style=full-iso "$project" >"$t_tmp/ls2"
t_ok '--dry-run leaves the folder as it was' cmp "$t_tmp/ls" "$t_tmp/ls2"
t_exit '-n is taken' 0 t_faden trim -n $id
t_like '-n says what is saved and what is left' "$(cat "$t_out")" "^Trimming $id would save [0-9,]+ of [0-9,]+ tokens \((fitted|assumed)\), leaving [0-9,]+$"
t_exit '-n --in-place is taken' 0 t_faden trim -n --in-place $id
t_like '-n --in-place says that the session itself would change' "$(cat "$t_out")" '^The session itself would change'
t_ok '-n --in-place changes nothing' cmp "$t_tmp/before" "$file"
t_exit '--out below a folder that is missing is refused' 3 t_faden trim --json $id --out "$t_tmp/out/deep"
t_like 'the missing folder is told' "$(json error message)" 'there is no such folder'
t_ok '--out below a missing folder makes nothing' test ! -e "$t_tmp/out"
t_exit '--out with a file is refused' 3 t_faden trim $id --out "$file"
t_exit '--out with nothing to trim has its status' 1 t_faden trim $id --out "$t_tmp/out" --threshold 1000000
t_ok '--out with nothing to trim makes no folder' test ! -e "$t_tmp/out"
cd "$t_tmp" || exit 1
t_exit '--out makes a session in another folder' 0 t_faden trim --json $id --out out
t_like 'the folder that was made is told' "$(cat "$t_err")" "^faden: made the folder $t_tmp/out$"
t_is 'the new session is in the other folder' "$(json path)" "$t_tmp/out/$(json session_id).jsonl"
t_is 'the new session is as private as the old one' "$(stat -c %a "$(json path)")" "$(stat -c %a "$file")"
t_exit 'a session is found by its path' 0 t_faden trim -n "$file"
t_exit 'a session is found by a fragment' 0 t_faden trim -n 11111111
t_exit 'a session that is not there is not found' 1 t_faden trim --json nobody
t_like 'the failure is one line for programs' "$(cat "$t_out")" '^\{"error":\{"code":"not-found","message":".*"\}\}$'
t_exit 'a threshold of 0 is refused' 2 t_faden trim $id --threshold 0
t_exit 'a length that is none is refused' 2 t_faden trim $id -l abc
t_like 'by what was typed' "$(cat "$t_err")" "option '-l': 'abc' is not a whole number"
t_exit 'so is a word that is nearly one' 2 t_faden trim $id --lenght 5
t_like 'with what was meant' "$(cat "$t_err")" "unknown option '--lenght' \(did you mean '--length'\?\)"
t_exit 'as the prompt of a talk calls it' 1 t_faden trim $id --length 1000000
for words in "$id --threshold 0" "$id --threshold x" "$id --bogus" "$id two" "$id --in-place --out x"; do
	# shellcheck disable=SC2086 # words
	t_exit "a mistake of usage is refused with --json: $words" 2 t_faden trim --json $words
	t_is "a mistake of usage is one object: $words" "$(json error code)" usage
done
cp "$file" "$project/11111111-2222-4333-8444-555555555556.jsonl"
t_exit 'a fragment that fits two is refused' 3 t_faden trim --json 11111111
t_like 'the ambiguity is one line for programs, with both' "$(cat "$t_out")" '^\{"error":\{"code":"ambiguous","message":".*55555555555[56].*\}$'
rm "$project/11111111-2222-4333-8444-555555555556.jsonl"
t_exit 'an unknown style is refused' 2 t_faden trim $id --style odd
t_exit 'trim without a session fails where there is none' 1 t_faden trim
t_exit '--in-place and --out exclude each other' 2 t_faden trim $id --in-place --out x
t_exit 'an unknown reference is not found' 1 t_faden recall 0123456789abcdef
t_exit 'what is no reference is refused' 2 t_faden recall xyz

# --- recall
trim 'a session to recall from'
ref=$(grep -o 'Results from Read.*faden recall [0-9a-f]*' "$new" | head -n 1 | grep -o '[0-9a-f]*$')
t_exit 'recall takes the words around the reference' 0 t_faden recall "Original: faden recall $ref"
t_is 'recall prints the text' "$(wc -c <"$t_out")" 4000
t_exit 'recall --raw is taken' 0 t_faden recall --raw "$ref"
t_is 'recall --raw prints the text with its quotes' "$(wc -c <"$t_out")" 4002
t_exit 'recall --json is taken' 0 t_faden recall --json "$ref"
t_is 'recall --json names the session' "$(json session_id)" $id
mv "$file" "$t_tmp/moved.jsonl"
t_exit 'recall works when the parent was moved' 0 t_faden recall "$ref"
rm "$t_tmp/moved.jsonl"
t_exit 'recall works when the parent was deleted' 0 t_faden recall "$ref"
t_is 'recall prints the whole text without the parent' "$(wc -c <"$t_out")" 4000
archive=$t_home/.local/share/faden/archive
t_is 'the archive is private' "$(stat -c %a "$archive")" 700
cp "$t_tmp/before" "$file"
mv "$archive" "$archive.away"
t_exit 'recall works when the archive is gone and the parent is back' 0 t_faden recall "$ref"
sed -i 's/rrrr/rrrx/' "$file"
t_exit 'recall fails when neither has it' 3 t_faden recall "$ref"
t_like 'it is said that the original is gone' "$(cat "$t_err")" 'the original is gone'
mv "$archive.away" "$archive"

# --- generations: what the first one took out is had back through all that follow
begin tools
trim 'the first generation' --threshold 2000
first=$new
refs=$(grep -o 'faden recall [0-9a-f]*' "$new" | sort -u)
t_exit 'the second generation is made' 0 t_faden trim --json "$new" --min-savings 0
new=$(json path)
t_ok 'the second generation takes out more' test "$(json results count)" -gt 0
t_is 'the second generation refers to the first originals still' "$(grep -o 'faden recall [0-9a-f]*' "$new" | grep -c -F -e "$refs")" \
	"$(grep -o 'faden recall [0-9a-f]*' "$first" | wc -l)"
rm "$first" "$file"
t_exit 'a parent that is gone cannot be trimmed' 1 t_faden trim $id
t_like 'it is said how to get it back' "$(cat "$t_err")" "get it back: faden archive restore $id"
t_exit 'it can be shown' 0 t_faden show --raw $id
t_like 'from the archive' "$(head -n 1 "$t_out")" "$id"
t_exit 'a parent that is gone has a lineage' 0 t_faden lineage $id
t_like 'the lineage tells of the copy in the archive' "$(cat "$t_out")" "^The archive has this session: faden archive restore $id"
t_ok 'the second generation is whole when both parents are gone' check "$t_tmp/before" "$new"

# --- where no agent looks
begin tools
mkdir -p "$t_tmp/it's"
cp "$file" "$t_tmp/it's/backup.jsonl"
t_exit 'a file that lies anywhere is trimmed' 0 t_faden trim "$t_tmp/it's/backup.jsonl"
t_unlike 'a file where no agent looks is not to go on with' "$(cat "$t_out")" 'Go on|faden (ask|resume)|claude --resume'
t_like 'it is said that the agent does not look there' "$(cat "$t_out")" '^claude does not look for sessions where this file lies'
new=$(sed -n 's/^New session //p' "$t_out")
move=$(grep -E '^  (mkdir|mv) ' "$t_out")
t_exit 'a file where no agent looks is no session' 1 t_faden show "$new"
t_ok 'the file can be moved as is said' t_run sh -c "${move:-false}"
t_exit 'the moved file is a session' 0 t_faden show "$new"
t_exit 'a file that lies anywhere is trimmed in place' 0 t_faden trim --in-place "$t_tmp/it's/backup.jsonl"
t_unlike 'a file trimmed where no agent looks is not to go on with' "$(cat "$t_out")" 'Go on|faden (ask|resume)|claude --resume'
cp "$file" "$t_tmp/it's/$id.jsonl"
t_exit 'a file whose id is in use is trimmed in place' 0 t_faden trim --in-place "$t_tmp/it's/$id.jsonl"
t_unlike 'a file whose id is in use is not moved over the other' "$(cat "$t_out")" 'Go on|mv '
mkdir "$t_tmp/its work"
sed -i "s|\"cwd\":\"/work\"|\"cwd\":\"$t_tmp/its work\"|" "$file"
t_exit 'a session where it belongs is trimmed' 0 t_faden trim $id
t_like 'it is said how it goes on from its folder' "$(cat "$t_out")" "^  cd '$t_tmp/its work' && claude --resume [0-9a-f-]{36}$"
rmdir "$t_tmp/its work"
t_exit 'a session whose folder is gone is trimmed' 0 t_faden trim $id
t_like 'it is said how it goes on elsewhere' "$(cat "$t_out")" '^  faden rollover --here [0-9a-f-]{36}$'
t_unlike 'a session whose folder is gone does not go on there' "$(cat "$t_out")" 'Go on|claude --resume'
rm -f "$project"/*.jsonl

# --- in place
begin tools
chmod 640 "$file"
t_exit '--in-place is taken' 0 t_faden trim --json --in-place $id
t_is '--in-place keeps the id' "$(json session_id)" $id
t_is '--in-place keeps the file' "$(json path)" "$file"
t_is '--in-place keeps the mode' "$(stat -c %a "$file")" 640
t_ok '--in-place keeps the original in the archive' cmp "$archive/$(json backup_key).jsonl" "$t_tmp/before"
t_ok '--in-place: all of it can be had back' check "$t_tmp/before" "$file"
t_is '--in-place leaves nothing beside the file' "$(ls -A "$project")" "$id.jsonl"
copies=$(find "$archive" -type f | wc -l)
t_exit '--in-place again has nothing to trim' 1 t_faden trim --in-place $id
t_is '--in-place again makes no second copy' "$(find "$archive" -type f | wc -l)" "$copies"
begin tools
t_exit '--in-place for people is taken' 0 t_faden trim --in-place $id
undo=$(sed -n "s|^  undo     faden|$FADEN|p" "$t_out")
t_ok '--in-place says how to take it back' t_run sh -c "$undo"
t_ok 'the way back brings back the original' cmp "$t_tmp/before" "$file"
copies=$(find "$archive" -type f | wc -l)
t_exit '--in-place once more is taken' 0 t_faden trim --in-place $id
t_is 'the same bytes are kept once' "$(find "$archive" -type f | wc -l)" "$copies"
begin tools
mkdir -p "$t_tmp/real"
mv "$file" "$t_tmp/real/$id.jsonl"
ln -s "$t_tmp/real/$id.jsonl" "$file"
t_exit '--in-place through a link is taken' 0 t_faden trim --in-place "$file"
t_ok '--in-place leaves the link a link' test -L "$file"
t_like '--in-place trims what the link points to' "$(cat "$t_tmp/real/$id.jsonl")" 'faden recall'
rm "$file"
begin tools
cp "$(command -v sleep)" "$t_tmp/claude"
"$t_tmp/claude" 60 &
busy=$!
mkdir -p "$home/sessions"
printf '{"pid":%d,"sessionId":"%s"}\n' $busy $id >"$home/sessions/$busy.json"
t_exit '--in-place of a session in use is refused' 5 t_faden trim --in-place $id
t_like 'it is said who uses the session' "$(cat "$t_err")" "in use by claude .process $busy"
t_ok 'a session in use is untouched' cmp "$t_tmp/before" "$file"
t_exit 'a new session can be made of one in use' 0 t_faden trim $id
kill $busy
rm "$home/sessions/$busy.json"
sleep 60 &
busy=$!
for since in '' ',"procStart":"Tue Mar  3 10:00:00 2026"' ',"procStart":"1"'; do
	begin tools
	printf '{"pid":%d,"sessionId":"%s"%s}\n' $busy $id "$since" >"$home/sessions/$busy.json"
	t_exit "a note whose process is another program now does not block${since:+: $since}" 0 t_faden trim --in-place $id
done
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
trim 'a session of Codex'
t_is 'codex: results of every shape go' "$(json results count)" 6
t_is 'codex: inputs go' "$(json inputs count)" 2
t_is 'codex: copies go' "$(json copies count)" 2
t_like 'codex: the new session is where Codex looks' "$new" "^$t_home/.codex/sessions/20[0-9/]*/rollout-20[0-9T-]*-$(json session_id).jsonl$"
t_like 'codex: plain text stays plain' "$(cat "$new")" '"output":"\[Results from shell tool suppressed - original content was 900 characters'
t_like 'codex: wrapped text stays wrapped' "$(cat "$new")" '"output":"\{\\"output\\":\\"\[Results from shell tool suppressed.*\\",\\"metadata\\":\{\\"exit_code\\": 0\}\}"'
t_like 'codex: arguments stay arguments' "$(cat "$new")" '"arguments":"\{\\"path\\": \\"a\\", \\"text\\": \\"\[Input text of write tool'
t_like 'codex: the compacted history is trimmed too' "$(grep compacted "$new")" 'faden recall'
t_like 'codex: an ancestor keeps its id' "$(cat "$new")" '"id":"ancestor"'
t_like 'codex: the note is in the first line' "$(line 1)" '"payload":\{.*"trim_metadata":\{"parent_file"'
t_exit 'codex: a trimmed session has nothing left to trim' 1 t_faden trim "$new"
mv "$file" "$t_tmp/gone.jsonl"
t_ok 'codex: all of it can be had back when the parent is gone' check "$t_tmp/before" "$new"
t_exit 'codex: a second generation is made' 0 t_faden trim --json "$new" --assistant 9 --min-savings 0
t_ok 'codex: a second generation leads to the first originals' check "$t_tmp/before" "$(json path)"
mv "$t_tmp/gone.jsonl" "$file"
trim 'codex: --assistant 1' --assistant 1 --min-savings 0
t_like 'codex: an answer goes' "$(cat "$new")" '\[Codex response trimmed'
begin codex-odd
t_exit 'codex: a session with odd lines is trimmed' 0 t_faden trim --json "$file" --min-savings 0
new=$(json path)
t_ok 'codex: odd lines do no harm' check "$file" "$new"

# --- what all commands look into, trim does too
rm -f "$project"/*
file=$("$t_helper/make-session" claude "$home" /work $id one two)
python3 - "$file" <<-'END'
	import sys
	text = open(sys.argv[1]).read()
	assert text.count('"out 1') == 1
	open(sys.argv[1], "w").write(text.replace('"out 1', '"out ' + "x" * (65 * 1024 * 1024)))
END
t_exit 'a line of 65 MB is trimmed' 0 t_faden trim --json "$file"
t_is 'its result goes' "$(json results count)" 1
rm -f "$file" "$(json path)"

# --- what goes on here goes on trimmed, under its name
mkdir -p "$t_tmp/talk" && cd "$t_tmp/talk" || exit 1
printf '*\ntool Bash cat long => %s\nsay done\n' "$(seq 1 900 | tr '\n' ' ')" >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
t_faden ask --agent rehearsal --new 'look at the greenhouse controller' >/dev/null 2>&1
t_unsetenv FADEN_AI_REHEARSAL_SCRIPT
old=$(t_faden list -F '{current}{id}' | sed -n 's/^current//p')
t_faden rename "$old" kumquat >/dev/null
t_exit 'trim --out needs no session either' 0 t_faden trim --out "$t_tmp/else"
t_like 'it is said why a copy elsewhere takes no place' "$(cat "$t_out")" 'elsewhere \(--out\): the session goes on here as it was'
t_is 'a copy elsewhere takes no place' "$(t_faden list -F '{current}{id}' | sed -n 's/^current//p')" "$old"
t_exit 'a plan takes no place' 0 t_faden trim --json --dry-run
t_is 'a plan is not current' "$(json current)" False
t_exit 'trim without a session trims what goes on here' 0 t_faden trim --json
new=$(json session_id)
t_is 'the trimmed session is current' "$(json current)" True
t_is 'the trimmed session is what goes on' "$(t_faden list -F '{current}{id}' | sed -n 's/^current//p')" "$new"
t_is 'the name goes along, and leads to one session' "$(t_faden list -F '{name} {id}' | grep kumquat)" "kumquat $new"
t_exit 'the turn after a trim succeeds' 0 t_faden ask 'what did I say?'
t_like 'the turn after a trim knows what was said before' "$(cat "$t_out")" 'look at the greenhouse controller'
t_is 'the turn after a trim is in the trimmed session' "$(t_faden list -F '{turns} {id}' | grep "$new")" "2 $new"
t_like 'a subject leads to the trimmed session, not to the original' \
	"$(t_faden route --json 'back to the greenhouse controller')" "\"session_id\":\"$new\""
t_faden reset >/dev/null
t_exit 'a named session that does not go on is trimmed' 0 t_faden trim --json "$old"
t_is 'it takes nobody'"'"'s place' "$(json current)" False
t_is 'it takes nobody'"'"'s name' "$(t_faden list -F '{name} {id}' | grep kumquat)" "kumquat $new"

# --- a session of the agent's own, called by its name, is the folder's last one all the same
mkdir -p "$t_tmp/own" && cd "$t_tmp/own" || exit 1
own=$home/projects/$(printf %s "$t_tmp/own" | tr -c 'a-zA-Z0-9' -)
mkdir -p "$own"
make tools | sed "s|\"cwd\":\"[^\"]*\"|\"cwd\":\"$t_tmp/own\"|" >"$own/$id.jsonl"
rm -f "$project"/*
t_faden rename "$id" checkout >/dev/null
t_exit 'a named session of the agent is trimmed' 0 t_faden trim checkout
t_like 'it is told that it takes the place and the name' "$(cat "$t_out")" \
	'It is now what goes on in its folder, and called checkout'
cd "$t_tmp" || exit 1
t_faden rename "$old" elsewhere >/dev/null
t_exit 'a named session of another folder is trimmed' 0 t_faden trim elsewhere
t_like 'the name goes along' "$(cat "$t_out")" 'It is now called elsewhere'
t_done
