"""Official Triton with tilewright behind it: its own `@triton.jit` and `triton.compile`, on tensors in host memory."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import corpus_oracle as oracle
import pytest

from suite import official_packages
from tilewright.support import knobs
from tilewright.support.errors import (
    ArgumentValueError,
    DeviceAssertionError,
    OptionError,
    PassError,
    TargetError,
    TilewrightError,
)

triton: Any = pytest.importorskip("triton", reason="official Triton is not installed")
torch: Any = pytest.importorskip("torch", reason="official Triton's launches need PyTorch")
# All of these import official Triton.
official_front_end: Any = import_module("official_front_end")
kernels: Any = import_module("official_kernels")
launches: Any = import_module("official_launches")
triton_backend: Any = import_module("tilewright.triton_backend")
naming: Any = import_module("tilewright.triton_backend.naming")
TilewrightDriver: Any = import_module("tilewright.triton_backend.driver").TilewrightDriver
random = partial(launches.random, device="cpu")
ASTSource, GPUTarget = triton.compiler.ASTSource, triton.backends.compiler.GPUTarget

CPU = GPUTarget("tilewright-cpu", None, 1)


@pytest.fixture(autouse=True)
def on_the_cpu(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Launches of official Triton go to our CPU target, whatever TILEWRIGHT_TARGET names for our own."""
    monkeypatch.setattr(triton.knobs.cache, "dir", str(tmp_path_factory.getbasetemp() / "triton"))
    before = triton.runtime.driver._active
    triton_backend.activate("cpu")
    yield
    triton.runtime.driver._active = before


@pytest.mark.parametrize("launch", launches.LAUNCHES)
def test_launches(launch: str) -> None:
    if launch == "block pointers" and hasattr(triton.language, "atomic_load"):
        pytest.skip("Triton 3.9 has no block pointers")
    launches.LAUNCHES[launch]("cpu")


