"""The tts dialect: constructors, meanings told apart by attributes, and what the verifiers reject."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, f32, i1, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects import make_context, tts
from tilewright.dialects.tt.types import pointer_type, tensor_type
from tilewright.dialects.tts import PointerKind
from tilewright.dialects.ub import PoisonOp
from tilewright.ir.parsing import parse_module
from tilewright.ir.verify import verify_module
from tilewright.support.errors import TilewrightError

INDEX = IndexType()


def value(type: Attribute) -> SSAValue:
    return PoisonOp(type).result


def base() -> SSAValue:
    return value(pointer_type(f32))


def test_structured_pointer() -> None:
    stride = value(INDEX)
    op = tts.MakeTensorPtrOp(base(), (4, 8), (stride, 1), (0, 0))
    op.verify()
    assert op.kind is PointerKind.STRUCTURED
    assert op.mixed_strides == [stride, 1] and op.mixed_offsets == [0, 0] and op.mixed_shape == [0, 0]
    assert op.result.type == tensor_type(pointer_type(f32), (4, 8))


def test_wrap_around_and_block_pointers() -> None:
    bound = value(INDEX)
    wrap = tts.MakeTensorPtrOp(base(), (4, 8), (8, 1), (0, 0), shape=(0, bound))
    assert wrap.kind is PointerKind.WRAP_AROUND
    block = tts.MakeTensorPtrOp(base(), (4, 8), (8, 1), (0, 0), shape=(16, 16), order=(1, 0))
    assert block.kind is PointerKind.BLOCK
    assert block.result.type == pointer_type(tensor_type(f32, (4, 8)))
    wrap.verify()
    block.verify()


def test_load_and_store() -> None:
    pointer = tts.MakeTensorPtrOp(base(), (4, 8), (8, 1), (0, 0))
    rows = value(INDEX)
    load = tts.LoadOp(pointer, (rows, 8), value(f32))
    load.verify()
    assert load.result.type == tensor_type(f32, (4, 8))
    assert load.has_mask and load.mixed_mask_dims == [rows, 8]
    store = tts.StoreOp(pointer, load)
    store.verify()
    assert not store.has_mask and store.mixed_mask_dims == []


@pytest.mark.parametrize(
    ("type", "counts"),
    [
        (pointer_type(f32), (1, 0)),
        (tensor_type(pointer_type(f32), (4, 8)), (2, 2)),
        (pointer_type(tensor_type(f32, (4, 8))), (2, 2)),
        (tensor_type(i32, (4,)), (1, 1)),
    ],
)
def test_structured_state_counts(type: Attribute, counts: tuple[int, int]) -> None:
    op = tts.GetStructuredStateOp(value(type))
    op.verify()
    assert (len(op.offsets), len(op.strides)) == counts


def test_masks_have_no_structured_state() -> None:
    with pytest.raises(ValueError, match="no structured state"):
        tts.GetStructuredStateOp(value(tensor_type(i1, (4,))))


def test_other_without_mask_is_rejected() -> None:
    pointer = tts.MakeTensorPtrOp(base(), (4,), (1,), (0,))
    with pytest.raises(VerifyException, match="'other' needs mask_dims"):
        tts.LoadOp(pointer, (), value(f32)).verify()


def test_lists_must_have_one_entry_per_dimension() -> None:
    with pytest.raises(VerifyException, match="static_strides must have one entry per size"):
        tts.MakeTensorPtrOp(base(), (4, 8), (1,), (0, 0)).verify()
    pointer = tts.MakeTensorPtrOp(base(), (4, 8), (8, 1), (0, 0))
    with pytest.raises(VerifyException, match="mask_dims must be empty or have 2 entries"):
        tts.LoadOp(pointer, (2,)).verify()


MASKED_USER = """
func.func @f(%b: !tt.ptr<f32>, %rows: tensor<8xi32>, %keep: tensor<8xi1>) -> tensor<8x16xf32> {{
  %p = tts.make_gather_scatter_tptr %b to sizes: [8, 16] gather_scatter_dim: 0 gather_scatter_offset: %rows \
gather_scatter_mask: %keep, strides: [16, 1], offsets: [0, 0] : tensor<8xi32> tensor<8xi1> <f32> to \
!tt.ptr<tensor<8x16xf32>>
  %v = "tts.load"(%p) <{{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64: {dims}>}}> : \
(!tt.ptr<tensor<8x16xf32>>) -> tensor<8x16xf32>
  return %v : tensor<8x16xf32>
}}
"""


def test_users_of_masked_rows_leave_the_row_mask_to_the_pointer() -> None:
    verify_module(parse_module(MASKED_USER.format(dims="0, 16"), make_context()))
    with pytest.raises(TilewrightError, match="mask dimension 0 is 0"):
        verify_module(parse_module(MASKED_USER.format(dims="8, 16"), make_context()))


@pytest.mark.costly
def test_dynamic_entries_match_operands() -> None:
    op = tts.MakeTensorPtrOp(base(), (4,), (value(INDEX),), (0,))
    assert op.static_strides.get_values() == (DYNAMIC_INDEX,)
    op.operands = op.operands[:1]
    op.properties["operandSegmentSizes"] = tts.MakeTensorPtrOp(base(), (4,), (1,), (0,)).properties[
        "operandSegmentSizes"
    ]
    with pytest.raises(VerifyException, match="strides must have 1 dynamic entries"):
        op.verify()
