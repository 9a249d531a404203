"""Which figures a list of kernels has, whatever it is written in."""

from collections.abc import Sequence

from traceattr.attribution.analysis import Analysis, KernelTime
from traceattr.report.figures import MICROSECONDS, Unit, count, unit_for
from traceattr.rules.categories import SUBCATEGORIES

NO_RULE = "-"
TEXT_TITLES = ("category", "rule", "kernel")
"""Titles of columns that hold words; the others hold figures."""


def kernel_unit(kernels: Sequence[KernelTime]) -> Unit:
    """Return the unit of the totals in one list."""
    return unit_for(max((kernel.mean_ns for kernel in kernels), default=0))


def kernel_titles(unit: Unit) -> tuple[str, str, str, str]:
    """Return what stands above the figures."""
    return f"total, {unit.name}", "count", f"median, {MICROSECONDS.name}", "category"


def kernel_cells(kernel: KernelTime, unit: Unit) -> tuple[str, str, str, str]:
    """Return the figures of one kernel, in the order of the titles."""
    return (
        unit.number(kernel.mean_ns),
        count(kernel.mean_operations),
        MICROSECONDS.number(kernel.median_ns),
        category_text(kernel),
    )


def category_text(kernel: KernelTime) -> str:
    """Return the category, with the subcategory where reports split by it."""
    if kernel.subcategory and kernel.category in SUBCATEGORIES:
        return f"{kernel.category}/{kernel.subcategory}"
    return kernel.category


def kernels_title(analysis: Analysis, shown: int) -> str:
    """Return what a list of the first ``shown`` kernels is called."""
    names = len(analysis.kernels)
    part = f"all {count(names)}" if shown == names else f"{count(shown)} of {count(names)}"
    gpus = "" if len(analysis.per_gpu) == 1 else "; mean of the GPUs that ran them"
    return f"Kernels by total time ({part}{gpus})"
