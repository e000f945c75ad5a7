"""Elements of less than 32 bits in words, and elements of more as several words.

Shuffles move i32; memory instructions move words of 8, 16, 32 or 64 bits, up to four of them. `to_words` turns a run of
equal elements into such words, `from_words` turns them back.

```llvm
%a = insertelement <2 x half> poison, half %x, i32 0
%b = insertelement <2 x half> %a, half %y, i32 1
%w = bitcast <2 x half> %b to i32
```
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.codegen.llvm_text import FunctionText
from tilewright.codegen.nvptx.memory import build_vector
from tilewright.lowering.ttg_to_llvm.types import ElementType
from tilewright.lowering.ttg_to_llvm.values import is_literal

WORD_BITS = 32

Packed = dict[tuple[str, ...], str]
"""The word that elements were unpacked from."""


def pack(text: FunctionText, packed: Packed, element: ElementType, operands: Sequence[str]) -> list[str]:
    """Elements as i32 words; those that came out of one word and go into one together again are not packed."""
    count = max(1, WORD_BITS // element.bits)
    if count == 1:
        return to_words(text, element, operands, WORD_BITS)
    words: list[str] = []
    for start in range(0, len(operands), count):
        group = tuple(operands[start : start + count])
        word = packed.get(group) or _joined_halves(text, packed, group)
        words += [word] if word is not None else to_words(text, element, group, WORD_BITS)
    return words


def _joined_halves(text: FunctionText, packed: Packed, group: tuple[str, ...]) -> str | None:
    """The word of elements whose two halves were each loaded as 16 bits."""
    low, high = (packed.get(half) for half in (group[: len(group) // 2], group[len(group) // 2 :]))
    if low is None or high is None:
        return None
    low, high = (text.cast("zext", "i16", half, "i32") for half in (low, high))
    return text.binary("or", "i32", low, text.binary("shl", "i32", high, WORD_BITS // 2))


def unpack(
    text: FunctionText, packed: Packed, element: ElementType, words: Sequence[str], word_bits: int = WORD_BITS
) -> list[str]:
    """The elements in words of 32 bits, or 16: the inverse of `pack`, which is told."""
    operands = from_words(text, element, words, word_bits)
    count = max(1, word_bits // element.bits)
    if count > 1:
        for index, word in enumerate(words):
            packed[tuple(operands[index * count : (index + 1) * count])] = word
    return operands


def to_words(text: FunctionText, element: ElementType, operands: Sequence[str], word_bits: int) -> list[str]:
    """Consecutive elements as integers of `word_bits`, first element in the low bits.

    The number of elements is a multiple of those in a word (or word_bits divides the element's bits).
    """
    bits = element.bits
    if bits < word_bits:
        count = word_bits // bits
        return [
            _pack(text, element, operands[start : start + count], word_bits) for start in range(0, len(operands), count)
        ]
    whole = [as_integer(text, element, operand) for operand in operands]
    if bits == word_bits:
        return whole
    parts = bits // word_bits
    words: list[str] = []
    for operand in whole:
        vector = text.cast("bitcast", f"i{bits}", operand, f"<{parts} x i{word_bits}>")
        words += [text.extract_element(f"<{parts} x i{word_bits}>", vector, i) for i in range(parts)]
    return words


def from_words(text: FunctionText, element: ElementType, words: Sequence[str], word_bits: int) -> list[str]:
    """The elements in integers of `word_bits`: the inverse of `to_words`."""
    bits = element.bits
    if bits < word_bits:
        return [operand for word in words for operand in _unpack(text, element, word, word_bits)]
    if bits == word_bits:
        return [from_integer(text, element, word) for word in words]
    parts = bits // word_bits
    operands: list[str] = []
    for start in range(0, len(words), parts):
        vector = build_vector(text, f"i{word_bits}", words[start : start + parts])
        whole = text.cast("bitcast", f"<{parts} x i{word_bits}>", vector, f"i{bits}")
        operands.append(from_integer(text, element, whole))
    return operands


def as_integer(text: FunctionText, element: ElementType, operand: str) -> str:
    """An element as the integer of its bits in memory."""
    if element.text == "i1":
        if is_literal(operand):
            return str(int(operand in ("1", "true", "-1")))
        return text.cast("zext", "i1", operand, "i8")
    if element.is_pointer:
        return text.cast("ptrtoint", element.text, operand, "i64")
    if element.text.startswith("i"):
        return operand
    if operand == "zeroinitializer":
        return "0"
    return text.cast("bitcast", element.text, operand, f"i{element.bits}")


def from_integer(text: FunctionText, element: ElementType, operand: str) -> str:
    """The element whose bits in memory an integer has."""
    if element.text == "i1":
        return text.cast("trunc", "i8", operand, "i1")
    if element.is_pointer:
        return text.cast("inttoptr", "i64", operand, element.text)
    if element.text.startswith("i"):
        return operand
    return text.cast("bitcast", f"i{element.bits}", operand, element.text)


def _memory_scalar(element: ElementType) -> str:
    return f"i{element.bits}" if element.text == "i1" or element.is_pointer else element.text


def _pack(text: FunctionText, element: ElementType, operands: Sequence[str], word_bits: int) -> str:
    if element.text == "i1":
        operands = [as_integer(text, element, operand) for operand in operands]
    scalar = _memory_scalar(element)
    if all(is_literal(operand) and operand in ("0", "zeroinitializer") for operand in operands):
        return "0"
    vector = build_vector(text, scalar, operands)
    return text.cast("bitcast", f"<{len(operands)} x {scalar}>", vector, f"i{word_bits}")


def _unpack(text: FunctionText, element: ElementType, word: str, word_bits: int) -> list[str]:
    count = word_bits // element.bits
    scalar = _memory_scalar(element)
    vector = text.cast("bitcast", f"i{word_bits}", word, f"<{count} x {scalar}>")
    operands = vector_elements(text, scalar, vector, count)
    if element.text == "i1":
        return [from_integer(text, element, operand) for operand in operands]
    return operands


def vector_elements(text: FunctionText, scalar: str, vector: str, count: int) -> list[str]:
    """The elements of an LLVM vector."""
    return [text.extract_element(f"<{count} x {scalar}>", vector, index) for index in range(count)]
