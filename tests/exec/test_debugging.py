"""Prints and assertions of GPU kernels, and inline assembly."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from device_memory import REAL

import tilewright as triton
import tilewright.language as tl
from tilewright.reference.simt.errors import SimulationError
from tilewright.support import knobs
from tilewright.support.errors import DeviceAssertionError

pytestmark = pytest.mark.usefixtures("a_gpu")


@triton.jit
def show(x_ptr, HEX: tl.constexpr, N: tl.constexpr):
    tl.device_print("x", tl.load(x_ptr + tl.arange(0, N)), hex=HEX)


@triton.jit
def show_several(x_ptr, n, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N)[:, None] * 2 + tl.arange(0, 2)[None, :])
    tl.device_print("values: ", x, n, tl.sum(tl.sum(x, 1), 0))
    tl.device_print("only text")
    print("n", n)


@triton.jit(debug=True)
def check(x_ptr, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.device_assert(tl.load(x_ptr + i) > 0, "not positive", mask=i < n)


@triton.jit
def unchecked(x_ptr, N: tl.constexpr):
    tl.device_assert(tl.load(x_ptr + tl.arange(0, N)) > 0, "not positive")


@triton.jit
def two_results(x_ptr, y_ptr, sum_ptr, mixed_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    total, mixed = tl.inline_asm_elementwise(
        """
        {
            .reg .b32 t;
            add.u32 t, $2, $3;
            add.u32 $0, t, 1;
            xor.b32 $1, $2, 0xff;
        }
        """,
        "=r,=r,r,r",
        [tl.load(x_ptr + i), tl.load(y_ptr + i)],
        dtype=(tl.int32, tl.int32),
        is_pure=True,
        pack=1,
    )
    tl.store(sum_ptr + i, total)
    tl.store(mixed_ptr + i, mixed)


@triton.jit
def packed(x_ptr, out_ptr, PACK: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.inline_asm_elementwise("not.b32 $0, $1;", "=r,r", [x], dtype=x.dtype, is_pure=True, pack=PACK)
    tl.store(out_ptr + i, y)


@triton.jit
def unpacked_bytes(x_ptr, low_ptr, high_ptr, N: tl.constexpr):
    """Four bytes become two pairs of halves, and each pair a result."""
    i = tl.arange(0, N)
    low, high = tl.inline_asm_elementwise(
        "prmt.b32 $0, $4, 0, 0x4140; prmt.b32 $1, $4, 0, 0x4342; not.b32 $2, $0; not.b32 $3, $1;",
        "=&r,=&r,=&r,=&r,r",
        [tl.load(x_ptr + i)],
        dtype=(tl.uint16, tl.uint16),
        is_pure=True,
        pack=4,
    )
    tl.store(low_ptr + i, low)
    tl.store(high_ptr + i, high)


NUMBERS: list[tuple[Any, list[Any], list[str], list[str]]] = [
    (np.bool_, [True, False], ["1", "0"], ["0x1", "0x0"]),
    (np.int8, [-1, 7], ["-1", "7"], ["0xff", "0x07"]),
    (np.uint8, [255, 7], ["255", "7"], ["0xff", "0x07"]),
    (np.int16, [-2, 3], ["-2", "3"], ["0xfffe", "0x0003"]),
    (np.uint16, [65535, 3], ["65535", "3"], ["0xffff", "0x0003"]),
    (np.int32, [-(2**31), 5], ["-2147483648", "5"], ["0x80000000", "0x00000005"]),
    (np.uint32, [2**32 - 1, 5], ["4294967295", "5"], ["0xffffffff", "0x00000005"]),
    (np.int64, [-(2**63), 9], ["-9223372036854775808", "9"], ["0x8000000000000000", "0x0000000000000009"]),
    (np.uint64, [2**64 - 1, 9], ["18446744073709551615", "9"], ["0xffffffffffffffff", "0x0000000000000009"]),
    (np.float16, [1.5, -2], ["1.500000", "-2.000000"], ["0x3e00", "0xc000"]),
    (ml_dtypes.bfloat16, [1.5, -2], ["1.500000", "-2.000000"], ["0x3fc0", "0xc000"]),
    (np.float32, [0.1, np.inf], ["0.100000", "inf"], ["0x3dcccccd", "0x7f800000"]),
    (np.float64, [0.1, -3], ["0.100000", "-3.000000"], ["0x3fb999999999999a", "0xc008000000000000"]),
    (ml_dtypes.float8_e5m2, [1.5, -2], ["1.500000", "-2.000000"], ["0x3e", "0xc0"]),
    (ml_dtypes.float8_e4m3fn, [1.5, -2], ["1.500000", "-2.000000"], ["0x3c", "0xc0"]),
]


def printed(capfd: pytest.CaptureFixture[str]) -> list[str]:
    return sorted(line for line in capfd.readouterr().out.splitlines() if line.startswith("pid"))


@pytest.mark.parametrize("is_hex", [False, True], ids=["decimal", "hex"])
@pytest.mark.parametrize(
    ("dtype", "values", "decimal", "hexadecimal"), NUMBERS, ids=[np.dtype(case[0]).name for case in NUMBERS]
)
def test_every_type_is_printed(
    dtype: Any,
    values: list[Any],
    decimal: list[str],
    hexadecimal: list[str],
    is_hex: bool,
    capfd: pytest.CaptureFixture[str],
) -> None:
    show[(1,)](np.array(values, dtype), HEX=is_hex, N=2)
    expected = hexadecimal if is_hex else decimal
    assert printed(capfd) == [f"pid (0, 0, 0) idx ({n}) x: {text}" for n, text in enumerate(expected)]


@pytest.mark.pairwise
@pytest.mark.parametrize("engine", ["cpu", "interpreter"])
@pytest.mark.parametrize("is_hex", [False, True], ids=["decimal", "hex"])
@pytest.mark.parametrize(
    ("dtype", "values", "decimal", "hexadecimal"), NUMBERS, ids=[np.dtype(case[0]).name for case in NUMBERS]
)
def test_every_type_is_printed_without_a_gpu(
    dtype: Any,
    values: list[Any],
    decimal: list[str],
    hexadecimal: list[str],
    is_hex: bool,
    engine: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    with knobs.scope(target="reference" if engine == "interpreter" else "cpu"):
        show[(1,)](np.array(values, dtype), HEX=is_hex, N=2)
    expected = hexadecimal if is_hex else decimal
    assert printed(capfd) == [f"pid (0, 0, 0) idx ({n}) x: {text}" for n, text in enumerate(expected)]


def test_several_values_and_programs(capfd: pytest.CaptureFixture[str]) -> None:
    show_several[(2,)](np.arange(4, dtype=np.float32), 7, N=2)
    expected: list[str] = []
    for program in range(2):
        pid = f"pid ({program}, 0, 0)"
        expected += [f"{pid} idx ({i}, {j}) values: (operand 0) {2 * i + j}.000000" for i in range(2) for j in range(2)]
        expected += [f"{pid} idx () values: (operand 1) 7", f"{pid} idx () values: (operand 2) 6.000000"]
        expected += [f"{pid} only text", f"{pid} idx () n: 7"]
    assert printed(capfd) == sorted(expected)


@triton.jit
def show_rows(x_ptr, M: tl.constexpr, N: tl.constexpr):
    tl.device_print("x", tl.load(x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]))
    tl.device_print("only text")


@pytest.mark.parametrize("engine", ["gpu", "cpu", "interpreter"])
def test_indices_take_the_digits_of_the_largest(engine: str, capfd: pytest.CaptureFixture[str]) -> None:
    x = np.arange(32, dtype=np.int32)
    scope = nullcontext() if engine == "gpu" else knobs.scope(target="reference" if engine == "interpreter" else "cpu")
    with scope:
        show_rows[(1,)](x, M=16, N=2)
    lines = [f"pid (0, 0, 0) idx ({n // 2:2}, {n % 2}) x: {n}" for n in range(32)]
    assert printed(capfd) == sorted([*lines, "pid (0, 0, 0) only text"])


@triton.jit
def show_lines(x_ptr):
    tl.device_print("a line\n and a tab\t", tl.load(x_ptr))


def test_prefixes_of_several_lines(capfd: pytest.CaptureFixture[str]) -> None:
    """All of ASCII that Python calls printable may stand in one, as in Triton."""
    show_lines[(1,)](np.array([7], np.int32))
    assert "pid (0, 0, 0) idx () a line\n and a tab\t: 7\n" in capfd.readouterr().out


def test_assertions(a_gpu: str) -> None:
    x = np.array([1, 2, 0, -1], np.int32)
    check[(1,)](x, 2, N=4)
    unchecked[(1,)](x, N=4)
    if a_gpu == REAL:
        pytest.skip("a failed assertion ends the CUDA context of this process: benchmarks/gpu/errors.py tests it")
    with pytest.raises(DeviceAssertionError, match="not positive"):
        check[(1,)](x, 3, N=4)


@pytest.mark.skipif(knobs.get("target") == REAL, reason="hardware does not say which argument an address was meant for")
def test_an_access_out_of_bounds_names_its_argument() -> None:
    with pytest.raises(SimulationError, match=r"element 20 is outside of argument 'x_ptr' of 20 elements"):
        unchecked[(1,)](np.ones(20, np.float32), N=32, debug=True)


def test_assembly_with_two_results() -> None:
    x, y = np.arange(256, dtype=np.int32), np.arange(256, dtype=np.int32)[::-1].copy()
    total, mixed = np.zeros_like(x), np.zeros_like(x)
    two_results[(1,)](x, y, total, mixed, N=256)
    np.testing.assert_array_equal(total, x + y + 1)
    np.testing.assert_array_equal(mixed, x ^ 0xFF)


@pytest.mark.parametrize(
    ("dtype", "pack"), [(np.int32, 1), (np.int16, 2), (np.int8, 4)], ids=["words", "pairs", "bytes"]
)
@pytest.mark.parametrize("count", [64, 512])
def test_packed_assembly(dtype: Any, pack: int, count: int) -> None:
    """Also where threads have fewer elements than a word takes."""
    x, out = np.random.default_rng(0).integers(-100, 100, count).astype(dtype), np.zeros(count, dtype)
    packed[(1,)](x, out, PACK=pack, N=count)
    np.testing.assert_array_equal(out, ~x)


def test_packed_assembly_with_wider_results() -> None:
    x = np.arange(256, dtype=np.uint8)
    low, high = np.zeros(256, np.uint16), np.zeros(256, np.uint16)
    unpacked_bytes[(1,)](x, low, high, N=256)
    np.testing.assert_array_equal(low, x.astype(np.uint16))
    np.testing.assert_array_equal(high, ~x.astype(np.uint16))
