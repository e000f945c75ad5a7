"""The kernels of `examples/`, each compiled for small blocks."""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tilewright import compat
from tilewright.frontend import compile_to_tt

KERNELS = (
    ("vector_add", "add_kernel", "*fp32 *fp32 *fp32 i32 =64"),
    ("softmax", "softmax_kernel", "*fp32 *fp32 i32 i32 i32 =64"),
    ("matmul", "matmul_kernel", "*fp32 *fp32 *fp32" + 9 * " i32" + " =16 =32 =16 =2"),
    ("matmul", "matmul_kernel", "*bf16 *bf16 *fp32" + 9 * " i32" + " =16 =16 =32 =1"),
    ("dropout", "dropout_kernel", "*fp32 *fp32 i32 fp32 i32 =64"),
    ("layer_norm", "layer_norm_forward", "*fp32 *fp32 *fp32 *fp32 *fp32 *fp32 i32 i32 fp32 =64"),
    ("layer_norm", "layer_norm_backward_dx", 8 * "*fp32 " + "*i32 i32 i32 =2 =64"),
    ("layer_norm", "layer_norm_backward_weights", 4 * "*fp32 " + "i32 i32 =16 =32"),
    ("attention", "attention_forward", 5 * "*fp32 " + "fp32" + 10 * " i32" + " =16 =16 =16 =True"),
    ("attention", "attention_forward", 4 * "*fp16 " + "*fp32 fp32" + 10 * " i32" + " =16 =16 =32 =False"),
    ("attention", "attention_backward_delta", 3 * "*fp32 " + "i32 =16 =16"),
    ("attention", "attention_backward_keys", 8 * "*fp32 " + "fp32 i32 =16 =16 =16 =True"),
    ("attention", "attention_backward_queries", 7 * "*fp32 " + "fp32 i32 =16 =16 =16 =True"),
    ("persistent_matmul", "persistent_matmul_kernel", "*fp32 *fp32 *fp32" + 9 * " i32" + " =16 =16 =16 =2 =3"),
    ("persistent_matmul", "descriptor_matmul_kernel", "*fp32 *fp32 *fp32 i32 i32 i32 =16 =16 =16 =2 =3"),
    ("grouped_gemm", "grouped_gemm_kernel", "*i64 *i64 *i64 *i32 *i32 i32 @float32 =16 =16 =16 =4"),
)


def modules(folder: Path) -> Iterator[tuple[str, ModuleOp]]:
    """Names and `tt` modules."""
    sys.path.insert(0, str(folder))
    with compat.standing_in():
        for file, name, arguments in KERNELS:
            kernel = getattr(importlib.import_module(file), name)
            yield f"examples:{name}:{arguments.split()[0]}", _compile(kernel, arguments.split())


def _compile(kernel: Any, tokens: list[str]) -> ModuleOp:
    from tilewright import language

    signature: dict[str, Any] = {}
    constants: dict[tuple[int, ...], Any] = {}
    for place, (name, token) in enumerate(zip(kernel.arg_names, tokens, strict=True)):
        signature[name] = "constexpr" if token[0] in "=@" else token
        if token[0] == "=":
            constants[place,] = ast.literal_eval(token[1:])
        elif token[0] == "@":
            constants[place,] = getattr(language, token[1:])
    return compile_to_tt(kernel, signature, constants, {})
