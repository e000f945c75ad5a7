"""Numbers of the microscaling formats as PyTorch tensors, to make operands of `tl.dot_scaled` with: what Triton calls
`triton.tools.mxfp`.

    values = MXFP4Tensor(size=(128, 64)).random()                  # codes of e2m1, one a byte
    a = values.to_packed_tensor(dim=1)                             # uint8 [128, 32]: two codes a byte, the first below
    scales = MXScaleTensor(size=(128, 2)).random(high=32.0)        # codes of e8m0: powers of two
    values.to(torch.float32) * scales.to(torch.float32).repeat_interleave(32, dim=1)

Formats: OCP Microscaling Formats (MX) Specification 1.0, sections 5.3.3 and 5.4.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from typing import Any

from tilewright.support.errors import ArgumentTypeError, ArgumentValueError

E2M1 = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
"""The numbers without a sign, by their code."""

SIGN_BIT = 3
"""The bit of a code that is the sign."""

BIAS = 127
NAN = 255
"""The one code of e8m0 that is not a power of two."""

Size = int | tuple[int, ...]


class MXFP4Tensor:
    """A tensor of e2m1: a sign, two bits of exponent, one of mantissa. `data` holds the codes, one a byte."""

    def __init__(self, data: Any = None, size: Size | None = None, device: Any = None) -> None:
        """Of float32 numbers, rounded to the nearest (ties to even) and no further from zero than 6, as NaNs are; or of
        a size, to be filled by `random`."""
        self.size = _size_of(data, size)
        self.device = device if data is None else data.device
        if data is not None:
            self.data = _encode_e2m1(data)

    def random(self) -> MXFP4Tensor:
        """Any codes. Returns the tensor itself."""
        torch = _torch()
        self.data = torch.randint(0, 16, self.size, dtype=torch.uint8, device=self.device)
        return self

    def to(self, dtype: Any) -> Any:
        """The numbers, as a tensor of `torch.float32`."""
        torch = _checked(dtype)
        magnitudes = torch.tensor(E2M1, dtype=dtype, device=self.data.device)[(self.data & 7).long()]
        return torch.where(self.data >> SIGN_BIT & 1 != 0, -magnitudes, magnitudes)

    def to_packed_tensor(self, dim: int) -> Any:
        """Two codes a byte along a dimension, the first of a pair in the lower half; an odd one is paired with 0."""
        torch = _torch()
        if not 0 <= dim < self.data.ndim:
            raise ArgumentValueError("dim", str(dim), f"a dimension of {self.data.ndim}")
        pairs = self.data.movedim(dim, -1)
        if pairs.shape[-1] % 2:
            pairs = torch.nn.functional.pad(pairs, (0, 1))
        return (pairs[..., 1::2] << 4 | pairs[..., ::2]).movedim(-1, dim).contiguous()

    def unpack_packed_tensor(self, packed_tensor: Any, dim: int, original_shape: Sequence[int]) -> Any:
        """The codes that were packed along a dimension of a tensor of `original_shape`, one a byte."""
        torch = _torch()
        pairs = packed_tensor.movedim(dim, -1)
        codes = torch.stack((pairs & 15, pairs >> 4), dim=-1).flatten(-2)
        return codes[..., : original_shape[dim]].movedim(-1, dim).contiguous().to(torch.uint8)


class MXScaleTensor:
    """A tensor of e8m0, the scales of groups of numbers: 2^(code - 127), or NaN for the code 255, in `data`."""

    def __init__(self, data: Any = None, size: Size | None = None, device: Any = None) -> None:
        """Of float32 numbers, rounded down to powers of two; what is not positive and finite becomes NaN. Or of a size,
        to be filled by `random`."""
        self.size = _size_of(data, size)
        self.device = device if data is None else data.device
        if data is not None:
            self.data = _encode_e8m0(data)

    def random(self, low: float | None = None, high: float | None = None) -> MXScaleTensor:
        """Powers of two between two numbers, never NaN. Returns the tensor itself."""
        torch = _torch()
        smallest = 0 if low is None else max(0, math.floor(math.log2(low)) + BIAS)
        largest = NAN - 1 if high is None else min(NAN - 1, max(0, math.floor(math.log2(high)) + BIAS))
        if smallest > largest:
            raise ArgumentValueError("low", f"{low}, more than high = {high}", "at most that")
        self.data = torch.randint(smallest, largest + 1, self.size, dtype=torch.uint8, device=self.device)
        return self

    def to(self, dtype: Any) -> Any:
        """The scales, as a tensor of `torch.float32`."""
        _checked(dtype)
        return fp8e8m0_to_float32(self.data)


def fp8e8m0_to_float32(scale: Any) -> Any:
    """Codes of e8m0, one a byte, as a tensor of `torch.float32`."""
    torch = _torch()
    codes = scale.view(torch.uint8)
    powers = torch.ldexp(torch.ones_like(codes, dtype=torch.float64), codes.to(torch.int32) - BIAS)
    return torch.where(codes == NAN, math.nan, powers.to(torch.float32))


def _torch() -> Any:
    try:
        return import_module("torch")
    except ImportError:
        raise ImportError("triton.tools.mxfp makes PyTorch tensors; pip install torch") from None


def _checked(dtype: Any) -> Any:
    torch = _torch()
    if dtype is not torch.float32:
        raise ArgumentValueError("dtype", str(dtype), "torch.float32")
    return torch


def _size_of(data: Any, size: Size | None) -> tuple[int, ...]:
    if data is None and size is None:
        raise ArgumentValueError("data", "None", "a tensor of numbers, or `size`")
    if data is None:
        return size if isinstance(size, tuple) else (size or 0,)
    if not isinstance(data, _torch().Tensor):
        raise ArgumentTypeError("data", f"a {type(data).__name__}", "a PyTorch tensor")
    return tuple(data.shape)


def _encode_e2m1(values: Any) -> Any:
    torch = _torch()
    magnitudes = torch.where(values.isnan(), E2M1[-1], values.abs())
    codes = torch.zeros(values.shape, dtype=torch.uint8, device=values.device)
    for upper, (below, above) in enumerate(pairwise(E2M1), start=1):
        middle = (below + above) / 2
        codes += magnitudes >= middle if upper % 2 == 0 else magnitudes > middle
    return codes | torch.signbit(values).to(torch.uint8) << SIGN_BIT


def _encode_e8m0(values: Any) -> Any:
    torch = _torch()
    exponents = torch.frexp(values)[1] - 1
    codes = (exponents + BIAS).clamp(0, NAN - 1)
    return torch.where((values > 0) & values.isfinite(), codes, NAN).to(torch.uint8)
