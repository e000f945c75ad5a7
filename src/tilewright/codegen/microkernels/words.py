"""Words of neighbours along k (see `grouping.py`), made of elements of A and B.

    word[k // g] = (x[k], ..., x[k + g - 1])        the last one filled up with zeros

``tw_mk_words_<a>_<acc>`` copies a block of A, row by row where the elements of rows adjoin, else all rows of one step
of k after the other. ``tw_mk_sums_<a>_<acc>`` gives 128 times the sum of each row of such a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tilewright.codegen.lane_builder import LaneBuilder
from tilewright.codegen.llvm_text import FunctionText, ModuleText, Parameter
from tilewright.codegen.microkernels.block_tiles import Step
from tilewright.codegen.microkernels.elements import ElementKind, RegisterTile
from tilewright.codegen.microkernels.grouping import Grouping

COPY_PARAMETERS = (
    *(("source", "ptr"), ("row_stride", "i64"), ("k_stride", "i64"), ("rows", "i64"), ("depth", "i64")),
    *(("copy", "ptr"), ("line_stride", "i64"), ("in_rows", "i1")),
)
SUM_PARAMETERS = (
    *(("copy", "ptr"), ("line_stride", "i64"), ("in_rows", "i1"), ("rows", "i64"), ("words", "i64")),
    ("sums", "ptr"),
)
WORD_BYTES = 4


class WordWriter:
    """Writes code that makes words."""

    def __init__(self, fn: FunctionText, element: ElementKind, tile: RegisterTile, grouping: Grouping) -> None:
        self.fn = fn
        self.element = element
        self.tile = tile
        self.vector = LaneBuilder(fn, tile.lanes)
        self.scalar = LaneBuilder(fn, 0)
        self.grouping = grouping
        self.group = grouping.group
        self.words_text = self.vector.type("i32")

    def join(self, elements: Sequence[str], b: LaneBuilder) -> str:
        """Words of as many elements, lane by lane."""
        bits = self.grouping.bits
        extend = "sext" if bits > 8 * self.element.bytes else "zext"
        word = ""
        for position, value in enumerate(elements):
            wide = b.cast(extend, value, self.element.memory, "i32")
            if extend == "sext" and position + 1 < self.group:
                wide = b.and_(wide, b.int((1 << bits) - 1))
            shifted = b.shl(wide, bits * position) if position else wide
            word = b.or_(word, shifted) if word else shifted
        return word

    def load_words(self, address: str) -> str:
        """Words of elements that adjoin along k."""
        elements = self.tile.lanes * self.group
        narrow, wide = f"<{elements} x {self.element.memory}>", f"<{elements} x i{self.grouping.bits}>"
        value = self.fn.load(narrow, address, align=self.element.bytes)
        if narrow != wide:
            value = self.fn.cast("sext", narrow, value, wide)
        return self.fn.cast("bitcast", wide, value, self.words_text)

    def load_joined(self, addresses: Sequence[str]) -> str:
        """Words of elements of which those of different words adjoin."""
        text = self.vector.type(self.element.memory)
        loaded = [self.fn.load(text, at, align=self.element.bytes) for at in addresses]
        return self.join(loaded, self.vector)

    def single_word(self, address: str, stride: str, left: str) -> str:
        """The word of the next elements, of which there are `left`, at least one."""
        fn, text = self.fn, self.element.memory
        elements: list[str] = []
        for position in range(self.group):
            exists = fn.icmp("sgt", "i64", left, position)
            held = fn.select(exists, "i64", fn.scaled(stride, position), 0) if position else "0"
            loaded = fn.load(text, fn.advance(address, held), align=self.element.bytes)
            elements.append(fn.select(exists, text, loaded, 0))
        return self.join(elements, self.scalar)

    def store_words(self, words: str, address: str) -> None:
        self.fn.store(self.words_text, words, address, align=WORD_BYTES)

    def words_of(self, depth: str) -> str:
        """Return how many words so many elements make."""
        return self.fn.binary("udiv", "i64", self.fn.binary("add", "i64", depth, self.group - 1), self.group)

    def whole_lanes(self, count: str) -> str:
        return self.fn.binary("and", "i64", count, -self.tile.lanes)

    # ----------------------------------------------------------------------------------------------------- a block of A

    def write_copy(self) -> None:
        """The body of ``tw_mk_words_...``."""
        words = self.words_of("%depth")
        self._either(lambda: self._copy_rows(words), lambda: self._copy_columns(words))

    def _either(self, rows: Callable[[], None], columns: Callable[[], None]) -> None:
        fn = self.fn
        by_rows, by_columns = fn.new_label("rows"), fn.new_label("columns")
        fn.branch_if("%in_rows", by_rows, by_columns)
        for label, body in ((by_rows, rows), (by_columns, columns)):
            fn.start(label)
            body()
            fn.ret()

    def _copy_rows(self, words: str) -> None:
        """Rows whose elements adjoin. A last vector of words that is not full is filled up with zeros."""
        fn, size = self.fn, self.element.bytes
        full = self.whole_lanes(fn.binary("udiv", "i64", "%depth", self.group))
        last = fn.scaled(full, WORD_BYTES)

        def row(index: str) -> None:
            source = fn.advance("%source", fn.scaled(index, "%row_stride"))
            copy = fn.advance("%copy", fn.scaled(index, "%line_stride"))

            def lanes(word: str) -> None:
                words = self.load_words(fn.advance(source, fn.scaled(word, self.group * size)))
                self.store_words(words, fn.advance(copy, fn.scaled(word, WORD_BYTES)))

            def single(word: str) -> None:
                left = fn.binary("sub", "i64", "%depth", fn.scaled(word, self.group))
                value = self.single_word(fn.advance(source, fn.scaled(word, self.group * size)), str(size), left)
                to = fn.advance(copy, fn.scaled(word, WORD_BYTES))
                fn.store("i32", value, to, align=WORD_BYTES)

            fn.loop("0", full, self.tile.lanes, lanes)
            self.store_words("zeroinitializer", fn.advance(copy, last))
            fn.loop(full, words, 1, single)

        fn.loop("0", "%rows", 1, row)

    def _copy_columns(self, words: str) -> None:
        """All rows of one word after those of another."""
        fn, size = self.fn, self.element.bytes
        adjoin = fn.icmp("eq", "i64", "%row_stride", size)
        some = fn.select(adjoin, "i64", self.whole_lanes("%rows"), 0)
        word_stride = fn.scaled("%k_stride", self.group)

        def line(word: str) -> None:
            source = fn.advance("%source", fn.scaled(word, word_stride))
            copy = fn.advance("%copy", fn.scaled(word, "%line_stride"))
            left = fn.binary("sub", "i64", "%depth", fn.scaled(word, self.group))
            is_whole = fn.icmp("sge", "i64", left, self.group)
            whole = fn.select(is_whole, "i64", some, 0)

            def lanes(row: str) -> None:
                first = fn.advance(source, fn.scaled(row, size))
                others = [fn.advance(first, fn.scaled("%k_stride", n)) for n in range(1, self.group)]
                self.store_words(self.load_joined([first, *others]), fn.advance(copy, fn.scaled(row, WORD_BYTES)))

            def single(row: str) -> None:
                value = self.single_word(fn.advance(source, fn.scaled(row, "%row_stride")), "%k_stride", left)
                to = fn.advance(copy, fn.scaled(row, WORD_BYTES))
                fn.store("i32", value, to, align=WORD_BYTES)

            fn.loop("0", whole, self.tile.lanes, lanes)
            fn.loop(whole, "%rows", 1, single)

        fn.loop("0", words, 1, line)

    # ----------------------------------------------------------------------------------------------------- sums of rows

    def write_sums(self) -> None:
        """The body of ``tw_mk_sums_...``; what is summed for rows that do not exist is of no account."""
        self._either(self._sum_rows, self._sum_columns)

    def _sum_rows(self) -> None:
        def row(index: str) -> None:
            copy = self.fn.advance("%copy", self.fn.scaled(index, "%line_stride"))
            total = self._summed(
                "%words", self.tile.lanes, lambda at: self.fn.advance(copy, self.fn.scaled(at, WORD_BYTES))
            )
            reduce = f"llvm.vector.reduce.add.v{self.tile.lanes}i32"
            single = self.fn.call("i32", reduce, [(self.words_text, total)])
            to = self.fn.advance("%sums", self.fn.scaled(index, WORD_BYTES))
            self.fn.store("i32", self.scalar.shl(single, 7), to, align=WORD_BYTES)

        self.fn.loop("0", "%rows", 1, row)

    def _sum_columns(self) -> None:
        def lanes(row: str) -> None:
            copy = self.fn.advance("%copy", self.fn.scaled(row, WORD_BYTES))
            total = self._summed("%words", 1, lambda at: self.fn.advance(copy, self.fn.scaled(at, "%line_stride")))
            self.store_words(self.vector.shl(total, 7), self.fn.advance("%sums", self.fn.scaled(row, WORD_BYTES)))

        self.fn.loop("0", "%rows", self.tile.lanes, lanes)

    def _summed(self, count: str, step: int, address: Callable[[str], str]) -> str:
        """The sum of the elements of vectors of words, lane by lane."""
        fn = self.fn
        slot = fn.alloca(self.words_text, align=64)
        fn.store(self.words_text, "zeroinitializer", slot, align=64)

        def add(at: str) -> None:
            words = fn.load(self.words_text, address(at), align=WORD_BYTES)
            old = fn.load(self.words_text, slot, align=64)
            ones = self.vector.int(0x01010101)
            new = self.grouping.multiply_add(self.vector, words, ones, old, self.element)
            fn.store(self.words_text, new, slot, align=64)

        fn.loop("0", count, step, add)
        return fn.load(self.words_text, slot, align=64)


def elements_of(fn: FunctionText, grouping: Grouping, step: Step) -> str:
    """Return how many elements of k a step of the outermost loop takes, which counts words."""
    left = fn.binary("sub", "i64", "%k_count", fn.scaled(step.first, grouping.group))
    return fn.minimum(left, fn.scaled(step.depth, grouping.group))


def emit_copy(name: str, module: ModuleText, element: ElementKind, tile: RegisterTile, grouping: Grouping) -> str:
    """The definition of ``tw_mk_words_<a>_<acc>``."""
    fn = _function(name, module, COPY_PARAMETERS)
    WordWriter(fn, element, tile, grouping).write_copy()
    return fn.text()


def emit_sums(name: str, module: ModuleText, element: ElementKind, tile: RegisterTile, grouping: Grouping) -> str:
    """The definition of ``tw_mk_sums_<a>_<acc>``."""
    fn = _function(name, module, SUM_PARAMETERS)
    WordWriter(fn, element, tile, grouping).write_sums()
    return fn.text()


def _function(name: str, module: ModuleText, parameters: tuple[tuple[str, str], ...]) -> FunctionText:
    named = [Parameter(type, f"%{parameter}") for parameter, type in parameters]
    return FunctionText(module, name, "void", named, linkage="internal", attributes="noinline nounwind")
