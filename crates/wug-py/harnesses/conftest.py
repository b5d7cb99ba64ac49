"""A language model to ask: llama.cpp with random weights, behind a proxy that knows some answers.

For questions of the table `known` the proxy adds a grammar to the request, so that the model gives the right answer; to
all others it babbles. So both verdicts occur.
"""

import json
import os
import subprocess
import sys
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import tiny_model

HERE = Path(__file__).parent


class Endpoint:
    """Where the model is, what it knows, and what it replied."""

    def __init__(self, upstream):
        self.upstream = upstream
        self.known = {}
        self.replies = {}
        self.url = ""

    def complete(self, body):
        """Forwards a chat; notes the reply by the text of its last message."""
        asked = body["messages"][-1]["content"]
        if not isinstance(asked, str):
            asked = "".join(part.get("text", "") for part in asked)
        question = asked.strip().splitlines()[-1]
        body.pop("stream_options", None)
        body.update(max_tokens=24, temperature=0, stream=False)
        if question in self.known:
            body["grammar"] = "root ::= " + json.dumps(f"Answer: {self.known[question]}")
            body["max_tokens"] = 2048
        data = json.dumps(body).encode()
        request = urllib.request.Request(
            f"{self.upstream}/v1/chat/completions", data, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=120) as response:
            reply = json.load(response)
        self.replies[question] = reply["choices"][0]["message"]["content"]
        return reply


def events(reply):
    """A reply as the events of a stream."""
    choice = reply["choices"][0]
    head = {"id": reply["id"], "created": reply["created"], "model": "tiny", "object": "chat.completion.chunk"}
    text = {"index": 0, "delta": {"role": "assistant", "content": choice["message"]["content"]}, "finish_reason": None}
    end = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    for chunk in ({"choices": [text]}, {"choices": [end]}, {"choices": [], "usage": reply["usage"]}):
        yield f"data: {json.dumps(head | chunk)}\n\n"
    yield "data: [DONE]\n\n"


def handler(endpoint):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            streams = body.get("stream", False)
            reply = endpoint.complete(body)
            if streams:
                self.send("text/event-stream", "".join(events(reply)).encode())
            else:
                self.answer(reply)

        def do_GET(self):
            self.answer({"object": "list", "data": [{"id": "tiny", "object": "model"}]})

        def answer(self, document):
            self.send("application/json", json.dumps(document).encode())

        def send(self, kind, data):
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_):
            pass

    return Handler


@pytest.fixture(scope="session")
def endpoint(tmp_path_factory):
    model = tmp_path_factory.mktemp("model") / "tiny.gguf"
    tiny_model.write(model)
    process = subprocess.Popen([sys.executable, HERE / "llama_server.py", model], stdout=subprocess.PIPE, text=True)
    upstream = next(line.split()[1] for line in process.stdout if line.startswith("LISTENING"))
    known = Endpoint(upstream)
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(known))
    known.url = f"http://127.0.0.1:{server.server_port}/v1"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield known
    server.shutdown()
    process.kill()


@pytest.fixture(scope="session")
def command():
    """The command line."""
    return os.environ.get("WUG", str(HERE.parents[2] / "target" / "release" / "wug"))
