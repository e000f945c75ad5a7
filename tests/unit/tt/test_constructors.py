"""Constructors infer types, accept plain Python values, and make ops that verify."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import Float8E5M2Type, TensorType, f16, f32, i1, i8, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects import tt
from tilewright.dialects.tt.types import pointer_type, tensor_type
from tilewright.dialects.ub import PoisonOp


def value(type: Attribute) -> SSAValue:
    return PoisonOp(type).result


def tensor(element: Attribute, *shape: int) -> SSAValue:
    return value(tensor_type(element, shape))


POINTERS = tensor_type(pointer_type(f32), (16,))

CASES: list[tuple[Callable[[], Operation], list[Attribute]]] = [
    (lambda: tt.GetProgramIdOp("y"), [i32]),
    (lambda: tt.GetNumProgramsOp(tt.ProgramIDDim.Z), [i32]),
    (lambda: tt.MakeRangeOp(4, 8), [tensor_type(i32, (4,))]),
    (lambda: tt.SplatOp(value(f32), tensor_type(f32, (8,))), [tensor_type(f32, (8,))]),
    (lambda: tt.UnsplatOp(tensor(f32, 1)), [f32]),
    (lambda: tt.ExpandDimsOp(tensor(f32, 8), 1), [tensor_type(f32, (8, 1))]),
    (lambda: tt.TransOp(tensor(f32, 2, 4, 8), (2, 0, 1)), [tensor_type(f32, (8, 2, 4))]),
    (lambda: tt.JoinOp(tensor(f32, 8), tensor(f32, 8)), [tensor_type(f32, (8, 2))]),
    (lambda: tt.SplitOp(tensor(f32, 8, 2)), [tensor_type(f32, (8,))] * 2),
    (lambda: tt.CatOp(tensor(f32, 8), tensor(f32, 8)), [tensor_type(f32, (16,))]),
    (lambda: tt.GatherOp(tensor(f32, 8, 4), tensor(i32, 2, 4), 0), [tensor_type(f32, (2, 4))]),
    (lambda: tt.HistogramOp(tensor(i32, 8), tensor_type(i32, (4,)), tensor(i1, 8)), [tensor_type(i32, (4,))]),
    (lambda: tt.AddPtrOp(value(POINTERS), tensor(i64, 16)), [POINTERS]),
    (lambda: tt.PtrToIntOp(value(POINTERS)), [tensor_type(i64, (16,))]),
    (lambda: tt.FpToFpOp(value(f32), Float8E5M2Type(), rounding="rtz"), [Float8E5M2Type()]),
    (lambda: tt.LoadOp(value(POINTERS), tensor(i1, 16), tensor(f32, 16), cache="ca"), [tensor_type(f32, (16,))]),
    (lambda: tt.LoadOp(value(pointer_type(f16)), is_volatile=True), [f16]),
    (
        lambda: tt.LoadOp(value(pointer_type(tensor_type(f32, (4, 8)))), boundary_check=(1,), padding="nan"),
        [tensor_type(f32, (4, 8))],
    ),
    (lambda: tt.StoreOp(value(POINTERS), tensor(f32, 16), tensor(i1, 16), evict="evict_last"), []),
    (lambda: tt.AtomicRMWOp(value(POINTERS), tensor(f32, 16), atomic_rmw_op="fadd"), [tensor_type(f32, (16,))]),
    (lambda: tt.AtomicCASOp(value(pointer_type(i32)), value(i32), value(i32), sem="acquire"), [i32]),
    (
        lambda: tt.MakeTensorPtrOp(
            value(pointer_type(f16)), [value(i64)] * 2, [value(i64)] * 2, [value(i32)] * 2, (4, 8), order=(1, 0)
        ),
        [pointer_type(tensor_type(f16, (4, 8)))],
    ),
    (
        lambda: tt.MakeTensorDescOp(value(pointer_type(f16)), [value(i32)] * 2, [value(i64)] * 2, (4, 8)),
        [tt.TensorDescType(tensor_type(f16, (4, 8)))],
    ),
    (
        lambda: tt.DescriptorLoadOp(value(tt.TensorDescType(tensor_type(f16, (4, 8)))), [value(i32)] * 2),
        [tensor_type(f16, (4, 8))],
    ),
    (
        lambda: tt.DescriptorGatherOp(value(tt.TensorDescType(tensor_type(f16, (1, 64)))), tensor(i32, 16), value(i32)),
        [tensor_type(f16, (16, 64))],
    ),
    (
        lambda: tt.DotOp(tensor(f16, 8, 16), tensor(f16, 16, 4), tensor(f32, 8, 4), input_precision="tf32"),
        [tensor_type(f32, (8, 4))],
    ),
    (
        lambda: tt.DotScaledOp(
            tensor(i8, 16, 32),
            tensor(i8, 32, 16),
            tensor(f32, 16, 16),
            tensor(i8, 16, 2),
            a_elem_type="e2m1",
            b_elem_type="e2m1",
        ),
        [tensor_type(f32, (16, 16))],
    ),
    (lambda: tt.ClampFOp(value(f32), value(f32), value(f32), propagate_nan="all"), [f32]),
    (lambda: tt.PreciseDivFOp(value(f32), value(f32)), [f32]),
    (lambda: tt.MulhiUIOp(value(i32), value(i32)), [i32]),
    (
        lambda: tt.ElementwiseInlineAsmOp(
            [tensor(i32, 8)], [tensor_type(i32, (8,))], asm_string="mov $0, $1;", constraints="=r,r", pure=True
        ),
        [tensor_type(i32, (8,))],
    ),
    (lambda: tt.PrintOp([value(i32)], prefix="x", is_signed=(1,)), []),
    (lambda: tt.AssertOp(tensor(i1, 8), "no"), []),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_inferred_types(number: int) -> None:
    make, expected = CASES[number]
    op = make()
    assert list(op.result_types) == expected
    op.verify()


def test_reduce_makes_its_region() -> None:
    op = tt.ReduceOp([tensor(f32, 8, 4), tensor(i32, 8, 4)], 1)
    block = op.combine_op.block
    assert list(block.arg_types) == [f32, i32, f32, i32]
    assert list(op.result_types) == [tensor_type(f32, (8,)), tensor_type(i32, (8,))]
    block.add_op(tt.ReduceReturnOp(block.args[:2]))
    op.verify()


def test_reduce_of_one_dimension_is_a_scalar() -> None:
    assert list(tt.ReduceOp([tensor(f32, 8)], 0).result_types) == [f32]


@pytest.mark.parametrize("axis", [-1, 1])
def test_axis_is_checked_when_the_op_is_made(axis: int) -> None:
    with pytest.raises(VerifyException, match="axis must be between 0 and 0"):
        tt.ReduceOp([tensor(f32, 8)], axis)


def test_load_through_no_pointer_is_rejected() -> None:
    with pytest.raises(VerifyException, match="expected a pointer"):
        tt.LoadOp(value(f32))


def test_defaults_are_there_in_ops_made_and_parsed() -> None:
    load = tt.LoadOp(value(POINTERS))
    assert tt.CacheModifier.of(load.cache) is tt.CacheModifier.NONE
    assert tt.EvictionPolicy.of(load.evict) is tt.EvictionPolicy.EVICT_NORMAL
    assert load.mask is None and load.other is None and load.padding is None
    assert not load.is_volatile.value.data


def test_enums_speak_triton() -> None:
    assert tt.RMWOp.get("exch") is tt.RMWOp.XCHG and tt.RMWOp.XCHG.keyword == "exch"
    assert tt.PropagateNan.get("all") == 0xFFFF
    assert tt.CacheModifier.get(2) is tt.CacheModifier.CA
    with pytest.raises(ValueError, match="unknown MemSemantic 'weak'; known: relaxed, acquire, release, acq_rel"):
        tt.MemSemantic.get("weak")


def test_types_are_shared() -> None:
    assert tensor_type(f32, (4, 8)) is tensor_type(f32, [4, 8])
    assert pointer_type(f32) is pointer_type(f32, 1)
    assert isinstance(tensor_type(f32, (4,)), TensorType)
