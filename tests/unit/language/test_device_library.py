"""Every overload of every device library function compiles to its symbol and result type."""

from __future__ import annotations

from typing import Any

import pytest

import tilewright.language as tl
from tilewright.dialects import tt
from tilewright.frontend import compile_to_tt
from tilewright.frontend import language_function as jit
from tilewright.language.extra import libdevice
from tilewright.support.errors import CompilationError


@jit
def unary(a, FN: tl.constexpr):
    FN(a)


@jit
def binary(a, b, FN: tl.constexpr):
    FN(a, b)


@jit
def ternary(a, b, c, FN: tl.constexpr):
    FN(a, b, c)


@jit
def quaternary(a, b, c, d, FN: tl.constexpr):
    FN(a, b, c, d)


KERNELS: dict[int, Any] = {1: unary, 2: binary, 3: ternary, 4: quaternary}
LETTERS = {"i": "i32", "l": "i64", "u": "u32", "v": "u64", "f": "fp32", "d": "fp64"}
OVERLOADS = [(name, *entry.split(":")) for name, text in libdevice.FUNCTIONS.items() for entry in text.split()]


@pytest.mark.parametrize(("name", "arguments", "symbol", "result"), OVERLOADS)
def test_overload(name: str, arguments: str, symbol: str, result: str) -> None:
    kernel = KERNELS[len(arguments)]
    signature = dict(zip("abcd", (LETTERS[letter] for letter in arguments), strict=False))
    module = compile_to_tt(kernel, signature, {(len(arguments),): getattr(libdevice, name)})
    (op,) = [op for op in module.walk() if isinstance(op, tt.ExternElementwiseOp)]
    assert op.symbol.data == f"__nv_{symbol}"
    assert op.result.type == tl.str_to_ty(LETTERS[result], None).to_ir()


@pytest.mark.parametrize("name", ["isnan", "isinf", "finitef"])
def test_predicates_give_int1(name: str) -> None:
    module = compile_to_tt(unary, {"a": "fp32"}, {(1,): getattr(libdevice, name)})
    assert [op.name for op in module.walk()].count("arith.cmpi") == 1


def test_wrong_argument_type() -> None:
    with pytest.raises(CompilationError, match="input arg type does not match"):
        compile_to_tt(unary, {"a": "i8"}, {(1,): libdevice.tanh})


def test_wrong_argument_count() -> None:
    with pytest.raises(CompilationError, match=r"libdevice.pow takes 2 arguments, 1 given"):
        compile_to_tt(unary, {"a": "fp32"}, {(1,): libdevice.pow})
