"""The pass `tile-arguments-to-memref`: arguments that are tiles of pointers."""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType, ModuleOp, UnrealizedConversionCastOp
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.dialects import bufferization, memref, tt
from tilewright.dialects.types import element_type, is_tensor
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.lowering.tensor_builder import memref_of, shape_of


@register_pass
class TileArgumentsToMemrefPass(Pass):
    """Turns arguments that are tiles of pointers, and are only loaded and stored as a whole, into memory of the tile's
    shape.

    ```mlir
    tt.func public @k(%p: tensor<16x!tt.ptr<f32>>, %v: tensor<16xf32>) {
      tt.store %p, %v : tensor<16x!tt.ptr<f32>>
      tt.return
    }
    // becomes
    tt.func public @k(%p: tensor<16x!tt.ptr<f32>>, %v: tensor<16xf32>) {
      %m = builtin.unrealized_conversion_cast %p : tensor<16x!tt.ptr<f32>> to memref<16xf32>
      bufferization.materialize_in_destination %v in writable %m : (tensor<16xf32>, memref<16xf32>) -> ()
      tt.return
    }
    ```
    That is triton-shared's meaning of such arguments; `triton-ptr-to-memref` makes them memrefs. No launch passes one.
    """

    name = "tile-arguments-to-memref"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for function in module.body.block.ops:
            if isinstance(function, tt.FuncOp) and not function.is_declaration:
                for argument in function.args:
                    tile = _find_tile(argument)
                    if tile is not None:
                        _rewrite(argument, tile)


def _find_tile(argument: SSAValue) -> MemRefType[Attribute] | None:
    """The memory that an argument stands for; None for one that is not a tile of pointers, or is used otherwise."""
    kind = argument.type
    element = element_type(kind)
    if not is_tensor(argument.type) or not isinstance(element, tt.PointerType):
        return None
    if not all(_is_whole_access(use.operation, argument) for use in argument.uses):
        return None
    return memref_of(element.pointee_type, *shape_of(kind))


def _is_whole_access(user: Operation, pointers: SSAValue) -> bool:
    return isinstance(user, tt.LoadOp | tt.StoreOp) and user.ptr is pointers and user.mask is None


def _rewrite(argument: SSAValue, tile: MemRefType[Attribute]) -> None:
    for use in list(argument.uses):
        op = use.operation
        b = OpBuilder.before(op)
        memory = b.result(UnrealizedConversionCastOp.create(operands=[argument], result_types=[tile]))
        if isinstance(op, tt.StoreOp):
            b.insert(bufferization.MaterializeInDestinationOp(op.value, memory, writable=True))
        else:
            buffer = b.result(memref.AllocOp((), (), tile))
            b.insert(memref.CopyOp(memory, buffer))
            loaded = b.result(bufferization.ToTensorOp(buffer, restrict=True, writable=True))
            op.results[0].replace_all_uses_with(loaded)
        op.detach()
        op.erase()
