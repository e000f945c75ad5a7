"""Mistakes of programs for today's Triton: each has a class of its own, and shows the user's line."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tilewright
import tilewright.language as tl
from tilewright import compat, gluon
from tilewright.compat.provided import provide
from tilewright.language import gluon as gl
from tilewright.language.gluon.nvidia.ampere import mma_v2
from tilewright.language.gluon.nvidia.hopper import mbarrier
from tilewright.support import knobs
from tilewright.support.errors import (
    AmbiguousLayoutError,
    BarrierError,
    CompilationError,
    DistributionClashError,
    LayoutError,
    MissingFieldError,
    NewerTritonError,
    PassError,
    WrongLayoutError,
)

ROW = gl.BlockedLayout([1], [32], [4], [0])
PAIRS = gl.BlockedLayout([2], [32], [4], [0])
WIDE = gl.BlockedLayout([1], [32], [8], [0])
TILE = gl.BlockedLayout([1, 1], [1, 32], [4, 1], [1, 0])
MMA = gl.NVMMADistributedLayout([2, 0], [4, 1], [16, 8])
OF_TILES = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])


@gluon.jit
def operands(x_ptr):
    gl.store(x_ptr, gl.sum(gl.arange(0, 128, ROW) + gl.arange(0, 128, PAIRS), 0))  # HERE


@gluon.jit
def stored_values(x_ptr):
    gl.store(x_ptr + gl.arange(0, 128, ROW), gl.arange(0, 128, PAIRS))  # HERE


@gluon.jit
def masked_off_values(x_ptr):
    at = gl.arange(0, 128, ROW)
    gl.store(x_ptr + at, gl.load(x_ptr + at, mask=at < 3, other=gl.arange(0, 128, PAIRS)))  # HERE


@gluon.jit
def added_values(x_ptr):
    gl.atomic_add(x_ptr + gl.arange(0, 128, ROW), gl.arange(0, 128, PAIRS))  # HERE


@gluon.jit
def compared_values(x_ptr):
    at = gl.arange(0, 128, ROW)
    gl.atomic_cas(x_ptr + at, at, gl.arange(0, 128, PAIRS))  # HERE


@gluon.jit
def ranks(x_ptr):
    gl.arange(0, 128, TILE)  # HERE


@gluon.jit
def warps(x_ptr):
    gl.arange(0, 128, WIDE)  # HERE


@gluon.jit
def slices(x_ptr):
    gl.arange(0, 128, ROW)[:, None]  # HERE


@gluon.jit
def buffers(x_ptr):
    gl.allocate_shared_memory(gl.int32, [128], OF_TILES)  # HERE


@gluon.jit
def products(x_ptr):
    a = gl.full([16, 16], 1.0, gl.float16, TILE)
    mma_v2(a, a, gl.full([16, 16], 0.0, gl.float32, MMA))  # HERE


BROADCASTS = (operands, stored_values, masked_off_values, added_values, compared_values)


@pytest.mark.parametrize("kernel", [*BROADCASTS, ranks, warps, slices, buffers, products], ids=lambda k: k.__name__)
def test_layouts_that_do_not_fit(kernel: Any) -> None:
    with pytest.raises(LayoutError) as caught:
        kernel[(1,)](np.zeros(128, np.int32))
    assert type(caught.value) is WrongLayoutError and isinstance(caught.value, CompilationError)
    text = str(caught.value)
    assert "# HERE" in text and "test_error_classes.py" in text
    if kernel in BROADCASTS:
        assert "T0:0 T1:0 T2:0" in text and "T0:0+ T0:1+ T1:0+" in text  # both are drawn


@gluon.jit
def nothing_says_it(x_ptr):
    at = gl.arange(0, 128)  # HERE
    gl.store(x_ptr + at, at)


@gluon.jit
def two_say_it(x_ptr):
    at = gl.arange(0, 128)  # HERE
    gl.store(x_ptr + gl.arange(0, 128, ROW), at)
    gl.store(x_ptr + gl.arange(0, 128, PAIRS), at)


@pytest.mark.parametrize("target", ["cpu", "cuda_sim", "reference"])
@pytest.mark.parametrize("kernel", [nothing_says_it, two_say_it], ids=lambda k: k.__name__)
def test_layouts_that_are_ambiguous(kernel: Any, target: str) -> None:
    with knobs.scope(target=target), pytest.raises(LayoutError, match="the layout is ambiguous") as caught:
        kernel[(1,)](np.zeros(128, np.int32))
    assert type(caught.value) is AmbiguousLayoutError and isinstance(caught.value, PassError)
    assert "# HERE" in str(caught.value)
    if kernel is two_say_it:
        assert "T0:0 T1:0 T2:0" in str(caught.value) and "T0:0+ T0:1+ T1:0+" in str(caught.value)


@gluon.jit
def wrong_phase(x_ptr):
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    mbarrier.arrive(bar, count=1)
    mbarrier.wait(bar, 1)  # HERE


@gluon.jit
def not_initialised(x_ptr):
    bar = mbarrier.allocate_mbarrier()
    mbarrier.wait(bar, 0)  # HERE


@gluon.jit
def too_many_arrivals(x_ptr):
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    mbarrier.arrive(bar, count=2)  # HERE


@pytest.mark.parametrize("target", ["cpu", "cuda_sim", "reference"])
@pytest.mark.parametrize("kernel", [wrong_phase, not_initialised, too_many_arrivals], ids=lambda k: k.__name__)
def test_barriers_that_are_used_wrongly(kernel: Any, target: str) -> None:
    with knobs.scope(target=target), pytest.raises(BarrierError) as caught:
        kernel[(1,)](np.zeros(1, np.float32))
    assert "# HERE" in str(caught.value)


@tilewright.aggregate
class Row:
    start: tl.tensor
    length: tl.constexpr


@tilewright.jit
def reads_no_field(x_ptr):
    row = Row(tl.program_id(0), 4)
    tl.store(x_ptr, row.stop)  # HERE


@tilewright.jit
def replaces_no_field(x_ptr):
    row = tl.aggregate_replace(Row(tl.program_id(0), 4), stop=3)  # HERE
    tl.store(x_ptr, row.start)


@pytest.mark.parametrize("kernel", [reads_no_field, replaces_no_field], ids=lambda k: k.__name__)
def test_fields_that_an_aggregate_has_not(kernel: Any) -> None:
    with pytest.raises(MissingFieldError, match="Row has no field 'stop'") as caught:
        kernel[(1,)](np.zeros(1, np.float32))
    assert "# HERE" in str(caught.value) and "its fields are start, length" in str(caught.value)


@tilewright.jit
def newer_name(x_ptr):
    tl.atomic_store(x_ptr, 1.0)  # HERE


@tilewright.jit
def newer_argument(x_ptr):
    tl.store(x_ptr + tl.arange(0, 2), tl.topk(tl.load(x_ptr + tl.arange(0, 16)), 2, descending=False))  # HERE


@tilewright.jit
def newer_form(x_ptr):
    if 0 <= tl.program_id(0) < 3:  # HERE
        tl.store(x_ptr, 1.0)


@pytest.mark.parametrize("kernel", [newer_name, newer_argument, newer_form], ids=lambda k: k.__name__)
def test_what_an_older_triton_has_not(kernel: Any) -> None:
    with knobs.scope(triton_version="3.6"), pytest.raises(NewerTritonError, match="is asked for") as caught:
        kernel[(1,)](np.zeros(16, np.float32))
    assert "# HERE" in str(caught.value)


def test_two_distributions_of_triton(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "__init__.py").write_text("")
    (tmp_path / "runtime").mkdir()  # the official package's
    with pytest.raises(DistributionClashError, match="both installed") as caught:
        provide(tmp_path)
    assert isinstance(caught.value, ImportError) and caught.value.name == "triton"
    monkeypatch.setitem(sys.modules, "triton", ModuleType("triton"))
    monkeypatch.setattr(sys, "meta_path", [finder for finder in sys.meta_path if finder is not compat._finder])
    with pytest.raises(DistributionClashError, match="already imported"):
        compat.install()


def test_aggregates_are_told_apart_in_the_words_of_triton() -> None:
    @tilewright.aggregate
    class Sizes:
        rows: tl.constexpr

    changed = "cannot assign to field 'rows' on immutable aggregate Sizes; use aggregate_replace()"
    sizes = Sizes(4)
    with pytest.raises(AttributeError, match=re.escape(changed)):
        sizes.rows = 5
    with pytest.raises(AttributeError, match="Sizes has no attribute 'columns'"):
        sizes.columns = 5
    with pytest.raises(
        TypeError, match="Aggregates can only inherit from other aggregates, but got non-aggregate base"
    ):
        tilewright.aggregate(type("Wider", (Path,), {"__annotations__": {"rows": tl.constexpr}}))
