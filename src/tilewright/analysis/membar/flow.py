"""The control-flow graph of the points in a function that matter for barriers.

A point stands for an op that touches shared memory, waits or meets; a loop has one more, through which every entry
comes. Other ops have none. Conditionals, loops and blocks become edges.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field

from xdsl.ir import Block, Operation, Region

from tilewright.dialects import scf, tt, ttg
from tilewright.support.records import dataclass


@dataclass(eq=False, slots=True)
class Point:
    """One point; `before` is the op before which a barrier for it goes, None where there can be none. At a point that
    `meets` all threads wait for each other."""

    number: int
    op: Operation | None
    before: Operation | None
    loops: tuple[Point, ...] = ()
    meets: bool = False
    """The entries of the loops around it, innermost last."""
    successors: list[Point] = field(default_factory=list["Point"])
    predecessors: list[Point] = field(default_factory=list["Point"])


Ends = list[Point]
"""Points from which control flow goes on to what comes next."""


class FlowGraph:
    """The points of a function in program order, the first of which is its entry."""

    def __init__(self, function: tt.FuncOp, matters: Callable[[Operation], bool]) -> None:
        self._matters = matters
        self.points: list[Point] = []
        self._loops: tuple[Point, ...] = ()
        self.entry = self._point(None, [])
        self._returns: Ends = []
        self._region(function.body, [self.entry])
        self.exit = self._point(None, self._returns)

    def _point(self, op: Operation | None, before: Iterable[Point], place: Operation | None = None) -> Point:
        point = Point(len(self.points), op, place or op, self._loops)
        self.points.append(point)
        for earlier in before:
            self._link(earlier, point)
        return point

    @staticmethod
    def _link(earlier: Point, later: Point) -> None:
        if later not in earlier.successors:
            earlier.successors.append(later)
            later.predecessors.append(earlier)

    def _region(self, region: Region, before: Ends) -> Ends:
        """All blocks of a region; what leaves it by its terminators other than branches and returns."""
        blocks = list(region.blocks)
        if not blocks:
            return before
        if len(blocks) == 1:
            return self._block(blocks[0], before)
        heads = {block: self._point(None, []) for block in blocks}
        for point in before:
            self._link(point, heads[blocks[0]])
        leaving: Ends = []
        for block in blocks:
            ends = self._block(block, [heads[block]])
            last = block.last_op
            targets: Sequence[Block] = () if last is None else last.successors
            for target in targets:
                for end in ends:
                    self._link(end, heads[target])
            if not targets:
                leaving.extend(ends)
        return leaving

    def _block(self, block: Block, before: Ends) -> Ends:
        ends = before
        for op in block.ops:
            if isinstance(op, tt.ReturnOp):
                self._returns.extend(ends)
                return []
            ends = self._op(op, ends)
        return ends

    def _op(self, op: Operation, before: Ends) -> Ends:
        match op:
            case scf.ForOp():
                return self._for(op, before)
            case scf.WhileOp():
                return self._while(op, before)
            case scf.IfOp() | scf.IndexSwitchOp():
                return self._branches(op.regions, before)
            case scf.ExecuteRegionOp():
                return self._region(op.region, before)
            case ttg.MaskOp():
                return [*self._region(op.region, before), *before]
            case ttg.WarpSpecializeOp():
                return self._specialize(op, before)
            case _:
                return [self._point(op, before)] if self._matters(op) else before

    def _branches(self, regions: Sequence[Region], before: Ends) -> Ends:
        """One of several regions; an empty one is passed by."""
        ends: Ends = []
        for region in regions:
            ends.extend(self._region(region, before))
        return list(dict.fromkeys(ends))

    def _for(self, op: scf.ForOp, before: Ends) -> Ends:
        entry = self._point(None, before, place=op)
        outside = self._loops
        self._loops = (*outside, entry)
        head = self._point(None, [entry])
        for end in self._region(op.body, [head]):
            self._link(end, head)
        self._loops = outside
        return [head]

    def _while(self, op: scf.WhileOp, before: Ends) -> Ends:
        entry = self._point(None, before, place=op)
        outside = self._loops
        self._loops = (*outside, entry)
        head = self._point(None, [entry])
        checked = self._region(op.before_region, [head])
        for end in self._region(op.after_region, checked):
            self._link(end, head)
        self._loops = outside
        return checked

    def _specialize(self, op: ttg.WarpSpecializeOp, before: Ends) -> Ends:
        """All regions run, each on its own warps: whoever is around them meets where they begin and where they end."""
        start = self._point(None, before)
        ends = self._region(op.default_region, [start])
        for region in op.partitions:
            ends.extend(self._region(region, [start]))
        stop = self._point(None, ends)
        start.meets = stop.meets = True
        return [stop]
