"""What the ops of a loop take on a Hopper multiprocessor: clocks of its pipes, and registers of a thread.

Rates are operations of the whole multiprocessor in a clock, from the table of arithmetic throughput in NVIDIA's CUDA
programming guide (compute capability 9.0), and from the dense peak of the H100 for its tensor cores.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from xdsl.dialects.builtin import FixedBitwidthType
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects import arith, scf, tt, ttng
from tilewright.dialects.arithmetic import is_arithmetic
from tilewright.dialects.ttg.constraints import as_memdesc
from tilewright.dialects.ttg.verification import DEFAULT_THREADS_PER_WARP as THREADS_PER_WARP
from tilewright.dialects.types import is_tensor
from tilewright.transforms.ttg.conversion_cost import is_expensive

TENSOR_BITS = 2048 * 16
"""Multiply-adds of the tensor cores, times the bits of an operand: half as many of twice the width."""
SPECIAL_FUNCTIONS = 16
FLOAT_ARITHMETIC = 128
OTHER_ARITHMETIC = 64
"""Comparisons, minima and maxima, conversions, integers."""

REGISTER_BITS = 32
MAX_REGISTERS = 255
"""Of a thread."""
REGISTER_FILE = 65536
"""Registers of a multiprocessor."""

_FLOAT_OPS = (arith.AddfOp, arith.SubfOp, arith.MulfOp)


def _bits(element: Attribute) -> int:
    return element.bitwidth if isinstance(element, FixedBitwidthType) else REGISTER_BITS


def _elements(value: SSAValue) -> int:
    return prod(value.type.get_shape()) if is_tensor(value.type) else 0


def product_clocks(op: ttng.WarpGroupDotOp | tt.DotOp) -> int:
    """Return how long a product keeps the tensor cores."""
    type = op.b.type if is_tensor(op.b.type) else as_memdesc(op.b.type)
    return _elements(op.d) * type.get_shape()[0] * _bits(type.element_type) // TENSOR_BITS


def vector_clocks(ops: Iterable[Operation]) -> int:
    """Return how long some ops keep the other pipes, one after the other."""
    return sum(_vector_clocks(op) for op in ops)


def _vector_clocks(op: Operation) -> int:
    if isinstance(op, scf.IfOp):
        return max(vector_clocks(inner for block in region.blocks for inner in block.ops) for region in op.regions)
    if isinstance(op, tt.ReduceOp):
        combining = [inner for inner in op.walk() if inner is not op and is_arithmetic(inner)]
        rate = FLOAT_ARITHMETIC if all(isinstance(inner, _FLOAT_OPS) for inner in combining) else OTHER_ARITHMETIC
        return _elements(op.operands[0]) * len(combining) // rate
    if not is_arithmetic(op) or isinstance(op, arith.ConstantOp):
        return 0
    elements = max((_elements(result) for result in op.results), default=0)
    if is_expensive(op):
        return elements // SPECIAL_FUNCTIONS
    return elements // (FLOAT_ARITHMETIC if isinstance(op, _FLOAT_OPS) else OTHER_ARITHMETIC)


def registers_of(value: SSAValue, num_warps: int) -> int:
    """The registers of a thread that a tensor takes, spread over all threads."""
    if not is_tensor(value.type):
        return 0
    return _elements(value) * _bits(value.type.element_type) // (REGISTER_BITS * THREADS_PER_WARP * num_warps)


def registers_at_hand(num_warps: int) -> int:
    """The registers of a thread, when one block has the multiprocessor to itself."""
    return min(MAX_REGISTERS, REGISTER_FILE // (THREADS_PER_WARP * num_warps))
