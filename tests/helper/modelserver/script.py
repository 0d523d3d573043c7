"""Directives in a prompt: what the scripted model does.

    [[say: TEXT]]            answer with TEXT
    [[think: TEXT]]          a thinking block before what follows
    [[long: BYTES]]          answer with that many bytes
    [[slow: MS, N]]          answer in N pieces, MS milliseconds apart
    [[bash: COMMAND]]        call the shell tool; the next directives are the next response
    [[ask: COMMAND]]         the same with a command that needs permission
    [[par: A || B || C]]     several shell calls in one response
    [[read: FILE]]           call the tool that reads a file
    [[write: FILE | TEXT]]   call the tool that writes a file
    [[tool: NAME JSON]]      call any tool
    [[recall]]               list what the user said before (so does "what did I say?")
    [[hang]]                 say nothing more and keep the connection open
    [[drop]]                 close the connection in mid-answer
    [[fail: TYPE TEXT]]      an error event inside the stream
    [[error: STATUS [retry-after=S] [xN] TEXT]]   an HTTP error, only the first N times with xN

    [[plan: A || B || C]]    instruct: have a worker do A, then B, then C, then say DONE

In a plan, {{ and }} stand for the brackets of the worker's own directives. How far it has come is how
many of the worker's answers were passed on since.

A response ends with its tool calls. How far a script has come is read off the request itself: the
tool calls made since the prompt. So the model keeps no state that a restart could lose.
"""

import json
import re
from dataclasses import dataclass, field

DIRECTIVE = re.compile(r"\[\[([a-z]+)(?::[ \t]*(.*?))?\]\]", re.DOTALL)
ERROR = re.compile(r"(\d{3})(?:\s+retry-after=(\d+))?(?:\s+x(\d+))?\s*(.*)", re.DOTALL)
PLAN = re.compile(r"\[\[plan:[ \t]*(.*?)\]\]", re.DOTALL)
ANSWERED = "The worker's answer:"
# Said by faden master to who was interrupted: no prompt of its own, the one before it goes on.
GO_ON = "You were interrupted while you worked"
# Said by Claude Code to a model that did not answer by the schema: the prompt before it goes on.
ENFORCE = "[structured-output-enforce]"
RECALL = re.compile(r"what did i say", re.IGNORECASE)
LONG_LINE = "All work and no play makes for a long line of text to send over the wire.\n"


@dataclass
class Block:
    """One thing in a response. kind: text, think, tool, hang, drop, fail, error."""

    kind: str
    text: str = ""
    pieces: list = field(default_factory=list)
    delay: float = 0.0
    tool: str = ""
    args: dict = field(default_factory=dict)
    status: int = 0
    retry_after: int = 0
    times: int = 0


@dataclass
class Heard:
    """What a request says, the same for both APIs."""

    prompts: list
    messages: int
    calls: int  # tool calls since the last prompt

    @property
    def last(self):
        return self.prompts[-1] if self.prompts else ""


def text_block(text, pieces=None, delay=0.0):
    return Block("text", text=text, pieces=pieces or [text], delay=delay)


