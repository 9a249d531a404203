"""Options that say how a model is served, for every command that predicts."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from traceattr.errors import OptionError

if TYPE_CHECKING:
    from traceattr.roofline.deployment import Deployment

ModelOption = Annotated[
    str | None,
    typer.Option(
        metavar="MODEL",
        help="A config.json, its directory, or a model of `traceattr roofline --list`.",
    ),
]

GpuOption = Annotated[
    str | None, typer.Option(metavar="GPU", help="Short or CUDA name of the GPU.")
]

TpOption = Annotated[
    int | None,
    typer.Option(
        "--tp",
        metavar="N",
        help="GPUs of the deployment.",
        show_default="of the trace, if any, or 1",
    ),
]

EpOption = Annotated[
    int | None,
    typer.Option("--ep", metavar="N", help="Groups that share experts.", show_default="1"),
]

DpAttentionOption = Annotated[
    int | None,
    typer.Option(metavar="N", help="Data-parallel groups of attention.", show_default="1"),
]

BatchOption = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Requests in flight, in all groups together.",
        show_default="of the trace's graphs, where sure",
    ),
]

ContextOption = Annotated[
    int | None, typer.Option(metavar="N", help="Tokens of each request in the cache.")
]

DraftStepsOption = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Draft passes per round.", show_default="of the trace, if any, or 0"
    ),
]

DraftTokensOption = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Rows of each request in a verify pass.",
        show_default="draft steps + 1",
    ),
]

AcceptLengthOption = Annotated[
    float | None,
    typer.Option(metavar="X", help="Tokens a request gains per round, the bonus one too."),
]

DraftTopkOption = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Branches that a draft pass continues, of a tree.", show_default="1"
    ),
]

DraftModelOption = Annotated[
    str | None,
    typer.Option(
        metavar="MODEL",
        help="Config of an EAGLE3 head or of a small model that drafts.",
        show_default="the model's own draft layers",
    ),
]

DraftVocabOption = Annotated[
    int | None,
    typer.Option(metavar="N", help="Tokens that drafts choose from.", show_default="all"),
]

AlphaOption = Annotated[
    float | None,
    typer.Option(
        "--alpha-us",
        metavar="X",
        help="Latency of an empty all-reduce in us.",
        show_default="of the trace, if any, or the calibration's",
    ),
]

WhatIfOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE,...",
        help="Compare with these inputs changed; repeat it for more alternatives.",
    ),
]

SweepOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY=VALUE,VALUE,...",
        help="Compare with each value of an input; twice for a grid.",
    ),
]

KvDtypeOption = Annotated[
    str | None,
    typer.Option(metavar="TYPE", help="Type of the KV cache.", show_default="the model's"),
]

StateDtypeOption = Annotated[
    str | None,
    typer.Option(
        metavar="TYPE", help="Type of recurrent states.", show_default="the model's, or fp32"
    ),
]

WeightsOption = Annotated[
    str | None,
    typer.Option(metavar="FORMAT", help="Format of the linear layers.", show_default="the model's"),
]

DeploymentOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="TOML, YAML or JSON with any of these; flags win over it."),
]

ServerArgsOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="SGLang's log or server arguments; flags and --deployment win."
    ),
]

GpuFileOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="TOML with more GPUs, which win over ours.")
]


def with_files(flags: "Deployment", file: Path | None, server: Path | None) -> "Deployment":
    """Return what flags, a file and a server say, each winning over the next."""
    from traceattr.roofline.deployment import (
        Deployment,
        deployment_from_file,
        deployment_from_server_args,
        merge,
    )
    from traceattr.roofline.server_log import deployment_from_server_log

    from_file = deployment_from_file(file) if file else Deployment()
    if server is None:
        return merge(flags, from_file)
    text = _text(server)
    read = (
        deployment_from_server_args if text.lstrip().startswith("{") else deployment_from_server_log
    )
    return merge(flags, from_file, read(text, str(server)))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        expected = "expected a log or server arguments of SGLang"
        raise OptionError(f"{path}: cannot be read: {reason} ({expected})") from error
