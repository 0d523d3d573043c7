#!/bin/sh
# The runs of a folder: listed, found by a name, cleaned, forked, compared, merged, taken to another
# machine and taken in from other forms. Nothing that is a secret is ever in their files.
. "$(dirname "$0")/../lib.sh"

here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1
runs=$here/.claude-master/sessions
t_setenv 'FADEN_CLOCK=2026-03-10T12:00:00Z'
key=sk-ant-api03-SECRETSECRETSECRET
t_setenv "ANTHROPIC_API_KEY=$key"
t_setenv "ANTHROPIC_CUSTOM_HEADERS=Authorization: Bearer $key"
t_setenv "OPENAI_API_KEY=$key"
# id NAME: of the run that has exactly this name.
id() { t_faden master --list-sessions 2>/dev/null | awk -F '\t' -v name="$1" '$6 == name { print $1 }'; }

t_exit 'a folder without runs has none' 1 t_faden master --list-sessions
t_like 'and that is said' "$(cat "$t_err")" 'no run in this folder'
t_exit 'a run with a name' 0 t_faden master --agent rehearsal --name alpha 'count to 3'
t_exit 'another one' 7 t_faden master --agent rehearsal --name lambda -r 2 'count to 4'
t_is 'both are listed with their rounds' "$(t_faden master --list-sessions 2>/dev/null | cut -f 3,4,6 | sort | tr '\n\t' ';,')" \
	'2 of 2,no-rounds,lambda;3,done,alpha;'
t_exit 'one goes on by a part of its name' 0 t_faden master --session lamb -r 9
t_exit 'a part that both have is not enough' 3 t_faden master --session l
t_like 'and they are named' "$(cat "$t_err")" 'may be 2 runs'
t_exit 'words behind --resume are no id' 0 t_faden master --resume 'count to 4'
t_exit 'a path is no id' 1 t_faden master --session ../../faden-nobody

# Kept out of the files, also when an agent repeats it in its error.
printf '*\nfail not-logged-in 401 invalid x-api-key: %s\n' "$key" >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
t_faden master --agent rehearsal --name gamma 'count to 2' >/dev/null 2>&1
t_unsetenv FADEN_AI_REHEARSAL_SCRIPT
t_like 'why it failed is in the file' "$(cat "$runs/session-$(id gamma).json")" '401 invalid x-api-key: .removed.'
t_is 'no key is in the files' "$(grep -rl SECRETSECRET "$here/.claude-master")" ''

t_exit 'a run is forked' 0 t_faden master --session alpha --fork-at-round 1 --name delta
t_like 'it is told what goes on with it' "$(cat "$t_out")" 'faden master --resume --session '
t_is 'it stands at that round' "$(t_faden master --list-sessions 2>/dev/null | grep 'delta$' | cut -f 3)" 1
t_exit 'there is no later round than the last' 1 t_faden master --session alpha --fork-at-round 4
t_exit 'the fork goes on' 0 t_faden master --session delta 'count to 5'
t_ok 'its sessions know where they come from' grep -rq '"relation":"forked"' "$t_home/.local/state/faden/rehearsal"
t_exit 'two runs differ' 1 t_faden master --diff alpha lambda
t_exit 'a run does not differ from itself' 0 t_faden master --diff alpha "$(id alpha)"
t_exit 'a diff needs two' 2 t_faden master --diff alpha
t_exit 'what another came to is brought home' 0 t_faden master --merge alpha lambda --name epsilon
t_like 'as words that say so' "$(grep '"kind":"say"' "$runs/session-$(id epsilon).json" | tail -n 1)" \
	'This comes from another run.*Round 4 there'
