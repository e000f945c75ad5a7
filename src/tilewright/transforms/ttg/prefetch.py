"""`tritongpu-prefetch`: operands of products are read from shared memory slice by slice, the first of the next
iteration before this one ends.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue

from tilewright.dialects import scf, tt, ttg
from tilewright.dialects.traits import is_elementwise_class
from tilewright.dialects.tt.types import tensor_type
from tilewright.dialects.ttg.constraints import as_memdesc
from tilewright.dialects.ttg.encodings import layout_of
from tilewright.dialects.ttg.views import is_cut_by_swizzle
from tilewright.dialects.types import as_tensor
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.layouts.distributed import DotOperandLayout, NvidiaMmaLayout
from tilewright.support.records import dataclass
from tilewright.transforms.common.loop_rules import is_defined_outside
from tilewright.transforms.ttg.pipeliner.carried import CarriedValues
from tilewright.transforms.ttg.pipeliner.schedule import body_ops, carried_source

MMA_VERSION = 2
"""The generation of tensor cores that takes both operands from registers."""

K_PER_WIDTH = 8
"""The extent along K of the smallest slice, in units of what a lane holds side by side: of one instruction."""


@dataclass(frozen=True)
class _Operand:
    """An operand of a product that a loop reads from a buffer which it carries: `chain` is the `ttg.local_load` and
    what is done to each element of it until it is multiplied.
    """

    chain: tuple[Operation, ...]
    buffer: BlockArgument
    token: SSAValue | None
    k_dim: int

    @property
    def extent(self) -> int:
        """The operand's extent along K, in elements."""
        return as_memdesc(self.buffer.type).get_shape()[self.k_dim]

    def slice_shape(self, width: int) -> tuple[int, ...]:
        """The shape of a slice of some width along K."""
        shape = list(as_memdesc(self.buffer.type).get_shape())
        shape[self.k_dim] = width
        return tuple(shape)

    def read(self, builder: OpBuilder, buffer: SSAValue, token: SSAValue | None, first: int, width: int) -> SSAValue:
        """Read the slice of a buffer that begins at `first` along K, and do to it what is done to the operand."""
        shape = self.slice_shape(width)
        offsets = [0] * len(shape)
        offsets[self.k_dim] = first
        view = builder.result(ttg.MemDescSubsliceOp(buffer, offsets, shape))
        value: SSAValue = builder.result(ttg.LocalLoadOp(view, _with_shape(self.chain[0], shape), token))
        for op in self.chain[1:]:
            copy = type(op).create(
                operands=(value,),
                result_types=(_with_shape(op, shape),),
                properties=op.properties,
                attributes=op.attributes,
                location=op.location,
            )
            value = builder.result(copy)
        return value


def _with_shape(op: Operation, shape: tuple[int, ...]) -> TensorType[Attribute]:
    type = as_tensor(op.results[0].type)
    return tensor_type(type.element_type, shape, type.encoding)


def _find_chain(value: SSAValue) -> tuple[Operation, ...] | None:
    """The read of a buffer that an operand comes from, and the ops after it; None where anything else uses them, or
    they are more than one operation per element.
    """
    chain: list[Operation] = []
    while isinstance(value, OpResult) and value.has_one_use():
        op = value.op
        chain.append(op)
        if isinstance(op, ttg.LocalLoadOp):
            return tuple(reversed(chain))
        if len(op.operands) != 1 or not is_elementwise_class(type(op)):
            return None
        value = op.operands[0]
    return None


def _find_operand(loop: scf.ForOp, value: SSAValue, k_dim: int) -> _Operand | None:
    chain = _find_chain(value)
    if chain is None or any(op.parent is not loop.body.block for op in chain):
        return None
    load = chain[0]
    assert isinstance(load, ttg.LocalLoadOp)
    if carried_source(loop, load.src) is None:
        return None
    token = load.token
    if token is not None and carried_source(loop, token) is None and not is_defined_outside(token, loop.body):
        return None
    assert isinstance(load.src, BlockArgument)
    return _Operand(chain, load.src, token, k_dim)


