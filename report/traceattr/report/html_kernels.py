"""The table of kernels of a page, which can be sorted and filtered."""

from dataclasses import dataclass

from traceattr.attribution.analysis import Analysis, KernelTime
from traceattr.report.escape import visible
from traceattr.report.figures import Unit, counted, share
from traceattr.report.html_closeup import LONGEST_NAME
from traceattr.report.html_names import category_class
from traceattr.report.kernel_figures import (
    NO_RULE,
    category_text,
    kernel_cells,
    kernel_titles,
    kernel_unit,
    kernels_title,
)
from traceattr.report.names import cut, label_names

MOST_KERNELS = 1_000
"""Kernel names in a page."""


@dataclass(frozen=True, slots=True)
class KernelRow:
    """One kernel name.

    Attributes:
        label: What tells it apart, in few characters.
        whole: Its whole name, None where that says no more.
        category: Category, with the subcategory where reports split by it.
        css: Class of the category.
        rule: Rule that decided it.
        cells: Figures, as texts.
        values: The same as numbers, to sort by.
    """

    label: str
    whole: str | None
    category: str
    css: str
    rule: str
    cells: tuple[str, ...]
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KernelList:
    """The table.

    Attributes:
        title: What it is called.
        titles: Titles of the columns of figures.
        rows: The kernels, longest time first.
        categories: Those that occur, in the order of first use.
        more: What says that some are left out, None where none is.
    """

    title: str
    titles: tuple[str, ...]
    rows: tuple[KernelRow, ...]
    categories: tuple[str, ...]
    more: str | None


def kernel_list(analysis: Analysis) -> KernelList:
    """Return the kernels that take longest."""
    shown = analysis.kernels[:MOST_KERNELS]
    unit = kernel_unit(shown)
    total, number, median, _ = kernel_titles(unit)
    labels = label_names(kernel.name for kernel in shown)
    whole_ns = sum(kernel.mean_ns for kernel in analysis.kernels)
    rows = tuple(_row(kernel, labels[kernel.name], unit, whole_ns) for kernel in shown)
    more = len(analysis.kernels) - len(shown)
    return KernelList(
        title=kernels_title(analysis, len(shown)),
        titles=(total, "share", number, median),
        rows=rows,
        categories=tuple(dict.fromkeys(row.category for row in rows)),
        more=f"{counted(more, 'more name')}: `traceattr kernels`" if more else None,
    )


def _row(kernel: KernelTime, label: str, unit: Unit, whole_ns: int) -> KernelRow:
    total, number, median, _ = kernel_cells(kernel, unit)
    whole = cut(visible(kernel.name), LONGEST_NAME)
    return KernelRow(
        label=label,
        whole=None if whole == label else whole,
        category=category_text(kernel),
        css=category_class(kernel.category),
        rule=kernel.rule or NO_RULE,
        cells=(total, share(kernel.mean_ns, whole_ns), number, median),
        values=(kernel.mean_ns, kernel.mean_ns, kernel.mean_operations, kernel.median_ns),
    )
