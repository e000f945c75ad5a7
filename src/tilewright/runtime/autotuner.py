"""`autotune` and `heuristics`: choose a kernel's meta-parameters, by measuring or by rule."""

from __future__ import annotations

import builtins
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from tilewright.runtime.interface import KernelInterface
from tilewright.support import knobs
from tilewright.support.errors import (
    AssemblerError,
    CompileTimeAssertionFailure,
    OptionError,
    OutOfResources,
    TilewrightError,
)
from tilewright.support.fingerprint import fingerprint
from tilewright.support.tracebacks import ends_tracebacks

INFEASIBLE = float("inf")
QUANTILES = (0.5, 0.2, 0.8)


class AutotunerError(TilewrightError):
    """Autotuning cannot choose: every configuration was pruned away."""


class Launchable(Protocol):
    """What autotune and heuristics wrap: a jit function, or one of themselves."""

    arg_names: list[str]

    def run(self, *args: Any, grid: Any, warmup: bool, **keywords: Any) -> Any: ...


class Config:
    """One point of the search: values of meta-parameters (`kwargs`) and launch options.

    `pre_hook(args)` runs before each launch with this configuration; args maps names to values.
    """

    def __init__(
        self,
        kwargs: Mapping[str, Any],
        num_warps: int = 4,
        num_stages: int = 3,
        num_ctas: int = 1,
        maxnreg: int | None = None,
        pre_hook: Callable[[dict[str, Any]], Any] | None = None,
        ir_override: str | None = None,
    ) -> None:
        self.kwargs = dict(kwargs)
        self.num_warps = num_warps
        self.num_stages = num_stages
        self.num_ctas = num_ctas
        self.maxnreg = maxnreg
        self.pre_hook = pre_hook
        self.ir_override = ir_override

    def all_kwargs(self) -> dict[str, Any]:
        """Meta-parameters and the options that are set."""
        options = {
            "num_warps": self.num_warps,
            "num_ctas": self.num_ctas,
            "num_stages": self.num_stages,
            "maxnreg": self.maxnreg,
            "ir_override": self.ir_override,
        }
        return {**self.kwargs, **{name: value for name, value in options.items() if value is not None}}

    def _identity(self) -> tuple[Any, ...]:
        return (*sorted(self.all_kwargs().items()), self.pre_hook)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __str__(self) -> str:
        return ", ".join(f"{name}: {value}" for name, value in self.all_kwargs().items())

    __repr__ = __str__


