"""Autotuning, heuristics and the switches under Triton's names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright import knobs
from tilewright.runtime.autotuner import AutotunerError
from tilewright.support import knobs as table
from tilewright.support.errors import OptionError, UnknownOptionError


@pytest.fixture(autouse=True)
def private_cache(tmp_path: Path) -> Any:  # pyright: ignore[reportUnusedFunction]
    with table.scope(cache_dir=str(tmp_path)):
        yield


@triton.jit
def double(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.static_assert(BLOCK != 8, "a block of 8 is not allowed")
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) * 2, mask=offsets < n)


@triton.jit
def increment(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) + 1, mask=offsets < n)


def grid(meta: dict[str, Any]) -> tuple[int]:
    return (triton.cdiv(meta["n"], meta["BLOCK"]),)


def configs(*blocks: int, **options: Any) -> list[triton.Config]:
    return [triton.Config({"BLOCK": block}, **options) for block in blocks]


def fake_bench(times: dict[int, float], seen: list[int], blocks: list[int]) -> Any:
    """A `do_bench` that runs once and reports a time by the order of the calls."""

    def bench(launch: Any, quantiles: Any) -> list[float]:
        launch()
        block = blocks[len(seen)]
        seen.append(block)
        return [times[block]] * 3

    return bench


def test_the_fastest_configuration_is_used_and_remembered() -> None:
    seen: list[int] = []
    bench = fake_bench({16: 3.0, 32: 1.0, 64: 2.0}, seen, [16, 32, 64])
    kernel = triton.autotune(configs(16, 32, 64), key=["n"], do_bench=bench)(double)
    x, out = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    for _ in range(3):
        kernel[grid](x, out, 100)
    np.testing.assert_array_equal(out, x * 2)
    assert seen == [16, 32, 64], "measured once"
    assert kernel.best_config == configs(32)[0]


def test_a_new_key_is_measured_anew_and_disk_results_are_taken() -> None:
    seen: list[int] = []
    x, out = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    bench = fake_bench({16: 1.0, 32: 2.0}, seen, [16, 32, 16, 32])
    triton.autotune(configs(16, 32), key=["n"], do_bench=bench, cache_results=True)(double)[grid](x, out, 100)
    kernel = triton.autotune(configs(16, 32), key=["n"], do_bench=bench, cache_results=True)(double)
    kernel[grid](x, out, 100)
    assert seen == [16, 32], "the second tuner finds the timings on disk"
    kernel[grid](x, out, 50)
    assert seen == [16, 32, 16, 32]


def test_configurations_that_do_not_compile_lose() -> None:
    kernel = triton.autotune(configs(8, 32), key=["n"], warmup=1, rep=1)(double)
    x, out = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    kernel[grid](x, out, 100)
    assert kernel.best_config == configs(32)[0]
    assert kernel.configs_timings[configs(8)[0]][0] == float("inf")


def test_no_configuration_left() -> None:
    prune = {"early_config_prune": lambda configs, named, **keywords: []}
    kernel = triton.autotune(configs(16, 32), key=["n"], prune_configs_by=prune)(double)
    with pytest.raises(AutotunerError, match="left no configuration"):
        kernel[grid](np.zeros(8, np.float32), np.zeros(8, np.float32), 8)
    with pytest.raises(AutotunerError, match="no configuration compiles"):
        triton.autotune(configs(8, 8, num_warps=2), key=["n"], warmup=1, rep=1)(double)[grid](
            np.zeros(8, np.float32), np.zeros(8, np.float32), 8
        )


def test_trials_leave_restored_arguments_alone() -> None:
    kernel = triton.autotune(configs(16, 32), key=["n"], restore_value=["x_ptr"], warmup=1, rep=1)(increment)
    x = np.zeros(40, np.float32)
    kernel[grid](x, 40)
    np.testing.assert_array_equal(x, np.ones(40, np.float32))
    kernel = triton.autotune(configs(16, 32), key=["n"], reset_to_zero=["x_ptr"], warmup=1, rep=1)(increment)
    x[:] = 0
    kernel[grid](x, 40)
    np.testing.assert_array_equal(x, np.ones(40, np.float32))


def refuse_to_bench(launch: Any, quantiles: Any) -> list[float]:
    raise AssertionError("there is nothing to choose")


def test_one_configuration_left_is_not_measured() -> None:
    """After either pruning; nobody is told of a tuning."""
    told: list[Any] = []
    early = {"early_config_prune": lambda configs, named, **keywords: configs[1:]}
    model = {"perf_model": lambda BLOCK, **rest: -BLOCK, "top_k": 0.1}
    x, out = np.ones(40, np.float32), np.zeros(40, np.float32)
    with knobs.autotuning.scope():
        knobs.autotuning.listener = lambda **keywords: told.append(keywords)
        for prune in (early, model):
            kernel = triton.autotune(configs(16, 32), key=["n"], prune_configs_by=prune, do_bench=refuse_to_bench)(
                double
            )
            kernel[grid](x, out, 40)
            assert kernel.best_config == configs(32)[0]
    assert not told


def test_the_model_keeps_a_part_of_what_was_kept_before() -> None:
    seen: list[int] = []
    asked: list[int] = []

    def model(BLOCK: int, **rest: Any) -> int:
        asked.append(BLOCK)
        return -BLOCK

    prune = {"early_config_prune": lambda configs, named, **keywords: configs[:4], "perf_model": model, "top_k": 0.5}
    bench = fake_bench({64: 1.0, 128: 2.0}, seen, [128, 64])
    arguments = np.ones(40, np.float32), np.zeros(40, np.float32), 40
    choices = configs(16, 32, 64, 128, 256, 512)
    triton.autotune(choices, key=["n"], prune_configs_by=prune, do_bench=bench)(double)[grid](*arguments)
    assert asked == [16, 32, 64, 128]
    assert seen == [128, 64]
    prune["top_k"] = 1.5
    with pytest.raises(OptionError, match=r"top_k=1\.5 is neither"):
        triton.autotune(choices, key=["n"], prune_configs_by=prune, do_bench=bench)(double)[grid](*arguments)


def test_a_listener_is_told_of_tunings() -> None:
    """Of one that was measured, and of one whose times lie on disk; not of a configuration that is known already."""
    told: list[dict[str, Any]] = []
    x, out = np.ones(40, np.float32), np.zeros(40, np.float32)
    with knobs.autotuning.scope():
        knobs.autotuning.listener = lambda **keywords: told.append(keywords)
        for count in (1, 2):
            bench = fake_bench({16: 3.0, 32: 1.0}, [], [16, 32])
            kernel = triton.autotune(configs(16, 32), key=["n"], do_bench=bench, cache_results=True)(double)
            kernel[grid](x, out, 40)
            kernel[grid](x, out, 40)
            assert len(told) == count
    measured, found = told
    assert measured["fn"] is double
    assert (measured["best_config"], measured["cache_hit"]) == (configs(32)[0], False)
    assert set(measured["configs_timings"]) == set(configs(16, 32))
    assert measured["duration"] > 0
    assert (found["best_config"], found["cache_hit"], found["duration"]) == (configs(32)[0], True, None)


@pytest.mark.parametrize("blocks", [(16,), (16, 32)], ids=str)
def test_redefining_a_tuned_parameter_is_refused(blocks: tuple[int, ...]) -> None:
    kernel = triton.autotune(configs(*blocks), key=["n"])(double)
    with pytest.raises(ValueError, match="Conflicting meta-parameters: BLOCK"):
        kernel[grid](np.zeros(8, np.float32), np.zeros(8, np.float32), 8, BLOCK=64)


def test_performance_model_and_hooks() -> None:
    calls: list[Any] = []
    prune = {"perf_model": lambda BLOCK, **rest: BLOCK, "top_k": 1}
    tuned = configs(16, 32, pre_hook=lambda args: calls.append(args["BLOCK"]))
    kernel = triton.autotune(tuned, key=["n"], prune_configs_by=prune, warmup=1, rep=1)(double)
    kernel[grid](np.zeros(8, np.float32), np.zeros(8, np.float32), 8)
    assert set(calls) == {16}


def test_heuristics_fill_parameters() -> None:
    kernel = triton.heuristics({"BLOCK": lambda args: 32 if args["n"] > 16 else 16})(double)
    x, out = np.arange(40, dtype=np.float32), np.zeros(40, np.float32)
    kernel[grid](x, out, 40)
    np.testing.assert_array_equal(out, x * 2)


def test_switches_under_tritons_names() -> None:
    with knobs.autotuning.scope():
        knobs.autotuning.print = True
        assert table.get("print_autotuning") is True
    assert table.get("print_autotuning") is False
    with pytest.raises(AttributeError, match="no switch 'nothing'"):
        _ = knobs.runtime.nothing


class LeastBlock(triton.runtime.Autotuner):
    """A tuner as libraries derive them: it takes what Triton's takes, by position, and has its own way to choose."""

    def __init__(self, fn: Any, arg_names: Any, configs: Any, key: Any, reset_to_zero: Any, restore_value: Any) -> None:
        super().__init__(fn, arg_names, configs, key, reset_to_zero, restore_value, None, None, None, None, None, False)
        self.name = self.base_fn.__name__
        self.tried: list[int] = []

    def run(self, *args: Any, **keywords: Any) -> Any:
        self.nargs = dict(zip(self.arg_names, args, strict=False))
        key = tuple(self.nargs[name] for name in self.keys)
        if key not in self.cache:
            times = {config: self._bench(*args, config=config, **keywords) for config in self.prune_configs(keywords)}
            self.cache[key] = min(times, key=lambda config: config.kwargs["BLOCK"])
            self.pre_hook({**self.nargs, **keywords, **self.cache[key].all_kwargs()}, reset_only=True)
        self.best_config = self.cache[key]
        return self.fn.run(*args, **keywords, **self.best_config.all_kwargs())

    def _bench(self, *args: Any, config: triton.Config, **meta: Any) -> Any:
        self.tried.append(config.kwargs["BLOCK"])
        return super()._bench(*args, config=config, **meta)


