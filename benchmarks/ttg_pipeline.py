"""The cost of the TritonGPU stage: the examples' kernels from `ttir` to `ttgir` and on to placed buffers and barriers.

    python benchmarks/ttg_pipeline.py [--runs N]

Imports and the front end are not counted; every run starts from its own copy of the `ttir` stage. Promised, for each
architecture: the product within 300 ms, attention within 600 ms.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from tilewright import compat
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import ASTSource
from tilewright.ir.passes import PassContext, PassPipeline
from tilewright.targets.base import find_target
from tilewright.targets.capabilities import configured
from tilewright.targets.cuda.target import CudaTarget

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

KERNELS = {
    "softmax.softmax_kernel": "*fp32:16 *fp32:16 i32:16 i32:16 i32 =1024",
    "matmul.matmul_kernel": "*fp16:16 *fp16:16 *fp16:16" + 9 * " i32:16" + " =128 =128 =64 =8",
    "attention.attention_forward": 4 * "*fp16:16 " + "*fp32:16 fp32" + 10 * " i32:16" + " =128 =64 =64 =1",
}
PROMISED_MS = {"matmul.matmul_kernel": 300.0, "attention.attention_forward": 600.0}
ARCHITECTURES = ("sm80", "sm90")


def kernel_source(name: str, arguments: str) -> ASTSource:
    """An example, specialised as its launches are: `:16` marks multiples of 16, `=` constants."""
    file, function = name.split(".")
    with compat.standing_in():
        kernel = getattr(__import__(file), function)
    tokens = dict(zip(kernel.arg_names, arguments.split(), strict=True))
    signature = {key: "constexpr" if token[0] == "=" else token.partition(":")[0] for key, token in tokens.items()}
    constants = {key: int(token[1:]) for key, token in tokens.items() if token[0] == "="}
    attributes = {key: {"tt.divisibility": 16} for key, token in tokens.items() if token.endswith(":16")}
    return ASTSource(kernel, signature, constants, attributes)


def milliseconds(ttir: ModuleOp, target: CudaTarget, runs: int) -> float:
    """The shortest CPU time of the passes: other load only ever adds to it."""
    passes = [*dict(target.stages())["ttgir"], *(step for _, steps in target.late_stages() for step in steps)]
    times: list[float] = []
    for _ in range(runs):
        copy = ttir.clone()
        gc.collect()
        start = time.process_time()
        PassPipeline(passes).run(copy, PassContext(facts=target.facts))
        times.append((time.process_time() - start) * 1e3)
    return min(times)


def main() -> int:
    parser = argparse.ArgumentParser(description="The cost of the TritonGPU stage.")
    parser.add_argument("--runs", type=int, default=7, help="runs of each measurement, of which the shortest counts")
    runs = parser.parse_args().runs
    kept = True
    print(f"{'kernel':<32}{'target':>8}{'ms':>9}{'promised':>10}")
    for name, arguments in KERNELS.items():
        source, promised = kernel_source(name, arguments), PROMISED_MS.get(name)
        for architecture in ARCHITECTURES:
            options = CompileOptions(arch=architecture)
            target = configured(find_target("cuda"), options)
            assert isinstance(target, CudaTarget)
            module = source.module(target, options)
            PassPipeline(dict(target.stages())["ttir"]).run(module, PassContext(facts=target.facts))
            spent = milliseconds(module, target, runs)
            kept &= promised is None or spent <= promised
            print(f"{name:<32}{architecture:>8}{spent:>9.1f}{'' if promised is None else f'{promised:.0f}':>10}")
    return 0 if kept else 1


if __name__ == "__main__":
    raise SystemExit(main())
