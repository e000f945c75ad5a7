"""Renders `docs/language.md` from the docstrings of the language and `examples.txt`.

`python -m tilewright.language.documentation > docs/language.md`
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from types import ModuleType
from typing import Any

from tilewright import language
from tilewright.language import (
    aggregates,
    arithmetic,
    atomics,
    casts,
    combining,
    creation,
    debugging,
    descriptors,
    dtypes,
    elementwise,
    inline,
    iteration,
    matmul,
    memory,
    random,
    shape,
    sorting,
    standard,
    target_info,
    values,
)
from tilewright.language.callables import JITCallable
from tilewright.language.extra import cuda, libdevice
from tilewright.language.registry import MEMBER_MARK, is_builtin
from tilewright.language.values import constexpr

SECTIONS: list[tuple[str, ModuleType]] = [
    ("Making values", creation),
    ("Arithmetic and selection", arithmetic),
    ("Conversions", casts),
    ("Element-wise mathematics", elementwise),
    ("Shapes", shape),
    ("Memory", memory),
    ("Tensor descriptors", descriptors),
    ("Atomic operations", atomics),
    ("Matmuls", matmul),
    ("Reductions, scans, maps", combining),
    ("Library functions", standard),
    ("Sorting", sorting),
    ("Random numbers", random),
    ("Loops", iteration),
    ("Records", aggregates),
    ("Debugging and hints", debugging),
    ("Assembly and device library", inline),
    ("Target", target_info),
]

INTRODUCTION = """\
# The kernel language

Generated from docstrings and `examples.txt` by `python -m tilewright.language.documentation`. A test keeps this page up
to date.

Everything below is `tl.<name>` after `import triton.language as tl`. Functions marked *method* can also be called on a
tensor: `x.sum(0)` is `tl.sum(x, 0)`.

## Differences from Triton

- `in` on compile-time values and lambdas are supported, and block pointers still are.
- The language is that of Triton 3.9. `TILEWRIGHT_TRITON_VERSION` (3.6 to 3.9) selects the version and the deprecations
  that programs see; using anything from a later version is then an error that says so.
- `and` and `or` on run-time scalars that are not int1 first compare them with zero; Triton reinterprets the bits.
- A loop over unsigned bounds compares unsigned.
- A loop variable that is read after its loop is undefined, as in Triton, but gives a warning. So does a function that
  returns a value on some paths only.
- `sort`, `topk`, and `flip` give Triton's results through different intermediate shapes.
- `inline_asm_elementwise` runs PTX on every target if its instructions treat each lane separately: arithmetic, logic,
  bit fields, conversions, comparisons, and moves. The rest of PTX (`shfl`, `ld`, special registers) needs a GPU, as do
  `tl.extra.cuda.globaltimer` and `smid`; on other targets it is a compile-time error.
"""


EXAMPLES = """\
Each entry ends with lines of a kernel that a test compiles and runs. `x_ptr` points to the float32 numbers 0, 1, ...,
63, and `i_ptr` to the same numbers as int32; there is one program. The comment after a line is its value.
"""

PYTHON = """\
## Python in a kernel

Supported: assignment to names and tuples of names, augmented assignment, `if`/`elif`/`else` (decided at compile time
if the condition is constant), conditional expressions, `for` over `range`, `tl.range`, and `tl.static_range`,
`while`, `return` at the top level of a function and in its `if`s, `assert`, `with`, calls of `@jit` functions with
defaults, keywords, and `*tuple`, tuples, named tuples, and records, list comprehensions over tuples, `:=`, chained
comparisons, lambdas, f-strings of constants, and the builtins `abs`, `bool`, `float`, `getattr`, `hasattr`, `int`,
`isinstance`, `len`, `list`, `max`, `min`, `print`, `range`, and `tuple`. Under `TILEWRIGHT_INTERPRET=1`, f-strings
accept run-time values, `print` is Python's own, and `breakpoint()` stops in the kernel with tiles as NumPy arrays.

A number assigned to a plain name becomes a run-time scalar. `name: tl.constexpr = ...` keeps it constant, and so does
an assignment after `name: tl.constexpr`. A function that returns the same constant on every path returns a constant.
Names from outside the kernel must be constants (`tl.constexpr(...)`), types, modules, or functions for kernels.

After a wrong statement, the following ones are still compiled in order to find more errors. The `CompilationError` is
that of the first, its `errors` lists all of them in the order found (at most ten), and its text shows them all.
Statements are not reported if they only read what a wrong statement would have assigned. A failed `tl.static_assert`
ends the compilation.

Not supported, each with an error that says what to do instead: `break`, `continue`, `return` in loops, nested
functions and classes, exceptions, dictionaries, sets, generators, and assignment to elements or attributes.

