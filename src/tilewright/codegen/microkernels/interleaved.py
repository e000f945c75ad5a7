"""Products of whole blocks by panels of interleaved B (see `amx_panels.py`): the loops, whatever multiplies a panel.

A kernel of at least 16 x 16 is meant to be called with whole blocks: it brings B into the interleaved form itself, one
panel of 32 columns and up to `PANEL_BYTES` of k at a time, into its stack frame, and runs all rows of A over the panel:

    for k0 in k by KC:  for g0 in n by 128:  pack B[k0:, g0:] as four panels
      for n0 in the group by 32:  C[:, n0:] += A[:, k0:] * panel

With B in panels (`_panels`) nothing is packed. A transposed A (a_k_stride other than 1) takes the general kernel; with
B in panels there must not be one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tilewright.codegen.llvm_text import FunctionText, ModuleText
from tilewright.codegen.microkernels.amx_panels import BLOCK, PANEL_BYTES, AmxPanelWriter
from tilewright.codegen.microkernels.block import BlockForm, plan_block_tile
from tilewright.codegen.microkernels.elements import ElementKind
from tilewright.codegen.microkernels.tile import PARAMETERS
from tilewright.codegen.microkernels.whole_blocks import emit_block_kernel
from tilewright.ir.facts import TargetFacts

PANELS = 4
"""Panels that are packed together, so that each row of B is visited once for all of them."""

WIDEST_BLOCK = 1024
"""Columns of a block that register tiles are planned for where a kernel's own are not known."""


@dataclass(frozen=True)
class Frame:
    """Stack buffers, as pointers."""

    panel: str
    rows: str
    scratch: str


class InterleavedWriter(AmxPanelWriter):
    """Writes one kernel. Subclasses multiply all rows of A by one panel."""

    def __init__(self, fn: FunctionText, element: ElementKind, form: BlockForm) -> None:
        super().__init__(fn, element, form)
        self.is_first = ""

    def begin(self) -> None:
        """What has to be done in front of all products."""

    def start_output(self, is_last: str, c: str, stride: str) -> None:
        """A step of k begins whose sums, if it is the last one, go elsewhere than to C."""
        raise NotImplementedError

    def end(self) -> None:
        """What has to be done behind them."""

    def multiply_panel(
        self, frame: Frame, a: str, c: str, n0: str, strides: list[str], depth: str, columns: str
    ) -> None:
        """C += A times the panel of the frame, of which `columns` exist; `strides` of A, B and C are in bytes.

        The panel's first column is `n0`, at `c`.
        """
        raise NotImplementedError

    def write(self, general: str | None) -> None:
        """The body; `general` is the kernel for transposed A, if there may be one."""
        fn = self.fn
        if general is not None:
            direct, transposed = fn.new_label("direct"), fn.new_label("transposed")
            fn.branch_if(fn.value("icmp eq i64 %a_k_stride, 1"), direct, transposed)
            fn.start(transposed)
            fn.emit(f"call void @{general}({', '.join(f'i64 %{name}' for name in PARAMETERS)})")
            fn.terminate("ret void")
            fn.start(direct)
        self.begin()
        frame = Frame(*(fn.entry_value(f"alloca [{size} x i8], align 64") for size in self._frame_sizes()))
        a, b, c = (fn.value(f"inttoptr i64 %{name}_ptr to ptr") for name in "abc")
        strides = [
            fn.value(f"mul i64 %{name}_row_stride, {size}")
            for name, size in (("a", self.element.bytes), ("b", self.element.bytes), ("c", 4))
        ]
        depth = "%k_count"
        if self.form.from_zero:
            # A sum without terms is 0, too.
            depth = fn.call("i64", "llvm.smax.i64", [("i64", depth), ("i64", "1")])
        step = self._packed_panels if self.form.packed_b else self._panels
        self.loop(depth, self.k_panel, lambda k0: step(frame, (a, b, c), strides, k0))
        self.end()
        fn.terminate("ret void")

    def _frame_sizes(self) -> tuple[int, int, int]:
        panels = 0 if self.form.packed_b else PANELS * PANEL_BYTES * BLOCK
        return panels, PANEL_BYTES * BLOCK, 4 * BLOCK * BLOCK

    def _panels(self, frame: Frame, matrices: tuple[str, str, str], strides: list[str], k0: str) -> None:
        fn = self.fn
        a, b, c = matrices
        depth = self.minimum(fn.value(f"sub i64 %k_count, {k0}"), self.k_panel)
        a_k = self.at(a, self.scaled(k0, self.element.bytes))
        row, column = (self.element.bytes, strides[1]) if self.form.transposed_b else (strides[1], self.element.bytes)
        b_k = self.at(b, fn.value(f"mul i64 {k0}, {row}"))
        self.is_first = fn.value(f"icmp eq i64 {k0}, 0")

        def group(g0: str) -> None:
            columns = self.minimum(fn.value(f"sub i64 %n_count, {g0}"), PANELS * BLOCK)
            b_g = self.at(b_k, fn.value(f"mul i64 {g0}, {column}"))
            self.pack(frame.panel, b_g, strides[1], depth, columns)
            c_g = self.at(c, self.scaled(g0, 4))

            self._multiply_panels(frame, a_k, c_g, strides, depth, columns)

        self.loop("%n_count", PANELS * BLOCK, group)

    def _packed_panels(self, frame: Frame, matrices: tuple[str, str, str], strides: list[str], k0: str) -> None:
        """The panels of one step of k, where they are."""
        fn = self.fn
        a, b, c = matrices
        depth = self.minimum(fn.value(f"sub i64 %k_count, {k0}"), self.k_panel)
        a_k = self.at(a, self.scaled(k0, self.element.bytes))
        self.is_first = fn.value(f"icmp eq i64 {k0}, 0")
        if self.form.separate_output:
            left = fn.value(f"sub i64 %k_count, {k0}")
            self.start_output(fn.value(f"icmp sle i64 {left}, {self.k_panel}"), c, strides[2])
        panels = self.start_panels(b, k0, depth)
        self._multiply_panels(replace(frame, panel=panels), a_k, c, strides, depth, "%n_count")

    def _multiply_panels(self, frame: Frame, a: str, c: str, strides: list[str], depth: str, columns: str) -> None:
        """All rows of A over packed panels with `columns` columns."""
        fn = self.fn

        def panel(n0: str) -> None:
            found = replace(frame, panel=self.at(frame.panel, fn.value(f"mul i64 {n0}, {self.column_bytes}")))
            left = self.minimum(fn.value(f"sub i64 {columns}, {n0}"), BLOCK)
            c_n = self.at(c, self.scaled(n0, 4))
            self.multiply_panel(found, a, c_n, n0, strides, depth, left)

        self.loop(columns, BLOCK, panel)


def general_kernel(
    name: str, module: ModuleText, facts: TargetFacts, element: ElementKind, form: BlockForm
) -> str | None:
    """Define the kernel by multiply-adds to which one on interleaved panels leaves products of a transposed A. Its
    name; None for forms in which A never is."""
    if form.packed_b or form.direct_a:
        return None
    general = f"{name}_transposed"
    tile = plan_block_tile(facts, element, WIDEST_BLOCK)
    module.define_once(general, lambda: emit_block_kernel(general, module, facts, element, tile, form))
    return general
