"""Float literals: checked against upstream's output, and against reading them back."""

from __future__ import annotations

import math
import shutil
import struct
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import AnyFloat, bf16, f8E4M3FN, f8E5M2, f16, f32, f64

from tilewright.ir.floats import float_bits, float_from_bits, format_float, round_to


@pytest.mark.parametrize(
    ("value", "type", "text"),
    [
        (1.0, f32, "1.000000e+00"),
        (0.0, f32, "0.000000e+00"),
        (-0.0, f16, "-0.000000e+00"),
        (0.5, bf16, "5.000000e-01"),
        (1e10, f64, "1.000000e+10"),
        (1e-300, f64, "1.000000e-300"),
        (3.4028234663852886e38, f32, "3.40282347E+38"),
        (round_to(0.1, f16), f16, "9.997550e-02"),
        (round_to(0.1, bf16), bf16, "1.000980e-01"),
        (16777217.0, f64, "0x4170000010000000"),
        (123456.7890625, f32, "123456.789"),
        (1234.5678, f64, "1234.5678"),
        (round_to(0.012345679, f32), f32, "0.0123456791"),
        (0.00012345678901, f64, "1.2345678901E-4"),
        (65504.0, f16, "6.550400e+04"),
        (math.inf, f32, "0x7F800000"),
        (-math.inf, bf16, "0xFF80"),
        (math.nan, f16, "0x7E00"),
        (-math.inf, f64, "0xFFF0000000000000"),
        (448.0, f8E4M3FN, "4.480000e+02"),
        (math.inf, f8E5M2, "0x7C"),
    ],
)
def test_literals(value: float, type: AnyFloat, text: str) -> None:
    assert format_float(value, type) == text


def _read(text: str, type: AnyFloat) -> float:
    return float_from_bits(int(text, 16), type) if text.startswith("0x") else round_to(float(text), type)


@pytest.mark.parametrize("type", [f16, bf16, f32, f64, f8E4M3FN, f8E5M2], ids=str)
@given(st.data())
def test_literals_read_back_to_the_same_bits(type: AnyFloat, data: st.DataObject) -> None:
    bits = data.draw(st.integers(0, 2 ** (8 * type.compile_time_size) - 1))
    value = float_from_bits(bits, type)
    again = _read(format_float(value, type), type)
    assert math.isnan(again) if math.isnan(value) else float_bits(again, type) == bits


@given(st.floats(width=32))
def test_format_needs_no_more_digits_than_allowed(value: float) -> None:
    text = format_float(value, f32)
    digits = text.lstrip("-").upper().partition("E")[0].replace(".", "")
    assert text.startswith("0x") or len(digits.lstrip("0")) <= 9


def test_bits_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="0x10000 does not fit into f16"):
        float_from_bits(0x10000, f16)


def test_rounding_out_of_range_is_infinite() -> None:
    assert round_to(1e6, f16) == math.inf
    assert round_to(-1e39, f32) == -math.inf


@pytest.mark.parametrize(("type", "width"), [(f16, 16), (bf16, 16), (f32, 32), (f64, 64), (f8E4M3FN, 8), (f8E5M2, 8)])
def test_upstream_prints_the_same(type: AnyFloat, width: int) -> None:
    tool = shutil.which("mlir-opt", path="/usr/lib/llvm-22/bin")
    if tool is None:
        pytest.skip("mlir-opt of LLVM 22 is not installed")
    patterns = _sample_patterns(width)
    source = "\n".join(f"%{i} = arith.constant 0x{bits:0{width // 4}X} : {type}" for i, bits in enumerate(patterns))
    done = subprocess.run([tool], input=source, capture_output=True, text=True, check=True, timeout=60)
    lines = [line for line in done.stdout.splitlines() if "arith.constant" in line]
    wanted = [line.split("arith.constant ")[1].rsplit(" : ", 1)[0] for line in lines]
    values = [float_from_bits(bits, type) for bits in patterns]
    printed = [format_float(value, type) for value in values]
    pairs = [(p, w) for p, w, value in zip(printed, wanted, values, strict=True) if not math.isnan(value)]
    assert [p for p, _ in pairs] == [w for _, w in pairs]


def _sample_patterns(width: int) -> list[int]:
    """All patterns of a byte; for wider types a fixed spread over exponents and significands, and round decimals."""
    if width == 8:
        return list(range(256))
    spread = [(index * 0x9E3779B97F4A7C15) % 2**width for index in range(1500)]
    code = {16: "<e", 32: "<f", 64: "<d"}[width]
    decimals = [0.1, 0.3, 1 / 3, 1e-4, 123.456, 1000.5, 65000.0]
    return spread + [int.from_bytes(struct.pack(code, value), "little") for value in decimals]
