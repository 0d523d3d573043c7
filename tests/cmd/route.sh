#!/bin/sh
# Every sentence finds its conversation, and a wrong one can be corrected by words.
. "$(dirname "$0")/../lib.sh"
mkdir -p "$t_tmp/shop" "$t_tmp/other"
cd "$t_tmp/shop" || exit 1
ask() { t_faden ask --agent rehearsal --json "$@"; }
conversation() { sed 's/.*"conversation":"\([^"]*\)".*/\1/' "$t_out"; }

t_exit 'a first task' 0 ask fix the rounding error in the checkout total
checkout=$(conversation)
t_exit 'a follow-up' 0 ask now run it
t_is 'goes on with it' "$(conversation)" "$checkout"
t_unlike 'and is not worth a word' "$(cat "$t_err")" 'Resuming|New conversation'
t_exit 'another subject' 0 ask write a Dockerfile for the image server
docker=$(conversation)
t_unlike 'is a new conversation' "$docker" "$checkout"
t_like 'and that is said' "$(cat "$t_err")" 'New conversation'
t_exit 'back to the first' 0 ask back to the checkout total, the discount comes before tax
t_is 'finds it' "$(conversation)" "$checkout"
t_like 'and that is said too' "$(cat "$t_err")" 'Resuming: fix the rounding error'

t_exit 'faden route explains' 0 t_faden route the Dockerfile needs a health check
t_like 'every candidate' "$(cat "$t_out")" 'rounding error'
t_like 'and the decision' "$(cat "$t_out")" '^resume write a Dockerfile'
t_exit 'for programs too' 0 t_faden route --json also commit it
t_like 'with the reason' "$(cat "$t_out")" '"action":"resume".*"reason":".*"candidates":\[\{'
t_exit 'empty text' 2 t_faden route ' '
t_like 'is dropped before routing' "$(cat "$t_err")" 'empty'
t_exit 'nothing to route' 2 t_faden route
t_exit 'an unknown profile' 2 t_faden route --profile best x

cd "$t_tmp/other" || exit 1
t_exit 'the same words in another project' 0 ask now run it
t_unlike 'are another task' "$(conversation)" "$checkout|$docker"

t_exit 'a name from another project' 0 ask back to the checkout total
t_is 'reaches there' "$(conversation)" "$checkout"
t_like 'and that is said with the folder' "$(cat "$t_err")" "Resuming: fix.*, in $t_tmp/shop"
t_exit 'what leans then' 0 ask and run it
t_is 'goes on there' "$(conversation)" "$checkout"
mkdir -p "$t_tmp/other/repository/.git"
cd "$t_tmp/other/repository" || exit 1
t_exit 'a repository in that folder' 0 ask now run it
t_unlike 'is a project of its own' "$(conversation)" "$checkout|$docker"
cd "$t_tmp/shop" || exit 1
t_exit 'a new conversation by its name' 0 ask new conversation
t_like 'repeats nothing' "$(cat "$t_out")" '"answer":"".*From now on: a new conversation'

t_exit 'after a reset' 0 t_faden reset
t_exit 'a leaning sentence' 0 ask also add a test for that
t_unlike 'is new' "$(conversation)" "$checkout|$docker"
t_exit 'unless it names one' 0 ask go back to the Dockerfile of the image server
t_is 'from before' "$(conversation)" "$docker"

t_exit 'a new task' 0 ask translate the manual to French
t_exit 'corrected' 0 ask 'no, go back to the one about the checkout total'
t_is 'goes where it should' "$(conversation)" "$checkout"
t_like 'with the words that were said' "$(cat "$t_out")" 'You said: translate the manual to French'
t_exit 'as a new one' 0 ask also rename the variable
t_exit 'corrected too' 0 ask 'no, new conversation'
t_unlike 'is new' "$(conversation)" "$checkout|$docker"
t_like 'with those words' "$(cat "$t_out")" 'You said: also rename the variable'

t_exit 'a conversation about nothing here' 0 ask 'go back to the one about the weather'
t_like 'is not guessed' "$(cat "$t_out")" 'no conversation about weather'
t_exit 'to be elsewhere' 0 ask 'go back to the one about the Dockerfile'
t_like 'repeats nothing when nothing was wrong' "$(cat "$t_out")" '"answer":"".*From now on: write a Dockerfile'
t_exit 'the next sentence' 0 ask write a health check
t_is 'is said there' "$(conversation)" "$docker"
t_exit 'and can be corrected' 0 ask 'no, go back to the one about the checkout total'
t_is 'too' "$(conversation)" "$checkout"
t_like 'with its own words' "$(cat "$t_out")" 'You said: write a health check'
t_exit 'the wrong conversation' 0 t_faden ask --agent rehearsal 'das gespräch über das Dockerfile'
t_like 'is told in words' "$(cat "$t_err")" 'faden: From now on: write a Dockerfile'

