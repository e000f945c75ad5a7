"""Which layouts matrix products take on tensor cores: those of official Triton, over shapes, types, warps and GPUs."""

from __future__ import annotations

from itertools import product

import pytest
from official_passes import run_official
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import make_context, tt, ttg, ttng
from tilewright.dialects.tt.types import is_tensor
from tilewright.ir.parsing import parse_module
from tilewright.ir.passes import PassContext
from tilewright.transforms.ttg.accelerate_matmul import AccelerateMatmulPass

SHAPES = [(16, 16, 16), (16, 8, 32), (32, 256, 32), (64, 16, 64), (64, 64, 32), (64, 256, 64), (128, 32, 64),
          (128, 128, 16), (128, 256, 64), (256, 64, 128), (256, 512, 32)]  # fmt: skip
"""M, N, K."""

TYPES = [("f16", "f32", ""), ("f16", "f16", ""), ("bf16", "f32", ""), ("f32", "f32", ", inputPrecision = tf32"),
         ("f32", "f32", ""), ("i8", "i32", ""), ("f64", "f64", ""),
         ("f8E5M2", "f32", " {maxNumImpreciseAcc = 64 : i32}"),
         ("f8E4M3FN", "f32", "")]  # fmt: skip
"""Of the operands and of the result, and what else the product says."""

CHAIN = """
  tt.func @chain(%x: tensor<{m}x64xf16, #a>, %y: tensor<64x64xf16, #c>, %z: tensor<64x64xf16, #c>, %s: tensor<{m}x64xf32, #b>) -> tensor<{m}x64xf32, #b> {{
    %0 = tt.dot %x, %y, %s : tensor<{m}x64xf16, #a> * tensor<64x64xf16, #c> -> tensor<{m}x64xf32, #b>
    %1 = arith.truncf %0 : tensor<{m}x64xf32, #b> to tensor<{m}x64xf16, #b>
    %2 = ttg.convert_layout %1 : tensor<{m}x64xf16, #b> -> tensor<{m}x64xf16, #a>
    %3 = tt.dot %2, %z, %s : tensor<{m}x64xf16, #a> * tensor<64x64xf16, #c> -> tensor<{m}x64xf32, #b>
    tt.return %3 : tensor<{m}x64xf32, #b>
  }}
"""  # noqa: E501 - a line of IR each

WIDENED = """
  tt.func @widened_{name}(%x: tensor<64x64x{element}, #a>, %p: tensor<64x64x!tt.ptr<i8>, #b>, %s: tensor<64x64xf32, #b>) -> tensor<64x64xf32, #b> {{
    %0 = tt.load %p : tensor<64x64x!tt.ptr<i8>, #b>
    %1 = arith.sitofp %0 : tensor<64x64xi8, #b> to tensor<64x64x{element}, #b>
    %2 = ttg.convert_layout %1 : tensor<64x64x{element}, #b> -> tensor<64x64x{element}, #c>
    %3 = tt.dot %x, %2, %s : tensor<64x64x{element}, #a> * tensor<64x64x{element}, #c> -> tensor<64x64xf32, #b>
    tt.return %3 : tensor<64x64xf32, #b>
  }}
"""  # noqa: E501 - a line of IR each


def _is_wanted(shape: tuple[int, int, int], types: tuple[str, str, str]) -> bool:
    """Without products of 8-bit elements that are shorter than an instruction (the front end refuses them), and without
    those of wide integers: ours takes 256 columns at once where Triton's table ends at 224."""
    is_short = shape[2] < 32 and types[0] in ("i8", "f8E5M2", "f8E4M3FN")
    return not is_short and not (types[0] == "i8" and shape[1] >= 256)


def _function(number: int, shape: tuple[int, int, int], types: tuple[str, str, str]) -> str:
    (m, n, k), (operand, result, more) = shape, types
    a, b, c = f"tensor<{m}x{k}x{operand}, #a>", f"tensor<{k}x{n}x{operand}, #c>", f"tensor<{m}x{n}x{result}, #b>"
    attributes, precision = (more, "") if "{" in more else ("", more)
    return (
        f"  tt.func @product{number}(%x: {a}, %y: {b}, %z: {c}) -> {c} {{\n"
        f"    %0 = tt.dot %x, %y, %z{precision}{attributes} : {a} * {b} -> {c}\n    tt.return %0 : {c}\n  }}\n"
    )


def _module(capability: int, warps: int) -> str:
    functions = [_function(number, *case) for number, case in enumerate(product(SHAPES, TYPES)) if _is_wanted(*case)]
    functions += [CHAIN.format(m=128)]
    functions += [WIDENED.format(name=name, element=name) for name in ("f16", "bf16")]
    layout = f"sizePerThread = [4, 4], threadsPerWarp = [1, 32], warpsPerCTA = [{warps}, 1], order = [1, 0]"
    attributes = (
        f'"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = {warps} : i32, ttg.target = "cuda:{capability}", '
        '"ttg.threads-per-warp" = 32 : i32'
    )
    return (
        f"#b = #ttg.blocked<{{{layout}}}>\n#a = #ttg.dot_op<{{opIdx = 0, parent = #b}}>\n"
        f"#c = #ttg.dot_op<{{opIdx = 1, parent = #b}}>\nmodule attributes {{{attributes}}} {{\n{''.join(functions)}}}\n"
    )


def _decisions(module: ModuleOp) -> dict[str, list[str]]:
    """By function, its products: the op, the encodings of A, B and the result, and where operands are in registers."""
    found: dict[str, list[str]] = {}
    for function in module.ops:
        assert isinstance(function, tt.FuncOp)
        products = found.setdefault(function.sym_name.data, [])
        for op in function.walk():
            if isinstance(op, tt.DotOp | ttng.WarpGroupDotOp):
                types = [op.operands[0].type, op.operands[1].type, op.results[0].type]
                encodings = [_encoding(type) for type in types]
                products.append(" ".join((op.name, *encodings)))
    return found


def _encoding(type: object) -> str:
    if is_tensor(type):  # pyright: ignore[reportArgumentType]
        return f"{type.element_type} {type.encoding}"  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
    return f"{type.element_type} {type.encoding}" if isinstance(type, ttg.MemDescType) else str(type)


SETTINGS = [(80, 1), (80, 4), (80, 8), (89, 4), (90, 4), (90, 8)]
"""Compute capabilities and warps."""


@pytest.mark.costly
@pytest.mark.needs("triton")
def test_products_are_laid_out_as_by_triton() -> None:
    texts = [_module(capability, warps) for capability, warps in SETTINGS]
    official = run_official(texts, ["accelerate_matmul"])
    for text, theirs in zip(texts, official, strict=True):
        module = parse_module(text, make_context())
        AccelerateMatmulPass().run(module, PassContext())
        module.verify()
        assert _decisions(module) == _decisions(parse_module(theirs, make_context()))
