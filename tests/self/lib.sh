#!/bin/sh
# The library for tests of real programs, tested by itself.
. "$(dirname "$0")/../lib.sh"

# inner SCRIPT: runs a test written with the library; output in $t_out.
inner() {
	printf '. "%s/tests/lib.sh"\n%s\n' "$t_root" "$1" >"$t_tmp/inner.sh"
	T_SCRIPT=$t_tmp/inner.sh sh -c '. "$T_SCRIPT"' "$t_root/tests/self/inner"
}

t_exit 'a passing test passes' 0 inner 't_ok fine true; t_is same a a; t_like word abc b; t_done'
t_is 'a test prints its plan last' "$(tail -n 1 "$t_out")" '1..3'

t_exit 'a failing test fails' 1 inner 't_ok wrong false; t_is differs a b; t_done'
t_is 'each failure is a line of its own' "$(grep -c '^not ok' "$t_out")" 2
t_like 'a failure says what was wanted' "$(cat "$t_out")" '^# want: b'

t_exit 'a test that ends early is no success' 3 inner 't_ok fine true; exit 3'
t_like 'a test that ends early says so' "$(cat "$t_out")" '^Bail out!'

t_exit 'a skip is not a failure' 0 inner 't_skip later "no reason"; t_done'
t_like 'a skip has a reason' "$(cat "$t_out")" '^ok 1 - later # SKIP no reason'
t_exit 'a whole test can be skipped' 0 inner 't_skip_all "not here"'
t_is 'a skipped test has an empty plan' "$(cat "$t_out")" '1..0 # SKIP not here'

t_exit 'a test can start programs' 0 inner 'echo "$t_tmp"; t_start sleep 1000; echo "$t_pid"; t_done'
t_is 'the temporary folder is gone afterwards' "$(test -e "$(sed -n 1p "$t_out")" || echo gone)" gone
t_is 'what was started is gone afterwards' "$(kill -0 "$(sed -n 2p "$t_out")" 2>/dev/null || echo gone)" gone

SECRET=leaked
export SECRET
t_setenv 'WORD=two words'
t_exit 'a program runs in the clean environment' 0 t_run env
t_unlike 'it does not see the variables of the caller' "$(cat "$t_out")" SECRET
t_like 'it sees the variables that were set' "$(cat "$t_out")" '^WORD=two words$'
t_like 'it has a HOME of its own' "$(cat "$t_out")" "^HOME=$t_home\$"
t_setenv 'WORD=other'
t_is 'a variable set twice has its last value' "$(t_run sh -c 'echo "$WORD"')" other
t_exit 'it does not see the tools of this machine' 127 t_run python3 -c 'pass'

t_exit 'the program under test runs' 0 t_faden --version
t_done
