"""`triton-sanitize`: checks before each access; they stop the grid with a report in place of a crash.

What each check finds is defined in docs/correctness.md. The checks are ordinary ops, so that every engine runs them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import field
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr, i8, i32, i64
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects import tt
from tilewright.dialects.tt.types import pointer_type
from tilewright.ir.builder import OpBuilder
from tilewright.ir.locations import find_call_sites, find_span
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.support.records import dataclass
from tilewright.support.sanitizing import BOUNDS, Extra, Plan, Site
from tilewright.transforms.sanitize.accesses import Access, describe_access
from tilewright.transforms.sanitize.emission import Emitter
from tilewright.transforms.sanitize.initialisation import Initialisation
from tilewright.transforms.sanitize.races import Races
from tilewright.transforms.sanitize.roots import Extent, Extents

PLAN_ATTRIBUTE = "tilewright.sanitizer"
"""Of a sanitised kernel: its plan, as JSON."""

_SHADOWS = {"table": i64, "writers": i32, "readers": i32, "atomics": i32, "written": i8}


@dataclass
class Kernel:
    """A kernel that checks are put into."""

    function: tt.FuncOp
    arguments: int = 0
    extras: list[Extra] = field(default_factory=list[Extra])
    sites: list[Site] = field(default_factory=list[Site])
    _shadows: dict[Extra, SSAValue] = field(default_factory=dict[Extra, SSAValue])

    def __post_init__(self) -> None:
        self.arguments = len(self.function.body.blocks[0].args)

    def extra(self, kind: str, argument: int = -1, element_bytes: int = 0) -> SSAValue:
        """A further argument, added on first need."""
        extra = Extra(kind, argument, element_bytes)
        if extra not in self._shadows:
            block = self.function.body.blocks[0]
            self.extras.append(extra)
            self._shadows[extra] = block.insert_arg(pointer_type(_SHADOWS[kind]), len(block.args))
        return self._shadows[extra]

    def site(self, check: str, access: Access, argument: int) -> int:
        """The number of a new site."""
        span = find_span(access.op.location)
        place = (span.filename, span.line, span.col) if span is not None else ("", 0, 0)
        callers = tuple((call.filename, call.line, call.col) for call in find_call_sites(access.op.location))
        self.sites.append(Site(check, access.kind, argument, access.shape, access.element_bytes, *place, callers))
        return len(self.sites) - 1

    def finish(self) -> None:
        """Bring the signature up to date and leave the plan on the function."""
        function = self.function
        types: Sequence[Attribute] = [argument.type for argument in function.body.blocks[0].args]
        function.properties["function_type"] = FunctionType.from_lists(types, function.function_type.outputs.data)
        if function.arg_attrs is not None:
            added = [DictionaryAttr({})] * len(self.extras)
            function.properties["arg_attrs"] = ArrayAttr([*function.arg_attrs.data, *added])
        plan = Plan(tuple(self.extras), tuple(self.sites), self.arguments)
        function.attributes[PLAN_ATTRIBUTE] = StringAttr(json.dumps(plan.to_json()))


@register_pass
class SanitizePass(Pass):
    """Guards every access of a kernel with the requested checks. Runs after triton-to-unstructured.

    Before:
    ```mlir
    %v = "tts.load"(%p, %n) ... // %p = tts.make_tptr %x to sizes: [64], strides: [1], offsets: [%o], ...
    ```
    After (bounds):
    ```mlir
    %last = arith.addi %o, %n - 1
    %out = %o < %low or %last >= %high, and %n > 0
    scf.if %out {
      %key = ...                                   // lane and offset of the first lane that is outside
      scf.if (%key names a lane) { fill in the report in %table; tt.assert false }
    }
    %v = "tts.load"(%p, %n) ...
    ```
    """

    name = "triton-sanitize"

    bounds: bool = True
    """Accesses outside the storage of the argument that the address derives from."""
    race: bool = False
    """Two programs that touch one element, one of them writing, and not both by atomics."""
    init: bool = False
    """Reads of memory that nothing wrote, and stores of lanes without a value."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        called = {op.callee.string_value() for op in ops_within(module) if isinstance(op, tt.CallOp)}
        for function in list(module.body.block.ops):
            if isinstance(function, tt.FuncOp) and function.body.blocks:
                if function.is_public and function.sym_name.data not in called:
                    self._sanitize(function, context)
                else:
                    self._leave(function, context)

    def _leave(self, function: tt.FuncOp, context: PassContext) -> None:
        for op in function.walk():
            if describe_access(op) is not None:
                context.remark(op, "not sanitised: it is in a function that is not inlined")

    def _sanitize(self, function: tt.FuncOp, context: PassContext) -> None:
        kernel = Kernel(function)
        table = kernel.extra("table")
        # First, because it gives loops and branches further results.
        lanes = Initialisation(kernel, table, function) if self.init else None
        extents = Extents(function, table)
        accesses: list[tuple[Access, Extent, SSAValue | None]] = []
        for op in ops_within(function):
            access = describe_access(op)
            if access is None:
                continue
            if isinstance(access, str):
                context.remark(op, f"not sanitised: {access}")
                continue
            found = extents.find(access.base)
            if found is None:
                context.remark(op, "not sanitised: its address does not derive from an argument")
                continue
            accesses.append((access, *found))
        races = Races(kernel, table, [access for access, _, _ in accesses], extents) if self.race else None
        for access, extent, offset in accesses:
            e = Emitter(OpBuilder.before(access.op))
            if self.bounds:
                _check_bounds(e, kernel, table, access, extent, offset)
            if races is not None:
                races.check(e, access, extent, offset)
            if lanes is not None:
                lanes.check(e, access, extent, offset)
        kernel.finish()


def _check_bounds(
    e: Emitter, kernel: Kernel, table: SSAValue, access: Access, extent: Extent, offset: SSAValue | None
) -> None:
    """A cheap test that no bad access passes; where it fails, each lane is looked at."""
    low, high = extent.low, extent.high
    if offset is not None:
        moved = e.wide(offset)
        low, high = e.sub(low, moved), e.sub(high, moved)
    suspect = e.when(access.may_leave(e, low, high))
    places = access.offsets(suspect)
    bad = suspect.both(_outside(suspect, places, low, high), access.live(suspect))
    assert bad is not None
    key = suspect.first_key(bad, places if offset is None else suspect.add(places, suspect.wide(offset)))
    suspect.report_if(key, table, kernel.site(BOUNDS, access, extent.argument))


def _outside(e: Emitter, offsets: SSAValue, low: SSAValue, high: SSAValue) -> SSAValue:
    bad = e.either(e.compare("slt", offsets, low), e.compare("sge", offsets, high))
    assert bad is not None
    return bad


def find_plan(module: ModuleOp) -> dict[str, Any] | None:
    """The plan of the sanitised kernel of a module, as JSON holds it."""
    for op in module.body.block.ops:
        plan = op.attributes.get(PLAN_ATTRIBUTE)
        if isinstance(plan, StringAttr):
            return json.loads(plan.data)
    return None
