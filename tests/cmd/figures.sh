#!/bin/sh
# One session, one figure: what advise, trim, smart-trim and rollover say of it is the same, and what
# they leave is still known of the copy, whose recorded tokens are 0.
. "$(dirname "$0")/../lib.sh"

claude=$t_home/.claude
here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1
id=abababab-0000-4000-8000-000000000001
file=$("$t_helper/make-session" claude "$claude" "$here" "$id" 'first words')

# 17,600 tokens of the agent's own, 4 bytes a token, the last answer 1,500 tokens.
"$t_helper/usage-session" "$file" "$id" "$here" mixed

# get FILE PATH: a member of the object in the file, by its keys.
get() {
	python3 -c '
import json, sys
doc = json.load(open(sys.argv[1]))
for key in sys.argv[2].split("."):
    doc = doc[int(key) if key.isdigit() else key]
print(doc)' "$1" "$2"
}

t_exit 'advise reads the session' 0 t_faden advise --json $id
context=$(get "$t_out" context.tokens)
saves=$(get "$t_out" strategies.0.saved.tokens)
leaves=$(get "$t_out" strategies.0.left_tokens)
t_is 'the context is known exactly' "$(get "$t_out" context.sure)" exact
t_exit 'trim plans for the session' 0 t_faden trim --dry-run --json $id
t_is 'trim means the same context as advise' "$(get "$t_out" before.tokens)" "$context"
t_is 'trim is as sure of the context as advise' "$(get "$t_out" before.sure)" exact
t_is 'trim saves what advise said' "$(get "$t_out" saved.tokens)" "$saves"
t_is 'trim leaves what advise said' "$(get "$t_out" left.tokens)" "$leaves"
t_exit 'rollover plans for the session' 0 t_faden rollover --dry-run --json $id
t_is 'rollover means the same context as advise' "$(get "$t_out" before.tokens)" "$context"
t_is 'rollover is as sure of the context as advise' "$(get "$t_out" before.sure)" exact

t_exit 'a trimmed copy is made' 0 t_faden trim --json $id
new=$(get "$t_out" session_id)
copy=$(get "$t_out" path)
head -n 1 "$copy" >"$t_tmp/first"
t_is 'the note of the copy has what there was' "$(get "$t_tmp/first" trim_metadata.stats.original_tokens)" "$context"
t_is 'the note of the copy has what is left' "$(get "$t_tmp/first" trim_metadata.stats.tokens_left)" "$leaves"
t_exit 'advise reads the copy' 0 t_faden advise --json "$new"
t_is 'advise knows what is left in the copy' "$(get "$t_out" context.tokens)" "$leaves"
t_is 'advise says how it knows what is left' "$(get "$t_out" context.sure)" fitted
t_ok 'the prompt of the agent counts in the copy' test "$(get "$t_out" kinds.base.tokens)" -ge 17000
t_exit 'trim plans for the copy' 0 t_faden trim --dry-run --json --threshold 50 --assistant 1 "$new"
t_is 'trim knows what is left in the copy' "$(get "$t_out" before.tokens)" "$leaves"
t_is 'trim says how it knows what is left' "$(get "$t_out" before.sure)" fitted

# A prompt that nobody answered comes on top; an answer with its tokens counts alone.
last=$(tail -n 1 "$copy" | sed 's/.*"uuid": "\([^"]*\)".*/\1/')
printf '{"parentUuid":"%s","isSidechain":false,"type":"user","uuid":"00000000-0000-4000-8000-00000000aaaa","timestamp":"2026-03-01T11:00:00Z","sessionId":"%s","message":{"role":"user","content":"%0400d"}}\n' \
	"$last" "$new" 7 >>"$copy"
t_exit 'advise reads the copy with a prompt more' 0 t_faden advise --json "$new"
more=$(get "$t_out" context.tokens)
t_ok 'a prompt without answer counts on top' test "$more" -gt $((leaves + 80)) -a "$more" -lt $((leaves + 140))
t_exit 'trim plans for the copy with a prompt more' 0 t_faden trim --dry-run --json --threshold 50 --assistant 1 "$new"
t_is 'trim counts the prompt on top as advise does' "$(get "$t_out" before.tokens)" "$more"
printf '{"parentUuid":"00000000-0000-4000-8000-00000000aaaa","isSidechain":false,"type":"assistant","uuid":"00000000-0000-4000-8000-00000000bbbb","timestamp":"2026-03-01T11:00:01Z","sessionId":"%s","message":{"id":"mm","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":"yes"}],"usage":{"input_tokens":22222,"output_tokens":3}}}\n' \
	"$new" >>"$copy"
t_exit 'advise reads the copy after an answer' 0 t_faden advise --json "$new"
t_is 'after an answer the recorded tokens count alone' "$(get "$t_out" context.tokens) $(get "$t_out" context.sure)" '22225 exact'

t_exit 'a rollover is made' 0 t_faden rollover --json $id
new=$(get "$t_out" session_id)
left=$(get "$t_out" left.tokens)
t_is 'what the rollover saves and leaves is the context' $((left + $(get "$t_out" saved.tokens))) "$context"
t_is 'the rollover says how sure each figure is' \
	"$(get "$t_out" saved.sure) $(get "$t_out" before.sure) $(get "$t_out" left.sure)" 'fitted exact fitted'
