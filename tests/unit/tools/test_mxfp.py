"""Numbers of microscaling formats as tensors."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest

from tilewright import compat
from tilewright.support.errors import ArgumentTypeError, ArgumentValueError
from tilewright.tools.mxfp import E2M1, MXFP4Tensor, MXScaleTensor

torch = pytest.importorskip("torch", reason="PyTorch is a test-only dependency and not installed")


def test_numbers_are_rounded_to_the_nearest_and_ties_to_even() -> None:
    for code, (below, above) in enumerate(pairwise(E2M1)):
        middle = (below + above) / 2
        tied = code if code % 2 == 0 else code + 1
        near = [below, math.nextafter(middle, 0), middle, math.nextafter(middle, 9), above]
        codes = torch.tensor([code, code, tied, code + 1, code + 1], dtype=torch.uint8)
        values = torch.tensor(near, dtype=torch.float64)
        assert torch.equal(MXFP4Tensor(data=values).data, codes)
        assert torch.equal(MXFP4Tensor(data=-values).data, codes | 8)


def test_codes_are_what_they_say() -> None:
    all_codes = MXFP4Tensor(size=16)
    all_codes.data = torch.arange(16, dtype=torch.uint8)
    values = all_codes.to(torch.float32)
    assert values.tolist() == [*E2M1, *(-value for value in E2M1)]
    assert torch.equal(MXFP4Tensor(data=values).data, all_codes.data)
    extremes = MXFP4Tensor(data=torch.tensor([100.0, -math.inf, math.nan]))
    assert extremes.to(torch.float32).tolist() == [6.0, -6.0, 6.0]


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_pairs_share_a_byte(dim: int) -> None:
    shape = (3, 4, 5)
    values = MXFP4Tensor(size=shape).random()
    packed = values.to_packed_tensor(dim)
    assert packed.dtype == torch.uint8 and packed.shape[dim] == (shape[dim] + 1) // 2
    first = values.data.select(dim, 0) | values.data.select(dim, 1) << 4
    assert torch.equal(packed.select(dim, 0), first)
    assert torch.equal(values.unpack_packed_tensor(packed, dim, shape), values.data)


def test_scales_are_powers_of_two() -> None:
    scales = MXScaleTensor(size=256)
    scales.data = torch.arange(256, dtype=torch.uint8)
    values = scales.to(torch.float32)
    assert values[:255].tolist() == [2.0 ** (code - 127) for code in range(255)] and math.isnan(values[255])
    assert torch.equal(MXScaleTensor(data=values[1:]).data, scales.data[1:])
    rounded = MXScaleTensor(data=torch.tensor([3.0, 0.7, 0.0, -1.0, math.inf, math.nan])).data
    assert rounded.tolist() == [128, 126, 255, 255, 255, 255]
    drawn = MXScaleTensor(size=(50, 2)).random(low=0.5, high=4.0).data
    assert drawn.shape == (50, 2) and int(drawn.min()) >= 126 and int(drawn.max()) <= 129


def test_what_makes_no_sense_is_said() -> None:
    with compat.standing_in():
        from triton.tools.mxfp import MXFP4Tensor as found

        assert found is MXFP4Tensor
    with pytest.raises(ArgumentValueError, match="`size`"):
        MXFP4Tensor()
    with pytest.raises(ArgumentTypeError, match="a PyTorch tensor"):
        MXScaleTensor(data=[1.0])
    with pytest.raises(ArgumentValueError, match="float32"):
        MXScaleTensor(size=2).random().to(torch.float16)
    with pytest.raises(ArgumentValueError, match="a dimension of 1"):
        MXFP4Tensor(size=2).random().to_packed_tensor(1)
    with pytest.raises(ArgumentValueError, match="at most that"):
        MXScaleTensor(size=2).random(low=8.0, high=1.0)
