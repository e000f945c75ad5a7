"""NVIDIA's assembler: finding it on this machine, assembling PTX, and the resources that it reports.

It comes with the CUDA toolkit, with the wheel `nvidia-cuda-nvcc` and with official Triton. Without it the driver
compiles PTX when a kernel is loaded.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from tilewright.codegen.nvptx.facts import NvptxFacts
from tilewright.codegen.nvptx.libdevice import cuda_roots, triton_nvidia_folder
from tilewright.support import knobs
from tilewright.support.errors import AssemblerError, NoAssemblerError, OutOfSharedMemory
from tilewright.support.records import dataclass

PROGRAM = "ptxas"
WORD_BYTES = 4

_REGISTERS = re.compile(r"Used (\d+) registers")
_SPILLED = re.compile(r"(\d+) bytes spill stores")
_SHARED = re.compile(r"uses too much shared data \(0x([0-9a-f]+) bytes, 0x([0-9a-f]+) max\)")
_VERSION = re.compile(r"release (\d+)\.(\d+), V(\S+)")


@dataclass(frozen=True)
class Assembled:
    """Machine code of a kernel, and what a thread of it takes."""

    image: bytes
    registers: int
    spill_bytes: int
    """Bytes of registers that are stored to local memory."""
    log: str
    """What ptxas said, such as notes on matmuls that it had to serialise."""


def find_ptxas() -> Path | None:
    """The assembler: of the `ptxas_path` switch, else of a CUDA toolkit, the PATH, a wheel; None if there is none.

    Raises NoAssemblerError where the switch names no file.
    """
    chosen = knobs.get("ptxas_path")
    if not chosen:
        return find_program(PROGRAM)
    path = Path(chosen)
    if not path.is_file():
        raise NoAssemblerError(f"TILEWRIGHT_PTXAS_PATH={chosen}: there is no such file")
    return path


@lru_cache(maxsize=4)
def find_program(name: str) -> Path | None:
    """A program of the CUDA toolkit: in one that is installed, on the PATH, in a wheel; None if there is none."""
    on_path = shutil.which(name)
    candidates = [root / "bin" / name for root in cuda_roots()]
    if on_path is not None:
        candidates.append(Path(on_path))
    folder = triton_nvidia_folder()
    if folder is not None:
        candidates.append(folder / "bin" / name)
    return next((path for path in candidates if path.is_file()), None)


def ptxas_version() -> str:
    """The assembler's version, as part of cache keys; "" where there is none."""
    path = find_ptxas()
    return "" if path is None else _version_of(path)


@lru_cache(maxsize=4)
def _version_of(path: Path) -> str:
    shown = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    match = _VERSION.search(shown)
    return match.group(3) if match else shown


def assemble(ptx: str, facts: NvptxFacts, *, fp_fusion: bool = True, options: Sequence[str] = ()) -> Assembled:
    """Machine code of PTX for a GPU.

    Raises NoAssemblerError, OutOfSharedMemory, and AssemblerError with what ptxas said.
    """
    path = find_ptxas()
    if path is None:
        raise NoAssemblerError(
            "there is no ptxas on this machine; pip install 'tilewright[cuda]', or set TILEWRIGHT_PTXAS_PATH"
        )
    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        source, target = Path(folder) / "kernel.ptx", Path(folder) / "kernel.cubin"
        source.write_text(ptx)
        command = [str(path), "-v", f"--gpu-name={facts.cpu}", str(source), "-o", str(target), *options]
        if not knobs.get("disable_line_info"):
            command.append("--generate-line-info")
        if not fp_fusion:
            command.append("--fmad=false")
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        log = done.stderr.replace(f"{folder}/", "")
        if done.returncode:
            raise _failure(log, path)
        return _assembled(target.read_bytes(), log)


def _assembled(image: bytes, log: str) -> Assembled:
    registers = _REGISTERS.search(log)
    spilled = sum(int(match.group(1)) for match in _SPILLED.finditer(log))
    return Assembled(image, int(registers.group(1)) if registers else 0, spilled, log)


def _failure(log: str, path: Path) -> AssemblerError | OutOfSharedMemory:
    too_much = _SHARED.search(log)
    if too_much:
        return OutOfSharedMemory(int(too_much.group(1), 16), int(too_much.group(2), 16), "shared memory")
    return AssemblerError(f"{path} rejects the PTX: a defect of the compiler, or options that exclude each other", log)
