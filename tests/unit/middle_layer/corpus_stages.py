"""The corpus of kernels and the examples at the stages of the middle layer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import corpus_oracle
import example_kernels
from xdsl.dialects.builtin import ModuleOp

from tilewright.ir.passes import PassContext, parse_pipeline
from tilewright.ir.remark_kinds import RemarkKind

ROOT = Path(__file__).parents[3]

PREPARE = "inline,canonicalize,cse,canonicalize,symbol-dce,triton-rewrite-tensor-descriptor-to-pointer,canonicalize,cse"
TO_STRUCTURED = "triton-expand-atomics,triton-to-structured,cse,canonicalize,triton-to-unstructured"


EXAMPLES = "examples"
FILES = (*corpus_oracle.files(), EXAMPLES)
"""What is lowered together: the files of the corpus, and the examples."""


@dataclass(frozen=True)
class Stages:
    """One kernel at the three stages of the middle layer, and what the passes remarked."""

    name: str
    tt: ModuleOp
    structured: ModuleOp
    linalg: ModuleOp
    remarks: tuple[str, ...]

    @property
    def left(self) -> set[str]:
        """Ops of the linalg stage that do not belong there."""
        return {op.name for op in self.linalg.walk() if op.name.startswith(("tt.", "tts."))}


def lowered(name: str, module: ModuleOp) -> Stages:
    """A module of the front end through the middle layer."""
    context = PassContext()
    parse_pipeline(PREPARE).run(module, context)
    structured, linalg = module.clone(), module.clone()
    parse_pipeline(TO_STRUCTURED).run(structured, context)
    parse_pipeline("triton-to-linalg").run(linalg, context)
    # Descriptors are pointers on the CPU: nothing is lost by that.
    remarks = tuple(str(remark) for remark in context.remarks if remark.kind is not RemarkKind.NOT_TMA)
    return Stages(name, module, structured, linalg, remarks)


@cache
def stages_of(file: str) -> list[Stages]:
    """Every case of a file of the corpus, or every example."""
    if file == EXAMPLES:
        return [lowered(name, module) for name, module in example_kernels.modules(ROOT / "examples")]
    cases = [case for case in corpus_oracle.cases() if case.file == file]
    return [lowered(str(case), corpus_oracle.our_module(case)) for case in cases]


def all_stages() -> Iterator[Stages]:
    """Every case of the corpus and every example."""
    for file in FILES:
        yield from stages_of(file)
