"""The layout of a tensor, and the LLVM types that carry its value through branches, loops and calls."""

from __future__ import annotations

from xdsl.ir import Attribute

from tilewright.dialects import ttg
from tilewright.dialects.ttg.encodings import DotOperandEncodingAttr
from tilewright.dialects.types import is_tensor
from tilewright.layouts.distributed import REGISTER
from tilewright.layouts.linear import LinearLayout
from tilewright.lowering.ttg_to_llvm.packing import WORD_BITS
from tilewright.lowering.ttg_to_llvm.types import element_of
from tilewright.lowering.unsupported import UnsupportedError


def layout_of_type(type: Attribute) -> LinearLayout:
    """The map of (register, lane, warp, block) to coordinates for a tensor type with an encoding."""
    if not is_tensor(type):
        raise UnsupportedError(f"{type} is not a tensor")
    encoding = type.encoding
    if not isinstance(encoding, ttg.DistributedEncoding):
        raise UnsupportedError(f"{type} has no layout")
    return encoding.to_linear(type.get_shape())


def flat_types(type: Attribute) -> list[str]:
    """The LLVM types that carry a value of an MLIR type."""
    if is_tensor(type):
        element, registers = element_of(type.element_type), layout_of_type(type).in_dims[REGISTER]
        if is_carried_as_words(type):
            return ["i32"] * (registers * element.bits // WORD_BITS)
        return [element.text] * registers
    match type:
        case ttg.AsyncTokenType():
            return []
        case ttg.MemDescType():
            return ["ptr addrspace(3)", "i32"]
        case _:
            return [element_of(type).text]


def is_carried_as_words(type: Attribute) -> bool:
    """Return whether a tensor is carried as the words that tensor cores read it in: an operand of narrow elements."""
    if not is_tensor(type) or not isinstance(type.encoding, DotOperandEncodingAttr):
        return False
    bits = element_of(type.element_type).bits
    return 1 < bits < WORD_BITS and layout_of_type(type).in_dims[REGISTER] * bits % WORD_BITS == 0


def distinct_registers(layout: LinearLayout) -> list[int]:
    """The registers to access once each, where several may hold the same element: those with free bits clear."""
    mask = layout.free_variable_masks.get(REGISTER, 0)
    return [register for register in range(layout.in_dims[REGISTER]) if not register & mask]
