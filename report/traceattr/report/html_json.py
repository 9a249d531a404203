"""How data is put into a page so that no browser takes any of it for markup."""

import json

_ESCAPES = str.maketrans({"<": r"\u003c", ">": r"\u003e", "&": r"\u0026"})


def embedded_json(value: object) -> str:
    """Return JSON for inside a script element: ASCII, without anything that could end it."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.translate(_ESCAPES)
