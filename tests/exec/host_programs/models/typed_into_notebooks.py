"""Cells of a notebook: kernels that are typed, corrected and typed again, helpers that change, magics, errors that name the cell, modules that are reloaded."""

import importlib
import sys
import tempfile
from pathlib import Path

import triton

try:
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output
except ImportError:
    InteractiveShell = None

CELLS = (
    """
import torch, triton
import triton.language as tl
BLOCK = tl.constexpr(16)
@triton.jit
def change(v):
    return v + 1
@triton.jit
def kernel(x, out, n):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, change(tl.load(x + i, mask=i < n)), mask=i < n)
def run(n=20):
    x = torch.arange(n, dtype=torch.float32)
    out = torch.empty_like(x)
    kernel[(triton.cdiv(n, 16),)](x, out, n)
    return out[3].item()
got = [run()]
""",
    """
@triton.jit
def change(v):
    return v * 10
got.append(run())
""",
    """
@triton.jit
def kernel(x, out, n):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, change(tl.load(x + i, mask=i < n)) - 1, mask=i < n)
got.append(run())
""",
    "%time got.append(run(30))",
    "%timeit -n 1 -r 1 run(17)",
    """
@triton.autotune([triton.Config({"B": b}) for b in (16, 32)], key=["n"], warmup=1, rep=1)
@triton.jit
def tuned(x, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(x + i, 1.0, mask=i < n)
x = torch.zeros(40)
tuned[lambda meta: (triton.cdiv(40, meta["B"]),)](x, 40)
""",
    """
class Layer:
    scale: tl.constexpr = tl.constexpr(3)
    @staticmethod
    @triton.jit
    def kernel(x, S: tl.constexpr):
        tl.store(x, tl.load(x) * S)
    def __call__(self, x):
        self.kernel[(1,)](x, self.scale)
        return x
got.append(Layer()(torch.ones(1)).item())
""",
    """
def factory(operation):
    @triton.jit
    def made(x):
        tl.store(x, operation(tl.load(x)))
    return made
@triton.jit
def negate(v):
    return -v
@triton.jit
def square(v):
    return v * v
for operation in (negate, square):
    x = torch.full((1,), 5.0)
    factory(operation)[(1,)](x)
    got.append(x.item())
""",
    """
import asyncio
async def later():
    return await asyncio.to_thread(run, 25)
got.append(await later())
""",
)
WANTED = [4.0, 30.0, 29.0, 29.0, 3.0, -5.0, 25.0, 29.0]


def notebook():
    shell = InteractiveShell.instance()
    for number, cell in enumerate(CELLS):
        with capture_output() as output:
            result = shell.run_cell(cell, store_history=True)
        assert result.success, (number, output.stdout, result.error_in_exec or result.error_before_exec)
    assert shell.user_ns["got"] == WANTED, shell.user_ns["got"]
    cell = "@triton.jit\ndef wrong(x):\n    y = tl.load(x)\n    tl.store(x, y + missing)\nwrong[(1,)](torch.zeros(1))"
    with capture_output() as output:
        result = shell.run_cell(cell, store_history=True)
    error = result.error_in_exec
    assert isinstance(error, triton.CompilationError) and "missing" in str(error) and "y + missing" in str(error), error
    assert "missing" in output.stdout
    with capture_output() as output:
        shell.run_cell("BLOCK = tl.constexpr(32)\nrun()", store_history=True)
    with capture_output() as output:
        result = shell.run_cell(
            "kernel.__doc__, kernel?\nimport inspect\nlen(inspect.getsource(kernel.fn).splitlines())",
            store_history=True,
        )


def reloaded():
    with tempfile.TemporaryDirectory() as folder:
        sys.path.insert(0, folder)
        sys.dont_write_bytecode = True
        file = Path(folder, "edited_kernels.py")
        text = "import triton, triton.language as tl\n@triton.jit\ndef step(v):\n    return v + %d\n@triton.jit\ndef kernel(x):\n    tl.store(x, step(tl.load(x)))\n"
        import torch

        for k in (1, 20, 300):
            file.write_text(text % k)
            if "edited_kernels" in sys.modules:
                module = importlib.reload(sys.modules["edited_kernels"])
            else:
                module = importlib.import_module("edited_kernels")
            x = torch.zeros(1)
            module.kernel[(1,)](x)
            assert x.item() == k, (k, x)


if InteractiveShell is not None:
    notebook()
reloaded()
print("right on", triton.runtime.driver.active.get_current_target().backend)
