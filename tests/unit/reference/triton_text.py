"""Running kernels that are written as Triton IR."""

from __future__ import annotations

from typing import Any

from tilewright import reference
from tilewright.dialects import make_context
from tilewright.ir.parsing import parse_module


def launch(text: str, *arguments: Any, grid: tuple[int, ...] = (1,), **options: Any) -> reference.Machine:
    """Run the only kernel of a module over a grid."""
    module = parse_module(text, make_context())
    return reference.run_grid(module, reference.find_kernel(module), arguments, grid, **options)


def call(body: str, signature: str, results: str, *arguments: Any) -> list[Any]:
    """The results of a function: its body, `%a: i32, ...`, and the types that it returns (`%r` or `%r:n` are them)."""
    count = len(results.split(", "))
    names = "%r" if count == 1 else ", ".join(f"%r#{number}" for number in range(count))
    arrow = results if count == 1 else f"({results})"
    text = f"tt.func @f({signature}) -> {arrow} {{\n{body}\n  tt.return {names} : {results}\n}}"
    return list(reference.run_module(parse_module(text, make_context()), "f", arguments))
