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

from tilewright.codegen.nvptx.atomics import CLUSTER, SHARED, AtomicOrder
from tilewright.dialects import ttg
from tilewright.dialects.tt.enums import RMWOp
from tilewright.dialects.types import as_tensor
from tilewright.ir.diagnostics import op_error
from tilewright.layouts.access import span_of
from tilewright.layouts.distributed import BLOCK, IN_DIMS, REGISTER
from tilewright.layouts.linear import LinearLayout
from tilewright.layouts.shared import OFFSET
from tilewright.lowering.ttg_to_llvm.atomic_ops import share_result
from tilewright.lowering.ttg_to_llvm.between_ctas import load_from_cta
from tilewright.lowering.ttg_to_llvm.buffers import (
    as_buffer,
    beginning,
    buffer_layout,
    element_bytes,
    offsets_of,
    pads_of,
)
from tilewright.lowering.ttg_to_llvm.carried_values import distinct_registers
from tilewright.lowering.ttg_to_llvm.cluster_access import words_of
from tilewright.lowering.ttg_to_llvm.function_lowering import PASS_NAME, GpuFunctionLowering, lowers
from tilewright.lowering.ttg_to_llvm.index import Partial, combine, constant, map_bits, register_constants
from tilewright.lowering.ttg_to_llvm.indexing_ops import as_i32
from tilewright.lowering.ttg_to_llvm.memory_ops import from_memory, memory_type, to_memory
from tilewright.lowering.ttg_to_llvm.packing import from_words, to_words
from tilewright.lowering.ttg_to_llvm.shared_access import SHARED_SPACE, padded_operand, step_pointer


@lowers(ttg.LocalGatherOp)
def lower_local_gather(op: ttg.LocalGatherOp, fn: GpuFunctionLowering) -> None:
    element = fn.element(op.result)
    if _is_split(op.src):
        addresses = _addresses(fn, op.src, op.indices, op.axis.value.data)
        fn.set(op.result, [load_from_cta(fn, element, address, 1)[0] for address in addresses])
        return
    loaded: dict[str, str] = {}
    results: list[str] = []
    for pointer in _pointers(fn, op.src, op.indices, op.axis.value.data):
        if pointer not in loaded:
            words = fn.emitter.load_words(fn.text, pointer, element.bytes * 8, 1, space=SHARED_SPACE)
            [loaded[pointer]] = from_words(fn.text, element, words, element.bytes * 8)
        results.append(loaded[pointer])
    fn.set(op.result, results)


@lowers(ttg.LocalScatterOp)
def lower_local_scatter(op: ttg.LocalScatterOp, fn: GpuFunctionLowering) -> None:
    element, layout = fn.element(op.values), fn.layout(op.values)
    bits = element.bytes * 8
    if _is_split(op.dst) or _spread(layout, op.dst):
        _scatter_in_cluster(op, fn)
        return
    pointers, values = _pointers(fn, op.dst, op.indices, op.axis.value.data), fn.registers(op.values)
    owner = fn.threads.owner_predicate(layout, in_each_cta=True)
    for register in distinct_registers(layout):
        words = to_words(fn.text, element, [values[register]], bits)
        fn.emitter.store_words(fn.text, pointers[register], words, bits, space=SHARED_SPACE, predicate=owner)


@lowers(ttg.LocalAtomicScatterRMWOp)
def lower_local_atomic_scatter(op: ttg.LocalAtomicScatterRMWOp, fn: GpuFunctionLowering) -> None:
    """One thread of those that hold an element runs its atomic, and gives the others what it found."""
    element, layout = fn.element(op.values), fn.layout(op.values)
    kind = RMWOp.of(op.atomic_rmw_op).keyword
    if element.bits < 16 or (element.bits == 16 and not element.is_float):
        raise op_error(op, f"has no atomic {kind} on {element.bits} bits: use 32 or 64", pass_name=PASS_NAME)
    old: dict[int, str] = {}
    if _is_split(op.dst) or _spread(layout, op.dst):
        if not fn.emitter.has_atomic(kind, memory_type(element), element.bits):
            reason = f"has no atomic {kind} on {element.bits} bits in another CTA: use 32 or 64"
            raise op_error(op, reason, pass_name=PASS_NAME)
        owner = _first_cta_that_has(fn, layout, op.dst)
        for addresses in reversed(_addresses_of_copies(op, fn, layout)):  # the result is what they found in one copy
            old = _update_all(op, fn, kind, addresses, owner, space=CLUSTER, order=AtomicOrder(scope="cluster"))
    else:
        pointers = _pointers(fn, op.dst, op.indices, op.axis.value.data)
        owner = fn.threads.owner_predicate(layout, in_each_cta=True)
        old = _update_all(op, fn, kind, pointers, owner, space=SHARED, order=AtomicOrder(scope="cta"))
    count = len(fn.registers(op.values))
    if op.result.uses:
        repeated = layout.free_variable_masks.get(REGISTER, 0)
        share_result(fn, op.result, element, [old[register & ~repeated] for register in range(count)])
    else:
        fn.set(op.result, [element.zero] * count)