def long_text(size):
    return (LONG_LINE * (size // len(LONG_LINE) + 1))[:size]


def slow(arg):
    delay, count = (int(n) for n in arg.split(","))
    pieces = [f"piece {i + 1} " for i in range(count)]
    return text_block("".join(pieces), pieces, delay / 1000)


def error(arg):
    match = ERROR.match(arg)
    if not match:
        return Block("error", status=400, text=f"bad error directive: {arg}")
    status, after, times, text = match.groups()
    return Block("error", status=int(status), retry_after=int(after or 0),
                 times=int(times or 0), text=text or f"scripted error {status}")


def fail(arg):
    kind, _, text = arg.partition(" ")
    return Block("fail", tool=kind or "api_error", text=text or "scripted failure")


def call(name, **args):
    return Block("tool", tool=name, args=args)


def write(arg):
    path, _, text = arg.partition("|")
    return call("write", path=path.strip(), text=text.strip())


def any_tool(arg):
    name, _, args = arg.partition(" ")
    return call(name, **json.loads(args or "{}"))


def recall(heard):
    earlier = heard.prompts[:-1]
    if not earlier:
        return text_block("You said nothing before.")
    return text_block("You said:\n" + "".join(f"- {p}\n" for p in earlier))


def blocks_of(name, arg, heard):
    """The blocks one directive stands for; an unknown one is said aloud, so that a test fails."""
    makers = {
        "say": lambda: [text_block(arg)],
        "think": lambda: [Block("think", text=arg)],
        "long": lambda: [text_block(long_text(int(arg)))],
        "slow": lambda: [slow(arg)],
        "bash": lambda: [call("bash", command=arg)],
        "ask": lambda: [call("bash", command=arg, ask=True)],
        "par": lambda: [call("bash", command=c.strip()) for c in arg.split("||")],
        "read": lambda: [call("read", path=arg)],
        "write": lambda: [write(arg)],
        "tool": lambda: [any_tool(arg)],
        "recall": lambda: [recall(heard)],
        "hang": lambda: [Block("hang")],
        "drop": lambda: [Block("drop")],
        "fail": lambda: [fail(arg)],
        "error": lambda: [error(arg)],
    }
    maker = makers.get(name)
    return maker() if maker else [text_block(f"unknown directive: {name}")]


def steps(text, heard):
    """The responses a script asks for, each a list of blocks."""
    done, current = [], []
    for name, arg in DIRECTIVE.findall(text):
        new = blocks_of(name, arg, heard)
        if current and current[-1].kind == "tool":
            done.append(current)
            current = []
        current += new
    return done + [current] if current else done


def planned(heard):
    """The next instruction of the last plan that was asked for; None without one."""
    for at in range(len(heard.prompts) - 1, -1, -1):
        match = PLAN.search(heard.prompts[at])
        if not match:
            continue
        orders = [o.strip().replace("{{", "[[").replace("}}", "]]") for o in match[1].split("||")]
        done = sum(p.startswith(ANSWERED) for p in heard.prompts[at + 1:])
        if done >= len(orders):
            return [text_block("All of it is there.\n\nDONE")]
        decision = {"act": "tell", "message": orders[done]}
        if done == 0:
            decision = {"act": "start", "system_prompt": "You do as you are told.",
                        "instruction": orders[0]}
        return [text_block(f"Step {done + 1} of {len(orders)}.\n\n{json.dumps(decision)}")]
    return None


def decided(script):
    """The words of a response and the decision of an instructor behind them; None: it has none."""
    if not script or any(b.kind not in ("text", "think") for b in script) or script[-1].kind != "text":
        return None
    text = script[-1].text.strip()
    words, newline, last = text.rpartition("\n")
    if last.strip() == "DONE" or text.endswith(" DONE") or text == "DONE":
        return text.removesuffix("DONE").strip(), {"act": "done"}
    if not last.startswith('{"act"'):
        return None
    try:
        return (words + newline).strip(), json.loads(last)
    except ValueError:
        return None


def default_blocks(heard):
    """Continuity can be asserted from the answer alone."""
    if "<summary>" in heard.last or "summary of the conversation" in heard.last.lower():
        said = "; ".join(heard.prompts[:-1])
        return [text_block(f"<summary>The user said: {said}</summary>")]
    if RECALL.search(heard.last):
        return [recall(heard)]
    return [text_block(
        f"prompts={len(heard.prompts)} messages={heard.messages} last={heard.last}")]


def respond(heard, text=None):
    """The blocks of the next response to what was heard; text is a script to use instead."""
    if text is not None:
        queued = steps(text, heard)
        return queued[0] if queued else [text_block(text)]
    plan = planned(heard)
    if plan:
        return plan
    calls = heard.calls
    for step in steps(heard.last, heard):
        made = sum(1 for b in step if b.kind == "tool")
        if calls < max(made, 1):
            return step
        calls -= made
    return default_blocks(heard)
