"""Where copies by TMA, and a warp of its own that makes them, were measured to gain."""

from __future__ import annotations

from xdsl.dialects.builtin import Float8E4M3FNType, Float8E5M2Type
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import arith, scf, tt
from tilewright.dialects.traits import is_elementwise_class
from tilewright.dialects.tt.enums import InputPrecision
from tilewright.dialects.ttg.verification import integer_attribute
from tilewright.dialects.types import as_tensor, bit_width, is_tensor
from tilewright.ir.effects import is_memory_free
from tilewright.support.records import dataclass
from tilewright.transforms.tt.tma.computed_operands import feeds_products
from tilewright.transforms.tt.tma.independence import find_dependence, stores_of
from tilewright.transforms.tt.tma.polynomial import Unprovable
from tilewright.transforms.tt.tma.promotion import Promotion
from tilewright.transforms.ttg.pipeliner.machine_model import product_clocks

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
"""Shared memory of a program of Hopper, less what barriers take; two programs share this much, too."""
CLOCKS_UNDER_WAY = 2048
"""Clocks that the products of all iterations under way take, at least, so that copies arrive in time: more stages than
were asked for make up for short iterations. Blocks of 128x128x64, of 512 clocks, on an H200, float16 4096: 538 TFLOP/s
with 3 stages, 695 with 4; of 128x128x32, of 256, 459 with 4.
"""
LEAST_SUMS_ALONE, LEAST_CLOCKS_ALONE, HALF_BITS = 64, 512, 16
"""The smallest products, of 16 bits, for which a warp that copies was measured to gain. With 128x64x64 it does not
(418, 443 without).
"""
PARTS = (1, 2, 4)
"""What a buffer for a result may be a part of, which is then stored in parts where the whole leaves room for too few
iterations. Where it only leaves room for fewer than were asked for it stays whole (128x256x64, H200, float16 4096: 754
TFLOP/s, 752 with parts and 4 iterations; float32, 256x128x32: 363 with too few, 386 with 3, 393 with 4).
"""
LEAST_ROWS = 128
"""Rows and columns of a result of `wgmma`, at least, of which 8 warps have equal shares in either order."""
BITS_OF_LINE = 8 * 128
"""Of rows in shared memory that TMA copies, swizzled."""
LEAST_STAGES, LEAST_STAGES_OF_CHAIN = 3, 2
"""Iterations under way, at least, where programs go on with the next one: attention needs no more than two."""


