"""`autotune`: choose a kernel's meta-parameters by measuring.

Triton's module of this name has `heuristics`, too (`runtime.kernel_heuristics`).
"""

from __future__ import annotations

import builtins
import inspect
import time
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from tilewright.runtime import hooks
from tilewright.runtime.cached_timings import CachedTimings
from tilewright.runtime.driver import chosen_target_is_timed
from tilewright.runtime.interface import Launchable, NamedKernel, innermost, innermost_kernel
from tilewright.runtime.kernel_heuristics import Heuristics, heuristics
from tilewright.runtime.tuning_config import AutotunerError, Config, checked_configs
from tilewright.runtime.tuning_table import TuningTable
from tilewright.support import knobs
from tilewright.support.errors import (
    AssemblerError,
    CompileTimeAssertionFailure,
    OptionError,
    OutOfResources,
    TilewrightError,
)
from tilewright.support.tracebacks import ends_tracebacks

if TYPE_CHECKING:
    from tilewright.runtime.tuning_search import TuningSearch

INFEASIBLE = float("inf")
QUANTILES = (0.5, 0.2, 0.8)

PTXASError = AssemblerError
"""What Triton's module of this name has it as."""


class Autotuner(NamedKernel):
    """Measures every configuration the first time that a key is seen, then uses the fastest.

    The key is the values of the arguments named in `key` plus the dtypes of all arguments that have one. Times are
    milliseconds. A configuration that does not compile for lack of resources, that ptxas rejects or that fails a
    `static_assert` counts as infinitely slow, and `configs_skipped` says why.

    Libraries derive tuners of their own from it, so what the constructor takes, the attributes, and the steps of a run
    (`prune_configs`, `_bench`, `pre_hook`, `post_hook`) bear Triton's names, and `run` takes each step through `self`.
    """

    def __init__(
        self,
        fn: Launchable,
        arg_names: Sequence[str],
        configs: Sequence[Config],
        key: Sequence[str],
        reset_to_zero: Sequence[str] | None = None,
        restore_value: Sequence[str] | None = None,
        pre_hook: Callable[..., Any] | None = None,
        post_hook: Callable[..., Any] | None = None,
        prune_configs_by: Mapping[str, Any] | None = None,
        warmup: float | None = None,
        rep: float | None = None,
        use_cuda_graph: bool = False,
        do_bench: Callable[..., Any] | None = None,
        cache_results: bool = False,
    ) -> None:
        self.fn = fn
        self.arg_names = list(arg_names)
        self.configs = checked_configs(configs) or [Config({})]
        self.keys = list(key)
        self._check_names(reset_to_zero=reset_to_zero or (), restore_value=restore_value or ())
        self.cache: dict[tuple[Any, ...], Config] = {}
        self.cache_results = cache_results
        self.best_config: Config | None = None
        self.configs_timings: dict[Config, Sequence[float]] = {}
        self.configs_skipped: dict[Config, str] = {}
        self.bench_time: float | None = None
        self.nargs: dict[str, Any] = {}
        self.reset_to_zero = list(reset_to_zero or ())
        self.restore_value = list(restore_value or ())
        self.restore_copies: dict[str, Any] = {}
        self.user_defined_pre_hook = pre_hook is not None
        self.user_defined_post_hook = post_hook is not None
        self.pre_hook: Callable[..., Any] = pre_hook or self._reset_and_save
        self.post_hook: Callable[..., Any] = post_hook or self._restore
        prune = dict(prune_configs_by or {})
        self.perf_model: Callable[..., float] | None = prune.get("perf_model")
        self.configs_top_k: float = prune.get("top_k", 1.0)
        self.early_config_prune: Callable[..., Sequence[Config]] | None = prune.get("early_config_prune")
        self.num_warmups = warmup
        self.num_reps = rep
        self.use_cuda_graph = use_cuda_graph
        self._do_bench = do_bench

    def _check_names(self, **lists: Sequence[str]) -> None:
        """Lists of parameters name parameters: else OptionError, and a warning for `key`, where Triton takes no notice
        of other names."""
        for option, names in {**lists, "key": self.keys}.items():
            unknown = next((name for name in names if name not in self.arg_names), None)
            if unknown is None:
                continue
            known = ", ".join(self.arg_names)
            message = f"autotune({option}=...): {unknown!r} is not a parameter of the kernel; it has {known}"
            if option != "key":
                raise OptionError(message)
            warnings.warn(message, stacklevel=4)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "fn" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.fn, name)

    @property
    def base_fn(self) -> Callable[..., Any]:
        """The Python function under all decorators."""
        return innermost(self.fn)

    @ends_tracebacks
    def run(self, *args: Any, grid: Any = None, warmup: bool = False, **keywords: Any) -> Any:
        """Launch with the best configuration for these arguments, measuring first where it is not known."""
        with self._named(args):
            config = self.configs[0]
            if len(self.configs) > 1:
                key = self._key(keywords)
                if key not in self.cache:
                    self._tune(key, args, grid, keywords)
                config = self.cache[key]
            self._check_conflicts(config, keywords)
            self.best_config = config
            if config.pre_hook is not None:
                config.pre_hook({**self.nargs, **keywords, **config.all_kwargs()})
            return self.fn.run(*args, grid=grid, warmup=warmup, **keywords, **config.all_kwargs())

    @ends_tracebacks
    def warmup(self, *args: Any, grid: Any = None, **keywords: Any) -> list[Any]:
        """Compile every configuration without launching; the compiled kernels."""
        from tilewright.runtime.compiling_ahead import compiled_in_parts

        find_code = partial(self._find_code, args=args, grid=grid, keywords=keywords)
        with self._named(args):
            return [
                self.fn.run(*args, grid=grid, warmup=True, **keywords, **config.all_kwargs())
                for config in compiled_in_parts(self.prune_configs(keywords), find_code)
            ]

    @contextmanager
    def _named(self, args: tuple[Any, ...]) -> Generator[None]:
        """Know the arguments by their names, and forget them at the end: they may be large."""
        self.nargs = dict(zip(self.arg_names, args, strict=False))
        try:
            yield
        finally:
            self.nargs = {}

    def prune_configs(self, keywords: Mapping[str, Any]) -> list[Config]:
        """The configurations worth measuring, by the user's early filter and performance model."""
        kept = list(self.configs)
        if self.early_config_prune is not None:
            kept = list(self.early_config_prune(self.configs, self.nargs, **keywords))
            if not kept:
                raise AutotunerError(
                    "No valid autotuner configs after pruning: early_config_prune left no configuration; it must keep "
                    "at least one"
                )
        if self.perf_model is not None:
            count = self._kept_by_model(len(kept))
            if len(kept) > count:
                model = self.perf_model
                estimate = {config: model(**self.nargs, **keywords, **config.all_kwargs()) for config in kept}
                kept = sorted(kept, key=lambda config: estimate[config])[:count]
        return kept

    def _kept_by_model(self, count: int) -> int:
        """Return how many configurations `top_k` keeps: a fraction of them, at least one, or a fixed number."""
        top = self.configs_top_k
        if isinstance(top, float) and top <= 1.0:
            return max(1, int(count * top))
        if not isinstance(top, int):
            raise OptionError(f"top_k={top} is neither a number of configurations nor a part of them up to 1.0")
        return top

    def _key(self, keywords: Mapping[str, Any]) -> tuple[Any, ...]:
        arguments = {**self.nargs, **keywords}
        values = tuple(arguments[name] for name in self.keys if name in arguments)
        return (*values, *(str(value.dtype) for value in arguments.values() if hasattr(value, "dtype")))

    def _tune(self, key: tuple[Any, ...], args: tuple[Any, ...], grid: Any, keywords: dict[str, Any]) -> None:
        start = time.perf_counter()
        candidates = self.prune_configs(keywords)
        self.configs_skipped = {}
        if len(candidates) == 1:
            self.cache[key] = candidates[0]
            return
        search = self._search(candidates, args, grid, keywords)
        kept = self._cached_timings(key, candidates, "all" if search is None else "some")
        name = getattr(self.fn, "__name__", str(self.fn))
        timings = kept.load() if kept is not None else None
        was_kept = timings is not None
        with TuningTable(name, key, [config.all_kwargs() for config in candidates]) as table:
            if timings is None:
                timings = self._measure(candidates, args, grid, keywords, table, search)
                if kept is not None and any(times[0] < INFEASIBLE for times in timings.values()):
                    kept.store(timings)
            else:
                for config, times in timings.items():
                    table.add(config.all_kwargs(), times, "measured before")
        self.bench_time = time.perf_counter() - start
        best = builtins.min(timings, key=lambda config: timings[config][0])
        if timings[best][0] == INFEASIBLE:
            raise AutotunerError(
                "no configuration compiles: each needs more resources than the device has, or fails a static_assert"
            )
        self.cache[key] = best
        self.configs_timings = timings
        table.report(f"autotuning {name}: {best}, {self.bench_time:.2f} s")
        if _takes(self.pre_hook, "reset_only"):
            self.pre_hook({**self.nargs, **keywords, **best.all_kwargs()}, reset_only=True)
        if hooks.autotune_listener is not None:
            hooks.autotune_listener(
                fn=innermost_kernel(self.fn),
                key=key,
                best_config=best,
                configs_timings=timings,
                duration=None if was_kept else self.bench_time,
                cache_hit=was_kept,
            )

    def _cached_timings(self, key: tuple[Any, ...], candidates: Sequence[Config], extent: str) -> CachedTimings | None:
        """Return where the timings for this key are kept on disk, if they are: those of our own clock are, and with
        `cache_results` those of another; those of configurations with hooks never are."""
        is_ours = self._do_bench is None and chosen_target_is_timed()
        wanted = self.cache_results or knobs.get("cache_autotuning") or (is_ours and knobs.get("keep_autotuning"))
        source = getattr(self.fn, "cache_key", None)
        if not wanted or source is None or any(config.pre_hook is not None for config in candidates):
            return None
        return CachedTimings(source, key, candidates, extent)

    @staticmethod
    def _check_conflicts(config: Config, keywords: dict[str, Any]) -> None:
        """A parameter that the configuration chooses is not the caller's to choose. Raises OptionError."""
        if conflicts := config.kwargs.keys() & keywords.keys():
            raise OptionError(
                f"Conflicting meta-parameters: {', '.join(sorted(conflicts))}. "
                "Make sure that you don't re-define auto-tuned symbols."
            )

    def _measure(
        self,
        candidates: Sequence[Config],
        args: tuple[Any, ...],
        grid: Any,
        keywords: dict[str, Any],
        table: TuningTable,
        search: TuningSearch | None,
    ) -> dict[Config, Sequence[float]]:
        """The times of each configuration. Those without hooks that are compiled to the same code, since the target
        does not know warps or stages, are measured once. Where time says nothing, the first that runs is enough; where
        there are many, a model of the times chooses (`tuning_search`)."""
        is_timed = self._do_bench is not None or chosen_target_is_timed()
        timings: dict[Config, Sequence[float]] = {}
        first_with: dict[str, Config] = {}
        find_code = partial(self._find_code, args=args, grid=grid, keywords=keywords)
        for config in self._compiled(candidates, find_code, search) if is_timed else candidates:
            code = find_code(config)
            twin = None if code is None else first_with.setdefault(code, config)
            if twin is None or twin is config:
                timings[config] = self._bench(*args, config=config, grid=grid, **keywords)
                note = self.configs_skipped.get(config, "")
            else:
                timings[config] = timings[twin]
                note = f"the same code as {table.name(twin.all_kwargs())}"
            table.add(config.all_kwargs(), timings[config], note)
            if search is not None:
                search.tell(timings[config][0], is_new=twin in (None, config))
            if not is_timed and timings[config][0] != INFEASIBLE:
                break
        if search is not None:
            self._note_unmeasured(search, candidates, timings, table)
        return timings

    def _compiled(
        self, candidates: Sequence[Config], find_code: Callable[[Config], str | None], search: TuningSearch | None
    ) -> Iterator[Config]:
        """The configurations to measure, in order, once they are compiled."""
        from tilewright.runtime.compiling_ahead import compile_on_farm, compiled_in_parts

        if search is not None:
            return _chosen(search, candidates)
        if address := knobs.get("farm"):
            compile_on_farm(candidates, find_code, address)
            return iter(candidates)
        return compiled_in_parts(candidates, find_code)

    def _search(
        self, candidates: Sequence[Config], args: tuple[Any, ...], grid: Any, keywords: dict[str, Any]
    ) -> TuningSearch | None:
        """Return what chooses among many configurations; None where all are measured: with hooks, a user's own clock or
        pruning, other machines that compile, where the switch says so, and where nothing is known of tiles."""
        from tilewright.runtime.tuning_search import MANY, TuningSearch

        is_users = self._do_bench is not None or self.early_config_prune is not None or self.perf_model is not None
        has_hooks = any(config.pre_hook is not None for config in candidates)
        if len(candidates) <= MANY or is_users or has_hooks or not hasattr(self.fn, "warmup"):
            return None
        if knobs.get("farm") or not knobs.get("model_autotuning") or not chosen_target_is_timed():
            return None
        from tilewright.runtime.tuning_tiles import find_tile_parameters

        configs = [config.all_kwargs() for config in candidates]
        constants = {value for value in (*self.nargs.values(), *keywords.values()) if type(value) is int}
        compile = partial(self.fn.run, *args, grid=grid, warmup=True, **keywords)
        tile = find_tile_parameters(configs, constants, lambda config: compile(**config))
        return TuningSearch(configs, tile) if tile else None

    def _note_unmeasured(
        self, search: TuningSearch, candidates: Sequence[Config], timings: Mapping[Config, Any], table: TuningTable
    ) -> None:
        """Say of each configuration that the model left out what it expects."""
        if all(times[0] == INFEASIBLE for times in timings.values()):
            return
        for index, config in enumerate(candidates):
            if config not in timings:
                note = f"not measured: about {search.ratio(index):.2f} times the fastest is expected"
                self.configs_skipped[config] = note
                table.add(config.all_kwargs(), [INFEASIBLE] * len(QUANTILES), note)

    def _find_code(self, config: Config, args: tuple[Any, ...], grid: Any, keywords: dict[str, Any]) -> str | None:
        """Compile a configuration and return what names its code; None where it is not compiled, which `_bench` says
        why, where hooks may change what is compiled, and of what cannot be compiled without a launch, such as launchers
        of libraries."""
        self._check_conflicts(config, keywords)
        if config.pre_hook is not None or not hasattr(self.fn, "warmup"):
            return None
        try:
            kernel = self.fn.run(*args, grid=grid, **{**keywords, **config.all_kwargs(), "warmup": True})
        except TilewrightError:
            return None
        return getattr(kernel, "hash", None)

    @property
    def do_bench(self) -> Callable[..., Sequence[float]]:
        """Measures a launch: `do_bench(launch, quantiles=...)` gives that many times."""
        return self._do_bench or self._time

    def _time(self, launch: Callable[[], Any], quantiles: Sequence[float]) -> Sequence[float]:
        from tilewright import testing

        if not chosen_target_is_timed():
            launch()
            return [0.0] * len(quantiles)
        return testing.do_bench(
            launch, warmup=self.num_warmups or 25, rep=self.num_reps or 100, quantiles=list(quantiles)
        )

    def _bench(self, *args: Any, config: Config, **meta: Any) -> Sequence[float]:
        """The times of launches with a configuration: median, and the 20th and 80th percentile."""
        self._check_conflicts(config, meta)
        current = {**meta, **config.all_kwargs()}
        full = {**self.nargs, **current}

        def launch() -> None:
            if config.pre_hook is not None:
                config.pre_hook(full)
            self.pre_hook(full)
            try:
                self.fn.run(*args, **{"warmup": False, **current})
            except BaseException as error:
                self.post_hook(full, exception=error)
                raise
            self.post_hook(full, exception=None)

        try:
            return self.do_bench(launch, quantiles=QUANTILES)
        except (OutOfResources, CompileTimeAssertionFailure, AssemblerError) as error:
            self.configs_skipped[config] = _first_line(error)
            return [INFEASIBLE] * len(QUANTILES)

    def _reset_and_save(self, arguments: Mapping[str, Any], reset_only: bool = False) -> None:
        """Before a trial: zero what `reset_to_zero` names, copy what `restore_value` names. None is left alone."""
        for name in self.reset_to_zero:
            if arguments[name] is not None:
                arguments[name][...] = 0
        if not reset_only:
            given = {name: arguments[name] for name in self.restore_value if arguments[name] is not None}
            self.restore_copies = {name: _copied(value) for name, value in given.items()}

    def _restore(self, arguments: Mapping[str, Any], exception: BaseException | None = None) -> None:
        """After a trial: what was copied before it comes back."""
        for name, saved in self.restore_copies.items():
            arguments[name][...] = saved
        self.restore_copies = {}


