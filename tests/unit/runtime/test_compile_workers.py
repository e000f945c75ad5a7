"""Kernels that one process compiles and another launches, as PyTorch's compile workers pickle them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.compiler.kernel import CompiledKernel
from tilewright.compiler.source import ASTSource
from tilewright.runtime import compiling
from tilewright.runtime.compiling import compile
from tilewright.runtime.interface import KernelInterface

FACTOR = tl.constexpr(3)


def make() -> Any:
    @triton.jit
    def scaled(x, out, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + i, tl.load(x + i, mask=i < n) * FACTOR, mask=i < n)

    return scaled


class Name:
    """What PyTorch sets for `repr`: an object that can be pickled."""

    def __call__(self, _: object) -> str:
        return "scaled"


def send(kernel: CompiledKernel) -> CompiledKernel:
    """What the worker's side takes away, and what the other one makes of the rest."""
    function = kernel.src.fn
    function.fn = function.__globals__ = function.used_global_vals = None
    function.repr = Name()
    state = {**kernel.__dict__, "module": None, "function": None, "run": None}
    arrived = CompiledKernel.__new__(CompiledKernel)
    arrived.__dict__.update(pickle.loads(pickle.dumps(state)))
    arrived._init_handles()
    return arrived


@pytest.fixture
def arrived(monkeypatch: pytest.MonkeyPatch) -> CompiledKernel:
    signature = {"x": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    kernel = send(compile(ASTSource(make(), signature, {"BLOCK": 32})))
    for name in ("compile_source", "_compile_other"):
        monkeypatch.setattr(compiling, name, None)  # nothing is compiled where it arrives
    return kernel


@pytest.mark.parametrize("is_shared", [False, True])
def test_it_is_launched_where_it_arrives(arrived: CompiledKernel, is_shared: bool) -> None:
    x = np.arange(50, dtype=np.float32)
    out = x if is_shared else np.zeros_like(x)
    arrived.run(2, 1, 1, None, arrived.function, arrived.packed_metadata, None, None, None, x, out, 50, 32)
    assert out.tolist() == [3.0 * number for number in range(50)]


def test_what_programs_ask_of_the_function_is_there(arrived: CompiledKernel) -> None:
    function = arrived.src.fn
    assert function.fn is None
    assert function.arg_names == ["x", "out", "n", "BLOCK"] and function.constexprs == [3]
    assert function.__name__ == "scaled" and "tl.store(out + i" in function.src
    assert "scaled" in arrived.asm["llir"]
    with pytest.raises(KeyError):
        arrived.asm["ttir"]


class Tuner(KernelInterface):
    """Another program's class, as PyTorch's autotuner is."""

    def __init__(self) -> None:
        self.fn = None


def test_classes_of_other_programs_are_pickled_as_objects() -> None:
    assert isinstance(pickle.loads(pickle.dumps(Tuner())), Tuner)