t_exit 'and the instructor gets them' 0 t_faden master --session epsilon
t_exit 'once' 1 t_faden master --merge epsilon lambda
t_exit 'the other goes on' 0 t_faden master --session lambda -r 20 'count to 1'
t_exit 'what came of it is brought' 0 t_faden master --merge epsilon lambda --name epsilon2
t_is 'without what was brought before' "$(grep '"kind":"say"' "$runs/session-$(id epsilon2).json" | tail -n 1 | grep -o 'Round [0-9]* there' | tr '\n' ' ')" 'Round 9 there '
printf '*\nsay {"act":"tell","message":"Sing."}\n' >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
t_faden master --agent rehearsal --name sigma -r 1 'sing' >/dev/null 2>&1
t_unsetenv FADEN_AI_REHEARSAL_SCRIPT
t_exit 'runs that have nothing in common are not merged' 3 t_faden merge alpha sigma
t_like 'and it is said why, and how' "$(cat "$t_err")" 'no instruction in common.*--unrelated'
t_exit 'not with the other words either' 3 t_faden master --merge alpha sigma
t_is 'nothing was made of them' "$(t_faden master --list-sessions 2>/dev/null | grep -c 'with ')" 0
t_exit 'a merge is looked at' 0 t_faden merge --unrelated -n alpha sigma
t_is 'and not made' "$(t_faden master --list-sessions 2>/dev/null | grep -c 'with ')" 0
t_exit 'who wants it gets it' 0 t_faden merge --unrelated alpha sigma --name tau
t_like 'with what was said there' "$(grep '"kind":"say"' "$runs/session-$(id tau).json" | tail -n 1)" 'Sing'
t_faden fork sigma --name upsilon >/dev/null 2>&1
t_faden master --session upsilon --fork-at-round 0 --name phi >/dev/null 2>&1
t_exit 'what comes from one another is related, with nothing in common' 1 t_faden merge sigma phi
t_like 'but may have nothing to bring' "$(cat "$t_err")" 'nothing that this one does not have'

# What workers changed: files by their tools, and commands, of which nobody knows.
printf 'tool Write notes.md => ok\ntool Bash touch x => ok\nsay {"act":"tell","message":"go on"}\n---\ntool Bash make => ok\nsay DONE\n' >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
t_faden master --agent rehearsal --name psi --permission-mode bypass 'change it' >/dev/null 2>&1
printf 'tool Write notes.md => ok\nsay {"act":"tell","message":"go on otherwise"}\n---\ntool Bash make => ok\nsay DONE\n' >"$t_tmp/script"
t_faden master --agent rehearsal --name omega --permission-mode bypass 'change it' >/dev/null 2>&1
t_unsetenv FADEN_AI_REHEARSAL_SCRIPT
t_exit 'a diff of runs' 1 t_faden diff psi omega
t_like 'names the file of both' "$(cat "$t_out")" '! Changed on both sides: notes.md'
t_like 'and what is not known' "$(cat "$t_out")" '1 shell command in the first, 0 in the second; which files it changes is not known'
t_exit 'no more than figures are wanted' 1 t_faden diff --stat psi omega
t_unlike 'nothing of what was said is there' "$(cat "$t_out")" 'otherwise'
t_exit 'for programs' 1 t_faden diff --json psi omega
t_like 'it is the same' "$(cat "$t_out")" '"left_files":\["notes.md"\],"left_shell_commands":1.*"right_shell_commands":0.*"files_of_both":\["notes.md"\]'
t_exit 'a merge of them' 0 t_faden merge --unrelated psi omega --name chi
t_like 'says it too' "$(cat "$t_out")" 'Changed on both sides: notes.md.*'
t_like 'with the commands' "$(cat "$t_out")" '1 shell command here, 0 there; which files it changes is not known'
t_exit 'a merge the other way' 0 t_faden merge --unrelated --json omega psi
t_like 'for programs too' "$(cat "$t_out")" '"conflicts":\["notes.md"\],"shell_commands":0,"other_shell_commands":1'
t_like 'and the instructor is told' "$(grep '"kind":"say"' "$runs/session-$(sed 's/.*"run_id":"\([^"]*\)".*/\1/' "$t_out").json" | tail -n 1)" 'ran commands in a shell .1; the one here 0.*is not known'
t_exit 'two things at once are refused' 2 t_faden master --diff --merge alpha lambda
t_exit 'the cloud is not there' 2 t_faden master --save-to-cloud
t_like 'what there is instead is said' "$(cat "$t_err")" 'session-file'

