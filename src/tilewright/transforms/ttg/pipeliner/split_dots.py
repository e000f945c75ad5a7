"""`wgmma` with A in registers, cut along K, so that registers are filled while the product of the slice before runs.

```mlir
%a = ttg.local_load %m : !ttg.memdesc<64x32xf32, #shared, #smem, mutable> -> tensor<64x32xf32, #ttg.dot_op<...>>
%d = ttng.warp_group_dot %a, %b, %c : ... -> tensor<64x128xf32, #mma>
```
becomes, four times over,
```mlir
%m0 = ttg.memdesc_subslice %m[0, 0] : ... -> !ttg.memdesc<64x8xf32, #shared, #smem, mutable, 64x32>
%a0 = ttg.local_load %m0 : ... -> tensor<64x8xf32, #ttg.dot_op<...>>
%b0 = ttg.memdesc_subslice %b[0, 0] : ... -> !ttg.memdesc<8x128xf32, #shared1, #smem, mutable, 32x128>
%d0 = ttng.warp_group_dot %a0, %b0, %c : ... -> tensor<64x128xf32, #mma>
```
Where A is computed from what is loaded, all slices are loaded first, and each is computed before its product.
"""

from __future__ import annotations

from xdsl.ir import Operation, OpResult, SSAValue

from tilewright.dialects import scf, tt, ttg, ttng
from tilewright.dialects.ttg.constraints import as_memdesc
from tilewright.dialects.ttg.encodings import NvidiaMmaEncodingAttr
from tilewright.dialects.types import as_tensor, is_tensor
from tilewright.ir.builder import OpBuilder
from tilewright.ir.effects import is_memory_free
from tilewright.transforms.ttg.pipeliner.k_slices import Leaf, Part, Slicer, can_slice

MOST_SLICES = 4
"""Into how many slices a product is cut whose A is computed: each costs a wait."""
K_OF_A = 1


def slices_of(dot: ttng.WarpGroupDotOp, is_leaf: Leaf) -> list[Part]:
    """The slices of A that a product is cut into, none where it stays whole."""
    if not is_tensor(dot.a.type) or dot.use_c is not None or not isinstance(dot.a, OpResult):
        return []
    encoding = as_tensor(dot.d.type).encoding
    assert isinstance(encoding, NvidiaMmaEncodingAttr)
    depth = as_tensor(dot.a.type).get_shape()[K_OF_A]
    step = encoding.data.instr_shape[-1]
    if not _is_read(dot.a):
        step = max(step, depth // MOST_SLICES)
    parts = [Part(K_OF_A, first, step) for first in range(0, depth, step)]
    return parts if len(parts) > 1 and can_slice(dot.a, parts[0], is_leaf) else []


def _is_read(value: SSAValue) -> bool:
    """Return whether a value is in registers as it is in shared memory."""
    while isinstance(value, OpResult) and isinstance(value.op, tt.TransOp | ttg.ConvertLayoutOp):
        value = value.op.src
    return isinstance(value, OpResult) and isinstance(value.op, ttg.LocalLoadOp)


def split_register_dots(loop: scf.ForOp) -> list[list[ttng.WarpGroupDotOp]]:
    """Cut the products of a loop that read A from registers which shared memory fills; returns the slices of each."""
    block = loop.body.block
    found: list[list[ttng.WarpGroupDotOp]] = []
    for op in tuple(block.ops):
        if isinstance(op, ttng.WarpGroupDotOp):
            parts = slices_of(op, lambda leaf: isinstance(leaf, ttg.LocalLoadOp) and leaf.parent is block)
            if parts:
                found.append(_split(op, parts))
    return found


def _split(dot: ttng.WarpGroupDotOp, parts: list[Part]) -> list[ttng.WarpGroupDotOp]:
    builder, total = OpBuilder.before(dot), dot.c
    columns = as_memdesc(dot.b.type).get_shape()[1]
    slicer, dots = Slicer(builder), list[ttng.WarpGroupDotOp]()
    if not _is_read(dot.a):
        for part in parts:
            slicer.load(dot.a, part)
    for part in parts:
        a = slicer.slice(dot.a, part)
        b = builder.result(ttg.MemDescSubsliceOp(dot.b, (part.first, 0), (part.size, columns)))
        product = ttng.WarpGroupDotOp(
            a,
            b,
            total,
            input_precision=dot.input_precision.value.data,
            max_num_imprecise_acc=dot.max_num_imprecise_acc.value.data,
        )
        product.attributes.update(dot.attributes)
        total = builder.insert(product).d
        dots.append(product)
    total.name_hint = dot.d.name_hint
    dot.d.replace_all_uses_with(total)
    whole = dot.a
    dot.detach()
    dot.erase()
    _erase_unused(whole)
    return dots


def _erase_unused(value: SSAValue) -> None:
    """Erase what only a value that nobody uses was computed by."""
    stack = [value]
    while stack:
        value = stack.pop()
        op = value.op if isinstance(value, OpResult) else None
        if op is None or op.parent is None or any(result.uses for result in op.results) or not _may_erase(op):
            continue
        stack += op.operands
        op.detach()
        op.erase()


def _may_erase(op: Operation) -> bool:
    return is_memory_free(op) or isinstance(op, ttg.LocalLoadOp)
