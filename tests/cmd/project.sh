#!/bin/sh
# A project is not its path: sessions are found with it when it was moved, renamed or cloned, and
# when the work tree is gone. What only has the same name or place is not mixed in.
. "$(dirname "$0")/../lib.sh"

claude=$t_home/.claude
codex=$t_home/.codex
t_setenv 'FADEN_CLOCK=2026-03-10T00:00:00Z'
t_setenv 'GIT_CONFIG_GLOBAL=/dev/null'
[ "$(stat -c %W "$t_tmp")" -gt 0 ] || t_skip_all 'the file system keeps no time of birth'

git() {
	t_run git -c user.name=T -c user.email=t@example.org -c init.defaultBranch=main "$@"
}
# repo DIR [REMOTE]: one commit, like no other: two of one message and second would be the same.
repos=0
repo() {
	repos=$((repos + 1))
	mkdir -p "$1"
	git -C "$1" init -q
	git -C "$1" commit -q --allow-empty -m "$1 $repos"
	[ -z "${2-}" ] || git -C "$1" remote add origin "$2"
}
# session N DIR WORD…: of Claude Code for an odd number, else of Codex.
session() {
	number=$1
	dir=$2
	shift 2
	case $((number % 2)) in
	1) "$t_helper/make-session" claude "$claude" "$dir" "aaaaaaaa-0000-4000-8000-00000000000$number" "$@" ;;
	*) "$t_helper/make-session" codex "$codex" "$dir" "01a00000-0000-7000-8000-00000000000$number" "$@" ;;
	esac >/dev/null
}
# listed DIR OPTION…: the first prompts of what is listed there.
listed() {
	(cd "$1" && shift && t_faden list "$@" -F '{prompt}' 2>/dev/null | paste -s -d ' ')
}

work=$t_tmp/work
mkdir "$work"

# --- moved
repo "$work/old"
mkdir "$work/old/src"
session 1 "$work/old" --time 2026-03-01T10:00:00Z top
session 2 "$work/old/src" --time 2026-03-02T10:00:00Z deep
t_is 'sessions are listed where they were begun' "$(listed "$work/old")" 'deep top'
mv "$work/old" "$work/new"
t_is 'a moved repository has its sessions' "$(listed "$work/new")" 'deep top'
t_is 'a folder of it has those of all of it, too' "$(listed "$work/new/src")" 'deep top'
cd "$work/new" || exit 1
t_exit 'they are listed' 0 t_faden list
t_is 'where they lie now is shown' "$(cut -f 7 <"$t_out" | paste -s -d ' ')" "$work/new/src $work/new"
t_is 'a format has where they were begun' "$(t_faden list -F '{dir}' | paste -s -d ' ')" "$work/old/src $work/old"
t_exit 'without a name the last of where it lay is meant' 0 t_faden show
t_like 'it is said which' "$(cat "$t_err")" 'the last session of this folder: aaaaaaaa-0000-4000-8000-000000000001'
session 3 "$work/new" --time 2026-03-03T10:00:00Z here
t_is 'what was begun here comes first' "$(listed "$work/new")" 'here deep top'
t_is 'and is meant when none is named' "$(t_faden show 2>/dev/null | head -n 1)" here
t_is '--all has them once' "$(listed "$work/new" --all)" 'here deep top'

