"""``traceattr report``."""

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from traceattr.cli.load import choose, load_analysis
from traceattr.cli.options import (
    ForceOption,
    GraphKindOption,
    OutputOption,
    RoundsOption,
    RulesOption,
    TraceArgument,
    WindowOption,
    one_of,
)
from traceattr.cli.output import check_output, use_color, width, write_output
from traceattr.cli.roofline_options import (
    AcceptLengthOption,
    BatchOption,
    ContextOption,
    DeploymentOption,
    DpAttentionOption,
    DraftStepsOption,
    DraftTokensOption,
    EpOption,
    GpuFileOption,
    GpuOption,
    KvDtypeOption,
    ModelOption,
    ServerArgsOption,
    StateDtypeOption,
    TpOption,
    WeightsOption,
    with_files,
)
from traceattr.report.render import ReportFormat, render

if TYPE_CHECKING:
    from traceattr.attribution.analysis import Analysis
    from traceattr.report.comparison import Comparison
    from traceattr.roofline.deployment import Deployment


def report(
    trace: TraceArgument,
    format_: Annotated[
        ReportFormat, typer.Option("--format", parser=one_of(ReportFormat), help="What to print.")
    ] = (ReportFormat.TERMINAL),
    window: WindowOption = "",
    rounds: RoundsOption = "",
    graph_kind: GraphKindOption = None,
    rules: RulesOption = None,
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
    kv_dtype: KvDtypeOption = None,
    state_dtype: StateDtypeOption = None,
    weights: WeightsOption = None,
    deployment: DeploymentOption = None,
    server_args: ServerArgsOption = None,
    gpu_file: GpuFileOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
) -> None:
    """Print where each GPU's time went; with --model, beside what the hardware allows.

    Example: traceattr report trace.sqlite --format markdown -o report.md

    Example: traceattr report trace.sqlite --model Qwen3.6-27B --batch 1 --context 500
    """
    from traceattr.roofline.deployment import deployment_from_flags

    inputs = (trace, rules, deployment, server_args, gpu_file)
    check_output(output, force=force, inputs=inputs)
    choice = choose(window=window, rounds=rounds, graph_kinds=graph_kind)
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
    said = with_files(flags, deployment, server_args)
    analysis = load_analysis(trace, rules, choice)
    comparison = _compared(analysis, said, gpu_file)
    text = render(
        analysis, format_, width=width(output), color=use_color(output), comparison=comparison
    )
    write_output(text, output)


def _compared(
    analysis: "Analysis", said: "Deployment", gpu_file: Path | None
) -> "Comparison | None":
    """Return the roofline beside the trace; nothing when nothing was said of the deployment."""
    from traceattr.roofline.deployment import Deployment

    if said == Deployment() and gpu_file is None:
        return None
    from traceattr.report.comparison import compare
    from traceattr.report.comparison_inputs import (
        contradictions,
        deployment_from_trace,
        with_trace,
    )
    from traceattr.roofline.hardware import load_gpus
    from traceattr.roofline.roofline import build_roofline

    gpus = load_gpus(gpu_file)
    shown = deployment_from_trace(analysis, gpus)
    known = with_trace(said, shown, analysis)
    roofline = build_roofline(known, gpus, version=version("traceattr"))
    return compare(analysis, roofline, contradictions(said, shown, gpus))
