"""The stages that a module goes through, and the check that ends every lowering: only what the stage allows is left.

| stage      | `kernel.asm` key | what it is                                                         |
|------------|------------------|--------------------------------------------------------------------|
| tt         | ttir             | Triton IR                                                          |
| structured | structured       | pointers described by tts, or left alone where not understood      |
| linalg     | linalg           | tensors and memrefs; unmodified mlir-opt lowers it                 |
| loops      | loops            | bufferised and vectorised                                          |
| ttg        | ttgir            | TritonGPU IR: tensors with layouts                                 |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from xdsl.dialects.builtin import ModuleOp, NoneAttr, TensorType, UnregisteredOp
from xdsl.ir import Operation

from tilewright.ir.diagnostics import op_name, op_place
from tilewright.ir.printing import print_attribute
from tilewright.ir.walking import ops_within
from tilewright.support.errors import StageContractError
from tilewright.support.records import dataclass

Fact = Callable[[Operation], str | None]
"""A check of one op: None when it holds, else what is wrong."""


@dataclass(frozen=True)
class Stage:
    """Which dialects and ops a module may hold at a point of the pipeline, and what is true of each op."""

    name: str
    asm_key: str
    dialects: frozenset[str]
    ops: frozenset[str] = frozenset()
    """Single ops of other dialects that are legal too."""
    facts: tuple[Fact, ...] = ()

    def allows(self, name: str) -> bool:
        """Return whether an op of this name is legal."""
        return name.partition(".")[0] in self.dialects or name in self.ops

    def derive(self, name: str, asm_key: str, *, dialects: Iterable[str] = ()) -> Stage:
        """A stage that allows more dialects."""
        return Stage(name, asm_key, self.dialects | set(dialects), self.ops, self.facts)


def has_no_tensor_encoding(op: Operation) -> str | None:
    """Before layouts are assigned, no tensor carries one."""
    for value in (*op.results, *op.operands):
        type: Any = value.type
        if isinstance(type, TensorType) and not isinstance(type.encoding, NoneAttr):
            return f"has a tensor with a layout: {print_attribute(type.encoding)}"
    return None


def has_tensor_encoding(op: Operation) -> str | None:
    """Once layouts are assigned, every tensor carries one."""
    for value in (*op.results, *op.operands):
        type: Any = value.type
        if isinstance(type, TensorType) and isinstance(type.encoding, NoneAttr):
            return "has a tensor without a layout"
    return None


def has_no_tensor(op: Operation) -> str | None:
    """After bufferisation, no value is a tensor."""
    for value in (*op.results, *op.operands):
        if value.type.name == TensorType.name:
            return f"still has a value of type {print_attribute(value.type)}"
    return None


TT = Stage(
    "tt",
    "ttir",
    frozenset({"builtin", "tt", "arith", "math", "scf", "cf", "ub"}),
    frozenset({"llvm.intr.assume", "gpu.barrier", "memref.alloca", "memref.cast"}),
    (has_no_tensor_encoding,),
)
STRUCTURED = TT.derive("structured", "structured", dialects=("tts", "ttx", "tensor"))
LINALG = Stage(
    "linalg",
    "linalg",
    frozenset(
        {"builtin", "func", "linalg", "tensor", "memref", "bufferization", "scf", "cf", "arith", "math", "ub", "affine"}
    ),
    frozenset({"llvm.intr.assume", "gpu.barrier"}),
    (has_no_tensor_encoding,),
)
LOOPS = Stage(
    "loops",
    "loops",
    frozenset({"builtin", "func", "scf", "cf", "memref", "vector", "arith", "math", "ub"}),
    frozenset({"llvm.intr.assume"}),
    (has_no_tensor,),
)
TTG = Stage("ttg", "ttgir", TT.dialects | {"ttg", "ttng"}, TT.ops, (has_tensor_encoding,))

STAGES: dict[str, Stage] = {stage.name: stage for stage in (TT, STRUCTURED, LINALG, LOOPS, TTG)}
"""All stages by name: the CPU's in pipeline order, then what GPUs have after tt. Targets with further stages add theirs
through `register_stage`."""


def register_stage(stage: Stage) -> Stage:
    """Add a stage; its name must be new."""
    if STAGES.setdefault(stage.name, stage) is not stage:
        raise ValueError(f"stage '{stage.name}' is registered already")
    return stage


def check_stage(module: ModuleOp, stage: Stage, *, pass_name: str = "") -> None:
    """Raise `StageContractError` at the first op that the stage does not allow, or of which a fact does not hold.

    Legality is looked up once per op class, so the check costs about a microsecond per op.
    """
    legal: dict[type[Operation], bool] = {}
    for op in ops_within(module):
        cls = type(op)
        allowed = legal.get(cls)
        if allowed is None or isinstance(op, UnregisteredOp):
            allowed = legal[cls] = stage.allows(op_name(op))
        if not allowed:
            raise _broken(op, f"is not legal in stage '{stage.name}'", pass_name)
        for fact in stage.facts:
            wrong = fact(op)
            if wrong is not None:
                raise _broken(op, f"{wrong}, which stage '{stage.name}' rules out", pass_name)


def _broken(op: Operation, reason: str, pass_name: str) -> StageContractError:
    return StageContractError(reason, pass_name=pass_name, op_name=op_name(op), location=op_place(op))
