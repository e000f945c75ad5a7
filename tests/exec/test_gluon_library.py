"""Functions of vendors' libraries in kernels written in Gluon."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright import compat, gluon
from tilewright.language import gluon as gl
from tilewright.support import knobs

with compat.standing_in():
    from triton.experimental.gluon.language.extra import libdevice

ROW = gl.BlockedLayout([1], [32], [4], [0])


@gluon.jit
def roots_and_powers(x_ptr, y_ptr, layout: gl.constexpr):
    lanes = gl.arange(0, 128, layout=layout)
    x = gl.load(x_ptr + lanes)
    gl.store(y_ptr + lanes, libdevice.cbrt(x) + gl.extra.libdevice.exp2(x))


@pytest.mark.parametrize("target", ["cpu", "reference", "cuda_sim"])
def test_functions_of_libdevice(target: str) -> None:
    x, y = np.random.default_rng(1).random(128).astype(np.float32), np.zeros(128, np.float32)
    with knobs.scope(target=target):
        roots_and_powers[(1,)](x, y, ROW)
    np.testing.assert_allclose(y, np.cbrt(x) + np.exp2(x), rtol=1e-6)
