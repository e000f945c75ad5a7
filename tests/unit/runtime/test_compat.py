"""Standing in for `triton`, without touching the official package, and `tilewright run`."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import tilewright
from tilewright import compat

SCRIPT = """
import sys
import numpy as np
import triton
import triton.language as tl
from triton.language import float32
import triton.testing

@triton.jit
def twice(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets) * 2{suffix})

x = np.arange(8, dtype=np.float32)
twice[(1,)](x, BLOCK=8)
print(sys.argv[1:], x.tolist(), triton.__name__)
"""


def test_both_names_mean_the_same_modules() -> None:
    before = sys.modules.get("triton")
    with compat.standing_in():
        import triton
        import triton.language as tl
        import triton.language.extra.libdevice as libdevice

        testing = importlib.import_module("triton.testing")

        assert triton.jit is tilewright.jit and triton.__version__ == compat.TRITON_VERSION
        assert testing is importlib.import_module("tilewright.testing")
        assert tl is importlib.import_module("tilewright.language")
        assert libdevice is importlib.import_module("tilewright.language.extra.libdevice")
        assert tl.__spec__ is not None and tl.__spec__.name == "tilewright.language"
    assert sys.modules.get("triton") is before


def test_the_official_package_is_not_taken_over_by_accident() -> None:
    pytest.importorskip("triton", reason="official Triton is a test-only dependency and not installed")
    with pytest.raises(ImportError, match="already imported"):
        compat.install()


def test_a_module_that_triton_does_not_have_is_not_found() -> None:
    with compat.standing_in(), pytest.raises(ModuleNotFoundError):
        importlib.import_module("triton.no_such_module")


def run(script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tilewright.tools.cli", "run", str(script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_running_a_script(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(suffix=""))
    result = run(script, "--size", "3")
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "['--size', '3'] [0.0, 2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0] triton"


def test_a_mistake_in_the_kernel_is_shown_without_our_frames(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(suffix=" + missing"))
    result = run(script)
    assert result.returncode == 1
    assert "script.py:12:" in result.stderr
    assert "missing is not defined" in result.stderr
    assert "twice[(1,)](x, BLOCK=8)" in result.stderr
    assert "Traceback" not in result.stderr and "tilewright/runtime" not in result.stderr


def test_a_script_that_is_not_there(tmp_path: Path) -> None:
    result = run(tmp_path / "none.py")
    assert result.returncode == 2
    assert "no such file" in result.stderr
