"""Ids and names as nsys makes them: processes, threads, graph nodes, short kernel names."""

VM_ID = 1 << 48  # what every single-node export carries: hw 0, vm 1


def global_pid(pid: int) -> int:
    """Return the id that nsys gives to process `pid`."""
    return VM_ID | (pid << 24)


def global_tid(pid: int, tid: int | None = None) -> int:
    """Return the id that nsys gives to thread `tid` (the main thread without one)."""
    return global_pid(pid) | (pid if tid is None else tid)


def graph_node_id(graph: int | None, node: int | None) -> int | None:
    """Return the 64-bit node id: graph in the high half, node in the low one."""
    return None if graph is None else (graph << 32) | (node or 0)


def short_name(demangled: str) -> str:
    """Return the base name: no return type, namespaces, template arguments or parameters.

    >>> short_name("void at::native::<unnamed>::CatArrayBatchedCopy<int, (int)4>(T1 *, int)")
    'CatArrayBatchedCopy'
    """
    text = demangled.replace("<unnamed>", "").replace("(anonymous namespace)", "")
    outside: list[str] = []
    depth = 0
    for character in text:
        if character == "(" and depth == 0:
            break
        depth -= character == ">"
        if depth == 0 and character != ">":
            outside.append(character if character != "<" else "")
        depth += character == "<"
    return "".join(outside).split("::")[-1].split(" ")[-1] or demangled
