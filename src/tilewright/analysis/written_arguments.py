"""The pointer arguments of a kernel that may be stored to.

A launcher uses it to refuse read-only arrays before anything runs. The analysis is forward and flow-insensitive: each
pointer value carries the set of kernel arguments that it may derive from, through address arithmetic, control flow and
calls, until nothing changes. An address of unknown origin (from an integer, or loaded from memory) belongs to no
argument.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import accumulate

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects import scf, tt, ttg, ttng
from tilewright.dialects.ttng.pixels import slots_of
from tilewright.ir.walking import find_ops, ops_within

WRITERS = (
    tt.StoreOp,
    tt.AtomicRMWOp,
    tt.AtomicCASOp,
    tt.AtomicStoreOp,
    tt.DescriptorStoreOp,
    tt.DescriptorReduceOp,
    tt.DescriptorScatterOp,
    ttng.AsyncTMACopyLocalToGlobalOp,
    ttng.AsyncTMAReduceOp,
    ttng.AsyncTMAScatterOp,
)

ASSEMBLY = (tt.ElementwiseInlineAsmOp, ttg.InlineAsmOp)
"""What may write through any pointer that it is given, unless it is pure."""

Edges = Iterable[tuple[SSAValue, SSAValue]]


def find_written_arguments(module: ModuleOp) -> frozenset[int]:
    """The launch slots that some store or atomic of the kernel (the first public function) may write through.

    An argument takes one slot; a tensor descriptor that is still an argument takes that of its base, and those of its
    extents, strides and padding.
    """
    kernel = find_kernel(module)
    if kernel is None:
        return frozenset()
    functions = {op.sym_name.data: op for op in find_ops(module, tt.FuncOp)}
    targets: dict[SSAValue, list[SSAValue]] = defaultdict(list)
    for op in ops_within(module):
        for source, target in edges_of(op, functions):
            if holds_pointer(source.type) and holds_pointer(target.type):
                targets[source].append(target)
    stored_through = {op.operands[0] for op in find_ops(module, *WRITERS)}
    for op in find_ops(module, *ASSEMBLY):
        stored_through.update(() if op.pure.value.data else op.args)
    pointers = pointers_by_slot(kernel)
    return frozenset(slot for slot, argument in pointers.items() if _reaches(argument, targets, stored_through))


def find_kernel(module: ModuleOp) -> tt.FuncOp | None:
    """Return the function that is launched: the first one that is public and has a body."""
    functions = find_ops(module, tt.FuncOp)
    return next((op for op in functions if op.is_public and not op.is_declaration), None)


def pointers_by_slot(kernel: tt.FuncOp) -> dict[int, SSAValue]:
    """The arguments that hold pointers, by their first launch slot."""
    arguments = kernel.body.blocks[0].args
    attributes = [None] * len(arguments) if kernel.arg_attrs is None else kernel.arg_attrs.data
    slots = (slots_of(argument.type, given) for argument, given in zip(arguments, attributes, strict=True))
    first_slots = accumulate(slots, initial=0)
    return {
        slot: argument for slot, argument in zip(first_slots, arguments, strict=False) if holds_pointer(argument.type)
    }


def _reaches(start: SSAValue, targets: dict[SSAValue, list[SSAValue]], goals: set[SSAValue]) -> bool:
    seen = {start}
    pending = [start]
    while pending:
        value = pending.pop()
        if value in goals:
            return True
        for target in targets.get(value, ()):
            if target not in seen:
                seen.add(target)
                pending.append(target)
    return False


def holds_pointer(kind: Attribute) -> bool:
    if isinstance(kind, TensorType):
        return isinstance(kind.get_element_type(), tt.PointerType)
    return isinstance(kind, tt.PointerType | tt.TensorDescType | ttng.TensorDescIm2ColType)


def edges_of(op: Operation, functions: dict[str, tt.FuncOp]) -> Edges:
    """Pairs (source, target): whatever the source may point to, the target may point to as well."""
    match op:
        case scf.ForOp():
            return _parallel(op.iter_args, op.body.block.args[1:], op.results)
        case scf.WhileOp():
            return _parallel(op.operands, op.before_region.block.args)
        case scf.ConditionOp():
            loop = op.parent_op()
            assert isinstance(loop, scf.WhileOp)
            return _parallel(op.operands[1:], loop.after_region.block.args, loop.results)
        case scf.YieldOp():
            return _yield_edges(op)
        case tt.LoadOp() | tt.AtomicRMWOp() | tt.AtomicCASOp() | tt.AtomicLoadOp():
            return ()  # what is loaded points to where nobody knows
        case tt.CallOp() if (callee := functions.get(op.callee.string_value())) is not None:
            if callee.is_declaration:  # what a kernel calls in Python: it shows values and writes nothing
                return []
            returned = [r for r in ops_within(callee) if isinstance(r, tt.ReturnOp)]
            results = [pair for r in returned for pair in _parallel(r.operands, op.results)]
            return [*_parallel(op.operands, callee.body.blocks[0].args), *results]
        case _ if op.successors:
            arguments = [argument for block in op.successors for argument in block.args]
            return [(operand, argument) for operand in op.operands for argument in arguments]
        case _:
            return [(operand, result) for operand in op.operands for result in op.results]


def _yield_edges(op: scf.YieldOp) -> Edges:
    parent = op.parent_op()
    match parent:
        case None:
            return ()
        case scf.ForOp():
            return _parallel(op.operands, parent.body.block.args[1:], parent.results)
        case scf.WhileOp():
            return _parallel(op.operands, parent.before_region.block.args)
        case _:
            return _parallel(op.operands, parent.results)


def _parallel(sources: Iterable[SSAValue], *targets: Iterable[SSAValue]) -> list[tuple[SSAValue, SSAValue]]:
    listed = list(sources)
    return [pair for group in targets for pair in zip(listed, group, strict=True)]
