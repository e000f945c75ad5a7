"""Official Triton's TritonGPU IR, and how much shared memory it takes, for the kernels of `ttgir_cases`.

Imported, `official(capability, cases)` compiles in another process and keeps the answers in the cache folder of pytest;
run as a script, `python ttgir_oracle.py CAPABILITY OUT.json < NAMES`, it is that process.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import corpus_oracle
from ttgir_cases import GpuCase, gpu_cases

CACHE = Path(__file__).parents[2] / ".pytest_cache" / "ttgir-oracle"

PTX_VERSION = 87
"""What the allocation of shared memory asks for, and does not depend on here."""


@dataclass(frozen=True)
class Official:
    """What official Triton makes of a kernel: TritonGPU IR, and bytes of shared memory."""

    ttgir: str
    shared: int


def official(capability: int, cases: Sequence[GpuCase]) -> dict[str, Official]:
    """What official Triton makes of each kernel for a compute capability, by name; without those that it refuses."""
    file = CACHE / f"sm{capability}-{_fingerprint()}.json"
    known: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    missing = [str(case) for case in cases if str(case) not in known]
    if missing:
        CACHE.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}")
        command = [sys.executable, __file__, str(capability), str(part)]
        subprocess.run(command, input="\n".join(missing), text=True, check=True, capture_output=True)
        known |= json.loads(part.read_text())
        part.write_text(json.dumps(known))
        part.replace(file)
    entries = {str(case): known[str(case)] for case in cases}
    return {name: Official(*entry) for name, entry in entries.items() if entry is not None}


def _fingerprint() -> str:
    """What the answers depend on."""
    folders = (corpus_oracle.CORPUS, corpus_oracle.EXAMPLES)
    sources = [path.read_text() for folder in folders for path in sorted(folder.glob("*.py"))]
    sources += [path.read_text() for path in sorted(Path(__file__).parent.glob("ttgir_[co]*.py"))]
    text = importlib.metadata.version("triton") + "".join(sources)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _compile(case: GpuCase, capability: int) -> tuple[str, int] | None:
    """TritonGPU IR and shared memory of one kernel, None where official Triton refuses it."""
    from triton._C.libtriton import ir, nvidia, passes
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.compiler.compiler import make_backend

    target = GPUTarget("cuda", capability, 32)
    backend: Any = make_backend(target)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    options = backend.parse_options({"num_warps": case.num_warps, "num_stages": case.num_stages})
    signature, constants, attrs = corpus_oracle.arguments_of(case.case, "official")
    kernel = corpus_oracle.kernel_of(case.case, "official")
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=attrs)
    try:
        module = source.make_ir(
            target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context
        )
        module = backend.make_ttgir(backend.make_ttir(module, {}, options, capability), {}, options, capability)
        text = module.str_nodebug()
        manager = ir.pass_manager(context)
        passes.ttgpuir.add_allocate_warp_groups(manager)
        passes.convert.add_scf_to_cf(manager)
        nvidia.passes.ttgpuir.add_allocate_shared_memory_nv(manager, capability, PTX_VERSION)
        manager.run(module, "allocate")
        return text, module.get_int_attr("ttg.shared")
    except Exception as error:  # refused: other kinds of errors end this process
        sys.stderr.write(f"{case}: {error}\n")
        return None


def _compile_apart(case: GpuCase, capability: int) -> tuple[str, int] | None:
    """As `_compile`, in a child: an assertion of the official compiler ends the process."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with os.fdopen(writing, "w") as stream:
            json.dump(_compile(case, capability), stream)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        answer = stream.read()
    os.waitpid(child, 0)
    return json.loads(answer) if answer else None


def main() -> None:
    """Compile the kernels whose names come from the standard input, for one capability."""
    capability, out = int(sys.argv[1]), Path(sys.argv[2])
    wanted = set(sys.stdin.read().splitlines())
    compiled = {str(case): _compile_apart(case, capability) for case in gpu_cases() if str(case) in wanted}
    out.write_text(json.dumps(compiled))


if __name__ == "__main__":
    main()
