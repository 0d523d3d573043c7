#!/bin/sh
# The agent dies under a faden that lives: whether it had the prompt, its session tells, and what did
# not reach it is sent again, once.
. "$(dirname "$0")/../lib.sh"
t_need_agents
t_model_start
t_claude_env
t_setenv 'IS_SANDBOX=1'
mkdir "$t_tmp/work"
cd "$t_tmp/work" || exit 1

# The real program, killed when it has said a line with what "die" holds. It writes down a moment later
# what it says: behind a call it is killed when its session has that.
rm "$t_bin/claude"
cat >"$t_bin/claude" <<END
#!$(command -v python3)
import glob, os, subprocess, sys, time
# Its session is the one with this text: the other version's is there as well.
said = open("$t_tmp/said", "rb").read()
def has_call():
    for path in glob.glob(os.path.expanduser("~/.claude/projects/*/*.jsonl")):
        with open(path, "rb") as file:
            text = file.read()
            if said in text and b'"tool_use"' in text:
                return True
    return False
real = open("$t_tmp/real").read()
if "stream-json" not in sys.argv or not os.path.exists("$t_tmp/die"):
    os.execv(real, ["claude"] + sys.argv[1:])
word = open("$t_tmp/die", "rb").read()
child = subprocess.Popen([real] + sys.argv[1:], stdout=subprocess.PIPE)
for line in child.stdout:
    if word in line:
        deadline = time.monotonic() + 10
        while b"tool_result" in word and not has_call() and time.monotonic() < deadline:
            time.sleep(0.02)
        child.kill()
        child.wait()
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
    if word in line:
        os.kill(os.getpid(), 9)
END
chmod +x "$t_bin/claude"

# ask ARGUMENT…: a turn of Claude Code that may do everything.
ask() { t_faden ask --agent claude --permission-mode bypass "$@"; }
# ran: how many times the deed was done.
ran() { cat ran 2>/dev/null | wc -l; }

for program in "$t_claude" "$t_claude_new"; do
	printf '%s' "$program" >"$t_tmp/real"
	version=$("$program" --version | cut -d" " -f1)
	printf '%s' "say: never $version" >"$t_tmp/said"
	rm -f ran

	printf '"requesting"' >"$t_tmp/die"
	t_exit "$version: killed before it has written anything" 4 \
		ask --new "[[bash: echo milk >>ran]][[say: bought $version]]"
	t_like "$version: it is told that it had not got the prompt" "$(cat "$t_err")" \
		"killed by signal 9.*; it had not got the prompt; 'faden ask --again' sends it"
	rm "$t_tmp/die"
	mv "$t_bin/claude" "$t_bin/away"
	t_exit "$version: an agent that is not there does not get it" 4 ask --again
	printf '#!/bin/sh\nexit 9\n' >"$t_bin/claude"
	chmod +x "$t_bin/claude"
	t_exit "$version: nor does one that does not start" 4 ask --again
	mv "$t_bin/away" "$t_bin/claude"
	t_exit "$version: it is sent again" 0 ask --again
	t_is "$version: and answered" "$(cat "$t_out")" "bought $version"
	t_is "$version: what it says was done once" "$(ran)" 1
	t_exit "$version: and then there is nothing to send" 1 ask --again

	printf '"requesting"' >"$t_tmp/die"
	t_exit "$version: killed once more" 4 ask --new "[[bash: echo milk >>ran]][[say: by hand]]"
	rm "$t_tmp/die"
	t_exit "$version: typed again it is that one" 0 ask "[[bash: echo milk >>ran]][[say: by hand]]"
	t_exit "$version: so that nothing is left to send" 1 ask --again
	t_is "$version: that was done once, too" "$(ran)" 2

	printf '"tool_result"' >"$t_tmp/die"
	t_exit "$version: killed behind a call" 4 ask --new "[[bash: echo milk >>ran]][[say: never $version]]"
	t_like "$version: it is told that it had the prompt" "$(cat "$t_err")" \
		'killed by signal 9.*; it had the prompt, and "continue" goes on'
	rm "$t_tmp/die"
	t_exit "$version: which is not sent again" 1 ask --again
	t_is "$version: nor was it" "$(ran)" 3
	t_exit "$version: continue goes on" 0 ask --json 'continue'
	t_is "$version: in that session" "$(t_model_query \
		'"never '$version'" in json.dumps(log[-1]["body"]["messages"])')" True
done
t_done
