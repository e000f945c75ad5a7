"""Calls that native code recognises: no others than those that Python knows, with the same slots."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from itertools import permutations
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from launch_values import RULES, VALUES

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from tilewright.codegen.llvm_backend import compile_text
from tilewright.runtime.fast_path import Plan, is_constant
from tilewright.runtime.reading import make_reader
from tilewright.runtime.repeating import describe_call
from tilewright.runtime.specialization import ParameterRule
from tilewright.support import knobs
from tilewright.support.errors import ArgumentValueError, ChangedGlobalError, DeviceAssertionError
from tilewright.targets.cpu.facts import host_facts
from tilewright.targets.cpu.kernel import CpuKernel
from tilewright.targets.cpu.native_runtime import native_runtime
from tilewright.targets.launch_cache.calls import MOST_CALLS, MOST_SLOTS, CallTable, Item, Kind

pytestmark = pytest.mark.skipif(bool(knobs.get("target")) and knobs.get("target") != "cpu", reason="the CPU's launcher")


@pytest.fixture(scope="module")
def recorder() -> Iterator[tuple[CpuKernel, Array]]:
    """A kernel that copies its slots and the grid behind them, and where to."""
    seen = np.zeros(MOST_SLOTS + 3, np.uint64)
    text = f"""define void @record(ptr %args, i64 %lo, i64 %hi, ptr %arena) {{
  %seen = inttoptr i64 {seen.ctypes.data} to ptr
  call void @llvm.memcpy.p0.p0.i64(ptr %seen, ptr %args, i64 {seen.nbytes}, i1 false)
  ret void
}}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)"""
    facts = host_facts()
    image = compile_text(f'target triple = "{facts.triple}"\n{text}', facts)
    runtime = native_runtime()
    yield CpuKernel("record", runtime.loader.load(image, ("record",)), runtime, 0, {}), seen


def table_of(native: CpuKernel, missed: Callable[..., Any]) -> CallTable:
    recogniser = native.find_recogniser()
    assert recogniser is not None
    return CallTable(recogniser, [], missed)


def described(value: Any, rule: ParameterRule, native: CpuKernel) -> tuple[Any, Any, Any] | None:
    """The call k[..](value), its key in Python, and the reader that finds it; None where Python has no fast path."""
    reader = make_reader([value], [rule])
    try:
        seen = None if reader is None else reader.read(value)
    except OverflowError:
        seen = None
    if reader is None or seen is None:
        return None
    plan = Plan(SimpleNamespace(native=native), None, None, ())  # pyright: ignore[reportArgumentType]
    call = describe_call((value,), {}, (plan, seen[1], (value,), {}), [rule], [])
    return call, seen[0], reader


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_only_what_python_takes_for_the_same_launch_is_recognised(
    rule: ParameterRule, recorder: tuple[CpuKernel, Array]
) -> None:
    native, seen = recorder
    missed = object()
    for value in VALUES:
        found = described(value, rule, native)
        if found is None or found[0] is None:
            continue
        call, key, reader = found
        table = table_of(native, lambda *_: missed)
        table.add(call)
        for other in VALUES:
            answer = table.launch((5, 1), other)
            if answer is missed:
                continue
            assert answer is call.result
            assert other.__class__ is value.__class__
            other_key, slots = reader.read(other)
            assert other_key == key, (value, other)
            kept = [] if is_constant(other, rule) else list(slots)
            expected = np.array([bits(slot) for slot in kept] + [5, 1, 1], np.uint64)
            assert np.array_equal(seen[: len(expected)], expected), (value, other)
        assert table.launch((5,), value) is call.result


def bits(value: Any) -> int:
    """A slot of 64 bits: the float32, or the integer."""
    with np.errstate(over="ignore"):
        return int(np.float32(value).view(np.uint32)) if isinstance(value, float) else value % 2**64


def test_integers_and_floats_of_one_class_are_one_call(recorder: tuple[CpuKernel, Array]) -> None:
    native, seen = recorder
    rules = [ParameterRule("n"), ParameterRule("x")]
    values = (17, 0.5)
    reader = make_reader(values, rules)
    assert reader is not None
    plan = Plan(SimpleNamespace(native=native), None, None, ())  # pyright: ignore[reportArgumentType]
    call = describe_call((17,), {"x": 0.5}, (plan, (), values, {}), rules, [])
    assert call is not None
    table = table_of(native, lambda *_, **__: None)
    table.add(call)
    assert table.launch((2,), 18, x=-1e30) is call.result
    assert seen[:2].tolist() == [18, bits(-1e30)]
    for args, keywords in [
        ((32,), {"x": 0.5}),
        ((17, 0.5), {}),
        ((17,), {"y": 0.5}),
        ((17,), {}),
        ((True,), {"x": 1.0}),
    ]:
        assert table.launch((2,), *args, **keywords) is None
    for grid in [2, (0,), (), (1, 1, 1, 1), (2**21,), (2.0,), lambda meta: 1, lambda: (1,), print, (True,)]:
        assert table.launch(grid, 18, x=0.5) is None


def test_a_full_table_and_too_many_slots_are_left_to_python(recorder: tuple[CpuKernel, Array]) -> None:
    native, _ = recorder
    rules = [ParameterRule(f"p{i}") for i in range(MOST_SLOTS + 1)]
    plan = Plan(SimpleNamespace(native=native), None, None, ())  # pyright: ignore[reportArgumentType]
    values = (2,) * (MOST_SLOTS + 1)
    assert describe_call(values, {}, (plan, (), values, {}), rules, []) is None
    assert describe_call(values[1:], {}, (plan, (), values[1:], {}), rules[1:], []) is not None


@triton.jit
def scale(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * factor, mask=mask)


def launched(kernel: Any, grid: Any, *args: Any, **keywords: Any) -> bool:
    """Launch, and tell whether Python had no part in it."""
    calls = kernel._calls
    table, way = calls._table, []
    before = kernel._recognise
    kernel._recognise = lambda *rest: way.append(rest) or before(*rest)
    try:
        assert kernel[grid](*args, **keywords) is not None
    finally:
        del kernel._recognise
    return table is not None and not way


def fresh() -> Any:
    return triton.jit(scale.fn)


def test_variables_of_a_closure_are_looked_at() -> None:
    amount = tl.constexpr(1)

    @triton.jit
    def increased(x_ptr):
        tl.store(x_ptr, tl.load(x_ptr) + amount)

    x = np.zeros(1, np.float32)
    assert [launched(increased, (1,), x) for _ in range(3)] == [False, False, True]
    amount = tl.constexpr(10)
    assert [launched(increased, (1,), x) for _ in range(3)] == [False, False, True]
    assert x[0] == 33
    amount = tl.constexpr(10)
    assert not launched(increased, (1,), x), "another object of the same value"
    assert x[0] == 43


def test_the_third_launch_is_native_for_other_arrays_of_the_same_kind() -> None:
    kernel = fresh()
    x, out = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    states = [launched(kernel, (1,), x, out, 100, 2.0, BLOCK=128) for _ in range(3)]
    assert states == [False, False, True]
    other, result = np.arange(256, dtype=np.float32)[128:], np.zeros(99, np.float32)
    assert launched(kernel, (1,), other, result, 99, -3.0, BLOCK=128)
    assert np.array_equal(result, other[:99] * np.float32(-3))
    assert not launched(kernel, (1,), out, out, 99, 1.0, BLOCK=128), "overlapping arguments are another kernel"
    assert not launched(kernel, (1,), x.astype(np.float64), out, 99, 1.0, BLOCK=128)


@triton.jit
def total(
    out, x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, x11, x12, x13, x14, x15, x16, x17, x18, x19, x20, x21, x22, x23
):
    part_0 = tl.load(x0) + tl.load(x1) + tl.load(x2) + tl.load(x3) + tl.load(x4) + tl.load(x5)
    part_1 = tl.load(x6) + tl.load(x7) + tl.load(x8) + tl.load(x9) + tl.load(x10) + tl.load(x11)
    part_2 = tl.load(x12) + tl.load(x13) + tl.load(x14) + tl.load(x15) + tl.load(x16) + tl.load(x17)
    part_3 = tl.load(x18) + tl.load(x19) + tl.load(x20) + tl.load(x21) + tl.load(x22) + tl.load(x23)
    tl.store(out, part_0 + part_1 + part_2 + part_3)


def test_calls_with_many_arrays_are_recognised() -> None:
    """Sums of several steps of a recurrence are one kernel of PyTorch's compiler, with an output each."""
    out, arrays = np.zeros(1, np.float32), [np.full(1, value, np.float32) for value in range(1, 25)]
    assert [launched(total, (1,), out, *arrays) for _ in range(3)] == [False, False, True]
    assert out[0] == 300
    changed = [*arrays[:-1], np.full(1, 1000, np.float32)]
    assert launched(total, (1,), out, *changed)
    assert out[0] == 1276
    assert not launched(total, (1,), out, *arrays[:-1], out), "the last argument overlaps the first"
    assert out[0] == 1276 + 276


