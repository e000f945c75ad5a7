"""Launching a compiled kernel again: `kernel = f[grid](...)`, later `kernel[grid](*args)`.

Nothing is compiled then, so the arguments must be what the kernel was compiled for. What it was promised is checked
where arguments of such classes, constants, divisibilities and overlaps come for the first time: types, constants,
divisibility by 16. For pointers that share memory, where it was promised that none do, the kernel is compiled again.

A path of its own, as the kernel's function may specialise on what this one was not compiled for. It has plans and
native calls as the function has: 1.6 us a launch (an empty kernel on a Zen 3, three arguments).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from typing import Any

from tilewright.compiler.kernel import CompiledKernel
from tilewright.compiler.sharing import Groups
from tilewright.runtime import hooks
from tilewright.runtime.binding import Binder, Bound
from tilewright.runtime.driver import Driver, active_driver
from tilewright.runtime.fast_path import Shortcuts, is_constant
from tilewright.runtime.grid import GridLike, normalize_grid
from tilewright.runtime.launching import launch
from tilewright.runtime.repeating import RepeatedCalls
from tilewright.runtime.specialization import (
    DIVISIBILITY,
    Classified,
    Constant,
    Group,
    ParameterRule,
    Pointer,
    Scalar,
    classify,
    key_of,
)
from tilewright.support import knobs
from tilewright.support.errors import ArgumentValueError, MisalignedPointerError, OptionError
from tilewright.support.records import dataclass
from tilewright.support.tracebacks import ends_tracebacks


@dataclass(slots=True)
class CompiledLaunch:
    """What a compiled kernel is launched with again."""

    kernel: CompiledKernel
    declared: Binder
    """Of the `@jit` function; `binder` is this kernel's own."""
    promised: Bound
    """The arguments that it was compiled for, without their values, which nobody is to keep alive."""
    merged: Groups | None
    """The slots that it takes as one pointer each, where it was compiled for stores to memory that no other pointer
    shares; None if it is right for all pointers."""
    driver: Driver
    for_disjoint: Callable[[], CompiledKernel] | None = None
    """Of a kernel that is right for pointers that share memory: the faster one for pointers that do not."""
    for_shared: Callable[[], CompiledKernel] | None = None
    """Of a kernel for pointers that do not share memory: the one for pointers that do, or may."""
    has_signs: bool = True
    """Whether the types say which integers have signs; those of IR do not."""
    shortcuts: Shortcuts = field(default_factory=Shortcuts)
    """Arguments that were found to fit, under the switches as they are now."""
    calls: RepeatedCalls = field(init=False)
    """`calls.launch(grid, *args)` launches the kernel as it is, without hooks; natively where it did so before."""

    _binder: Binder | None = None

    @property
    def binder(self) -> Binder:
        """Made by the first launch: most compiled kernels are launched by their `@jit` function alone."""
        if self._binder is None:
            self._binder = self.declared.for_compiled(self.promised.items)
        return self._binder

    def __post_init__(self) -> None:
        self.calls = RepeatedCalls([], self._run)

    @ends_tracebacks
    def __call__(self, grid: GridLike, *args: Any, stream: None = None, **keywords: Any) -> None:
        """Launch the kernel as it is, between the hooks of launches, if there are any. Raises MisalignedPointerError,
        and ArgumentError classes for what else it was not compiled for."""
        if stream is not None:
            raise OptionError(
                "launches go to the current stream of PyTorch or CuPy; change it there (torch.cuda.stream)"
            )
        if hooks.are_set():
            values, _ = self.binder.match(args, keywords)
            extents = normalize_grid(grid, lambda: self.binder.meta(values, {}), self.binder.kernel_name)
            with hooks.around(self.kernel.launch_metadata(extents, self.driver.get_current_stream(), *values)):
                self.calls.launch(extents, *args, **keywords)
        else:
            self.calls.launch(grid, *args, **keywords)

    def _run(self, grid: GridLike, /, *args: Any, **keywords: Any) -> None:
        """Launch by the plan of a call like this one, or check the arguments first."""
        is_current = self.shortcuts.generation == knobs.generation
        seen = self.shortcuts.recognise(args, keywords) if is_current else None
        if seen is not None:
            plan, slots, values, _ = seen
            extents = normalize_grid(grid, lambda: self.binder.meta(values, {}), self.binder.kernel_name)
            if plan.launch(slots, values, extents):
                if plan.is_repeatable:
                    self.calls.learn(args, keywords, seen, self.binder.rules, ())
                return
        values, bound, driver = self._checked(args, keywords)
        slots, arrays = bound.slots()
        extents = normalize_grid(grid, lambda: self.binder.meta(values, {}), self.binder.kernel_name)
        kernel, merged = self.kernel, bound.sharing().merged(self.kernel.parameters.written)
        if self.for_disjoint is not None and not driver.is_gpu and merged == ():
            kernel = self.for_disjoint()
        if self.merged is not None and self.merged != merged:
            kernel = self._kernel_for_shared()
        launch(kernel, slots, arrays, extents)
        if not driver.is_gpu or all(storage.device != "cpu" for storage in arrays.values()):
            self._learn(kernel, values, driver)

    def _learn(self, kernel: CompiledKernel, values: tuple[Any, ...], driver: Driver) -> None:
        """Let arguments like these, which fit, be recognised; not where a 1 is an argument like any other here, but a
        constant for the fast path."""
        for value, rule, promised in zip(values, self.binder.rules, self.promised.items, strict=True):
            if not rule.is_constexpr and is_constant(value, rule) != isinstance(promised, Constant):
                return
        if self.shortcuts.generation != knobs.generation:
            self.shortcuts = Shortcuts(self.binder.separate, generation=knobs.generation)
        classes = tuple([value.__class__ for value in values])
        written = self.kernel.parameters.find_written(self.binder.names)
        self.shortcuts.learn(values, classes, self.binder.rules, {}, kernel, driver.device, written)

    def _checked(self, args: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[tuple[Any, ...], Bound, Driver]:
        """The values, classified, and the driver of a launch that the kernel was compiled for."""
        values, options = self.binder.match(args, keywords)
        further = [name for name in options if name not in self.binder.names]
        if further:
            raise OptionError(f"{', '.join(further)}: a compiled kernel has its options")
        items = tuple(map(self._fitting, values, self.binder.rules, self.promised.items))
        bound = Bound(self.promised.names, values, items, {})
        driver = active_driver(bound)
        if not self.driver.runs_code_of(driver):
            raise self._refused("", f"data for {driver.described()}", f"data for {self.driver.described()}")
        return values, bound, driver

    def _kernel_for_shared(self) -> CompiledKernel:
        if self.for_shared is None:
            raise self._refused("", "pointers that share memory", "memory of its own for each, as it was compiled for")
        return self.for_shared()

    def _fitting(self, value: Any, rule: ParameterRule, promised: Classified) -> Classified:
        """An argument as the kernel takes it."""
        if isinstance(promised, Constant):
            given = classify(value, rule)
            if key_of(given) != key_of(promised):
                raise self._refused(rule.name, f"{value!r}", f"{promised.value!r}, which is compiled in")
            return promised
        if isinstance(promised, Group) and promised.template in (None, value.__class__):
            several: Any = tuple
            if isinstance(value, several) and len(value) == len(promised.items):
                pairs = zip(value, promised.items, strict=True)
                return Group(tuple(self._fitting(item, rule, inner) for item, inner in pairs), promised.template)
        given = classify(value, rule if isinstance(promised, Group) else replace(rule, specialize=False))
        match given, promised:
            case Pointer(), Pointer():
                if promised.divisible and given.storage.address % DIVISIBILITY:
                    raise MisalignedPointerError(
                        rule.name,
                        f"an address ({given.storage.address:#x}) that is not a multiple of {DIVISIBILITY} bytes",
                        "one that is, as the kernel was compiled for; launch the @jit function for others",
                        kernel=self.binder.kernel_name,
                    )
                is_fitting = (given.type if self.has_signs else _signless(given)) == promised.type
            case Scalar(), Scalar():
                if promised.divisible and given.bits % DIVISIBILITY:
                    raise self._refused(rule.name, f"{value}", f"a multiple of {DIVISIBILITY}, as it was compiled for")
                is_fitting = given.type == promised.type
            case _:
                is_fitting = key_of(given) == key_of(promised)
        if not is_fitting:
            raise self._refused(rule.name, f"a value of another type ({_type(given)})", f"{_type(promised)}")
        return given

    def _refused(self, name: str, what: str, expected: str) -> ArgumentValueError:
        return ArgumentValueError(name, what, expected, kernel=self.binder.kernel_name)


def _signless(pointer: Pointer) -> str:
    """The type of a pointer, with integers as the IR has them."""
    return pointer.type.replace("*u", "*i")


def _type(item: Classified) -> str:
    return str(getattr(item, "type", type(item).__name__.lower()))
