"""The C that both targets share: prototypes, and functions that choose a variant by the values of their arguments.

Variants with equal constants are one algorithm: the first one whose promises hold is run. Variants with other constants
(another block size, say) are further algorithms, which the caller chooses by number.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.support.records import dataclass
from tilewright.tools.aot import passing
from tilewright.tools.aot.grid import Grid
from tilewright.tools.aot.signature import Argument
from tilewright.tools.aot.variants import Variant

ALWAYS = "1"
"""The condition of a variant that promises nothing."""

EXTENTS = ("grid_x", "grid_y", "grid_z")


@dataclass(frozen=True)
class CFunction:
    """How the functions of one kernel look in C."""

    base: str
    variants: Sequence[Variant]
    grid: Grid | None
    """The extents, over the arguments; None where the caller gives them."""
    result: str
    """The type that the functions return."""
    refused: str
    """What they return where no variant fits the arguments, or there is no such algorithm."""
    first: str = ""
    """A parameter before all others."""
    pointer: str = ""
    """The type of every pointer; by default one to the element type."""

    def parameters(self) -> str:
        """The parameters of every function."""
        extents = [] if self.grid is not None else [f"uint32_t {extent}" for extent in EXTENTS]
        passed = [text for argument in self._passed() for text in passing.declared(argument, self.pointer)]
        return ", ".join(filter(None, [self.first, *extents, *passed]))

    def passed(self) -> str:
        """The same as arguments of a call."""
        given = [self.first.rpartition(" ")[2].lstrip("*"), *(() if self.grid is not None else EXTENTS)]
        given += [name for argument in self._passed() for name in passing.names(argument)]
        return ", ".join(filter(None, given))

    def _passed(self) -> list[Argument]:
        return [argument for argument in self.variants[0].signature.arguments if argument.is_passed]

    def algorithms(self) -> list[list[Variant]]:
        """The variants with equal constants, the one with the most promises first."""
        groups: dict[tuple[tuple[str, str], ...], list[Variant]] = {}
        for variant in self.variants:
            groups.setdefault(variant.signature.constants, []).append(variant)
        return [sorted(group, key=_promises, reverse=True) for group in groups.values()]

    def prototypes(self) -> str:
        """The declarations for a header."""
        name, parameters = self.base, self.parameters()
        lines = [
            "/* Runs the first variant whose promises the arguments keep. */",
            f"{self.result} {name}({parameters});",
        ]
        lines += ["/* The same for one of several choices of constants, from 0: see the list above. */"]
        lines += [f"{self.result} {name}_algorithm(int algorithm, {parameters});", f"int {name}_num_algorithms(void);"]
        lines += ["/* The variants themselves; each refuses arguments that do not keep its promises. */"]
        lines += [f"{self.result} {variant.name}({parameters});" for variant in self.variants]
        return "\n".join(lines)

    def dispatch(self) -> str:
        """The definitions of the functions that choose."""
        name, parameters, passed = self.base, self.parameters(), self.passed()
        algorithms = self.algorithms()
        text = f"int {name}_num_algorithms(void) {{ return {len(algorithms)}; }}\n\n"
        text += f"{self.result} {name}_algorithm(int algorithm, {parameters}) {{\n  switch (algorithm) {{\n"
        for index, variants in enumerate(algorithms):
            text += f"  case {index}:\n"
            text += "".join(
                f"    if ({self.condition(variant)}) return {variant.name}({passed});\n" for variant in variants
            )
            text += "    break;\n"
        text += f"  default: break;\n  }}\n  return {self.refused};\n}}\n\n"
        return text + f"{self.result} {name}({parameters}) {{ return {name}_algorithm(0, {passed}); }}\n"

    def condition(self, variant: Variant) -> str:
        """Return whether arguments keep a variant's promises."""
        tests = [test for argument in variant.signature.arguments for test in passing.promises(argument)]
        return " && ".join(tests) or ALWAYS

    def check(self, variant: Variant) -> list[str]:
        """The lines that refuse arguments which do not keep a variant's promises."""
        condition = self.condition(variant)
        return [] if condition == ALWAYS else [f"  if (!({condition}))", f"    return {self.refused};"]

    def extents(self, variant: Variant) -> list[str]:
        """The lines that make `tw_grid` of the grid; extents that no grid has are refused."""
        if self.grid is None:
            return [f"  const uint32_t tw_grid[3] = {{{', '.join(EXTENTS)}}};"]
        return [
            f"  const int64_t tw_grid[3] = {{{', '.join(self.grid.in_c(variant.signature))}}};",
            "  for (int tw_axis = 0; tw_axis < 3; tw_axis++)",
            f"    if (tw_grid[tw_axis] < 0 || tw_grid[tw_axis] > INT32_MAX) return {self.refused};",
        ]

    def definitions(self) -> str:
        """Return what the functions use."""
        used = self.grid.definitions() if self.grid is not None else ""
        return f"{used}\n" if used else ""

    def described(self) -> str:
        """A comment that lists algorithms and variants."""
        lines = [f"Algorithms of {self.base}, and the variants of each:"]
        for index, variants in enumerate(self.algorithms()):
            constants = (
                ", ".join(f"{name}={value}" for name, value in variants[0].signature.constants) or "no constants"
            )
            lines.append(f"  {index}: {constants}")
            lines += [f"     {variant.name}: {self.condition(variant)}" for variant in variants]
        return "/* " + "\n * ".join(line.replace("*/", "* /") for line in lines) + "\n */"


def _promises(variant: Variant) -> int:
    return sum(1 for argument in variant.signature.arguments if argument.hint)


def header(guard: str, includes: Sequence[str], body: str) -> str:
    """A header file that C and C++ include."""
    lines = [f"#ifndef {guard}", f"#define {guard}", "", *(f"#include <{include}>" for include in includes), ""]
    lines += ["#ifdef __cplusplus", 'extern "C" {', "#endif", "", body, "", "#ifdef __cplusplus", "}", "#endif"]
    return "\n".join([*lines, "", f"#endif /* {guard} */", ""])


def bytes_text(data: bytes) -> str:
    """Bytes as the elements of a C array, 16 a line."""
    rows = [data[start : start + 16] for start in range(0, len(data), 16)]
    return ",\n".join("  " + ", ".join(f"0x{byte:02x}" for byte in row) for row in rows)
