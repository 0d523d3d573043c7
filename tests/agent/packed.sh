#!/bin/sh
# What the real Codex compressed is listed and shown, and goes on: in Codex and in faden.
. "$(dirname "$0")/../lib.sh"
t_need_agents
t_model_start
t_codex_env
mkdir "$t_tmp/here"
cd "$t_tmp/here" || exit 1

t_exit 'a session is begun in codex' 0 t_run "$t_codex" exec --skip-git-repo-check 'my cat is called Tom [[bash: seq 2000]]'
file=$(find "$t_home/.codex/sessions" -name '*.jsonl')
id=$(basename "$file" .jsonl | sed 's/^.*T..-..-..-//')
# It compresses what was not used for some weeks.
touch -d '60 days ago' "$file"
cat >>"$t_home/.codex/config.toml" <<-END

	[features]
	local_thread_store_compression = true
END
t_exit 'codex works on another' 0 t_run "$t_codex" exec --skip-git-repo-check 'another [[bash: sleep 2]]'
t_ok 'meanwhile it compressed the old one' t_wait_for 20 test -e "$file.zst" -a ! -e "$file"
sed -i '/compression/d' "$t_home/.codex/config.toml"

t_exit 'the old one is listed' 0 t_faden list
t_like 'by its words' "$(cat "$t_out")" "$id.*my cat is called Tom"
t_exit 'it is shown' 0 t_faden show "$id"
t_like 'with its words' "$(cat "$t_out")" '^my cat is called Tom'
t_exit 'it is trimmed' 0 t_faden trim --json "$id"
copy=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["session_id"])' <"$t_out")
t_exit 'codex goes on with the copy' 0 t_run "$t_codex" exec --skip-git-repo-check resume "$copy" 'what did I say?'
t_like 'with all that was said' "$(cat "$t_out")" 'Tom'
t_ok 'what it was made from is still compressed' test -e "$file.zst"
t_exit 'faden goes on with the compressed one' 0 t_faden ask --in "$id" 'what did I say?'
t_like 'and it remembers' "$(cat "$t_out")" 'Tom'
t_ok 'codex has unpacked it for that' test -e "$file" -a ! -e "$file.zst"
t_is 'it is listed once' "$(t_faden list --gone -F '{id}' | grep -c "^$id")" 1
t_done
