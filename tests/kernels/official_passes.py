"""Official Triton's passes on IR text, in another process.

Imported, `run_official(texts, passes)` gives the text behind the passes of each module; run as a script,
`python official_passes.py PASS...`, it is that process: a JSON list of texts in, a JSON list of texts out.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any


def run_official(texts: Sequence[str], passes: Sequence[str]) -> list[str]:
    """The modules behind the passes of `triton._C.libtriton.passes.ttgpuir` of these names (`coalesce`, ...)."""
    command = [sys.executable, __file__, *passes]
    done = subprocess.run(command, input=json.dumps(list(texts)), text=True, check=True, capture_output=True)
    return json.loads(done.stdout)


def main() -> None:
    """Run the passes that are asked for over the modules of the standard input."""
    from triton._C.libtriton import ir, passes
    from triton.backends.compiler import GPUTarget
    from triton.compiler.compiler import make_backend

    context = ir.context()
    ir.load_dialects(context)
    backend: Any = make_backend(GPUTarget("cuda", 90, 32))
    backend.load_dialects(context)
    results: list[str] = []
    for text in json.load(sys.stdin):
        with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
            file.write(text)
            file.flush()
            module = ir.parse_mlir_module(file.name, context)
        manager = ir.pass_manager(context)
        for name in sys.argv[1:]:
            getattr(passes.ttgpuir, f"add_{name}")(manager)
        manager.run(module, "passes")
        results.append(module.str_nodebug())
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
