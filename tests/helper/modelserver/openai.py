"""The Responses API as Codex speaks it: checks a request and streams an answer."""

import base64
import json
import shlex
import uuid

from .anthropic import Refused
from .script import GO_ON, Heard, decided, text_block

INJECTED = (GO_ON, "<environment_context>", "<user_instructions>", "<permissions instructions>",
            "<turn_aborted>", "<skills_instructions>", "# AGENTS.md instructions")
CALLS = ("function_call", "custom_tool_call", "local_shell_call")
OUTPUTS = ("function_call_output", "custom_tool_call_output")
ERROR_TYPES = {400: "invalid_request_error", 401: "invalid_request_error",
               429: "rate_limit_exceeded"}
ERROR_CODES = {401: "invalid_api_key", 429: "rate_limit_exceeded"}
PIECE = 4096


def new_id(prefix):
    return prefix + uuid.uuid4().hex[:24]


def items(body):
    found = body.get("input", [])
    if isinstance(found, str):
        return [{"type": "message", "role": "user",
                 "content": [{"type": "input_text", "text": found}]}]
    return found


def prompt_texts(item):
    if item.get("type", "message") != "message" or item.get("role") != "user":
        return []
    content = item.get("content", [])
    parts = [{"text": content}] if isinstance(content, str) else content
    texts = [p.get("text", "").strip() for p in parts]
    return [t for t in texts if t and not t.startswith(INJECTED)]


def listen(body):
    prompts, calls, messages = [], 0, 0
    for item in items(body):
        said = prompt_texts(item)
        prompts += said
        calls = 0 if said else calls + (item.get("type") in CALLS)
        messages += item.get("type", "message") == "message"
    return Heard(prompts, messages, calls)


def check(body, _signatures):
    """Raises Refused where the real API answers 400."""
    for name in ("model", "input"):
        if name not in body:
            raise Refused(f"Missing required parameter: '{name}'.")
    made = [i.get("call_id") for i in items(body) if i.get("type") in CALLS]
    got = [i.get("call_id") for i in items(body) if i.get("type") in OUTPUTS]
    for ident in made:
        if ident not in got:
            raise Refused(f"No tool output found for function call {ident}.")
    for ident in got:
        if ident not in made:
            raise Refused(f"No tool call found for function call output with call_id {ident}.")


def prompt_text(body):
    return json.dumps([body.get("tools"), body.get("instructions"), items(body)])


def shell_args(body, command):
    """The shell tool has changed its name and its arguments over the versions."""
    offered = [t.get("name") for t in body.get("tools", [])]
    if "exec_command" in offered:
        return "exec_command", {"cmd": command}
    if "shell_command" in offered:
        return "shell_command", {"command": command}
    return "shell", {"command": ["bash", "-lc", command]}


def beyond_sandbox(args):
    """What its sandbox allows runs in it and is not asked for."""
    return args | {"sandbox_permissions": "require_escalated", "justification": "it must"}


def command_of(block):
    path = shlex.quote(block.args.get("path", ""))
    if block.tool == "read":
        return f"cat {path}"
    if block.tool == "write":
        return f"printf '%s\\n' {shlex.quote(block.args['text'])} >{path}"
    return block.args["command"]


def tool_call(body, block):
    if block.tool in ("bash", "read", "write"):
        name, args = shell_args(body, command_of(block))
        if block.args.get("ask"):
            args = beyond_sandbox(args)
    else:
        name, args = block.tool, block.args
    return {"type": "function_call", "id": new_id("fc_"), "call_id": new_id("call_"),
            "name": name, "arguments": json.dumps(args), "status": "completed"}


def item_of(body, block):
    if block.kind == "think":
        return {"type": "reasoning", "id": new_id("rs_"),
                "summary": [{"type": "summary_text", "text": block.text}],
                "encrypted_content": base64.b64encode(block.text.encode()).decode()}
    if block.kind == "tool":
        return tool_call(body, block)
    return {"type": "message", "id": new_id("msg_"), "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": block.text, "annotations": []}]}


def usage(tokens, script):
    total, cached = tokens
    output = max(1, sum(len(b.text) + len(json.dumps(b.args)) for b in script) // 4)
    thought = sum(len(b.text) for b in script if b.kind == "think") // 4
    return {"input_tokens": total, "input_tokens_details": {"cached_tokens": cached},
            "output_tokens": output, "output_tokens_details": {"reasoning_tokens": thought},
            "total_tokens": total + output}


def message(body, script, tokens):
    """The whole answer as one object, for a request that does not stream."""
    return {"id": new_id("resp_"), "object": "response", "status": "completed",
            "model": body["model"], "output": [item_of(body, b) for b in script],
            "usage": usage(tokens, script)}


def stream_text(out, index, item, block):
    where = {"item_id": item["id"], "output_index": index, "content_index": 0}
    for piece in block.pieces:
        for i in range(0, len(piece), PIECE):
            out.wait(block.delay)
            out.event("response.output_text.delta", {**where, "delta": piece[i:i + PIECE]})
    out.event("response.output_text.done", {**where, "text": block.text})


def stream_thought(out, index, item, block):
    where = {"item_id": item["id"], "output_index": index, "summary_index": 0}
    part = {"type": "summary_text", "text": ""}
    out.event("response.reasoning_summary_part.added", {**where, "part": part})
    out.event("response.reasoning_summary_text.delta", {**where, "delta": block.text})
    out.event("response.reasoning_summary_text.done", {**where, "text": block.text})


def stream_item(out, body, index, block):
    item = item_of(body, block)
    begun = {"message": {**item, "content": []}, "reasoning": {**item, "summary": []}}
    out.event("response.output_item.added",
              {"output_index": index, "item": begun.get(item["type"], item)})
    if block.kind == "text":
        stream_text(out, index, item, block)
    elif block.kind == "think":
        stream_thought(out, index, item, block)
    out.event("response.output_item.done", {"output_index": index, "item": item})
    return item


def stream(out, body, script, tokens):
    response = {"id": new_id("resp_"), "object": "response", "status": "in_progress",
                "model": body["model"], "output": []}
    out.event("response.created", {"response": response})
    done = []
    for index, block in enumerate(script):
        if block.kind == "hang":
            out.hang()
        if block.kind == "drop":
            out.drop()
        if block.kind == "fail":
            stream_failure(out, response, block.tool, block.text)
            return
        done.append(stream_item(out, body, index, block))
    out.event("response.completed", {"response": {
        **response, "status": "completed", "output": done, "usage": usage(tokens, script)}})


def stream_failure(out, response, code, text):
    out.event("response.failed", {"response": {
        **response, "status": "failed", "error": {"code": code, "message": text}}})


def by_schema(body, script):
    """Where the answer of an instructor has a schema, it is the object alone."""
    schema = ((body.get("text") or {}).get("format") or {}).get("schema") or {}
    found = decided(script) if "act" in schema.get("properties", {}) else None
    if not found:
        return script
    words, decision = found
    return [text_block(json.dumps({"say": words, **{k: None for k in schema["required"] if k != "say"}, **decision}))]


def error_body(status, text):
    return {"error": {"message": text, "type": ERROR_TYPES.get(status, "server_error"),
                      "param": None, "code": ERROR_CODES.get(status)}}


def too_long(_total, _limit):
    return ("Your input exceeds the context window of this model. "
            "Please adjust your input and try again.")


def session(headers, body):
    found = headers.get("session_id") or headers.get("session-id")
    return found or str(body.get("prompt_cache_key", ""))
