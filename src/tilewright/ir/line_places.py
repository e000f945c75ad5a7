"""Printed IR line by line, each line with the places in source files that it comes from.

%x_3 = tt.load %x_2, %mask : tensor<64x!tt.ptr<f32>>        kernel.py:15, called from kernel.py:9
"""

from __future__ import annotations

from itertools import pairwise

from xdsl.ir import Operation, SSAValue

from tilewright.ir.aliases import join_pieces
from tilewright.ir.locations import find_spans
from tilewright.ir.naming import ValueNames
from tilewright.ir.printing import MLIRPrinter
from tilewright.support.records import dataclass
from tilewright.support.spans import Span


@dataclass(frozen=True)
class PrintedLine:
    """One line of printed IR. `places` is empty where nothing is known; the innermost comes first."""

    text: str
    places: tuple[Span, ...] = ()


def print_lines(op: Operation, names: ValueNames | None = None) -> list[PrintedLine]:
    """The lines of `print_op`, without the table of locations. A line on which no op begins or ends (the arguments of
    a block, say) has the places of the line before it. `names` are used in place of those that values would get."""
    printer = _MarkingPrinter()
    printer.names = names or ValueNames(op, from_locations=True)
    printer.print_op(op)
    text = printer.text()
    lines = text.splitlines()
    number = len(lines) - _newlines(join_pieces(printer.pieces)) - 1  # aliases are defined in front
    places: dict[int, tuple[Span, ...]] = {}
    ends = [0, *(position for position, _ in printer.marks)]
    for (start, end), (_, marked) in zip(pairwise(ends), printer.marks, strict=True):
        number += _newlines(join_pieces(printer.pieces[start:end]))
        places[number] = find_spans(marked.location)
    known: tuple[Span, ...] = ()
    printed: list[PrintedLine] = []
    for index, line in enumerate(lines):
        known = places.get(index, known)
        printed.append(PrintedLine(line, known))
    return printed


class _MarkingPrinter(MLIRPrinter):
    """Notes which op the text is of: where one begins, and where one with regions ends."""

    def __init__(self) -> None:
        super().__init__()
        self.marks: list[tuple[int, Operation]] = []

    def print_op(self, op: Operation) -> None:
        self.marks.append((len(self.pieces), op))
        super().print_op(op)
        if op.regions:
            self.marks.append((len(self.pieces), op))


def _newlines(text: str) -> int:
    return text.count("\n")


class LastingNames:
    """Names that values keep from print to print, so that two texts of one module differ where the module does.

    Printed alone, a module's values are numbered: when the first one goes, all others get another number.
    """

    def __init__(self) -> None:
        self._values: dict[SSAValue, str] = {}
        self._headers: dict[Operation, str] = {}
        self._taken: set[str] = set()
        self._counts: dict[str, int] = {}

    def of(self, op: Operation) -> ValueNames:
        """The names of all values below an op: those from before, and new ones that nothing was called yet."""
        names = ValueNames(op, from_locations=True)
        for value, name in names.values.items():
            if value in self._values:
                continue
            owner = value.owner
            if isinstance(owner, Operation) and owner in names.headers:
                self._name_results(owner, names)
            else:
                self._values[value] = f"%{self._fresh(name[1:])}"
        names.values = {value: self._values[value] for value in names.values}
        names.headers = {owner: self._headers[owner] for owner in names.headers}
        return names

    def _name_results(self, op: Operation, names: ValueNames) -> None:
        """Name the results of `%a, %b:2 = ...`, each group once."""
        parts = [part.partition(":") for part in names.headers[op].split(", ")]
        groups = {base: f"%{self._fresh(base[1:])}" for base, _, _ in parts}
        self._headers[op] = ", ".join(f"{groups[base]}{colon}{count}" for base, colon, count in parts)
        for result in op.results:
            base, mark, number = names.values[result].partition("#")
            self._values[result] = f"{groups[base]}{mark}{number}"

    def _fresh(self, wanted: str) -> str:
        """A name that was never given: `x`, then `x_1`, `x_2`; numbers go on."""
        stem = "" if wanted.isdigit() else _without_number(wanted)
        name = stem
        while not name or name in self._taken:
            count = self._counts[stem] = self._counts.get(stem, -1 if not stem else 0) + 1
            name = f"{stem}_{count}" if stem else str(count)
        self._taken.add(name)
        return name


def _without_number(name: str) -> str:
    """`x_3` without the number that made it unique."""
    stem, _, number = name.rpartition("_")
    return stem if stem and number.isdigit() else name
