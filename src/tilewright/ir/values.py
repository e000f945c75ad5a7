"""Where values come from and go to: questions about SSA values that need no dialect."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, Operation, SSAValue


def block_of(value: SSAValue) -> Block | None:
    """The block that a value is an argument of, or whose op makes it."""
    owner = value.owner
    return owner if isinstance(owner, Block) else owner.parent_block()


def op_of(value: SSAValue) -> Operation | None:
    """The op that makes a value, or in whose region it is an argument."""
    owner = value.owner
    return owner.parent_op() if isinstance(owner, Block) else owner


def find_only_user(value: SSAValue) -> Operation | None:
    """The op that uses a value, where there is one use."""
    user = value.get_user_of_unique_use()
    return user if isinstance(user, Operation) else None


def arguments_in(op: Operation) -> Iterator[SSAValue]:
    """The arguments of the blocks of an op's regions."""
    return (argument for region in op.regions for block in region.blocks for argument in block.args)


def successors_of(block: Block) -> tuple[Block, ...]:
    """The blocks that control may go to at the end of a block."""
    last = block.last_op
    return () if last is None else tuple(last.successors)
