"""The corpus of kernels, compiled by our front end and by the official one, both brought to a common form.

A corpus file is an ordinary Triton script (`import triton`, `import triton.language as tl`) that ends with a list
`CASES` of `(kernel, "argument types and constants")`. It is loaded once with tilewright standing in for Triton and
once with the official package, if that is installed.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
import types
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tilewright import compat
from tilewright.dialects import make_context
from tilewright.frontend import compile_to_tt
from tilewright.ir.parsing import parse_module
from tilewright.ir.passes import PassContext, parse_pipeline
from tilewright.language.dtypes import dtype

CORPUS = Path(__file__).parent / "corpus"
EXAMPLES = Path(__file__).parents[2] / "examples"
INTEGERS = ("i32", "i64", "u32", "u64")


@dataclass(frozen=True)
class Case:
    """One kernel of the corpus, or of a file such as `examples/matmul`, with the arguments it is compiled for."""

    file: str
    kernel: str
    number: int
    """Its place in `CASES`, -1 where a file has none."""
    arguments: str

    def __str__(self) -> str:
        return f"{self.file}:{self.kernel}:{self.number}"


def _execute(file: str, provider: str) -> types.ModuleType:
    name = f"corpus_{provider}_{file.replace('/', '_')}"
    folder, _, stem = file.rpartition("/")
    spec = importlib.util.spec_from_file_location(name, (EXAMPLES if folder else CORPUS) / f"{stem}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@cache
def load(file: str, provider: str) -> types.ModuleType:
    """A corpus file executed with `triton` meaning the official package or tilewright."""
    if provider == "tilewright":
        with compat.standing_in():
            return _execute(file, provider)
    return _execute(file, provider)


def kernel_of(case: Case, provider: str) -> Any:
    """The kernel of a case, an official one or ours."""
    module = load(case.file, provider)
    return module.CASES[case.number][0] if case.number >= 0 else getattr(module, case.kernel)


def files() -> list[str]:
    return sorted(path.stem for path in CORPUS.glob("*.py") if not path.stem.startswith("_"))


def cases() -> list[Case]:
    """Every case of the corpus."""
    found: list[Case] = []
    for file in files():
        for number, (kernel, arguments) in enumerate(load(file, "tilewright").CASES):
            found.append(Case(file, kernel.fn.__name__, number, arguments))
    return found


def aligned(case: Case) -> Case:
    """The case with all pointers and integers divisible by 16, as they are in most launches of real programs."""
    words = [
        f"{word}:16" if word in INTEGERS or re.fullmatch(r"\*\w+", word) else word for word in case.arguments.split()
    ]
    return replace(case, arguments=" ".join(words))


def is_official_available() -> bool:
    return importlib.util.find_spec("triton") is not None


def is_known_to_official(file: str) -> bool:
    """Can the official package in this process execute a file? Older ones lack what came later."""
    try:
        load(file, "official")
    except (AttributeError, ImportError):
        return False
    return True


def arguments_of(
    case: Case, provider: str
) -> tuple[dict[str, Any], dict[tuple[int, ...], Any], dict[tuple[int, ...], Any]]:
    """Signature, constants and attributes: `*fp32:16` is a pointer divisible by 16, `=4` a constant, `(i32,=2)` a
    tuple.

    A constant is a Python literal, or `=@name` for an attribute of `triton.language` or of the corpus file.
    """
    module, kernel = load(case.file, provider), kernel_of(case, provider)
    signature: dict[str, Any] = {}
    constants: dict[tuple[int, ...], Any] = {}
    attrs: dict[tuple[int, ...], Any] = {}
    for position, (name, token) in enumerate(zip(kernel.arg_names, case.arguments.split(), strict=True)):
        signature[name] = _argument(token, (position,), constants, attrs, module)
    return signature, constants, attrs


def _argument(token: str, path: tuple[int, ...], constants: Any, attrs: Any, module: types.ModuleType) -> Any:
    if token.startswith("("):
        parts = token[1:-1].split(",")
        return tuple(_argument(part, (*path, i), constants, attrs, module) for i, part in enumerate(parts))
    if token.startswith("=@"):
        name = token[2:]
        constants[path] = getattr(module, name) if hasattr(module, name) else getattr(module.tl, name)
        return "constexpr"
    if token.startswith("="):
        constants[path] = ast.literal_eval(token[1:])
        return "constexpr"
    kind, _, divisibility = token.partition(":")
    if divisibility:
        attrs[path] = [["tt.divisibility", int(divisibility)]]
    return kind.replace(";", ",")


def our_module(case: Case) -> ModuleOp:
    """The `tt` module of our front end."""
    signature, constants, attrs = arguments_of(case, "tilewright")
    kernel = kernel_of(case, "tilewright")
    return compile_to_tt(kernel, signature, constants, {k: dict(v) for k, v in attrs.items()})


def official_text(case: Case) -> str:
    """The module of the official front end, as text without locations."""
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.compiler.compiler import make_backend

    signature, constants, attrs = arguments_of(case, "official")
    kernel = kernel_of(case, "official")
    target = GPUTarget("cuda", 90, 32)
    backend = make_backend(target)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    options = backend.parse_options({})
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=attrs)
    module = source.make_ir(
        target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context
    )
    return module.str_nodebug()


def cleaned(module: ModuleOp) -> ModuleOp:
    """The module after inlining and clean-up, by the same passes for both front ends."""
    parse_pipeline("inline,canonicalize,cse,canonicalize,symbol-dce").run(module, PassContext())
    return module


def op_counts(module: ModuleOp) -> Counter[str]:
    """How many ops of each kind the kernel has."""
    return Counter(op.name for op in module.walk() if op.name != "builtin.module")


def official_module(text: str) -> ModuleOp:
    """The module of a text of the official front end's."""
    return parse_module(text, make_context())


__all__ = ["Case", "cases", "cleaned", "dtype", "official_module", "op_counts", "our_module"]
