"""The inner loop of register tiles: sums over k, with the lines prefetched that are needed after the tile."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from tilewright.codegen.llvm_text import FunctionText, Phi
from tilewright.support.records import dataclass

UNROLLED = 2
"""Steps of k that an iteration takes of the loops that prefetch: counters and addresses cost power, too, which is
what limits the clock (1536 x 1536 x 1536 on AVX2: 1.6 % less time; on AVX-512: 0.7 %)."""


@dataclass(frozen=True)
class KState:
    """What the loop over k carries: k, the offset of A in bytes, the row of B, the accumulators row by row."""

    k: str
    a_offset: str
    b: str
    sums: list[str]
    lines: tuple[str, ...] = ()
    """The lines to prefetch next, one of each kind that the loop prefetches."""

    @property
    def values(self) -> list[str]:
        """All of them, in the order of `KLoop._state_phis`."""
        return [self.k, self.a_offset, self.b, *self.sums, *self.lines]


@dataclass(frozen=True)
class LinesAhead:
    """Cache lines of a kind that will be needed: steps of k prefetch one each, `count` of them in a row."""

    first: str
    stride: str
    """Bytes from one to the next."""
    count: int
    level: int
    """The cache that they go to, as `llvm.prefetch` counts: 3 is the nearest."""
    is_written: bool = False


class TileOperands(Protocol):
    """What a register tile multiplies."""

    @property
    def steps(self) -> str:
        """The number of steps of k, as an i64."""
        ...

    @property
    def b_step(self) -> str:
        """Bytes from one row of B to the next."""
        ...

    @property
    def chunk(self) -> int:
        """Steps of k that prefetch the lines of one `lines_ahead`; 0: none prefetches."""
        ...

    def lines_ahead(self, state: KState, rows: int) -> list[tuple[LinesAhead, ...]]:
        """Return what the steps of a chunk prefetch in a tile of so many rows.

        An entry is for a loop, whose steps prefetch a line of each kind in turn; the last one gets the steps that the
        others leave.
        """
        ...

    def load_a(self, address: str) -> str:
        """An element of A in every lane."""
        ...

    def load_b(self, base: str, vector: int, mask: str | None) -> str:
        """A vector of a row of B."""
        ...

    def multiply_add(self, a: str, b: str, accumulator: str) -> str:
        """accumulator + a b, lane by lane."""
        ...


class KLoop:
    """Writes the loop of one tile."""

    def __init__(self, fn: FunctionText, sum_type: str, a_step: str, operands: TileOperands) -> None:
        self.fn = fn
        self.sum_type = sum_type
        """Of a vector of sums."""
        self.a_step = a_step
        """Bytes from one element of a row of A to the next."""
        self.operands = operands
        self.steps = operands.steps

    def run(
        self, rows: Sequence[str], b: str, start: list[list[str]], masks: list[str] | None, *, prefetches: bool
    ) -> list[list[str]]:
        """start + A B over all k, for rows of A at the given addresses; the columns of B masked if `masks` is given."""
        fn = self.fn
        width = len(start[0])
        old = [value for row in start for value in row]
        some, done, before = fn.new_label("some"), fn.new_label("kdone"), fn.label
        fn.branch_if(fn.icmp("sgt", "i64", self.steps, 0), some, done)
        fn.start(some)
        begin = KState("0", "0", b, old)
        end = self._chunks(rows, begin) if prefetches else self._steps(rows, begin, self.steps, masks)
        latch = fn.label
        fn.branch(done)
        fn.start(done)
        results: list[str] = []
        for first, last in zip(old, end.sums, strict=True):
            result = fn.detached_phi(self.sum_type)
            result.add(first, before)
            result.add(last, latch)
            fn.place_phis([result])
            results.append(result.name)
        return [results[at : at + width] for at in range(0, len(results), width)]

    def _chunks(self, rows: Sequence[str], begin: KState) -> KState:
        """The loop over k in chunks, in which each step prefetches a line that is needed after this tile.

        for k in steps by CHUNK, as far as they come in pairs:
          if there is a whole chunk:  an even number of steps for each entry of `lines_ahead` but the last
          the pairs that are left of the chunk, or of all, with the lines of the last entry
        the last step, if their number is odd
        """
        fn = self.fn
        paired = fn.binary("and", "i64", self.steps, -UNROLLED)

        def body(state: KState) -> KState:
            *entries, last = self.operands.lines_ahead(state, len(rows))
            end = fn.binary("add nsw", "i64", state.k, self.operands.chunk)

            def whole() -> KState:
                led = state
                for kinds in entries:
                    lines = sum(kind.count for kind in kinds)
                    count = -(-lines // UNROLLED) * UNROLLED
                    led = self._steps(rows, led, fn.binary("add nsw", "i64", led.k, count), None, kinds, 1)
                return led

            merged = self._if(fn.icmp("sle", "i64", end, paired), state, whole)
            end = fn.minimum(end, paired)
            return self._steps(rows, merged, end, None, last, UNROLLED)

        some = fn.icmp("sgt", "i64", paired, 0)
        after = self._if(some, begin, lambda: self._repeat(begin, paired, body))
        is_odd = fn.icmp("slt", "i64", paired, self.steps)
        return self._if(is_odd, after, lambda: self._steps(rows, after, self.steps, None))

    def _if(self, condition: str, state: KState, body: Callable[[], KState]) -> KState:
        """``body() if condition else state``."""
        fn = self.fn
        some, done, before = fn.new_label("whole"), fn.new_label("rest"), fn.label
        fn.branch_if(condition, some, done)
        fn.start(some)
        led = body()
        after = fn.label
        fn.branch(done)
        fn.start(done)
        return self._merge(state, before, led, after)

    def _merge(self, first: KState, before: str, second: KState, after: str) -> KState:
        """The state at the start of a block: that of one predecessor, or that of the other."""
        phis, merged = self._state_phis(first)
        for phi, one, other in zip(phis, first.values, second.values, strict=True):
            phi.add(one, before)
            phi.add(other, after)
        return merged

    def _state_phis(self, like: KState) -> tuple[list[Phi], KState]:
        """Phis for the values of a state, and the state that they make."""
        fn, text = self.fn, self.sum_type
        k, a_offset, b = fn.phi("i64", "k"), fn.phi("i64", "ao"), fn.phi("ptr", "bp")
        sums = [fn.phi(text, "c") for _ in like.sums]
        lines = [fn.phi("ptr", "line") for _ in like.lines]
        state = KState(k.name, a_offset.name, b.name, [phi.name for phi in sums], tuple(phi.name for phi in lines))
        return [k, a_offset, b, *sums, *lines], state

    def _steps(
        self,
        rows: Sequence[str],
        begin: KState,
        end: str,
        masks: list[str] | None,
        kinds: tuple[LinesAhead, ...] = (),
        unrolled: int = 1,
    ) -> KState:
        """Steps of k up to `end`, `unrolled` of them at least and a multiple of that.

        They prefetch lines of `kinds` in turn.
        """
        fn = self.fn

        def body(state: KState) -> KState:
            first = state.k
            for step in range(unrolled):
                if step:
                    state = replace(state, a_offset=self.fn.opaque("i64", state.a_offset))
                state = self._step(rows, state, masks)
                if kinds:
                    state = self._prefetch(state, step % len(kinds), kinds)
            return replace(state, k=fn.binary("add nsw", "i64", first, unrolled))

        lines = tuple(self.fn.opaque("ptr", kind.first) for kind in kinds)
        return replace(self._repeat(replace(begin, lines=lines), end, body), lines=())

    def _step(self, rows: Sequence[str], state: KState, masks: list[str] | None) -> KState:
        """One step of k, which is not counted yet."""
        width = len(state.sums) // len(rows)
        columns = [self.operands.load_b(state.b, v, None if masks is None else masks[v]) for v in range(width)]
        sums: list[str] = []
        for index, base in enumerate(rows):
            value = self.operands.load_a(self.fn.advance(base, state.a_offset))
            for column, old in zip(columns, state.sums[index * width :], strict=False):
                sums.append(self.operands.multiply_add(value, column, old))
        a_offset = self.fn.binary("add", "i64", state.a_offset, self.a_step)
        return replace(state, a_offset=a_offset, b=self.fn.advance(state.b, self.operands.b_step), sums=sums)

    def _prefetch(self, state: KState, index: int, kinds: tuple[LinesAhead, ...]) -> KState:
        """Prefetch the next line of one kind."""
        fn, kind, line = self.fn, kinds[index], state.lines[index]
        fn.prefetch(line, level=kind.level, is_written=kind.is_written)
        following = fn.advance(line, kind.stride)
        return replace(state, lines=(*state.lines[:index], following, *state.lines[index + 1 :]))

    def _repeat(self, begin: KState, end: str, body: Callable[[KState], KState]) -> KState:
        """``do state = body(state) while state.k < end``."""
        fn = self.fn
        loop, done, before = fn.new_label("k"), fn.new_label("done"), fn.label
        fn.branch(loop)
        fn.start(loop)
        phis, state = self._state_phis(begin)
        after = body(state)
        for phi, first, following in zip(phis, begin.values, after.values, strict=True):
            phi.add(first, before)
            phi.add(following, fn.label)
        fn.branch_if(fn.icmp("slt", "i64", after.k, end), loop, done)
        fn.start(done)
        return after
