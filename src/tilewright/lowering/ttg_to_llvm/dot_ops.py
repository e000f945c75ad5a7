"""tt.dot: tiles by `mma.sync` where the result has the layout of that instruction, else products and sums in threads.

Registers are found by coordinates. Lanes and warps move the rows of A as they move those of the result, and the columns
of B likewise, so the register of A that belongs to a register of the result is the one with the same constant row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue

from tilewright.dialects import tt, ttg
from tilewright.dialects.types import as_tensor
from tilewright.layouts.access import span_of
from tilewright.layouts.distributed import REGISTER, NvidiaMmaLayout
from tilewright.layouts.linear import LinearLayout
from tilewright.lowering.ttg_to_llvm.float_conversions import compute_type, convert
from tilewright.lowering.ttg_to_llvm.function_lowering import GpuFunctionLowering, lowers
from tilewright.lowering.ttg_to_llvm.mma import emit_mma
from tilewright.lowering.ttg_to_llvm.types import ElementType
from tilewright.lowering.unsupported import UnsupportedError
from tilewright.support.records import dataclass

_SUFFIXES = {"half": "f16", "bfloat": "bf16", "float": "f32", "double": "f64"}


@lowers(tt.DotOp)
def lower_dot(op: tt.DotOp, fn: GpuFunctionLowering) -> None:
    encoding = as_tensor(op.d.type).encoding
    layout = encoding.tensor_layout if isinstance(encoding, ttg.DistributedEncoding) else None
    if isinstance(layout, NvidiaMmaLayout):
        if layout.is_hopper:
            raise UnsupportedError("tt.dot with the layout of a warp group: expected ttng.warp_group_dot")
        fn.set(op.d, emit_mma(op, fn))
    else:
        fn.set(op.d, _emit_products(op, fn))


def register_coordinates(layout: LinearLayout) -> list[tuple[int, ...]]:
    """Per register its coordinates in the thread with number 0."""
    return [layout.unpack(value) for value in span_of(layout.packed_bases[REGISTER])]


@dataclass(frozen=True)
class _Operand:
    """Registers by their coordinates without the batch's and along K."""

    registers: dict[tuple[int, ...], str]

    def at(self, *coordinates: int) -> str:
        return self.registers[coordinates]


def _emit_products(op: tt.DotOp, fn: GpuFunctionLowering) -> Sequence[str]:
    """c + sum over k of a * b, for each register of the result; registers that repeat are computed once."""
    result = fn.element(op.d)
    a, b = (_operand(fn, value, result) for value in (op.a, op.b))
    depth = as_tensor(op.a.type).get_shape()[-1]
    sums: dict[tuple[int, ...], str] = {}
    accumulators = fn.registers(op.c)
    multiply = _multiply_add(fn, result)
    for coordinates, start in zip(register_coordinates(fn.layout(op.d)), accumulators, strict=True):
        if coordinates in sums:
            continue
        *batch, row, column = coordinates
        total = start
        for k in range(depth):
            total = multiply(a.at(*batch, row, k), b.at(*batch, k, column), total)
        sums[coordinates] = total
    return [sums[coordinates] for coordinates in register_coordinates(fn.layout(op.d))]


def _operand(fn: GpuFunctionLowering, value: SSAValue, result: ElementType) -> _Operand:
    """The registers of an operand in the type of the sums, by coordinates."""
    element = fn.element(value)
    registers = fn.registers(value)
    distinct = list(dict.fromkeys(registers))
    if result.is_float:
        widened = convert(fn, distinct, element, compute_type(result))
    elif element.text == result.text:
        widened = distinct
    else:
        widened = [fn.text.cast("sext", element.text, operand, result.text) for operand in distinct]
    by_register = dict(zip(distinct, widened, strict=True))
    coordinates = register_coordinates(fn.layout(value))
    return _Operand({place: by_register[operand] for place, operand in zip(coordinates, registers, strict=True)})


def _multiply_add(fn: GpuFunctionLowering, element: ElementType) -> Callable[[str, str, str], str]:
    """a * b + c: one fused operation on floats where they may fuse."""
    text, type = fn.text, element.text
    if not element.is_float:
        return lambda a, b, c: text.binary("add", type, text.binary("mul", type, a, b), c)
    if fn.module.fuses:
        name = f"llvm.fma.{_SUFFIXES[type]}"
        return lambda a, b, c: text.call(type, name, [(type, a), (type, b), (type, c)])
    return lambda a, b, c: text.binary("fadd", type, text.binary("fmul", type, a, b), c)
