"""What graphs are for, on hand-made servers."""

import re
from pathlib import Path

import pytest

from tests.decoding import ATTENTION, GEMM, opened
from traceattr.attribution.analyze import analyze
from traceattr.attribution.choice import Choice
from traceattr.attribution.piece_kinds import PieceKind
from traceattr.attribution.survey import survey
from traceattr.errors import OptionError
from traceattr.ingest.trace import open_trace
from traceattr.rules.rule_set import load_rules
from traces.export_writer import ExportWriter

PID = 101
EMBEDDING = "void at::native::<unnamed>::indexSelectSmallIndex<float, long, unsigned int>()"
NORM = "void flashinfer::norm::RMSNormKernel<(unsigned int)8, __nv_bfloat16>(T1 *)"
TREE = "build_tree_efficient(long *, long *)"
VERIFY = "void VerifyTreeGreedy<int, long>(T1 *, T2 *)"
ARGMAX = (
    "void at::native::reduce_kernel<(int)512, (int)1, at::native::ReduceOp<float,"
    " at::native::ArgMaxOps<float>, unsigned int, long, (int)4>>(T3)"
)
FORWARD = [EMBEDDING, NORM, GEMM, ATTENTION, GEMM]


class Tape:
    """Kernels one after the other, 10 us each, 1 us apart."""

    def __init__(self, export: ExportWriter) -> None:
        self._export = export
        self._time = 1_000_000
        self._correlation = 0

    def eager(self, *names: str) -> None:
        self._time += 100_000
        for name in names:
            self._run(name, None, 0)

    def replay(self, graph: int, layers: int, passes: int = 1, skip: int = 0) -> None:
        """Replay a model, without its first operations where the capture begins in the middle."""
        self.replay_of(
            graph, *([EMBEDDING, *([NORM, GEMM, ATTENTION, GEMM] * layers)] * passes)[skip:]
        )

    def replay_of(self, graph: int, *names: str) -> None:
        self._time += 100_000
        self._correlation += 1
        for node, name in enumerate(names, start=1):
            self._run(name, graph, node)

    def _run(self, name: str, graph: int | None, node: int) -> None:
        self._export.kernel(
            name,
            self._time,
            self._time + 10_000,
            pid=PID,
            correlation=self._correlation if graph else None,
            graph=graph,
            node=node if graph else None,
        )
        self._time += 11_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "trace.sqlite"


def kinds(path: Path) -> dict[int, tuple[str, str]]:
    """Return kind and confidence by graph id."""
    [account] = opened(path).accounts
    return {
        graph: (str(family.kind), family.confidence)
        for family in account.kinds.families
        for graph in family.graph_ids
    }


def rounds(path: Path) -> list[str]:
    [account] = opened(path).accounts
    return [str(kind) for kind in account.rounds.kind]


def test_order_alone_tells_a_draft_model_where_no_kernel_does(path: Path) -> None:
    with ExportWriter(path) as export:
        tape = Tape(export)
        for _ in range(4):
            tape.replay(1, layers=1, passes=2)
            tape.replay(2, layers=16)
            tape.replay(3, layers=1)

    assert kinds(path) == {
        1: ("draft", "medium"),
        2: ("verify", "medium"),
        3: ("draft_extend", "medium"),
    }
    assert rounds(path) == ["speculative"] * 4


def test_a_target_alone_decodes(path: Path) -> None:
    with ExportWriter(path) as export:
        tape = Tape(export)
        for _ in range(4):
            tape.replay(2, layers=16)
            tape.eager(ARGMAX)

    assert kinds(path) == {2: ("decode", "high")}
    assert rounds(path) == ["decode"] * 4


def test_graphs_of_two_batch_sizes_are_one_family(path: Path) -> None:
    with ExportWriter(path) as export:
        tape = Tape(export)
        for graph in (2, 2, 7, 7):
            tape.replay(graph, layers=16)

    [account] = opened(path).accounts
    assert [(f.graph_ids, f.replays) for f in account.kinds.families] == [((2, 7), 4)]


def test_with_one_draft_step_the_extension_drafts_and_a_tree_follows_it(path: Path) -> None:
    with ExportWriter(path) as export:
        tape = Tape(export)
        for _ in range(4):
            tape.eager(TREE)
            tape.replay(2, layers=16)
            tape.eager(ARGMAX, VERIFY)
            tape.replay(3, layers=1)

    assert kinds(path)[3] == ("draft_extend", "high")
    assert rounds(path) == ["speculative"] * 4


def test_an_eager_extension_is_found_with_and_without_an_embedding(path: Path) -> None:
    for number, forward in enumerate((FORWARD, FORWARD[1:])):
        trace = path.with_name(f"{number}.sqlite")
        with ExportWriter(trace) as export:
            tape = Tape(export)
            for _ in range(3):
                tape.replay(1, layers=1, passes=2)
                tape.eager(TREE)
                tape.replay(2, layers=16)
                tape.eager(ARGMAX, VERIFY)
                tape.eager(*forward)

        [account] = opened(trace).accounts
        assert [str(kind) for kind in account.kinds.of_piece] == [
            "draft",
            "verify",
            "draft_extend",
        ] * 3
        eager = account.pieces.replay < 0
        assert (account.pieces.layers[eager] == 1).all()


def test_evidence_that_contradicts_itself_decides_nothing(path: Path) -> None:
    """A shallow graph in the place of the target: built for, and verified."""
    with ExportWriter(path) as export:
        tape = Tape(export)
        for _ in range(4):
            tape.eager(TREE)
            tape.replay(1, layers=1)
            tape.eager(VERIFY)
            tape.replay(2, layers=16)

    [account] = opened(path).accounts
    [family] = [f for f in account.kinds.families if f.graph_ids == (1,)]
    assert (str(family.kind), family.confidence, family.is_conflicting) == ("other", "low", True)