# --- resumed in the new place
printf '#!/bin/sh\necho "$PWD $*"\n' >"$t_bin/claude"
chmod +x "$t_bin/claude"
cp "$t_bin/claude" "$t_bin/codex"
one=aaaaaaaa-0000-4000-8000-000000000001
two=01a00000-0000-7000-8000-000000000002
file=$(find "$claude" -name "$one.jsonl")
before=$(cksum <"$file")
t_exit 'without --here a folder that is gone is an error' 3 t_faden resume $one
t_like 'which has the command' "$(cat "$t_err")" "its project lies here now: faden resume --here $one\$"
cd "$work" || exit 1
t_exit 'elsewhere too' 3 t_faden resume $one
t_like 'with the place' "$(cat "$t_err")" "its project lies elsewhere now: cd '$work/new' && faden resume --here $one\$"
t_exit 'a folder in it is a place as well' 3 t_faden port --to claude $two
t_like 'for any command' "$(cat "$t_err")" "cd '$work/new/src' && faden port --to claude --here $two\$"
t_exit 'a search elsewhere gives the usual command' 0 t_faden search top
t_like 'that says where' "$(cat "$t_out")" "^ +faden resume $one\$"
cd "$work/new/src" || exit 1
t_exit 'a search in the project finds all of it, also from a folder in it' 0 t_faden search --here -s top
t_like 'with the command that goes on here' "$(cat "$t_out")" "^ +faden resume --here $one\$"
cd "$work/new" || exit 1
files() { find "$claude" -type f | sort; }
were=$(files)
t_exit 'what it would run can be printed' 0 t_faden resume --here --print $one
t_is 'as the command that makes the copy and goes on' "$(cat "$t_out" "$t_err")" "cd '$work/new' && 'faden' 'resume' '--here' '$one'"
t_exit 'and as JSON' 0 t_faden resume --here --json $one
t_like 'for programs' "$(cat "$t_out")" "\"directory\":\"$work/new\",\"command\":\\[\"faden\",\"resume\",\"--here\",\"$one\"\\]"
t_is 'printing writes nothing' "$(files)" "$were"
t_exit 'without a terminal it is not started' 3 t_faden resume --here $one
t_is 'and it is said how to have the command' "$(cat "$t_err")" 'faden: resume: it needs a terminal; --print shows the command'
t_is 'that writes nothing either' "$(files)" "$were"
t_exit 'with it the agent is started here' 0 t_on_tty resume --here $one
copy=$(sed 's/.*--resume //' "$t_out")
t_like 'with a copy' "$copy" '^[0-9a-f-]{36}$'
t_is 'in this folder' "$(cat "$t_out")" "$work/new --resume $copy"
t_is 'that is said' "$(cat "$t_err")" "faden: Claude Code looks for sessions by their folder: $one goes on here as its copy $copy"
t_ok 'it lies where the agent looks' test -f "$claude/projects/$(echo "$work/new" | tr -c 'a-zA-Z0-9\n' -)/$copy.jsonl"
t_is 'the session is as it was' "$(cksum <"$file")" "$before"
t_is 'the copy is listed as what it is' "$(t_faden list -F '{relation} {dir} {prompt}' | grep moved)" "moved $work/new top"
t_exit 'a second time the same goes on' 0 t_on_tty resume --here $one
t_is 'without a word' "$(cat "$t_out" "$t_err")" "$work/new --resume $copy"
t_exit 'which can be printed by now' 0 t_faden resume --here --print $one
t_is 'with the copy that is there' "$(cat "$t_out")" "cd '$work/new' && '$t_bin/claude' '--resume' '$copy'"
t_exit 'the copy itself stays' 0 t_on_tty resume --here "$copy"
t_is 'as it is' "$(cat "$t_out")" "$work/new --resume $copy"
t_exit 'codex is told where to go on' 0 t_faden resume --here --json $two
t_like 'by its option' "$(cat "$t_out")" "\"command\":\[\"$t_bin/codex\",\"resume\",\"-C\",\"$work/new\",\"$two\"\]"
rm "$claude/projects/$(echo "$work/new" | tr -c 'a-zA-Z0-9\n' -)/$copy.jsonl"
mkdir "$work/plain1"
"$t_helper/make-session" claude "$claude" "$work/plain1" bbbbbbbb-0000-4000-8000-000000000001 lone >/dev/null
t_faden list --all >/dev/null
mv "$work/plain1" "$work/plain2"
cd "$work/plain2" || exit 1
t_exit 'what was begun where this lay goes on without a name' 0 t_on_tty resume
t_like 'here' "$(cat "$t_out")" "^$work/plain2 --resume "
rm -r "$claude/projects/"*-plain1 "$claude/projects/"*-plain2
cd "$work/new" || exit 1

# --- moved before anybody read what was begun there
mkdir "$work/fresh1" && cd "$work/fresh1" || exit 1
t_exit 'a conversation begins' 0 t_faden ask --agent rehearsal 'water the plum tree'
mv "$work/fresh1" "$work/fresh2"
cd "$work/fresh2" || exit 1
t_is 'it is there after the move' "$(listed "$work/fresh2")" 'water the plum tree'
t_like 'as what goes on' "$(t_faden list)" '^\*.*water the plum tree$'
t_exit 'it goes on' 0 t_faden ask --agent rehearsal continue
for n in 3 4; do
	mv "$work/fresh$((n - 1))" "$work/fresh$n"
	cd "$work/fresh$n" || exit 1
	t_exit "and so it does after move $n" 0 t_faden ask --agent rehearsal --json continue
	t_like 'with the same' "$(cat "$t_out")" '"title":"water the plum tree"'
