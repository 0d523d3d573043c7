#!/bin/sh
# A run of the pair goes to another machine, with the sessions of its agents, and goes on there.
. "$(dirname "$0")/../lib.sh"

here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1
t_exit 'a run stops for want of rounds' 7 t_faden master --agent rehearsal --name Counting -r 1 'count to three'
run=$(basename "$here"/.claude-master/sessions/session-*.json .json)
file=$here/.claude-master/sessions/$run.json
t_exit 'it is exported by its name' 0 t_faden export Counting -o "$t_tmp/run.faden"
t_exit 'and by its id' 0 t_faden export "${run#session-}" -o "$t_tmp/same.faden"
t_exit 'what is neither session nor run is not found' 1 t_faden export nothing-of-that -o "$t_tmp/none.faden"
t_is 'the run and both sessions are in the bundle' "$(t_faden import --list "$t_tmp/run.faden" | cut -f 1 | sort | uniq -c | tr -s ' ')" " 1 master
 2 rehearsal"
t_exit 'it is a page too' 0 t_faden export Counting -o "$t_tmp/run.html"
t_ok 'a sound one' "$t_helper/check-page" "$t_tmp/run.html"
said='You Instructor, rehearsal Instruction, round 1 Worker, rehearsal Instructor, rehearsal Stopped '
t_is 'of who said what' "$(sed -n 's/.*<h2 class="who">\([^<]*\)<.*/\1/p' "$t_tmp/run.html" | tr '\n' ' ')" "$said"
t_is 'and Markdown' "$(t_faden export Counting --format markdown | sed -n 's/^## \(.*\) · .*/\1/p' | tr '\n' ' ')" "$said"
t_like 'and text' "$(t_faden export Counting)" '^Instruction, round 1  20'
t_exit 'and JSON' 0 t_faden export Counting --format json
t_ok 'of the kind that the page says' "$t_helper/check-json" "$t_root/docs/man/json.mdoc" show <"$t_out"
cp "$file" "$t_tmp/file"
cp -a .claude-master "$t_tmp/kept"

# Another machine: another HOME, and the folder without the run.
first=$t_home
t_home=$t_tmp/second
mkdir "$t_home"
t_setenv "HOME=$t_home"
for dir in CONFIG_HOME=.config DATA_HOME=.local/share STATE_HOME=.local/state CACHE_HOME=.cache; do
	t_setenv "XDG_${dir%%=*}=$t_home/${dir#*=}"
done
rm -r .claude-master
t_exit 'it is imported there' 0 t_faden import "$t_tmp/run.faden"
t_like 'it is said how it goes on' "$(cat "$t_err")" 'faden master --resume --session [0-9a-f-]+$'
t_ok 'the run is byte for byte what it was' cmp "$file" "$t_tmp/file"
for session in $(cd "$first/.local/state/faden" && find rehearsal -name '*.jsonl'); do
	t_ok "and so is $(basename "$session")" cmp "$first/.local/state/faden/$session" "$t_home/.local/state/faden/$session"
done
t_is 'only its owner may read it' "$(find .claude-master -type f -perm /077; find .claude-master -type d -perm /077)" ''
t_exit 'again it is there' 0 t_faden import "$t_tmp/run.faden"
t_like 'all of it' "$(cat "$t_out")" '^there	master'
t_exit 'it goes on' 0 t_faden master --resume -r 9
t_like 'to its end' "$(cat "$t_out" "$t_err")" '(done|DONE|complete)'
sum=$(cksum <"$file")
t_exit 'a run that has gone on is not overwritten' 0 t_faden import "$t_tmp/run.faden"
t_like 'it comes as a copy' "$(cat "$t_out")" '^copy	master'
t_is 'and what was here is as it was' "$(cksum <"$file")" "$sum"
mkdir "$t_tmp/there" && cd "$t_tmp/there" || exit 1
t_exit 'it is brought to another folder' 0 t_faden import --here "$t_tmp/run.faden"
t_like 'where it is said how it goes on' "$(cat "$t_err")" 'faden master --resume --session [0-9a-f-]+$'
t_unlike 'without being forced' "$(cat "$t_err")" --force
t_exit 'and goes on' 0 t_faden master --resume -r 9
rm -r "$here"
cd "$t_tmp" || exit 1
t_exit 'without its folder it is refused' 3 t_faden import "$t_tmp/run.faden"
t_like 'with what helps' "$(cat "$t_err")" "is not here \($here\); --here"
t_done
