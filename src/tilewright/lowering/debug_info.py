"""Source lines: from the locations of ops to LLVM's debug metadata, which becomes ``.loc`` lines in PTX and the line
table of a CPU's object.

Only line tables are written: an op's innermost place in a source file. An op that came from another file than its
function (an inlined helper) gets a scope of that file.
"""

from __future__ import annotations

import os
from enum import Enum

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, Operation

from tilewright.codegen.llvm_text import ModuleText
from tilewright.ir.locations import find_span
from tilewright.support.spans import Span


class Emission(Enum):
    """What LLVM makes of the lines."""

    NOTHING = ""
    DIRECTIVES = "DebugDirectivesOnly"
    """``.loc`` in assembly: PTX has no place for more."""
    LINE_TABLES = "LineTablesOnly"
    """Sections that debuggers and profilers read."""


_VERSION_FLAG = '!{i32 2, !"Debug Info Version", i32 3}'


class DebugInfo:
    """The line table of one module. Nothing is written until a function begins with `begin_function`."""

    def __init__(self, text: ModuleText, emission: Emission) -> None:
        self._text = text
        self._emission = emission
        self._unit = ""
        self._subprograms: dict[str, tuple[str, str]] = {}
        self._suffixes: dict[tuple[str, Attribute], str] = {}
        self._last: dict[str, str] = {}

    def begin_function(self, name: str, location: LocationAttr) -> str:
        """The ``!dbg`` attribute of a function's definition; empty where its place is unknown."""
        span = find_span(location)
        if span is None or self._emission is Emission.NOTHING:
            return ""
        file = self._file(span.filename)
        if not self._unit:
            self._unit = self._text.metadata(
                f'!DICompileUnit(language: DW_LANG_C, file: {file}, producer: "tilewright", isOptimized: true, '
                f"runtimeVersion: 0, emissionKind: {self._emission.value})",
                distinct=True,
            )
            self._text.add_named_metadata("llvm.dbg.cu", self._unit)
            self._text.add_named_metadata("llvm.module.flags", self._text.metadata(_VERSION_FLAG))
        types = self._text.metadata("!{}")
        signature = self._text.metadata(f"!DISubroutineType(cc: DW_CC_normal, types: {types})")
        subprogram = self._text.metadata(
            f'!DISubprogram(name: "{name}", linkageName: "{name}", scope: {file}, file: {file}, line: {span.line}, '
            f"type: {signature}, scopeLine: {span.line}, spFlags: DISPFlagDefinition | DISPFlagOptimized, "
            f"unit: {self._unit})",
            distinct=True,
        )
        self._subprograms[name] = (subprogram, span.filename)
        self._last[name] = self._suffix(name, span)
        return f"!dbg {subprogram}"

    def suffix(self, op: Operation, function: str) -> str:
        """Return what ends the instructions of an op: ``, !dbg !9``. An op of unknown place continues the one
        before.
        """
        if function not in self._subprograms:
            return ""
        key = (function, op.location)
        found = self._suffixes.get(key)
        if found is None:
            span = find_span(op.location)
            found = self._last[function] if span is None else self._suffix(function, span)
            if span is not None:
                self._suffixes[key] = found
        self._last[function] = found
        return found

    def _suffix(self, function: str, span: Span) -> str:
        scope, filename = self._subprograms[function]
        if span.filename != filename:
            file = self._file(span.filename)
            scope = self._text.metadata(f"!DILexicalBlockFile(scope: {scope}, file: {file}, discriminator: 0)")
        location = f"!DILocation(line: {span.line}, column: {max(span.col, 0)}, scope: {scope})"
        return f", !dbg {self._text.metadata(location)}"

    def _file(self, filename: str) -> str:
        directory, name = os.path.split(filename)
        return self._text.metadata(f'!DIFile(filename: "{_quoted(name)}", directory: "{_quoted(directory)}")')


def _quoted(text: str) -> str:
    return text.replace("\\", "\\5C").replace('"', "\\22")
