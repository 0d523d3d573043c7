#!/bin/sh
# Conversations go to another machine, which is another HOME here: the real agents resume them there,
# and the model is sent all that was said.
. "$(dirname "$0")/../lib.sh"
t_need_agents
t_model_start
t_claude_env
t_codex_env
here=$t_tmp/here
mkdir "$here"
cd "$here" || exit 1

claude=aaaaaaaa-1111-4000-8000-000000000001
t_exit 'a session is begun in claude' 0 t_run "$t_claude" -p 'my cat is called Tom' --session-id $claude
t_exit 'it goes on' 0 t_run "$t_claude" -p 'and my horse Bella [[bash: seq 3]]' --resume $claude --allowedTools Bash
t_exit 'and one in codex' 0 t_run "$t_codex" exec --skip-git-repo-check 'my dog is called Rex'
codex=$(t_faden list --agent codex -F '{id}')
printf 'correct horse\n' >"$t_tmp/pass" && chmod 600 "$t_tmp/pass"
t_exit 'both are bundled and sealed' 0 t_faden export $claude "$codex" -o "$t_tmp/both.faden" --passphrase-file "$t_tmp/pass"
first=$t_home

# on NAME: another machine.
on() {
	t_home=$t_tmp/$1
	mkdir -p "$t_home"
	t_setenv "HOME=$t_home"
	for dir in CONFIG_HOME=.config DATA_HOME=.local/share STATE_HOME=.local/state CACHE_HOME=.cache; do
		t_setenv "XDG_${dir%%=*}=$t_home/${dir#*=}"
	done
	t_codex_env
}
# sent WORD…: whether the model was sent all of them last.
sent() {
	t_body=$(t_model_query 'json.dumps(log[-1]["body"])')
	for t_word; do
		case $t_body in *"$t_word"*) ;; *) echo "not sent: $t_word" ;; esac
	done
}

on second
t_exit 'they are imported elsewhere' 0 t_faden import "$t_tmp/both.faden" --passphrase-file "$t_tmp/pass"
for file in $(cd "$first" && find .claude/projects .codex/sessions -name '*.jsonl'); do
	t_ok "byte for byte: $(basename "$file")" cmp "$first/$file" "$t_home/$file"
done
t_exit 'claude resumes it there' 0 t_run "$t_claude" -p 'what did I say?' --resume $claude
t_is 'with all that was said' "$(sent 'my cat is called Tom' 'and my horse Bella' 'what did I say?' 'tool_result')" ''
t_exit 'the newer claude does too' 0 t_run "$t_claude_new" -p 'what else?' --resume $claude
t_is 'with all of that' "$(sent 'my cat is called Tom' 'and my horse Bella' 'what else?')" ''
t_exit 'codex resumes its own' 0 t_run "$t_codex" exec --skip-git-repo-check resume "$codex" 'what did I say?'
t_is 'with what was said to it' "$(sent 'my dog is called Rex' 'what did I say?')" ''
t_exit 'faden goes on with it as well' 0 t_faden ask --in $claude 'and now?'
t_is 'as one conversation' "$(sent 'my cat is called Tom' 'what else?' 'and now?')" ''

# Both went on: what comes back is a copy.
t_exit 'what has gone on there is bundled' 0 t_faden export $claude -o "$t_tmp/back.faden"
on home
t_exit 'meanwhile it goes on here too' 0 t_run "$t_claude" -p 'my bird is called Coco' --resume $claude
t_exit 'it comes back as a copy' 0 t_faden import "$t_tmp/back.faden"
copy=$(sed -n 's/^copy	claude	\([^	]*\).*/\1/p' "$t_out")
t_exit 'which claude resumes' 0 t_run "$t_claude" -p 'and then?' --resume "$copy"
t_is 'with what was said there' "$(sent 'my cat is called Tom' 'and now?' 'and then?')" ''
t_unlike 'and not what was said here' "$(t_model_query 'json.dumps(log[-1]["body"])')" Coco

# Another folder.
on third
mkdir "$t_tmp/there" && cd "$t_tmp/there" || exit 1
t_exit 'it is brought to another folder' 0 t_faden import --here "$t_tmp/back.faden"
moved=$(sed -n "s/.*: $claude goes on here as its copy //p" "$t_err")
t_exit 'where claude resumes it' 0 t_run "$t_claude" -p 'where am I?' --resume "$moved"
t_is 'with all of it' "$(sent 'my cat is called Tom' 'and my horse Bella' 'where am I?')" ''
t_done
