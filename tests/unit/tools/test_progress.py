"""Progress of long commands: a bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

KERNEL = """\
import numpy as np
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), tl.zeros((BLOCK,), tl.float32))


kernel[(1,)](np.ones(16, np.float32), BLOCK=16)
"""


def on_terminal(*arguments: str) -> str:
    """What a command says on standard error where that is a terminal."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120"}
    command = [sys.executable, "-m", "tilewright", *arguments]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs, env=environment) as process:
        os.close(theirs)
        said = b""
        while True:
            try:
                more = os.read(ours, 4096)
            except OSError:  # Linux: the last process has closed it
                break
            if not more:
                break
            said += more
        assert process.wait(120) == 0
    os.close(ours)
    return said.decode()


@pytest.mark.costly
@pytest.mark.skipif(sys.platform == "win32", reason="has no pseudo-terminals")
def test_fuzz_shows_how_far_it_is() -> None:
    said = on_terminal("fuzz", "--only", "rows", "--rows", "3", "--seed", "5")
    assert "walks over rows" in said and "3 of 3" in said and "left" in said


@pytest.mark.costly
@pytest.mark.skipif(sys.platform == "win32", reason="has no pseudo-terminals")
def test_validate_shows_the_pass(tmp_path: Path) -> None:
    file = tmp_path / "kernel.py"
    file.write_text(KERNEL)
    said = on_terminal("validate", str(file))
    assert "kernel" in said and "loops: " in said, "the stage of the last pass"
    done = subprocess.run([sys.executable, "-m", "tilewright", "validate", str(file)], capture_output=True, text=True)
    assert done.returncode == 0 and not done.stderr, "no bar in a pipe"
