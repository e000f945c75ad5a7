"""Anchors of pipelines: in `builtin.module(cse,func.func(canonicalize))` the second pass sees `func.func` ops alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.traits import IsolatedFromAbove

from tilewright.ir.detaching import detached
from tilewright.ir.options import format_all_options
from tilewright.ir.passes import Pass, PassContext, PassPipeline, run_on_modules
from tilewright.support.errors import PipelineError
from tilewright.support.late import modules_of
from tilewright.support.records import dataclass

ROOTS = ("builtin.module", "any")
"""Anchors of the module that a pipeline runs on."""


@dataclass
class NestedPass(Pass):
    """Runs a pass on the ops of one name directly below the module; everything else is put aside meanwhile."""

    is_nested = True

    anchor: str
    inner: Pass

    def __post_init__(self) -> None:
        self.name = self.inner.name  # pyright: ignore[reportAttributeAccessIssue] (what instruments print)

    def spelling(self) -> str:
        return f"{self.anchor}({self.inner.spelling()})"

    def targets(self, module: ModuleOp) -> list[Operation]:
        """The ops that the pass sees."""
        return [op for op in module.ops if op.name == self.anchor]

    def run(self, module: ModuleOp, context: PassContext) -> None:
        targets = self.targets(module)
        if self.anchor == ModuleOp.name:
            for inner in targets:
                assert isinstance(inner, ModuleOp)
                run_on_modules(self.inner, inner, context)
        elif targets:
            with detached(module.body.block, [op for op in module.ops if op.name != self.anchor]):
                self.inner.run(module, context)


def anchor_passes(anchors: tuple[str, ...], passes: list[Pass]) -> list[Pass]:
    """Passes below anchors, the outermost first. Raises `PipelineError` for what no pass can be anchored at."""
    for anchor in anchors:
        check_anchor(anchor)
    inner = anchors[1:] if anchors and anchors[0] in ROOTS else anchors
    for anchor in reversed(inner):
        passes = [NestedPass(anchor, pass_) for pass_ in passes] if anchor != "any" else passes
    return passes


def check_anchor(name: str) -> None:
    """Raise `PipelineError` unless an op of this name exists, and passes can run on it alone."""
    if name in ROOTS:
        return
    (dialects,) = modules_of("dialects")
    found = dialects.make_context().get_optional_op(name)
    if found is None:
        raise PipelineError(f"unknown op '{name}' in the pipeline; passes run on builtin.module, func.func or tt.func")
    if not found.has_trait(IsolatedFromAbove):
        raise PipelineError(f"no pass can run on '{name}' alone: values from outside are used in it")


def render_pipeline(pipeline: PassPipeline) -> str:
    """The passes with all of their options, one a line, as ``--dump-pass-pipeline`` shows them."""
    entries = ",\n".join(_rendered(pipeline.passes, "  "))
    return f"Pass Manager with {len(pipeline.passes)} passes:\nbuiltin.module(\n{entries}\n)\n"


def _rendered(passes: Sequence[Pass], indent: str) -> Iterator[str]:
    for anchor, group in groupby(passes, lambda pass_: pass_.anchor if isinstance(pass_, NestedPass) else ""):
        if anchor:
            inner = [pass_.inner for pass_ in group if isinstance(pass_, NestedPass)]
            entries = ",\n".join(_rendered(inner, indent + "  "))
            yield f"{indent}{anchor}(\n{entries}\n{indent})"
            continue
        for pass_ in group:
            options = format_all_options(pass_)
            yield f"{indent}{pass_.name}{f'{{{options}}}' if options else ''}"
