"""Names that programs for several GPUs and versions import: those of AMD's GPUs, and of Triton before 3.4."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import tilewright
import tilewright.language as tl
from tilewright import compat
from tilewright.language.extra import cuda, hip
from tilewright.support import knobs
from tilewright.support.errors import CompilationError


@tilewright.jit
def hyperbolic(x_ptr, y_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    y = hip.libdevice.fast_tanhf(x) + hip.libdevice.cosh(x) * hip.num_warps()
    tl.store(y_ptr + tl.arange(0, N), y)


def test_the_device_library_under_amds_name() -> None:
    x = np.linspace(-2, 2, 64, dtype=np.float32)
    y = np.empty_like(x)
    hyperbolic[(1,)](x, y, 64)
    np.testing.assert_allclose(y, np.tanh(x) + np.cosh(x), rtol=1e-5)


def test_every_backend_has_a_device_library_by_its_name() -> None:
    with compat.standing_in():
        for name in importlib.import_module("triton.backends").backends:
            backend = {"nvidia": "cuda", "amd": "hip"}.get(name, name)
            library = importlib.import_module(f"triton.language.extra.{backend}.libdevice")
            assert library.pow is tl.extra.libdevice.pow


@tilewright.jit
def clock(t_ptr):
    if tl.target_info.is_hip():
        tl.store(t_ptr, hip.memrealtime())
    else:
        tl.store(t_ptr, hip.smid())


def test_a_register_of_amds_gpus_is_an_error_at_its_line() -> None:
    with pytest.raises(
        CompilationError, match=r"tl\.extra\.hip\.smid exists on AMD's GPUs only, the target is"
    ) as caught:
        clock[(1,)](np.zeros(1, np.int64))
    assert "hip.smid()" in str(caught.value) and "is_hip()" in str(caught.value)


def test_the_names_stand_in_for_tritons() -> None:
    with compat.standing_in():
        cuda_utils, gdc, hip_utils = (
            importlib.import_module(f"triton.language.extra.{name}") for name in ("cuda.utils", "cuda.gdc", "hip.utils")
        )
        assert (cuda_utils.smid, gdc.gdc_wait) == (cuda.smid, cuda.gdc_wait)
        assert (cuda.utils, cuda.gdc, hip.utils) == (cuda_utils, gdc, hip_utils)


@tilewright.jit
def copy(x_ptr, y_ptr, M, N, BLOCK: tl.constexpr):
    x = tl._experimental_make_tensor_descriptor(x_ptr, [M, N], [N, 1], [BLOCK, BLOCK])
    y = tl._experimental_make_tensor_descriptor(y_ptr, [M, N], [N, 1], [BLOCK, BLOCK])
    y.store([tl.program_id(0) * BLOCK, 0], x.load([tl.program_id(0) * BLOCK, 0]))


def test_the_experimental_name_of_descriptors() -> None:
    x = np.random.default_rng(0).random((48, 16), np.float32)
    y = np.zeros_like(x)
    copy[(3,)](x, y, 48, 16, 16)
    assert (x == y).all()


def test_code_that_launches_asks_for_the_target_of_launches() -> None:
    info = tl.target_info
    assert info.current_target().backend == "cpu" and not info.is_cuda() and not info.cuda_capability_geq(8)
    with knobs.scope(target="cuda_sim", override_arch="sm90"):
        assert info.is_cuda() and not info.is_hip()
        assert info.current_target().warp_size == 32