def test_tensors_are_recognised_by_what_they_are() -> None:
    torch = pytest.importorskip("torch")
    kernel = fresh()
    x, out = torch.arange(100, dtype=torch.float32), torch.zeros(100)
    for _ in range(2):
        launched(kernel, (1,), x, out, 100, 2.0, BLOCK=128)
    y = torch.full((64, 2), 3.0)
    result = torch.zeros(128)
    assert launched(kernel, (1,), y, result, 111, 2.0, BLOCK=128)
    assert torch.equal(result, torch.cat([torch.full((111,), 6.0), torch.zeros(17)]))
    assert not launched(kernel, (1,), y[:50], y, 99, 1.0, BLOCK=128), "views of one storage overlap"
    assert not launched(kernel, (1,), y.half(), result, 99, 1.0, BLOCK=128)
    assert not launched(kernel, (1,), y.view(-1)[1:], result, 99, 1.0, BLOCK=128), "16 does not divide the address"
    assert not launched(kernel, (1,), y.int(), result, 99, 1.0, BLOCK=128), "another dtype of the same size"
    assert launched(kernel, (1,), torch.from_numpy(np.zeros(128, np.float32)), result, 99, 1.0, BLOCK=128)


@pytest.mark.parametrize("is_tuned", [False, True], ids=["plain", "tuned"])
def test_launches_keep_no_tensor(is_tuned: bool) -> None:
    torch = pytest.importorskip("torch")
    kernel = fresh()
    constants = {} if is_tuned else {"BLOCK": 128}
    if is_tuned:
        kernel = triton.autotune([triton.Config({"BLOCK": size}) for size in (128, 256)], ["n"])(kernel)
    x, out = torch.ones(100), torch.zeros(100)
    for _ in range(3):
        kernel[(1,)](x, out, 100, 2.0, **constants)
    kept = weakref.ref(x)
    del x
    gc.collect()
    assert kept() is None


