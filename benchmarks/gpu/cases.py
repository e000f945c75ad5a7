"""What is measured on a GPU: inputs, launches, results in float64, and the bytes or operations that count."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import torch
from case import Case, Config, Tensors, cdiv, normal, power_of_2, warps
from gradient_cases import attention_gradients
from mixed_cases import float8_matmul, int4_matmul, int8_matmul

# ------------------------------------------------------------------------------------------------------ memory-bound


def vector_add(n: int) -> Case:
    def make() -> Tensors:
        return {"x": normal(n, seed=1), "y": normal(n, seed=2), "out": torch.empty(n, device="cuda")}

    def run(kernels: ModuleType, t: Tensors, config: Config) -> None:
        block = config["BLOCK"]
        kernels.add_kernel[(cdiv(n, block),)](t["x"], t["y"], t["out"], n, **config)

    configs = [{"BLOCK": block, "num_warps": w} for block, w in ((1024, 4), (2048, 4), (4096, 8))]
    return Case(
        f"vector add f32 {n}", make, run, lambda t: t["x"].double() + t["y"].double(), 12 * n, "TB/s", configs,
        lambda t: torch.add(t["x"], t["y"], out=t["out"]), 1e-6,
    )  # fmt: skip


def softmax(rows: int, cols: int) -> Case:
    def make() -> Tensors:
        return {"x": normal(rows, cols), "out": torch.empty(rows, cols, device="cuda")}

    def run(kernels: ModuleType, t: Tensors, config: Config) -> None:
        kernels.softmax_kernel[(rows,)](t["out"], t["x"], cols, cols, cols, BLOCK=power_of_2(cols), **config)

    return Case(
        f"softmax f32 {rows}x{cols}", make, run, lambda t: torch.softmax(t["x"].double(), 1), 8 * rows * cols, "TB/s",
        warps(4, 8, 16), lambda t: torch.softmax(t["x"], 1), 1e-5,
    )  # fmt: skip


def layer_norm(rows: int, cols: int) -> Case:
    half = torch.float16

    def make() -> Tensors:
        return {
            "x": normal(rows, cols, dtype=half, seed=1),
            "w": normal(cols, dtype=half, seed=2),
            "b": normal(cols, dtype=half, seed=3),
            "mean": torch.empty(rows, device="cuda"),
            "rstd": torch.empty(rows, device="cuda"),
            "out": torch.empty(rows, cols, device="cuda", dtype=half),
        }

    def run(kernels: ModuleType, t: Tensors, config: Config) -> None:
        kernels.layer_norm_kernel[(rows,)](
            t["x"], t["out"], t["w"], t["b"], t["mean"], t["rstd"], cols, cols, 1e-5, BLOCK=power_of_2(cols), **config
        )

    def expected(t: Tensors) -> Any:
        return torch.nn.functional.layer_norm(t["x"].double(), (cols,), t["w"].double(), t["b"].double(), 1e-5)

    return Case(
        f"layer norm f16 {rows}x{cols}", make, run, expected, 4 * rows * cols, "TB/s", warps(4, 8, 16),
        lambda t: torch.nn.functional.layer_norm(t["x"], (cols,), t["w"], t["b"], 1e-5), 2e-3,
    )  # fmt: skip


def gather(rows: int, cols: int) -> Case:
    def make() -> Tensors:
        generator = torch.Generator(device="cuda").manual_seed(5)
        index = torch.randperm(rows, generator=generator, device="cuda")
        return {"x": normal(rows, cols), "index": index, "out": torch.empty(rows, cols, device="cuda")}

    def run(kernels: ModuleType, t: Tensors, config: Config) -> None:
        kernels.gather_kernel[(rows,)](t["x"], t["index"], t["out"], cols, BLOCK=power_of_2(cols), **config)

    return Case(
        f"gather f32 {rows}x{cols}", make, run, lambda t: t["x"].double()[t["index"]], 8 * rows * cols, "TB/s",
        warps(4, 8), lambda t: torch.index_select(t["x"], 0, t["index"]), 1e-7,
    )  # fmt: skip


def cumsum(rows: int, cols: int) -> Case:
    def make() -> Tensors:
        return {"x": normal(rows, cols), "out": torch.empty(rows, cols, device="cuda")}

    def run(kernels: ModuleType, t: Tensors, config: Config) -> None:
        kernels.cumsum_kernel[(rows,)](t["x"], t["out"], cols, BLOCK=power_of_2(cols), **config)

    return Case(
        f"cumsum f32 {rows}x{cols}", make, run, lambda t: torch.cumsum(t["x"].double(), 1), 8 * rows * cols, "TB/s",
        warps(4, 8, 16), lambda t: torch.cumsum(t["x"], 1), 1e-5,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------ matrix-bound

MATMUL_CONFIGS = [
    {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP_M": 8, "num_warps": w, "num_stages": s}
    for m, n, k, w, s in ((128, 256, 64, 8, 3), (128, 256, 64, 8, 4), (128, 128, 64, 4, 4), (128, 128, 64, 8, 3))
]
F32_MATMUL_CONFIGS = [
    {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP_M": 8, "num_warps": w, "num_stages": s}
    for m, n, k, w, s in (
        (128, 128, 32, 8, 3),
        (128, 128, 32, 4, 4),
        (128, 256, 32, 8, 3),
        (256, 128, 32, 8, 3),
        (256, 128, 32, 8, 4),
    )
]
SMALL_CONFIG = [{"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "GROUP_M": 4, "num_warps": 4, "num_stages": 3}]


def matmul(
    size: int, dtype: Any = torch.float16, *, transposed: bool = False, configs: Sequence[Config] = MATMUL_CONFIGS
) -> Case:
    def make() -> Tensors:
        b = normal(size, size, dtype=dtype, seed=2)
        a = normal(size, size, dtype=dtype, seed=1)
        return {"a": a, "b": b.t() if transposed else b, "out": torch.empty(size, size, device="cuda", dtype=dtype)}

    def run(kernels: ModuleType, t: Tensors, config: Config) -> None:
        a, b, c = t["a"], t["b"], t["out"]
        grid = (cdiv(size, config["BLOCK_M"]) * cdiv(size, config["BLOCK_N"]),)
        kernels.matmul_kernel[grid](a, b, c, size, size, size, *a.stride(), *b.stride(), *c.stride(), **config)

    name = str(dtype).removeprefix("torch.")
    tolerance = {"float16": 2e-3, "bfloat16": 1e-2, "float32": 2e-3}[name]
    return Case(
        f"matmul {name} {size}{' B^T' if transposed else ''}", make, run,
        lambda t: t["a"].double() @ t["b"].double(), 2.0 * size**3, "TFLOP/s", configs,
        lambda t: torch.matmul(t["a"], t["b"]), tolerance,
    )  # fmt: skip


def matmul_descriptors(size: int, configs: Sequence[Config] = MATMUL_CONFIGS) -> Case:
    def make() -> Tensors:
        half = torch.float16
        a, b = normal(size, size, dtype=half, seed=1), normal(size, size, dtype=half, seed=2)
        return {"a": a, "b": b, "out": torch.empty(size, size, device="cuda", dtype=half)}

    def run(kernels: ModuleType, t: Tensors, config: Config) -> None:
        m, n, k = config["BLOCK_M"], config["BLOCK_N"], config["BLOCK_K"]
        make_descriptor = _descriptor_class(kernels).from_tensor
        key = f"{kernels.__name__} {m} {n} {k}"
        if key not in t:
            t[key] = [
                make_descriptor(t["a"], [m, k]),
                make_descriptor(t["b"], [k, n]),
                make_descriptor(t["out"], [m, n]),
            ]
        grid = (cdiv(size, m) * cdiv(size, n),)
        kernels.matmul_descriptors_kernel[grid](*t[key], size, size, size, **config)

    return Case(
        f"matmul float16 {size} descriptors", make, run, lambda t: t["a"].double() @ t["b"].double(), 2.0 * size**3,
        "TFLOP/s", configs, lambda t: torch.matmul(t["a"], t["b"]), 2e-3,
    )  # fmt: skip


def _descriptor_class(kernels: ModuleType) -> Any:
    if kernels.__name__.endswith("triton"):
        from triton.tools.tensor_descriptor import TensorDescriptor  # pyright: ignore[reportMissingTypeStubs]
    else:
        from tilewright.runtime.tensor_descriptor import TensorDescriptor
    return TensorDescriptor


ATTENTION_CONFIGS = [
    {"BLOCK_M": m, "BLOCK_N": n, "num_warps": w, "num_stages": s}
    for m, n, w, s in ((128, 64, 4, 3), (128, 64, 8, 3), (128, 128, 8, 2), (128, 128, 8, 3), (64, 64, 4, 3))
]


def attention(
    heads: int, length: int, head: int, *, causal: bool, configs: Sequence[Config] = ATTENTION_CONFIGS
) -> Case:
    shape = (heads, length, head)
    half = torch.float16

    def make() -> Tensors:
        q, k, v = (normal(*shape, dtype=half, seed=seed) for seed in range(3))
        return {"q": q, "k": k, "v": v, "out": torch.empty(shape, device="cuda", dtype=half)}

    def run(kernels: ModuleType, t: Tensors, config: Config) -> None:
        grid = (cdiv(length, config["BLOCK_M"]), heads)
        kernels.attention_kernel[grid](
            t["q"], t["k"], t["v"], t["out"], head**-0.5, length, HEAD=head, CAUSAL=causal, **config
        )

    def expected(t: Tensors) -> Any:
        """Some heads only: the scores in float64 are large."""
        q, k, v = (t[name][:2].double() for name in "qkv")
        scores = q @ k.transpose(1, 2) * head**-0.5
        if causal:
            scores = scores.masked_fill(torch.ones(length, length, device="cuda").triu(1).bool(), -float("inf"))
        return torch.softmax(scores, 2) @ v

    def peer(t: Tensors) -> Any:
        q, k, v = (t[name][None] for name in "qkv")
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

    operations = 4.0 * heads * length * length * head * (0.5 if causal else 1)
    return Case(
        f"attention f16 {heads}x{length}x{head}{' causal' if causal else ''}", make, run, expected, operations,
        "TFLOP/s", configs, peer, 4e-3,
    )  # fmt: skip


def smoke_cases() -> list[Case]:
    """Small ones, to see what works."""
    half, bf16 = torch.float16, torch.bfloat16
    attention_small = ATTENTION_CONFIGS[:1]
    return [
        vector_add(98432),
        softmax(1823, 781),
        softmax(256, 4096),
        layer_norm(1151, 4096),
        gather(1000, 512),
        cumsum(512, 1024),
        matmul(256, torch.float32, configs=SMALL_CONFIG),
        matmul(512, half, configs=SMALL_CONFIG),
        matmul(1024, half),
        matmul(1024, half, transposed=True),
        matmul(1024, bf16),
        matmul(1024, torch.float32, configs=F32_MATMUL_CONFIGS),
        matmul_descriptors(1024),
        attention(8, 1024, 64, causal=False, configs=attention_small),
        attention(8, 1024, 64, causal=True, configs=attention_small),
        attention(8, 1024, 128, causal=False, configs=attention_small),
        attention(8, 1024, 128, causal=True, configs=attention_small),
        float8_matmul(1024),
        int4_matmul(1024),
        int8_matmul(1024),
        attention_gradients(8, 1024, 128, causal=False),
    ]


def table_cases() -> list[Case]:
    """The rows of the published table."""
    half, bf16 = torch.float16, torch.bfloat16
    return [
        vector_add(1 << 27),
        softmax(16384, 4096),
        softmax(16384, 781),
        softmax(8192, 8192),
        layer_norm(8192, 4096),
        layer_norm(8192, 8192),
        gather(65536, 1024),
        cumsum(65536, 1024),
        matmul(2048, half),
        matmul(4096, half),
        matmul(8192, half),
        matmul(4096, bf16),
        matmul(4096, half, transposed=True),
        matmul(4096, torch.float32, configs=F32_MATMUL_CONFIGS),
        matmul_descriptors(4096),
        attention(128, 4096, 64, causal=False),
        attention(128, 4096, 64, causal=True),
        attention(128, 4096, 128, causal=False),
        attention(128, 4096, 128, causal=True),
        float8_matmul(8192),
        int4_matmul(4096),
        int8_matmul(4096),
        *(attention_gradients(128, 4096, head, causal=causal) for head in (64, 128) for causal in (False, True)),
    ]