def test_a_graph_that_is_seldom_replayed_is_no_draft(path: Path) -> None:
    with ExportWriter(path) as export:
        tape = Tape(export)
        for at in range(8):
            if at == 4:
                tape.replay(9, layers=1)
            tape.replay(2, layers=16)

    assert kinds(path) == {2: ("decode", "high"), 9: ("other", "low")}
    assert rounds(path) == ["decode"] * 8


def test_a_prefill_cut_into_graphs_is_one_prefill_however_long_its_pieces(path: Path) -> None:
    """The pieces are longer than a decode step, and attention runs between them."""
    with ExportWriter(path) as export:
        tape = Tape(export)
        for _ in range(2):
            for _ in range(3):
                tape.replay(2, layers=6)
                tape.eager(ARGMAX)
            for piece in range(7):
                if piece:
                    tape.eager(ATTENTION)
                tape.replay_of(20 + piece, EMBEDDING, *[NORM, GEMM] * 20)
            tape.eager(ARGMAX)

    found = kinds(path)
    assert {found[graph][0] for graph in range(20, 27)} == {"prefill_piece"}
    assert found[2] == ("decode", "high")
    assert rounds(path) == [*["decode"] * 3, "prefill"] * 2


def test_a_draft_and_an_extension_of_the_same_make_up_are_told_apart(path: Path) -> None:
    """Two draft steps: one pass drafts, one pass extends."""
    with ExportWriter(path) as export:
        tape = Tape(export)
        for _ in range(4):
            tape.replay(1, layers=1)
            tape.eager(TREE)
            tape.replay(2, layers=16)
            tape.eager(ARGMAX, VERIFY)
            tape.replay(3, layers=1)

    found = kinds(path)
    assert [found[graph][0] for graph in (1, 2, 3)] == ["draft", "verify", "draft_extend"]
    assert rounds(path) == ["speculative"] * 4


def test_a_shallow_pass_before_a_prefill_belongs_to_it(path: Path) -> None:
    """A vision encoder, with and without speculation."""
    encoder = [NORM, GEMM, ATTENTION, GEMM] * 3
    prefill = [EMBEDDING, *[NORM, GEMM, ATTENTION, GEMM] * 16]
    for number, speculates in enumerate((True, False)):
        trace = path.with_name(f"{number}.sqlite")
        with ExportWriter(trace) as export:
            tape = Tape(export)
            for at in range(6):
                if at == 3:
                    tape.eager(*encoder)
                    tape.eager(*prefill)
                    tape.eager(ARGMAX)
                if speculates:
                    tape.replay(1, layers=1, passes=2)
                    tape.eager(TREE)
                tape.replay(2, layers=16)
                tape.eager(ARGMAX, *[VERIFY] * speculates)
                if speculates:
                    tape.replay(3, layers=1)

        [account] = opened(trace).accounts
        eager = [
            str(kind)
            for kind, replay in zip(account.kinds.of_piece, account.pieces.replay, strict=True)
            if replay < 0
        ]
        assert eager == ["prefill", "prefill"]


def test_a_round_that_the_capture_began_in_the_middle_of_is_partial(path: Path) -> None:
    with ExportWriter(path) as export:
        tape = Tape(export)
        for at in range(4):
            tape.replay(1, layers=1, passes=2, skip=0 if at else 4)
            tape.eager(TREE)
            tape.replay(2, layers=16)
            tape.eager(ARGMAX, VERIFY)
            tape.replay(3, layers=1)

    assert rounds(path) == ["partial", *["speculative"] * 3]


def test_an_extension_at_the_begin_of_the_capture_is_no_part_of_the_first_round(
    path: Path,
) -> None:
    with ExportWriter(path) as export:
        tape = Tape(export)
        tape.replay(3, layers=1)
        for _ in range(3):
            tape.replay(1, layers=1, passes=2)
            tape.eager(TREE)
            tape.replay(2, layers=16)
            tape.eager(ARGMAX, VERIFY)
            tape.replay(3, layers=1)

    assert rounds(path) == ["partial", *["speculative"] * 3]


def test_a_given_kind_for_a_graph_that_does_not_exist_is_refused(path: Path) -> None:
    with ExportWriter(path) as export:
        tape = Tape(export)
        for _ in range(4):
            tape.replay(2, layers=16)

    message = "--graph-kind 99: no graph 99 in this trace (its graphs: 2)"
    choice = Choice(graph_kinds={99: PieceKind.DRAFT})
    with open_trace(path) as trace, pytest.raises(OptionError, match=re.escape(message)):
        survey(trace, load_rules(), choice)


def test_rounds_of_several_batch_sizes_are_warned_of_until_they_are_told_apart(path: Path) -> None:
    with ExportWriter(path) as export:
        tape = Tape(export)
        for graph in (2, 2, 2, 7, 7, 7):
            tape.replay(graph, layers=16)
            tape.eager(ARGMAX)

    with open_trace(path) as trace:
        mixed = analyze(trace, load_rules())
        apart = analyze(trace, load_rules(), Choice(rounds=(0, 3)))

    [text] = [notice.text for notice in mixed.warnings if notice.code == "batch-sizes-mixed"]
    assert text.startswith("These rounds replay the target from several graphs (2, 7)")
    assert "batch-sizes-mixed" not in {notice.code for notice in apart.warnings}
    assert apart.rounds.target_graphs == (2,)
