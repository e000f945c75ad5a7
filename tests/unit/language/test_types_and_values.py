"""Types, constants and tuples: what holds without a kernel being compiled."""

from __future__ import annotations

import subprocess
import sys

import pytest

import tilewright.language as tl
from tilewright.language import dtypes as dt
from tilewright.language.creation import literal_dtype
from tilewright.language.promotion import computation_dtype


@pytest.mark.parametrize(
    ("a", "b", "common", "divided"),
    [
        ("fp64", "fp16", "fp64", "fp64"),
        ("fp32", "bf16", "fp32", "fp32"),
        ("fp16", "fp16", "fp16", "fp32"),
        ("bf16", "bf16", "bf16", "fp32"),
        ("fp16", "bf16", "fp16", "fp32"),
        ("int32", "fp16", "fp16", "fp32"),
        ("int64", "bf16", "fp32", "fp32"),
        ("int32", "fp32", "fp32", "fp32"),
        ("fp8e5", "fp8e4nv", "fp16", "fp32"),
        ("fp8e5", "fp8e5", "fp8e5", "fp32"),
        ("int8", "int32", "int32", "int32"),
        ("int8", "uint8", "uint8", None),
        ("uint8", "int32", "int32", None),
        ("uint64", "int32", "uint64", None),
        ("int1", "int32", "int32", None),
    ],
)
def test_promotion_of_two_tensors(a: str, b: str, common: str, divided: str | None) -> None:
    left, right = tl.dtype(a), tl.dtype(b)
    for x, y in ((left, right), (right, left)):
        assert computation_dtype(x, False, y, False, is_division=False) == tl.dtype(common)
        if divided is None:
            with pytest.raises(TypeError, match="different signedness"):
                computation_dtype(x, False, y, False, is_division=True)
        else:
            assert computation_dtype(x, False, y, False, is_division=True) == tl.dtype(divided)


@pytest.mark.parametrize(
    ("number", "tensor", "common"),
    [("int32", "int8", "int8"), ("fp32", "fp16", "fp16"), ("fp32", "int32", "fp32"), ("int1", "int8", "int8")],
)
def test_numbers_adopt_the_type_of_tensors(number: str, tensor: str, common: str) -> None:
    assert computation_dtype(tl.dtype(number), True, tl.dtype(tensor), False, is_division=False) == tl.dtype(common)
    assert computation_dtype(tl.dtype(tensor), False, tl.dtype(number), True, is_division=False) == tl.dtype(common)


def test_float8_with_integer_is_refused() -> None:
    with pytest.raises(TypeError, match="unexpected type fp8e5 and int32"):
        computation_dtype(tl.float8e5, False, tl.int32, False, is_division=False)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (True, "int1"),
        (0, "int32"),
        (2**31 - 1, "int32"),
        (2**31, "uint32"),
        (-(2**31), "int32"),
        (-(2**31) - 1, "int64"),
        (2**32, "int64"),
        (2**63, "uint64"),
        (0.0, "fp32"),
        (1e38, "fp32"),
        (1e39, "fp64"),
        (1e-39, "fp64"),
        (float("inf"), "fp32"),
        (float("nan"), "fp32"),
    ],
)
def test_types_of_literals(value: float, expected: str) -> None:
    assert literal_dtype(value) == tl.dtype(expected)


def test_literal_out_of_range() -> None:
    with pytest.raises(ValueError, match="Nonrepresentable integer"):
        literal_dtype(2**64)


@pytest.mark.parametrize("name", dt.dtype.all_names())
def test_every_dtype(name: str) -> None:
    ty = tl.dtype(name)
    assert ty == tl.dtype(name) and hash(ty) == hash(tl.dtype(name)) and str(ty) == name
    assert getattr(tl, ty.codegen_name()) == ty
    assert ty.is_void() or ty.to_ir() is ty.to_ir()
    assert ty.is_void() or ty.is_int() != ty.is_floating()


def test_unknown_dtype() -> None:
    with pytest.raises(ValueError, match="unknown element type 'fp7'"):
        tl.dtype("fp7")


