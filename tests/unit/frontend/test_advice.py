"""What an error advises: the name or form that the language has in place of a habit from elsewhere."""

from __future__ import annotations

import linecache
import textwrap
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.support.errors import ArgumentError, CompilationError, TilewrightError

HEAD = """\
@triton.jit
def k(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
"""
FILE = "<advice>"


@pytest.fixture
def arrays() -> Iterator[tuple[Any, Any]]:
    yield np.ones(1024, np.float32), np.empty(1024, np.float32)
    linecache.cache.pop(FILE, None)


def kernel(body: str) -> Any:
    text = HEAD + textwrap.indent(textwrap.dedent(body), "    ") + "\n"
    linecache.cache[FILE] = len(text), None, text.splitlines(keepends=True), FILE
    scope: dict[str, Any] = {"triton": triton, "tl": tl, "np": np}
    exec(compile(text, FILE, "exec"), scope)
    return scope["k"]


@pytest.mark.parametrize(
    ("body", "advice"),
    [
        ("y = load(x_ptr + i)", "did you mean `tl.load`?"),
        ("y = ad(x, x)", "did you mean `tl.add`?"),
        ("print(x)", '`print("x", x)`'),
        ("y = tl.arange(BLOCK)", "its signature is arange(start, end)"),
        ("y = tl.program_id()", "its signature is program_id(axis)"),
        ("y = tl.where(x > 0, x)", "its signature is where(condition, x, y)"),
        ("y = tl.load(x_ptr + i, i < n, mask=i < n)", "its signature is load(pointer, mask=None, other=None, "),
        ("y = tl.zeros(BLOCK, tl.float32)", "one dimension is written `(256,)`"),
        ("y = x.astype(tl.float16)", "x.to(tl.float32)"),
        ("y = x.relu()", "tl.maximum(x, 0)"),
        ("y = tl.relu(x)", "tl.maximum(x, 0)"),
        ("y = tl.math.tanh(x)", "tl.extra.libdevice.tanh"),
        ("y = tl.libdevice.tanh(x)", "tl.extra.libdevice"),
        ("y = triton.ops.matmul(x, x)", "gone"),
        ("y = tl.matmul(x, x)", "tl.dot(a, b)"),
        ("y = torch.relu(x)", "functions of the language"),
        ("y = tl.load(x_ptr[i])", "`x_ptr + i`"),
        ("y = tl.load(x_ptr[i % 8])", "`x_ptr + i % 8`"),
        ("y = tl.load(x_ptr[i, n])", "`pointer + offset`"),
        ("y = x_ptr.shape[0]", "pass the size as an argument"),
        ("y = x_ptr + out_ptr", "tl.load(pointer)"),
        ("y = x_ptr + i * 1.0", "offsets of pointers are integers"),
        ("y = i < out_ptr", "load it"),
        ("y = x & 1", "bitcast=True"),
        ("tl.store(out_ptr, x)", "pointer + tl.arange"),
        ("y = x[:, None] + i[None, :] + tl.arange(0, 4)", "`tl.arange(0, 4)` has shape [4]"),
        ("y = i + tl.arange(0, 16)", "`i` has shape [256] and `tl.arange(0, 16)` has shape [16]"),
        ("y = i + tl.arange(0, 16)", "x[:, None]"),
        ("y = i[:, None] < tl.zeros((16, 16), tl.int32)", "`i[:, None]` has shape [256, 1]"),
        (
            "y = tl.load(x_ptr + i, mask=tl.arange(0, 16) < 4)",
            "`x_ptr + i` has shape [256] and `tl.arange",
        ),
        ("tl.store(out_ptr + tl.arange(0, 16), x)", "0, 16)` has shape [16] and `x` has shape [256]"),
        ("tl.store(out_ptr + i, x, msk=i < n)", "did you mean `mask`?"),
        ("y = tl.dot(x, x)", "tl.sum(a * b)"),
        ("y = tl.zeros((BLOCK,), dtype='float32')", "write tl.float32"),
        ("breakpoint()", "tl.device_print"),
        ("f = open('a')", "pass an array"),
        ("for a, b in enumerate(range(3)):\n    pass", "range(n)"),
        ("match n:\n    case 1: pass", "`elif`"),
    ],
)
def test_a_habit_from_elsewhere(body: str, advice: str, arrays: tuple[Any, Any]) -> None:
    with pytest.raises(CompilationError) as caught:
        kernel(body)[(1,)](*arrays, 1024, BLOCK=256)
    assert caught.value.hint is not None and advice in caught.value.hint
    assert caught.value.line >= 5, "the error is at the user's line"


def test_python_functions_are_not_allowed_rather_than_not_defined(arrays: tuple[Any, Any]) -> None:
    with pytest.raises(CompilationError, match="open cannot be used in a kernel"):
        kernel("f = open('a')")[(1,)](*arrays, 1024, BLOCK=256)


