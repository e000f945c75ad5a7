"""Switches that show how a launch is compiled: every one does what docs/switches.md says of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from tilewright.support import knobs
from tilewright.support.errors import PassError
from tilewright.tools import opt
from tilewright.transforms.common.cse import CsePass


@triton.jit
def doubling(x_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    tl.store(x_ptr + lanes, tl.load(x_ptr + lanes) * 2)


@triton.jit
def swapping(x_ptr, y_ptr, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    a = tl.load(x_ptr + lanes)
    b = tl.load(y_ptr + lanes)
    tl.store(x_ptr + lanes, b)
    tl.store(y_ptr + lanes, a + b)


@pytest.fixture(autouse=True)
def private_cache(tmp_path: Path) -> Any:  # pyright: ignore[reportUnusedFunction]
    with knobs.scope(cache_dir=str(tmp_path / "cache")):
        yield


def launch(kernel: Any = doubling, **switches: Any) -> Array:
    """Compile and run under switches, from the disk cache if these let it be."""
    x = np.ones(16, np.float32)
    with knobs.scope(**switches):
        triton.jit(kernel.fn)[(1,)](x, BLOCK=16)
    return x


def test_nothing_is_said_unasked(capsys: pytest.CaptureFixture[str]) -> None:
    assert launch().tolist() == [2.0] * 16
    assert capsys.readouterr() == ("", "")


def test_print_after_also_what_the_cache_has(capsys: pytest.CaptureFixture[str]) -> None:
    launch()
    launch(print_after=("triton-to-structured",))
    said = capsys.readouterr().err
    assert said.count("IR Dump After") == 1
    assert "IR Dump After TritonToStructured (triton-to-structured)" in said and "tts.make_tptr" in said


def test_dump_ir_has_a_folder_for_each_kernel_and_stage(tmp_path: Path) -> None:
    launch(dump_ir=str(tmp_path / "dump"))
    (folder,) = (tmp_path / "dump").iterdir()
    assert folder.name.startswith("doubling-")
    assert sorted(stage.name for stage in folder.iterdir()) == ["linalg", "loops", "structured", "ttir"]
    first, second = sorted(path.name for path in (folder / "ttir").iterdir())[:2]
    assert (first, second) == ("00-input.mlir", "01-inline.mlir")
    assert "vector.store" in next((folder / "loops").glob("*-linalg-to-loops.mlir")).read_text()


def test_timing_has_a_table_for_each_stage(capsys: pytest.CaptureFixture[str]) -> None:
    launch(timing=True)
    said = capsys.readouterr().err
    titles = [line for line in said.splitlines() if line.startswith("===-")]
    assert [title.split("/")[1] for title in titles] == ["ttir -===", "structured -===", "linalg -===", "loops -==="]
    assert "linalg-to-loops" in said


def test_remarks(capsys: pytest.CaptureFixture[str]) -> None:
    with knobs.scope(remarks=True):
        triton.jit(swapping.fn)[(1,)](np.ones(16, np.float32), np.zeros(16, np.float32), BLOCK=16)
    said = capsys.readouterr().err
    assert said.count("remark: [forward-loads] 'bufferization.to_tensor': ") == 1
    assert "a = tl.load(x_ptr + lanes)" in said


def test_llvm_dump(capsys: pytest.CaptureFixture[str]) -> None:
    launch(llvm_dump=True)
    before, after = capsys.readouterr().err.split("LLVM module after optimisation")
    assert "LLVM module before optimisation" in before
    assert before.count("define ") > after.count("define ") > 0


def break_the_module(self: CsePass, module: Any, context: Any) -> None:
    next(iter(module.body.block.ops)).body.block.last_op.detach()


def test_verify_each_names_the_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CsePass, "run", break_the_module)
    with pytest.raises(PassError, match="does not verify after this pass") as caught:
        launch(verify_each=True)
    assert caught.value.pass_name == "cse"


def fail(self: CsePass, module: Any, context: Any) -> None:
    raise KeyError("lost")


def test_a_failing_pass_leaves_a_file_that_replays_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(CsePass, "run", fail)
    with pytest.raises(PassError, match="KeyError: 'lost'") as caught:
        launch(reproducer_dir=str(tmp_path / "failed"))
    (file,) = (tmp_path / "failed").iterdir()
    assert caught.value.reproducer == str(file)
    assert f"tilewright-opt --run-reproducer {file}" in str(caught.value)
    assert opt.run([str(file), "--run-reproducer", "-o", str(tmp_path / "out.mlir")]) == 1
    monkeypatch.undo()
    assert opt.run([str(file), "--run-reproducer", "-o", str(tmp_path / "out.mlir")]) == 0