def _chosen(search: TuningSearch, candidates: Sequence[Config]) -> Iterator[Config]:
    """The configurations that a search asks for."""
    while (index := search.next()) is not None:
        yield candidates[index]


def _first_line(error: Exception) -> str:
    """Return what an error says, without its place in the source."""
    text = str(error).strip()
    message = next((line for line in text.splitlines() if "error: " in line), text.partition("\n")[0])
    return message.rpartition("error: ")[2]


def _copied(value: Any) -> Any:
    return value.clone() if hasattr(value, "clone") else value.copy()


def _takes(function: Callable[..., Any], name: str) -> bool:
    """Can `function` be given a keyword argument of this name?"""
    parameters = inspect.signature(function).parameters.values()
    return any(p.name == name or p.kind is p.VAR_KEYWORD for p in parameters)


def autotune(
    configs: Sequence[Config],
    key: Sequence[str],
    prune_configs_by: Mapping[str, Any] | None = None,
    reset_to_zero: Sequence[str] | None = None,
    restore_value: Sequence[str] | None = None,
    pre_hook: Callable[..., Any] | None = None,
    post_hook: Callable[..., Any] | None = None,
    warmup: float | None = None,
    rep: float | None = None,
    use_cuda_graph: bool = False,
    do_bench: Callable[..., Any] | None = None,
    cache_results: bool = False,
) -> Callable[[Launchable], Autotuner]:
    """Decorator: measure `configs` for each new value of the arguments named in `key` and launch with the fastest.

    `reset_to_zero` and `restore_value` name arguments that are zeroed or restored around each trial, since a trial runs
    the kernel for real. `prune_configs_by` may hold `early_config_prune(configs, named_args, **kwargs)`,
    `perf_model(**args)` and `top_k`. Of more than 40 configurations of a CPU kernel's tiles a tenth is measured (10 at
    least), which a model of the times chooses; with TILEWRIGHT_MODEL_AUTOTUNING=0 all are. Timings are kept on disk for
    later processes (not with TILEWRIGHT_KEEP_AUTOTUNING=0), with `cache_results` or TILEWRIGHT_CACHE_AUTOTUNING=1 also
    those of a `do_bench` of one's own. `use_cuda_graph` is accepted and without effect: there are no CUDA graphs on the
    CPU.
    """

    @ends_tracebacks
    def decorate(fn: Launchable) -> Autotuner:
        return Autotuner(
            fn,
            fn.arg_names,
            configs,
            key,
            reset_to_zero,
            restore_value,
            pre_hook,
            post_hook,
            prune_configs_by,
            warmup,
            rep,
            use_cuda_graph,
            do_bench,
            cache_results,
        )

    return decorate


__all__ = ["Autotuner", "AutotunerError", "Config", "Heuristics", "Launchable", "PTXASError", "autotune", "heuristics"]
