"""From PTX text to `syntax.Module`: what LLVM's NVPTX back end prints, and inline assembly in it."""

from __future__ import annotations

import re
import struct
from dataclasses import field
from typing import cast

from tilewright.support.ptx.syntax import (
    Address,
    Function,
    Immediate,
    Instruction,
    Module,
    Negated,
    Operand,
    Pair,
    Parameter,
    Register,
    Symbol,
    Variable,
    Vector,
)
from tilewright.support.ptx.tokens import Cursor, Token, tokenize
from tilewright.support.records import dataclass
from tilewright.support.spans import Span

SPACES = (".global", ".const", ".shared")
FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"([^"]*)"(?:\s+"([^"]*)")?', re.MULTILINE)
SECTION = re.compile(r"^\s*\.section\b", re.MULTILINE)
LINKAGE = (".visible", ".extern", ".weak", ".common")


def bits_of_type(name: str) -> int:
    """The width of a type, `.b32`; 1 for a predicate, 0 where it is none."""
    if name == ".pred":
        return 1
    digits, _, lanes = name[2:].partition("x")
    if name[1:2] not in ("b", "u", "s", "f") or not digits.isdigit():
        return 0
    return int(digits) * (int(lanes) if lanes.isdigit() else 1)


def parse_ptx(text: str) -> Module:
    """A module. Raises PtxSyntaxError."""
    files = {int(number): _path(first, second) for number, first, second in FILE.findall(text)}
    section = SECTION.search(text)
    return _Parser(tokenize(text[: section.start()] if section else text), text.splitlines(), files).module()


def _path(first: str, second: str) -> str:
    return f"{first}/{second}" if second else first


@dataclass
class _Scope:
    """Names between braces."""

    outer: _Scope | None = None
    registers: dict[str, Register] = field(default_factory=dict[str, Register])
    labels: dict[str, int] = field(default_factory=dict[str, int])
    tables: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """Lists of labels."""

    def find_register(self, name: str) -> Register | None:
        scope: _Scope | None = self
        while scope is not None:
            found = scope.registers.get(name)
            if found is not None:
                return found
            scope = scope.outer
        return None

    def find_label(self, name: str) -> int | None:
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.labels:
                return scope.labels[name]
            scope = scope.outer
        return None

    def find_table(self, name: str) -> tuple[int | None, ...]:
        """The labels in a list; empty if there is no such list."""
        scope: _Scope | None = self
        while scope is not None:
            if name in scope.tables:
                return tuple(map(scope.find_label, scope.tables[name]))
            scope = scope.outer
        return ()


class _Parser(Cursor):
    def __init__(self, tokens: list[Token], lines: list[str], files: dict[int, str]) -> None:
        super().__init__(tokens)
        self.lines = lines
        self.files = files
        self.result = Module()
        self.scope = _Scope()
        self.place: Span | None = None
        self.jumps: list[tuple[Instruction, str, _Scope]] = []

    def module(self) -> Module:
        while self.position < len(self.tokens):
            self._directive()
        return self.result

    def _directive(self) -> None:
        linkage: list[str] = []
        while self.peek().text in LINKAGE:
            linkage.append(self.take().text)
        word = self.take().text
        if word == ".target":
            self.result.target = self.take().text
            self.skip_line()
        elif word in (".entry", ".func"):
            self._function(is_kernel=word == ".entry")
        elif word in SPACES:
            variable = self._variable(word[1:], is_extern=".extern" in linkage)
            self.result.variables[variable.name] = variable
        elif word in (".version", ".address_size", ".file", ".loc", ".alias", ".pragma"):
            self.skip_line()
        else:
            self.position -= 1
            self.fail(f"expected a directive, got '{word}'")

    def _variable(self, space: str, *, is_extern: bool = False) -> Variable:
        """Return what follows `.global`: `.align 4 .b8 name[16] = {1, 2};`"""
        alignment, element = 1, 8
        name = ""
        while not name:
            token = self.take()
            if token.text == ".align":
                alignment = self.integer()
            elif token.text == ".attribute":
                self.skip_past(")")
            elif token.text.startswith(".") and bits_of_type(token.text):
                element = max(8, bits_of_type(token.text))
            elif token.kind == "word":
                name = token.text
        count = 1
        while self.accept("["):
            count *= 0 if self.peek().text == "]" else self.integer()
            self.expect("]")
        contents, references = b"", ()
        if self.accept("="):
            contents, references = self._contents(element // 8)
        self.expect(";")
        size = count * element // 8
        return Variable(
            name, space, size, max(alignment, element // 8), contents.ljust(size, b"\0"), references, is_extern
        )

    def _contents(self, size: int) -> tuple[bytes, tuple[tuple[int, str, int], ...]]:
        """The bytes of an initialiser, and the addresses in it."""
        contents = bytearray()
        references: list[tuple[int, str, int]] = []
        depth = 0
        while True:
            token = self.peek()
            if token.text == ";":
                return bytes(contents), tuple(references)
            if token.text in ("{", "}", ",", "(", ")"):
                depth += {"{": 1, "}": -1}.get(token.text, 0)
                self.take()
            elif token.kind == "word":
                name = self.take().text
                if name == "generic":
                    continue
                offset = self.integer() if self.accept("+") else 0
                references.append((len(contents), name, offset))
                contents += bytes(size)
            else:
                value = cast(Immediate, self._constant())
                contents += (value.value & ((1 << 8 * size) - 1)).to_bytes(size, "little")

    def _function(self, *, is_kernel: bool) -> None:
        results = self._parameters() if self.peek().text == "(" else []
        name = self.take().text
        parameters = self._parameters() if self.peek().text == "(" else []
        function = Function(name, is_kernel, parameters, results)
        while self.peek().text not in ("{", ";"):
            if self.take().text == ".reqntid":
                threads = self.integer()
                while self.accept(","):
                    threads *= self.integer()
                function.required_threads = threads
        if self.accept(";"):
            function.is_declaration = True
            self.result.functions.setdefault(name, function)
            return
        self.result.functions[name] = function
        self.expect("{")
        self._body(function)

    def _parameters(self) -> list[Parameter]:
        self.expect("(")
        found: list[Parameter] = []
        while not self.accept(")"):
            found.append(self._parameter())
            self.accept(",")
        return found

    def _parameter(self) -> Parameter:
        """`.param .u64 .ptr .global .align 1 name` or `.param .align 64 .b8 name[128]`"""
        self.expect(".param") if self.peek().text == ".param" else self.expect(".reg")
        alignment, element, is_pointer = 1, 8, False
        while True:
            token = self.take()
            if token.text == ".align":
                value = self.integer()
                alignment = alignment if is_pointer else value
            elif token.text == ".ptr":
                is_pointer = True
            elif bits_of_type(token.text) and not is_pointer:
                element = max(8, bits_of_type(token.text))
            elif not token.text.startswith("."):
                break
        count = 1
        if self.accept("["):
            count = 0 if self.peek().text == "]" else self.integer()
            self.expect("]")
        return Parameter(token.text, count * element // 8, max(alignment, element // 8))

    def _body(self, function: Function) -> None:
        outermost = self.scope = _Scope()
        self.place = None
        self.jumps = []
        while True:
            token = self.peek()
            if token.text == "}":
                self.take()
                if self.scope is outermost:
                    break
                assert self.scope.outer is not None
                self.scope = self.scope.outer
            elif token.text == "{":
                self.take()
                self.scope = _Scope(self.scope)
            elif token.text == ";":
                self.take()
            elif token.text.startswith("."):
                self._local_directive(function)
            elif self.position + 1 < len(self.tokens) and self.tokens[self.position + 1].text == ":":
                self.scope.labels[token.text] = function.labels[token.text] = len(function.body)
                self.position += 2
                if self.accept(".branchtargets"):
                    self._label_table(token.text)
            else:
                function.body.append(self._instruction())
        for instruction, label, scope in self.jumps:
            if instruction.name == "brx":
                instruction.targets = scope.find_table(label)
            else:
                instruction.target = scope.find_label(label)

    def _label_table(self, name: str) -> None:
        """`name: .branchtargets A, B;`"""
        labels = self.scope.tables[name] = list[str]()
        while not self.accept(";"):
            labels.append(self.take().text)
            self.accept(",")

    def _local_directive(self, function: Function) -> None:
        word = self.take().text
        if word == ".loc":
            self._location(self.skip_line())
        elif word == ".reg":
            self._registers()
        elif word in (".local", ".shared"):
            variable = self._variable(word[1:])
            if word == ".local":
                function.locals.append(variable)
            else:
                self.result.variables[variable.name] = variable
        elif word in (".pragma", ".param", ".callprototype"):
            self.skip_past(";")
        else:
            self.position -= 1
            self.fail(f"unexpected directive '{word}'")

    def _location(self, tokens: list[Token]) -> None:
        """`.loc 1 75 25`: file, line, column; line 0 is not a place in the source."""
        numbers = [int(token.text) for token in tokens[:3] if token.kind == "number"]
        if len(numbers) < 3 or not numbers[1]:
            return
        self.place = Span(self.files.get(numbers[0], f"file {numbers[0]}"), numbers[1], numbers[2])

    def _registers(self) -> None:
        """`.reg .b32 %r<21>;` or `.reg .pred p, q;`"""
        bits = bits_of_type(self.take().text)
        if bits not in (1, 8, 16, 32, 64):
            self.fail(f"registers of type '{self.tokens[self.position - 1].text}' are not supported")
        while True:
            name = self.take().text
            if self.accept("<"):
                count = self.integer()
                self.expect(">")
                for index in range(count):
                    self._declare(f"{name}{index}", bits)
            else:
                self._declare(name, bits)
            if not self.accept(","):
                break
        self.expect(";")

    def _declare(self, name: str, bits: int) -> None:
        self.scope.registers[name] = Register(len(self.result.registers), bits)
        self.result.registers.append(bits)

    def _instruction(self) -> Instruction:
        guard, negated = None, False
        line = self.line()
        if self.accept("@"):
            negated = self.accept("!")
            name = self.take().text
            guard = self.scope.find_register(name)
            if guard is None:
                self.fail(f"'{name}' is not a register")
        opcode = self.take()
        if opcode.kind != "word":
            self.position -= 1
            self.fail(f"expected an instruction, got '{opcode.text}'")
        operands: list[Operand] = []
        while not self.accept(";"):
            operands.append(self._operand())
            self.accept(",")
        text = self.lines[opcode.line - 1].strip()
        made = Instruction(opcode.text, tuple(operands), line, text, self.place, guard, negated)
        if made.name in ("bra", "brx") and operands and isinstance(operands[-1], Symbol):
            self.jumps.append((made, operands[-1].name, self.scope))
        return made

    def _operand(self) -> Operand:
        token = self.peek()
        match token.text:
            case "[":
                return self._address()
            case "{" | "(":
                return self._vector()
            case "!":
                self.take()
                inner = self._operand()
                if not isinstance(inner, Register):
                    self.fail("expected a predicate after '!'")
                return Negated(inner)
            case _:
                first = self._value()
        if self.accept("|"):
            return Pair(first, self._value())
        return first

    def _value(self) -> Operand:
        """A register, a constant, or a name with an offset."""
        token = self.peek()
        if token.kind != "word":
            return self._constant()
        name = self.take().text
        register = self.scope.find_register(name)
        if register is not None:
            return register
        if self.peek().text == "+":
            self.take()
            return Symbol(name, self.integer())
        return Symbol(name)

    def _constant(self) -> Operand:
        token = self.peek()
        if token.kind == "float":
            self.take()
            return Immediate(int(token.text[2:], 16), 32 if token.text[1] in "fF" else 64)
        negative = self.accept("-")
        if self.peek().kind == "real":
            number = float(self.take().text)
            return Immediate(int.from_bytes(struct.pack("<d", -number if negative else number), "little"), 64)
        value = self.integer()
        return Immediate(-value if negative else value)

    def _vector(self) -> Vector:
        closing = {"{": "}", "(": ")"}[self.take().text]
        items: list[Operand] = []
        while not self.accept(closing):
            items.append(self._operand())
            self.accept(",")
        return Vector(tuple(items))

    def _address(self) -> Address:
        self.expect("[")
        base = self._value()
        offset, further = 0, []
        if isinstance(base, Symbol):
            base, offset = Symbol(base.name), base.offset
        while self.peek().text in ("+", "-"):
            self.accept("+")
            offset += self.integer()
        found: list[Operand] = further
        while self.accept(","):
            found.append(self._operand())
        self.expect("]")
        return Address(base, offset, tuple(found))
