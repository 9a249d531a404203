"""How much no rule matched, and which names that was; every report shows it."""

from traceattr.attribution.analysis import Analysis, GpuTime, KernelTime
from traceattr.report.figures import counted, share, share_range
from traceattr.report.grouped import hides_work
from traceattr.rules.categories import UNCLASSIFIED


def unclassified_kernels(analysis: Analysis) -> tuple[KernelTime, ...]:
    """Return the kernels that no rule matched, longest time first."""
    return tuple(kernel for kernel in analysis.kernels if kernel.category == UNCLASSIFIED)


def unclassified_sentence(analysis: Analysis) -> str:
    """Return how much time is unclassified, also when it is none."""
    names = unclassified_kernels(analysis)
    hidden = any(map(hides_work, analysis.per_gpu))
    if not names:
        seen = "kernel name outside opaque graphs" if hidden else "kernel name"
        return f"Unclassified: 0. Every {seen} matched a rule."
    owned = [(_unclassified_ns(time), time.wall_ns) for time in analysis.per_gpu]
    kernels_ns = sum(kernel.total_ns for kernel in analysis.kernels)
    total_ns = sum(kernel.total_ns for kernel in names)
    return (
        f"Unclassified: {share_range(owned)} of the window; {counted(len(names), 'kernel name')} "
        f"matched no rule, {share(total_ns, kernels_ns)} of kernel time."
    )


def _unclassified_ns(time: GpuTime) -> int:
    """Return what such kernels own in every phase, draft passes included."""
    return sum(entry.exclusive_ns for entry in time.categories if entry.category == UNCLASSIFIED)
