"""`wgmma` with A in registers, cut along K, so that registers are filled while the product of the slice before runs.

```mlir
%a = ttg.local_load %m : !ttg.memdesc<64x32xf32, #shared, #smem, mutable> -> tensor<64x32xf32, #ttg.dot_op<...>>
%d = ttng.warp_group_dot %a, %b, %c : ... -> tensor<64x128xf32, #mma>
```
becomes, four times over,
```mlir
%m0 = ttg.memdesc_subslice %m[0, 0] : ... -> !ttg.memdesc<64x8xf32, #shared, #smem, mutable, 64x32>
%b0 = ttg.memdesc_subslice %b[0, 0] : ... -> !ttg.memdesc<8x128xf32, #shared1, #smem, mutable, 32x128>
%a0 = ttg.local_load %m0 : ... -> tensor<64x8xf32, #ttg.dot_op<...>>
%d0 = ttng.warp_group_dot %a0, %b0, %c : ... -> tensor<64x128xf32, #mma>
```
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation, OpResult, SSAValue

from tilewright.dialects import scf, tt, ttg, ttng
from tilewright.dialects.construction import static_values
from tilewright.dialects.tt.types import tensor_type
from tilewright.dialects.ttg.constraints import as_memdesc
from tilewright.dialects.ttg.encodings import NvidiaMmaEncodingAttr
from tilewright.dialects.types import as_tensor, is_tensor
from tilewright.ir.builder import OpBuilder


@dataclass(frozen=True)
class _Read:
    """Where A of a product is read from: the op that reads, and the permutation of its result, if there is one."""

    load: ttg.LocalLoadOp
    order: tuple[int, ...] | None


def _read_of(dot: ttng.WarpGroupDotOp) -> _Read | None:
    """Return how A comes out of shared memory for this product alone; None where it is there, or computed."""
    if not is_tensor(dot.a.type):
        return None
    value, order = dot.a, None
    op = _only_maker(value)
    if isinstance(op, tt.TransOp):
        order, op = static_values(op.order), _only_maker(op.src)
    return _Read(op, order) if isinstance(op, ttg.LocalLoadOp) and op.parent is dot.parent else None


def _only_maker(value: SSAValue) -> Operation | None:
    """The op behind a value that has one use."""
    return value.op if isinstance(value, OpResult) and value.has_one_use() else None


def split_register_dots(loop: scf.ForOp) -> None:
    """Cut the products of a loop that read A from shared memory into registers."""
    for op in tuple(loop.body.block.ops):
        if not isinstance(op, ttng.WarpGroupDotOp) or op.use_c is not None:
            continue
        read, encoding = _read_of(op), as_tensor(op.d.type).encoding
        assert isinstance(encoding, NvidiaMmaEncodingAttr)
        step = encoding.data.instr_shape[-1]
        if read is not None and as_tensor(op.a.type).get_shape()[1] > step:
            _split(op, read, step)


def _split(dot: ttng.WarpGroupDotOp, read: _Read, step: int) -> None:
    builder, total = OpBuilder.before(dot), dot.c
    rows, depth = as_tensor(dot.a.type).get_shape()
    columns = as_memdesc(dot.b.type).get_shape()[1]
    source = read.load.src if read.order is None else builder.result(ttg.MemDescTransOp(read.load.src, read.order))
    for first in range(0, depth, step):
        memory = builder.result(ttg.MemDescSubsliceOp(source, (0, first), (rows, step)))
        b = builder.result(ttg.MemDescSubsliceOp(dot.b, (first, 0), (step, columns)))
        type = as_tensor(dot.a.type)
        registers = tensor_type(type.element_type, (rows, step), type.encoding)
        a = builder.result(ttg.LocalLoadOp(memory, registers, read.load.token))
        part = ttng.WarpGroupDotOp(
            a,
            b,
            total,
            input_precision=dot.input_precision.value.data,
            max_num_imprecise_acc=dot.max_num_imprecise_acc.value.data,
        )
        part.attributes.update(dot.attributes)
        total = builder.insert(part).d
    total.name_hint = dot.d.name_hint
    dot.d.replace_all_uses_with(total)
    trans = dot.a.op if read.order is not None and isinstance(dot.a, OpResult) else None
    for op in (dot, trans, read.load):
        if op is not None:
            op.detach()
            op.erase()
