"""Official Triton as an oracle, in a process of its own, since bad IR can abort the library."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

PROGRAM = textwrap.dedent(
    """
    import os, sys, tempfile
    from triton._C.libtriton import ir
    separator = "\\n// =====\\n"
    answers = []
    for text in sys.stdin.read().split(separator):
        context = ir.context()
        ir.load_dialects(context)
        with tempfile.NamedTemporaryFile("w", suffix=".ttgir", delete=False) as file:
            file.write(text)
        try:
            answers.append(ir.parse_mlir_module(file.name, context).str_nodebug())
        except RuntimeError as error:
            answers.append("ERROR " + str(error))
        os.unlink(file.name)
    sys.stdout.write(separator.join(answers))
    """
)
SEPARATOR = "\n// =====\n"

Oracle = Callable[[Sequence[str]], list[str]]


@pytest.fixture(scope="session")
def oracle() -> Oracle:
    """What official Triton prints for each text, or `ERROR ..`; diagnostics go to its standard error."""
    if importlib.util.find_spec("triton") is None:
        pytest.skip("the official triton package is not installed")

    def ask(texts: Sequence[str]) -> list[str]:
        answer = subprocess.run(
            [sys.executable, "-c", PROGRAM], input=SEPARATOR.join(texts), capture_output=True, text=True, check=False
        )
        assert answer.returncode == 0, answer.stderr[-2000:]
        return answer.stdout.split(SEPARATOR)

    return ask