# What takes a session takes a run: by its name, its id, a part of either, or its file.
t_exit 'fork takes a run' 0 t_faden fork alpha --at 1 --name theta
t_is 'which stands at that round' "$(t_faden master --list-sessions 2>/dev/null | grep 'theta$' | cut -f 3)" 1
t_exit 'its last round when none is named' 0 t_faden fork "$(id alpha | cut -c 1-8)" --json
t_like 'as an object' "$(cat "$t_out")" '"round":3.*"how":"forked"'
t_exit 'what runs do not have is said' 2 t_faden fork alpha --current
t_exit 'diff takes two' 1 t_faden diff alpha "$runs/session-$(id theta).json"
t_like 'and tells their rounds' "$(cat "$t_out")" '1 instruction in common'
t_exit 'a run and a session are not compared' 3 t_faden diff alpha "$(basename "$(find "$t_home/.local/state/faden/rehearsal" -name '*.jsonl' | head -n 1)" .jsonl)"
t_exit 'what is neither is said so' 1 t_faden diff alpha typo
t_like 'as that' "$(cat "$t_err")" 'no run and no session has the id or name "typo"'
t_exit 'two forks of a name' 0 t_faden fork alpha --at 2
t_exit 'are not called the same' 0 t_faden fork alpha --at 2
t_is 'by themselves' "$(t_faden master --list-sessions 2>/dev/null | grep -c 'alpha (from round 2 on\(, 2\)*)$')" 2
t_exit 'nor when somebody wants it' 3 t_faden fork alpha --name theta
t_exit 'not of a merge either' 3 t_faden merge theta alpha --name theta
t_exit 'a fork is looked at' 0 t_faden fork alpha --at 2 -n --name nu
t_is 'and not made' "$(id nu)" ''
t_exit 'merge takes two' 0 t_faden merge theta alpha --name iota
t_exit 'what was brought home is not brought again' 1 t_faden merge iota alpha --name iota2
t_like 'and that is said' "$(cat "$t_err")" 'nothing to bring home'
t_is 'nothing was made' "$(id iota2)" ''
t_exit 'lineage takes one' 0 t_faden lineage iota
t_is 'and knows both that it comes from' "$(grep -c "forked at 1.*theta$\|merged at 1 with $(id alpha | cut -c 1-8).*iota  <- this" "$t_out")" 2
t_exit 'show takes one' 0 t_faden show theta
t_like 'with what was said' "$(cat "$t_out")" 'Say the number 1'
t_exit 'for programs too' 0 t_faden show theta --json
t_exit 'replay takes one' 0 t_faden replay alpha -n
t_like 'and says the instructions again' "$(cat "$t_out")" '3 turns would be said again'
t_exit 'a run is replayed' 0 t_faden replay alpha
t_exit 'its lineage' 0 t_faden lineage alpha
t_is 'knows it, once' "$(grep -c '─ replayed ' "$t_out")" 1
t_faden lineage theta >"$t_out"
t_is 'also from another of its family' "$(grep -c '─ replayed ' "$t_out")" 1

# From another folder.
mkdir "$t_tmp/aside"
cd "$t_tmp/aside" || exit 1
t_exit 'another folder has no run' 1 t_faden master --list-sessions
t_like 'and it is said which has' "$(cat "$t_err")" "others have some: $here"
t_exit 'a run is found there to be looked at' 0 t_faden show "$(printf %.8s "$(cd "$here" && id alpha)")"
t_exit 'or by its name' 0 t_faden lineage alpha
t_exit 'but not by a part of it' 1 t_faden show alph
t_exit 'two are compared' 1 t_faden diff alpha lambda
t_exit 'one is forked' 0 t_faden fork alpha --at 1 --name rho
t_like 'where it is' "$(cat "$t_out")" "faden master --resume --session [0-9a-f-]* -d '$here'"
t_ok 'nothing is left here' test ! -e .claude-master
t_exit 'to go on is said to be done there' 1 t_faden master --session rho
eval "set -- $(sed -n 's/.*go on with it there: faden master //p' "$t_err")"
t_exit 'by a command that can be pasted' 0 t_faden master "$@" 'count to 2'
cd "$here" || exit 1
t_exit 'export takes one' 0 t_faden export theta -o "$t_tmp" --format html
t_ok 'to a file of its name' test -s "$t_tmp/session-$(id theta).html"
t_exit 'port takes one' 0 t_faden port theta --to codex --name kappa
t_is 'its agents are others then' "$(t_faden master --list-sessions --json 2>/dev/null | grep -o '"name":"kappa".*' | grep -o '"[a-z]*_agent":"[a-z]*"' | head -n 2 | tr '\n' ' ')" \
	'"instructor_agent":"codex" "worker_agent":"codex" '