@pytest.mark.parametrize(
    ("type_", "mangled"),
    [
        (tl.float32, "fp32"),
        (tl.uint8, "u8"),
        (tl.int1, "u1"),
        (tl.pointer_type(tl.float16), "Pfp16"),
        (tl.block_type(tl.int32, [8, 16]), "i32S8_16S"),
        (tl.block_type(tl.pointer_type(tl.int8), [4]), "Pi8S4S"),
        (tl.tuple_type([tl.int32, tl.float32]), "Ti32_fp32T"),
    ],
)
def test_mangling(type_: tl.base_type, mangled: str) -> None:
    assert type_.mangle() == mangled


@pytest.mark.parametrize(
    ("shape", "message"),
    [([3], "must be a power of 2"), ([0], "power of 2"), ([2**20, 2], "exceeds"), ([2.0], "constexpr")],
)
def test_block_shapes(shape: list[int], message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        tl.block_type(tl.float32, shape)


def test_integer_ranges() -> None:
    assert (tl.int8.get_int_min_value(), tl.int8.get_int_max_value()) == (-128, 127)
    assert (tl.uint16.get_int_min_value(), tl.uint16.get_int_max_value()) == (0, 65535)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("*fp32", tl.pointer_type(tl.float32)),
        ("*ki8", tl.pointer_type(tl.int8, const=True)),
        ("u1", tl.int1),
        ("u32", tl.uint32),
        ("bf16", tl.bfloat16),
    ],
)
def test_type_names(text: str, expected: tl.dtype) -> None:
    assert tl.str_to_ty(text, None) == expected


def test_constants_compute_at_compile_time() -> None:
    four = tl.constexpr(4)
    results = [
        four + 1,
        1 + four,
        four - 1,
        9 - four,
        four * 2,
        four / 8,
        9 // four,
        9 % four,
        2**four,
        four << 1,
        -four,
        ~four,
    ]
    assert [r.value for r in results] == [5, 5, 3, 5, 8, 0.5, 2, 1, 16, 8, -4, -5]
    assert all(isinstance(r, tl.constexpr) for r in results)
    assert (four == 4).value is True and (four != 4).value is False and (four < 5).value is True
    assert tl.constexpr(tl.constexpr(4)).value == 4
    assert tl.constexpr((1, 2))[1].value == 2
    assert [v.value for v in tl.constexpr((1, 2))] == [1, 2]
    assert [1, 2, 3][tl.constexpr(1)] == 2
    assert f"{four:03d}" == "004" and repr(four) == "constexpr[4]"


def test_tuples() -> None:
    t = tl.tuple([tl.constexpr(1), None, tl.float32])
    assert len(t) == 3 and t[-1] == tl.float32 and len(t[1:]) == 2
    assert len(t.__add__([4])) == 4 and len(t * 2) == 6
    named = tl.tuple([1, 2], tl.tuple_type([tl.int32, tl.int32], ["a", "b"]))
    assert named.a == 1 and named.b == 2
    with pytest.raises(AttributeError, match="no attribute 'c'"):
        named.c  # noqa: B018
    with pytest.raises(TypeError, match="indexed by a compile-time integer"):
        t["a"]


def test_constexpr_functions_run_on_the_host() -> None:
    @tl.constexpr_function
    def area(width: int, height: int) -> int:
        return width * height

    assert area(tl.constexpr(3), height=4) == 12


def test_importing_the_language_imports_no_ir_library() -> None:
    script = (
        "import sys, tilewright.language, tilewright.frontend; sys.exit('xdsl' in sys.modules or "
        "'llvmlite' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_every_name_of_triton_language() -> None:
    official = pytest.importorskip("triton.language", reason="the official triton package is not installed")
    internal = {"semantic"}  # a submodule that is there once Triton's own compiler has been imported
    names = [name for name in dir(official) if not name.startswith("_") and name not in internal]
    assert not [name for name in names if not hasattr(tl, name)]
    members = [name for name in dir(official.tensor) if not name.startswith("_") and not hasattr(tl.tensor, name)]
    assert not members


def test_every_name_of_the_device_library() -> None:
    official = pytest.importorskip(
        "triton.language.extra.libdevice", reason="the official triton package is not installed"
    )
    from tilewright.language.extra import libdevice

    names = [name for name in dir(official) if not name.startswith("_") and callable(getattr(official, name))]
    assert len(names) > 180
    assert not [name for name in names if not hasattr(libdevice, name)]
