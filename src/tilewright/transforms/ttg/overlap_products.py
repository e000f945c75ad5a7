"""`tritongpu-overlap-products`: a loop with a chain of matmuls starts the next iteration's first one early."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import scf, tt, ttg, ttng
from tilewright.dialects.ttg.verification import warps_of_program
from tilewright.dialects.types import is_tensor
from tilewright.ir.effects import is_memory_free
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.support.records import dataclass
from tilewright.transforms.common.modes import AUTO, NEVER
from tilewright.transforms.ttg.pipeliner.machine_model import (
    product_clocks,
    registers_at_hand,
    registers_of,
    vector_clocks,
)
from tilewright.transforms.ttg.pipeliner.schedule import (
    MEET_AT_MBARRIERS,
    Schedule,
    body_ops,
    carried_source,
    definition_in,
    find_violation,
    used_values,
)
from tilewright.transforms.ttg.specialization.decision import CannotSpecialize, plan_roles, tiles_around

WARPS_OF_GROUP = 4
ROUND_CLOCKS = 512
"""What a round of an overlapped loop takes more: waits at mbarriers, reductions whose latency nothing hides. Measured
on an H200 with attention: 128 keys of 128 numbers a block save 1080 clocks of 4140, 64 keys save none.
"""
OTHER_REGISTERS = 80
"""Addresses, counters and sums of rows, as `ptxas` allocates them for attention."""

_MOVABLE = (ttg.LocalAllocOp, ttng.WarpGroupDotOp)
"""Ops with effects that may run ahead: they fill and read buffers of the pipeline."""

_SPREADING = (tt.BroadcastOp, tt.ExpandDimsOp, tt.SplatOp)
"""Ops that only repeat what they are given: it is carried to their users, not the result."""


class CannotOverlap(Exception):
    """Why a loop stays as it is."""


@dataclass(frozen=True)
class _Chain:
    """The products of a loop: `first` ones, which need no other of their iteration, and those that use their results.
    `between` is what leads from one to the other, and whatever else depends on the first alone.
    """

    first: tuple[ttng.WarpGroupDotOp, ...]
    later: tuple[ttng.WarpGroupDotOp, ...]
    between: frozenset[Operation]


class _Slices:
    """What the ops of a body need of each other in the same iteration."""

    def __init__(self, loop: scf.ForOp) -> None:
        self._loop = loop
        self.ops = body_ops(loop)

    def before(self, ops: Iterable[Operation]) -> set[Operation]:
        """Ops, and all that they need."""
        found = set(ops)
        stack = list(found)
        while stack:
            for value in used_values(stack.pop()):
                maker = definition_in(self._loop, value)
                if maker is not None and maker not in found:
                    found.add(maker)
                    stack.append(maker)
        return found

    def after(self, ops: Iterable[Operation], *, around: bool = False) -> set[Operation]:
        """Ops, and all that needs them; with `around`, in later iterations, too."""
        found = set(ops)
        size = 0
        while size != len(found):
            size = len(found)
            for op in self.ops:
                if op not in found and any(maker in found for maker in self._makers(op, around)):
                    found.add(op)
        return found

    def _makers(self, op: Operation, around: bool) -> Iterable[Operation | None]:
        for value in used_values(op):
            yield definition_in(self._loop, value)
            source = carried_source(self._loop, value) if around else None
            if source is not None:
                yield definition_in(self._loop, source)


def _find_chain(slices: _Slices) -> _Chain | None:
    """The products of a loop and what leads from the first to the others; None where none uses another's result."""
    dots = [op for op in slices.ops if isinstance(op, ttng.WarpGroupDotOp)]
    first = tuple(dot for dot in dots if not any(other in slices.before([dot]) for other in dots if other is not dot))
    reached = slices.after(first)
    later = tuple(dot for dot in dots if dot not in first)
    if not later or any(dot not in reached for dot in later):
        return None
    first = tuple(dot for dot in first if slices.after([dot]) & set(later))
    between = slices.after(first) - set(first) - slices.after(later, around=True)
    between = {op for op in between if is_memory_free(op)}
    between -= slices.after(slices.after(first) - set(first) - between)
    for op in reversed(slices.ops):
        if isinstance(op, _SPREADING) and op in between and not slices.after([op]) & (between - {op}):
            between.remove(op)
    return _Chain(first, later, frozenset(between))


