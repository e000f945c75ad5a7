"""Gradients of attention: a kernel for the dot products of rows, one for keys and values, one for queries."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

import torch
from case import Case, Config, Tensors, cdiv, normal

CHECKED_HEADS = 2
"""Heads whose gradients are computed in float64: the scores there are large."""
CHUNK_HEADS = 8
"""Heads whose scores are in memory at a time while inputs are made."""


def _configs(*choices: tuple[int, int, int, int]) -> list[Config]:
    return [{"BLOCK_M": m, "BLOCK_N": n, "num_warps": w, "num_stages": s} for m, n, w, s in choices]


CONFIGS: list[Config] = [
    {"keys": keys, "queries": queries}
    for keys, queries in zip(
        _configs((64, 128, 8, 2), (64, 128, 8, 3), (64, 128, 8, 3), (64, 64, 4, 3), (64, 64, 4, 3), (64, 64, 4, 2)),
        _configs((128, 128, 8, 2), (128, 64, 8, 3), (64, 64, 4, 2), (128, 64, 8, 3), (64, 64, 4, 2), (128, 64, 8, 3)),
        strict=True,
    )
]


def _scores(t: Tensors, heads: slice, dtype: Any) -> Any:
    q, k = (t[name][heads].to(dtype) for name in "qk")
    scores = q @ k.transpose(1, 2) * q.shape[2] ** -0.5
    if t["causal"]:
        scores.masked_fill_(torch.ones(scores.shape[1:], device="cuda").triu(1).bool(), -float("inf"))
    return scores


def _make(shape: tuple[int, int, int], causal: bool) -> Tensors:
    """Inputs, and what the forward pass left: `lse`, and its result."""
    half = torch.float16
    t: Tensors = {name: normal(*shape, dtype=half, seed=seed) for seed, name in enumerate(("q", "k", "v", "given"))}
    t["causal"] = causal
    t["lse"], t["dots"] = (torch.empty(shape[:2], device="cuda") for _ in range(2))
    t["result"] = torch.empty(shape, device="cuda", dtype=half)
    for first in range(0, shape[0], CHUNK_HEADS):
        heads = slice(first, first + CHUNK_HEADS)
        scores = _scores(t, heads, torch.float32)
        t["lse"][heads] = torch.logsumexp(scores, 2) * 1.4426950408889634
        t["result"][heads] = torch.softmax(scores, 2) @ t["v"][heads].float()
    gradients = torch.empty((3, *shape), device="cuda", dtype=half)
    t.update(zip(("dq", "dk", "dv"), gradients, strict=True))
    t["out"] = gradients.transpose(0, 1)
    return t


def _expected(t: Tensors) -> Any:
    """The gradients of the first heads in float64: head, then dQ, dK and dV."""
    q, k, v, given = (t[name][:CHECKED_HEADS].double() for name in ("q", "k", "v", "given"))
    scale = q.shape[2] ** -0.5
    p = torch.softmax(_scores(t, slice(0, CHECKED_HEADS), torch.float64), 2)
    ds = p * (given @ v.transpose(1, 2) - (given * (p @ v)).sum(2, keepdim=True))
    return torch.stack((ds @ k * scale, ds.transpose(1, 2) @ q * scale, p.transpose(1, 2) @ given), 1)


def _peer(t: Tensors) -> Any:
    """The backward pass alone, after a forward pass that the first call makes."""
    if "inputs" not in t:
        t["inputs"] = tuple(t[name][None].detach().requires_grad_() for name in "qkv")
        t["forward"] = torch.nn.functional.scaled_dot_product_attention(*t["inputs"], is_causal=t["causal"])
    return torch.autograd.grad(t["forward"], t["inputs"], t["given"][None], retain_graph=True)


def run_row_dots(kernels: ModuleType, t: Tensors) -> None:
    rows = t["lse"].numel()
    kernels.row_dots_kernel[(rows // 32,)](t["result"], t["given"], t["dots"], HEAD=t["q"].shape[2], ROWS=32)


def run_keys(kernels: ModuleType, t: Tensors, config: Config) -> None:
    heads, length, head = t["q"].shape
    kernels.key_gradients_kernel[(cdiv(length, config["BLOCK_N"]), heads)](
        t["q"], t["k"], t["v"], t["given"], t["lse"], t["dots"], t["dk"], t["dv"], head**-0.5, length,
        HEAD=head, CAUSAL=t["causal"], **config,
    )  # fmt: skip


def run_queries(kernels: ModuleType, t: Tensors, config: Config) -> None:
    heads, length, head = t["q"].shape
    kernels.query_gradients_kernel[(cdiv(length, config["BLOCK_M"]), heads)](
        t["q"], t["k"], t["v"], t["given"], t["lse"], t["dots"], t["dq"], head**-0.5, length,
        HEAD=head, CAUSAL=t["causal"], **config,
    )  # fmt: skip


def attention_gradients(
    heads: int, length: int, head: int, *, causal: bool, configs: Sequence[Config] = CONFIGS
) -> Case:
    """All gradients, counted as the five products that they need."""

    def run(kernels: ModuleType, t: Tensors, config: Config) -> None:
        run_row_dots(kernels, t)
        run_keys(kernels, t, config["keys"])
        run_queries(kernels, t, config["queries"])

    work = 10.0 * heads * length * length * head * (0.5 if causal else 1)
    return Case(
        f"attention gradients f16 {heads}x{length}x{head}{' causal' if causal else ''}",
        lambda: _make((heads, length, head), causal), run, _expected, work, "TFLOP/s", configs, _peer, 4e-3,
    )  # fmt: skip
