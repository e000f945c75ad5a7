"""What the GPU makes of launch options, and of libraries that the user or NVIDIA supplies."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from fake_driver import FakeApi

import tilewright as triton
import tilewright.language as tl
from tilewright.codegen.llvm_backend import LlvmError, parse
from tilewright.codegen.nvptx import libdevice, target_machine
from tilewright.codegen.nvptx.libdevice import LibdeviceNotFoundError, find_libdevice
from tilewright.language import core
from tilewright.language.extra import libdevice as device
from tilewright.support import knobs
from tilewright.support.errors import NoAssemblerError, OutOfResources, OutOfThreads, PassError, TargetError
from tilewright.targets.base import find_target
from tilewright.targets.capabilities import configured
from tilewright.targets.cuda.pipeline import loop_options
from tilewright.targets.cuda.target import CudaTarget
from tilewright.transforms.ttg.loop_options import SWITCHES, LoopOptions


@pytest.fixture(autouse=True)
def private_cache(tmp_path: Path) -> Any:  # pyright: ignore[reportUnusedFunction]
    with knobs.scope(cache_dir=str(tmp_path / "cache")):
        yield


@triton.jit
def copy(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets))


@triton.jit
def scaled_error(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, device.erfcx(tl.load(x_ptr + offsets)))


@core.extern
def tripled(x, _semantic=None):
    return core.extern_elementwise(
        "mine", "", [x], {(core.dtype("fp32"),): ("my_triple", core.dtype("fp32"))}, is_pure=True, _semantic=_semantic
    )


@triton.jit
def triple(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tripled(tl.load(x_ptr + offsets)))


@triton.jit
def row_maximum(x_ptr, out_ptr, BLOCK: tl.constexpr):
    tl.store(out_ptr, tl.max(tl.load(x_ptr + tl.arange(0, BLOCK)), 0))


def pointer() -> Any:
    return triton.MockTensor(tl.float32)


def ptx_of(kernel: Any, **options: Any) -> str:
    with knobs.scope(target="cuda_sim"):
        return kernel.warmup(pointer(), pointer(), BLOCK=128, grid=(1,), **options).asm["ptx"]


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"num_warps": 64}, OutOfThreads, "required: 2048, hardware limit: 1024"),
        ({"num_ctas": 2, "arch": "sm80"}, ValueError, "from compute capability 9.0 on"),
        ({"num_ctas": 32}, ValueError, "at most 16 CTAs"),
        ({"launch_pdl": True, "arch": "sm86"}, ValueError, "this is for 8.6"),
        ({"clc": True}, ValueError, "from compute capability 10.0 on"),
        ({"min_shared_mem": 1 << 20}, OutOfResources, "required: 1048576"),
        ({"ptx_version": 74}, ValueError, "expected 80"),
        ({"ptx_version": "8.0"}, ValueError, "expected 80"),
        ({"ptx_version": 99}, ValueError, "to 88"),
        ({"arch": "sm70"}, TargetError, "sm80, sm86, sm89, sm90"),
    ],
)
def test_options_that_the_gpu_lacks(options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        ptx_of(copy, **{"arch": "sm90", **options})


def test_options_in_the_code() -> None:
    assert ".maxnreg 64" in ptx_of(copy, maxnreg=64)
    assert ".maxnreg" not in ptx_of(copy, maxnreg=256)  # no limit: a thread can name 255
    assert ".version 8.1" in ptx_of(copy, ptx_version=81)
    assert ".target sm_86" in ptx_of(copy, arch="sm86")
    assert ".reqntid 256" in ptx_of(copy, num_warps=8)


def test_the_least_shared_memory() -> None:
    """As in Triton 3.9: a kernel that needs more takes more."""
    with knobs.scope(target="cuda_sim"):
        taken = [
            copy.warmup(pointer(), pointer(), BLOCK=128, grid=(1,), min_shared_mem=least).metadata.shared
            for least in (None, 0, 4096)
        ]
        maximum = row_maximum.warmup(pointer(), pointer(), BLOCK=128, grid=(1,)).metadata.shared
        assert (
            row_maximum.warmup(pointer(), pointer(), BLOCK=128, grid=(1,), min_shared_mem=1).metadata.shared == maximum
        )
    assert taken == [0, 0, 4096] and maximum > 1


def test_options_that_only_guide() -> None:
    assert ptx_of(copy, sched4reg=True, fpsan_homomorphic_casts=False) == ptx_of(copy)


def test_llvm_knows_that_arguments_have_values() -> None:
    with knobs.scope(target="cuda_sim"):
        llir = copy.warmup(pointer(), pointer(), BLOCK=128, grid=(1,)).asm["llir"]
    head = llir.split("define ptx_kernel")[1].split(")")
    assert "noundef" in head[1] and "noundef" in head[2]


def test_flushing_in_libdevice() -> None:
    if find_libdevice() is None:
        pytest.skip("NVIDIA's libdevice is not installed")
    assert "abs.ftz.f32" in ptx_of(scaled_error)
    assert "abs.f32" in ptx_of(scaled_error, enable_reflect_ftz=False)


def test_options_for_ptxas_need_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.codegen.nvptx.ptxas.find_ptxas", lambda: None)
    with knobs.scope(target="cuda"):
        with pytest.raises(NoAssemblerError, match=r"-O1 are for ptxas.*TILEWRIGHT_PTXAS_PATH"):
            copy.warmup(pointer(), pointer(), BLOCK=128, grid=(1,), arch="sm90", ptx_options="-O1")
        with knobs.scope(ptxas_options="-O2"), pytest.raises(NoAssemblerError, match="-O2 are for ptxas"):
            copy.warmup(pointer(), pointer(), BLOCK=128, grid=(1,), arch="sm90")


def test_options_of_loops_are_the_switches() -> None:
    """The record that pipelines get has the switches' names and, where nothing is set, their values."""
    assert loop_options(object()) == LoopOptions()
    assert {field.name for field in fields(LoopOptions)} == {"num_warps", "num_stages", "reserved_bytes", *SWITCHES}
    with knobs.scope(specialize_warps="never", join_loops=False):
        found = loop_options(SimpleNamespace(num_warps=8, num_stages=2, num_ctas=1))
    assert (found.num_warps, found.num_stages, found.join_loops) == (8, 2, False)
    assert (found.specialize_warps, found.tma_loads, found.persist_programs) == ("never", "never", "auto")