t_like 'with sessions that have what was said' "$(find "$t_home/.codex/sessions" -name '*.jsonl' -exec cat {} +)" 'count to 3'
t_exit 'one that is of that agent already is not' 2 t_faden port kappa --to codex

# Another machine: another home, another folder, and nothing but the file.
cp "$runs/session-$(id alpha).json" "$t_tmp/taken.json"
t_setenv "HOME=$t_tmp/other-home"
t_setenv "XDG_STATE_HOME=$t_tmp/other-home/state"
mkdir "$t_tmp/there"
cd "$t_tmp/there" || exit 1
t_exit 'another folder is said' 3 t_faden master --session-file "$t_tmp/taken.json" 'count to 5'
t_like 'with a choice' "$(cat "$t_err")" "works in $here: -d .?$here.? goes on there, --force goes on here"
t_exit 'and taken' 0 t_faden master --session-file "$t_tmp/taken.json" --force 'count to 5'
t_like 'the sessions are written back' "$(cat "$t_err")" "worker's session is not on this machine.*3 prompts"
t_like 'the worker goes on counting' "$(cat "$t_out")" '5, five'
t_ok 'the file has what came of it' grep -q 'five' "$t_tmp/taken.json"
t_is 'and nothing lies beside it' "$(find "$t_tmp" -maxdepth 1 -name 'taken*')" "$t_tmp/taken.json"
t_exit 'no file' 1 t_faden master --session-file "$t_tmp/none.json" x
echo '{"a":1}' >"$t_tmp/alien.json"
t_exit 'a file that is no run is refused' 3 t_faden master --session-file "$t_tmp/alien.json" x
t_is 'and nothing is left beside it' "$(find "$t_tmp" -maxdepth 1 -name 'alien*')" "$t_tmp/alien.json"
t_is 'nothing said here is for the conversations of the pair' "$(t_faden route --json 'count to 5' 2>/dev/null | grep -o '"action":"[a-z]*"')" '"action":"new"'
t_setenv "HOME=$t_home"
t_unsetenv XDG_STATE_HOME
cd "$here" || exit 1

# One run is worked on in one folder: the one that was said last.
mkdir "$t_tmp/a" "$t_tmp/b"
cd "$t_tmp/a" || exit 1
t_exit 'a run is begun in a folder' 7 t_faden master --agent rehearsal -r 1 'count to 6'
file=$(find "$t_tmp/a/.claude-master/sessions" -name 'session-*.json')
cd "$t_tmp/b" || exit 1
t_exit 'another one is not taken silently' 3 t_faden master --session-file "$file" -r 1
t_exit 'nor by its path' 3 t_faden master --session "$file" -r 1
t_like 'and nothing false is said of it' "$(cat "$t_err")" "works in $t_tmp/a: -d .?$t_tmp/a.? goes on there"
t_exit 'it goes on there' 7 t_faden master --session-file "$file" --force -r 1
again=$(grep -o 'faden master .* -r N' "$t_out" "$t_err" -h | sed 's/^faden master //; s/ -r N$//')
eval "set -- $again"
t_is 'that is where the command leads' "$*" "--session-file $file"
cd "$t_tmp" || exit 1
t_exit 'from a third folder' 3 t_faden master --session-file "$file" -r 1
t_like 'the one that it works in is named' "$(cat "$t_err")" "works in $t_tmp/b: -d .?$t_tmp/b.? goes on there"
t_exit 'to name it is enough' 7 t_faden master --session-file "$file" -d "$t_tmp/b" -r 1
again=$(grep -o 'faden master .* -r N' "$t_out" "$t_err" -h | sed 's/^faden master //; s/ -r N$//')
eval "set -- $again"
t_is 'the command names it too' "$*" "--session-file $file -d $t_tmp/b"
cd "$t_tmp/a" || exit 1
t_exit 'where it lies it is not taken silently' 3 t_faden master --resume -r 1
t_like 'and it is said where it is worked on' "$(cat "$t_err")" "works in $t_tmp/b: faden master --session-file .*$t_tmp/b.? goes on there"
eval "set -- $(sed -n 's/.*: faden master \(.*\) goes on there.*/\1/p' "$t_err")"
t_exit 'by a command that can be pasted' 7 t_faden master "$@" -r 1
t_exit 'and back to the first, by its name' 7 t_faden master --session-file "$file" -d "$t_tmp/a" -r 1
t_like 'which is said' "$(cat "$t_err")" "work in $t_tmp/a from here on; it was $t_tmp/b"
t_exit 'from where it goes on as ever' 0 t_faden master --resume -r 9

