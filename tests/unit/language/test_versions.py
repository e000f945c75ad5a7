"""The switch `triton_version`: what is reported, what is deprecated, what is not there yet."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import tilewright.language as tl
from tilewright import compat
from tilewright.frontend import JITCallable, compile_to_tt
from tilewright.frontend import language_function as jit
from tilewright.support import knobs
from tilewright.support.errors import CompilationError, KnobError


@jit
def polls(x_ptr):
    tl.atomic_poll(x_ptr, 1)


@jit
def squeezes(x_ptr):
    tl.squeeze(tl.arange(0, 4)[None, :], 0)


@jit
def divides(x_ptr):
    tl.fdiv(1.0, 2.0, approx=True)


@jit
def divides_exactly(x_ptr):
    tl.store(x_ptr, tl.fdiv(tl.load(x_ptr).to(tl.float32), 2.0))


@jit
def names(x_ptr):
    if (x := tl.load(x_ptr)) > 1:
        tl.store(x_ptr, x + 1)


@jit
def chains(x_ptr):
    if 1 < tl.load(x_ptr) < 3:
        tl.store(x_ptr, 1)


@jit
def block_pointer(x_ptr):
    tl.make_block_ptr(x_ptr, (4,), (1,), (0,), (4,), (0,))


def build(kernel: JITCallable) -> None:
    compile_to_tt(kernel, {"x_ptr": "*i32"}).verify()


@pytest.mark.parametrize("version", ["3.6", "3.7", "3.8", "3.9"])
@pytest.mark.parametrize(
    ("kernel", "since", "what"),
    [
        (polls, "3.9", "`tl.atomic_poll`"),
        (squeezes, "3.7", "`tl.squeeze`"),
        (divides, "3.9", "the argument `approx` of `tl.fdiv`"),
        (names, "3.8", "`:=`"),
        (chains, "3.9", "a chain of comparisons"),
    ],
)
def test_what_came_later_is_an_error(kernel: JITCallable, since: str, what: str, version: str) -> None:
    with knobs.scope(triton_version=version):
        if version >= since:
            build(kernel)
            return
        with pytest.raises(CompilationError) as caught:
            build(kernel)
    assert caught.value.message == f"{what} came with Triton {since}; Triton {version} is asked for"
    assert caught.value.hint == f"set TILEWRIGHT_TRITON_VERSION={since} or later, or unset it"
    assert caught.value.line > kernel.source.start_line


def test_what_was_there_stays() -> None:
    with knobs.scope(triton_version="3.6"):
        build(divides_exactly)


@pytest.mark.parametrize(("version", "warns"), [("3.6", False), ("3.7", True), ("3.9", True)])
def test_block_pointers_are_deprecated(version: str, warns: bool) -> None:
    with knobs.scope(triton_version=version), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        build(block_pointer)
    assert ["tl.make_block_ptr is deprecated" in str(w.message) for w in caught] == [True] * warns


@pytest.mark.parametrize("version", ["3.6", "3.9"])
def test_the_version_is_reported(version: str) -> None:
    with knobs.scope(triton_version=version), compat.standing_in():
        import triton

        reported: Any = triton.__version__
    assert reported == f"{version}.0"


def test_other_versions_are_refused() -> None:
    with pytest.raises(KnobError, match=r"'3\.5' is not one of '3\.6'"), knobs.scope(triton_version="3.5"):
        pass
