"""tt.map_elementwise: a scalar function with control flow of its own, applied to groups of registers."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr

from tilewright.codegen.llvm_text import Phi
from tilewright.dialects import tt
from tilewright.lowering.control_flow import reverse_postorder
from tilewright.lowering.ttg_to_llvm.function_lowering import GpuFunctionLowering, lowers


@lowers(tt.MapElementwiseOp)
def lower_map_elementwise(op: tt.MapElementwiseOp, fn: GpuFunctionLowering) -> None:
    """The region is written once per group of `pack` registers; a block of it may be run by some threads only."""
    assert isinstance(op.pack, IntegerAttr)
    pack = op.pack.value.data
    columns = [fn.registers(source) for source in op.srcs]
    results: list[list[str]] = [[] for _ in op.result]
    made: dict[tuple[str, ...], list[str]] = {}
    for start in range(0, len(columns[0]), pack):
        operands = tuple(register for column in columns for register in column[start : start + pack])
        outputs = made.get(operands)
        if outputs is None:
            outputs = made[operands] = _apply(op, fn, operands)
        for index, result in enumerate(results):
            result += outputs[index * pack : (index + 1) * pack]
    for value, registers in zip(op.result, results, strict=True):
        fn.set_like(value, registers)


def _apply(op: tt.MapElementwiseOp, fn: GpuFunctionLowering, operands: tuple[str, ...]) -> list[str]:
    """The region on one group; its returns meet in one block."""
    entry = op.scalar_op.blocks.first
    assert entry is not None
    text = fn.text
    for argument, operand in zip(entry.args, operands, strict=True):
        fn.set(argument, operand)
    blocks = reverse_postorder(entry)
    for block in blocks[1:]:
        fn.labels[block] = text.new_label("map")
        fn.block_phis[block] = fn.detached_phis(argument.type for argument in block.args)
    done = text.new_label("mapped") if len(blocks) > 1 else ""
    merged: list[Phi] = []
    returned: list[str] = []
    for block in blocks:
        if block is not entry:
            text.start(fn.labels[block])
            text.place_phis(fn.block_phis[block])
            fn.bind_phis(block.args, fn.block_phis[block])
        fn.lower_block(block)
        last = block.last_op
        if isinstance(last, tt.MapElementwiseReturnOp):
            pairs = fn.flat_all(last.operands)
            returned = [operand for _, operand in pairs]
            if done:
                merged = merged or [text.detached_phi(type) for type, _ in pairs]
                for phi, operand in zip(merged, returned, strict=True):
                    phi.add(operand, text.label)
                text.branch(done)
    if not done:
        return returned
    text.start(done)
    text.place_phis(merged)
    return [phi.name for phi in merged]
