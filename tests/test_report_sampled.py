"""Over how many rounds figures per round are."""

from dataclasses import replace

from tests.recordings import recorded
from tests.round_analyses import speculative, speculative_two_gpus
from traceattr.attribution.analysis import Analysis
from traceattr.attribution.analyze import analyze
from traceattr.attribution.choice import Choice
from traceattr.ingest.trace import open_trace
from traceattr.report.render import ReportFormat, render
from traceattr.rules.rule_set import load_rules
from traces.description import Simulation


def few(made: Analysis, rounds: int, of: int) -> Analysis:
    """Return an analysis whose figures are over few rounds."""
    return replace(
        made,
        rounds=replace(made.rounds, sampled=rounds, count=of, slow=None),
        gaps=tuple(replace(gaps, rounds=rounds) for gaps in made.gaps),
        ranks=tuple(replace(group, decode_rounds=rounds) for group in made.ranks),
    )


def test_the_number_of_rounds_stands_wherever_figures_are_per_round() -> None:
    text = render(few(speculative(), 19, 20), ReportFormat.TERMINAL, width=100, color=False)

    assert "median and p99 over 19 of 20 rounds." in text
    assert "Gaps (mean of 19 of 20 rounds; " in text
    assert ", over 19 of 20 rounds; " in text


def test_below_ten_rounds_no_table_has_a_percentile() -> None:
    made = few(speculative_two_gpus(), 9, 10)

    for report_format in (ReportFormat.TERMINAL, ReportFormat.MARKDOWN):
        assert "p99" not in render(made, report_format, width=100, color=False)


def test_rounds_chosen_by_number_all_count_on_every_gpu() -> None:
    path, _ = recorded(Simulation(rounds=4, slowdowns=(1.0, 1.05)))

    with open_trace(path) as trace:
        part = analyze(trace, load_rules(), Choice(rounds=(0, 2)))

    assert (part.rounds.count, part.rounds.sampled) == (2, 2)
    assert [gaps.launches[0].rounds for gaps in part.gaps] == [2, 2]
    assert [group.decode_rounds for group in part.ranks] == [2]


def test_the_last_round_of_a_trace_has_no_length_and_is_not_counted_in() -> None:
    path, _ = recorded(Simulation(rounds=4))

    with open_trace(path) as trace:
        found = analyze(trace, load_rules())

    assert (found.rounds.count, found.rounds.sampled) == (4, 3)
    assert [gaps.launches[0].rounds for gaps in found.gaps] == [3, 3]
