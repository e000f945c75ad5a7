"""Tiles of kernels that PyTorch's compiler writes, cut for a CPU where the loops of a graph's nodes say how.

Inductor makes one dimension of the loops that a node runs over, `x`, and finds indices again by `x // 96` and `x % 96`.
A GPU computes these in each thread. Here rows are worth keeping: an address that a row reads from memory is read once
for all of its columns, and a tile of a sum that does not cross the end of a row reads neighbours in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from importlib import import_module
from math import gcd, prod
from typing import Any

FEWEST_LANES = 4
"""Rows of fewer columns do not fill a vector: the dimension before is part of them."""
SHORT_ROW = 64
"""In shorter rows, what all columns share is found again for each vector where rows are not a dimension."""

COSTLY = frozenset(
    {"div", "truediv", "reciprocal", "sqrt", "rsqrt", "pow", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p"}
    | {"sin", "cos", "tan", "tanh", "sigmoid", "erf", "lgamma"}
)
"""What takes many cycles: worth computing once for all elements of a row, or of a column, that share it."""

SET_BYTES, WAYS = 4096, 8
"""Addresses that this far apart share a set of the nearest cache, which holds so many of their lines."""

LONG = 1024
"""What stands for a size that is not known: no block of one dimension is longer."""


def known_sizes(tiling: Mapping[str, Any]) -> dict[str, int] | None:
    """Return the sizes of a tiling's dimensions as numbers, or None where a shape is not known."""
    return {name: int(size) for name, size in tiling.items()} if _are_known(tiling.values()) else None


def long_sizes(tiling: Mapping[str, Any]) -> dict[str, int]:
    """Return the sizes of a tiling's dimensions, with a long one for each that is not known: blocks suit it, and a
    shorter one leaves a part of its block.
    """
    return {name: int(size) if _are_known([size]) else LONG for name, size in tiling.items()}


def usual_size(size: Any) -> int:
    """Return a size, or what it was in the call that is compiled where that is not known."""
    if _are_known([size]):
        return int(size)
    graph = import_module("torch._inductor.virtualized").V.graph
    return int(graph.sizevars.optimization_hint(size, fallback=LONG))


def has_one_block(sizes: Mapping[str, int]) -> bool:
    """Return whether `x` is the only dimension."""
    return all(size == 1 for name, size in sizes.items() if name != "x")


def row_length(features: Any) -> int:
    """Return a length that the rows of all nodes of a kernel are multiples of; 0 where none has rows."""
    return gcd(*(sizes[-1] for _, sizes in _nodes_with_rows(features)))


def row_of_rows(features: Any, columns: int) -> int:
    """Return how many rows of so many columns lie side by side in all nodes of a kernel, or a divisor of it; 0 where
    none has such rows.
    """
    found = 0
    for _, sizes in _nodes_with_rows(features):
        rows = [sizes[at - 1] for at in range(1, len(sizes)) if prod(sizes[at:]) == columns]
        found = gcd(found, *rows)
    return found


def cached_columns(features: Any) -> int:
    """Return how many neighbouring columns have sums in memory (`atomic_add`) whose lines stay in the nearest cache
    together, until the next row adds to them; 0 where no node adds, or sums are neighbours.
    """
    accesses = [node.pointwise_or_reduction_read_writes(pointwise=True) for node, _ in _nodes_with_rows(features)]
    apart = [
        _apart(write, each.range_vars[-1])
        for each in accesses
        for write in each.writes
        if getattr(write, "mode", None) == "atomic_add"
    ]
    return min((WAYS * SET_BYTES // gcd(each, SET_BYTES) for each in apart if each), default=0)


def in_rows(features: Any, tiling: Mapping[str, Any], scheduling: Any) -> Mapping[str, Any]:
    """Return the tiling of a kernel, cut into rows and columns where that of an elementwise kernel has one dimension,
    and what is costly to find is the same for all columns of a row, or all rows of a column.
    """
    sizes = known_sizes(tiling)
    found = list(_nodes_with_rows(features))
    if features.is_reduction() or sizes is None or not has_one_block(sizes) or not found:
        return tiling
    _, most = max(found, key=lambda each: len(each[1]))
    first = next((at for at in range(len(most) - 1, 0, -1) if prod(most[at:]) >= FEWEST_LANES), 0)
    rows, columns = prod(most[:first]), prod(most[first:])
    is_shared = any(_shares(node, own, columns) or _computes_shared(node, own, columns) for node, own in found)
    if rows == 1 or columns == 1 or not is_shared:
        return tiling
    integer = import_module("sympy").Integer
    cut = scheduling.create_tiling([integer(rows), integer(columns)], [features.reduction_numel])
    fits = scheduling.tiling_is_compatible(features.node_schedule, features.numel, features.reduction_numel, cut)
    return cut if fits else tiling


def _are_known(sizes: Iterable[Any]) -> bool:
    return all(getattr(size, "is_Integer", isinstance(size, int)) for size in sizes)


def _nodes_with_rows(features: Any) -> Iterator[tuple[Any, tuple[int, ...]]]:
    """Yield the nodes of a kernel with loops of several known sizes, without those that it reduces, and these."""
    for node in features.scheduler_nodes():
        sizes = node.get_ranges()[0]
        if len(sizes) > 1 and _are_known(sizes):
            yield node, tuple(map(int, sizes))


def _apart(write: Any, variable: Any) -> int:
    """Return how many bytes lie between what neighbours along a loop write; 0 where that is not one number."""
    apart = write.index.coeff(variable)
    if write.index.subs(variable, 0) + apart * variable != write.index or not _are_known([apart]):
        return 0
    return int(apart) * int(import_module("torch._inductor.virtualized").V.graph.get_dtype(write.name).itemsize)


def _shares(node: Any, sizes: tuple[int, ...], columns: int) -> bool:
    """Return whether the columns of a row have one address, or addresses that memory holds."""
    accesses = node.pointwise_or_reduction_read_writes(pointwise=True)
    last = accesses.range_vars[-1]
    for access in (*accesses.reads, *accesses.writes):
        symbols = access.index.free_symbols if hasattr(access, "index") else ()
        if symbols and (access.is_indirect() or (columns < SHORT_ROW and last not in symbols and sizes[-1] > 1)):
            return True
    return False


def _computes_shared(node: Any, sizes: tuple[int, ...], columns: int) -> bool:
    """Return whether something costly is computed from what all columns of a row share, or all rows of a column."""
    body: Any = node._body
    first = next((at for at in range(len(sizes)) if prod(sizes[at:]) == columns), 0)
    along, across = set(body.iter_vars[first:]), set(body.iter_vars[:first])
    varies: dict[Any, set[Any]] = {}
    for op in body.root_block.graph.nodes if first else ():
        varies[op] = set().union(*(varies[operand] for operand in op.all_input_nodes))
        if op.target == "get_index":
            varies[op] = set(body.indexing_exprs[op.args[0]].free_symbols)
        elif op.op == "call_module":
            varies[op] = {*along, *across}
        elif op.target in COSTLY and varies[op] and (varies[op] <= along or varies[op] <= across):
            return True
    return False