@dataclass(frozen=True)
class Launch:
    """Warps of a program, and iterations of a loop that are under way unless it says otherwise."""

    num_warps: int
    num_stages: int
    takes_turns: bool = True
    """Whether `tritongpu-take-turns` may have warp groups compute in turns."""
    stores_parts: bool = True
    """Whether a result for which there is too little room is stored in parts."""
    reserved_bytes: int = 0
    """Shared memory that is left to what else a program needs, see `targets.cuda.room`."""

    @property
    def room(self) -> int:
        """Bytes of shared memory for copies and results."""
        return SHARED_BYTES - self.reserved_bytes

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
        """Return whether a program fills a multiprocessor, with one more warp group for the copies, and fits it; one
        with fewer sums, whether it is faster where it is alone.
        """
        if self.stages_of(loop) < 2 or self.num_warps != WARPS or self.room <= 0:
            return False
        sums = self.sums_of(loop)
        return sums <= most_sums(len(dots_of(loop))) and (sums >= LEAST_SUMS or self._gains_alone(loop))

    def _gains_alone(self, loop: scf.ForOp) -> bool:
        """Return whether a loop of a single product gains although a multiprocessor could hold two programs.

        On an H200, float16, blocks of 128x128x64, by roles with 4 stages in place of two programs with 3: 4096 695
        (653), 8192 700 (633), 2048 541 (478). Of 8-bit floats two programs are as fast (1302), unless they have no
        room, for the buffers of the stages that were asked for, or because the sums of a part of the product take as
        many registers again (893 in place of 815).
        """
        [dot, *others] = dots_of(loop)
        loads = [op for op in loop.body.block.ops if isinstance(op, tt.LoadOp | tt.DescriptorLoadOp)]
        if others or not all(map(_is_multiplied, loads)):
            return False
        if self.sums_of(loop) < LEAST_SUMS_ALONE or product_clocks(dot) < LEAST_CLOCKS_ALONE:
            return False
        bits = bit_width(as_tensor(dot.a.type).element_type)
        if bits >= HALF_BITS or _sums_up_parts(dot):
            return bits <= HALF_BITS  # of wider ones it was not measured
        return 2 * self.stages_of(loop) * sum(_bytes(op.results[0]) for op in loads) > SHARED_BYTES


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
    """Count the iterations to have under way, beside a buffer for the result; None where the loop does not gain.

    It does not if it has a chain of products whose warp groups take no turns (attention on an H200: 610 TFLOP/s with
    heads of 128, 590 where programs run beside each other), if there is room for too few iterations, or if it reads
    more than operands, which no warp would copy ahead; what operands of a single product are computed from is copied,
    too. Nor does a single product if more than its result and vectors make what is stored: conversions of other blocks
    take as much shared memory again.
    """
    is_chain = len(dots_of(loop)) > 1
    if not dots_of(loop) or not launch.has_room(loop) or not all(map(_is_narrow, dots_of(loop))):
        return None
    if is_chain and not launch.takes_turns:
        return None
    loads = [op for op in loop.body.block.ops if isinstance(op, tt.LoadOp | tt.DescriptorLoadOp)]
    if not all(feeds_products(op, loop) if len(dots_of(loop)) == 1 else _is_multiplied(op) for op in loads):
        return None
    copied = [op.results[0] for op in loads if _is_block(op.results[0])]
    kept = {value for dot in dots_of(loop) for value in (dot.a, dot.b) if _is_outside(value, loop)}
    room, each = launch.room - sum(map(_bytes, kept)), max(sum(map(_bytes, copied)), 1)
    wanted, least = launch.stages_of(loop), LEAST_STAGES_OF_CHAIN if is_chain else LEAST_STAGES
    clocks = sum(map(product_clocks, dots_of(loop)))
    if not is_chain:
        wanted = max(wanted, -(-CLOCKS_UNDER_WAY // clocks))
    stages = min(wanted, (room - _bytes(result)) // each)
    is_cut = stages < least and not is_chain and launch.stores_parts and _is_cut_by_registers(dots_of(loop)[0], result)
    if is_cut:
        stages = min(wanted, (room - _bytes(result) // PARTS[-1]) // each)
    if stages < least or (launch.sums_of(loop) < LEAST_SUMS and stages * clocks < CLOCKS_UNDER_WAY):
        return None
    return stages if is_chain or _needs_no_memory(result, loop, reductions=not is_cut) else None


def _needs_no_memory(result: SSAValue, loop: scf.ForOp, *, reductions: bool) -> bool:
    """Return whether what is stored comes of a loop's results element by element, with vectors that are loaded, or
    reduced where that is allowed.
    """
    stack, seen = [result], set[SSAValue]()
    while stack:
        value = stack.pop()
        op = value.owner
        if value in seen or not is_tensor(value.type) or not isinstance(op, Operation) or op is loop:
            continue
        seen.add(value)
        is_vector = not _is_block(value)
        if isinstance(op, arith.ConstantOp | tt.SplatOp | tt.MakeRangeOp) or (is_vector and isinstance(op, tt.LoadOp)):
            continue
        is_reduced = reductions and is_vector and isinstance(op, tt.ReduceOp)
        is_moved = isinstance(op, tt.ExpandDimsOp | tt.BroadcastOp)
        if not (is_reduced or is_moved or (is_elementwise_class(type(op)) and is_memory_free(op) and not op.regions)):
            return False
        stack += op.operands
    return True


def result_bytes(whole: int, room: int) -> int | None:
    """Return how large a buffer for a result of `whole` bytes is, as there is room for it, or None."""
    return next((whole // parts for parts in PARTS if whole // parts <= room), None)


def _is_narrow(dot: tt.DotOp) -> bool:
    """Return whether `wgmma` multiplies elements of that width, and as the kernel asks for."""
    bits = bit_width(as_tensor(dot.a.type).element_type)
    return bits <= 16 or (bits == 32 and InputPrecision.of(dot.input_precision) is InputPrecision.TF32)


def _is_cut_by_registers(dot: tt.DotOp, result: SSAValue) -> bool:
    """Return whether columns of a product, or its rows, are in different registers of the same threads: `wgmma` deals
    the other ones to warps. Columns of a part are copied by the line of shared memory, at least.
    """
    shape = _shape(dot.d)
    has_lines = shape[-1] * bit_width(as_tensor(result.type).element_type) >= PARTS[-1] * BITS_OF_LINE
    return has_lines and min(shape) >= LEAST_ROWS and _shape(result) == shape


def _shape(value: SSAValue) -> tuple[int, ...]:
    return as_tensor(value.type).get_shape()


def _sums_up_parts(dot: tt.DotOp) -> bool:
    """Return whether a product of 8-bit floats may not add up all of a block in the hardware's narrow accumulator."""
    type = as_tensor(dot.a.type)
    is_narrow = isinstance(type.element_type, Float8E4M3FNType | Float8E5M2Type)
    return is_narrow and dot.max_num_imprecise_acc.value.data <= type.get_shape()[1]


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
