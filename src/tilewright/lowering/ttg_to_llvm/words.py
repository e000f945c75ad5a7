"""Elements as the words that shuffles, matrix instructions and shared memory move.

Elements that came out of one word and go into one together again are not packed: the word is remembered in
`fn.packed`. So what `ldmatrix` loads reaches `mma.sync` as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tilewright.lowering.ttg_to_llvm.function_lowering import FunctionLowering
from tilewright.lowering.ttg_to_llvm.packing import from_words, to_words
from tilewright.lowering.ttg_to_llvm.types import ElementType

WORD_BITS = 32
ZEROS = frozenset({"0", "zeroinitializer", "null", "false", "0xH0000", "0xR0000", "0x0000000000000000"})
"""How literals spell the element whose bits are all zero."""


def pack_words(fn: FunctionLowering, element: ElementType, operands: Sequence[str]) -> list[str]:
    """Elements as i32 words, first element in the low bits; their number fills whole words."""
    count = max(1, WORD_BITS // element.bits)
    if count == 1:
        return to_words(fn.text, element, operands, WORD_BITS)
    words: list[str] = []
    for start in range(0, len(operands), count):
        group = tuple(operands[start : start + count])
        word = fn.packed.get(group)
        words += [word] if word is not None else to_words(fn.text, element, group, WORD_BITS)
    return words


def unpack_words(fn: FunctionLowering, element: ElementType, words: Sequence[str]) -> list[str]:
    """The elements in i32 words: the inverse of `pack_words`."""
    operands = from_words(fn.text, element, words, WORD_BITS)
    count = max(1, WORD_BITS // element.bits)
    if count > 1:
        for index, word in enumerate(words):
            fn.packed[tuple(operands[index * count : (index + 1) * count])] = word
    return operands


def through_words(
    fn: FunctionLowering, element: ElementType, operands: Sequence[str], move: Callable[[str], str]
) -> list[str]:
    """Each element after `move` of the words that hold it; several elements share a word where they fit."""
    count = max(1, WORD_BITS // element.bits)
    missing = -len(operands) % count
    padded = [*operands, *[operands[-1]] * missing]
    words = [move(word) for word in pack_words(fn, element, padded)]
    return unpack_words(fn, element, words)[: len(operands)]


def shuffle_xor(fn: FunctionLowering, element: ElementType, operands: Sequence[str], distance: int) -> list[str]:
    """Return what the lane whose number differs in the bits of `distance` holds."""
    return through_words(fn, element, operands, lambda word: fn.leaf.shuffle_xor(fn.text, word, distance))


def shuffle_index(fn: FunctionLowering, element: ElementType, operands: Sequence[str], lane: str) -> list[str]:
    """Return what `lane` holds."""
    return through_words(fn, element, operands, lambda word: fn.leaf.shuffle_index(fn.text, word, lane))
