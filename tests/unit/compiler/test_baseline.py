"""What optimising passes cannot lower is compiled by the baseline, with a warning; or is an error, where that is asked
for."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.dialects import arith, linalg
from tilewright.lowering.linalg_to_loops import linalg_to_loops
from tilewright.lowering.linalg_to_loops.function_lowering import LOWERINGS
from tilewright.lowering.loops_to_llvm import function_lowering as loops_to_llvm
from tilewright.support import knobs
from tilewright.support.errors import BaselineWarning, PassError


def make_kernel() -> Any:
    """A kernel of its own for each test, so that none is compiled yet."""

    @triton.jit
    def doubled(x_ptr, n):
        i = tl.arange(0, 16)
        tl.store(x_ptr + i, tl.load(x_ptr + i, mask=i < n) * 2, mask=i < n)

    return doubled


def refuse(op: Any, lowering: Any) -> None:
    lowering.fail(op, "is too much for this pass")


def break_down(op: Any, lowering: Any) -> None:
    raise KeyError("nothing under this key")


def forget_result(op: Any, low: Any) -> None:
    """A rule that leaves the result without a value, as for ops that stand before what they use."""


FAULTS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "a pass gives up": lambda patch: patch.setitem(LOWERINGS, linalg.GenericOp, refuse),
    "a pass fails": lambda patch: patch.setitem(LOWERINGS, linalg.GenericOp, break_down),
    "its module is invalid": lambda patch: patch.setattr(linalg_to_loops, "FunctionLowering", _Disorder),
}


class _Disorder(linalg_to_loops.FunctionLowering):
    """The lowering, and then an op before one that it uses."""

    def run(self) -> None:
        super().run()
        for block in self.function.body.blocks:
            for op in block.ops:
                if any(isinstance(operand.owner, arith.MinSIOp) for operand in op.operands) and not op.regions:
                    block.insert_op_before(op.clone(), block.first_op)
                    return
        raise AssertionError("the test needs another kernel")


@pytest.mark.parametrize("fault", FAULTS)
def test_falls_back_with_a_warning(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[fault](monkeypatch)
    kernel, x = make_kernel(), np.arange(16, dtype=np.float32)
    with knobs.scope(opt="1", always_compile=True):
        with pytest.warns(BaselineWarning, match="'doubled' is compiled without optimisation") as caught:
            compiled = kernel[(1,)](x, 10)
        np.testing.assert_array_equal(x, np.where(np.arange(16) < 10, 2 * np.arange(16), np.arange(16)))
        message = str(caught[0].message)
        assert "linalg-to-loops" in message
        assert fault == "its module is invalid" or re.search(r"test_baseline\.py:\d+", message)
        assert "vector." not in compiled.asm["loops"]
    assert "baseline" in compiled.metadata.details


@pytest.mark.parametrize("fault", FAULTS)
def test_strict_is_an_error(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    FAULTS[fault](monkeypatch)
    with knobs.scope(opt="strict", always_compile=True), pytest.raises(PassError) as raised:
        make_kernel()[(1,)](np.zeros(16, np.float32), 10)
    assert raised.value.internal == (fault != "a pass gives up")
    assert (raised.value.reproducer is not None) == raised.value.internal


def test_values_without_definition_are_an_internal_error_of_the_emission(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(loops_to_llvm.RULES, arith.MulfOp, forget_result)
    with knobs.scope(opt="strict", always_compile=True), pytest.raises(PassError, match="loops-to-llvm") as raised:
        make_kernel()[(1,)](np.zeros(16, np.float32), 10)
    assert raised.value.internal


def test_zero_leaves_out_what_optimises() -> None:
    x = np.arange(16, dtype=np.float32)
    with knobs.scope(opt="0"):
        compiled = make_kernel()[(1,)](x, 10)
        assert "scf.for" in compiled.asm["loops"]
        assert "vector." not in compiled.asm["loops"]
    np.testing.assert_array_equal(x, np.where(np.arange(16) < 10, 2 * np.arange(16), np.arange(16)))


def test_the_linalg_stage_under_triton_shareds_name() -> None:
    compiled = make_kernel()[(1,)](np.zeros(16, np.float32), 10)
    assert compiled.asm["ttsharedir"] == compiled.asm["linalg"]
    assert "linalg.generic" in compiled.asm["ttsharedir"]