class Autotuner(KernelInterface):
    """Measures every configuration the first time that a key is seen, then uses the fastest.

    The key is the values of the arguments named in `key` plus the dtypes of all arguments that have one. Times are
    milliseconds. A configuration that does not compile for lack of resources, that ptxas rejects or that fails a
    `static_assert` counts as infinitely slow.
    """

    def __init__(
        self,
        fn: Launchable,
        configs: Sequence[Config],
        key: Sequence[str],
        reset_to_zero: Sequence[str] | None = None,
        restore_value: Sequence[str] | None = None,
        pre_hook: Callable[..., Any] | None = None,
        post_hook: Callable[..., Any] | None = None,
        prune_configs_by: Mapping[str, Any] | None = None,
        warmup: float | None = None,
        rep: float | None = None,
        do_bench: Callable[..., Any] | None = None,
        cache_results: bool = False,
    ) -> None:
        self.fn = fn
        self.configs = list(configs) or [Config({})]
        self.keys = list(key)
        self.arg_names = fn.arg_names
        self.cache: dict[tuple[Any, ...], Config] = {}
        self.best_config: Config | None = None
        self.configs_timings: dict[Config, Sequence[float]] = {}
        self.bench_time: float | None = None
        self.nargs: dict[str, Any] = {}
        self._reset_to_zero = list(reset_to_zero or ())
        self._restore_value = list(restore_value or ())
        self._user_pre_hook = pre_hook
        self._user_post_hook = post_hook
        self._saved: dict[str, Any] = {}
        prune = dict(prune_configs_by or {})
        self._perf_model: Callable[..., float] | None = prune.get("perf_model")
        self._top_k: float = prune.get("top_k", 1.0)
        self._early_prune: Callable[..., Sequence[Config]] | None = prune.get("early_config_prune")
        self._warmup = warmup
        self._rep = rep
        self._do_bench = do_bench
        self._cache_results = cache_results

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "fn" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.fn, name)

    @ends_tracebacks
    def run(self, *args: Any, grid: Any = None, warmup: bool = False, **keywords: Any) -> Any:
        """Launch with the best configuration for these arguments, measuring first where it is not known."""
        self.nargs = dict(zip(self.arg_names, args, strict=False))
        measured = False
        config = self.configs[0]
        if len(self.configs) > 1:
            key = self._key(keywords)
            if key not in self.cache:
                self._tune(key, args, grid, keywords)
                measured = True
            config = self.cache[key]
        self._check_conflicts(config, keywords)
        self.best_config = config
        if measured and knobs.get("print_autotuning"):
            print(f"autotuning {self.fn}: {config}, {self.bench_time:.2f} s")
        if config.pre_hook is not None:
            config.pre_hook({**self.nargs, **keywords, **config.all_kwargs()})
        return self.fn.run(*args, grid=grid, warmup=warmup, **keywords, **config.all_kwargs())

    @ends_tracebacks
    def warmup(self, *args: Any, grid: Any = None, **keywords: Any) -> list[Any]:
        """Compile every configuration without launching; the compiled kernels."""
        self.nargs = dict(zip(self.arg_names, args, strict=False))
        return [
            self.fn.run(*args, grid=grid, warmup=True, **keywords, **config.all_kwargs())
            for config in self.prune_configs(keywords)
        ]

    def prune_configs(self, keywords: Mapping[str, Any]) -> list[Config]:
        """The configurations worth measuring, by the user's early filter and performance model."""
        kept = list(self.configs)
        if self._early_prune is not None:
            kept = list(self._early_prune(self.configs, self.nargs, **keywords))
            if not kept:
                raise AutotunerError("early_config_prune left no configuration; it must keep at least one")
        if self._perf_model is not None:
            top = self._top_k
            count = int(len(self.configs) * top) if isinstance(top, float) and top <= 1.0 else int(top)
            if len(kept) > count:
                model = self._perf_model
                estimate = {config: model(**self.nargs, **keywords, **config.all_kwargs()) for config in kept}
                kept = sorted(kept, key=lambda config: estimate[config])[: max(count, 1)]
        return kept

    def _key(self, keywords: Mapping[str, Any]) -> tuple[Any, ...]:
        arguments = {**self.nargs, **keywords}
        values = tuple(arguments[name] for name in self.keys if name in arguments)
        return (*values, *(str(value.dtype) for value in arguments.values() if hasattr(value, "dtype")))

    def _tune(self, key: tuple[Any, ...], args: tuple[Any, ...], grid: Any, keywords: dict[str, Any]) -> None:
        start = time.perf_counter()
        candidates = self.prune_configs(keywords)
        kept = self._kept_results(key, candidates)
        timings = kept.load() if kept is not None else None
        if timings is None:
            timings = {config: self._measure(config, args, grid, keywords) for config in candidates}
            if kept is not None:
                kept.store(timings)
        self.bench_time = time.perf_counter() - start
        best = builtins.min(timings, key=lambda config: timings[config][0])
        if timings[best][0] == INFEASIBLE:
            raise AutotunerError(
                "no configuration compiles: each needs more resources than the device has, or fails a static_assert"
            )
        self.cache[key] = best
        self.configs_timings = timings
        if self._reset_to_zero:
            self._reset({**self.nargs, **keywords, **best.all_kwargs()})

    def _kept_results(self, key: tuple[Any, ...], candidates: Sequence[Config]) -> KeptResults | None:
        """Where the timings for this key are kept on disk, if they are; configurations with hooks never are."""
        wanted = self._cache_results or knobs.get("cache_autotuning")
        source = getattr(self.fn, "cache_key", None)
        if not wanted or source is None or any(config.pre_hook is not None for config in candidates):
            return None
        return KeptResults(source, key, candidates)

    @staticmethod
    def _check_conflicts(config: Config, keywords: dict[str, Any]) -> None:
        """A parameter that the configuration chooses is not the caller's to choose. Raises OptionError."""
        if conflicts := config.kwargs.keys() & keywords.keys():
            raise OptionError(
                f"Conflicting meta-parameters: {', '.join(sorted(conflicts))}. "
                "Make sure that you don't re-define auto-tuned symbols."
            )

    def _measure(self, config: Config, args: tuple[Any, ...], grid: Any, keywords: dict[str, Any]) -> Sequence[float]:
        from tilewright import testing

        self._check_conflicts(config, keywords)
        current = {**keywords, **config.all_kwargs()}
        full = {**self.nargs, **current}

        def launch() -> None:
            if config.pre_hook is not None:
                config.pre_hook(full)
            self._before(full)
            try:
                self.fn.run(*args, grid=grid, warmup=False, **current)
            except BaseException as error:
                self._after(full, error)
                raise
            self._after(full, None)

        try:
            if self._do_bench is not None:
                return self._do_bench(launch, quantiles=QUANTILES)
            return testing.do_bench(launch, warmup=self._warmup or 25, rep=self._rep or 100, quantiles=QUANTILES)
        except (OutOfResources, CompileTimeAssertionFailure, AssemblerError):
            return [INFEASIBLE] * len(QUANTILES)

    def _before(self, full: dict[str, Any]) -> None:
        if self._user_pre_hook is not None:
            self._user_pre_hook(full)
            return
        self._reset(full)
        self._saved = {name: _copied(full[name]) for name in self._restore_value}

    def _reset(self, full: Mapping[str, Any]) -> None:
        for name in self._reset_to_zero:
            full[name][...] = 0

    def _after(self, full: dict[str, Any], error: BaseException | None) -> None:
        if self._user_post_hook is not None:
            self._user_post_hook(full, exception=error)
            return
        for name, saved in self._saved.items():
            full[name][...] = saved
        self._saved = {}


