"""Kernels written in the cells of a notebook, run by IPython's own shell."""

from __future__ import annotations

import json
from collections.abc import Generator
from html import unescape
from typing import Any

import pytest

from tilewright.support.errors import CompilationError, TilewrightError

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


def run_magic(shell: Any, line: str, cell: str) -> Any:
    shell.run_line_magic("load_ext", "tilewright")
    return shell.run_cell(f"%%tilewright {line}\n{cell}", store_history=True)


def html_of(shell: Any, result: Any) -> str:
    formatted, _ = shell.display_formatter.format(result.result)
    return formatted["text/html"]


@pytest.mark.costly
def test_the_magic_shows_the_page_of_what_a_cell_launches(shell: Any) -> None:
    cell = KERNEL.format(value="2 * tl.load(x + i)").replace("kernel = ", "")
    html = html_of(shell, run_magic(shell, "--height 300", cell))
    assert list(shell.user_ns["x"]) == [0, 2, 4, 6, 8, 10, 12, 14], "the cell ran, once"
    assert html.startswith("<iframe ") and html.endswith("></iframe>") and html.count("<") == 2, "all is in srcdoc"
    assert 'sandbox="allow-scripts"' in html and "height:300px" in html
    page = unescape(html.partition('srcdoc="')[2].removesuffix('"></iframe>'))
    data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    (version,) = data["versions"]
    assert version["name"] == "double" and version["steps"][0]["stage"] == "source" and not version["failure"]
    assert version["grid"] == [1, 1, 1]
    (file,) = data["files"]
    assert file["segments"][0]["lines"][:2] == ["# %%tilewright --height 300", KERNEL.partition("\n")[0]]


def test_the_magic_takes_a_kernel_and_a_target(shell: Any) -> None:
    """Of a kernel that is not launched the types are made up; one of another cell has to be launched."""
    kernels = KERNEL.partition("x = ")[0].format(value="2 * tl.load(x + i)")
    both = kernels + kernels.replace("double", "twice")
    recording = run_magic(shell, "twice --target cuda:90", both).result.recording
    kernel = recording.kernel
    assert kernel.name == "twice" and kernel.target == "cuda (sm_90a)" and "ptx" in recording.emission.texts
    launched = run_magic(shell, "", "double[1,](np.zeros(8, np.float32), 8)")
    assert launched.result.recording.kernel.name == "double"


@pytest.mark.parametrize(
    ("line", "cell", "message"),
    [
        ("third", "pass", "the cell has no launch of kernel 'third'"),
        ("", "1 + 1", "the cell has no launch of a kernel"),
        ("--target", "pass", "expected one argument"),
        ("--target nonsense", "pass", "nonsense"),
    ],
)
def test_errors_of_the_magic(shell: Any, line: str, cell: str, message: str) -> None:
    error = run_magic(shell, line, cell).error_in_exec
    assert isinstance(error, TilewrightError) and message in str(error)


def test_errors_in_a_cell_of_the_magic_name_its_line(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    result = run_magic(shell, "", KERNEL.format(value="tl.load(x + i) + tl.arange(0, 2 * n)"))
    assert str(result.error_in_exec).startswith("Cell In[1], line 6: error: ")
    assert isinstance(run_magic(shell, "", "1 / 0").error_in_exec, ZeroDivisionError)
    said = capsys.readouterr().out
    assert "explore" not in said.partition("ZeroDivisionError")[2], "no frame of ours"
