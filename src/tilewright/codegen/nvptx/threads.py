"""Threads, warps and CTAs: numbers of the thread and of the program, shuffles, votes, barriers."""

from __future__ import annotations

from tilewright.codegen.llvm_text import FunctionText
from tilewright.codegen.nvptx.facts import NvptxFacts

AXES = "xyz"
FULL_MASK = "-1"
"""All 32 lanes of a warp take part."""

_SHUFFLES = {"idx": "31", "bfly": "31", "up": "0", "down": "31"}
"""Modes of ``shfl.sync`` and their clamp operand for whole warps."""


class ThreadInstructions:
    """Numbers of threads and programs, and what threads of a CTA do together."""

    facts: NvptxFacts

    # ------------------------------------------------------------------------------------------------------- numbers

    def special_register(self, text: FunctionText, name: str, *, at_entry: bool = False) -> str:
        """An i32 special register, e.g. ``special_register(text, "tid.x")``."""
        intrinsic = f"llvm.nvvm.read.ptx.sreg.{name}"
        text.module.declarations.setdefault(intrinsic, f"declare i32 @{intrinsic}()")
        instruction = f"call i32 @{intrinsic}()"
        return text.entry_value(instruction) if at_entry else text.value(instruction)

    def thread_index(self, text: FunctionText) -> str:
        """The thread's number in its CTA; read in the entry block."""
        return self.special_register(text, "tid.x", at_entry=True)

    def cta_rank(self, text: FunctionText) -> str:
        """The CTA's number in its cluster; read in the entry block."""
        return self.special_register(text, "cluster.ctarank", at_entry=True)

    def program_id(self, text: FunctionText, axis: int, num_ctas: int, *, at_entry: bool = False) -> str:
        """The number of the program along an axis: of the CTA, or of the cluster where programs span several CTAs."""
        name = f"{'ctaid' if num_ctas == 1 else 'clusterid'}.{AXES[axis]}"
        return self.special_register(text, name, at_entry=at_entry)

    def num_programs(self, text: FunctionText, axis: int, num_ctas: int, *, at_entry: bool = False) -> str:
        """The number of programs along an axis."""
        name = f"{'nctaid' if num_ctas == 1 else 'nclusterid'}.{AXES[axis]}"
        return self.special_register(text, name, at_entry=at_entry)

    # ------------------------------------------------------------------------------------------------------ shuffles

    def shuffle(self, text: FunctionText, mode: str, value: str, operand: str) -> str:
        """``shfl.sync`` of an i32 over the warp: mode `idx`, `bfly`, `up` or `down`; `operand` is the lane or the
        distance."""
        arguments = (("i32", FULL_MASK), ("i32", value), ("i32", operand), ("i32", _SHUFFLES[mode]))
        return text.call("i32", f"llvm.nvvm.shfl.sync.{mode}.i32", arguments)

    def shuffle_xor(self, text: FunctionText, value: str, distance: int) -> str:
        """The i32 of the lane whose number differs in the bits of `distance`."""
        return self.shuffle(text, "bfly", value, str(distance))

    def shuffle_index(self, text: FunctionText, value: str, lane: str) -> str:
        """The i32 that `lane` holds."""
        return self.shuffle(text, "idx", value, lane)

    def uniform(self, text: FunctionText, value: str) -> str:
        """An i32 that is equal in all lanes of a warp, in a form that ptxas knows to be equal."""
        return self.shuffle_index(text, value, "0")

    # ------------------------------------------------------------------------------------------------------ barriers

    def barrier(self, text: FunctionText) -> None:
        """All threads of the CTA wait for each other, and see what the others wrote before."""
        name = "llvm.nvvm.barrier.cta.sync.aligned.all"
        text.module.declarations.setdefault(name, f"declare void @{name}(i32)")
        text.emit(f"call void @{name}(i32 0)")

    def barrier_of(self, text: FunctionText, identifier: int, num_threads: int) -> None:
        """As `barrier`, for as many threads of the CTA as name the same one of its 16 barriers."""
        arguments = (("i32", str(identifier)), ("i32", str(num_threads)))
        text.call("void", "llvm.nvvm.barrier.cta.sync.aligned.count", arguments)

    def warp_barrier(self, text: FunctionText) -> None:
        """The lanes of the warp wait for each other, and see what the others wrote before."""
        text.call("void", "llvm.nvvm.bar.warp.sync", (("i32", FULL_MASK),))
