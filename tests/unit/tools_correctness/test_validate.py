"""Validation names the pass, the rule, the element and the source line; launches are copied as they are."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.dialects import arith
from tilewright.support import knobs
from tilewright.support.errors import ValidationError
from tilewright.targets.base import Target
from tilewright.tools.cli import main
from tilewright.tools.validate import run_validate
from tilewright.tools.validation import observer, validate
from tilewright.tools.validation.compare import EXACT, Tolerance, find_difference
from tilewright.tools.validation.engines import find_cpu, find_engine, run_native
from tilewright.tools.validation.launches import Launch, record_launch
from tilewright.tools.validation.validate import Report, validate_launch

SCRIPT = """
import numpy as np
import triton
import triton.language as tl


@triton.jit
def double(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x + x, mask=offsets < n)

"""
LAUNCH = "x = np.arange(40, dtype=np.float32)\ndouble[(3,)](x, np.zeros_like(x), 40, BLOCK=16)\n"


@triton.jit
def shifted(x_ptr, out_ptr, n, SHIFT: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0)
    tl.store(out_ptr + offsets, x + (SHIFT * 2 - SHIFT * 2) + 0, mask=offsets < n)  # the store


def launch(**changes: Any) -> Any:
    x = np.arange(40, dtype=np.int32)
    keywords = {"x_ptr": x, "out_ptr": np.zeros_like(x), "n": 40, "SHIFT": 3, "BLOCK": 16} | changes
    return record_launch(shifted, (3,), (), keywords)


def test_a_right_compiler_is_valid() -> None:
    report = validate_launch(launch(), find_cpu())
    assert report.is_valid, report.render()
    assert report.rows[0].point.stage == "source"
    assert report.rows[-1].point.pass_name == "machine code"
    assert {row.verdict for row in report.rows} == {"same"}, "in the middle of a conversion, too"


def test_a_wrong_fold_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    original = arith.AddiOp.fold

    def wrong(self: arith.AddiOp) -> Any:
        """x + 0 = 0"""
        folded = original(self)
        if folded is not None and folded[0] is self.lhs and "tensor" in str(self.lhs.type):
            return (self.rhs,)
        return folded

    monkeypatch.setattr(arith.AddiOp, "fold", wrong)
    report = validate_launch(launch(), find_cpu())
    assert not report.is_valid
    assert report.culprit is not None
    assert report.culprit.pass_name == "canonicalize"
    assert report.rewrite is not None
    assert (report.rewrite.rule, report.rewrite.op_name) == ("AddiOp.fold", "arith.addi")
    assert report.difference is not None
    assert (report.difference.argument, report.difference.index) == ("out_ptr", 1)
    line = next(n for n, text in enumerate(Path(__file__).read_text().splitlines(), 1) if text.endswith("# the store"))
    assert getattr(report.place, "line", 0) == line
    text = report.render()
    assert "first difference: ttir: canonicalize" in text
    assert "rule: AddiOp.fold on 'arith.addi'" in text
    assert "# the store" in text


def test_the_command_follows_the_launches_of_a_script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT + LAUNCH)
    assert run_validate(argparse.Namespace(file=str(script), target="cpu", main=False)) == 0
    printed = capsys.readouterr().out
    assert "kernel 'double', grid (3, 1, 1)" in printed
    assert "machine code" in printed
    assert run_validate(argparse.Namespace(file=f"{script}:other", target="cpu", main=False)) == 2
    assert run_validate(argparse.Namespace(file=str(tmp_path / "none.py"), target="cpu", main=False)) == 2


def test_inputs_may_be_made_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    assert run_validate(argparse.Namespace(file=f"{script}:double", target="cpu", main=False)) == 0
    assert "kernel 'double'" in capsys.readouterr().out


def test_a_program_is_run_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What stands under `__main__` has the real inputs, here of more programs than are validated."""
    script = tmp_path / "script.py"
    script.write_text(
        SCRIPT + "\nif __name__ == '__main__':\n    x = np.ones(5000, np.float32)\n"
        "    double[(1250,)](x, np.zeros_like(x), 5000, BLOCK=4)\n"
    )
    assert main(["validate", str(script)]) == 0
    assert "inputs were made up; --main" in capsys.readouterr().out
    assert main(["validate", "--main", str(script)]) == 0
    printed = capsys.readouterr().out
    assert "kernel 'double', grid (256, 1, 1)" in printed
    assert "made up" not in printed
    script.write_text(SCRIPT)
    assert main(["validate", "--main", str(script)]) == 0
    assert "(the file launches nothing: inputs were made up)" in capsys.readouterr().out


def test_grids_are_cut_by_rows_columns_and_layers() -> None:
    of = launch().with_grid((3, 200, 9))
    assert of.with_programs(256).grid == (3, 85, 1)
    assert of.with_programs(2).grid == (2, 1, 1)
    assert launch().with_grid((0, 4, 4)).with_programs(8).grid == (0, 4, 4), "no program at all"


@triton.jit
def product(a_ptr, b_ptr, c_ptr, PRECISION: tl.constexpr):
    i, j = tl.arange(0, 32)[:, None], tl.arange(0, 32)[None, :]
    a, b = tl.load(a_ptr + i * 32 + j), tl.load(b_ptr + i * 32 + j)
    tl.store(c_ptr + i * 32 + j, tl.dot(a, b, input_precision=PRECISION))


