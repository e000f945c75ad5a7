"""Emitting ops on tensors: `linalg.generic` with a Python function as its body, fills, slices and loops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from xdsl.dialects.builtin import DYNAMIC_INDEX, AffineMapAttr, ArrayAttr, MemRefType, TensorType, UnrankedMemRefType
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.ir.affine import AffineConstantExpr, AffineDimExpr, AffineMap

from tilewright.dialects import arith, linalg, tensor
from tilewright.dialects.linalg.structured import entry_block
from tilewright.dialects.types import element_type, is_tensor
from tilewright.dialects.types import shape_of as extents_of
from tilewright.lowering.scalar_builder import Body, Index, ScalarBuilder


@lru_cache(maxsize=1024)
def tensor_of(element: Attribute, *shape: int) -> TensorType:
    """``tensor<4x8xf32>``, made once."""
    return TensorType(element, shape)


@lru_cache(maxsize=1024)
def memref_of(element: Attribute, *shape: int) -> MemRefType:
    """``memref<4x8xf32>``, made once."""
    return MemRefType(element, shape)


@lru_cache(maxsize=64)
def unranked_memref_of(element: Attribute) -> UnrankedMemRefType:
    """``memref<*xf32>``, made once."""
    return UnrankedMemRefType.from_type(element)


def shape_of(value: SSAValue | Attribute) -> tuple[int, ...]:
    """The shape of a tensor value or type; a scalar has the empty shape."""
    return extents_of(value.type if isinstance(value, SSAValue) else value) or ()


def element_of(value: SSAValue | Attribute) -> Attribute:
    """The element type of a tensor value or type; a scalar's own type."""
    return element_type(value.type if isinstance(value, SSAValue) else value)


@lru_cache(maxsize=256)
def identity_map(rank: int) -> AffineMapAttr:
    """``affine_map<(d0, d1) -> (d0, d1)>``."""
    return AffineMapAttr(AffineMap.identity(rank))


@lru_cache(maxsize=256)
def projection_map(rank: int, results: tuple[int | None, ...]) -> AffineMapAttr:
    """A map to some of the dimensions; None stands for the constant 0 (a broadcast dimension)."""
    exprs = [AffineConstantExpr(0) if dim is None else AffineDimExpr(dim) for dim in results]
    return AffineMapAttr(AffineMap(rank, 0, tuple(exprs)))


@lru_cache(maxsize=256)
def identity_maps(operands: int, rank: int) -> ArrayAttr[AffineMapAttr]:
    """The indexing maps of an elementwise op."""
    return ArrayAttr([identity_map(rank)] * operands)


@lru_cache(maxsize=64)
def iterator_types(kinds: tuple[str, ...]) -> ArrayAttr[linalg.IteratorTypeAttr]:
    """``["parallel", "reduction"]``."""
    return ArrayAttr(linalg.IteratorTypeAttr(linalg.IteratorType(kind)) for kind in kinds)


