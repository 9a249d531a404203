"""A server that answers over real HTTP like SGLang, and notes what it was asked."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from tests.http_server import served

INFO = {
    "model_path": "Qwen/Qwen3.6-27B",
    "tp_size": 2,
    "ep_size": 1,
    "speculative_algorithm": "EAGLE",
    "speculative_num_steps": 3,
    "speculative_num_draft_tokens": 4,
    "kv_cache_dtype": "auto",
    "quantization": None,
    "api_key": "sk-secret",
    "admin_api_key": "sk-secret",
    "host": "10.1.2.3",
    "internal_states": [{"avg_spec_accept_length": 2.84, "last_gen_throughput": 55.1}],
    "version": "0.5.23",
}
"""As ``GET /server_info`` has it: arguments of the server beside what it counts."""

Asked = tuple[str, str, object]
"""Method, path and body."""


@dataclass
class FakeServer:
    """What the server says, and what it was asked."""

    url: str = ""
    answers: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    on_start: Callable[[], object] = lambda: None
    delay_s: float = 0.0
    keys: list[str | None] = field(default_factory=list)


def usual_answers() -> dict[str, tuple[int, bytes]]:
    return {
        "/server_info": (200, json.dumps(INFO).encode()),
        "/get_model_info": (200, json.dumps({"model_path": INFO["model_path"]}).encode()),
        "/start_profile": (200, b"Start profiling.\n"),
        "/stop_profile": (200, b"Stop profiling. This will take some time.\n"),
    }


@contextmanager
def running() -> Iterator[FakeServer]:
    """Run a server until the block ends."""
    state = FakeServer(answers=usual_answers())

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            state.asked.append((self.command, self.path, body))
            state.keys.append(self.headers.get("Authorization"))
            time.sleep(state.delay_s)
            status, data = state.answers.get(self.path, (404, b'{"detail":"Not Found"}'))
            if self.path == "/start_profile" and status == 200:
                state.on_start()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            with suppress(BrokenPipeError, ConnectionResetError):
                self.wfile.write(data)

        do_GET = answer  # noqa: N815
        do_POST = answer  # noqa: N815

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
            pass

    with served(Handler) as state.url:
        yield state