printf 'tool Bash rm x => gone\nsay done\n*\nsay fine\n' >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
t_exit 'a command that acts' 0 ask --new remove the file x
t_exit 'then another' 0 ask and the checkout total is rounded wrongly again
t_unsetenv FADEN_AI_REHEARSAL_SCRIPT

printf 'fail failed no connection\n' >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
outage() { ask --new compare the tariffs of the water works || return 0; }
t_exit 'an outage' 0 outage
failed=$(conversation)
t_unsetenv FADEN_AI_REHEARSAL_SCRIPT
t_exit 'when it is over' 0 ask try again
t_is 'goes on in the same conversation' "$(conversation)" "$failed"
t_exit 'something between' 0 ask write a poem about the moon
t_exit 'what was said in the outage' 0 ask back to the tariffs of the water works
t_is 'is known' "$(conversation)" "$failed"

printf 'fail context-full too much\n' >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
broken() { ask --new download the rainfall series of the weather stations || return 0; }
t_exit 'a conversation that fails' 0 broken
failed=$(conversation)
t_unsetenv FADEN_AI_REHEARSAL_SCRIPT
t_exit 'what leans on it' 0 ask try it again with smaller packets
heir=$(conversation)
t_unlike 'is a new one' "$heir" "$failed"
t_exit 'something else' 0 ask write a poem about the sea
t_exit 'its subject' 0 ask back to the rainfall series
t_is 'is that of the new one now' "$(conversation)" "$heir"

t_exit 'a plan' 0 t_faden ask --new make a plan for the migration to the new database
t_like 'is said to change nothing' "$(cat "$t_err")" 'This turn plans'
t_exit 'then its execution' 0 t_faden ask ok, now implement it
t_like 'is said too' "$(cat "$t_err")" 'From planning to doing'

t_exit 'a task' 0 t_faden route ändere nichts, schau nur
t_like 'that plans' "$(cat "$t_out")" 'It plans'
t_setenv 'FADEN_ROUTING_PLAN_WORDS=Dry Run'
t_exit 'words of the settings' 0 t_faden route --json fix the parser as a dry run
t_like 'count too' "$(cat "$t_out")" '"task":"plan"'
t_unsetenv FADEN_ROUTING_PLAN_WORDS
t_exit 'without them' 0 t_faden route --json fix the parser as a dry run
t_like 'it is a change' "$(cat "$t_out")" '"task":"edit"'

t_setenv FADEN_ROUTING_ENABLED=false
t_exit 'routing turned off' 0 ask a recipe for pancakes with apples
last=$(conversation)
t_exit 'goes on with the last one' 0 ask the weather in Hamburg tomorrow
t_is 'whatever is said' "$(conversation)" "$last"
t_unsetenv FADEN_ROUTING_ENABLED

stdio() {
	printf '%s\n' '{"op":"begin","protocol":"routing-eval/1"}' \
		'{"op":"step","t_ms":1000,"text":"fix the parser","cwd":"/x"}' 'no json' \
		'{"op":"started","t_ms":1000,"conversation_ref":"s1","new":true,"text":"fix the parser","cwd":"/x"}' \
		'{"op":"finished","t_ms":2000,"conversation_ref":"s1"}' \
		'{"op":"step","t_ms":3000,"text":"now run it","cwd":"/x"}' | t_faden route --stdio
}
t_exit 'for other programs' 0 stdio
t_is 'a step is one line' "$(wc -l <"$t_out")" 2
t_like 'with the decision' "$(tail -n 1 "$t_out")" '"action":"resume".*"conversation_ref":"s1"'
t_like 'a bad line is told' "$(cat "$t_err")" 'faden: route: '
odd() {
	printf '{"op":"begin"}\n\n{"op":"step","t_ms":1,"text":"a\377b","cwd":"/x"}\n' >"$t_tmp/odd"
	printf '{"op":"step","t_ms":2,"text":" ","cwd":"/x"}\n' >>"$t_tmp/odd"
	t_faden route --stdio <"$t_tmp/odd"
}
t_exit 'invalid UTF-8 and empty text' 0 odd
t_is 'are answered' "$(grep -c '"action":"new"' "$t_out")" 2
t_like 'and empty text is named' "$(tail -n 1 "$t_out")" 'the text is empty'
t_is 'a blank line is none' "$(cat "$t_err")" ''
t_exit 'two ways at once' 2 t_faden route --stdio --replay x
t_exit 'a failure for programs' 2 t_faden route --json ' '
t_like 'is one object' "$(cat "$t_out")" '^\{.*empty.*\}$'
bytes() { printf 'a\000b\377\342\200\256c' | t_faden ask --agent rehearsal -; }
t_exit 'NUL, invalid UTF-8, right to left' 0 bytes
t_done
