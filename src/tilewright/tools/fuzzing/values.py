"""What the generator knows of the values of the kernel that it writes."""

from __future__ import annotations

from dataclasses import field
from math import prod

from tilewright.support.records import dataclass

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTS = (*SIGNED, *UNSIGNED)
FLOATS = ("float16", "bfloat16", "float32", "float64")
FP8 = ("float8e5", "float8e4nv")
"""Types that are loaded, stored and converted, and computed with where special numbers are."""
BOOL = "int1"

BITS = {name: int(name.lstrip("uintfloab")) for name in (*INTS, *FLOATS)} | {BOOL: 1}
EPSILON = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23, "float64": 2.0**-52}
"""Distance from 1 to the next larger number."""

LARGE = 64.0
"""Floats are kept below about this, so that nothing overflows and products stay comparable."""

FILL = 77.0
"""What outputs hold before anything is stored to them."""

SHAPES: tuple[tuple[int, ...], ...] = (
    (1,), (2,), (8,), (16,), (32,), (64,), (128,), (512,), (4, 8), (8, 4), (16, 16), (32, 16), (16, 32), (1, 16),
    (16, 1), (2, 64), (32, 32),
)  # fmt: skip

LARGE_SHAPES: tuple[tuple[int, ...], ...] = ((2048,), (64, 64), (128, 32), (32, 128), (4, 512))
"""Shapes of a few kernels."""

GLUON = "gluon"
"""The feature of kernels that are written in Gluon."""

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


@dataclass(frozen=True)
class Value:
    """A variable or expression: type, shape (() for a scalar), and for floats what rounding can do to it.

    Engines may add up in any order and may keep more bits between operations. `slack` bounds how far two of them can be
    apart: 0 for values that all must agree on. Only those decide anything (conditions, indices, conversions to
    integers).
    """

    text: str
    dtype: str
    shape: tuple[int, ...] = ()
    bound: float = 0.0
    slack: float = 0.0

    @property
    def is_float(self) -> bool:
        return self.dtype in FLOATS

    @property
    def is_exact(self) -> bool:
        return self.slack == 0.0

    @property
    def size(self) -> int:
        return prod(self.shape)

    def same_kind(self, other: Value) -> bool:
        return self.dtype == other.dtype and self.shape == other.shape


@dataclass(frozen=True)
class Argument:
    """A pointer argument: `count` elements, inputs with random contents, outputs with a recognisable filling."""

    name: str
    dtype: str
    count: int
    contents: str = "random"
    """`random`, `fill`, `zeros`, `index:N` for integers in [0, N), or `special` for floats with all that is not an
    ordinary number among them."""
    slack: float = 0.0
    within: str = ""
    """The argument whose memory it lies in, if it has none of its own."""
    start: int = 0
    """Bytes from where that one starts."""


@dataclass(frozen=True)
class GeneratedKernel:
    """A kernel and the launch that it is meant for."""

    source: str
    arguments: tuple[Argument, ...]
    scalars: dict[str, int | float]
    grid: tuple[int, ...]
    options: dict[str, int | bool]
    data_seed: int
    features: frozenset[str] = field(default_factory=frozenset[str])
    """Names of the constructs that occur, for statistics and for engines that lack one."""
