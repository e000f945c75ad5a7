"""Renders `docs/passes.md` from docstrings: `python -m tilewright.tools.pass_page > docs/passes.md`."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterable, Sequence
from textwrap import wrap

from tilewright.ir.options import options_of_callable, options_of_dataclass
from tilewright.ir.passes import Pass, PassPipeline, available_passes, available_pipelines
from tilewright.lowering.tt_to_ttg.pipeline import make_ttgir
from tilewright.targets.cpu import pipeline as cpu
from tilewright.targets.cuda import pipeline as cuda
from tilewright.tools.arguments import describe_flags

INTRODUCTION = """\
# Passes

Generated from the docstrings by `python -m tilewright.tools.pass_page`; a test keeps it up to date.

Each pass runs alone, and passes run in the order in which they are given, here the second one with an option:

```sh
tilewright-opt kernel.mlir --cse --tritongpu-pipeline="num-stages=4"
```

IR below is abridged: `...` stands for types and ops that do not matter, and the body of an op is sometimes described
in words.

## The command

```
{usage}```
"""

SECTIONS: list[tuple[str, str, tuple[str, ...]]] = [
    ("Any stage", "Clean-up that every stage uses.", ("transforms.common",)),
    (
        "Triton IR",
        "From the front end's output to what back ends start from.",
        ("transforms.tt", "transforms.inline_ptx"),
    ),
    (
        "Triton IR to linalg",
        "The middle layer, see [middle-layer.md](middle-layer.md).",
        (
            "lowering.tt_to_structured",
            "lowering.tt_to_unstructured",
            "lowering.arith_to_linalg",
            "lowering.structured_to_memref",
            "lowering.unstructured_to_memref",
            "lowering.ptr_to_memref",
        ),
    ),
    ("Checks", "What `TILEWRIGHT_SANITIZE` adds, see [correctness.md](correctness.md).", ("transforms.sanitize",)),
    ("linalg", "Fewer loops over fewer buffers.", ("transforms.linalg", "lowering.linalg_matmuls")),
    (
        "linalg to loops",
        "The CPU's own lowering, and the baseline (`TILEWRIGHT_OPT=0`): `one-shot-bufferize`, "
        "`convert-linalg-to-loops`.",
        ("lowering.linalg_to_loops", "lowering.convert_linalg_to_loops"),
    ),
    ("Gluon to Triton IR", "Kernels in Gluon on the CPU.", ("lowering.ttg_to_tt",)),
    ("Triton IR to TritonGPU IR", "Tensors get layouts.", ("lowering.tt_to_ttg",)),
    ("TritonGPU IR", "Layouts, matmuls, pipelines, shared memory.", ("transforms.ttg",)),
]
"""Title, what the passes are for, and the packages that they come from."""


def render() -> str:
    """The page."""
    lines = [INTRODUCTION.format(usage=describe_flags())]
    for title, purpose, packages in SECTIONS:
        lines += [f"## {title}", "", purpose, ""]
        for cls in passes_of(packages):
            lines += _pass_lines(cls)
    return "\n".join([*lines, *_pipelines()])


def passes_of(packages: Iterable[str]) -> list[type[Pass]]:
    """The passes that packages define: by package, then by name."""
    passes = available_passes().values()
    return [cls for package in packages for cls in passes if f"{cls.__module__}.".startswith(f"tilewright.{package}.")]


def _pass_lines(cls: type[Pass]) -> list[str]:
    lines = [f"### `--{cls.name}`", "", _markdown(cls), ""]
    options, documented = options_of_dataclass(cls), _field_docs(cls)
    lines += [f"- `{option.flag}: {option.describe()}`. {documented[option.field_name]}" for option in options]
    return [*lines, ""] if options else lines


def _markdown(documented: object) -> str:
    """A docstring, with fenced blocks set off."""
    text = re.sub(r"(?<!`)``(?!`)", "`", inspect.cleandoc(documented.__doc__ or ""))
    return re.sub(r"(?<=\S)\n(?=```mlir)|(?<=\n```)\n(?=\S)", "\n\n", text)


def _field_docs(cls: type) -> dict[str, str]:
    """Return what the strings below the fields of a class say, each as one line."""
    (definition,) = ast.parse(inspect.cleandoc("\n" + inspect.getsource(cls))).body
    assert isinstance(definition, ast.ClassDef)
    found: dict[str, str] = {}
    for field, below in zip(definition.body, definition.body[1:], strict=False):
        match field, below:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                found[name] = " ".join(text.split())
            case _:
                pass
    return found


def _pipelines() -> list[str]:
    lines = ["## Pipelines", "", "Lists of passes that run under one name, with `tilewright-opt` like a pass.", ""]
    for name, builder in available_pipelines().items():
        lines += [f"### `--{name}`", "", _markdown(builder), ""]
        lines += [f"- `{option.flag}: {option.describe()}`" for option in options_of_callable(builder)]
        lines += [""]
    lines += ["## What a launch runs", "", "On the CPU, stage by stage:", ""]
    lines += [line for stage, passes in cpu.stages() for line in _stage_lines(stage, passes)]
    for capability in (80, 90):
        lines += ["", f"On a GPU of compute capability {capability / 10}, after its `ttir`:", ""]
        lines += _stage_lines("ttgir", make_ttgir(target=f"cuda:{capability}"))
    lines += ["", "and before the lowering to LLVM:", "", *_stage_lines("memory", cuda.memory_passes())]
    return [*lines, ""]


def _stage_lines(stage: str, passes: Sequence[Pass]) -> list[str]:
    spelled = " ".join(PassPipeline([pass_]).spelling().replace(" ", "\0") for pass_ in passes)
    text = f"- `{stage}`: " + ", ".join(f"`{word}`" for word in spelled.split())
    rows = wrap(text, 118, subsequent_indent="  ", break_on_hyphens=False)
    return [row.replace("\0", " ") for row in rows]


if __name__ == "__main__":
    sys.stdout.write(render())
