"""Assertions and prints.

A print calls a function that the back end provides, once for each lane of each operand. What is not data is said by
the declaration, so that no strings live in memory:

```mlir
tt.print " x: " {hex = false, isSigned = array<i32: 1>} : %x : tensor<8xi32>
// becomes
linalg.generic ins(%x : tensor<8xi32>) {
^bb0(%in: i32):
  %i = linalg.index 0 : index
  %v = arith.extsi %in : i32 to i64
  func.call @tilewright_print_0(%px, %py, %pz, %i, %v) : (i32, i32, i32, index, i64) -> ()
  linalg.yield
}
func.func private @tilewright_print_0(i32, i32, i32, index, i64) attributes {tilewright.print =
  {bits = 32 : i64, hex = false, operand = 0 : i64, operands = 1 : i64, prefix = " x: ", signed = true,
   widths = [1]}}
```
The arguments: program id x, y, z; the lane's index in each dimension; the value, floats as f64, integers as i64 (sign-
or zero-extended), where `hex` is set as the codes of floats. `widths` are the digits that the indices of each dimension
take. A print without operands is one call with the program ids
alone and ``operands = 0``.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects import arith, cf, func, gpu, tt, tts
from tilewright.dialects.attributes import NANOSECONDS, OF_BARRIER, PRINT
from tilewright.dialects.construction import static_values
from tilewright.dialects.types import bit_width, is_float
from tilewright.lowering.arith_to_linalg.elementwise import emit_float_cast
from tilewright.lowering.arith_to_linalg.lowering import LoweringContext, NotLowered, has_pointers, lowers
from tilewright.lowering.tensor_builder import element_of, shape_of


@lowers(tt.AssertOp)
def lower_assert(op: tt.AssertOp, f: LoweringContext) -> Sequence[SSAValue]:
    """
    ```mlir
    tt.assert %m, "bad" : tensor<16xi1>
    // becomes
    linalg.generic ins(%m : tensor<16xi1>) {
    ^bb0(%in: i1):
      cf.assert %in, "Assertion `bad` failed"
      linalg.yield
    }
    ```
    """
    if not f.options.assert_to_cf:
        raise NotLowered("assertions stay as they are (assert-to-cf=false)")
    attributes = {OF_BARRIER: op.attributes[OF_BARRIER]} if OF_BARRIER in op.attributes else {}
    message = op.message.data if attributes else f"Assertion `{op.message.data}` failed"
    if not isinstance(op.condition.type, TensorType):
        f.b.insert(cf.AssertOp(op.condition, message)).attributes.update(attributes)
        return ()

    def check(lanes: Sequence[SSAValue]) -> None:
        f.b.insert(cf.AssertOp(lanes[0], message))

    f.b.for_each_lane([op.condition], check)
    return ()


@lowers(tt.PrintOp)
def lower_print(op: tt.PrintOp, f: LoweringContext) -> Sequence[SSAValue]:
    """See the module's docstring."""
    if has_pointers(*op.args):
        raise NotLowered("pointers are not printed")
    if not f.grid:
        raise NotLowered("a print needs the program ids as arguments (pids-to-func-args=true)")
    signed = [bool(flag) for flag in static_values(op.is_signed)]
    if not op.args:
        _emit_call(op, f, [], 0, shape=(), bits=0, signed=False)
    for index, value in enumerate(op.args):
        _print_operand(op, f, value, index, signed=index < len(signed) and signed[index])
    return ()


def _print_operand(op: tt.PrintOp, f: LoweringContext, value: SSAValue, number: int, *, signed: bool) -> None:
    """All lanes of one operand."""
    shape, kind = tuple(shape_of(value)), element_of(value)
    bits = 64 if isinstance(kind, IndexType) else bit_width(kind)
    shows_code = is_float(kind) and bool(op.hex.value.data)

    def call(lanes: Sequence[SSAValue]) -> None:
        indices = [f.b.lane_index(dim) for dim in range(len(shape))]
        value = f.b.cast(arith.BitcastOp, lanes[0], IntegerType(bits)) if shows_code else lanes[0]
        _emit_call(op, f, [*indices, _widen(f, value, signed)], number, shape=shape, bits=bits, signed=signed)

    if shape:
        f.b.for_each_lane([value], call)
    else:
        call([value])


def _widen(f: LoweringContext, value: SSAValue, signed: bool) -> SSAValue:
    """The value as i64 or f64."""
    kind = value.type
    if isinstance(kind, IndexType):
        return f.b.cast(arith.IndexCastOp, value, i64)
    if is_float(kind):
        return emit_float_cast(f.b, value, f64)
    return f.b.cast(arith.ExtSIOp if signed and kind != i1 else arith.ExtUIOp, value, i64)


def _emit_call(
    op: tt.PrintOp,
    f: LoweringContext,
    values: Sequence[SSAValue],
    number: int,
    *,
    shape: tuple[int, ...],
    bits: int,
    signed: bool,
) -> None:
    """Declare the function of one operand and call it."""
    arguments = [*f.grid[3:], *values]
    types: list[Attribute] = [i32] * 3 + [value.type for value in values]
    meaning = DictionaryAttr(
        {
            "bits": IntegerAttr(bits, i64),
            "hex": op.hex,
            "operand": IntegerAttr(number, i64),
            "operands": IntegerAttr(len(op.args), i64),
            "prefix": op.prefix,
            "signed": IntegerAttr.from_bool(signed),
            "widths": ArrayAttr([IntegerAttr(len(str(extent - 1)), i64) for extent in shape]),
        }
    )
    name = f.declare("tilewright_print", types, {PRINT: meaning})
    f.b.insert(func.CallOp(name, arguments, ()))


@lowers(gpu.BarrierOp)
def lower_barrier(op: gpu.BarrierOp, f: LoweringContext) -> Sequence[SSAValue]:
    """Nothing: a program is one thread here, and does everything in order."""
    return ()


@lowers(tts.NanosecondsOp)
def lower_nanoseconds(op: tts.NanosecondsOp, f: LoweringContext) -> Sequence[SSAValue]:
    """A call of the runtime's clock."""
    f.declare_external(NANOSECONDS, [i64])
    return f.b.insert(func.CallOp(NANOSECONDS, (), (i64,))).results
