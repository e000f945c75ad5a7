"""Helpers of the transform tests: parsing and running passes on text, and official Triton as an oracle."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import make_context
from tilewright.ir.parsing import parse_module
from tilewright.ir.passes import PassContext, parse_pipeline
from tilewright.ir.verify import verify_module

TRITON = textwrap.dedent(
    """
    import sys
    from triton._C.libtriton import ir, passes
    context = ir.context()
    ir.load_dialects(context)
    module = ir.parse_mlir_module(sys.argv[1], context)
    manager = ir.pass_manager(context)
    for name in sys.argv[2:]:
        group, _, method = name.partition(".")
        getattr(getattr(passes, group), "add_" + method)(manager)
    manager.run(module, "test")
    print(module.str_nodebug())
    """
)


@pytest.fixture
def parse() -> Callable[[str], ModuleOp]:
    """Parses text with all dialects loaded."""
    return lambda text: parse_module(text, make_context())


@pytest.fixture
def run() -> Callable[[ModuleOp, str], PassContext]:
    """Runs a pipeline on a module, verifies the result and returns the context with its remarks."""

    def run_pipeline(module: ModuleOp, pipeline: str) -> PassContext:
        context = parse_pipeline(pipeline).run(module)
        verify_module(module)
        return context

    return run_pipeline


@pytest.fixture(scope="session")
def triton_passes() -> Callable[..., str]:
    """`triton_passes(text, "ttir.combine", ..)`: the text after official Triton's passes."""
    if importlib.util.find_spec("triton") is None:
        pytest.skip("the official triton package is not installed")

    def run_passes(text: str, *names: str) -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "input.mlir")
            path.write_text(text, encoding="utf-8")
            answer = subprocess.run(
                [sys.executable, "-c", TRITON, str(path), *names], capture_output=True, text=True, check=False
            )
        assert answer.returncode == 0, answer.stderr[-2000:]
        return answer.stdout

    return run_passes
