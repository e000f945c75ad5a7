"""`triton-nvidia-optimize-descriptor-encoding`: descriptors say in which layout TMA writes their blocks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tilewright.dialects import arith, cf, scf, tt, ttg
from tilewright.dialects.tt.descriptor import has_block_shape
from tilewright.dialects.tt.types import TensorDescType, tensor_type
from tilewright.dialects.ttg.shared_encodings import encoding_of_rank, find_shared_layout, shared_encoding_of
from tilewright.dialects.ttg.types import MemDescType
from tilewright.dialects.types import as_tensor
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.layouts.shared import NvmmaSharedLayout
from tilewright.transforms.ttg.pipeliner.copies import element_bits

Pair = tuple[SSAValue, SSAValue]


def _pairs(*groups: Iterable[SSAValue]) -> Iterator[Pair]:
    """Neighbours among values that are the same value at different places."""
    for left, right in pairwise(groups):
        yield from zip(left, right, strict=True)


def _same_values(op: Operation, functions: dict[str, tt.FuncOp]) -> Iterator[Pair]:
    """Pairs of values that one op makes the same."""
    match op:
        case scf.ForOp():
            yield from _pairs(op.iter_args, op.region_iter_args, op.yielded, op.results)
        case scf.IfOp():
            yield from _pairs(op.then_yielded, op.results)
            if op.false_region.blocks:
                yield from _pairs(op.else_yielded, op.results)
        case scf.WhileOp():
            test, step = op.before_region.block.last_op, op.after_region.block.last_op
            assert isinstance(test, scf.ConditionOp) and step is not None
            yield from _pairs(op.arguments, op.before_region.block.args, step.operands)
            yield from _pairs(test.arguments, op.after_region.block.args, op.results)
        case arith.SelectOp():
            yield from _pairs(op.operands[1:2], op.operands[2:], op.results)
        case cf.BranchOp():
            yield from _pairs(op.arguments, op.successor.args)
        case cf.ConditionalBranchOp():
            yield from _pairs(op.then_arguments, op.then_block.args)
            yield from _pairs(op.else_arguments, op.else_block.args)
        case tt.CallOp():
            yield from _pairs_of_call(op, functions)
        case _:
            return


def _pairs_of_call(op: tt.CallOp, functions: dict[str, tt.FuncOp]) -> Iterator[Pair]:
    callee = functions.get(op.callee.string_value())
    if callee is None or not callee.body.blocks:
        return
    yield from _pairs(op.operands, callee.body.blocks[0].args)
    for block in callee.body.blocks:
        if isinstance(block.last_op, tt.ReturnOp):
            yield from _pairs(block.last_op.operands, op.results)


class _Groups:
    """Descriptors that are the same at different places, as disjoint sets."""

    def __init__(self) -> None:
        self._parent: dict[SSAValue, SSAValue] = {}

    def add(self, value: SSAValue) -> None:
        """A value of its own until it is joined."""
        self._parent.setdefault(value, value)

    def find(self, value: SSAValue) -> SSAValue:
        """The representative of a value's set."""
        while (parent := self._parent[value]) is not value:
            self._parent[value] = self._parent[parent]
            value = parent
        return value

    def join(self, left: SSAValue, right: SSAValue) -> None:
        """Make two sets one."""
        self._parent[self.find(left)] = self.find(right)

    def sets(self) -> list[list[SSAValue]]:
        """All sets."""
        found: dict[SSAValue, list[SSAValue]] = {}
        for value in self._parent:
            found.setdefault(self.find(value), []).append(value)
        return list(found.values())


def _is_descriptor(value: SSAValue) -> bool:
    return isinstance(value.type, TensorDescType)


def _find_groups(module: ModuleOp) -> list[list[SSAValue]]:
    groups = _Groups()
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, tt.FuncOp)}
    ops = ops_within(module)
    for op in ops:
        arguments = (argument for region in op.regions for block in region.blocks for argument in block.args)
        for value in (*op.results, *arguments):
            if _is_descriptor(value):
                groups.add(value)
    for op in ops:
        for left, right in _same_values(op, functions):
            if _is_descriptor(left):
                groups.join(left, right)
    return groups.sets()


def _wanted_by(user: Operation) -> Attribute | None:
    """The encoding that a use of a descriptor asks for: that of the buffer which the block goes to."""
    match user:
        case tt.DescriptorLoadOp():
            return _encoding_of_buffer(user)
        case tt.DescriptorGatherOp():
            return _widest(user.result.type)
        case tt.DescriptorScatterOp():
            return _widest(user.src.type)
        case _:
            return None


def _encoding_of_buffer(load: tt.DescriptorLoadOp) -> Attribute | None:
    for use in load.result.uses if has_block_shape(load.result, load.desc) else ():
        if not isinstance(use.operation, ttg.LocalAllocOp):
            continue
        type = use.operation.result.type
        assert isinstance(type, MemDescType)
        layout = find_shared_layout(type.encoding)
        if isinstance(layout, NvmmaSharedLayout) and not layout.transposed:
            return type.encoding
    return None


def _widest(block: Attribute) -> Attribute:
    """The widest swizzle that fits a block, rows side by side."""
    type = as_tensor(block)
    shape = type.get_shape()
    order = tuple(reversed(range(len(shape))))
    layout = NvmmaSharedLayout.make(shape, order, element_bits(type.element_type))
    return shared_encoding_of(layout)


def _choose(values: list[SSAValue]) -> Attribute:
    first = values[0].type
    assert isinstance(first, TensorDescType)
    rank = len(first.block_type.get_shape())
    for value in values:
        for use in value.uses:
            wanted = _wanted_by(use.operation)
            if wanted is not None:
                return encoding_of_rank(wanted, rank)
    return _widest(first.block_type)


def assign_encodings(module: ModuleOp) -> None:
    """Give every descriptor of a module an encoding, the same wherever it goes."""
    changed = False
    for values in _find_groups(module):
        encoding = _choose(values)
        for value in values:
            assert isinstance(value.type, TensorDescType)
            block = value.type.block_type
            if find_shared_layout(block.encoding) is None:
                type = TensorDescType(tensor_type(block.element_type, block.get_shape(), encoding))
                Rewriter.replace_value_with_new_type(value, type)
                changed = True
    if changed:
        for op in module.ops:
            if isinstance(op, tt.FuncOp) and op.body.blocks:
                outputs = _returned_types(op)
                inputs = op.body.blocks[0].arg_types
                op.properties["function_type"] = FunctionType.from_lists(inputs, outputs)


def _returned_types(function: tt.FuncOp) -> list[Attribute]:
    for block in function.body.blocks:
        if isinstance(block.last_op, tt.ReturnOp):
            return [value.type for value in block.last_op.operands]
    return list(function.function_type.outputs.data)


@register_pass
class OptimizeDescriptorEncodingPass(Pass):
    """Gives descriptors the shared-memory layout of their blocks: the one that a matmul reads if a block feeds one, and
    otherwise the widest swizzle.

    Before:
    ```mlir
    %x = tt.descriptor_load %d[%i, %j] : !tt.tensordesc<128x64xf16> -> tensor<128x64xf16, #blocked>
    %m = ttg.local_alloc %x : (tensor<128x64xf16, #blocked>) -> !ttg.memdesc<128x64xf16, #shared, #smem>
    ```
    After:
    ```mlir
    %x = tt.descriptor_load %d[%i, %j] : !tt.tensordesc<128x64xf16, #shared> -> tensor<128x64xf16, #blocked>
    ```
    """

    name = "triton-nvidia-optimize-descriptor-encoding"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        assign_encodings(module)