def test_tensors_that_are_copied_when_they_are_written_are_left_to_python() -> None:
    torch = pytest.importorskip("torch")
    kernel = fresh()
    x, out = torch.ones(128), torch.zeros(128)
    for _ in range(2):
        launched(kernel, (1,), x, out, 100, 2.0, BLOCK=128)
    later = torch._lazy_clone(out)
    assert not launched(kernel, (1,), x, later, 100, 5.0, BLOCK=128)
    assert (out[:100] == 2).all(), "the other one's elements are as they were"
    assert (later[:100] == 5).all()


def test_grid_functions_see_arguments_and_options() -> None:
    @triton.jit
    def fill(out_ptr, n, value, BLOCK: tl.constexpr, EXTRA: tl.constexpr = 3):
        offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out_ptr + offsets, value + EXTRA, mask=offsets < n)

    seen: list[dict[str, Any]] = []

    def grid(meta: dict[str, Any]) -> tuple[int]:
        seen.append(dict(meta))
        return (triton.cdiv(meta["n"], meta["BLOCK"]),)

    for n in (100, 99, 120):
        out = np.zeros(128, np.float32)
        native = launched(fill, grid, out, n, 2.5, num_warps=8, BLOCK=16)
        assert native == (n == 120)
        assert out[:n].tolist() == [5.5] * n
        assert not out[n:].any()
        expected = {"out_ptr": out, "n": n, "value": 2.5, "BLOCK": 16, "EXTRA": 3, "num_warps": 8}
        assert list(seen[-1]) == list(expected)
        assert all(seen[-1][name] is value or seen[-1][name] == value for name, value in expected.items())
    assert len(seen) == 3