def test_any_cpu_is_ours_where_launches_go_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch's compiler describes the CPU so; with another driver it may be some other back end's."""
    described = GPUTarget("cpu", "", 1)
    assert triton.compiler.make_backend(described).hash() == triton.compiler.make_backend(CPU).hash()
    monkeypatch.setattr(triton.runtime.driver, "_active", None)
    with pytest.raises(RuntimeError, match="0 compatible backends"):
        triton.compiler.make_backend(described)


@pytest.mark.costly
@pytest.mark.needs("triton-3.9")
def test_behind_the_newest_triton_too() -> None:
    """The tests of this file, in a process of their own, which imports Triton 3.9."""
    if triton.__version__.startswith(official_packages.NEWEST):
        pytest.skip("this is the process")
    command = [sys.executable, "-m", "pytest", "-p", "no:xdist", "-p", "no:cacheprovider", "-rs", __file__]
    environment = official_packages.environment(official_packages.NEWEST)
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout and "Triton 3.9 has no block pointers" in done.stdout


def test_masks_and_grid_functions() -> None:
    x, y, out = random(1000), random(1000) + 1, torch.full((1024,), 7.0)
    kernel = kernels.add[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](x, y, out, 1000, BLOCK=64)
    assert torch.equal(out[:1000], x + y)
    assert torch.all(out[1000:] == 7)
    stages = ["source", "ttir", "structured", "linalg", "loops", "llir", "obj"]
    assert list(kernel.asm) == stages
    assert "linalg.generic" in kernel.asm["linalg"]
    assert kernel.asm["obj"][:4] == b"\x7fELF" or sys.platform != "linux"


def test_pointers_that_share_memory() -> None:
    """What is compiled is for pointers that do not; the kernel for others is found at their first launch."""
    row = random(1024)
    before, out = row.clone(), torch.zeros(1024)
    kernels.shift[(1,)](row[255:], out, 256, BLOCK=256)
    assert torch.equal(out[256:512], before[255:511] + 1)
    # What is stored lies one further on than what is loaded: one vector after the other would take what it has stored.
    kernels.shift[(1,)](row[255:], row, 256, BLOCK=256)
    assert torch.equal(row[256:512], before[255:511] + 1)
    assert torch.equal(row[:256], before[:256]) and torch.equal(row[512:], before[512:])


@pytest.mark.costly
def test_random_numbers() -> None:
    x, out, again = torch.ones(4096), torch.empty(4096), torch.empty(4096)
    kernels.dropout[(4,)](x, out, 123, 0.25, BLOCK=1024)
    kernels.dropout[(8,)](x, again, 123, 0.25, BLOCK=512)
    assert torch.equal(out, again)
    assert abs((out == 0).float().mean().item() - 0.25) < 0.03


def test_compiling_without_a_launch(tmp_path: Path) -> None:
    """`triton.compile` for declared types, and for a file of Triton IR; what it returns is launched."""
    signature = {"x_ptr": "*fp32", "y_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    kernel = triton.compile(ASTSource(kernels.add, signature, {"BLOCK": 32}), target=CPU)
    x, out = random(64), torch.empty(64)
    kernel[(2, 1, 1)](x, x, out, 64, 32)
    assert torch.equal(out, 2 * x)
    file = tmp_path / "add.ttir"
    file.write_text(kernel.asm["ttir"])
    from_file = triton.compile(str(file), target=CPU)
    assert from_file.metadata.name == "add"
    out.zero_()
    from_file[(2, 1, 1)](x, x, out, 64)
    assert torch.equal(out, 2 * x)


def test_a_processor_by_its_name() -> None:
    signature = {"x_ptr": "*fp32", "out_ptr": "*fp32", "columns": "i32", "BLOCK": "constexpr"}
    source = ASTSource(kernels.softmax, signature, {"BLOCK": 64})
    narrow = triton.compile(source, target=GPUTarget("tilewright-cpu", "x86-64-v3", 1))
    assert "vector<8xf32>" in narrow.asm["loops"]
    with pytest.raises(TargetError, match="no processor 'z80' can be compiled for; there are"):
        triton.compile(source, target=GPUTarget("tilewright-cpu", "z80", 1))


def test_code_for_a_gpu() -> None:
    """Through our TritonGPU passes to PTX, with no GPU there."""
    signature = {"x_ptr": "*fp32", "out_ptr": "*fp32", "columns": "i32", "BLOCK": "constexpr"}
    source = ASTSource(kernels.softmax, signature, {"BLOCK": 256})
    kernel = triton.compile(source, target=GPUTarget("tilewright-cuda", 90, 32), options={"num_warps": 2})
    assert '"ttg.num-warps" = 2' in kernel.asm["ttgir"]
    assert ".target sm_90" in kernel.asm["ptx"]
    assert kernel.metadata.num_warps == 2


@pytest.mark.parametrize("target", ["reference", "cuda_sim"])
def test_other_targets(target: str) -> None:
    triton_backend.activate(target)
    assert triton.runtime.driver.active.get_current_target().backend == f"tilewright-{target}"
    x, y, out = random(100), random(100), torch.zeros(100)
    kernels.add[(2,)](x, y, out, 100, BLOCK=64)
    assert torch.equal(out, x + y)
    triton_backend.activate("cpu")
    kernels.add[(2,)](out, y, out, 100, BLOCK=64)
    assert torch.equal(out, x + y + y)


@pytest.mark.costly
def test_what_programs_ask_of_the_driver() -> None:
    active = triton.runtime.driver.active
    device = active.get_active_torch_device()
    properties = active.utils.get_device_properties(device.index)
    assert device == torch.device("cpu")
    assert properties["multiprocessor_count"] >= 1
    assert active.get_current_device() < 0
    active.set_current_device(active.get_current_device())
    with pytest.raises(TargetError, match="has no compute capability"):
        active.get_device_capability()
    x, out = random(64), torch.empty(64)
    measured = triton.testing.do_bench(lambda: kernels.add[(1,)](x, x, out, 64, BLOCK=64), warmup=1, rep=2)
    assert measured > 0
    assert kernels.add.warmup(x, x, out, 64, BLOCK=64, grid=(1,)).n_regs == 1


def test_hooks_see_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(triton.knobs.runtime, "launch_enter_hook", lambda data: seen.append(data.get()["name"]))
    monkeypatch.setattr(triton.knobs.runtime, "launch_exit_hook", lambda data: seen.append("done"))
    out = torch.zeros(1, dtype=torch.int32)
    kernels.functions[(1,)](out, 3, (5, 1), STEPS=1, NAME="calls")
    assert seen == ["functions", "done"]


def test_errors_are_clear() -> None:
    x = torch.zeros(4, dtype=torch.int32)
    with pytest.raises(PassError, match=r"official_kernels\.py:\d+:\d+: error: .*'shfl\.") as caught:
        kernels.assembly[(1,)](x)
    assert "tl.inline_asm_elementwise" in str(caught.value)
    with pytest.raises(DeviceAssertionError, match="too many"):
        kernels.checked[(1,)](x, 12, debug=True)
    with pytest.raises(KeyError, match="unroll_all was specified but unrecognised"):
        kernels.checked[(1,)](x, 2, unroll_all=True)
    with pytest.raises(OptionError, match="num_warps must be a power of 2"):
        kernels.checked[(1,)](x, 2, num_warps=3)
    kernel = kernels.checked.warmup(x, 32, grid=(1,))
    with pytest.raises(ArgumentValueError, match="'n': 33; expected a multiple of 16"):
        kernel[(1, 1, 1)](x, 33)
    with pytest.raises(TargetError, match="no target 'abacus'"):
        triton_backend.activate("abacus")


def test_launches_that_cannot_be_are_refused() -> None:
    """By arguments, after launches like them, too."""
    x = torch.zeros(64)
    for grid in ((-1,), (1 << 40,)):
        with pytest.raises(ArgumentValueError, match=r"'grid': axis of size .*; expected 0 to 2147483647"):
            kernels.add[grid](x, x, x, 64, BLOCK=64)
    for _ in range(2):
        kernels.add[(1,)](x, x, x, 64, BLOCK=64)
        with pytest.raises(ArgumentValueError, match="'x_ptr': data on meta; expected data in host memory"):
            kernels.add[(1,)](x.to("meta"), x, x, 64, BLOCK=64)


@pytest.mark.parametrize(
    ("before", "message"),
    [
        ("sys.modules['triton'] = None", "official triton package, which is not installed: pip install triton==3.9.0"),
        ("import tilewright.compat; tilewright.compat.install()", "cannot be a back end of itself"),
    ],
)
def test_without_official_triton_the_import_says_so(before: str, message: str) -> None:
    program = f"import sys; {before}; import tilewright.triton_backend"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1].endswith(message)


def test_what_a_target_lacks_is_an_error_that_the_autotuner_knows() -> None:
    signature = dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), "*fp16") | dict.fromkeys("MNK", "i32")
    constants = {"BK": 512, "BM": 256, "BN": 256, "EVEN": True}
    source = ASTSource(kernels.matmul.fn.fn, signature | dict.fromkeys(constants, "constexpr"), constants)
    with pytest.raises(triton.runtime.errors.OutOfResources, match="shared memory"):
        triton.compile(source, target=GPUTarget("tilewright-cuda", 80, 32))


def test_gluon_is_refused() -> None:
    backend = triton.compiler.compiler.make_backend(CPU)
    with pytest.raises(OptionError, match="Gluon kernels are for NVIDIA's GPUs"):
        backend.add_stages({}, backend.parse_options({}), SimpleNamespace(name="GLUON"))


def test_texts_in_the_place_of_a_stage(tmp_path: Path) -> None:
    """Triton's `ir_override` of its own IR is taken, of ours it says why not."""
    x, out = random(64), torch.zeros(64)
    kernel = kernels.add[(1,)](x, x, out, 64, BLOCK=64)
    file = tmp_path / "add.ttir"
    file.write_text(kernel.asm["ttir"].replace("arith.addf", "arith.mulf"))
    kernels.add[(1,)](x, x, out, 64, BLOCK=64, ir_override=str(file))
    torch.testing.assert_close(out, x * x)
    file = tmp_path / "add.structured"
    file.write_text(kernel.asm["structured"])
    with pytest.raises(OptionError, match="Triton cannot read a text of stage 'structured'"):
        kernels.add[(1,)](x, x, out, 64, BLOCK=64, ir_override=str(file))
    file = tmp_path / "add.llir"
    file.write_text(kernel.asm["llir"])
    with pytest.raises(TilewrightError, match="a text of stage 'ttir' can"):
        kernels.add[(1,)](x, x, out, 64, BLOCK=64, ir_override=str(file))


