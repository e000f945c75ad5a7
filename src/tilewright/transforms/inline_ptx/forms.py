"""Instructions as rules see them: operands as terms, and the parts of the opcode that the rule has to account for.

```python
@means("bfind")
def find_highest_bit(form: Form) -> Result:
    type_ = form.type()
    from_top = form.takes("shiftamt")
    ...
```

A rule takes every part of the opcode that it honours. One that is left is a part that nobody knows, and the program
stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import NoReturn

from tilewright.support.ptx.syntax import Immediate, Instruction, Negated, Operand, Register, Symbol, Vector
from tilewright.support.ptx.types import Type, immediate_bits, parse_type
from tilewright.support.records import dataclass
from tilewright.transforms.inline_ptx.numbers import Numbers
from tilewright.transforms.inline_ptx.terms import Term


class NotLaneWise(Exception):
    """Why inline assembly stays as it is."""


@dataclass
class Registers:
    """What the registers of a program hold. One that was not written yet holds 0."""

    terms: Numbers
    values: dict[int, Term] = field(default_factory=dict[int, Term])
    carry: Term | None = None
    """The condition code of `add.cc` and its like."""

    def read(self, register: Register) -> Term:
        """The bits of a register."""
        found = self.values.get(register.number)
        return self.terms.constant(0, register.bits) if found is None else found


Result = Term | Sequence[Term] | None
"""What a rule gives: the value of the first operand, or of each of several results."""

Rule = Callable[["Form"], Result]
RULES: dict[str, Rule] = {}
"""By the first part of the opcode."""


def means(*names: str) -> Callable[[Rule], Rule]:
    """Register the rule of instructions."""

    def register(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, rule))
        return rule

    return register


def element_name(type_: Type) -> str:
    """The type of terms: that of the elements of packed types."""
    match type_.kind:
        case "f" | "tf":
            return f"f{type_.bits}"
        case "bf":
            return "bf16"
        case "e4m3":
            return "f8E4M3FN"
        case "e5m2":
            return "f8E5M2"
        case "p":
            return "i1"
        case _:
            return f"i{type_.bits}"


class Form:
    """An instruction, what it reads, and the parts of its opcode that are not taken yet."""

    def __init__(self, instruction: Instruction, registers: Registers) -> None:
        self.instruction = instruction
        self.name = instruction.name
        self.operands = instruction.operands
        self.registers = registers
        self.terms = registers.terms
        self.parts = list(instruction.modifiers)

    def fail(self, reason: str) -> NoReturn:
        """Leave the program as it is."""
        raise NotLaneWise(f"'{self.instruction.opcode}' {reason}")

    # The opcode

    def take(self, *names: str) -> str:
        """The first of these parts that the opcode has, which is taken; else nothing."""
        for part in self.parts:
            if part in names:
                self.parts.remove(part)
                return part
        return ""

    def takes(self, name: str) -> bool:
        """Return whether the opcode has this part, which is taken."""
        return bool(self.take(name))

    def types(self, count: int) -> list[Type]:
        """The types in the opcode, which are taken."""
        found = [(part, type_) for part in self.parts if (type_ := parse_type(part)) is not None]
        if len(found) != count:
            self.fail(f"has {len(found)} types where {count} are known")
        for part, _ in found:
            self.parts.remove(part)
        return [type_ for _, type_ in found]

    def type(self) -> Type:
        """The only type in the opcode."""
        return self.types(1)[0]

    def check_all_taken(self) -> None:
        """Refuse the instruction if parts of its opcode are left."""
        if self.parts:
            self.fail(f"has a part that is not known, '.{self.parts[0]}'")

    # Operands

    def operand(self, position: int) -> Operand:
        """An operand, the result being the first."""
        if position >= len(self.operands):
            self.fail("has too few operands")
        return self.operands[position]

    def check_operands(self, *counts: int) -> None:
        """Refuse the instruction if it has another number of operands."""
        if len(self.operands) not in counts:
            self.fail(f"has {len(self.operands)} operands")

    def word(self, operand: Operand, width: int) -> Term:
        """An operand as an integer; of a wider register the low bits."""
        match operand:
            case Register():
                if operand.bits < width:
                    self.fail(f"reads {width} bits of a register of {operand.bits}")
                return self.terms.field(self.registers.read(operand), 0, width)
            case Immediate():
                return self.terms.constant(immediate_bits(operand, width), width)
            case Negated(predicate=predicate):
                return self.terms.inverted(self.word(predicate, width))
            case Vector(items=items):
                each = width // len(items)
                return self.terms.word([self.word(item, each) for item in items])
            case Symbol(name=name):
                return self.fail(f"reads '{name}', which is not a register of the program")
            case _:
                return self.fail("reads memory")

    def source(self, position: int, type_: Type) -> Term:
        """An operand of a type of one element."""
        return self.terms.bitcast(self.word(self.operand(position), type_.total_bits), element_name(type_))

    def sources(self, start: int, count: int, type_: Type) -> list[Term]:
        """Several operands of a type."""
        return [self.source(position, type_) for position in range(start, start + count)]

    def predicate(self, position: int) -> Term:
        """An operand that is a predicate."""
        operand = self.operand(position)
        register = operand.predicate if isinstance(operand, Negated) else operand
        if not isinstance(register, Register) or register.bits != 1:
            self.fail("needs a predicate")
        return self.word(operand, 1)

    def constant(self, position: int) -> int:
        """An operand that has to be written as a number."""
        operand = self.operand(position)
        if not isinstance(operand, Immediate) or operand.width:
            self.fail("needs a number that is known")
        return operand.value

    def lanes(self, position: int, type_: Type) -> list[Term]:
        """The elements of an operand of a packed type, the lowest first."""
        word = self.word(self.operand(position), type_.total_bits)
        return self.split(word, type_)

    def split(self, word: Term, type_: Type) -> list[Term]:
        """The elements in a word, the lowest first."""
        name, width = element_name(type_), type_.bits
        return [self.terms.bitcast(self.terms.field(word, lane * width, width), name) for lane in range(type_.lanes)]

    def by_lane(self, type_: Type, count: int, compute: Callable[..., Term]) -> Term:
        """A function of `count` elements on each of the packed elements of operands, as one word."""
        columns = [self.lanes(position + 1, type_) for position in range(count)]
        return self.terms.word([self.terms.bits(compute(*lane)) for lane in zip(*columns, strict=True)])
