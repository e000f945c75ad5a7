"""What official Triton makes of kernels: asked for in another process, kept in the cache folder of pytest.

A script that has answers (`ttgir_oracle`, `ptx_oracle`) calls `ask` where it is imported, and `answer` where it is run:
`python SCRIPT CAPABILITY OUT.json < NAMES`. An assertion of the official compiler ends the process, so the kernels are
compiled in a child, and those after one that ended it in another: what Triton has read and set up serves all of them.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import corpus_oracle
from ttgir_cases import GpuCase, gpu_cases

CACHE = Path(__file__).parents[2] / ".pytest_cache"

ANSWERS_DEPEND_ON = ("corpus_oracle.py", "official_answers.py", "ttgir_cases.py")


def ask(script: str, capability: int, cases: Sequence[GpuCase]) -> dict[str, Any]:
    """The script's answers for a compute capability, by the names of kernels; without those that Triton refuses."""
    folder = CACHE / Path(script).stem.replace("_", "-")
    file = folder / f"sm{capability}-{_fingerprint(script)}.json"
    known: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    missing = [str(case) for case in cases if str(case) not in known]
    if missing:
        folder.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}")
        command = [sys.executable, script, str(capability), str(part)]
        subprocess.run(command, input="\n".join(missing), text=True, check=True, capture_output=True)
        known |= json.loads(part.read_text())
        part.write_text(json.dumps(known))
        part.replace(file)
    found = {str(case): known[str(case)] for case in cases}
    return {name: answer for name, answer in found.items() if answer is not None}


def answer(make: Callable[[GpuCase, int], Any]) -> None:
    """Be the process that is asked: make an answer for each kernel whose name comes from the standard input."""
    capability, out = int(sys.argv[1]), Path(sys.argv[2])
    wanted = set(sys.stdin.read().splitlines())
    cases = [case for case in gpu_cases() if str(case) in wanted]
    _import_official(cases)
    out.write_text(json.dumps(_make_all(make, cases, capability)))


def _import_official(cases: Sequence[GpuCase]) -> None:
    """Import what every kernel needs once, before each is compiled in a child of its own."""
    importlib.import_module("triton.compiler.compiler")
    importlib.import_module("triton.backends.nvidia.compiler")
    for file in {case.case.file for case in cases}:
        corpus_oracle.load(file, "official")


@dataclass(frozen=True)
class OfficialSource:
    """The output of official Triton's front end, and what its back end needs."""

    backend: Any
    options: Any
    language: Any
    context: Any
    module: Any
    metadata: dict[str, Any]


def official_source(case: GpuCase, capability: int) -> OfficialSource:
    """A kernel behind official Triton's front end. Raises what that does where it refuses the kernel."""
    from triton._C.libtriton import ir
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
    module = source.make_ir(
        target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context
    )
    return OfficialSource(backend, options, source.language, context, module, {"target": target, **vars(options)})


def _make_all(make: Callable[[GpuCase, int], Any], cases: Sequence[GpuCase], capability: int) -> dict[str, Any]:
    """The answers by the names of kernels, None where official Triton refuses a kernel."""
    made: dict[str, Any] = {}
    while rest := cases[len(made) :]:
        answers = _make_in_child(make, rest, capability)
        made |= {str(case): found for case, found in zip(rest, answers, strict=False)}
        if len(answers) < len(rest):
            made[str(rest[len(answers)])] = None
    return made


def _make_in_child(make: Callable[[GpuCase, int], Any], cases: Sequence[GpuCase], capability: int) -> list[Any]:
    """The answers of a child, as many as it gives before it ends."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with os.fdopen(writing, "w") as stream:
            for case in cases:
                stream.write(json.dumps(_make_or_refuse(make, case, capability)) + "\n")
                stream.flush()
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        lines = stream.readlines()
    os.waitpid(child, 0)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def _make_or_refuse(make: Callable[[GpuCase, int], Any], case: GpuCase, capability: int) -> Any:
    try:
        return make(case, capability)
    except Exception as error:
        sys.stderr.write(f"{case}: {error}\n")
        return None


def _fingerprint(script: str) -> str:
    """What the answers depend on."""
    folders = (corpus_oracle.CORPUS, corpus_oracle.EXAMPLES)
    sources = [path.read_text() for folder in folders for path in sorted(folder.glob("*.py"))]
    here = Path(__file__).parent
    sources += [(here / name).read_text() for name in ANSWERS_DEPEND_ON]
    text = importlib.metadata.version("triton") + Path(script).read_text() + "".join(sources)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
