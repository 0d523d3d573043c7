#!/bin/sh
# faden watch killed at random instants while sessions grow, are rewritten and blanked: nothing that it
# kept is lost, the next run finishes, the archive is whole, and the index is what one made anew is.
. "$(dirname "$0")/../lib.sh"

kills=12
[ -z "${FADEN_LONG-}" ] || kills=200
t_setenv "FADEN=$FADEN"
t_exit 'kills at random instants lose nothing' 0 t_run "$(command -v python3)" "$t_helper/kill-archive" \
	"$kills" 11 "$t_build/tests/index-dump"
t_note "$(head -n 1 "$t_out")"
t_like 'and many of them hit' "$(cat "$t_out")" '^killed [1-9][0-9]* of'
t_done
