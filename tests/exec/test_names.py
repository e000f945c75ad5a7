"""Functions may have every name that Python has: files for C and PTX have fewer letters."""

from __future__ import annotations

import numpy as np
import pytest

from tilewright import compat
from tilewright.codegen.nvptx.names import ptx_name
from tilewright.support import knobs

with compat.standing_in():
    import triton
    import triton.language as tl


@triton.jit(noinline=True)
def größer(wert):
    return wert + 1


@triton.jit(noinline=True)
def hŶ(wert):
    return wert + 10


@triton.jit(noinline=True)
def hǶ(wert):
    """Its last letter has the low byte of that of the function above."""
    return wert + 100


@triton.jit
def füllen(ziel, wert):
    tl.store(ziel, größer(hŶ(hǶ(wert))))


@pytest.mark.parametrize("target", ["cpu", "cuda_sim", "reference"])
def test_names_of_functions(target: str) -> None:
    x = np.zeros(1, np.int32)
    with knobs.scope(target=target):
        füllen[(1,)](x, 5)
        assert x[0] == 116


def test_names_that_ptx_has_no_letters_for() -> None:
    assert ptx_name("add_kernel", is_kernel=True) == "add_kernel"
    assert ptx_name("kö", is_kernel=True) == "k$F6$"
    assert ptx_name("3.x", is_kernel=True) == "_3$2E$x"
    assert ptx_name("module.f<ö>", is_kernel=False) == "module.f$3C$$F6$$3E$"
