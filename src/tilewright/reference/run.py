"""Running functions and grids of programs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import DictionaryAttr, FunctionType, ModuleOp, StringAttr
from xdsl.ir import Attribute

from tilewright.dialects.tt import TensorDescType
from tilewright.dialects.ttng import TensorDescIm2ColType
from tilewright.dialects.ttng.pixels import Pixels, slots_of
from tilewright.reference.errors import ReferenceError
from tilewright.reference.machine import Machine, address_zero, argument_value
from tilewright.reference.tt.descriptors import descriptor_argument
from tilewright.support.modules import import_modules
from tilewright.support.recursion import deep_recursion

for _package in ("", ".tt", ".ttg", ".tts"):
    import_modules(f"tilewright.reference{_package}")  # which fill the table of meanings

PROGRAM_ARGUMENTS = 6
"""The trailing i32 arguments of a kernel of the linalg and loops stages: numbers of programs in x, y, z, then the
program id."""


def find_kernel(module: ModuleOp) -> str:
    """The name of the function that can be launched: public, with a body. Raises ReferenceError where it is not one."""
    names: list[str] = []
    for op in module.body.block.ops:
        name, visibility = op.properties.get("sym_name"), op.properties.get("sym_visibility")
        is_public = not isinstance(visibility, StringAttr) or visibility.data == "public"
        if isinstance(name, StringAttr) and is_public and op.regions and op.regions[0].blocks:
            names.append(name.data)
    if len(names) != 1:
        raise ReferenceError(f"a module to run has one public function, this one has {', '.join(names) or 'none'}")
    return names[0]


def run_module(
    module: ModuleOp,
    function_name: str,
    arguments: Sequence[Any],
    *,
    machine: Machine | None = None,
) -> tuple[Any, ...]:
    """Call one function of a module and return its results as NumPy values.

    Arrays stand for pointers (``memref<*xT>``) and are changed in place; Python numbers are converted to the types of
    the arguments.
    """
    machine = machine or Machine(module)
    types = _argument_types(machine, function_name)
    _check_count(machine, function_name, types, arguments)
    values = _argument_values(machine, types, function_name, arguments)
    with np.errstate(all="ignore"):
        return tuple(machine.call(function_name, values))


@deep_recursion()
def run_grid(
    module: ModuleOp,
    kernel_name: str,
    arguments: Sequence[Any],
    grid: Sequence[int],
    *,
    external: dict[str, Callable[..., Any]] | None = None,
    track_initialisation: bool = False,
    rounds_dot_inputs: bool = False,
    step_limit: int | None = None,
    reachable: Sequence[np.ndarray[Any, Any]] = (),
    output: list[str] | None = None,
    trusts_addresses: bool = False,
    names: Sequence[str] = (),
) -> Machine:
    """Run all programs of a grid one after another, x fastest, as if each ran alone; returns the machine with what
    was printed.

    Kernels of the linalg and loops stages get the numbers of programs and the program id as six trailing arguments;
    kernels of the tt and structured stages ask for them. The arguments are the same at every stage: an array for a
    pointer (changed in place), None for a null pointer, a number for a scalar; for a descriptor its array, extents,
    strides and a bool (padding with NaN). `step_limit` bounds the number of ops
    that are executed, over the whole grid; `rounds_dot_inputs` makes `tt.dot` round f32 operands as `inputPrecision`
    says; `reachable` are arrays that the program finds by addresses in memory, and with `trusts_addresses` it may reach
    any memory of this process by its address (not from an argument); lines that are printed are appended to
    `output`, which the machine keeps. Messages call the arguments by `names`, or as the module does.

    Raises ReferenceError, located in the source, where the program leaves its memory or its meaning.
    """
    extents = (grid[0], grid[1] if len(grid) > 1 else 1, grid[2] if len(grid) > 2 else 1)
    machine = Machine(
        module,
        num_programs=extents,
        track_initialisation=track_initialisation,
        external=external or {},
        rounds_dot_inputs=rounds_dot_inputs,
        step_limit=step_limit,
        output=[] if output is None else output,
    )
    types = _argument_types(machine, kernel_name)
    takes_program = len(types) == len(arguments) + PROGRAM_ARGUMENTS
    if takes_program:
        types = types[:-PROGRAM_ARGUMENTS]
    _check_count(machine, kernel_name, types, arguments)
    for array in reachable:
        machine.memory.add(array)
    if trusts_addresses:
        machine.memory.add_process()
    values = _argument_values(machine, types, kernel_name, arguments, names)
    with np.errstate(all="ignore"):
        for z in range(extents[2]):
            for y in range(extents[1]):
                for x in range(extents[0]):
                    machine.program_id = (x, y, z)
                    machine.program_state.clear()
                    place = [np.int32(value) for value in (*extents, x, y, z)] if takes_program else []
                    machine.call(kernel_name, [*values, *place])
    return machine


def _attributes(machine: Machine, name: str, count: int) -> list[DictionaryAttr | None]:
    """The attributes of a function's first parameters."""
    found: Any = machine.functions[name].properties.get("arg_attrs")
    return [None] * count if found is None else list(found.data[:count])


def _check_count(machine: Machine, name: str, types: Sequence[Attribute], arguments: Sequence[Any]) -> None:
    expected = sum(map(slots_of, types, _attributes(machine, name, len(types))))
    if expected != len(arguments):
        raise TypeError(f"'{name}' takes {expected} arguments, got {len(arguments)}")


def _argument_values(
    machine: Machine,
    types: Sequence[Attribute],
    function_name: str,
    arguments: Sequence[Any],
    names: Sequence[str] = (),
) -> list[Any]:
    """Arguments as values, called in messages by `names` (one for each argument), else as the function names them: by
    hints, which lose a number at the end."""
    entry, taken = machine.functions[function_name].regions[0].blocks[0], 0
    values: list[Any] = []
    attributes = _attributes(machine, function_name, len(types))
    for index, (type_, given) in enumerate(zip(types, attributes, strict=True)):
        name = names[taken] if names and taken < len(names) else entry.args[index].name_hint or f"#{index}"
        slots = slots_of(type_, given)
        if slots == 0:
            values.append(address_zero(machine, type_))
        elif isinstance(type_, TensorDescType | TensorDescIm2ColType):
            parts = list(arguments[taken : taken + slots])
            values.append(descriptor_argument(machine, parts, type_, name, Pixels.of(given)))
        else:
            values.append(argument_value(machine, arguments[taken], type_, name))
        taken += slots
    return values


def _argument_types(machine: Machine, name: str) -> Sequence[Any]:
    function = machine.functions.get(name)
    if function is None:
        raise ReferenceError(
            f"the module has no function '{name}'; it has {', '.join(sorted(machine.functions)) or 'none'}"
        )
    function_type = function.properties["function_type"]
    assert isinstance(function_type, FunctionType)
    return function_type.inputs.data
