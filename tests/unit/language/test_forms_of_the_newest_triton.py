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


@triton.aggregate
class Scaled:
    block: tl.tensor
    factor: tl.constexpr

    @staticmethod
    def doubled(block, start=0):
        return Scaled(block + start, tl.constexpr(2))

    @triton.jit
    def result(self):
        return self.block * self.factor


@triton.jit
def makes_by_static_methods(out_ptr):
    lanes = tl.arange(0, 4)
    scaled = Scaled.doubled(lanes)
    again = scaled.doubled(scaled.block, start=10)
    tl.store(out_ptr + lanes, scaled.result() + again.result())


@triton.jit
def makes_wrongly(out_ptr):
    tl.store(out_ptr, Scaled.doubled(1, stop=2).result())


def test_static_methods_make_instances() -> None:
    """Python functions in an aggregate, which run while the kernel is compiled."""
    out = np.zeros(4, np.int32)
    makes_by_static_methods[(1,)](out)
    np.testing.assert_array_equal(out, np.arange(4) * 4 + 20)
    with pytest.raises(CompilationError, match="unexpected keyword argument 'stop'"):
        makes_wrongly[(1,)](out)


@triton.jit
def smaller_and_larger(out_ptr, a: tl.constexpr, b: tl.constexpr):
    tl.store(out_ptr, min(a, b))
    tl.store(out_ptr + 1, max(a, b))


@pytest.mark.parametrize("odd", [float("nan"), -0.0])
def test_constants_without_an_order(odd: float) -> None:
    """Python's answer depends on which comes first."""
    out = np.zeros(2, np.float32)
    smaller_and_larger[(1,)](out, 1.5, 0.0)
    np.testing.assert_array_equal(out, [0, 1.5])
    for pair in ((odd, 1.5), (1.5, odd)):
        with pytest.raises(CompilationError, match=f"min of constants does not support {odd}"):
            smaller_and_larger[(1,)](out, *pair)
    with knobs.scope(triton_version="3.8"):
        smaller_and_larger[(1,)](out, 1.5, odd)


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
