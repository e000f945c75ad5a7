"""How a C function takes a kernel's parameters, and the launch slots that it makes of them.

A tensor descriptor is a pointer, the extents, and the strides of all dimensions but the last, whose elements follow one
another:

    float *x, int64_t x_shape_0, int64_t x_shape_1, int64_t x_stride_0
"""

from __future__ import annotations

from tilewright.runtime.tensor_descriptor import ALIGNMENT, element_bytes
from tilewright.support.records import dataclass
from tilewright.tools.aot.signature import C_TYPES, Argument, Signature


@dataclass(frozen=True)
class Slot:
    """One value that a launch hands to the kernel."""

    type: str
    """In C; empty where `value` is a parameter of the function."""
    value: str


def declared(argument: Argument, pointer: str = "") -> list[str]:
    """The parameters in C, pointers as `pointer` or as pointers to their elements."""
    element = C_TYPES[argument.element]
    place = f"{pointer} {argument.c_name}" if pointer else f"{element} *{argument.c_name}"
    if argument.rank:
        return [place, *(f"int64_t {name}" for name in (*shape(argument), *strides(argument)))]
    return [place if argument.is_pointer else f"{element} {argument.c_name}"]


def names(argument: Argument) -> list[str]:
    """Their names."""
    return [argument.c_name, *shape(argument), *strides(argument)]


def slots(argument: Argument) -> list[Slot]:
    """Return what the kernel gets of a parameter, in the order of `runtime.specialization.Descriptor` for a
    descriptor.
    """
    place = Slot("", argument.c_name)
    if not argument.rank:
        return [place]
    extents = [Slot("", name) for name in shape(argument)]
    steps = [*(Slot("", name) for name in strides(argument)), Slot("int64_t", "1")]
    narrow = [Slot("int32_t", f"(int32_t){name}") for name in shape(argument)]
    return [place, *extents, *steps, Slot("uint8_t", "0"), *narrow, *steps]


def kernel_slots(signature: Signature) -> list[Slot]:
    """All slots of a launch."""
    return [slot for argument in signature.arguments if argument.is_in_kernel for slot in slots(argument)]


def promises(argument: Argument) -> list[str]:
    """Conditions in C that a variant is compiled for."""
    value = f"(uintptr_t){argument.c_name}" if argument.is_pointer or argument.rank else argument.c_name
    if argument.rank:
        size = element_bytes(argument.element)
        steps = [f"{name} * {size} % {ALIGNMENT} == 0" for name in strides(argument)]
        return [f"{value} % {ALIGNMENT} == 0", *steps]
    if argument.hint == ALIGNMENT:
        return [f"{value} % {ALIGNMENT} == 0"]
    return [f"{value} == 1"] if argument.hint == 1 else []


def shape(argument: Argument) -> list[str]:
    """The extents of a descriptor; nothing for other parameters."""
    return [f"{argument.c_name}_shape_{axis}" for axis in range(argument.rank)]


def strides(argument: Argument) -> list[str]:
    """Its strides, of all dimensions but the last."""
    return [f"{argument.c_name}_stride_{axis}" for axis in range(argument.rank - 1)]
