"""Arguments of launches, and how parameters may treat them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from tilewright.runtime.specialization import ParameterRule

DATA = np.zeros(64, np.float32)
HIDDEN = [as_strided(DATA[8 * part :], (4,), (4,)) for part in range(3)]
"""Views whose owner is known, though not their base."""
LENT = [np.from_dlpack(DATA[8 * part :][:4]) for part in range(3)]
"""Views whose owner is hidden."""
GRID_DATA = np.zeros((8, 8), np.float32)

VALUES: list[Any] = [
    1, 0, 2, 16, -3, -16, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1, 2**33, 2**63 - 1, 10**400, True, False,
    None, 1.0, 0.0, -0.0, 2.5, -1e30, 1e300, float("inf"), np.int32(1), np.int64(16), np.int64(2**40), np.float32(0.5),
    np.float64(3.0),     np.bool_(True), DATA, DATA[1:], DATA[4:], DATA[::2], DATA[::-1], DATA.astype(np.int8),
    GRID_DATA.T, GRID_DATA[2:, 3:], np.zeros(0, np.float32), np.zeros((3, 5), order="F"),
    *HIDDEN, *LENT, np.frombuffer(bytes(256), np.float32)[16:],
]  # fmt: skip

RULES = [
    ParameterRule("x"),
    ParameterRule("x", is_constexpr=True),
    ParameterRule("x", is_const=True),
    ParameterRule("x", specialize=False),
    ParameterRule("x", specialize_alignment=False),
    *(ParameterRule("x", forced_type=kind) for kind in ("i8", "i32", "i64", "u8", "u64", "u1")),
    *(ParameterRule("x", forced_type=kind, specialize=False) for kind in ("fp16", "fp32", "fp64", "bf16", "*fp16")),
]