class _Prefetcher:
    """Slices the product of one loop."""

    def __init__(self, loop: scf.ForOp, dot: tt.DotOp, operands: tuple[_Operand, _Operand], width: int) -> None:
        self._loop = loop
        self._dot = dot
        self._operands = operands
        self._width = width
        self._carried = CarriedValues(loop)

    def run(self) -> None:
        """Replace the product by those of slices."""
        before, end = OpBuilder.before(self._loop, self._dot.location), OpBuilder.before(self._terminator())
        heads: list[SSAValue] = []
        for operand in self._operands:
            heads.append(self._carried.add(self._read_first(before, operand, self._initial)))
            self._carried.yields(self._read_first(end, operand, self._following))
        last = self._write_products(heads)
        self._dot.d.replace_all_uses_with(last.d)
        for op in (self._dot, *(op for operand in self._operands for op in reversed(operand.chain))):
            op.detach()
            op.erase()
        self._sink(last)
        self._carried.finish()

    def _terminator(self) -> Operation:
        terminator = self._loop.body.block.last_op
        assert terminator is not None
        return terminator

    def _initial(self, value: SSAValue) -> SSAValue:
        """A value of the first iteration, before the loop."""
        if carried_source(self._loop, value) is None:
            return value
        assert isinstance(value, BlockArgument)
        return self._loop.iter_args[value.index - 1]

    def _following(self, value: SSAValue) -> SSAValue:
        """A value of the next iteration, at the end of this one."""
        source = carried_source(self._loop, value)
        return value if source is None else source

    def _read_first(self, builder: OpBuilder, operand: _Operand, place: Callable[[SSAValue], SSAValue]) -> SSAValue:
        token = None if operand.token is None else place(operand.token)
        return operand.read(builder, place(operand.buffer), token, 0, self._width)

    def _write_products(self, heads: list[SSAValue]) -> tt.DotOp:
        """The products of all slices, where the whole one was; each slice is read before the one ahead of it is
        multiplied.
        """
        builder = OpBuilder.before(self._dot)
        slice_, sums = heads, self._dot.c
        for first in range(self._width, self._operands[0].extent, self._width):
            following = [
                operand.read(builder, operand.buffer, operand.token, first, self._width) for operand in self._operands
            ]
            sums = self._multiply(builder, slice_, sums).d
            slice_ = following
        return self._multiply(builder, slice_, sums)

    def _multiply(self, builder: OpBuilder, slices: list[SSAValue], sums: SSAValue) -> tt.DotOp:
        dot = tt.DotOp(slices[0], slices[1], sums)
        dot.properties = dict(self._dot.properties)
        dot.attributes = dict(self._dot.attributes)
        return builder.insert(dot)

    def _sink(self, dot: tt.DotOp) -> None:
        """Let the last slice be multiplied after the first of the next iteration is read, if nothing needs it."""
        following = dot.next_op
        while following is not None and following is not self._terminator():
            if following.regions or dot.d in following.operands:
                return
            following = following.next_op
        dot.detach()
        self._loop.body.block.insert_op_before(dot, self._terminator())


def _find_prefetcher(loop: scf.ForOp) -> _Prefetcher | None:
    """Return what slices the product of a loop; None unless it is the only one, of the right kind, and carries its
    buffers.
    """
    dots = [op for op in body_ops(loop) if isinstance(op, tt.DotOp)]
    if len(dots) != 1:
        return None
    (dot,) = dots
    layouts = [layout_of(as_tensor(value.type).encoding) for value in (dot.a, dot.b)]
    for layout in layouts:
        if not isinstance(layout, DotOperandLayout) or not isinstance(layout.parent, NvidiaMmaLayout):
            return None
        if layout.parent.version_major != MMA_VERSION:
            return None
    rank = len(as_tensor(dot.a.type).get_shape())
    a, b = _find_operand(loop, dot.a, rank - 1), _find_operand(loop, dot.b, rank - 2)
    if a is None or b is None:
        return None
    width = K_PER_WIDTH * max(layout.k_width for layout in layouts if isinstance(layout, DotOperandLayout))
    if a.extent < width or any(is_cut_by_swizzle(as_memdesc(x.buffer.type), x.slice_shape(width)) for x in (a, b)):
        return None
    return _Prefetcher(loop, dot, (a, b), width)


@register_pass
class PrefetchPass(Pass):
    """The product of a loop whose operands are read from buffers that the loop carries is one of slices along K. The
    first slice of each iteration is read at the end of the one before, so that the tensor cores have work while the
    rest is read.

    Before:
    ```mlir
    scf.for ... iter_args(%acc = %zero, %sa = %a0, %sb = %b0) -> (...) {
      %a = ttg.local_load %sa : !ttg.memdesc<128x32xf16, #shared, #smem> -> tensor<128x32xf16, #a>
      %b = ttg.local_load %sb : !ttg.memdesc<32x64xf16, #shared, #smem> -> tensor<32x64xf16, #b>
      %d = tt.dot %a, %b, %acc : ...
      scf.yield %d, %na, %nb : ...
    }
    ```
    After:
    ```mlir
    %h = ttg.memdesc_subslice %a0[0, 0] : ... -> !ttg.memdesc<128x16xf16, #shared, #smem, 128x32>
    %ah = ttg.local_load %h : ...                                   // and %bh
    scf.for ... iter_args(%acc = %zero, %sa = %a0, %sb = %b0, %xa = %ah, %xb = %bh) -> (...) {
      %v = ttg.memdesc_subslice %sa[0, 16] : ...
      %a1 = ttg.local_load %v : ...                                 // and %b1
      %d0 = tt.dot %xa, %xb, %acc : tensor<128x16xf16, #a> * tensor<16x64xf16, #b> -> ...
      %ah1 = ttg.local_load ...                                     // of %na[0, 0], and %bh1 of %nb[0, 0]
      %d = tt.dot %a1, %b1, %d0 : ...
      scf.yield %d, %na, %nb, %ah1, %bh1 : ...
    }
    ```
    Loops with more than one product, or whose buffers are chosen anew in each iteration, stay as they are.
    """

    name = "tritongpu-prefetch"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for loop in [op for op in ops_within(module) if isinstance(op, scf.ForOp)]:
            prefetcher = _find_prefetcher(loop)
            if prefetcher is not None:
                prefetcher.run()
