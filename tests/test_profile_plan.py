"""What nsys is told."""

from dataclasses import replace
from pathlib import Path

from traceattr.ingest.nsys import Nsys
from traceattr.recording.plan import GraphTrace, Recording, plan_recording

SERVER = ("python", "-m", "sglang.launch_server", "--tp", "2")
NSYS = Nsys("nsys", "2026.2.1.210")


def test_nodes_and_children_are_recorded_and_samples_are_not() -> None:
    plan = plan_recording(Recording(Path("out/profile")), SERVER, NSYS)

    assert plan.arguments == (
        "nsys",
        "profile",
        "--trace=cuda,nvtx",
        "--sample=none",
        "--cpuctxsw=none",
        "--cuda-graph-trace=node",
        "--trace-fork-before-exec=true",
        "--output=out/profile",
        *SERVER,
    )
    assert plan.left_out == ()


def test_every_choice_has_its_option() -> None:
    recording = Recording(
        Path("profile"),
        traced="cuda,nvtx,osrt",
        graphs=GraphTrace.GRAPH,
        delay_s=120.5,
        duration_s=5,
        on_demand=True,
        keep_running=True,
        overwrite=True,
        more=("--gpu-metrics-devices=0",),
    )

    arguments = plan_recording(recording, SERVER, NSYS).arguments

    assert arguments[2:-5] == (
        "--trace=cuda,nvtx,osrt",
        "--sample=none",
        "--cpuctxsw=none",
        "--cuda-graph-trace=graph",
        "--trace-fork-before-exec=true",
        "--capture-range=cudaProfilerApi",
        "--capture-range-end=stop-shutdown",
        "--delay=120.5",
        "--duration=5",
        "--kill=none",
        "--force-overwrite=true",
        "--output=profile",
        "--gpu-metrics-devices=0",
    )


def test_what_an_old_nsys_does_not_know_is_left_out_and_named() -> None:
    old = replace(NSYS, options=frozenset({"--trace", "--sample", "--output"}))

    plan = plan_recording(Recording(Path("profile")), SERVER, old)

    assert plan.arguments[2:-5] == ("--trace=cuda,nvtx", "--sample=none", "--output=profile")
    assert plan.left_out == (
        "--cpuctxsw=none",
        "--cuda-graph-trace=node",
        "--trace-fork-before-exec=true",
    )


def test_a_per_cent_sign_in_the_name_is_no_variable_of_nsys() -> None:
    arguments = plan_recording(Recording(Path("100%p")), SERVER, NSYS).arguments

    assert "--output=100%%p" in arguments
