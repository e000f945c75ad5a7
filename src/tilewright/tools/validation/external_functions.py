"""The meaning of functions that a module of the loops stage only declares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import func
from tilewright.dialects.arith.meaning import as_signed
from tilewright.dialects.types import bit_width
from tilewright.lowering.atomic_calls import END_ATOMICS, AtomicCall, find_atomic_call
from tilewright.reference.memory import MemRef
from tilewright.reference.memref_ops import combine
from tilewright.tools.validation.launches import Array
from tilewright.tools.validation.microkernels import find_microkernel


def external_functions(module: ModuleOp) -> dict[str, Callable[..., Any]]:
    """NumPy functions for the declarations of a module that are known here."""
    found: dict[str, Callable[..., Any]] = {}
    for op in module.body.block.ops:
        if not isinstance(op, func.FuncOp) or op.body.blocks:
            continue
        name = op.sym_name.data
        if name == END_ATOMICS:
            found[name] = _end_atomics
        elif (atomic := find_atomic_call(name, tuple(op.function_type.inputs.data))) is not None:
            found[name] = _update_lanes(atomic)
        elif (microkernel := find_microkernel(op)) is not None:
            found[name] = microkernel
    return found


def _end_atomics() -> None:
    """Programs run one after the other here, so none of them waits."""


def _update_lanes(call: AtomicCall) -> Callable[..., None]:
    """One lane after another, in order."""
    element = call.values.element_type
    (lanes,) = call.values.get_shape()

    def run(buffer: MemRef, index: Any, *operands: Any) -> None:
        *given, mask, values = (np.asarray(operand) for operand in operands)
        offsets: Array = np.arange(lanes)
        if call.offsets is not None:
            offsets = as_signed(given[0], bit_width(call.offsets.element_type))
        live = mask.astype(np.bool_)
        places = buffer.positions([offsets.astype(np.int64)[live] + int(index)])
        for place, value in zip(places, values[live], strict=True):
            buffer.storage.write(place, combine(call.kind, buffer.storage.read(place), value, element))

    return run
