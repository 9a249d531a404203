"""What a server wrote while it was recorded, beside the trace."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from traceattr.cli.roofline_options import opened
from traceattr.errors import OptionError

if TYPE_CHECKING:
    from traceattr.attribution.analysis import Analysis, Window
    from traceattr.ingest.remote.name import TracePath
    from traceattr.report.token_cost import TokenCost
    from traceattr.roofline.deployment import Deployment
    from traceattr.roofline.server_load import ServerLoad

ServerLogOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="SGLang's log: accept length, load and tokens/s while the trace was recorded, and its"
        " arguments.",
    ),
]

MetricsOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="What SGLang's /metrics says, as Prometheus text."),
]

_LONGEST_METRICS_BYTES = 2**26


def said_by_server(
    trace: "TracePath", analysis: "Analysis", log: Path | None, metrics: Path | None
) -> "tuple[ServerLoad | None, Deployment]":
    """Return the load of a server, and what its files say of its deployment.

    Raises:
        OptionError: A file cannot be read, or says nothing of a server.
        DeploymentError: The server's arguments hold one that cannot be modelled.
    """
    from traceattr.roofline.deployment import Deployment, merge

    said = Deployment()
    loads = []
    if log is not None:
        load, arguments = _of_log(trace, analysis.window, log)
        loads.append(load)
        said = merge(load.deployment, arguments)
    if metrics is not None:
        load = _of_metrics(metrics)
        loads.append(load)
        said = merge(said, load.deployment)
    return (loads[0] if loads else None), said


def _of_log(trace: "TracePath", window: "Window", log: Path) -> "tuple[ServerLoad, Deployment]":
    from traceattr.ingest.session_clock import read_session_clock
    from traceattr.roofline.load_lines import read_log
    from traceattr.roofline.server_load import load_of_log
    from traceattr.roofline.server_log import arguments_of_log

    clock = read_session_clock(trace)
    between = None
    if clock is not None:
        between = clock.local_s(window.start_ns), clock.local_s(window.end_ns)
    with opened(log, "a log of SGLang") as stream:
        text = read_log(stream, between)
    if text.arguments is None and not text.seen:
        raise OptionError(
            f"{log}: no line on decoding and no arguments of a server (expected a log of SGLang,"
            " with lines such as 'Decode batch, #running-req: 1, ...')"
        )
    return load_of_log(text, between), arguments_of_log(text, str(log))


def _of_metrics(metrics: Path) -> "ServerLoad":
    from traceattr.roofline.server_load import load_of_metrics

    with opened(metrics, "the metrics of SGLang") as stream:
        text = stream.read(_LONGEST_METRICS_BYTES).decode("utf-8", errors="replace")
    if "sglang" not in text:
        raise OptionError(
            f"{metrics}: no metric of SGLang (expected the text of its /metrics, such as"
            " sglang:gen_throughput ...)"
        )
    return load_of_metrics(text.splitlines())


def token_cost(
    analysis: "Analysis",
    said: "Deployment",
    load: "ServerLoad | None",
    no_roofline: str | None,
) -> "TokenCost | None":
    """Return what a token costs, where somebody said something of it."""
    if load is None and said.accept_length is None:
        return None
    from traceattr.report.token_cost import cost_of_token

    cost = cost_of_token(analysis, accept_length=said.accept_length, batch=said.batch, load=load)
    more = () if no_roofline is None else (no_roofline,)
    return replace(cost, notices=(*cost.notices, *more))
