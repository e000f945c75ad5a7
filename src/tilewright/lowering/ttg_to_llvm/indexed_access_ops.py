"""Accesses to buffers in shared memory at run-time indices.

Where an element lies is linear over GF(2) in its coordinates, gaps aside: the columns of the dimension that is indexed
are applied to the index, the other dimensions' to the thread, and the two are combined by XOR:

```llvm
%i = shl i32 %index, 6            ; the columns of dimension 0
%o = or disjoint i32 %thread, %i  ; dimension 1 follows from the layout of the indices
```
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tilewright.codegen.nvptx.atomics import AtomicOrder
from tilewright.dialects import ttg
from tilewright.dialects.tt.enums import RMWOp
from tilewright.dialects.types import as_tensor
from tilewright.ir.diagnostics import op_error
from tilewright.layouts.distributed import BLOCK, IN_DIMS, REGISTER
from tilewright.layouts.linear import LinearLayout
from tilewright.layouts.shared import OFFSET
from tilewright.lowering.ttg_to_llvm.atomic_ops import share_result
from tilewright.lowering.ttg_to_llvm.buffers import as_buffer, element_bytes, offsets_of, pads_of
from tilewright.lowering.ttg_to_llvm.carried_values import distinct_registers
from tilewright.lowering.ttg_to_llvm.function_lowering import PASS_NAME, FunctionLowering, lowers
from tilewright.lowering.ttg_to_llvm.index import Partial, combine, constant, map_bits, register_constants
from tilewright.lowering.ttg_to_llvm.indexing_ops import as_i32
from tilewright.lowering.ttg_to_llvm.memory_ops import from_memory, memory_type, to_memory
from tilewright.lowering.ttg_to_llvm.packing import from_words, to_words
from tilewright.lowering.ttg_to_llvm.shared_access import ALL_BITS, SHARED_SPACE, padded_operand, step_pointer
from tilewright.lowering.ttg_to_llvm.types import UnsupportedTypeError
from tilewright.lowering.ttg_to_llvm.values import is_literal


@lowers(ttg.LocalGatherOp)
def lower_local_gather(op: ttg.LocalGatherOp, fn: FunctionLowering) -> None:
    element = fn.element(op.result)
    loaded: dict[str, str] = {}
    results: list[str] = []
    for pointer in _pointers(fn, op.src, op.indices, op.axis.value.data):
        if pointer not in loaded:
            words = fn.emitter.load_words(fn.text, pointer, element.bytes * 8, 1, space=SHARED_SPACE)
            [loaded[pointer]] = from_words(fn.text, element, words, element.bytes * 8)
        results.append(loaded[pointer])
    fn.set(op.result, results)


@lowers(ttg.LocalScatterOp)
def lower_local_scatter(op: ttg.LocalScatterOp, fn: FunctionLowering) -> None:
    element, layout = fn.element(op.values), fn.layout(op.values)
    bits = element.bytes * 8
    pointers, values = _pointers(fn, op.dst, op.indices, op.axis.value.data), fn.registers(op.values)
    owner = fn.owner_predicate(layout, in_each_cta=True)
    for register in distinct_registers(layout):
        words = to_words(fn.text, element, [values[register]], bits)
        fn.emitter.store_words(fn.text, pointers[register], words, bits, space=SHARED_SPACE, predicate=owner)


@lowers(ttg.LocalAtomicScatterRMWOp)
def lower_local_atomic_scatter(op: ttg.LocalAtomicScatterRMWOp, fn: FunctionLowering) -> None:
    """One thread of those that hold an element runs its atomic, and gives the others what it found."""
    element, layout = fn.element(op.values), fn.layout(op.values)
    kind = RMWOp.of(op.atomic_rmw_op).keyword
    if element.bits < 16 or (element.bits == 16 and not element.is_float):
        raise op_error(op, f"has no atomic {kind} on {element.bits} bits: use 32 or 64", pass_name=PASS_NAME)
    scalar, owner = memory_type(element), fn.owner_predicate(layout, in_each_cta=True)
    pointers, values = _pointers(fn, op.dst, op.indices, op.axis.value.data), fn.registers(op.values)
    masks = fn.registers(op.mask) if op.mask is not None else None
    old: dict[int, str] = {}
    for register in distinct_registers(layout):
        found = fn.emitter.atomic_rmw(
            fn.text,
            kind,
            pointers[register],
            scalar,
            element.bits,
            [to_memory(fn, element, values[register])],
            order=AtomicOrder("relaxed", "cta"),
            predicate=fn.both(None if masks is None else masks[register], owner),
            wants_old=bool(op.result.uses),
            shared=True,
        )
        old.update((register, from_memory(fn, element, value)) for value in found)
    if op.result.uses:
        repeated = layout.free_variable_masks.get(REGISTER, 0)
        share_result(fn, op.result, element, [old[register & ~repeated] for register in range(len(values))])
    else:
        fn.set(op.result, [element.zero] * len(values))


def _pointers(fn: FunctionLowering, buffer: SSAValue, indices: SSAValue, axis: int) -> list[str]:
    """Per register of the indices the address of the element that it names."""
    type, view = as_buffer(buffer), fn.shared(buffer)
    offsets, size = offsets_of(type), element_bytes(type)
    if offsets.out_dims.get(BLOCK, 1) > 1:
        raise UnsupportedTypeError("an access to the shared memory of another CTA")
    columns = [[basis * size for basis in _column(offsets, dim)] for dim in offsets.in_dims]
    placed = _without_index(fn, indices, columns, axis)
    flip = Partial(view.flip, int(view.flip) if is_literal(view.flip) else ALL_BITS)
    thread = combine(fn.text.value, fn.index.thread_part(placed, OFFSET), flip)
    made: dict[tuple[str, int], str] = {}
    pointers: list[str] = []
    for index, place in zip(fn.registers(indices), register_constants(placed, OFFSET), strict=True):
        pointer = made.get((index, place))
        if pointer is None:
            moved = map_bits(fn.text.value, as_i32(fn, indices, index), columns[axis])
            moved = combine(fn.text.value, moved, combine(fn.text.value, thread, constant(place)))
            pointer = step_pointer(fn, view.base, padded_operand(fn, moved.operand, pads_of(type)))
            made[index, place] = pointer
        pointers.append(pointer)
    return pointers


def _column(offsets: LinearLayout, dim: str) -> list[int]:
    place = list(offsets.out_dims).index(OFFSET)
    return [basis[place] for basis in offsets.bases_of(dim)]


def _without_index(
    fn: FunctionLowering, indices: SSAValue, columns: Sequence[Sequence[int]], axis: int
) -> LinearLayout:
    """From (register, lane, warp, block) of the indices to the bytes at which their elements lie but for the index."""
    layout, shape = fn.layout(indices), as_tensor(indices.type).get_shape()
    others = [(name, dim) for dim, name in enumerate(layout.out_dims) if dim != axis]
    bits = max((column.bit_length() for dim in columns for column in dim), default=0)
    if not others:
        return LinearLayout([(name, [0] * len(layout.bases_of(name))) for name in IN_DIMS], [(OFFSET, bits)])
    moves = [(name, list(columns[dim][: shape[dim].bit_length() - 1])) for name, dim in others]
    return layout.sublayout(IN_DIMS, [name for name, _ in others]).compose(LinearLayout(moves, [(OFFSET, bits)]))
