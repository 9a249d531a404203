"""``traceattr diff`` and ``traceattr baseline`` as people call them."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.diffs import More, base, head
from traceattr.attribution.stored import dump_analysis, load_analysis
from traceattr.cli import app
from traceattr.cli.baseline_store import MOST_BYTES, existing, load_file, save, writable
from traceattr.errors import StoredAnalysisError
from traceattr.report.diff.diff import compare_analyses
from traceattr.report.diff.verdicts import Verdict

DEMO = Path(__file__).parents[1] / "traces" / "demo.sqlite"
SLOWER: More = {"target/weight_gemm": 160_000, "seam:verify->draft_extend": 60_000}


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def before(tmp_path: Path) -> Path:
    path = tmp_path / "before.json"
    path.write_bytes(dump_analysis(base()))
    return path


@pytest.fixture
def after(tmp_path: Path) -> Path:
    path = tmp_path / "after.json"
    path.write_bytes(dump_analysis(head(SLOWER)))
    return path


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "baselines"
    monkeypatch.setenv("TRACEATTR_BASELINES", str(folder))
    return folder


def test_a_diff_without_gates_is_good_whatever_it_finds(before: Path, after: Path) -> None:
    result = run("diff", before, after)

    assert result.exit_code == 0
    assert result.stdout.startswith("A speculative round is 220.0 us slower (+2.0 %")
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("gates", "code"),
    [
        (["round>5%"], 0),
        (["round>1%"], 1),
        (["round>5%", "weight_gemm>2%"], 1),
        (["seam:a->b>1us"], 2),
        (["seam:a->b>1us", "round>1%"], 1),
    ],
)
def test_gates_decide_the_exit_code_and_say_why(
    gates: list[str], code: int, before: Path, after: Path
) -> None:
    options = [option for gate in gates for option in ("--fail-on", gate)]

    result = run("diff", before, after, *options)
    advisory = run("diff", before, after, *options, "--advisory")

    assert result.exit_code == code
    assert bool(result.stderr) == bool(code)
    assert advisory.exit_code == 0
    assert "advisory: this fails nothing" in advisory.stdout


def test_a_failed_gate_is_one_line_on_standard_error(before: Path, after: Path) -> None:
    result = run("diff", before, after, "--fail-on", "round>1%")

    assert result.stderr == (
        "failed: --fail-on 'round>1%': +220.0 us (+2.0 %), noise 21.3 us:"
        " beyond the limit and beyond noise\n"
    )


def test_a_bad_gate_is_found_before_anything_is_read() -> None:
    result = run("diff", "no.sqlite", "such.sqlite", "--fail-on", "round")

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("error: --fail-on 'round': not a gate")
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("count", [1, 3])
def test_two_traces_are_needed(count: int, before: Path) -> None:
    result = run("diff", *[before] * count)

    assert result.exit_code == 2
    assert "(expected BASE and HEAD, or --against NAME)" in result.stderr


def test_a_diff_of_traces_reads_both(tmp_path: Path) -> None:
    result = run("diff", DEMO, DEMO, "--format", "json", "-o", tmp_path / "diff.json")

    document = json.loads((tmp_path / "diff.json").read_text(encoding="utf-8"))
    assert result.exit_code == 0
    assert "fewer than 10 rounds" in document["round"]["reason"]
    assert document["base"]["trace"]["file"] == "demo.sqlite"


def test_a_diff_overwrites_neither_side(before: Path, after: Path) -> None:
    kept = before.read_bytes()

    result = run("diff", before, after, "-o", before, "--force")

    assert result.exit_code == 2
    assert before.read_bytes() == kept


def test_bounds_stand_beside_times_with_a_model(before: Path, after: Path) -> None:
    options = ["--model", "Qwen3.6-27B", "--batch", 1, "--context", 500, "--draft-steps", 3]

    result = run("diff", before, after, *map(str, options), "--format", "markdown")

    assert result.exit_code == 0
    assert "| percent | noise | verdict | bound | after/bound |" in result.stdout


def test_a_baseline_is_saved_listed_shown_compared_with_and_removed(
    store: Path, after: Path
) -> None:
    assert run("baseline", "list").stdout == f"no baseline in {store}\n"

    saved = run("baseline", "save", "main", DEMO)
    assert (saved.exit_code, saved.stderr) == (0, f"Wrote {store / 'main.json'}\n")
    assert " UTC; demo.sqlite; 2 x NVIDIA RTX A6000" in run("baseline", "list").stdout
    shown = run("baseline", "show", "main", "--format", "markdown")
    assert shown.stdout == run("report", DEMO, "--format", "markdown").stdout
    compared = run("diff", "--against", "main", DEMO)
    assert compared.exit_code == 0
    assert "takes as long" in compared.stdout or "cannot be told" in compared.stdout

    removed = run("baseline", "remove", "main")
    assert (removed.exit_code, list(store.iterdir())) == (0, [])


def test_a_taken_name_is_only_overwritten_by_force(store: Path) -> None:
    assert run("baseline", "save", "main", DEMO).exit_code == 0

    again = run("baseline", "save", "main", DEMO)
    forced = run("baseline", "save", "main", DEMO, "--force")

    assert again.exit_code == 2
    assert again.stderr == f"error: baseline main: exists in {store}; overwrite with --force\n"
    assert forced.exit_code == 0


@pytest.mark.parametrize("name", ["../main", "a/b", "/etc/passwd", ".hidden", "", "-x", "a\nb"])
@pytest.mark.parametrize("command", ["save", "show", "remove"])
def test_a_name_never_leads_out_of_the_directory(command: str, name: str, store: Path) -> None:
    trace = [DEMO] if command == "save" else []

    result = run("baseline", command, "--", name, *trace)

    assert result.exit_code == 2
    assert "not a name (expected letters, digits" in result.stderr
    assert not store.exists()


def test_a_missing_baseline_names_those_that_are_there(store: Path, after: Path) -> None:
    save(writable(store, "main", force=False), base())

    result = run("diff", "--against", "mian", after)

    assert result.exit_code == 2
    assert f"error: baseline mian: not in {store} (there: main); keep one with" in result.stderr


def test_a_damaged_baseline_is_named_and_others_are_listed(store: Path, after: Path) -> None:
    save(writable(store, "main", force=False), base())
    (store / "broken.json").write_text("{", encoding="utf-8")

    listed = run("baseline", "list")
    compared = run("diff", "--against", "broken", after)

    assert listed.exit_code == 0
    first, second = listed.stdout.splitlines()
    assert first.startswith(f"broken: {store / 'broken.json'}: not a stored analysis")
    assert "; before.sqlite; " in second
    assert compared.exit_code == 2
    assert f"error: {store / 'broken.json'}: not a stored analysis" in compared.stderr


def test_rounds_of_a_stored_analysis_cannot_be_chosen_again(before: Path, after: Path) -> None:
    result = run("diff", before, after, "--rounds", "0:5")

    assert result.exit_code == 2
    assert f"error: {before}: is a stored analysis" in result.stderr


def test_a_place_that_is_no_directory_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")

    result = run("baseline", "save", "main", DEMO, "--baselines", tmp_path / "file" / "folder")

    assert result.exit_code == 2
    assert result.stderr == (
        f"error: {tmp_path / 'file'}: not a directory; name another with --baselines DIR\n"
    )


def test_nothing_is_made_for_a_trace_that_cannot_be_read(store: Path) -> None:
    result = run("baseline", "save", "main", "nosuch.sqlite")

    assert result.exit_code == 2
    assert not store.exists()


def test_of_a_long_trace_the_last_rounds_are_kept(tmp_path: Path) -> None:
    long = replace(head(rounds=3_000), kernels=())
    path = writable(tmp_path, "long", force=False)

    save(path, long)

    kept = load_file(path)
    assert path.stat().st_size <= MOST_BYTES
    rounds = len(kept.series[0].wall_ns)
    assert rounds in (750, 1_500)
    assert kept.series[0].wall_ns == long.series[0].wall_ns[-rounds:]
    found = compare_analyses(kept, long)
    assert {one.verdict for one in found.changes} == {Verdict.SAME}


def test_names_go_before_rounds_do(tmp_path: Path) -> None:
    made = base()
    kernels = tuple(replace(made.kernels[0], name=f"{at}{'x' * 4_000}") for at in range(300))
    path = writable(tmp_path, "names", force=False)

    save(path, replace(made, kernels=kernels))

    kept = load_file(path)
    assert path.stat().st_size <= MOST_BYTES
    assert kept.kernels == kernels[:50]
    assert kept.series == made.series


def test_whoever_reads_while_others_write_sees_a_whole_baseline(tmp_path: Path) -> None:
    analyses = [base(), head(SLOWER)]
    path = writable(tmp_path, "main", force=False)
    save(path, analyses[0])

    with ThreadPoolExecutor(4) as pool:
        writing = [pool.submit(save, path, analyses[at % 2]) for at in range(12)]
        read = [pool.submit(load_file, path).result().trace.file for _ in range(12)]
        for each in writing:
            each.result()

    assert set(read) <= {"before.sqlite", "after.sqlite"}
    assert [each.name for each in tmp_path.iterdir()] == ["main.json"]


def test_a_baseline_that_another_removed_is_missing(tmp_path: Path) -> None:
    with pytest.raises(StoredAnalysisError, match="not in"):
        existing(tmp_path / "nowhere", "main")


def test_a_baseline_keeps_what_a_diff_needs(tmp_path: Path) -> None:
    path = writable(tmp_path, "main", force=False)
    save(path, base())

    assert load_analysis(path.read_bytes()) == base()
