"""Options that several commands share."""

import pytest
import typer.main
from typer.testing import CliRunner

from traceattr.cli import app


def options(command: str) -> set[str]:
    group = typer.main.get_command(app)
    assert isinstance(group, typer.core.TyperGroup)
    return {name for option in group.commands[command].params for name in option.opts}


DEPLOYMENT = {"--model", "--tp", "--draft-model", "--kv-dtype", "--deployment", "--gpu-file"}


@pytest.mark.parametrize("command", ["report", "diff"])
def test_commands_that_predict_take_every_option_of_the_deployment(command: str) -> None:
    of_prediction = options("roofline") - {"--prefill", "--explain", "--list"}

    assert of_prediction > DEPLOYMENT
    assert of_prediction - options(command) <= {"--what-if", "--sweep", "--plot"}


@pytest.mark.parametrize("command", ["report", "gaps", "kernels", "sql", "export"])
def test_what_counts_rounds_can_be_told_what_graphs_are_for(command: str) -> None:
    """What a graph is for decides which rounds there are."""
    assert {"--rounds", "--graph-kind"} <= options(command)


def test_a_value_of_a_shared_option_is_checked_as_any_other() -> None:
    result = CliRunner().invoke(app, ["roofline", "--tp", "two"], prog_name="traceattr")

    assert (result.exit_code, result.stderr.count("\n")) == (2, 1)
    assert "invalid value for '--tp'" in result.stderr
