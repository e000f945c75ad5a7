"""Names of values and blocks in printed IR, chosen as upstream MLIR chooses them.

Results are numbered; some ops give theirs a telling name instead (`%c0`, `%cst`, `%alloc`), made unique by a suffix
(`%cst_0`). Arguments are `%arg0`, blocks `^bb1`. Numbers run through a region and go on in the regions inside it;
sibling regions reuse them.

An op class of ours asks for names with two class variables, tuples of strings: `ASM_RESULT_NAMES` for its results and
`ASM_ARGUMENT_NAMES` for the arguments of its entry blocks (the last name repeats).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, IntegerType, MemRefType, StringAttr, SymbolRefAttr, i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tilewright.ir.locations import find_name
from tilewright.support.records import dataclass

_RESULT_NAMES: dict[str, tuple[str, ...]] = {
    "arith.mulsi_extended": ("low", "high"),
    "arith.mului_extended": ("low", "high"),
    "arith.addui_extended": ("sum", "overflow"),
    "memref.assume_alignment": ("assume_align",),
    "memref.alloc": ("alloc",),
    "memref.alloca": ("alloca",),
    "memref.cast": ("cast",),
    "memref.collapse_shape": ("collapse_shape",),
    "memref.dim": ("dim",),
    "memref.expand_shape": ("expand_shape",),
    "memref.extract_aligned_pointer_as_index": ("intptr",),
    "memref.memory_space_cast": ("memspacecast",),
    "memref.realloc": ("realloc",),
    "memref.reinterpret_cast": ("reinterpret_cast",),
    "memref.reshape": ("reshape",),
    "memref.subview": ("subview",),
    "memref.transpose": ("transpose",),
    "memref.view": ("view",),
    "tensor.cast": ("cast",),
    "tensor.collapse_shape": ("collapsed",),
    "tensor.concat": ("concat",),
    "tensor.dim": ("dim",),
    "tensor.expand_shape": ("expanded",),
    "tensor.extract": ("extracted",),
    "tensor.extract_slice": ("extracted_slice",),
    "tensor.from_elements": ("from_elements",),
    "tensor.gather": ("gather",),
    "tensor.generate": ("generated",),
    "tensor.insert": ("inserted",),
    "tensor.insert_slice": ("inserted_slice",),
    "tensor.pad": ("padded",),
    "tensor.rank": ("rank",),
    "tensor.reshape": ("reshape",),
    "tensor.scatter": ("scatter",),
    "tensor.splat": ("splat",),
    "linalg.broadcast": ("broadcasted",),
    "linalg.map": ("mapped",),
    "linalg.reduce": ("reduced",),
    "linalg.transpose": ("transposed",),
    "vector.deinterleave": ("res1", "res2"),
    "vector.scan": ("dest", "accumulated_value"),
    "tt.split": ("outLHS", "outRHS"),
    "math.sincos": ("sin", "cos"),
    "vector.vscale": ("vscale",),
}
"""Result names that upstream's ops ask for; only the first result of `linalg.reduce` is named."""


_NUMBERS = re.compile(r"(_\d+)+")


def hint_value(value: SSAValue, name: str) -> None:
    """Name a value after a variable, as far as such names go.

    xDSL takes ASCII alone, and a number at the end for its own, which it drops: of `_1`, and of a copy of `_1_0`, it
    would keep the empty text and not take that for a name.
    """
    value.name_hint = name if name.isascii() and not _NUMBERS.fullmatch(name) else None


def _value_attribute(op: Operation) -> Attribute | None:
    """The `value` of a constant (tested for None: a zero counts as false)."""
    value = op.properties.get("value")
    return op.attributes.get("value") if value is None else value


def _name_constant(op: Operation) -> list[tuple[int, str]]:
    value = _value_attribute(op)
    if not isinstance(value, IntegerAttr):
        return [(0, "cst")]
    number = value.value.data
    type: Any = value.get_type()
    if not isinstance(type, IntegerType):
        return [(0, f"c{number}")]
    if type == i1:
        return [(0, "true" if number else "false")]
    return [(0, f"c{number}_{type}")]


