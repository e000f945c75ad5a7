"""Matmuls of a few rows by weights that a graph makes from narrower ones: int8, int4 or float8 times their scales.

Inductor gives a matmul to a library, which wants its operands in memory: a kernel writes the weights at full width,
and the library reads them again, four bytes for each byte or nibble. Reading memory is all that a matmul of a few rows
costs, so here it is a sum for each row, which Inductor fuses with what makes the weights:

    w = (q.to(float32) * s).t()             w stays where it is used
    mm(x, w)                        ->      tilewright.few_rows_matmul(x, w)
                                            = stack([(x[0, :, None] * w).sum(0), (x[1, :, None] * w).sum(0), ...])

All rows are summed in one kernel, which makes each weight once.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from tilewright.compat.inductor_int4 import spell_out_int4

FEW_ROWS, MOST_ROWS = 4, 16
"""Rows that are summed here: of weights that caches hold at full width, and of others. The library is better at the
arithmetic of more rows (float32, 1024 x 1024, 8 rows: 1.3 times as long by sums; 4096 x 4096, 16 rows: 0.4)."""
LARGE = 16 << 20
"""Bytes of weights at full width that no cache is likely to hold."""
LEAST_SAVED = 0.75
"""Bytes read for the weights, by bytes of the weights: the greatest share at which fusing pays."""


def fuse_few_rows(graph: Any) -> bool:
    """Rewrite the matmuls of a graph of ATen ops that gain by it, and return whether one did.

    Nodes have fake tensors in `meta`, as Inductor's passes leave them.
    """
    aten = import_module("torch").ops.aten
    spelled = [_spell_out(graph, node) for node in calls(graph, aten._weight_int8pack_mm.default)]
    spelled += [spell_out_int4(graph, node) for node in calls(graph, aten._weight_int4pack_mm_for_cpu.default)]
    fused = [_fuse(graph, node) for node in calls(graph, aten.mm.default, aten.addmm.default)]
    return any(spelled) or any(fused)


def calls(graph: Any, *targets: Any) -> list[Any]:
    """Return the nodes of a graph that call one of these ops."""
    return [node for node in graph.nodes if node.op == "call_function" and node.target in targets]


def _fuse(graph: Any, node: Any) -> bool:
    *bias, x, w = node.args
    if not set(node.kwargs.values()) <= {1} or not _has_few_rows(x, w) or not _is_made_from_less(w):
        return False
    replace_node(graph, node, import_module("torch").ops.tilewright.few_rows_matmul.default, x, w, *bias)
    return True


def replace_node(graph: Any, node: Any, target: Any, *args: Any) -> None:
    """Put the call of another op, of the same value, in place of a node."""
    with graph.inserting_before(node):
        new = graph.call_function(target, args)
    new.meta.update(node.meta)
    node.replace_all_uses_with(new)
    graph.erase_node(node)


def _spell_out(graph: Any, node: Any) -> bool:
    """Write mm(x, w.to(float32).t()) * scale for PyTorch's op in float32, which has fast code for bfloat16 alone."""
    torch = import_module("torch")
    aten, prims = torch.ops.aten, torch.ops.prims
    x, w, scale = node.args
    if x.meta["val"].dtype != torch.float32 or x.meta["val"].device.type != "cpu":
        return False
    with graph.inserting_before(node):
        steps = (prims.convert_element_type.default, (torch.float32,)), (aten.permute.default, ([1, 0],))
        for target, more in steps:
            value = target(w.meta["val"], *more)
            w = graph.call_function(target, (w, *more))
            w.meta["val"] = value
        product = graph.call_function(aten.mm.default, (x, w))
        product.meta.update(node.meta)
    replace_node(graph, node, aten.mul.Tensor, product, scale)
    return True


