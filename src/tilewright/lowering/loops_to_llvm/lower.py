"""A module at the loops stage becomes LLVM IR text.

Every `func.func` becomes an internal function with two hidden last parameters, the thread's arena and this call's frame
in it; the target writes the kernel's entry around the public one.

```mlir
func.func @k(%x: memref<*xf32> {tt.divisibility = 16 : i32}, %n: i32, %gx: i32, ...)
```
```llvm
define internal void @k.program(ptr align 16 %a0, i32 %a1, i32 %a2, ..., ptr %arena, ptr %frame) alwaysinline
```

A long program stays a function of its own: what the call takes does not show, but LLVM would copy the whole, and where
arguments are loads before the loop, its preparation of code starts over at each of their uses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, UnitAttr
from xdsl.ir import Attribute, Operation

from tilewright.codegen.instructions import result_struct
from tilewright.codegen.llvm_text import FunctionText, ModuleText, Parameter
from tilewright.codegen.located_text import LocatedFunctionText
from tilewright.codegen.math_library import MathLibrary
from tilewright.codegen.microkernels import PACK_CACHE_BYTES, Routine
from tilewright.dialects import cf, func, memref, scf, vector
from tilewright.dialects.attributes import NO_FP_FUSION, NOALIAS, find_address_zero
from tilewright.ir.diagnostics import op_error
from tilewright.ir.walking import ops_within
from tilewright.lowering.atomic_calls import is_atomic_call
from tilewright.lowering.debug_info import DebugInfo, Emission
from tilewright.lowering.loops_to_llvm import (
    arith_ops,
    atomic_ops,
    control_ops,
    func_ops,
    math_ops,
    memref_ops,
    vector_memory_ops,
    vector_ops,
)
from tilewright.lowering.loops_to_llvm.arena import FramePlan
from tilewright.lowering.loops_to_llvm.coroutines import (
    ATTRIBUTE,
    CoroutineLowering,
    is_coroutine,
    make_notes,
    started_coroutines,
)
from tilewright.lowering.loops_to_llvm.function_lowering import PASS_NAME, CpuFunctionLowering
from tilewright.lowering.loops_to_llvm.interruption import find_long_loops
from tilewright.lowering.loops_to_llvm.masked_access import MOST_TESTED_LANES, tested_lanes
from tilewright.lowering.loops_to_llvm.memref_value import flat_types, shape_of
from tilewright.lowering.loops_to_llvm.module_lowering import CpuModuleLowering, FunctionShape, ModuleFacts
from tilewright.lowering.loops_to_llvm.types import TypeTable, is_memref
from tilewright.lowering.loops_to_llvm.waiting import find_waiting_loops
from tilewright.lowering.microkernel_attributes import declared_routines
from tilewright.lowering.unsupported import UnsupportedError
from tilewright.support.facts import TargetFacts
from tilewright.support.records import dataclass

DIVISIBILITY_ATTRIBUTE = "tt.divisibility"
PROGRAM_SUFFIX = ".program"

MOST_INLINED = 1000
"""Lines of a program that is inlined into the loop over programs: a call with twenty arguments takes some 10 ns, as
many lines some 200 ns where each runs once."""


@dataclass(frozen=True)
class LoweredModule:
    """LLVM IR of a module, before the target adds its entry."""

    text: ModuleText
    kernel_name: str
    kernel: FunctionShape
    arena_bytes: int
    pack_cache_bytes: int
    """What of the arena is for operands that matmuls have packed, of which only what is used is touched."""
    externals: frozenset[str]
    """Functions that the loader has to bind, besides libc and libm."""
    uses_tiles: bool = False
    """Whether the entry has to configure AMX tiles."""
    streams: bool = False
    """Whether stores may be in flight when the kernel returns, until a fence."""
    waits: bool = False
    """Whether a program may wait for another."""
    place: str = ""
    """The ``!dbg`` attribute of the entry, where source lines are wanted."""
    line: str = ""
    """What ends each instruction of the entry, then."""


OP_FILES = (arith_ops, math_ops, control_ops, func_ops, memref_ops, atomic_ops, vector_memory_ops, vector_ops)
"""The files that fill the table of rules."""


def lower_to_llvm(
    module: ModuleOp, facts: TargetFacts, *, data_layout: str = "", emission: Emission = Emission.NOTHING
) -> LoweredModule:
    """Lower a module at the loops stage. Raises PassError for an op that the stage does not allow."""
    text, types = ModuleText(triple=facts.triple, data_layout=data_layout), TypeTable(facts)
    debug = DebugInfo(text, emission)
    functions = [op for op in module.body.block.ops if isinstance(op, func.FuncOp)]
    for op in module.body.block.ops:
        if isinstance(op, memref.GlobalOp):
            text.add_global(memref_ops.global_text(types, op))
        elif not isinstance(op, func.FuncOp):
            raise op_error(op, "is not allowed at the top of a loops stage module", pass_name=PASS_NAME)
    bodies = {op.sym_name.data: op for op in functions if op.body.blocks}
    kernel = _find_kernel(module, list(bodies.values()))
    routines = declared_routines(functions)
    scans = {name: _scan(op, routines, facts) for name, op in bodies.items()}
    known = _find_facts(module, bodies, routines, scans)
    for loop in known.waiting_loops | known.long_loops:
        scans[_function_of(loop)].may_stop = True
    stopping = _close_over_calls(scans)
    lowering = CpuModuleLowering(text, facts, types, MathLibrary(text, facts), debug, known)
    for op in functions:
        _declare_shape(lowering, op, scans.get(op.sym_name.data), is_kernel=op is kernel, stopping=stopping)
    for name in _callees_first(bodies, scans):
        coroutines = list(started_coroutines(bodies[name], bodies))
        _plan_callees(lowering, name, scans, coroutines)
        _lower_function(lowering, bodies[name], coroutines)
    shape = lowering.functions[kernel.sym_name.data]
    arena = lowering.frames[kernel.sym_name.data].total_bytes
    place = debug.begin_function(kernel.sym_name.data, kernel.location)
    return LoweredModule(
        text=text,
        kernel_name=kernel.sym_name.data,
        kernel=shape,
        arena_bytes=arena,
        pack_cache_bytes=min(arena, sum(scan.pack_cache_bytes for scan in scans.values())),
        externals=frozenset(lowering.needs.externals),
        uses_tiles=lowering.needs.uses_tiles,
        streams=lowering.needs.streams,
        waits=bool(known.waiting_loops),
        place=place,
        line=debug.suffix(kernel, kernel.sym_name.data),
    )


def _find_kernel(module: ModuleOp, functions: list[func.FuncOp]) -> func.FuncOp:
    """The first function with a body that is not private."""
    for op in functions:
        if op.sym_visibility is None or op.sym_visibility.data != "private":
            return op
    raise op_error(module, "needs a public function as the kernel, has none", pass_name=PASS_NAME)


def _function_of(op: Operation) -> str:
    """The name of the function that an op is in."""
    parent = op.parent_op()
    while not isinstance(parent, func.FuncOp):
        assert parent is not None
        parent = parent.parent_op()
    return parent.sym_name.data


# --------------------------------------------------------------------------------------------------------- scanning


@dataclass
class _Scan:
    """What one walk over a function finds."""

    op: func.FuncOp
    frame: FramePlan
    callees: list[str]
    may_stop: bool
    """Whether it may end early because the grid is stopped: fails an assertion, or waits."""
    has_atomics: bool = False
    has_while: bool = False
    tested_lanes: int = 0
    """Of masked accesses that the machine has no instruction for."""
    open_kernels: set[str] = field(default_factory=set[str])
    pack_cache_bytes: int = 0

    @property
    def is_leaf(self) -> bool:
        """Return whether the function needs no arena and no frame: nothing in it calls, has memory or may wait."""
        return not (self.callees or self.frame.slots or self.may_stop or self.has_atomics or self.has_while)


def _scan(function: func.FuncOp, routines: Mapping[str, Routine], facts: TargetFacts) -> _Scan:
    found = _Scan(function, FramePlan(), [], False)
    for op in ops_within(function.body):
        match op:
            case memref.AllocaOp():
                _reserve(found.frame, op)
            case func.CallOp():
                found.callees.append(op.callee.root_reference.data)
                if func_ops.is_open_kernel(op, routines):
                    found.open_kernels.add(op.callee.root_reference.data)
                if func_ops.takes_pack_cache(routines.get(op.callee.root_reference.data)):
                    found.pack_cache_bytes += PACK_CACHE_BYTES
                found.has_atomics |= is_atomic_call(op)
            case cf.AssertOp():
                found.may_stop = True
            case memref.AtomicRMWOp() | memref.GenericAtomicRMWOp():
                found.has_atomics = True
            case scf.WhileOp():
                found.has_while = True
            case vector.MaskedLoadOp() | vector.MaskedStoreOp():
                found.tested_lanes += tested_lanes(op, facts)
            case _:
                pass
    return found


def _find_facts(
    module: ModuleOp, bodies: Mapping[str, func.FuncOp], routines: Mapping[str, Routine], scans: Mapping[str, _Scan]
) -> ModuleFacts:
    waiting = frozenset(find_waiting_loops(bodies))
    return ModuleFacts(
        routines=routines,
        has_atomics=any(scan.has_atomics for scan in scans.values()),
        waiting_loops=waiting,
        long_loops=frozenset(find_long_loops(bodies.values(), waiting)),
        open_kernels=frozenset[str]().union(*(scan.open_kernels for scan in scans.values())),
        outlines_masks=sum(scan.tested_lanes for scan in scans.values()) > MOST_TESTED_LANES,
        fuses=NO_FP_FUSION not in module.attributes,
    )


def _reserve(frame: FramePlan, op: memref.AllocaOp) -> None:
    shape = shape_of(op.results[0].type)
    if None in shape.sizes:
        raise op_error(
            op, "needs a static size: the arena is laid out when the kernel is compiled", pass_name=PASS_NAME
        )
    alignment = 0 if op.alignment is None else op.alignment.value.data
    last = 0
    for size, stride in zip(shape.sizes, shape.strides, strict=True):
        if not size:
            last = -1
            break
        last += (size - 1) * (stride or 0)
    frame.reserve(op, max(0, last + 1) * _element_bytes(op), alignment)


def _element_bytes(op: memref.AllocaOp) -> int:
    element = op.results[0].type
    width = getattr(getattr(element, "element_type", None), "bitwidth", 64)
    return max(1, (int(width) + 7) // 8)


def _close_over_calls(scans: dict[str, _Scan]) -> set[str]:
    """Functions that may end early, by themselves or in what they call."""
    stopping = {name for name, scan in scans.items() if scan.may_stop}
    changed = True
    while changed:
        more = {name for name, scan in scans.items() if name not in stopping and stopping.intersection(scan.callees)}
        stopping |= more
        changed = bool(more)
    return stopping


def _callees_first(bodies: dict[str, func.FuncOp], scans: dict[str, _Scan]) -> list[str]:
    """All functions, each after those that it calls. Recursion is an error: frames are laid out statically."""
    order: list[str] = []
    state: dict[str, bool] = {}

    def visit(name: str) -> None:
        if name not in bodies or state.get(name):
            return
        if name in state:
            raise op_error(bodies[name], "calls itself, which compiled kernels cannot do", pass_name=PASS_NAME)
        state[name] = False
        for callee in scans[name].callees:
            visit(callee)
        state[name] = True
        order.append(name)

    for name in bodies:
        visit(name)
    return order


def _plan_callees(
    lowering: CpuModuleLowering, name: str, scans: dict[str, _Scan], coroutines: Sequence[func.CallOp]
) -> None:
    frame = scans[name].frame
    for call in coroutines:
        frame.reserve_in_arena(call, lowering.frames[call.callee.string_value()].total_bytes)
    needs = [lowering.frames[callee].total_bytes for callee in scans[name].callees if callee in lowering.frames]
    frame.callee_bytes = max(needs, default=0)
    lowering.frames[name] = frame


# -------------------------------------------------------------------------------------------------------- functions


def _declare_shape(
    lowering: CpuModuleLowering, op: func.FuncOp, scan: _Scan | None, *, is_kernel: bool, stopping: set[str]
) -> None:
    name = op.sym_name.data
    lowering.functions[name] = FunctionShape(
        name + PROGRAM_SUFFIX if is_kernel else name,
        tuple(op.function_type.inputs.data),
        tuple(op.function_type.outputs.data),
        is_declaration=scan is None,
        may_stop=name in stopping,
        is_leaf=scan is not None and scan.is_leaf,
        address_zero=find_address_zero(op.arg_attrs),
    )


def _lower_function(lowering: CpuModuleLowering, op: func.FuncOp, coroutines: Sequence[func.CallOp]) -> None:
    shape = lowering.functions[op.sym_name.data]
    is_kernel = shape.name.endswith(PROGRAM_SUFFIX)
    frame = lowering.frames[op.sym_name.data]
    entry = op.body.blocks.first
    assert entry is not None
    try:
        flat = [_flat_types(lowering, argument.type) for argument in entry.args]
        results = [text for type in shape.results for text in _flat_types(lowering, type)]
    except (UnsupportedError, ValueError) as error:
        raise op_error(op, str(error), pass_name=PASS_NAME) from error
    parameters, names = _parameters(op, flat)
    result, place = result_struct(results), ""
    if suspends := is_coroutine(op):
        attributes, result = ATTRIBUTE, "ptr"
    else:
        place = lowering.debug.begin_function(shape.name, op.location)
        attributes = "alwaysinline" if is_kernel else ("" if op.no_inline is None else "noinline")
        attributes = f"{attributes} {place}".strip()
    text = LocatedFunctionText if place else FunctionText
    fn = text(lowering.text, shape.name, result, parameters, linkage="internal", attributes=attributes)
    low = (CoroutineLowering if suspends else CpuFunctionLowering)(lowering, fn, frame, results)
    low.begin()
    make_notes(low, coroutines)
    low.bind_flat(entry.args, iter(names))
    low.lower_blocks(entry)
    low.finish()
    if is_kernel and not suspends and fn.length > MOST_INLINED:
        fn.attributes = ""
    lowering.text.add_function(fn)


def _flat_types(lowering: CpuModuleLowering, type: Attribute) -> list[str]:
    return flat_types(type) if is_memref(type) else [lowering.types.value(type).text]


def _parameters(op: func.FuncOp, flat: list[list[str]]) -> tuple[list[Parameter], list[str]]:
    noalias = isinstance(op.attributes.get(NOALIAS), UnitAttr)
    argument_attributes = list(op.arg_attrs.data) if op.arg_attrs is not None else [DictionaryAttr({})] * len(flat)
    parameters: list[Parameter] = []
    for types, attributes in zip(flat, argument_attributes, strict=True):
        for position, type in enumerate(types):
            texts = _pointer_attributes(attributes, noalias=noalias) if type == "ptr" and position == 0 else ""
            parameters.append(Parameter(type, f"%a{len(parameters)}", texts))
    names = [parameter.name for parameter in parameters]
    parameters.append(Parameter("ptr", "%arena", "align 64"))
    parameters.append(Parameter("ptr", "%frame", "align 64"))
    return parameters, names


def _pointer_attributes(attributes: DictionaryAttr, *, noalias: bool) -> str:
    texts = ["noalias"] if noalias else []
    divisibility = attributes.data.get(DIVISIBILITY_ATTRIBUTE)
    if isinstance(divisibility, IntegerAttr) and divisibility.value.data % 16 == 0:
        texts.append("align 16")
    return " ".join(texts)
