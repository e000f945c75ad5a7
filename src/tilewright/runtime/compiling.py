"""`tilewright.compile`: compile for declared types, without arguments; what it returns can be launched."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tilewright.compiler.compilation import compile_source, load_entry
from tilewright.compiler.kernel import CompiledKernel
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import ASTSource, TextSource
from tilewright.runtime.binding import Binder, Bound
from tilewright.runtime.compiled_launch import CompiledLaunch
from tilewright.runtime.driver import Driver
from tilewright.runtime.jit import JITFunction
from tilewright.runtime.specialization import Classified, Constant, Descriptor, Group, ParameterRule, Pointer, Scalar
from tilewright.runtime.storage import Storage
from tilewright.support.disk_cache import Entry
from tilewright.support.errors import TargetError
from tilewright.support.records import dataclass
from tilewright.support.tracebacks import ends_tracebacks
from tilewright.targets.base import DescribedTarget, Target, find_target
from tilewright.targets.capabilities import configured

if TYPE_CHECKING:
    from tilewright.compiler.text_parameters import Declaration

GPU = "cuda"
"""The back end whose targets differ by architecture."""

disjoint_first: ContextVar[bool] = ContextVar("disjoint_first", default=False)
"""Whether kernels are compiled for pointers that do not share memory, and for others when a launch has them: for
callers that take no code out of the kernel. By default it is the other way round."""


@ends_tracebacks
def compile(
    src: ASTSource | TextSource | str | Path, target: Any = None, options: dict[str, Any] | None = None
) -> CompiledKernel:
    """Compile a kernel: an `ASTSource`, or a file of IR whose suffix names its stage (`.ttir`, `.linalg`, ...).

    `target` is a target's name, a `Target`, or Triton's `GPUTarget`; by default the host's CPU. `options` are launch
    options such as `num_warps`. What was compiled from an `ASTSource` is launched by `kernel[grid](*args)`, with an
    argument for each parameter; the first launch on the CPU with pointers that do not share memory compiles it again,
    for such pointers. Raises CompilationError, ParseError or PassError classes, and OptionError and
    UnknownOptionError.
    """
    source = TextSource.read(src) if isinstance(src, str | Path) else src
    if disjoint_first.get() and isinstance(source, ASTSource) and isinstance(source.fn, JITFunction):
        source = replace(source, noalias=True)
    keywords = dict(options or {})
    found = find_described(target)
    if isinstance(target, DescribedTarget) and target.backend == GPU:
        keywords.setdefault("arch", f"sm{target.arch}")
    checked = CompileOptions.from_keywords(keywords)
    kernel = compile_source(source, checked, found)
    if isinstance(source, ASTSource) and isinstance(source.fn, JITFunction):
        relaunch = _launch_by_declaration(kernel, source, source.fn, Driver(found.name, configured(found, checked)))
        other = cache(partial(_compile_other, source, source.fn.fn, checked, found))
        _set_other(relaunch, source, other)
        kernel.relaunch, kernel.reload = relaunch, Reloading(source, checked, found.name, other)
    elif isinstance(source, TextSource) and source.declaration is not None:
        kernel.relaunch = _launch_by_text(kernel, source.declaration, Driver(found.name, configured(found, checked)))
    return kernel


def _compile_other(source: ASTSource, function: Any, options: CompileOptions, target: Target) -> CompiledKernel:
    """The kernel for pointers that share memory, if that of the source is for those that do not, or the reverse."""
    named: Any = source.fn
    whole = named if named.fn is not None else JITFunction(function, repr=named.repr)
    return compile_source(replace(source, fn=whole, noalias=not source.noalias), options, target)


def _set_other(relaunch: CompiledLaunch, source: ASTSource, other: Callable[[], CompiledKernel]) -> None:
    if source.noalias:
        relaunch.for_shared = other
    else:
        relaunch.for_disjoint = other


@dataclass(frozen=True)
class Arriving:
    """A kernel that another process compiled, loaded when it is called for."""

    entry: Entry
    key: str
    source: ASTSource
    options: CompileOptions
    target: str

    def __call__(self) -> CompiledKernel:
        target = configured(find_target(self.target), self.options)
        return load_entry(self.entry, self.key, self.source, self.options, target)


@dataclass(frozen=True)
class Reloading:
    """Loads a kernel in a process to which another one has pickled what it compiled, for both kinds of pointers: the
    Python function does not come along."""

    source: ASTSource
    options: CompileOptions
    target: str
    other: Callable[[], CompiledKernel]

    def __reduce__(self) -> tuple[Any, ...]:
        other = self.other()
        other_form = replace(self.source, noalias=not self.source.noalias)
        arriving = Arriving(_entry_of(other), other.hash, other_form, self.options, self.target)
        return Reloading, (self.source, self.options, self.target, arriving)

    def __call__(self, kernel: CompiledKernel) -> None:
        target = configured(find_target(self.target), self.options)
        loaded = Arriving(_entry_of(kernel), kernel.hash, self.source, self.options, self.target)()
        kernel.native = loaded.native
        function: Any = self.source.fn
        relaunch = _launch_by_declaration(kernel, self.source, function, Driver(self.target, target))
        _set_other(relaunch, self.source, cache(self.other))
        kernel.relaunch = relaunch


def _entry_of(kernel: CompiledKernel) -> Entry:
    """Return what the disk cache keeps of a kernel."""
    return Entry(kernel.metadata.details, {**kernel.asm.sections, "obj": kernel.image})


def find_described(target: Any) -> Target:
    """The target that is named, or described as Triton does (its `GPUTarget`); the host's CPU for None. Raises
    TargetError for anything else."""
    name = target.backend if isinstance(target, DescribedTarget) else target
    if isinstance(name, str | None):
        return find_target(name or "cpu")
    if not isinstance(target, Target):
        raise TargetError(f"{target!r} is not a target: give a name, a `Target`, or Triton's `GPUTarget`")
    return target


def _launch_by_declaration(
    kernel: CompiledKernel, source: ASTSource, function: JITFunction, driver: Driver
) -> CompiledLaunch:
    """The launch of a kernel whose parameters have the types that its source declares."""
    constants, attributes = source.paths(source.constexprs), source.paths(source.attrs)

    def promised_at(kind: Any, path: tuple[int, ...]) -> Classified:
        if isinstance(kind, tuple):
            inner = cast("tuple[Any, ...]", kind)
            return Group(tuple(promised_at(item, (*path, position)) for position, item in enumerate(inner)))
        if kind == "constexpr":
            return Constant(constants.get(path))
        return _promised(kind, divisible=dict(attributes.get(path, {})).get("tt.divisibility", 0) > 1)

    items = [promised_at(kind, (index,)) for index, kind in enumerate(source.full_signature().values())]
    rules = [_typed(rule, item) for rule, item in zip(function.binder.rules, items, strict=True)]
    binder = Binder(function.__name__, function.signature, tuple(rules))
    promised = Bound(binder.names, (), tuple(items), {})
    return CompiledLaunch(kernel, binder, promised, () if source.noalias else None, driver)


def _launch_by_text(kernel: CompiledKernel, declaration: Declaration, driver: Driver) -> CompiledLaunch:
    """The launch of a kernel whose text declares its parameters."""
    items = [_promised(given.kind, divisible=given.divisible) for given in declaration.parameters]
    rules = [_typed(ParameterRule(given.name), item) for given, item in zip(declaration.parameters, items, strict=True)]
    named = [inspect.Parameter(rule.name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for rule in rules]
    binder = Binder(declaration.kernel, inspect.Signature(named), tuple(rules))
    promised = Bound(binder.names, (), tuple(items), {})
    return CompiledLaunch(kernel, binder, promised, () if declaration.disjoint else None, driver, has_signs=False)


def _promised(kind: str, *, divisible: bool) -> Classified:
    """An argument of a type that was declared."""
    if kind.startswith("*"):
        return Pointer(kind, Storage(0, kind.removeprefix("*"), 0, 0), divisible)
    return Descriptor(kind, ()) if kind.startswith("tensordesc") else Scalar(kind, 0, divisible)


def _typed(rule: ParameterRule, item: Classified) -> ParameterRule:
    """The rule of a parameter; a scalar's argument is taken as the type that was declared."""
    return replace(rule, forced_type=item.type) if isinstance(item, Scalar) else rule
