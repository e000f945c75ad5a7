"""ttg.fp4_to_fp: two 4-bit floats (e2m1: a sign, two bits of exponent, one of mantissa) per byte.

The bits of exponent and mantissa, put where those of the wider format are, give the value times a power of two, also
where it is subnormal; one exact product undoes it. Elements of low nibbles come first along the axis.

```llvm
%m = and i32 %nibble, 7
%b = shl i32 %m, 22                                   ; f32: 2 bits of exponent above 23 of mantissa
%f = fmul float (bitcast i32 %b), 0x47D0000000000000  ; 2^126
```
"""

from __future__ import annotations

from tilewright.codegen.llvm_text import f32_constant
from tilewright.dialects import ttg
from tilewright.layouts.access import span_of
from tilewright.layouts.distributed import REGISTER
from tilewright.lowering.ttg_to_llvm.function_lowering import FunctionLowering, lowers
from tilewright.lowering.ttg_to_llvm.types import F16

SCALE = f32_constant(2.0**126)
HALF_SCALE = "0xH7400"
"""2^14."""


@lowers(ttg.Fp4ToFpOp)
def lower_fp4_to_fp(op: ttg.Fp4ToFpOp, fn: FunctionLowering) -> None:
    axis = op.axis.value.data
    source, target = fn.layout(op.src), fn.layout(op.result)
    bytes_at = {
        source.unpack(packed): operand
        for packed, operand in zip(span_of(source.packed_bases[REGISTER]), fn.registers(op.src), strict=True)
    }
    widen = _to_half if fn.element(op.result) == F16 else _to_bfloat
    made: dict[tuple[str, int], str] = {}
    results: list[str] = []
    for packed in span_of(target.packed_bases[REGISTER]):
        coordinates = list(target.unpack(packed))
        nibble = coordinates[axis] & 1
        coordinates[axis] >>= 1
        key = (bytes_at[tuple(coordinates)], nibble)
        if key not in made:
            made[key] = widen(fn, *key)
        results.append(made[key])
    fn.set(op.result, results)


def _bits(fn: FunctionLowering, byte: str, nibble: int, type: str, *, magnitude_shift: int, sign_shift: int) -> str:
    """Sign, exponent and mantissa of one nibble at their places in an integer of the wider format."""
    text = fn.text
    wide = text.value(f"zext i8 {byte} to {type}")
    places: list[str] = []
    for mask, shift in ((7 << 4 * nibble, magnitude_shift - 4 * nibble), (8 << 4 * nibble, sign_shift - 4 * nibble)):
        kept = text.value(f"and {type} {wide}, {mask}")
        places.append(text.value(f"shl {type} {kept}, {shift}"))
    return text.value(f"or disjoint {type} {places[0]}, {places[1]}")


def _to_half(fn: FunctionLowering, byte: str, nibble: int) -> str:
    bits = _bits(fn, byte, nibble, "i16", magnitude_shift=9, sign_shift=12)
    return fn.text.value(f"fmul half {fn.text.value(f'bitcast i16 {bits} to half')}, {HALF_SCALE}")


def _to_bfloat(fn: FunctionLowering, byte: str, nibble: int) -> str:
    text = fn.text
    bits = _bits(fn, byte, nibble, "i32", magnitude_shift=22, sign_shift=28)
    value = text.value(f"fmul float {text.value(f'bitcast i32 {bits} to float')}, {SCALE}")
    high = text.value(f"lshr i32 {text.value(f'bitcast float {value} to i32')}, 16")
    return text.value(f"bitcast i16 {text.value(f'trunc i32 {high} to i16')} to bfloat")
