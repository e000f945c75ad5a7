"""Splits an LLVM module into several, which are compiled in parallel and linked.

```llvm
define internal void @large(ptr %p) noinline { ... }     ; a module by itself, hidden in place of internal
define void @kernel() { ... call void @large(ptr %p) }   ; the first module, which declares @large
```

Micro-kernels are such functions: their modules are the same in all kernels that call them, and compiled once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from tilewright.codegen.llvm_text import ModuleText

_INTERNAL, _HIDDEN = "define internal ", "define hidden "
_CALLED = re.compile(r"@(?:[\w.$-]+|\"[^\"]+\")\(")
"""What a call, a declaration and the head of a definition have in them."""


def separated(module: ModuleText, least: int) -> list[str]:
    """The text of each module: one for everything that stays together, then one for each function of at least so many
    characters that is never inlined and needs no globals."""
    apart = {name for name, text in module.definitions.items() if len(text) >= least and _stands_alone(text)}
    if not apart:
        return [str(module)]
    inlined = {name for name, text in module.definitions.items() if "alwaysinline" in _head(text)}
    together = [name for name in module.definitions if name not in apart | inlined]
    first = _text_of(module, together, inlined, module.globals)
    return [first, *(_text_of(module, [name], inlined, ()) for name in module.definitions if name in apart)]


def _text_of(module: ModuleText, names: Iterable[str], inlined: set[str], lines: Iterable[str]) -> str:
    """The module of some functions and globals, with what is inlined into these, and with declarations of others."""
    definitions = {_callee(text): name for name, text in module.definitions.items()}
    kept = {name: _seen_by_others(module.definitions[name]) for name in names}
    pending = list(kept)
    called: dict[str, None] = {}
    while pending:
        calls = dict.fromkeys(_CALLED.findall(module.definitions[pending.pop()]))
        called.update(calls)
        new = [name for name in map(definitions.get, calls) if name in inlined and name not in kept]
        kept.update({name: module.definitions[name] for name in new})
        pending.extend(new)
    declarations = {_callee(line): line for line in module.declarations.values()}
    declarations |= {callee: _declaration(module.definitions[name]) for callee, name in definitions.items()}
    needed = (declarations[callee] for callee in called if definitions.get(callee) not in kept)
    return module.text_of([*lines, *needed, *kept.values()])


def _head(definition: str) -> str:
    """The first line of a function."""
    return definition.partition("\n")[0]


def _callee(line: str) -> str:
    """Return what is in calls of the function that a text begins with."""
    match = _CALLED.search(line)
    assert match is not None, line
    return match.group()


def _stands_alone(definition: str) -> bool:
    """Return whether a function is never inlined, and what it names are functions that it calls."""
    head = _head(definition)
    only_calls = definition.count("@") == len(_CALLED.findall(definition))
    return head.startswith(_INTERNAL) and "noinline" in head and only_calls


def _seen_by_others(definition: str) -> str:
    """A function as one that the other modules may call."""
    return _HIDDEN + definition.removeprefix(_INTERNAL) if definition.startswith(_INTERNAL) else definition


def _declaration(definition: str) -> str:
    """The line that says of a function that another module has it."""
    return _head(_seen_by_others(definition)).removesuffix(" {").replace("define", "declare", 1)
