"""Matrix products by dot-product instructions: a lane multiplies and adds 2 pairs of bf16 or 4 of int8.

The loops are those of `interleaved.py`; all rows of A go over a panel by the register tiles of `packed.py`, whose B is
one panel. int8 takes this way wherever there is AVX-512 VNNI. bf16 takes it where `vdpbf16ps` is faster than widening
both operands to f32, which gives the same: AMD's Zen 4 and later. Intel's processors (Golden Cove: 16 products a cycle,
by f32 multiply-adds 32) rather have AMX.
"""

from __future__ import annotations

from tilewright.codegen.llvm_text import FunctionText, ModuleText
from tilewright.codegen.microkernels.amx_panels import BLOCK
from tilewright.codegen.microkernels.block import BlockForm
from tilewright.codegen.microkernels.elements import ElementKind
from tilewright.codegen.microkernels.interleaved import Frame, InterleavedWriter, general_kernel
from tilewright.codegen.microkernels.packed import emit_packed_kernel, has_packed_form
from tilewright.codegen.microkernels.tile import kernel_function
from tilewright.ir.facts import TargetFacts

ROWS = 8
_FAST_BF16 = ("znver",)
"""How LLVM's names of processors begin whose `vdpbf16ps` is worth it."""


def has_dot_form(element: ElementKind, rows: int, columns: int, facts: TargetFacts) -> bool:
    """Whether a kernel of this size for this type multiplies by dot-product instructions."""
    if not has_packed_form(element.name, facts) or facts.vector_bits < 512 or rows < 16 or columns < 16:
        return False
    return element.is_integer or facts.cpu.startswith(_FAST_BF16)


class DotProductWriter(InterleavedWriter):
    """Writes one kernel."""

    def __init__(self, fn: FunctionText, element: ElementKind, form: BlockForm, facts: TargetFacts) -> None:
        super().__init__(fn, element, form)
        self.facts = facts

    def multiply_panel(
        self, frame: Frame, a: str, c: str, n0: str, strides: list[str], depth: str, columns: str
    ) -> None:
        fn = self.fn
        if not self.form.from_zero:
            self._call(frame, a, c, depth, columns, from_zero=False)
            return
        first, later, done = (fn.new_label(hint) for hint in ("first", "later", "multiplied"))
        fn.branch_if(self.is_first, first, later)
        for label, from_zero in ((first, True), (later, False)):
            fn.start(label)
            self._call(frame, a, c, depth, columns, from_zero=from_zero)
            fn.branch(done)
        fn.start(done)

    def _call(self, frame: Frame, a: str, c: str, depth: str, columns: str, *, from_zero: bool) -> None:
        """Register tiles of all rows over the panel."""
        fn, element, facts = self.fn, self.element, self.facts
        name = f"tw_mk_rows_{element.name}_{ROWS}x{BLOCK}{'_zero' * from_zero}"
        fn.module.define_once(
            name, lambda: emit_packed_kernel(name, fn.module, facts, element, ROWS, BLOCK, from_zero=from_zero)
        )
        a_at, panel, c_at = (fn.value(f"ptrtoint ptr {pointer} to i64") for pointer in (a, frame.panel, c))
        b_row_stride = str(BLOCK * self.group)
        values = (a_at, "%a_row_stride", "1", panel, b_row_stride, c_at, "%c_row_stride", depth, "%m_count", columns)
        fn.emit(f"call void @{name}({', '.join(f'i64 {value}' for value in values)})")


def emit_dot_kernel(name: str, module: ModuleText, facts: TargetFacts, element: ElementKind, form: BlockForm) -> str:
    """The definition of a kernel of at least 16 x 16 by dot-product instructions."""
    general = general_kernel(name, module, facts, element, form)
    fn = kernel_function(name, module)
    DotProductWriter(fn, element, form, facts).write(general)
    return fn.text()


__all__ = ["emit_dot_kernel", "has_dot_form"]
