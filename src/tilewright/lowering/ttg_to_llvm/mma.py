"""tt.dot by `mma.sync`: tiles of 16 rows and 8 columns per instruction.

A thread holds of a row of A, and of a column of B, words of 32 bits along K. An instruction takes two of them. Which
elements of K meet in one instruction does not matter to the sum as long as A and B agree, and they do: both have the
same words in the same order, whatever `kWidth` is.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import Float8E4M3FNType, Float8E5M2Type
from xdsl.ir import SSAValue

from tilewright.codegen.nvptx.matrix import MmaShape
from tilewright.dialects import tt
from tilewright.dialects.types import element_type
from tilewright.layouts.access import span_of
from tilewright.layouts.distributed import LANE, REGISTER
from tilewright.layouts.linear import LinearLayout
from tilewright.lowering.ttg_to_llvm.function_lowering import GpuFunctionLowering
from tilewright.lowering.ttg_to_llvm.types import ElementType, element_of
from tilewright.lowering.ttg_to_llvm.words import WORD_BITS, pack_words, unpack_words
from tilewright.lowering.unsupported import UnsupportedError
from tilewright.support.records import dataclass

TILE_REGISTERS = 4
"""Registers of one thread in a tile of the result: two columns of two rows."""
K_LANE_BITS = (0, 1)
"""Lane bits that move operands along K."""
STEP_WORDS = 2
"""Words of a row of A, and of a column of B, that an instruction takes."""
WIDE_F64_CAPABILITY, WIDE_F64_WORDS = 90, 4
"""From there on products of f64 have 16 rows, and may be four words deep."""

_OPERAND_NAMES = {"half": "f16", "bfloat": "bf16", "float": "tf32", "double": "f64", "i8": "s8"}
_BITS = {"tf32": 32, "f16": 16, "bf16": 16}
_RESULT_NAMES = {"half": "f16", "float": "f32", "double": "f64", "i32": "s32"}


def emit_mma(op: tt.DotOp, fn: GpuFunctionLowering) -> list[str]:
    """The registers of the result."""
    result = fn.element(op.d)
    names = [_operand_name(value) for value in (op.a, op.b)]
    result_name = _RESULT_NAMES.get(result.text)
    if result_name is None:
        raise UnsupportedError(f"mma.sync gives no {result.text}")
    form = _Form(fn, result, result_name, *names)
    a, b = _Fragments(fn, op.a, k_dim=-1), _Fragments(fn, op.b, k_dim=-2)
    step_words = form.step_words(a.num_words)
    layout = fn.layout(op.d)
    coordinates = [layout.unpack(value) for value in span_of(layout.packed_bases[REGISTER])]
    tiles = range(0, len(coordinates), TILE_REGISTERS)
    sums = {tile: list(fn.registers(op.c)[tile : tile + TILE_REGISTERS]) for tile in tiles}
    for first in range(0, a.num_words, step_words):
        step = slice(first, first + step_words)
        for tile in tiles:
            *batch, row, column = coordinates[tile]
            lower_row = coordinates[tile + 2][-2]
            rows = [a.words(step, (*batch, place)) for place in (row, lower_row)]
            sums[tile] = form.multiply(rows, b.words(step, (*batch, column)), sums[tile])
    return [register for tile in tiles for register in sums[tile]]


def _operand_name(value: SSAValue) -> str:
    """Return what PTX calls the elements of an operand."""
    type = element_type(value.type)
    match type:
        case Float8E4M3FNType():
            return "e4m3"
        case Float8E5M2Type():
            return "e5m2"
        case _:
            name = None if element_of(type).format is not None else _OPERAND_NAMES.get(element_of(type).text)
            if name is None:
                raise UnsupportedError(f"mma.sync does not multiply {type}")
            return name


@dataclass(frozen=True)
class _Form:
    """The instruction, and how registers of the result become its operands."""

    fn: GpuFunctionLowering
    result: ElementType
    result_name: str
    a_name: str
    b_name: str

    def step_words(self, num_words: int) -> int:
        """Return how many of the words along K one instruction takes."""
        is_wide = self.a_name == "f64" and self.fn.facts.capability >= WIDE_F64_CAPABILITY
        return WIDE_F64_WORDS if is_wide and num_words % WIDE_F64_WORDS == 0 else STEP_WORDS

    def multiply(self, rows: Sequence[Sequence[str]], column: Sequence[str], sums: Sequence[str]) -> list[str]:
        """One tile: `rows[half][k half]` of A, `column[k half]` of B, four registers of the result."""
        if self.a_name == "f64" and self.fn.facts.capability < WIDE_F64_CAPABILITY:
            return self._multiply_f64(rows, column, sums)
        a = [word for halves in zip(*rows, strict=True) for word in halves]
        depth = 4 * len(column) * (1 if self.a_name == "f64" else WORD_BITS // _BITS.get(self.a_name, 8))
        shape = MmaShape(16, 8, depth, self.result_name, self.a_name, self.b_name)
        if self.result_name != "f16":
            return self.fn.emitter.mma(self.fn.text, shape, a, column, sums)
        words = self.fn.emitter.mma(self.fn.text, shape, a, column, pack_words(self.fn, self.result, sums))
        return unpack_words(self.fn, self.result, words)

    def _multiply_f64(self, rows: Sequence[Sequence[str]], column: Sequence[str], sums: Sequence[str]) -> list[str]:
        """Older machines have tiles of 8 rows, 4 deep."""
        shape = MmaShape(8, 8, 4, "f64", "f64", "f64")
        results: list[str] = []
        for half, row in enumerate(rows):
            part = list(sums[2 * half : 2 * half + 2])
            for a, b in zip(row, column, strict=True):
                part = self.fn.emitter.mma(self.fn.text, shape, [a], [b], part)
            results += part
        return results


class _Fragments:
    """The words of an operand: by the coordinates other than K, in the order of K."""

    def __init__(self, fn: GpuFunctionLowering, value: SSAValue, *, k_dim: int) -> None:
        self._fn = fn
        self._element = fn.element(value)
        layout = fn.layout(value)
        self._repeats = _lanes_that_repeat_k(layout, k_dim)
        registers = fn.registers(value)
        rows: dict[tuple[int, ...], dict[int, str]] = {}
        for packed, operand in zip(span_of(layout.packed_bases[REGISTER]), registers, strict=True):
            coordinates = list(layout.unpack(packed))
            k = coordinates.pop(k_dim)
            rows.setdefault(tuple(coordinates), {}).setdefault(k, operand)
        self._words = {place: self._packed([row[k] for k in sorted(row)]) for place, row in rows.items()}

    @property
    def num_words(self) -> int:
        """Words along K of a thread, an even number."""
        return len(next(iter(self._words.values())))

    def words(self, step: slice, coordinates: tuple[int, ...]) -> list[str]:
        """The words that an instruction takes."""
        return self._words[coordinates][step]

    def _packed(self, operands: Sequence[str]) -> list[str]:
        """A row as words, an even number of them: zeros where K is shorter than an instruction."""
        zero = self._element.zero
        if self._element.bits > WORD_BITS:
            words = list(operands)
            missing = "0.0"
        else:
            filled = -len(operands) % (WORD_BITS // self._element.bits)
            words = pack_words(self._fn, self._element, [*operands, *[zero] * filled])
            missing = "0"
        words = [self._once(word) for word in words]
        return [*words, missing] if len(words) % 2 else words

    def _once(self, word: str) -> str:
        """Zero in lanes that only repeat what other lanes hold along K, which would count twice."""
        if not self._repeats:
            return word
        text = self._fn.text
        type, zero = ("double", "0.0") if self._element.bits > WORD_BITS else ("i32", "0")
        bits = text.binary("and", "i32", self._fn.threads.lane, self._repeats)
        first = text.icmp("eq", "i32", bits, 0)
        return text.select(first, type, word, zero)


def _lanes_that_repeat_k(layout: LinearLayout, k_dim: int) -> int:
    """The lane bits that should move K and do not, because K is short."""
    lanes = layout.bases_of(LANE)
    return sum(1 << bit for bit in K_LANE_BITS if not lanes[bit][k_dim])