@pytest.mark.parametrize("switch", ["num_ctas", "sanitize"])
def test_nothing_is_loaded_by_tma(switch: str) -> None:
    with knobs.scope(tma_loads="always", sanitize=("bounds",) if switch == "sanitize" else ()):
        found = loop_options(SimpleNamespace(num_ctas=2 if switch == "num_ctas" else 1))
    assert found.tma_loads == "never"


@pytest.fixture
def bitcode(tmp_path: Path) -> str:
    """A library of the user's: one function."""
    text = """
    target triple = "nvptx64-nvidia-cuda"
    define float @my_triple(float %x) { %r = fmul float %x, 3.0  ret float %r }
    define float @my_other(float %x) { ret float %x }
    """
    path = tmp_path / "mine.bc"
    path.write_bytes(parse(text, verify=True).as_bitcode())
    return str(path)


def test_a_users_bitcode_needs_no_libdevice(bitcode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libdevice, "_found", lambda: None)
    ptx = ptx_of(triple, extern_libs={"mine": bitcode})
    assert "0f40400000" in ptx, "the function's 3.0 is in the kernel"
    assert "call" not in ptx and "my_other" not in ptx


def test_bitcode_that_lacks_the_function(tmp_path: Path) -> None:
    path = tmp_path / "other.bc"
    path.write_bytes(parse('target triple = "nvptx64-nvidia-cuda"', verify=True).as_bitcode())
    with pytest.raises(LlvmError, match=r"calls my_triple, which no bitcode defines .*other\.bc"):
        ptx_of(triple, extern_libs={"other": str(path)})


@pytest.mark.skipif(find_libdevice() is None, reason="NVIDIA's libdevice is not installed")
def test_libdevice_is_read_whole_once_for_the_same_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    path, read = find_libdevice(), list[int]()
    assert path is not None
    original = target_machine.llvm.parse_bitcode

    def parse_bitcode(contents: bytes, context: Any) -> Any:
        read.append(len(contents))
        return original(contents, context)

    ptx_of(scaled_error)
    monkeypatch.setattr(target_machine.llvm, "parse_bitcode", parse_bitcode)
    assert "call" not in ptx_of(scaled_error, num_warps=8)
    assert len(read) == 1 and 10 * read[0] < path.stat().st_size


def test_libdevice_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(libdevice, "_found", lambda: None)
    with pytest.raises(PassError, match=r"__nv_erfcxf of NVIDIA's libdevice.*pip install"):
        ptx_of(triton.jit(scaled_error.fn), num_warps=16)


def test_bitcode_that_calls_libdevice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "calls.bc"
    text = """
    target triple = "nvptx64-nvidia-cuda"
    declare float @__nv_erfcxf(float)
    define float @my_triple(float %x) { %r = call float @__nv_erfcxf(float %x)  ret float %r }
    """
    path.write_bytes(parse(text, verify=True).as_bitcode())
    if find_libdevice() is not None:
        assert "call" not in ptx_of(triple, extern_libs={"calls": str(path)})
    monkeypatch.setattr(libdevice, "_found", lambda: None)
    with knobs.scope(always_compile=True), pytest.raises(LibdeviceNotFoundError, match="__nv_erfcxf"):
        ptx_of(triple, extern_libs={"calls": str(path)}, num_warps=8)


def test_a_library_that_is_named_but_not_there() -> None:
    with knobs.scope(libdevice_path="/nowhere/libdevice.bc"), pytest.raises(TargetError, match="no such file"):
        ptx_of(scaled_error)


def test_devices_of_two_architectures(api: FakeApi) -> None:
    """The same arguments on two GPUs are two kernels where the GPUs differ, one where they do not."""
    api.devices = 3
    api.capabilities = {0: (9, 0), 1: (8, 0), 2: (9, 0)}
    target: Any = find_target("cuda")
    first, second, third = (target.on_device(number) for number in range(3))
    assert first is third is not second
    from tilewright.compiler.options import CompileOptions

    facts = [configured(placed, CompileOptions()).facts for placed in (first, second)]
    assert [fact.capability for fact in facts] == [90, 80]  # pyright: ignore[reportAttributeAccessIssue]
    assert first.fingerprint() != second.fingerprint() != CudaTarget(86).fingerprint()
