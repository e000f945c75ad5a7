"""Code is linked where free memory lies in small holes far apart, as in processes that map many gigabytes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = '''
import ctypes, sys
import numpy as np
import tilewright as tw
import tilewright.language as tl
from tilewright.codegen import llvm_backend

PROT_NONE, PRIVATE_ANONYMOUS_NORESERVE, PAGE, REGION = 0, 0x4022, 4096, 1 << 32

libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


def reserve(size):
    """Map memory that cannot be used."""
    place = libc.mmap(None, size, PROT_NONE, PRIVATE_ANONYMOUS_NORESERVE, -1, 0)
    assert place != ctypes.c_void_p(-1).value
    return place


def leave_holes():
    """Fill free memory down to a few terabytes, but for one page every four gigabytes."""
    regions = [reserve(REGION) for _ in range(100)]
    while reserve(PAGE) > regions[0]:
        pass
    for region in regions:
        libc.munmap(region + REGION // 2, PAGE)


def load_into_holes(*args, **kwargs):
    leave_holes()
    return load(*args, **kwargs)


load, llvm_backend.ObjectLoader.load = llvm_backend.ObjectLoader.load, load_into_holes


@tw.jit
def kernel(x, n, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    value = tl.load(x + i, mask=i < n)
    tl.store(x + i, tl.exp(value) + tl.sin(value), mask=i < n)


x = np.linspace(0, 1, 64, dtype=np.float32)
expected = np.exp(x) + np.sin(x)
kernel[(1,)](x, 60, 64)
np.testing.assert_allclose(x[:60], expected[:60], rtol=1e-5)
print("right")
'''


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="maps memory by Linux's calls")
def test_links_into_holes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sections of one object that lie more than 2 GiB apart would end the process."""
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path))
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout == "right\n", done.stderr
