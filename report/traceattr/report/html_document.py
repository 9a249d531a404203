"""A page in a browser: one file that needs no network and runs nothing but its own."""

import base64
import hashlib
import re
from collections.abc import Iterable
from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from traceattr.report.escape import visible
from traceattr.report.html_json import embedded_json

_BEFORE_UNIT = re.compile(r"(?<=\d) (?=(?:s|ms|us|ns|%|GPUs?|[TG]B/s)\b|%)")
_SEAM = re.compile(r"(\w+->\w+)")
"""Where lines do not break: between a number and its unit, and in names of seams."""


def render_page(
    template: str,
    page: object,
    *,
    styles: Iterable[str],
    scripts: Iterable[str],
    licence: str | None = None,
) -> str:
    """Return a page; everything in it that comes from a trace is text and never code.

    Args:
        template: Name of the template.
        page: What it shows.
        styles: Style sheets, in order.
        scripts: Scripts, in order; a browser runs no others.
        licence: That of others' code among them.
    """
    style_texts, script_texts = (tuple(map(_asset, names)) for names in (styles, scripts))
    return (
        _environment()
        .get_template(template)
        .render(
            page=page,
            policy=_policy(style_texts, script_texts),
            styles=tuple(map(Markup, style_texts)),
            scripts=tuple(map(Markup, script_texts)),
            licence=Markup(_asset(licence)) if licence else "",
        )
    )


def _environment() -> Environment:
    environment = Environment(
        loader=FunctionLoader(_asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        visible=_shown,
        svg=Markup,  # made of elements, with every text escaped
        sentence=_sentence,
        embedded_json=lambda value: Markup(embedded_json(value)),
    )
    return environment


def _asset(name: str) -> str:
    return (files("traceattr.report") / "html_assets" / name).read_text(encoding="utf-8")


def _policy(styles: Iterable[str], scripts: Iterable[str]) -> str:
    """Return what a browser may do for this page: run and apply exactly these texts."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(map(_hash, scripts))}",
            f"style-src {' '.join(map(_hash, styles))}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _shown(text: str) -> str:
    """Return text on one line, in which no line breaks between a number and its unit."""
    return _BEFORE_UNIT.sub("\N{NO-BREAK SPACE}", visible(text))


def _sentence(text: str) -> Markup:
    """Return prose in which pairs of backticks mark code, and names of seams stay on one line."""
    pieces = _shown(text).split("`")
    if len(pieces) % 2 == 0:
        return _prose(_shown(text))
    return Markup("").join(
        Markup("<code>{}</code>").format(piece) if position % 2 else _prose(piece)
        for position, piece in enumerate(pieces)
    )


def _prose(text: str) -> Markup:
    return Markup("").join(
        Markup('<span class="seam">{}</span>').format(piece) if position % 2 else piece
        for position, piece in enumerate(_SEAM.split(text))
    )
