"""Every op of every dialect: a docstring with a line of IR, a constructor, a text, a meaning, a lowering or why not."""

from __future__ import annotations

import pkgutil
import re
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from xdsl.ir import Operation
from xdsl.traits import IsTerminator

import tilewright.lowering
import tilewright.reference
from tilewright.dialects import DIALECTS, load_dialect
from tilewright.dialects.constructors import write_constructor
from tilewright.dialects.definition import Op
from tilewright.lowering.arith_to_linalg.arith_to_linalg import LOWERINGS as TO_LINALG
from tilewright.lowering.linalg_to_loops.function_lowering import LOWERINGS as TO_LOOPS
from tilewright.lowering.loops_to_llvm.function_lowering import RULES as TO_LLVM
from tilewright.lowering.ptr_to_memref.addresses import LOWERINGS as ADDRESSES_TO_MEMREF
from tilewright.lowering.structured_to_memref.structured_to_memref import LOWERINGS as STRUCTURED_TO_MEMREF
from tilewright.lowering.ttg_to_llvm.function_lowering import RULES as TTG_TO_LLVM
from tilewright.lowering.ttg_to_tt.gluon_drop_layouts import LOWERINGS as TTG_TO_TT
from tilewright.lowering.unstructured_to_memref.unstructured_to_memref import LOWERINGS as UNSTRUCTURED_TO_MEMREF
from tilewright.reference.machine import MEANINGS

OPS: list[type[Op]] = [op for name in DIALECTS for op in load_dialect(name).operations if issubclass(op, Op)]
TESTS = Path(__file__).parents[2]

BY_ITS_PARENT = {
    "affine.yield", "func.func", "linalg.yield", "scf.reduce", "scf.reduce.return", "tensor.yield", "tt.func",
    "ttg.mask.return", "ttg.warp_specialize.partitions",
}  # fmt: skip
"""Ops that are lowered with the op, or the module, that they are a part of."""

BY_A_PASS = {
    "linalg_ext.dot_bytes": "convert-dot-bytes-to-calls",
    "linalg_ext.dot_pairs": "convert-dot-bytes-to-calls",
    "linalg_ext.sum_pairs": "convert-dot-bytes-to-calls",
    "linalg_ext.needed": "linalg-to-loops reads them before it starts, and drops them",
    "affine": "lower-affine",
    "tptr": "reconcile-ptr-casts, after triton-to-ptr; the rest is for other tools",
    "tts.make_tptr": "what accesses through it takes its sizes, strides and offsets",
    "tts.make_gather_scatter_tptr": "as tts.make_tptr",
    "tts.get_structured_state": "triton-to-structured makes and resolves it",
    "tt.make_tensor_ptr": "rewrite-tensor-pointer, or triton-to-structured",
    "tt.advance": "as tt.make_tensor_ptr",
    "tt.make_tensor_descriptor": "rewrite-tensor-descriptor-to-pointer, or tma-lowering",
    "tt.descriptor": "as tt.make_tensor_descriptor",
    "ttg.mask": "the pipeliner makes it and takes it apart",
    "ttg.predicate_stage": "as ttg.mask",
    "ttg.barrier": "a text: what is read is a ttg.local_barrier or a gpu.barrier",
    "gluon.set_auto_layout": "gluon-infer-coalesced-encodings and gluon-resolve-auto-encodings",
    "linalg.index": "a coordinate of the loop nest of the op around it",
    "memref.global": "a global of the module",
}
"""Ops, or families of them, that a pass replaces before a table of lowerings would be asked."""

FOR_OTHER_TOOLS = {
    "bufferization.clone", "bufferization.dealloc_tensor", "bufferization.to_buffer", "scf.parallel",
    "tensor.from_elements", "tensor.generate", "tensor.rank", "tensor.bitcast", "vector.multi_reduction",
    "vector.transpose", "vector.scan", "vector.outerproduct", "vector.print", "vector.from_elements",
    "vector.to_elements", "vector.expandload", "vector.compressstore", "vector.transfer_read", "vector.transfer_write",
}  # fmt: skip
"""Ops that no pass of ours makes: they are read, checked, run by the reference and printed for those who do."""


@cache
def texts() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(TESTS.rglob("*.mlir")))


@cache
def fill_tables() -> None:
    for package in (tilewright.lowering, tilewright.reference):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if ".simt" not in module.name:
                import_module(module.name)


def text_name(op: type[Operation]) -> str:
    return op.name.removeprefix("func.")


def test_docstrings_show_a_line_of_ir() -> None:
    assert not [op.name for op in OPS if not re.search(rf"\b{re.escape(text_name(op))}\b", op.__doc__ or "")]


def test_constructors_follow_from_the_fields_or_are_written() -> None:
    for op in OPS:
        if op.__init__ is Op.__init__:
            assert write_constructor(op).__code__.co_varnames[0] == "self", op.name
        else:
            assert any("__init__" in vars(base) for base in op.__mro__[: op.__mro__.index(Op)]), op.name


def test_every_op_stands_in_a_text() -> None:
    """In one that is read and printed again; the first of these reads as another op, the second has no text alone."""
    others = {"ttg.barrier", "ttg.warp_specialize.partitions"}
    words = {word.strip(".") for word in re.findall(r"[\w.]+", texts())}
    assert {op.name for op in OPS if text_name(op) not in words} <= others


def test_every_op_has_a_meaning() -> None:
    """Terminators and functions mean what the op around them makes of them."""
    fill_tables()
    without = {op.name for op in OPS if op not in MEANINGS and not op.has_trait(IsTerminator)}
    pointers = {op.name for op in load_dialect("tptr").operations}  # read and printed only
    assert without - pointers == {"func.func", "tt.func", "ttg.barrier"}


def test_every_op_has_a_lowering_or_a_reason() -> None:
    fill_tables()
    lowered = {
        *TO_LINALG, *TO_LOOPS, *TO_LLVM, *ADDRESSES_TO_MEMREF, *STRUCTURED_TO_MEMREF, *UNSTRUCTURED_TO_MEMREF,
        *TTG_TO_LLVM, *TTG_TO_TT,
    }  # fmt: skip
    without = {op.name for op in OPS if op not in lowered} - BY_ITS_PARENT - FOR_OTHER_TOOLS
    explained = re.compile("|".join(rf"{re.escape(key)}(?![a-z])" for key in BY_A_PASS))
    unexplained = {name for name in without if not explained.match(name)}
    assert unexplained == set()


def test_the_lists_above_hold_no_op_with_a_lowering() -> None:
    fill_tables()
    lowered = {op.name for op in (*TO_LINALG, *TO_LOOPS, *TO_LLVM, *STRUCTURED_TO_MEMREF, *TTG_TO_LLVM)}
    assert lowered & (BY_ITS_PARENT | FOR_OTHER_TOOLS | set(BY_A_PASS)) == set()


def test_what_a_dialect_shows_is_its_own() -> None:
    """A name that two files define, or that one takes from another dialect, would hide the other without a word."""
    for name, (module, _) in DIALECTS.items():
        face = import_module(module)
        for op in load_dialect(name).operations:
            if issubclass(op, Op):
                assert getattr(face, op.__name__) is op


def test_a_constructor_that_is_inherited_is_said_to_be() -> None:
    class ByHand(Op):
        def __init__(self) -> None:
            super().__init__()

    with pytest.raises(TypeError, match="say 'init=False'"):

        class Inherits(ByHand):  # pyright: ignore[reportUnusedClass]
            name = "test.inherits"
