"""Kernels ahead of time: triton.tools.compile and link, a C program; triton.compile of declared types; the IR of one kernel given to another."""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import triton
import triton.language as tl
from triton.compiler import ASTSource


@triton.jit
def axpy(x, y, out, a, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * a + tl.load(y + i, mask=i < n), mask=i < n)


HOST = """
#include <stdio.h>
#include <stdlib.h>
#include "axpy.h"
int main(void) {
  int n = 100;
  float *x = aligned_alloc(64, 512), *y = aligned_alloc(64, 512), *out = aligned_alloc(64, 512);
  for (int i = 0; i < n; i++) { x[i] = i; y[i] = 1; out[i] = -1; }
  load_axpy();
  int rc = axpy_default(x, y, out, 2.0f, n);
  unload_axpy();
  for (int i = 0; i < n; i++) if (out[i] != 2.0f * i + 1) { printf("wrong at %d: %f\\n", i, out[i]); return 1; }
  printf("right in C %d\\n", rc);
  return 0;
}
"""


def main():
    target = triton.runtime.driver.active.get_current_target()
    source = ASTSource(
        axpy,
        {"x": "*fp32", "y": "*fp32", "out": "*fp32", "a": "fp32", "n": "i32", "BLOCK": "constexpr"},
        {"BLOCK": 32},
        {(0,): [["tt.divisibility", 16]]},
    )
    kernel = triton.compile(source, target=target, options={"num_warps": 4})
    x, y, out = torch.randn(70), torch.randn(70), torch.empty(70)
    kernel[(3, 1, 1)](x, y, out, 0.5, 70)
    torch.testing.assert_close(out, x * 0.5 + y)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name, "axpy.ttir")
        path.write_text(kernel.asm["ttir"])
        again = triton.compile(str(path), target=target)
        assert again.asm["ttir"]
        (Path(name) / "kernels.py").write_text(
            "import triton\nimport triton.language as tl\n@triton.jit\ndef axpy(x, y, out, a, n, BLOCK: tl.constexpr):\n"
            "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
            "    tl.store(out + i, tl.load(x + i, mask=i < n) * a + tl.load(y + i, mask=i < n), mask=i < n)\n"
        )
        if shutil.which("cc") is None:
            return
        for signature in ("*fp32:16, *fp32:16, *fp32:16, fp32, i32, 64", "*fp32, *fp32, *fp32, fp32, i32, 64"):
            done = subprocess.run(
                [sys.executable, "-m", "triton.tools.compile", "kernels.py", "--kernel-name", "axpy", "--signature", signature, "--out-name", "axpy",
                 "-o", f"axpy_{len(signature)}", "-w", "4", "-g", "(n + 63) / 64, 1, 1"], cwd=name, capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
        headers = [os.path.basename(h) for h in glob.glob(f"{name}/*.h")]
        done = subprocess.run(
            [sys.executable, "-m", "triton.tools.link", *headers, "-o", "axpy"],
            cwd=name,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        (Path(name) / "main.c").write_text(HOST)
        files = [*sorted(glob.glob(f"{name}/*.c")), *sorted(glob.glob(f"{name}/*.o"))]
        done = subprocess.run(
            ["cc", "-O1", "-o", "host", *files, "-lm", "-lpthread"],
            cwd=name,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr + str(os.listdir(name))
        done = subprocess.run(["./host"], cwd=name, capture_output=True, text=True, check=False)
        assert done.returncode == 0 and "right in C" in done.stdout, (done.stdout, done.stderr, done.returncode)
    print("right on", target.backend)


if __name__ == "__main__":
    main()
