"""Global and shared memory: vector loads and stores, predicated, with cache and eviction hints.

Without predicate and hints an access is LLVM's own load or store of a vector; with them it is inline PTX over words of
8 to 64 bits: `@$p ld.global.L2::cache_hint.v4.b32 {...}, [...], policy;`. PTX has no cache operator beside an eviction
priority of L1, so an access with both keeps the operator and the policy for L2.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.codegen.llvm_text import FunctionText
from tilewright.codegen.nvptx.facts import NvptxFacts
from tilewright.codegen.nvptx.inline_asm import inline_asm
from tilewright.support.records import dataclass

GLOBAL, SHARED = 1, 3
SPACES = {GLOBAL: "global", SHARED: "shared"}
MAX_ACCESS_BITS = 128

_REGISTER_CLASSES = {"float": "f", "double": "d"}
_CLASS_BY_BITS = {16: "h", 32: "r", 64: "l"}


@dataclass(frozen=True)
class MemoryHints:
    """How an access treats caches: PTX's cache operator, and the eviction priority of its lines."""

    cache: str = ""
    """``ca``, ``cg``, ``cs``, ``wb``, ``wt``, ``cv`` or nothing."""
    evict: str = ""
    """``evict_first``, ``evict_last`` or nothing."""
    volatile: bool = False

    @property
    def is_plain(self) -> bool:
        return not (self.cache or self.evict or self.volatile)

    @property
    def has_policy(self) -> bool:
        """True if the access has an eviction policy for L2."""
        return bool(self.evict) and not self.volatile


PLAIN = MemoryHints()


class MemoryInstructions:
    """Loads and stores of 1 to 128 bits, aligned to their size.

    `scalar` is the LLVM type of an element (not i1, not a pointer), `bits` its width; an access covers a power of two
    of them.
    """

    facts: NvptxFacts

    # -------------------------------------------------------------------------------------------------------- loads

    def load_vector(
        self,
        text: FunctionText,
        pointer: str,
        scalar: str,
        bits: int,
        count: int,
        *,
        space: int = GLOBAL,
        predicate: str | None = None,
        others: Sequence[str] | None = None,
        hints: MemoryHints = PLAIN,
    ) -> list[str]:
        """`count` consecutive elements; where the predicate is false, `others` (zeros if None)."""
        vector = _vector(scalar, count)
        if predicate is None and hints.is_plain:
            value = text.value(f"load {vector}, ptr addrspace({space}) {pointer}, align {bits * count // 8}")
            return _elements(text, scalar, value, count)
        words = _Words(scalar, bits, count)
        operands: list[tuple[str, str]] = []
        constraints = [f"={words.register}"] * words.count
        if predicate is not None:
            given = [_zero(scalar)] * count if others is None else others
            constraints += [str(index) for index in range(words.count)]
            operands += [(words.asm_type, word) for word in words.pack(text, given)]
        address = len(constraints)
        constraints.append("l" if space == GLOBAL else "r")
        operands.append((f"ptr addrspace({space})", pointer))
        guard = _guard(predicate, constraints, operands)
        policy = self._policy(text, hints, space, constraints, operands)
        destination = words.braced(0)
        asm = f"{guard}{_opcode('ld', space, hints, words)} {destination}, [${address}]{policy};"
        loaded = inline_asm(text, asm, ",".join(constraints), [words.asm_type] * words.count, operands)
        return words.unpack(text, loaded)

    def load_words(
        self,
        text: FunctionText,
        pointer: str,
        word_bits: int,
        count: int,
        *,
        space: int = GLOBAL,
        predicate: str | None = None,
        others: Sequence[str] | None = None,
        hints: MemoryHints = PLAIN,
    ) -> list[str]:
        """`load_vector` of integers."""
        return self.load_vector(
            text,
            pointer,
            f"i{word_bits}",
            word_bits,
            count,
            space=space,
            predicate=predicate,
            others=others,
            hints=hints,
        )

    # ------------------------------------------------------------------------------------------------------- stores

    def store_vector(
        self,
        text: FunctionText,
        pointer: str,
        scalar: str,
        bits: int,
        values: Sequence[str],
        *,
        space: int = GLOBAL,
        predicate: str | None = None,
        hints: MemoryHints = PLAIN,
    ) -> None:
        """Consecutive elements, where the predicate holds."""
        count = len(values)
        if predicate is None and hints.is_plain:
            vector = build_vector(text, scalar, values) if count > 1 else values[0]
            type = _vector(scalar, count)
            text.emit(f"store {type} {vector}, ptr addrspace({space}) {pointer}, align {bits * count // 8}")
            return
        words = _Words(scalar, bits, count)
        constraints = ["l" if space == GLOBAL else "r", *[words.register] * words.count]
        operands = [(f"ptr addrspace({space})", pointer)]
        operands += [(words.asm_type, word) for word in words.pack(text, values)]
        guard = _guard(predicate, constraints, operands)
        policy = self._policy(text, hints, space, constraints, operands)
        asm = f"{guard}{_opcode('st', space, hints, words)} [$0], {words.braced(1)}{policy};"
        inline_asm(text, asm, ",".join(constraints), [], operands, clobbers_memory=True)

    def store_words(
        self,
        text: FunctionText,
        pointer: str,
        words: Sequence[str],
        word_bits: int,
        *,
        space: int = GLOBAL,
        predicate: str | None = None,
        hints: MemoryHints = PLAIN,
    ) -> None:
        """`store_vector` of integers."""
        self.store_vector(
            text, pointer, f"i{word_bits}", word_bits, words, space=space, predicate=predicate, hints=hints
        )

    # -------------------------------------------------------------------------------------------------------- parts

    def _policy(
        self,
        text: FunctionText,
        hints: MemoryHints,
        space: int,
        constraints: list[str],
        operands: list[tuple[str, str]],
    ) -> str:
        """The operand that carries an L2 eviction policy; LLVM makes equal policies once."""
        if not hints.has_policy or space != GLOBAL:
            return ""
        asm = f"createpolicy.fractional.L2::{hints.evict}.b64 $0, 1.0;"
        [policy] = inline_asm(text, asm, "=l", ["i64"], (), has_effect=False)
        constraints.append("l")
        operands.append(("i64", policy))
        return f", ${len(constraints) - 1}"


