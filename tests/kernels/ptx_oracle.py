"""Official Triton's PTX for the kernels of `ttgir_cases`, and what of PTX is compared.

Imported, `official_ptx(capability, cases)` compiles in another process and keeps the answers in the cache folder of
pytest; run as a script, `python ptx_oracle.py CAPABILITY OUT.json < NAMES`, it is that process.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import corpus_oracle
from ttgir_cases import GpuCase, gpu_cases

CACHE = Path(__file__).parents[2] / ".pytest_cache" / "ptx-oracle"

_ACCESS = re.compile(
    r"\b(?P<kind>ld|st|atom|red)\.(?:\w+\.)*?global[\w.:]*?(?:\.v(?P<count>\d))?\.[bufs](?P<bits>\d+)(?P<pair>x2)?\b"
)
_COPY = re.compile(r"\bcp\.async\.c[ag]\.shared\.global[\w.:]*\s*\[[^]]*\],\s*\[[^]]*\],\s*(?P<bytes>0x[0-9a-f]+|\d+)")


def official_ptx(capability: int, cases: Sequence[GpuCase]) -> dict[str, str]:
    """The PTX that official Triton makes of each kernel, by name; without those that it refuses."""
    file = CACHE / f"sm{capability}-{_fingerprint()}.json"
    known: dict[str, str | None] = json.loads(file.read_text()) if file.exists() else {}
    missing = [str(case) for case in cases if str(case) not in known]
    if missing:
        CACHE.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(f".{os.getpid()}")
        command = [sys.executable, __file__, str(capability), str(part)]
        subprocess.run(command, input="\n".join(missing), text=True, check=True, capture_output=True)
        known |= json.loads(part.read_text())
        part.write_text(json.dumps(known))
        part.replace(file)
    found = {str(case): known[str(case)] for case in cases}
    return {name: ptx for name, ptx in found.items() if ptx is not None}


def accesses(ptx: str) -> Counter[tuple[str, int]]:
    """How many instructions access global memory, by kind (`ld`, `st`, `atom`, `red`) and bytes of a thread. Copies to
    shared memory count as loads."""
    found: Counter[tuple[str, int]] = Counter()
    for line in ptx.splitlines():
        code = line.partition("//")[0]
        if copy := _COPY.search(code):
            found["ld", int(copy["bytes"], 0)] += 1
        elif access := _ACCESS.search(code):
            count = int(access["count"] or 1) * (2 if access["pair"] else 1)
            found[access["kind"], count * int(access["bits"]) // 8] += 1
    return found


def _fingerprint() -> str:
    """What the answers depend on."""
    folders = (corpus_oracle.CORPUS, corpus_oracle.EXAMPLES)
    sources = [path.read_text() for folder in folders for path in sorted(folder.glob("*.py"))]
    here = Path(__file__).parent
    sources += [(here / name).read_text() for name in ("ttgir_cases.py", "corpus_oracle.py", "ptx_oracle.py")]
    text = importlib.metadata.version("triton") + "".join(sources)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _compile(case: GpuCase, capability: int) -> str | None:
    """PTX of one kernel, None where official Triton refuses it."""
    from triton._C.libtriton import ir
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource
    from triton.compiler.compiler import make_backend

    target = GPUTarget("cuda", capability, 32)
    backend: Any = make_backend(target)
    options = backend.parse_options({"num_warps": case.num_warps, "num_stages": case.num_stages})
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    signature, constants, attrs = corpus_oracle.arguments_of(case.case, "official")
    source = ASTSource(
        fn=corpus_oracle.kernel_of(case.case, "official"), signature=signature, constexprs=constants, attrs=attrs
    )
    stages: dict[str, Any] = {}
    backend.add_stages(stages, options, source.language)
    try:
        module: Any = source.make_ir(
            target, options, backend.get_codegen_implementation(options), backend.get_module_map(), context
        )
        metadata: dict[str, Any] = {"target": target, **vars(options)}
        for name in ("ttir", "ttgir", "llir", "ptx"):
            module = stages[name](module, metadata)
    except Exception as error:  # refused
        sys.stderr.write(f"{case}: {error}\n")
        return None
    return module


def main() -> None:
    """Compile the kernels whose names come from the standard input, for one capability."""
    capability, out = int(sys.argv[1]), Path(sys.argv[2])
    wanted = set(sys.stdin.read().splitlines())
    out.write_text(json.dumps({str(c): _compile(c, capability) for c in gpu_cases() if str(c) in wanted}))


if __name__ == "__main__":
    main()
