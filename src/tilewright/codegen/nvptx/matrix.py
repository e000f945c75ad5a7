"""Matrices of 8x8 between shared memory and registers, matmuls of a warp, asynchronous copies, warp reductions.

`mma` multiplies tiles that the 32 lanes of a warp hold together (`mma.sync`): operands in words of 32 bits, f64 as it
is. `load_matrices` and `store_matrices` move up to four matrices of 8 rows of 16 bytes; each lane gives the address of
one row.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.codegen.llvm_text import FunctionText
from tilewright.codegen.nvptx.facts import NvptxFacts
from tilewright.codegen.nvptx.inline_asm import inline_asm
from tilewright.support.records import dataclass

FULL_WARP = "-1"
SHARED_POINTER, GLOBAL_POINTER = "ptr addrspace(3)", "ptr addrspace(1)"


@dataclass(frozen=True)
class MmaShape:
    """One form of `mma.sync`: rows, columns and depth of the tile, PTX types of result, A and B."""

    m: int
    n: int
    k: int
    result: str
    a: str
    b: str

    @property
    def opcode(self) -> str:
        """``mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32``"""
        types = f"{self.result}.{self.a}.{self.b}.{self.result}"
        return f"mma.sync.aligned.m{self.m}n{self.n}k{self.k}.row.col.{types}"


_WORDS = {"f32": ("float", "f"), "f64": ("double", "d")}
"""LLVM type and constraint letter of an accumulator or operand register; others are i32 words."""


class MatrixInstructions:
    """What a warp does with matrices, and copies that run beside the program."""

    facts: NvptxFacts

    # ------------------------------------------------------------------------------------------- 8x8 matrices

    def load_matrices(self, text: FunctionText, address: str, count: int, *, transposed: bool) -> list[str]:
        """``ldmatrix``: an i32 word of each of `count` (1, 2, 4) matrices; lane i gives the address of row i % 8 of
        matrix i / 8.
        """
        name = f"llvm.nvvm.ldmatrix.sync.aligned.m8n8.x{count}{'.trans' if transposed else ''}.b16.p3"
        result = "i32" if count == 1 else "{ " + ", ".join(["i32"] * count) + " }"
        loaded = text.call(result, name, [(SHARED_POINTER, address)])
        if count == 1:
            return [loaded]
        return [text.value(f"extractvalue {result} {loaded}, {index}") for index in range(count)]

    def store_matrices(self, text: FunctionText, address: str, words: Sequence[str], *, transposed: bool) -> None:
        """``stmatrix`` (compute capability 9.0): the inverse of `load_matrices`."""
        name = f"llvm.nvvm.stmatrix.sync.aligned.m8n8.x{len(words)}{'.trans' if transposed else ''}.b16.p3"
        text.call("void", name, [(SHARED_POINTER, address), *(("i32", word) for word in words)])

    # ---------------------------------------------------------------------------------------- matmuls

    def mma(
        self, text: FunctionText, shape: MmaShape, a: Sequence[str], b: Sequence[str], c: Sequence[str]
    ) -> list[str]:
        """``mma.sync``: a @ b + c on the registers of the tile's fragments."""
        result, letter = _WORDS.get(shape.result, ("i32", "r"))
        operand, operand_letter = ("double", "d") if shape.a == "f64" else ("i32", "r")
        groups: list[str] = []
        position = 0
        for registers in (c, a, b, c):
            groups.append("{ " + ", ".join(f"${position + index}" for index in range(len(registers))) + " }")
            position += len(registers)
        constraints = [f"={letter}"] * len(c) + [operand_letter] * (len(a) + len(b)) + [letter] * len(c)
        operands = [(operand, register) for register in (*a, *b)] + [(result, register) for register in c]
        asm = f"{shape.opcode} {', '.join(groups)};"
        return inline_asm(text, asm, ",".join(constraints), [result] * len(c), operands, has_effect=False)

    # ---------------------------------------------------------------------------------------- warp reductions

    def redux(self, text: FunctionText, operation: str, value: str) -> str:
        """``redux.sync`` of an i32 over the whole warp (compute capability 8.0): `add`, `min`, `max` (signed), `umin`,
        `umax`, `and`, `or`, `xor`.
        """
        return text.call("i32", f"llvm.nvvm.redux.sync.{operation}", [("i32", value), ("i32", FULL_WARP)])

    # ------------------------------------------------------------------------------------- asynchronous copies

    def async_copy(
        self,
        text: FunctionText,
        target: str,
        source: str,
        num_bytes: int,
        *,
        bypass_l1: bool,
        kept: str | None,
        predicate: str | None = None,
    ) -> None:
        """``cp.async`` of 4, 8 or 16 bytes from global to shared memory, where the predicate holds; with `kept`, only
        as many bytes are read and zeros fill the rest. Only 16 bytes can bypass the first-level cache.
        """
        level = "cg" if bypass_l1 and num_bytes == 16 else "ca"
        arguments = [(SHARED_POINTER, target), (GLOBAL_POINTER, source)]
        if predicate is None:
            name = f"llvm.nvvm.cp.async.{level}.shared.global.{num_bytes}"
            if kept is None:
                text.call("void", name, arguments)
            else:
                text.call("void", f"{name}.s", [*arguments, ("i32", kept)])
            return
        asm = f"@$2 cp.async.{level}.shared.global [$0], [$1], {num_bytes}{'' if kept is None else ', $3'};"
        arguments += [("i1", predicate)] + ([] if kept is None else [("i32", kept)])
        constraints = "r,l,b" if kept is None else "r,l,b,r"
        inline_asm(text, asm, constraints, [], arguments, clobbers_memory=True)

    def async_commit(self, text: FunctionText) -> None:
        """The copies started since the last commit become one group."""
        text.call("void", "llvm.nvvm.cp.async.commit.group", [])

    def async_wait(self, text: FunctionText, pending: int) -> None:
        """Wait until at most `pending` of the thread's groups are under way."""
        name = "llvm.nvvm.cp.async.wait.group"
        text.module.declarations.setdefault(name, f"declare void @{name}(i32)")
        text.emit(f"call void @{name}(i32 {pending})")

    # ------------------------------------------------------------------------------------------ shared atomics

    def shared_increment(self, text: FunctionText, address: str, predicate: str | None) -> None:
        """Add one to an i32 in shared memory, as one indivisible step, where the predicate holds."""
        guard = "" if predicate is None else "@$1 "
        operands = [(SHARED_POINTER, address)] + ([] if predicate is None else [("i1", predicate)])
        constraints = "r" if predicate is None else "r,b"
        inline_asm(text, f"{guard}red.shared.add.u32 [$0], 1;", constraints, [], operands, clobbers_memory=True)
