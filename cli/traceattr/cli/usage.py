"""What a person is told who gives a command what it does not take."""

import re

import typer

_POSSIBLE = re.compile(r"\.? \(Possible options: (?P<options>.*)\)$")


def usage_error(error: typer.TyperException) -> str:
    """Return the error on one line, with the command that tells what is right.

    Nothing where Typer printed the help already, as there was no argument at all.
    """
    text = " ".join(error.format_message().split()).removeprefix("Invalid value: ")
    text = _POSSIBLE.sub(r". Did you mean \g<options>?", text).removesuffix(".")
    if not text:
        return ""
    context = getattr(error, "ctx", None)
    command = "" if context is None else f"; see {context.command_path} --help"
    return f"{text[0].lower()}{text[1:]}{command}"
