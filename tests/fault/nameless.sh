#!/bin/sh
# Where the file system has no files without a name, as with NFS, all that needs one works all the
# same, and leaves nothing.
. "$(dirname "$0")/../lib.sh"
t_need_faults
mkdir -p "$t_tmp/here"
cd "$t_tmp/here" || exit 1
a=aaaaaaaa-0000-4000-8000-000000000001
c=01a00000-0000-7000-8000-00000000000c
fa=$("$t_helper/make-session" claude "$t_home/.claude" "$PWD" "$a" 'the kumquat tree bears fruit')
fc=$("$t_helper/make-session" codex "$t_home/.codex" "$PWD" "$c" 'the medlar tree bears fruit')
zstd -q --rm "$fc"
cp "$fa" "$t_tmp/a"
t_exit 'a session is archived' 0 t_faden archive
t_exit 'and exported' 0 t_faden export -o "$t_tmp/a.faden" "$a"
rm "$fa"

t_setenv "LD_PRELOAD=$t_fault"
t_setenv 'FADEN_FAULT_NAMED=1'
t_exit 'a compressed session is shown' 0 t_faden show "$c"
t_like 'with its words' "$(cat "$t_out")" 'the medlar tree bears fruit'
t_exit 'one that is gone is shown' 0 t_faden show "$a"
t_like 'with its words' "$(cat "$t_out")" 'the kumquat tree bears fruit'
t_exit 'it is exported from the archive' 0 t_faden archive export "$a" -o "$t_tmp/out"
t_ok 'byte for byte' cmp "$t_tmp/out" "$t_tmp/a"
t_exit 'it comes back' 0 t_faden archive restore "$a"
t_ok 'byte for byte' cmp "$fa" "$t_tmp/a"
t_exit 'a bundle is taken from a pipe' 0 t_faden import --list - <"$t_tmp/a.faden"
t_like 'with the session' "$(cat "$t_out")" "$a"
t_is 'no file is left' "$(find "$t_home" -name '.faden-*')" ''
t_done