# A bundle, taken in elsewhere: here beside the run itself, and where nothing of it is known.
t_exit 'a run is taken along' 0 t_faden export alpha -o "$t_tmp/alpha.faden" --format bundle
for where in beside alone; do
	mkdir "$t_tmp/$where"
	cd "$t_tmp/$where" || exit 1
	[ $where = beside ] || t_setenv "HOME=$t_tmp/third-home"
	t_exit "$where: it is brought in" 0 t_faden import --here "$t_tmp/alpha.faden"
	t_like "$where: it is said how to go on" "$(cat "$t_err")" 'go on with it: faden master --resume --session [0-9a-f-]*$'
	t_exit "$where: it does, without another word" 0 t_faden master --resume 'count to 5'
	t_like "$where: from where it was" "$(cat "$t_out")" '5, five'
done
t_setenv "HOME=$t_home"
cd "$here" || exit 1

# A copy of a run, in its folder or with all of that, does not go on in the sessions of the first.
sessions() { find "$t_home/.local/state/faden/rehearsal" -name '*.jsonl' -exec grep -c '"type":"user"' {} + | sort; }
t_exit 'a run to be copied' 7 t_faden master --agent rehearsal --name zeta -r 1 'count to 3'
cp "$runs/session-$(id zeta).json" "$t_tmp/zeta.json"
cp -r "$here" "$t_tmp/twin"
t_exit 'the first one goes on' 0 t_faden master --session zeta -r 9
t_unlike 'as if nothing was' "$(cat "$t_err")" 'copy|somebody'
sessions >"$t_tmp/before"
t_exit 'so does its copy' 0 t_faden master --session-file "$t_tmp/zeta.json" -r 9
t_like 'which is said' "$(cat "$t_err")" "copy of has the worker's session too"
t_like 'from where it was' "$(cat "$t_out")" '2, two'
sessions >"$t_tmp/after"
t_is 'nothing was added to the sessions of the first' "$(comm -23 "$t_tmp/before" "$t_tmp/after")" ''
t_exit 'and goes on once more' 0 t_faden master --session-file "$t_tmp/zeta.json" 'count to 1'
t_unlike 'in sessions of its own' "$(cat "$t_err")" 'copy'
cd "$t_tmp/twin" || exit 1
t_exit 'a copy of the folder does too' 0 t_faden master --session zeta -r 9 --force
t_like 'and says it' "$(cat "$t_err")" "copy of has the instructor's session too"
sessions >"$t_tmp/after"
t_is 'still nothing was added to those' "$(comm -23 "$t_tmp/before" "$t_tmp/after")" ''
cd "$here" || exit 1
cp "$runs/session-$(id zeta).json" "$t_tmp/eta.json"
t_exit 'somebody goes on' 0 t_faden master --session zeta 'count to 2'
cp "$t_tmp/eta.json" "$runs/session-$(id zeta).json"
t_exit 'an older file is put back' 0 t_faden master --session zeta 'count to 1'
t_like 'what was said since is not lost on it' "$(cat "$t_err")" "somebody else has gone on in the instructor's session .3 turns"

