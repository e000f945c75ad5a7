"""Layouts for every tensor of a function: the default one of its shape, and what each op needs besides.

Every value is seen by its users in the default layout of its shape. An op that wants another layout gets conversions
before it, one that gives another layout a conversion after it; `tritongpu-remove-layout-conversions` cleans up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from xdsl.dialects.builtin import FunctionType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from tilewright.dialects import tt, ttg
from tilewright.dialects.arith import ConstantOp
from tilewright.dialects.construction import dense_attr
from tilewright.dialects.tt.folds import is_dense
from tilewright.dialects.tt.types import NO_ENCODING, is_tensor, tensor_type
from tilewright.dialects.types import as_tensor
from tilewright.ir.builder import OpBuilder
from tilewright.ir.lowerings import Lowerings
from tilewright.layouts.distributed import REGISTER, BlockedLayout
from tilewright.support.records import dataclass


@dataclass(frozen=True)
class ProgramSize:
    """Warps of a CTA, lanes of a warp, CTAs of a program."""

    num_warps: int
    num_lanes: int = 32
    num_ctas: int = 1

    @property
    def num_threads(self) -> int:
        """Threads of a CTA."""
        return self.num_warps * self.num_lanes

    def blocked(self, shape: tuple[int, ...], size_per_thread: list[int], order: list[int]) -> BlockedLayout:
        """A blocked layout with all threads of the program dealt along `order`."""
        return BlockedLayout.make(shape, size_per_thread, order, self.num_warps, self.num_lanes, self.num_ctas)

    def default(self, shape: tuple[int, ...]) -> BlockedLayout:
        """The layout of a tensor of which nothing is known: row-major, one element per thread."""
        rank = len(shape)
        return self.blocked(shape, [1] * rank, list(reversed(range(rank))))


@dataclass
class LayoutAssignment:
    """One run over a function or region. With `replace`, tensors that have a layout get a new one too."""

    size: ProgramSize
    replace: bool = False
    before: dict[SSAValue, Attribute] = field(default_factory=dict[SSAValue, Attribute])
    """What ops of `SPECIAL` gave before."""
    _types: dict[Attribute, Attribute] = field(default_factory=dict[Attribute, Attribute])

    def default_type(self, type: Attribute) -> Attribute:
        """The type in its default layout; types that are no tensors, and tensors with a layout, as they are."""
        known = self._types.get(type)
        if known is None:
            known = self._types[type] = self._find_default(type)
        return known

    def _find_default(self, type: Attribute) -> Attribute:
        if not is_tensor(type) or not (self.replace or type.encoding == NO_ENCODING):
            return type
        shape = type.get_shape()
        return tensor_type(type.element_type, shape, ttg.encoding_of(self.size.default(shape)))

    def default_layout(self, value: SSAValue) -> BlockedLayout:
        """The default layout of a tensor."""
        return self.size.default(as_tensor(value.type).get_shape())

    def run_on_function(self, function: tt.FuncOp) -> None:
        """Assigns layouts to arguments, results and body of a function."""
        signature = function.function_type
        function.properties["function_type"] = FunctionType.from_lists(
            [self.default_type(type) for type in signature.inputs.data],
            [self.default_type(type) for type in signature.outputs.data],
        )
        self.run_on_region(function.body)

    def run_on_region(self, region: Region) -> None:
        """Assigns layouts to all values of a region, with what its ops hold."""
        special: list[Operation] = []
        for block in _blocks_in(region):
            for argument in tuple(block.args):
                self._retype(argument, self.default_type(argument.type))
            for op in block.ops:
                is_special = type(op) in SPECIAL
                for result in tuple(op.results):
                    former = result.type
                    value = self._retype(result, self.default_type(former))
                    if is_special:
                        self.before[value] = former
                if is_special:
                    special.append(op)
        for op in special:
            SPECIAL[type(op)](op, self)

    # What the special cases are made of.

    def give(self, value: SSAValue, encoding: Attribute) -> None:
        """Give a result its layout, and to its users the value in the default one."""
        type = as_tensor(value.type)
        wanted = tensor_type(type.element_type, type.get_shape(), encoding)
        default = self.default_type(tensor_type(type.element_type, type.get_shape()))
        value = self._retype(value, wanted)
        uses = tuple(value.uses)
        if wanted == default or not uses:
            return
        owner = value.owner
        assert isinstance(owner, Operation)
        conversion = OpBuilder.after(owner).insert(ttg.ConvertLayoutOp(value, default))
        for use in uses:
            use.operation.operands[use.index] = conversion.result

    def want(self, op: Operation, index: int, encoding: Attribute) -> None:
        """Make operand `index` of an op come in a layout."""
        operand = op.operands[index]
        type = as_tensor(operand.type)
        wanted = tensor_type(type.element_type, type.get_shape(), encoding)
        if wanted != type:
            op.operands[index] = OpBuilder.before(op).result(ttg.ConvertLayoutOp(operand, wanted))

    def _retype(self, value: SSAValue, type: Attribute) -> SSAValue:
        return value if type == value.type else Rewriter.replace_value_with_new_type(value, type)


def _blocks_in(region: Region) -> Iterator[Block]:
    for block in region.blocks:
        yield block
        for op in block.ops:
            for inner in op.regions:
                yield from _blocks_in(inner)


def registers_of(layout: BlockedLayout, shape: tuple[int, ...]) -> int:
    """Registers that a thread holds of a tensor of `shape`."""
    return layout.to_linear(shape).in_dims[REGISTER]


SPECIAL = Lowerings[[LayoutAssignment], None]()
"""Ops that do more than work in the default layouts of their operands and results; filled by `special_ops`."""
assigns = SPECIAL.lowers


@assigns(ConstantOp)
def _assign_constant(op: ConstantOp, assignment: LayoutAssignment) -> None:
    """A constant states its type once more in its value."""
    value, type = op.properties["value"], op.results[0].type
    if is_dense(value) and value.type != type:
        op.properties["value"] = dense_attr(type, value.data)
