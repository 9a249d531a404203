"""The same prediction with one or more inputs changed, beside the one it departs from."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from traceattr.errors import OptionError, TraceattrError
from traceattr.roofline.deployment import KEYS, Deployment, deployment_from_texts, merge
from traceattr.roofline.hardware import GpuSpec
from traceattr.roofline.roofline import Roofline, build_roofline

REMOVE_SEAM = "remove_seam"
COMM = "comm"

TRACE_KEYS: tuple[str, ...] = (REMOVE_SEAM, COMM)
"""What an alternative can change of a measured round only; no prediction depends on it."""

MOST_AXES = 2
"""A sweep is a line or a grid."""

_SPELLINGS = {"kv_dtype": "kv_format", "state_dtype": "state_format"}
"""How flags spell keys."""

_FOLLOWS_DRAFT_STEPS = ("draft_tokens", "accept_length")
"""What is only known for one number of draft steps."""

_OF_MACHINE = ("alpha_us",)
"""What is only known for one kind and number of GPUs."""

_MACHINE = ("gpu", "tp", "dp_attention")

_NEEDS_DRAFT = ("draft_topk", "draft_model", "draft_vocab")
"""What makes no sense without a draft."""


@dataclass(frozen=True, slots=True)
class Change:
    """Inputs that an alternative sets.

    Attributes:
        option: The option that asked for it.
        values: Texts by key.
    """

    option: str
    values: Mapping[str, str]

    @property
    def name(self) -> str:
        """The changes as they were asked for, such as ``gpu=H100_SXM, batch=8``."""
        return ", ".join(f"{key}={value}" for key, value in self.values.items())


@dataclass(frozen=True, slots=True)
class Alternative:
    """One prediction beside the base.

    Attributes:
        change: What differs.
        roofline: The prediction with it.
    """

    change: Change
    roofline: Roofline


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A prediction and alternatives to it.

    Attributes:
        base: What they are compared with.
        alternatives: In the order they were asked for.
    """

    base: Roofline
    alternatives: tuple[Alternative, ...]

    @property
    def changed_keys(self) -> tuple[str, ...]:
        """Keys that any alternative sets, in the order of `KEYS`."""
        changed = {key for each in self.alternatives for key in each.change.values}
        return tuple(key for key in KEYS if key in changed)


def read_changes(
    what_ifs: Iterable[str], sweeps: Iterable[str], keys: Sequence[str] = KEYS
) -> tuple[Change, ...]:
    """Return one change for each what-if and for each point of the sweep.

    Args:
        what_ifs: Such as ``gpu=H100_SXM,batch=8``, each one alternative.
        sweeps: Such as ``batch=1,8,32``; two of them, or two keys in one, are a grid.
        keys: What can be changed.

    Raises:
        OptionError: When a text is no such list, or a key is unknown.
    """
    axes = [axis for text in sweeps for axis in _axes(text, keys)]
    if len({key for key, _ in axes}) != len(axes) or len(axes) > MOST_AXES:
        names = ", ".join(key for key, _ in axes)
        raise OptionError(f"--sweep over {names} (expected one key, or two different ones)")
    changes = [_change(text, keys) for text in what_ifs]
    return (*changes, *(_points(axes) if axes else ()))


def build_what_if(
    deployment: Deployment, gpus: Sequence[GpuSpec], base: Roofline, changes: Iterable[Change]
) -> WhatIf:
    """Return ``base``, which is that of ``deployment``, beside what ``changes`` make of it.

    An accept length and draft tokens that are not given with other draft steps are not kept:
    nobody knows them.

    Raises:
        TraceattrError: When an alternative makes no sense; it is named.
    """
    alternatives = tuple(
        Alternative(change, _changed(deployment, gpus, base, change)) for change in changes
    )
    return WhatIf(base, alternatives)


def _changed(
    deployment: Deployment, gpus: Sequence[GpuSpec], base: Roofline, change: Change
) -> Roofline:
    asked = f"{change.option} {change.name.replace(', ', ',')}"
    values = {key: text for key, text in change.values.items() if key not in TRACE_KEYS}
    changed = deployment_from_texts(values, asked, "what-if")
    try:
        return build_roofline(
            merge(changed, _kept(deployment, changed, base)),
            gpus,
            version=base.version,
            prefill_tokens=base.prefill_tokens,
        )
    except TraceattrError as error:
        raise type(error)(f"{asked}: {error}") from error


def _kept(deployment: Deployment, changed: Deployment, base: Roofline) -> Deployment:
    """Return what still holds of ``deployment``."""
    steps, known = changed.draft_steps, dict(base.inputs)
    left_out: list[str] = []
    if steps is not None and steps.value != base.setup.draft_steps:
        left_out += (*_FOLLOWS_DRAFT_STEPS, *(() if steps.value else _NEEDS_DRAFT))
    machine = ((known[key], getattr(changed, key)) for key in _MACHINE)
    if any(new is not None and (old is None or new.value != old.value) for old, new in machine):
        left_out += _OF_MACHINE
    values: dict[str, Any] = {key: getattr(deployment, key) for key in KEYS if key not in left_out}
    return Deployment(**values)


def _change(text: str, keys: Sequence[str]) -> Change:
    values: dict[str, str] = {}
    for item in text.split(","):
        key, equals, value = item.partition("=")
        key = _key(key, "--what-if", text, keys)
        if not equals or not value.strip() or key in values:
            raise OptionError(f"--what-if {text}: expected KEY=VALUE,..., each key once")
        values[key] = value.strip()
    return Change("--what-if", values)


def _axes(text: str, keys: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each key of a sweep with its values; an item without a key belongs to the last one."""
    axes: list[tuple[str, list[str]]] = []
    for item in text.split(","):
        key, equals, value = item.rpartition("=")
        if equals:
            axes.append((_key(key, "--sweep", text, keys), []))
        if not axes or not value.strip():
            raise OptionError(f"--sweep {text}: expected KEY=VALUE,VALUE,...")
        axes[-1][1].append(value.strip())
    yield from axes


def _points(axes: Sequence[tuple[str, list[str]]]) -> Iterator[Change]:
    keys = [key for key, _ in axes]
    for values in product(*(values for _, values in axes)):
        yield Change("--sweep", dict(zip(keys, values, strict=True)))


def _key(name: str, option: str, text: str, keys: Sequence[str]) -> str:
    key = name.strip().replace("-", "_")
    key = _SPELLINGS.get(key, key)
    if key in TRACE_KEYS and key not in keys:
        needed = "what was measured (expected `traceattr report TRACE --what-if`)"
        raise OptionError(f"{option} {text}: {key} is about {needed}")
    if key not in keys:
        expected = ", ".join(keys)
        raise OptionError(f"{option} {text}: unknown key '{name.strip()}' (one of {expected})")
    return key
