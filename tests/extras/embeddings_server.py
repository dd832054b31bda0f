"""A server on this machine that speaks OpenAI's embeddings endpoint, and misbehaves as it is told."""

import base64
import hashlib
import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

DIMENSIONS = 8


def vector_of(text: str, dimensions: int = DIMENSIONS) -> np.ndarray:
    """Return the vector of the server's model: from the text's hash, of unit length."""
    digest = hashlib.shake_128(text.encode()).digest(dimensions)
    vector = np.frombuffer(digest, np.uint8).astype(np.float64) - 127.5
    return (vector / np.linalg.norm(vector)).astype(np.float32)


class EmbeddingsServer:
    """Answers `POST .../embeddings`; `steps` holds what the next requests get in place of the right answer.

    A step is called with the request handler and the request's JSON. `requests` holds the bodies received,
    `headers` what came with them. With `plain`, vectors are lists of numbers whatever is asked for.
    """

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.steps: list[Callable[[Any, dict[str, Any]], None]] = []
        self.plain = False
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))
        self._thread.start()
        self.address = f"127.0.0.1:{self._http.server_port}/v1"
        self.url = f"http://{self.address}"

    def close(self) -> None:
        """Stop serving."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the right answer to a request."""
        rows = []
        for place, text in enumerate(body["input"]):
            vector = vector_of(text, body.get("dimensions", DIMENSIONS))
            in_base64 = body.get("encoding_format") == "base64" and not self.plain
            value = base64.b64encode(vector.astype("<f4").tobytes()).decode() if in_base64 else vector.tolist()
            rows.append({"object": "embedding", "index": place, "embedding": value})
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return {"object": "list", "data": rows, "model": body["model"], "usage": usage}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.requests.append(body)
                server.headers.append({name.lower(): value for name, value in self.headers.items()})
                step = server.steps.pop(0) if server.steps else right
                step(self, body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        Handler.embeddings = server  # type: ignore[attr-defined]
        return Handler


def send(handler: Any, content: bytes, *, status: int = 200, length: int | None = None, **headers: str) -> None:
    """Send an answer; `length` may lie about its length."""
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(content) if length is None else length))
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(content)


def right(handler: Any, body: dict[str, Any]) -> None:
    """Answer as a server should."""
    send(handler, json.dumps(handler.embeddings.answer(body)).encode())


def changed(change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> Callable[..., None]:
    """Answer with other rows than the right ones."""

    def step(handler: Any, body: dict[str, Any]) -> None:
        answer = handler.embeddings.answer(body)
        send(handler, json.dumps({**answer, "data": change(answer["data"])}).encode())

    return step


def failing(status: int, message: str = "something is wrong", code: str | None = None, **headers: str) -> Any:
    """Answer with an error, in OpenAI's form."""
    content = json.dumps({"error": {"message": message, "type": "error", "param": None, "code": code}}).encode()
    return lambda handler, body: send(handler, content, status=status, **headers)


def raw(content: bytes, **options: Any) -> Any:
    """Answer with these bytes."""
    return lambda handler, body: send(handler, content, **options)


def cut_off(handler: Any, body: dict[str, Any]) -> None:
    """Send half of the answer as if it were all."""
    content = json.dumps(handler.embeddings.answer(body)).encode()
    send(handler, content[: len(content) // 2])


def closing(handler: Any, body: dict[str, Any]) -> None:
    """Close the connection without an answer."""
    handler.close_connection = True


def closing_half_way(handler: Any, body: dict[str, Any]) -> None:
    """Close the connection in the middle of the answer."""
    content = json.dumps(handler.embeddings.answer(body)).encode()
    send(handler, content[: len(content) // 2], length=len(content))
    handler.close_connection = True


def dripping(handler: Any, body: dict[str, Any]) -> None:
    """Send the answer a byte at a time, for longer than anybody waits."""
    content = json.dumps(handler.embeddings.answer(body)).encode()
    send(handler, b"", length=len(content) + 10_000)
    try:
        for n in range(400):
            handler.wfile.write(content[n : n + 1] or b" ")
            time.sleep(0.05)
    except OSError:
        pass  # nobody reads any more
    handler.close_connection = True


def silent(handler: Any, body: dict[str, Any]) -> None:
    """Answer nothing for longer than anybody waits."""
    time.sleep(3)
    handler.close_connection = True
