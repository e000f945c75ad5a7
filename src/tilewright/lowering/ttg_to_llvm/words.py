"""Elements as the words that shuffles, matrix instructions and shared memory move.

Elements that came out of one word and go into one together again are not packed: the word is remembered in
`fn.packed`. So what `ldmatrix` loads reaches `mma.sync` as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tilewright.lowering.ttg_to_llvm.function_lowering import GpuFunctionLowering
from tilewright.lowering.ttg_to_llvm.packing import WORD_BITS, pack, unpack
from tilewright.lowering.ttg_to_llvm.types import ElementType

ZEROS = frozenset({"0", "zeroinitializer", "null", "false", "0xH0000", "0xR0000", "0x0000000000000000"})
"""How literals spell the element whose bits are all zero."""


def pack_words(fn: GpuFunctionLowering, element: ElementType, operands: Sequence[str]) -> list[str]:
    """Elements as i32 words, first element in the low bits; their number fills whole words."""
    return pack(fn.text, fn.packed, element, operands)


def unpack_words(
    fn: GpuFunctionLowering, element: ElementType, words: Sequence[str], word_bits: int = WORD_BITS
) -> list[str]:
    """The elements in words of 32 bits, or 16: the inverse of `pack_words`."""
    return unpack(fn.text, fn.packed, element, words, word_bits)


def through_words(
    fn: GpuFunctionLowering, element: ElementType, operands: Sequence[str], move: Callable[[str], str]
) -> list[str]:
    """Each element after `move` of the words that hold it; several elements share a word where they fit."""
    count = max(1, WORD_BITS // element.bits)
    missing = -len(operands) % count
    padded = [*operands, *[operands[-1]] * missing]
    words = [move(word) for word in pack_words(fn, element, padded)]
    return unpack_words(fn, element, words)[: len(operands)]


def shuffle_xor(fn: GpuFunctionLowering, element: ElementType, operands: Sequence[str], distance: int) -> list[str]:
    """Return what the lane whose number differs in the bits of `distance` holds."""
    return through_words(fn, element, operands, lambda word: fn.emitter.shuffle_xor(fn.text, word, distance))


def shuffle_index(fn: GpuFunctionLowering, element: ElementType, operands: Sequence[str], lane: str) -> list[str]:
    """Return what `lane` holds."""
    return through_words(fn, element, operands, lambda word: fn.emitter.shuffle_index(fn.text, word, lane))
