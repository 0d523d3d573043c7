#!/bin/sh
# Of 100 questions about coding sessions that are all alike, 95 find theirs among the first five.
. "$(dirname "$0")/../lib.sh"

t_ok 'errors, commands, decisions and files are found' "$t_helper/known-items" "$FADEN" "$t_home"

t_done
