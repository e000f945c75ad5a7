"""The kernels whose TritonGPU IR is compared with official Triton's: examples, kernels at sizes that people run, and
the whole corpus, as it is and with aligned arguments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import corpus_oracle


@dataclass(frozen=True)
class GpuCase:
    """A kernel with arguments, warps of a program, and stages of its loops."""

    name: str
    case: corpus_oracle.Case
    num_warps: int = 4
    num_stages: int = 3
    is_sample: bool = True
    """Whether every run of the tests looks at it."""

    def __str__(self) -> str:
        return self.name


_MATRICES = "i32:16 i32:16 i32:16 i32:16 =1 i32:16 =1 i32:16 =1"
_GRADIENTS = "*fp16:16 *fp16:16 *fp16:16 *fp16:16"
_STATISTICS = "*fp32:16 *fp32:16"


def _three(element: str) -> str:
    return f"*{element}:16 *{element}:16 *{element}:16"


def _attention(head: int, rows: int, columns: int, *, causal: bool) -> str:
    sizes = " ".join(["i32:16"] * 10)
    return f"{_GRADIENTS} *fp32:16 fp32 {sizes} ={head} ={rows} ={columns} ={causal}"


EXAMPLES: dict[str, tuple[str, str, str, int, int]] = {
    "vector add": ("vector_add", "add_kernel", f"{_three('fp32')} i32:16 =1024", 4, 3),
    "vector add f16": ("vector_add", "add_kernel", f"{_three('fp16')} i32:16 =1024", 4, 3),
    "vector add any size": ("vector_add", "add_kernel", f"{_three('fp32')} i32 =1024", 4, 3),
    "dropout": ("dropout", "dropout_kernel", "*fp32:16 *fp32:16 i32:16 fp32 i32 =1024", 4, 3),
    "softmax": ("softmax", "softmax_kernel", "*fp32:16 *fp32:16 i32:16 i32:16 i32:16 =1024", 4, 3),
    "softmax f16 8 warps": ("softmax", "softmax_kernel", "*fp16:16 *fp16:16 i32:16 i32:16 i32:16 =4096", 8, 3),
    "matmul 64x64x64": ("matmul", "matmul_kernel", f"{_three('fp16')} {_MATRICES} =64 =64 =64 =8", 4, 3),
    "matmul 128x128x64": ("matmul", "matmul_kernel", f"{_three('fp16')} {_MATRICES} =128 =128 =64 =8", 8, 3),
    "matmul 128x256x64": ("matmul", "matmul_kernel", f"{_three('fp16')} {_MATRICES} =128 =256 =64 =8", 8, 3),
    "matmul 128x128x32 4 stages": ("matmul", "matmul_kernel", f"{_three('fp16')} {_MATRICES} =128 =128 =32 =8", 4, 4),
    "matmul f32": ("matmul", "matmul_kernel", f"{_three('fp32')} {_MATRICES} =64 =64 =32 =8", 4, 3),
    "matmul bf16 2 stages": ("matmul", "matmul_kernel", f"{_three('bf16')} {_MATRICES} =64 =128 =64 =8", 4, 2),
    "matmul A transposed": (
        "matmul",
        "matmul_kernel",
        f"{_three('fp16')} i32:16 i32:16 i32:16 =1 i32:16 i32:16 =1 i32:16 =1 =128 =128 =64 =8",
        8,
        3,
    ),
    "matmul B transposed": (
        "matmul",
        "matmul_kernel",
        f"{_three('fp16')} i32:16 i32:16 i32:16 i32:16 =1 =1 i32:16 i32:16 =1 =128 =128 =64 =8",
        8,
        3,
    ),
    "persistent matmul": (
        "persistent_matmul",
        "persistent_matmul_kernel",
        f"{_three('fp16')} {_MATRICES} =128 =128 =64 =8 =132",
        8,
        3,
    ),
    "descriptor matmul": (
        "persistent_matmul",
        "descriptor_matmul_kernel",
        f"{_three('fp16')} i32:16 i32:16 i32:16 =128 =128 =64 =8 =132",
        8,
        3,
    ),
    "grouped gemm": (
        "grouped_gemm",
        "grouped_gemm_kernel",
        "*i64:16 *i64:16 *i64:16 *i32:16 *i32:16 i32 =@float16 =128 =128 =32 =84",
        4,
        3,
    ),
    "layer norm": (
        "layer_norm",
        "layer_norm_forward",
        f"{_GRADIENTS} {_STATISTICS} i32:16 i32:16 fp32 =1024",
        4,
        3,
    ),
    "layer norm dx": (
        "layer_norm",
        "layer_norm_backward_dx",
        f"{_GRADIENTS} *fp16:16 *fp16:16 {_STATISTICS} *i32:16 i32:16 i32:16 =64 =1024",
        4,
        3,
    ),
    "layer norm weights": (
        "layer_norm",
        "layer_norm_backward_weights",
        f"{_STATISTICS} *fp16:16 *fp16:16 i32:16 i32:16 =32 =128",
        4,
        3,
    ),
    "attention 64": ("attention", "attention_forward", _attention(64, 128, 64, causal=False), 4, 3),
    "attention 64 causal": ("attention", "attention_forward", _attention(64, 128, 64, causal=True), 4, 3),
    "attention 128 causal": ("attention", "attention_forward", _attention(128, 128, 64, causal=True), 8, 3),
    "attention delta": (
        "attention",
        "attention_backward_delta",
        "*fp16:16 *fp16:16 *fp32:16 i32:16 =64 =128",
        4,
        3,
    ),
    "attention dk dv": (
        "attention",
        "attention_backward_keys",
        f"{_GRADIENTS} *fp16:16 *fp16:16 {_STATISTICS} fp32 i32:16 =64 =64 =64 =True",
        4,
        3,
    ),
    "attention dq": (
        "attention",
        "attention_backward_queries",
        f"{_GRADIENTS} *fp16:16 {_STATISTICS} fp32 i32:16 =64 =64 =64 =True",
        4,
        3,
    ),
}
"""The example kernels: file, kernel, arguments, warps, stages."""

_ROWS = "*fp32:16 *fp32:16 i32:16 i32:16 i32 i32 =4096 =2"
_NORM = "*fp16:16 *fp16:16 *fp16:16 *fp16:16 *fp32:16 *fp32:16 i32:16 i32:16 fp32 =4096"
_TUTORIAL_ATTENTION = "*fp16:16 *fp16:16 *fp16:16 fp32 *fp32:16 *fp16:16 i32 i32 =2 =1024 =64 =128 =64 =3"

TUTORIALS: dict[str, tuple[str, str, int]] = {
    "tutorial softmax 8 warps": ("fused_softmax", _ROWS, 8),
    "tutorial layer norm 8 warps": ("layer_norm", _NORM, 8),
    "tutorial attention 128x64": ("attention", _TUTORIAL_ATTENTION, 4),
    "tutorial vector add": ("vector_add", "*fp32:16 *fp32:16 *fp32:16 i32:16 =1024", 4),
    "tutorial matmul": ("matmul", f"{_three('fp16')} {_MATRICES} =128 =128 =64 =8 =''", 8),
}
"""Kernels of the tutorials, at sizes that people run: kernel, arguments, warps."""

FILES_OF_SAMPLE = ("basics", "patterns", "reductions", "tutorials", "unusual")
"""Files of the corpus of which every run looks at each kernel, with aligned arguments."""


def _number_of(file: str, kernel: str) -> int:
    cases = corpus_oracle.load(file, "tilewright").CASES
    return next(number for number, (found, _) in enumerate(cases) if found.fn.__name__ == kernel)


@cache
def gpu_cases() -> tuple[GpuCase, ...]:
    """All of them, by distinct names."""
    found: list[GpuCase] = []
    for name, (file, kernel, arguments, warps, stages) in EXAMPLES.items():
        found.append(GpuCase(name, corpus_oracle.Case(f"examples/{file}", kernel, -1, arguments), warps, stages))
    for name, (kernel, arguments, warps) in TUTORIALS.items():
        case = corpus_oracle.Case("basics", kernel, _number_of("basics", kernel), arguments)
        found.append(GpuCase(name, case, warps))
    seen: set[tuple[str, str]] = set()
    for case in corpus_oracle.cases():
        is_first = (case.file, case.kernel) not in seen
        seen.add((case.file, case.kernel))
        aligned = corpus_oracle.aligned(case)
        found.append(GpuCase(str(case), case, is_sample=False))
        if aligned != case:
            is_sample = is_first and case.file in FILES_OF_SAMPLE
            found.append(GpuCase(f"{case} aligned", aligned, is_sample=is_sample))
    return tuple(found)
