"""Words: 2 or 4 neighbours along k that one instruction multiplies and sums, lane by lane, into a sum of 32 bits.

| elements | words | instruction | where |
|---|---|---|---|
| int8 | 4, those of B plus 128 | ``vpdpbusd``, whose first factor has no sign | AVX-512 VNNI, AVX-VNNI |
| int8 | 4 | ``sdot`` | AArch64 with dotprod |
| int8 | 2, widened to int16 | ``pmaddwd``, then an addition | all other x86-64 |
| bfloat16 | 2 | ``vdpbf16ps`` | AMD's Zen 4 and later |
| bfloat16 | 2 | ``bfdot`` | AArch64 with bf16 |

B plus 128 multiplies A to 128 times A's sum more than wanted: that sum comes off again (see `words.py`), and the result
is exact. The instructions for bfloat16 take subnormal numbers for zeros. Intel's processors do half as many products a
cycle by ``vdpbf16ps`` (Golden Cove: 16) as by multiply-adds of f32, to which bfloat16 is widened there.
"""

from __future__ import annotations

from tilewright.codegen.lane_builder import LaneBuilder
from tilewright.codegen.microkernels.elements import ElementKind
from tilewright.support.facts import TargetFacts
from tilewright.support.records import dataclass

_FAST_BF16 = ("znver",)
"""How LLVM's names of processors begin whose `vdpbf16ps` is worth it."""


@dataclass(frozen=True)
class Grouping:
    """How elements make words, and what multiplies them."""

    group: int
    """Elements in a word."""
    instruction: str
    """LLVM's intrinsic, without the number of bits after it that x86's end with."""
    offsets_b: bool = False
    """Elements of B are increased by 128."""
    adds_apart: bool = False
    """The instruction has no accumulator."""

    @property
    def bits(self) -> int:
        """Of an element in a word."""
        return 32 // self.group

    def multiply_add(self, b: LaneBuilder, x: str, y: str, accumulator: str, kind: ElementKind) -> str:
        """accumulator + the products in the words of A, `x`, and of B, `y`."""
        lanes, text = b.lanes, b.type(kind.accumulator)
        scalar = "i8" if self.group == 4 else "i16" if kind.is_integer else "bfloat"
        words = f"<{lanes * self.group} x {scalar}>"
        x, y = (b.fn.cast("bitcast", b.type("i32"), value, words) for value in (x, y))
        if self.adds_apart:
            return b.add(accumulator, b.fn.call(text, self.instruction, [(words, x), (words, y)]))
        factors = (y, x) if self.offsets_b else (x, y)
        return b.fn.call(text, self.instruction, [(text, accumulator), *((words, factor) for factor in factors)])


def find_grouping(element: ElementKind, facts: TargetFacts) -> Grouping | None:
    """Return how a machine multiplies words of these elements; None where it multiplies them one by one."""
    is_x86, bits = facts.triple.startswith("x86_64"), facts.vector_bits
    if element.name == "i8":
        if not is_x86:
            return Grouping(4, "llvm.aarch64.neon.sdot.v4i32.v16i8") if facts.has("dotprod") else None
        if (facts.has("avx512vnni") and facts.has("avx512vl")) or (facts.has("avxvnni") and bits <= 256):
            return Grouping(4, f"llvm.x86.avx512.vpdpbusd.{bits}", offsets_b=True)
        return Grouping(2, _PAIRS_OF_I16[bits], adds_apart=True)
    if element.name == "bf16":
        if not is_x86:
            return Grouping(2, "llvm.aarch64.neon.bfdot.v4f32.v8bf16") if facts.has("bf16") else None
        if facts.has("avx512bf16") and facts.has("avx512vl") and facts.cpu.startswith(_FAST_BF16):
            return Grouping(2, f"llvm.x86.avx512bf16.dpbf16ps.{bits}")
    return None


_PAIRS_OF_I16 = {
    128: "llvm.x86.sse2.pmadd.wd",
    256: "llvm.x86.avx2.pmadd.wd",
    512: "llvm.x86.avx512.pmaddw.d.512",
}
"""``pmaddwd`` by the width of a vector."""
