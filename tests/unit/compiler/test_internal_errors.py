"""What fails inside of the compiler, wherever it does, is an internal PassError with a file that replays it; on the
CPU, after the linalg stage, the baseline compiles the kernel. Nothing that does not verify is emitted."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i8

import tilewright as triton
import tilewright.language as tl
from tilewright.analysis import written_arguments
from tilewright.codegen import llvm_backend
from tilewright.compiler.options import CompileOptions
from tilewright.dialects import arith
from tilewright.ir.bisection import OPTIONAL
from tilewright.ir.passes import Pass, PassContext
from tilewright.ir.walking import ops_within
from tilewright.lowering import ttg_to_llvm
from tilewright.lowering.linalg_matmuls import fuse_matmul_stores, recognize_k_loops
from tilewright.lowering.linalg_matmuls.first_iteration import NoMatchError
from tilewright.support import knobs
from tilewright.support.errors import BaselineWarning, PassError
from tilewright.targets.base import Target, find_target
from tilewright.targets.capabilities import HasLateStages, configured
from tilewright.tools import opt


def make_sum() -> Any:
    @triton.jit
    def summed(x_ptr, y_ptr, n):
        i = tl.arange(0, 16)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0)
        tl.store(x_ptr + i, x + tl.sum(tl.load(y_ptr + i), 0), mask=i < n)

    return summed


def make_sum_of_product() -> Any:
    @triton.jit
    def summed(x_ptr, y_ptr, n):
        i = tl.arange(0, 16)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0)
        y = tl.load(y_ptr + tl.arange(0, 16)[:, None] * 16 + i[None, :])
        tl.store(x_ptr + i, tl.sum(tl.dot(y, y), 0) + x, mask=i < n)

    return summed


def make_product() -> Any:
    @triton.jit
    def product(a_ptr, b_ptr, c_ptr, k):
        i, j = tl.arange(0, 32), tl.arange(0, 16)
        total = tl.zeros((32, 32), tl.float32)
        for start in range(0, k, 16):
            a = tl.load(a_ptr + i[:, None] * k + (start + j)[None, :])
            total = tl.dot(a, tl.load(b_ptr + (start + j)[:, None] * 32 + i[None, :]), total)
        tl.store(c_ptr + i[:, None] * 32 + i[None, :], total.to(tl.float16))

    return product


def run(target: str = "cpu", make_kernel: Callable[[], Any] = make_sum) -> np.ndarray[Any, Any]:
    x, y = np.arange(16, dtype=np.float32), np.eye(16, dtype=np.float32)
    options = {} if target == "cpu" else {"arch": "sm90"}
    with knobs.scope(target=target, always_compile=True):
        make_kernel()[(1,)](x, y, 10, **options)
    return x


WANTED = np.where(np.arange(16) < 10, np.arange(16) + 1, np.arange(16)).astype(np.float32)


def pass_classes(target: Target, *stages: str) -> list[type[Pass]]:
    """The passes of a target, each once, in order."""
    found = dict.fromkeys(type(pass_) for stage, passes in target.stages() if stage in stages for pass_ in passes)
    return list(found)


CPU = find_target("cpu")
HOPPER = configured(find_target("cuda_sim"), CompileOptions(arch="sm90"))
assert isinstance(HOPPER, HasLateStages)
CUDA_STAGES: Sequence[tuple[str, Sequence[Pass]]] = HOPPER.late_stages()
BEFORE = pass_classes(CPU, "ttir", "structured", "linalg")
OPTIMISING = [cls for cls in pass_classes(CPU, "loops") if cls not in BEFORE]
OF_GPUS = pass_classes(HOPPER, "ttir", "ttgir")
OF_GPU_MEMORY = [type(pass_) for _, passes in CUDA_STAGES for pass_ in passes]


def lose(self: Pass, module: ModuleOp, context: PassContext) -> None:
    raise KeyError("lost")


def spoil(cls: type[Pass]) -> Callable[[Pass, ModuleOp, PassContext], None]:
    """The pass, after which some sum has operands of two types."""
    run = cls.run

    def spoiled(self: Pass, module: ModuleOp, context: PassContext) -> None:
        run(self, module, context)
        for op in ops_within(module):
            if isinstance(op, arith.AddfOp) and (block := op.parent) is not None:
                block.insert_op_before(other := arith.ConstantOp(IntegerAttr(1, i8)), op)
                op.operands[1] = other.results[0]

    return spoiled


def name(cls: type[Pass]) -> str:
    return cls.name


def replayed(error: PassError) -> str:
    """What the command in an error says."""
    command = str(error).rpartition("replay with: ")[2]
    assert error.reproducer is not None
    assert error.reproducer in command
    words = shlex.split(command)
    if words[0] == "tilewright-opt":
        return str(opt.run([*words[1:], "-o", "/dev/null"]))
    assert words[0] == "python"
    return subprocess.run([sys.executable, *words[1:]], capture_output=True, text=True).stderr


@pytest.mark.sampled
@pytest.mark.parametrize("cls", [*BEFORE, *OPTIMISING], ids=name)
def test_a_pass_fails(cls: type[Pass], monkeypatch: pytest.MonkeyPatch) -> None:
    """After linalg the baseline does without it, unless that is not wanted."""
    monkeypatch.setattr(cls, "run", lose)
    mode = "strict" if cls in OPTIMISING else "1"
    with knobs.scope(opt=mode), pytest.raises(PassError, match="internal error: KeyError: 'lost'") as raised:
        run()
    assert raised.value.internal
    assert raised.value.pass_name == cls.name
    assert replayed(raised.value) == "1"
    if cls in OPTIMISING:
        with knobs.scope(opt="1"), pytest.warns(BaselineWarning, match=f"(?s){cls.name}.*lost.*replay with"):
            np.testing.assert_array_equal(run(), WANTED)


@pytest.mark.sampled
@pytest.mark.parametrize("cls", OPTIMISING, ids=name)
def test_a_pass_makes_an_invalid_module(cls: type[Pass], monkeypatch: pytest.MonkeyPatch) -> None:
    """Found before emission whoever did it, if a later pass does not fail at it, or makes it right, before."""
    emitted: list[ModuleOp] = []
    emit = type(CPU).emit
    monkeypatch.setattr(type(CPU), "emit", lambda self, module: emitted.append(module) or emit(self, module))  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    monkeypatch.setattr(cls, "run", spoil(cls))
    with knobs.scope(opt="strict"), pytest.raises(PassError) as raised:
        run()
    assert raised.value.internal
    assert raised.value.reproducer is not None
    assert not emitted
    with knobs.scope(opt="1"), pytest.warns(BaselineWarning):
        np.testing.assert_array_equal(run(), WANTED)


@pytest.mark.sampled
@pytest.mark.parametrize("cls", [cls for cls in OPTIMISING if cls.name in OPTIONAL], ids=name)
def test_a_pass_finds_nothing_that_fits(cls: type[Pass], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cls, "run", lambda self, module, context: None)  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    with knobs.scope(opt="strict"):
        np.testing.assert_array_equal(run(make_kernel=make_sum_of_product), WANTED)


@pytest.mark.parametrize(("module", "plan"), [(recognize_k_loops, "find_cast"), (fuse_matmul_stores, "find_store")])
def test_a_plan_does_not_fit(module: Any, plan: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the op is lowered as any other: no error, not even the baseline."""
    tried: list[str] = []

    def never(*args: Any) -> None:
        tried.append(plan)
        raise NoMatchError

    monkeypatch.setattr(module, plan, never)
    a, b = np.eye(32, 64, dtype=np.float16), np.eye(64, 32, dtype=np.float16)
    c = np.zeros((32, 32), np.float16)
    with knobs.scope(opt="strict", target="cpu", always_compile=True):
        make_product()[(1,)](a, b, c, 64)
    np.testing.assert_array_equal(c, np.eye(32))
    assert tried


