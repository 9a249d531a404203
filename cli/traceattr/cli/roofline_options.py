"""Options that say how a model is served, for every command that predicts."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from io import BufferedReader
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from traceattr.errors import OptionError

if TYPE_CHECKING:
    from traceattr.roofline.deployment import Deployment

_FILES = ("deployment", "server_args", "gpu_file")
"""Options that name files."""

_PEEKED_BYTES = 4096
_LONGEST_ARGUMENTS_BYTES = 2**24

ModelOption = Annotated[
    str | None,
    typer.Option(
        metavar="MODEL",
        help="A config.json, its directory, or a model of `traceattr roofline --list`.",
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """How a model is served, as far as options say it."""

    model: ModelOption = None
    gpu: Annotated[
        str | None, typer.Option(metavar="GPU", help="Short or CUDA name of the GPU.")
    ] = None
    tp: Annotated[
        int | None,
        typer.Option(
            "--tp",
            metavar="N",
            help="GPUs of the deployment.",
            show_default="of the trace, if any, or 1",
        ),
    ] = None
    ep: Annotated[
        int | None,
        typer.Option("--ep", metavar="N", help="Groups that share experts.", show_default="1"),
    ] = None
    dp_attention: Annotated[
        int | None,
        typer.Option(metavar="N", help="Data-parallel groups of attention.", show_default="1"),
    ] = None
    batch: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Requests in flight, in all groups together.",
            show_default="of the trace's graphs, where sure",
        ),
    ] = None
    context: Annotated[
        int | None, typer.Option(metavar="N", help="Tokens of each request in the cache.")
    ] = None
    draft_steps: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Draft passes per round.", show_default="of the trace, if any, or 0"
        ),
    ] = None
    draft_tokens: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Rows of each request in a verify pass.",
            show_default="draft steps + 1",
        ),
    ] = None
    accept_length: Annotated[
        float | None,
        typer.Option(metavar="X", help="Tokens a request gains per round, the bonus one too."),
    ] = None
    draft_topk: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Branches that a draft pass continues, of a tree.", show_default="1"
        ),
    ] = None
    draft_model: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Config of an EAGLE3 head or of a small model that drafts.",
            show_default="the model's own draft layers",
        ),
    ] = None
    draft_vocab: Annotated[
        int | None,
        typer.Option(metavar="N", help="Tokens that drafts choose from.", show_default="all"),
    ] = None
    alpha_us: Annotated[
        float | None,
        typer.Option(
            "--alpha-us",
            metavar="X",
            help="Latency of an empty all-reduce in us.",
            show_default="of the trace, if any, or the calibration's",
        ),
    ] = None
    kv_format: Annotated[
        str | None,
        typer.Option(
            "--kv-dtype", metavar="TYPE", help="Type of the KV cache.", show_default="the model's"
        ),
    ] = None
    state_format: Annotated[
        str | None,
        typer.Option(
            "--state-dtype",
            metavar="TYPE",
            help="Type of recurrent states.",
            show_default="the model's, or fp32",
        ),
    ] = None
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT", help="Format of the linear layers.", show_default="the model's"
        ),
    ] = None
    deployment: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="TOML, YAML or JSON with any of these; flags win over it."
        ),
    ] = None
    server_args: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="SGLang's log or server arguments; flags and --deployment win."
        ),
    ] = None
    gpu_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TOML with more GPUs, which win over ours.")
    ] = None

    @property
    def files(self) -> tuple[Path | None, ...]:
        """The files that are read."""
        return self.deployment, self.server_args, self.gpu_file

    def known(self) -> "Deployment":
        """Return what flags, a file and a server say, each winning over the next.

        Raises:
            TraceattrError: A value makes no sense, or a file cannot be used.
        """
        from traceattr.roofline.deployment import (
            Deployment,
            deployment_from_file,
            deployment_from_flags,
            deployment_from_server_args,
            merge,
        )
        from traceattr.roofline.load_lines import read_log
        from traceattr.roofline.server_log import deployment_of_log

        values = {name: getattr(self, name) for name in _FLAGS}
        flags = deployment_from_flags(**values)
        from_file = deployment_from_file(self.deployment) if self.deployment else Deployment()
        if self.server_args is None:
            return merge(flags, from_file)
        file = str(self.server_args)
        with opened(self.server_args, "a log or server arguments of SGLang") as stream:
            if stream.peek(_PEEKED_BYTES).lstrip().startswith(b"{"):
                text = stream.read(_LONGEST_ARGUMENTS_BYTES).decode("utf-8", errors="replace")
                return merge(flags, from_file, deployment_from_server_args(text, file))
            return merge(flags, from_file, deployment_of_log(read_log(stream), file))


_FLAGS = [each.name for each in fields(Served) if each.name not in _FILES]


@contextmanager
def opened(path: Path, expected: str) -> Iterator[BufferedReader]:
    """Open a file that a server wrote.

    Raises:
        OptionError: It cannot be read.
    """
    try:
        with path.open("rb") as stream:
            yield stream
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise OptionError(f"{path}: cannot be read: {reason} (expected {expected})") from error
