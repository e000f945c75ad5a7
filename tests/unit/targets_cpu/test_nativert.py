"""Kernels as shared libraries for PyTorch's ahead-of-time compiler, called as its C++ calls them."""

from __future__ import annotations

import ctypes
import pickle
import shutil
from pathlib import Path

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.compiler.source import ASTSource
from tilewright.support.errors import TargetError


@triton.jit
def scaled(x, y, n, factor, is_on, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.device_assert(factor < 100.0, "factor")
    tl.store(y + i, tl.where(is_on, tl.load(x + i, mask=i < n), 0.0) * factor, mask=i < n)


def compiled(**types: str) -> triton.compiler.CompiledKernel:
    signature = {"x": "*fp32", "y": "*fp32", "n": "i32", "factor": "fp32", "is_on": "u1", "B": "constexpr", **types}
    return triton.compile(ASTSource(scaled, signature, {"B": 16}), options={"debug": True})


@pytest.mark.costly
@pytest.mark.skipif(not (shutil.which("c++") and shutil.which("cc")), reason="needs compilers of C and C++")
def test_a_library_is_called_through_the_launcher(tmp_path: Path) -> None:
    kernel = pickle.loads(pickle.dumps(compiled().asm))  # as it comes from a compile worker
    for key in ("so", "launcher.so"):
        (tmp_path / key).write_bytes(kernel[key])
    launch = ctypes.CDLL(str(tmp_path / "launcher.so")).run_from_nativert
    library = ctypes.CDLL(str(tmp_path / "so"))
    x, y = np.arange(40, dtype=np.float32), np.zeros(48, np.float32)
    scalars = [ctypes.c_int64(40), ctypes.c_float(2.5), ctypes.c_bool(True)]
    addresses = [x.ctypes.data, y.ctypes.data, *map(ctypes.addressof, scalars), None]
    arguments = (ctypes.c_void_p * 6)(*addresses)
    for threads in (1, 2):
        y[:] = 0
        launch(*map(ctypes.c_uint32, (3, 1, 1)), threads, arguments, library.scaled)
        assert np.array_equal(y[:40], x * 2.5) and not y[40:].any()
    library.scaled.restype = ctypes.c_char_p
    scalars[1].value = 1000.0
    failure = library.scaled(*map(ctypes.c_uint32, (3, 1, 1)), 1, arguments)
    assert b"kernel scaled, program (0, 0, 0)" in failure and b"factor" in failure


@pytest.mark.parametrize(("kind", "words"), [("fp64", "_use_fp64_for_unbacked_floats"), ("fp8e5", "does not pass")])
def test_scalars_that_pytorch_can_not_pass_are_refused(kind: str, words: str) -> None:
    from tilewright.targets.cpu.nativert import KernelLibraries

    with pytest.raises(TargetError, match=words):
        KernelLibraries("kernel", (("x", "*fp32"), ("factor", kind)), 0, False).entry("programs")


def test_other_names_are_no_stages() -> None:
    assert "so" not in list(compiled().asm)
    with pytest.raises(KeyError, match="no stage 'dll'"):
        compiled().asm["dll"]