class TensorBuilder(ScalarBuilder):
    """A `ScalarBuilder` that also makes ops on tensors.

    ```python
    doubled = b.elementwise([x], [x.type], lambda lane: [b.emit(arith.AddfOp, lane[0], lane[0])])
    ```
    """

    __slots__ = ()

    # Making tensors

    def empty(self, kind: Attribute) -> SSAValue:
        """``tensor.empty() : tensor<4xf32>``."""
        return self.result(tensor.EmptyOp((), kind))

    def splat(self, value: SSAValue, kind: Attribute) -> SSAValue:
        """A tensor whose lanes are all `value`: an empty tensor, filled."""
        return self.fill(value, self.empty(kind))

    def fill(self, value: SSAValue, out: SSAValue) -> SSAValue:
        """``linalg.fill`` into a tensor."""
        return self.result(linalg.FillOp((value,), (out,)))

    # Structured ops

    def region(self, block: Block, body: Body) -> Region:
        """The region of a structured op from its entry block: the body's ops, ended by ``linalg.yield``."""
        with self.at(block):
            self.insert(linalg.YieldOp(*body(block.args)))
        return Region(block)

    def generic(
        self,
        inputs: Sequence[SSAValue],
        outs: Sequence[SSAValue],
        body: Body,
        *,
        maps: ArrayAttr[AffineMapAttr],
        iterators: tuple[str, ...],
        attributes: dict[str, Attribute] | None = None,
    ) -> Sequence[SSAValue]:
        """``linalg.generic``; the body gets one scalar for each input and out, in that order."""
        region = self.region(entry_block(inputs, outs), body)
        op = linalg.GenericOp(inputs, outs, region, maps, iterator_types(iterators), [o.type for o in outs])
        if attributes:
            op.attributes.update(attributes)
        return self.insert(op).results

    def elementwise(
        self, inputs: Sequence[SSAValue], result_types: Sequence[Attribute], body: Body
    ) -> Sequence[SSAValue]:
        """One `linalg.generic` over whole tensors, lane by lane; the body sees only the inputs' lanes.

        As triton-shared does, the first operand of a result's type is its ``outs``; where there is none an empty
        tensor is.
        """
        outs = [next((v for v in inputs if v.type == kind), None) or self.empty(kind) for kind in result_types]
        rank = len(shape_of((*result_types, *(v.type for v in inputs))[0]))
        count = len(inputs)
        return self.generic(
            inputs,
            outs,
            lambda lanes: body(lanes[:count]),
            maps=identity_maps(count + len(outs), rank),
            iterators=("parallel",) * rank,
        )

    def lanes(
        self, inputs: Sequence[SSAValue], kind: Attribute, body: Callable[[Sequence[SSAValue]], SSAValue]
    ) -> Sequence[SSAValue]:
        """One `linalg.generic` with one result into an empty tensor; the body sees the inputs' lanes."""
        rank, count = len(shape_of(kind)), len(inputs)
        return self.generic(
            inputs,
            (self.empty(kind),),
            lambda lanes: (body(lanes[:count]),),
            maps=identity_maps(count + 1, rank),
            iterators=("parallel",) * rank,
        )

    def for_each_lane(self, inputs: Sequence[SSAValue], body: Callable[[Sequence[SSAValue]], None]) -> None:
        """One `linalg.generic` without results: an effect for each lane."""
        rank = len(shape_of(inputs[0]))

        def effects(lanes: Sequence[SSAValue]) -> Sequence[SSAValue]:
            body(lanes)
            return ()

        self.generic(inputs, (), effects, maps=identity_maps(len(inputs), rank), iterators=("parallel",) * rank)

    def lane_index(self, dim: int) -> SSAValue:
        """``linalg.index``: inside a body, the lane's place along a dimension."""
        return self.result(linalg.IndexOp(dim))

    def as_type(self, value: SSAValue, element: Attribute) -> SSAValue:
        """A scalar or a tensor with its bits read as another type of the same width; itself where it has that type."""
        if element_of(value) == element:
            return value
        if not is_tensor(value.type):
            return self.cast(arith.BitcastOp, value, element)
        kind = tensor_of(element, *shape_of(value))
        (result,) = self.elementwise([value], [kind], lambda lanes: (self.cast(arith.BitcastOp, lanes[0], element),))
        return result

    # Lanes and slices

    def extract(self, source: SSAValue, indices: Sequence[Index] = ()) -> SSAValue:
        """``tensor.extract %t[%i]``."""
        return self.result(tensor.ExtractOp(source, [self.ssa(i) for i in indices]))

    def insert_lane(self, value: SSAValue, into: SSAValue, indices: Sequence[Index] = ()) -> SSAValue:
        """``tensor.insert %v into %t[%i]``."""
        return self.result(tensor.InsertOp(value, into, [self.ssa(i) for i in indices]))

    def extract_slice(
        self,
        source: SSAValue,
        offsets: Sequence[Index],
        sizes: Sequence[Index],
        strides: Sequence[int] | None = None,
        *,
        result_type: TensorType | None = None,
    ) -> SSAValue:
        """``tensor.extract_slice``; `result_type` may drop dimensions of extent 1."""
        steps = strides or [1] * len(offsets)
        if result_type is None:
            extents = [size if isinstance(size, int) else DYNAMIC_INDEX for size in sizes]
            result_type = tensor_of(element_of(source), *extents)
        return self.result(tensor.ExtractSliceOp(source, offsets, sizes, steps, result_type))

    def insert_slice(
        self,
        source: SSAValue,
        into: SSAValue,
        offsets: Sequence[Index],
        sizes: Sequence[Index],
        strides: Sequence[int] | None = None,
    ) -> SSAValue:
        """``tensor.insert_slice``; the source may lack dimensions of extent 1."""
        steps = strides or [1] * len(offsets)
        return self.result(tensor.InsertSliceOp(source, into, offsets, sizes, steps))
