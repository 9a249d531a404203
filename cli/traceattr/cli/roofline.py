"""``traceattr roofline``."""

from typing import Annotated

import typer

from traceattr.cli.option_groups import with_option_groups
from traceattr.cli.options import ForceOption, FormatOption, OutputOption, PlotOption
from traceattr.cli.output import (
    check_output,
    check_plot,
    link_to,
    use_color,
    width,
    write_output,
)
from traceattr.cli.roofline_options import Served, SweepOption, WhatIfOption
from traceattr.errors import OptionError
from traceattr.report.render import ReportFormat


@with_option_groups
def roofline(
    served: Served,
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
    format_: FormatOption = ReportFormat.TERMINAL,
    plot: PlotOption = None,
    output: OutputOption = None,
    force: ForceOption = False,
) -> None:
    """Print what a round must cost on given hardware, and what to expect; no trace is needed.

    Example: traceattr roofline --model Qwen3.6-27B --gpu RTX_A6000 --tp 2 --batch 1 --context 500
    --draft-steps 3

    Example: traceattr roofline ... --what-if gpu=H100_SXM --what-if weights=fp8,batch=8
    """
    from importlib.metadata import version

    from traceattr.report.roofline_render import render_explanation, render_known, render_roofline
    from traceattr.roofline.hardware import load_gpus
    from traceattr.roofline.roofline import build_roofline
    from traceattr.roofline.what_if import build_what_if, read_changes

    inputs = served.files
    check_output(output, force=force, inputs=inputs)
    check_plot(plot, output, force=force, inputs=inputs)
    changes = read_changes(what_if or (), sweep or ())
    if plot is not None and (list_known or explain is not None):
        raise OptionError("--plot does not go with --explain or --list, which draw nothing")
    if changes and explain is not None:
        raise OptionError("--explain does not go with --what-if or --sweep; explain one at a time")
    gpus = load_gpus(served.gpu_file)
    if list_known:
        from traceattr.roofline.model import catalogue

        write_output(render_known(catalogue(), gpus), output)
        return
    known = served.known()
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
