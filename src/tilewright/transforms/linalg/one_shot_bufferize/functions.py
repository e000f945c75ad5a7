"""Tensors over the bounds of functions: callers pass the buffers of arguments, and buffers for the results after them.

func.func private @f(%x: tensor<4xf32>) -> (tensor<4xf32>, i32)
  ->  func.func private @f(%x: memref<4xf32>, %out: memref<4xf32>) -> i32
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType
from xdsl.ir import Attribute

from tilewright.dialects import func
from tilewright.dialects.types import is_tensor
from tilewright.transforms.linalg.one_shot_bufferize.buffers import buffer_type
from tilewright.transforms.linalg.one_shot_bufferize.rules import Bufferizer, lowers
from tilewright.transforms.linalg.region_values import drop_arguments, tensor_positions, without


def has_tensors(function: func.FuncOp) -> bool:
    """Return whether a signature has tensors."""
    kind = function.function_type
    return any(is_tensor(type_) for type_ in (*kind.inputs, *kind.outputs))


def _converted(types: Sequence[Attribute]) -> list[Attribute]:
    return [buffer_type(type_) if is_tensor(type_) else type_ for type_ in types]


def add_buffer_arguments(f: Bufferizer) -> None:
    """Give the entry block of a function memrefs for its tensor arguments, and for its tensor results after all."""
    block = f.function.args[0].block if f.function.args else f.function.body.blocks[0]
    for position in reversed(tensor_positions(block.args)):
        argument = block.args[position]
        f.buffers.bind(argument, block.insert_arg(buffer_type(argument.type), position + 1))
    for type_ in f.function.function_type.outputs:
        if is_tensor(type_):
            block.insert_arg(buffer_type(type_), len(block.args))


def convert_signature(function: func.FuncOp) -> None:
    """The type that goes with `add_buffer_arguments`; the tensor arguments themselves are dropped."""
    kind = function.function_type
    inputs, outputs = list(kind.inputs), list(kind.outputs)
    results = [type_ for type_ in outputs if is_tensor(type_)]
    kept = [position for position, type_ in enumerate(outputs) if not is_tensor(type_)]
    types = FunctionType.from_lists(_converted([*inputs, *results]), [outputs[position] for position in kept])
    function.properties["function_type"] = types
    if function.arg_attrs is not None:
        more = [DictionaryAttr({})] * len(results)
        function.properties["arg_attrs"] = ArrayAttr([*function.arg_attrs, *more])
    if function.res_attrs is not None:
        attributes = function.res_attrs.data
        function.properties["res_attrs"] = ArrayAttr([attributes[position] for position in kept])
    if (entry := function.body.blocks.first) is not None:
        drop_arguments(entry, tensor_positions(entry.args))


@lowers(func.ReturnOp)
def bufferize_return(op: func.ReturnOp, f: Bufferizer) -> None:
    """Tensors go into the buffers that the caller gave."""
    positions = tensor_positions(op.operands)
    if not positions:
        return
    targets = f.function.body.blocks[0].args[-len(positions) :]
    f.buffers.transfer([op.operands[position] for position in positions], targets)
    f.rebuild(op, func.ReturnOp(*without(op.operands, positions)), ())


@lowers(func.CallOp)
def bufferize_call(op: func.CallOp, f: Bufferizer) -> None:
    """The callee reads the buffers of arguments and writes those of results."""
    arguments = [f.buffers.of(value) if is_tensor(value.type) else value for value in op.operands]
    positions = tensor_positions(op.results)
    if not positions and not tensor_positions(op.operands):
        return
    arguments.extend(f.buffers.of(op.results[position]) for position in positions)
    kept = [value.type for value in without(op.results, positions)]
    f.rebuild(op, func.CallOp(op.callee, arguments, kept), positions)
