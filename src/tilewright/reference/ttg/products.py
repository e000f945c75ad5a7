"""Matmuls of warp groups: their operands are in shared memory, and they may be under way while others start."""

from __future__ import annotations

from typing import Any

import numpy as np

from tilewright.dialects import ttng
from tilewright.dialects.tt import InputPrecision
from tilewright.dialects.types import element_type
from tilewright.reference.machine import Frame, Values, as_bool, meaning_of
from tilewright.reference.tt.dot import multiply, round_to_tf32
from tilewright.reference.ttg.in_flight import Product, memory_of_program
from tilewright.reference.ttg.shared_memory import SharedView


@meaning_of(ttng.WarpGroupDotOp)
def warp_group_dot(op: ttng.WarpGroupDotOp, frame: Frame) -> Values:
    """`useC` false starts from zero. An asynchronous one may add to another that has not been waited for."""
    operands: list[Any] = frame.get_all((op.a, op.b))
    views = [operand for operand in operands if isinstance(operand, SharedView)]
    must_be_written = frame.machine.track_initialisation
    a, b = (
        operand.load(must_be_written=must_be_written) if isinstance(operand, SharedView) else np.asarray(operand)
        for operand in operands
    )
    allowed = InputPrecision.of(op.input_precision) is InputPrecision.TF32
    if frame.machine.rounds_dot_inputs and allowed and a.dtype == np.float32:
        a, b = round_to_tf32(a), round_to_tf32(b)
    start = frame.get(op.c)
    c = start.value if isinstance(start, Product) else np.asarray(start)
    if op.use_c is not None and not as_bool(frame.get(op.use_c)):
        c = np.zeros_like(c)
    product = Product(multiply(a, b, c, element_type(op.c.type)), views)
    memory = memory_of_program(frame)
    memory.products.append(product)
    if op.is_async.value.data:
        return (product,)
    memory.wait_for_products(0)
    return (product.value,)


@meaning_of(ttng.WarpGroupDotWaitOp)
def wait(op: ttng.WarpGroupDotWaitOp, frame: Frame) -> Values:
    """Results that are there by now become values."""
    memory_of_program(frame).wait_for_products(op.pendings.value.data)
    return [
        value.value if isinstance(value, Product) and value.is_done else value for value in frame.get_all(op.inputs)
    ]
