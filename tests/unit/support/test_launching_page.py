"""docs/switches.md is what the table of switches says; docs/launching.md leaves no option, error or command out."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from tilewright import knobs
from tilewright.compiler.options import OPTION_NAMES, REFUSED
from tilewright.support import errors
from tilewright.tools.cli import make_parser

DOCS = Path(__file__).parents[3] / "docs"
LAUNCHING = (DOCS / "launching.md").read_text()

ELSEWHERE = {
    "TilewrightError", "Note", "LocatedError", "LocatedOpError", "UnsupportedLanguageConstruct",
    "CompileTimeAssertionFailure", "ParseError", "VerifyError", "PassError", "StageContractError", "PipelineError",
    "KnobError", "ArgumentError", "DeviceError", "ValidationError", "Iterable", "Span",
}  # fmt: skip
"""Bases, and what launches do not raise."""


def test_switches() -> None:
    page = (DOCS / "switches.md").read_text()
    command = "python -c 'from tilewright import knobs; print(knobs.render_page(), end=\"\")' > docs/switches.md"
    assert page == knobs.render_page(), f"run: {command}"


def test_no_other_module_reads_variables_of_ours() -> None:
    source = DOCS.parent / "src" / "tilewright"
    readers = [
        path.relative_to(source).as_posix()
        for path in source.rglob("*.py")
        if "os.environ" in path.read_text() and path.name != "knobs.py"
    ]
    allowed = {"tools/bisect.py", "codegen/nvptx/libdevice.py", "support/disk_cache.py"}
    allowed.add("compat/children.py")  # hands PYTHONPATH on
    allowed.add("compat/native/libtriton/__init__.py")  # programs name the variables
    allowed.add("support/knob_groups.py")  # variables of Triton's that name classes and places
    allowed.add("targets/cpu/nativert.py")  # CC and CXX name compilers everywhere
    assert set(readers) <= allowed, "variables belong into support/knobs.py"


@pytest.mark.parametrize("name", sorted(OPTION_NAMES | REFUSED.keys()))
def test_options(name: str) -> None:
    assert f"`{name}`" in LAUNCHING


def test_errors() -> None:
    found = {name for name, item in inspect.getmembers(errors, inspect.isclass) if item.__module__ == errors.__name__}
    missing = {name for name in found - ELSEWHERE if f"`{name}`" not in LAUNCHING}
    assert not missing


def test_commands_say_what_they_do() -> None:
    shown = make_parser().format_help()
    for command in ("run", "compile", "cache", "layout", "validate", "fuzz", "reduce", "bisect", "knobs"):
        assert f"    {command} " in shown
