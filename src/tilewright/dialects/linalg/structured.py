"""What all linalg ops share: inputs, destinations, a scalar body, and how loops reach operands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineMap
from xdsl.traits import EffectInstance, MemoryEffect, MemoryReadEffect, MemoryWriteEffect, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.definition import Op
from tilewright.dialects.fields import Body, Operands, Results, region_def, var_result_def
from tilewright.dialects.linalg.attributes import IteratorType
from tilewright.dialects.types import element_type, is_tensor, shape_of
from tilewright.ir.diagnostics import verify_error
from tilewright.ir.effects import memory_effects


class StructuredOpEffects(MemoryEffect):
    """What the body does (a store, a call, an assertion for each lane); buffers among the operands are read, those
    among the destinations written."""

    @classmethod
    def get_effects(cls, op: Operation) -> AbstractSet[EffectInstance] | None:
        assert isinstance(op, StructuredOp)
        effects: AbstractSet[EffectInstance] | None = frozenset()
        if any(map(memory_effects, op.body.block.ops)):
            effects = RecursiveMemoryEffect.get_effects(op)
        if effects is not None and _has_buffer(op.operands):
            effects = effects | MemoryReadEffect.get_effects(op)
        if effects is not None and _has_buffer(op.outputs):
            effects = effects | MemoryWriteEffect.get_effects(op)
        return effects


def _has_buffer(values: Sequence[SSAValue]) -> bool:
    return any(isinstance(value.type, MemRefType) for value in values)


class StructuredOp(Op, ABC):
    """An op that computes its destinations element by element over a loop nest.

    Each operand is reached through an indexing map from loop counters to its element; the body takes one element of
    every operand and
    yields the new elements of the destinations. On tensors the destinations give the results; on buffers they are
    written.
    """

    res: Results = var_result_def()
    body: Body = region_def("single_block")

    if TYPE_CHECKING:
        inputs: Operands
        outputs: Operands

    @property
    @abstractmethod
    def maps(self) -> Sequence[AffineMap]:
        """One indexing map per operand."""

    @property
    @abstractmethod
    def iterators(self) -> Sequence[IteratorType]:
        """One iterator type per loop."""

    @property
    def on_tensors(self) -> bool:
        """True if the destinations are tensors, False for memrefs."""
        return bool(self.results)

    def static_loop_ranges(self) -> tuple[int, ...]:
        """The trip count of every loop; ``DYNAMIC_INDEX`` where no operand shape tells."""
        ranges = [DYNAMIC_INDEX] * len(self.iterators)
        for operand, map_ in zip(self.operands, self.maps, strict=True):
            shape = shape_of(operand.type) or ()
            for extent, expr in zip(shape, map_.results, strict=True):
                if isinstance(expr, AffineDimExpr) and extent != DYNAMIC_INDEX:
                    ranges[expr.position] = extent
        return tuple(ranges)

    def verify_structure(self) -> None:
        """Check results, body arguments, yielded types, maps and extents against each other."""
        self._verify_destinations()
        self._verify_body()
        self._verify_maps()

    def _verify_destinations(self) -> None:
        output_types = [value.type for value in self.outputs]
        tensors = [type_ for type_ in output_types if is_tensor(type_)]
        if tensors and any(isinstance(operand.type, MemRefType) for operand in self.operands):
            raise VerifyException("expected to have pure tensor or buffer semantics")
        if len(self.results) != len(tensors):
            raise VerifyException(
                f"expected the number of tensor results ({len(self.results)}) "
                f"to be equal to the number of output tensors ({len(tensors)})"
            )
        first = len(self.operands) - len(output_types)
        for position, (result, type_) in enumerate(zip(self.results, tensors, strict=True)):
            if result.type != type_:
                raise VerifyException(
                    f"expected type of operand #{first + position} ('{type_}') "
                    f"to match type of corresponding result ('{result.type}')"
                )

    def _verify_body(self) -> None:
        block = self.body.block
        if len(block.args) != len(self.operands):
            raise VerifyException(
                "expected as many non-induction variable region arguments as the number of input/output operands"
            )
        for position, (argument, operand) in enumerate(zip(block.args, self.operands, strict=True)):
            element = element_type(operand.type)
            if argument.type != element:
                raise VerifyException(
                    f"expected type of bb argument #{position} ('{argument.type}') "
                    f"to match element or self type of the corresponding operand ('{element}')"
                )
        terminator = block.last_op
        if terminator is None or terminator.name != "linalg.yield":
            raise VerifyException("the body must end in 'linalg.yield'")
        wanted = [element_type(value.type) for value in self.outputs]
        if len(terminator.operands) != len(wanted):
            raise verify_error(
                terminator,
                f"expected number of yield values ({len(terminator.operands)}) "
                f"to match the number of inits / outs operands of the enclosing LinalgOp ({len(wanted)})",
            )
        for position, (value, element) in enumerate(zip(terminator.operands, wanted, strict=True), start=1):
            if value.type != element:
                raise verify_error(
                    terminator,
                    f"type of yield operand {position} ('{value.type}') "
                    f"doesn't match the element type of the enclosing linalg.generic op ('{element}')",
                )

    def _verify_maps(self) -> None:
        maps, loops = self.maps, len(self.iterators)
        if len(maps) != len(self.operands):
            raise VerifyException(
                f"expected the number of indexing_map ({len(maps)}) "
                f"to be equal to the number of input/output operands ({len(self.operands)})"
            )
        self._verify_ranks(maps, loops)
        reached = {expr.position for map_ in maps for expr in map_.results if isinstance(expr, AffineDimExpr)}
        if maps and reached != set(range(loops)):
            raise VerifyException("invalid indexing maps are non-invertible: every loop must be a result of some map")
        ranges = self._verified_ranges(maps, loops)
        if DYNAMIC_INDEX in ranges:
            return
        last = [extent - 1 for extent in ranges]
        for position, (operand, map_) in enumerate(zip(self.operands, maps, strict=True)):
            for dim, (extent, expr) in enumerate(zip(shape_of(operand.type) or (), map_.results, strict=True)):
                if extent == DYNAMIC_INDEX or isinstance(expr, AffineDimExpr):
                    continue
                needed = expr.eval(last, []) + 1
                if needed > extent > 0:
                    raise VerifyException(
                        f"inferred input/output operand #{position} has shape's dimension #{dim} "
                        f"to be greater than or equal to {needed}, but found {extent}"
                    )

    def _verify_ranks(self, maps: Sequence[AffineMap], loops: int) -> None:
        for position, (operand, map_) in enumerate(zip(self.operands, maps, strict=True)):
            if map_.num_dims != loops:
                raise VerifyException(
                    f"expected indexing_map #{position} to have {loops} dim(s) to match the number of loops"
                )
            rank = len(shape_of(operand.type) or ())
            if rank != len(map_.results):
                raise VerifyException(
                    f"expected operand #{position} rank ({rank}) "
                    f"to match the result rank of indexing_map ({len(map_.results)})"
                )

    def _verified_ranges(self, maps: Sequence[AffineMap], loops: int) -> list[int]:
        ranges = [DYNAMIC_INDEX] * loops
        for position, (operand, map_) in enumerate(zip(self.operands, maps, strict=True)):
            for dim, (extent, expr) in enumerate(zip(shape_of(operand.type) or (), map_.results, strict=True)):
                if not isinstance(expr, AffineDimExpr) or extent == DYNAMIC_INDEX:
                    continue
                if ranges[expr.position] not in (DYNAMIC_INDEX, extent):
                    raise VerifyException(
                        f"inferred input/output operand #{position} has shape's dimension #{dim} "
                        f"to be {ranges[expr.position]}, but found {extent}"
                    )
                ranges[expr.position] = extent
        return ranges


def entry_block(inputs: Sequence[SSAValue], outputs: Sequence[SSAValue], output_name: str = "out") -> Block:
    """The block of a body for these operands, its arguments named `%in` and `%out` as upstream names them."""
    block = Block(arg_types=[element_type(value.type) for value in (*inputs, *outputs)])
    for position, argument in enumerate(block.args):
        argument.name_hint = "in" if position < len(inputs) else output_name
    return block


def tensor_result_types(outputs: Sequence[SSAValue]) -> list[Attribute]:
    """The results that destinations give: tensors their own type, buffers none."""
    return [value.type for value in outputs if is_tensor(value.type)]
