"""HTTP on loopback: hands requests to the API they are for, and remembers them.

    POST /v1/messages, /v1/messages/count_tokens   anthropic.py
    POST /v1/responses                             openai.py
    POST /control   {"queue": [...], "limit": TOKENS, "signatures": BOOL, "reset": true}
    GET  /log       every request so far, one JSON object a line
    anything else   an empty object, so that a program that probes goes on

A queue entry is a script (see script.py), {"text": TEXT} for an answer taken as it stands, or
either as {"when": WORDS, "script"|"text": ...} for a prompt that holds those words. Queued
responses come before what the prompt itself asks for.
"""

import gzip
import json
import os
import select
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from . import anthropic, openai, script

REFUSED_KEY = "refused-key"  # a request that carries this key is answered 401
DROP_DELAY = 0.2  # seconds, so that the client has seen what came before
APIS = {"/v1/messages": anthropic, "/v1/responses": openai}


class Gone(Exception):
    """The client has closed the connection, or the script says that we do."""


class Model:
    """What the handlers of all connections share."""

    def __init__(self, limit, log_path=None):
        self.lock = threading.Lock()
        self.limit = limit
        self.signatures = True
        self.queue = []
        self.log = []
        self.log_path = log_path
        self.prefixes = {}
        self.errors = {}

    def control(self, order):
        with self.lock:
            if order.get("reset"):
                self.queue, self.log, self.errors = [], [], {}
            self.queue += order.get("queue", [])
            self.limit = order.get("limit", self.limit)
            self.signatures = order.get("signatures", self.signatures)

    def record(self, entry):
        with self.lock:
            entry["n"] = len(self.log)
            self.log.append(entry)

    def close(self, entry, status):
        """The line is written when the answer is known, complete, for readers of the file."""
        entry["status"] = status
        if self.log_path:
            with self.lock, open(self.log_path, "a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")

    def queued(self, heard):
        with self.lock:
            for entry in self.queue:
                order = {"script": entry} if isinstance(entry, str) else entry
                if order.get("when", "") in heard.last:
                    self.queue.remove(entry)
                    return order
        return None

    def blocks(self, heard):
        order = self.queued(heard)
        if order is None:
            return script.respond(heard)
        if "text" in order:
            return [script.text_block(order["text"])]
        return script.respond(heard, order["script"])

    def tokens(self, session, text):
        """Input tokens in all, and how many of them the last answered request also had."""
        with self.lock:
            before = self.prefixes.get(session, "")
        return len(text) // 4, len(os.path.commonprefix([before, text])) // 4

    def answered(self, session, text):
        """From now on the request is the cached prefix of its session."""
        if session:
            with self.lock:
                self.prefixes[session] = text

    def still_failing(self, session, heard, block):
        """Counts an error of the kind xN; False once it was given N times."""
        if not block.times:
            return True
        key = (session, heard.last, heard.calls)
        with self.lock:
            self.errors[key] = self.errors.get(key, 0) + 1
            return self.errors[key] <= block.times


def wait_for_end(connection):
    """Until the client closes; it has nothing more to say, so anything readable is the end."""
    select.select([connection], [], [])
    raise Gone


