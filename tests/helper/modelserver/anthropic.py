"""The Messages API: checks a request as the real one does, and streams an answer."""

import base64
import hashlib
import json
import uuid

from .script import ENFORCE, GO_ON, Heard, call, decided, text_block

INJECTED = ("<system-reminder>", "<local-command-", "<command-name>", "<command-message>",
            GO_ON, ENFORCE)
ERROR_TYPES = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error",
               404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error",
               529: "overloaded_error"}
PIECE = 4096  # characters in one delta
TOOLS = {"bash": "Bash", "read": "Read", "write": "Write"}


class Refused(Exception):
    """A request the API would not accept; the message is meant for its 400."""


def new_id(prefix):
    return prefix + uuid.uuid4().hex[:24]


def sign(thinking):
    digest = hashlib.sha256(b"scripted model\0" + thinking.encode()).digest()
    return base64.b64encode(digest).decode()


def blocks(message):
    content = message.get("content", [])
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def prompt_texts(message):
    texts = (b.get("text", "") for b in blocks(message) if b.get("type") == "text")
    return [t.strip() for t in texts if not t.lstrip().startswith(INJECTED)]


def listen(body):
    prompts, calls = [], 0
    for message in body["messages"]:
        if message["role"] == "assistant":
            calls += sum(1 for b in blocks(message) if b["type"] == "tool_use")
        elif message["role"] == "user":
            said = prompt_texts(message)
            prompts += said
            calls = 0 if said else calls
    return Heard(prompts, len(body["messages"]), calls)


def check_block(where, block, signatures):
    if block.get("type") == "text" and not block.get("text"):
        raise Refused("messages: text content blocks must be non-empty")
    if block.get("type") == "thinking" and signatures:
        if block.get("signature") != sign(block.get("thinking", "")):
            raise Refused(f"{where}: Invalid `signature` in `thinking` block")


def check_results(index, message, open_calls):
    """Every result of this message answers a call of the message before it."""
    found = set()
    for j, block in enumerate(blocks(message)):
        if block.get("type") != "tool_result":
            continue
        ident = block.get("tool_use_id")
        if ident not in open_calls:
            raise Refused(
                f"messages.{index}.content.{j}: unexpected `tool_use_id` found in `tool_result` "
                f"blocks: {ident}. Each `tool_result` block must have a corresponding `tool_use` "
                "block in the previous message.")
        found.add(ident)
    return found


def check_answered(index, open_calls, found):
    missing = [c for c in open_calls if c not in found]
    if missing:
        raise Refused(
            f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately "
            f"after: {', '.join(missing)}. Each `tool_use` block must have a corresponding "
            "`tool_result` block in the next message.")


def joined(messages):
    """Neighbours of one role count as one message, as the real API joins them."""
    result = []
    for index, message in enumerate(messages):
        if message.get("role") == "system":
            continue
        if result and result[-1][1]["role"] == message["role"]:
            first, last = result[-1]
            result[-1] = (first, {**last, "content": blocks(last) + blocks(message)})
        else:
            result.append((index, message))
    return result


def check(body, signatures):
    """Raises Refused where the real API answers 400."""
    for name in ("model", "max_tokens", "messages"):
        if name not in body:
            raise Refused(f"{name}: Field required")
    messages = body["messages"]
    if not messages:
        raise Refused("messages: at least one message is required")
    for i, message in enumerate(messages):
        if message.get("role") not in ("user", "assistant", "system"):
            raise Refused(f"messages.{i}.role: Input should be 'user' or 'assistant'")
        for j, block in enumerate(blocks(message)):
            check_block(f"messages.{i}.content.{j}", block, signatures)
    turns = joined(messages)
    if not turns or turns[0][1]["role"] != "user":
        raise Refused('messages: first message must use the "user" role')
    check_pairs(turns)


def check_pairs(turns):
    open_calls, at, seen = [], 0, set()
    for index, message in turns:
        found = check_results(index, message, open_calls)
        check_answered(at, open_calls, found)
        open_calls = [b["id"] for b in blocks(message) if b.get("type") == "tool_use"]
        if seen & set(open_calls) or len(set(open_calls)) < len(open_calls):
            raise Refused(f"messages.{index}: `tool_use` ids must be unique")
        seen |= set(open_calls)
        at = index
    check_answered(at, open_calls, set())


