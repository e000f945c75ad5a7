"""Writing LLVM IR as text: modules, functions, blocks, phis.

Text is by far the cheapest way to hand instructions to LLVM from Python (half a microsecond an instruction). The writer
owns what is easy to get wrong by hand: fresh names, block labels, phis whose incoming values are not known yet, and
declarations that must appear once. What an instruction looks like is in `instructions`, a constant in `literals`.

```python
module = ModuleText(triple="x86_64-unknown-linux-gnu")
f = FunctionText(module, "twice", "float", [Parameter("float", "%x")])
y = f.binary("fadd", "float", "%x", "%x")
f.ret("float", y)
module.add_function(f)
```
prints

```llvm
define float @twice(float %x) {
entry:
  %v1 = fadd float %x, %x
  ret float %v1
}
```
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import field
from functools import cache

from tilewright.codegen.instructions import Instructions, Operand, Value, checked, overload_of, pointer_in, same_lanes
from tilewright.codegen.literals import string_literal
from tilewright.support.records import dataclass

_PLAIN_NAME = re.compile(r"[A-Za-z$._-][\w$.-]*", re.ASCII)
_DECLARED_NAME = re.compile(r"@([\w.$-]+|\"[^\"]+\")\s*\(")


@cache
def global_name(name: str) -> str:
    """A function's name as LLVM spells it: quoted where it has other characters than an identifier."""
    if _PLAIN_NAME.fullmatch(name):
        return f"@{name}"
    plain = set(range(32, 127)) - set(b'"\\')
    return '@"' + "".join(chr(byte) if byte in plain else f"\\{byte:02X}" for byte in name.encode()) + '"'


@dataclass(frozen=True)
class Parameter:
    """One function parameter: type, register name (with ``%``) and parameter attributes."""

    type: str
    name: str
    attributes: str = ""

    def __str__(self) -> str:
        return f"{self.type} {self.attributes} {self.name}" if self.attributes else f"{self.type} {self.name}"


class Phi:
    """A phi whose incoming pairs are added as their blocks get written; it is rendered when the function is."""

    __slots__ = ("incoming", "name", "type")

    def __init__(self, name: str, type: str) -> None:
        self.name = Operand(name, type)
        self.type = type
        self.incoming: list[tuple[Value, str]] = []

    def add(self, value: Value, label: str) -> None:
        """Control that comes from block `label` brings `value`."""
        self.incoming.append((checked(self.type, value), label))

    def __str__(self) -> str:
        pairs = ", ".join(f"[ {value}, %{label} ]" for value, label in self.incoming)
        return f"  {self.name} = phi {self.type} {pairs}"


@dataclass
class ModuleText:
    """An LLVM module under construction; `str()` of it is the whole text."""

    triple: str = ""
    data_layout: str = ""
    declarations: dict[str, str] = field(default_factory=dict[str, str])
    definitions: dict[str, str] = field(default_factory=dict[str, str])
    globals: list[str] = field(default_factory=list[str])
    attribute_groups: dict[str, int] = field(default_factory=dict[str, int])
    _strings: dict[bytes, str] = field(default_factory=dict[bytes, str])
    _metadata: list[str] = field(default_factory=list[str])
    _metadata_numbers: dict[str, int] = field(default_factory=dict[str, int])
    _named_metadata: dict[str, list[str]] = field(default_factory=dict[str, list[str]])

    def declare(self, declaration: str) -> None:
        """Make sure that the module has a ``declare`` line for the function that the line names."""
        match = _DECLARED_NAME.search(declaration)
        assert match is not None, declaration
        self.declarations.setdefault(match.group(1), declaration)

    def define_once(self, name: str, text: Callable[[], str]) -> None:
        """Add the definition of function `name`, calling `text` for it, unless the module has one."""
        if name not in self.definitions:
            self.definitions[name] = ""  # a definition may ask for others, never for itself
            self.definitions[name] = text()

    def add_function(self, function: FunctionText) -> None:
        """Add a finished function."""
        self.definitions[function.name] = function.text()

    def add_global(self, line: str) -> None:
        """Add a module-level line, such as a global variable."""
        self.globals.append(line)

    def string(self, data: bytes) -> str:
        """The address of a NUL-terminated private constant with these bytes, e.g. ``@.str.0``."""
        name = self._strings.get(data)
        if name is None:
            name = self._strings[data] = f"@.str.{len(self._strings)}"
            literal = string_literal(data + b"\0")
            self.add_global(f"{name} = private unnamed_addr constant [{len(data) + 1} x i8] {literal}")
        return name

    def metadata(self, node: str, *, distinct: bool = False) -> str:
        """The number of a metadata node with this text, e.g. ``!3``; equal nodes are shared unless `distinct`."""
        number = None if distinct else self._metadata_numbers.get(node)
        if number is None:
            number = len(self._metadata)
            self._metadata.append(f"distinct {node}" if distinct else node)
            if not distinct:
                self._metadata_numbers[node] = number
        return f"!{number}"

    def add_named_metadata(self, name: str, node: str) -> None:
        """Add a node (its number, as `metadata` gives it) to a named list such as ``llvm.module.flags``."""
        self._named_metadata.setdefault(name, []).append(node)

    def attributes(self, attributes: str) -> str:
        """The number of an attribute group, e.g. ``#0``."""
        return f"#{self.attribute_groups.setdefault(attributes, len(self.attribute_groups))}"

    def __str__(self) -> str:
        declarations = (line for name, line in self.declarations.items() if name not in self.definitions)
        return self.text_of([*self.globals, *declarations, *self.definitions.values()])

    def text_of(self, lines: Iterable[str]) -> str:
        """A module of these globals, declarations and definitions, for what this one is for."""
        parts: list[str] = []
        if self.data_layout:
            parts.append(f'target datalayout = "{self.data_layout}"')
        if self.triple:
            parts.append(f'target triple = "{self.triple}"')
        parts.extend(lines)
        parts.extend(f"attributes #{number} = {{ {text} }}" for text, number in self.attribute_groups.items())
        parts.extend(f"!{name} = !{{{', '.join(nodes)}}}" for name, nodes in self._named_metadata.items())
        parts.extend(f"!{number} = {node}" for number, node in enumerate(self._metadata))
        return "\n".join(parts) + "\n"


