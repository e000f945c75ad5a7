"""Bringing B into the interleaved form that `_packed` micro-kernels read.

``tw_mk_pack_16`` and ``tw_mk_pack_8`` have the ABI

    (i64 b_ptr, i64 b_row_stride, i64 b_column_stride, i64 packed_ptr, i64 packed_row_stride, i64 k_count, i64 n_count)

with strides in elements; they write ceil(k / g) groups of n_count * g elements, g = 2 or 4, zeros past k_count.
"""

from __future__ import annotations

from tilewright.codegen.llvm_text import FunctionText, ModuleText, Parameter

PACK_PARAMETERS = (
    *("b_ptr", "b_row_stride", "b_column_stride", "packed_ptr", "packed_row_stride"),
    *("k_count", "n_count"),
)


def group_of(bits: int) -> int:
    """Rows that are interleaved: as many elements as make 32 bits."""
    return 32 // bits


def emit_packing(name: str, module: ModuleText, bits: int) -> str:
    """The definition of ``tw_mk_pack_<bits>``."""
    parameters = [Parameter("i64", f"%{parameter}") for parameter in PACK_PARAMETERS]
    fn = FunctionText(module, name, "void", parameters, linkage="internal", attributes="noinline nounwind")
    group = group_of(bits)
    source = fn.value("inttoptr i64 %b_ptr to ptr")
    target = fn.value("inttoptr i64 %packed_ptr to ptr")

    def groups(k: str) -> None:
        number = fn.value(f"udiv i64 {k}, {group}")
        row = fn.value(f"mul i64 {number}, %packed_row_stride")

        def columns(n: str) -> None:
            word = "0"
            for position in range(group):
                element = _element_or_zero(fn, source, bits, k, position, n)
                wide = fn.value(f"zext i{bits} {element} to i32")
                shifted = fn.value(f"shl i32 {wide}, {bits * position}") if position else wide
                word = shifted if word == "0" else fn.value(f"or i32 {word}, {shifted}")
            at = fn.value(f"add i64 {row}, {fn.value(f'mul i64 {n}, {group}')}")
            address = fn.value(f"getelementptr i{bits}, ptr {target}, i64 {at}")
            fn.emit(f"store i32 {word}, ptr {address}, align {bits // 8}")

        fn.loop("0", "%n_count", 1, columns)

    fn.loop("0", "%k_count", group, groups)
    fn.terminate("ret void")
    return fn.text()


def _element_or_zero(fn: FunctionText, source: str, bits: int, k: str, position: int, n: str) -> str:
    """B[k + position][n], or 0 past the last row (the address is then that of the last row)."""
    row = fn.value(f"add i64 {k}, {position}") if position else k
    exists = fn.value(f"icmp slt i64 {row}, %k_count")
    held = fn.value(f"select i1 {exists}, i64 {row}, i64 {k}")
    offset = fn.value(
        f"add i64 {fn.value(f'mul i64 {held}, %b_row_stride')}, {fn.value(f'mul i64 {n}, %b_column_stride')}"
    )
    address = fn.value(f"getelementptr i{bits}, ptr {source}, i64 {offset}")
    loaded = fn.value(f"load i{bits}, ptr {address}, align {bits // 8}")
    return fn.value(f"select i1 {exists}, i{bits} {loaded}, i{bits} 0")
