"""`docs/language.md` says what the docstrings say, and everything has one."""

from __future__ import annotations

from pathlib import Path

import tilewright.language as tl
from tilewright.language.callables import JITCallable
from tilewright.language.documentation import render
from tilewright.language.registry import is_builtin

PAGE = Path(__file__).parents[3] / "docs" / "language.md"


def test_page_is_up_to_date() -> None:
    assert PAGE.read_text() == render(), "run: python -m tilewright.language.documentation > docs/language.md"


def test_every_function_is_on_the_page() -> None:
    page = render()
    functions = {name: getattr(tl, name) for name in tl.__all__}
    functions = {name: f for name, f in functions.items() if is_builtin(f) or isinstance(f, JITCallable)}
    functions = {name: f for name, f in functions.items() if name != "builtin"}
    assert len(functions) > 100
    assert not [name for name in functions if f"`tl.{name}(" not in page]
    assert not [name for name, f in functions.items() if len(f.__doc__ or "") < 10]
