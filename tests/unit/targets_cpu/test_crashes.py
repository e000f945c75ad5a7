"""Wild accesses name the kernel and the program before they end the process; the signals of others stay theirs."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from suite.children import Children

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")

START = """
import ctypes, faulthandler, signal, sys
import numpy as np
import tilewright as triton, tilewright.language as tl

@triton.jit
def scatter(out, bad, far, B: tl.constexpr):
    x, y, z = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    p = (z * tl.num_programs(1) + y) * tl.num_programs(0) + x
    i = tl.arange(0, B)
    for _ in range(200):
        tl.store(out + p * B + i, i)
    if p == bad:
        tl.store(out + far + i, i)

out = np.zeros(64 * 420, np.int32)

def run(bad, far=2**40):
    scatter[(5, 7, 12)](out, bad, far, B=64)

run(-1)
"""

CRASH = (
    r"tilewright: kernel 'scatter', program \(3, 2, 11\): an access to address 0x[0-9a-f]+, where there is no memory"
)
BAD = (11 * 7 + 2) * 5 + 3


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path, compiler_children: Children) -> Run:
    """Run a program that has a kernel, and more."""

    def run(body: str, **environment: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "program.py").write_text(START + body)
        return compiler_children.run(["program"], {"PYTHONPATH": str(tmp_path), **environment}, tmp_path)

    return run


@pytest.mark.costly
@pytest.mark.parametrize("threads", [1, 4])
def test_a_wild_store_names_kernel_and_program(run: Run, threads: int) -> None:
    done = run(f"run({BAD})", TILEWRIGHT_NUM_THREADS=str(threads))
    assert done.returncode in (-signal.SIGSEGV, -signal.SIGBUS)
    (line,) = done.stderr.strip().splitlines()
    assert re.match(CRASH, line), line
    assert "TILEWRIGHT_SANITIZE=bounds" in line


@pytest.mark.costly
def test_a_kernel_that_writes_over_the_heap_is_named(run: Run) -> None:
    """The arena's header, which says which program runs, may lie there, too."""
    body = """
@triton.jit
def flood(out, B: tl.constexpr):
    p, i = tl.program_id(0), tl.arange(0, B)
    tl.store(out + p * B + i, 1.0)
    tl.store(out - p * B + i, 1.0)

flood[(1000000,)](np.zeros(16, np.float32), B=1024)
"""
    done = run(body, TILEWRIGHT_NUM_THREADS="1")
    assert done.returncode in (-signal.SIGSEGV, -signal.SIGBUS)
    (line,) = done.stderr.strip().splitlines()
    assert re.match(r"tilewright: kernel 'flood', .*: an access to address 0x[0-9a-f]+, where there is no", line), line
    assert "TILEWRIGHT_SANITIZE=bounds" in line


@pytest.mark.costly
def test_the_advice_is_right(run: Run) -> None:
    done = run(f"run({BAD})", TILEWRIGHT_SANITIZE="bounds")
    assert done.returncode == 1
    assert "program 3, 2, 11" in done.stderr
    assert "tl.store(out + far + i, i)" in done.stderr


@pytest.mark.costly
@pytest.mark.sampled
@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("order", ["before", "after"])
def test_faulthandler_keeps_working(tmp_path: Path, run: Run, order: str, threads: int) -> None:
    enabling, environment = "import faulthandler; faulthandler.enable()", {"TILEWRIGHT_NUM_THREADS": str(threads)}
    if order == "after":
        done = run(f"{enabling}\nrun({BAD})", **environment)
    else:
        (tmp_path / "sitecustomize.py").write_text(enabling)
        (tmp_path / "program.py").write_text(START + f"\nrun({BAD})")
        environment = {**os.environ, **environment, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
        done = subprocess.run(
            [sys.executable, "program.py"],
            cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
    assert done.returncode in (-signal.SIGSEGV, -signal.SIGBUS)
    assert done.stderr.count("kernel 'scatter', program (3, 2, 11)") == 1
    assert "Fatal Python error" in done.stderr
    assert 'program.py", line' in done.stderr


@pytest.mark.costly
def test_faults_elsewhere_are_none_of_ours(run: Run) -> None:
    for body in ("ctypes.string_at(1)", "import os; os.kill(os.getpid(), signal.SIGSEGV)"):
        done = run(body)
        assert done.returncode == -signal.SIGSEGV
        assert "tilewright" not in done.stderr


RECOVERING = """
import mmap
libc = ctypes.CDLL(None, use_errno=True)
page = mmap.mmap(-1, mmap.PAGESIZE)
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
libc.mprotect.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
seen = []

@ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
def recover(number, info, context):
    seen.append(number)
    libc.mprotect(address, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE)

action = (ctypes.c_uint64 * 24)()
action[0] = ctypes.cast(recover, ctypes.c_void_p).value
flags = ctypes.c_int.from_address(ctypes.addressof(action) + (136 if sys.platform == "linux" else 12))
flags.value = 4 if sys.platform == "linux" else 64
for number in (signal.SIGSEGV, signal.SIGBUS):
    assert libc.sigaction(number, action, None) == 0
"""

FAULTS = """
for round in range(3):
    libc.mprotect(address, mmap.PAGESIZE, 0)
    ctypes.memset(address, round, 8)
run(-1)
print(len(seen), page[0])
"""


def test_handlers_that_recover_do_so(tmp_path: Path, compiler_children: Children) -> None:
    """As those of a JVM, or of collectors that guard pages: one that was there before gets its faults."""
    loading = START.index("run(-1)")
    program = START[:loading] + RECOVERING + "run(-1)\n" + FAULTS
    (tmp_path / "program.py").write_text(program)
    done = compiler_children.run(["program"], {"PYTHONPATH": str(tmp_path)}, tmp_path)
    assert done.stdout == "3 2\n", done.stderr
    assert "tilewright" not in done.stderr
