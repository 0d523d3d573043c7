#!/bin/sh
# delete --forget: whatever way a sentence took, no file of ours has its words afterwards.
. "$(dirname "$0")/../lib.sh"

mark=zanzibarquokka
here=$t_tmp/here
mkdir -p "$here"
cd "$here" || exit 1
state=$t_home/.local/state/faden
t_setenv FADEN_AGENT=rehearsal

left() { (cd "$t_home" && grep -rlai "$mark" .local .config 2>/dev/null); }
ids() { t_faden list --all --gone -F '{id}'; }
forget_all() {
	# shellcheck disable=SC2046 # one word an id
	t_faden delete --forget -y $(ids)
}

t_exit 'a sentence is asked' 0 t_faden ask --agent rehearsal "my $mark is 1234"
t_like 'it stands in the store' "$(left)" 'state/faden/faden\.db'
t_exit 'it is forgotten' 0 forget_all
t_is 'nothing is left' "$(left)" ''
t_like 'what the agents keep themselves is named' "$(cat "$t_out")" 'What agents keep beside their sessions'

# Another conversation first, so that there is one to be right.
t_exit 'about something else' 0 t_faden ask --agent rehearsal "tell me about the kumquat tree"
t_exit 'and anew' 0 t_faden ask --agent rehearsal --new "the $mark and its burrow"
t_exit 'corrected' 0 t_faden ask --agent rehearsal "no, the other one"
t_exit 'one that leads nowhere' 0 t_faden ask --agent rehearsal "back to the $mark flarn"
printf 'what eats a %s\nand where does it sleep\n' "$mark" >"$t_tmp/talk"
t_exit 'a talk' 0 t_faden talk --agent rehearsal <"$t_tmp/talk"
printf '%s\n' "what eats a $mark" "no, the one about the $mark" "tell me about the kumquat tree" >"$state/history"
t_like 'it is known' "$(left)" 'state/faden/faden\.db'
t_exit 'all is forgotten' 0 forget_all
t_is 'nothing is left after a correction either' "$(left)" ''
t_is 'nor of what was typed' "$(cat "$state/history")" ''

# The conversation stays, a session of it goes.
t_exit 'a sentence' 0 t_faden ask --agent rehearsal --new "the apricot is ripe"
session=$(t_faden list -F '{id}')
printf '%s\n' "the apricot is ripe" "its colour" "the $mark" >"$state/history"
t_exit 'another one, of the same place' 0 t_faden ask --agent rehearsal --new "the $mark is not"
other=$(t_faden list -F '{id}' | grep -v "$session")
t_exit 'which is forgotten' 0 t_faden delete --forget -y "$other"
t_is 'without a trace' "$(left)" ''
t_is 'what was said elsewhere stays in the history' "$(cat "$state/history")" 'the apricot is ripe'
t_exit 'it does not go on in the place of what is forgotten' 1 t_faden ask --agent rehearsal "continue"
t_like 'but how it does is said' "$(cat "$t_err")" "\"the apricot is ripe\".*to go on with it: faden ask --in $session"
t_exit 'and goes on' 0 t_faden ask --in "$session" "continue"
t_done
