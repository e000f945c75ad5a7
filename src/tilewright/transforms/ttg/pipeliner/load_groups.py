"""Which loads of a scheduled loop become asynchronous copies, which of them are waited for together, and how many
buffers each needs.
"""

from __future__ import annotations

from dataclasses import field
from math import prod

from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.analysis.axis_info import ModuleAxisInfo
from tilewright.dialects import scf, tt, ttg, ttng
from tilewright.dialects.tt.descriptor import has_block_shape
from tilewright.dialects.tt.folds import splat_of
from tilewright.dialects.ttg.encodings import layout_of
from tilewright.dialects.ttg.types import MemDescType
from tilewright.dialects.types import as_tensor, is_tensor
from tilewright.layouts.distributed import REGISTER
from tilewright.support.records import dataclass
from tilewright.transforms.ttg.pipeliner.copies import (
    MIN_COPY_BITS,
    buffer_encoding,
    copy_bits,
    element_bits,
    operand_of_mma,
)
from tilewright.transforms.ttg.pipeliner.schedule import Schedule, body_ops, holder_in

_SINKABLE = (ttg.ConvertLayoutOp, ttg.LocalAllocOp, ttg.MemDescTransOp, ttg.MemDescReshapeOp)
"""What may stand between a load and its use without being one: it moves down to the use."""

_BUFFER_VIEWS = (ttg.MemDescTransOp, ttg.MemDescReshapeOp, ttg.MemDescSubsliceOp, ttg.MemDescIndexOp)


@dataclass(eq=False)
class PipelinedLoad:
    """A load that runs ahead of its users."""

    op: tt.LoadOp | tt.DescriptorLoadOp
    users: list[Operation]
    encoding: Attribute
    contiguity: int = 1

    @property
    def uses_tma(self) -> bool:
        """True if the load goes through a descriptor."""
        return isinstance(self.op, tt.DescriptorLoadOp)

    @property
    def bytes(self) -> int:
        """The number of bytes that the load reads."""
        type = as_tensor(self.op.result.type)
        return prod(type.get_shape()) * element_bits(type.element_type) // 8

    @property
    def fill(self) -> tuple[SSAValue, SSAValue] | None:
        """Mask and value of the lanes that the load leaves out, where that is anything but the zero of asynchronous
        copies.
        """
        op = self.op
        if not isinstance(op, tt.LoadOp) or op.mask is None or op.other is None or splat_of(op.other) == 0:
            return None
        return op.mask, op.other

    def is_buffer(self, user: Operation) -> bool:
        """Return whether a user makes a buffer that can be the one that the load is copied to."""
        if not isinstance(user, ttg.LocalAllocOp):
            return False
        type = user.result.type
        return isinstance(type, MemDescType) and type.encoding == self.encoding and self.fill is None


MIN_SUMS = 64
"""Sums of a thread from which slicing a product pays: below, a multiprocessor has room for more warps, which hide reads
of shared memory better than registers that are filled early.
"""


def _is_large(dot: tt.DotOp) -> bool:
    type = as_tensor(dot.d.type)
    return layout_of(type.encoding).to_linear(type.get_shape()).in_dims[REGISTER] >= MIN_SUMS


@dataclass(eq=False)
class LoadGroup:
    """Loads that are waited for together, in the stage and cluster of their first use, with as many buffers each."""

    loads: list[PipelinedLoad]
    users: list[Operation] = field(default_factory=list[Operation])
    num_buffers: int = 1
    is_ordered: bool = False
    """Whether mbarriers can order the copies and those who read them: copies by threads, for `wgmma` alone."""

    @property
    def is_sliced(self) -> bool:
        """True if the group has both operands of a matmul that `tritongpu-prefetch` slices: these are waited for at
        the end of the round before, so that their first slices can be read there.
        """
        if self.num_buffers == 1 or len(self.loads) != 2 or any(load.fill is not None for load in self.loads):
            return False
        if len(self.users) != 2 or not all(operand_of_mma(user) for user in self.users):
            return False
        dots = {use.operation for user in self.users for result in user.results for use in result.uses}
        return len(dots) == 1 and all(isinstance(dot, tt.DotOp) and _is_large(dot) for dot in dots)


def _fills_registers(reader: Operation) -> bool:
    """Return whether all that an op does is to put A of one `wgmma` into registers."""
    op: Operation | None = reader
    while isinstance(op, ttg.ConvertLayoutOp | tt.TransOp):
        uses = list(op.result.uses)
        op = uses[0].operation if len(uses) == 1 else None
    return op is not reader and isinstance(op, ttng.WarpGroupDotOp)


