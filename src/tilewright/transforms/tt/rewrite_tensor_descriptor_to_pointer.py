"""`triton-rewrite-tensor-descriptor-to-pointer`: tensor descriptors become pointers, extents and strides."""

from __future__ import annotations

import math

from xdsl.dialects.builtin import ModuleOp, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects import arith, tt
from tilewright.dialects.arith import constant_bool, constant_splat
from tilewright.dialects.tt.descriptor import block_type_of, signless
from tilewright.dialects.tt.enums import DescriptorReduceKind, PaddingOption, RMWOp
from tilewright.dialects.tt.types import PointerType, TensorDescType, is_tensor, pointer_type, tensor_type
from tilewright.dialects.types import is_float, is_unsigned_integer
from tilewright.ir.builder import OpBuilder
from tilewright.ir.diagnostics import op_error
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.remark_kinds import RemarkKind
from tilewright.ir.walking import ops_within
from tilewright.transforms.tt.block_access import BlockAccess, widened
from tilewright.transforms.tt.expand_values import ValueExpander


class _Descriptor:
    """The components of a descriptor: base, i64 extents, i64 strides, and whether padding is NaN."""

    def __init__(self, components: list[SSAValue]) -> None:
        rank = (len(components) - 2) // 2
        self.base = components[0]
        self.extents = components[1 : 1 + rank]
        self.strides = components[1 + rank : 1 + 2 * rank]
        self.pads_with_nan = components[-1]


_ACCESSES = (
    tt.DescriptorLoadOp,
    tt.DescriptorGatherOp,
    tt.DescriptorStoreOp,
    tt.DescriptorScatterOp,
    tt.DescriptorReduceOp,
)


class _DescriptorExpander(ValueExpander):
    """A descriptor of rank r is its base, r extents, r strides, and an i1 that is true for padding with NaN."""

    pass_name = "triton-rewrite-tensor-descriptor-to-pointer"

    def __init__(self, module: ModuleOp, unit_inner_stride: bool) -> None:
        super().__init__(module)
        self._unit_inner_stride = unit_inner_stride

    def _strides(self, builder: OpBuilder, descriptor: _Descriptor) -> list[SSAValue]:
        if not self._unit_inner_stride:
            return descriptor.strides
        return [*descriptor.strides[:-1], builder.result(arith.constant_int(1, i64))]

    def component_types(self, type: Attribute) -> list[Attribute] | None:
        if not isinstance(type, TensorDescType):
            return None
        base = pointer_type(signless(type.block_type.element_type))
        return [base, *([i64] * (2 * type.block_type.get_num_dims())), i1]

    def visit(self, op: Operation) -> bool:
        match op:
            case tt.MakeTensorDescOp():
                self._visit_make(op)
            case tt.DescriptorLoadOp():
                self._replace_load(op, op.desc, self._block_at(op, op.desc, op.indices))
            case tt.DescriptorGatherOp():
                self._replace_load(op, op.desc, self._rows_at(op, op.desc, op.x_offsets, op.y_offset))
            case tt.DescriptorStoreOp():
                self._replace_store(op, op.desc, op.src, self._block_at(op, op.desc, op.indices))
            case tt.DescriptorScatterOp():
                self._replace_store(op, op.desc, op.src, self._rows_at(op, op.desc, op.x_offsets, op.y_offset))
            case tt.DescriptorReduceOp():
                self._replace_reduce(op)
            case _:
                return False
        return True

    def _visit_make(self, op: tt.MakeTensorDescOp) -> None:
        builder = OpBuilder.before(op)
        extents = widened(builder, op.shape)
        is_nan = PaddingOption.of(op.padding) is PaddingOption.NAN
        flag = builder.result(constant_bool(is_nan))
        self.define(op, (op.base, *extents, *op.strides, flag))

    def _block_at(self, op: Operation, desc: SSAValue, indices: tuple[SSAValue, ...]) -> BlockAccess:
        builder = OpBuilder.before(op)
        block = block_type_of(desc)
        if len(indices) != block.get_num_dims():
            reason = f"expected {block.get_num_dims()} indices for a block {block}, got {len(indices)}"
            raise op_error(op, reason, pass_name=self.pass_name)
        return BlockAccess(builder, block.get_shape(), widened(builder, tuple(indices)))

    def _rows_at(self, op: Operation, desc: SSAValue, rows: SSAValue, column: SSAValue) -> BlockAccess:
        builder = OpBuilder.before(op)
        columns = block_type_of(desc).get_shape()[1]
        return BlockAccess.rows(builder, rows, widened(builder, (column,))[0], columns)

    def _replace_load(
        self, op: tt.DescriptorLoadOp | tt.DescriptorGatherOp, desc: SSAValue, access: BlockAccess
    ) -> None:
        builder = OpBuilder.before(op)
        descriptor = _Descriptor(self.components(desc))
        pointers = access.pointers(descriptor.base, self._strides(builder, descriptor))
        mask = access.mask(descriptor.extents, range(len(descriptor.extents)))
        other = self._padding(builder, descriptor, pointers)
        load = builder.insert(tt.LoadOp(pointers, mask, other))
        for name in ("cache", "evict"):
            if name in op.properties:
                load.properties[name] = op.properties[name]
        value = self._reshaped(builder, load.result, op.result.type)
        value.name_hint = op.result.name_hint
        op.result.replace_all_uses_with(value)
        self._remove(op)

    @staticmethod
    def _padding(builder: OpBuilder, descriptor: _Descriptor, pointers: SSAValue) -> SSAValue:
        assert is_tensor(pointers.type) and isinstance(descriptor.base.type, PointerType)
        pointee = descriptor.base.type.pointee_type
        type = tensor_type(pointee, pointers.type.get_shape())
        zero = builder.result(constant_splat(0, type))
        if not is_float(pointee):
            return zero
        nan = builder.insert(constant_splat(math.nan, type))
        return builder.result(arith.SelectOp(descriptor.pads_with_nan, nan, zero))

    @staticmethod
    def _reshaped(builder: OpBuilder, value: SSAValue, type: Attribute) -> SSAValue:
        """A block's value without its leading dimensions of extent 1, or with them."""
        return value if value.type == type else builder.result(tt.ReshapeOp(value, type))

    def _store_operands(
        self, builder: OpBuilder, desc: SSAValue, src: SSAValue, access: BlockAccess
    ) -> tuple[SSAValue, SSAValue, SSAValue | None]:
        descriptor = _Descriptor(self.components(desc))
        pointers = access.pointers(descriptor.base, self._strides(builder, descriptor))
        mask = access.mask(descriptor.extents, range(len(descriptor.extents)))
        assert is_tensor(pointers.type) and is_tensor(src.type)
        value = self._reshaped(builder, src, tensor_type(src.type.element_type, pointers.type.get_shape()))
        return pointers, value, mask

    def _replace_store(self, op: Operation, desc: SSAValue, src: SSAValue, access: BlockAccess) -> None:
        builder = OpBuilder.before(op)
        builder.insert(tt.StoreOp(*self._store_operands(builder, desc, src, access)))
        self._remove(op)

    def _replace_reduce(self, op: tt.DescriptorReduceOp) -> None:
        builder = OpBuilder.before(op)
        kind = DescriptorReduceKind.of(op.kind)
        rmw = reduction_rmw(kind, block_type_of(op.desc).element_type)
        if rmw is None:
            reason = f"there is no atomic for the descriptor reduction '{kind.keyword}'"
            raise op_error(op, reason, pass_name=self.pass_name)
        access = self._block_at(op, op.desc, op.indices)
        operands = self._store_operands(builder, op.desc, op.src, access)
        builder.insert(
            tt.AtomicRMWOp(*operands, atomic_rmw_op=rmw, sem=tt.MemSemantic.RELEASE, scope=tt.MemSyncScope.GPU)
        )
        self._remove(op)

    @staticmethod
    def _remove(op: Operation) -> None:
        op.detach()
        op.erase()


