"""Register tiles on interleaved B: one dot-product instruction multiplies 2 bf16 or 4 int8 products per lane.

B is in groups of 2 (bf16) or 4 (int8) rows: element (k, n) is at ``b_ptr[(k // g) * b_row_stride + n * g + k % g]``,
rows past k_count are zeros up to the group (a panel of `amx_panels.py`). A must have a_k_stride 1.

bf16 uses ``vdpbf16ps`` (which treats subnormal numbers as zero). int8 uses ``vpdpbusd``, whose first operand is
unsigned: A is xored with 0x80, that is increased by 128, and 128 times the column sums of B, summed in the same loop,
come off at the end; the result is exact. A last group that is not full reads only the elements of A that exist.
"""

from __future__ import annotations

from tilewright.codegen.llvm_text import FunctionText, ModuleText
from tilewright.codegen.microkernels.elements import ElementKind, RegisterTile, plan_register_tile
from tilewright.codegen.microkernels.tile import TileWriter, kernel_function
from tilewright.ir.facts import TargetFacts

_FEATURES = {"bf16": ("avx512bf16", "avx512f"), "i8": ("avx512vnni", "avx512f")}


def has_packed_form(element: str, facts: TargetFacts) -> bool:
    """Whether the machine has the dot-product instruction for a type."""
    return element in _FEATURES and all(facts.has(feature) for feature in _FEATURES[element])


