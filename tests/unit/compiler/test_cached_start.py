"""A process that finds its kernel in the disk cache starts without the compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
import numpy as np
import tilewright as triton
import tilewright.language as tl

@triton.jit
def double(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=offsets < n) * 2, mask=offsets < n)

x = np.arange(100, dtype=np.float32)
kernel = double[(1,)](x, 100, BLOCK=128)
assert (x == 2 * np.arange(100)).all()
compiler = [name for name in sys.modules if name.split(".")[0] == "xdsl" or name.startswith("tilewright.lowering")]
print("compiled" if compiler else "loaded", "linalg" in kernel.asm)
"""


@pytest.mark.costly
def test_a_cached_kernel_is_launched_without_the_compiler(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    environment = {**os.environ, "TILEWRIGHT_CACHE_DIR": str(tmp_path / "cache"), "TILEWRIGHT_TARGET": ""}
    for expected in ("compiled True", "loaded True"):
        result = subprocess.run(
            [sys.executable, str(script)], env=environment, capture_output=True, text=True, check=True
        )
        assert result.stdout.strip() == expected
