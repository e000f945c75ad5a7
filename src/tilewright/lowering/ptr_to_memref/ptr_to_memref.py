"""The pass `triton-ptr-to-memref`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType, UnrealizedConversionCastOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tilewright.dialects import arith, cf, func, scf, tt
from tilewright.dialects.tt.types import PointerType
from tilewright.dialects.types import is_memref, is_tensor
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops, is_subclass, ops_within
from tilewright.lowering.access_lowering import erase_unused
from tilewright.lowering.memory_builder import DEFAULT_ADDRESS_SPACE
from tilewright.lowering.ptr_to_memref.addresses import lower_addresses
from tilewright.lowering.ptr_to_memref.byte_memory import BYTES, find_byte_memory, recast_bytes, view_bytes
from tilewright.lowering.ptr_to_memref.reconcile_unrealized_casts import reconcile_casts
from tilewright.lowering.tensor_builder import unranked_memref_of
from tilewright.support.records import dataclass

CARRIERS = (
    arith.SelectOp,
    cf.BranchOp,
    cf.ConditionalBranchOp,
    func.CallOp,
    func.ReturnOp,
    scf.ConditionOp,
    scf.ForOp,
    scf.IfOp,
    scf.WhileOp,
    scf.YieldOp,
    tt.CallOp,
    tt.ReturnOp,
)
"""Ops that pass pointers on without looking at them: their pointer operands and results can just change type."""


def memory_type(kind: Attribute) -> Attribute | None:
    """``memref<*xT>`` for ``!tt.ptr<T>``, None for other types and for pointers that no memref can be."""
    if not isinstance(kind, PointerType) or isinstance(kind.pointee_type, PointerType):
        return None
    if kind.address_space.data != DEFAULT_ADDRESS_SPACE or isinstance(kind.pointee_type, TensorType):
        return None
    return unranked_memref_of(kind.pointee_type)


@register_pass
class TritonPtrToMemrefPass(Pass):
    """Pointers become unranked memrefs: in signatures, calls, branches, loops and selects.

    ```mlir
    func.func @k(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}) {
      %m = builtin.unrealized_conversion_cast %p : !tt.ptr<f32> to memref<*xf32>
      "use"(%m) : (memref<*xf32>) -> ()
      return
    }
    // becomes
    func.func @k(%p: memref<*xf32> {tt.divisibility = 16 : i32}) {
      "use"(%p) : (memref<*xf32>) -> ()
      return
    }
    ```
    An argument that is only ever seen through one ``tt.bitcast`` gets the element type of the cast (Triton reads
    ``i1`` memory as ``i8``). Memory that is read as several types is ``memref<*xi8>`` (see `byte_memory`). Ops that
    still compute with pointers keep a cast back to ``!tt.ptr`` and are remarked.
    """

    name = "triton-ptr-to-memref"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        lower_addresses(module, context)
        functions = [op for op in module.ops if isinstance(op, func.FuncOp | tt.FuncOp)]
        erase_unused(module, (tt.AddPtrOp, tt.BitcastOp, tt.IntToPtrOp, tt.PtrToIntOp))
        for function in functions:
            _retype_bitcast_arguments(function)
            _retype_tiles(function)
        retyping = _Retyping(find_byte_memory(module))
        for function in functions:
            retyping.retype_function(function)
        if retyping.byte_memory:
            recast_bytes(module)
        reconcile_casts(module)
        if retyping.byte_memory:
            view_bytes(module)
            reconcile_casts(module)
        erase_unused(module, (tt.AddPtrOp, tt.BitcastOp, tt.IntToPtrOp, tt.PtrToIntOp))
        reconcile_casts(module)
        for op in ops_within(module):
            if op.dialect_name() == "tt" and not isinstance(op, tt.FuncOp | tt.ReturnOp):
                context.remark(op, "no lowering to memref: the op stays")


def _retype_bitcast_arguments(function: func.FuncOp | tt.FuncOp) -> None:
    """An argument whose only uses are bitcasts to one pointer type takes that type; calls of the function stay right,
    they pass memory."""
    entry = function.body.blocks.first
    if entry is None or (function.sym_visibility is not None and function.sym_visibility.data == "private"):
        return
    for argument in entry.args:
        if not isinstance(argument.type, PointerType) or not argument.uses:
            continue
        users = [use.operation for use in argument.uses]
        kinds = {user.results[0].type for user in users if isinstance(user, tt.BitcastOp)}
        if len(kinds) != 1 or not all(isinstance(user, tt.BitcastOp) for user in users):
            continue
        (kind,) = kinds
        retyped = Rewriter.replace_value_with_new_type(argument, kind)
        for user in users:
            user.results[0].replace_all_uses_with(retyped)
            user.detach()
            user.erase()
    _sync_signature(function)


def _retype_tiles(function: func.FuncOp | tt.FuncOp) -> None:
    """An argument that is a tile of pointers, and only cast to memory, takes the type of the memory."""
    entry = function.body.blocks.first
    for argument in () if entry is None else entry.args:
        users = [use.operation for use in argument.uses]
        kinds = {user.results[0].type for user in users if isinstance(user, UnrealizedConversionCastOp)}
        if len(kinds) != 1 or len(users) != sum(isinstance(user, UnrealizedConversionCastOp) for user in users):
            continue
        (kind,) = kinds
        if not is_tensor(argument.type) or not is_memref(kind):
            continue
        retyped = Rewriter.replace_value_with_new_type(argument, kind)
        for user in users:
            user.results[0].replace_all_uses_with(retyped)
            user.detach()
            user.erase()
    _sync_signature(function)


@dataclass(frozen=True)
class _Retyping:
    """Gives pointers their memref types; those of `byte_memory` become bytes."""

    byte_memory: set[SSAValue]

    def retype_function(self, function: func.FuncOp | tt.FuncOp) -> None:
        """Change the type of every pointer that only carriers and casts touch; others get a cast back for their
        users."""
        for block in function.body.blocks:
            self._retype_block(block)
        _sync_signature(function)

    def _memory_of(self, value: SSAValue) -> Attribute | None:
        return BYTES if value in self.byte_memory else memory_type(value.type)

    def _retype_block(self, block: Block) -> None:
        if is_subclass(type(block.parent_op()), (*CARRIERS, func.FuncOp, tt.FuncOp)):
            for argument in block.args:
                self._retype_value(argument)
        for op in block.ops:
            for region in op.regions:
                for inner in region.blocks:
                    self._retype_block(inner)
            if is_subclass(type(op), CARRIERS):
                for result in op.results:
                    self._retype_value(result)
                self._convert_operands(op)

    def _retype_value(self, value: SSAValue) -> None:
        """Give a pointer value its memref type, with a cast back for users that are no carriers."""
        memory = self._memory_of(value)
        if memory is None:
            return
        pointer = value.type
        retyped = Rewriter.replace_value_with_new_type(value, memory)
        for use in list(retyped.uses):
            user = use.operation
            if is_subclass(type(user), CARRIERS):
                continue
            if isinstance(user, UnrealizedConversionCastOp) and user.results[0].type == memory:
                continue
            user.operands[use.index] = _cast_before(user, retyped, pointer)

    def _convert_operands(self, op: Operation) -> None:
        """Pointer operands of a carrier that come from ops that compute pointers are cast to memory."""
        for index, operand in enumerate(op.operands):
            memory = self._memory_of(operand)
            if memory is not None and not isinstance(operand.owner, (Block, *CARRIERS)):
                op.operands[index] = _cast_before(op, operand, memory)


def _cast_before(op: Operation, value: SSAValue, kind: Attribute) -> SSAValue:
    cast = UnrealizedConversionCastOp.create(operands=[value], result_types=[kind])
    cast.location = op.location
    assert op.parent is not None
    op.parent.insert_op_before(cast, op)
    return cast.results[0]


def _sync_signature(function: func.FuncOp | tt.FuncOp) -> None:
    """Make the function type that of the entry block and of the results' memory."""
    entry = function.body.blocks.first
    inputs: Sequence[Attribute]
    if entry is not None:
        inputs = [argument.type for argument in entry.args]
    else:
        inputs = [memory_type(kind) or kind for kind in function.function_type.inputs.data]
    returned = next(iter(find_ops(function.body, func.ReturnOp, tt.ReturnOp)), None)
    outputs: Sequence[Attribute] = [memory_type(kind) or kind for kind in function.function_type.outputs.data]
    if returned is not None and len(returned.operands) == len(outputs):
        outputs = [operand.type for operand in returned.operands]
    function.properties["function_type"] = FunctionType.from_lists(inputs, outputs)