head -n 1 "$(get "$t_out" path)" >"$t_tmp/first"
t_is 'the note of the rollover has the same figures' "$(get "$t_tmp/first" continue_metadata.stats.original_tokens) $(get "$t_tmp/first" continue_metadata.stats.tokens_left)" "$context $left"
t_exit 'advise reads the rollover' 0 t_faden advise --json "$new"
t_is 'advise knows what is left in the rollover' "$(get "$t_out" context.tokens) $(get "$t_out" context.sure)" "$left fitted"
t_ok 'the prompt of the agent counts in the rollover' test "$(get "$t_out" kinds.base.tokens)" -ge 17000
t_exit 'a rollover is planned for people' 0 t_faden rollover --dry-run $id
comma() { echo "$1" | sed 's/...$/,&/'; }
t_like 'the plan for people has the same figures' "$(cat "$t_out")" \
	"^It would save $(comma $((context - left))) of $(comma "$context") tokens \(fitted\), leaving $(comma "$left")$"
t_exit 'a rollover of the rollover is planned' 0 t_faden rollover --dry-run --json "$new"
t_is 'the second rollover knows what is left in the first' "$(get "$t_out" before.tokens) $(get "$t_out" before.sure)" "$left fitted"

# Nothing was recorded: what the file shows is all that is known, of both.
bare=abababab-0000-4000-8000-000000000002
sed "s/$id/$bare/g; s/\"usage\": {[^}]*}/\"x\": 1/" "$file" >"$(dirname "$file")/$bare.jsonl"
t_exit 'a rollover of a session without figures is made' 0 t_faden rollover --json $bare
new=$(get "$t_out" session_id)
left=$(get "$t_out" left.tokens)
t_is 'without figures what is left is assumed' "$(get "$t_out" left.sure)" assumed
t_exit 'advise reads the rollover without figures' 0 t_faden advise --json "$new"
t_is 'advise assumes the same' "$(get "$t_out" context.tokens) $(get "$t_out" context.sure)" "$left assumed"

t_exit 'trim --in-place is made' 0 t_faden trim --json --in-place $id
t_is 'trim --in-place leaves as much as a copy' "$(get "$t_out" left.tokens)" "$leaves"
t_exit 'advise reads the session trimmed in place' 0 t_faden advise --json $id
t_is 'advise knows what is left in place' "$(get "$t_out" context.tokens)" "$leaves"
t_exit 'a copy of the session trimmed in place is made' 0 t_faden trim --json --threshold 50 --assistant 1 --min-savings 0 $id
head -n 1 "$(get "$t_out" path)" >"$t_tmp/first"
t_is 'the copy has one note' "$(grep -c faden_context "$t_tmp/first")" 0
t_is 'the note of the copy starts from what was left' "$(get "$t_tmp/first" trim_metadata.stats.original_tokens)" "$leaves"

# What only the recorded tokens told is kept for the copy: the agent leaves out old results, so that
# 60 of them are 300,000 tokens in the file and 62,000 at a call; 18,000 are its own.
# made NAME N BYTES MOST: N results of so many bytes, recorded until MOST.
made() {
	id=abababab-0000-4000-8000-00000000000$1
	file=$("$t_helper/make-session" claude "$claude" "$here" "$id" 'first words')
	"$t_helper/usage-session" "$file" "$id" "$here" "$2" "$3" "$4"
}
# near NAME VALUE LOW HIGH
near() {
	t_ok "$1 ($2)" test "$2" -ge "$3" -a "$2" -le "$4"
}

made 5 60 20000 62000
t_exit 'advise reads a session with results that are not sent' 0 t_faden advise --json "$id"
near 'the agent has a share of its own' "$(get "$t_out" kinds.base.tokens)" 17500 18500
leaves=$(get "$t_out" strategies.0.left_tokens)
near 'a trim leaves the share of the agent' "$leaves" 18000 20000
t_exit 'trim reads a session with results that are not sent' 0 t_faden trim --json "$id"
t_is 'trim leaves what advise said of unsent results' "$(get "$t_out" left.tokens)" "$leaves"
t_is 'figures with unsent results are called assumed' "$(get "$t_out" saved.sure)" assumed
new=$(get "$t_out" session_id)
t_exit 'advise reads the copy without unsent results' 0 t_faden advise --json "$new"
t_is 'the copy has the context that was foretold' "$(get "$t_out" context.tokens)" "$leaves"
near 'the copy has the share of the agent' "$(get "$t_out" kinds.base.tokens)" 16000 18500
# One result is lost: what is mended knows the figure.
sed -i 5d "$(find "$claude" -name "$new.jsonl")"
t_exit 'a damaged copy is mended' 0 t_faden repair --apply --json "$new"
mended=$(get "$t_out" session_id)
t_exit 'advise reads the mended copy' 0 t_faden advise --json "$mended"
t_is 'the mended copy is as large' "$(get "$t_out" context.tokens)" "$leaves"
t_exit 'half of each text can be kept' 0 t_faden trim --dry-run --json --style head --keep-head 10000 "$id"
near 'half of each text saves half' "$(get "$t_out" left.tokens)" 38000 42000

made 6 60 20000 400000
t_exit 'advise reads a session with a large window' 0 t_faden advise --json "$id"
t_is 'a large window is seen' "$(get "$t_out" window.tokens)" 1000000
t_exit 'a copy of the session with a large window is made' 0 t_faden trim --json "$id"
new=$(get "$t_out" session_id)
t_exit 'advise reads the copy with a large window' 0 t_faden advise --json "$new"
t_is 'the copy has the large window' "$(get "$t_out" window.tokens)" 1000000
t_exit 'a rollover of the session with a large window is made' 0 t_faden rollover --json "$id"
new=$(get "$t_out" session_id)
t_exit 'advise reads the rollover with a large window' 0 t_faden advise --json "$new"
t_is 'the rollover has the large window' "$(get "$t_out" window.tokens)" 1000000
t_exit 'the session with a large window is trimmed in place' 0 t_faden trim --in-place --json "$id"
t_exit 'advise reads it after the trim in place' 0 t_faden advise --json "$id"
t_is 'the session trimmed in place has the large window' "$(get "$t_out" window.tokens)" 1000000

t_done
