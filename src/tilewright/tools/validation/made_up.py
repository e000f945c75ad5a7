"""Made-up arguments for kernels of which only the source is known.

A parameter is a pointer if an access reaches it: it is the base of what `tl.load`, `tl.store`, an atomic or a block
pointer is given, directly or through the names that the address was put together in.

    k_ptrs = K + cols[None, :] * stride;  k = tl.load(k_ptrs)          K is a pointer, stride is not
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from tilewright.runtime.jit import JITFunction

ELEMENTS = 4096
"""Elements of a made-up array."""

CONSTANT, STRIDE, SIZE = 16, 16, 30
"""What constants, strides and other numbers are: tiles are not full, and rows do not overlap."""

_ACCESSES = frozenset({"load", "store", "make_block_ptr", "make_tensor_descriptor", "advance"})


def made_up_arguments(kernel: JITFunction, constants: dict[str, Any]) -> dict[str, Any]:
    """Arrays for pointers, `constants` as they are, numbers for the rest; parameters with a default keep it."""
    rng = np.random.default_rng(0)
    pointers = find_pointers(kernel)
    arguments: dict[str, Any] = {}
    for rule, parameter in zip(kernel.binder.rules, kernel.signature.parameters.values(), strict=True):
        name = rule.name
        if name in constants:
            arguments[name] = constants[name]
        elif parameter.default is not parameter.empty:
            continue
        elif rule.is_constexpr:
            arguments[name] = CONSTANT
        elif name in pointers or (rule.forced_type or "").startswith("*"):
            arguments[name] = rng.standard_normal(ELEMENTS).astype(np.float32)
        else:
            arguments[name] = STRIDE if "stride" in name.lower() else SIZE
    return arguments


def find_pointers(kernel: JITFunction, visited: frozenset[JITFunction] = frozenset()) -> frozenset[str]:
    """The parameters that accesses reach, in the kernel's own source and in functions that it calls."""
    tree = ast.parse(kernel.source.text)
    values: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for name, value in _assigned(node.targets[0], node.value):
                values.setdefault(name, []).append(value)
    bases: set[str] = set()
    pending = [base for address in _addresses(tree, kernel, visited | {kernel}) for base in _bases(address)]
    while pending:
        name = pending.pop()
        if name not in bases:
            bases.add(name)
            pending.extend(base for value in values.get(name, ()) for base in _bases(value))
    return frozenset(bases.intersection(kernel.arg_names))


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    match target, value:
        case ast.Name(id=name), _:
            yield name, value
        case (ast.Tuple(elts=targets), ast.Tuple(elts=values)) if len(targets) == len(values):
            for one, other in zip(targets, values, strict=True):
                yield from _assigned(one, other)
        case _:
            return


def _addresses(tree: ast.AST, kernel: JITFunction, visited: frozenset[JITFunction]) -> Iterator[ast.expr]:
    """Yield what accesses, and parameters of called functions that are pointers, are given."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr=name), args=args, keywords=keywords) if _is_access(name):
                yield from args[:1]
                yield from (keyword.value for keyword in keywords if keyword.arg in ("pointer", "base"))
            case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords):
                callee = kernel.fn.__globals__.get(name)
                if isinstance(callee, JITFunction) and callee not in visited:
                    pointers = find_pointers(callee, visited)
                    yield from (value for name, value in zip(callee.arg_names, args, strict=False) if name in pointers)
                    yield from (keyword.value for keyword in keywords if keyword.arg in pointers)
            case _:
                pass


def _is_access(name: str) -> bool:
    return name in _ACCESSES or name.startswith("atomic_")


def _bases(address: ast.expr) -> Iterator[str]:
    """The names that an address may start from: the leftmost term of a sum, both sides of a choice."""
    match address:
        case ast.Name(id=name):
            yield name
        case ast.BinOp(op=ast.Add() | ast.Sub(), left=left):
            yield from _bases(left)
        case ast.IfExp(body=body, orelse=orelse):
            yield from _bases(body)
            yield from _bases(orelse)
        case ast.Call(func=ast.Attribute(value=value, attr="to")) | ast.Subscript(value=value):
            yield from _bases(value)
        case ast.Call(func=ast.Attribute(attr="make_block_ptr" | "advance"), args=[pointer, *_]):
            yield from _bases(pointer)
        case _:
            return
