"""Verification of a whole TritonGPU module: tensors have layouts that fit the module's warps, lanes and CTAs."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Attribute, Operation

from tilewright.dialects.tt.types import NO_ENCODING
from tilewright.dialects.ttg.encodings import DistributedEncoding
from tilewright.dialects.ttg.shared_encodings import SharedEncoding, find_shared_layout
from tilewright.dialects.ttg.types import MemDescType
from tilewright.dialects.ttg.warp_specialize import WarpSpecializeOp
from tilewright.dialects.types import is_tensor
from tilewright.ir.diagnostics import verify_error
from tilewright.ir.walking import ops_within
from tilewright.support.records import dataclass

NUM_WARPS = "ttg.num-warps"
NUM_CTAS = "ttg.num-ctas"
THREADS_PER_WARP = "ttg.threads-per-warp"
TARGET = "ttg.target"
MODULE_ONLY = (NUM_CTAS, THREADS_PER_WARP)
DEFAULT_THREADS_PER_WARP = 32


@dataclass(frozen=True)
class ProgramShape:
    """How many threads run a piece of code."""

    lanes: int
    warps: int
    blocks: int


def integer_attribute(op: Operation, name: str) -> int | None:
    """The value of an integer attribute of an op, None where it has none."""
    attribute = op.attributes.get(name)
    return attribute.value.data if isinstance(attribute, IntegerAttr) else None


def program_shape(module: Operation) -> ProgramShape | None:
    """Warps, lanes and CTAs that a module states; None where it is not a TritonGPU module."""
    warps = integer_attribute(module, NUM_WARPS)
    if warps is None:
        return None
    lanes = integer_attribute(module, THREADS_PER_WARP) or DEFAULT_THREADS_PER_WARP
    return ProgramShape(lanes, warps, integer_attribute(module, NUM_CTAS) or 1)


def warps_around(op: Operation, shape: ProgramShape) -> int:
    """The warps that run an op: those of its partition, or of its function, or of the module."""
    parent = op.parent_op()
    while parent is not None:
        if isinstance(parent, WarpSpecializeOp):
            region = _holding_region(parent, op)
            if region is not None:
                return parent.num_warps[region]
        own = integer_attribute(parent, NUM_WARPS)
        if own is not None:
            return own
        parent = parent.parent_op()
    return shape.warps


def warps_of_program(op: Operation) -> int:
    """The warps that run an op of a TritonGPU module."""
    module: Operation | None = op
    while module is not None and not _is_program(module):
        module = module.parent_op()
    shape = None if module is None else program_shape(module)
    assert shape is not None, "the module does not state 'ttg.num-warps'"
    return warps_around(op, shape)


def _is_program(op: Operation) -> bool:
    """Return whether an op is a module that states its warps."""
    return isinstance(op, ModuleOp) and NUM_WARPS in op.attributes


def _holding_region(specialized: WarpSpecializeOp, op: Operation) -> int | None:
    for index, region in enumerate(specialized.partitions):
        if region.is_ancestor(op):
            return index
    return None


def layout_problem(type: Attribute, lanes: int, warps: int, blocks: int) -> str | None:
    """Return what is wrong with the layout of a type in a program of that shape; None where all is well."""
    if isinstance(type, MemDescType):
        return _buffer_problem(type, blocks)
    if not is_tensor(type) or type.encoding == NO_ENCODING:
        return None
    encoding = type.encoding
    if isinstance(encoding, SharedEncoding):
        return "Non-distributed layout is not allowed in tensor type."
    if not isinstance(encoding, DistributedEncoding):
        return None
    return encoding.layout_error(len(type.get_shape()), lanes, warps, blocks)


def _buffer_problem(type: MemDescType, blocks: int) -> str | None:
    layout = find_shared_layout(type.encoding)
    if layout is None or (has := 1 << len(layout.cga)) == blocks:
        return None
    return f"Layout has {has} CTAs per CGA, but the context requires {blocks} CTAs per CGA."


def verify_layouts(module: Operation) -> None:
    """Raise `VerifyError` at the first op whose operand or result has a layout that does not fit the program.

    Modules nested in it that state their own warps are programs of their own.
    """
    shape = program_shape(module)
    if shape is None:
        return
    checked: dict[tuple[Attribute, int], str | None] = {}
    others = {
        id(op)
        for nested in ops_within(module)
        if nested is not module and _is_program(nested)
        for op in ops_within(nested)
    }
    for op in ops_within(module):
        if id(op) in others:
            continue
        if op is not module:
            for name in MODULE_ONLY:
                if name in op.attributes:
                    raise verify_error(op, f"has attribute {name}, which is expected only on `module` ops")
        values = [(f"Operand {i}", v) for i, v in enumerate(op.operands)]
        values += [(f"Result {i}", v) for i, v in enumerate(op.results)]
        if not values:
            continue
        warps = warps_around(op, shape)
        for name, value in values:
            key = (value.type, warps)
            if key not in checked:
                checked[key] = layout_problem(value.type, shape.lanes, warps, shape.blocks)
            problem = checked[key]
            if problem is not None:
                raise verify_error(op, f"{name} ({value.type}) has an invalid layout: {problem}")
