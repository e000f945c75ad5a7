"""Machine texts line by line with the source lines that they come from: LLVM IR by its debug metadata, assembly and PTX
by their ``.loc`` directives. What only says so is left out of the text.

```asm
    .loc    1 14 5                     ; not shown
    vmulps  %ymm0, %ymm1, %ymm2        ; kernel.py:14
```
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tilewright.ir.line_places import PrintedLine
from tilewright.support.spans import Span

Places = tuple[Span, ...]
Chains = Mapping[tuple[str, int, int], Places]
"""From a file, a line and a column to all places that an op there comes from, those of calls included."""

_DEBUG_SUFFIX = ", !dbg "
_LOCATION = re.compile(r"!(\d+) = !DILocation\(line: (\d+), column: (\d+), scope: !(\d+)")
_SCOPE = re.compile(r"!(\d+) = (?:distinct )?!DI(?:Subprogram|LexicalBlockFile)\(.*?\bfile: !(\d+)")
_FILE = re.compile(r'!(\d+) = !DIFile\(filename: "([^"]*)", directory: "([^"]*)"')
_DEBUG_NODE = re.compile(r"!(?:\d+ = (?:distinct )?!DI|llvm\.dbg\.cu|\d+ = !\{i32 \d, !\"Debug Info Version\")")
_TEMPORARY = re.compile(r"(?:\.L|\$L__)(?:tmp|func_(?:begin|end)|sec_end|debug_\w*)\d*:|\$L__info_string\d+:")
_FUNCTION_DEBUG = re.compile(r" !dbg !\d+(?= \{$)")


def chains_of(lines: Iterable[PrintedLine]) -> dict[tuple[str, int, int], Places]:
    """The places of the last IR before it became a machine's, by the innermost."""
    chains: dict[tuple[str, int, int], Places] = {}
    for line in lines:
        if line.places:
            first = line.places[0]
            key = (first.filename, first.line, first.col)
            chains[key] = tuple(dict.fromkeys((*chains.get(key, ()), *line.places)))
    return chains


def read_machine_text(name: str, text: str, chains: Chains) -> Sequence[PrintedLine]:
    """The lines of `llir`, or of an assembly text."""
    return tuple(_read_llir(text, chains) if name == "llir" else _read_assembly(text, chains))


def _places(filename: str, line: int, column: int, chains: Chains) -> Places:
    if not line:
        return ()
    return chains.get((filename, line, column)) or (Span(filename, line, column),)


def _read_llir(text: str, chains: Chains) -> Iterator[PrintedLine]:
    lines = text.splitlines()
    nodes = "\n".join(line for line in lines if line.startswith("!"))
    files: dict[str, str] = {number: os.path.join(directory, name) for number, name, directory in _FILE.findall(nodes)}
    scopes: dict[str, str] = {number: files.get(file, "") for number, file in _SCOPE.findall(nodes)}
    places = {
        number: _places(scopes.get(scope, ""), int(line), int(column), chains)
        for number, line, column, scope in _LOCATION.findall(nodes)
    }
    for line in lines:
        code, mark, number = line.rpartition(_DEBUG_SUFFIX)
        if mark and number.startswith("!"):
            yield PrintedLine(code, places.get(number[1:], ()))
        elif not _DEBUG_NODE.match(line):
            yield PrintedLine(_FUNCTION_DEBUG.sub("", line))


def _read_assembly(text: str, chains: Chains) -> Iterator[PrintedLine]:
    split = [(line, *_first_word(line)) for line in text.splitlines()]
    files = dict(_file_of(rest) for _, word, rest in split if word == ".file" and rest[:1].isdigit())
    place: Places = ()
    is_debug = False
    for line, word, rest in split:
        if word == ".section" or word in (".text", ".data", ".bss"):
            is_debug = rest.strip().strip('"').startswith(".debug")
        if word == ".file" and rest[:1].isdigit():
            continue
        if word == ".loc":
            number, line_number, column = rest.replace(",", " ").split()[:3]
            place = _places(files.get(number, ""), int(line_number), int(column), chains)
        elif not (is_debug or word.startswith(".cfi_") or _TEMPORARY.match(line.strip())):
            if line[:1].strip() and line.rstrip().endswith(":") and not line.startswith((".L", "$L")):
                place = ()  # a function begins
            is_code = bool(word) and word not in ("{", "}", ")") and word[0] not in ".#/" and not word.endswith(":")
            yield PrintedLine(line, place if is_code else ())


def _first_word(line: str) -> tuple[str, str]:
    word, _, rest = line.strip().replace("\t", " ", 1).partition(" ")
    return word, rest.strip()


def _file_of(rest: str) -> tuple[str, str]:
    """Number and path from the rest of a ``.file`` directive, which PTX has at its end: one name there; directory and
    name in assembly, then a checksum."""
    number, _, names = rest.replace("\t", " ").partition(" ")
    quoted = names.split('"')[1::2]
    return number, os.path.join(*quoted[:2]) if len(quoted) > 1 else quoted[0]
