"""A local HTTP server that speaks the wire formats of chat completions and of messages, as a script says."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ModelServer:
    """Answers each request with the next of `answers`; `requests` holds (path, body) of each."""

    def __init__(self) -> None:
        self.answers: list[dict[str, Any]] = []
        self.requests: list[tuple[str, dict[str, Any]]] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._http.server_port}"

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """The bodies of the requests."""
        return [body for _, body in self.requests]

    def close(self) -> None:
        """Stop serving."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.requests.append((self.path.split("?")[0], body))
                answer = server.answers.pop(0) if server.answers else {"error": {"message": "the script is over"}}
                content = json.dumps(answer).encode()
                self.send_response(400 if "error" in answer else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


def completion(text: str | None = None, *calls: tuple[str, str, str]) -> dict[str, Any]:
    """Return a chat completion; a call is its id, the name of the function and the arguments as text."""
    asked = [
        {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for call_id, name, arguments in calls
    ]
    message = {"role": "assistant", "content": text, **({"tool_calls": asked} if asked else {})}
    reason = "tool_calls" if asked else "stop"
    choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
    return {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def message(text: str | None = None, *calls: tuple[str, str, dict[str, Any]]) -> dict[str, Any]:
    """Return an answer of the messages API; a call is its id, the name of the tool and the input."""
    said = [{"type": "text", "text": text}] if text else []
    asked = [{"type": "tool_use", "id": call_id, "name": name, "input": given} for call_id, name, given in calls]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [*said, *asked],
        "stop_reason": "tool_use" if asked else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
