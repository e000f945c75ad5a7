"""Excerpts with carets, and the messages of errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright.support.errors import (
    ArgumentError,
    ArgumentTypeError,
    CompilationError,
    CompileTimeAssertionFailure,
    Note,
    OutOfResources,
    ParseError,
    PassError,
    StageContractError,
    TilewrightError,
    UnsupportedLanguageConstruct,
    VerifyError,
)
from tilewright.support.spans import Span, render_caret, render_message


def test_caret_underlines_the_columns() -> None:
    assert render_caret("x = tl.load(p)", 5, 12) == "    x = tl.load(p)\n        ^^^^^^^"


def test_caret_has_at_least_one_column() -> None:
    assert render_caret("abc", 2, indent="").split("\n")[1] == " ^"


def test_caret_stands_under_text_behind_tabs() -> None:
    shown, carets = render_caret("\tx = y", 6, 7, indent="").split("\n")
    assert shown == "    x = y"
    assert carets.index("^") == shown.index("y")


def test_caret_past_the_end_points_behind_the_line() -> None:
    assert render_caret("ab", 9, 12, indent="") == "ab\n  ^"


def test_caret_without_column_is_the_line() -> None:
    assert render_caret("ab", 0, indent="") == "ab"


@pytest.mark.parametrize("col", [1, 500, 1000])
def test_of_a_long_line_the_part_around_the_caret_is_shown(col: int) -> None:
    line = "x" * (col - 1) + "y" + "x" * (1000 - col)
    shown, carets = render_caret(line, col, 2000, indent="").split("\n")
    assert len(shown) < 220 and len(carets) <= len(shown)
    assert carets.index("^") == shown.index("y")
    assert shown.startswith("...") is (col > 1) and shown.endswith("...") is (col < 1000)


def test_message_reads_the_source_line_from_the_file(tmp_path: Path) -> None:
    file = tmp_path / "kernel.py"
    file.write_text("first\nsecond line\n")
    text = render_message("error", "no good", Span(str(file), 2, 8, 12), hint="try harder")
    assert text == f"{file}:2:8: error: no good\n    second line\n           ^^^^\nhint: try harder"


def test_message_without_source_is_one_line() -> None:
    assert render_message("error", "no good", Span("gone.py", 3)) == "gone.py:3: error: no good"


def test_compilation_error_shows_call_sites() -> None:
    error = CompilationError(
        "expected a pointer",
        filename="k.py",
        line=4,
        col=9,
        end_col=10,
        source_line="    tl.load(x)",
        hint="pass x_ptr",
    )
    error.add_note_at("called from here", Span("k.py", 9, 5), "    helper(x)")
    assert str(error) == (
        "k.py:4:9: error: expected a pointer\n"
        "        tl.load(x)\n"
        "            ^\n"
        "hint: pass x_ptr\n"
        "k.py:9:5: note: called from here\n"
        "        helper(x)\n"
        "        ^"
    )
    assert (error.filename, error.line, error.col, error.end_col) == ("k.py", 4, 9, 10)


def test_note_renders_without_a_place() -> None:
    assert Note("while inlining").render() == "note: while inlining"


@pytest.mark.parametrize("subclass", [UnsupportedLanguageConstruct, CompileTimeAssertionFailure])
def test_frontend_errors_are_compilation_errors(subclass: type[CompilationError]) -> None:
    with pytest.raises(CompilationError, match="why"):
        raise subclass("why")


def test_parse_error_is_located() -> None:
    error = ParseError("'=' expected", filename="a.mlir", line=1, col=4, source_line="%0 arith")
    assert str(error) == "a.mlir:1:4: error: '=' expected\n    %0 arith\n       ^"


def test_op_errors_name_pass_op_and_place() -> None:
    error = PassError("too wide", pass_name="coalesce", op_name="tt.load", location=Span("k.py", 3, 2))
    assert str(error) == "k.py:3:2: error: pass coalesce, 'tt.load': too wide"
    assert str(VerifyError("bad", op_name="tt.dot")) == "error: 'tt.dot' op bad"
    assert isinstance(StageContractError("x"), PassError)


def test_pass_error_tells_how_to_replay() -> None:
    error = PassError("boom", pass_name="p", reproducer="/tmp/r.mlir")
    assert str(error).endswith("note: replay with: tilewright-opt --run-reproducer /tmp/r.mlir")


def test_argument_errors_fit_the_python_classes() -> None:
    error = ArgumentTypeError("x_ptr", "is a list", "an array", kernel="add")
    assert isinstance(error, TypeError)
    assert isinstance(error, ArgumentError)
    assert str(error) == "kernel 'add', argument 'x_ptr': is a list; expected an array"


def test_out_of_resources_states_the_numbers() -> None:
    error = OutOfResources(300000, 232448, "shared memory")
    assert "required: 300000, hardware limit: 232448" in str(error)
    assert isinstance(error, TilewrightError)