A function may call itself with other constants or other shapes, as long as this comes to an end; it may not call itself
with the same ones.
"""

_VALUES: list[tuple[str, Any]] = [
    ("constexpr", values.constexpr),
    ("tensor", values.tensor),
    ("tuple", values.tuple),
    ("pointer_type", dtypes.pointer_type),
    ("block_type", dtypes.block_type),
    ("constexpr_function", language.constexpr_function),
    ("core._aggregate", aggregates.aggregate),
]


def read_examples() -> dict[str, str]:
    """The lines of `examples.txt` by what they are an example of: `load`, `tensor_descriptor.load`."""
    text = files("tilewright.language").joinpath("examples.txt").read_text(encoding="utf-8")
    _, *parts = re.split(r"^\[([\w.]+)\]\n", text, flags=re.MULTILINE)
    return {name: lines.strip() for name, lines in zip(parts[::2], parts[1::2], strict=True)}


def _documented(name: str, value: Any) -> list[str]:
    """Return the text about a function or class, and its example. Raises KeyError where it has none."""
    return [inspect.cleandoc(value.__doc__ or "").strip(), "", "```python", _examples()[name], "```", ""]


_examples = cache(read_examples)


def _types() -> list[str]:
    lines = ["## Types and values", "", "| dtype | bits | in signatures | IR |", "|---|---|---|---|"]
    for name in dtypes.dtype.all_names():
        ty = dtypes.dtype(name)
        ir = "" if ty.is_void() else str(ty.to_ir())
        lines.append(f"| `tl.{ty.codegen_name()}` | {ty.primitive_bitwidth} | `{ty.mangle()}` | `{ir}` |")
    lines.append("")
    for name, value in _VALUES:
        lines += [f"### `tl.{name}`", "", *_documented(name, value)]
    return lines


def _owned_functions(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The public functions and classes that a module defines and the language exports, in the order of the source."""
    for name, value in vars(module).items():
        exported = module is inline or module is target_info or getattr(language, name, None) is value
        if name.startswith("_") or not exported:
            continue
        if _home(value) == module.__name__ and (
            is_builtin(value) or isinstance(value, JITCallable | type) or callable(value)
        ):
            yield name, value


def _home(value: Any) -> str:
    return getattr(getattr(value, "fn", value), "__module__", "")


def _signature(value: Any) -> str:
    """Parameters with their defaults; annotations say little in a kernel and are left out."""
    target: Callable[..., Any] = getattr(value, "fn", value)
    parts: list[str] = []
    keyword_only = False
    for parameter in inspect.signature(target).parameters.values():
        if parameter.name in ("self", "_semantic"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            if not any(part.startswith("*") for part in parts):
                parts.append("*")
        star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
        default = parameter.default
        if isinstance(default, constexpr):
            default = default.value
        shown = (
            str(default)
            if isinstance(default, elementwise.PropagateNan)
            else repr(default).replace("triton.language.", "tl.")
        )
        parts.append(f"{star}{parameter.name}" + ("" if default is parameter.empty else f"={shown}"))
    return ", ".join(parts)


def _entry(name: str, value: Any, prefix: str = "tl.") -> list[str]:
    mark = " *method*" if hasattr(value, MEMBER_MARK) else ""
    heading = f"### `{prefix}{name}({_signature(value)})`{mark}"
    return [heading, "", *_documented(f"{prefix}{name}".removeprefix("tl."), value)]


def _class_entry(name: str, cls: Any) -> list[str]:
    if issubclass(cls, elementwise.IntEnum):
        return [f"### `tl.{name}`", "", *_documented(name, cls)]
    lines = _entry(name, cls)
    for method in list(cls.__dict__):
        if not method.startswith("_") and is_builtin(getattr(cls, method)):
            lines += _entry(f"{name}.{method}", getattr(cls, method))
    return lines


def render() -> str:
    """The whole page."""
    lines = [INTRODUCTION, EXAMPLES, PYTHON, *_types()]
    for title, module in SECTIONS:
        lines += [f"## {title}", ""]
        summary = inspect.cleandoc(module.__doc__ or "")
        lines += [summary, ""]
        for name, value in _owned_functions(module):
            lines += _class_entry(name, value) if isinstance(value, type) else _entry(name, value)
    lines += ["## `tl.extra.cuda`", "", inspect.cleandoc(cuda.__doc__ or ""), ""]
    for name in cuda.__all__:
        if name != "libdevice":
            lines += _entry(name, getattr(cuda, name), "tl.extra.cuda.")
    lines += ["## `tl.extra.libdevice`", "", *_documented("extra.libdevice", libdevice)]
    lines += [f"- {getattr(libdevice, name).__doc__}" for name in libdevice.__all__]
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    sys.stdout.write(render())
