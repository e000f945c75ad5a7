"""What tilewright and Triton cost the host: a launch from Python, and the first compilation of a matrix product.

python overheads.py launch|compile tilewright|triton
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from typing import Any

os.environ["TILEWRIGHT_CACHE_DIR"] = os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp(prefix="gpu-overheads-")

import case
import cases
import measure
import torch


def launch(kernels: Any) -> dict[str, Any]:
    x, y, out = (torch.empty(4096, device="cuda") for _ in range(3))
    return {"launch_seconds": measure.launch_seconds(lambda: kernels.empty_kernel[(4,)](x, y, out, 4096, BLOCK=1024))}


def compile(kernels: Any) -> dict[str, Any]:
    """Seconds from the first launch of a kernel to its end: once with the compiler's own imports, then without."""
    vector = cases.vector_add(4096)
    tensors = vector.make()
    start = time.perf_counter()
    vector.run(kernels, tensors, vector.configs[0])
    torch.cuda.synchronize()
    first = time.perf_counter() - start
    times: list[float] = []
    for config in cases.MATMUL_CONFIGS[:3]:
        product = cases.matmul(1024)
        tensors = product.make()
        torch.cuda.synchronize()
        start = time.perf_counter()
        product.run(kernels, tensors, config)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return {"first_kernel_seconds": first, "matmul_seconds": sorted(times)[1], "all": times}


if __name__ == "__main__":
    what, implementation = sys.argv[1:]
    measured = {"launch": launch, "compile": compile}[what](case.load_kernels(implementation))
    print(json.dumps({"implementation": implementation, **measured}))
