"""Whether a pass has left a module as it was: then it needs no other run."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tilewright.ir.walking import ops_within


def contents_of(module: ModuleOp) -> list[object]:
    """The ops of a module, and what a pass can change of them. Lists are equal only if the ops are the same ones, in
    the same blocks, as they were; hints of names and locations aside."""
    return [
        (
            op,
            op.parent,
            tuple(op.operands),
            tuple(op.successors),
            dict(op.properties),
            dict(op.attributes),
            tuple(op.result_types),
            tuple(tuple(argument.type for argument in block.args) for region in op.regions for block in region.blocks),
        )
        for op in ops_within(module)
    ]
