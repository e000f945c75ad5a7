"""Bank conflicts of accesses to shared memory, known when a kernel is compiled."""

from __future__ import annotations

from typing import Any

from tilewright.language.gluon.distributed_layouts import InferredLayout
from tilewright.language.gluon.types import distributed_type, shared_memory_descriptor_type
from tilewright.language.registry import builtin, wrong_layout
from tilewright.language.values import constexpr, describe, unwrap


@builtin
def bank_conflicts(distr_ty: Any, shared_ty: Any) -> constexpr:
    """Count how many times more than it must each instruction goes to shared memory, as a constant.

    A tensor of type `distr_ty` is read from or written to a buffer of type `shared_ty`; 0: lanes never share a bank.

    Raises TypeError for anything that is not such a type, ValueError for shapes or dtypes that differ, for a part of a
    buffer, and for a layout that is not known yet."""
    from tilewright.layouts.access import plan_access
    from tilewright.layouts.distributed import LANE, REGISTER, WARP
    from tilewright.layouts.shared import OFFSET, PaddedSharedLayout

    tensor, buffer = unwrap(distr_ty), unwrap(shared_ty)
    if not isinstance(tensor, distributed_type):
        raise TypeError(f"bank_conflicts expects a distributed_type, got {describe(distr_ty)}")
    if not isinstance(buffer, shared_memory_descriptor_type):
        raise TypeError(f"bank_conflicts expects a shared_memory_descriptor_type, got {describe(shared_ty)}")
    shape, element = list(tensor.shape), tensor.element_ty
    if shape != buffer.shape:
        raise ValueError(f"register shape {shape} and shared shape {buffer.shape} must match")
    if element != buffer.element_ty:
        raise ValueError(f"mismatched dtypes between register ({element}) and shared ({buffer.element_ty}) layouts")
    if buffer.alloc_shape[-len(shape) :] != shape:
        raise ValueError(f"the buffer is a part of one of shape {buffer.alloc_shape}: bank_conflicts takes whole ones")
    if isinstance(tensor.layout, InferredLayout):
        raise wrong_layout(ValueError(f"the tensor's layout is not known yet: {tensor.layout}"))
    shared, bits = buffer.layout.plain(), max(element.primitive_bitwidth, 8)
    offsets = tensor.layout.plain().to_linear(shape).compose(shared.to_linear(shape).pseudoinvert())
    inside = offsets.sublayout([REGISTER, LANE, WARP], [OFFSET])
    if isinstance(shared, PaddedSharedLayout):
        return constexpr(_of_padded(inside, shared, bits))
    return constexpr(plan_access(inside, bits, matrices=False).conflicts)


def _of_padded(offsets: Any, shared: Any, bits: int) -> int:
    """The most conflicts of an instruction whose addresses have gaps between them."""
    from tilewright.layouts.access import plan_access
    from tilewright.layouts.banks import count_conflicts

    most = min(min(interval, padding) for interval, padding in shared.pads)
    access = plan_access(offsets, bits, matrices=False, max_vector=most)
    size = bits // 8
    lanes = [0]
    for column in access.lanes:
        lanes += [lane ^ column for lane in lanes]
    worst = 0
    for step in access.steps:
        places = [lane ^ step.offset for lane in lanes]
        moved = [at + sum(at // interval * padding for interval, padding in shared.pads) for at in places]
        worst = max(worst, count_conflicts([at * size for at in moved], access.vector * size))
    return worst


__all__ = ["bank_conflicts"]
