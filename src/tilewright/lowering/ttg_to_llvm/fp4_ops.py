"""ttg.fp4_to_fp: two 4-bit floats (e2m1: a sign, two bits of exponent, one of mantissa) per byte.

The bits of exponent and mantissa, put where those of the wider format are, give the value times a power of two, also
where it is subnormal; one exact product undoes it. Both elements of a byte are done at once, in the halves of a word;
that of the low nibble comes first along the axis.

```llvm
%s = shl i32 %byte, 12
%n = or i32 %byte, %s                                       ; nibbles in bits 0 to 3 and 16 to 19
%m = and i32 (shl i32 %n, 6), 0x01C001C0                    ; bf16: 2 bits of exponent above 7 of mantissa
%b = or disjoint i32 %m, (and i32 (shl i32 %n, 12), 0x80008000)
%v = fmul <2 x bfloat> (bitcast i32 %b), splat (0xR7E80)    ; 2^126
```
"""

from __future__ import annotations

from tilewright.dialects import ttg
from tilewright.layouts.access import span_of
from tilewright.layouts.distributed import REGISTER
from tilewright.lowering.ttg_to_llvm.function_lowering import GpuFunctionLowering, lowers
from tilewright.lowering.ttg_to_llvm.types import F16
from tilewright.support.records import dataclass

HIGH_NIBBLE_SHIFT = 12
"""From bits 4 to 7 of a byte to the lower bits of the other half of a word."""
SIGN_SHIFT, SIGNS = 12, 0x8000_8000


@dataclass(frozen=True)
class _Format:
    """A 16-bit float: its LLVM type, how far exponent and mantissa move to their places, and the power of two that
    makes up for the difference of the biases."""

    text: str
    shift: int
    factor: str

    @property
    def magnitudes(self) -> int:
        """The bits of exponent and mantissa in both halves of a word."""
        return 0x0007_0007 << self.shift


HALF = _Format("half", 9, "0xH7400")
BFLOAT = _Format("bfloat", 6, "0xR7E80")


@lowers(ttg.Fp4ToFpOp)
def lower_fp4_to_fp(op: ttg.Fp4ToFpOp, fn: GpuFunctionLowering) -> None:
    axis = op.axis.value.data
    source, target = fn.layout(op.src), fn.layout(op.result)
    bytes_at = {
        source.unpack(packed): operand
        for packed, operand in zip(span_of(source.packed_bases[REGISTER]), fn.registers(op.src), strict=True)
    }
    wide = HALF if fn.element(op.result) == F16 else BFLOAT
    made: dict[str, tuple[str, str]] = {}
    results: list[str] = []
    for packed in span_of(target.packed_bases[REGISTER]):
        coordinates = list(target.unpack(packed))
        nibble = coordinates[axis] & 1
        coordinates[axis] >>= 1
        byte = bytes_at[tuple(coordinates)]
        if byte not in made:
            made[byte] = _widened(fn, byte, wide)
        results.append(made[byte][nibble])
    fn.set(op.result, results)


def _widened(fn: GpuFunctionLowering, byte: str, wide: _Format) -> tuple[str, str]:
    """Both elements of a byte."""
    text = fn.text
    word = text.cast("zext", "i8", byte, "i32")
    nibbles = text.binary("or", "i32", word, text.binary("shl", "i32", word, HIGH_NIBBLE_SHIFT))
    magnitudes = text.binary("and", "i32", text.binary("shl", "i32", nibbles, wide.shift), wide.magnitudes)
    signs = text.binary("and", "i32", text.binary("shl", "i32", nibbles, SIGN_SHIFT), SIGNS)
    bits = text.binary("or disjoint", "i32", magnitudes, signs)
    pair = f"<2 x {wide.text}>"
    small = text.cast("bitcast", "i32", bits, pair)
    factors = f"<{wide.text} {wide.factor}, {wide.text} {wide.factor}>"
    values = text.binary("fmul", pair, small, factors)
    low, high = (text.extract_element(pair, values, half) for half in (0, 1))
    return low, high
