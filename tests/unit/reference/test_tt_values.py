"""The tt ops on values, by hand: shapes, casts, elementwise functions, products."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from triton_text import call

from tilewright.reference import ReferenceError

F32 = np.float32


def test_shapes() -> None:
    x = np.arange(8, dtype=np.int32).reshape(2, 4)
    body = "%r = tt.trans %x {order = array<i32: 1, 0>} : tensor<2x4xi32> -> tensor<4x2xi32>"
    (result,) = call(body, "%x: tensor<2x4xi32>", "tensor<4x2xi32>", x)
    np.testing.assert_array_equal(result, [[0, 4], [1, 5], [2, 6], [3, 7]])
    body = "%r = tt.reshape %x : tensor<2x4xi32> -> tensor<8xi32>"
    np.testing.assert_array_equal(call(body, "%x: tensor<2x4xi32>", "tensor<8xi32>", x)[0], np.arange(8))
    body = """%e = tt.expand_dims %x {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
      %r = tt.broadcast %e : tensor<1x4xi32> -> tensor<2x4xi32>"""
    (result,) = call(body, "%x: tensor<4xi32>", "tensor<2x4xi32>", x[1])
    np.testing.assert_array_equal(result, [[4, 5, 6, 7], [4, 5, 6, 7]])


def test_join_split_and_cat() -> None:
    a, b = np.array([1, 2], np.int32), np.array([3, 4], np.int32)
    signature = "%a: tensor<2xi32>, %b: tensor<2xi32>"
    (joined,) = call("%r = tt.join %a, %b : tensor<2xi32> -> tensor<2x2xi32>", signature, "tensor<2x2xi32>", a, b)
    np.testing.assert_array_equal(joined, [[1, 3], [2, 4]])
    (both,) = call("%r = tt.cat %a, %b : tensor<2xi32> -> tensor<4xi32>", signature, "tensor<4xi32>", a, b)
    np.testing.assert_array_equal(both, [1, 2, 3, 4])
    body = "%r:2 = tt.split %x : tensor<2x2xi32> -> tensor<2xi32>"
    left, right = call(body, "%x: tensor<2x2xi32>", "tensor<2xi32>, tensor<2xi32>", joined)
    np.testing.assert_array_equal(left, a)
    np.testing.assert_array_equal(right, b)


def test_splat_unsplat_and_range() -> None:
    (result,) = call("%r = tt.splat %x : f32 -> tensor<2x2xf32>", "%x: f32", "tensor<2x2xf32>", 1.5)
    np.testing.assert_array_equal(result, np.full((2, 2), 1.5, F32))
    assert call("%r = tt.unsplat %x : tensor<1xf32>", "%x: tensor<1xf32>", "f32", np.array([2.5], F32)) == [2.5]
    body = "%r = tt.make_range {end = 7 : i32, start = 3 : i32} : tensor<4xi32>"
    np.testing.assert_array_equal(call(body, "", "tensor<4xi32>")[0], [3, 4, 5, 6])


def test_gather_and_histogram() -> None:
    source = np.array([[1, 2, 3, 4], [5, 6, 7, 8]], F32)
    indices = np.array([[3, 0], [1, 1]], np.int32)
    body = "%r = tt.gather %x[%i] {axis = 1 : i32} : (tensor<2x4xf32>, tensor<2x2xi32>) -> tensor<2x2xf32>"
    signature = "%x: tensor<2x4xf32>, %i: tensor<2x2xi32>"
    np.testing.assert_array_equal(call(body, signature, "tensor<2x2xf32>", source, indices)[0], [[4, 1], [6, 6]])
    indices[1, 0] = 4
    with pytest.raises(ReferenceError, match=r"at \[1, 0\] of the tile: index 4 is outside of dimension 1 of size 4"):
        call(body, signature, "tensor<2x2xf32>", source, indices)
    body = "%r = tt.histogram %x, %m : tensor<8xi32> -> tensor<4xi32>"
    values = np.array([0, 1, 1, 3, 3, 3, -1, 9], np.int32)
    mask = np.array([1, 1, 1, 1, 1, 0, 1, 1], bool)
    (counts,) = call(body, "%x: tensor<8xi32>, %m: tensor<8xi1>", "tensor<4xi32>", values, mask)
    np.testing.assert_array_equal(counts, [1, 2, 0, 2])


@pytest.mark.parametrize(
    ("source", "target", "rounding", "given", "expected"),
    [
        ("f32", "f8E4M3FN", "rtne", [448, 464, 1e9, np.inf, -np.inf, 0.0625], [448, 448, 448, 448, -448, 0.0625]),
        ("f32", "f8E5M2", "rtne", [57344, 1e6, np.inf, 1.125, 1.375, -1e9], [57344, 57344, 57344, 1, 1.5, -57344]),
        ("f32", "f8E5M2", "rtz", [1.2499, 1.49, -1.49, 1e9, 2**-17, 0.0], [1, 1.25, -1.25, 57344, 0, 0]),
        ("f16", "f8E4M3FN", "rtne", [17, 19, 2**-10, 3 * 2**-10, 500, -17], [16, 20, 0, 2**-8, 448, -16]),
        ("f32", "f16", "rtz", [1 + 2**-11, 65535, 1e9, -1e9, np.inf, 3], [1, 65504, 65504, -65504, np.inf, 3]),
        ("f32", "bf16", "rtz", [1.00390625, 1.01171875, -1.00390625, 3.0, 0, 1], [1, 1.0078125, -1, 3, 0, 1]),
        ("f32", "bf16", "rtne", [1.00390625, 1.01171875, -1.01171875, 3.0, 0, 1], [1, 1.015625, -1.015625, 3, 0, 1]),
    ],
)  # fmt: skip
def test_float_conversions(source: str, target: str, rounding: str, given: list[float], expected: list[float]) -> None:
    values = np.array([*given, 0, 0], np.float16 if source == "f16" else F32)
    body = f"%r = tt.fp_to_fp %x, rounding = {rounding} : tensor<8x{source}> -> tensor<8x{target}>"
    (result,) = call(body, f"%x: tensor<8x{source}>", f"tensor<8x{target}>", values)
    np.testing.assert_allclose(result.astype(np.float64)[:6], expected, rtol=1e-9)


def test_nan_and_signs_of_float8() -> None:
    values = np.array([np.nan, -0.0, 0.0, -1e-9], F32)
    for target, codes in {"f8E4M3FN": [0x7F, 0x80, 0, 0x80], "f8E5M2FNUZ": [0x80, 0, 0, 0]}.items():
        body = f"%r = tt.fp_to_fp %x, rounding = rtne : tensor<4xf32> -> tensor<4x{target}>"
        (result,) = call(body, "%x: tensor<4xf32>", f"tensor<4x{target}>", values)
        assert result.view(np.uint8).tolist() == codes


def test_every_float8_survives_the_way_through_f32() -> None:
    codes = np.arange(256, dtype=np.uint8)
    for name, dtype in {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}.items():
        values = codes.view(dtype)
        finite = np.isfinite(values.astype(F32))
        body = f"""%w = tt.fp_to_fp %x : tensor<256x{name}> -> tensor<256xf32>
          %r = tt.fp_to_fp %w, rounding = rtne : tensor<256xf32> -> tensor<256x{name}>"""
        (result,) = call(body, f"%x: tensor<256x{name}>", f"tensor<256x{name}>", values)
        assert (result.view(np.uint8) == codes)[finite].all()


def test_elementwise() -> None:
    x = np.array([np.nan, -5, 0.5, 5], F32)
    for mode, first in {"none": -1.0, "all": np.nan}.items():
        body = f"%r = tt.clampf %x, %lo, %hi, propagateNan = {mode} : tensor<4xf32>"
        signature = "%x: tensor<4xf32>, %lo: tensor<4xf32>, %hi: tensor<4xf32>"
        (result,) = call(body, signature, "tensor<4xf32>", x, np.full(4, -1, F32), np.full(4, 1, F32))
        np.testing.assert_array_equal(result, np.array([first, -1, 0.5, 1], F32))
    a, b = np.array([-1, 1 << 30], np.int32), np.array([-1, 8], np.int32)
    (high,) = call(
        "%r = tt.mulhiui %a, %b : tensor<2xi32>", "%a: tensor<2xi32>, %b: tensor<2xi32>", "tensor<2xi32>", a, b
    )
    np.testing.assert_array_equal(high, [-2, 2])
    (bits,) = call("%r = tt.bitcast %x : tensor<2xf32> -> tensor<2xi32>", "%x: tensor<2xf32>", "tensor<2xi32>", x[1:3])
    np.testing.assert_array_equal(bits, x[1:3].view(np.int32))
    body = "%q = tt.precise_divf %x, %y : f32\n %r = tt.precise_sqrt %q : f32"
    assert call(body, "%x: f32, %y: f32", "f32", 1.0, 3.0) == [np.sqrt(F32(1) / F32(3))]


@pytest.mark.parametrize(
    ("symbol", "kind", "given", "expected"),
    [
        ("__nv_erfinvf", "f32", [0.0, 0.5, -0.5, 1.0], [0, 0.47693628, -0.47693628, np.inf]),
        ("__nv_tgammaf", "f32", [5.0, 0.5, 1.0, 3.0], [24, 1.7724539, 1, 2]),
        ("__nv_roundf", "f32", [0.5, 1.5, -2.5, 2.4], [1, 2, -3, 2]),
        ("__nv_rintf", "f32", [0.5, 1.5, -2.5, 2.4], [0, 2, -2, 2]),
        ("__nv_brev", "i32", [1, 2, -1, 0], [-(2**31), 1 << 30, -1, 0]),
        ("__nv_clz", "i32", [1, 0, -1, 255], [31, 32, 0, 24]),
        ("__nv_ffs", "i32", [1, 0, -8, 6], [1, 0, 4, 2]),
        ("__nv_popc", "i32", [1, 0, -1, 6], [1, 0, 32, 2]),
    ],
)
def test_device_library(symbol: str, kind: str, given: list[float], expected: list[float]) -> None:
    body = f"""%r = tt.extern_elementwise %x {{libname = "", libpath = "", pure = true, symbol = "{symbol}"}} :
      (tensor<4x{kind}>) -> tensor<4x{kind}>"""
    values = np.array(given, F32 if kind == "f32" else np.int32)
    (result,) = call(body, f"%x: tensor<4x{kind}>", f"tensor<4x{kind}>", values)
    np.testing.assert_allclose(result, np.array(expected, values.dtype), rtol=1e-6)


def test_unknown_library_functions_and_assembly_are_errors() -> None:
    body = """%r = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, symbol = "__nv_nothing"} :
      (f32) -> f32"""
    with pytest.raises(ReferenceError, match="__nv_nothing"):
        call(body, "%x: f32", "f32", 1.0)


def dot(a: np.ndarray, b: np.ndarray, c: np.ndarray, kinds: tuple[str, str], precision: str = "ieee") -> np.ndarray:
    (m, k), n = a.shape, b.shape[1]
    operand, result = kinds
    body = f"""%r = tt.dot %a, %b, %c, inputPrecision = {precision} :
      tensor<{m}x{k}x{operand}> * tensor<{k}x{n}x{operand}> -> tensor<{m}x{n}x{result}>"""
    signature = f"%a: tensor<{m}x{k}x{operand}>, %b: tensor<{k}x{n}x{operand}>, %c: tensor<{m}x{n}x{result}>"
    return call(body, signature, f"tensor<{m}x{n}x{result}>", a, b, c)[0]


def test_products_accumulate_in_order() -> None:
    big, one = F32(2**24), F32(1)
    a, b = np.array([[big, one, one, -big]], F32), np.ones((4, 1), F32)
    assert dot(a, b, np.zeros((1, 1), F32), ("f32", "f32"))[0, 0] == ((big + one) + one) - big
    halves = np.full((1, 4), 0.1, np.float16)
    result = dot(halves, np.ones((4, 1), np.float16), np.full((1, 1), 2048, np.float16), ("f16", "f16"))
    assert result[0, 0] == np.float16(F32(2048) + 4 * F32(np.float16(0.1))), "summed in f32, rounded once"


def test_integer_products_wrap() -> None:
    a, b = np.full((1, 2), -128, np.int8), np.full((2, 1), -128, np.int8)
    c = np.full((1, 1), 2**31 - 1, np.int32)
    assert dot(a, b, c, ("i8", "i32"))[0, 0] == -(2**31) - 1 + 2 * 128 * 128


def test_tf32_is_rounding_on_request() -> None:
    from triton_text import launch

    text = """tt.func public @k(%o: !tt.ptr<f32>, %x: f32) {
      %a = tt.splat %x : f32 -> tensor<1x1xf32>
      %one = arith.constant dense<1.0> : tensor<1x1xf32>
      %zero = arith.constant dense<0.0> : tensor<1x1xf32>
      %d = tt.dot %a, %one, %zero, inputPrecision = tf32 : tensor<1x1xf32> * tensor<1x1xf32> -> tensor<1x1xf32>
      %r = tt.unsplat %d : tensor<1x1xf32>
      tt.store %o, %r : !tt.ptr<f32>
      tt.return
    }"""
    for rounds, expected in {False: 1 + 2**-12, True: 1.0}.items():
        out = np.zeros(1, F32)
        launch(text, out, 1 + 2**-12, rounds_dot_inputs=rounds)
        assert out[0] == expected


def test_scaled_products() -> None:
    body = """%r = tt.dot_scaled %a scale %s, %b, %c lhs = e2m1 rhs = bf16 {fastMath = false} :
      tensor<1x16xi8>, tensor<1x1xi8> * tensor<32x1xbf16> -> tensor<1x1xf32>"""
    packed = np.zeros((1, 16), np.int8)
    packed[0, 0] = 0x72  # low nibble 2 is 1.0, high nibble 7 is 6.0
    packed[0, 15] = np.int8(-128 + 0x10)  # low nibble 0, high nibble 9 is -0.5
    scale = np.array([[128 - 256]], np.int8)  # e8m0: 2 ** (128 - 127)
    b = np.zeros((32, 1), ml_dtypes.bfloat16)
    b[0], b[1], b[31] = 10, 100, 1000
    signature = "%a: tensor<1x16xi8>, %s: tensor<1x1xi8>, %b: tensor<32x1xbf16>, %c: tensor<1x1xf32>"
    (result,) = call(body, signature, "tensor<1x1xf32>", packed, scale, b, np.ones((1, 1), F32))
    assert result[0, 0] == 1 + 2 * (10 + 600 - 500)
