"""``traceattr roofline``."""

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from traceattr.cli.options import ForceOption, OutputOption
from traceattr.cli.output import check_output, use_color, width, write_output
from traceattr.errors import OptionError
from traceattr.report.render import ReportFormat

if TYPE_CHECKING:
    from traceattr.roofline.deployment import Deployment


def roofline(
    model: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL", help="A config.json, its directory, or a bundled model (--list)."
        ),
    ] = None,
    gpu: Annotated[
        str | None, typer.Option(metavar="GPU", help="Short or CUDA name of the GPU (--list).")
    ] = None,
    tp: Annotated[
        int | None,
        typer.Option("--tp", metavar="N", help="GPUs of the deployment.", show_default="1"),
    ] = None,
    ep: Annotated[
        int | None,
        typer.Option("--ep", metavar="N", help="Groups that share experts.", show_default="1"),
    ] = None,
    dp_attention: Annotated[
        int | None,
        typer.Option(metavar="N", help="Data-parallel groups of attention.", show_default="1"),
    ] = None,
    batch: Annotated[
        int | None, typer.Option(metavar="N", help="Requests in flight, in all groups together.")
    ] = None,
    context: Annotated[
        int | None, typer.Option(metavar="N", help="Tokens of each request in the cache.")
    ] = None,
    draft_steps: Annotated[
        int | None,
        typer.Option(metavar="N", help="Draft passes per round.", show_default="0, no draft"),
    ] = None,
    draft_tokens: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Rows of each request in a verify pass.",
            show_default="draft steps + 1",
        ),
    ] = None,
    accept_length: Annotated[
        float | None,
        typer.Option(metavar="X", help="Tokens a request gains per round, the bonus one too."),
    ] = None,
    kv_dtype: Annotated[
        str | None,
        typer.Option(metavar="TYPE", help="Type of the KV cache.", show_default="the model's"),
    ] = None,
    state_dtype: Annotated[
        str | None,
        typer.Option(
            metavar="TYPE", help="Type of recurrent states.", show_default="the model's, or fp32"
        ),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT", help="Format of the linear layers.", show_default="the model's"
        ),
    ] = None,
    deployment: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="TOML or JSON with any of these; flags win over it."),
    ] = None,
    server_args: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="SGLang's log or server arguments; flags and --deployment win."
        ),
    ] = None,
    gpu_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TOML with more GPUs, which win over ours.")
    ] = None,
    prefill: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Not a decode round, but N new tokens of each request."
        ),
    ] = None,
    explain: Annotated[
        str | None,
        typer.Option(metavar="CATEGORY", help="Print where the figures of a category come from."),
    ] = None,
    list_known: Annotated[bool, typer.Option("--list", help="List known models and GPUs.")] = False,
    format_: Annotated[ReportFormat, typer.Option("--format", help="What to print.")] = (
        ReportFormat.TERMINAL
    ),
    output: OutputOption = None,
    force: ForceOption = False,
) -> None:
    """Print what a round must cost on given hardware, and what to expect; no trace is needed.

    Example: traceattr roofline --model Qwen3.6-27B --gpu RTX_A6000 --tp 2 --batch 1 --context 500
    --draft-steps 3
    """
    from traceattr.report.roofline_render import render_explanation, render_known, render_roofline
    from traceattr.roofline.deployment import deployment_from_flags
    from traceattr.roofline.hardware import load_gpus
    from traceattr.roofline.roofline import build_roofline

    check_output(output, force=force, inputs=(deployment, server_args, gpu_file))
    gpus = load_gpus(gpu_file)
    if list_known:
        from traceattr.roofline.model import catalogue

        write_output(render_known(catalogue(), gpus), output)
        return
    flags = deployment_from_flags(
        model=model,
        gpu=gpu,
        tp=tp,
        ep=ep,
        dp_attention=dp_attention,
        batch=batch,
        context=context,
        draft_steps=draft_steps,
        draft_tokens=draft_tokens,
        accept_length=accept_length,
        kv_format=kv_dtype,
        state_format=state_dtype,
        weights=weights,
    )
    known = _with_files(flags, deployment, server_args)
    answer = build_roofline(known, gpus, version=version("traceattr"), prefill_tokens=prefill)
    if explain is not None:
        text = render_explanation(answer, explain, format_, width=width(output))
    else:
        text = render_roofline(answer, format_, width=width(output), color=use_color(output))
    write_output(text, output)


def _with_files(flags: "Deployment", file: Path | None, server: Path | None) -> "Deployment":
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