def _name_symbol_constant(op: Operation) -> list[tuple[int, str]]:
    value = _value_attribute(op)
    return [(0, value.root_reference.data)] if isinstance(value, SymbolRefAttr) else []


def _name_gpu_index(op: Operation) -> list[tuple[int, str]]:
    dimension = op.properties.get("dimension")
    suffix = dimension.data if isinstance(dimension, StringAttr) else str(getattr(dimension, "data", ""))
    return [(0, f"{op.name.removeprefix('gpu.')}_{suffix}")]


def _name_strided_metadata(op: Operation) -> list[tuple[int, str]]:
    source: Attribute = op.operands[0].type
    rank = source.get_num_dims() if isinstance(source, MemRefType) else 0
    names = [(0, "base_buffer"), (1, "offset")]
    return [*names, (2, "sizes"), (2 + rank, "strides")] if rank else names


_RESULT_NAMERS: dict[str, Callable[[Operation], list[tuple[int, str]]]] = {
    "arith.constant": _name_constant,
    "func.constant": _name_symbol_constant,
    "gpu.thread_id": _name_gpu_index,
    "gpu.block_id": _name_gpu_index,
    "gpu.block_dim": _name_gpu_index,
    "gpu.grid_dim": _name_gpu_index,
    "memref.extract_strided_metadata": _name_strided_metadata,
}
"""Names that depend on the op; pairs of the first result of a group and its name."""

_IN_OUT = frozenset({"linalg.generic"})
_IN_INIT = frozenset({"linalg.map", "linalg.reduce"})


def _argument_names(op: Operation, count: int) -> Sequence[str]:
    """Names that an op asks for the arguments of its entry blocks; empty for `%arg0`, `%arg1`, ..."""
    declared: tuple[str, ...] = getattr(type(op), "ASM_ARGUMENT_NAMES", ())
    if declared:
        return [declared[min(index, len(declared) - 1)] for index in range(count)]
    if op.name in _IN_OUT:
        outputs = len(getattr(op, "outputs", ()))
        return ["in"] * (count - outputs) + ["out"] * outputs
    if op.name in _IN_INIT:
        outputs = len(getattr(op, "outputs", ()))
        return ["in"] * (count - outputs) + ["init"] * outputs
    return ()


def _result_groups(op: Operation) -> list[tuple[int, str]]:
    declared: tuple[str, ...] = getattr(type(op), "ASM_RESULT_NAMES", ()) or _RESULT_NAMES.get(op.name, ())
    if declared:
        return list(enumerate(declared[: len(op.results)]))
    namer = _RESULT_NAMERS.get(op.name)
    return [] if namer is None else namer(op)


_INVALID = re.compile(r"[^A-Za-z0-9_$.\-]")


def sanitize_name(name: str) -> str:
    """A name as an SSA identifier: blanks become underscores, other odd characters their hexadecimal code."""
    text = _INVALID.sub(lambda match: "_" if match[0] == " " else f"{ord(match[0]):X}", name)
    return f"_{text}" if text[:1].isdigit() else text


@dataclass
class _Scope:
    """Counters and names at a point of the walk; a nested region starts from a copy and sees the names around it."""

    values: int = 0
    arguments: int = 0
    conflicts: int = 0
    names: set[str] = field(default_factory=set[str])
    outer: _Scope | None = None

    def nested(self) -> _Scope:
        return _Scope(self.values, self.arguments, self.conflicts, set(), self)

    def has(self, name: str) -> bool:
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.names:
                return True
            scope = scope.outer
        return False

    def unique(self, wanted: str) -> str:
        name = wanted = sanitize_name(wanted)
        while self.has(name):
            name = f"{wanted}_{self.conflicts}"
            self.conflicts += 1
        self.names.add(name)
        return name

    def number(self) -> str:
        self.values += 1
        return str(self.values - 1)


