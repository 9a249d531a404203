"""Simulate an SGLang server and write its trace, with the exact answer beside it.

    python -m traces.simulate --rounds 50 --era 3.16 OUT.sqlite

writes `OUT.sqlite` and `OUT.truth.json`, over what was there.
"""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from traces.answer import truth_of
from traces.description import Simulation
from traces.eras import ERAS
from traces.server import Server
from traces.timeline import Timeline
from traces.truth import Truth
from traces.write import write_export

DEMO = Simulation(rounds=3)  # as many as fit into 1 MB

__all__ = ["DEMO", "Simulation", "Truth", "run", "simulate", "truth_path"]


def run(simulation: Simulation) -> Timeline:
    """Let the server run and return what happened."""
    server = Server(
        simulation.seed,
        simulation.slowdowns,
        simulation.host_slowdown,
        simulation.seam_delays_ns,
    )
    for name in simulation.plan:
        server.run(simulation.workload.programs[name])
    return server.timeline


def simulate(description: Simulation, path: Path) -> Truth:
    """Write the trace to `path` and the truth beside it, over what was there; return the truth."""
    timeline = run(description)
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    write_export(timeline, description, unfinished)
    unfinished.replace(path)
    truth = truth_of(timeline, description)
    truth.write(truth_path(path))
    return truth


def truth_path(path: Path) -> Path:
    """Return where the truth of the trace at `path` lies."""
    return path.with_suffix(".truth.json")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    options = _parser().parse_args(arguments)
    path: Path = options.out
    simulate(_description(options), path)
    sys.stdout.write(f"Wrote {path} and {truth_path(path)}\n")


def _description(options: Namespace) -> Simulation:
    if options.demo:
        return DEMO
    simulation = Simulation(
        rounds=options.rounds,
        seed=options.seed,
        era=options.era,
        mode=options.mode,
        before=("prefill",) if options.prefill else (),
        same_device_id=options.same_device_id,
        correlation_zero=options.correlation_zero,
        plain_titles=options.plain_titles,
        nvtx=options.nvtx,
    )
    if options.kernels is None:
        return simulation
    rounds = max(1, round(options.kernels / simulation.operations_per_round))
    return replace(simulation, rounds=rounds)


def _parser() -> ArgumentParser:
    parser = ArgumentParser(prog="python -m traces.simulate", description=__doc__)
    parser.add_argument("out", metavar="OUT.sqlite", type=Path)
    parser.add_argument("--demo", action="store_true", help="the bundled sample, as it is")
    parser.add_argument("--era", choices=ERAS, default="3.25", help="schema of the export")
    parser.add_argument("--mode", choices=("node", "graph"), default="node")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--kernels", type=int, help="as many rounds as make about that many")
    parser.add_argument("--seed", type=int, default=7)
    for flag, text in (
        ("--prefill", "begin with a prefill of 512 tokens"),
        ("--same-device-id", "each rank calls its GPU device 0"),
        ("--correlation-zero", "graph kernels carry correlationId 0"),
        ("--plain-titles", "every process is called python3"),
        ("--nvtx", "with ranges of the scheduler"),
    ):
        parser.add_argument(flag, action="store_true", help=text)
    return parser


if __name__ == "__main__":
    main()
