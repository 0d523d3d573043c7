#!/bin/sh
# The line editor, the status line and the stream of an answer in a real terminal, by ui-demo.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/tmux.sh"
tty_need

demo=$(dirname "$FADEN")/tests/ui-demo
history=$t_tmp/history

start() {
	tty_start 60 14 sh -c "trap : INT; '$demo' '$history'; echo status \$?; exec cat"
	t_wait_for 10 tty_shows '^> *$'
}

start

tty_type 'hällo wörld' Enter
tty_wait 'a line is read' '^got <hällo wörld>'

tty_type 'notice 400 from outside' Enter
tty_type 'this is typed while a notice comes and is longer than one row of it'
tty_wait 'a notice comes while the user types' '^from outside'
t_is 'a notice is above the prompt, which is drawn again' "$(tty_screen | tail -n 3)" 'from outside
> this is typed while a notice comes and is longer than one
row of it'
tty_type C-c
tty_wait 'Ctrl-C drops the line' '^interrupted'
t_like 'the dropped line stays to be read' "$(tty_screen)" '^row of it\^C'

tty_type 'one \' Enter 'two' Enter
tty_wait 'a backslash continues the line' '^got <one \\ntwo>'
tty_paste 'p1
p2
p3'
tty_type Enter
tty_wait 'a pasted block is one input' '^got <p1\\np2\\np3>'
tty_type 'see '
tty_paste "$(seq 1 30)"
tty_wait 'a long pasted block shows as a label' '^> see \[pasted 30 lines, 1\]'
tty_type Enter
tty_wait 'a long pasted block comes whole' '29\\n30>'

tty_type C-l
tty_type 'run' Enter
tty_wait 'the status line is shown' 'thinking · demo · a talk'
tty_resize 18 14
tty_wait 'the status line is cut in a narrow terminal' 'thinking · .*…$'
tty_once 'a resize leaves no trace of the status line' thinking
tty_resize 60 14
tty_wait 'the status line is whole again in a wide terminal' 'thinking · [0-9]+ s · demo · a talk'
tty_once 'the status line is there once after a resize' thinking
tty_type C-c
tty_wait 'Ctrl-C stops the turn' '^stopped'
t_unlike 'the status line is gone after a cancel' "$(tty_screen)" thinking

tty_type C-l
tty_type 'slow **one** two three four five six seven eight nine ten' Enter
tty_wait 'an answer streams' '^one two'
tty_wait 'the status line is below the answer' '^.* answering'
tty_type 'ahead'
tty_resize 30 14
tty_wait 'the answer streams through a resize' 'ten$'
tty_wait 'what was typed ahead is at the prompt' '^> ahead'
t_unlike 'nothing of the status line is left after the answer' "$(tty_screen)" answering
tty_resize 60 14

tty_type C-u 'long text in a wide terminal that will be made thin soon'
tty_resize 20 14
tty_wait 'the prompt follows a resize' '^> long text in a wi'
tty_once 'the prompt is there once after a resize' '> long'
tty_resize 60 14
tty_wait 'the prompt follows a resize back' '^> long text in a wide terminal that will be made thin soon$'
tty_once 'the prompt is there once after a resize back' '> long'
tty_type C-u

tty_type 'cancel 100' Enter 'unsent'
tty_wait 'the program can end the prompt' '^cancelled'
tty_wait 'what was typed is kept when the program ends the prompt' '^> unsent'
tty_type C-u Up Up
tty_wait 'the history goes back' '^> slow \*\*one'
tty_type C-u C-d
tty_wait 'Ctrl-D leaves' '^status 0'
t_is 'after Ctrl-D the terminal is as it was' "$(tty_mode)" 'icrnl opost isig icanon echo '
tty_stop

start
tty_type Up
tty_wait 'the history is there after a restart' '^> cancel 100'
tty_type C-u C-l 'say # Title|some `code` and a [link](http://x.y)|- item||```|code block|```' Enter
tty_wait 'Markdown: a heading is shown' '^Title'
tty_wait 'Markdown: a list is shown' '^• item'
tty_wait 'Markdown: a code block is shown' '^    code block'
tty_wait 'Markdown: a link is shown' 'a link \(http://x.y\)'
tty_stop

tty_start 60 14 sh -i
tty_type "'$demo'" Enter
t_wait_for 10 tty_shows '^> *$'
tty_type 'half a line' C-z
tty_wait 'Ctrl-Z stops the program' '[Ss]topped|suspended'
t_like 'Ctrl-Z gives the terminal back' "$(tty_mode)" '(^| )icanon echo'
tty_type 'fg' Enter
tty_wait 'fg brings the line back' '^> half a line'
tty_type '!' Enter
tty_wait 'the line that was brought back is whole' '^got <half a line!>'
tty_stop
t_done
