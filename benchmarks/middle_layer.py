"""The cost of the middle layer: whole kernels through `triton-to-linalg`, and the cost per op as a kernel grows.

    python benchmarks/middle_layer.py [--runs N]

Imports are not counted; every run starts from its own copy of the `ttir` stage. Promised: attention within 150 ms, and
a cost per op that does not grow when the kernel's body stands 1 to 16 times in one function.
"""

from __future__ import annotations

import argparse
import gc
import sys
import time
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from tilewright import compat
from tilewright.dialects import tt
from tilewright.frontend import compile_to_tt
from tilewright.ir.passes import PassContext, parse_pipeline

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))

KERNELS = {
    "vector_add.add_kernel": "*fp32 *fp32 *fp32 i32 =1024",
    "softmax.softmax_kernel": "*fp32 *fp32 i32 i32 i32 =1024",
    "matmul.matmul_kernel": "*fp32 *fp32 *fp32" + 9 * " i32" + " =64 =64 =64 =8",
    "layer_norm.layer_norm_forward": 6 * "*fp32 " + "i32 i32 fp32 =1024",
    "attention.attention_forward": 5 * "*fp32 " + "fp32" + 10 * " i32" + " =64 =64 =64 =1",
}
PROMISED_MS = {"attention.attention_forward": 150.0}
REPETITIONS = (1, 2, 4, 8, 16)
GROWTH = 1.3
"""How much the cost per op may differ before it counts as growing."""


def compile_kernel(name: str, arguments: str) -> ModuleOp:
    """The `ttir` stage of an example."""
    file, function = name.split(".")
    with compat.standing_in():
        kernel = getattr(__import__(file), function)
    tokens = dict(zip(kernel.arg_names, arguments.split(), strict=True))
    signature = {key: "constexpr" if token.startswith("=") else token for key, token in tokens.items()}
    constants = {(place,): int(token[1:]) for place, token in enumerate(tokens.values()) if token.startswith("=")}
    module = compile_to_tt(kernel, signature, constants, {})
    parse_pipeline("make-ttir").run(module, PassContext())
    return module


def repeated(module: ModuleOp, times: int) -> ModuleOp:
    """The same module with the kernel's body `times` times in a row."""
    result = module.clone()
    function = next(op for op in result.ops if isinstance(op, tt.FuncOp))
    block = function.body.block
    body, last = list(block.ops)[:-1], block.last_op
    assert last is not None
    for _ in range(times - 1):
        values: dict[SSAValue, SSAValue] = {argument: argument for argument in block.args}
        for op in body:
            block.insert_op_before(op.clone(values), last)
    return result


def count_ops(module: ModuleOp) -> int:
    return sum(1 for _ in module.walk())


def milliseconds(module: ModuleOp, runs: int) -> float:
    """The shortest CPU time of the pipeline: other load only ever adds to it."""
    times: list[float] = []
    for _ in range(runs):
        copy = module.clone()
        gc.collect()
        start = time.process_time()
        parse_pipeline("triton-to-linalg").run(copy, PassContext())
        times.append((time.process_time() - start) * 1e3)
    return min(times)


def main() -> int:
    parser = argparse.ArgumentParser(description="The cost of the middle layer.")
    parser.add_argument("--runs", type=int, default=7, help="runs of each measurement, of which the shortest counts")
    runs = parser.parse_args().runs
    modules = {name: compile_kernel(name, arguments) for name, arguments in KERNELS.items()}
    milliseconds(modules["vector_add.add_kernel"], 3)
    kept = True
    print(f"{'kernel':<32}{'ops':>6}{'ms':>9}{'promised':>10}")
    for name, module in modules.items():
        spent, promised = milliseconds(module, runs), PROMISED_MS.get(name)
        kept &= promised is None or spent <= promised
        print(f"{name:<32}{count_ops(module):>6}{spent:>9.1f}{'' if promised is None else f'{promised:.0f}':>10}")
    print(f"\n{'attention, body repeated':<32}{'ops':>6}{'ms':>9}{'us/op':>10}")
    costs: list[float] = []
    for times in REPETITIONS:
        module = repeated(modules["attention.attention_forward"], times)
        ops, spent = count_ops(module), milliseconds(module, max(3, runs // 2))
        costs.append(spent * 1e3 / ops)
        print(f"{f'{times} x':<32}{ops:>6}{spent:>9.1f}{costs[-1]:>10.1f}")
    growth = costs[-1] / costs[0]
    kept &= growth <= GROWTH
    print(f"\ncost per op, 16 x against 1 x: {growth:.2f} (promised: at most {GROWTH})")
    return 0 if kept else 1


if __name__ == "__main__":
    raise SystemExit(main())
