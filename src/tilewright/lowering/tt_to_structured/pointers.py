"""Pointer states become `tts.make_tptr` and `tts.make_gather_scatter_tptr`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerType, i64
from xdsl.ir import SSAValue

from tilewright.analysis.index_algebra import Expr, IndexAlgebra
from tilewright.analysis.lanes import BlockPointer, Dim, Gather, Lanes
from tilewright.dialects import arith, tt, tts
from tilewright.dialects.tt.types import shape_of, tensor_type
from tilewright.dialects.types import bit_width, element_type
from tilewright.lowering.tt_to_structured.emission import Index, IndexEmitter
from tilewright.lowering.tt_to_structured.placement import Placement


class PointerEmitter:
    """Makes the structured pointers of one function, each state once."""

    def __init__(self, algebra: IndexAlgebra, emitter: IndexEmitter, placement: Placement) -> None:
        self._algebra = algebra
        self._emitter = emitter
        self._placement = placement
        self._made: dict[Lanes | BlockPointer, SSAValue] = {}

    def pointer(self, state: Lanes | BlockPointer) -> SSAValue:
        """The structured pointer of a state. Lanes may be gathered along one dimension if none wraps."""
        found = self._made.get(state)
        if found is None:
            found = self._made[state] = self._emit(state)
        return found

    def _emit(self, state: Lanes | BlockPointer) -> SSAValue:
        if isinstance(state, BlockPointer):
            return self._emit_block(state)
        return self._emit_gather(state) if state.gathers else self._emit_structured(state)

    def _indices(self, exprs: Sequence[Expr]) -> list[Index]:
        return [self._emitter.index(expr) for expr in exprs]

    def _emit_block(self, state: BlockPointer) -> SSAValue:
        offsets = [self._algebra.multiply(dim.start, dim.stride) for dim in state.dims]
        offsets[0] = self._algebra.add(offsets[0], state.uniform)
        op = tts.MakeTensorPtrOp(
            self._emitter.base(state.base),
            [dim.size for dim in state.dims],
            self._indices([dim.stride for dim in state.dims]),
            self._indices(offsets),
            self._indices([dim.extent for dim in state.dims]),
            state.order,
        )
        return self._placement.place(op).result

    def _emit_structured(self, state: Lanes) -> SSAValue:
        assert state.base is not None
        base = self._emitter.base(state.base)
        offsets = [dim.offset for dim in state.dims]
        if state.uniform is not self._algebra.zero:
            free = next((index for index, dim in enumerate(state.dims) if dim.wrap is None), None)
            if free is None:
                base = self._moved(base, state.uniform)
            else:
                offsets[free] = self._algebra.add(offsets[free], state.uniform)
        op = tts.MakeTensorPtrOp(
            base,
            list(state.shape),
            self._indices([dim.stride for dim in state.dims]),
            self._indices(offsets),
            [0 if dim.wrap is None else self._emitter.index(dim.wrap) for dim in state.dims],
        )
        return self._placement.place(op).result

    def _moved(self, base: SSAValue, by: Expr) -> SSAValue:
        return self._placement.place(tt.AddPtrOp(base, self._as_i64(by))).result

    def _as_i64(self, expr: Expr) -> SSAValue:
        index = self._emitter.value(expr)
        return self._placement.place(arith.IndexCastOp(index, i64)).results[0]

    # Gathers

    def _emit_gather(self, state: Lanes) -> SSAValue:
        """One dimension is indexed by a tensor. What is the same for all lanes goes to another dimension's offset."""
        assert state.base is not None
        gathered = state.gathers[0].dim
        offsets = [dim.offset for dim in state.dims]
        offsets[gathered] = self._algebra.zero
        rest = self._algebra.add(state.uniform, state.dims[gathered].offset)
        other = next((position for position in range(len(state.dims)) if position != gathered), None)
        if other is not None:
            offsets[other] = self._algebra.add(offsets[other], rest)
            rest = self._algebra.zero
        strides = [dim.stride for dim in state.dims]
        index, strides[gathered] = self._gather_index(state.dims[gathered], state.gathers, rest)
        op = tts.MakeGatherScatterTensorPtrOp(
            self._emitter.base(state.base),
            index,
            gathered,
            list(state.shape),
            self._indices(strides),
            self._indices(offsets),
        )
        return self._placement.place(op).result

    def _gather_index(self, dim: Dim, gathers: Sequence[Gather], rest: Expr) -> tuple[SSAValue, Expr]:
        """A one-dimensional index tensor and the factor that it is to be multiplied with."""
        zero = self._algebra.zero
        if len(gathers) == 1 and dim.stride is zero and rest is zero:
            return self._flat(gathers[0].index, dim.size), gathers[0].scale
        total = self._range_part(dim, rest)
        for gather in gathers:
            scaled = self._scaled(self._widened(self._flat(gather.index, dim.size)), gather.scale)
            total = scaled if total is None else self._emitter.binary(arith.AddiOp, total, scaled)
        assert total is not None
        return total, self._algebra.one

    def _range_part(self, dim: Dim, rest: Expr) -> SSAValue | None:
        """`rest + i * stride` for the lanes of a dimension."""
        total = None
        if dim.stride is not self._algebra.zero:
            lanes = self._placement.place(tt.MakeRangeOp(0, dim.size)).result
            total = self._scaled(self._widened(lanes), dim.stride)
        if rest is self._algebra.zero:
            return total
        splat = self._splat(rest, dim.size)
        return splat if total is None else self._emitter.binary(arith.AddiOp, total, splat)

    def _scaled(self, value: SSAValue, factor: Expr) -> SSAValue:
        if factor is self._algebra.one:
            return value
        return self._emitter.binary(arith.MuliOp, value, self._splat(factor, shape_of(value.type)[0]))

    def _splat(self, expr: Expr, size: int) -> SSAValue:
        splat = tt.SplatOp(self._as_i64(expr), tensor_type(i64, (size,)))
        return self._placement.place(splat).result

    def _widened(self, value: SSAValue) -> SSAValue:
        element = element_type(value.type)
        if bit_width(element) >= 64 and isinstance(element, IntegerType):
            return value
        wide = tensor_type(i64, shape_of(value.type))
        cast = arith.ExtSIOp if isinstance(element, IntegerType) else arith.IndexCastOp
        return self._placement.place(cast(value, wide)).results[0]

    def _flat(self, value: SSAValue, size: int) -> SSAValue:
        value = self._placement.current(value)
        if shape_of(value.type) == (size,):
            return value
        return self._placement.place(tt.ReshapeOp(value, tensor_type(element_type(value.type), (size,)))).result
