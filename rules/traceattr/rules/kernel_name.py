"""One spelling for a kernel name, however the demangler at hand wrote it."""

import re

_MANGLED = "_Z"
_FILE_NAMESPACES_MANGLED = ("_GLOBAL__N_", "_INTERNAL_")
_BOOLEANS = (("(bool)1", "true"), ("(bool)0", "false"))
_CAST = re.compile(r"\((?:unsigned |signed )?(?:char|short|int|long long|long|size_t)\)(?=-?\d)")
_ENUM_CAST = re.compile(r"\((?:\w+::)*(\w+)\)(?=-?\d)")
_INTEGER_SUFFIX = re.compile(r"\b(\d+)(?:ul{0,2}|ll?)\b")
_CLOSING = re.compile(r"> (?=>)")
_FILE_NAMESPACE = re.compile(r"_(?:GLOBAL__N_|INTERNAL_)\w*::")
_ANONYMOUS = ("<unnamed>::", "(anonymous namespace)::", "{anonymous}::")
_RETURN_TYPE = re.compile(r"(?:void|(?:typename )?std::enable_if<.*?>::type) (?=\S)")
_MANGLED_TOKEN = re.compile(r"L[a-z]n?\d+E|S[0-9A-Z]*_|T\d*_|(\d+)(?=[A-Za-z_])|.", re.DOTALL)


def normalise(name: str) -> str:
    """Return ``name`` without what differs between demanglers.

    Casts of template arguments (``(int)4`` is ``4``, ``(bool)1`` is ``true``), integer suffixes
    (``4ul`` is ``4``), unnamed namespaces, the return type and the blank in ``> >`` go away. The
    cast to an enumeration keeps its last word, which says what the number means (``(a::Kind)1``
    is ``Kind=1``). A mangled name is replaced by its identifiers.
    """
    name = name.strip()
    if name.startswith(_MANGLED):
        return _identifiers(name)
    for anonymous in _ANONYMOUS:
        name = name.replace(anonymous, "")
    name = _FILE_NAMESPACE.sub("", name)
    for cast, literal in _BOOLEANS:
        name = name.replace(cast, literal)
    name = _ENUM_CAST.sub(r"\1=", _CAST.sub("", name))
    name = _CLOSING.sub(">", _INTEGER_SUFFIX.sub(r"\1", name))
    return_type = _RETURN_TYPE.match(name)
    return name[return_type.end() :] if return_type else name


def _identifiers(mangled: str) -> str:
    """Return the identifiers of an Itanium-mangled name, joined the way a demangler would.

    This is no demangler: it keeps the order of the identifiers, with ``::`` inside a nested name,
    ``<`` where template arguments begin and a blank elsewhere: enough to search by identifier.
    """
    parts: list[str] = []
    position, after_identifier = 0, False
    while token := _MANGLED_TOKEN.match(mangled, position):
        position = token.end()
        if token[1]:
            identifier = mangled[position : position + int(token[1][:4])]
            position += len(identifier)
            if identifier.startswith(_FILE_NAMESPACES_MANGLED):
                continue
            parts += ["::" if after_identifier else " ", identifier]
        elif after_identifier and token[0] == "I":
            parts.append("<")
        after_identifier = bool(token[1])
    return "".join(parts).replace("< ", "<").strip()