# What others have written.
printf '%s\n' '{"type":"instructor-message","timestamp":"2026-03-01T10:00:00.000Z","message":{"role":"user","content":"count to 2"}}' \
	'{"type":"instructor-mess' \
	'{"type":"instructor-message","timestamp":"2026-03-01T10:00:01.000Z","message":{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"call_worker","input":{"system_prompt":"Count.","instruction":"Say the number 1."}}]}}' \
	"{\"type\":\"session-metadata\",\"timestamp\":\"2026-03-01T10:00:02.000Z\",\"sessionId\":\"aaaaaaaa-0000-4000-8000-000000000001\",\"lastUpdatedAt\":\"2026-03-01T10:00:02.000Z\",\"currentRound\":1,\"remainingRounds\":null,\"workDir\":\"$here\",\"config\":{\"instructorModel\":null,\"apiKey\":\"$key\",\"maxRounds\":null}}" \
	>"$t_tmp/theirs.jsonl"
t_exit 'a file of records is taken in' 0 t_faden master --import "$t_tmp/theirs.jsonl" --name theirs
t_like 'what was left out is said' "$(cat "$t_out")" 'could not be understood'
t_like 'and that keys were' "$(cat "$t_out")" 'held keys'
t_is 'no key came along' "$(grep -rl SECRETSECRET "$here/.claude-master")" ''
t_is 'unlimited stayed so' "$(t_faden master --list-sessions 2>/dev/null | grep 'theirs$' | cut -f 3)" 1
t_exit 'it goes on' 0 t_faden master --session theirs --agent rehearsal
t_like 'with the instruction that had not been given' "$(cat "$t_out")" 'Say the number 1'
t_exit 'what is no run is refused' 3 t_faden master --import "$t_err"

echo 'half of a fi' >"$runs/session-aaaaaaaa-0000-4000-8000-00000000000f.json"
t_exit 'one bad file does not hide the others' 0 t_faden master --list-sessions
t_like 'it is named' "$(cat "$t_err")" '00000000000f.json is left out'

t_exit 'how old must be said' 2 t_faden master --clean-sessions
t_exit 'nothing is that old' 1 t_faden master --clean-sessions --older-than 3d
t_setenv 'FADEN_CLOCK=2026-03-20T12:00:00Z'
t_exit 'one goes on' 0 t_faden master --session alpha 'count to 4'
before=$(t_faden master --list-sessions 2>/dev/null | wc -l)
t_exit 'what would go is told' 0 t_faden master --clean-sessions --older-than 7d -n
t_is 'and stays' "$(t_faden master --list-sessions 2>/dev/null | wc -l)" "$before"
gone=$(id lambda)
t_exit 'old ones go' 0 t_faden master --clean-sessions --older-than 7d
t_is 'the others stay' "$(t_faden master --list-sessions 2>/dev/null | cut -f 6)" alpha
t_is 'the archive has what went' "$(t_faden archive list "$gone" 2>/dev/null | cut -f 3)" "$gone"
t_exit 'who names one that went' 1 t_faden master --session lamb
t_like 'is told how to get it back' "$(cat "$t_err")" "faden archive restore $(printf %.8s "$gone")"
t_exit 'its whole id does it' 0 t_faden archive restore "$gone"
t_is 'it is there again' "$(id lambda)" "$gone"
t_exit 'it goes again' 0 t_faden master --clean-sessions --older-than 7d
t_exit 'a part of its id does it too' 0 t_faden archive restore "$(printf %.6s "$gone")"
t_faden master --clean-sessions --older-than 7d >/dev/null 2>&1
t_exit 'and its name' 0 t_faden archive restore lambda
t_exit 'it goes on' 0 t_faden master --session lambda 'count to 1'
t_setenv 'FADEN_CLOCK=2026-03-30T12:00:00Z'
printf 'wait 60000\n' >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
t_start_faden master --agent rehearsal --name killed 'count to 2' >/dev/null 2>&1
t_ok 'a run is killed' t_wait_for 20 sh -c 'grep -q "\"ask\"" .claude-master/sessions/*.journal'
kill -KILL "$t_pid"
wait "$t_pid" 2>/dev/null
t_unsetenv FADEN_AI_REHEARSAL_SCRIPT
t_setenv 'FADEN_CLOCK=2026-04-30T12:00:00Z'
t_exit 'and cleaned away' 0 t_faden master --clean-sessions --older-than 7d
t_exit 'it comes back' 0 t_faden archive restore killed
t_exit 'with all its steps' 0 t_faden master --session killed
t_like 'to its end' "$(cat "$t_out")" '2, two'
t_done
