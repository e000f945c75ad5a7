"""A pass of one stage refuses a module of another, by name, before it touches it.

A pass states its stages in `Pass.takes`; most do by the package they are in. Production pipelines are fixed lists that
their stage contracts cover, so the guard is an instrument that tilewright-opt and the runs of passes (`tools/fuzzing`)
add, at no cost there.
"""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp, UnregisteredOp
from xdsl.ir import Operation

from tilewright.ir.diagnostics import op_name, op_place
from tilewright.ir.nesting import NestedPass
from tilewright.ir.passes import Instrument, Pass
from tilewright.ir.stages import LINALG, STAGES, TTG, Stage
from tilewright.ir.walking import ops_within
from tilewright.support.errors import StageContractError
from tilewright.support.records import dataclass

BETWEEN = {
    "gluon": TTG.derive("gluon", "ttgir", dialects=("gluon",)),
    "linalg_ext": LINALG.derive("linalg_ext", "linalg", dialects=("linalg_ext",)),
    "open_ttg": replace(TTG, name="open_ttg", facts=()),
    "tptr": LINALG.derive("tptr", "linalg", dialects=("tptr",)),
}
"""What modules are on their way to a stage or from one to the next: Gluon's, as its front end leaves them, the CPU's,
between its passes from linalg to loops, those of `triton-to-ptr`, and modules written by hand for a pass that asks for
no layout but that of shared memory: their tensors may have none (`open_ttg`)."""

MIDDLE_LAYER = ("tt", "structured", "linalg")
PACKAGES: dict[str, tuple[str, ...]] = {
    "transforms.tt": ("tt", "structured", "ttg"),
    "transforms.inline_ptx": ("tt", "structured", "ttg"),
    "transforms.sanitize": MIDDLE_LAYER,
    "transforms.linalg": (*MIDDLE_LAYER, "linalg_ext"),
    "transforms.ttg": ("ttg",),
    "lowering.tt_to_structured": MIDDLE_LAYER,
    "lowering.tt_to_unstructured": MIDDLE_LAYER,
    "lowering.arith_to_linalg": MIDDLE_LAYER,
    "lowering.structured_to_memref": MIDDLE_LAYER,
    "lowering.unstructured_to_memref": MIDDLE_LAYER,
    "lowering.ptr_to_memref": (*MIDDLE_LAYER, "tptr"),
    "lowering.convert_linalg_to_loops": ("linalg", "loops"),
    "lowering.linalg_matmuls": ("linalg", "linalg_ext"),
    "lowering.linalg_to_loops": ("linalg", "linalg_ext"),
    "lowering.tt_to_ttg": ("tt",),
}
"""The stages that the passes of a package take; the passes of other packages take all."""

_ADVICE = {("tt", "ttg"): ": run convert-triton-to-tritongpu first"}
"""What makes a module of the second stage of one of the first."""

_SHARED = frozenset({"builtin", "func", "scf", "cf", "arith", "math", "ub", "llvm", "gpu"})
"""Dialects that say nothing about the stage. Before a module is complete its functions may be of either dialect."""


def stages_of(cls: type[Pass]) -> tuple[Stage, ...]:
    """The stages whose modules a pass takes; none for a pass that takes every module."""
    names = cls.takes
    if not names:
        path = f"{cls.__module__}."
        names = next((stages for name, stages in PACKAGES.items() if path.startswith(f"tilewright.{name}.")), ())
    return tuple(BETWEEN.get(name) or STAGES[name] for name in names)


def refuse_other_stages(pass_: Pass, module: Operation) -> None:
    """Raise `StageContractError` at the first op that belongs to none of the stages that a pass takes."""
    stages = stages_of(type(pass_))
    if not stages:
        return
    for op in ops_within(module):
        reasons = [_why_not(op, stage) for stage in stages]
        if None not in reasons:
            wanted = " or ".join(f"'{stage.name}'" for stage in stages)
            reason = f"{reasons[0]}: the pass takes modules of stage {wanted}"
            other = next((stage.name for stage in STAGES.values() if _why_not(op, stage) is None), "")
            reason += f", this is one of stage '{other}'" if other else ""
            reason += _ADVICE.get((other, stages[-1].name), "")
            raise StageContractError(reason, pass_name=pass_.name, op_name=op_name(op), location=op_place(op))


def _why_not(op: Operation, stage: Stage) -> str | None:
    """Return why an op cannot be in a module of a stage; ops of no known dialect can be in all."""
    name = op_name(op)
    known = not isinstance(op, UnregisteredOp) and name.partition(".")[0] not in _SHARED
    if known and not stage.allows(name):
        return "is of another stage"
    return next((wrong for fact in stage.facts if (wrong := fact(op)) is not None), None)


@dataclass
class StageGuard(Instrument):
    """Before each pass, refuse a module that it does not take."""

    def before_pass(self, index: int, pass_: Pass, module: ModuleOp) -> None:
        if not isinstance(pass_, NestedPass):
            refuse_other_stages(pass_, module)
            return
        for op in pass_.targets(module):
            refuse_other_stages(pass_.inner, op)
