"""What a C++ kernel name is made of: a name and the template arguments that tell it apart."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_OPEN = "<([{"
_CLOSE = ">)]}"
_DEEPEST = 8
"""Nesting that is looked at; CUTLASS nests deeper, but no label has room for that."""

_ANONYMOUS = re.compile(r"(<unnamed>|\(anonymous namespace\)|\{anonymous\}|_GLOBAL__N_\w*?)::")
_CALL_OPERATOR = re.compile(r"operator\s*\(\s*\)")
_CONST_METHOD = re.compile(r"\)\s*const(?=::|$)")
_CPP = re.compile(r"<|::|\w\(")
_CLOSURE = re.compile(r"[\[{']+lambda")
_NAME = re.compile(r"[-+]?[\w$.~]+")
_CAST = re.compile(r"^\([^()]*\)\s*(?=[-+\d])")
_SCALAR = re.compile(
    r"(?i)(_*|nv_|t)*([-+]?\d+\w*|T\d+|true|false|void|bool|char|short|int|long|signed|unsigned"
    r"|double|half2?|(u?int|b?float|bf|tf|fp)\d*(_?e\d+m\d+\w*)?|wchar|size|nulltype)(_t)?"
)
_CONTAINERS = frozenset({"std", "cuda", "cute"})
"""Namespaces of containers, shapes and layouts, which never name what a kernel does."""


@dataclass(frozen=True, slots=True)
class CppName:
    """A function, type or functor in a demangled name.

    Attributes:
        name: Last component, without namespaces, arguments or parameters.
        scope: The namespace or class right around it, empty when there is none.
        is_function: Whether it has parameters: in an argument, it is what encloses a lambda.
        arguments: Template arguments that name something; not numbers, scalars, containers.
    """

    name: str
    scope: str
    is_function: bool
    arguments: tuple["CppName", ...]


def parse(text: str) -> CppName | None:
    """Return the parts of ``text``, or None when it is not written as C++ code.

    Truncated names are read as far as they go.  Return types and parameters are dropped.
    """
    if text.startswith("_Z"):
        return _parse_mangled(text)
    if not _CPP.search(text) or not text.isprintable():
        return None
    return _parse(_plain(text), 0)


def _plain(text: str) -> str:
    text = _CALL_OPERATOR.sub("operator()", _ANONYMOUS.sub("", text))
    return _CONST_METHOD.sub(")", text)


def _parse(text: str, depth: int) -> CppName | None:
    words = list(_split(text.strip().rstrip("*& "), " "))
    components = list(_split(words[-1].lstrip("*&"), "::")) if words else []
    named = [c for c in components if not _is_closure(c)]
    if not named or not _NAME.fullmatch(name := _head(named[-1])):
        return None
    return CppName(
        name=name,
        scope=_head(named[-2]) if len(named) > 1 else "",
        is_function=named[-1].endswith(")"),
        arguments=tuple(_arguments(components, depth)),
    )


def _is_closure(component: str) -> bool:
    return _is_call_operator(component) or _CLOSURE.match(component) is not None


def _is_call_operator(component: str) -> bool:
    """Return whether this is the method of a functor or, as ``operator()()``, of a lambda."""
    return component.startswith("operator")


def _head(component: str) -> str:
    return re.split(r"[<(\[{]", component, maxsplit=1)[0].strip()


def _arguments(components: list[str], depth: int) -> Iterator[CppName]:
    """Yield what the last template argument list of a path names, without repetitions."""
    lists = [inner for component in components if (inner := _template_arguments(component))]
    seen = set()
    for text in _split(lists[-1], ",") if lists and depth < _DEEPEST else ():
        argument = _named_argument(text.strip(), depth + 1)
        if argument and argument not in seen:
            seen.add(argument)
            yield argument


def _template_arguments(component: str) -> str:
    """Return what stands between the first ``<`` and its ``>``, or all the rest if it is cut."""
    start = component.find("<")
    if start < 0 or (-1 < component.find("(") < start and not _is_call_operator(component)):
        return ""
    first, *_ = _split(component[start + 1 :], ">")
    return first


def _named_argument(text: str, depth: int) -> CppName | None:
    text = _CAST.sub("", text)
    argument = _parse(text, depth)
    if argument is None or _SCALAR.fullmatch(argument.name):
        return None
    root = re.split(r"\W+", text.removeprefix("const ").lstrip("&"), maxsplit=1)[0]
    return None if root in _CONTAINERS else argument


def _split(text: str, separator: str) -> Iterator[str]:
    """Yield the parts of ``text`` between separators that are in no bracket."""
    depth = start = position = 0
    while position < len(text):
        if depth == 0 and text.startswith(separator, position):
            yield text[start:position]
            position += len(separator)
            start = position
            continue
        if text[position] in _OPEN:
            depth += 1
        elif text[position] in _CLOSE and text[position - 1 : position + 1] != "->":
            depth = max(depth - 1, 0)
        position += 1
    yield text[start:]


_MANGLED_SKIP = re.compile(r"L[a-z]n?\d+E|S[0-9A-Z]*_|St|T\d*_")
"""Literals and back references of the Itanium C++ ABI, which name nothing."""


def _parse_mangled(text: str) -> CppName | None:
    """Read the identifiers of an Itanium name: those before its arguments, and in the outermost."""
    paths: list[list[str]] = [[]]
    nesting: list[str] = []
    position = len("_Z")
    while position < len(text):
        if skipped := _MANGLED_SKIP.match(text, position):
            position = skipped.end()
            paths.append(["std"] if skipped[0] == "St" else [])
        elif length := re.compile(r"\d{1,4}").match(text, position):
            position = length.end() + int(length[0])
            if nesting.count("I") < 2:
                paths[-1].append(text[length.end() : position])
        else:
            paths.append([])
            if text[position] == "E" and nesting and nesting.pop() == "I" and "I" not in nesting:
                break
            if text[position] in "NIJX":
                nesting.append(text[position])
            position += 1
    return _from_paths([path for path in paths if path])


def _from_paths(paths: list[list[str]]) -> CppName | None:
    if not paths:
        return None
    kernel, *others = paths
    telling = [p for p in others if p[0] not in _CONTAINERS and not _SCALAR.fullmatch(p[-1])]
    name, *arguments = (
        CppName(path[-1], path[-2] if len(path) > 1 else "", is_function=False, arguments=())
        for path in (kernel, *telling)
    )
    return CppName(name.name, name.scope, is_function=True, arguments=tuple(arguments))