def _update_all(
    op: ttg.LocalAtomicScatterRMWOp,
    fn: GpuFunctionLowering,
    kind: str,
    addresses: Sequence[str],
    owner: str | None,
    *,
    space: str,
    order: AtomicOrder,
) -> dict[int, str]:
    """Run the atomic of each register that holds another element; what it found, if anybody wants that."""
    element, values = fn.element(op.values), fn.registers(op.values)
    masks = fn.registers(op.mask) if op.mask is not None else None
    old: dict[int, str] = {}
    for register in distinct_registers(fn.layout(op.values)):
        found = fn.emitter.atomic_rmw(
            fn.text,
            kind,
            addresses[register],
            memory_type(element),
            element.bits,
            [to_memory(fn, element, values[register])],
            order=order,
            predicate=fn.both(None if masks is None else masks[register], owner),
            wants_old=bool(op.result.uses),
            space=space,
        )
        old.update((register, from_memory(fn, element, value)) for value in found)
    return old


def _pointers(fn: GpuFunctionLowering, buffer: SSAValue, indices: SSAValue, axis: int) -> list[str]:
    """Per register of the indices the address of the element that it names."""
    type, view = as_buffer(buffer), fn.shared(buffer)
    offsets, size = offsets_of(type), element_bytes(type)
    columns = [[basis * size for basis in _column(offsets, dim, OFFSET)] for dim in offsets.in_dims]
    placed = _without_index(fn, indices, columns, axis)
    flip, _ = beginning(fn, buffer)
    thread = combine(fn.text.value, fn.threads.index.thread_part(placed, OFFSET), flip)
    made: dict[tuple[str, int], str] = {}
    pointers: list[str] = []
    for index, offset in zip(fn.registers(indices), register_constants(placed, OFFSET), strict=True):
        pointer = made.get((index, offset))
        if pointer is None:
            moved = map_bits(fn.text.value, as_i32(fn, indices, index), columns[axis])
            moved = combine(fn.text.value, moved, combine(fn.text.value, thread, constant(offset)))
            pointer = step_pointer(fn, view.base, padded_operand(fn, moved.operand, pads_of(type)))
            made[index, offset] = pointer
        pointers.append(pointer)
    return pointers


def _column(offsets: LinearLayout, dim: str, of: str) -> list[int]:
    position = list(offsets.out_dims).index(of)
    return [basis[position] for basis in offsets.bases_of(dim)]


def _is_split(buffer: SSAValue) -> bool:
    """Return whether CTAs of the cluster have different parts of a buffer."""
    return any(any(basis) for basis in buffer_layout(as_buffer(buffer)).cga)


def _own(buffer: SSAValue) -> int:
    """The bits of a CTA's number along which each has a copy."""
    return sum(1 << bit for bit, basis in enumerate(buffer_layout(as_buffer(buffer)).cga) if not any(basis))


def _spread(layout: LinearLayout, buffer: SSAValue) -> int:
    """Those of them along which CTAs hold different elements: these go to all copies."""
    held = layout.packed_bases.get(BLOCK, ())
    return sum(1 << bit for bit, column in enumerate(held) if column) & _own(buffer)


def _addresses_of_copies(
    op: ttg.LocalScatterOp | ttg.LocalAtomicScatterRMWOp, fn: GpuFunctionLowering, layout: LinearLayout
) -> list[list[str]]:
    """`_addresses` in each copy of the buffer that elements go to."""
    spread = _spread(layout, op.dst)
    copies = span_of([1 << bit for bit in range(spread.bit_length()) if spread >> bit & 1])
    axis = op.axis.value.data
    return [_addresses(fn, op.dst, op.indices, axis, spread=spread, copy=copy) for copy in copies]


