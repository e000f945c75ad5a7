"""`tilewright compile FILE:KERNEL --signature "*fp32:16, i32, 1024" --target cuda:90 -o DIR`"""

from __future__ import annotations

import argparse
import shutil
import subprocess
from pathlib import Path
from typing import Any

from tilewright.compiler.options import CompileOptions
from tilewright.runtime.interface import KernelInterface
from tilewright.runtime.jit import JITFunction
from tilewright.targets.base import Target, find_target
from tilewright.tools.aot.grid import Grid, read_grid
from tilewright.tools.aot.signature import SignatureError, c_name, read_signature
from tilewright.tools.aot.variants import Variant, compile_variants
from tilewright.tools.suggestions import did_you_mean
from tilewright.tools.user_files import load_file


def run_compile(options: argparse.Namespace) -> int:
    """The command: prints the names of the files that it wrote; the exit status. Raises as `compile_ahead`."""
    for file in compile_ahead(options):
        print(file)
    return 0


def compile_ahead(options: argparse.Namespace) -> list[Path]:
    """Compile and write; the files that were written. Raises SignatureError, TargetError, and compilation's errors."""
    function = find_kernel(options.kernel)
    base = options.out_name or function.fn.__name__
    if not base.isidentifier() or c_name(base) != base:
        raise SignatureError(f"--out-name {base!r} is not the name of a C function")
    target, arch = find_machine(options.target)
    compile_options = compilation_options(options, arch)
    signatures = [read_signature(text, function) for text in options.signature]
    grid = None if options.grid is None else read_grid(options.grid, signatures)
    variants = compile_variants(function, base, signatures, compile_options, target)
    folder = Path(options.output)
    folder.mkdir(parents=True, exist_ok=True)
    files = _write(target, base, variants, grid, folder)
    return [*files, _link(base, files, folder, target.name)] if options.shared else files


def find_kernel(place: str) -> JITFunction:
    """The kernel that FILE:KERNEL names; of a file with one kernel its name may be left out."""
    name, _, wanted = place.partition(":")
    path = Path(name)
    if not path.is_file():
        raise SignatureError(f"no such file: {name}")
    kernels = {key: found for key, value in vars(load_file(path)).items() if (found := _unwrapped(value)) is not None}
    if not wanted and len(kernels) == 1:
        (wanted,) = kernels
    if wanted not in kernels:
        known = ", ".join(sorted(kernels)) or "none"
        raise SignatureError(f"{name} has no kernel {wanted!r}; it has {known}{did_you_mean(wanted, kernels)}")
    return kernels[wanted]


def _unwrapped(value: Any) -> JITFunction | None:
    """The kernel inside of autotuners and heuristics; None for anything else."""
    while not isinstance(value, JITFunction):
        if not isinstance(value, KernelInterface):
            return None
        value = getattr(value, "fn", None)
    return value


def find_machine(text: str) -> tuple[Target, str | None]:
    """The target that `cpu:x86-64-v3`, `cpu:x86-64-v3:windows` or `cuda:90` names, and its architecture as the option
    `arch` takes it. Raises SignatureError for another target, TargetError for a processor or system without a name."""
    name, _, machine = text.partition(":")
    if name == "cpu" and machine:
        from tilewright.targets.cpu.facts import named_facts
        from tilewright.targets.cpu.target import CpuTarget

        return CpuTarget(named_facts(*machine.split(":", 1))), None
    if name not in ("cpu", "cuda"):
        known = "cpu, cpu:NAME, cpu:NAME:SYSTEM, cuda, cuda:90"
        raise SignatureError(f"no files can be written for target {text!r}; there are {known}")
    return find_target(name), machine.partition(":")[0] or None


def compilation_options(options: argparse.Namespace, arch: str | None) -> CompileOptions:
    """The launch options of a command line."""
    return CompileOptions.from_keywords(given_options(options, arch))


def given_options(options: argparse.Namespace, arch: str | None) -> dict[str, Any]:
    """The launch options that a command line gives, by name. Raises SignatureError."""
    names = ("num_warps", "num_stages", "num_ctas")
    given: dict[str, Any] = {name: value for name in names if (value := getattr(options, name)) is not None}
    for text in options.option:
        name, separator, value = text.partition("=")
        if not separator:
            raise SignatureError(f"--option {text!r}: expected NAME=VALUE")
        words = {"True": True, "False": False, "None": None}
        given[name.strip()] = words.get(value, int(value) if value.lstrip("-").isdigit() else value)
    return given | ({"arch": arch} if arch else {})


def _write(target: Target, base: str, variants: list[Variant], grid: Grid | None, folder: Path) -> list[Path]:
    if target.name == "cuda":
        from tilewright.tools.aot.cuda import write_cuda_files

        return write_cuda_files(base, variants, grid, folder)
    from tilewright.targets.cpu.target import CpuTarget
    from tilewright.tools.aot.cpu import write_cpu_files

    assert isinstance(target, CpuTarget)
    return write_cpu_files(base, variants, grid, target.facts, folder)


def _link(base: str, files: list[Path], folder: Path, target: str) -> Path:
    """A shared library of everything that was written. Raises SignatureError without a C compiler, with its message
    where it fails."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise SignatureError("--shared needs a C compiler (cc, gcc or clang) on the PATH; the files are written")
    library = folder / f"lib{base}.so"
    sources = [str(file) for file in files if file.suffix in (".c", ".o")]
    libraries = ["-lcuda", "-lpthread"] if target == "cuda" else ["-lpthread", "-lm"]
    command = [compiler, "-O2", "-shared", "-fPIC", "-o", str(library), *sources, *libraries]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SignatureError(f"{' '.join(command)}\n{done.stderr}")
    return library
