"""PTX as data: modules, functions, variables, instructions and their operands."""

from __future__ import annotations

from dataclasses import field
from functools import cache

from tilewright.support.records import dataclass
from tilewright.support.spans import Span


@dataclass(frozen=True, slots=True)
class Register:
    """A virtual register: its number in the module, and bits (1 for a predicate)."""

    number: int
    bits: int


@dataclass(frozen=True, slots=True)
class Immediate:
    """A constant: `bits` of a float of that width, or an integer (`width` 0)."""

    value: int
    width: int = 0


@dataclass(frozen=True, slots=True)
class Symbol:
    """A variable, function, label or special register, and an offset in bytes."""

    name: str
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Address:
    """`[base+offset]`, with the further operands that some instructions have inside of the brackets."""

    base: Operand
    offset: int = 0
    further: tuple[Operand, ...] = ()


@dataclass(frozen=True, slots=True)
class Vector:
    """`{a, b}`, and the parenthesised lists of calls."""

    items: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """`d|p`: two results."""

    first: Operand
    second: Operand


@dataclass(frozen=True, slots=True)
class Negated:
    """`!p`"""

    predicate: Register


Operand = Register | Immediate | Symbol | Address | Vector | Pair | Negated


@cache
def _parts(opcode: str) -> tuple[str, tuple[str, ...]]:
    """The first part of an opcode, and the others. A module has thousands of instructions and some dozen opcodes."""
    first, *others = opcode.split(".")
    return first, tuple(others)


@dataclass(slots=True)
class Instruction:
    """One instruction with its guard (`@p` or `@!p`); `target` is the index of the label that it names, `targets` are
    those of the labels in the table that it chooses from (`brx.idx`)."""

    opcode: str
    operands: tuple[Operand, ...]
    line: int
    text: str
    place: Span | None = None
    guard: Register | None = None
    guard_negated: bool = False
    target: int | None = None
    targets: tuple[int | None, ...] = ()

    @property
    def name(self) -> str:
        """The first part of the opcode."""
        return _parts(self.opcode)[0]

    @property
    def modifiers(self) -> tuple[str, ...]:
        """The other parts of the opcode."""
        return _parts(self.opcode)[1]


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable in a state space: where it lies is decided by whoever loads the module."""

    name: str
    space: str
    size: int
    alignment: int
    contents: bytes = b""
    references: tuple[tuple[int, str, int], ...] = ()
    """Addresses within the contents: byte, symbol, offset."""
    is_extern: bool = False


@dataclass(slots=True)
class Parameter:
    """A formal parameter: bytes, alignment."""

    name: str
    size: int
    alignment: int


@dataclass(slots=True)
class Function:
    """A kernel or a device function. `labels` are indices of instructions."""

    name: str
    is_kernel: bool
    parameters: list[Parameter]
    results: list[Parameter]
    body: list[Instruction] = field(default_factory=list[Instruction])
    labels: dict[str, int] = field(default_factory=dict[str, int])
    locals: list[Variable] = field(default_factory=list[Variable])
    required_threads: int | None = None
    is_declaration: bool = False


@dataclass(slots=True)
class Module:
    """A PTX module. `registers` are the bits of every register of every function."""

    target: str = ""
    functions: dict[str, Function] = field(default_factory=dict[str, Function])
    variables: dict[str, Variable] = field(default_factory=dict[str, Variable])
    registers: list[int] = field(default_factory=list[int])
