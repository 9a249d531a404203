"""What a prediction and its alternatives say, in words and cells that every format shares."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from traceattr.report.bar_chart import BarChart, Round, bar_chart
from traceattr.report.figures import MILLISECONDS, UNKNOWN
from traceattr.roofline.roofline import Roofline
from traceattr.roofline.what_if import Alternative, WhatIf
from traceattr.rules.categories import GROUPS, HOST_GAPS, IN_GRAPH_GAPS

BASE = "as given"

CHANGE_TITLES = ("alternative", "bound", "expected", "change", "change, %", "tokens/s")

_SHORT = {
    "weight GEMM": "weight GEMM",
    "communication": "comm",
    IN_GRAPH_GAPS: "idle",
    HOST_GAPS: "idle",
}
"""Titles of columns; both kinds of gaps share one."""

_GROUP_ORDER = (*GROUPS, IN_GRAPH_GAPS, HOST_GAPS)


@dataclass(frozen=True, slots=True)
class Line:
    """One prediction of the table.

    Attributes:
        name: What differs from the base.
        roofline: The prediction.
    """

    name: str
    roofline: Roofline


def lines(what_if: WhatIf) -> tuple[Line, ...]:
    """Return the base and every alternative."""
    others = (Line(each.change.name, each.roofline) for each in what_if.alternatives)
    return (Line(BASE, what_if.base), *others)


def change_title(what_if: WhatIf) -> str:
    """Return what stands above the first table."""
    return f"What if (ms per {_unit(what_if)})"


def what_if_chart(what_if: WhatIf) -> BarChart:
    """Return bars of the base and of every alternative."""
    rounds = [prediction_round(line.name, line.roofline) for line in lines(what_if)]
    return bar_chart(change_title(what_if).replace("ms ", ""), "expected", rounds)


def prediction_round(name: str, roofline: Roofline) -> Round:
    """Return what the bar of a prediction is made from."""
    found = roofline.prediction
    parts = {group: expected_ns for group, _, expected_ns in groups_of(roofline)}
    return Round(name, found.expected_ns, found.bound_ns, found.tokens, parts)


def groups_title(what_if: WhatIf) -> str:
    """Return what stands above the table of groups."""
    return f"Expected by group (ms per {_unit(what_if)} and GPU)"


def what_if_headline(what_if: WhatIf) -> str:
    """Return which of the alternatives that fit into memory is best, in a sentence or two."""
    fitting = [each for each in what_if.alternatives if not is_too_large(each.roofline)]
    if not fitting:
        return "No alternative fits into the memory of its GPUs."
    return " ".join((_shortest(what_if, fitting), *_most_tokens(what_if, fitting)))


def _shortest(what_if: WhatIf, fitting: Sequence[Alternative]) -> str:
    unit = _unit(what_if)
    best = min(fitting, key=lambda each: each.roofline.prediction.expected_ns)
    old = what_if.base.prediction.expected_ns
    new = best.roofline.prediction.expected_ns
    if new >= old:
        return f"No alternative is expected to shorten the {unit} of {MILLISECONDS.brief(old)}."
    saved = f"{MILLISECONDS.brief(new)} instead of {MILLISECONDS.brief(old)}"
    return f"With {best.change.name} a {unit} is expected to take {saved} ({percent(new, old)} %)."


def _most_tokens(what_if: WhatIf, fitting: Sequence[Alternative]) -> Iterator[str]:
    """Yield which alternative gains most tokens per second, when the base's are known too."""
    old = what_if.base.prediction.expected_tokens_per_s
    rates = [(each.roofline.prediction.expected_tokens_per_s or 0.0, each) for each in fitting]
    most, best = max(rates, key=lambda rate: rate[0])
    if old is not None and most > old:
        yield f"Most tokens/s: {most:,.1f} with {best.change.name}, {old:,.1f} {BASE}."


def is_too_large(roofline: Roofline) -> bool:
    """Return whether a deployment takes more than the memory of its GPUs."""
    return any(notice.code == "memory" for notice in roofline.notices)


def change_cells(line: Line, base: Roofline) -> tuple[str, ...]:
    """Return the cells of one line under `CHANGE_TITLES`."""
    new, old = line.roofline.prediction, base.prediction
    tokens = new.expected_tokens_per_s
    return (
        line.name,
        MILLISECONDS.number(new.bound_ns),
        MILLISECONDS.number(new.expected_ns),
        "" if line.roofline is base else _signed(new.expected_ns - old.expected_ns),
        "" if line.roofline is base else percent(new.expected_ns, old.expected_ns),
        UNKNOWN if tokens is None else f"{tokens:,.1f}",
    )


def group_titles(what_if: WhatIf) -> tuple[str, ...]:
    """Return the titles of the table of groups: those that any line has."""
    found = {title for line in lines(what_if) for title in _by_title(line.roofline)}
    titles = dict.fromkeys(_SHORT.get(name, name) for name in _GROUP_ORDER)
    return ("alternative", *(title for title in titles if title in found))


def group_cells(line: Line, titles: tuple[str, ...]) -> tuple[str, ...]:
    """Return the cells of one line under ``titles``."""
    found = _by_title(line.roofline)
    return (line.name, *(MILLISECONDS.number(found.get(title, 0)) for title in titles[1:]))


def groups_of(roofline: Roofline) -> Iterator[tuple[str, int, int]]:
    """Yield each group of a prediction with its bound and what is expected, in table order."""
    entries = roofline.prediction.categories
    for group in _GROUP_ORDER:
        own = [entry for entry in entries if entry.group == group]
        if own:
            yield group, sum(e.bound_ns for e in own), sum(e.expected_ns for e in own)


def remarks(what_if: WhatIf) -> Iterator[str]:
    """Yield what is to be known about the alternatives but not about the base."""
    known = {notice.text for notice in what_if.base.notices}
    found: dict[tuple[str, str], list[Alternative]] = {}
    for each in what_if.alternatives:
        for notice in each.roofline.notices:
            if notice.text not in known:
                text = "" if notice.code == "memory" else notice.text
                found.setdefault((notice.code, text), []).append(each)
    for (code, text), those in found.items():
        if code == "memory":
            text = "weights, cache and states take more than the memory of each GPU"
        if code == "accept-length":
            text = (
                "tokens/s are unknown: the accept length holds for one number of draft steps;"
                " give accept_length too"
            )
        yield f"{'; '.join(each.change.name for each in those)}: {text}"


def _unit(what_if: WhatIf) -> str:
    return "round" if what_if.base.prefill_tokens is None else "pass"


def _by_title(roofline: Roofline) -> dict[str, int]:
    found: dict[str, int] = {}
    for group, _, expected_ns in groups_of(roofline):
        title = _SHORT.get(group, group)
        found[title] = found.get(title, 0) + expected_ns
    return found


def _signed(difference_ns: int) -> str:
    sign = "+" if difference_ns > 0 else "-" if difference_ns < 0 else ""
    return f"{sign}{MILLISECONDS.number(abs(difference_ns))}"


def percent(new_ns: int, old_ns: int) -> str:
    """Return the change from one time to another in percent."""
    if new_ns == old_ns:
        return "0"
    return f"{(new_ns / old_ns - 1) * 100:+,.1f}"
