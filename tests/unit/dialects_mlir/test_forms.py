"""Every form of every MLIR op we know, as mlir-opt 22 prints it: read, verified and printed again to the letter.

``forms/*.mlir`` hold mlir-opt's own output, pieces separated by ``// -----``. Where mlir-opt is installed the tests
also ask it: it has to
accept what we print, custom and generic, and print the same.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import DIALECTS, load_dialect, make_context
from tilewright.ir.parsing import parse_module
from tilewright.ir.printing import print_op
from tilewright.ir.verify import verify_module

FORMS = Path(__file__).parent / "forms"
SEPARATOR = "\n// -----\n"
MLIR_OPT = shutil.which("mlir-opt") or shutil.which("/usr/lib/llvm-22/bin/mlir-opt")

PIECES = [
    pytest.param(piece.strip() + "\n", id=f"{path.stem}-{number}")
    for path in sorted(FORMS.glob("*.mlir"))
    for number, piece in enumerate(path.read_text(encoding="utf-8").split(SEPARATOR))
]
OWN_DIALECTS = ("linalg_ext", "ptr", "tptr", "tt", "tts", "ttx")
"""Dialects that mlir-opt does not know."""
MEMOIZING = ("linalg.matvec", "linalg.mmt4d")
"""Of ops like these upstream's generic form shows the maps that it has computed, as an attribute."""


def read(text: str) -> ModuleOp:
    module = parse_module(text, make_context())
    verify_module(module)
    return module


@pytest.mark.parametrize("piece", PIECES)
def test_custom_form_round_trips(piece: str) -> None:
    assert print_op(read(piece)) == piece


@pytest.mark.parametrize("piece", PIECES)
def test_generic_form_carries_everything(piece: str) -> None:
    generic = print_op(read(piece), generic=True)
    again = read(generic)
    assert print_op(again, generic=True) == generic
    assert print_op(again) == piece


def test_every_op_has_a_form() -> None:
    shown = {op.name for piece in PIECES for op in read(str(piece.values[0])).walk()}
    known = {
        op.name
        for name in DIALECTS
        if name not in (*OWN_DIALECTS, "gluon", "gpu", "llvm", "ttg", "ttng")  # Triton's own have round trips of theirs
        for op in load_dialect(name).operations
    }
    assert not known - shown


def mlir_opt(text: str, *flags: str) -> str:
    assert MLIR_OPT is not None
    done = subprocess.run(
        [MLIR_OPT, "--split-input-file", *flags], input=text, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.costly
@pytest.mark.skipif(MLIR_OPT is None, reason="mlir-opt is not installed")
@pytest.mark.parametrize("generic", [False, True], ids=["custom", "generic"])
def test_upstream_reads_what_we_print(generic: bool) -> None:
    pieces = [str(piece.values[0]) for piece in PIECES]
    pieces = [piece for piece in pieces if not generic or not any(name in piece for name in MEMOIZING)]
    ours = [print_op(read(piece), generic=generic) for piece in pieces]
    flags = ["--mlir-print-op-generic"] if generic else []
    theirs = mlir_opt(SEPARATOR.join(ours), *flags).split("// -----\n")
    assert [piece.strip() for piece in theirs] == [piece.strip() for piece in ours]
