"""What official Triton reads and prints: in a process of its own, as bad IR can abort the library."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import textwrap
from collections.abc import Sequence

import pytest

PROGRAM = textwrap.dedent(
    """
    import os, sys, tempfile
    from triton._C.libtriton import ir
    separator = "\\n// =====\\n"
    answers = []
    for text in sys.stdin.read().split(separator):
        context = ir.context()
        ir.load_dialects(context)
        with tempfile.NamedTemporaryFile("w", suffix=".mlir", delete=False) as file:
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


def printed_by_triton(texts: Sequence[str]) -> list[str]:
    """What official Triton prints for each text, or `ERROR ..`; diagnostics go to its standard error."""
    if importlib.util.find_spec("triton") is None:
        pytest.skip("the official triton package is not installed")
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=SEPARATOR.join(texts), capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stderr[-2000:]
    return answer.stdout.split(SEPARATOR)
