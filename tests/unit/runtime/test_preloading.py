"""Hooks of compilations, what they are told, kernels that are compiled before they are launched, names of kernels."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright import knobs
from tilewright.runtime.driver import driver
from tilewright.support import knobs as table
from tilewright.support.errors import CompilationError, OptionError


@pytest.fixture(autouse=True)
def private_cache(tmp_path: Path) -> Generator[None]:  # pyright: ignore[reportUnusedFunction]
    with table.scope(cache_dir=str(tmp_path)):
        yield
    knobs.runtime.jit_cache_hook = None
    knobs.runtime.jit_post_compile_hook = None
    knobs.runtime.launch_enter_hook = None


def make_kernel() -> Any:
    @triton.jit
    def scaled(x_ptr, out_ptr, n, pair, SCALE: tl.constexpr, TYPE: tl.constexpr, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        x = tl.load(x_ptr + offsets, mask=offsets < n).to(TYPE) * SCALE + pair[0] + pair[1]
        tl.store(out_ptr + offsets, x, mask=offsets < n)

    return scaled


def launch(kernel: Any, n: int = 40) -> Any:
    x, out = np.arange(n, dtype=np.float32), np.zeros(n, np.float32)
    compiled = kernel[(1,)](x, out, n, (2, 16), 3, tl.float16, BLOCK=64)
    return compiled, out


def test_the_hook_in_front_of_compilations_is_told_what_is_compiled() -> None:
    told: list[Any] = []
    knobs.runtime.jit_cache_hook = lambda **keywords: told.append(keywords)
    kernel = make_kernel()
    launch(kernel)
    launch(kernel)
    assert len(told) == 1
    assert (told[0]["fn"].module, told[0]["fn"].name) == (kernel.fn.__module__, kernel.fn.__qualname__)
    assert told[0]["repr"].startswith("scaled[num_warps=4, num_stages=3](x_ptr: *fp32, out_ptr: *fp32, n: i32")
    assert told[0]["compile"]["signature"]["n"] == "i32"
    assert not told[0]["is_manual_warmup"]


def test_a_hook_that_returns_true_forbids_the_compilation() -> None:
    knobs.runtime.jit_cache_hook = lambda **_: True
    compiled, out = launch(make_kernel())
    assert compiled is None
    assert not out.any()


def test_the_hook_behind_compilations_sees_the_kernel() -> None:
    seen: list[int] = []
    kernel = make_kernel()
    knobs.runtime.jit_post_compile_hook = lambda **_: seen.append(len(kernel.cache))
    launch(kernel)
    assert seen == [1]


def test_what_a_hook_was_told_can_be_compiled_before_the_first_launch() -> None:
    told: list[str] = []
    knobs.runtime.jit_cache_hook = lambda **keywords: told.append(keywords["compile"]["specialization_data"])
    kernel = make_kernel()
    first, expected = launch(kernel)
    kernel.device_caches.clear()
    assert not kernel.device_caches[0][0]
    preloaded = kernel.preload(told[0])
    knobs.runtime.jit_cache_hook = lambda **_: pytest.fail("it is there already")
    again, out = launch(kernel)
    assert preloaded is again
    assert again.hash == first.hash
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(out, np.arange(40) * 3 + 18)


def test_the_tables_of_devices_are_those_that_have_kernels() -> None:
    kernel = make_kernel()
    assert len(kernel.device_caches) == 0 and not list(kernel.device_caches.items())
    first, _ = launch(kernel)
    ((device, tables),) = kernel.device_caches.items()
    assert device == driver.active.get_current_device() and device in kernel.device_caches
    assert list(tables[0].values()) == [first]
    assert [len(tables[0]) for tables in kernel.device_caches.values()] == [1]


def test_what_was_told_of_another_function_is_refused() -> None:
    kernel = make_kernel()
    with pytest.raises(OptionError, match=r"Specialization data is for other but trying to preload for .*scaled"):
        kernel.preload(json.dumps({"name": "other"}))


def test_a_function_takes_the_place_of_all_hooks_of_launches() -> None:
    names: list[str] = []
    knobs.runtime.launch_enter_hook = lambda metadata: names.append(metadata.get()["name"])  # pyright: ignore[reportUnknownLambdaType]
    kernel = make_kernel()
    launch(kernel)
    knobs.runtime.launch_enter_hook = None
    launch(kernel)
    assert names == ["scaled"]


def test_a_kernel_is_called_what_its_repr_says() -> None:
    def say(specialization: Any) -> str:
        return f"some.module.filled_{specialization.constants['BLOCK']}_{specialization.signature['n']}"

    @triton.jit(repr=say)
    def filled(x_ptr, n, BLOCK: tl.constexpr):
        tl.store(x_ptr + tl.arange(0, BLOCK), n)

    x = np.zeros(4, np.int32)
    compiled = filled[(1,)](x, 7, BLOCK=4)
    assert compiled.name == "filled_4_i32"
    assert "@filled_4_i32(" in compiled.asm["ttir"]

    @triton.jit(repr=lambda specialization: "no identifier")
    def unnamed(x_ptr):
        tl.store(x_ptr, 1)

    with pytest.raises(CompilationError, match="`unnamed` cannot be called 'no identifier'"):
        unnamed[(1,)](x)


@triton.jit
def seventeen(x):
    return x + 17


@triton.jit
def applies(x_ptr, FUNCTIONS: tl.constexpr, OFFSETS: tl.constexpr):
    tl.store(x_ptr, FUNCTIONS[0](OFFSETS[0][1]) + OFFSETS[1])


def test_functions_and_tuples_are_told() -> None:
    told: list[str] = []
    knobs.runtime.jit_cache_hook = lambda **keywords: told.append(keywords["compile"]["specialization_data"])
    x, arguments = np.zeros(1, np.int32), ((seventeen,), ((2, 3), 5))
    first = applies[(1,)](x, *arguments)
    assert x[0] == 25 and len(told) == 1 and first is not None
    applies.device_caches.clear()
    preloaded = applies.preload(told[0])
    assert preloaded is not None and preloaded.hash == first.hash and len(told) == 2
    assert applies[(1,)](x, *arguments) is preloaded and len(told) == 2
    source = seventeen.src
    seventeen._unsafe_update_src(source.replace("17", "18"))
    try:
        with pytest.raises(OptionError, match="is another function"):
            applies.preload(told[0])
    finally:
        seventeen._unsafe_update_src(source)


def test_functions_that_no_name_leads_to_are_not_told() -> None:
    told: list[Any] = []
    knobs.runtime.jit_cache_hook = lambda **keywords: told.append(keywords["compile"]["specialization_data"])

    @triton.jit
    def hidden(x):
        return x + 1

    applies[(1,)](np.zeros(1, np.int32), (hidden,), ((2, 3), 5))
    assert told == [None]