def reduction_rmw(kind: DescriptorReduceKind, element: Attribute) -> RMWOp | None:
    """The atomic that combines elements of a descriptor as `kind` says; None if there is none."""
    is_unsigned = is_unsigned_integer(element)
    match kind:
        case DescriptorReduceKind.ADD:
            return RMWOp.FADD if is_float(element) else RMWOp.ADD
        case DescriptorReduceKind.MIN:
            return RMWOp.UMIN if is_unsigned else RMWOp.MIN
        case DescriptorReduceKind.MAX:
            return RMWOp.UMAX if is_unsigned else RMWOp.MAX
        case DescriptorReduceKind.AND:
            return RMWOp.AND
        case DescriptorReduceKind.OR:
            return RMWOp.OR
        case DescriptorReduceKind.XOR:
            return RMWOp.XOR
        case _:
            return None


@register_pass
class RewriteTensorDescriptorToPointerPass(Pass):
    """Replaces tensor descriptors by base, extents and strides, and the accesses through them by masked ones: reads
    outside the tensor give the padding, writes there are dropped. A descriptor argument of a function becomes a
    pointer, i64 extents, i64 strides and an i1 (padding with NaN).

    Before:
    ```mlir
    %d = tt.make_tensor_descriptor %p, [%m, %n], [%s, %c1] : <f16>, <tensor<32x64xf16>>
    %v = tt.descriptor_load %d[%i, %j] : !tt.tensordesc<32x64xf16> -> tensor<32x64xf16>
    ```
    After:
    ```mlir
    ...                                     // %ptrs = %p + (%i + row) * %s + (%j + column); %m = both indices inside
    %v = tt.load %ptrs, %mask, %zero : tensor<32x64x!tt.ptr<f16>>
    ```
    """

    name = "triton-rewrite-tensor-descriptor-to-pointer"
    takes = ("tt", "structured")
    unit_inner_stride: bool = False
    """Use the constant 1 for the innermost stride, as every descriptor must have it: Triton reads it at run time."""
    only_gathered: bool = False
    """Leave modules alone in which no rows are gathered or scattered through descriptors."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        gathers = (tt.DescriptorGatherOp, tt.DescriptorScatterOp)
        if self.only_gathered and not any(isinstance(op, gathers) for op in ops_within(module)):
            return
        for op in ops_within(module):
            if isinstance(op, _ACCESSES):
                context.remark(op, "the block is accessed through a tensor of pointers", RemarkKind.NOT_TMA)
        _DescriptorExpander(module, self.unit_inner_stride).run()
