"""What compiled code depends on besides its run-time arguments, as text that is equal in every process where it is.

The source of a function and of all functions that it uses, the constants that these read or have as defaults, and the
constants that a kernel is specialised on, functions among them.
"""

from __future__ import annotations

import ast
import dataclasses
import hashlib
from collections import deque
from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from types import CodeType, FunctionType, ModuleType
from typing import Any

from tilewright.language.callables import CapturedNames, ConstexprFunction, JITCallable
from tilewright.language.dtypes import dtype
from tilewright.language.values import constexpr, unwrap

_IMMUTABLE: tuple[Any, ...] = (tuple, frozenset)
"""Containers that cannot hold themselves, and that are often shared by chance."""

Namespace = Mapping[str, Any]
Globals = dict[tuple[str, int], tuple[Any, Namespace]]


def describe_constant(value: Any) -> str:
    """A constant, with all that it consists of: two of them that are described alike compile to the same."""
    found = Dependencies()
    found.use_value("", value)
    return found.text


class Dependencies:
    """Walks the source of a function and of all that it uses, and notes what it finds in order of appearance.

    Functions of tilewright itself are covered by the fingerprint of the compiler, so only their names enter.
    """

    def __init__(self) -> None:
        self.globals: Globals = {}
        """The constants that were found in the namespaces of modules and closures."""
        self.others: Globals = {}
        """The functions, classes and other objects that were found there."""
        self._parts: list[str] = []
        self._later: deque[Callable[[], None]] = deque()
        """What is still to be noted: elements, fields, the insides of functions. Constants may be nested deeper than
        Python may call, and functions may call one another along longer chains."""
        self._is_busy = False
        self._seen: dict[int, tuple[int, Any]] = {}
        """Functions and objects by address, numbered; kept, so that nothing else gets the address."""

    @classmethod
    def of(cls, function: JITCallable) -> Dependencies:
        """Those of a function."""
        found = cls()
        found._use_function(function)
        return found

    @property
    def text(self) -> str:
        """All of it."""
        return "\0".join(self._parts)

    @property
    def key(self) -> str:
        """A hash of it."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()

    def _is_new(self, value: Any) -> bool:
        """Return whether it is met for the first time; else it is noted which one it was."""
        found = self._seen.get(id(value))
        if found is None:
            self._seen[id(value)] = (len(self._seen), value)
            return True
        self._parts.append(f"number {found[0]}")
        return False

    def _defer(self, *notes: Callable[[], None]) -> None:
        """Do these after what waits already; at once where nothing is under way."""
        self._later.extend(notes)
        if not self._is_busy:
            self._is_busy = True
            while self._later:
                self._later.popleft()()
            self._is_busy = False

    # -- functions ----------------------------------------------------------------------------------------------------
    def _use_function(self, function: JITCallable | ConstexprFunction) -> None:
        """One whose source is in the language, or that kernels call while they are compiled."""
        fn = function.fn
        if not self._is_new(fn):
            return
        self._parts.append(_full_name(fn))
        if _package(fn) != "tilewright":
            self._defer(partial(self._use_inside, function))

    def _use_inside(self, function: JITCallable | ConstexprFunction) -> None:
        """The source of a function, its defaults and the names that it takes from outside."""
        fn, source, package = function.fn, function.source, _package(function.fn)
        self._parts += [source.body_text, str(source.def_line), str(getattr(function, "noinline", None))]
        self.use_value("defaults", (fn.__defaults__, fn.__kwdefaults__))
        captured = CapturedNames(fn)
        for path in _free_paths(source.tree):
            scope = captured if path[0] in captured else fn.__globals__
            if path[0] in scope:
                self._use_path(path, scope, package)

    def _use_python_function(self, function: FunctionType, package: str) -> None:
        """One that these call: followed within their package; elsewhere its name has to do."""
        if not self._is_new(function):
            return
        self._parts.append(_full_name(function))
        if _package(function) == package:
            self._defer(partial(self._use_inside_of_python_function, function, package))

    def _use_inside_of_python_function(self, function: FunctionType, package: str) -> None:
        self.use_value("defaults", (function.__defaults__, function.__kwdefaults__))
        self._use_code(function.__code__, {**function.__globals__, **CapturedNames(function)}, package)

    def _use_code(self, code: CodeType, scope: Namespace, package: str) -> None:
        self._parts += [code.co_code.hex(), " ".join((*code.co_varnames, *code.co_names, *code.co_freevars))]
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self._use_code(constant, scope, package)
            else:
                self.use_value("constant", constant)
        for name in (*code.co_names, *code.co_freevars):
            if name in scope:
                self.use_value(name, scope[name], package)

    # -- values -------------------------------------------------------------------------------------------------------
    def _use_path(self, path: list[str], scope: Namespace, package: str) -> None:
        value, name = scope[path[0]], path[0]
        for attribute in path[1:]:
            if not isinstance(value, ModuleType | type) or not hasattr(value, attribute):
                break
            scope, name = vars(value) if isinstance(value, ModuleType) else {}, attribute
            value = getattr(value, attribute)
        if isinstance(value, ModuleType):
            return
        if name in scope and not _is_ours(scope.get("__name__")):
            if is_plain(value):
                self.globals[name, id(scope)] = (value, scope)
            elif not _is_ours(getattr(value, "__module__", "")):
                self.others[name, id(scope)] = (value, scope)
        self.use_value(".".join(path), value, package)

    def use_value(self, name: str, value: Any, package: str = "") -> None:
        """Note a value under a name; `package` is that of the function that uses it."""
        value = unwrap(value)
        match value:
            case JITCallable() | ConstexprFunction():
                self._parts.append(name)
                self._use_function(value)
            case FunctionType():
                self._use_python_function(value, package)
            case ModuleType():
                self._parts.append(value.__name__)
            case type():
                self._use_class(value)
            case None | bool() | int() | float() | complex() | str() | bytes() | dtype() | Enum():
                self._parts.append(f"{name}={type(value).__name__} {value!r}")
            case _:
                self._use_object(name, value, package)

    def _use_class(self, cls: type) -> None:
        self._parts.append(_full_name(cls))
        if getattr(cls, "__triton_aggregate__", False) and self._is_new(cls):
            self._parts.append(str(vars(cls).get("__annotations__")))
            for method in vars(cls).values():
                if isinstance(method, JITCallable | ConstexprFunction):
                    self._use_function(method)

    def _use_object(self, name: str, value: Any, package: str) -> None:
        """The elements of containers and the fields of other objects; what says neither is known by its class."""
        if type(value) not in _IMMUTABLE and not self._is_new(value):
            return
        fields = _fields(value)
        self._parts.append(f"{name}: {type(value).__qualname__} of {len(fields)}")
        if not fields and type(value).__repr__ is not object.__repr__:
            self._parts.append(repr(value))
        self._defer(*(partial(self.use_value, label, item, package) for label, item in fields))


def _fields(value: Any) -> list[tuple[str, Any]]:
    items: Any = value
    match value:
        case tuple() | list():
            return [(str(index), item) for index, item in enumerate(items)]
        case set() | frozenset():
            plain = sorted(_label(item) for item in items if _is_label(item))
            rest = [item for item in items if not _is_label(item)]
            return [("", item) for item in [*plain, *sorted(rest, key=lambda item: getattr(item, "__name__", ""))]]
        case Mapping():
            fields = [(_label(key), item) for key, item in items.items()]
            return fields + [("key", key) for key in items if not _is_label(key)]
        case _ if dataclasses.is_dataclass(value):
            return [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
        case _:
            return list(getattr(value, "__dict__", {}).items())


def _is_label(value: Any) -> bool:
    """Return whether a key of a mapping, or an element of a set, is known by what it looks like."""
    return isinstance(value, bool | int | float | complex | str | bytes | dtype | Enum | None) or (
        isinstance(value, tuple) and all(map(_is_label, value))  # pyright: ignore[reportUnknownArgumentType]
    )


def _label(value: Any) -> str:
    return f"{type(value).__qualname__} {value!r}" if _is_label(value) else type(value).__qualname__


def is_plain(value: Any) -> bool:
    """Is it a constant, whose change a launch refuses?"""
    return value is None or isinstance(value, constexpr | dtype | int | float | str | tuple | list | dict | frozenset)


def _is_ours(module: object) -> bool:
    return str(module).partition(".")[0] == "tilewright"


def _full_name(value: FunctionType | type) -> str:
    """Module and qualified name. The program is `__mp_main__` in children that multiprocessing spawns."""
    module = "__main__" if value.__module__ == "__mp_main__" else value.__module__
    return f"{module}.{value.__qualname__}"


def _package(function: FunctionType) -> str:
    return str(function.__module__).partition(".")[0]


def _free_paths(tree: ast.AST) -> list[list[str]]:
    """Dotted names read in `tree` before anything in it gives their first part a value: `tl.load` gives ["tl", "load"].
    Those in decorators, defaults and annotations of the function are read when it is defined, and make nothing of what
    it compiles to."""
    read: list[list[str]] = []
    local: set[str] = set()
    stack: list[ast.AST] = [tree]
    has_begun = False
    while stack:
        node = stack.pop()
        path = _dotted(node)
        if path is not None:
            if path[0] not in local:
                read.append(path)
            continue
        match node:
            case ast.FunctionDef() if not has_begun:
                has_begun = True
                stack.extend(reversed(node.body))
                local.update(child.arg for child in ast.walk(node.args) if isinstance(child, ast.arg))
                continue
            case ast.arg():
                local.add(node.arg)
            case ast.Name():  # `_dotted` has those that are read
                local.add(node.id)
            case _:
                pass
        stack.extend(reversed(_in_order(node)))
    return read


def _in_order(node: ast.AST) -> list[ast.AST]:
    """The parts of a node as they are evaluated: values before the names that get them."""
    match node:
        case ast.Assign():
            return [node.value, *node.targets]
        case ast.AugAssign(target=ast.Name(id=name)):
            return [ast.Name(name, ast.Load()), node.value, node.target]
        case ast.AnnAssign() if node.value is not None:
            return [node.annotation, node.value, node.target]
        case ast.NamedExpr():
            return [node.value, node.target]
        case ast.For() | ast.comprehension():
            rest = node.ifs if isinstance(node, ast.comprehension) else [*node.body, *node.orelse]
            return [node.iter, node.target, *rest]
        case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
            return [*node.generators, node.elt]
        case ast.DictComp():
            return [*node.generators, node.key, node.value]
        case _:
            return list(ast.iter_child_nodes(node))


def _dotted(node: ast.AST) -> list[str] | None:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or not isinstance(node.ctx, ast.Load):
        return None
    return [node.id, *reversed(parts)]
