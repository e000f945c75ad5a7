"""What Triton calls the driver: which device is in use, and what programs ask it about."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import tilewright
import tilewright.language as tl
from tilewright import compat
from tilewright.runtime.driver import GPUTarget, driver, driver_for
from tilewright.support import knobs
from tilewright.support.errors import ArgumentError, TargetError


@tilewright.jit
def fill(out, BLOCK: tl.constexpr):
    tl.store(out + tl.arange(0, BLOCK), tl.arange(0, BLOCK))


def test_the_module_and_the_object_know_the_active_driver() -> None:
    module: Any = importlib.import_module("tilewright.runtime.driver")
    with knobs.scope(target="cpu"):
        assert module.active == module.driver.active == driver.active == driver_for("cpu")
        assert tilewright.runtime.driver.active.get_current_target().backend == "cpu"


def test_another_driver_made_active() -> None:
    try:
        driver.set_active(driver_for("cuda_sim"))
        assert driver.active.get_current_target() == GPUTarget("cuda", 90, 32)
        driver.set_active_to_cpu()
        assert driver.active.get_current_target().backend == "cpu"
    finally:
        driver.reset_active()


@pytest.mark.parametrize("name", ["cpu", "cuda_sim", "reference"])
def test_programs_can_size_their_grids(name: str) -> None:
    chosen = driver_for(name)
    properties = chosen.utils.get_device_properties(None)
    assert properties == chosen.utils.get_device_properties(0)
    with knobs.scope(target=name):
        compiled: Any = fill.warmup(np.zeros(64, np.int32), BLOCK=64, grid=(1,))
    compiled._init_handles()
    warps = compiled.metadata.num_warps
    assert properties["max_num_regs"] // (compiled.n_regs * properties["warpSize"] * warps) > 0
    assert properties["max_shared_mem"] // max(compiled.metadata.shared, 1) > 0
    assert properties["multiprocessor_count"] > 0


def test_cpu_programs_have_memory_to_divide_by() -> None:
    with knobs.scope(target="cpu"):
        compiled: Any = fill.warmup(np.zeros(64, np.int32), BLOCK=64, grid=(1,))
    assert compiled.metadata.shared == compiled.shared > 0


def test_capabilities() -> None:
    assert driver_for("cuda_sim").get_device_capability() == (9, 0)
    with pytest.raises(TargetError, match="'cpu' has no compute capability"):
        driver_for("cpu").get_device_capability()
    driver_for("cpu").set_current_device(0)
    with pytest.raises(TargetError, match="there is no device 3"):
        driver_for("cpu").set_current_device(3)


def test_a_target_as_triton_describes_it() -> None:
    source = tilewright.compiler.ASTSource(fill, {"out": "*i32", "BLOCK": "constexpr"}, {"BLOCK": 32})
    for capability in (80, 90):
        compiled = tilewright.compile(source, target=GPUTarget("cuda", capability, 32))
        assert f"cuda:{capability}" in compiled.asm["ttgir"]
        assert f".target sm_{capability}" in compiled.asm["ptx"]
    with pytest.raises(TargetError, match=r"for AMD's GPUs \('hip'\)\. There are cpu, cuda, cuda_sim, reference"):
        tilewright.compile(source, target=GPUTarget("hip", "gfx942", 64))


@pytest.mark.parametrize(
    ("signature", "constants", "message"),
    [
        ({"out": "*i32"}, {}, "argument 'BLOCK': without a type"),
        ({"out": "*i32", "BLOCK": "constexpr"}, {}, "argument 'BLOCK': a constant without a value"),
        ({"out": "*i32"}, {"BLOCK": 8, "BLOCKS": 8}, "argument 'BLOCKS': no parameter; expected one of out, BLOCK"),
    ],
)
def test_declarations_that_do_not_fit(signature: Any, constants: Any, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        tilewright.compile(tilewright.compiler.ASTSource(fill, signature, constants))


def test_what_is_no_target_and_no_driver() -> None:
    source = tilewright.compiler.ASTSource(fill, {"out": "*i32"}, {"BLOCK": 8})
    with pytest.raises(TargetError, match="5 is not a target"):
        tilewright.compile(source, target=5)
    with pytest.raises(TargetError, match="'cpu' is not a driver"):
        driver.set_active("cpu")


def test_options_that_only_guide_another_back_end_are_left_alone() -> None:
    out = np.zeros(8, np.int32)
    fill[(1,)](out, BLOCK=8, waves_per_eu=2, matrix_instr_nonkdim=16, kpack=2)
    assert out.tolist() == list(range(8))


def test_host_names_of_triton() -> None:
    with compat.standing_in():
        names = {
            "triton.errors": ["TritonError"],
            "triton.backends.compiler": ["GPUTarget"],
            "triton.backends.triton_shared.driver": ["CPUDriver"],
            "triton.compiler": ["ASTSource", "IRSource", "CompiledKernel", "CompilationError"],
            "triton.runtime": ["driver", "InterpreterError", "OutOfResources", "JITFunction"],
            "triton.runtime.errors": ["OutOfResources", "PTXASError", "AutotunerError", "InterpreterError"],
            "triton.tools.tensor_descriptor": ["TensorDescriptor"],
        }
        for module, members in names.items():
            assert [name for name in members if not hasattr(importlib.import_module(module), name)] == []
        triton = importlib.import_module("triton")
        assert triton.runtime.errors.OutOfResources is tilewright.OutOfResources
        assert issubclass(triton.compiler.errors.CompilationError, triton.errors.TritonError)
        assert triton.backends.triton_shared.driver.CPUDriver().target is driver_for("cpu").target
        with pytest.raises(AttributeError, match="tilewright stands in for it"):
            _ = triton.no_such_name
