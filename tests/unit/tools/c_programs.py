"""C programs around kernels that were compiled ahead of time."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

KERNELS = Path(__file__).with_name("aot_kernels.py")
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler (cc, gcc, clang) on the PATH")


def run_c(folder: Path, source: str, *more: str) -> str:
    """What a C program prints that is linked with everything in a folder."""
    assert COMPILER is not None
    (folder / "main.c").write_text(source)
    files = [str(path) for path in folder.iterdir() if path.suffix in (".c", ".o")]
    program = folder / "program"
    command = [COMPILER, "-std=c11", "-Wall", "-Wextra", "-Werror", "-o", str(program), *files]
    done = subprocess.run([*command, *more, "-lpthread", "-lm"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return subprocess.run([program], capture_output=True, text=True, check=True, timeout=60).stdout


def cuda_headers() -> Path | None:
    """A folder with cuda.h: of official Triton's wheel, or of a toolkit."""
    spec = find_spec("triton")
    folders = [Path(spec.origin).parent / "backends/nvidia/include"] if spec is not None and spec.origin else []
    folders += [Path(place) / "nvidia/cuda_runtime/include" for place in sys.path]
    folders += [Path("/usr/local/cuda/include")]
    return next((folder for folder in folders if (folder / "cuda.h").is_file()), None)
