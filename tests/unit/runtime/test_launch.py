"""Launching: what arguments become, which kernel serves which launch, and every mistake a caller can make."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from tilewright.runtime.specialization import Constant, ParameterRule, Pointer, Scalar, classify
from tilewright.support import knobs
from tilewright.support.errors import ArgumentError, ArgumentTypeError, ArgumentValueError


@pytest.fixture(autouse=True)
def private_cache(tmp_path: Path) -> Any:  # pyright: ignore[reportUnusedFunction]
    with knobs.scope(cache_dir=str(tmp_path)):
        yield


@triton.jit
def scale(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr = 16):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * factor, mask=mask)


def arrays(n: int = 16) -> tuple[Array, Array]:
    return np.arange(n, dtype=np.float32), np.zeros(n, np.float32)


PLAIN = ParameterRule("x")


@pytest.mark.parametrize(
    ("value", "kind", "divisible"),
    [
        (5, "i32", False), (32, "i32", True), (0, "i32", True), (-16, "i32", True), (2**31, "i64", True),
        (2**31 + 1, "i64", False), (-(2**31) - 1, "i64", False), (2**63, "u64", True), (True, "u1", False),
        (1.5, "fp32", False), (np.int32(7), "i32", False), (np.float64(2.0), "fp32", False),
        (np.bool_(True), "u1", False),
    ],
)  # fmt: skip
def test_scalars_are_classified_as_triton_does(value: Any, kind: str, divisible: bool) -> None:
    item = classify(value, PLAIN)
    assert isinstance(item, Scalar)
    assert (item.type, item.divisible) == (kind, divisible)


@triton.jit
def store_number(out_ptr, number):
    tl.store(out_ptr, number)


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1, 2**70, -(2**64)])
def test_integers_that_64_bits_cannot_hold(number: int) -> None:
    """Also after a launch with one that they can."""
    out = np.zeros(1, np.int64)
    for fits in (-(2**63), 2**62 + 1):
        store_number[(1,)](out, fits)
        assert out[0] == fits
        with pytest.raises(OverflowError, match=r"'number': integer -?\d+; expected an integer of at most 64 bits"):
            store_number[(1,)](out, number)


def test_options_without_a_hash(tmp_path: Path) -> None:
    """Are launched, again and again."""
    library = tmp_path / "library.bc"
    library.write_bytes(b"BC")
    out = np.zeros(1, np.int64)
    for number in (5, 7, 7):
        store_number[(1,)](out, number, extern_libs={"library": str(library)})
        assert out[0] == number


def test_one_and_none_are_constants() -> None:
    assert classify(1, PLAIN) == Constant(1)
    assert classify(None, PLAIN) == Constant(None)
    assert classify(1, ParameterRule("x", specialize=False)) == Scalar("i32", 1)


def test_alignment_of_pointers() -> None:
    data = np.zeros(64, np.float32)
    aligned, shifted = classify(data, PLAIN), classify(data[1:], PLAIN)
    assert isinstance(aligned, Pointer) and isinstance(shifted, Pointer)
    assert (aligned.type, aligned.divisible, shifted.divisible) == ("*fp32", data.ctypes.data % 16 == 0, False)
    assert (shifted.storage.low, shifted.storage.high) == (aligned.storage.low, aligned.storage.high)


def test_annotations_force_the_type() -> None:
    assert classify(3, ParameterRule("x", forced_type="i64")) == Scalar("i64", 3)
    assert classify(3.0, ParameterRule("x", forced_type="fp64")) == Scalar("fp64", 0x4008000000000000)
    with pytest.raises(ArgumentValueError, match="fits i8"):
        classify(300, ParameterRule("x", forced_type="i8"))


def test_kernels_are_shared_and_told_apart() -> None:
    x, out = arrays(64)
    fresh = triton.jit(scale.fn)
    for n, factor in [(16, 2.0), (32, 3.0), (48, 4.0)]:
        fresh[(4,)](x, out, n, factor)
    assert len(fresh.cache) == 1
    fresh[(4,)](x, out, 17, 2.0)
    assert len(fresh.cache) == 2
    fresh[(4,)](x, x, 16, 2.0)
    assert len(fresh.cache) == 3, "overlapping arguments need their own kernel"


def test_results_and_returned_kernel() -> None:
    x, out = arrays(20)
    kernel = scale[(2,)](x, out, 20, 3.0)
    np.testing.assert_array_equal(out, x * 3)
    assert set(kernel.asm) >= {"source", "ttir", "structured", "linalg", "loops", "llir", "asm", "obj"}
    for stage, mark in {
        "source": "tt.func", "ttir": "tt.load", "structured": "tts.load",
        "linalg": "linalg.", "loops": "vector.", "llir": "define",
    }.items():  # fmt: skip
        assert mark in kernel.asm[stage], stage
    assert ".text" in kernel.asm["asm"]
    assert kernel.asm["obj"][:4] in (b"\x7fELF", b"\xcf\xfa\xed\xfe")


def test_in_place_and_views() -> None:
    base = np.arange(40, dtype=np.float32)
    expected = base.copy()
    scale[(2,)](base[8:], base[8:], 20, 2.0)
    expected[8:28] *= 2
    np.testing.assert_array_equal(base, expected)


def test_an_empty_grid_does_nothing() -> None:
    x, out = arrays()
    for grid in [(0,), (3, 0), (1, 1, 0), 0]:
        scale[grid](x, out, 16, 2.0)
    assert not out.any()


def test_grid_functions_see_arguments_and_options() -> None:
    x, out = arrays(64)
    seen: dict[str, Any] = {}

    def grid(meta: dict[str, Any]) -> tuple[int]:
        seen.update(meta)
        return (triton.cdiv(meta["n"], meta["BLOCK"]),)

    scale[grid](x, out, 64, 2.0, BLOCK=32, num_warps=8)
    np.testing.assert_array_equal(out, x * 2)
    assert (seen["n"], seen["BLOCK"], seen["num_warps"]) == (64, 32, 8)


@pytest.mark.parametrize("grid", [(-1,), (1, 2, 3, 4), (1.5,), ("a",), ()], ids=repr)
def test_wrong_grids(grid: Any) -> None:
    x, out = arrays()
    with pytest.raises(ArgumentError, match="grid"):
        scale[grid](x, out, 16, 2.0)


def test_a_read_only_array_that_is_stored_to() -> None:
    x, out = arrays()
    out.flags.writeable = False
    for _ in range(2):
        with pytest.raises(ArgumentValueError, match=r"kernel 'scale', argument 'out_ptr': a read-only array"):
            scale[(1,)](x, out, 16, 2.0)
    x.flags.writeable = False
    scale[(1,)](x, np.zeros_like(x), 16, 2.0)


@triton.jit
def of_any_number(*arrays):
    tl.store(arrays[0], 1.0)


def test_what_cannot_be_a_kernel_says_why() -> None:
    with pytest.raises(ArgumentTypeError, match="argument 'arrays': takes any number of values"):
        of_any_number[(1,)](np.zeros(1, np.float32), np.zeros(1, np.float32))
    with pytest.raises(TypeError, match="`def` makes, got a lambda"):
        triton.jit(lambda x: x)
    with pytest.raises(TypeError, match="decorates functions, got builtin_function_or_method"):
        triton.jit(print)
    with pytest.raises(TypeError, match="`late` is asynchronous"):

        @triton.jit
        async def late(x):
            pass


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda x: ((x, x), {"n": 1}), ArgumentTypeError, "argument 'factor': missing"),
        (lambda x: ((x, x, 1, 2.0, 16, 5), {}), ArgumentTypeError, r"^kernel 'scale': 6 positional arguments"),
        (lambda x: ((x, x, 1, 2.0), {"blok": 3}), KeyError, "blok was specified but unrecognised"),
        (lambda x: ((x, x, 1, 2.0), {"num_warp": 3}), KeyError, "did you mean 'num_warps'"),
        (lambda x: ((x, x, 1, 2.0), {"num_warps": 3}), ValueError, "power of 2"),
        (lambda x: (("text", x, 1, 2.0), {}), ArgumentTypeError, "'x_ptr': failed to specialize argument of type: str"),
        (lambda x: (([1, 2], x, 1, 2.0), {}), ArgumentTypeError, "argument 'x_ptr'.*list"),
        (lambda x: ((x.astype(complex), x, 1, 2.0), {}), ArgumentTypeError, "'x_ptr': array of dtype complex128"),
        (lambda x: ((x.astype(object), x, 1, 2.0), {}), ArgumentTypeError, "dtype object"),
        (lambda x: ((x.astype(">f4"), x, 1, 2.0), {}), ArgumentTypeError, "dtype >f4"),
        (lambda x: ((x, x, 2**70, 2.0), {}), ArgumentValueError, "argument 'n': integer"),
    ],
)  # fmt: skip
def test_wrong_arguments(make: Any, error: type[Exception], text: str) -> None:
    args, keywords = make(np.zeros(16, np.float32))
    with pytest.raises(error, match=text):
        scale[(1,)](*args, **keywords)


def test_a_missing_constexpr_is_named() -> None:
    @triton.jit
    def kernel(x_ptr, BLOCK: tl.constexpr):
        tl.store(x_ptr + tl.arange(0, BLOCK), 1.0)

    with pytest.raises(ArgumentTypeError, match=r"argument 'BLOCK': missing; expected a constexpr value"):
        kernel[(1,)](np.zeros(4, np.float32))


def test_calling_without_a_grid() -> None:
    with pytest.raises(RuntimeError, match="outside of the scope of a kernel"):
        scale(1, 2, 3, 4)


FACTOR = tl.constexpr(3.0)


@triton.jit
def scale_by_global(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) * FACTOR)


def test_a_global_that_changed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.ones(16, np.float32)
    scale_by_global[(1,)](x, BLOCK=16)
    monkeypatch.setitem(globals(), "FACTOR", tl.constexpr(3.0))
    scale_by_global[(1,)](x, BLOCK=16)
    monkeypatch.setitem(globals(), "FACTOR", tl.constexpr(4.0))
    with pytest.raises(RuntimeError, match=r"Global variable FACTOR has changed .* from 3.0 to 4.0"):
        scale_by_global[(1,)](x, BLOCK=16)
    np.testing.assert_array_equal(x, np.full(16, 9, np.float32))


@triton.jit
def step(x):
    return x + 1


@triton.jit
def long_step(x):
    return x + 10


@triton.jit
def stepped(x_ptr):
    tl.store(x_ptr, step(tl.load(x_ptr)))


@pytest.mark.parametrize("calls", [1, 5])
def test_a_function_that_is_another_one_now_is_compiled_in(monkeypatch: pytest.MonkeyPatch, calls: int) -> None:
    x = np.zeros(1, np.float32)
    before = stepped.cache_key
    for function, amount in ((step, 1), (long_step, 10), (step, 1)):
        monkeypatch.setitem(globals(), "step", function)
        x[0] = 0
        for _ in range(calls):
            stepped[(1,)](x)
        assert x[0] == amount * calls
        assert (stepped.cache_key == before) is (amount == 1)


@pytest.mark.parametrize("calls", [1, 5])
def test_a_variable_of_a_closure_that_changed_is_compiled_in(calls: int) -> None:
    x = np.zeros(1, np.float32)
    amount = tl.constexpr(1)

    @triton.jit
    def increased(x_ptr):
        tl.store(x_ptr, tl.load(x_ptr) + amount)

    for value in (1, 1.5, True, 4):
        amount = tl.constexpr(value)
        x[0] = 0
        for _ in range(calls):
            increased[(1,)](x)
        assert x[0] == value * calls


tuned = triton.autotune(configs=[triton.Config({"BLOCK": 16})], key=[])(scale_by_global)


def test_kernels_are_pickled_and_copied_as_functions_are() -> None:
    assert pickle.loads(pickle.dumps(stepped)) is stepped
    assert copy.copy(stepped) is stepped and copy.deepcopy({1: stepped})[1] is stepped

    @triton.jit
    def local(x_ptr):
        pass

    for kernel in (local, tuned):
        assert copy.deepcopy(kernel) is kernel
        with pytest.raises(pickle.PicklingError, match="cannot be pickled: it is not what"):
            pickle.dumps(kernel)


def test_warmup_compiles_without_running() -> None:
    x, out = arrays()
    kernel = scale.warmup(x, out, 16, 2.0, grid=(1,))
    assert kernel is not None and "define" in kernel.asm["llir"]
    assert not out.any()


def test_a_pre_run_hook_sees_every_launch() -> None:
    calls: list[Any] = []
    fresh = triton.jit(scale.fn)
    fresh.add_pre_run_hook(lambda *args, **keywords: calls.append((len(args), keywords)))
    x, out = arrays()
    fresh[(1,)](x, out, 16, 2.0, BLOCK=32)
    assert calls == [(4, {"BLOCK": 32})]


def test_a_second_process_state_uses_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    x, out = arrays()
    triton.jit(scale.fn)[(1,)](x, out, 16, 2.0)
    from tilewright.compiler import compilation as compile_module

    def never(*args: Any) -> Any:
        raise AssertionError("the disk cache has this kernel")

    monkeypatch.setattr(compile_module, "build_entry", never)
    out[:] = 0
    triton.jit(scale.fn)[(1,)](x, out, 16, 5.0)
    np.testing.assert_array_equal(out, x * 5)


def test_warmup_needs_no_tensors() -> None:
    """A dtype stands for an aligned tensor: the kernel is the one of such tensors."""
    x, out = arrays()
    assert x.ctypes.data % 16 == out.ctypes.data % 16 == 0
    described = scale.warmup(x.dtype, np.float32, 16, 2.0, BLOCK=16, grid=(1,))
    assert described is not None
    assert described is scale.warmup(x, out, 16, 2.0, BLOCK=16, grid=(1,))


@triton.jit
def count_up(out_ptr, sizes):
    tl.store(out_ptr + tl.arange(0, sizes[1]), tl.arange(0, sizes[1]) + sizes[0])


def test_constants_in_a_tuple() -> None:
    assert classify(tl.constexpr(16), ParameterRule("x")) == Constant(16)
    for size in (16, 32):
        out = np.zeros(32, np.int32)
        count_up[(1,)](out, (5, tl.constexpr(size)))
        assert out.tolist() == [*range(5, 5 + size), *[0] * (32 - size)]


def test_constants_of_numpy_are_pythons() -> None:
    """A size that NumPy computed, again and again."""
    for size in (np.int64(16), 16, np.int32(8), np.int64(16)):
        x, out = arrays()
        scale[(1,)](x, out, np.int64(16), np.float32(2.0), BLOCK=size)
        assert out.tolist() == [2.0 * i if i < size else 0.0 for i in range(16)]


def test_strings_are_constants() -> None:
    x, out = arrays()
    with pytest.raises(ArgumentTypeError, match=r"argument 'n': .* type: str; expected a `tl.constexpr` parameter"):
        scale[(1,)](x, out, "16", 2.0)


@pytest.mark.costly
@pytest.mark.filterwarnings("ignore:Accessing the data pointer of FakeTensor")
def test_tensors_without_memory() -> None:
    """PyTorch's fake tensors: nobody may read where they are."""
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    fake = pytest.importorskip("torch._subclasses.fake_tensor")
    with fake.FakeTensorMode():
        x, out = torch.zeros(16), torch.zeros(16)
    with pytest.raises(ArgumentTypeError, match="argument 'x_ptr': FakeTensor without memory"):
        scale[(1,)](x, out, 16, 2.0)
    empty = torch.zeros(0)
    scale[(1,)](empty, empty, 0, 2.0)
