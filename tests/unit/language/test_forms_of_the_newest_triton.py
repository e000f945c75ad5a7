"""What official Triton 3.9's own tests show of its language that older programs do not use."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.support import knobs
from tilewright.support.errors import CompilationError


@triton.aggregate
class Square:
    side: tl.tensor

    @triton.must_use_result
    @triton.constexpr_function
    def power(self):
        return 2

    @triton.must_use_result("store it")
    @triton.jit
    def area(self):
        return self.side * self.side


@triton.jit
def uses_results(out_ptr):
    square = Square(tl.load(out_ptr))
    tl.store(out_ptr, square.area() + square.power())


@triton.jit
def drops_area(out_ptr):
    square = Square(tl.load(out_ptr))
    square.area()


@triton.jit
def drops_power(out_ptr):
    square = Square(tl.load(out_ptr))
    square.power()


def test_results_of_methods_must_be_used() -> None:
    out = np.array([3.0], np.float32)
    uses_results[(1,)](out)
    assert out[0] == 11
    with pytest.raises(CompilationError, match=r"The result of square\.area is not being used\. store it"):
        drops_area[(1,)](out)
    with pytest.raises(CompilationError, match=r"The result of square\.power is not being used"):
        drops_power[(1,)](out)


@triton.jit
def chooses(out_ptr):
    lanes = tl.arange(0, 4)
    tl.store(out_ptr + lanes, tl.where(lanes, 5, 3))


def test_conditions_of_where_that_are_numbers() -> None:
    out = np.zeros(4, np.int32)
    with pytest.warns(UserWarning, match=r"non-boolean condition is deprecated .* Got int32"):
        chooses[(1,)](out)
    np.testing.assert_array_equal(out, [3, 5, 5, 5])


@triton.jit
def draws(out_ptr, seed):
    tl.store(out_ptr, tl.rand(seed, 0))


@pytest.mark.parametrize("seed", [2.5, np.zeros(1, np.int32)], ids=["float", "pointer"])
def test_seeds_are_integers(seed: object) -> None:
    with pytest.raises(CompilationError, match="the seed must be an integer") as raised:
        draws[(1,)](np.zeros(1, np.float32), seed)
    assert "the seed must be an integer" in raised.value.error_message


@triton.jit(do_not_specialize=["N"])
def constant_and_not(out_ptr, N: tl.constexpr):
    tl.store(out_ptr, N)


def test_a_constant_is_specialised_on() -> None:
    with pytest.raises(CompilationError, match="N marked as constexpr and listed in do_not_specialize"):
        constant_and_not[(1,)](np.zeros(1, np.int32), 5)


@triton.jit
def absolute_values(x_ptr, out_ptr):
    lanes = tl.arange(0, 256)
    tl.store(out_ptr + lanes, tl.abs(tl.load(x_ptr + lanes)))


@pytest.mark.parametrize("target", ["cpu", "reference", "cuda_sim"])
def test_memory_of_the_format_without_infinities(target: str) -> None:
    """Codes of float8e4b15 in arrays of bytes; the largest bit is the sign."""
    codes = np.arange(256, dtype=np.uint8)
    out = np.zeros(256, np.uint8)
    with knobs.scope(target=target):
        absolute_values[(1,)](triton.reinterpret(codes, tl.float8e4b15), triton.reinterpret(out, tl.float8e4b15))
    np.testing.assert_array_equal(out, codes & 127)


def test_types_name_themselves_as_expressions() -> None:
    assert [repr(t) for t in (tl.int8, tl.float16, tl.bfloat16)] == [
        "triton.language.int8", "triton.language.float16", "triton.language.bfloat16",
    ]  # fmt: skip
