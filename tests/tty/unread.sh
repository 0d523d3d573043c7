#!/bin/sh
# A terminal that takes no output, as one whose window hangs or whose line is down: a signal ends the
# picker all the same, and the terminal is as it was once it goes on.
# shellcheck disable=SC2154 # variables of lib.sh
. "$(dirname "$0")/../lib.sh"
python=$(command -v python3)
mkdir -p "$t_home/src"
"$t_helper/make-session" claude "$t_home/.claude" "$t_home/src" \
	aaaaaaaa-0000-4000-8000-000000000001 'a session to choose' >/dev/null
cd "$t_home" || exit 1
t_setenv 'TERM=xterm'

# Says how it ended, what the terminal got last, and whether its mode is the one from before.
cat >"$t_tmp/unread.py" <<'END'
import fcntl, os, pty, select, signal, struct, sys, termios, time

signo = getattr(signal, "SIG" + sys.argv[1])
master, slave = pty.openpty()
before = termios.tcgetattr(slave)


def resize(rows):
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, 80, 0, 0))


def within(seconds, done):
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def hears_no_resize():
    """The loop leaves a signal alone: it has its hands full with a write."""
    with open(f"/proc/{pid}/status") as status:
        pending = next(l for l in status if l.startswith("ShdPnd")).split()[1]
    return int(pending, 16) >> (signal.SIGWINCH - 1) & 1


def is_stuck():
    global rows
    rows = 49 - rows
    resize(rows)
    return not within(0.3, lambda: not hears_no_resize())


ended = []


def has_ended():
    one, status = os.waitpid(pid, os.WNOHANG)
    if one:
        ended.append(status)
    return one != 0


text = b""


def reads(words):
    global text
    while select.select([master], [], [], 0)[0]:
        text += os.read(master, 65536)
    return words in text


rows = 24
resize(rows)
pid = os.fork()
if pid == 0:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for fd in range(3):
        os.dup2(slave, fd)
    os.closerange(3, 100)
    os.execv(sys.argv[2], sys.argv[2:])
if not within(20, lambda: reads(b"a session to choose")):
    print("there is no list")
elif not within(60, is_stuck):
    print("it goes on without a reader")
else:
    os.kill(pid, signo)
    if not within(10, has_ended):
        print("it does not end")
        os.kill(pid, signal.SIGKILL)
    elif ended[0] & 0x7F != signo:
        print("it ended otherwise:", ended[0])
    elif not within(10, lambda: reads(b"\x1b[?1049l")):
        print("it stays on its screen")
    elif not within(10, lambda: termios.tcgetattr(slave) == before):
        print("the mode is another")
    else:
        print("fine")
    sys.exit(0)
os.kill(pid, signal.SIGKILL)
END

for signal in TERM HUP; do
	t_is "SIG$signal ends the picker that nobody reads, and the terminal is as it was" \
		"$(t_run "$python" "$t_tmp/unread.py" "$signal" "$FADEN" show)" fine
done
t_done
