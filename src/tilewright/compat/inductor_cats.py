"""Concatenations that are computed where they are used.

Inductor writes the parts of a concatenation for a CPU to memory, each by a kernel of its own, and reads them again. Of
few and cheap parts each element is better computed where it is used, as Inductor does on GPUs: the rotation of
`x * cos + cat(-b, a) * sin` is one kernel in place of three.

    cat([-b, a], 1)  ->  tilewright.cat_in_place([-b, a], 1)    lowered as where(i < n, -b[i], a[i - n])
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tilewright.compat.inductor_products import calls, is_elementwise, replace_node

MOST_PARTS = 4
MOST_OPS = 2
"""Ops that compute a part: all parts are computed for each vector of the result."""


def compute_cats_where_used(graph: Any) -> bool:
    """Rewrite the concatenations of a graph of ATen ops that gain by it, and return whether one did.

    Nodes have fake tensors in `meta`, as Inductor's passes leave them.
    """
    torch = import_module("torch")
    if not file_lowering():
        return False
    chosen = [node for node in calls(graph, torch.ops.aten.cat.default) if _is_cheap(node)]
    for node in chosen:
        replace_node(graph, node, torch.ops.tilewright.cat_in_place.default, *node.args)
    return bool(chosen)


def _is_cheap(node: Any) -> bool:
    """Return whether elementwise ops alone read a concatenation, of parts that are of its type and quickly computed."""
    torch = import_module("torch")
    value, parts = node.meta["val"], node.args[0]
    if value.device.type != "cpu" or value.dtype in (torch.int8, torch.uint8) or not 2 <= len(parts) <= MOST_PARTS:
        return False
    if any(part.meta["val"].dtype != value.dtype or part.meta["val"].ndim != value.ndim for part in parts):
        return False
    if not node.users or not all(_is_pointwise(user) for user in node.users):
        return False
    return all(len(part.users) == 1 and _count_ops(part) <= MOST_OPS for part in parts)


def _is_pointwise(node: Any) -> bool:
    op = getattr(node, "target", None)
    return import_module("torch").Tag.pointwise in getattr(op, "tags", ())


def _count_ops(part: Any) -> int:
    """Return how many ops other than views compute a part from what memory holds, up to one above the most."""
    count, waiting = 0, [part]
    while waiting and count <= MOST_OPS:
        node = waiting.pop()
        if is_elementwise(node):
            count += _is_pointwise(node)
            waiting += node.all_input_nodes
    return count


def file_lowering() -> bool:
    """Tell PyTorch of the op, once, and Inductor how to write it; return whether Inductor has what that takes."""
    torch, lowering = import_module("torch"), import_module("torch._inductor.lowering")
    pointwise_cat = getattr(lowering, "pointwise_cat", None)
    if pointwise_cat is None:
        return False
    if not hasattr(torch.ops.tilewright, "cat_in_place"):
        torch.library.define("tilewright::cat_in_place", "(Tensor[] parts, int dim=0) -> Tensor")
        torch.library.impl("tilewright::cat_in_place", "CompositeExplicitAutograd", torch.cat)

        def lower(parts: Any, dim: int = 0) -> Any:
            return pointwise_cat(parts, dim % len(parts[0].get_size()))

        lowering.register_lowering(torch.ops.tilewright.cat_in_place.default, type_promotion_kind=None)(lower)
    return True