class Stream:
    """Server-sent events in chunks, as they are made."""

    def __init__(self, handler):
        self.handler = handler
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Cache-Control", "no-cache")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()

    def chunk(self, data):
        self.handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.handler.wfile.flush()

    def event(self, name, data):
        text = json.dumps({"type": name, **data})
        self.chunk(f"event: {name}\ndata: {text}\n\n".encode())

    def wait(self, seconds):
        if seconds:
            time.sleep(seconds)

    def hang(self):
        wait_for_end(self.handler.connection)

    def drop(self):
        time.sleep(DROP_DELAY)
        raise Gone

    def end(self):
        self.handler.wfile.write(b"0\r\n\r\n")


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "scripted-model"

    def log_message(self, *_args):
        pass

    @property
    def model(self):
        return self.server.model

    def send_json(self, status, value, headers=()):
        self.send_bytes(status, json.dumps(value).encode(), headers=headers)

    def send_bytes(self, status, data, kind="application/json", headers=()):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def read_body(self):
        data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Content-Encoding") == "gzip":
            data = gzip.decompress(data)
        return data

    def do_GET(self):
        path = urlsplit(self.path).path
        if path == "/log":
            with self.model.lock:
                lines = [json.dumps(e) + "\n" for e in self.model.log]
            self.send_bytes(200, "".join(lines).encode(), "application/x-ndjson")
            return
        self.note(None)
        self.send_json(200, {"data": [], "models": [], "has_more": False})

    do_HEAD = do_GET

    def do_POST(self):
        path = urlsplit(self.path).path
        try:
            body = json.loads(self.read_body() or b"{}")
        except ValueError:
            self.send_json(400, anthropic.error_body(400, "The request body is not valid JSON"))
            return
        if path == "/control":
            self.model.control(body)
            self.send_json(200, {})
            return
        self.post(path, body)

    def note(self, body):
        """Enters the request into the log; keys are never kept."""
        secret = ("x-api-key", "authorization")
        headers = {k: "" if k.lower() in secret else v for k, v in self.headers.items()}
        entry = {"method": self.command, "path": self.path, "headers": headers, "body": body,
                 "status": 0}
        self.model.record(entry)
        return entry

    def post(self, path, body):
        entry = self.note(body)
        status = 200
        try:
            if path == "/v1/messages/count_tokens":
                text = anthropic.prompt_text(body)
                self.send_json(200, {"input_tokens": len(text) // 4})
            elif path in APIS:
                status = self.answer(APIS[path], body)
            else:
                self.send_json(200, {})
        except (Gone, ConnectionError):
            status = 0
            self.close_connection = True
        self.model.close(entry, status)

    def refuse(self, api, status, text, retry_after=0):
        extra = [("retry-after", str(retry_after))] if retry_after else []
        self.send_json(status, api.error_body(status, text), extra)
        return status

    def answer(self, api, body):
        """Answers a request to a model and returns the status it was given."""
        keys = (self.headers.get("x-api-key"), self.headers.get("Authorization"))
        if any(k and REFUSED_KEY in k for k in keys):
            return self.refuse(api, 401, "invalid x-api-key")
        try:
            api.check(body, self.model.signatures)
        except anthropic.Refused as refusal:
            return self.refuse(api, 400, str(refusal))
        session = api.session(self.headers, body)
        text = api.prompt_text(body)
        tokens = self.model.tokens(session, text)
        if tokens[0] > self.model.limit:
            return self.refuse_long(api, body, tokens[0])
        heard = api.listen(body)
        blocks = api.by_schema(body, self.model.blocks(heard))
        failing = [b for b in blocks if b.kind == "error"]
        if failing and self.model.still_failing(session, heard, failing[0]):
            return self.refuse(api, failing[0].status, failing[0].text, failing[0].retry_after)
        rest = [b for b in blocks if b.kind != "error"]
        self.model.answered(session, text)
        self.say(api, body, rest or script.default_blocks(heard), tokens)
        return 200

    def refuse_long(self, api, body, total):
        text = api.too_long(total, self.model.limit)
        if api is anthropic or not body.get("stream"):
            return self.refuse(api, 400, text)
        out = Stream(self)
        api.stream_failure(out, {"id": "resp_long"}, "context_length_exceeded", text)
        out.end()
        return 400

    def say(self, api, body, blocks, tokens):
        if not body.get("stream"):
            self.say_whole(api, body, blocks, tokens)
            return
        out = Stream(self)
        api.stream(out, body, blocks, tokens)
        out.end()


    def say_whole(self, api, body, blocks, tokens):
        kinds = [b.kind for b in blocks]
        if "hang" in kinds:
            wait_for_end(self.connection)
        if "drop" in kinds:
            raise Gone
        if "fail" in kinds:
            self.refuse(api, 500, blocks[kinds.index("fail")].text)
            return
        self.send_json(200, api.message(body, blocks, tokens))


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, model):
        super().__init__(("127.0.0.1", 0), Handler)
        self.model = model