class KeptResults:
    """Timings of one kernel and key in the disk cache: valid for this source, these configurations, this compiler."""

    def __init__(self, source: str, key: tuple[Any, ...], candidates: Sequence[Config]) -> None:
        from tilewright.compiler.toolchain import toolchain_fingerprint
        from tilewright.support.disk_cache import DiskCache, cache_directory

        self._configs = {str(config): config for config in candidates}
        self._cache = DiskCache(cache_directory())
        self._name = fingerprint("autotune", source, repr(key), sorted(self._configs), toolchain_fingerprint())

    def load(self) -> dict[Config, Sequence[float]] | None:
        """What was measured before, or None."""
        entry = self._cache.get(self._name)
        if entry is None:
            return None
        return {self._configs[name]: times for name, times in entry.metadata.items()}

    def store(self, timings: Mapping[Config, Sequence[float]]) -> None:
        """Keep what was measured."""
        from tilewright.support.disk_cache import Entry

        self._cache.put(self._name, Entry({str(config): list(times) for config, times in timings.items()}))


def _copied(value: Any) -> Any:
    return value.clone() if hasattr(value, "clone") else value.copy()


class Heuristics(KernelInterface):
    """Computes meta-parameters from the arguments before each launch."""

    def __init__(self, fn: Launchable, values: Mapping[str, Callable[[dict[str, Any]], Any]]) -> None:
        self.fn = fn
        self.values = dict(values)
        self.arg_names = fn.arg_names

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "fn" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.fn, name)

    @ends_tracebacks
    def run(self, *args: Any, grid: Any = None, warmup: bool = False, **keywords: Any) -> Any:
        arguments = dict(zip(self.arg_names, args, strict=False))
        for name, rule in self.values.items():
            keywords[name] = rule({**arguments, **keywords})
        return self.fn.run(*args, grid=grid, warmup=warmup, **keywords)

    @ends_tracebacks
    def warmup(self, *args: Any, grid: Any = None, **keywords: Any) -> Any:
        return self.run(*args, grid=grid, warmup=True, **keywords)


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
    `perf_model(**args)` and `top_k`. `cache_results` (or TILEWRIGHT_CACHE_AUTOTUNING) keeps timings on disk for later
    processes. `use_cuda_graph` is accepted and without effect: there are no CUDA graphs on the CPU.
    """

    def decorate(fn: Launchable) -> Autotuner:
        return Autotuner(
            fn,
            configs,
            key,
            reset_to_zero,
            restore_value,
            pre_hook,
            post_hook,
            prune_configs_by,
            warmup,
            rep,
            do_bench,
            cache_results,
        )

    return decorate


def heuristics(values: Mapping[str, Callable[[dict[str, Any]], Any]]) -> Callable[[Launchable], Heuristics]:
    """Decorator: before each launch set the parameters named in `values` to what their functions return."""
    return lambda fn: Heuristics(fn, values)