def test_grid_functions_that_fail_are_explained_and_may_forget_the_kernel() -> None:
    kernel = fresh()
    x, out = np.ones(64, np.float32), np.zeros(64, np.float32)
    for _ in range(3):
        launched(kernel, lambda meta: (1,), x, out, 64, 2.0, BLOCK=64)

    def forgetful(meta: dict[str, Any]) -> tuple[int]:
        kernel.forget()
        gc.collect()
        return (1,)

    assert launched(kernel, forgetful, x, out, 64, 3.0, BLOCK=64)
    assert (out == 3).all()
    for _ in range(3):
        launched(kernel, lambda meta: (1,), x, out, 64, 2.0, BLOCK=64)
    with pytest.raises(ArgumentValueError, match="the launch has no 'BLOCKS'"):
        kernel[lambda meta: (meta["BLOCKS"],)](x, out, 64, 2.0, BLOCK=64)
    with pytest.raises(ZeroDivisionError):
        kernel[lambda meta: (1 // 0,)](x, out, 64, 2.0, BLOCK=64)


def test_switches_and_hooks_send_calls_the_slow_path() -> None:
    kernel = fresh()
    x, out = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    for _ in range(3):
        launched(kernel, (1,), x, out, 100, 2.0, BLOCK=128)
    with knobs.scope(num_threads=1):
        assert not launched(kernel, (1,), x, out, 100, 2.0, BLOCK=128)
    states = [launched(kernel, (1,), x, out, 100, 2.0, BLOCK=128) for _ in range(3)]
    assert states[-1]
    seen: list[Any] = []
    kernel.add_pre_run_hook(lambda *args, **_: seen.append(args))
    assert not launched(kernel, (1,), x, out, 100, 2.0, BLOCK=128)
    assert len(seen) == 1


def test_arrays_nobody_may_write_are_refused() -> None:
    kernel = fresh()
    x, out = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    for _ in range(3):
        launched(kernel, (1,), x, out, 100, 2.0, BLOCK=128)
    frozen = np.zeros(100, np.float32)
    frozen.flags.writeable = False
    with pytest.raises(ArgumentValueError, match="read-only array"):
        kernel[(1,)](x, frozen, 100, 2.0, BLOCK=128)
    assert launched(kernel, (1,), frozen, out, 100, 2.0, BLOCK=128)


FACTOR = tl.constexpr(2)


@triton.jit
def scaled_by_global(out_ptr):
    tl.store(out_ptr, FACTOR)


def test_a_changed_global_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    out = np.zeros(1, np.int32)
    for _ in range(3):
        scaled_by_global[(1,)](out)
    monkeypatch.setitem(scaled_by_global.fn.__globals__, "FACTOR", tl.constexpr(3))
    with pytest.raises(ChangedGlobalError, match="FACTOR has changed"):
        scaled_by_global[(1,)](out)


settings = ModuleType("settings")
settings.__dict__["WIDTH"] = tl.constexpr(2)


@triton.jit
def scaled_by_setting(out_ptr):
    tl.store(out_ptr, settings.WIDTH)


def test_a_changed_constant_of_a_module_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    out = np.zeros(1, np.int32)
    for _ in range(3):
        scaled_by_setting[(1,)](out)
    assert out[0] == 2
    monkeypatch.setitem(settings.__dict__, "WIDTH", tl.constexpr(3))
    with pytest.raises(ChangedGlobalError, match="WIDTH has changed"):
        scaled_by_setting[(1,)](out)


@triton.jit
def checked(x_ptr, limit):
    tl.device_assert(tl.load(x_ptr) < limit, "too large")


def test_a_failed_assertion_is_raised_without_frames_of_ours() -> None:
    with knobs.scope(debug=True):
        x = np.zeros(1, np.int32)
        for _ in range(3):
            checked[(1,)](x, 5)
        x[0] = 9
        with pytest.raises(DeviceAssertionError, match="too large") as caught:
            checked[(1,)](x, 6)
    assert [entry.frame.code.name for entry in caught.traceback] == [
        "test_a_failed_assertion_is_raised_without_frames_of_ours"
    ]


@pytest.mark.costly
def test_known_calls_keep_no_argument_alive() -> None:
    kernel = fresh()
    x, out = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    for _ in range(3):
        launched(kernel, (1,), x, out, 100, 2.0, BLOCK=128)
    gone = weakref.ref(x)
    del x
    gc.collect()
    assert gone() is None


def test_more_kinds_of_calls_than_the_table_holds_still_run() -> None:
    kernel = fresh()
    x, out = np.ones(64, np.float32), np.zeros(64, np.float32)
    arguments = {"x_ptr": x, "out_ptr": out, "n": 15, "factor": 2.0}
    forms = [dict(form) for form in permutations(arguments.items())]
    natives = 0
    for form in [*forms, *forms, *forms]:
        out[:] = 0
        natives += launched(kernel, (1,), **form, BLOCK=64)
        assert out.sum() == 30
    assert kernel._calls._table.is_full
    assert natives == 2 * MOST_CALLS


def test_an_item_says_what_an_argument_is_compared_with() -> None:
    item = Item(kind=Kind.INTEGER, type=int, number=2, detail=3, slot=4)
    assert item.record("n").kind == Kind.INTEGER
    assert not item.kind.is_memory
    assert Kind.TENSOR.is_memory


def test_a_launcher_that_was_taken_early_gets_the_native_way(monkeypatch: pytest.MonkeyPatch) -> None:
    @triton.jit
    def increment(x, n, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        tl.store(x + offsets, tl.load(x + offsets, mask=offsets < n) + 1, mask=offsets < n)

    in_python: list[int] = []
    start = increment._calls._slow_path  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(
        increment._calls,  # pyright: ignore[reportPrivateUsage]
        "_slow_path",
        lambda *args, **keywords: (in_python.append(1), start(*args, **keywords))[1],
    )
    x = np.zeros(16, np.float32)
    launch = increment[(1,)]
    for _ in range(6):
        launch(x, 16, BLOCK=16)
    assert (x == 6).all()
    assert len(in_python) == 2
