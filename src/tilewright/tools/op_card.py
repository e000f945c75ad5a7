"""The card of an op, for `tilewright-opt --show-op=tt.addptr`: what its class says, and where the rest of it is.

The class says operands, text, traits and checks. Its meaning and its lowerings are functions in tables by class; what
else treats the class by itself is found in the source.
"""

from __future__ import annotations

import ast
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from xdsl.ir import Operation

import tilewright
from tilewright.dialects import make_context
from tilewright.ir.lowerings import Lowerings
from tilewright.reference.machine import MEANINGS
from tilewright.support.errors import PipelineError

ROOT = Path(tilewright.__file__).parent
TABLES_IN = ("tilewright.reference", "tilewright.lowering", "tilewright.transforms")
"""Packages whose modules fill tables by the class of an op."""


def render_op(name: str) -> str:
    """The card of an op by its name. Raises PipelineError where there is none."""
    cls = make_context().get_optional_op(name)
    if cls is None:
        raise PipelineError(f"unknown op '{name}'; --show-dialects names the dialects")
    rows = list(_rows(cls))
    width = max(len(key) for key, _ in rows)
    return f"{inspect.getdoc(cls) or name}\n\n" + "".join(f"{key:<{width}}  {text}\n" for key, text in rows)


def _rows(cls: type[Operation]) -> Iterator[tuple[str, str]]:
    _import_tables()
    yield "class", f"{cls.__name__} {_place_of(cls)}"
    traits = sorted(type(trait).__name__ for trait in cls.traits)
    yield "traits", ", ".join(name for name in traits if name[0] != "_") or "none: it may do anything"
    for key, method in (("verifier", "verify_"), ("fold", "fold"), ("computes", "evaluate")):
        found: Any = getattr(cls, method, None)
        if found is not None and found.__module__.startswith("tilewright."):
            yield key, _place_of(found)
    patterns: Callable[[], Iterable[object]] = getattr(cls, "get_canonicalization_patterns", tuple)
    for pattern in patterns():
        yield "canonicalization", f"{type(pattern).__name__} {_place_of(type(pattern))}"
    if cls in MEANINGS:
        yield "meaning", _place_of(MEANINGS[cls])
    for arrow, rule in _lowerings_of(cls):
        yield arrow, _place_of(rule)
    for file, line in _mentions(cls):
        yield "named in", f"{file}:{line}"


def _import_tables() -> None:
    for package in map(import_module, TABLES_IN):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if ".simt" not in module.name:
                import_module(module.name)


def _lowerings_of(cls: type[Operation]) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The functions that lower ops of a class, with their arrows or passes: the folders of the tables."""
    seen: list[object] = []
    for name, module in sorted(sys.modules.items()):
        for value in vars(module).values() if name.startswith(TABLES_IN) else ():
            if isinstance(value, Lowerings) and not any(value is known for known in seen):
                seen.append(cast("object", value))
                rule = cast("dict[type[Operation], Callable[..., Any]]", value).get(cls)
                _, layer, folder, *inner = name.split(".")
                if rule is not None:
                    yield folder if layer == "lowering" else inner[0], rule


def _place_of(thing: Any) -> str:
    """`lowering/ttg_to_llvm/math_ops.py:135`: where a class or a function is defined."""
    while isinstance(thing, partial):
        thing = thing.func
    _, line = inspect.getsourcelines(thing)
    return f"{Path(inspect.getfile(thing)).relative_to(ROOT)}:{line}"


def _mentions(cls: type[Operation]) -> Iterator[tuple[str, int]]:
    """The first line of each file, but that of the class, in which the class is named."""
    home = inspect.getfile(cls)
    dialect = cls.name.partition(".")[0]
    for path in sorted(ROOT.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if cls.__name__ in text and str(path) != home:
            lines = [line for node in ast.walk(ast.parse(text)) if (line := _line_of(node, dialect, cls.__name__))]
            if lines:
                yield str(path.relative_to(ROOT)), min(lines)


def _line_of(node: ast.AST, dialect: str, name: str) -> int:
    """The line of an expression `tt.AddPtrOp`, or of `AddPtrOp` imported from the dialect; 0 for anything else."""
    match node:
        case ast.Attribute(value=ast.Name(id=owner), attr=attribute) if owner == dialect and attribute == name:
            return node.lineno
        case ast.ImportFrom(module=str(module), names=names) if f".dialects.{dialect}" in module:
            return node.lineno if any(alias.name == name for alias in names) else 0
        case _:
            return 0
