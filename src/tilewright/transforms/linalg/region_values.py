"""Values that enter and leave regions, told apart by whether they are tensors."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xdsl.ir import Block, SSAValue

from tilewright.dialects.types import is_tensor


def tensor_positions(values: Sequence[SSAValue]) -> list[int]:
    """Return which of the values are tensors."""
    return [position for position, value in enumerate(values) if is_tensor(value.type)]


def without(values: Sequence[SSAValue], positions: Collection[int]) -> list[SSAValue]:
    """The values at all other positions."""
    return [value for position, value in enumerate(values) if position not in positions]


def drop_arguments(block: Block, positions: Collection[int]) -> None:
    """Remove block arguments whose remaining users are about to be erased."""
    for position in sorted(positions, reverse=True):
        block.erase_arg(block.args[position], safe_erase=False)
