"""`tl.math`: the element-wise functions under one name."""

from tilewright.language.elementwise import (
    abs as abs,
    ceil as ceil,
    cos as cos,
    div_rn as div_rn,
    erf as erf,
    exp as exp,
    exp2 as exp2,
    fdiv as fdiv,
    floor as floor,
    fma as fma,
    log as log,
    log2 as log2,
    rsqrt as rsqrt,
    sin as sin,
    sqrt as sqrt,
    sqrt_rn as sqrt_rn,
    umulhi as umulhi,
)
from tilewright.support import late as _late

__all__ = _late.public_names(__name__)  # pyright: ignore[reportUnsupportedDunderAll]
