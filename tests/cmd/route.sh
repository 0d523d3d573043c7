#!/bin/sh
# Every sentence finds its conversation, and a wrong one can be corrected by words.
. "$(dirname "$0")/../lib.sh"
mkdir -p "$t_tmp/shop" "$t_tmp/other"
cd "$t_tmp/shop" || exit 1
ask() { t_faden ask --agent rehearsal --json "$@"; }
conversation() { sed 's/"next":.*//; s/"candidates":.*//; s/.*"conversation_id":"\([^"]*\)".*/\1/' "$t_out"; }

t_exit 'a first task is taken' 0 ask fix the rounding error in the checkout total
checkout=$(conversation)
t_exit 'a follow-up is taken' 0 ask now run it
t_is 'a follow-up goes on with the task' "$(conversation)" "$checkout"
t_unlike 'a follow-up is not worth a word' "$(cat "$t_err")" 'Resuming|New conversation'
t_exit 'another subject is taken' 0 ask write a Dockerfile for the image server
docker=$(conversation)
t_unlike 'another subject is a new conversation' "$docker" "$checkout"
t_like 'a new conversation is told' "$(cat "$t_err")" 'New conversation'
t_exit 'words about the first task are taken' 0 ask back to the checkout total, the discount comes before tax
t_is 'words about the first task find it' "$(conversation)" "$checkout"
t_like 'that it is resumed is told' "$(cat "$t_err")" 'Resuming: fix the rounding error'

t_exit 'faden route explains' 0 t_faden route the Dockerfile needs a health check
t_like 'route shows every candidate' "$(cat "$t_out")" 'rounding error'
t_like 'route shows the decision' "$(cat "$t_out")" '^resume write a Dockerfile'
t_like 'route shows what a new one would have been' "$(cat "$t_out")" '^[[:space:]]+0\.[0-9]{3}[[:space:]].*a new conversation'
t_like 'route names the runner-up and by how much' "$(cat "$t_out")" '^Next: .+ \(0\.[0-9]{3}\), 0\.[0-9]{3} behind'
t_exit 'route --json explains to programs' 0 t_faden route --json also commit it
t_like 'the JSON has the reason and the candidates' "$(cat "$t_out")" '"action":"resume".*"reason":".*"candidates":\[\{'
t_like 'the JSON has the runner-up and by how much' "$(cat "$t_out")" '"next":\{"action":"(new|resume)",.*"score":[0-9.e-]+,"margin":[0-9.]+\},"new_score":[0-9.e-]+,'
t_exit 'an empty text is refused' 2 t_faden route ' '
t_like 'an empty text is dropped before routing' "$(cat "$t_err")" 'empty'
t_exit 'nothing to route is a mistake of usage' 2 t_faden route
t_exit 'an unknown profile is refused' 2 t_faden route --profile best x

cd "$t_tmp/other" || exit 1
t_exit 'the same words are taken in another project' 0 ask now run it
t_unlike 'the same words in another project are another task' "$(conversation)" "$checkout|$docker"

t_exit 'a name from another project is taken' 0 ask back to the checkout total
t_is 'a name from another project reaches there' "$(conversation)" "$checkout"
t_like 'that another project is resumed is told with the folder' "$(cat "$t_err")" "Resuming: fix.*, in $t_tmp/shop"
t_exit 'what leans on it afterwards is taken' 0 ask and commit it
t_is 'what leans on it afterwards goes on there' "$(conversation)" "$checkout"
mkdir -p "$t_tmp/other/repository/.git"
cd "$t_tmp/other/repository" || exit 1
t_exit 'words in a repository inside that folder are taken' 0 ask now run it
t_unlike 'a repository inside that folder is a project of its own' "$(conversation)" "$checkout|$docker"
cd "$t_tmp/shop" || exit 1
t_exit 'a new conversation can be asked for in words' 0 ask new conversation
t_like 'asking for a new conversation repeats nothing' "$(cat "$t_out")" '"answer":"".*From now on: a new conversation'

t_exit 'a reset is taken' 0 t_faden reset
t_exit 'a leaning sentence after a reset is taken' 0 ask also add a test for that
t_unlike 'a leaning sentence after a reset is a new conversation' "$(conversation)" "$checkout|$docker"
t_exit 'a sentence after a reset that names a task is taken' 0 ask go back to the Dockerfile of the image server
t_is 'a named task from before the reset is found' "$(conversation)" "$docker"

# To turn to a subject is no way back behind a reset; what goes back there says how it is corrected.
mkdir "$t_tmp/tax" && cd "$t_tmp/tax" || exit 1
t_exit 'a task is begun before a reset' 0 ask explain the tax rules
tax=$(conversation)
t_exit 'then comes the reset' 0 t_faden reset
for words in 'what about the tax rules?' 'how about the tax rates' 'as for the tax rules, use a table' \
	'about the tax rules: use a table' 'was ist mit den tax rules?' 'zum Thema tax rules'; do
	t_exit "'$words' is decided" 0 t_faden route --json "$words"
	t_like "'$words' is for a new conversation" "$(cat "$t_out")" '"conversation_id":null'
done
for words in 'go on with the tax rules' 'noch mal zu den tax rules' 'pick up the tax rules again'; do
	t_exit "'$words' is decided" 0 t_faden route --json "$words"
	t_like "'$words' goes back" "$(cat "$t_out")" "\"conversation_id\":\"$tax\""
done
t_exit 'the way back is taken' 0 t_faden ask back to the tax rules
t_like 'it is told how to correct it' "$(cat "$t_err")" 'Resuming: explain the tax rules, .* \(if not, say: "no, new conversation"\)'