class EntryText(Instructions):
    """The head of a function's entry block, as a place for instructions."""

    def __init__(self, function: FunctionText) -> None:
        self._function = function

    def value(self, instruction: str) -> str:
        """`FunctionText.entry_value`."""
        return self._function.entry_value(instruction)


class FunctionText(Instructions):
    """A function under construction. Instructions go to the end of the current block."""

    def __init__(
        self,
        module: ModuleText,
        name: str,
        result_type: str,
        parameters: Iterable[Parameter],
        *,
        linkage: str = "",
        attributes: str = "",
    ) -> None:
        self.module = module
        self.name = name
        self.result_type = result_type
        self.parameters = tuple(parameters)
        self.linkage = linkage
        self.attributes = attributes
        self.label = "entry"
        """The block that instructions go to now."""
        self.is_terminated = False
        """Whether the current block has its terminator already."""
        self._counter = 0
        self._entry: list[str] = []
        self.entry = EntryText(self)
        self._lines: list[str | Phi] = []

    def fresh(self, hint: str = "v") -> str:
        """A register name that nobody else has."""
        self._counter += 1
        return f"%{hint}{self._counter}"

    def value(self, instruction: str) -> str:
        """Append an instruction with a result; returns the register that holds it."""
        self._counter += 1
        name = f"%v{self._counter}"
        self._lines.append(f"  {name} = {instruction}")
        return name

    def emit(self, instruction: str, result_type: str = "") -> str:
        """Append one instruction line; with a result type, a fresh register receives it and its name is returned."""
        if result_type:
            return self.value(instruction)
        self._lines.append(f"  {instruction}")
        return ""

    def declare(self, declaration: str) -> None:
        """Make sure that the module declares an external function or intrinsic."""
        self.module.declare(declaration)

    def call(self, result_type: str, name: str, arguments: Iterable[tuple[str, Value]], *, flags: str = "") -> Operand:
        """Call an external function or intrinsic, declaring it; `arguments` are (type, operand) pairs, of pointers with
        the alignment that is known (``ptr align 4``)."""
        pairs, callee = tuple(arguments), global_name(name)
        if name not in self.module.declarations:
            types = ", ".join([type.partition(" align ")[0] for type, _ in pairs])
            self.module.declarations[name] = f"declare {result_type} {callee}({types})"
        operands = ", ".join([f"{type} {checked(type.partition(' align ')[0], operand)}" for type, operand in pairs])
        instruction = f"call {flags}{result_type} {callee}({operands})"
        append = self.emit if result_type == "void" else self.value
        return Operand(append(instruction), result_type)

    def store(
        self,
        type: str,
        value: Value,
        pointer: Value,
        *,
        space: int = 0,
        align: int = 0,
        flags: str = "",
        suffix: str = "",
    ) -> None:
        """``store float %x, ptr %p, align 4``; an alignment of 0 is not written."""
        kind = pointer_in(space)
        aligned = f", align {align}" if align else ""
        self.emit(f"store {flags}{type} {checked(type, value)}, {kind} {checked(kind, pointer)}{aligned}{suffix}")

    def masked_load(
        self, type: str, pointer: Value, mask: Value, other: Value = "zeroinitializer", *, align: int
    ) -> Operand:
        """A vector from memory; lanes whose bit is clear read nothing and are of `other`."""
        lanes = [(f"ptr align {align}", pointer), (same_lanes(type, "i1"), mask), (type, other)]
        return self.call(type, f"llvm.masked.load.{overload_of(type)}.p0", lanes)

    def masked_store(self, type: str, value: Value, pointer: Value, mask: Value, *, align: int) -> None:
        """A vector to memory; lanes whose bit is clear write nothing."""
        lanes = [(type, value), (f"ptr align {align}", pointer), (same_lanes(type, "i1"), mask)]
        self.call("void", f"llvm.masked.store.{overload_of(type)}.p0", lanes)

    def prefetch(self, pointer: str, *, level: int, is_written: bool = False) -> None:
        """Ask for a cache line; a level of 3 is the nearest cache."""
        flags = (("i32", str(flag)) for flag in (int(is_written), level, 1))
        self.call("void", "llvm.prefetch.p0", [("ptr", pointer), *flags])

    def scaled(self, value: str, factor: str | int) -> str:
        """`value` * `factor`, of i64; without an instruction where the factor is the number 1."""
        return value if factor == 1 else self.binary("mul", "i64", value, factor)

    def minimum(self, first: Value, second: Value) -> Operand:
        """The smaller one of two signed i64."""
        return self.call("i64", "llvm.smin.i64", [("i64", first), ("i64", second)])

    def maximum(self, first: Value, second: Value) -> Operand:
        """The larger one of two signed i64."""
        return self.call("i64", "llvm.smax.i64", [("i64", first), ("i64", second)])

    def advance(self, pointer: Value, offset: Value) -> Operand:
        """A pointer plus an offset in bytes."""
        return self.address("i8", pointer, offset)

    def alloca(self, type: str, *, align: int = 0) -> Operand:
        """Memory of this call, made at the head of the entry block."""
        suffix = f", align {align}" if align else ""
        return Operand(self.entry_value(f"alloca {type}{suffix}"), "ptr")

    def entry_value(self, instruction: str) -> str:
        """Append an instruction to the head of the entry block (stack slots live there)."""
        name = self.fresh()
        self._entry.append(f"  {name} = {instruction}")
        return name

    def new_label(self, hint: str = "b") -> str:
        """A label for a block that is started later."""
        self._counter += 1
        return f"{hint}{self._counter}"

    def start(self, label: str) -> None:
        """Begin block `label`; the previous one must have ended with a terminator."""
        self._lines.append(f"{label}:")
        self.label = label
        self.is_terminated = False

    def terminate(self, instruction: str) -> None:
        """Append the block's terminator."""
        self._lines.append(f"  {instruction}")
        self.is_terminated = True

    def ret(self, type: str = "void", value: Value = "") -> None:
        """End the function, with a value if it has a result."""
        self.terminate("ret void" if type == "void" else f"ret {type} {checked(type, value)}")

    def unreachable(self) -> None:
        """End the block where control never comes."""
        self.terminate("unreachable")

    def switch(self, type: str, value: Value, default: str, cases: Iterable[tuple[Value, str]]) -> None:
        """End the block with a jump to the label of the case that the value is, or to `default`."""
        table = " ".join(f"{type} {case}, label %{label}" for case, label in cases)
        self.terminate(f"switch {type} {checked(type, value)}, label %{default} [ {table} ]")

    def branch(self, label: str) -> None:
        """End the block with a jump."""
        self.terminate(f"br label %{label}")

    def branch_if(self, condition: str, then: str, otherwise: str, *, metadata: str = "") -> None:
        """End the block with a two-way jump on an i1."""
        suffix = f", {metadata}" if metadata else ""
        self.terminate(f"br i1 {checked('i1', condition)}, label %{then}, label %{otherwise}{suffix}")

    def loop(self, first: str, end: str, step: int | str, body: Callable[[str], None]) -> None:
        """``for i in range(first, end, step): body(i)`` for signed i64 registers or literals; `step` is positive.

        `body` writes the instructions of a step and may start blocks; it ends in a block without a terminator.
        """
        loop, done, before = self.new_label("loop"), self.new_label("done"), self.label
        self.branch_if(self.icmp("slt", "i64", first, end), loop, done)
        self.start(loop)
        counter = self.phi("i64", "i")
        counter.add(first, before)
        body(counter.name)
        following = self.binary("add nsw", "i64", counter.name, step)
        counter.add(following, self.label)
        self.branch_if(self.icmp("slt", "i64", following, end), loop, done)
        self.start(done)

    def phi(self, type: str, hint: str = "v") -> Phi:
        """A phi at this point of the current block, which must have no other instructions before it."""
        phi = Phi(self.fresh(hint), type)
        self._lines.append(phi)
        return phi

    def detached_phi(self, type: str) -> Phi:
        """A phi whose block is started later: `place_phis` puts it there."""
        return Phi(self.fresh(), type)

    def place_phis(self, phis: Iterable[Phi]) -> None:
        """Put detached phis at the start of the current block."""
        self._lines.extend(phis)

    @property
    def length(self) -> int:
        """The number of lines that the function has so far."""
        return len(self._lines)

    def text(self) -> str:
        """The whole definition."""
        parameters = ", ".join(map(str, self.parameters))
        linkage = f"{self.linkage} " if self.linkage else ""
        attributes = f" {self.attributes}" if self.attributes else ""
        head = f"define {linkage}{self.result_type} {global_name(self.name)}({parameters}){attributes} {{"
        return "\n".join([head, "entry:", *self._entry, *map(str, self._lines), "}"])
