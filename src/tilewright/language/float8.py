"""fp8e4b15 from and to float16, by bits: the format has 4 exponent bits with bias 15, like float16's 5, and 3
fraction bits."""

from __future__ import annotations

from tilewright.language import dtypes as dt
from tilewright.language.arithmetic import add, and_, or_, shl, shr
from tilewright.language.casts import bitcast_to, cast_to
from tilewright.language.creation import LARGEST_FP8E4B15
from tilewright.language.elementwise import minimum
from tilewright.language.values import tensor


def decode_fp8e4b15(value: tensor) -> tensor:
    """s eeee mmm becomes s 0eeee mmm0000000: the same number, as float16."""
    bits = cast_to(bitcast_to(value, dt.uint8), dt.uint16)
    sign = shl(and_(bits, 0x80), 8)
    magnitude = shl(and_(bits, 0x7F), 7)
    return bitcast_to(cast_to(or_(sign, magnitude), dt.uint16), dt.float16)


def encode_fp8e4b15(value: tensor) -> tensor:
    """Clamp the magnitude to 1.75, as official Triton does (the largest code is left out), and round the fraction to
    three bits, halves away from zero."""
    bits = bitcast_to(value, dt.uint16)
    sign = shr(and_(bits, 0x8000), 8)
    magnitude = minimum(and_(bits, 0x7FFF), LARGEST_FP8E4B15)
    rounded = shr(cast_to(add(magnitude, 0x40), dt.uint16), 7)
    byte = cast_to(or_(sign, rounded), dt.uint8)
    ty = value.type.with_element_ty(dt.float8e4b15)
    return tensor(byte.handle, ty)
