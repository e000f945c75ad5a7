"""Helpers of the tt tests: parsing, and official Triton as an oracle where it is installed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import textwrap
from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import make_context
from tilewright.ir.parsing import parse_module

ORACLE = textwrap.dedent(
    """
    import sys, tempfile, os
    from triton._C.libtriton import ir, passes
    separator = "\\n// =====\\n"
    answers = []
    for job in sys.stdin.read().split(separator):
        names, _, text = job.partition("\\n")
        context = ir.context()
        ir.load_dialects(context)
        with tempfile.NamedTemporaryFile("w", suffix=".mlir", delete=False) as file:
            file.write(text)
        try:
            module = ir.parse_mlir_module(file.name, context)
            if names.strip():
                manager = ir.pass_manager(context)
                for name in names.split():
                    group, _, method = name.partition(".")
                    getattr(getattr(passes, group), "add_" + method)(manager)
                manager.run(module, "test")
            answers.append(module.str_nodebug())
        except RuntimeError as error:
            answers.append("ERROR " + str(error))
        os.unlink(file.name)
    sys.stdout.write(separator.join(answers))
    """
)
SEPARATOR = "\n// =====\n"

Oracle = Callable[[list[tuple[str, str]]], list[str]]


@pytest.fixture(scope="session")
def triton_oracle() -> Oracle:
    """`oracle([(passes, text), ..])`: what official Triton prints for each text after its passes, or `ERROR ..`.

    A process of its own, as bad IR can abort the library."""
    if importlib.util.find_spec("triton") is None:
        pytest.skip("the official triton package is not installed")

    def run(jobs: list[tuple[str, str]]) -> list[str]:
        request = SEPARATOR.join(f"{names}\n{text}" for names, text in jobs)
        answer = subprocess.run(
            [sys.executable, "-c", ORACLE], input=request, capture_output=True, text=True, check=False
        )
        assert answer.returncode == 0, answer.stderr[-2000:]
        return answer.stdout.split(SEPARATOR)

    return run


@pytest.fixture
def parse() -> Callable[[str], ModuleOp]:
    """Parses text with all dialects loaded."""
    return lambda text: parse_module(text, make_context())