class _Overlap:
    """Makes the schedule of one loop in which its chain of products overlaps."""

    def __init__(self, loop: scf.ForOp, schedule: Schedule, mode: str, specialize: str, turns: str) -> None:
        self._loop = loop
        self._specialize = specialize
        self._turns = turns
        self._old = schedule
        self._mode = mode
        self._slices = _Slices(loop)
        self._num_warps = warps_of_program(loop)

    def run(self) -> Schedule | None:
        """The new schedule; None for loops without a chain. Raises `CannotOverlap`."""
        chain = _find_chain(self._slices)
        if chain is None:
            return None
        if tiles_around(self._loop) is not None:
            raise CannotOverlap("the last product would read a buffer that is of the next program by then")
        if self._num_warps < 2 * WARPS_OF_GROUP:
            raise CannotOverlap("there is one warp group, and nobody to use the tensor cores meanwhile")
        if self._mode == AUTO:
            self._check_gain(chain)
        self._check_registers(chain)
        schedule = self._place(chain)
        violation = find_violation(self._loop, schedule)
        if violation is not None:
            maker, user = (op.name for op in violation)
            raise CannotOverlap(f"'{user}' needs the result of '{maker}' of the iteration before")
        return schedule

    def _check_gain(self, chain: _Chain) -> None:
        """Raise CannotOverlap unless overlapping gains more than the longer round costs."""
        operands = [operand for dot in (*chain.first, *chain.later) for operand in dot.operands[:2]]
        has_roles = self._will_have_roles()
        if has_roles and self._turns != NEVER:
            raise CannotOverlap("its warp groups take turns, which hides as much and takes less")
        if not all(map(self._is_copied_by_threads, operands)) and not has_roles:
            raise CannotOverlap("not all operands are copied by threads, so that all warps would have to meet")
        hidden = min(sum(map(product_clocks, chain.later)), vector_clocks(chain.between))
        if hidden <= ROUND_CLOCKS:
            raise CannotOverlap(f"it would hide {hidden} clocks of a round, and take {ROUND_CLOCKS} more")

    def _will_have_roles(self) -> bool:
        """Return whether a warp of its own will copy what the loop multiplies."""
        if self._specialize == NEVER:
            return False
        try:
            plan_roles(self._loop, self._old, self._specialize)
        except CannotSpecialize:
            return False
        return True

    def _is_copied_by_threads(self, operand: SSAValue) -> bool:
        """Return whether an operand is in registers, the same in all iterations, or the copy of what a pointer load
        reads.
        """
        op = definition_in(self._loop, operand)
        while isinstance(op, ttg.MemDescTransOp | ttg.MemDescReshapeOp | ttg.LocalAllocOp):
            op = definition_in(self._loop, op.operands[0])
        return op is None or is_tensor(operand.type) or isinstance(op, tt.LoadOp)

    def _check_registers(self, chain: _Chain) -> None:
        """The results of all products are alive at once, with what the later ones read from registers."""
        values = [dot.d for dot in (*chain.first, *chain.later)]
        values += [dot.a for dot in chain.later if definition_in(self._loop, dot.a) in chain.between]
        needed = OTHER_REGISTERS + sum(registers_of(value, self._num_warps) for value in values)
        available = registers_at_hand(self._num_warps)
        if needed > available:
            raise CannotOverlap(f"a thread would need about {needed} registers of {available}")

    def _place(self, chain: _Chain) -> Schedule:
        """The first products and what they need before all else of a round, what is between after the later ones; what
        is not ahead of the later products comes a stage later than it did.
        """
        head = self._slices.before(chain.first)
        ahead = self._slices.before([*chain.first, *chain.between])
        last, clusters = self._old.max_stage, self._old.clusters
        early, late = 2 * min(clusters.values()) - 1, 2 * max(clusters[dot] for dot in chain.later) + 1
        schedule = Schedule()
        for op in self._slices.ops:
            if op not in ahead:
                schedule.place(op, self._old.stages[op] + 1, 2 * clusters[op])
            elif self._old.stages[op] < last:
                schedule.place(op, self._old.stages[op], 2 * clusters[op])
            else:
                if not is_memory_free(op) and not isinstance(op, _MOVABLE):
                    raise CannotOverlap(f"'{op.name}' would run an iteration early")
                schedule.place(op, last, early if op in head else late)
        return schedule


@register_pass
class OverlapProductsPass(Pass):
    """Where a product of matrices uses the result of another after some arithmetic, as in attention, the first one and
    the arithmetic of the next iteration run while the tensor cores still work on the last product of this one.

    ```mlir
    %s = ttng.warp_group_dot %q, %k, %zero {loop.cluster = 0 : i32, loop.stage = 2 : i32}
    %p = math.exp2 %s                      {loop.cluster = 0 : i32, loop.stage = 2 : i32}
    %o = ttng.warp_group_dot %p, %v, %acc  {loop.cluster = 0 : i32, loop.stage = 2 : i32}
    ```
    becomes
    ```mlir
    %s = ttng.warp_group_dot %q, %k, %zero {loop.cluster = 0 : i32, loop.stage = 2 : i32}
    %p = math.exp2 %s                      {loop.cluster = 2 : i32, loop.stage = 2 : i32}
    %o = ttng.warp_group_dot %p, %v, %acc  {loop.cluster = 1 : i32, loop.stage = 3 : i32}
    ```
    so that a round multiplies `%q` by the next `%k`, then `%p` by `%v`, and then, while that goes on, computes the next
    `%p`. Warps of such loops meet at mbarriers, each when it needs to, so that warp groups may drift apart and take
    turns on the tensor cores.

    A model of the machine decides (see `machine_model`): where there is less to hide than a round costs more, or where
    registers do not suffice, the loop stays as it was, with a remark.
    """

    name = "tritongpu-overlap-products"

    mode: str = AUTO
    """Which loops: those that gain by the model (`auto`), all that have the registers (`always`), or `never`."""
    specialize: str = NEVER
    """The mode of `tritongpu-specialize-warps`: in loops that get a warp which copies, no warps have to meet."""
    turns: str = NEVER
    """The mode of `tritongpu-take-turns`, which gains more in loops that get such a warp."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        if self.mode == NEVER:
            return
        for loop in [op for op in ops_within(module) if isinstance(op, scf.ForOp)]:
            schedule = Schedule.find(loop)
            if schedule is None:
                continue
            try:
                overlapped = _Overlap(loop, schedule, self.mode, self.specialize, self.turns).run()
            except CannotOverlap as reason:
                context.remark(loop, f"matmuls of this loop do not overlap: {reason}")
                continue
            if overlapped is not None:
                overlapped.write(loop)
                loop.attributes[MEET_AT_MBARRIERS] = UnitAttr()
