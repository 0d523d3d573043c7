#!/bin/sh
# A session whose file lies elsewhere, behind a link of its name: it is a session where the link lies.
. "$(dirname "$0")/../lib.sh"

here=$t_tmp/here
mkdir -p "$here" "$t_tmp/else"
cd "$here" || exit 1
a=aaaaaaaa-0000-4000-8000-000000000001
b=aaaaaaaa-0000-4000-8000-000000000002
link=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$a" 'the kumquat tree bears fruit')
other=$("$t_helper/make-session" claude "$t_home/.claude" "$here" "$b" 'the loquat tree bears fruit')
real=$t_tmp/else/away.jsonl
mv "$link" "$real"
cp "$real" "$t_tmp/before"
ln -s "$real" "$link"
# Neither of these is a session more.
mkdir "${link%/*}-too"
ln -s "$other" "${link%/*}-too/$b.jsonl"
ln -s "$t_tmp/nowhere" "${link%/*}/aaaaaaaa-0000-4000-8000-000000000003.jsonl"
ln -s aaaaaaaa-0000-4000-8000-000000000004.jsonl "${link%/*}/aaaaaaaa-0000-4000-8000-000000000004.jsonl"
ln -s "$t_tmp/else" "${link%/*}/aaaaaaaa-0000-4000-8000-000000000005.jsonl"

t_exit 'it is listed' 0 t_faden list -F '{id} {path}'
t_is 'where the agent finds it, and nothing twice' "$(sort "$t_out")" "$a $link
$b $other"
t_is 'nothing is wrong with that' "$(cat "$t_err")" ''
ln -s "$t_home" "$t_tmp/home"
for name in "$a" "$link" "${link%/*}/../${link#"${link%/*/*}"/}" "$t_tmp/home${link#"$t_home"}"; do
	t_exit "it is shown as $name" 0 t_faden show "$name" --json
	t_like 'and is the same' "$(cat "$t_out")" "\"path\":\"$link\""
done
t_exit 'it is found' 0 t_faden search --json kumquat
t_like 'by its id' "$(cat "$t_out")" "\"session_id\":\"$a\""
t_exit 'it is forked by its path' 0 t_faden fork "$link"
fork=${link%/*}/$(sed -n 's/^New session //p' "$t_out").jsonl
t_ok 'the fork lies where the link does' test -s "$fork"
t_unlike 'where the agent looks' "$(cat "$t_out")" 'does not look'
rm -f "$fork"

t_exit 'it is archived' 0 t_faden archive
t_exit 'and listed there' 0 t_faden archive list "$a" --json
t_like 'by the path of the link' "$(cat "$t_out")" "\"path\":\"$link\""
echo >>"$real"
t_exit 'what would be deleted is said' 0 t_faden delete -n "$link"
t_like 'and what stays' "$(cat "$t_err")" 'away[.]jsonl itself stays'
t_exit 'it is deleted' 0 t_faden delete -y "$link"
t_ok 'the link' test ! -L "$link"
t_ok 'and not what it leads to' test -s "$real"
t_like 'which is said' "$(cat "$t_err")" 'away[.]jsonl itself stays'
t_exit 'it comes back' 0 t_faden archive restore "$a"
t_ok 'as a file' cmp "$real" "$link"
t_ok 'of its own' test ! -L "$link"

t_exit 'a file where no agent looks is not deleted' 3 t_faden delete -y "$real"
t_like 'and why is said' "$(cat "$t_err")" 'away[.]jsonl lies where no agent looks'
t_ok 'it is there' test -s "$real"

# In place through the link, and back.
rm "$link"
ln -s "$real" "$link"
cp "$t_tmp/before" "$real"
t_exit 'it is shorter than its copy' 0 t_faden archive list "$a"
t_exit 'that is brought back' 0 t_faden archive restore --replace "$a"
t_ok 'the link stays' test -L "$link"
t_is 'what it leads to is longer again' "$(wc -c <"$real")" "$(($(wc -c <"$t_tmp/before") + 1))"
rm "$real"
t_exit 'when what it led to is gone, the archive has it' 0 t_faden show "$link"
t_exit 'it comes back there' 0 t_faden archive restore "$a"
t_ok 'where the link leads' test -s "$real"
t_exit 'it is forgotten' 0 t_faden delete --forget -y "$a"
t_like 'what the link led to stays' "$(cat "$t_err")" 'away[.]jsonl itself stays'
t_ok 'the link does not' test ! -L "$link"
t_exit 'nothing knows it' 1 t_faden show "$a"
t_done
