#!/bin/sh
# The counting of cases, on a project whose tests go wrong in every way.
. "$(dirname "$0")/../lib.sh"

# project LINES: a build folder with those tests, each `test(NAME, SHELL TEXT, options)`.
project() {
	rm -rf "$t_tmp/p" "$t_tmp/b"
	mkdir "$t_tmp/p"
	{
		echo "project('p', meson_version: '>=1.0.0')"
		echo "sh = find_program('sh')"
		printf '%s\n' "$1"
	} >"$t_tmp/p/meson.build"
	meson setup "$t_tmp/b" "$t_tmp/p" >"$t_tmp/setup.log" 2>&1 || t_note <"$t_tmp/setup.log"
}

last() { tail -n 1 "$t_out"; }

project "test('tap', sh, args: ['-c', 'echo 1..3; echo ok 1; echo ok 2 - b; echo ok 3'], protocol: 'tap')
test('plain', sh, args: ['-c', 'true'])"
t_exit 'a run where all is well succeeds' 0 "$t_root/tools/run-tests" "$t_tmp/b"
t_is 'cases are counted, not programs' "$(last)" '4 passed, 0 failed'
t_exit 'two folders are run after each other' 0 "$t_root/tools/run-tests" "$t_tmp/b" "$t_tmp/b"
t_is 'the cases of two folders are added up' "$(last)" '8 passed, 0 failed'
t_exit 'arguments behind -- reach meson' 0 "$t_root/tools/run-tests" "$t_tmp/b" -- plain
t_is 'meson runs only what the arguments say' "$(last)" '1 passed, 0 failed'

project "test('part', sh, args: ['-c', 'echo 1..90; echo ok 1; echo not ok 2 - colour; echo \"# red\"; for i in \$(seq 3 90); do echo ok \$i; done; exit 1'], protocol: 'tap')
test('skips', sh, args: ['-c', 'echo \"ok 1 - far # SKIP no ship\"; echo ok 2; echo 1..2'], protocol: 'tap')
test('none', sh, args: ['-c', 'echo \"1..0 # SKIP no agents\"'], protocol: 'tap')
test('absent', sh, args: ['-c', 'echo no tool; exit 77'])
add_test_setup('long')"
t_exit 'a run with a failing case fails' 1 "$t_root/tools/run-tests" "$t_tmp/b"
t_is 'a failing case is counted beside those that pass' "$(last)" '90 passed, 1 failed, 3 skipped'
t_like 'the failing case is shown' "$(cat "$t_out")" '^not ok 2 - colour'
t_like 'what the failing case says is shown' "$(cat "$t_out")" '^# red$'
t_unlike 'cases that passed are not shown' "$(cat "$t_out")" '^ok '
t_like 'the command that runs the test again is shown' "$(cat "$t_out")" "^again: meson test -C $t_tmp/b -v part\$"
t_like 'a skipped case has its reason' "$(cat "$t_out")" 'skips: far: no ship'
t_like 'a skipped TAP test has its reason' "$(cat "$t_out")" 'none: no agents'
t_like 'a skipped test of another protocol has its reason' "$(cat "$t_out")" 'absent: no tool'
t_exit 'a run with a set-up fails as well' 1 "$t_root/tools/run-tests" "$t_tmp/b" -- --setup long part
t_like 'the command to run again names the set-up' "$(cat "$t_out")" "^again: meson test -C $t_tmp/b --setup long -v part\$"

project "test('short', sh, args: ['-c', 'echo 1..3; echo ok 1; echo ok 2'], protocol: 'tap')
test('bail', sh, args: ['-c', 'echo ok 1; echo Bail out!'], protocol: 'tap')
test('crash', sh, args: ['-c', 'echo 1..1; echo ok 1; kill -SEGV \$\$'], protocol: 'tap')
test('slow', sh, args: ['-c', 'echo 1..1; echo ok 1; exec sleep 30'], protocol: 'tap', timeout: 1)
test('status', sh, args: ['-c', 'exit 4'])"
t_exit 'a run fails though each case that was run passed' 1 "$t_root/tools/run-tests" "$t_tmp/b"
t_is 'a test that goes wrong as a whole is one failure' "$(last)" '5 passed, 5 failed'
t_like 'a broken plan is a failure' "$(cat "$t_out")" '^--- short: planned 3 cases and ran 2'
t_like 'an early end is a failure' "$(cat "$t_out")" '^--- bail: ended early'
t_like 'a crash is a failure' "$(cat "$t_out")" '^--- crash: killed by signal 11'
t_like 'a test without end is a failure' "$(cat "$t_out")" '^--- slow: ran out of time'
t_like 'a status other than 0 is a failure' "$(cat "$t_out")" '^--- status: fail, status 4'

t_unlike 'so many are not run again' "$(cat "$t_out")" 'once more'

# once NAME: a test that fails the first time only.
once() {
	printf "test('%s', sh, args: ['-c', 'echo 1..2; echo ok 1; mkdir $t_tmp/once-%s || { echo ok 2; exit 0; }; echo not ok 2 - torn; exit 1'], protocol: 'tap')\n" "$1" "$1"
}
project "$(once a; once b; once c)"
t_exit 'what fails beside others is run once more, alone' 0 "$t_root/tools/run-tests" "$t_tmp/b"
t_is 'and counts as passed' "$(last)" '6 passed, 0 failed'
t_like 'but it is told' "$(cat "$t_out")" '^--- b: .*; unsteady: it passed when run once more, alone'
t_like 'with what it said' "$(cat "$t_out")" '^not ok 2 - torn'
project "$(once d; once e; once f; once g)"
t_exit 'more than three are no accident' 1 "$t_root/tools/run-tests" "$t_tmp/b"
t_is 'and all of them count' "$(last)" '4 passed, 4 failed'

t_exit 'a build folder that is not there fails' 1 "$t_root/tools/run-tests" "$t_tmp/nowhere"
t_is 'a build folder that is not there is one failure' "$(last)" '0 passed, 1 failed'
t_done
