"""Prints and assertions."""

from __future__ import annotations

import numpy as np

from tilewright.dialects import tt
from tilewright.dialects.construction import static_values
from tilewright.dialects.types import bit_width, element_type
from tilewright.reference.errors import AssertionFailed, reference_error
from tilewright.reference.machine import Frame, Values, meaning_of
from tilewright.reference.printing import PrintedOperand, format_lane
from tilewright.reference.tt.access import describe_lane


@meaning_of(tt.PrintOp)
def print_lanes(op: tt.PrintOp, frame: Frame) -> Values:
    """A line for every lane of every operand, in order, into the machine's `output`."""
    machine, prefix, hexadecimal = frame.machine, op.prefix.data, bool(op.hex.value.data)
    if not op.args:
        machine.output.append(format_lane(machine.program_id, (), PrintedOperand(prefix, 0, 0)))
    signed = static_values(op.is_signed)
    for index, value in enumerate(op.args):
        kind = element_type(value.type)
        is_pointer = isinstance(kind, tt.PointerType)
        bits, in_hex = (64, True) if is_pointer else (bit_width(kind), hexadecimal)
        operand = PrintedOperand(prefix, index, len(op.args), bits, bool(signed[index]), hexadecimal=in_hex)
        lanes = np.asarray(frame.get(value))
        widths = [len(str(extent - 1)) for extent in lanes.shape]
        for place in np.ndindex(*lanes.shape):
            machine.output.append(format_lane(machine.program_id, place, operand, lanes[place], widths))
    return ()


@meaning_of(tt.AssertOp)
def assertion(op: tt.AssertOp, frame: Frame) -> Values:
    """Every lane that takes part has to satisfy it."""
    fails = ~np.asarray(frame.get(op.condition))
    if frame.active is not None:
        fails = fails & frame.active
    if np.any(fails):
        x, y, z = frame.machine.program_id
        lane = describe_lane(0, fails.shape, fails)
        reason = f"{lane}Assertion `{op.message.data}` failed (program {x}, {y}, {z})"
        raise reference_error(op, reason, AssertionFailed)
    return ()
