"""Products of operands that are narrower than the sums: 8-bit floats, 8-bit integers with f16, and weights of four bits
with f16 activations.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import torch
from case import Case, Config, Tensors, cdiv, normal

FLOAT8_CONFIGS = [
    {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP_M": 8, "num_warps": w, "num_stages": s}
    for m, n, k, w, s in ((128, 256, 128, 8, 3), (128, 256, 128, 8, 4), (128, 128, 128, 8, 3), (128, 128, 128, 4, 4))
]


def float8_matmul(size: int, configs: Sequence[Config] = FLOAT8_CONFIGS) -> Case:
    """Sums are in f32 as the tensor cores have them, which keep fewer bits: so does PyTorch's fast accumulation."""
    float8 = torch.float8_e4m3fn

    def make() -> Tensors:
        a, b = (normal(size, size, dtype=float8, seed=seed) for seed in (1, 2))
        return {"a": a, "b": b.t(), "out": torch.empty(size, size, device="cuda", dtype=torch.float16)}

    def run(kernels: ModuleType, t: Tensors, config: Config) -> None:
        a, b, c = t["a"], t["b"], t["out"]
        grid = (cdiv(size, config["BLOCK_M"]) * cdiv(size, config["BLOCK_N"]),)
        kernels.matmul_kernel[grid](a, b, c, size, size, size, *a.stride(), *b.stride(), *c.stride(), **config)

    def peer(t: Tensors) -> Any:
        one = torch.ones((), device="cuda")
        return torch._scaled_mm(t["a"], t["b"], scale_a=one, scale_b=one, out_dtype=torch.float16, use_fast_accum=True)

    return Case(
        f"matmul float8e4nv {size} B^T", make, run, lambda t: t["a"].double() @ t["b"].double(), 2.0 * size**3,
        "TFLOP/s", configs, peer, 1e-2,
    )  # fmt: skip


INT4_CONFIGS = [
    {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP_M": 8, "num_warps": w, "num_stages": s}
    for m, n, k, w, s in (
        (256, 128, 64, 8, 3),
        (256, 128, 64, 8, 4),
        (256, 64, 64, 4, 3),
        (128, 128, 64, 8, 3),
        (128, 128, 64, 4, 4),
    )
]
GROUP_K = 128
"""Weights of a row that share a scale."""


def int4_matmul(size: int, configs: Sequence[Config] = INT4_CONFIGS) -> Case:
    """PyTorch multiplies the same weights as f16, dequantised beforehand."""
    half = torch.float16

    def make() -> Tensors:
        generator = torch.Generator(device="cuda").manual_seed(2)
        weights = torch.randint(0, 16, (size, size), generator=generator, device="cuda", dtype=torch.uint8)
        scales = (normal(size // GROUP_K, size, seed=3).abs() * 0.1).to(half)
        wide = ((weights.to(half) - 8).view(size, -1, GROUP_K) * scales.t()[:, :, None]).view(size, size)
        packed = weights[:, 0::2] | (weights[:, 1::2] << 4)
        out = torch.empty(size, size, device="cuda", dtype=half)
        return {"a": normal(size, size, dtype=half, seed=1), "w": packed, "s": scales, "wide": wide, "out": out}

    def run(kernels: ModuleType, t: Tensors, config: Config) -> None:
        grid = (cdiv(size, config["BLOCK_M"]) * cdiv(size, config["BLOCK_N"]),)
        kernels.int4_matmul_kernel[grid](
            t["a"], t["w"], t["s"], t["out"], size, size, size, size, size // 2, size, size,
            GROUP_K=GROUP_K, **config,
        )  # fmt: skip

    return Case(
        f"matmul float16 x int4 {size}", make, run, lambda t: t["a"].double() @ t["wide"].double().t(),
        2.0 * size**3, "TFLOP/s", configs, lambda t: torch.matmul(t["a"], t["wide"].t()), 2e-3,
    )  # fmt: skip


INT8_CONFIGS = [
    {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP_M": 8, "num_warps": w, "num_stages": s}
    for m, n, k, w, s in (
        (128, 256, 64, 8, 3),
        (128, 256, 64, 8, 4),
        (64, 256, 64, 4, 3),
        (128, 128, 64, 8, 3),
        (128, 128, 64, 4, 4),
    )
]


def int8_matmul(size: int, configs: Sequence[Config] = INT8_CONFIGS) -> Case:
    """PyTorch multiplies the same integers as f16, widened beforehand."""
    half, scale = torch.float16, 2.0**-7

    def make() -> Tensors:
        generator = torch.Generator(device="cuda").manual_seed(1)
        a = torch.randint(-128, 128, (size, size), generator=generator, device="cuda", dtype=torch.int8)
        out = torch.empty(size, size, device="cuda", dtype=half)
        return {"a": a, "wide": a.to(half) * scale, "b": normal(size, size, dtype=half, seed=2), "out": out}

    def run(kernels: ModuleType, t: Tensors, config: Config) -> None:
        grid = (cdiv(size, config["BLOCK_M"]) * cdiv(size, config["BLOCK_N"]),)
        kernels.int8_matmul_kernel[grid](t["a"], t["b"], t["out"], size, size, size, size, size, size, scale, **config)

    return Case(
        f"matmul int8 x float16 {size}", make, run, lambda t: t["wide"].double() @ t["b"].double(),
        2.0 * size**3, "TFLOP/s", configs, lambda t: torch.matmul(t["wide"], t["b"]), 2e-3,
    )  # fmt: skip