def test_another_version_of_triton_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(naming, "version", lambda name: "3.7.1")
    with pytest.raises(TargetError, match=r"back end of Triton 3\.6 and 3\.9; this is Triton 3\.7\.1"):
        TilewrightDriver("cpu")
    with pytest.raises(TargetError, match=r"Install triton 3\.9, or let tilewright stand in for it"):
        triton.compiler.compiler.make_backend(CPU)


def test_no_driver_is_active_that_was_not_asked_for() -> None:
    assert not TilewrightDriver.is_active()
    with knobs.scope(triton_backend="cpu"):
        assert TilewrightDriver.is_active()
    assert "tilewright" in triton.backends.backends, "the entry point: `pip install -e .` once more"


PROGRAM = """
import importlib, sys
importlib.import_module(FIRST)
import triton, torch, triton.language as tl
print(*sorted({name.split('.')[0] for name in sys.modules} & {'xdsl', 'llvmlite'}))
@triton.jit
def fill(x_ptr, value):
    tl.store(x_ptr + tl.program_id(0), value)
x = torch.zeros(3)
fill[(3,)](x, 2.5)
print(x.tolist())
"""

IN_CHILDREN = """
import os, runpy, sys, torch
assert "triton" not in sys.modules
for first in sys.argv[2:]:
    child = os.fork()
    if child == 0:
        runpy.run_path(sys.argv[1], {"FIRST": first})
        sys.stdout.flush()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, first
"""


@pytest.mark.costly
def test_a_program_that_only_sets_the_variable(tmp_path: Path) -> None:
    """Whatever is imported first; `import triton` imports no compiler of ours. Each order has a child of one process,
    which has imported PyTorch for all of them."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    firsts = ["triton", "tilewright.triton_backend.driver", "tilewright.triton_backend.compiler"]
    environment = os.environ | {"TILEWRIGHT_TRITON_BACKEND": "cpu", "TRITON_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", IN_CHILDREN, str(program), *firsts]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("\n[2.5, 2.5, 2.5]\n" * len(firsts), 0), done.stderr


SAMPLE = official_front_end.known_cases()[::16]


@pytest.mark.parametrize("case", SAMPLE, ids=str)
def test_the_corpus_gives_what_the_reference_gives(case: oracle.Case) -> None:
    """A sample; `make official-front-end` runs all of it."""
    assert official_front_end.differences(case) == []
