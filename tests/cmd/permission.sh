#!/bin/sh
# What an agent may do: --permission-mode, what is denied where nobody can be asked, and that what
# is said about it never cuts an answer in two.
. "$(dirname "$0")/../lib.sh"

page=$t_root/docs/man/json.mdoc
mkdir "$t_tmp/work" && cd "$t_tmp/work" || exit 1
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
get() {
	python3 -c 'import json, sys; print(eval("v" + sys.argv[1], {"v": json.load(open(sys.argv[2]))}))' "$1" "$t_out"
}
ask() {
	t_faden ask --agent rehearsal "$@" </dev/null
}

# --- nobody to ask ------------------------------------------------------------------------------

printf '*\nsay Let me see.\ntool Read a.txt\nask Bash make install\nask Write b.txt\nsay That is it.\n' >"$t_tmp/script"
t_exit 'what was not allowed is not a success' 6 ask go
t_is 'the answer is there all the same' "$(cat "$t_out")" "Let me see.${t_newline}${t_newline}That is it."
t_like 'it is said what was not allowed' "$(cat "$t_err")" '^faden: not allowed: Bash: make install; Write: b\.txt \('
t_like 'it is said how to allow it' "$(cat "$t_err")" '--permission-mode accept-edits or bypass'
t_exit 'where edits are allowed it is denied, too' 6 t_faden ask --new --permission-mode accept-edits ask me
t_like 'and only what allows more is named' "$(cat "$t_err")" '; --permission-mode bypass allows more'
t_exit 'a turn that plans by its words is denied it' 6 ask --new make a plan for the harbour
t_like 'and it is said that this is why' "$(cat "$t_err")" '^faden: not allowed: Bash: make install; Write: b\.txt \(this turn plans, by its words; with --permission-mode default '
t_exit 'the same with --json' 6 ask --json go
t_ok 'the object is as the page says' "$t_helper/check-json" "$page" ask <"$t_out"
t_is 'the status does not claim that all went well' "$(get '["status"], v["error"]["code"]')" "('denied', 'denied')"
t_is 'each denial has tool and what' "$(get '["denied"]')" \
	"[{'tool': 'Bash', 'what': 'make install', 'asked': False}, {'tool': 'Write', 'what': 'b.txt', 'asked': False}]"
printf 'go\n' >"$t_tmp/lines"
lines() {
	t_faden --agent rehearsal "$@" <"$t_tmp/lines"
}
t_exit 'lines on a pipe: denied, and the status says so' 6 lines
t_like 'lines on a pipe: a notice says what' "$(cat "$t_err")" 'not allowed: Bash: make install'
t_is 'lines on a pipe: the paragraphs are as they were' "$(cat "$t_out")" "Let me see.${t_newline}${t_newline}That is it."

# --- what is allowed ----------------------------------------------------------------------------

t_exit 'bypass: nothing is denied' 0 ask --permission-mode bypass --json go
t_is 'bypass: the status is ok' "$(get '["status"], v["denied"]')" "('ok', [])"
t_exit 'accept-edits: an edit is, a command is not allowed' 6 ask --permission-mode accept-edits --json go
t_is 'accept-edits: only the command is denied' "$(get '["denied"][0]["tool"], len(v["denied"])')" "('Bash', 1)"
t_exit 'plan: neither is' 6 ask --permission-mode=plan --json go
t_is 'plan: both are denied' "$(get '["denied"].__len__()')" 2
t_exit 'talk takes it too' 0 lines --permission-mode bypass
t_exit 'a mode that is none is wrong usage' 2 ask --permission-mode never go
t_like 'the modes are named' "$(cat "$t_err")" "'never' is none of default, accept-edits, plan, bypass"
t_setenv 'FADEN_AI_PERMISSION_MODE=bypass'
t_exit 'the setting has the same words' 0 ask go
t_exit 'the option outranks the setting' 6 ask --permission-mode default go
t_unsetenv FADEN_AI_PERMISSION_MODE

# --- in another folder --------------------------------------------------------------------------

printf '*\nask Bash make install\nsay Done.\n' >"$t_tmp/script"
t_exit 'a conversation of this folder' 6 ask --new --json begin the harbour
harbour=$(get '["session_id"]')
mkdir "$t_tmp/shed" && cd "$t_tmp/shed" || exit 1
t_exit 'it is gone to from another one' 6 ask --in "$harbour" more of it
t_exit 'a talk there goes on with it, without what was allowed here' 6 lines --permission-mode bypass
t_like 'which is said' "$(cat "$t_err")" '--permission-mode bypass holds for this folder and not there; with --in it does'
printf 'go\nand go\n' >"$t_tmp/lines"
t_exit 'with each of its sentences' 6 lines --permission-mode bypass
t_is 'said once' "$(grep -c 'holds for this folder' "$t_err")" 1
t_is 'denied twice' "$(grep -c 'not allowed: Bash' "$t_err")" 2
printf 'go\n/resume %s\nand go\n' "$harbour" >"$t_tmp/lines"
t_exit 'until it is named' 6 lines --permission-mode bypass
t_is 'then it is allowed' "$(grep -c 'not allowed: Bash' "$t_err")" 1
printf 'go\n' >"$t_tmp/lines"
t_exit 'and where it is named at once' 0 lines --permission-mode bypass --in "$harbour"
cd "$t_tmp/work" || exit 1

# --- what was done ------------------------------------------------------------------------------

printf '*\nask Bash make install\nfail rate-limited soon\n' >"$t_tmp/script"
t_exit 'a turn that fails says how, whatever was denied' 4 ask --json go
t_is 'its denials are there' "$(get '["status"], v["denied"][0]["tool"]')" "('rate-limited', 'Bash')"

# --- a notice and the answer --------------------------------------------------------------------

printf '*\nsay One sentence of \nretry 10 busy\nsay an answer.\n' >"$t_tmp/script"
together() {
	"$@" 2>&1
}
t_exit 'a retry within a paragraph' 0 together ask --new go
t_is 'its notice comes when the paragraph has ended' "$(grep -v rehearsal "$t_out")" \
	"One sentence of${t_newline}${t_newline}faden: busy; trying again in 1 s${t_newline}an answer."
t_done
