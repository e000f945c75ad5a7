"""Python functions that are compiled, not run. `dependencies` has what identifies them in a cache."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial, update_wrapper
from types import CellType, FunctionType
from typing import TYPE_CHECKING, Any

from tilewright.language.context import is_active, outside_of_kernel
from tilewright.language.dtypes import dtype
from tilewright.language.source import KernelSource, file_lines
from tilewright.language.values import constexpr, unwrap
from tilewright.support import knobs
from tilewright.support.errors import OutsideOfKernelError
from tilewright.support.records import dataclass
from tilewright.support.tracebacks import ends_tracebacks

if TYPE_CHECKING:
    from tilewright.language.dependencies import Dependencies


@dataclass(frozen=True)
class Parameter:
    """One parameter of a kernel or device function."""

    index: int
    name: str
    annotation: str
    """Source text of the annotation, without quotes; empty if there is none."""
    default: Any
    """`inspect.Parameter.empty` if there is none."""
    do_not_specialize: bool = False
    """Of a kernel's parameter: its value does not enter the compiled code."""
    do_not_specialize_on_alignment: bool = False
    """Of a kernel's parameter: whether it is divisible by 16 does not enter the compiled code."""

    @property
    def num(self) -> int:
        """`index`, as Triton calls it."""
        return self.index

    @property
    def is_constexpr(self) -> bool:
        return "constexpr" in self.annotation

    @property
    def is_const(self) -> bool:
        return "const" in self.annotation and not self.is_constexpr

    @property
    def has_default(self) -> bool:
        return self.default is not inspect.Parameter.empty


class _OfSource:
    """An attribute of the function that is one of its source's. Programs that write kernels set it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, function: JITCallable | None, owner: type) -> Any:
        return self if function is None else getattr(function.source, self.name)

    def __set__(self, function: JITCallable, value: Any) -> None:
        setattr(function.source, self.name, value)
        _note_replaced()


class JITCallable:
    """A Python function that kernels can call; a kernel itself once the runtime adds launching.

    `@jit` of the runtime makes objects of a subclass. The library functions that are written in the language use
    `language_function`, which makes objects of this class.
    """

    __name__: str
    _dependencies: Dependencies | None = None
    _sources_then = 0

    def __init__(self, fn: Callable[..., Any], *, noinline: bool = False) -> None:
        assert isinstance(fn, FunctionType), f"@jit needs a Python function, got {fn!r}"
        self.fn = fn
        self.noinline = noinline
        self._file: list[str] | None = None
        self._cache_key: str | None = None
        update_wrapper(self, fn)
        del self.__dict__["__wrapped__"]  # who follows it, as pytest does, takes a kernel for the Python function
        self.__globals__ = fn.__globals__

    # -- source -------------------------------------------------------------------------------------------------------
    @cached_property
    def source(self) -> KernelSource:
        return KernelSource(self.fn, self._file)

    def keep_file(self) -> None:
        """Take the source from the file as it is now: who edits it later does not change a function that is there."""
        self._file = file_lines(self.fn)

    @property
    def src(self) -> str:
        """The source text from `def` on."""
        return self.source.body_text

    raw_src = _OfSource("raw_lines")
    """The lines of the definition as they stand in the file, decorators included."""
    starting_line_number = _OfSource("raw_start")
    """The line of the first of them."""
    file_name = _OfSource("filename")
    def_file_line_number = _OfSource("def_line")
    """Where `def` stands, from 1, and `def_file_col_number`: errors and debug locations count from there."""
    def_file_col_number = _OfSource("def_column")

    def parse(self) -> ast.Module:
        """The syntax tree, as a module with one function definition."""
        return ast.Module(body=[self.source.tree], type_ignores=[])

    @cached_property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.fn)

    @cached_property
    def params(self) -> list[Parameter]:
        return [
            Parameter(index, p.name, _annotation_text(p.annotation), p.default)
            for index, p in enumerate(self.signature.parameters.values())
        ]

    @cached_property
    def arg_names(self) -> list[str]:
        return list(self.signature.parameters)

    @cached_property
    def constexprs(self) -> list[int]:
        return [p.index for p in self.params if p.is_constexpr]

    @property
    def fn_name(self) -> str:
        """Module and qualified name: the stem of the symbol of a device function."""
        return f"{self.fn.__module__}.{self.fn.__qualname__}"

    def repr(self, specialization: Any) -> str:
        """Return what a kernel is called that this function becomes: the function's name."""
        return self.__name__

    # -- names from outside -------------------------------------------------------------------------------------------
    def find_name(self, name: str) -> tuple[bool, Any]:
        """The value of a name from outside: captured by a closure, or global; (False, None) if there is none."""
        for scope in (CapturedNames(self.fn), self.fn.__globals__):
            if name in scope:
                return True, scope[name]
        return False, None

    def get_capture_scope(self) -> dict[str, Any]:
        """The names that the function may take from outside, with their values now."""
        return {**self.fn.__globals__, **CapturedNames(self.fn)}

    # -- identity -----------------------------------------------------------------------------------------------------
    @property
    def cache_key(self) -> str:
        """Hash of everything outside the arguments that the compiled code depends on.

        Own source and its place, the same of all device functions used (transitively), defaults, and the values of
        constant globals.
        """
        if self._cache_key is None or (self._dependencies is not None and self._is_stale()):
            self._cache_key = self._analyse().key
        return self._cache_key

    @property
    def hash(self) -> str:
        """The same, as some programs ask for it. They set it to None to have it found anew."""
        return self.cache_key

    @hash.setter
    def hash(self, value: None) -> None:
        self._cache_key = self._dependencies = None

    def is_gluon(self) -> bool:
        """Return whether it is written in Gluon, where layouts are the user's."""
        return False

    @property
    def used_global_vals(self) -> dict[tuple[str, int], tuple[Any, Mapping[str, Any]]]:
        """Globals that the function and its callees read: (name, id of the namespace) -> (value, namespace)."""
        return self._analyse().globals

    @used_global_vals.setter
    def used_global_vals(self, values: Any) -> None:
        """PyTorch sets them to None before it pickles a function, and back: they are the function's all the time."""

    def _is_stale(self) -> bool:
        """Return whether what the function depends on is not known, or some source was replaced since."""
        return self._dependencies is None or self._sources_then != sources_replaced()

    def _analyse(self) -> Dependencies:
        if self._dependencies is None or self._is_stale():
            from tilewright.language.dependencies import Dependencies

            self._dependencies, self._cache_key = Dependencies.of(self), None
            self._sources_then = sources_replaced()
        return self._dependencies

    def _unsafe_update_src(self, new_src: str) -> None:
        """Replace the source text; the next launch of any kernel that uses the function sees it."""
        self.__dict__["source"] = self.source.with_text(new_src)
        _note_replaced()

    @ends_tracebacks
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name = self.fn.__name__
        if self.fn.__module__.startswith("tilewright.language."):
            raise outside_of_kernel(name)
        raise OutsideOfKernelError(
            f"Cannot call @jit'd function `{name}` outside of the scope of a kernel; launch it with {name}[grid](...)"
        )

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.fn.__module__}:{self.fn.__qualname__})"


