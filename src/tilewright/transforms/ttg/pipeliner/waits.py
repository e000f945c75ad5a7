"""How many groups of asynchronous copies may still be under way at each `ttg.async_wait`.

A wait names the groups that it needs by their tokens. Groups complete in the order in which they were committed, so a
wait may leave as many of them as were committed after the youngest one that it needs.

Waits between which nothing is committed become one, at the first of them: threads have to meet after each, which would
keep warps that multiply from running ahead of warps that do not.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from tilewright.dialects import scf, ttg
from tilewright.dialects.construction import i32_attr
from tilewright.ir.walking import ops_within

ALL = 1 << 30
"""No limit."""


def _commits(op: Operation) -> int:
    """Groups that an op commits at least; nothing is promised for what may not run."""
    return int(isinstance(op, ttg.AsyncCommitGroupOp))


def _commits_between(first: Operation | None, last: Operation | None, block: Block) -> int:
    """Groups committed in a block after `first` (or its begin) and before `last` (or its end)."""
    op = block.first_op if first is None else first.next_op
    count = 0
    while op is not None and op is not last:
        count += _commits(op)
        op = op.next_op
    return count


class _Counter:
    """The fewest groups committed since a token's, over all paths to a place."""

    def __init__(self) -> None:
        self._visiting: set[tuple[int, int]] = set()

    def since(self, token: SSAValue, point: Operation) -> int:
        """The groups that may be pending at `place` while that of `token` is complete."""
        if isinstance(token, OpResult):
            return self._since_op(token, point)
        assert isinstance(token, BlockArgument)
        return self._since_argument(token, point)

    def _since_op(self, token: OpResult, point: Operation) -> int:
        op = token.op
        if isinstance(op, scf.ForOp):
            terminator = op.body.block.last_op
            assert terminator is not None
            inside = self.since(op.yielded[token.index], terminator)
            skipped = self.since(op.iter_args[token.index], op)
            return min(inside, skipped) + self._to(op, point)
        if not isinstance(op, ttg.AsyncCommitGroupOp):
            return 0
        return self._to(op, point)

    def _to(self, op: Operation, point: Operation) -> int:
        """Groups committed after `op` up to `place`, which is in the same block or deeper; 0 where it is not plain."""
        assert op.parent is not None
        current = point
        while current.parent is not op.parent:
            holder = current.parent_op()
            if holder is None or isinstance(holder, scf.ForOp | scf.WhileOp):
                return 0
            current = holder
        return _commits_between(op, current, op.parent)

    def _since_argument(self, token: BlockArgument, point: Operation) -> int:
        block = token.owner
        loop = block.parent_op()
        if not isinstance(loop, scf.ForOp) or token.index == 0 or point.parent is not block:
            return 0
        key = (id(token), id(point))
        if key in self._visiting:
            return ALL
        self._visiting.add(key)
        here = _commits_between(None, point, block)
        terminator = block.last_op
        assert terminator is not None
        before = self.since(loop.iter_args[token.index - 1], loop)
        again = self.since(loop.yielded[token.index - 1], terminator)
        self._visiting.discard(key)
        return here + min(before, again)


def _waits(root: Operation) -> Iterator[ttg.AsyncWaitOp]:
    return (op for op in ops_within(root) if isinstance(op, ttg.AsyncWaitOp))


def _is_there(value: SSAValue, point: Operation) -> bool:
    """Return whether a value of the block of `place`, or from outside it, is made before `place`."""
    op = value.op if isinstance(value, OpResult) else None
    return op is None or op.parent is not point.parent or op.is_before_in_block(point)


def _join_into(first: ttg.AsyncWaitOp) -> None:
    """Let a wait do the work of those that follow in its block, up to where groups are committed."""
    op = first.next_op
    while op is not None and not any(isinstance(inner, ttg.AsyncCommitGroupOp) for inner in ops_within(op)):
        following = op.next_op
        if isinstance(op, ttg.AsyncWaitOp) and op.async_token and all(_is_there(t, first) for t in op.async_token):
            first.operands = tuple(dict.fromkeys((*first.async_token, *op.async_token)))
            op.ret_token.replace_all_uses_with(first.ret_token)
            op.detach()
            op.erase()
        op = following


def join_waits(root: Operation) -> None:
    """Have one wait where several name groups that are all committed before the first of them."""
    for op in tuple(_waits(root)):
        if op.parent is not None and op.async_token:
            _join_into(op)


def relax_waits(root: Operation) -> None:
    """Let each wait that names tokens leave as many groups pending as it may."""
    for op in _waits(root):
        if op.async_token:
            count = min(_Counter().since(token, op) for token in op.async_token)
            op.properties["num"] = i32_attr(0 if count >= ALL else count)
