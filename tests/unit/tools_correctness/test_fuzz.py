"""`tilewright fuzz`: what is run, by whom, and what is said about it."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from suite.spoilt_engine import spoil_the_cpu
from tilewright.lowering.ptr_to_memref.triton_to_ptr import TritonToPtrPass
from tilewright.tools import fuzz
from tilewright.tools.cli import main
from tilewright.tools.fuzzing.gluon_kernels import GluonKernelGenerator
from tilewright.tools.fuzzing.replay import render
from tilewright.tools.fuzzing.shares import Share


def test_shares_are_all_numbers_once(tmp_path: Path) -> None:
    shares = [Share(100 + job, 3, 110, None, tmp_path) for job in range(3)]
    assert sorted(number for share in shares for number in share.seeds()) == list(range(100, 110))
    assert list(shares[1].seeds()) == [101, 104, 107]


def test_time_ends_a_share(tmp_path: Path) -> None:
    assert list(Share(0, 1, None, 0.0, tmp_path).seeds()) == []


@pytest.mark.costly
def test_processes_give_one_summary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(
        ["fuzz", "--only", "addresses", "--addresses", "2", "--jobs", "2", "--seed", "5", "--save", str(tmp_path)]
    )
    lines = capsys.readouterr().out.splitlines()
    assert status == 0
    assert [line.partition(" of address algebra")[0] for line in lines] == [
        "seed 5: 1 kernels",
        "seed 6: 1 kernels",
        "seed 5: 2 kernels",
    ]


def test_gluon_is_replayed_on_all_engines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also by every stage of the CPU, where the layouts of a kernel in Gluon go first."""
    saved = tmp_path / "gluon_3.py"
    saved.write_text(render(GluonKernelGenerator(Random(3), 3).generate()))
    assert main(["fuzz", "--replay", str(saved)]) == 0
    assert "all engines agree" in capsys.readouterr().out


@pytest.mark.costly
def test_failures_are_counted_and_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine that gives wrong memory fails the command; the file that it leaves is replayed without it."""
    monkeypatch.setattr(fuzz, "SHRINK_ATTEMPTS", 3)
    with monkeypatch.context() as patch:
        spoil_the_cpu(patch)
        assert main(["fuzz", "--only", "kernels", "--kernels", "1", "--seed", "3", "--save", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "seed 3: 1 kernels, 1 failures (1 cpu difference)" in out
    saved = tmp_path / "kernel_3.py"
    assert saved.read_text().startswith("# seed 3\n# cpu: difference:")
    assert main(["fuzz", "--replay", str(saved)]) == 0
    assert "all engines agree" in capsys.readouterr().out


@pytest.mark.costly
def test_failures_are_kept_before_they_are_made_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That takes minutes, and a run may be stopped meanwhile."""

    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    spoil_the_cpu(monkeypatch)
    monkeypatch.setattr(fuzz, "shrink_generated", stopped)
    with pytest.raises(KeyboardInterrupt):
        fuzz.fuzz_kernels(Share(3, 1, 4, None, tmp_path, gpu_every=0))
    assert (tmp_path / "kernel_3.py").read_text().startswith("# seed 3\n# cpu: difference:")


@pytest.mark.costly
def test_a_pass_that_fails_on_some_stage_is_found_and_replayed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pass that no stage needs fails internally; the files that this leaves name it, and pass without the fault."""
    monkeypatch.setattr(fuzz, "random_sequences", lambda *_: [[TritonToPtrPass()]])
    with monkeypatch.context() as patch:
        patch.setattr(TritonToPtrPass, "run", lambda *_: {}["nothing"])
        assert main(["fuzz", "--only", "passes", "--passes", "1", "--seed", "3", "--save", str(tmp_path)]) == 1
    assert "KeyError" in capsys.readouterr().out
    saved = min(tmp_path.glob("passes_3_*.mlir"))
    assert saved.read_text().startswith("// passes: triton-to-ptr\n")
    assert main(["fuzz", "--replay", str(saved)]) == 0