_replaced = [0]


def _note_replaced() -> None:
    _replaced[0] += 1
    knobs.renew()


def sources_replaced() -> int:
    """Return how many times a program has replaced the source of a function."""
    return _replaced[0]


class CapturedNames(Mapping[str, Any]):
    """Names that a function closes over, with the values that they have when one asks; those without are left out."""

    def __init__(self, fn: FunctionType) -> None:
        self._cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True))

    def __getitem__(self, name: str) -> Any:
        try:
            return self._cells[name].cell_contents
        except ValueError:
            raise KeyError(name) from None

    def cell(self, name: str) -> CellType:
        """Return what holds the value of a name."""
        return self._cells[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._cells if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _annotation_text(annotation: Any) -> str:
    if annotation is inspect.Parameter.empty:
        return ""
    if isinstance(annotation, str):
        return annotation.strip().strip("'\"")
    if isinstance(annotation, dtype):
        return annotation.mangle() if annotation.is_int() else annotation.name
    name = getattr(annotation, "__name__", None)
    return name if isinstance(name, str) else repr(annotation)


def is_jit(value: Any) -> bool:
    """Is `value` a function that is compiled when called in a kernel?"""
    return isinstance(value, JITCallable)


def language_function(fn: Callable[..., Any]) -> JITCallable:
    """Make a Python function a device function of the library: it is compiled into the kernels that call it."""
    return JITCallable(fn)


class ConstexprFunction:
    """A plain Python function that runs while compiling; constants in, constant out. Callable on the host as it is."""

    def __init__(self, fn: Callable[..., Any]) -> None:
        self.fn = fn
        self._file: list[str] | None = None
        update_wrapper(self, fn)

    @cached_property
    def source(self) -> KernelSource:
        return KernelSource(self.fn, self._file)

    def keep_file(self) -> None:
        """As `JITCallable.keep_file`."""
        self._file = file_lines(self.fn)

    def __call__(self, *args: Any, _semantic: Any = None, **kwargs: Any) -> Any:
        plain = [value if value.__class__ is int else unwrap(value) for value in args]
        result = self.fn(*plain, **{name: unwrap(value) for name, value in kwargs.items()})
        return constexpr(result) if result is not None and is_active() else result

    def __get__(self, instance: Any, owner: Any) -> Any:
        if instance is None:
            return self
        return partial(self, instance)


def constexpr_function(fn: Callable[..., Any]) -> ConstexprFunction:
    """Decorator: let kernels call a plain Python function at compile time. See `ConstexprFunction`."""
    function = ConstexprFunction(fn)
    function.keep_file()
    return function
