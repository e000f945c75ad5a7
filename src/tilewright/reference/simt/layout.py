"""Where variables lie: the windows of the generic address space, and the addresses within them."""

from __future__ import annotations

from dataclasses import field

import numpy as np

from tilewright.dialects.numeric import Array
from tilewright.support.ptx.syntax import Function, Module, Parameter, Variable
from tilewright.support.records import dataclass

SHARED_WINDOW = 1 << 56
LOCAL_WINDOW = 1 << 57
PARAMETER_WINDOW = 1 << 58
MODULE_WINDOW = 1 << 59
PASSED_WINDOW = 1 << 60
PASSED_SIZE_BITS = 16
WINDOW_SIZE = 1 << 40
"""Generic addresses: shared and local memory, kernel parameters, and global variables of the module. All others are
global memory. Parameters of functions, 2^16 bytes for each, are read by `ld.param` alone."""


def aligned(offset: int, alignment: int) -> int:
    """The next multiple of an alignment."""
    return -(-offset // alignment) * alignment


@dataclass
class Image:
    """The variables of a module, placed. Addresses are those within the state space of the variable."""

    kernel: str
    addresses: dict[str, int] = field(default_factory=dict[str, int])
    local_addresses: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    parameters: dict[str, tuple[int, Parameter]] = field(default_factory=dict[str, tuple[int, Parameter]])
    static_shared: int = 0
    """Bytes of shared memory before the dynamic ones."""
    local_size: int = 0
    parameter_size: int = 0
    initial: Array = field(default_factory=lambda: np.zeros(0, np.uint8))
    """The bytes of the variables in global and constant memory."""

    def find_address(self, function: str, name: str) -> int | None:
        """The address of a variable; that of a kernel parameter is generic."""
        if name in self.addresses:
            return self.addresses[name]
        if name in self.parameters:
            return PARAMETER_WINDOW + self.parameters[name][0]
        return self.local_addresses.get((function, name))


def lay_out(module: Module, kernel: Function) -> Image:
    """Give every variable its address."""
    image = Image(kernel.name)
    _place_shared(module, image)
    for function in module.functions.values():
        for variable in function.locals:
            start = aligned(image.local_size, max(variable.alignment, 8))
            image.local_addresses[function.name, variable.name] = start
            image.local_size = start + variable.size
    for parameter in kernel.parameters:
        start = aligned(image.parameter_size, parameter.alignment)
        image.parameters[parameter.name] = (start, parameter)
        image.parameter_size = start + parameter.size
    _place_global(module, image)
    return image


def _place_shared(module: Module, image: Image) -> None:
    """Variables of known size first, then those that are as long as the launch says."""
    shared = [variable for variable in module.variables.values() if variable.space == "shared"]
    end = 0
    for variable in shared:
        if variable.size:
            image.addresses[variable.name] = aligned(end, variable.alignment)
            end = image.addresses[variable.name] + variable.size
    image.static_shared = aligned(end, 1024) if end else 0
    for variable in shared:
        if not variable.size:
            image.addresses[variable.name] = image.static_shared


def _place_global(module: Module, image: Image) -> None:
    found = [variable for variable in module.variables.values() if variable.space in ("global", "const")]
    end = 0
    for variable in found:
        start = aligned(end, max(variable.alignment, 16))
        image.addresses[variable.name] = MODULE_WINDOW + start
        end = start + variable.size
    image.initial = np.zeros(end, np.uint8)
    for variable in found:
        start = image.addresses[variable.name] - MODULE_WINDOW
        contents = bytearray(variable.contents)
        _insert_addresses(contents, variable, image)
        image.initial[start : start + variable.size] = np.frombuffer(bytes(contents), np.uint8)


def _insert_addresses(contents: bytearray, variable: Variable, image: Image) -> None:
    for position, name, offset in variable.references:
        contents[position : position + 8] = (image.addresses.get(name, 0) + offset).to_bytes(8, "little")
