"""The label of each operation: its category, and for communication its subcategory."""

from dataclasses import dataclass

import duckdb
import numpy as np
import numpy.typing as npt

from traceattr.attribution.partition import Precedence
from traceattr.rules.categories import CATEGORIES, COMMUNICATION, GRAPH, MEMORY, SUBCATEGORIES
from traceattr.rules.rule import Classification
from traceattr.rules.rule_set import RuleSet


@dataclass(frozen=True, slots=True)
class Label:
    """What one row of a category table is about."""

    category: str
    subcategory: str | None


LABELS: tuple[Label, ...] = tuple(
    Label(category, subcategory)
    for category in CATEGORIES
    for subcategory in (*SUBCATEGORIES.get(category, ()), None)
)
"""Every label, in table order; arrays hold indices into it."""

_INDEX = {label: index for index, label in enumerate(LABELS)}

_OF_KIND = np.array(
    [
        -1,
        _INDEX[Label(MEMORY, None)],
        _INDEX[Label(MEMORY, None)],
        _INDEX[Label(GRAPH, None)],
    ],
    np.int8,
)
"""Label by code of `gpu_op.kind` (kernel, memcpy, memset, graph); kernels go by name."""

_PRECEDENCE = {
    COMMUNICATION: Precedence.COMMUNICATION,
    MEMORY: Precedence.COPY,
    GRAPH: Precedence.ENVELOPE,
}

PRECEDENCE: npt.NDArray[np.int8] = np.array(
    [_PRECEDENCE.get(label.category, Precedence.COMPUTE) for label in LABELS], np.int8
)
"""`Precedence` of each label."""


@dataclass(frozen=True, slots=True)
class KernelNames:
    """The kernel names of a trace, classified; sequences are indexed by ``name_id``.

    Attributes:
        names: Demangled names.
        classifications: What the rules say.
        labels: Index into `LABELS`, shape (names,).
    """

    names: tuple[str, ...]
    classifications: tuple[Classification, ...]
    labels: npt.NDArray[np.int8]

    def label_operations(
        self, kind: npt.NDArray[np.int8], name_id: npt.NDArray[np.int32]
    ) -> npt.NDArray[np.int8]:
        """Return the label of each operation, shape (n,)."""
        by_name = np.append(self.labels, np.int8(-1))[name_id]
        return np.where(kind == 0, by_name, _OF_KIND[kind])


def classify_kernels(connection: duckdb.DuckDBPyConnection, rules: RuleSet) -> KernelNames:
    """Classify each distinct name once."""
    rows = connection.execute(
        "SELECT name, coalesce(short_name, '') FROM kernel_name ORDER BY name_id"
    ).fetchall()
    found = rules.classify_many(rows)
    labels = [_INDEX[_label(classification)] for classification in found]
    return KernelNames(
        tuple(name for name, _ in rows), tuple(found), np.array(labels, np.int8).reshape(-1)
    )


def _label(classification: Classification) -> Label:
    known = SUBCATEGORIES.get(classification.category, ())
    subcategory = classification.subcategory if classification.subcategory in known else None
    return Label(classification.category, subcategory)
