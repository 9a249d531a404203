import pytest

from traceattr.attribution.analysis import Diagnostic
from traceattr.attribution.completeness import completeness_by_process
from traceattr.ingest.trace import ProcessWork


def work(
    kernels: int = 1000,
    kernels_without_launch: int = 0,
    kernel_launches: int = 1000,
    graph_launches: int = 0,
    graph_launches_without_work: int = 0,
) -> ProcessWork:
    return ProcessWork(
        global_pid=7,
        kernels=kernels,
        kernels_without_launch=kernels_without_launch,
        kernel_launches=kernel_launches,
        kernel_launches_without_work=0,
        graph_launches=graph_launches,
        graph_launches_without_work=graph_launches_without_work,
    )


@pytest.mark.parametrize(
    ("process", "completeness"),
    [
        (work(), "complete"),
        (work(kernels_without_launch=10), "complete"),
        (work(kernels_without_launch=11), "incomplete"),
        (work(kernels=20, kernels_without_launch=2), "complete"),
        (work(graph_launches=500, graph_launches_without_work=6), "incomplete"),
        (work(graph_launches=500, graph_launches_without_work=5), "complete"),
        (work(kernel_launches=0), "unknown"),
    ],
)
def test_more_than_the_edges_of_a_capture_is_incomplete(
    process: ProcessWork, completeness: str
) -> None:
    assert completeness_by_process([process], []) == {7: completeness}


def test_dropped_events_make_every_process_incomplete() -> None:
    said = Diagnostic(2, "Not all CUDA events might have been collected.", 1, None)

    assert completeness_by_process([work()], [said]) == {7: "incomplete"}
