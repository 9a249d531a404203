"""What every SVG drawing is made of.

A drawing is one ``<svg>`` element that can stand inside an HTML page as it is: it has no style
sheet, no script and no link, so the strictest content policy lets it through, and what is not
coloured for a reason takes the colour of the text around it (``currentColor``), light or dark.
`svg_file` makes a file of it that stands alone.
"""

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from traceattr.report.escape import visible
from traceattr.rules.categories import DRAFT, GRAPH, HOST_GAPS, IN_GRAPH_GAPS, UNCLASSIFIED

_NAMESPACE = "http://www.w3.org/2000/svg"
_FONT = "system-ui, sans-serif"

_STYLE = (
    "svg { color: #1f2328; background: #ffffff }"
    " @media (prefers-color-scheme: dark) { svg { color: #e6edf3; background: #0d1117 } }"
)
"""Colours of a file of its own."""

FAINT = "0.25"
"""Opacity of grids."""

BLUE = "#2f7de1"
ORANGE = "#c2700a"
TEAL = "#128a8c"
"""Colours that stand out on white and on black."""

GROUP_COLORS = {
    "weight GEMM": "#3b6fc4",
    "GDN": "#2f8f5b",
    "attention": "#c98a00",
    "communication": "#d4552f",
    DRAFT: "#8a5cc9",
    "other GPU work": "#7d8896",
    UNCLASSIFIED: "#c2337f",
    GRAPH: "#a9a08f",
    IN_GRAPH_GAPS: "#b3bac4",
    HOST_GAPS: "#b0303c",
}
"""Of groups, as on pages for a browser."""

CHARACTER = 8
"""Width of a character, more rather than less: nobody knows the reader's font."""


def drawing(name: str, *, title: str, description: str, width: int, height: int) -> Element:
    """Return an empty drawing that says in words what it shows.

    Args:
        name: What its ids begin with; a page needs a different one for each drawing.
        title: Its name for a screen reader.
        description: Everything it shows, in words.
        width: Of its own coordinates; a page may show it at another size.
        height: The same.
    """
    root = Element(
        "svg",
        {
            "xmlns": _NAMESPACE,
            "viewBox": f"0 0 {width} {height}",
            "width": str(width),
            "height": str(height),
            "role": "img",
            "aria-labelledby": f"{name}-title",
            "aria-describedby": f"{name}-description",
            "font-family": _FONT,
            "font-size": "13",
            "fill": "currentColor",
        },
    )
    SubElement(root, "title", {"id": f"{name}-title"}).text = visible(title)
    SubElement(root, "desc", {"id": f"{name}-description"}).text = visible(description)
    return root


def svg_text(root: Element) -> str:
    """Return the drawing as text, to be put into a page."""
    indent(root)
    return f"{tostring(root, encoding='unicode')}\n"


def svg_file(svg: str) -> str:
    """Return a drawing, which is text already, as a file with colours for light and dark."""
    start = svg.index(">") + 1
    return f"{svg[:start]}\n  <style>{_STYLE}</style>{svg[start:]}"


def group(parent: Element, tooltip: str) -> Element:
    """Return a group that shows some text when a pointer rests on it."""
    made = SubElement(parent, "g")
    SubElement(made, "title").text = visible(tooltip)
    return made


def label(
    parent: Element, x: float, y: float, text: str, *, anchor: str = "start", color: str = ""
) -> None:
    """Write text at a place; ``anchor`` says which end of it that is."""
    places = {"x": number(x), "y": number(y), "text-anchor": anchor}
    found = SubElement(parent, "text", places | ({"fill": color} if color else {}))
    found.text = visible(text)


def line(
    parent: Element,
    start: tuple[float, float],
    end: tuple[float, float],
    *,
    width: float = 1,
    opacity: str = "1",
    dashes: str = "none",
) -> None:
    """Draw a straight line in the colour of the text."""
    (x1, y1), (x2, y2) = start, end
    SubElement(
        parent,
        "line",
        {
            "x1": number(x1),
            "y1": number(y1),
            "x2": number(x2),
            "y2": number(y2),
            "stroke": "currentColor",
            "stroke-width": number(width),
            "stroke-opacity": opacity,
            "stroke-dasharray": dashes,
        },
    )


def number(value: float) -> str:
    """Return a coordinate; tenths are finer than any screen shows."""
    return f"{value:.1f}".removesuffix(".0")
