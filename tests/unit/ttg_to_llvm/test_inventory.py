"""Every op of the ttg stage has a rule of the lowering, or a reason for having none."""

from __future__ import annotations

from types import ModuleType

import pytest
from xdsl.ir import Dialect, Operation

from tilewright.dialects import arith, cf, gpu, math, scf, tt, ttg, ttng, ub
from tilewright.lowering.ttg_to_llvm.function_lowering import RULES
from tilewright.support.modules import import_modules

import_modules("tilewright.lowering.ttg_to_llvm")  # whose functions fill the table

DIALECTS = (arith, cf, gpu, math, scf, tt, ttg, ttng, ub)

BLOCK_POINTERS = "triton-rewrite-tensor-pointer leaves plain pointers"
DESCRIPTORS = "triton-nvidia-tma-lowering makes copies by tensor maps of it, or a pass on the tt stage plain pointers"
PIPELINING = "the pipeliner replaces it before it ends"
PARALLEL = "nothing on the tt stage makes parallel loops"

GONE = {
    "tt.advance": BLOCK_POINTERS,
    "tt.make_tensor_ptr": BLOCK_POINTERS,
    "tt.descriptor_gather": DESCRIPTORS,
    "tt.descriptor_load": DESCRIPTORS,
    "tt.descriptor_reduce": DESCRIPTORS,
    "tt.descriptor_scatter": DESCRIPTORS,
    "tt.descriptor_store": DESCRIPTORS,
    "tt.make_tensor_descriptor": DESCRIPTORS,
    "tt.dot_scaled": "tritongpu-accelerate-matmul makes products of it",
    "tt.func": "functions are lowered as a whole, not as ops in them",
    "ttg.barrier": "a text of Triton's since 3.7, read as ttg.local_barrier or gpu.barrier",
    "ttg.mask": PIPELINING,
    "ttg.mask.return": PIPELINING,
    "ttg.predicate_stage": PIPELINING,
    "ttg.warp_specialize.partitions": "ttg.warp_specialize is lowered with its partitions",
    "cf.assert": "assertions are tt.assert until the middle layer of the CPU",
    "scf.parallel": PARALLEL,
    "scf.reduce": PARALLEL,
    "scf.reduce.return": PARALLEL,
}
"""Ops that do not reach the lowering, and why."""


def ops_of(module: ModuleType) -> list[type[Operation]]:
    """The ops of the dialect that a module of dialects defines."""
    return [op for value in vars(module).values() if isinstance(value, Dialect) for op in value.operations]


@pytest.mark.parametrize("module", DIALECTS, ids=lambda module: module.__name__.rpartition(".")[2])
def test_ops_are_lowered(module: ModuleType) -> None:
    without = {op.name for op in ops_of(module) if op not in RULES}
    assert not without - set(GONE), "no rule, and no reason"


def test_reasons_are_needed() -> None:
    """What has a rule by now needs no excuse."""
    lowered = {op.name for op in RULES}
    assert not lowered & set(GONE)
    known = {op.name for module in DIALECTS for op in ops_of(module)}
    assert set(GONE) <= known
