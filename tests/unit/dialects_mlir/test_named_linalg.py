"""Named linalg ops compute what NumPy does, by themselves, as generic ops, and lowered to loops both ways."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright import reference
from tilewright.dialects import linalg, make_context
from tilewright.dialects.linalg.scalars import FUNCTIONS
from tilewright.ir.parsing import parse_module
from tilewright.ir.passes import PassContext, parse_pipeline
from tilewright.ir.verify import verify_module
from tilewright.support.errors import TilewrightError

Array = np.ndarray[Any, Any]

NUMPY: dict[str, Any] = {
    "exp": np.exp, "log": np.log, "abs": np.abs, "ceil": np.ceil, "floor": np.floor, "negf": np.negative,
    "reciprocal": np.reciprocal, "round": lambda x: np.trunc(x + np.copysign(0.5, x)), "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "square": np.square, "tanh": np.tanh, "add": np.add, "sub": np.subtract,
    "mul": np.multiply, "div": np.divide, "max_signed": np.maximum, "min_signed": np.minimum,
    "max_unsigned": np.maximum, "min_unsigned": np.minimum, "powf": np.power,
}  # fmt: skip
EINSUMS = {
    "linalg.matmul": "mk,kn->mn",
    "linalg.batch_matmul": "bmk,bkn->bmn",
    "linalg.batch_reduce_matmul": "bmk,bkn->mn",
    "linalg.matvec": "mk,k->m",
    "linalg.vecmat": "k,kn->n",
    "linalg.batch_matvec": "bmk,bk->bm",
    "linalg.batch_vecmat": "bk,bkn->bn",
    "linalg.dot": "k,k->",
    "linalg.mmt4d": "MKmk,NKnk->MNmn",
    "linalg.batch_mmt4d": "bMKmk,bNKnk->bMNmn",
    "linalg.matmul indexing_maps": "km,nk->mn",
    "linalg.batch_matmul indexing_maps": "bkm,bnk->bmn",
    "linalg.contract indexing_maps": "mak,nk->amn",
}
"""The last three have maps of their own."""
SIZES = dict(zip("bmnkMNKa", (2, 3, 4, 8, 2, 3, 2, 5), strict=True))
WAYS = ("", "linalg-generalize-named-ops", "linalg-to-loops", "one-shot-bufferize,convert-linalg-to-loops")
rng = np.random.default_rng(5)


def tile(array: Array) -> str:
    return "x".join((*map(str, array.shape), "f32"))


def kernel(op: str, inputs: list[Array], out: Array) -> str:
    """A function that loads tiles from buffers, applies the op, and stores the result in the last buffer."""
    arrays = [*inputs, out]
    names = [f"%x{number}" for number in range(len(arrays))]
    tiles = [f"tensor<{tile(array)}>" for array in arrays]
    arguments = ", ".join(f"%m{n}: memref<{tile(array)}>" for n, array in enumerate(arrays))
    loads = "\n".join(
        f"  {name} = bufferization.to_tensor %m{n} restrict : memref<{tile(array)}> to {tiles[n]}"
        for n, (name, array) in enumerate(zip(names, arrays, strict=True))
    )
    ins, types = ", ".join(names[:-1]), ", ".join(tiles[:-1])
    return f"""func.func @f({arguments}) {{
{loads}
  %r = {op} ins({ins} : {types}) outs({names[-1]} : {tiles[-1]}) -> {tiles[-1]}
  bufferization.materialize_in_destination %r in writable %m{len(inputs)} : ({tiles[-1]}, memref<{tile(out)}>) -> ()
  return
}}
"""


def check(op: str, inputs: list[Array], out: Array, expected: Array) -> None:
    for way in WAYS:
        module = parse_module(kernel(op, inputs, out), make_context())
        verify_module(module)
        if way:
            parse_pipeline(way).run(module, PassContext())
            verify_module(module)
            assert not any(isinstance(inner, linalg.StructuredOp) for inner in module.walk()) or "general" in way
        result = out.copy()
        reference.run_module(module, "f", [*(array.copy() for array in inputs), result])
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6, err_msg=f"{op} by {way or 'itself'}")


@pytest.mark.parametrize("kind", sorted(NUMPY))
def test_elementwise_kinds_are_functions_of_numpy(kind: str) -> None:
    inputs = [rng.uniform(0.5, 3, (4, 8)).astype(np.float32) for _ in range(FUNCTIONS[kind].inputs)]
    expected = NUMPY[kind](*inputs)
    check(f"linalg.elementwise kind=#linalg.elementwise_kind<{kind}>", inputs, np.zeros((4, 8), np.float32), expected)
    name = kind.removesuffix("_signed")
    if "unsigned" not in kind:
        check(f"linalg.{name}", inputs, np.zeros((4, 8), np.float32), expected)


@pytest.mark.parametrize("op", EINSUMS)
def test_contractions_are_sums_of_einstein(op: str) -> None:
    subscripts = EINSUMS[op]
    *operands, result = subscripts.replace("->", ",").split(",")
    arrays = [
        rng.standard_normal([SIZES[letter] for letter in letters]).astype(np.float32) for letters in (*operands, result)
    ]
    if op.endswith("indexing_maps"):
        loops = ", ".join(sorted(set("".join(operands)), key="bamnk".index))
        maps = (f"affine_map<({loops}) -> ({', '.join(letters)})>" for letters in (*operands, result))
        op = f"{op} = [{', '.join(maps)}]"
    expected = arrays[2] + np.einsum(subscripts, *arrays[:2])
    check(op, arrays[:2], arrays[2], expected)


def test_passes_that_know_matmuls_meet_none_of_other_maps() -> None:
    maps = "[affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]"
    arrays = [np.ones((4, 4), np.float32)] * 3
    for generic in (False, True):
        module = parse_module(kernel(f"linalg.matmul indexing_maps = {maps}", arrays[:2], arrays[2]), make_context())
        if generic:
            from tilewright.ir.printing import print_op

            module = parse_module(print_op(module, generic=True), make_context())
        (op,) = (op for op in module.clone().walk() if op.name == "linalg.matmul")
        assert isinstance(op, linalg.MappedMatmulOp) and not isinstance(op, linalg.MatmulOp)
        op.properties["indexing_maps"] = op.standard_maps()
        assert isinstance(op.clone(), linalg.MatmulOp)


@pytest.mark.parametrize(
    ("op", "reason"),
    [
        ("linalg.sub ins(%b, %b : tensor<4xi1>, tensor<4xi1>) outs(%b : tensor<4xi1>)", "sub with bools"),
        ("linalg.exp ins(%i : tensor<4xi32>) outs(%i : tensor<4xi32>)", "unsupported non numeric type"),
        ("linalg.add ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>)", "expects 3 args, got 2"),
        ("linalg.add ins(%x, %y : tensor<4xf32>, tensor<8xf32>) outs(%x : tensor<4xf32>)", "to be 4, but found 8"),
    ],
)
def test_wrong_ops_are_refused(op: str, reason: str) -> None:
    text = f"func.func @f(%b: tensor<4xi1>, %i: tensor<4xi32>, %x: tensor<4xf32>, %y: tensor<8xf32>) {{\n%r = {op}"
    with pytest.raises(TilewrightError, match=reason):
        verify_module(parse_module(f"{text} -> {op.rpartition(' : ')[2][:-1]}\nreturn\n}}", make_context()))
