"""Assembly that each thread runs on its registers: the layouts say which elements these are."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from xdsl.ir import Attribute

from tilewright.dialects import ttg
from tilewright.dialects.numeric import Array, dtype_of
from tilewright.dialects.tt.types import PointerType
from tilewright.dialects.ttg.encodings import layout_of
from tilewright.dialects.types import element_type, is_tensor
from tilewright.layouts.distributed import IN_DIMS, REGISTER
from tilewright.reference.errors import reference_error
from tilewright.reference.machine import Frame, Values, meaning_of


@meaning_of(ttg.InlineAsmOp)
def inline_assembly(op: ttg.InlineAsmOp, frame: Frame) -> Values:
    """Run for all threads at once. Of threads that hold one element any gives the result's."""
    from tilewright.reference.simt.errors import SimulationError
    from tilewright.reference.simt.lanes import run_lanes
    from tilewright.support.ptx.errors import PtxSyntaxError
    from tilewright.support.ptx.inline_assembly import read_inline_assembly

    if any(isinstance(operand.type, ttg.MemDescType) for operand in op.args):
        raise reference_error(op, "inline assembly that is given shared memory is run by GPUs, real or simulated")
    places = [_places(value.type) for value in (*op.result, *op.args)]
    threads = max((place.shape[1] for place in places), default=1)
    registers: list[Array] = []
    for operand, place in zip(op.args, places[len(op.result) :], strict=True):
        flat = np.asarray(frame.get(operand)).reshape(-1)
        words = flat.view(f"u{flat.dtype.itemsize}")
        registers += [np.broadcast_to(words[held], (threads,)) for held in place]
    try:
        numbers = [int(register[0]) for register in registers]
        assembly = read_inline_assembly(op.asm_string.data, op.constraints.data, numbers)
        expected = sum(len(place) for place in places[: len(op.result)])
        if assembly.num_results != expected:
            raise SimulationError(f"it has {assembly.num_results} registers of results, of {expected}")
        found = run_lanes(assembly, registers, threads)
    except (SimulationError, PtxSyntaxError) as error:
        raise reference_error(op, f"inline assembly cannot be run lane by lane: {error.message}") from None
    results: list[Array] = []
    for result, place in zip(op.result, places, strict=False):
        held, found = found[: len(place)], found[len(place) :]
        results.append(_joined(result.type, place, held))
    return tuple(results)


def _places(type_: Attribute) -> Array:
    """The number of the element that each register (row) of each thread (column) holds; a scalar has one, of all."""
    if not is_tensor(type_):
        return np.zeros((1, 1), np.int64)
    shape = tuple(type_.get_shape())
    layout = layout_of(type_.encoding).to_linear(shape)
    sizes = [layout.in_dims[name] for name in IN_DIMS]
    assert IN_DIMS[0] == REGISTER
    numbers = np.indices(sizes[::-1]).reshape(len(sizes), -1)[::-1]
    coordinates: dict[str, Any] = layout.apply(dict(zip(IN_DIMS, numbers, strict=True)))
    flat = np.ravel_multi_index(tuple(coordinates[f"dim{axis}"] for axis in range(len(shape))), shape)
    return flat.reshape(-1, sizes[0]).T


def _joined(type_: Attribute, place: Array, held: list[Array]) -> Array:
    """A value from what the registers of the threads hold."""
    element = element_type(type_)
    dtype: np.dtype[Any] = np.dtype(np.int64) if isinstance(element, PointerType) else dtype_of(element)
    shape = tuple(type_.get_shape()) if is_tensor(type_) else ()
    words = np.zeros(prod(shape), f"u{dtype.itemsize}")
    for elements, register in zip(place, held, strict=True):
        words[elements] = register.astype(words.dtype)[: len(elements)]
    values = (words & words.dtype.type(1)).astype(np.bool_) if dtype == np.bool_ else words.view(dtype)
    return values.reshape(shape)