def prompt_text(body):
    """What counts as input, without the marks that move from request to request."""
    def strip(value):
        if isinstance(value, dict):
            return {k: strip(v) for k, v in value.items() if k != "cache_control"}
        return [strip(v) for v in value] if isinstance(value, list) else value
    return json.dumps(strip([body.get("tools"), body.get("system"), body["messages"]]))


def tool_use(block):
    name, args = TOOLS.get(block.tool, block.tool), block.args
    if block.tool == "bash":
        args = {"command": args["command"], "description": "scripted"}
    elif block.tool == "read":
        args = {"file_path": args["path"]}
    elif block.tool == "write":
        args = {"file_path": args["path"], "content": args["text"]}
    return {"type": "tool_use", "id": new_id("toolu_"), "name": name, "input": args}


def content_of(block):
    if block.kind == "think":
        return {"type": "thinking", "thinking": block.text, "signature": sign(block.text)}
    return tool_use(block) if block.kind == "tool" else {"type": "text", "text": block.text}


def output_tokens(script):
    return max(1, sum(len(b.text) + len(json.dumps(b.args)) for b in script) // 4)


def usage(tokens, output):
    total, cached = tokens
    fresh = min(10, total - cached)
    return {"input_tokens": fresh, "cache_creation_input_tokens": total - cached - fresh,
            "cache_read_input_tokens": cached, "output_tokens": output,
            "service_tier": "standard"}


def stop_reason(script):
    return "tool_use" if any(b.kind == "tool" for b in script) else "end_turn"


def message(body, script, tokens):
    """The whole answer as one object, for a request that does not stream."""
    return {"id": new_id("msg_"), "type": "message", "role": "assistant", "model": body["model"],
            "content": [content_of(b) for b in script], "stop_reason": stop_reason(script),
            "stop_sequence": None, "usage": usage(tokens, output_tokens(script))}


def deltas(block, content):
    """The deltas of one content block, each with the seconds to wait before it."""
    if block.kind == "tool":
        yield 0, {"type": "input_json_delta", "partial_json": json.dumps(content["input"])}
    elif block.kind == "think":
        yield 0, {"type": "thinking_delta", "thinking": block.text}
        yield 0, {"type": "signature_delta", "signature": content["signature"]}
    else:
        for piece in block.pieces:
            for i in range(0, len(piece), PIECE):
                yield block.delay, {"type": "text_delta", "text": piece[i:i + PIECE]}


def empty(content):
    if content["type"] == "thinking":
        return {"type": "thinking", "thinking": "", "signature": ""}
    return {**content, "input": {}} if content["type"] == "tool_use" else {**content, "text": ""}


def stream_block(out, index, block):
    content = content_of(block)
    out.event("content_block_start", {"index": index, "content_block": empty(content)})
    for delay, delta in deltas(block, content):
        out.wait(delay)
        out.event("content_block_delta", {"index": index, "delta": delta})
    out.event("content_block_stop", {"index": index})


def stream(out, body, script, tokens):
    start = message(body, [], tokens)
    start.update(stop_reason=None, usage=usage(tokens, 1))
    out.event("message_start", {"message": start})
    out.event("ping", {})
    for index, block in enumerate(script):
        if block.kind == "hang":
            out.hang()
        if block.kind == "drop":
            out.drop()
        if block.kind == "fail":
            out.event("error", {"error": {"type": block.tool, "message": block.text}})
            return
        stream_block(out, index, block)
    out.event("message_delta", {
        "delta": {"stop_reason": stop_reason(script), "stop_sequence": None},
        "usage": usage(tokens, output_tokens(script))})
    out.event("message_stop", {})


def by_schema(body, script):
    """Where the answer of an instructor has a schema, it is given by Claude Code's tool for that."""
    asked = any(t.get("name") == "StructuredOutput" and "act" in t["input_schema"].get("properties", {})
                for t in body.get("tools") or [])
    found = decided(script) if asked else None
    if not found:
        return script
    words, decision = found
    return ([text_block(words)] if words else []) + [call("StructuredOutput", **decision)]


def error_body(status, text):
    kind = ERROR_TYPES.get(status, "api_error")
    return {"type": "error", "error": {"type": kind, "message": text},
            "request_id": new_id("req_")}


def too_long(total, limit):
    return f"prompt is too long: {total} tokens > {limit} maximum"


def session(headers, body):
    found = headers.get("X-Claude-Code-Session-Id")
    return found or str((body.get("metadata") or {}).get("user_id", ""))