def test_an_address_is_no_pointer(arrays: tuple[Any, Any]) -> None:
    _, out = arrays
    address = 0x7F0000000000  # of an array it may fit 32 bits, on some systems
    with pytest.raises(CompilationError) as caught:
        kernel("tl.store(out_ptr + i, x)")[(1,)](address, out, 1024, BLOCK=256)
    assert "`x_ptr` came as an integer; pass the array or tensor itself, not its address" in str(caught.value)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("y = x.shape[1]", "`x.shape` has no item 1: it has 1"),
        ("y = (1, 2)[BLOCK]", "`(1, 2)` has no item 256: it has 2"),
    ],
)
def test_an_index_past_the_end(body: str, message: str, arrays: tuple[Any, Any]) -> None:
    with pytest.raises(CompilationError) as caught:
        kernel(body)[(1,)](*arrays, 5, BLOCK=256)
    assert message in str(caught.value)
    assert caught.value.hint is None


@pytest.mark.parametrize("wrong", ["BLOCK_SIZE", "BLOK", "block"])
def test_a_misspelt_keyword_is_named_with_its_neighbour(wrong: str, arrays: tuple[Any, Any]) -> None:
    with pytest.raises(ArgumentError, match=f"`{wrong}` is neither a parameter nor a launch option.*`BLOCK`"):
        kernel("tl.store(out_ptr + i, x)")[(1,)](*arrays, 1024, **{wrong: 256})


def test_a_misspelt_keyword_of_a_configuration(arrays: tuple[Any, Any]) -> None:
    tuned = triton.autotune(configs=[triton.Config({"BLOK": 128})], key=["n"])(kernel("tl.store(out_ptr + i, x)"))
    with pytest.raises(ArgumentError, match="`BLOK` is neither"):
        tuned[(1,)](*arrays, 1024)


def test_a_kernel_in_a_class(arrays: tuple[Any, Any]) -> None:
    class Layer:
        @triton.jit
        def forward(self, x_ptr, n, BLOCK: tl.constexpr):
            pass

    with pytest.raises(ArgumentError, match="gets no `self`"):
        Layer().forward[(1,)](arrays[0], 1024, BLOCK=256)


@pytest.mark.parametrize(
    ("grid", "expected"),
    [(lambda meta: (meta["BLOCKK"],), "'BLOCKK'.*`BLOCK`"), ((1024 / 256,), "triton.cdiv"), (("a",), "integers")],
)
def test_grids(grid: Any, expected: str, arrays: tuple[Any, Any]) -> None:
    with pytest.raises(ArgumentError, match=expected):
        kernel("tl.store(out_ptr + i, x)")[grid](*arrays, 1024, BLOCK=256)


def test_an_error_of_the_users_own_in_a_grid_function_stays() -> None:
    table: dict[str, int] = {}
    with pytest.raises(KeyError, match=r"^'BLK'$"):
        kernel("pass")[lambda meta: (table["BLK"],)](np.ones(4), np.ones(4), 1, BLOCK=4)


@pytest.mark.parametrize(
    ("body", "message", "hint"),
    [
        ("for j in range(0, n / 2):\n    pass", "must all be ints, got a run-time scalar fp32", "divide with `//`"),
        ("for j in range(0, i):\n    pass", "must all be ints", "tl.max"),
        ("for j in range(0, x_ptr):\n    pass", "must all be ints", "tl.load"),
        ("y = tl.where(i < 8, x, 'a')", "got the constant 'a'", "a kernel computes with numbers"),
        ("yield 1", "Yield", "tl.store"),
    ],
)
def test_wrong_kinds_of_values(body: str, message: str, hint: str, arrays: tuple[Any, Any]) -> None:
    with pytest.raises(CompilationError) as caught:
        kernel(body)[(1,)](*arrays, 1024, BLOCK=16)
    assert message in caught.value.message and hint in (caught.value.hint or "")


def test_grid_functions_ask_by_key(arrays: tuple[Any, Any]) -> None:
    with pytest.raises(ArgumentError, match=r"asks for `\.BLOCK`; expected `\['BLOCK'\]`") as caught:
        kernel("pass")[lambda meta: (meta.BLOCK,)](*arrays, 1024, BLOCK=16)
    assert isinstance(caught.value, AttributeError)
    assert not any("/tilewright/runtime/" in frame.path.as_posix() for frame in map(_frame, caught.traceback))


def _frame(entry: Any) -> Any:
    return entry.frame.code


def test_configurations_are_configs(arrays: tuple[Any, Any]) -> None:
    configs: Any = triton.Config({"BLOCK": 128})
    with pytest.raises(TilewrightError, match=r"got one: write \[triton\.Config\(\.\.\.\)\]"):
        triton.autotune(configs=configs, key=["n"])(kernel("pass"))
    configs = [{"BLOCK": 128}]
    with pytest.raises(TilewrightError, match=r"expected triton\.Config\(\{...\}\), got dict"):
        triton.autotune(configs=configs, key=["n"])(kernel("pass"))
