"""The fast path to a kernel agrees with the slow path: its keys are as fine, its slots are the same."""

from __future__ import annotations

import inspect
import struct
import threading
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from launch_values import DATA, RULES, VALUES

import tilewright as triton
import tilewright.language as tl
from tilewright.runtime.binding import Binder
from tilewright.runtime.fast_path import make_plan
from tilewright.runtime.reading import Reader, extent_of_view, make_reader
from tilewright.runtime.specialization import ParameterRule
from tilewright.runtime.tensor_descriptor import TensorDescriptor
from tilewright.support import knobs
from tilewright.support.errors import ArgumentError, ArgumentTypeError, ArgumentValueError


class Native:
    """A kernel that hands back what it would pack."""

    def starter(self, formats: Any, place: Any) -> Any:
        return lambda values, *_: list(struct.unpack(f"<{len(formats)}Q", struct.pack(f"<{''.join(formats)}", *values)))


class Kernel:
    """What `make_plan` looks at."""

    native = Native()
    sanitizer = None

    class parameters:
        written = frozenset[int]()


def binder(*rules: ParameterRule) -> Binder:
    names = [inspect.Parameter(f"p{i}", inspect.Parameter.POSITIONAL_OR_KEYWORD) for i, _ in enumerate(rules)]
    return Binder("k", inspect.Signature(names), rules)


def seen_by(values: tuple[Any, ...], rules: tuple[ParameterRule, ...], readers: dict[Any, Reader | None]) -> Any:
    """Reader, key with classes, and slots; None where only the slow path knows."""
    classes = tuple(value.__class__ for value in values)
    if (classes, rules) not in readers:
        readers[classes, rules] = make_reader(values, rules)
    reader = readers[classes, rules]
    try:
        seen = None if reader is None else reader.read(*values)
    except OverflowError:
        seen = None
    return None if seen is None else (reader, (classes, seen[0]), seen[1])


def check_pairs(pairs: Iterator[tuple[Any, ...]], rules: tuple[ParameterRule, ...]) -> int:
    """Every pair of arguments by both paths; the number that the fast path took."""
    long_keys: dict[Any, Any] = {}
    readers: dict[Any, Reader | None] = {}
    slow_path = binder(*rules)
    taken = 0
    for values in pairs:
        seen = seen_by(values, rules, readers)
        try:
            bound = slow_path.bind(values, {})
        except ArgumentError:
            assert seen is None or seen[1] not in long_keys, f"{values} are refused by the slow path alone"
            continue
        if seen is None:
            continue
        reader, key, slots = seen
        assert long_keys.setdefault(key, bound.key()) == bound.key(), f"{values}: {key}"
        plan: Any = make_plan(Kernel(), reader, values, rules, 0)  # pyright: ignore[reportArgumentType]
        try:
            packed = plan.start(slots if plan.chosen is None else plan.chosen(slots))
        except OverflowError:
            continue
        assert packed == bound.slots()[0], values
        taken += 1
    return taken


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_single_arguments(rule: ParameterRule) -> None:
    assert check_pairs(((value,) for value in VALUES), (rule,)) >= (0 if rule.forced_type == "bf16" else 5)


def test_pairs_of_arguments() -> None:
    rules = (ParameterRule("x"), ParameterRule("y"))
    assert check_pairs(product(VALUES, VALUES), rules) > 900


def test_tensors() -> None:
    torch = pytest.importorskip("torch", reason="needs PyTorch")
    base = torch.zeros(64)
    tensors = [base, base[1:], base[32:], torch.zeros(3), torch.zeros(0), torch.zeros(4, dtype=torch.float16), DATA]
    tensors += [torch.nn.Parameter(torch.zeros(8)), torch.zeros(4, 4).T, 1, 2.0, torch.from_numpy(DATA)[8:]]
    tensors += [torch.from_dlpack(base[part : part + 1]) for part in (3, 40)]
    rules = (ParameterRule("x"), ParameterRule("y"))
    assert check_pairs(product(tensors, tensors), rules) == len(tensors) ** 2


def test_tensors_without_memory_are_left_to_the_slow_path() -> None:
    torch = pytest.importorskip("torch", reason="needs PyTorch")
    rules = (ParameterRule("x"),)
    reader = make_reader((torch.zeros(4),), rules)
    assert reader is not None
    on_host, nowhere = reader.read(torch.zeros(4)), reader.read(torch.zeros(4, device="meta"))
    assert on_host is not None and nowhere is not None and on_host[0] != nowhere[0]


