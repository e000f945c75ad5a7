"""Places in generated code that launch one kernel over one grid, natively after the first calls.

    triton_poi_fused_relu_0.run(buf1, 4096, stream=get_raw_stream(None))     what PyTorch's compiler writes

    site_0 = launch_site(globals(), "triton_poi_fused_relu_0", (4096,))      with `compat/inductor_wrapper.py`
    site_0(buf1)

    site_1 = varying_site(globals(), "triton_poi_fused_relu_0")              where shapes are dynamic
    site_1[(64 * s0,)](buf1)

The first way is four functions of Python for each launch; amid matmuls, which leave nothing of the interpreter
in the caches, they take half of its 8 to 12 us. A site takes the first way until native code knows the call, and again
whenever something is different: other arguments, switches, hooks, a profiler. Hooks and profilers are looked for by
the sites that others do not follow: once in each call of a graph.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from ctypes import addressof, c_void_p
from typing import Any

from tilewright.compiler.kernel import RunLaunch, watch_runs
from tilewright.runtime.compiled_launch import CompiledLaunch
from tilewright.targets.cpu.native_runtime import native_runtime
from tilewright.targets.launch_cache import records
from tilewright.targets.launch_cache.calls import Recogniser, variables_of

WATCHERS = (
    ("torch.autograd.profiler", "_is_profiler_enabled", False),
    ("torch.utils._debug_mode._mode", "_ACTIVE_DEBUG_MODE_COUNT", 0),
)
"""Modules of PyTorch's, variables, and their values while nobody wants to see each launch."""

_NO_HOOKS: list[Any] = []

MOST_VARIANTS = 64
"""Sizes that a place of dynamic shapes keeps a site for: those of some batches. The oldest leaves for a new one."""


def launch_site(
    scope: Mapping[str, Any], name: str, numbers: Sequence[int], *, follows: bool = False
) -> Callable[..., None]:
    """Return a function that launches the kernel `scope[name]`, an object of PyTorch's compiler, with its arguments
    and then these numbers. One that `follows` does not look for hooks and profilers, as a site before it has just done.
    Code in PyTorch's caches calls this: its meaning stays.
    """
    return _Site(scope, name, tuple(numbers), follows).launch


def varying_site(
    scope: Mapping[str, Any], name: str, *, follows: bool = False
) -> Mapping[tuple[int, ...], Callable[..., None]]:
    """Return a mapping from numbers, which arguments of a kernel end with, to a function that launches the kernel
    `scope[name]` with its other arguments and then these, as `launch_site` does.
    """
    return _Sites(scope, name, follows)


class _Sites(dict[tuple[int, ...], Callable[..., None]]):
    """Sites of one place, by the numbers that varied there."""

    def __init__(self, scope: Mapping[str, Any], name: str, follows: bool) -> None:
        self._scope, self._name, self._follows = scope, name, follows

    def __missing__(self, numbers: tuple[int, ...]) -> Callable[..., None]:
        if len(self) >= MOST_VARIANTS:
            self.pop(next(iter(self)), None)
        self[numbers] = site = launch_site(self._scope, self._name, numbers, follows=self._follows)
        return site


class _Site:
    """One place, and what native code reads of it (`site.ll`)."""

    def __init__(self, scope: Mapping[str, Any], name: str, numbers: tuple[int, ...], follows: bool) -> None:
        self._scope, self._name, self._numbers = scope, name, numbers
        self._site = records.Site(follows=follows)
        self._kept: list[Any] = []
        """What the record points to."""
        self._recogniser: Recogniser | None = native_runtime().recogniser
        self.launch: Callable[..., None] = self._run
        if self._recogniser is not None:
            self.launch = self._recogniser.site(self._site, self._run)

    def _run(self, *args: Any) -> None:
        """Launch by PyTorch's object, and look whether the next time can be native."""
        with watch_runs() as runs:
            self._scope[self._name].run(*args, *self._numbers, stream=0)
        if runs and not self._site.table:
            self._learn(runs[0], args)

    def _learn(self, run: RunLaunch, args: tuple[Any, ...]) -> None:
        """Have native code launch like that, if it knows such calls of the kernel and can tell when to leave them to
        Python."""
        relaunch = run.kernel.relaunch
        table = relaunch.calls.table if isinstance(relaunch, CompiledLaunch) else None
        if self._recogniser is None or table is None or not table.is_of(self._recogniser):
            return
        if any(isinstance(arg, int | float) for arg in args):
            return  # the grid may depend on them
        count = len(args)
        is_in_order = len(run.args) >= count and all(map(_is, run.args, args))
        hooks = [_NO_HOOKS if hook is None else getattr(hook, "calls", None) for hook in run.hooks]
        if (
            len(run.args) > records.MOST_ARGUMENTS
            or not is_in_order
            or not all(hook.__class__ is list for hook in hooks)
        ):
            return
        constants = run.args[count:]
        further = (c_void_p * len(constants))(*map(id, constants))
        watched = _watched_variables()
        variables = variables_of(watched)
        self._kept += [hooks, constants, further, watched, variables, table]
        site = self._site
        site.given, site.further, site.constants = count, len(constants), addressof(further)
        site.variable_count, site.variables = len(watched), addressof(variables)
        site.hooks_before, site.hooks_after = map(id, hooks)
        site.x, site.y, site.z = run.grid
        site.programs = math.prod(run.grid)
        site.table = table.address


def _watched_variables() -> list[tuple[Any, str, Any]]:
    """Those of `WATCHERS` that this PyTorch has, with their modules' dictionaries."""
    scopes = [(getattr(sys.modules.get(module), "__dict__", {}), name, value) for module, name, value in WATCHERS]
    return [(scope, name, value) for scope, name, value in scopes if name in scope]


def _is(a: object, b: object) -> bool:
    return a is b
