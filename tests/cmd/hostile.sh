#!/bin/sh
# Nothing of a session, a folder or a name reaches a screen or a command line raw: every command over
# one home of hostile words, on a pipe and on a terminal. FADEN_LONG=1 tries every session with every
# form of a command; else each form takes every third session.
. "$(dirname "$0")/../lib.sh"
python=$(command -v python3)
for agent in claude codex; do
	printf '#!/bin/sh\nexit 1\n' >"$t_bin/$agent"
	chmod +x "$t_bin/$agent"
done
t_setenv "FADEN_LONG=${FADEN_LONG-}"
hostile() { t_run "$python" "$t_helper/hostile" "$@"; }

t_ok 'a hostile home is made' hostile make "$t_home"
t_is 'every command is tried, and no other' "$(hostile covers "$t_home" "$FADEN" complete notify)" ''
t_is 'every command that is built is one that is tried' \
	"$(sed -n 's/^CMD(\(.*\))$/\1/p' "$t_root/src/cli/commands.def" | tr _ - | sort)" \
	"$({ t_faden help --json | "$python" -c 'import json, sys
for c in json.load(sys.stdin)["commands"]:
    print(c["name"])' && printf 'complete\nnotify\n'; } | sort)"

# trim comes before recall, whose references it makes.
for command in $(sed -n 's/^CMD(\(.*\))$/\1/p' "$t_root/src/cli/commands.def" | tr _ - | grep -v recall) recall; do
	t_ok "$command lets nothing through raw" hostile run "$t_home" "$FADEN" "$command"
done
sum() { sed "s/.*$1 \([0-9]*\).*/\1/" "$t_home/pasted-commands" | awk '{ n += $1 } END { print (n > 0) }'; }
t_is "some commands to be pasted needed \$'…'" "$(sum "…'")" 1
t_is 'some commands to be pasted needed --' "$(sum ', --')" 1
t_is 'nothing of it was run' "$(find "$t_home" -name pwned)" ''

log=$t_home/.local/state/faden/faden.log
t_ok 'there is a log' test -s "$log"
t_is 'no word of a prompt stands in the log' "$(hostile leaks "$t_home" "$log")" ''
t_done