def _first_cta_that_has(fn: GpuFunctionLowering, layout: LinearLayout, buffer: SSAValue) -> str | None:
    """An i1 that holds in one of the threads that have an element for one address, in each CTA that has a copy."""
    owner = fn.threads.owner_predicate(layout, in_each_cta=True)
    same = sum(1 << bit for bit, column in enumerate(layout.packed_bases[BLOCK]) if not column) & ~_own(buffer)
    if not same:
        return owner
    return fn.both(owner, fn.text.icmp("eq", "i32", fn.text.binary("and", "i32", fn.threads.block, same), 0))


def _scatter_in_cluster(op: ttg.LocalScatterOp, fn: GpuFunctionLowering) -> None:
    """Store each element in the CTAs that have its address; of CTAs that hold the same the first one does."""
    element, layout, values = fn.element(op.values), fn.layout(op.values), fn.registers(op.values)
    owner = _first_cta_that_has(fn, layout, op.dst)
    for addresses in _addresses_of_copies(op, fn, layout):
        for register in distinct_registers(layout):
            words, bits = words_of(fn, element, [values[register]])
            fn.emitter.store_to_cta(fn.text, addresses[register], words, bits, owner)


def _addresses(
    fn: GpuFunctionLowering, buffer: SSAValue, indices: SSAValue, axis: int, *, spread: int = 0, copy: int = 0
) -> list[str]:
    """Per register of the indices the address of the element that it names, in the CTA that has it: the own one as far
    as each has a copy, but for the bits of `spread`, which are those of `copy`."""
    type, view, emit = as_buffer(buffer), fn.shared(buffer), fn.text.value
    offsets, size = offsets_of(type), element_bytes(type)
    columns = [[basis * size for basis in _column(offsets, dim, OFFSET)] for dim in offsets.in_dims]
    ranks = [_column(offsets, dim, BLOCK) for dim in offsets.in_dims]
    placed, ranked = (_without_index(fn, indices, each, axis) for each in (columns, ranks))
    flip, begins = beginning(fn, buffer)
    thread = combine(emit, fn.threads.index.thread_part(placed, OFFSET), flip)
    kept = _own(buffer) & ~spread
    own = Partial(fn.text.binary("and", "i32", fn.threads.block, kept), kept) if kept else constant(0)
    among = combine(
        emit, combine(emit, fn.threads.index.thread_part(ranked, OFFSET), own), combine(emit, begins, constant(copy))
    )
    addresses: list[str] = []
    constants = zip(register_constants(placed, OFFSET), register_constants(ranked, OFFSET), strict=True)
    for index, (offset, rank) in zip(fn.registers(indices), constants, strict=True):
        number = as_i32(fn, indices, index)
        moved = combine(emit, map_bits(emit, number, columns[axis]), combine(emit, thread, constant(offset)))
        cta = combine(emit, map_bits(emit, number, ranks[axis]), combine(emit, among, constant(rank)))
        base = fn.emitter.address_in_cta(fn.text, view.base, cta.operand)
        addresses.append(fn.text.binary("add", "i32", base, padded_operand(fn, moved.operand, pads_of(type))))
    return addresses


def _without_index(
    fn: GpuFunctionLowering, indices: SSAValue, columns: Sequence[Sequence[int]], axis: int
) -> LinearLayout:
    """From (register, lane, warp, block) of the indices to the bytes at which their elements lie but for the index."""
    layout, shape = fn.layout(indices), as_tensor(indices.type).get_shape()
    others = [(name, dim) for dim, name in enumerate(layout.out_dims) if dim != axis]
    bits = max((column.bit_length() for dim in columns for column in dim), default=0)
    if not others:
        return LinearLayout([(name, [0] * len(layout.bases_of(name))) for name in IN_DIMS], [(OFFSET, bits)])
    moves = [(name, list(columns[dim][: shape[dim].bit_length() - 1])) for name, dim in others]
    return layout.sublayout(IN_DIMS, [name for name, _ in others]).compose(LinearLayout(moves, [(OFFSET, bits)]))