def test_tensors_without_an_address_are_refused_behind_others(cache: None) -> None:
    torch = pytest.importorskip("torch", reason="needs PyTorch")

    @triton.jit
    def fill(x):
        tl.store(x, 1.0)

    for _ in range(4):
        fill[(1,)](torch.zeros(4))
        with pytest.raises(ArgumentTypeError, match=r"'x': tensor of layout torch\.sparse_coo without an address"):
            fill[(1,)](torch.eye(4).to_sparse())


def test_descriptors() -> None:
    base = np.zeros((64, 64), np.float32)
    wide, plain = np.zeros((64, 128), np.float32), np.zeros((64, 64), np.float16)
    given = [
        TensorDescriptor.from_tensor(base, [16, 16]),
        TensorDescriptor.from_tensor(base, [16, 32]),
        TensorDescriptor.from_tensor(base, [16, 16], padding="nan"),
        TensorDescriptor(wide, [64, 64], [128, 1], [16, 16]),
        TensorDescriptor.from_tensor(plain, [16, 16]),
    ]
    rules = (ParameterRule("x"), ParameterRule("y"))
    assert check_pairs(product(given, [*given, base, wide, 1, 2]), rules) == 5 * 9
    one_dimensional = TensorDescriptor.from_tensor(np.zeros(64, np.float32), [16])
    assert check_pairs(iter([(one_dimensional, given[0]), (one_dimensional, 3)]), rules) == 2
    torch = pytest.importorskip("torch", reason="needs PyTorch")
    tensors = [TensorDescriptor.from_tensor(torch.from_numpy(array), [16, 16]) for array in (base, wide, plain)]
    assert check_pairs(product(tensors, given), rules) == 3 * 5


def test_descriptors_that_change(cache: None) -> None:
    """What was set anew on a descriptor counts."""

    @triton.jit
    def double(x_desc, out_desc, ROWS: tl.constexpr):
        row = tl.program_id(0) * ROWS
        out_desc.store([row, 0], x_desc.load([row, 0]) * 2)

    x, out = np.arange(256, dtype=np.float32).reshape(16, 16), np.zeros((16, 16), np.float32)
    x_desc, out_desc = (TensorDescriptor.from_tensor(array, [8, 16]) for array in (x, out))
    for _ in range(2):
        double[(2,)](x_desc, out_desc, ROWS=8)
    np.testing.assert_array_equal(out, 2 * x)
    x_desc.base = x = x + 1
    double[(2,)](x_desc, out_desc, ROWS=8)
    np.testing.assert_array_equal(out, 2 * x)
    x_desc.block_shape = out_desc.block_shape = [4, 16]
    out[:] = 0
    double[(4,)](x_desc, out_desc, ROWS=4)
    np.testing.assert_array_equal(out, 2 * x)
    out.flags.writeable = False
    with pytest.raises(ArgumentValueError, match="'out_desc': a read-only array"):
        double[(4,)](x_desc, out_desc, ROWS=4)


@pytest.mark.parametrize("count", [3, 5])
def test_many_pointers(count: int) -> None:
    arrays = [np.zeros(16, np.float32) for _ in range(count)]
    rules = tuple(ParameterRule(f"p{i}") for i in range(count))
    shared = [*arrays[:-1], arrays[0][8:]]
    assert check_pairs(iter([tuple(arrays), tuple(shared)]), rules) == 2


def test_views_reach_as_far_as_their_owner() -> None:
    low = DATA.ctypes.data
    assert extent_of_view(DATA[3:7]) == extent_of_view(DATA[1:][::-1]) == (low, low + DATA.nbytes, True)
    records = np.zeros(4, dtype=[("a", np.int32), ("b", np.int8)])
    assert extent_of_view(records["a"]) is None, "elements that do not lie on whole elements"


@triton.jit
def shift(x_ptr, out_ptr, n, offset, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n, other=0.0) + offset, mask=offsets < n)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[None]:
    with knobs.scope(cache_dir=str(tmp_path)):
        yield


