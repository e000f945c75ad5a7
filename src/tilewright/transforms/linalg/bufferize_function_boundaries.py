"""The pass `linalg-bufferize-function-boundaries`."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, SSAValue

from tilewright.dialects import bufferization, func, memref
from tilewright.dialects.types import is_tensor
from tilewright.ir.builder import OpBuilder
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops
from tilewright.transforms.linalg.one_shot_bufferize.buffers import buffer_type
from tilewright.transforms.linalg.one_shot_bufferize.functions import convert_signature, has_tensors
from tilewright.transforms.linalg.region_values import tensor_positions, without


@register_pass
class LinalgBufferizeFunctionBoundariesPass(Pass):
    """Tensors cross the bounds of functions in buffers: callers pass copies of arguments, which the callee may
    overwrite, and buffers for results after all arguments.

    ```mlir
    %y, %n = func.call @f(%x) : (tensor<4xf32>) -> (tensor<4xf32>, i32)
    func.func private @f(%a: tensor<4xf32>) -> (tensor<4xf32>, i32) { ... return %r, %m : tensor<4xf32>, i32 }
    // becomes
    %in = memref.alloc() : memref<4xf32>
    bufferization.materialize_in_destination %x in writable %in
    %out = memref.alloc() : memref<4xf32>
    %n = func.call @f(%in, %out) : (memref<4xf32>, memref<4xf32>) -> i32
    %y = bufferization.to_tensor %out restrict writable
    func.func private @f(%in: memref<4xf32>, %out: memref<4xf32>) -> i32 {
      %a = bufferization.to_tensor %in restrict writable
      ...
      bufferization.materialize_in_destination %r in writable %out
      return %m : i32
    }
    ```
    The convention is that of `one-shot-bufferize`.
    """

    name = "linalg-bufferize-function-boundaries"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        found = [op for op in module.ops if isinstance(op, func.FuncOp) and has_tensors(op)]
        if not found:
            return
        for function in found:
            if (entry := function.body.blocks.first) is not None:
                _bufferize_body(function, entry)
            convert_signature(function)
        for call in find_ops(module, func.CallOp):
            if any(is_tensor(value.type) for value in (*call.operands, *call.results)):
                _bufferize_call(call)


def _bufferize_body(function: func.FuncOp, entry: Block) -> None:
    b = OpBuilder.at_start(entry, function.location)
    for position in reversed(tensor_positions(entry.args)):
        argument = entry.args[position]
        buffer = entry.insert_arg(buffer_type(argument.type), position + 1)
        argument.replace_all_uses_with(_contents(buffer, b))
    results = [
        entry.insert_arg(buffer_type(type_), len(entry.args))
        for type_ in function.function_type.outputs
        if is_tensor(type_)
    ]
    for op in find_ops(function.body, func.ReturnOp):
        positions = tensor_positions(op.operands)
        b = OpBuilder.before(op)
        for position, buffer in zip(positions, results, strict=True):
            _write(op.operands[position], buffer, b)
        op.operands = without(op.operands, positions)


def _bufferize_call(call: func.CallOp) -> None:
    b = OpBuilder.before(call)
    arguments: list[SSAValue] = []
    for value in call.operands:
        if is_tensor(value.type):
            buffer = _allocated(value.type, b)
            _write(value, buffer, b)
            value = buffer
        arguments.append(value)
    positions = tensor_positions(call.results)
    results = [_allocated(call.results[position].type, b) for position in positions]
    new = b.insert(func.CallOp(call.callee, [*arguments, *results], [r.type for r in without(call.results, positions)]))
    values = iter(new.results)
    buffers = iter(results)
    for result in call.results:
        result.replace_all_uses_with(_contents(next(buffers), b) if is_tensor(result.type) else next(values))
    call.detach()
    call.erase()


def _allocated(type_: Attribute, b: OpBuilder) -> SSAValue:
    return b.result(memref.AllocOp((), (), buffer_type(type_)))


def _write(value: SSAValue, buffer: SSAValue, b: OpBuilder) -> None:
    b.insert(bufferization.MaterializeInDestinationOp(value, buffer, writable=True))


def _contents(buffer: SSAValue, b: OpBuilder) -> SSAValue:
    return b.result(bufferization.ToTensorOp(buffer, restrict=True, writable=True))
