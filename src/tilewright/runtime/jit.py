"""`@jit`: a Python function that compiles when it is launched.

    @tilewright.jit
    def kernel(x_ptr, n, BLOCK: tl.constexpr): ...

    kernel[grid](x, n, BLOCK=1024)

A launch binds and classifies its arguments, looks the compiled kernel up under what they are specialised on, compiles
on a miss (memory, then disk, then the compiler), and hands an array of 64-bit slots to native code.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import field, replace
from functools import cache, cached_property, partial
from importlib import import_module
from itertools import zip_longest
from typing import Any

from tilewright.compiler.compilation import compile_source
from tilewright.compiler.kernel import CompiledKernel
from tilewright.compiler.options import CompileOptions
from tilewright.language.callables import CapturedNames, JITCallable, Parameter
from tilewright.language.dependencies import Dependencies, describe_constant, is_plain
from tilewright.language.values import constexpr, unwrap
from tilewright.runtime import hooks
from tilewright.runtime.async_compile import FutureKernel, active_mode
from tilewright.runtime.binding import Binder, Bound
from tilewright.runtime.compiled_launch import CompiledLaunch
from tilewright.runtime.device_caches import DeviceCaches
from tilewright.runtime.driver import Driver, active_driver, current_driver
from tilewright.runtime.fast_path import Recognised
from tilewright.runtime.grid import GridLike, normalize_grid
from tilewright.runtime.interface import KernelInterface, NamedKernel
from tilewright.runtime.known_launches import KnownLaunches
from tilewright.runtime.launching import launch
from tilewright.runtime.parameters import parameter_rules
from tilewright.runtime.repeating import RepeatedCalls
from tilewright.runtime.request import kernel_source
from tilewright.runtime.tensors import MockTensor
from tilewright.support import knobs
from tilewright.support.errors import ChangedGlobalError, NoKernelError, TilewrightError
from tilewright.support.forking import gate
from tilewright.support.late import late_names, modules_of
from tilewright.support.records import dataclass
from tilewright.support.tracebacks import cut_traceback, ends_tracebacks


@dataclass(frozen=True)
class Outside:
    """What a kernel reads from outside, which launches watch."""

    names: list[tuple[str, Any, Mapping[str, Any]]] = field(default_factory=list[tuple[str, Any, Mapping[str, Any]]])
    """Each with the value that is compiled in, and where it is looked up."""
    constants: frozenset[int] = frozenset()
    """The identities of the scopes that are the inside of a `constexpr`."""


class JITFunction(JITCallable, NamedKernel):
    """What `@jit` makes of a function. `kernel[grid](*args, **meta)` launches it."""

    def __init__(
        self,
        fn: Callable[..., Any],
        version: object = None,
        do_not_specialize: Iterable[int | str] | None = None,
        do_not_specialize_on_alignment: Iterable[int | str] | None = None,
        debug: bool | None = None,
        noinline: bool | None = None,
        repr: Callable[[Any], str] | None = None,
        launch_metadata: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(fn, noinline=bool(noinline))
        self.keep_file()
        self.module = fn.__module__
        self.version = version
        self.debug = debug
        self._repr = repr
        self.do_not_specialize = tuple(do_not_specialize or ())
        self.do_not_specialize_on_alignment = tuple(do_not_specialize_on_alignment or ())
        self.launch_metadata = launch_metadata
        self.pre_run_hooks: list[Callable[..., Any]] = []
        self._binder: Binder | None = None
        self._kernels: dict[Hashable, CompiledKernel] = {}
        self._known = KnownLaunches()
        self._outside = Outside()
        self._calls = RepeatedCalls(self.pre_run_hooks, self._start)

    def __reduce__(self) -> tuple[Any, ...]:
        """By its name; one whose `fn` was taken away, as PyTorch's compile workers do, as what is known of it."""
        function: Any = self.fn
        return super().__reduce__() if function is not None else (_without_function, (self._facts(),))

    def _facts(self) -> dict[str, Any]:
        """Return what can be asked of the function where the Python function is not."""
        source: Any = copy(self.source)
        source.__dict__.pop("tree", None)
        source.fn = None
        names = ("arg_names", "params", "constexprs", "signature", "repr", "noinline", "do_not_specialize",
                 "do_not_specialize_on_alignment", "debug", "version", "_cache_key", "__name__", "__qualname__",
                 "__module__")  # fmt: skip
        return {"fn": None, "_binder": None, "source": source, **{name: getattr(self, name) for name in names}}

    def __getitem__(self, grid: GridLike) -> Callable[..., CompiledKernel | None]:
        """A function that launches this kernel over `grid`: one to three integers, or a function of the arguments."""
        return partial(self._calls.launch, grid)

    def _start(self, grid: GridLike, /, *args: Any, **keywords: Any) -> CompiledKernel | None:
        """As `run`, by the fast path where these arguments have been seen before."""
        try:
            seen = self._recognise(args, keywords)
            if seen is not None and self._repeat(grid, seen):
                if seen[0].is_repeatable:
                    self._calls.learn(args, keywords, seen, self.binder.rules, self._outside.names)
                return seen[0].kernel
            return self.run(*args, grid=grid, **keywords)
        except TilewrightError as error:
            cut_traceback(error)
            raise

    def _recognise(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> Recognised | None:
        """A launch that was made before under the switches as they are, and that no hook is to see."""
        shortcuts = self._known.shortcuts
        if shortcuts.generation != knobs.generation or self.pre_run_hooks:
            return None
        return shortcuts.recognise(args, keywords)

    def _repeat(self, grid: GridLike, seen: Recognised) -> bool:
        """Launch by a plan; False where it cannot, and where the kernel is to be compiled anew."""
        for name, value, scope in self._outside.names:
            if scope.get(name) is not value and self._renew(name, value, scope):
                return False
        plan, slots, values, options = seen
        extents = normalize_grid(grid, lambda: self.binder.meta(values, options), self.fn.__name__)
        return plan.launch(slots, values, extents)

    @ends_tracebacks
    def run(self, *args: Any, grid: GridLike, warmup: bool = False, **keywords: Any) -> CompiledKernel | None:
        """Compile for these arguments if need be, and launch unless `warmup`. Returns the compiled kernel."""
        if not warmup:
            seen = self._recognise(args, keywords)
            if seen is not None and self._repeat(grid, seen):
                return seen[0].kernel
        for hook in self.pre_run_hooks:
            hook(*args, **keywords)
        binder = self.binder
        values, options = binder.match(args, keywords)
        for name, value, scope in self._outside.names:
            if scope.get(name) is not value:
                self._renew(name, value, scope)
        bound = binder.bind(values, options)
        driver = active_driver(bound, is_launched=not warmup)
        shortcuts = self._known.present(binder)
        kernel = self._find(bound, shortcuts.switches, driver, is_warmup=warmup)
        if warmup or kernel is None:
            return kernel
        if knobs.get("validate"):
            for observer in modules_of("validation"):
                observer.before_first_launch(self, grid, args, keywords)
        slots, arrays = bound.slots()
        extents = normalize_grid(grid, lambda: binder.meta(values, options), self.fn.__name__)
        if hooks.are_set():
            with hooks.around(kernel.launch_metadata(extents, driver.get_current_stream(), *values)):
                launch(kernel, slots, arrays, extents)
            return kernel
        launch(kernel, slots, arrays, extents)
        if _shows_device(driver, arrays) and not binder.options_vary:
            classes = tuple([value.__class__ for value in values])
            further = {name: value for name, value in options.items() if name not in binder.shared_names}
            if self._known.note_written(kernel, self.arg_names):
                self._calls.forget()
            elif self._known.can_choose(kernel, bound, self.arg_names):
                shortcuts.learn(values, classes, binder.rules, further, kernel, driver.device, self._known.written)
        return kernel

    def _find(self, bound: Bound, switches: Hashable, driver: Driver, *, is_warmup: bool) -> CompiledKernel | None:
        """The kernel for these arguments on a device: compiled before in this process, or else now. None where a hook
        says that it is not to be compiled."""
        key = (bound.key(), switches, driver.name, driver.target)
        kernel = self._kernels.get(key)
        if kernel is None:
            if self._tell(hooks.jit_cache_hook, bound, driver, is_warmup=is_warmup):
                return None
            kernel = self._kernels[key] = self._compile(bound, driver)
            merged = bound.sharing().merged(kernel.parameters.written)
            relaunch = CompiledLaunch(kernel, self.binder, replace(bound, values=()), merged, driver)
            relaunch.for_shared = cache(partial(self._compile, relaunch.promised, driver, is_shared=True))
            kernel.relaunch = relaunch
            self._tell(hooks.jit_post_compile_hook, bound, driver, is_warmup=is_warmup)
        return kernel

    def _tell(self, hook: hooks.CompileHook | None, bound: Bound, driver: Driver, *, is_warmup: bool) -> bool:
        """Tell a hook of compilations, if there is one, what is compiled. Whether it forbids that."""
        if hook is None:
            return False
        preloading = import_module("tilewright.runtime.preloading")
        return preloading.call_hook(hook, self, bound, driver.name, is_warmup=is_warmup)

    @ends_tracebacks
    def preload(self, specialization_data: str) -> CompiledKernel | None:
        """Compile what a hook of compilations was told of, so that the first launch with such arguments need not.

        Raises OptionError for what was told of another function.
        """
        bound, target = import_module("tilewright.runtime.preloading").read(self, specialization_data)
        return self._find(bound, self._known.present(self.binder).switches, current_driver(target), is_warmup=True)

    def _analyse(self) -> Dependencies:
        """Notes, too, what comes from outside: launches watch it, and what is inside of constants."""
        if self._is_stale():
            found = super()._analyse()
            everything = {**found.globals, **found.others}
            names = [(name, value, scope) for (name, _), (value, scope) in everything.items()]
            constants = [value for _, value, _ in names if isinstance(value, constexpr)]
            names += [("value", constant.value, vars(constant)) for constant in constants]
            self._outside = Outside(names, frozenset(id(vars(constant)) for constant in constants))
            self._calls.forget()
        return super()._analyse()

    def _renew(self, name: str, value: Any, scope: Mapping[str, Any]) -> bool:
        """Return what a name from outside means is compiled in. Where it is something else now, the kernel is compiled
        anew.

        Returns whether it is something else. As in Triton, that is an error for a constant that is a global variable.
        """
        now = scope.get(name)
        if is_plain(value) and name in scope and describe_constant(now) == describe_constant(value):
            return False
        if is_plain(value) and not isinstance(scope, CapturedNames) and id(scope) not in self._outside.constants:
            raise ChangedGlobalError(
                f"Global variable {name} has changed since kernel `{self.fn.__name__}` was compiled, "
                f"from {unwrap(value)!r} to {unwrap(now)!r}. Pass it as an argument, or define the kernel anew."
            )
        self._dependencies = self._cache_key = None
        self.forget()
        return True

    @ends_tracebacks
    def warmup(self, *args: Any, grid: GridLike, **keywords: Any) -> CompiledKernel | FutureKernel | None:
        """Compile for these arguments and return the kernel without running it; in an `AsyncCompileMode`, without
        waiting for it.

        A dtype of PyTorch or NumPy stands for a tensor of it, 16-byte aligned. Data may lie anywhere: with a target
        named (the switch `target`, the option `arch`) this compiles for a device that is not there.
        """
        constants = {rule.name for rule in self.binder.rules if rule.is_constexpr}
        values = [
            value if name in constants else MockTensor.wrap_dtype(value)
            for name, value in zip_longest(list(self.signature.parameters)[: len(args)], args)
        ]
        named = {name: v if name in constants else MockTensor.wrap_dtype(v) for name, v in keywords.items()}
        compile = partial(self.run, *values, grid=grid, warmup=True, **named)
        mode = active_mode.get()
        if mode is None:
            return compile()
        bound = self.binder.bind(*self.binder.match(tuple(values), named))
        return mode.submit((id(self), bound.key(), knobs.generation), compile)

    def repr(self, specialization: Any) -> str:
        """Return what the kernel is called: by the function that was given to `jit(repr=...)`, which gets the
        `signature` and the `constants` by parameter name.
        """
        return super().repr(specialization) if self._repr is None else self._repr(specialization)

    def add_pre_run_hook(self, hook: Callable[..., Any]) -> None:
        """Call `hook(*args, **keywords)` before every launch."""
        self.pre_run_hooks.append(hook)

    @cached_property
    def params(self) -> list[Parameter]:
        """The parameters, with what the decorator says about them."""
        names = self.arg_names
        free = {names[item] if isinstance(item, int) else item for item in self.do_not_specialize}
        unaligned = {names[item] if isinstance(item, int) else item for item in self.do_not_specialize_on_alignment}
        return [
            replace(p, do_not_specialize=p.name in free, do_not_specialize_on_alignment=p.name in unaligned)
            for p in super().params
        ]

    @property
    def binder(self) -> Binder:
        if self._binder is None:
            self._binder = Binder(self.__name__, self.signature, parameter_rules(self))
        return self._binder

    @property
    def cache(self) -> dict[Hashable, CompiledKernel]:
        """The kernels compiled so far in this process, by specialisation."""
        return self._kernels

    @property
    def device_caches(self) -> DeviceCaches:
        """The same under Triton's name, where `clear()` forgets them."""
        return DeviceCaches(self._kernels, self.binder, self.forget)

    def forget(self) -> None:
        """Forget what was compiled in this process: the next launch asks the disk cache, or compiles."""
        self._kernels.clear()
        self._known.forget()
        self._calls.forget()

    @gate.compiling()
    def _compile(self, bound: Bound, driver: Driver, *, is_shared: bool = False) -> CompiledKernel:
        """Compile for these arguments; `is_shared`: even so for pointers that share memory."""
        self._analyse()
        debug = bool(knobs.get("debug") or self.debug)
        options = CompileOptions.from_keywords(bound.options, debug=debug, parameters=self.arg_names)
        source = kernel_source(self, bound)
        return compile_source(replace(source, noalias=False) if is_shared else source, options, driver.target)


def _without_function(known: dict[str, Any]) -> JITFunction:
    function = JITFunction.__new__(JITFunction)
    function.__dict__.update(known)
    return function


def _shows_device(driver: Driver, arrays: Mapping[int, Any]) -> bool:
    """Tell whether the data alone says on which device a launch like this runs: some does, and all is on it."""
    return not driver.is_gpu or (bool(arrays) and all(storage.device != "cpu" for storage in arrays.values()))


@ends_tracebacks
def jit(
    fn: Callable[..., Any] | None = None,
    *,
    version: object = None,
    repr: Callable[[Any], str] | None = None,
    launch_metadata: Callable[..., Any] | None = None,
    do_not_specialize: Sequence[int | str] | None = None,
    do_not_specialize_on_alignment: Sequence[int | str] | None = None,
    debug: bool | None = None,
    noinline: bool | None = None,
) -> Any:
    """Decorator, with or without arguments: compile the function with tilewright when it is launched.

    `do_not_specialize` and `do_not_specialize_on_alignment` list parameters (names or positions) that are not
    specialised on their value, or not on divisibility by 16; `noinline` keeps the function a real call when other
    kernels use it; `debug` turns device assertions on; `repr(specialization)` may name the kernel.
    """

    def decorate(function: Callable[..., Any]) -> JITFunction:
        if not inspect.isfunction(function):
            kernel = isinstance(function, KernelInterface)
            order = ": @jit stands below @autotune and @heuristics, next to the function" if kernel else ""
            raise NoKernelError(f"@jit decorates functions, got {type(function).__name__}{order}")
        if function.__name__ == "<lambda>":
            raise NoKernelError("@jit decorates functions that `def` makes, got a lambda")
        if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
            raise NoKernelError(f"@jit decorates functions that `def` makes, but `{function.__name__}` is asynchronous")
        return JITFunction(
            function,
            version=version,
            do_not_specialize=do_not_specialize,
            do_not_specialize_on_alignment=do_not_specialize_on_alignment,
            debug=debug,
            noinline=noinline,
            repr=repr,
            launch_metadata=launch_metadata,
        )

    return decorate if fn is None else decorate(fn)


NAMES = {
    "ConstexprFunction": "tilewright.language.callables:ConstexprFunction",
    "TensorWrapper": "tilewright.runtime.tensors:TensorWrapper",
    "compute_cache_key": "tilewright.runtime.argument_types:compute_cache_key",
    "constexpr_function": "tilewright.language.callables:constexpr_function",
    "driver": "tilewright.runtime.driver:driver",
    "mangle_type": "tilewright.runtime.argument_types:mangle_type",
    "native_specialize_impl": "tilewright.runtime.argument_types:native_specialize_impl",
    "reinterpret": "tilewright.runtime.tensors:reinterpret",
    "type_canonicalisation_dict": "tilewright.runtime.parameters:TYPE_NAMES",
}
"""What Triton has in its module of this name, and we elsewhere."""

__getattr__ = late_names(__name__, NAMES)
