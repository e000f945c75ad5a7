"""The promise that arguments are disjoint is kept to what the launch has looked at: the kernel's own pointers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import ASTSource
from tilewright.dialects import tt
from tilewright.targets.base import find_target

SIGNATURE = {"x_ptr": "*i32", "out_ptr": "*i32", "other": "i64"}


@triton.jit(noinline=True)
def add_one(source, target):
    tl.store(target, tl.load(source) + 1)
    return tl.load(source)


@triton.jit
def calls(x_ptr, out_ptr, other):
    tl.store(out_ptr, add_one(x_ptr, x_ptr) + other.to(tl.int32))


@triton.jit
def from_integer(x_ptr, out_ptr, other):
    before = tl.load(x_ptr)
    tl.store(other.to(tl.pointer_type(tl.int32)), before + 1)
    tl.store(out_ptr, tl.load(x_ptr) + before)


@triton.jit
def from_memory(x_ptr, out_ptr, other):
    address = tl.load(out_ptr.to(tl.pointer_type(tl.int64), bitcast=True))
    tl.store(address.to(tl.pointer_type(tl.int32)), tl.load(x_ptr) + other.to(tl.int32))


@pytest.mark.parametrize(("kernel", "promised"), [(calls, ["calls"]), (from_integer, []), (from_memory, [])])
def test_who_is_promised_what(kernel: Any, promised: list[str]) -> None:
    source = ASTSource(kernel, SIGNATURE, noalias=True)
    module = source.module(find_target("cpu"), CompileOptions())
    functions = [op for op in module.ops if isinstance(op, tt.FuncOp)]
    holders = [op.sym_name.data for op in functions if "tilewright.noalias" in op.attributes]
    assert len(holders) == len(promised)
    assert all(wanted in name for wanted, name in zip(promised, holders, strict=True))


def test_a_store_to_an_address_is_seen_by_a_load_from_an_argument() -> None:
    x, out = np.array([5], np.int32), np.zeros(1, np.int32)
    from_integer[(1,)](x, out, x.ctypes.data)
    assert x[0] == 6
    assert out[0] == 11
