"""Block sizes of the kernels that PyTorch's compiler writes, chosen for a CPU where they are known to matter or not to.

Inductor's own choices keep a GPU's threads busy: it sums the columns of a matrix two at a time (a program each for a
warp), and times two sizes for each elementwise kernel. A CPU wants neither. Kernels whose blocks are chosen here have
them in their text: no size is tuned, and bounds that blocks divide are not tested.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from tilewright.compat.inductor_tiling import (
    cached_columns,
    has_one_block,
    in_rows,
    long_sizes,
    row_length,
    row_of_rows,
    usual_size,
)
from tilewright.runtime.threads import get_num_threads

COLUMNS, ROWS = 64, 8
"""The greatest tile of a sum over rows: whole cache lines, and accumulators that stay in the nearest cache."""
VECTOR = 8
"""Columns of fewer elements than this are no reason for narrower blocks."""
FEWEST_COLUMNS = 16
"""A cache line. Matrices with fewer columns are left to Inductor, which takes more rows at a time."""
FEWEST_ROWS, ROW_ELEMENTS = 4, 256
"""Rows of a kernel that reduces each of them at once: few, unless they are short."""
TILE_ELEMENTS = 2048
"""The greatest tile of such rows: what is read again for their next sum is still in the nearest cache."""
SQUARE = 32
"""The side of a block of two dimensions."""
TRANSPOSED = 16
"""The side of one where neighbours in memory are in both: as many rows 2 KiB apart as one set of the nearest cache has
room for (8 ways, 4 KiB). 512 x 512 on Zen 3: 53 us by 16 x 16, 61 by 32 x 32."""
MEMORY = 10e6
"""Bytes that a thread reads or writes in a millisecond."""
ELEMENTS = 1024
"""The greatest block of an elementwise kernel: what is done once for each program is then below a hundredth."""


def power_of_two(number: int) -> int:
    """Return the least power of two that is not below a positive number."""
    return 1 << (number - 1).bit_length()


def share(numbers: int, most: int, least: int, threads: int) -> int:
    """Return the block for so many elements: each thread has a program, unless blocks would be below `least`."""
    return max(min(most, power_of_two(-(-numbers // threads))), min(least, power_of_two(numbers)))


def column_blocks(columns: int, rows: int, threads: int, *, length: int = 0) -> dict[str, int] | None:
    """Return the blocks of a kernel that reduces the rows of a matrix, or None where Inductor's are as good. Neighbours
    in memory end where a multiple of `length` columns does, if it is not 0.
    """
    if columns < FEWEST_COLUMNS:
        return None
    block = share(columns, COLUMNS, FEWEST_COLUMNS, threads)
    return {"XBLOCK": cut(block, length), "R0_BLOCK": min(ROWS, power_of_two(rows))}


def cut(block: int, length: int) -> int:
    """Return the greatest block, at most this one, that ends where each `length` elements do; the same where that is
    too small, or where there is no length: 0.
    """
    whole = length & -length  # the greatest power of two that divides it
    return whole if VECTOR <= whole < block else block


def row_blocks(rows: int, length: int, threads: int) -> dict[str, int]:
    """Return the blocks of a kernel that reduces whole rows of elements that are neighbours in memory."""
    padded = power_of_two(length)
    most = max(1, min(FEWEST_ROWS, TILE_ELEMENTS // padded), ROW_ELEMENTS // padded)
    return {"XBLOCK": share(rows, most, 1, threads)}


def parts_of_rows(rows: int, length: int, threads: int) -> dict[str, int]:
    """Return the blocks of a kernel that reduces rows of neighbours part by part, of about so many elements."""
    part = min(ELEMENTS // FEWEST_ROWS, power_of_two(length))
    blocks = row_blocks(rows, part, threads)
    return {**blocks, "R0_BLOCK": min(ELEMENTS // blocks["XBLOCK"], power_of_two(length))}


def elementwise_blocks(
    sizes: Mapping[str, int],
    threads: int,
    *,
    length: int = 0,
    along_rows: bool = False,
    transposes: bool = False,
    cached: int = 0,
) -> dict[str, int] | None:
    """Return the blocks of an elementwise kernel of one dimension or two, or None of three. What `y` counts is cut into
    parts of `length`, if that is not 0: a block within one is copied in squares from rows to columns. Where neighbours
    in memory are `along_rows` only, a block has whole rows: what belongs to a row is found once. Where it `transposes`
    matrices that are not small, it is one square. A block has at most `cached` columns, if that is not 0.
    """
    if has_one_block(sizes):
        return {"XBLOCK": share(sizes["x"], ELEMENTS, COLUMNS, threads)}
    if not set(sizes) <= {"x", "y", "r0_"}:
        return None
    columns, rows = power_of_two(sizes["x"]), power_of_two(sizes["y"])
    if transposes and not cached and min(columns, rows) > TRANSPOSED:
        return {"XBLOCK": TRANSPOSED, "YBLOCK": cut(TRANSPOSED, length)}
    elements = share(columns * rows, ELEMENTS, COLUMNS, threads)
    x = max(min(SQUARE, columns), min(columns, elements // rows))
    if along_rows:
        x = max(x, min(sizes["x"] & -sizes["x"], elements))
    if cached:
        x = min(x, cached)
    y = cut(max(1, min(rows, elements // x)), length)
    return {"XBLOCK": x, "YBLOCK": y}


def kernel_blocks(features: Any, tiling: Mapping[str, Any], keywords: Mapping[str, Any]) -> dict[str, int] | None:
    """Return the blocks of a kernel that Inductor is about to write, or None where it chooses by itself."""
    sizes, threads = long_sizes(tiling), get_num_threads()
    scores: Mapping[str, int] = keywords.get("tiling_scores") or {}
    if not features.is_reduction():
        # Where neighbours in memory are in both dimensions, tiles are copied from rows to columns.
        length = row_of_rows(features, sizes["x"]) if scores.get("y") else 0
        along_rows = scores.get("x", 0) > 0 and not scores.get("y")
        return elementwise_blocks(
            sizes,
            threads,
            length=length,
            along_rows=along_rows,
            transposes=scores.get("x", 0) > 0 and scores.get("y", 0) > 0,
            cached=cached_columns(features),
        )
    length = usual_size(tiling.get("r0_", 1))
    if features.contains_op("scan"):
        return scan_blocks(features, sizes, scores, length, threads)
    return reduction_blocks(features, sizes, scores, length, threads)


def reduction_blocks(
    features: Any, sizes: Mapping[str, int], scores: Mapping[str, int], length: int, threads: int
) -> dict[str, int] | None:
    """Return the blocks of a kernel that reduces one dimension, which usually has this length; `scores` say where
    neighbours in memory are.
    """
    choices = import_module("torch._inductor.virtualized").V.choices
    hints = import_module("torch._inductor.runtime.hints").ReductionHint
    hint = features.get_reduction_hint()
    along_x, along_r = (scores.get(name, 0) for name in ("x", "r0_"))
    is_whole = choices.should_use_persistent_reduction(features, cooperative_reduction=False)
    if set(sizes) == {"y", "x", "r0_"} and (is_whole or along_r >= along_x):
        blocks = row_blocks(sizes["x"], length, threads) if is_whole else parts_of_rows(sizes["x"], length, threads)
        return {**blocks, "YBLOCK": 1}
    if set(sizes) != {"x", "r0_"}:
        return None
    if hint == hints.INNER or (hint == hints.DEFAULT and along_r >= along_x):
        return (row_blocks if is_whole else parts_of_rows)(sizes["x"], length, threads)
    if hint in (hints.OUTER, hints.OUTER_TINY) or (hint == hints.DEFAULT and (is_whole or along_x > 8 * along_r)):
        blocks = column_blocks(sizes["x"], sizes["r0_"], threads, length=row_length(features))
        return {"XBLOCK": blocks["XBLOCK"]} if is_whole and blocks else blocks
    return None


def scan_blocks(
    features: Any, sizes: Mapping[str, int], scores: Mapping[str, int], length: int, threads: int
) -> dict[str, int] | None:
    """Return the blocks of a kernel that scans rows of neighbours in memory, which usually have this length."""
    in_parts = any(node.is_split_scan() for node in features.scheduler_nodes())
    if in_parts or set(sizes) != {"x", "r0_"} or scores.get("x", 0) or not scores.get("r0_"):
        return None
    choices = import_module("torch._inductor.virtualized").V.choices
    if choices.should_use_persistent_reduction(features, cooperative_reduction=False):
        return row_blocks(sizes["x"], length, threads)
    return {"XBLOCK": 1, "R0_BLOCK": min(TILE_ELEMENTS, power_of_two(length))}


def scheduling_class(base: Any) -> Any:
    """Return Inductor's class that writes Triton kernels, with the choices above."""
    config = import_module("torch._inductor.config")
    fixed = import_module("torch._inductor.codegen.triton").FixedTritonConfig

    cpp = import_module("torch._inductor.codegen.cpp").CppScheduling

    class BlockScheduling(base):
        """Writes Triton kernels whose blocks fit a CPU."""

        def create_kernel_choices(self, kernel_features: Any, kernel_args: Any, kernel_kwargs: Any) -> Any:
            triton = config.triton
            tunes = config.max_autotune or config.max_autotune_pointwise or triton.multi_kernel
            special = triton.cooperative_reductions or triton.force_cooperative_reductions or config.deterministic
            plain = set(kernel_kwargs) <= {"features", "tiling_scores"} and not kernel_features.contains_op("sort")
            blocks = None
            if plain and not tunes and not special:
                tiling = in_rows(kernel_features, kernel_args[0], self)
                kernel_args = [tiling, *kernel_args[1:]]
                blocks = kernel_blocks(kernel_features, tiling, kernel_kwargs)
            if blocks is not None:
                kernel_kwargs = {**kernel_kwargs, "fixed_config": fixed(blocks)}
            as_usual: Any = super()
            return as_usual.create_kernel_choices(kernel_features, kernel_args, kernel_kwargs)

        def codegen_template(
            self, template_node: Any, epilogue_nodes: Any, prologue_nodes: Any, **keywords: Any
        ) -> Any:
            """Templates in C++, as attention's for the CPU is whichever language kernels have, are that class's."""
            as_usual: Any = super()
            writer = cpp(self.scheduler)
            if writer.is_cpp_template(template_node):
                device, _ = template_node.group  # the other language's groups are written differently
                template_node.group = device, writer.group_fn(template_node.get_ranges())
                return writer.codegen_template(template_node, epilogue_nodes, prologue_nodes)
            return as_usual.codegen_template(template_node, epilogue_nodes, prologue_nodes, **keywords)

        # Whether a template gets what follows it fused in, Inductor finds by timing both ways, in code that it writes
        # for GPUs alone. Here that pays where the template is slower than the best choice by less than what follows.
        def generate_kernel_code_from_nodes(
            self, nodes: Any, benchmark_kernel: bool = False, hint_override: int | None = None
        ) -> str:
            as_usual: Any = super()
            return as_usual.generate_kernel_code_from_nodes(nodes, False, hint_override)

        def benchmark_fused_nodes(self, nodes: Any, n_spills_threshold: int = 8) -> tuple[float, str]:
            """Return about how many milliseconds nodes take that read what a template writes, and 0 for others: what
            makes a template's operands is not fused, it would be done again for each tile.
            """
            buffers = self.scheduler.name_to_buf
            reads = {read.name for node in nodes for read in node.read_writes.reads}
            makers = [buffers[name].defining_op for name in reads if name in buffers]
            if not any(maker is not None and maker.is_template() for maker in makers):
                return 0.0, ""
            return sum(node.get_read_write_buffers_sizes() for node in nodes) / MEMORY, ""

        def benchmark_codegened_module(self, mod: Any, *others: Any, **keywords: Any) -> tuple[float, str]:
            return 0.0, mod.__file__

    return BlockScheduling
