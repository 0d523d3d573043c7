#!/bin/sh
# faden rename: names of the user's own.
. "$(dirname "$0")/../lib.sh"

claude=$t_home/.claude
here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1
a=aaaaaaaa-0000-4000-8000-000000000001
file=$("$t_helper/make-session" claude "$claude" "$here" "$a" --title 'agent name' one)
sum=$(cksum <"$file")

t_exit 'a name' 0 t_faden rename aaaaaaaa 'My  own'
t_is 'shows' "$(t_faden list -F '{name}')" 'My  own'
t_exit 'finds it' 0 t_faden show 'my  own'
t_exit 'instead of the agent'\''s' 1 t_faden show 'agent name'
t_exit 'another one' 0 t_faden rename 'My  own' 'über'
t_is 'replaces it' "$(t_faden list -F '{name}')" 'über'
t_exit 'taken away' 0 t_faden rename --remove über
t_is 'the agent'\''s is back' "$(t_faden list -F '{name}')" 'agent name'
t_is 'the file is as it was' "$(cksum <"$file")" "$sum"

t_exit 'for programs' 0 t_faden rename --json aaaaaaaa 'One "more"'
t_like 'as JSON' "$(cat "$t_out")" "^\{\"session_id\":\"$a\",\"agent\":\"claude\",\"title\":\"One \\\\\"more\\\\\"\",\"name\":\"One \\\\\"more\\\\\"\","
t_exit 'taken away for programs' 0 t_faden rename --json --remove aaaaaaaa
t_like 'the agent'\''s name shows' "$(cat "$t_out")" '"name":"agent name"'
t_exit 'a failure' 1 t_faden rename --json nobody name
t_like 'is JSON too' "$(cat "$t_out")" '^\{"error":\{"code":"not-found","message":"'

printf '#!/bin/sh\n' >"$t_bin/claude"
chmod +x "$t_bin/claude"
t_exit 'what resume would run' 0 t_faden resume --json aaaaaaaa
t_is 'as JSON' "$(cat "$t_out")" "{\"session_id\":\"$a\",\"agent\":\"claude\",\"title\":\"agent name\",\"directory\":\"$here\",\"command\":[\"$t_bin/claude\",\"--resume\",\"$a\"]}"
t_exit 'for a shell' 0 t_faden resume --print aaaaaaaa
t_is 'quoted' "$(cat "$t_out")" "cd '$here' && '$t_bin/claude' '--resume' '$a'"
t_exit 'no session' 1 t_faden resume --json nobody
t_like 'is JSON too' "$(cat "$t_out")" '"code":"not-found"'

t_exit 'no name' 2 t_faden rename aaaaaaaa
t_exit 'an empty one' 2 t_faden rename aaaaaaaa ''
t_exit 'two lines' 3 t_faden rename aaaaaaaa 'a
b'
t_exit 'an escape sequence' 3 t_faden rename aaaaaaaa "$(printf 'a\033[31mb')"
t_exit 'bytes that are no text' 3 t_faden rename aaaaaaaa "$(printf 'a\377')"
long=$(printf '%200s' '' | tr ' ' x)
t_exit 'as long as may be' 0 t_faden rename aaaaaaaa "$long"
t_exit 'longer' 3 t_faden rename aaaaaaaa "${long}x"
t_exit 'a name for nobody' 1 t_faden rename nobody name
t_exit 'a name and none' 2 t_faden rename --remove aaaaaaaa name
t_done