def test_tuners_of_libraries_derive_from_ours() -> None:
    kernel = LeastBlock(increment, increment.arg_names, configs(32, 16), ["n"], ["x_ptr"], None)
    kernel._do_bench = lambda launch, quantiles: [launch(), 1.0, 1.0]  # pyright: ignore[reportPrivateUsage]
    x = np.full(40, 5.0, np.float32)
    kernel[grid](x, x.size)
    kernel[grid](x, x.size)
    assert kernel.name == "increment"
    assert kernel.tried == [32, 16]
    np.testing.assert_array_equal(x, np.full(40, 2.0, np.float32))


def test_arguments_that_are_none_are_not_reset_nor_restored() -> None:
    @triton.jit
    def optional(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK)
        tl.store(x_ptr + offsets, offsets, mask=offsets < n)
        if y_ptr is not None:
            tl.store(y_ptr + offsets, offsets, mask=offsets < n)

    bench = fake_bench({16: 1.0, 32: 2.0}, [], [16, 32])
    options = {"reset_to_zero": ["x_ptr", "y_ptr"], "restore_value": ["y_ptr"], "do_bench": bench}
    kernel = triton.autotune(configs(16, 32), key=["n"], **options)(optional)
    x = np.zeros(16, np.int32)
    kernel[(1,)](x, None, 16)
    np.testing.assert_array_equal(x, np.arange(16))