@pytest.mark.parametrize(("precision", "is_valid"), [("tf32", True), ("ieee", False)])
def test_products_of_tf32_are_not_taken_for_wrong(
    precision: str, is_valid: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tensor cores drop bits of float32 operands, where the kernel lets them; elsewhere that is a difference."""
    a, b = np.random.default_rng(0).standard_normal((2, 32, 32)).astype(np.float32)
    keywords = {"a_ptr": a, "b_ptr": b, "c_ptr": np.zeros_like(a), "PRECISION": precision}
    run = validate.run_native

    def rounded(one: Launch, target: Target) -> Any:
        """The result of machine code that drops bits."""
        outcome = run(one, target)
        values = outcome.memory[one.slots[2].region].view(np.float32)
        values *= 1 + 2.0**-8 * (np.abs(values) < np.abs(values).max() / 8)
        return outcome

    monkeypatch.setattr(validate, "run_native", rounded)
    target, arch = find_engine("cuda_sim:sm80")
    report = validate_launch(record_launch(product, (1,), (), keywords).for_architecture(arch), target, observer.FLOATS)
    assert report.is_valid == is_valid, report.render()


def test_every_first_launch_is_validated_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    x, out = np.arange(40, dtype=np.int32), np.zeros(40, np.int32)
    with knobs.scope(validate=True, always_compile=True):
        shifted[(3,)](x, out, 40, SHIFT=5, BLOCK=16)
        np.testing.assert_array_equal(out, x)
        out[:] = 0
        original = arith.MuliOp.fold
        monkeypatch.setattr(arith.MuliOp, "fold", lambda self: (self.lhs,) if "tensor" not in str(self.lhs.type)
                            else original(self))  # fmt: skip
        with pytest.raises(ValidationError, match="first difference"):
            shifted[(3,)](x, out, 40, SHIFT=6, BLOCK=16)


@pytest.mark.parametrize("target", ["cuda_sim:sm80", "cuda_sim:sm90"])
def test_the_way_to_a_gpu_is_validated(target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Behind every pass of the ttg stage, those that place buffers among them, and by the simulated GPU."""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT + LAUNCH)
    assert main(["validate", str(script), "--target", target]) == 0
    rows = [line.split()[:3] for line in capsys.readouterr().out.splitlines()]
    assert ["ttgir", "tritongpu-pipeline", "same"] in rows
    assert ["memory", "allocate-shared-memory", "same"] in rows
    assert ["cuda_sim", "machine", "code"] in rows


def test_first_launches_are_validated_where_they_go(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    original = observer.validate_launch

    def watched(launch: Launch, target: Target, tolerance: Tolerance) -> Report:
        seen.append(target.name)
        return original(launch, target, tolerance)

    monkeypatch.setattr(observer, "validate_launch", watched)
    x, out = np.arange(40, dtype=np.int32), np.zeros(40, np.int32)
    for target in ("cuda_sim", "reference", "cpu"):
        with knobs.scope(validate=True, always_compile=True, target=target):
            shifted[(3,)](x, out, 40, SHIFT=5, BLOCK=16)
        np.testing.assert_array_equal(out, x)
    assert seen == ["cuda_sim", "cpu", "cpu"]


def test_arguments_that_share_memory_share_the_copy() -> None:
    storage = np.arange(64, dtype=np.float32)
    recorded = record_launch(
        shifted, (1,), (), {"x_ptr": storage[16:], "out_ptr": storage[8:], "n": 16, "SHIFT": 0, "BLOCK": 16}
    )
    assert len(recorded.regions) == 1
    memory = recorded.memory()
    x, out = recorded.arguments(memory)[:2]
    out[8] = -5.0
    assert x[0] == -5.0
    assert storage[16] == 16.0, "the launch itself must not be touched"
    assert memory[0].ctypes.data % 16 == storage.ctypes.data % 16


def test_scalars_of_every_kind_reach_the_engines() -> None:
    @triton.jit
    def scalars(out_ptr, small, large, real, flag):
        tl.store(out_ptr, small.to(tl.float64) + large + real + flag)

    out = np.zeros(1, np.float64)
    recorded = record_launch(scalars, (1,), (out, -7, 2**40, 0.5, True), {})
    outcome = run_native(recorded, find_cpu())
    assert outcome.error is None
    assert recorded.views(outcome.memory)["out_ptr"][0] == -7 + 2**40 + 0.5 + 1
    assert validate_launch(recorded, find_cpu()).is_valid


def test_differences_are_judged_by_type_and_tolerance() -> None:
    recorded = record_launch(
        shifted, (1,), (), {"x_ptr": np.zeros(4, np.float32), "out_ptr": np.zeros(4, np.float32), "n": 4, "SHIFT": 0,
                            "BLOCK": 16},
    )  # fmt: skip
    first, second = recorded.memory(), recorded.memory()
    assert find_difference(recorded, first, second) is None
    recorded.views(second)["out_ptr"][2] = 1e-6
    found = find_difference(recorded, first, second, EXACT)
    assert found is not None
    assert (found.argument, found.index, found.count) == ("out_ptr", 2, 1)
    assert find_difference(recorded, first, second, Tolerance(default=1e-5)) is None
    recorded.views(first)["out_ptr"][2] = np.nan
    assert find_difference(recorded, first, second, Tolerance(default=1e9)) is not None
    recorded.views(second)["out_ptr"][2] = np.nan
    assert find_difference(recorded, first, second) is None
    recorded.views(second)["out_ptr"][1] = -0.0
    assert find_difference(recorded, first, second) is None, "zeros are equal"
