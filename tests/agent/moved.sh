#!/bin/sh
# A folder is moved: the real agents go on with its sessions in the new place, by `faden resume` and
# by themselves from then on. The sessions of where it lay stay as they are.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../tty/tmux.sh"
t_need_agents
tty_need
t_model_start
t_claude_env
t_codex_env
old=$t_tmp/old
new=$t_tmp/new
cat >"$t_home/.claude.json" <<-JSON
	{"hasCompletedOnboarding":true,"theme":"dark","numStartups":5,
	 "customApiKeyResponses":{"approved":["test-key"],"rejected":[]},
	 "projects":{"$new":{"hasTrustDialogAccepted":true,"hasCompletedProjectOnboarding":true}}}
JSON
printf '\n[projects."%s"]\ntrust_level = "trusted"\n' "$new" >>"$t_home/.codex/config.toml"
mkdir "$old"
cd "$old" || exit 1

claude=aaaaaaaa-1111-4000-8000-000000000001
t_exit 'a session is begun in claude' 0 t_run "$t_claude" -p 'my cat is called Tom' --session-id $claude
t_exit 'and one in codex' 0 t_run "$t_codex" exec --skip-git-repo-check 'my dog is called Rex'
codex=$(t_faden list --agent codex -F '{id}')
t_exit 'one of claude is given a name' 0 t_faden rename $claude Cats
file=$(find "$t_home/.claude/projects" -name "$claude.jsonl")
cp "$file" "$t_tmp/before"
cd "$t_tmp" && mv "$old" "$new" && cd "$new" || exit 1

t_exit 'claude itself does not find it there' 1 t_run "$t_claude" -p 'who?' --resume $claude
t_exit 'without --here it is said what helps' 3 t_faden resume $claude
t_like 'namely that' "$(cat "$t_err")" "$old is gone; .*--here"

# The agents' own screens, by faden.
tty_start 120 40 "$FADEN" resume --here Cats
t_ok 'claude goes on in its own screen' t_wait_for 60 tty_shows 'my cat is called Tom'
t_wait_for 20 tty_shows '^(❯|>)'
sleep 1
tty_type 'and what now'
t_wait_for 20 tty_shows 'and what now'
sleep 1
tty_type Enter
t_ok 'it answers' t_wait_for 60 tty_shows 'last=and what now'
tty_stop
t_like 'it was given what was said before' "$(t_model_query 'json.dumps(log[-1]["body"])')" 'my cat is called Tom'
t_ok 'the session of the old place is as it was' cmp "$file" "$t_tmp/before"
copy=$(t_faden list --agent claude -F '{id} {relation} {dir}' | sed -n "s| moved $new\$||p")
t_like 'its copy is a session of this folder' "$copy" '^[0-9a-f-]{36}$'
t_is 'with the name' "$(t_faden list --agent claude -F '{id} {name}' | grep ' Cats$')" "$copy Cats"
t_exit 'claude continues it by itself' 0 t_run "$t_claude" -p 'what did I say?' --continue
t_like 'all of it' "$(cat "$t_out")" 'my cat is called Tom'
t_exit 'the newer claude does too' 0 t_run "$t_claude_new" -p 'what did I say?' --continue
t_like 'all of that' "$(cat "$t_out")" 'my cat is called Tom'
t_exit 'the old id leads to the same copy again' 0 t_faden resume --here --print $claude
t_like 'by its id' "$(cat "$t_out")" "^cd '$new' && .*claude' '--resume' '$copy'\$"
t_exit 'its lineage is known' 0 t_faden lineage "$copy"
t_like 'with where it comes from' "$(cat "$t_out")" "$(echo $claude | cut -c 1-8)"

tty_start 120 40 "$FADEN" resume --here "$codex"
t_ok 'codex goes on in its own screen and asks nothing' t_wait_for 60 tty_shows 'my dog is called Rex'
t_wait_for 20 tty_shows '^› Ask'
sleep 1
tty_type 'and the dog'
t_wait_for 20 tty_shows 'and the dog'
sleep 1
tty_type Enter
t_ok 'codex answers' t_wait_for 60 tty_shows 'last=and the dog'
tty_stop
for pid in $(pgrep -f "^$t_home/.codex/packages/.* app-server"); do
	kill "$pid"
done
t_exit 'codex finds it by itself as the last one of the new place' 0 t_run "$t_codex" exec --skip-git-repo-check \
	resume --last 'what did I say?'
t_like 'with all that was said' "$(cat "$t_out")" 'my dog is called Rex'

# A turn of faden's own goes on in the new place with what the agents had in the old one.
for agent in claude codex; do
	mkdir "$t_tmp/$agent-old"
	cd "$t_tmp/$agent-old" || exit 1
	case $agent in
	claude) t_run "$t_claude" -p 'the code word is heron' --session-id bbbbbbbb-1111-4000-8000-000000000001 >/dev/null ;;
	codex) t_run "$t_codex" exec --skip-git-repo-check 'the code word is heron' >/dev/null 2>&1 ;;
	esac
	# They are for people to go on with only when people made them.
	find "$t_home/.claude/projects" "$t_home/.codex/sessions" -name '*.jsonl' -exec \
		sed -i 's/"entrypoint":"sdk-cli"/"entrypoint":"cli"/; s/"source":"exec"/"source":"cli"/' {} +
	id=$(t_faden list -F '{id}' | head -n 1)
	mv "$t_tmp/$agent-old" "$t_tmp/$agent-new"
	cd "$t_tmp/$agent-new" || exit 1
	t_exit "$agent: a turn goes on in the new place" 0 t_faden ask --json --agent "$agent" 'continue: what did I say?'
	t_like "$agent: with the same session" "$(cat "$t_out")" "\"session_id\":\"$id\""
	t_like "$agent: the model was given what was said" "$(t_model_query 'json.dumps(log[-1]["body"])')" 'the code word is heron'
	t_exit "$agent: and once more" 0 t_faden ask --json 'and again?'
	t_like "$agent: in the same" "$(cat "$t_out")" "\"session_id\":\"$id\""
	t_like "$agent: in the new folder" "$(tail -n 20 "$(t_faden list -F '{path}' | head -n 1)")" "\"cwd\":\"$t_tmp/$agent-new\""
	t_exit "$agent: its own program goes on there" 0 t_faden resume --print
	t_like "$agent: in the new folder too" "$(cat "$t_out")" "^cd '$t_tmp/$agent-new' && "
	t_exit "$agent: and so does a fresh session with a brief" 0 t_faden rollover
done

# What faden itself began with codex in the old place goes on too, also after a turn in the new one.
mkdir "$t_tmp/ours-old"
cd "$t_tmp/ours-old" || exit 1
t_exit 'codex: a conversation is begun' 0 t_faden ask --agent codex 'the code word is ibis'
mv "$t_tmp/ours-old" "$t_tmp/ours-new"
cd "$t_tmp/ours-new" || exit 1
t_exit 'codex: it goes on where the folder lies now' 0 t_faden ask --agent codex 'continue: what did I say?'
t_exit 'codex: its own program is told the new folder' 0 t_faden resume --print
t_like 'codex: by its path' "$(cat "$t_out")" "^cd '$t_tmp/ours-new' && "
t_exit 'codex: it is rolled over there' 0 t_faden rollover
t_done
