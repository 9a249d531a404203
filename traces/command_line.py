"""The flags of `python -m traces.simulate`: a case by name, and what differs from it."""

import sys
from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from traces.cases import CASES
from traces.description import Simulation
from traces.eras import ERAS
from traces.simulate import DEMO, simulate, truth_path
from traces.workload_file import WORKLOADS, load_workload

NS_PER_US = 1000


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    options = vars(_parser().parse_args(arguments))
    path: Path = options.pop("out")
    simulate(_description(**options), path)
    sys.stdout.write(f"Wrote {path} and {truth_path(path)}\n")


def _description(
    *, demo: bool, case: str | None, kernels: int | None, prefill: bool, **fields: Any
) -> Simulation:
    if demo:
        return DEMO
    if prefill:
        fields["before"] = (*fields.get("before", ()), "prefill")
    seams = dict(fields.pop("seam", ()))
    simulation = replace(CASES[case] if case else Simulation(), **fields)
    if seams:
        simulation = replace(simulation, seam_delays_ns=seams)
    if kernels is None:
        return simulation
    programs = 1 + len(simulation.then)
    rounds = max(1, round(kernels / simulation.operations_per_round / programs))
    return replace(simulation, rounds=rounds)


def _parser() -> ArgumentParser:
    """Flags named like a field of `Simulation` are absent unless given."""
    parser = ArgumentParser(
        prog="python -m traces.simulate",
        description="Simulate an SGLang server; write its trace, with the exact answer beside it.",
    )
    add = parser.add_argument
    add("out", metavar="OUT.sqlite", type=Path)
    add("--demo", action="store_true", help="the bundled sample, as it is")
    add("--case", choices=CASES, help="a server by name; other flags change it")
    add("--kernels", type=int, help="as many rounds as make about that many")
    add("--prefill", action="store_true", help="begin with a prefill of 512 tokens")
    add("--era", choices=ERAS, default=SUPPRESS, help="schema of the export")
    add("--mode", choices=("node", "graph"), default=SUPPRESS)
    for flag, kind, text in (
        ("--rounds", int, "of each round program"),
        ("--seed", int, "of all that is drawn"),
        ("--every", int, "after so many rounds, what lies between interrupts"),
        ("--host-slowdown", float, "of what hosts do between CUDA calls"),
    ):
        add(flag, type=kind, default=SUPPRESS, help=text)
    _add_server(parser)
    _add_switches(parser)
    return parser


def _add_server(parser: ArgumentParser) -> None:
    flags: tuple[tuple[str, Callable[[str], object], str], ...] = (
        ("--workload", _workload, f"one of {', '.join(WORKLOADS)}"),
        ("--round-program", str, "what a round is, such as decode"),
        ("--before", _names, "programs that run first: load,capture,prefill"),
        ("--then", _names, "round programs that follow the first: round_bs2"),
        ("--between", _names, "programs that interrupt: pause,prefill"),
        ("--after", _names, "programs that run last: tail"),
        ("--slowdowns", _ratios, "one per rank: 1,1,1.05,1"),
    )
    for flag, kind, text in flags:
        parser.add_argument(flag, type=kind, default=SUPPRESS, help=text)
    parser.add_argument(
        "--seam",
        type=_seam,
        action="append",
        default=SUPPRESS,
        metavar="NAME=+60us",
        help="what hosts do longer before the launch that ends a seam, such as decode->decode",
    )


def _add_switches(parser: ArgumentParser) -> None:
    for flag, text in (
        ("--same-device-id", "each rank calls its GPU device 0"),
        ("--correlation-zero", "graph kernels carry correlationId 0"),
        ("--plain-titles", "every process is called python3"),
        ("--nvtx", "with ranges of the scheduler"),
        ("--other-threads", "with threads beside the scheduler's"),
    ):
        parser.add_argument(flag, action="store_true", default=SUPPRESS, help=text)


def _workload(name: str) -> object:
    if name not in WORKLOADS:
        raise ArgumentTypeError(f"{name}: no such workload (one of {', '.join(WORKLOADS)})")
    return load_workload(WORKLOADS[name])


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split(","))


def _ratios(text: str) -> tuple[float, ...]:
    return tuple(float(each) for each in text.split(","))


def _seam(text: str) -> tuple[str, int]:
    name, _, delay = text.rpartition("=")
    if not name or not delay.endswith("us"):
        raise ArgumentTypeError(f"{text}: expected a seam and a time, such as draft->verify=+60us")
    return name, round(float(delay.removesuffix("us")) * NS_PER_US)