class LoadGroups:
    """Finds the groups of one loop."""

    def __init__(self, loop: scf.ForOp, schedule: Schedule, axis_info: ModuleAxisInfo) -> None:
        self._loop = loop
        self._schedule = schedule
        self._axis_info = axis_info

    def find(self) -> list[LoadGroup]:
        """The groups in the order of the loads. Conversions and allocations of what is loaded move down to their use
        before, so that loads which meet in a matmul come to be waited for together.
        """
        for op in body_ops(self._loop):
            if isinstance(op, tt.LoadOp | tt.DescriptorLoadOp):
                self._sink_users(op)
        position = {op: index for index, op in enumerate(body_ops(self._loop))}
        groups: list[LoadGroup] = []
        keys: list[tuple[object, ...]] = []
        for op in position:
            load = self._find_load(op)
            if load is None:
                continue
            key = (*self._key(load), self._num_buffers(load, position))
            if keys and key == keys[-1] and all(position[user] > position[op] for user in groups[-1].users):
                groups[-1].loads.append(load)
                groups[-1].users += load.users
            else:
                groups.append(LoadGroup([load], list(load.users)))
                keys.append(key)
        for group in groups:
            group.num_buffers = self._num_buffers(group.loads[0], position)
            group.is_ordered = all(
                not load.uses_tma
                and all(load.is_buffer(user) for user in load.users)
                and all(isinstance(reader, ttng.WarpGroupDotOp) for reader in self.readers(load))
                for load in group.loads
            )
            group.users = sorted(dict.fromkeys(group.users), key=lambda user: position[user])
        return groups

    def _sink_users(self, op: Operation) -> None:
        block = self._loop.body.block
        for user in list(dict.fromkeys(use.operation for result in op.results for use in result.uses)):
            if not isinstance(user, _SINKABLE) or user.parent is not block:
                continue
            self._sink_users(user)
            users = self._users_of(user)
            if users and len(user.operands) == 1:
                user.detach()
                block.insert_op_before(user, users[0])

    def _users_of(self, op: Operation) -> list[Operation]:
        """The ops of the body that use an op, in their order."""
        block = self._loop.body.block
        users = {
            holder_in(block, use.operation)
            for result in op.results
            for use in result.uses
            if use.operation is not block.last_op
        }
        if len(users) < 2:
            return list(users)
        return [other for other in body_ops(self._loop) if other in users]

    def _key(self, load: PipelinedLoad) -> tuple[object, ...]:
        filled = self._schedule.stages[load.op], self._schedule.clusters[load.op]
        return (load.uses_tma, *filled, *self._schedule.place_of_first(load.users))

    def _find_load(self, op: Operation) -> PipelinedLoad | None:
        """A load that some stage lies before its users and that can be asynchronous; others keep their results in
        registers.
        """
        if not isinstance(op, tt.LoadOp | tt.DescriptorLoadOp) or not is_tensor(op.result.type):
            return None
        users = self._users_of(op)
        if not users or min(self._schedule.stages[user] for user in users) <= self._schedule.stages[op]:
            return None
        if any(use.operation is self._loop.body.block.last_op for use in op.result.uses):
            return None
        contiguity = 1
        if isinstance(op, tt.DescriptorLoadOp) and not has_block_shape(op.result, op.desc):
            return None
        if isinstance(op, tt.LoadOp):
            bits = copy_bits(op, self._axis_info)
            if bits < MIN_COPY_BITS:
                return None
            contiguity = bits // element_bits(as_tensor(op.result.type).element_type)
        return PipelinedLoad(op, users, buffer_encoding(op), contiguity)

    def _num_buffers(self, load: PipelinedLoad, position: dict[Operation, int]) -> int:
        """Iterations whose data lie in shared memory at the same time: from the copy to the last read, one more where
        the copy comes before the read in a round, and one more where `wgmma` may still read a round later, or reads
        the other operand, which then is waited for together with this one.
        """
        most = 1
        mine = (self._schedule.clusters[load.op], position[load.op])
        for reader in self.readers(load):
            distance = self._schedule.stages[reader] - self._schedule.stages[load.op]
            comes_before = mine < (self._schedule.clusters[reader], position[reader])
            is_async = isinstance(reader, ttng.WarpGroupDotOp) or _fills_registers(reader)
            most = max(most, distance + comes_before + is_async)
        return most

    def readers(self, load: PipelinedLoad) -> list[Operation]:
        """The ops that read the buffer: the users, or for buffers that take its place, whatever reads these."""
        readers: list[Operation] = []
        stack = list(load.users)
        while stack:
            op = stack.pop()
            users = self._users_of(op) if isinstance(op, _BUFFER_VIEWS) or load.is_buffer(op) else []
            stack += users
            if not users:
                readers.append(op)
        return readers
