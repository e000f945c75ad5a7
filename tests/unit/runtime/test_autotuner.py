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
