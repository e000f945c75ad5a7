"""Where copies by TMA, and a warp of its own that makes them, were measured to gain."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from tilewright.dialects import scf, tt
from tilewright.dialects.ttg.verification import integer_attribute
from tilewright.dialects.types import as_tensor, bit_width, is_tensor
from tilewright.support.records import dataclass
from tilewright.transforms.tt.tma.computed_operands import feeds_products
from tilewright.transforms.tt.tma.independence import find_dependence, stores_of
from tilewright.transforms.tt.tma.polynomial import Unprovable
from tilewright.transforms.tt.tma.promotion import Promotion

THREADS_PER_WARP = 32
NUM_STAGES = "tt.num_stages"

WARPS = 8
"""Warps that multiply: with the group of the copying warp they share the registers of a multiprocessor."""
LEAST_SUMS, MOST_SUMS, MOST_SUMS_OF_THREE = 96, 128, 192
"""Registers of a thread for the results of all products, from which a multiprocessor has room for one program, and up
to which they fit the 240 that a thread has: measured on an H100 with attention, where blocks of 128x128 gain (heads of
128 and 64), and of 128x64 lose for heads of 64. With three products or more, as in the gradients of attention, not all
results are there at a time (H200, heads of 128: 701 TFLOP/s in place of 581).
"""
SHARED_BYTES = 226 << 10
"""Shared memory of a program of Hopper, less what barriers take."""
LEAST_STAGES, LEAST_STAGES_OF_CHAIN = 3, 2
"""Iterations under way, at least, where programs go on with the next one: attention needs no more than two."""


@dataclass(frozen=True)
class Launch:
    """Warps of a program, and iterations of a loop that are under way unless it says otherwise."""

    num_warps: int
    num_stages: int
    takes_turns: bool = True
    """Whether `tritongpu-take-turns` may have warp groups compute in turns."""

    def stages_of(self, loop: scf.ForOp) -> int:
        """Iterations of a loop that are under way."""
        own = integer_attribute(loop, NUM_STAGES)
        return self.num_stages if own is None else own

    def sums_of(self, loop: scf.ForOp) -> int:
        """The registers of a thread for the results of a loop's products."""
        return sum(as_tensor(dot.d.type).element_count() for dot in dots_of(loop)) // (
            THREADS_PER_WARP * self.num_warps
        )

    def has_room(self, loop: scf.ForOp) -> bool:
        """Return whether a program fills a multiprocessor, with one more warp group for the copies, and fits it."""
        if self.stages_of(loop) < 2 or self.num_warps != WARPS:
            return False
        return LEAST_SUMS <= self.sums_of(loop) <= most_sums(len(dots_of(loop)))


def most_sums(products: int) -> int:
    """Return up to how many registers the results of so many products may take."""
    return MOST_SUMS if products < 3 else MOST_SUMS_OF_THREE


def dots_of(loop: scf.ForOp) -> list[tt.DotOp]:
    """The products of a loop."""
    return [op for op in loop.body.block.ops if isinstance(op, tt.DotOp)]


def pays_by_chain(loop: scf.ForOp, launch: Launch) -> bool:
    """Return whether a loop has a chain of products, whose arithmetic leaves the tensor cores idle unless warp groups
    drift apart.
    """
    return len(dots_of(loop)) > 1 and launch.has_room(loop)


def pays_by_tiles(function: tt.FuncOp, loop: scf.ForOp, launch: Launch) -> bool:
    """Return whether a loop over programs gains: the next one's blocks are copied while a program stores its result,
    for which there is a buffer besides those of the copies.
    """
    stores = stores_of(function)
    if len(stores) != 1 or find_dependence(function) is not None:
        return False
    if stages_with_result(loop, launch, stores[0].value) is None:
        return False
    try:
        Promotion(function).prepare(stores[0], loop)
    except Unprovable:
        return False
    return True


def stages_with_result(loop: scf.ForOp, launch: Launch, result: SSAValue) -> int | None:
    """Count the iterations that may be under way, beside a buffer for the result; None where the loop does not gain.

    It does not if it has a chain of products whose warp groups take no turns (attention on an H200: 610 TFLOP/s with
    heads of 128, 590 where programs run beside each other), if there is room for too few iterations, or if it reads
    more than operands, which no warp would copy ahead; what operands of a single product are computed from is copied,
    too.
    """
    is_chain = len(dots_of(loop)) > 1
    if not dots_of(loop) or not launch.has_room(loop):
        return None
    if is_chain and not launch.takes_turns:
        return None
    loads = [op for op in loop.body.block.ops if isinstance(op, tt.LoadOp | tt.DescriptorLoadOp)]
    if not all(feeds_products(op, loop) if len(dots_of(loop)) == 1 else _is_multiplied(op) for op in loads):
        return None
    copied = [op.results[0] for op in loads if _is_block(op.results[0])]
    kept = {value for dot in dots_of(loop) for value in (dot.a, dot.b) if _is_outside(value, loop)}
    room = SHARED_BYTES - sum(map(_bytes, (result, *kept)))
    stages = min(launch.stages_of(loop), room // max(sum(map(_bytes, copied)), 1))
    return stages if stages >= (LEAST_STAGES_OF_CHAIN if is_chain else LEAST_STAGES) else None


def _is_multiplied(load: Operation) -> bool:
    """Return whether products alone read what a load reads, as it is."""
    return all(isinstance(use.operation, tt.DotOp | tt.TransOp) for use in load.results[0].uses)


def _is_block(value: SSAValue) -> bool:
    return is_tensor(value.type) and len(value.type.get_shape()) > 1


def _is_outside(value: SSAValue, loop: scf.ForOp) -> bool:
    owner = value.owner
    return isinstance(owner, Operation) and owner.parent is not loop.body.block


def _bytes(value: SSAValue) -> int:
    if not is_tensor(value.type):
        return 0
    return value.type.element_count() * bit_width(value.type.element_type) // 8