@pytest.mark.sampled
@pytest.mark.parametrize("cls", OF_GPUS, ids=name)
def test_a_pass_of_gpus_fails(cls: type[Pass], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cls, "run", lose)
    with pytest.raises(PassError, match="internal error: KeyError: 'lost'") as raised:
        run("cuda_sim")
    assert raised.value.internal
    assert raised.value.pass_name == cls.name
    assert replayed(raised.value) == "1"


@pytest.mark.costly
def test_llvm_rejects_a_module(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_parts = llvm_backend.compile_parts

    def spoiled(texts: Sequence[str], *args: Any, **keywords: Any) -> list[bytes]:
        monkeypatch.setattr(llvm_backend, "compile_parts", compile_parts)
        return compile_parts([texts[0].replace("ret void", "ret i1 2", 1), *texts[1:]], *args, **keywords)

    monkeypatch.setattr(llvm_backend, "compile_parts", spoiled)
    with knobs.scope(opt="strict"), pytest.raises(PassError, match="LLVM rejects the generated code") as raised:
        run()
    assert raised.value.internal
    assert raised.value.pass_name == "emission"
    assert raised.value.reproducer is not None
    assert raised.value.reproducer.endswith(".loops")
    assert replayed(raised.value) == ""  # it is not spoiled there
    monkeypatch.setattr(llvm_backend, "compile_parts", spoiled)
    with knobs.scope(opt="1"), pytest.warns(BaselineWarning, match="LLVM rejects"):
        np.testing.assert_array_equal(run(), WANTED)


def test_between_the_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(module: ModuleOp) -> None:
        raise KeyError("lost")

    monkeypatch.setattr(written_arguments, "find_written_arguments", fail)
    with pytest.raises(PassError, match="internal error: KeyError: 'lost'") as raised:
        run()
    assert raised.value.internal
    assert Path(str(raised.value.reproducer)).exists()


@pytest.mark.costly
def test_a_gpus_emission_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: Any, **keywords: Any) -> None:
        raise KeyError("lost")

    monkeypatch.setattr(ttg_to_llvm, "lower_module", fail)
    with pytest.raises(PassError, match="internal error: KeyError: 'lost'") as raised:
        run("cuda_sim")
    check_emission(raised.value)


@pytest.mark.sampled
@pytest.mark.parametrize("cls", OF_GPU_MEMORY, ids=name)
def test_a_pass_of_a_gpus_emission_fails(cls: type[Pass], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cls, "run", lose)
    with pytest.raises(PassError, match="internal error: KeyError: 'lost'") as raised:
        run("cuda_sim")
    assert raised.value.pass_name == cls.name
    check_emission(raised.value, replays=cls is OF_GPU_MEMORY[0])


def check_emission(error: PassError, *, replays: bool = True) -> None:
    """Check the file of a failure in a GPU's emission, which does not fail in a process without the planted fault."""
    assert error.internal
    assert str(error.reproducer).endswith(".ttgir")
    assert not replays or replayed(error) == ""
