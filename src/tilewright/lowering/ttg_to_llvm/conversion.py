"""Moving the registers of a tensor from one layout to another, by the plans of `layouts.convert`."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.analysis.scratch import operand_offsets
from tilewright.dialects import tt
from tilewright.layouts.access import AccessKind, SharedAccess
from tilewright.layouts.between_ctas import ClusterConversion
from tilewright.layouts.convert import ConversionPlan, NoConversion, RegisterPermutation, WarpShuffle
from tilewright.layouts.distributed import LANE, REGISTER, WARP
from tilewright.layouts.swizzle import SharedMemoryConversion
from tilewright.lowering.ttg_to_llvm.between_ctas import exchange_between_ctas
from tilewright.lowering.ttg_to_llvm.buffers import writer_predicate
from tilewright.lowering.ttg_to_llvm.function_lowering import GpuFunctionLowering, allocation_offset
from tilewright.lowering.ttg_to_llvm.index import map_bits
from tilewright.lowering.ttg_to_llvm.shared_access import SharedAddresses, emit_loads, emit_stores, thread_part
from tilewright.lowering.ttg_to_llvm.types import ElementType
from tilewright.lowering.ttg_to_llvm.values import is_literal
from tilewright.lowering.ttg_to_llvm.words import shuffle_index, shuffle_xor

Tensors = list[list[str]]
"""The registers of each tensor."""


def convert_registers(
    fn: GpuFunctionLowering, plan: ConversionPlan, element: ElementType, registers: Sequence[str], scratch: str | None
) -> list[str]:
    """The registers after a conversion; `scratch` is the shared memory of one that needs it."""
    match plan:
        case NoConversion():
            return list(registers)
        case RegisterPermutation(sources):
            return [registers[source] for source in sources]
        case _ if len(set(registers)) == 1 and is_literal(registers[0]):
            return [registers[0]] * _num_results(plan)
        case WarpShuffle():
            return _shuffle(fn, plan, element, registers)
        case SharedMemoryConversion():
            assert scratch is not None
            return exchange(fn, [plan], [element], [registers], [scratch])[0]
        case ClusterConversion():
            assert scratch is not None
            return exchange_between_ctas(fn, plan, element, registers, scratch)


def _num_results(plan: WarpShuffle | SharedMemoryConversion | ClusterConversion) -> int:
    match plan:
        case WarpShuffle():
            return len(plan.scatter)
        case SharedMemoryConversion():
            return len(plan.load_access.copies)
        case ClusterConversion():
            return plan.load.in_dims[REGISTER]


# ------------------------------------------------------------------------------------------------------- warp shuffles


def _shuffle(fn: GpuFunctionLowering, plan: WarpShuffle, element: ElementType, registers: Sequence[str]) -> list[str]:
    values = [registers[source] for source in plan.gather]
    if plan.swaps and plan.moves_lanes and len(plan.swaps) == 1:
        values = _swap_and_permute(fn, plan, element, values)
    else:
        for register_bit, lane_bit in plan.swaps:
            values = _swap(fn, element, values, register_bit, lane_bit)
        if plan.moves_lanes:
            values = shuffle_index(fn, element, values, _source_lane(fn, plan))
    return [values[source] for source in plan.scatter]


def _swap(
    fn: GpuFunctionLowering, element: ElementType, values: Sequence[str], register_bit: int, lane_bit: int
) -> list[str]:
    """Each lane keeps the register whose bit equals its lane bit and trades the other with its partner."""
    upper = _lane_bit(fn, lane_bit)
    lows = [index for index in range(len(values)) if not index >> register_bit & 1]
    highs = [index | 1 << register_bit for index in lows]
    offered = [_select(fn, element, upper, values[low], values[high]) for low, high in zip(lows, highs, strict=True)]
    received = shuffle_xor(fn, element, offered, 1 << lane_bit)
    result = list(values)
    for low, high, operand in zip(lows, highs, received, strict=True):
        result[low] = _select(fn, element, upper, operand, values[low])
        result[high] = _select(fn, element, upper, values[high], operand)
    return result


def _swap_and_permute(
    fn: GpuFunctionLowering, plan: WarpShuffle, element: ElementType, values: Sequence[str]
) -> list[str]:
    """A swap, then a permutation of lanes, with one shuffle per register.

    Let l be the swapped lane bit, and s(t) the lane that t receives from after the swap. Then t wants for its register
    with bit x what lane s(t) with l = x holds in the register whose bit is that of s(t). In the first shuffle every
    lane offers the register whose bit is its own l and t reads lane s(t); in the second the other register, and t reads
    s(t) with l flipped.
    """
    [(register_bit, lane_bit)] = plan.swaps
    text = fn.text
    source = _source_lane(fn, plan)
    other = text.binary("xor", "i32", source, 1 << lane_bit)
    upper = _lane_bit(fn, lane_bit)
    from_upper = text.icmp("ne", "i32", text.binary("and", "i32", source, 1 << lane_bit), 0)
    lows = [index for index in range(len(values)) if not index >> register_bit & 1]
    pairs = [(values[low], values[low | 1 << register_bit]) for low in lows]
    first = [_select(fn, element, upper, high, low) for low, high in pairs]
    second = [_select(fn, element, upper, low, high) for low, high in pairs]
    first, second = shuffle_index(fn, element, first, source), shuffle_index(fn, element, second, other)
    result = list(values)
    for low, mine, others in zip(lows, first, second, strict=True):
        result[low] = _select(fn, element, from_upper, others, mine)
        result[low | 1 << register_bit] = _select(fn, element, from_upper, mine, others)
    return result


def _source_lane(fn: GpuFunctionLowering, plan: WarpShuffle) -> str:
    """The number of the lane that this one receives from, after swaps."""
    columns = [0] * len(plan.lane_permutation)
    for source, target in enumerate(plan.lane_permutation):
        columns[target] = 1 << source
    lane = fn.threads.lane
    return map_bits(fn.text.value, lane, columns).operand


def _lane_bit(fn: GpuFunctionLowering, bit: int) -> str:
    return fn.text.icmp("ne", "i32", fn.text.binary("and", "i32", fn.threads.lane, 1 << bit), 0)


def _select(fn: GpuFunctionLowering, element: ElementType, condition: str, yes: str, no: str) -> str:
    if yes == no:
        return yes
    return fn.text.select(condition, element.text, yes, no)


# ------------------------------------------------------------------------------------------------------- shared memory


def exchange(
    fn: GpuFunctionLowering,
    plans: Sequence[SharedMemoryConversion],
    elements: Sequence[ElementType],
    tensors: Sequence[Sequence[str]],
    scratches: Sequence[str],
    *,
    last_lanes: int = 0,
) -> list[list[str]]:
    """Several tensors through shared memory at once, each by its plan in its own scratch, with one barrier between all
    writes and all reads of a round.

    Of threads that hold the same element one writes: the one with zeros in the bits that repeat, or ones in those of
    `last_lanes`.
    """
    results = [[""] * len(plan.load_access.copies) for plan in plans]
    rounds = max(plan.repeats for plan in plans)
    stores = [_addresses(fn, plan.store_access, base) for plan, base in zip(plans, scratches, strict=True)]
    loads = [_addresses(fn, plan.load_access, base) for plan, base in zip(plans, scratches, strict=True)]
    for round_ in range(rounds):
        if round_:
            _synchronize(fn, plans)
        for plan, element, registers, addresses in zip(plans, elements, tensors, stores, strict=True):
            predicate = _writer(fn, plan, last_lanes)
            emit_stores(fn, plan.store_access, addresses, element, registers, round_=round_, predicate=predicate)
        _synchronize(fn, plans)
        for plan, element, result, addresses in zip(plans, elements, results, loads, strict=True):
            emit_loads(fn, plan.load_access, addresses, element, result, round_=round_)
    return results


class Scratch:
    """The shared memory that the tensors of one op go through, step after step: whatever one step wrote there has been
    read by all threads before the next one writes."""

    def __init__(
        self,
        fn: GpuFunctionLowering,
        op: tt.ReduceOp | tt.ScanOp,
        elements: Sequence[ElementType],
        sizes: Sequence[int],
    ) -> None:
        self.fn = fn
        self.elements = elements
        self._is_used = False
        if any(sizes):
            start = allocation_offset(op)
            self._pointers = [fn.shared_at(start + offset) for offset in operand_offsets(sizes)[:-1]]
        else:
            self._pointers = [""] * len(sizes)

    def convert(self, plans: Sequence[ConversionPlan | None], tensors: Tensors) -> Tensors:
        """Each tensor by its plan."""
        results: Tensors = []
        for plan, element, registers, pointer in zip(plans, self.elements, tensors, self._pointers, strict=True):
            assert plan is not None
            if isinstance(plan, SharedMemoryConversion):
                self._enter()
            results.append(convert_registers(self.fn, plan, element, registers, pointer))
        return results

    def exchange(self, plans: Sequence[SharedMemoryConversion], tensors: Tensors, *, last_lanes: int = 0) -> Tensors:
        """All tensors at once; see `exchange`."""
        self._enter()
        return exchange(self.fn, plans, self.elements, tensors, self._pointers, last_lanes=last_lanes)

    def _enter(self) -> None:
        if self._is_used:
            self.fn.barrier()
        self._is_used = True


def _addresses(fn: GpuFunctionLowering, access: SharedAccess, base: str) -> SharedAddresses:
    return SharedAddresses(fn, base, thread_part(fn, access))


def _synchronize(fn: GpuFunctionLowering, plans: Sequence[SharedMemoryConversion]) -> None:
    if all(plan.stays_in_warp for plan in plans):
        fn.emitter.warp_barrier(fn.text)
    else:
        fn.barrier()


def _writer(fn: GpuFunctionLowering, plan: SharedMemoryConversion, last_lanes: int) -> str | None:
    """An i1 that holds in one of the threads that hold the same elements; None where all write.

    The lanes of a matrix store only work together: those that repeat write the same to the same place.
    """
    held = plan.store.sublayout([REGISTER, LANE, WARP], plan.store.out_dims)
    whole_warps = plan.store_access.kind is not AccessKind.VECTOR
    return writer_predicate(fn, held, whole_warps=whole_warps, last_lanes=last_lanes)