class ValueNames:
    """The names of all values and blocks below an op."""

    def __init__(self, root: Operation, *, special: bool = True, from_locations: bool = False) -> None:
        """With `special` off (generic form) everything is numbered; `from_locations` prefers the variable names that
        `NameLoc`s carry, as Triton prints its IR."""
        self.values: dict[SSAValue, str] = {}
        """Value to its use, e.g. ``%0``, ``%cst``, ``%4#1``."""
        self.headers: dict[Operation, str] = {}
        """Op with several results to the left side of its line, e.g. ``%4:2``."""
        self.blocks: dict[Block, str] = {}
        self.block_order: dict[Block, int] = {}
        self._special = special
        self._from_locations = from_locations
        scope = _Scope()
        self._name_results(root, scope)
        self._name_regions(root.regions, scope)

    def of_unknown(self, value: SSAValue) -> str:
        """A name for a value from outside of the printed op."""
        name = self.values[value] = f"%outside_{len(self.values)}"
        return name

    def _name_regions(self, regions: Sequence[Region], outer: _Scope) -> None:
        """Name the regions inside of another. Each starts from the counters of the region around it, except in
        generic form: there numbers are unique in the whole module, and counted from the last region to the first."""
        for region in reversed(regions):
            scope = outer.nested()
            self._name_region(region, scope)
            if not self._special:
                outer.values, outer.arguments = scope.values, scope.arguments

    def _name_region(self, region: Region, scope: _Scope) -> None:
        inner: list[Region] = []
        for index, block in enumerate(region.blocks):
            self.blocks[block] = f"bb{index}"
            self.block_order[block] = index
            if block.args:
                self._name_arguments(block, scope, is_entry=index == 0)
            for op in block.ops:
                if op.results:
                    self._name_results(op, scope)
                if op.regions:
                    inner.extend(op.regions)
        self._name_regions(inner, scope)

    def _name_arguments(self, block: Block, scope: _Scope, *, is_entry: bool) -> None:
        parent = block.parent_op()
        asked = _argument_names(parent, len(block.args)) if self._special and is_entry and parent is not None else ()
        for index, argument in enumerate(block.args):
            from_location = find_name(argument.location) if self._from_locations else None
            if asked:
                name = scope.unique(from_location or asked[index])
            elif is_entry:
                name = scope.unique(from_location or f"arg{scope.arguments}")
                scope.arguments += 1
            else:
                name = scope.unique(from_location) if from_location else scope.number()
            self.values[argument] = f"%{name}"

    def _name_results(self, op: Operation, scope: _Scope) -> None:
        results = op.results
        if not results:
            return
        groups = _result_groups(op) if self._special else []
        if self._from_locations and (variable := find_name(op.location)) is not None:
            groups = [(start, variable) for start, _ in groups] or [(0, variable)]
        names = [(start, scope.unique(wanted)) for start, wanted in groups]
        if not names or names[0][0] != 0:
            names.insert(0, (0, scope.number()))
        if len(results) == 1:
            self.values[results[0]] = f"%{names[0][1]}"
            return
        self._name_groups(op, names)

    def _name_groups(self, op: Operation, names: list[tuple[int, str]]) -> None:
        """Give ``%a, %b:2`` to three results, with uses ``%a``, ``%b#0`` and ``%b#1``."""
        results = op.results
        parts: list[str] = []
        for position, (start, name) in enumerate(names):
            end = names[position + 1][0] if position + 1 < len(names) else len(results)
            if end - start == 1:
                parts.append(f"%{name}")
                self.values[results[start]] = f"%{name}"
                continue
            parts.append(f"%{name}:{end - start}")
            for index in range(start, end):
                self.values[results[index]] = f"%{name}#{index - start}"
        self.headers[op] = ", ".join(parts)
