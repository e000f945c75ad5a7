"""Global and shared memory: vector loads and stores, predicated, with cache and eviction hints.

Words are integers of 8, 16, 32 or 64 bits. Without predicate and hints an access is LLVM's own load or store; with them
it is inline PTX: `@$p ld.global.L1::evict_last.v4.b32 {...}, [...]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tilewright.codegen.llvm_text import FunctionText
from tilewright.codegen.nvptx.facts import NvptxFacts
from tilewright.codegen.nvptx.inline_asm import inline_asm

REGISTER_CLASS = {8: "h", 16: "h", 32: "r", 64: "l"}
"""The constraint letter of a word; bytes travel in 16-bit registers."""

GLOBAL, SHARED = 1, 3
SPACES = {GLOBAL: "global", SHARED: "shared"}


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


PLAIN = MemoryHints()


class MemoryLeaf:
    """Loads and stores of words."""

    facts: NvptxFacts

    # -------------------------------------------------------------------------------------------------------- loads

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
        """`count` (1, 2 or 4) consecutive words, aligned to their whole size; where the predicate is false, `others`
        (undefined values if None)."""
        if predicate is None and hints.is_plain:
            return self._load_plain(text, pointer, word_bits, count, space)
        register = REGISTER_CLASS[word_bits]
        result = f"i{max(word_bits, 16)}"
        outputs = ", ".join(f"${index}" for index in range(count))
        destination = f"{{ {outputs} }}" if count > 1 else outputs
        operands: list[tuple[str, str]] = []
        constraints = [f"={register}"] * count
        position = count
        if predicate is not None and others is not None:
            for index, other in enumerate(others):
                constraints.append(str(index))
                operands.append((result, self._widened(text, other, word_bits)))
            position += count
        address = f"${position}"
        constraints.append("l" if space == GLOBAL else "r")
        operands.append((f"ptr addrspace({space})", pointer))
        position += 1
        before, policy, after = self._policy(hints, space)
        guard = ""
        if predicate is not None:
            guard = f"@${position} "
            constraints.append("b")
            operands.append(("i1", predicate))
        opcode = self._opcode("ld", space, hints, policy, word_bits, count)
        asm = f"{before}{guard}{opcode} {destination}, [{address}]{policy};{after}"
        words = inline_asm(text, asm, ",".join(constraints), [result] * count, operands)
        return [text.value(f"trunc i16 {word} to i8") for word in words] if word_bits == 8 else words

    def _load_plain(self, text: FunctionText, pointer: str, word_bits: int, count: int, space: int) -> list[str]:
        type = f"<{count} x i{word_bits}>" if count > 1 else f"i{word_bits}"
        alignment = word_bits * count // 8
        vector = text.value(f"load {type}, ptr addrspace({space}) {pointer}, align {alignment}")
        if count == 1:
            return [vector]
        return [text.value(f"extractelement {type} {vector}, i32 {index}") for index in range(count)]

    # ------------------------------------------------------------------------------------------------------- stores

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
        """1, 2 or 4 consecutive words, aligned to their whole size, where the predicate holds."""
        count = len(words)
        if predicate is None and hints.is_plain:
            self._store_plain(text, pointer, words, word_bits, space)
            return
        register = REGISTER_CLASS[word_bits]
        inputs = ", ".join(f"${index + 1}" for index in range(count))
        source = f"{{ {inputs} }}" if count > 1 else inputs
        constraints = ["l" if space == GLOBAL else "r", *[register] * count]
        operands = [(f"ptr addrspace({space})", pointer)]
        operands += [(f"i{max(word_bits, 16)}", self._widened(text, word, word_bits)) for word in words]
        position = count + 1
        before, policy, after = self._policy(hints, space)
        guard = ""
        if predicate is not None:
            guard = f"@${position} "
            constraints.append("b")
            operands.append(("i1", predicate))
        opcode = self._opcode("st", space, hints, policy, word_bits, count)
        asm = f"{before}{guard}{opcode} [$0], {source}{policy};{after}"
        inline_asm(text, asm, ",".join(constraints), [], operands, clobbers_memory=True)

    def _store_plain(self, text: FunctionText, pointer: str, words: Sequence[str], word_bits: int, space: int) -> None:
        count = len(words)
        type = f"<{count} x i{word_bits}>" if count > 1 else f"i{word_bits}"
        value = words[0]
        if count > 1:
            value = "poison"
            for index, word in enumerate(words):
                value = text.value(f"insertelement {type} {value}, i{word_bits} {word}, i32 {index}")
        text.emit(f"store {type} {value}, ptr addrspace({space}) {pointer}, align {word_bits * count // 8}")

    # -------------------------------------------------------------------------------------------------------- parts

    def _widened(self, text: FunctionText, word: str, word_bits: int) -> str:
        """A byte in the 16-bit register that inline PTX takes it in."""
        if word_bits != 8 or word[0] != "%":
            return word
        return text.value(f"zext i8 {word} to i16")

    def _policy(self, hints: MemoryHints, space: int) -> tuple[str, str, str]:
        """An L2 eviction policy: the text before the access that makes it, its operand, the text behind."""
        if not hints.evict or hints.volatile or space != GLOBAL:
            return "", "", ""
        create = f"createpolicy.fractional.L2::{hints.evict}.b64 policy, 1.0;"
        return f"{{ .reg .b64 policy; {create} ", ", policy", " }"

    def _opcode(self, name: str, space: int, hints: MemoryHints, policy: str, word_bits: int, count: int) -> str:
        if hints.volatile:
            parts = [name, "volatile", SPACES[space]]
        else:
            parts = [name, SPACES[space], hints.cache, f"L1::{hints.evict}" if hints.evict else ""]
            parts = [part for part in (*parts, "L2::cache_hint" if policy else "") if part]
        if count > 1:
            parts.append(f"v{count}")
        parts.append(f"b{word_bits}")
        return ".".join(parts)
