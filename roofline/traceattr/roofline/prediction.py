"""What model, hardware and deployment say a round must cost, and what it can be expected to cost.

Two predictions, never mixed.  *bound*: bytes at datasheet bandwidth, operations at the dense peak,
messages at nominal link bandwidth, no latency, no host; per category the largest of these limits,
and their sum for the round.  *expected*: measured efficiencies, launch floors, collective latency
and host time; meant within 15 %.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from traceattr.roofline.attention_work import attention_terms
from traceattr.roofline.calibration import GRAPH_LAUNCH_NS, IN_GRAPH_GAP_NS, SCHEDULER_NS
from traceattr.roofline.comm_work import collective_terms
from traceattr.roofline.durations import Limit, floor_ns, least_ns, moving_ns
from traceattr.roofline.forwards import Forward, prefill_forwards, round_forwards
from traceattr.roofline.gdn_work import gdn_terms
from traceattr.roofline.gemm_work import expert_terms, linear_terms
from traceattr.roofline.hardware import GpuSpec
from traceattr.roofline.model import Layer, Model
from traceattr.roofline.setup import Setup
from traceattr.roofline.small_work import small_terms
from traceattr.roofline.weight_override import with_vocabulary
from traceattr.roofline.work import PHASES, Phase, Term
from traceattr.rules.categories import CATEGORIES, DRAFT, HOST_GAPS, IN_GRAPH_GAPS, group_of


@dataclass(frozen=True, slots=True)
class CategoryPrediction:
    """One category in one phase, on one GPU and per round.

    Attributes:
        category: Its name, or that of a kind of gap.
        phase: Phase of a round.
        bytes: Device memory that moves.
        flop: Operations.
        launches: Kernels, as a model of an implementation.
        bound_ns: Least time.
        expected_ns: Time to expect.
        limited_by: What takes most of it.
        terms: What it is made of.
    """

    category: str
    phase: Phase
    bytes: int
    flop: int
    launches: int
    bound_ns: int
    expected_ns: int
    limited_by: Limit
    terms: tuple[Term, ...] = ()

    @property
    def group(self) -> str:
        """Group of the top table."""
        if self.phase == "host":
            return self.category
        return DRAFT if self.phase == "draft" else group_of(self.category)


@dataclass(frozen=True, slots=True)
class Prediction:
    """A round, or one prefill pass.

    Attributes:
        categories: In the order of every table, phase by phase.
        tokens: Tokens that the deployment gains per round; None when the accept length is unknown.
    """

    categories: tuple[CategoryPrediction, ...]
    tokens: float | None

    @property
    def bound_ns(self) -> int:
        """Least time of the round."""
        return sum(entry.bound_ns for entry in self.categories)

    @property
    def expected_ns(self) -> int:
        """Time of the round to expect."""
        return sum(entry.expected_ns for entry in self.categories)

    @property
    def bound_tokens_per_s(self) -> float | None:
        """Most tokens per second of all requests; None when the accept length is unknown."""
        return None if self.tokens is None else self.tokens / self.bound_ns * 1e9

    @property
    def expected_tokens_per_s(self) -> float | None:
        """Tokens per second of all requests to expect; None when the accept length is unknown."""
        return None if self.tokens is None else self.tokens / self.expected_ns * 1e9


def predict_round(model: Model, gpu: GpuSpec, setup: Setup) -> Prediction:
    """Return the prediction of a decode or speculative round."""
    forwards = round_forwards(
        setup.batch, setup.context, setup.draft_steps, setup.draft_tokens, setup.draft_topk
    )
    tokens = None if setup.accept_length is None else setup.batch * setup.accept_length
    return _predict(model, gpu, setup, forwards, tokens)


def predict_prefill(model: Model, gpu: GpuSpec, setup: Setup, chunk: int) -> Prediction:
    """Return the prediction of a pass over ``chunk`` tokens of each prompt."""
    forwards = prefill_forwards(setup.batch, setup.context, chunk, setup.draft_steps)
    return _predict(model, gpu, setup, forwards, float(setup.batch * chunk))


def _predict(
    model: Model, gpu: GpuSpec, setup: Setup, forwards: tuple[Forward, ...], tokens: float | None
) -> Prediction:
    terms = [term for forward in forwards for term in forward_terms(model, forward, setup)]
    busy = _categories(terms, gpu)
    launches = sum(entry.launches for entry in busy)
    return Prediction((*busy, *_host(launches, len(forwards))), tokens)


def forward_terms(model: Model, forward: Forward, setup: Setup) -> Iterator[Term]:
    """Yield the work of one kind of pass, all its repeats in a round counted."""
    layers = model.layers
    if forward.phase == "draft":
        layers, model = _draft(model, forward, setup)
    for term in (
        *linear_terms(layers, model, forward, setup),
        *expert_terms(layers, forward, setup),
        *gdn_terms(layers, forward, setup),
        *attention_terms(layers, forward, setup),
        *collective_terms(layers, model, forward, setup),
        *small_terms(layers, model, forward, setup),
    ):
        count = term.count * forward.repeats
        yield replace(term, count=count, phase=forward.phase, stage=forward.stage)


def _draft(model: Model, forward: Forward, setup: Setup) -> tuple[tuple[Layer, ...], Model]:
    """Return the layers that a draft pass runs, and the model with the draft's lm_head."""
    layers, draft = model.draft_layers, model.draft
    if setup.draft_vocab is not None:
        model = with_vocabulary(model, setup.draft_vocab)
    if draft is None:
        return layers, model
    if draft.projection is not None and forward.stage != "draft":
        first, *others = layers
        layers = (replace(first, weights=(draft.projection, *first.weights)), *others)
    return layers, replace(model, lm_head=draft.lm_head, hidden=draft.lm_head.columns)


def _categories(terms: Iterable[Term], gpu: GpuSpec) -> tuple[CategoryPrediction, ...]:
    """Return the terms by phase and category, in table order."""
    found: dict[tuple[Phase, str], list[Term]] = {}
    for term in terms:
        found.setdefault((term.phase, term.category), []).append(term)
    order = [(phase, category) for phase in PHASES for category in CATEGORIES]
    return tuple(_category(*key, found[key], gpu) for key in order if key in found)


def _category(phase: Phase, category: str, terms: list[Term], gpu: GpuSpec) -> CategoryPrediction:
    limits = least_ns(terms, gpu)
    floor = sum(floor_ns(term, gpu) for term in terms)
    moving = sum(moving_ns(term, gpu) for term in terms)
    hardware = max(limits, key=lambda limit: limits[limit])
    return CategoryPrediction(
        category=category,
        phase=phase,
        bytes=sum(term.total_bytes for term in terms),
        flop=sum(term.total_flop for term in terms),
        launches=sum(term.total_launches for term in terms),
        bound_ns=int(limits[hardware]),
        expected_ns=round(floor + moving),
        limited_by="latency" if floor > moving else hardware,
        terms=tuple(terms),
    )


def _host(launches: int, graphs: int) -> Iterator[CategoryPrediction]:
    """Yield the idle time to expect: between the nodes of graphs, and between graphs and rounds."""
    waiting = {
        IN_GRAPH_GAPS: launches * IN_GRAPH_GAP_NS,
        HOST_GAPS: graphs * GRAPH_LAUNCH_NS + SCHEDULER_NS,
    }
    for category, expected_ns in waiting.items():
        yield CategoryPrediction(category, "host", 0, 0, 0, 0, expected_ns, "latency")
