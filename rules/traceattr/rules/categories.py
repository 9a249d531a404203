"""The categories a kernel can have, and the groups a report shows them in."""

UNCLASSIFIED = "unclassified"
"""Category of a name that no rule matched."""

GRAPH = "graph (not traced per node)"
"""Category of a CUDA graph replay that was recorded as one envelope."""

MEMORY = "memory"
"""Category of memory copies and memory sets, which have no kernel name."""

COMMUNICATION = "comm"
"""Category of communication kernels; below compute when both run at once."""

DRAFT = "draft"
"""Category of kernels that only drafts run, and group of everything in a draft pass."""

IN_GRAPH_GAPS = "in-graph gaps"
HOST_GAPS = "host gaps"
"""Groups of idle time inside one graph replay, and between replays and eager work."""

GROUPS: dict[str, tuple[str, ...]] = {
    "weight GEMM": ("weight_gemm", "moe_gemm"),
    "GDN": ("gdn",),
    "attention": ("attention", "kv_cache", "rope"),
    "communication": (COMMUNICATION,),
    DRAFT: (DRAFT,),
    "other GPU work": (
        "norm",
        "activation",
        "elementwise",
        "quant",
        "moe",
        "embedding",
        "sampling",
        "linear_attn_other",
        "lora",
        MEMORY,
        "other",
    ),
    UNCLASSIFIED: (UNCLASSIFIED,),
    GRAPH: (GRAPH,),
}
"""Busy groups in report order, each with its categories in report order."""

CATEGORIES: tuple[str, ...] = tuple(name for names in GROUPS.values() for name in names)
"""Every category, in the order of every table."""

RULE_CATEGORIES: tuple[str, ...] = tuple(c for c in CATEGORIES if c not in (UNCLASSIFIED, GRAPH))
"""The categories a rule may name."""

SUBCATEGORIES: dict[str, tuple[str, ...]] = {COMMUNICATION: ("nccl", "custom")}
"""Subcategories that reports split by; other categories may use any word."""


def group_of(category: str) -> str:
    """Return the group that shows ``category``; KeyError for a name not in `CATEGORIES`."""
    return _GROUP_OF[category]


_GROUP_OF = {category: group for group, names in GROUPS.items() for category in names}
