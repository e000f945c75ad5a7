"""What the ops do to memory."""

from __future__ import annotations

from test_round_trip import text_of
from xdsl.dialects.builtin import FloatAttr, ModuleOp, f16
from xdsl.ir import Operation
from xdsl.traits import MemoryEffectKind

from tilewright.dialects import make_context
from tilewright.dialects.arith import ConstantOp
from tilewright.dialects.tt import SplatOp
from tilewright.dialects.tt.types import tensor_type
from tilewright.dialects.ttg import LocalAllocOp, encoding_of, memdesc_type, shared_encoding_of
from tilewright.dialects.ttg.effects import touches_shared
from tilewright.ir.effects import is_pure, is_trivially_dead, may_write, memory_effects
from tilewright.ir.parsing import parse_module
from tilewright.layouts.distributed import BlockedLayout
from tilewright.layouts.shared import SwizzledSharedLayout

READ, WRITE = MemoryEffectKind.READ, MemoryEffectKind.WRITE


def ops_named(*names: str) -> list[Operation]:
    modules: list[ModuleOp] = [parse_module(text_of(name), make_context()) for name in ("ops", "nvidia")]
    found = [op for module in modules for op in module.walk() if op.name in names]
    assert {op.name for op in found} == set(names)
    return found


def test_views_and_conversions_are_pure() -> None:
    names = ("convert_layout", "memdesc_index", "memdesc_subslice", "memdesc_trans", "memdesc_reshape", "fp4_to_fp")
    for op in ops_named(*(f"ttg.{name}" for name in names)):
        assert is_pure(op) and not touches_shared(op, READ) and not touches_shared(op, WRITE)


def test_loads_and_stores() -> None:
    for op in ops_named("ttg.local_load", "ttng.warp_group_dot"):
        assert touches_shared(op, READ) and not touches_shared(op, WRITE) and not may_write(op)
    for op in ops_named("ttg.local_store", "ttng.init_barrier"):
        assert touches_shared(op, WRITE) and not touches_shared(op, READ) and may_write(op)
    for op in ops_named("ttg.async_copy_global_to_local", "ttng.async_tma_copy_global_to_local"):
        assert (
            touches_shared(op, WRITE) and not touches_shared(op, READ) and MemoryEffectKind.READ in memory_effects(op)
        )
    for op in ops_named("ttng.async_tma_copy_local_to_global"):
        assert touches_shared(op, READ) and not touches_shared(op, WRITE) and may_write(op)
    for op in ops_named("ttg.async_wait", "ttg.local_barrier", "ttng.wait_barrier", "ttng.fence_async_shared"):
        assert touches_shared(op, READ) and touches_shared(op, WRITE)


def test_an_unused_buffer_may_go() -> None:
    shared = shared_encoding_of(SwizzledSharedLayout(1, 1, 1, (0,)))
    empty = LocalAllocOp(memdesc_type((128,), f16, shared))
    assert is_trivially_dead(empty) and not touches_shared(empty, WRITE)
    tensor = tensor_type(f16, (128,), encoding_of(BlockedLayout.default((128,), 4)))
    filled = LocalAllocOp(
        memdesc_type((128,), f16, shared, mutable=False), SplatOp(ConstantOp(FloatAttr(0.0, f16)), tensor)
    )
    assert is_trivially_dead(filled) and touches_shared(filled, WRITE)