class PackedWriter(TileWriter):
    """A micro-kernel that takes a group of k at a time from interleaved B."""

    def __init__(self, fn: FunctionText, element: ElementKind, tile: RegisterTile, *, from_zero: bool = False) -> None:
        super().__init__(fn, element, tile)
        self.from_zero = from_zero
        self.group = 4 // element.bytes

    @property
    def b_column_bytes(self) -> int:
        return 4

    def start_of_tile(self, addresses: list[list[str]]) -> list[list[str]]:
        if self.from_zero:
            return [["zeroinitializer" for _ in row] for row in addresses]
        return super().start_of_tile(addresses)

    def masked_start(self, base: str, vector: int, mask: str) -> str:
        return "zeroinitializer" if self.from_zero else super().masked_start(base, vector, mask)

    def accumulate(self, rows: list[str], b: str, start: list[list[str]], masks: list[str] | None) -> list[list[str]]:
        fn = self.fn
        groups = fn.value(f"sdiv i64 %k_count, {self.group}")
        rest = fn.value(f"srem i64 %k_count, {self.group}")
        text = self.vector.type(self.element.accumulator)
        state = [value for row in start for value in row]
        if self.element.is_integer:
            state.extend("zeroinitializer" for _ in start[0])  # column sums of B
        loop, tail, before = fn.new_label("k"), fn.new_label("ktail"), fn.label
        fn.branch_if(fn.value(f"icmp sgt i64 {groups}, 0"), loop, tail)
        fn.start(loop)
        k, b_at = fn.phi("i64", "k"), fn.phi("ptr", "bp")
        phis = [fn.phi(text, "c") for _ in state]
        offset = fn.value(f"shl i64 {k.name}, 2")
        a_words = [self._word(self.advance(row, offset)) for row in rows]
        updated = self._step([phi.name for phi in phis], a_words, b_at.name, masks)
        next_k = fn.value(f"add nsw i64 {k.name}, 1")
        next_b = self.advance(b_at.name, self.strides.b_row)
        again = fn.value(f"icmp slt i64 {next_k}, {groups}")
        latch = fn.label
        for phi, first, following in (
            (k, "0", next_k),
            (b_at, b, next_b),
            *zip(phis, state, updated, strict=True),
        ):
            phi.add(first, before)
            phi.add(following, latch)
        fn.branch_if(again, loop, tail)
        fn.start(tail)
        merged = [fn.phi(text, "c") for _ in state]
        b_rest = fn.phi("ptr", "bp")
        for phi, first, following in (*zip(merged, state, updated, strict=True), (b_rest, b, next_b)):
            phi.add(first, before)
            phi.add(following, latch)
        final = self._last_group([phi.name for phi in merged], rows, b_rest.name, groups, rest, masks)
        return self._finish(final, len(start), len(start[0]))

    def _last_group(
        self, state: list[str], rows: list[str], b: str, groups: str, rest: str, masks: list[str] | None
    ) -> list[str]:
        """One more step when k does not divide, with zeros for the elements of A that do not exist."""
        fn = self.fn
        partial, done, before = fn.new_label("partial"), fn.new_label("kdone"), fn.label
        fn.branch_if(fn.value(f"icmp ne i64 {rest}, 0"), partial, done)
        fn.start(partial)
        offset = fn.value(f"shl i64 {groups}, 2")
        words = [self._partial_word(self.advance(row, offset), rest) for row in rows]
        updated = self._step(state, words, b, masks)
        latch = fn.label
        fn.branch(done)
        fn.start(done)
        phis = [fn.phi(self.vector.type(self.element.accumulator), "c") for _ in state]
        for phi, old, new in zip(phis, state, updated, strict=True):
            phi.add(old, before)
            phi.add(new, latch)
        return [phi.name for phi in phis]

    def _partial_word(self, address: str, rest: str) -> str:
        """The first `rest` elements at an address as a word, the others zero."""
        fn = self.fn
        bits = 8 * self.element.bytes
        word = "0"
        for position in range(self.group - 1):
            exists = fn.value(f"icmp ugt i64 {rest}, {position}")
            held = fn.value(f"select i1 {exists}, i64 {position}, i64 0")
            at = fn.value(f"getelementptr i{bits}, ptr {address}, i64 {held}")
            loaded = fn.value(f"load i{bits}, ptr {at}, align {self.element.bytes}")
            kept = fn.value(f"select i1 {exists}, i{bits} {loaded}, i{bits} 0")
            wide = fn.value(f"zext i{bits} {kept} to i32")
            shifted = fn.value(f"shl i32 {wide}, {bits * position}") if position else wide
            word = shifted if word == "0" else fn.value(f"or i32 {word}, {shifted}")
        return self._unsigned(word)

    def _word(self, address: str) -> str:
        return self._unsigned(self.fn.value(f"load i32, ptr {address}, align {self.element.bytes}"))

    def _unsigned(self, word: str) -> str:
        """int8: every byte increased by 128."""
        return self.fn.value(f"xor i32 {word}, {0x80808080 - 2**32}") if self.element.is_integer else word

    def _step(self, state: list[str], words: list[str], b: str, masks: list[str] | None) -> list[str]:
        """All accumulators after one group of k."""
        vectors = self.tile.vectors
        columns = [self._packed_columns(b, v, None if masks is None else masks[v]) for v in range(vectors)]
        updated: list[str] = []
        for row, word in enumerate(words):
            spread = self.spread(word, "i32")
            updated.extend(self._dot(state[row * vectors + v], spread, columns[v]) for v in range(vectors))
        if self.element.is_integer:
            ones = self.vector.int(0x01010101)
            updated.extend(self._dot(state[len(words) * vectors + v], ones, columns[v]) for v in range(vectors))
        return updated

    def _packed_columns(self, base: str, vector: int, mask: str | None) -> str:
        at = self.advance(base, str(vector * self.tile.lanes * 4)) if vector else base
        if mask is not None:
            return self.masked_load("i32", self.element.bytes, at, mask)
        return self.fn.value(f"load {self.vector.type('i32')}, ptr {at}, align {self.element.bytes}")

    def _dot(self, accumulator: str, a: str, b: str) -> str:
        lanes = self.tile.lanes
        bits = 32 * lanes
        if self.element.is_integer:
            text = f"<{lanes} x i32>"
            bytes_text = f"<{4 * lanes} x i8>"
            a, b = (self.fn.value(f"bitcast {text} {v} to {bytes_text}") for v in (a, b))
            arguments = [(text, accumulator), (bytes_text, a), (bytes_text, b)]
            return self.fn.call(text, f"llvm.x86.avx512.vpdpbusd.{bits}", arguments)
        text, pairs = f"<{lanes} x float>", f"<{2 * lanes} x bfloat>"
        a, b = (self.fn.value(f"bitcast <{lanes} x i32> {v} to {pairs}") for v in (a, b))
        return self.fn.call(text, f"llvm.x86.avx512bf16.dpbf16ps.{bits}", [(text, accumulator), (pairs, a), (pairs, b)])

    def _finish(self, state: list[str], rows: int, vectors: int) -> list[list[str]]:
        """Rows of results; int8 loses 128 times the column sums."""
        values = [state[row * vectors : (row + 1) * vectors] for row in range(rows)]
        if not self.element.is_integer:
            return values
        excess = [self.vector.shl(total, 7) for total in state[rows * vectors :]]
        return [[self.vector.sub(value, extra) for value, extra in zip(row, excess, strict=True)] for row in values]


def emit_packed_kernel(
    name: str,
    module: ModuleText,
    facts: TargetFacts,
    element: ElementKind,
    rows: int,
    columns: int,
    *,
    from_zero: bool = False,
) -> str:
    """The definition of a kernel with the ABI of all micro-kernels; C = A B with `from_zero`.

    Raises ValueError without the instruction.
    """
    if not has_packed_form(element.name, facts):
        raise ValueError(f"{name}: this processor has no dot-product instruction for {element.name}")
    fn = kernel_function(name, module)
    tile = plan_register_tile(facts, rows, columns, element.accumulator_bits)
    PackedWriter(fn, element, tile, from_zero=from_zero).write()
    return fn.text()
