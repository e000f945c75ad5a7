"""`tritongpu-coalesce`: neighbouring threads access neighbouring memory, in vectors as wide as is safe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.rewriter import Rewriter

from tilewright.analysis.axis_info import ModuleAxisInfo
from tilewright.dialects import tt, ttg
from tilewright.dialects.tt.types import PointerType, is_tensor
from tilewright.dialects.ttg.verification import ProgramShape, program_shape, warps_around
from tilewright.dialects.types import as_tensor, bit_width
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.remark_kinds import RemarkKind
from tilewright.ir.walking import ops_within
from tilewright.layouts.distributed import BlockedLayout, DistributedLayout, Vectors
from tilewright.transforms.ttg.connected_ops import ConnectedOps
from tilewright.transforms.ttg.layout_inference import with_encoding

VECTOR_BITS = 128
"""The widest access of one thread."""

POINTER_BITS = 64


def pointers_of(op: Operation) -> SSAValue | None:
    """The tensor of pointers that an op accesses memory through; None for any other op."""
    match op:
        case tt.LoadOp() | tt.StoreOp():
            pointers = op.ptr
        case _ if isinstance(op, tt.Atomic):
            pointers = op.ptr
        case ttg.AsyncCopyGlobalToLocalOp():
            pointers = op.src
        case _:
            return None
    type = pointers.type
    return pointers if is_tensor(type) and isinstance(type.element_type, PointerType) else None


def block_of(op: Operation) -> SSAValue | None:
    """The tensor that an op moves through a descriptor; None for any other op."""
    match op:
        case tt.DescriptorLoadOp() | tt.DescriptorGatherOp():
            return op.result
        case tt.DescriptorStoreOp() | tt.DescriptorScatterOp() | tt.DescriptorReduceOp():
            return op.src
        case _:
            return None


def bits_of(element: Attribute) -> int:
    """The width of an element in memory."""
    return POINTER_BITS if isinstance(element, PointerType) else bit_width(element)


def layout_of_type(type: Attribute) -> DistributedLayout:
    """The layout of a tensor."""
    return ttg.layout_of(as_tensor(type).encoding)


def _cga_of(type: TensorType[Attribute]) -> Vectors:
    """Return how CTAs divide a tensor; one whose layout is not known yet is with one CTA."""
    encoding = type.encoding
    return encoding.tensor_layout.cga if isinstance(encoding, ttg.DistributedEncoding) else ()


def shape_per_cta(type: TensorType[Attribute]) -> tuple[int, ...]:
    """The part of a tensor that one CTA holds."""
    shape, cga = type.get_shape(), _cga_of(type)
    return tuple(extent // (1 << sum(bool(vector[dim]) for vector in cga)) for dim, extent in enumerate(shape))


Likeness = tuple[tuple[int, ...], tuple[int, ...]]
"""What accesses have in common that can share a layout: the order of their dimensions, and the shape."""


class AccessLayouts:
    """Which layout each access of a module gets."""

    def __init__(self, module: ModuleOp, program: ProgramShape) -> None:
        self._axis_info = ModuleAxisInfo(module)
        self._connected = ConnectedOps(module)
        self._program = program
        accesses = [op for op in ops_within(module) if pointers_of(op) is not None]
        self._orders = {op: self._order(op) for op in accesses}
        self._widths = {op: self._width(op) for op in accesses}
        self._widest: dict[tuple[Operation, Likeness], int] = {}
        """The widest of the accesses that are alike, by the part that they belong to."""
        for op, width in self._widths.items():
            key = (self._connected.part(op), self._likeness(op))
            self._widest[key] = max(width, self._widest.get(key, 1))
        self._widest_reached: dict[tuple[Operation, Likeness], int] = {}
        self._layouts_of = {op: self._layout(op) for op in self._orders}

    def layouts(self) -> dict[Operation, BlockedLayout]:
        """The layout of each access through a tensor of pointers."""
        return self._layouts_of

    def objections(self) -> Iterator[tuple[Operation, str]]:
        """The accesses whose threads move one element at a time, and why they do not move several."""
        for op in self._layouts_of:
            type, pointers = self._type(op), pointers_of(op)
            assert pointers is not None and isinstance(type.element_type, PointerType)
            bits = bits_of(type.element_type.pointee_type)
            warps = warps_around(op, self._program)
            share = prod(shape_per_cta(type)) // (warps * self._program.lanes)
            if self._widths[op] > 1 or min(share, VECTOR_BITS // bits) < 2:
                continue
            info, fastest = self._axis_info.of(pointers), self._orders[op][0]
            if max(info.contiguity) == 1:
                yield op, "its elements are not known to lie side by side in any dimension"
            else:
                yield op, f"its addresses are only known to be multiples of {info.divisibility[fastest]} bytes"

    def _type(self, op: Operation) -> TensorType[Attribute]:
        pointers = pointers_of(op)
        assert pointers is not None
        return as_tensor(pointers.type)

    def _order(self, op: Operation) -> tuple[int, ...]:
        """Dimensions by descending contiguity of the pointers, minor dimensions first where they are equal."""
        contiguity = self._contiguity(op)
        return tuple(sorted(range(len(contiguity)), key=lambda dim: (-contiguity[dim], -dim)))

    def _contiguity(self, op: Operation) -> tuple[int, ...]:
        pointers = pointers_of(op)
        assert pointers is not None
        return self._axis_info.of(pointers).contiguity

    def _layout(self, op: Operation) -> BlockedLayout:
        type, order = self._type(op), self._orders[op]
        warps = warps_around(op, self._program)
        width = min(self._shared_width(op), max(prod(shape_per_cta(type)) // (warps * self._program.lanes), 1))
        if not isinstance(op, tt.LoadOp):
            # A load whose neighbours are in another thread is served by the cache, a store is not.
            width = min(width, self._widths[op])
        sizes = [1] * len(order)
        sizes[order[0]] = width
        return _blocked(type, sizes, order, warps, self._program.lanes)

    def _likeness(self, op: Operation) -> Likeness:
        return self._orders[op], self._type(op).get_shape()

    def _shared_width(self, op: Operation) -> int:
        """The widest of the accesses that compute with `op`, of the same shape and order: they had better share a
        layout. Those through pointers that a loop carries go by themselves.
        """
        if not isinstance(pointers_of(op), OpResult):
            return self._widths[op]
        part, likeness = self._connected.part(op), self._likeness(op)
        found = self._widest_reached.get((part, likeness))
        if found is None:
            found = max(self._widest.get((other, likeness), 1) for other in self._connected.reached(part))
            self._widest_reached[part, likeness] = found
        return found

    def _width(self, op: Operation) -> int:
        """Neighbouring elements that one thread may access at once."""
        pointers = pointers_of(op)
        assert pointers is not None
        type = as_tensor(pointers.type)
        fastest = self._orders[op][0]
        info = self._axis_info.of(pointers)
        assert isinstance(type.element_type, PointerType)
        bits = bits_of(type.element_type.pointee_type)
        aligned = max(info.divisibility[fastest] // max(bits // 8, 1), 1)
        contiguous = min(info.contiguity[fastest], shape_per_cta(type)[fastest])
        return max(min(aligned, contiguous, VECTOR_BITS // bits), 1)


def _blocked(
    type: TensorType[Attribute], sizes: list[int], order: tuple[int, ...], warps: int, lanes: int
) -> BlockedLayout:
    """A blocked layout over the same CTAs as the present one."""
    cga = _cga_of(type)
    dealt = BlockedLayout.make(shape_per_cta(type), sizes, order, warps, lanes)
    return BlockedLayout(dealt.size_per_thread, dealt.threads_per_warp, dealt.warps_per_cta, order, cga)


def descriptor_layout(type: TensorType[Attribute], warps: int, lanes: int) -> BlockedLayout:
    """Row-major, with up to 16 bytes per thread: what copies between registers and shared memory like."""
    rank = len(type.get_shape())
    share = max(prod(shape_per_cta(type)) // (warps * lanes), 1)
    sizes = [1] * rank
    sizes[-1] = min(share, VECTOR_BITS // bits_of(type.element_type))
    return _blocked(type, sizes, tuple(reversed(range(rank))), warps, lanes)


def relayout(op: Operation, values: Sequence[SSAValue], encoding: Attribute) -> None:
    """Make an op take and give some of its tensors in a layout, with conversions around it."""
    before = OpBuilder.before(op)
    for index, operand in enumerate(op.operands):
        if operand in values and is_tensor(operand.type) and operand.type.encoding != encoding:
            wanted = with_encoding(operand.type, encoding)
            op.operands[index] = before.result(ttg.ConvertLayoutOp(operand, wanted))
    for result in tuple(op.results):
        old = result.type
        if result not in values or not is_tensor(old) or old.encoding == encoding:
            continue
        value = Rewriter.replace_value_with_new_type(result, with_encoding(old, encoding))
        uses = tuple(value.uses)
        if uses:
            back = OpBuilder.after(op).result(ttg.ConvertLayoutOp(value, old))
            for use in uses:
                use.operation.operands[use.index] = back


@register_pass
class CoalescePass(Pass):
    """Gives each access through a tensor of pointers the layout in which a thread accesses as many adjacent elements at
    once as contiguity, alignment, and 128 bits allow, and adjacent threads access the next ones.

    ```mlir
    %v = tt.load %p : tensor<1024x!tt.ptr<f32>, #blocked>       // sizePerThread = [1], %p contiguous, 16-byte aligned
    // becomes
    %q = ttg.convert_layout %p : tensor<1024x!tt.ptr<f32>, #blocked> -> tensor<1024x!tt.ptr<f32>, #blocked1>
    %w = tt.load %q : tensor<1024x!tt.ptr<f32>, #blocked1>      // sizePerThread = [4]
    %v = ttg.convert_layout %w : tensor<1024xf32, #blocked1> -> tensor<1024xf32, #blocked>
    ```
    Accesses whose values are combined use the widest of their widths, so that they share a layout, but stores and
    atomics never exceed their own. Accesses through descriptors become row-major, with 16 bytes per thread.
    """

    name = "tritongpu-coalesce"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        program = program_shape(module)
        if program is None:
            context.fail(module, "not TritonGPU IR: the module does not state ttg.num-warps")
        layouts: dict[Operation, BlockedLayout] = {}
        if any(pointers_of(op) is not None for op in ops_within(module)):
            accesses = AccessLayouts(module, program)
            layouts = accesses.layouts()
            for op, reason in accesses.objections():
                context.remark(op, f"each thread moves one element at a time: {reason}", RemarkKind.NARROW_ACCESS)
        for op, layout in layouts.items():
            relayout(op, (*op.operands, *op.results), ttg.encoding_of(layout))
        for op in ops_within(module):
            block = block_of(op)
            if block is not None:
                layout = descriptor_layout(as_tensor(block.type), warps_around(op, program), program.lanes)
                relayout(op, (block,), ttg.encoding_of(layout))
