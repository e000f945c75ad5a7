"""The pass `linalg-fuse-elementwise`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, DenseIntOrFPElementsAttr, ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap

from tilewright.analysis.selections import STARTS_AT_FIRST
from tilewright.dialects import arith, func, linalg, tensor
from tilewright.dialects.construction import segment_sizes
from tilewright.dialects.types import element_type, is_tensor
from tilewright.ir.effects import is_trivially_dead
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.transforms.linalg.effects import Writers
from tilewright.transforms.linalg.fusion_plan import plan_fusion
from tilewright.transforms.linalg.fusion_work import FusionPlan
from tilewright.transforms.linalg.generators import repeat_generators
from tilewright.transforms.linalg.loads import Disjointness
from tilewright.transforms.linalg.own_elements import read_own_elements
from tilewright.transforms.linalg.producers import (
    SHAPE_CHANGES,
    substitute,
    through_collapse,
    through_expand,
)
from tilewright.transforms.linalg.structured import is_elementwise


@register_pass
class LinalgFuseElementwisePass(Pass):
    """Elementwise producers move into the loops that consume them.

    ```mlir
    %a = linalg.generic {broadcast} ins(%row : tensor<8xf32>) outs(%e) -> tensor<8x64xf32>
    %b = linalg.generic {subf} ins(%x, %a) outs(%e) -> tensor<8x64xf32>
    %c = linalg.generic {exp} ins(%b) outs(%e) -> tensor<8x64xf32>
    %d = linalg.reduce {addf} ins(%c) outs(%z) dimensions = [1]
    use of %c
    // becomes
    %c, %d = linalg.generic {(d0, d1) -> (d0, d1), (d0, d1) -> (d0)} ins(%x, %row) outs(%e, %z) {
      subf, exp, addf; linalg.yield %exp, %sum
    }
    ```
    Fills and constants become scalars in the body; broadcasts, transposes, and unit dimensions become index maps;
    elements that a body extracts at its own position become operands. A producer with several readers is recomputed in
    each of them if it is cheap, or if it is index arithmetic, which is usually linear (`strip_segments`). Expensive
    work (division, transcendental functions, memory accesses) is computed once and kept as an additional result of its
    first reader, if that reader visits the same elements. Expensive work on columns (the `sqrt` of a batch norm) does
    not move into loops that would repeat it for each row, nor into atomic updates of memory, which threads execute one
    after another.
    """

    name = "linalg-fuse-elementwise"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for op in list(module.ops):
            writers, memory = Writers(), Disjointness(op if isinstance(op, func.FuncOp) else None)
            for region in op.regions:
                for block in region.blocks:
                    fuse_block(block, writers, memory)


def fuse_block(block: Block, writers: Writers, memory: Disjointness) -> None:
    """Fuse within a block and, first, within the blocks that its ops contain."""
    repeat_generators(block)
    for op in block.ops:
        if isinstance(op, linalg.GenericOp):
            read_own_elements(op)
        if not isinstance(op, linalg.StructuredOp):
            for region in op.regions:
                for inner in region.blocks:
                    fuse_block(inner, writers, memory)
    plan = plan_fusion(block, writers, memory)
    for op in reversed(list(block.ops)):
        if isinstance(op, linalg.StructuredOp) and (op.results or not op.outputs):
            rebuild(op, plan, writers)
        elif not op.regions and is_trivially_dead(op):
            op.detach()
            op.erase()


def rebuild(op: linalg.StructuredOp, plan: FusionPlan, writers: Writers) -> None:
    """Write the fused form of an op whose producers are planned to move into it."""
    if op.results and not any(result.uses.get_length() for result in op.results) and not writers.may_write(op):
        op.detach()
        op.erase()
        return
    if isinstance(op, linalg.FillOp | linalg.MatmulOp | linalg.BatchMatmulOp) or not plan.is_worthwhile(op):
        return
    if STARTS_AT_FIRST in op.attributes and not _stay_apart(op.inputs):
        return
    _Fusion(op, plan).write()


def _stay_apart(values: Sequence[SSAValue]) -> bool:
    """Return whether each tensor will still be a value of its own in a body, by which a reduction knows what it chooses
    from.
    """
    roots: set[SSAValue] = set()
    for value in values:
        root = value
        while isinstance(op := root.owner, SHAPE_CHANGES):
            root = op.src
        if isinstance(root.owner, linalg.FillOp | tensor.SplatOp | arith.ConstantOp):
            return False
        roots.add(root)
    return len(roots) == len(values)


class _Fusion:
    """One fused generic under construction."""

    def __init__(self, op: linalg.StructuredOp, plan: FusionPlan):
        self.op = op
        self.plan = plan
        self.rank = len(op.iterators)
        self.extents = op.static_loop_ranges()
        self.block = Block()
        self.inputs: list[tuple[SSAValue, tuple[AffineExpr, ...]]] = []
        self.arguments: dict[tuple[SSAValue, tuple[AffineExpr, ...]], SSAValue] = {}
        self.values: dict[tuple[SSAValue, tuple[AffineExpr, ...]], SSAValue] = {}
        self.kept: list[tuple[SSAValue, tuple[AffineExpr, ...]]] = []

    def write(self) -> None:
        """Build the new op before the old one and put its results in their place."""
        op = self.op
        maps = [map_.results for map_ in op.maps]
        count = len(op.inputs)
        mapping: dict[SSAValue, SSAValue] = {}
        body = op.body.block
        for argument, value, access in zip(body.args, op.inputs, maps, strict=False):
            if argument.uses.get_length():
                mapping[argument] = self.element(value, access)
        identity = tuple(AffineDimExpr(dim) for dim in range(self.rank))
        placeholders = [self.block.insert_arg(arg.type, len(self.block.args)) for arg in body.args[count:]]
        mapping.update(zip(body.args[count:], placeholders, strict=True))
        yielded = self.inline(body, mapping, identity)
        kept_yields: list[SSAValue] = []
        for value, access in self.plan.kept_in(op).items():
            kept_yields.append(self.element(value, access, inside=True))
            self.kept.append((value, access))
        self._finish(yielded, kept_yields, maps[count:])

    # -- elements -----------------------------------------------------------------------------------------------------

    def element(self, value: SSAValue, access: tuple[AffineExpr, ...], *, inside: bool = False) -> SSAValue:
        """The body value for one element of a tensor: computed here, a scalar from outside, or a new input."""
        key = (value, access)
        if (found := self.values.get(key)) is not None:
            return found
        found = self.values[key] = self._element(value, access, inside)
        return found

    def _element(self, value: SSAValue, access: tuple[AffineExpr, ...], inside: bool) -> SSAValue:
        producer = value.owner
        match producer:
            case linalg.FillOp():
                if producer.inputs[0].type == element_type(producer.results[0].type):
                    return producer.inputs[0]
            case tensor.SplatOp():
                return producer.input
            case arith.ConstantOp() if isinstance(producer.value, DenseIntOrFPElementsAttr):
                if (scalar := splat_scalar(producer)) is not None:
                    return self._add(scalar).results[0]
            case tensor.ExpandShapeOp():
                if (inner := through_expand(producer, access)) is not None:
                    return self.element(producer.src, inner)
            case tensor.CollapseShapeOp():
                if (inner := through_collapse(producer, access)) is not None:
                    return self.element(producer.src, inner)
            case linalg.StructuredOp() if inside or self.plan.moves(producer, self.op):
                return self._inlined(producer, value, access)
            case _:
                pass
        return self._input(value, access)

    def _input(self, value: SSAValue, access: tuple[AffineExpr, ...]) -> SSAValue:
        assert is_tensor(value.type)
        position = len(self.inputs)
        self.inputs.append((value, access))
        return self.block.insert_arg(element_type(value.type), position)

    def _inlined(self, producer: linalg.StructuredOp, value: SSAValue, access: tuple[AffineExpr, ...]) -> SSAValue:
        maps = [map_.results for map_ in producer.maps]
        index = list[SSAValue](producer.results).index(value)
        count = len(producer.inputs)
        loops: list[AffineExpr] = [AffineConstantExpr(0)] * len(producer.iterators)
        for expr, outer in zip(maps[count + index], access, strict=True):
            assert isinstance(expr, AffineDimExpr)
            loops[expr.position] = outer
        body = producer.body.block
        mapping: dict[SSAValue, SSAValue] = {}
        for argument, operand, operand_map in zip(body.args, producer.operands, maps, strict=True):
            if argument.uses.get_length():
                inner = tuple(substitute(expr, loops) for expr in operand_map)
                mapping[argument] = self._operand(operand, inner)
        return self.inline(body, mapping, tuple(loops))[index]

    def _operand(self, operand: SSAValue, access: tuple[AffineExpr, ...]) -> SSAValue:
        return self.element(operand, access) if is_tensor(operand.type) else operand

    def inline(self, body: Block, mapping: dict[SSAValue, SSAValue], loops: tuple[AffineExpr, ...]) -> list[SSAValue]:
        """Copy the ops of a body; returns what it yields."""
        for op in body.ops:
            if isinstance(op, linalg.YieldOp):
                return [mapping.get(operand, operand) for operand in op.operands]
            if isinstance(op, linalg.IndexOp):
                mapping[op.result] = self._index(loops[op.dim.value.data])
                continue
            if op.regions:
                copy = op.clone(value_mapper=mapping)
                for inner in ops_within(copy):
                    if isinstance(inner, linalg.IndexOp):
                        inner.result.replace_all_uses_with(self._index(loops[inner.dim.value.data]))
                        inner.detach()
                        inner.erase()
            else:
                copy = type(op).create(
                    operands=[mapping.get(operand, operand) for operand in op.operands],
                    result_types=[result.type for result in op.results],
                    properties=dict(op.properties),
                    attributes=dict(op.attributes),
                )
                mapping.update(zip(op.results, copy.results, strict=True))
            copy.location = op.location
            self._add(copy)
        raise AssertionError("a body ends in a yield")

    def _add(self, op: Operation) -> Operation:
        self.block.add_op(op)
        return op

    def _index(self, expr: AffineExpr) -> SSAValue:
        if isinstance(expr, AffineDimExpr):
            return self._add(linalg.IndexOp(expr.position)).results[0]
        assert isinstance(expr, AffineConstantExpr)
        return self._add(arith.constant_index(expr.value)).results[0]

    # -- the new op ---------------------------------------------------------------------------------------------------

    def _finish(
        self, yielded: Sequence[SSAValue], kept: Sequence[SSAValue], output_maps: Sequence[tuple[AffineExpr, ...]]
    ) -> None:
        op = self.op
        parent = op.parent_block()
        assert parent is not None
        body_args = op.body.block.args[len(op.inputs) :]
        outputs = [
            value if argument.uses.get_length() else self._empty(parent, value.type)
            for value, argument in zip(op.outputs, body_args, strict=True)
        ]
        accesses = list(output_maps)
        for value, access in self.kept:
            outputs.append(self._empty(parent, value.type))
            accesses.append(access)
            assert is_tensor(value.type)
            self.block.insert_arg(element_type(value.type), len(self.block.args))
        self.block.add_op(linalg.YieldOp.create(operands=[*yielded, *kept]))
        self._cover_all_loops(parent, [access for _, access in self.inputs] + accesses)
        maps = [access for _, access in self.inputs] + accesses
        new = linalg.GenericOp.create(
            operands=[*(value for value, _ in self.inputs), *outputs],
            result_types=[value.type for value in outputs],
            properties={
                "indexing_maps": ArrayAttr(AffineMapAttr(AffineMap(self.rank, 0, access)) for access in maps),
                "iterator_types": ArrayAttr(
                    linalg.REDUCTION if iterator == "reduction" else linalg.PARALLEL for iterator in op.iterators
                ),
                "operandSegmentSizes": segment_sizes(len(self.inputs), len(outputs)),
            },
            regions=[Region(self.block)],
            attributes={name: op.attributes[name] for name in (STARTS_AT_FIRST,) if name in op.attributes},
        )
        new.location = op.location
        parent.insert_op_before(new, op)
        for old, result in zip(op.results, new.results, strict=False):
            old.replace_all_uses_with(result)
        for (value, _), result in zip(self.kept, new.results[len(op.results) :], strict=True):
            value.replace_all_uses_with(result)
            _move_readers_after(new, result)
        op.detach()
        op.erase()

    def _cover_all_loops(self, parent: Block, accesses: Sequence[tuple[AffineExpr, ...]]) -> None:
        """An input for its shape alone, where no other operand tells how far a loop runs."""
        reached = {expr.position for access in accesses for expr in access if isinstance(expr, AffineDimExpr)}
        if len(reached) == self.rank:
            return
        shape = TensorType(arith.constant_index(0).result.type, self.extents)
        empty = self._empty(parent, shape)
        self.block.insert_arg(shape.element_type, len(self.inputs))
        self.inputs.append((empty, tuple(AffineDimExpr(dim) for dim in range(self.rank))))

    def _empty(self, parent: Block, type_: Attribute) -> SSAValue:
        empty = tensor.EmptyOp.create(result_types=[type_])
        empty.location = self.op.location
        parent.insert_op_before(empty, self.op)
        return empty.results[0]


def _move_readers_after(op: Operation, result: SSAValue) -> None:
    """Put the reshapes and copies of a result that stood before `op`, where the result was made, after it."""
    block = op.parent_block()
    assert block is not None
    for use in list(result.uses):
        user = use.operation
        if user.parent_block() is block and user.is_before_in_block(op):
            user.detach()
            block.insert_op_after(user, op)
            for inner in user.results:
                _move_readers_after(user, inner)


def splat_scalar(op: arith.ConstantOp) -> Operation | None:
    """The scalar constant of a splat."""
    value = op.value
    assert isinstance(value, DenseIntOrFPElementsAttr) and is_tensor(op.result.type)
    if not value.is_splat():
        return None
    attr = value.get_attrs()[0]
    return arith.ConstantOp.create(result_types=[element_type(op.result.type)], properties={"value": attr})


__all__ = ["LinalgFuseElementwisePass", "fuse_block", "is_elementwise"]
