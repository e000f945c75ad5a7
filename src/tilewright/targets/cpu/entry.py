"""The function that a kernel's object exports: it runs programs lo to hi - 1.

```llvm
define void @kernel(ptr %args, i64 %lo, i64 %hi, ptr %arena)
```

`args` holds one 8-byte slot per kernel argument, then the grid's extents x, y, z. Arguments are read once; program
ids are counted up, not divided out; the program itself is inlined into the loop.
"""

from __future__ import annotations

from xdsl.dialects.builtin import i32

from tilewright.codegen.llvm_text import FunctionText, Parameter
from tilewright.codegen.located_text import LocatedFunctionText
from tilewright.codegen.microkernels import configure_tiles, release_tiles
from tilewright.lowering.loops_to_llvm import LoweredModule
from tilewright.lowering.loops_to_llvm.arena import GRID_SLOT_OFFSET, HEADER_BYTES, PROGRAM_INDEX_OFFSET
from tilewright.lowering.loops_to_llvm.types import TypeTable, is_memref
from tilewright.lowering.unsupported import UnsupportedError
from tilewright.support.errors import PassError

SLOT_BYTES = 8
GRID_ARGUMENTS = 6
"""Trailing i32 arguments of a kernel: grid extents, then program ids."""


def emit_entry(name: str, module: LoweredModule, types: TypeTable) -> None:
    """Add the entry of a lowered kernel to its module. Raises PassError for arguments that a slot cannot hold."""
    parameters = [Parameter("ptr", "%args"), Parameter("i64", "%lo"), Parameter("i64", "%hi")]
    parameters.append(Parameter("ptr", "%arena", "align 64"))
    fn = LocatedFunctionText(module.text, name, "void", parameters, attributes=module.place)
    fn.debug_suffix = module.line
    kernel = module.kernel
    given, trailing = kernel.parameters[:-GRID_ARGUMENTS], kernel.parameters[-GRID_ARGUMENTS:]
    if len(trailing) < GRID_ARGUMENTS or any(type != i32 for type in trailing) or kernel.results:
        raise PassError(f"kernel '{name}' must end in six i32 arguments and return nothing", pass_name="loops-to-llvm")
    zero, slots = kernel.address_zero, len(given)
    if zero is not None:
        slots -= 1
        given = (*given[:zero], *given[zero + 1 :])
    arguments = [_load_slot(fn, position, type, types, name) for position, type in enumerate(given)]
    if zero is not None:
        arguments.insert(zero, ("ptr", _address_zero(fn)))
    grid = [_load(fn, "i32", slots + axis) for axis in range(3)]
    _program_loop(fn, module, arguments, grid)
    module.text.add_function(fn)


def _load(fn: FunctionText, type: str, position: int) -> str:
    address = fn.address("i8", "%args", SLOT_BYTES * position)
    return fn.load(type, address, align=SLOT_BYTES)


def _load_slot(fn: FunctionText, position: int, type: object, types: TypeTable, name: str) -> tuple[str, str]:
    """One kernel argument from its slot: (LLVM type, register)."""
    if is_memref(type):  # pyright: ignore[reportArgumentType]
        return "ptr", _load(fn, "ptr", position)
    try:
        scalar = types.scalar(type)  # pyright: ignore[reportArgumentType]
    except UnsupportedError as error:
        raise PassError(f"argument {position} of kernel '{name}': {error}", pass_name="loops-to-llvm") from error
    if scalar.text == "i1":
        return "i1", fn.cast("trunc", "i8", _load(fn, "i8", position), "i1")
    return scalar.text, _load(fn, scalar.text, position)


def _address_zero(fn: FunctionText) -> str:
    """Address 0 as a pointer of which LLVM knows nothing: it takes what is reached from `null` for undefined."""
    return fn.cast("inttoptr", "i64", fn.opaque("i64", 0), "ptr")


def _program_loop(fn: FunctionText, module: LoweredModule, arguments: list[tuple[str, str]], grid: list[str]) -> None:
    gx, gy, gz = grid
    wide_x, wide_y = fn.cast("zext", "i32", gx, "i64"), fn.cast("zext", "i32", gy, "i64")
    some = fn.icmp("ult", "i64", "%lo", "%hi")
    begin, loop, end = fn.new_label("begin"), fn.new_label("program"), fn.new_label("end")
    fn.branch_if(some, begin, end)
    fn.start(begin)
    if module.uses_tiles:
        configure_tiles(fn)
    slots = len(module.kernel.parameters) - GRID_ARGUMENTS - (module.kernel.address_zero is not None)
    _note(fn, "i32", str(slots), GRID_SLOT_OFFSET)
    row = fn.binary("udiv", "i64", "%lo", wide_x)
    first_x = _narrow(fn, fn.binary("urem", "i64", "%lo", wide_x))
    first_y = _narrow(fn, fn.binary("urem", "i64", row, wide_y))
    first_z = _narrow(fn, fn.binary("udiv", "i64", row, wide_y))
    fn.branch(loop)
    fn.start(loop)
    program = fn.phi("i64", "program")
    x, y, z = (fn.phi("i32", axis) for axis in "xyz")
    for phi, value in ((program, "%lo"), (x, first_x), (y, first_y), (z, first_z)):
        phi.add(value, begin)
    _note(fn, "i64", program.name, PROGRAM_INDEX_OFFSET)
    passed = [*arguments, *(("i32", extent) for extent in (gx, gy, gz)), *(("i32", p.name) for p in (x, y, z))]
    _call_program(fn, module, passed, end)
    next_program = fn.binary("add nuw", "i64", program.name, 1)
    stepped = fn.binary("add", "i32", x.name, 1)
    wrap_x = fn.icmp("eq", "i32", stepped, gx)
    next_x = fn.select(wrap_x, "i32", 0, stepped)
    carried_y = fn.binary("add", "i32", y.name, fn.cast("zext", "i1", wrap_x, "i32"))
    wrap_y = fn.icmp("eq", "i32", carried_y, gy)
    next_y = fn.select(wrap_y, "i32", 0, carried_y)
    next_z = fn.binary("add", "i32", z.name, fn.cast("zext", "i1", wrap_y, "i32"))
    again = fn.icmp("ult", "i64", next_program, "%hi")
    for phi, value in ((program, next_program), (x, next_x), (y, next_y), (z, next_z)):
        phi.add(value, fn.label)
    fn.branch_if(again, loop, end)
    fn.start(end)
    if module.uses_tiles:
        release_tiles(fn)
    if module.streams:
        fn.emit("fence seq_cst")
    fn.ret()


def _narrow(fn: FunctionText, value: str) -> str:
    return fn.cast("trunc", "i64", value, "i32")


def _note(fn: FunctionText, type: str, value: str, offset: int) -> None:
    """Keep a value in the arena's header: what stops a program or crashes in it finds there which one it is."""
    at = fn.address("i8", "%arena", offset)
    fn.store(type, value, at, align=8)


def _call_program(fn: FunctionText, module: LoweredModule, arguments: list[tuple[str, str]], end: str) -> None:
    """Run one program; where one has failed, end the range."""
    kernel = module.kernel
    fn.call("void", kernel.name, [*arguments, ("ptr", "%arena"), ("ptr", "%arena")])
    if kernel.may_stop:
        header = fn.address("i8", "%arena", f"-{HEADER_BYTES}")
        launch = fn.load("ptr", header)
        flag = fn.load_atomic("i32", launch, align=4)
        go_on = fn.new_label("go")
        fn.branch_if(fn.icmp("ne", "i32", flag, 0), end, go_on)
        fn.start(go_on)
