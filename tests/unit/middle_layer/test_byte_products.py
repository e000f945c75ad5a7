"""Sums of products of bytes at the loops stage: calls of declared functions, which upstream reads."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright import reference
from tilewright.dialects import make_context
from tilewright.ir.parsing import parse_module
from tilewright.ir.passes import PassContext, parse_pipeline
from tilewright.ir.verify import verify_module
from tilewright.tools.validation.engines import find_cpu
from tilewright.tools.validation.launches import record_launch
from tilewright.tools.validation.validate import validate_launch

MLIR_OPT = shutil.which("mlir-opt-22") or "/usr/lib/llvm-22/bin/mlir-opt"


@triton.jit
def dots(x_ptr, y_ptr, out_ptr, R: tl.constexpr, C: tl.constexpr):
    at = tl.arange(0, R)[:, None] * C + tl.arange(0, C)
    x, y = tl.load(x_ptr + at) & 15, tl.load(y_ptr + at)
    tl.store(out_ptr + tl.arange(0, R), tl.sum(x.to(tl.int32) * y.to(tl.int32), 1))


@triton.jit
def whole_dots(x_ptr, y_ptr, out_ptr, R: tl.constexpr, C: tl.constexpr):
    at = tl.arange(0, R)[:, None] * C + tl.arange(0, C)
    x, y = tl.load(x_ptr + at), tl.load(y_ptr + at)
    tl.store(out_ptr + tl.arange(0, R), tl.sum(x.to(tl.int32) * y.to(tl.int32), 1))


@triton.jit
def masked_dots(x_ptr, y_ptr, out_ptr, MASK: tl.constexpr, W: tl.constexpr):
    word, row, byte = tl.arange(0, W)[:, None, None], tl.arange(0, 8)[None, :, None], tl.arange(0, 4)[None, None, :]
    x = tl.load(x_ptr + (word * 8 + row) * 4 + byte) & MASK
    y = tl.load(y_ptr + word * 4 + byte)
    tl.store(out_ptr + tl.arange(0, 8), tl.sum(tl.sum(x.to(tl.int32) * y.to(tl.int32), 2), 0))


@pytest.mark.parametrize("words", [2, 4, 8])
@pytest.mark.parametrize("mask", [1, 15, 16, 31, 63, 64, 127, 255])
def test_sums_in_16_bits_hold_the_largest(mask: int, words: int) -> None:
    for y_byte in (-128, 127):
        x, y = np.full((words, 8, 4), 255, np.uint8), np.full((words, 4), y_byte, np.int8)
        out = np.zeros(8, np.int32)
        masked_dots[(1,)](x, y, out, mask, words)
        np.testing.assert_array_equal(out, np.full(8, 4 * words * mask * y_byte))


@pytest.mark.parametrize("mask", [15, 63])
def test_stages_of_sums_in_16_bits_give_the_same(mask: int) -> None:
    rng = np.random.default_rng(5)
    keywords = {"x_ptr": rng.integers(0, 256, (8, 8, 4), np.uint8), "y_ptr": rng.integers(-128, 128, (8, 4), np.int8)}
    keywords |= {"out_ptr": np.zeros(8, np.int32), "MASK": mask, "W": 8}
    report = validate_launch(record_launch(masked_dots, (1,), (), keywords), find_cpu())
    assert report.is_valid, report.render()


@pytest.mark.needs("mlir-opt")
def test_upstream_accepts_the_loops_stage() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.integers(0, 256, (16, 64), np.uint8), rng.integers(-128, 128, (16, 64), np.int8)
    out = np.zeros(16, np.int32)
    text = dots[(1,)](x, y, out, 16, 64).asm["loops"]
    np.testing.assert_array_equal(out, ((x & 15).astype(int) * y).sum(1))
    assert "call @tw_dot_bytes_u7_s8_" in text or "call @tw_dot_pairs_" in text
    done = subprocess.run([MLIR_OPT, "--verify-each"], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("x_type", "y_type"), [(np.int8, np.int8), (np.uint8, np.int8), (np.int8, np.uint8), (np.uint8, np.uint8)]
)
def test_every_stage_gives_the_same(x_type: type, y_type: type) -> None:
    """The reference runs the loops stage, too; bytes of 0x80 and above tell signs apart."""
    rng = np.random.default_rng(3)
    keywords = {"R": 16, "C": 64, "out_ptr": np.zeros(16, np.int32)}
    for name, type in (("x_ptr", x_type), ("y_ptr", y_type)):
        keywords[name] = rng.integers(0, 256, (16, 64), np.uint8).view(type)
    report = validate_launch(record_launch(whole_dots, (1,), (), keywords), find_cpu())
    assert report.is_valid, report.render()
    assert [row.verdict for row in report.rows if row.point.stage == "loops"][-1] == "same"


CHAINED = """
func.func @sums(%w: vector<8xi32>, %v: vector<8xi32>, %x: vector<8xi32>, %y: vector<8xi32>)
    -> (vector<8xi32>, vector<8xi32>) {
  %0 = linalg_ext.dot_bytes %w, %x : vector<8xi32>
  %1 = linalg_ext.dot_bytes %w, %y : vector<8xi32>
  %2 = linalg_ext.dot_bytes %v, %y : vector<8xi32>
  %3 = linalg_ext.dot_bytes %v, %x : vector<8xi32>
  %4 = arith.addi %0, %2 : vector<8xi32>
  %5 = arith.addi %1, %3 : vector<8xi32>
  %6 = linalg_ext.dot_bytes unsigned_rhs %x, %v : vector<8xi32>
  %7 = arith.addi %6, %5 : vector<8xi32>
  %8 = arith.addi %4, %w : vector<8xi32>
  return %8, %7 : vector<8xi32>, vector<8xi32>
}
"""


def test_chains_of_products_are_the_sums() -> None:
    """Of signed bytes of -128, and with sums of all, as ops and as calls."""
    rng = np.random.default_rng(7)
    bytes_ = np.array([-128, -127, -1, 0, 1, 127], np.int8)
    values = [rng.choice(bytes_, (8, 4)).view(np.int32)[:, 0] for _ in range(4)]
    module = parse_module(CHAINED, make_context())
    expected = reference.run_module(module, "sums", values)
    for pipeline in ("chain-byte-products{everywhere=true}", "convert-dot-bytes-to-calls"):
        parse_pipeline(pipeline).run(module, PassContext())
        verify_module(module)
        np.testing.assert_array_equal(reference.run_module(module, "sums", values), expected)
    assert str(module).count("tw_add_dot_bytes_") > 4
