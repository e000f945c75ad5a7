"""The threads that run a region: their indices as operands, computed in the entry block when first used."""

from __future__ import annotations

from collections.abc import Callable

from tilewright.codegen.llvm_text import FunctionText
from tilewright.codegen.nvptx.emitter import NvptxEmitter
from tilewright.layouts.distributed import BLOCK, LANE, WARP
from tilewright.layouts.linear import LinearLayout
from tilewright.lowering.ttg_to_llvm.index import LayoutIndex
from tilewright.lowering.ttg_to_llvm.module_lowering import Warps


class RunningThreads:
    """Those of a whole CTA, or, in a partition, those of its warps."""

    def __init__(
        self,
        text: FunctionText,
        emitter: NvptxEmitter,
        num_warps: int,
        num_ctas: int,
        partition: Warps | None = None,
        known: dict[str, str] | None = None,
    ) -> None:
        self.text = text
        self.emitter = emitter
        self.num_warps = num_warps
        self.num_ctas = num_ctas
        self.partition = partition
        self.index = LayoutIndex(text, lambda: self.id, lambda: self.block)
        self._known: dict[str, str] = known or {}
        """What has been computed, by what it is."""

    def of_partition(self, warps: Warps) -> RunningThreads:
        """The threads of some of these warps, counted from 0."""
        known: dict[str, str] = {"thread": self.text.entry.binary("sub", "i32", self.id, 32 * warps.first)}
        if "block" in self._known:
            known["block"] = self._known["block"]
        return RunningThreads(self.text, self.emitter, warps.count, self.num_ctas, warps, known)

    @property
    def id(self) -> str:
        """The thread's index in its CTA, an i32."""
        return self._once("thread", lambda: self.emitter.thread_index(self.text))

    @property
    def lane(self) -> str:
        """The thread's index in its warp, an i32."""
        return self._once("lane", lambda: self.text.entry.binary("and", "i32", self.id, 31))

    @property
    def warp(self) -> str:
        """The index of the thread's warp in its CTA, an i32."""
        return self._once("warp", lambda: self.text.entry.binary("lshr", "i32", self.id, 5))

    @property
    def uniform_warp(self) -> str:
        """`warp`, in a form that ptxas knows to be equal in all lanes, an i32 of the entry block."""

        def make() -> str:
            name = "llvm.nvvm.shfl.sync.idx.i32"
            self.text.module.declarations.setdefault(name, f"declare i32 @{name}(i32, i32, i32, i32)")
            return self.text.entry_value(f"call i32 @{name}(i32 -1, i32 {self.warp}, i32 0, i32 31)")

        return self._once("uniform warp", make)

    @property
    def block(self) -> str:
        """The rank of the CTA in its cluster, an i32."""
        return self._once("block", lambda: self.emitter.cta_rank(self.text))

    def _once(self, name: str, make: Callable[[], str]) -> str:
        operand = self._known.get(name)
        if operand is None:
            operand = self._known[name] = make()
        return operand

    def owner_predicate(self, layout: LinearLayout, *, in_each_cta: bool = False) -> str | None:
        """An i1 that holds in one thread of all that hold the same elements, or of those in one CTA; None where no two
        do.

        For accesses that must happen once (stores, atomics): registers that repeat are the caller's to skip, see
        `distinct_registers`.
        """
        masks = layout.free_variable_masks
        lane_bits = layout.in_dims[LANE].bit_length() - 1
        mask = masks.get(LANE, 0) | masks.get(WARP, 0) << lane_bits
        conditions = [self._is_clear("thread", mask, self.id)] if mask else []
        if masks.get(BLOCK, 0) and not in_each_cta:
            conditions.append(self._is_clear("block", masks[BLOCK], self.block))
        if len(conditions) == 2:
            first, second = conditions
            return self._once(f"{first} {second}", lambda: self.text.entry.binary("and", "i1", first, second))
        return conditions[0] if conditions else None

    def first(self) -> str:
        """An i1 that holds in one thread of the CTA."""
        return self._once("first", lambda: self.text.entry.icmp("eq", "i32", self.id, 0))

    def first_of_program(self) -> str:
        """An i1 that holds in one thread of the program, which may run on several CTAs."""
        if self.num_ctas == 1:
            return self.first()
        first, leads = self.first(), self._is_clear("block", self.num_ctas - 1, self.block)
        return self._once("first of program", lambda: self.text.entry.binary("and", "i1", first, leads))

    def first_lane(self) -> str:
        """An i1 that holds in one thread of each warp."""
        return self._is_clear("lane", 31, self.id)

    def _is_clear(self, name: str, mask: int, source: str) -> str:
        def make() -> str:
            bits = self.text.entry.binary("and", "i32", source, mask)
            return self.text.entry.icmp("eq", "i32", bits, 0)

        return self._once(f"{name} {mask}", make)
