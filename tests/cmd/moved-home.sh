#!/bin/sh
# A user's home that was moved, or whose archive was copied to another machine: its sessions are those of the
# home that is there now, each of them once.
. "$(dirname "$0")/../lib.sh"

a=eeeeeeee-0000-4000-8000-000000000001
b=eeeeeeee-0000-4000-8000-000000000002
project=.claude/projects/-moved
make() {
	mkdir -p "$1/$project/$a/subagents"
	for n in 1 2 3; do
		printf '{"type":"user","sessionId":"%s","cwd":"/moved","uuid":"u%s","timestamp":"2026-03-01T10:00:00.000Z","message":{"role":"user","content":"kumquat number %s"}}\n' \
			"eeeeeeee-0000-4000-8000-00000000000$n" "$n" "$n" >"$1/$project/eeeeeeee-0000-4000-8000-00000000000$n.jsonl"
	done
	printf '{"type":"user","isSidechain":true,"agentId":"7","sessionId":"%s","cwd":"/moved","uuid":"s1","timestamp":"2026-03-01T10:00:00.000Z","message":{"role":"user","content":"a loquat"}}\n' \
		"$a" >"$1/$project/$a/subagents/agent-7.jsonl"
}
listed() { t_faden list --all --gone -F '{id} {gone}' 2>/dev/null | sort; }
move_to() {
	t_home=$1
	t_setenv "HOME=$t_home"
	t_setenv "XDG_CONFIG_HOME=$t_home/.config"
	t_setenv "XDG_DATA_HOME=$t_home/.local/share"
	t_setenv "XDG_STATE_HOME=$t_home/.local/state"
	t_setenv "XDG_CACHE_HOME=$t_home/.cache"
}

# --- the archive alone, copied to a home elsewhere, where the old one is not there
old=$t_home
make "$old"
t_exit 'a home is archived' 0 t_faden archive
t_exit 'and indexed' 0 t_faden index
t_ok 'one session more is gone' rm "$old/$project/$b.jsonl"
t_exit 'as the archive knows' 0 t_faden archive
mkdir -p "$t_tmp/copy/.local/share"
cp -a "$old/.local/share/faden" "$t_tmp/copy/.local/share/"
mv "$old" "$t_tmp/away"
move_to "$t_tmp/copy"
t_is 'elsewhere all are listed as gone' "$(t_faden list --all --gone 2>/dev/null | wc -l)" 3
t_exit 'they are indexed' 0 t_faden index
t_exit 'and found' 0 t_faden search --all kumquat
t_exit 'one is brought back' 0 t_faden archive restore "$a"
t_ok 'to where it belongs now' cmp "$t_home/$project/$a.jsonl" "$t_tmp/away/$project/$a.jsonl"
t_ok 'with what lay beside it' cmp "$t_home/$project/$a/subagents/agent-7.jsonl" "$t_tmp/away/$project/$a/subagents/agent-7.jsonl"
t_exit 'and all others' 0 t_faden archive restore --all
t_ok 'too' test -s "$t_home/$project/$b.jsonl"
t_ok 'nothing is made where the old home was' test ! -e "$old"
t_exit 'one is forgotten' 0 t_faden delete --forget -y "$a"
t_is 'by all its copies' "$(t_faden archive list --json | grep -c "$a")" 0
t_exit 'the archive is whole' 0 t_faden archive verify

# --- a home that was moved as a whole
mv "$t_tmp/away" "$t_tmp/moved"
move_to "$t_tmp/moved"
t_exit 'where the home was moved' 0 t_faden search --all kumquat
t_is 'what is found is there' "$(grep -c 'file is gone' "$t_out")" 0
t_is 'each is listed once' "$(t_faden list --all | wc -l)" 2
t_is 'and those that are gone' "$(t_faden list --all --gone | wc -l)" 3
t_exit 'nothing is to be indexed' 0 t_faden index --json
t_like 'as they are known' "$(cat "$t_out")" '"files_read": *0'
t_exit 'they are found' 0 t_faden search --all --json number
t_is 'once' "$(grep -o '"session_id":"[^"]*"' "$t_out" | sort | uniq -d)" ''
t_exit 'all is archived' 0 t_faden archive
t_exit 'what is gone comes back' 0 t_faden archive restore --all
t_like 'and nothing else' "$(cat "$t_out")" '^1 file written'
t_ok 'where it is now' test -s "$t_home/$project/$b.jsonl"
t_ok 'not where it was' test ! -e "$old"
t_exit 'an id means one' 0 t_faden delete --forget -y "$a"
t_is 'which is forgotten' "$(t_faden archive list --json | grep -c "$a")" 0

# --- once more, and nothing has looked at all of them when it is searched
t_exit 'all is indexed' 0 t_faden index
mv "$t_home" "$t_tmp/again"
move_to "$t_tmp/again"
t_exit 'a search is the first after the move' 0 t_faden search --all --json kumquat
t_is 'and finds them there' "$(grep -o '"gone":[a-z]*' "$t_out" | sort | uniq -c | tr -s ' ')" ' 2 "gone":false'
t_is 'each of them once' "$(grep -o '"session_id":"[^"]*"' "$t_out" | sort | uniq -d)" ''
t_unlike 'by no path of before' "$(cat "$t_out")" "$t_tmp/moved"
printf '{"type":"user","sessionId":"%s","cwd":"/moved","uuid":"u9","timestamp":"2026-03-01T10:00:09.000Z","message":{"role":"user","content":"a medlar"}}\n' \
	"$b" >>"$t_home/$project/$b.jsonl"
t_exit 'what is said there since is found' 0 t_faden search --all medlar
t_exit 'nothing else is to be indexed' 0 t_faden index --json
t_like 'as they are known' "$(cat "$t_out")" '"files_read": *0'
t_done
