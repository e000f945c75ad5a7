"""The blocks of a region in an order to lower them in."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block


def reverse_postorder(first: Block) -> list[Block]:
    """The blocks that are reached from `first`, every dominator before what it dominates."""
    order: list[Block] = []
    seen = {first}
    stack: list[tuple[Block, Iterator[Block]]] = [(first, _successors(first))]
    while stack:
        block, successors = stack[-1]
        following = next((b for b in successors if b not in seen), None)
        if following is None:
            stack.pop()
            order.append(block)
        else:
            seen.add(following)
            stack.append((following, _successors(following)))
    return order[::-1]


def _successors(block: Block) -> Iterator[Block]:
    last = block.last_op
    return iter(() if last is None else tuple(last.successors))
