"""Kernels written in the cells of a notebook, run by IPython's own shell."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from tilewright.support.errors import CompilationError

IPython = pytest.importorskip("IPython", reason="IPython runs the cells")

KERNEL = """\
import numpy as np, tilewright as triton, tilewright.language as tl
@triton.jit
def double(x, n: tl.constexpr):
    i = tl.arange(0, n)
    tl.store(x + i, {value})
x = np.arange(8, dtype=np.float32)
kernel = double[1,](x, 8)
"""


@pytest.fixture
def shell() -> Generator[Any]:
    from IPython.core.interactiveshell import InteractiveShell

    shell: Any = InteractiveShell.instance()
    yield shell
    InteractiveShell.clear_instance()


def test_errors_name_the_cell(shell: Any) -> None:
    shell.run_cell("1 + 1", store_history=True)
    result = shell.run_cell(KERNEL.format(value="tl.load(x + i) + tl.arange(0, 2 * n)"), store_history=True)
    assert isinstance(result.error_in_exec, CompilationError)
    message = str(result.error_in_exec)
    assert message.startswith("Cell In[2], line 5: error: ")
    assert "    tl.store(x + i, tl.load(x + i) + tl.arange(0, 2 * n))" in message


def test_a_kernel_shows_its_stages(shell: Any) -> None:
    result = shell.run_cell(KERNEL.format(value="2 * tl.load(x + i)") + "kernel", store_history=True)
    formatted, _ = shell.display_formatter.format(result.result)
    html = formatted["text/html"]
    assert "kernel <code>double</code>" in html
    assert html.count("<details>") == html.count("</pre></details>") >= 4
    assert "tt.func public @double" in html and "-&gt;" in html and "<module>" not in html