done
t_exit 'a reset' 0 t_faden reset
mv "$work/fresh4" "$work/fresh5"
cd "$work/fresh5" || exit 1
t_exit 'holds after a move' 1 t_faden ask continue
t_like 'and it is said how it is undone' "$(cat "$t_err")" 'faden reset --undo'
t_exit 'which it is' 0 t_faden reset --undo
t_exit 'so that it goes on' 0 t_faden ask continue
rm -r "$t_home/.local/state/faden/rehearsal" "$work/fresh5"
cd "$work/new" || exit 1

# --- another repository where it lay
repo "$work/old"
session 5 "$work/old" --time 2099-01-01T10:00:00Z stranger
t_is 'what is begun there since is not of the moved one' "$(listed "$work/new")" 'here deep top'
t_is 'what lies at a path is listed by it as ever' "$(listed "$work/old")" 'stranger deep top'

# --- the same name, another repository
repo "$work/a/app" https://example.org/me/app
repo "$work/b/app" https://example.org/you/app
session 4 "$work/a/app" mine
session 6 "$work/b/app" yours
listed "$work/a/app" >/dev/null
t_is 'a name alone makes no project' "$(listed "$work/b/app")" 'yours'

# --- a clone
repo "$work/c/app" git@example.org:me/app.git
session 7 "$work/c/app" cloned
t_is 'a clone of the same remote is of the project, and comes after' "$(listed "$work/c/app")" 'cloned mine'
(cd "$work/c/app" && t_faden list) >"$t_out"
t_like 'where it lies is shown' "$(cat "$t_out")" "$work/a/app.*mine"
rm -r "$claude/projects/"*-c-app
cd "$work/c/app" || exit 1
t_exit 'what goes on in a clone that is there is not meant here' 1 t_faden show

# --- a clone without a remote of anybody else
repo "$work/q1"
session 7 "$work/q1" original
t_faden list --all >/dev/null
git clone -q "$work/q1" "$work/q2"
t_is 'a clone of what lies here is of its project' "$(listed "$work/q2")" 'original'
git -C "$work/q2" remote remove origin
t_is 'also when it has forgotten where it is from' "$(listed "$work/q2")" 'original'
git clone -q --bare "$work/q2" "$work/q3.git"
git clone -q "$work/q3.git" "$work/q4"
t_is 'and a clone of a clone' "$(listed "$work/q4")" 'original'
git -C "$work/q1" remote add origin https://example.org/me/q
t_is 'a remote of the first takes nothing from one that has none' "$(listed "$work/q2")" 'original'
git -C "$work/q2" remote add origin https://example.org/you/fork
t_is 'what is fetched from elsewhere is another project, though it began alike' "$(listed "$work/q2")" ''
git -C "$work/q2" remote set-url origin git@example.org:me/q
t_is 'the same remote makes it one again' "$(listed "$work/q2")" 'original'
rm -r "$claude/projects/"*-q1
repo "$work/r1"
repo "$work/r2"
session 7 "$work/r1" apart
t_faden list --all >/dev/null
t_is 'two that have nothing in common are two' "$(listed "$work/r2")" ''
git -C "$work/r2" remote add origin https://example.org/me/r
git -C "$work/r1" remote add origin https://example.org/me/r
t_is 'a remote that both got since makes them one' "$(listed "$work/r2")" 'apart'
rm -r "$claude/projects/"*-r1

# --- a work tree
git -C "$work/a/app" worktree add -q "$work/tree" -b side
session 8 "$work/tree" --time 2026-03-04T10:00:00Z branched
t_is 'a work tree has what was begun in the others' "$(listed "$work/tree")" 'branched mine'
t_is 'and they what was begun in it' "$(listed "$work/a/app")" 'mine branched'
git -C "$work/a/app" worktree remove "$work/tree"
t_is 'also when it is gone' "$(listed "$work/a/app")" 'mine branched'
git -C "$work/a/app" worktree add -q "$work/tree2" -b other
rm -r "$work/tree2"
session 9 "$work/tree2" --time 2026-03-05T10:00:00Z unseen
t_faden list --all >/dev/null
touch "$(find "$codex" -name '*4.jsonl')"
t_is 'also one that was gone before it was ever seen, as long as git knows it' "$(listed "$work/a/app")" 'mine unseen branched'

# --- without git
mkdir "$work/plain"
session 0 "$work/plain" simple
t_is 'a folder without git has its sessions' "$(listed "$work/plain")" 'simple'
mv "$work/plain" "$work/simple"
t_is 'also when it was renamed' "$(listed "$work/simple")" 'simple'
mkdir "$work/plain"
t_is 'and by its old path' "$(listed "$work/plain")" 'simple'