def _has_few_rows(x: Any, w: Any) -> bool:
    torch = import_module("torch")
    value, weights = x.meta["val"], w.meta["val"]
    if value.device.type != "cpu" or value.dtype not in (torch.float32, torch.bfloat16, torch.float16):
        return False
    if not all(isinstance(size, int) for size in (*value.shape, *weights.shape)):
        return False
    most = MOST_ROWS if weights.numel() * weights.element_size() > LARGE else FEW_ROWS
    return 1 <= value.shape[0] <= most and min(weights.shape) > 1


def _is_made_from_less(w: Any) -> bool:
    """Return whether elementwise ops make the weights, for this matmul alone, from fewer bytes."""
    size = w.meta["val"].numel()
    leaves: set[Any] = set()
    for node in _makers(w):
        if not is_elementwise(node):
            leaves.add(node)
        elif node.meta["val"].numel() >= size and len(node.users) > 1:
            return False
    read = sum(leaf.meta["val"].numel() * leaf.meta["val"].element_size() for leaf in leaves)
    return w not in leaves and read < LEAST_SAVED * size * w.meta["val"].element_size()


def _makers(w: Any) -> Iterator[Any]:
    """Yield a node and all that elementwise ops make it from, down to the first nodes that are none."""
    seen, waiting = {w}, [w]
    while waiting:
        node = waiting.pop()
        yield node
        if is_elementwise(node):
            fresh = [each for each in node.all_input_nodes if each not in seen]
            seen.update(fresh)
            waiting += fresh


def is_elementwise(node: Any) -> bool:
    """Return whether Inductor computes a node where it is used: an elementwise op, or another view."""
    torch = import_module("torch")
    aten, prims = torch.ops.aten, torch.ops.prims
    views = aten.permute, aten.view, aten.reshape, aten.unsqueeze, aten.squeeze, aten.expand, aten.slice, aten.select
    if node.op != "call_function" or not isinstance(node.target, torch._ops.OpOverload):
        return False
    return (
        torch.Tag.pointwise in node.target.tags
        or node.target is prims.convert_element_type.default
        or (node.target.overloadpacket in views and node.target is not aten.view.dtype)
    )


def file_lowering() -> None:
    """Tell PyTorch of the op, once, and Inductor how to write it."""
    torch = import_module("torch")
    if hasattr(torch.ops.tilewright, "few_rows_matmul"):
        return
    library = torch.library
    library.define("tilewright::few_rows_matmul", "(Tensor x, Tensor w, Tensor? bias=None) -> Tensor")
    library.impl("tilewright::few_rows_matmul", "CompositeExplicitAutograd", _few_rows_matmul)
    import_module("torch._inductor.lowering").register_lowering(
        torch.ops.tilewright.few_rows_matmul.default, type_promotion_kind=None
    )(_lower)


def _few_rows_matmul(x: Any, w: Any, bias: Any = None) -> Any:
    return x @ w if bias is None else x @ w + bias


def _lower(x: Any, w: Any, bias: Any = None) -> Any:
    """Write a sum for each row, in float32; rows that are one kernel write to parts of one buffer."""
    torch, inductor = import_module("torch"), import_module("torch._inductor.lowering").lowerings
    aten, convert = torch.ops.aten, inductor[torch.ops.prims.convert_element_type.default]
    x.realize()  # what makes the rows is not done again for each column
    dtype, (count, _), columns = x.get_dtype(), x.get_size(), w.get_size()[1]
    wide = convert(w, torch.float32)
    if bias is not None:
        bias = inductor[aten.expand.default](bias, [count, columns])
    rows: list[Any] = []
    for at in range(int(count)):
        row = convert(inductor[aten.select.int](x, 0, at), torch.float32)
        total = inductor[aten.sum.dim_IntList](
            inductor[aten.mul.Tensor](wide, inductor[aten.unsqueeze.default](row, 1)), [0]
        )
        if bias is not None:
            total = inductor[aten.add.Tensor](total, convert(inductor[aten.select.int](bias, 0, at), torch.float32))
        rows.append(inductor[aten.unsqueeze.default](convert(total, dtype), 0))
    return rows[0] if len(rows) == 1 else inductor[aten.cat.default](rows, 0)
