"""Who looks at the rows of a block that lie past the edge of a tensor.

Kernels wrap rows, `(start + i) % M`, so that none lies outside, and mask what they store, `start + i < M`. What a
wrapped row holds then shows nowhere, as long as each row of the block only goes into the same row of what is stored:
the walk goes from a load along one dimension to all stores.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xdsl.ir import Operation, SSAValue, Use

from tilewright.dialects import scf, tt
from tilewright.dialects.arithmetic import is_arithmetic
from tilewright.dialects.construction import static_values
from tilewright.dialects.types import as_tensor, is_tensor

Place = tuple[SSAValue, int]
"""A tensor, and the dimension that the rows of the load lie along."""


def is_hidden(load: tt.LoadOp, dim: int, hides: Callable[[tt.StoreOp, int], bool]) -> bool:
    """Return whether rows of a load along `dim` show only in stores of which `hides(store, dim)` says that they leave
    out those past the edge.
    """
    seen: set[tuple[SSAValue, int]] = set()
    stack: list[Place] = [(load.result, dim)]
    while stack:
        place = stack.pop()
        if place in seen:
            continue
        seen.add(place)
        value, along = place
        for use in value.uses:
            op = use.operation
            if isinstance(op, tt.StoreOp):
                if use.index != 1 or not hides(op, along):
                    return False
                continue
            following = list(_follow(op, use, along))
            if not following:
                return False
            stack += following
    return True


def _follow(op: Operation, use: Use, dim: int) -> Iterator[Place]:
    """Return the dimensions of an op's results that the rows of an operand go along; none where rows are combined."""
    match op:
        case tt.DotOp():
            if (use.index, dim) in ((0, 0), (1, 1)) or use.index == 2:
                yield op.results[0], dim
        case tt.TransOp():
            yield op.result, static_values(op.order).index(dim)
        case tt.JoinOp():
            yield op.result, dim
        case tt.ReshapeOp():
            source, result = (as_tensor(value.type).get_shape() for value in (op.src, op.result))
            if source[: dim + 1] == result[: dim + 1]:
                yield op.result, dim
        case scf.YieldOp():
            loop = op.parent_op()
            if isinstance(loop, scf.ForOp):
                yield loop.region_iter_args[use.index], dim
                yield loop.results[use.index], dim
        case scf.ForOp() if use.index >= 3:
            yield op.region_iter_args[use.index - 3], dim
            yield op.results[use.index - 3], dim
        case _:
            if is_arithmetic(op) and not op.regions and all(is_tensor(result.type) for result in op.results):
                yield from ((result, dim) for result in op.results)
