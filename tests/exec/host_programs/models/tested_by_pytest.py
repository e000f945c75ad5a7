"""A library's own tests of its kernels: pytest with a worker of xdist, fixtures, patched sources, caches of a test's own, doctest."""

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import triton

FILES = {
    "mine/__init__.py": "from .ops import scale, scaled\n",
    "mine/ops.py": '''
"""Scaling.

>>> import torch
>>> scaled(torch.arange(3.0), 2.0)
tensor([0., 2., 4.])
"""
from __future__ import annotations
import torch, triton
import triton.language as tl
from ._parts import load_row

LIMIT: tl.constexpr = tl.constexpr(100)

@triton.jit
def scale(x, out, factor: tl.float32, n: tl.int32, BLOCK: tl.constexpr):
    i, v = load_row(x, n, BLOCK)
    tl.static_assert(BLOCK <= LIMIT * 100)
    tl.store(out + i, v * factor, mask=i < n)

def scaled(x, factor):
    out = torch.empty_like(x)
    scale[(triton.cdiv(x.numel(), 64),)](x, out, factor, x.numel(), BLOCK=64)
    return out
''',
    "mine/_parts.py": """
import triton
import triton.language as tl

@triton.jit
def load_row(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    return i, tl.load(x + i, mask=i < n, other=0.0)
""",
    "tests/conftest.py": """
import pytest, torch, triton

def pytest_addoption(parser):
    parser.addoption("--device", default="cpu")

@pytest.fixture
def device(request):
    return request.config.getoption("--device")

@pytest.fixture
def fresh_triton_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    with triton.knobs.cache.scope():
        triton.knobs.cache.dir = str(tmp_path)
        yield tmp_path

@pytest.fixture
def fresh_knobs():
    with triton.knobs.compilation.scope(), triton.knobs.runtime.scope():
        yield triton.knobs
""",
    "tests/test_ops.py": """
import os, pytest, torch, triton
import triton.language as tl
from mine import scale, scaled

@pytest.mark.parametrize("n", [1, 63, 64, 65, 1000])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.int32], ids=str)
def test_scaled(n, dtype, device):
    x = torch.arange(n, device=device).to(dtype)
    torch.testing.assert_close(scaled(x, 3.0), x * 3)

@triton.jit
def helper(x):
    return x + 1

@pytest.mark.parametrize("op", ["add", "sub", "mul"])
def test_patched_source(op, device):
    @triton.jit
    def kernel(x, out, N: tl.constexpr):
        i = tl.arange(0, N)
        tl.store(out + i, GENERATE_TEST_HERE)
    from triton.runtime.jit import JITFunction
    src = kernel.src.replace("GENERATE_TEST_HERE", {"add": "tl.load(x + i) + 2", "sub": "tl.load(x + i) - 2", "mul": "tl.load(x + i) * 2"}[op])
    patched = JITFunction(kernel.fn)
    patched._unsafe_update_src(src)
    x = torch.arange(8, dtype=torch.int32, device=device)
    out = torch.empty_like(x)
    patched[(1,)](x, out, N=8)
    assert torch.equal(out, {"add": x + 2, "sub": x - 2, "mul": x * 2}[op])

def test_cache(device, fresh_triton_cache, fresh_knobs):
    seen = []
    fresh_knobs.runtime.jit_post_compile_hook = lambda **kw: seen.append(kw["compile"]["key"])
    @triton.jit
    def kernel(x, N: tl.constexpr):
        tl.store(x, helper(tl.load(x)) + N)
    x = torch.zeros(1, device=device)
    kernel[(1,)](x, N=1); kernel[(1,)](x, N=1); kernel[(1,)](x, N=2)
    assert x.item() == 7 and len(seen) == 2
    assert sum(len(c[0]) for c in kernel.device_caches.values()) == 2

def test_errors(device):
    @triton.jit
    def kernel(x):
        tl.static_assert(False, "never")
    with pytest.raises(triton.CompilationError) as error:
        kernel[(1,)](torch.zeros(1, device=device))
    assert "never" in str(error.value.__cause__ or error.value)
    with pytest.raises(RuntimeError):
        kernel(torch.zeros(1))

@pytest.mark.skipif(triton.runtime.driver.active.get_current_target().backend != "cpu", reason="host memory")
def test_output(capfd):
    @triton.jit
    def kernel(x):
        tl.device_print("value", tl.load(x))
    kernel[(1,)](torch.full((1,), 42, dtype=torch.int32))
    assert "42" in capfd.readouterr().out

@pytest.mark.interpreter
def test_interpreted(monkeypatch, device):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    @triton.jit
    def kernel(x, out, N: tl.constexpr):
        i = tl.arange(0, N)
        tl.store(out + i, tl.load(x + i) * 2)
    x = torch.arange(4.0)
    out = torch.empty_like(x)
    kernel[(1,)](x, out, N=4)
    assert torch.equal(out, x * 2)
""",
    "pyproject.toml": '[tool.pytest.ini_options]\nmarkers = ["interpreter"]\nfilterwarnings = ["error::DeprecationWarning:mine"]\n',
}


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            path = Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")]),
            "PYTEST_ADDOPTS": "",
        }
        workers = ["-n", "1"] if importlib.util.find_spec("xdist") else []
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *workers, "--doctest-modules"]
        done = subprocess.run([*command, "mine", "tests"], cwd=folder, capture_output=True, text=True, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "23 passed" in done.stdout, done.stdout
    print("right on", triton.runtime.driver.active.get_current_target().backend)


if __name__ == "__main__":
    main()
