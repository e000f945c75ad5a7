"""Measuring and comparing: `do_bench`, `perf_report`, `Benchmark`, `assert_close`, with Triton's names and meanings."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.support.collecting import paused_collection
from tilewright.support.preemptions import preemptions
from tilewright.support.records import dataclass

GPU_TIMING = "tilewright.targets.cuda.timing"
"""What measures on a GPU."""

PEAKS = ("get_dram_gbps", "get_max_simd_tflops", "get_max_tensorcore_tflops", "nvsmi")
"""What a GPU can do at most: see `runtime/peaks.py`."""

RETURN_MODES = ("min", "max", "mean", "median", "all")


def do_bench(
    fn: Callable[[], Any],
    warmup: float = 25,
    rep: float = 100,
    grad_to_none: Sequence[Any] | None = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """Time of one call of `fn` in milliseconds: of the GPU's work, its cache flushed, where `fn` runs on one, else by
    the wall clock, without the calls that other processes interrupted if there are others.

    Calls are repeated for about `warmup` + `rep` milliseconds. With `quantiles` the result is a list of those (a single
    number for one); otherwise `return_mode` chooses: min, max, mean, median or all. `grad_to_none` lists tensors whose
    `.grad` is dropped before each call.
    """
    if return_mode not in RETURN_MODES:
        raise ValueError(f"return_mode must be one of {', '.join(RETURN_MODES)}, got {return_mode!r}")
    fn()

    def reset() -> None:
        for tensor in grad_to_none or ():
            tensor.grad = None

    if _uses_gpu():
        timer = import_module(GPU_TIMING).GpuTimer()
        return summarize(timer.times(fn, warmup, rep, reset), quantiles, return_mode)
    return summarize(_wall_times(fn, warmup, rep, reset), quantiles, return_mode)


ENOUGH = 5
"""Calls go on until so many were not interrupted ..."""

PATIENCE = 4
"""... or for so many times as long as asked for, on a busy machine."""


def _wall_times(fn: Callable[[], Any], warmup: float, rep: float, reset: Callable[[], None]) -> list[float]:
    """Milliseconds of calls by the wall clock, of those that no other process interrupted if there are any: how long
    a thread waits for its core says nothing of `fn`."""
    trials: list[float] = []
    for _ in range(3):
        start = time.perf_counter()
        fn()
        trials.append((time.perf_counter() - start) * 1e3)
    estimate = max(min(trials), 1e-4)
    for _ in range(max(1, int(warmup / estimate))):
        fn()
    times: list[float] = []
    calm: list[float] = []
    began, before = time.perf_counter(), preemptions()
    for _ in range(max(1, int(rep / estimate))):
        reset()
        start = time.perf_counter_ns()
        fn()
        times.append((time.perf_counter_ns() - start) / 1e6)
        after = preemptions()
        if after == before:
            calm.append(times[-1])
        before = after
        passed = (time.perf_counter() - began) * 1e3
        if passed > PATIENCE * rep or (passed > rep and len(calm) >= ENOUGH):
            break
    return calm or times


def _uses_gpu() -> bool:
    """Return whether kernels of this process run on a GPU; without importing what finds out where nothing did yet."""
    torch: Any = sys.modules.get("torch")
    loaded = "tilewright.targets.cuda.driver" in sys.modules
    if not loaded and (torch is None or not hasattr(torch, "cuda") or not torch.cuda.is_initialized()):
        return False
    return import_module(GPU_TIMING).is_in_use()


def do_bench_cudagraph(
    fn: Callable[[], Any],
    rep: float = 20,
    grad_to_none: Any = None,
    quantiles: Sequence[float] | None = None,
    return_mode: str = "mean",
) -> Any:
    """`do_bench`: times on a GPU are its own there, without the gaps between launches that graphs avoid."""
    return do_bench(fn, rep=rep, grad_to_none=grad_to_none, quantiles=quantiles, return_mode=return_mode)


@contextmanager
def cuda_graph_without_gc(*args: Any, **keywords: Any) -> Generator[Any]:
    """`torch.cuda.graph(...)` in which Python collects no garbage: a kernel that it unloads would end the capture."""
    with paused_collection(), import_module("torch").cuda.graph(*args, **keywords) as graph:
        yield graph


def summarize(times: Sequence[float], quantiles: Sequence[float] | None, return_mode: str) -> Any:
    """Reduce measured times as `do_bench` promises."""
    values = np.asarray(times, dtype=np.float64)
    if quantiles is not None:
        result = [float(q) for q in np.quantile(values, quantiles)]
        return result[0] if len(result) == 1 else result
    match return_mode:
        case "all":
            return [float(value) for value in values]
        case "min":
            return float(values.min())
        case "max":
            return float(values.max())
        case "median":
            return float(np.median(values))
        case _:
            return float(values.mean())


def assert_close(x: Any, y: Any, atol: float | None = None, rtol: float | None = None, err_msg: str = "") -> None:
    """Raise AssertionError unless |x - y| <= atol + rtol * |y| everywhere; NaN equals NaN, atol is 1e-2, rtol 0."""
    left, right = _as_numpy(x), _as_numpy(y)
    tolerance = 1e-2 if atol is None else atol
    relative = 0.0 if rtol is None else rtol
    if left.size > 1 or right.size > 1:
        np.testing.assert_allclose(left, right, atol=tolerance, rtol=relative, equal_nan=True, err_msg=err_msg)
        return
    if not np.allclose(left, right, atol=tolerance, rtol=relative, equal_nan=True):
        raise AssertionError(f"{err_msg} {left} is not close to {right} (atol={tolerance}, rtol={relative})")


def _as_numpy(value: Any) -> np.ndarray[Any, Any]:
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        value = value.float() if "bfloat16" in str(value.dtype) or "float8" in str(value.dtype) else value
        return value.numpy()
    array = np.asarray(value)
    return (
        array.astype(np.float32)
        if array.dtype.kind == "V" or array.dtype.name.startswith(("bfloat", "float8"))
        else array
    )


@dataclass
class Benchmark:
    """What `perf_report` measures: one line per `line_vals` over the points `x_vals`."""

    x_names: list[str]
    x_vals: list[Any]
    line_arg: str
    line_vals: list[Any]
    line_names: list[str]
    plot_name: str
    args: Mapping[str, Any]
    xlabel: str = ""
    ylabel: str = ""
    x_log: bool = False
    y_log: bool = False
    styles: list[tuple[str, str]] | None = None


@dataclass
class Mark:
    """A benchmark function with what it is to be run over; `run` measures, prints, plots and saves."""

    fn: Callable[..., Any]
    benchmarks: Benchmark | Sequence[Benchmark]
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict[str, list[dict[str, Any]]])

    def run(
        self,
        show_plots: bool = False,
        print_data: bool = False,
        save_path: str = "",
        return_df: bool = False,
        **keywords: Any,
    ) -> Any:
        """Run every benchmark. With `return_df` the rows come back, as pandas frames where pandas is installed."""
        single = isinstance(self.benchmarks, Benchmark)
        benchmarks = [self.benchmarks] if isinstance(self.benchmarks, Benchmark) else list(self.benchmarks)
        results: list[Any] = []
        for bench in benchmarks:
            rows = self._measure(bench, keywords)
            self.tables[bench.plot_name] = rows
            if print_data:
                print(_render(bench.plot_name, rows))
            if save_path or show_plots:
                _plot(bench, rows, save_path, show_plots)
            if save_path:
                _write_csv(Path(save_path) / f"{bench.plot_name}.csv", rows)
            results.append(rows)
        if not return_df:
            return None
        frames = [_as_frame(rows) for rows in results]
        return frames[0] if single else frames

    def _measure(self, bench: Benchmark, keywords: dict[str, Any]) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        for x in bench.x_vals:
            several: Any = (tuple, list)
            coordinates = list(x) if isinstance(x, several) else [x] * len(bench.x_names)
            if len(coordinates) != len(bench.x_names):
                raise ValueError(f"Expected {len(bench.x_names)} values, got {x}")
            row: dict[str, Any] = dict(zip(bench.x_names, coordinates, strict=True))
            point = dict(row)
            for value, name in zip(bench.line_vals, bench.line_names, strict=True):
                measured = self.fn(**point, **{bench.line_arg: value}, **bench.args, **keywords)
                row[name] = measured[0] if isinstance(measured, (tuple, list)) else measured
            rows.append(row)
        return rows


def perf_report(benchmarks: Benchmark | Sequence[Benchmark]) -> Callable[[Callable[..., Any]], Mark]:
    """Decorator: turn a measuring function into a `Mark` over the given benchmarks."""
    return lambda fn: Mark(fn, benchmarks)


def _render(title: str, rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return f"{title}: nothing measured"
    names = list(rows[0])
    cells = [[f"{row[name]:.6g}" if isinstance(row[name], float) else str(row[name]) for name in names] for row in rows]
    widths = [max(len(name), *(len(line[i]) for line in cells)) for i, name in enumerate(names)]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in [names, *cells]]
    return "\n".join([f"{title}:", *lines])


def _write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    import csv

    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]) if rows else [])
        writer.writeheader()
        writer.writerows(rows)


def _plot(bench: Benchmark, rows: Sequence[Mapping[str, Any]], save_path: str, show: bool) -> None:
    try:
        plot: Any = import_module("matplotlib.pyplot")
    except ImportError as error:
        raise ImportError(
            "plots need matplotlib: pip install 'tilewright[bench]', or run with neither save_path nor show_plots"
        ) from error
    plot.figure()
    axes = plot.subplot()
    x_name = bench.x_names[0]
    styles = bench.styles or [(None, None)] * len(bench.line_names)
    for name, (color, style) in zip(bench.line_names, styles, strict=False):
        axes.plot([row[x_name] for row in rows], [row[name] for row in rows], label=name, color=color, ls=style)
    axes.legend()
    axes.set_xlabel(bench.xlabel or x_name)
    axes.set_ylabel(bench.ylabel)
    axes.set_xscale("log" if bench.x_log else "linear")
    axes.set_yscale("log" if bench.y_log else "linear")
    if save_path:
        Path(save_path).mkdir(parents=True, exist_ok=True)
        plot.savefig(Path(save_path) / f"{bench.plot_name}.png")
    if show:
        plot.show()
    plot.close()


def _as_frame(rows: Sequence[Mapping[str, Any]]) -> Any:
    try:
        pandas: Any = import_module("pandas")
    except ImportError:
        return rows
    return pandas.DataFrame(list(rows))


def __getattr__(name: str) -> Any:
    if name in PEAKS:
        return getattr(import_module("tilewright.runtime.peaks"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