def test_parameters_say_what_the_decorator_says() -> None:
    @triton.jit(do_not_specialize=["n"], do_not_specialize_on_alignment=[0])
    def kernel(x_ptr, n, m, BLOCK: tl.constexpr = 4):
        pass

    assert [p.name for p in kernel.params if p.do_not_specialize] == ["n"]
    assert [p.num for p in kernel.params if p.do_not_specialize_on_alignment] == [0]
    assert [p.default for p in kernel.params if p.has_default] == [4]


def test_configurations_that_compile_to_the_same_code_are_measured_once() -> None:
    seen: list[int] = []
    bench = fake_bench({32: 2.0, 16: 1.0}, seen, [32, 16])
    candidates = [
        c for block in (32, 16) for warps in (2, 4) for c in configs(block, num_warps=warps, num_stages=warps)
    ]
    kernel = triton.autotune(candidates, key=["n"], do_bench=bench)(double)
    x = np.arange(40, dtype=np.float32)
    out = np.zeros_like(x)
    compiled = kernel[grid](x, out, x.size)
    assert seen == [32, 16]
    assert [times[0] for times in kernel.configs_timings.values()] == [2.0, 2.0, 1.0, 1.0]
    assert kernel.best_config is not None
    assert (compiled.metadata.num_warps, kernel.best_config.num_warps) == (2, 2)
    np.testing.assert_array_equal(out, x * 2)


def test_a_simulated_gpu_takes_the_first_configuration_that_runs() -> None:
    kernel = triton.autotune(configs(8, 32, 16), key=["n"])(double)
    x = np.arange(40, dtype=np.float32)
    out = np.zeros_like(x)
    with table.scope(target="cuda_sim"):
        kernel[grid](x, out, x.size)
    assert [config.kwargs["BLOCK"] for config in kernel.configs_timings] == [8, 32]
    assert kernel.best_config is not None and kernel.best_config.kwargs == {"BLOCK": 32}
    np.testing.assert_array_equal(out, x * 2)


def test_mistakes_in_the_decorator() -> None:
    def kernel(x_ptr, N: tl.constexpr):
        tl.store(x_ptr + tl.arange(0, N), 1.0)

    jitted, configs = triton.jit(kernel), [triton.Config({"N": 16})]
    with pytest.raises(
        OptionError, match=r"\(reset_to_zero=...\): 'y' is not a parameter of the kernel; it has x_ptr, N"
    ):
        triton.autotune(configs=configs, key=[], reset_to_zero=["y"])(jitted)
    with pytest.warns(UserWarning, match=r"autotune\(key=...\): 'n' is not a parameter"):
        triton.autotune(configs=configs, key=["n"])(jitted)
    with pytest.raises(TypeError, match=r"expected triton.Config\({...}\), got dict"):
        triton.autotune(configs=[{"N": 16}], key=[])(jitted)
    with pytest.raises(TypeError, match="stands below @autotune"):
        triton.jit(triton.autotune(configs=configs, key=[])(jitted))
    with pytest.raises(UnknownOptionError, match=r"M was specified .* the kernel's parameters are x_ptr, N"):
        jitted[(1,)](np.zeros(16, np.float32), N=16, M=3)
