"""Simulate an SGLang server and write its trace, with the exact answer beside it.

    python -m traces.simulate --rounds 50 --era 3.16 OUT.sqlite

writes `OUT.sqlite` and `OUT.truth.json`, over what was there (the flags are in `command_line`).
"""

from pathlib import Path

from traces.answer import truth_of
from traces.description import Simulation
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


if __name__ == "__main__":
    from traces.command_line import main

    main()
