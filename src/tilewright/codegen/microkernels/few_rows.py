"""Kernels for a few rows of A: B, which is read only once, stays where it is.

    for k0 in k by KC:  copy = A[:, k0:k0 + KC], widened
      columns of B adjoin:   for n0 in n by NR:  C[:, n0:] += copy B[k0:, n0:]     lanes along n
      rows of B adjoin:      for n0 in n by NC:  C[:, n0:] += copy B[k0:, n0:]     lanes along k, summed in the end

A packed panel pays off by the rows of A that are multiplied by it. With one to four of them a matmul takes as long as
memory takes to give B, which steps of k prefetch some rows ahead: a row of B is too short, and the next one too far
away, for the machine to find out by itself. There is code for one row, and for as many as the kernel is for: those
that do not exist are the last one again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from tilewright.codegen.lane_builder import intrinsic_suffix
from tilewright.codegen.llvm_text import FunctionText, ModuleText
from tilewright.codegen.microkernels.elements import ElementKind, RegisterTile
from tilewright.codegen.microkernels.spec import MOST_ROWS, MatmulKernel
from tilewright.codegen.microkernels.tile import Rows, TileWriter, kernel_function
from tilewright.codegen.microkernels.widened_rows import widen_lines
from tilewright.support.facts import TargetFacts

COPY_BYTES = 16 << 10
"""Bytes of A that are copied at a time: half of a first level cache."""

ROWS_AHEAD = 16
"""How many rows ahead B is prefetched."""

BYTES_AHEAD = 512
"""How many bytes ahead columns of B are prefetched, where rows adjoin."""

_NARROWEST = 4
"""Vectors of the narrowest strip of columns that has code without masks."""

_DOT_COLUMNS = 4
"""Columns that are summed at a time where rows of B adjoin."""


class FewRowsWriter(TileWriter):
    """Writes one kernel, for at most `rows` rows."""

    def __init__(
        self, fn: FunctionText, element: ElementKind, lanes: int, registers: int, *, transposed_b: bool, from_zero: bool
    ) -> None:
        super().__init__(fn, element, RegisterTile(1, 1, lanes))
        self.transposed_b = transposed_b
        self.from_zero = from_zero
        self.accumulators = registers // 2
        self.copy = fn.alloca(f"[{COPY_BYTES + 64 * MOST_ROWS} x i8]", align=64)
        self.rows = 0
        self.row_bytes = 0
        self.held: list[str] = []

    def write_for(self, most_rows: int) -> None:
        """The whole body."""
        fn = self.fn
        _ = self.strides
        counts = [1, most_rows] if most_rows == MOST_ROWS else [most_rows]
        for count in counts[:-1]:
            fits, more = fn.new_label("fits"), fn.new_label("more")
            fn.branch_if(fn.icmp("sle", "i64", "%m_count", count), fits, more)
            fn.start(fits)
            self._product(count)
            fn.ret()
            fn.start(more)
        self._product(counts[-1])
        fn.ret()

    def _product(self, rows: int) -> None:
        fn = self.fn
        some, none = fn.new_label("some"), fn.new_label("none")
        fn.branch_if(fn.icmp("sgt", "i64", "%m_count", 0), some, none)
        fn.start(some)
        self.rows = rows
        size = self.element.accumulator_bytes
        chunk = COPY_BYTES // rows // size
        self.row_bytes = chunk * size + 64
        last = fn.binary("sub", "i64", "%m_count", 1)
        self.held = [
            "0",
            *(fn.call("i64", "llvm.umin.i64", [("i64", str(row)), ("i64", last)]) for row in range(1, rows)),
        ]
        a, b, c = (fn.cast("inttoptr", "i64", f"%{name}_ptr", "ptr") for name in "abc")
        c_rows = self._rows_at(Rows(c, self.strides.c_row), self.held)
        copies = self._rows_at(Rows(self.copy, str(self.row_bytes)), self.held)
        if self.from_zero:
            self._clear(c_rows)

        def depth_step(k0: str) -> None:
            depth = fn.minimum(fn.binary("sub", "i64", "%k_count", k0), chunk)
            self._copy(fn.advance(a, fn.scaled(k0, self.strides.a_k)), depth)
            if self.transposed_b:
                self._dots(copies, fn.advance(b, fn.scaled(k0, self.element.bytes)), c_rows, depth)
            else:
                self._sums(copies, fn.advance(b, fn.scaled(k0, self.strides.b_row)), c_rows, depth)

        fn.loop("0", "%k_count", chunk, depth_step)
        fn.branch(none)
        fn.start(none)

    def _clear(self, c_rows: list[str]) -> None:
        zeros = [["zeroinitializer"]] * self.rows
        self._rest("0", lambda n0, mask: self._store(self._columns_at(c_rows, n0), zeros, [mask]))

    def _rest(self, first: str, body: Callable[[str, str], None]) -> None:
        """The columns from one on, a vector with its mask at a time."""

        def vector(n0: str) -> None:
            body(n0, self.vector.lanes_below(self.fn.binary("sub", "i64", "%n_count", n0)))

        self.fn.loop(first, "%n_count", self.tile.lanes, vector)

    def _columns_at(self, c_rows: list[str], n0: str) -> list[str]:
        """Rows of C from a column on."""
        return [self.fn.advance(row, self.fn.scaled(n0, self.element.accumulator_bytes)) for row in c_rows]

    def _copy(self, a: str, depth: str) -> None:
        """A chunk of A, widened, with zeros up to the end of a vector."""
        fn, size = self.fn, self.element.accumulator_bytes
        text = self.vector.type(self.element.accumulator)
        last = fn.scaled(fn.binary("and", "i64", depth, -self.tile.lanes), size)
        for row in range(self.rows):
            at = fn.advance(fn.advance(self.copy, str(row * self.row_bytes)), last)
            fn.store(text, "zeroinitializer", at, align=size)
        values = (a, self.strides.a_row, self.strides.a_k, "%m_count", depth, self.copy, str(self.row_bytes))
        widen_lines(fn, self.element, self.tile, values)

    def _carrying(
        self, bounds: tuple[str, str], step: int, sums: list[str], body: Callable[[str, list[str]], list[str]]
    ) -> list[str]:
        """``for i in range(first, end, step): sums = body(i, sums)``."""
        fn, text = self.fn, self.vector.type(self.element.accumulator)
        first, end = bounds
        loop, done, before = fn.new_label("k"), fn.new_label("kdone"), fn.label
        fn.branch_if(fn.icmp("slt", "i64", first, end), loop, done)
        fn.start(loop)
        counter, phis = fn.phi("i64", "k"), [fn.phi(text, "c") for _ in sums]
        after = body(counter.name, [phi.name for phi in phis])
        following = fn.binary("add nsw", "i64", counter.name, step)
        counter.add(first, before)
        counter.add(following, fn.label)
        latch = fn.label
        fn.branch_if(fn.icmp("slt", "i64", following, end), loop, done)
        fn.start(done)
        results = [fn.phi(text) for _ in sums]
        for phi, result, start, led in zip(phis, results, sums, after, strict=True):
            phi.add(start, before)
            phi.add(led, latch)
            result.add(start, before)
            result.add(led, latch)
        return [result.name for result in results]

    # --------------------------------------------------------------------------------------------- columns of B adjoin

    def _sums(self, copies: list[str], b: str, c_rows: list[str], depth: str) -> None:
        """Strips of columns, as wide as there are registers for sums, then narrower ones."""
        fn, lanes = self.fn, self.tile.lanes
        first, vectors = "0", max(1, self.accumulators // self.rows)

        def strip(n0: str, vectors: int, mask: str | None = None) -> None:
            place = fn.advance(b, fn.scaled(n0, self.element.bytes))
            self._strip(copies, place, self._columns_at(c_rows, n0), depth, vectors, mask)

        widths = [vectors]
        while vectors > _NARROWEST:
            vectors //= 2
            widths.append(vectors)
        for vectors in widths:
            width = vectors * lanes
            end = fn.binary("and", "i64", "%n_count", -width)
            fn.loop(first, end, width, lambda n0, vectors=vectors: strip(n0, vectors))
            first = end
        self._rest(first, lambda n0, mask: strip(n0, 1, mask))

    def _strip(self, copies: list[str], b: str, c_rows: list[str], depth: str, vectors: int, mask: str | None) -> None:
        fn, masks = self.fn, None if mask is None else [mask]
        size = self.element.bytes
        ahead = fn.scaled(self.strides.b_row, ROWS_AHEAD)

        def step(k: str, sums: list[str]) -> list[str]:
            row = fn.advance(b, fn.scaled(k, self.strides.b_row))
            later = fn.advance(row, ahead)
            for line in range(0, vectors * self.tile.lanes * size, 64):
                fn.prefetch(fn.advance(later, str(line)), level=2)
            columns = [self.load_b(row, vector, mask) for vector in range(vectors)]
            results: list[str] = []
            for index, copy in enumerate(copies):
                at = fn.advance(copy, fn.scaled(k, self.element.accumulator_bytes))
                value = self._spread_element(at)
                old = sums[index * vectors : (index + 1) * vectors]
                results += [self.multiply_add(value, column, one) for column, one in zip(columns, old, strict=True)]
            return results

        start = self._load(c_rows, vectors, masks)
        sums = self._carrying(("0", depth), 1, start, step)
        self._store(c_rows, [sums[at : at + vectors] for at in range(0, len(sums), vectors)], masks)

    def _spread_element(self, at: str) -> str:
        """An element of the copy in every lane."""
        text, size = self.element.accumulator, self.element.accumulator_bytes
        return self.vector.broadcast(self.fn.load(text, at, align=size), text)

    def _load(self, c_rows: list[str], vectors: int, masks: list[str] | None) -> list[str]:
        """Vectors of each row of C, row by row."""
        if masks is not None:
            return [self.masked_start(row, vector, mask) for row in c_rows for vector, mask in enumerate(masks)]
        text, size = self.vector.type(self.element.accumulator), self.element.accumulator_bytes
        addresses = [self._vector_at(row, vector) for row in c_rows for vector in range(vectors)]
        return [self.fn.load(text, at, align=size) for at in addresses]

    def _store(self, c_rows: list[str], values: Sequence[list[str]], masks: list[str] | None) -> None:
        text, size = self.vector.type(self.element.accumulator), self.element.accumulator_bytes
        for row, results in zip(c_rows, values, strict=True):
            if masks is not None:
                self._store_strip_row(row, results, masks)
                continue
            for vector, value in enumerate(results):
                self.fn.store(text, value, self._vector_at(row, vector), align=size)

    # ------------------------------------------------------------------------------------------------ rows of B adjoin

    def _dots(self, copies: list[str], b: str, c_rows: list[str], depth: str) -> None:
        """A few columns at a time; those past the end are the last one again."""
        fn = self.fn
        last = fn.binary("sub", "i64", "%n_count", 1)

        def tile(n0: str) -> None:
            indices = [n0, *(fn.binary("add", "i64", n0, column) for column in range(1, _DOT_COLUMNS))]
            held = [fn.call("i64", "llvm.umin.i64", [("i64", index), ("i64", last)]) for index in indices]
            columns = self._rows_at(Rows(b, self.strides.b_row), held)
            addresses = [at for column in held for at in self._columns_at(c_rows, column)]
            self._dot_tile(copies, columns, addresses, depth)

        fn.loop("0", "%n_count", _DOT_COLUMNS, tile)

    def _dot_tile(self, copies: list[str], columns: list[str], addresses: list[str], depth: str) -> None:
        """Sums over k of columns of B times rows of A, to the places of C, rows of a column after one another."""
        fn, lanes, count = self.fn, self.tile.lanes, len(addresses)
        size, wide = self.element.bytes, self.element.accumulator_bytes
        text, scalar = self.vector.type(self.element.accumulator), self.element.accumulator
        together = max(1, min(4, self.accumulators // count))

        def products(k: str, sums: list[str], mask: str | None) -> list[str]:
            rows = [fn.load(text, fn.advance(copy, fn.scaled(k, wide)), align=wide) for copy in copies]
            loaded = [self.load_b(fn.advance(column, fn.scaled(k, size)), 0, mask) for column in columns]
            pairs = [(row, column) for column in loaded for row in rows]
            return [self.multiply_add(row, column, old) for (row, column), old in zip(pairs, sums, strict=True)]

        def several(k: str, sums: list[str]) -> list[str]:
            for line in range(0, together * lanes * size, 64):
                for column in columns:
                    at = fn.advance(fn.advance(column, fn.scaled(k, size)), str(BYTES_AHEAD + line))
                    fn.prefetch(at, level=3)
            results: list[str] = []
            for index in range(together):
                at = fn.binary("add nsw", "i64", k, index * lanes) if index else k
                results += products(at, sums[index * count : (index + 1) * count], None)
            return results

        step = together * lanes
        end = fn.binary("and", "i64", depth, -step)
        sums = self._carrying(("0", end), step, ["zeroinitializer"] * (together * count), several)
        sums = [
            reduce(lambda one, other: self.vector.binary("fadd", one, other, scalar), sums[index::count])
            for index in range(count)
        ]

        def rest(k: str, sums: list[str]) -> list[str]:
            return products(k, sums, self.vector.lanes_below(fn.binary("sub", "i64", depth, k)))

        sums = self._carrying((end, depth), lanes, sums, rest)
        add = f"llvm.vector.reduce.fadd.{intrinsic_suffix(scalar, lanes)}"
        old = [fn.load(scalar, at, align=wide) for at in addresses]
        new = [
            fn.call(scalar, add, [(scalar, start), (text, value)], flags="reassoc ")
            for start, value in zip(old, sums, strict=True)
        ]
        for value, at in zip(new, addresses, strict=True):
            fn.store(scalar, value, at, align=wide)


def emit_few_rows_kernel(name: str, module: ModuleText, facts: TargetFacts, kernel: MatmulKernel) -> str:
    """The definition of a kernel `for_few_rows`."""
    fn, element = kernel_function(name, module), kernel.kind.on(facts)
    lanes = facts.lanes(element.accumulator_bits)
    forms = {"transposed_b": kernel.transposed_b, "from_zero": kernel.from_zero}
    FewRowsWriter(fn, element, lanes, facts.vector_registers, **forms).write_for(kernel.rows)
    return fn.text()
