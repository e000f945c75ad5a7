"""What a kernel was compiled with and that changes between launches: constants of modules and closures, sources."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright
import tilewright.language as tl
from tilewright.support.errors import ChangedGlobalError

LAUNCHES = 3
"""After so many, native code recognises a call."""

DEFAULT = 1
READ_FIRST = tl.constexpr(42)
WRITTEN_FIRST = 42
MUTATED = tl.constexpr(5)


def result(kernel: tilewright.JITFunction, *arguments: object) -> int:
    """What a kernel stores, launched by every path that there is."""
    x = np.zeros(1, np.int32)
    for _ in range(LAUNCHES):
        x[0] = -1
        kernel[(1,)](x, *arguments)
    return int(x[0])


@tilewright.jit
def has_a_default(x_ptr, value: tl.constexpr = DEFAULT):
    tl.store(x_ptr, value)


def test_defaults_are_those_of_the_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    assert result(has_a_default) == 1
    monkeypatch.setitem(globals(), "DEFAULT", 2)
    assert result(has_a_default) == 1


@tilewright.jit
def reads_first(x_ptr):
    tl.store(x_ptr, READ_FIRST)  # noqa: F823  # pyright: ignore[reportUnboundVariable]
    READ_FIRST = 3  # noqa: F841


def test_a_global_that_is_read_before_a_local_of_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    assert result(reads_first) == 42
    monkeypatch.setitem(globals(), "READ_FIRST", tl.constexpr(43))
    with pytest.raises(ChangedGlobalError, match="READ_FIRST has changed"):
        result(reads_first)


@tilewright.jit
def writes_first(x_ptr, N: tl.constexpr):
    _, WRITTEN_FIRST = 0, 7
    for DEFAULT in tl.static_range(N):
        WRITTEN_FIRST += DEFAULT  # pyright: ignore[reportConstantRedefinition]
    if (MUTATED := 1) > 0:
        WRITTEN_FIRST += MUTATED  # pyright: ignore[reportConstantRedefinition]
    steps: tl.constexpr = [DEFAULT * 2 for DEFAULT in (1, 2)]
    READ_FIRST: tl.constexpr = steps[0] + 1
    tl.store(x_ptr, WRITTEN_FIRST + READ_FIRST)


def test_locals_shadow_globals(monkeypatch: pytest.MonkeyPatch) -> None:
    assert result(writes_first, 3) == 14
    for name in ("WRITTEN_FIRST", "DEFAULT", "MUTATED", "READ_FIRST"):
        monkeypatch.setitem(globals(), name, 43)
    assert result(writes_first, 3) == 14


@tilewright.jit
def reads_a_constant(x_ptr):
    tl.store(x_ptr, MUTATED)


def test_constants_that_get_another_value() -> None:
    """The object is the same, what is in it is not."""
    captured = tl.constexpr(7)

    @tilewright.jit
    def reads_a_captured_one(x_ptr):
        tl.store(x_ptr, captured)

    try:
        assert (result(reads_a_constant), result(reads_a_captured_one)) == (5, 7)
        MUTATED.value, captured.value = 6, 8
        assert (result(reads_a_constant), result(reads_a_captured_one)) == (6, 8)
    finally:
        MUTATED.value = 5


@tilewright.jit
def answer():
    return 17


@tilewright.jit
def calls_it(x_ptr):
    tl.store(x_ptr, answer())


@tilewright.jit
def calls_an_argument(x_ptr, FUNCTION: tl.constexpr):
    tl.store(x_ptr, FUNCTION())


def test_functions_whose_source_is_replaced() -> None:
    source, keys = answer.src, {calls_it.cache_key}
    assert (result(calls_it), result(calls_an_argument, answer)) == (17, 17)
    try:
        answer._unsafe_update_src(source.replace("17", "18"))
        assert (result(calls_it), result(calls_an_argument, answer)) == (18, 18)
        keys.add(calls_it.cache_key)
    finally:
        answer._unsafe_update_src(source)
    assert (result(calls_it), result(calls_an_argument, answer)) == (17, 17)
    calls_it.hash = None
    assert calls_it.hash in keys and len(keys) == 2