# What goes on in the place of another has the same words: the other one is found by who goes back.
t_exit 'it is forked' 0 t_faden fork --current --name branch "$(t_faden list --json | sed -n 's/.*"session_id":"\([^"]*\)".*/\1/p' | head -n 1)"
for words in continue 'and the tax rules' 'what about the tax rules for France?' 'add a test'; do
	t_exit "'$words' behind the fork is taken" 0 t_faden ask --json "$words"
	t_like "'$words' goes on in the fork" "$(cat "$t_out")" '"title":"branch"'
done
t_exit 'a new subject is decided' 0 t_faden route --json write a haiku about trees
t_like 'a new subject is no part of the fork' "$(cat "$t_out")" '"conversation_id":null'
# … also where another conversation ran last, from whichever command it has its place.
t_exit 'another one runs last' 0 ask --new paint the garden gate
t_exit 'the fork is forked once more' 0 t_faden fork --current --name twig branch
for words in continue 'so?' 'and what next?'; do
	t_exit "'$words' behind a fork of what did not run last is taken" 0 t_faden ask --json "$words"
	t_like "'$words' goes on in the fork all the same" "$(cat "$t_out")" '"title":"twig"'
done
t_exit 'the other one is gone back to' 0 t_faden ask --json back to the garden gate
t_like 'as ever' "$(cat "$t_out")" '"title":"paint the garden gate"'
t_exit 'what leans on it' 0 t_faden ask --json and the hinges too
t_like 'is for it' "$(cat "$t_out")" '"title":"paint the garden gate"'
t_exit 'it goes on with another agent' 0 t_faden rollover --json --agent claude branch
claude=$(sed -n 's/.*"conversation_id":"\([^"]*\)".*/\1/p' "$t_out")
for words in continue 'what about the tax rules for France?'; do
	t_exit "'$words' behind the rollover is decided" 0 t_faden route --json "$words"
	t_like "'$words' is for the new agent" "$(cat "$t_out")" "\"conversation_id\":\"$claude\""
done

# A reset in one folder of a repository is one of all that the others were about.
mkdir -p "$t_tmp/mono/sub" && git init -q "$t_tmp/mono" && cd "$t_tmp/mono" || exit 1
t_exit 'a task of the root' 0 ask talk about apple trees
apples=$(conversation)
cd sub || exit 1
t_exit 'leans on the root from below it' 0 t_faden route --json and what next
t_like 'as there is nothing here' "$(cat "$t_out")" "\"conversation_id\":\"$apples\""
t_exit 'until there is a reset' 0 t_faden reset
for words in 'and what next?' 'and what about the apple trees?'; do
	t_exit "'$words' below the root is decided" 0 t_faden route --json "$words"
	t_like "'$words' starts anew" "$(cat "$t_out")" '"conversation_id":null'
done
t_exit 'nothing is left to continue' 0 t_faden route --json continue
t_like 'which is said' "$(cat "$t_out")" '"action":"none"'
t_exit 'what is gone back to is found' 0 t_faden route --json back to the apple trees
t_like 'in the root' "$(cat "$t_out")" "\"conversation_id\":\"$apples\""
t_exit 'the reset is taken back, which brings nothing here' 1 t_faden reset --undo
t_exit 'then' 0 t_faden route --json and what next
t_like 'it is as before' "$(cat "$t_out")" "\"conversation_id\":\"$apples\""
cd "$t_tmp/shop" || exit 1

t_exit 'a new task is taken' 0 ask translate the manual to French
t_exit 'the choice can be corrected' 0 ask 'no, go back to the one about the checkout total'
t_is 'the correction goes where it should' "$(conversation)" "$checkout"
t_like 'the correction repeats the words that were said' "$(cat "$t_out")" 'You said: translate the manual to French'
t_exit 'a sentence that leans is taken' 0 ask also rename the variable
t_exit 'the choice can be corrected to a new conversation' 0 ask 'no, new conversation'
fresh=$(conversation)
t_unlike 'the correction begins a new conversation' "$fresh" "$checkout|$docker"
t_like 'the correction repeats those words' "$(cat "$t_out")" 'You said: also rename the variable'
t_exit 'it is corrected like that once more' 0 ask 'no, new conversation'
t_like 'nothing is said a second time where that is done' "$(cat "$t_out")" '"answer":"".*From now on: also rename the variable'
t_exit 'the next sentence is taken there' 0 ask and the tests
t_is 'since it goes on there' "$(conversation)" "$fresh"

# What was corrected is remembered.
mkdir -p "$t_tmp/garden"
cd "$t_tmp/garden" || exit 1
t_exit 'a task about the pump is taken' 0 ask --new the pump of the pond makes a loud noise
pump=$(conversation)
t_exit 'a task about the fish is taken' 0 ask --new how often do I feed the koi carp
fish=$(conversation)
t_exit 'a sentence that could be about both is taken' 0 ask --in "$fish" the filter sponge is full of green algae
t_exit 'it is corrected' 0 ask 'no, go back to the one about the pump'
t_is 'the correction leads to the pump' "$(conversation)" "$pump"
t_exit 'something is said about the fish again' 0 ask --in "$fish" the koi carp eat nothing at all
t_exit 'a sentence of that kind is taken' 0 ask the filter sponge has green algae once more
t_is 'a sentence of that kind goes where the last one should have gone' "$(conversation)" "$pump"
t_exit 'route says why' 0 t_faden route the green algae in the filter sponge come back
t_like 'route says that such a one was corrected' "$(cat "$t_out")" '^resume the pump.*such a sentence was corrected before'
t_exit 'another sentence there is routed' 0 t_faden route --json what is the capital of Peru
t_unlike 'another sentence has nothing to do with it' "$(cat "$t_out")" 'corrected before'
cd "$t_tmp/shop" || exit 1

t_exit 'a subject that nobody spoke of is not found' 1 ask 'go back to the one about the weather'
t_like 'a subject that nobody spoke of is not guessed' "$(cat "$t_out")" 'no conversation about weather'
t_exit 'another conversation can be asked for by its subject' 0 ask 'go back to the one about the Dockerfile'
t_like 'going elsewhere repeats nothing when nothing was wrong' "$(cat "$t_out")" '"answer":"".*From now on: write a Dockerfile'
t_exit 'route tells what comes of a name for what comes next' 0 t_faden route --json write a health check
t_like 'route shows the conversation that was named' "$(cat "$t_out")" "\"action\":\"resume\",\"by\":\"pin\",\"conversation_id\":\"$docker\""
t_exit 'looking with route changes nothing' 0 t_faden route --json write a health check
t_like 'the name still holds after looking' "$(cat "$t_out")" '"by":"pin"'
t_exit 'the next sentence is taken' 0 ask write a health check
t_is 'the next sentence is said there' "$(conversation)" "$docker"
t_exit 'route tells what comes of a correction' 0 t_faden route --json 'no, go back to the one about the checkout total'
t_like 'route shows where the corrected words go' "$(cat "$t_out")" "\"by\":\"correction\",\"conversation_id\":\"$checkout\".*\"prompt\":\"write a health check\""
t_exit 'route tells a correction in words' 0 t_faden route 'no, new conversation'
t_like 'route says which words are said again' "$(cat "$t_out")" '^It would say: write a health check'
t_exit 'the next sentence can be corrected' 0 ask 'no, go back to the one about the checkout total'
t_is 'the corrected sentence goes where it should' "$(conversation)" "$checkout"
t_like 'the corrected sentence is repeated' "$(cat "$t_out")" 'You said: write a health check'
t_exit 'a German sentence asks for another conversation' 0 t_faden ask --agent rehearsal 'das gespräch über das Dockerfile'
t_like 'where faden goes on is told in words' "$(cat "$t_err")" 'faden: Ab jetzt: write a Dockerfile'

printf 'tool Bash rm x => gone\nsay done\n*\nsay fine\n' >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
t_exit 'a command that acts is taken' 0 ask --new remove the file x
t_exit 'another sentence behind it is taken' 0 ask and the checkout total is rounded wrongly again
t_unsetenv FADEN_AI_REHEARSAL_SCRIPT

printf 'fail failed no connection\n' >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
outage() { ask --new compare the tariffs of the water works || return 0; }
t_exit 'an outage ends one turn' 0 outage
failed=$(conversation)
t_unsetenv FADEN_AI_REHEARSAL_SCRIPT
t_exit 'trying again after the outage succeeds' 0 ask try again
t_is 'trying again goes on in the same conversation' "$(conversation)" "$failed"
t_exit 'something else is said in between' 0 ask write a poem about the moon
t_exit 'the subject of the outage is taken' 0 ask back to the tariffs of the water works
t_is 'what was said in the outage is known' "$(conversation)" "$failed"

printf '*\nfail context-full too much\n' >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
broken() { ask --new download the rainfall series of the weather stations || return 0; }
t_exit 'a conversation is full' 0 broken
failed=$(conversation)
t_exit 'what leans on it fails again' 4 ask and now with smaller packets
t_is 'since it is said there: in a new one it would mean nothing' "$(conversation)" "$failed"
t_unsetenv FADEN_AI_REHEARSAL_SCRIPT
t_exit 'it is rolled over' 0 t_faden rollover
t_exit 'what leans on it is taken then' 0 ask and now with smaller packets
heir=$(conversation)
t_unlike 'by the session that took its place' "$heir" "$failed"
t_exit 'something else is said again' 0 ask write a poem about the sea
t_exit 'the subject of the full one is taken' 0 ask back to the rainfall series
t_is 'it belongs to what took its place' "$(conversation)" "$heir"

t_exit 'a plan is made' 0 t_faden ask --new make a plan for the migration to the new database
t_like 'a turn that plans is told to change nothing' "$(cat "$t_err")" 'This turn plans'
t_exit 'a mode that is asked for is taken with any words' 0 t_faden ask --new --permission-mode accept-edits make a plan for the migration to another database
t_unlike 'an option goes before the words of the sentence' "$(cat "$t_err")" 'This turn plans'
t_exit 'a plan is made again' 0 t_faden ask --new make a plan for the migration to the new database
t_exit 'the plan is executed' 0 t_faden ask ok, now implement it
t_like 'the step from planning to doing is told' "$(cat "$t_err")" 'From planning to doing'

t_setenv 'FADEN_AI_EXEC_COMMAND=cat'
t_exit 'a plan is made with an agent that cannot plan' 0 \
	t_faden ask --new --agent exec make a plan for the migration to the new database
t_like 'an agent that cannot plan is told as one' "$(cat "$t_err")" 'exec cannot be held to that'
t_unlike 'nothing is promised for an agent that cannot plan' "$(cat "$t_err")" 'nothing is changed'
t_unsetenv FADEN_AI_EXEC_COMMAND

t_exit 'a task in German is routed' 0 t_faden route ändere nichts, schau nur
t_like 'a task that changes nothing is one that plans' "$(cat "$t_out")" 'It plans'
for text in 'set up a vegetable garden plan' 'lege einen neuen kleinen Speiseplan an' 'add a monthly data plan'; do
	t_exit "a task with a plan in it is routed: $text" 0 t_faden route "$text"
	t_unlike "what only has it in its name is none: $text" "$(cat "$t_out")" 'It plans'
done
for text in 'write a migration plan' 'make a detailed rollout plan for the new database'; do
	t_exit "a task that asks for a plan is routed: $text" 0 t_faden route "$text"
	t_like "it plans: $text" "$(cat "$t_out")" 'It plans'
done
t_setenv 'FADEN_ROUTING_PLAN_WORDS=Dry Run'
t_exit 'words of the settings are read' 0 t_faden route --json fix the parser as a dry run
t_like 'words of the settings make it a plan' "$(cat "$t_out")" '"task":"plan"'
t_unsetenv FADEN_ROUTING_PLAN_WORDS
t_exit 'without words of the settings it is routed' 0 t_faden route --json fix the parser as a dry run
t_like 'without words of the settings it is a change' "$(cat "$t_out")" '"task":"edit"'

t_setenv FADEN_ROUTING_ENABLED=false
t_exit 'a first sentence with routing turned off is taken' 0 ask a recipe for pancakes with apples
last=$(conversation)
t_exit 'another subject with routing turned off is taken' 0 ask the weather in Hamburg tomorrow
t_is 'with routing turned off the last conversation goes on whatever is said' "$(conversation)" "$last"
t_exit 'route knows that routing is turned off' 0 t_faden route --json the price of tea
t_like 'route shows the conversation that goes on' "$(cat "$t_out")" "\"by\":\"folder\",\"conversation_id\":\"$last\""
t_exit 'a plan with routing turned off is asked about' 0 t_faden route make a plan for the migration
t_unlike 'route says no more of a plan than ask does' "$(cat "$t_out")" 'It plans'
t_exit 'a plan with routing turned off is taken' 0 t_faden ask make a plan for the migration
t_unlike 'with routing turned off no turn plans' "$(cat "$t_err")" 'This turn plans'
t_unsetenv FADEN_ROUTING_ENABLED

# "no, the other one" whenever it is said, and more than once
mkdir "$t_tmp/three"
cd "$t_tmp/three" || exit 1
at() { t_setenv "FADEN_CLOCK=2026-05-0$1T10:00:00Z"; } # DAY
at 1
t_exit 'one of three is begun' 0 ask --new paint the fence
fence=$(conversation)
at 2
t_exit 'another of three is begun' 0 ask --new sort the invoices
invoices=$(conversation)
at 3
t_exit 'the last of three is begun' 0 ask --new tune the piano
piano=$(conversation)
t_exit 'what leans on it is taken' 0 ask 'and do it slowly'
t_is 'what leans on it goes there without a word' "$(conversation)$(cat "$t_err")" "$piano"
at 6
t_exit 'days later the other one is asked about' 0 t_faden route --json no, the other one
t_like 'route tells which is the other one' "$(cat "$t_out")" "\"by\":\"correction\",\"conversation_id\":\"$invoices\".*\"other_id\":\"$fence\",\"prompt\":\"and do it slowly\""
t_exit 'the other one is taken' 0 ask no, the other one
t_is 'it is the next best' "$(conversation)" "$invoices"
t_like 'what was said is said there' "$(cat "$t_out")" 'You said: and do it slowly'
t_exit 'the other one is taken a second time' 0 ask nein, die andere
t_is 'the second time it is the third' "$(conversation)" "$fence"
t_exit 'the other one is taken a third time' 0 ask no, the other one
t_like 'at the end it is the first again, where nothing is said twice' "$(cat "$t_out")" '"answer":"".*"reply":"From now on: tune the piano\."'
t_exit 'what comes next is asked about' 0 t_faden route --json paint the fence green
t_like 'route tells the switch that is pending' "$(cat "$t_out")" "\"by\":\"pin\",\"conversation_id\":\"$piano\""
t_exit 'what comes next is taken' 0 ask paint the fence green
t_is 'what comes next goes there' "$(conversation)" "$piano"
t_exit 'a new one is asked for' 0 ask new conversation
t_exit 'what comes after it is asked about' 0 t_faden route --json back to painting the fence
t_like 'route tells that a new one is pending' "$(cat "$t_out")" '"action":"new","by":"pin"'
t_exit 'what comes after it is taken' 0 ask back to painting the fence
t_unlike 'it is new whatever it says' "$(conversation)" "$fence|$piano|$invoices"
printf '*\nsay The left one?\n' >"$t_tmp/script"
t_setenv "FADEN_AI_REHEARSAL_SCRIPT=$t_tmp/script"
t_exit 'the agent asks something' 0 ask and which wall
wall=$(conversation)
t_exit 'it is answered' 0 ask no, the other one
t_is 'an answer to the agent is no correction' "$(conversation)" "$wall"
t_exit 'the other conversation is asked for' 0 ask no, the other conversation
t_unlike 'words about conversations are no answer to the agent' "$(conversation)" "$wall"
t_unsetenv FADEN_AI_REHEARSAL_SCRIPT
mkdir "$t_tmp/between" && cd "$t_tmp/between" || exit 1
t_exit 'something is said' 0 ask deploy version 7
printf 'talk about bananas\nand apples\n' | t_faden --agent rehearsal --new >/dev/null 2>&1
t_exit 'after a talk the other one is asked for' 0 ask no, the other one
t_like 'nothing of before the talk is said again' "$(cat "$t_out")" '"answer":"".*"reply":"From now on: deploy version 7\."'
mkdir "$t_tmp/alone"
cd "$t_tmp/alone" || exit 1
t_exit 'the only conversation is begun' 0 ask feed the cat
t_exit 'another one than the only one is not found' 1 ask wrong conversation
t_like 'that there is no other is said' "$(cat "$t_out")" 'There is no other conversation here'
mkdir "$t_tmp/lone" "$t_tmp/bare"
for folder in bare lone; do
	cd "$t_tmp/$folder" || exit 1
	[ $folder = bare ] || t_exit 'the only one is asked for as a new one' 0 ask --new feed the dog
	for words in 'no, the other one' 'nein, die andere'; do
		t_exit "$folder: '$words' is no order" 1 ask "$words"
		t_unlike "$folder: no agent gets it" "$(cat "$t_out")" 'You said'
	done
	t_like "$folder: it is said, and that nothing was sent" "$(cat "$t_out")" 'keine andere Konversation; nichts wurde gesendet'
done
t_exit 'a sentence that only begins so is for the agent' 0 ask 'no, the other one of the two dogs'
t_like 'which gets it' "$(cat "$t_out")" 'You said: no, the other one of the two dogs'
t_unsetenv FADEN_CLOCK

# What was begun by mistake and said elsewhere since is nowhere to go.
mkdir "$t_tmp/stray" && cd "$t_tmp/stray" || exit 1
t_exit 'a task is begun' 0 ask --new write a crawler for recipes
crawler=$(conversation)
t_exit 'a sentence begins another by mistake' 0 ask bake a rhubarb cake without flour
stray=$(conversation)
t_exit 'it belonged to the first' 0 ask 'no, the crawler one'
t_is 'a bare name corrects' "$(conversation)" "$crawler"
t_like 'the sentence is said there' "$(cat "$t_out")" 'You said: bake a rhubarb cake without flour'
t_exit 'more of that is asked about' 0 t_faden route --json the rhubarb cake has no eggs either
t_is 'it is of the first' "$(conversation)" "$crawler"
t_unlike 'what holds nothing else is no candidate' "$(sed 's/.*"candidates"//' "$t_out")" "$stray"
t_exit 'something is said in it after all' 0 ask --in "$stray" whisk some cream
t_exit 'the other is gone on with' 0 ask --in "$crawler" and print it
t_exit 'cream is asked about' 0 t_faden route --json is the cream stiff
t_like 'then it is one again' "$(sed 's/.*"candidates"//' "$t_out")" "$stray"

# A sentence that was refused is what a correction is about: never an older one, and nothing from before a reset.
mkdir "$t_tmp/refused" && cd "$t_tmp/refused" || exit 1
t_exit 'one is begun' 0 ask --new fix the flaky upload test
upload=$(conversation)
t_exit 'another is begun' 0 ask --new write a Dockerfile for the image server
t_exit 'it goes on' 0 ask --in "$(conversation)" use alpine there
t_exit 'back to what nobody spoke of is refused' 1 ask 'back to tamarind, it crashes'
t_like 'by the words before the comma' "$(cat "$t_out")" 'Nothing is called \\"tamarind\\" or is about it'
t_exit 'a new one is asked for' 0 ask no, new conversation
t_like 'the refused sentence is said there' "$(cat "$t_out")" 'You said: back to tamarind, it crashes'
t_exit 'something is said again' 0 ask --in "$upload" and pin its version
t_exit 'and again refused' 1 ask 'back to quince, the lid squeaks'
t_exit 'the other one is asked for' 0 t_faden ask --agent rehearsal no, the other one
t_like 'the refused sentence goes there' "$(cat "$t_out")" 'You said: back to quince, the lid squeaks'
t_like 'and is quoted' "$(cat "$t_err")" 'the same \("back to quince, the lid squeaks"\) in: '
t_exit 'a reset' 0 t_faden reset
t_exit 'behind it there is no other one' 1 ask no, the other one
t_unlike 'and nothing is said again' "$(cat "$t_out")" 'You said'
t_exit 'nothing goes on' 1 ask continue
t_exit 'a correction of that' 0 ask no, the other one
t_unlike 'says nothing of before the reset again' "$(cat "$t_out")" 'quince|alpine|version'

# What a reset is said to have ended is what its undo brings back, not a newer session made of another one.
mkdir "$t_tmp/ended" && cd "$t_tmp/ended" || exit 1
t_exit 'one is begun' 0 ask --new paint the shed
shed=$(sed -n 's/.*"session_id":"\([^"]*\)".*/\1/p' "$t_out")
t_exit 'another is begun' 0 ask --new oil the hinges
t_exit 'the first is rolled over' 0 t_faden rollover "$shed"
t_exit 'a reset' 0 t_faden reset
t_exit 'nothing goes on' 1 ask continue
t_like 'it is said what did' "$(cat "$t_out")" 'Before it was \\"oil the hinges\\"'
t_exit 'it comes back' 0 t_faden reset --undo
t_like 'it is that' "$(cat "$t_out")" 'goes on: oil the hinges'
t_exit 'a reset again' 0 t_faden reset
t_exit 'behind which one goes back' 0 ask --in "$shed" and the door
t_exit 'another reset' 0 t_faden reset
t_exit 'and back once more' 0 ask --in "$shed" and the roof
t_exit 'the last reset is undone' 0 t_faden reset --undo
t_like 'which changes nothing of what goes on' "$(cat "$t_out")" 'went on here already: '

# The other one is the one that was just left, however well a third fits; and a folder elsewhere is named.
mkdir "$t_tmp/left" "$t_tmp/right" && cd "$t_tmp/left" || exit 1
t_exit 'an old one is begun' 0 ask --new paint the fence of the sheep meadow
meadow=$(conversation)
t_exit 'a newer one is begun' 0 ask --new paint the roof of the sheep barn
barn=$(conversation)
t_exit 'the last one is begun' 0 ask --new tune the old cello
cello=$(conversation)
t_exit 'a switch is taken' 0 ask back to the roof of the barn
t_is 'it goes where it should' "$(conversation)" "$barn"
t_exit 'route knows the other one' 0 t_faden route --json no, the other one
t_like 'it is the one that was left' "$(cat "$t_out")" "\"by\":\"correction\",\"conversation_id\":\"$cello\""
t_exit 'the other one is taken' 0 ask no, the other one
t_is 'it is the one that was left' "$(conversation)" "$cello"
t_exit 'something is said there' 0 ask and do it slowly
t_is 'it stays there' "$(conversation)" "$cello"
t_exit 'the other one is taken then' 0 ask no, the other one
t_is 'it is the one that was left before' "$(conversation)" "$barn"
t_exit 'something is said there too' 0 ask undo that
t_exit 'the other one is taken back' 0 ask no, the other one
t_is 'back and forth' "$(conversation)" "$cello"
cd "$t_tmp/right" || exit 1
t_exit 'one is begun in another folder' 0 ask weed the tulips
tulips=$(conversation)
t_exit 'what is elsewhere is gone to by its subject' 0 ask back to the old cello
t_is 'it is reached' "$(conversation)" "$cello"
t_exit 'the other one is here' 0 t_faden ask --agent rehearsal no, the other one
t_like 'its folder need not be named' "$(cat "$t_err")" 'the same \("back to the old cello"\) in: weed the tulips\.$'
t_exit 'the other one is elsewhere' 0 t_faden ask --agent rehearsal no, the other one
t_like 'its folder is named' "$(cat "$t_err")" "From now on: tune the old cello, in $t_tmp/left\\."
t_exit 'what was allowed here is not allowed there' 6 t_faden ask --permission-mode bypass ask me
t_like 'which is said' "$(cat "$t_err")" 'Going on with "tune the old cello", in .*\. --permission-mode bypass holds for this folder and not there; with --in it does\.'
t_exit 'unless it is named' 0 t_faden ask --in "$cello" --permission-mode bypass ask me
t_exit 'what allows less holds there too' 0 t_faden ask --permission-mode plan ask me what you like
t_unlike 'without a word' "$(cat "$t_err")" 'permission-mode'
cd "$t_tmp/left" || exit 1
t_exit 'here it is allowed' 0 t_faden ask --permission-mode bypass ask me

# What nobody has spoken of is not gone back to, nor is the sentence sent anywhere.
for words in 'back to kumquat' 'ok, back to the kumquat' 'go back to kumquat' 'zurück zu Kumquat'; do
	t_exit "'$words' is not found" 1 ask "$words"
done
t_like 'it is said in the language of the sentence' "$(cat "$t_out")" '"status":"not-found".*Nichts heißt \\"Kumquat\\" oder handelt davon; nichts wurde gesendet'
t_exit 'it is said in English too' 1 t_faden ask back to kumquat
t_like 'with how to look' "$(cat "$t_err")" '^faden: Nothing is called "kumquat" or is about it; nothing was sent\. To see what there is: faden list --all;'
t_exit 'what is only begun so is for the agent' 0 ask go back to the old colour of the keys
t_exit 'and so is what the agent can go back to' 0 ask back to tuning the cello then
t_exit 'and what is meant for one' 0 ask --in "$cello" back to kumquat
t_exit 'from then on it is known' 0 ask back to kumquat
t_is 'where it was said' "$(conversation)" "$cello"
session=$(sed 's/.*"session_id":"\([^"]*\)".*/\1/' "$t_out")

# Another agent has none of it: whose it is is said, by subject and by name.
t_setenv 'FADEN_AI_EXEC_COMMAND=/bin/cat'
t_exit 'what is another agent'"'"'s is not gone back to with this one' 1 t_faden ask --agent exec back to kumquat
t_like 'it is said whose it is' "$(cat "$t_err")" '^faden: "tune the old cello" belongs to rehearsal, not to exec; nothing was sent\. Without --agent it goes on there'
t_exit 'it gets a name' 0 t_faden rename "$session" okapi
t_exit 'nor by its name' 1 t_faden ask --agent exec zurück zu okapi, und jetzt die Saiten
t_like 'which is said in the language of the sentence' "$(cat "$t_err")" '^faden: "okapi" gehört zu rehearsal, nicht zu exec; nichts wurde gesendet'
t_exit 'what nobody has is not found with it either' 1 t_faden ask --agent exec back to zebra
t_like 'and that is said' "$(cat "$t_err")" 'Nothing is called "zebra"'
t_exit 'without it the sentence gets there' 0 t_faden ask --json back to okapi
t_is 'by its name' "$(conversation)" "$cello"
t_unsetenv FADEN_AI_EXEC_COMMAND
cd "$t_tmp/shop" || exit 1

stdio() {
	printf '%s\n' '{"op":"begin","protocol":"routing-eval/1"}' \
		'{"op":"step","t_ms":1000,"text":"fix the parser","cwd":"/x"}' 'no json' \
		'{"op":"started","t_ms":1000,"conversation_ref":"s1","new":true,"text":"fix the parser","cwd":"/x"}' \
		'{"op":"finished","t_ms":2000,"conversation_ref":"s1"}' \
		'{"op":"step","t_ms":3000,"text":"now run it","cwd":"/x"}' | t_faden route --stdio
}
t_exit '--stdio serves other programs' 0 stdio
t_is 'each step of --stdio is one line' "$(wc -l <"$t_out")" 2
t_like 'a step has the decision' "$(tail -n 1 "$t_out")" '"action":"resume".*"conversation_ref":"s1"'
t_like 'a bad line of --stdio is told' "$(cat "$t_err")" 'faden: route: '
odd() {
	printf '{"op":"begin"}\n\n{"op":"step","t_ms":1,"text":"a\377b","cwd":"/x"}\n' >"$t_tmp/odd"
	printf '{"op":"step","t_ms":2,"text":" ","cwd":"/x"}\n' >>"$t_tmp/odd"
	t_faden route --stdio <"$t_tmp/odd"
}
t_exit 'invalid UTF-8 and an empty text are no failure of --stdio' 0 odd
t_is 'invalid UTF-8 and an empty text are answered' "$(grep -c '"action":"new"' "$t_out")" 2
t_like 'an empty text is named' "$(tail -n 1 "$t_out")" 'the text is empty'
t_is 'a blank line of --stdio is none' "$(cat "$t_err")" ''
sed -n '/Fl -replay/,/^\.Ed/{/^[{ ]/p;}' "$t_root/docs/man/route.mdoc" >"$t_tmp/vectors"
t_exit 'the document of the manual is replayed' 0 t_faden route --replay "$t_tmp/vectors"
t_like 'each vector is one line' "$(cat "$t_out")" '^\{"id":"1","action":"resume","session_id":"a",.*\}$'
t_exit '--stdio and --replay exclude each other' 2 t_faden route --stdio --replay x
t_exit 'a failure of route --json has its status' 2 t_faden route --json ' '
t_like 'a failure of route --json is one object' "$(cat "$t_out")" '^\{.*empty.*\}$'
bytes() { printf 'a\000b\377\342\200\256c' | t_faden ask --agent rehearsal -; }
t_exit 'NUL, invalid UTF-8 and right to left are routed' 0 bytes
mkdir "$t_tmp/long" && cd "$t_tmp/long" || exit 1
t_faden ask --new 'the greenhouse on the northern slope needs new panes, since the storm of last week has broken most of the old ones' >/dev/null 2>&1
t_like 'a long title ends with a sign that it does' "$(t_faden route 'back to the greenhouse')" 'the greenhouse on the northern slope .*…'

# The same subject in two projects: here is meant, also when it is gone back to.
for project in pipe-m pipe-n; do
	mkdir -p "$t_tmp/$project/.git" && cd "$t_tmp/$project" || exit 1
	t_exit "$project has a conversation" 0 t_faden ask --new --agent rehearsal 'set up the release pipeline'
	[ "$project" = pipe-n ] || t_exit 'and more is said there' 0 t_faden ask 'sign the release artifacts in the pipeline'
	t_exit "$project goes on" 0 t_faden ask 'why is the font of the footer so small'
done
t_exit 'it is gone back to' 0 t_faden route --json 'back to the release pipeline, upload the logs'
t_like 'the one of this folder is meant' "$(cat "$t_out")" '"action":"resume"[^{]*"directory":"[^"]*/pipe-n"'

# What is gone back to is what stands before the comma, and here comes first.
mkdir -p "$t_tmp/print" "$t_tmp/plan" && cd "$t_tmp/print" || exit 1
t_exit 'another folder has its subject' 0 ask --new the printer driver crashes on duplex paper
printer=$(conversation)
cd "$t_tmp/plan" || exit 1
t_exit 'this one has another' 0 ask --new tidy the unit tests of the scheduler
scheduler=$(conversation)
t_exit 'and one more' 0 ask --new upgrade the logging library
for words in 'back to the scheduler, the printer driver job has duplex set' \
	'ok, go back to the scheduler: the printer driver job has duplex set' \
	'zurück zum scheduler, the printer driver job has duplex set'; do
	t_exit "'$words' is asked about" 0 t_faden route --json "$words"
	t_like 'what is said behind it leads nowhere else' "$(sed 's/"candidates".*//' "$t_out")" "\"by\":\"router\",\"conversation_id\":\"$scheduler\""
done
t_exit 'what names the other folder is asked about' 0 t_faden route --json 'back to the printer driver, the scheduler has duplex set'
t_like 'it is reached' "$(sed 's/"candidates".*//' "$t_out")" "\"conversation_id\":\"$printer\""
t_exit 'it is taken' 0 t_faden ask --agent rehearsal 'back to the printer driver, the scheduler has duplex set'
t_like 'it is told where, and what to say if that is wrong' "$(cat "$t_err")" \
	"Resuming: the printer driver .*, in $t_tmp/print \\(if not, say: \"no, the other one\"\\)\\.\$"

t_exit 'the other one is taken' 0 ask no, the other one
t_is 'it is the one here that was spoken of, not what ran last' "$(conversation)" "$scheduler"

# Who corrects by a name may do so again: also back to where the sentence was first.
mkdir -p "$t_tmp/names" && cd "$t_tmp/names" || exit 1
t_exit 'one is begun' 0 ask --new fix the rounding error in the checkout total
checkout=$(conversation)
t_exit 'another is begun' 0 ask --new write a Dockerfile for the image server
docker=$(conversation)
t_exit 'a third is begun by mistake' 0 ask the login page shows a blank screen on Safari
login=$(conversation)
t_exit 'it was for the first' 0 ask 'no, the checkout total'
t_is 'it is said there' "$(conversation)" "$checkout"
t_exit 'or for the second' 0 ask 'no, the Dockerfile'
t_is 'it is said there' "$(conversation)" "$docker"
t_like 'as it was said' "$(cat "$t_out")" 'You said: the login page shows a blank screen on Safari'
t_exit 'or it was right' 0 ask 'no, the login page'
t_like 'it is not said again, what comes next is' "$(cat "$t_out")" '"reply":"From now on: the login page shows'
t_exit 'that comes' 0 ask and log the error
t_is 'where it was named' "$(conversation)" "$login"

# Who names where one is stays there, though another quotes the words by now.
t_exit 'the first is named' 0 ask 'no, the checkout total'
t_exit 'and again' 0 ask 'no, the checkout total'
t_unlike 'nobody moves' "$(cat "$t_out")" 'From now on: (write|the login)'

# What was kept without a word is corrected as well, where what was meant is said and would lead there.
for words in 'make it larger|no, I meant the parser' 'mach es größer|nein, das war für den Parser' \
	'make it larger|no, the parser'; do
	mkdir -p "$t_tmp/kept/${words#*|}" && cd "$t_tmp/kept/${words#*|}" || exit 1
	t_exit 'one is begun' 0 ask --new the parser chokes on nested comments
	parser=$(conversation)
	t_exit 'another is begun' 0 ask --new draw a logo for the download page
	logo=$(conversation)
	t_exit "it goes on: $words" 0 ask "${words%|*}"
	t_is 'where it was' "$(conversation)" "$logo"
	t_exit 'that was for the first' 0 ask "${words#*|}"
	t_is 'it goes there' "$(conversation)" "$parser"
	t_like 'with what was said' "$(cat "$t_out")" "You said: ${words%|*}"
done

# An undo is exact: all that went on in the folder before the reset can be gone on with again.
mkdir -p "$t_tmp/undone" && cd "$t_tmp/undone" || exit 1
t_exit 'one is begun' 0 ask --new prune the cherry tree before winter
cherry=$(conversation)
t_exit 'another is begun' 0 ask --new set up the nightly backup job
t_exit 'a reset' 0 t_faden reset
t_exit 'is undone' 0 t_faden reset --undo
t_exit 'what goes back to the other one is asked about' 0 t_faden route --json back to the cherry tree
t_is 'and goes there, although this one was brought back' "$(conversation)" "$cherry"
t_exit 'what comes next goes where it was' 0 ask and log it
t_exit 'the other one is asked about' 0 t_faden route --json the cherry tree lost a branch
t_is 'and goes on' "$(conversation)" "$cherry"

# A folder may be what one goes back to.
mkdir -p "$t_tmp/orchard" "$t_tmp/quarry"
cd "$t_tmp/orchard" || exit 1
t_exit 'one is begun in one folder' 0 ask --new graft the medlar onto quince
medlar=$(conversation)
cd "$t_tmp/quarry" || exit 1
t_exit 'one in another' 0 ask --new order more gravel
t_exit 'back to the folder, with what is known there' 0 ask 'back to the orchard, the medlar graft dried out'
t_is 'leads there' "$(conversation)" "$medlar"

# "Back to X, …" is refused where nobody spoke of X, whatever comes behind it.
mkdir -p "$t_tmp/nobody" && cd "$t_tmp/nobody" || exit 1
t_exit 'one is begun' 0 ask --new water the tomato plants every morning
t_exit 'back to what nobody spoke of, with words that are known, is refused' 1 ask 'back to the zebra kerning, water it too'
t_like 'as is said' "$(cat "$t_out")" 'Nothing is called \\"zebra kerning\\" or is about it'

# What is asked about what was said is asked of who spoke last.
mkdir -p "$t_tmp/saying" && cd "$t_tmp/saying" || exit 1
t_exit 'one is begun' 0 ask --new let the submit button say Save
t_exit 'another is begun' 0 ask --new expose port 8080
port=$(conversation)
t_exit 'what was said is asked' 0 t_faden route --json 'what did I say?'
t_is 'where it was said' "$(conversation)" "$port"
# … and what shares nothing with anything is no return to something from before.
t_exit 'something new is told of' 0 t_faden route 'the websocket reconnects too often after sleep'
t_unlike 'it names nothing that was said' "$(cat "$t_out")" 'names what was said|let the submit button say Save *$'

# Staying is silent, unless something else was likely as well: then it is told, with the way out.
mkdir -p "$t_tmp/stay" && cd "$t_tmp/stay" || exit 1
t_exit 'a conversation to stay in' 0 t_faden ask --new --agent rehearsal fix the rounding error in the checkout total
stay() {
	for text in 'write a haiku about rain' 'write a letter to the bank' 'draft a mail to the landlord' \
		'set up a mailing list' 'plan the garden party' 'count the words of the speech' \
		'draw the floor plan of the flat' 'translate the poem into Latin' 'design a logo for the bakery' \
		'make a crossword about birds' 'delete the temp files' 'write a shell script that backs up photos'; do
		t_faden route --json "$text" | python3 -c 'import json, sys
d = json.load(sys.stdin)
print(d["action"], d["confidence"] < 0.65)' | grep -qx 'resume True' && printf '%s\n' "$text" && return
	done
}
text=$(stay)
if [ -n "$text" ]; then
	t_exit "what is not sure stays: $text" 0 t_faden ask "$text"
	t_like 'that is told, with what to say if it is wrong' "$(cat "$t_err")" \
		'Going on with: fix the rounding error in the checkout total \(if not, say: "no, new conversation"\)'
	t_exit 'which is said' 0 t_faden ask 'no, new conversation'
	t_like 'and helps' "$(cat "$t_err")" 'the same \(".*"\) in a new conversation'
else
	t_skip 'what is not sure is told' 'the router is sure of all of them'
fi

# What is unlikely is close, whatever else there is, and what is very unlikely is not gone to.
for text in 'plant the bulbs before the frost' 'translate the poem into Latin' 'tune the old cello'; do
	t_exit "something else is begun: $text" 0 t_faden ask --new --agent rehearsal "$text"
done
for text in 'it is too loud' 'the frost came early' 'say it in fewer words' 'what about the cellar' \
	'the total is odd' 'why is it so old' 'and into Greek' 'where did the bulbs go' 'half of it'; do
	t_exit "somewhere it goes: $text" 0 t_faden route --json "$text"
	t_ok "as close as it is likely: $text" python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
close = d["next"] and (d["next"]["margin"] < 0.1 or d["confidence"] < 0.5)
sys.exit(d["close"] != bool(close) or d["action"] == "resume" and d["confidence"] < 0.3)' "$t_out"
done

# A name that was given corrects without an article.
mkdir "$t_tmp/named" && cd "$t_tmp/named" || exit 1
t_exit 'one conversation is begun' 0 t_faden ask --new --agent rehearsal parse the invoice header of the supplier
t_exit 'it gets a name' 0 t_faden rename "$(t_faden list -F '{id}')" kumquat
t_exit 'another is begun' 0 t_faden ask --new --agent rehearsal draw a logo for the bakery
t_exit 'the name alone corrects' 0 t_faden ask --agent rehearsal no, kumquat
t_like 'what was said is said there' "$(cat "$t_err")" 'the same \("draw a logo for the bakery"\) in: kumquat'
t_exit 'what nobody is called is for the agent' 0 t_faden ask --agent rehearsal no, walrus
t_like 'as it is' "$(cat "$t_out")" 'You said: no, walrus'

# What leans on something leans on what ran last, also a while after somebody went back to it.
mkdir "$t_tmp/leaning" && cd "$t_tmp/leaning" || exit 1
t_setenv 'FADEN_CLOCK=2026-05-01T10:00:00Z'
t_exit 'one is begun' 0 ask write the parser for dates
parser=$(conversation)
t_setenv 'FADEN_CLOCK=2026-05-01T10:05:00Z'
t_exit 'another is begun' 0 ask --new the login page shows a blank screen
t_setenv 'FADEN_CLOCK=2026-05-01T10:10:00Z'
t_exit 'somebody goes back' 0 ask back to the parser for dates
t_setenv 'FADEN_CLOCK=2026-05-01T10:11:10Z'
for text in 'und jetzt noch ein Test dazu' 'mach das noch mal schöner' 'explain that again please' 'what did I say?'; do
	t_exit "'$text' a minute later is asked about" 0 t_faden route --json "$text"
	t_is 'and leans on what ran last' "$(conversation)" "$parser"
done
t_unsetenv FADEN_CLOCK
# "Continue" is not said to one that begins.
mkdir -p "$t_tmp/soup" && cd "$t_tmp/soup" || exit 1
t_exit 'something is said' 0 t_faden ask "the invoice numbering has a gap in March"
t_exit 'and gone on with' 0 t_faden ask continue
t_exit 'which was wrong' 0 t_faden ask "no, new conversation"
t_like 'what comes next begins anew' "$(cat "$t_err")" 'From now on: a new conversation'
t_exit 'which comes' 0 t_faden ask "the soup is too hot"
t_unlike 'and does not go where that was' "$(cat "$t_err")" 'Resuming|Going on'
t_done
