"""Options that say how long rounds are without tracing, and what follows from them."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from traceattr.cli.load import choose, load_analysis, tabulated
from traceattr.cli.options import TypedTrace, finite
from traceattr.errors import OptionError
from traceattr.ingest.remote.name import TracePath, trace_path

if TYPE_CHECKING:
    from traceattr.attribution.analysis import Analysis
    from traceattr.attribution.choice import Choice
    from traceattr.attribution.pass_walls import PassWalls
    from traceattr.report.inflation import Inflation
    from traceattr.report.token_cost import TokenCost

_NS_PER_MS = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """Where the true length of a round comes from."""

    calibrate: Annotated[
        TypedTrace | None,
        typer.Option(
            parser=trace_path,
            metavar="TRACE",
            help="A trace of the same load with whole graphs: says how much longer each pass is"
            " when every node is traced.",
        ),
    ] = None
    tpot_ms: Annotated[
        float | None,
        typer.Option(
            "--tpot-ms",
            callback=finite,
            metavar="X",
            min=0.001,
            help="Time per output token of a request without tracing, for the same.",
        ),
    ] = None
    scale_to_wall: Annotated[
        bool,
        typer.Option(
            "--scale-to-wall", help="List categories at the true length of their phase too."
        ),
    ] = False


def inflation_of(
    trace: TracePath,
    rules: Path | None,
    choice: "Choice",
    analysis: "Analysis",
    calibrated: Calibrated,
    cost: "TokenCost | None",
    *,
    no_cache: bool,
) -> "Inflation | None":
    """Return how tracing lengthens the rounds, where something says how long they are.

    Raises:
        TraceattrError: What was given does not fit the trace.
    """
    from traceattr.report.inflation import measured_inflation, scaled_times

    true_ns, source = _true_round(calibrated, cost)
    if calibrated.calibrate is None and true_ns is None:
        if calibrated.scale_to_wall:
            raise OptionError(
                "--scale-to-wall: to which wall? give --calibrate TRACE, --server-log FILE, or"
                " --tpot-ms X with --accept-length"
            )
        return None
    walls = _walls(trace, rules, choice, no_cache=no_cache)
    if calibrated.calibrate is not None:
        whole = _whole_graphs(calibrated.calibrate, rules, no_cache=no_cache)
        source = f"graph-mode trace {calibrated.calibrate.name}"
        found = measured_inflation(walls, source=source, true=whole)
    else:
        found = measured_inflation(walls, source=source, true_round_ns=true_ns)
    if not calibrated.scale_to_wall:
        return found
    return replace(found, scaled=scaled_times(analysis, found))


def _walls(
    trace: TracePath, rules: Path | None, choice: "Choice", *, no_cache: bool
) -> "PassWalls | None":
    from traceattr.attribution.pass_walls import pass_walls

    needed = frozenset({"pass", "round"})
    with tabulated(trace, rules, choice, needed, no_cache=no_cache) as found:
        return pass_walls(found.connection)


def _whole_graphs(trace: TracePath, rules: Path | None, *, no_cache: bool) -> "PassWalls":
    choice = choose(window="", rounds="", graph_kinds=None)
    mode = load_analysis(trace, rules, choice, no_cache=no_cache).trace.graph_trace
    walls = _walls(trace, rules, choice, no_cache=no_cache)
    if mode != "graph" or walls is None:
        what = "shows no rounds" if mode == "graph" else f"traces graphs as: {mode}"
        raise OptionError(
            f"{trace}: {what} (expected a trace of whole graphs: traceattr profile --graphs graph)"
        )
    return walls


def _true_round(calibrated: Calibrated, cost: "TokenCost | None") -> tuple[float | None, str]:
    """Return the true length of a round in ns, and who says so."""
    accept = None if cost is None else cost.accept_length
    if calibrated.tpot_ms is not None:
        if accept is None:
            raise OptionError(
                "--tpot-ms: a round has as many tokens as are accepted; give --accept-length X"
            )
        return calibrated.tpot_ms * _NS_PER_MS * accept.value, f"--tpot-ms {calibrated.tpot_ms:g}"
    if cost is None or not cost.logged_tokens_per_s or accept is None or cost.batch is None:
        return None, ""
    assert cost.load is not None
    per_s = cost.logged_tokens_per_s / cost.batch.value
    return accept.value / per_s * 1e9, f"{cost.load.source}: {cost.logged_tokens_per_s:g} tokens/s"