def test_repeated_launches_take_the_fast_path(cache: None, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = triton.jit(shift.fn)
    x, out = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    first = fresh[(1,)](x, out, 16, 1.0, BLOCK=16)
    monkeypatch.setattr(fresh, "run", None)
    assert fresh[(1,)](x, out, 16, 2.5, BLOCK=16) is first
    assert fresh[lambda meta: (meta["n"] // 16,)](x, out, 16, 3.5, BLOCK=16) is first
    np.testing.assert_array_equal(out, x + 3.5)
    assert fresh[0, 5](x, out, 16, 9.5, BLOCK=16) is first
    np.testing.assert_array_equal(out, x + 3.5)


@triton.jit
def with_constant_option(out_ptr, num_stages: tl.constexpr):
    tl.store(out_ptr, num_stages)


@triton.jit
def with_varying_option(out_ptr, num_stages):
    tl.store(out_ptr, num_stages)


def test_parameters_that_set_options(cache: None, monkeypatch: pytest.MonkeyPatch) -> None:
    out = np.zeros(1, np.int32)
    for number in (2, 3):
        assert with_constant_option[(1,)](out, num_stages=number).metadata.num_stages == number
        assert with_varying_option[(1,)](out, num_stages=number).metadata.num_stages == number
    # A constant is part of what tells launches apart on the fast path; the other parameter is not.
    monkeypatch.setattr(Binder, "bind", lambda *_: pytest.fail("the slow path"))
    for number in (3, 2):
        assert with_constant_option[(1,)](out, num_stages=number).metadata.num_stages == number == out[0]
    with pytest.raises(pytest.fail.Exception, match="the slow path"):
        with_varying_option[(1,)](out, num_stages=2)


def test_autotuned_kernels_take_the_fast_path(cache: None, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = triton.jit(shift.fn)
    tuned = triton.autotune(configs=[triton.Config({"BLOCK": 16}, num_warps=2)], key=["n"])(fresh)
    x, out = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    first = tuned[(1,)](x, out, 16, 1.0)
    monkeypatch.setattr(fresh.binder, "bind", None)
    assert tuned[(1,)](x, out, 16, 2.0) is first
    assert fresh.run(x, out, 16, 3.0, BLOCK=16, grid=(1,), num_warps=2, num_ctas=1, num_stages=3) is first
    np.testing.assert_array_equal(out, x + 3)


def test_a_switch_ends_the_fast_path(cache: None) -> None:
    fresh = triton.jit(shift.fn)
    x, out = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    compiled = [fresh[(1,)](x, out, 16, 1.0, BLOCK=16)]
    with knobs.scope(default_fp_fusion=False):
        compiled += [fresh[(1,)](x, out, 16, 1.0, BLOCK=16) for _ in range(2)]
    with knobs.scope(target="reference"):
        compiled += [fresh[(1,)](x, out, 16, 1.0, BLOCK=16) for _ in range(2)]
    compiled += [fresh[(1,)](x, out, 16, 1.0, BLOCK=16)]
    assert [kernel.metadata.target.backend for kernel in compiled] == ["cpu"] * 3 + ["reference"] * 2 + ["cpu"]
    assert compiled[0] is compiled[5] and compiled[1] is compiled[2] and compiled[0] is not compiled[1]


def test_read_only_arrays_on_the_fast_path(cache: None) -> None:
    fresh = triton.jit(shift.fn)
    x, out = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    for _ in range(2):
        fresh[(1,)](x, out, 16, 1.0, BLOCK=16)
    out.flags.writeable = False
    with pytest.raises(ArgumentValueError, match=r"argument 'out_ptr': a read-only array"):
        fresh[(1,)](x, out, 16, 1.0, BLOCK=16)


def test_numbers_too_large_for_their_type(cache: None) -> None:
    fresh = triton.jit(shift.fn)
    x, out = np.zeros(16, np.float32), np.zeros(16, np.float32)
    for value in (1.0, 1e300, -1e300):
        fresh[(1,)](x, out, 16, value, BLOCK=16)
        assert out[0] == (value if abs(value) < 1e38 else np.copysign(np.inf, value))


def test_launches_of_several_threads(cache: None) -> None:
    fresh = triton.jit(shift.fn)
    wrong: list[int] = []

    def work(number: int) -> None:
        x, out = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
        for turn in range(200):
            fresh[(1,)](x, out, 16, float(number * 1000 + turn), BLOCK=16)
            if not np.array_equal(out, x + (number * 1000 + turn)):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_constants_that_are_equal_but_not_the_same(cache: None) -> None:
    @triton.jit
    def fill(out_ptr, value: tl.constexpr):
        tl.store(out_ptr, value)

    out = np.ones(1, np.float32)
    for value in (0.0, -0.0, 0.0, -0.0):
        fill[(1,)](out, value)
        assert np.signbit(out[0]) == np.signbit(value)
