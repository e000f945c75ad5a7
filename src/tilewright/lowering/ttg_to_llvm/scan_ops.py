"""tt.scan, by the plans of `layouts.scan`: the axis' bits from the lowest to the highest, run by run.

When some bits are done, every register holds the combination of its block of elements up to itself. The next run says
which blocks follow each other; its step combines into each block what the blocks before it amount to. Scanned from the
end, blocks follow each other the other way round.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.analysis.scratch import scan_plans
from tilewright.dialects import tt
from tilewright.layouts.access import span_of
from tilewright.layouts.distributed import REGISTER
from tilewright.layouts.reduction import deposit
from tilewright.layouts.scan import LaneRun, RegisterRun, ScanPlan, WarpRun
from tilewright.layouts.swizzle import SharedMemoryConversion
from tilewright.lowering.ttg_to_llvm.combining import Combiner, Operands
from tilewright.lowering.ttg_to_llvm.conversion import Scratch, Tensors
from tilewright.lowering.ttg_to_llvm.function_lowering import GpuFunctionLowering, lowers
from tilewright.lowering.ttg_to_llvm.index import map_bits
from tilewright.lowering.ttg_to_llvm.types import ElementType
from tilewright.lowering.ttg_to_llvm.words import shuffle_index
from tilewright.lowering.unsupported import UnsupportedError

LANE_MASK = 31


@lowers(tt.ScanOp)
def lower_scan(op: tt.ScanOp, fn: GpuFunctionLowering) -> None:
    try:
        plans = scan_plans(op)
    except ValueError as error:
        raise UnsupportedError(str(error)) from error
    elements = [fn.element(source) for source in op.srcs]
    tensors = [list(fn.registers(source)) for source in op.srcs]
    scratch = Scratch(fn, op, elements, [plan.num_bytes for plan in plans])
    scanner = _Scanner(fn, op, plans, elements, scratch)
    for result, registers in zip(op.result, scanner.run(tensors), strict=True):
        fn.set(result, registers)


class _Scanner:
    """One scan, and what it has done so far."""

    def __init__(
        self,
        fn: GpuFunctionLowering,
        op: tt.ScanOp,
        plans: Sequence[ScanPlan],
        elements: Sequence[ElementType],
        scratch: Scratch,
    ) -> None:
        self.fn = fn
        self.plans = plans
        self.elements = elements
        self.scratch = scratch
        self.reverse = bool(op.reverse.value.data)
        self.combiner = Combiner(fn, op, op.combine_op, elements)
        self.rows: dict[int, Operands] = {}
        """Values by register number, bits that repeat elements being zero."""
        self.done_registers: list[int] = []
        self.done_lanes = 0
        self.totals: dict[int, Operands] | None = None
        """What each block amounts to, by its first register, in every thread; None: the last register of the block has
        it, in the last of the lanes that are done."""

    def run(self, tensors: Tensors) -> Tensors:
        plan = self.plans[0]
        if plan.prepare is not None:
            tensors = self.scratch.convert([each.prepare for each in self.plans], tensors)
        registers = [deposit(index, plan.kept) for index in range(1 << len(plan.kept))]
        rows: list[Operands] = list(zip(*tensors, strict=True))
        self.rows = {register: rows[register] for register in registers}
        for index, run in enumerate(plan.runs):
            match run:
                case RegisterRun(bits):
                    self._scan_registers(bits)
                case LaneRun(bits):
                    self._scan_lanes(bits)
                case WarpRun():
                    self._scan_warps(index, run)
        tensors = self._spread(plan, registers)
        if plan.finish is not None:
            tensors = self.scratch.convert([each.finish for each in self.plans], tensors)
        return tensors

    def _spread(self, plan: ScanPlan, registers: Sequence[int]) -> Tensors:
        """All registers, those that repeat elements with them."""
        values = span_of(plan.layout.packed_bases[REGISTER])
        first = {values[register]: register for register in registers}
        rows = [self.rows[first[value]] for value in values]
        return [list(column) for column in zip(*rows, strict=True)]

    # ------------------------------------------------------------------------------------------------------- blocks

    @property
    def _done_mask(self) -> int:
        return sum(1 << bit for bit in self.done_registers)

    def _blocks(self) -> list[int]:
        """The first register of each block."""
        return [register for register in self.rows if not register & self._done_mask]

    def _members(self, block: int) -> list[int]:
        return [block | deposit(index, self.done_registers) for index in range(1 << len(self.done_registers))]

    def _last(self, block: int) -> int:
        """The register of a block that the scan reaches last."""
        return block if self.reverse else block | self._done_mask

    def _own_totals(self, blocks: Sequence[int]) -> dict[int, Operands]:
        """Return what the blocks amount to, right in the last lanes at least."""
        if self.totals is not None:
            return self.totals
        return {block: self.rows[self._last(block)] for block in blocks}

    def _shared_totals(self, blocks: Sequence[int]) -> dict[int, Operands]:
        """Return what the blocks amount to, in all threads."""
        totals = self._own_totals(blocks)
        if self.totals is None and self.done_lanes:
            totals = self._from_lane(totals, self._end_of_lanes(self.done_lanes))
        return totals

    def _end_of_lanes(self, mask: int) -> str:
        """The lane that the scan reaches last of those that differ in `mask`."""
        if self.reverse:
            return self.fn.text.binary("and", "i32", self.fn.threads.lane, LANE_MASK & ~mask)
        return self.fn.text.binary("or", "i32", self.fn.threads.lane, mask)

    def _from_lane(self, rows: dict[int, Operands], lane: str) -> dict[int, Operands]:
        """Return what another lane holds in the same registers."""
        columns = list(zip(*rows.values(), strict=True))
        moved = [shuffle_index(self.fn, e, column, lane) for e, column in zip(self.elements, columns, strict=True)]
        return dict(zip(rows, zip(*moved, strict=True), strict=True))

    def _combine_into(self, blocks: Sequence[int], before: dict[int, Operands], condition: str) -> None:
        """Combine what comes before each block into all its registers, where a condition holds."""
        for block in blocks:
            for register in self._members(block):
                combined = self.combiner.combine(before[block], self.rows[register])
                self.rows[register] = self.combiner.select(condition, combined, self.rows[register])

    # --------------------------------------------------------------------------------------------------------- runs

    def _scan_registers(self, bits: Sequence[int]) -> None:
        blocks = self._blocks()
        totals = self._shared_totals(blocks)
        is_local = self.totals is None and not self.done_lanes
        run_mask = sum(1 << bit for bit in bits)
        order = [deposit(index, bits) for index in range(1 << len(bits))]
        sums: dict[int, Operands] = {}
        for start in (block for block in blocks if not block & run_mask):
            carry: Operands | None = None
            for block in (start | index for index in (reversed(order) if self.reverse else order)):
                if carry is not None:
                    for register in self._members(block):
                        self.rows[register] = self.combiner.combine(carry, self.rows[register])
                if is_local:
                    carry = self.rows[self._last(block)]
                else:
                    carry = totals[block] if carry is None else self.combiner.combine(carry, totals[block])
            assert carry is not None
            sums[start] = carry
        self.done_registers += bits
        self.totals = None if is_local else sums

    def _scan_lanes(self, bits: Sequence[int]) -> None:
        text, lane = self.fn.text, self.fn.threads.lane
        blocks = self._blocks()
        is_local = self.totals is None and not self.done_lanes
        totals = self._shared_totals(blocks)
        below = 0
        for bit in bits:
            source, condition = self._lower_half(bit, below)
            received = self._from_lane(totals, source)
            totals = {
                block: self.combiner.select(condition, self.combiner.combine(received[block], row), row)
                for block, row in totals.items()
            }
            below |= 1 << bit
        if is_local and not self.done_registers:
            self.rows = {**self.rows, **totals}
        else:
            index = text.binary("and", "i32", lane, below)
            edge = below if self.reverse else 0
            condition = text.icmp("ne", "i32", index, edge)
            before = self._from_lane(totals, self._neighbour(bits, index))
            if is_local:
                last = {self._last(block): row for block, row in totals.items()}
                self._combine_into(blocks, before, condition)
                self.rows.update(last)
            else:
                self._combine_into(blocks, before, condition)
        if not is_local:
            totals = self._from_lane(totals, self._end_of_lanes(below))
        self.done_lanes |= below
        self.totals = None if is_local else totals

    def _lower_half(self, bit: int, below: int) -> tuple[str, str]:
        """For the lanes in the later half of a block: the lane that ends the earlier half, and whether it is one."""
        text, lane = self.fn.text, self.fn.threads.lane
        own = text.binary("and", "i32", lane, 1 << bit)
        if self.reverse:
            cleared = text.binary("and", "i32", lane, LANE_MASK & ~below) if below else lane
            return text.binary("or", "i32", cleared, 1 << bit), text.icmp("eq", "i32", own, 0)
        cleared = text.binary("and", "i32", lane, LANE_MASK & ~(1 << bit))
        source = text.binary("or", "i32", cleared, below) if below else cleared
        return source, text.icmp("ne", "i32", own, 0)

    def _neighbour(self, bits: Sequence[int], index: str) -> str:
        """The lane before this one in the order of the scan; any where there is none."""
        text = self.fn.text
        mask = sum(1 << bit for bit in bits)
        rest = text.binary("and", "i32", self.fn.threads.lane, LANE_MASK & ~mask)
        if list(bits) == sorted(bits):
            filled = text.binary("or", "i32", index, LANE_MASK & ~mask) if self.reverse else index
            stepped = text.binary("add" if self.reverse else "sub", "i32", filled, 1 << bits[0])
        else:
            compact = [0] * (max(bits) + 1)
            for position, bit in enumerate(bits):
                compact[bit] = 1 << position
            rank = map_bits(text.value, index, compact).operand
            moved = text.binary("add", "i32", rank, 1 if self.reverse else -1)
            kept = text.binary("and", "i32", moved, (1 << len(bits)) - 1)
            stepped = map_bits(text.value, kept, [1 << bit for bit in bits]).operand
        own = text.binary("and", "i32", stepped, mask)
        return text.binary("or", "i32", rest, own)

    def _scan_warps(self, index: int, run: WarpRun) -> None:
        text = self.fn.text
        blocks = list(run.registers)
        own = self._own_totals(blocks)
        exchanges: list[SharedMemoryConversion] = []
        for plan in self.plans:
            step = plan.runs[index]
            assert isinstance(step, WarpRun)
            exchanges.append(step.exchange)
        columns = [list(column) for column in zip(*(own[block] for block in blocks), strict=True)]
        gathered = self.scratch.exchange(exchanges, columns, last_lanes=0 if self.reverse else run.done_lanes)
        rows: list[Operands] = list(zip(*gathered, strict=True))
        count = 1 << len(run.bits)
        bit_columns = [0] * (max(run.bits) + 1)
        for position, bit in enumerate(run.bits):
            bit_columns[bit] = 1 << position
        rank = map_bits(
            text.value, text.binary("and", "i32", self.fn.threads.warp, (1 << len(bit_columns)) - 1), bit_columns
        )
        before: dict[int, Operands] = {}
        sums: dict[int, Operands] = {}
        order = range(count - 1, -1, -1) if self.reverse else range(count)
        for position, block in enumerate(blocks):
            warps = rows[position * count : (position + 1) * count]
            before[block], sums[block] = self._prefix(warps, order, rank.operand)
        first = text.icmp("ne", "i32", rank.operand, order[0])
        self._combine_into(blocks, before, first)
        self.totals = sums

    def _prefix(self, warps: Sequence[Operands], order: Sequence[int], rank: str) -> tuple[Operands, Operands]:
        """Return what the warps before this one amount to, and what all do."""
        text = self.fn.text
        running = warps[order[0]]
        before = running
        for position, warp in enumerate(order[1:], start=1):
            if position > 1:
                comparison = "sle" if self.reverse else "sge"
                reached = text.icmp(comparison, "i32", rank, warp)
                before = self.combiner.select(reached, running, before)
            running = self.combiner.combine(running, warps[warp])
        return before, running