class _Words:
    """How elements travel through inline PTX: one per word, or several in a vector of 32 bits."""

    def __init__(self, scalar: str, bits: int, count: int) -> None:
        self.scalar = scalar
        self.per_word = min(count, 32 // bits) if bits < 32 else 1
        self.bits = bits * self.per_word
        self.count = count // self.per_word
        vector = _vector(scalar, self.per_word)
        self.vector = vector
        match self.bits, self.per_word:
            case 8, _:
                self.asm_type = "i16"
            case 16, 2:
                self.asm_type = "i16"
            case _:
                self.asm_type = vector
        self.register = _REGISTER_CLASSES.get(self.asm_type) or _CLASS_BY_BITS[max(self.bits, 16)]

    def braced(self, first: int) -> str:
        """``{$0, $1}`` from operand `first` on."""
        names = ", ".join(f"${first + index}" for index in range(self.count))
        return f"{{ {names} }}" if self.count > 1 else names

    def pack(self, text: FunctionText, values: Sequence[str]) -> list[str]:
        """The words of elements."""
        words: list[str] = []
        for start in range(0, len(values), self.per_word):
            group = values[start : start + self.per_word]
            word = build_vector(text, self.scalar, group) if self.per_word > 1 else group[0]
            if self.bits == 8:
                word = text.cast("zext", "i8", word, "i16") if word[0] == "%" else word
            elif self.asm_type != self.vector:
                word = text.cast("bitcast", self.vector, word, self.asm_type)
            words.append(word)
        return words

    def unpack(self, text: FunctionText, words: Sequence[str]) -> list[str]:
        """The elements of words."""
        elements: list[str] = []
        for word in words:
            if self.bits == 8:
                word = text.cast("trunc", "i16", word, "i8")
            elif self.asm_type != self.vector:
                word = text.cast("bitcast", self.asm_type, word, self.vector)
            elements += _elements(text, self.scalar, word, self.per_word)
        return elements


def _guard(predicate: str | None, constraints: list[str], operands: list[tuple[str, str]]) -> str:
    if predicate is None:
        return ""
    constraints.append("b")
    operands.append(("i1", predicate))
    return f"@${len(constraints) - 1} "


def _opcode(name: str, space: int, hints: MemoryHints, words: _Words) -> str:
    parts = [name, SPACES[space]]
    if hints.volatile:
        parts.insert(1, "volatile")
    else:
        parts += [hints.cache] if hints.cache else [f"L1::{hints.evict}"] if hints.evict else []
        parts += ["L2::cache_hint"] if hints.has_policy and space == GLOBAL else []
    parts += [f"v{words.count}"] if words.count > 1 else []
    return ".".join([*parts, f"b{words.bits}"])


def _vector(scalar: str, count: int) -> str:
    return scalar if count == 1 else f"<{count} x {scalar}>"


def _zero(scalar: str) -> str:
    return "0" if scalar.startswith("i") else "zeroinitializer"


def _elements(text: FunctionText, scalar: str, vector: str, count: int) -> list[str]:
    if count == 1:
        return [vector]
    return [text.extract_element(f"<{count} x {scalar}>", vector, index) for index in range(count)]


def build_vector(text: FunctionText, scalar: str, operands: Sequence[str]) -> str:
    """An LLVM vector of the operands."""
    if all(operand[0] not in "%@" for operand in operands):
        return "<" + ", ".join(f"{scalar} {operand}" for operand in operands) + ">"
    vector = "poison"
    for index, operand in enumerate(operands):
        vector = text.insert_element(f"<{len(operands)} x {scalar}>", vector, scalar, operand, index)
    return vector
