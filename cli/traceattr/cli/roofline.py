"""``traceattr roofline``."""

from importlib.metadata import version
from typing import Annotated

import typer

from traceattr.cli.options import ForceOption, OutputOption, PlotOption
from traceattr.cli.output import (
    check_output,
    check_plot,
    link_to,
    use_color,
    width,
    write_output,
)
from traceattr.cli.roofline_options import (
    AcceptLengthOption,
    AlphaOption,
    BatchOption,
    ContextOption,
    DeploymentOption,
    DpAttentionOption,
    DraftModelOption,
    DraftStepsOption,
    DraftTokensOption,
    DraftTopkOption,
    DraftVocabOption,
    EpOption,
    GpuFileOption,
    GpuOption,
    KvDtypeOption,
    ModelOption,
    ServerArgsOption,
    StateDtypeOption,
    SweepOption,
    TpOption,
    WeightsOption,
    WhatIfOption,
    with_files,
)
from traceattr.errors import OptionError
from traceattr.report.render import ReportFormat


def roofline(
    model: ModelOption = None,
    gpu: GpuOption = None,
    tp: TpOption = None,
    ep: EpOption = None,
    dp_attention: DpAttentionOption = None,
    batch: BatchOption = None,
    context: ContextOption = None,
    draft_steps: DraftStepsOption = None,
    draft_tokens: DraftTokensOption = None,
    accept_length: AcceptLengthOption = None,
    draft_topk: DraftTopkOption = None,
    draft_model: DraftModelOption = None,
    draft_vocab: DraftVocabOption = None,
    alpha_us: AlphaOption = None,
    kv_dtype: KvDtypeOption = None,
    state_dtype: StateDtypeOption = None,
    weights: WeightsOption = None,
    deployment: DeploymentOption = None,
    server_args: ServerArgsOption = None,
    gpu_file: GpuFileOption = None,
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
    what_if: WhatIfOption = None,
    sweep: SweepOption = None,
    list_known: Annotated[bool, typer.Option("--list", help="List known models and GPUs.")] = False,
    format_: Annotated[ReportFormat, typer.Option("--format", help="What to print.")] = (
        ReportFormat.TERMINAL
    ),
    plot: PlotOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
) -> None:
    """Print what a round must cost on given hardware, and what to expect; no trace is needed.

    Example: traceattr roofline --model Qwen3.6-27B --gpu RTX_A6000 --tp 2 --batch 1 --context 500
    --draft-steps 3

    Example: traceattr roofline ... --what-if gpu=H100_SXM --what-if weights=fp8,batch=8
    """
    from traceattr.report.roofline_render import render_explanation, render_known, render_roofline
    from traceattr.roofline.deployment import deployment_from_flags
    from traceattr.roofline.hardware import load_gpus
    from traceattr.roofline.roofline import build_roofline
    from traceattr.roofline.what_if import build_what_if, read_changes

    inputs = (deployment, server_args, gpu_file)
    check_output(output, force=force, inputs=inputs)
    check_plot(plot, output, force=force, inputs=inputs)
    changes = read_changes(what_if or (), sweep or ())
    if plot is not None and (list_known or explain is not None):
        raise OptionError("--plot does not go with --explain or --list, which draw nothing")
    if changes and explain is not None:
        raise OptionError("--explain does not go with --what-if or --sweep; explain one at a time")
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
        draft_topk=draft_topk,
        draft_model=draft_model,
        draft_vocab=draft_vocab,
        alpha_us=alpha_us,
        kv_format=kv_dtype,
        state_format=state_dtype,
        weights=weights,
    )
    known = with_files(flags, deployment, server_args)
    answer = build_roofline(known, gpus, version=version("traceattr"), prefill_tokens=prefill)
    link = link_to(plot, output)
    if explain is not None:
        text = render_explanation(answer, explain, format_, width=width(output))
    elif changes:
        from traceattr.report.what_if_render import render_what_if

        alternatives = build_what_if(known, gpus, answer, changes)
        if plot is not None:
            from traceattr.report.plot_file import what_if_plot

            write_output(what_if_plot(alternatives), plot)
        text = render_what_if(
            alternatives, format_, width=width(output), color=use_color(output), plot_link=link
        )
    else:
        if plot is not None:
            from traceattr.report.plot_file import prediction_plot

            write_output(prediction_plot(answer), plot)
        text = render_roofline(
            answer, format_, width=width(output), color=use_color(output), plot_link=link
        )
    write_output(text, output)
