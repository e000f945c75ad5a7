"""Python functions that are compiled, not run, and their source. `dependencies` has what identifies them in a cache."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial, update_wrapper
from types import CellType, FunctionType
from typing import TYPE_CHECKING, Any

from tilewright.language.context import is_active, outside_of_kernel
from tilewright.language.dtypes import dtype
from tilewright.language.values import constexpr, unwrap
from tilewright.support import knobs
from tilewright.support.errors import NoSourceError, OutsideOfKernelError
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


def file_lines(fn: Callable[..., Any]) -> list[str]:
    """The file of a function as it is now; empty where Python keeps none, or the function is not written in Python."""
    plain = inspect.unwrap(fn)
    if not isinstance(plain, FunctionType):
        return []
    filename = plain.__code__.co_filename
    linecache.checkcache(filename)
    return linecache.getlines(filename, plain.__globals__)


def source_lines(fn: Callable[..., Any], lines: list[str]) -> tuple[list[str], int]:
    """Return what `inspect.getsourcelines` gives, without tokenizing where indentation tells the end of the function.

    `lines` are those of the file. One that stands no deeper than `def` ends the function unless it lies inside of
    brackets or a string; if it does, what was cut off there does not parse, and `inspect` decides.
    """
    if not lines:
        return inspect.getsourcelines(fn)
    code = inspect.unwrap(fn).__code__
    start = code.co_firstlineno - 1
    if start >= len(lines):
        raise OSError("the file has changed since the function was defined")
    block = _indented_block(lines, start)
    try:
        tree = ast.parse(textwrap.dedent("".join(block)))
    except SyntaxError:
        return inspect.getblock(lines[start:]), start + 1
    if len(tree.body) == 1 and getattr(tree.body[0], "name", None) == code.co_name:
        return block, start + 1
    return inspect.getblock(lines[start:]), start + 1


def _indented_block(lines: list[str], start: int) -> list[str]:
    """Lines from the first decorator to the end of the function that follows."""
    indent = len(lines[start]) - len(lines[start].lstrip())
    first = start
    while first < len(lines) and not lines[first].lstrip().startswith(("def ", "async def ")):
        first += 1
    end = first + 1
    for position in range(first + 1, len(lines)):
        text = lines[position].strip()
        if not text or text.startswith("#"):
            continue
        depth = len(lines[position]) - len(lines[position].lstrip())
        if depth <= indent and text[0] not in ")]}":
            break
        end = position + 1
    return lines[start:end]


_NO_SOURCE = "@jit functions should be defined in a Python file: the source of `{}` cannot be read: {}"


class KernelSource:
    """The source text of a function: file, first line, parsed tree, and the names that it takes from outside.

    `file` has the lines of the file from when the function was defined; by default they are those of now. Raises
    NoSourceError where Python keeps no source for the function (typed at a prompt, or made by `exec`), or that of
    something else (made by `exec` under `python -c`, whose own text Python 3.13 keeps under the same name).
    """

    def __init__(self, fn: Callable[..., Any], file: list[str] | None = None) -> None:
        self.fn = fn
        try:
            lines, self.start_line = source_lines(fn, file or file_lines(fn))
        except (OSError, TypeError) as error:
            name = getattr(fn, "__name__", fn)
            raise NoSourceError(_NO_SOURCE.format(name, "Python has not kept it")) from error
        self.filename = inspect.getsourcefile(fn) or fn.__code__.co_filename
        self._name = inspect.unwrap(fn).__code__.co_name
        self.raw_lines = lines
        text = textwrap.dedent("".join(lines))
        self.indent = len(lines[0]) - len(lines[0].lstrip())
        self.text = text

    @cached_property
    def tree(self) -> ast.FunctionDef:
        """The function definition, with line numbers relative to `start_line` (the first line of `text` is 1)."""
        module = ast.parse(self.text)
        definition = module.body[0] if len(module.body) == 1 else None
        if not isinstance(definition, ast.FunctionDef) or definition.name != self._name:
            raise NoSourceError(_NO_SOURCE.format(self._name, "another text stands where it was defined"))
        return definition

    @property
    def body_text(self) -> str:
        """The source from `def` on, without decorators: what a cache key is made of."""
        first = self.tree.lineno - 1
        return "".join(self.text.splitlines(keepends=True)[first:])

    def line_of(self, node: ast.AST) -> int:
        """Line of a node in the file."""
        return self.start_line + getattr(node, "lineno", 1) - 1

    def column_of(self, node: ast.AST) -> int:
        """Column of a node in the file, from 1."""
        return getattr(node, "col_offset", 0) + self.indent + 1

    def end_column_of(self, node: ast.AST) -> int:
        """Column after the node if it ends on its first line, else 0."""
        if getattr(node, "end_lineno", None) != getattr(node, "lineno", None):
            return 0
        return (getattr(node, "end_col_offset", None) or -self.indent - 1) + self.indent + 1


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

    @property
    def raw_src(self) -> list[str]:
        """The lines of the definition as they stand in the file, decorators included."""
        return self.source.raw_lines

    @property
    def starting_line_number(self) -> int:
        """The line of the first of them."""
        return self.source.start_line

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

    # -- identity -----------------------------------------------------------------------------------------------------
    @property
    def cache_key(self) -> str:
        """Hash of everything outside the arguments that the compiled code depends on.

        Own source and first line, the same of all device functions used (transitively), defaults, and the values of
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
        source = KernelSource(self.fn, self._file)
        source.text = textwrap.dedent(new_src)
        self.__dict__["source"] = source
        _replaced[0] += 1
        knobs.renew()

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