# --- below the top of a work tree
mkdir -p "$work/a/app/deep/er"
t_is 'the rest of the project is listed from below its top' "$(listed "$work/a/app/deep/er" --sort name)" "$(listed "$work/a/app" --sort name)"

# --- conversations of our own
rm "$t_bin/claude" "$t_bin/codex"
t_unsetenv FADEN_CLOCK
mkdir -p "$work/talk/sub" "$work/unrelated"
cd "$work/talk" || exit 1
t_exit 'a conversation is begun' 0 t_faden ask 'my cat is called Tom'
t_faden list >/dev/null
mv "$work/talk" "$work/chat"
cd "$work/chat" || exit 1
t_exit 'what goes on in a moved folder is asked about' 0 t_faden route --json continue
t_like 'it goes on there' "$(cat "$t_out")" "\"action\":\"resume\".*\"directory\":\"$work/chat\""
t_exit 'a turn goes on with it' 0 t_faden ask 'what did I say?'
t_like 'with all that was said' "$(cat "$t_out")" 'my cat is called Tom'
t_unlike 'without a fresh start' "$(cat "$t_err")" 'fresh'
t_is 'it is what goes on here' "$(t_faden list -F '{current} {prompt}')" 'current my cat is called Tom'
git -C "$work/a/app" worktree add -q "$work/tree3" -b third
cd "$work/tree3" || exit 1
t_exit 'a conversation is begun in a work tree' 0 t_faden ask 'paint the fence green'
t_faden list >/dev/null
cd "$work/a/app" && git worktree remove --force "$work/tree3"
t_exit 'what was begun in a work tree that is gone goes on' 0 t_faden ask 'back to the fence: it is dry'
t_exit 'and once more' 0 t_faden ask 'what did I say?'
t_like 'with all that was said' "$(cat "$t_out")" 'paint the fence green'
t_is 'where the others are' "$(t_faden route --json 'the fence' | sed 's/.*"action":"resume"[^}]*"directory":"\([^"]*\)".*/\1/')" "$work/a/app"
cd "$work/unrelated" || exit 1
t_like 'elsewhere nothing goes on' "$(t_faden route --json continue)" '"action":"none"'

# Whoever reads a session first notes what its folder is, a search too.
n=0
for reader in 'index' 'search pomelo' 'archive'; do
	n=$((n + 1))
	repo "$work/n$n"
	git -C "$work/n$n" worktree add -q -b side "$work/side$n"
	mkdir "$work/p$n"
	k=0
	for at in n p side; do
		k=$((k + 1))
		"$t_helper/make-session" claude "$claude" "$work/$at$n" "dddddddd-000$n-4000-8000-00000000000$k" \
			--time 2026-03-08T10:00:00Z "pomelo-$at" >/dev/null
	done
	# shellcheck disable=SC2086
	t_exit "they are read by $reader" 0 t_faden $reader
	mv "$work/p$n" "$work/was-p$n"
	git -C "$work/n$n" worktree remove --force "$work/side$n"
	t_is "after $reader a folder that was renamed has its sessions" "$(listed "$work/was-p$n")" 'pomelo-p'
	t_is "after $reader a project has those of a work tree that is gone" "$(listed "$work/n$n" | tr ' ' '\n' | sort | paste -s -d ' ')" 'pomelo-n pomelo-side'
done

# The agent's folder of a project lies elsewhere, behind a link.
s=aaaaaaaa-0000-4000-8000-0000000000aa
fs=$("$t_helper/make-session" claude "$t_home/.claude" "$t_tmp/linked" "$s" 'the axolotl regrows')
mv "${fs%/*}" "$t_tmp/put-away"
ln -s "$t_tmp/put-away" "${fs%/*}"
ln -s "$t_home/.claude/projects" "$t_home/.claude/projects/round"
t_exit 'a session behind a link is listed' 0 t_faden list --all -F '{id} {path}' axolotl
t_is 'once, where the agent finds it' "$(cat "$t_out")" "$s $fs"
t_exit 'it is archived' 0 t_faden archive
t_exit 'and listed there' 0 t_faden archive list "$s"
t_exit 'it is found' 0 t_faden search --json axolotl
t_is 'in that session alone' "$(grep -o '"session_id":"[^"]*"' "$t_out" | sort -u)" "\"session_id\":\"$s\""
t_exit 'it is shown' 0 t_faden show "$s"
t_exit 'and deleted' 0 t_faden delete -y "$s"
t_ok 'there' test ! -e "$t_tmp/put-away/$s.jsonl"
t_exit 'it comes back' 0 t_faden archive restore "$s"
t_ok 'behind the link' test -e "$t_tmp/put-away/$s.jsonl"
t_done
