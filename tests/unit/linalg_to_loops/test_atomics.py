"""Atomics at the loops stage: which are performed for lanes, what the functions mean that they call, and that upstream
MLIR takes the text."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from tilewright.targets.cpu.facts import host_facts
from tilewright.tools.validation.engines import find_cpu
from tilewright.tools.validation.launches import record_launch
from tilewright.tools.validation.validate import validate_launch

MLIR_OPT = shutil.which("mlir-opt-22") or "/usr/lib/llvm-22/bin/mlir-opt"


@triton.jit
def rows(x_ptr, y_ptr, n, OP: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    OP(x_ptr + i, tl.load(y_ptr + i, mask=i < n), mask=i < n)


@triton.jit
def places(x_ptr, place_ptr, y_ptr, OP: tl.constexpr, SCOPE: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    at = tl.load(place_ptr + i)
    OP(x_ptr + at, tl.load(y_ptr + i), mask=at != 3, sem="relaxed", scope=SCOPE)


@triton.jit
def one_place(x_ptr, y_ptr, OP: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    OP(x_ptr + 5 + tl.zeros([N], tl.int32), tl.load(y_ptr + i), mask=i % 3 != 1)


@triton.jit
def with_results(x_ptr, place_ptr, y_ptr, old_ptr, OP: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    old = OP(x_ptr + tl.load(place_ptr + i), tl.load(y_ptr + i), mask=i % 4 != 2)
    tl.store(old_ptr + i, old, mask=i % 4 != 2)


@triton.jit
def of_exponentials(x_ptr, place_ptr, y_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    y = tl.load(y_ptr + i) * 2
    tl.atomic_add(x_ptr + tl.load(place_ptr + i) + 1, tl.exp(y) + 1)


@triton.jit
def exchanged(x_ptr, place_ptr, y_ptr, old_ptr, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    y = tl.load(y_ptr + i)
    tl.store(old_ptr + i, tl.atomic_cas(x_ptr + tl.load(place_ptr + i), y, y + 1))
    tl.atomic_xchg(x_ptr, tl.load(y_ptr))


@triton.jit
def twice_as_far(x_ptr, place_ptr, y_ptr, MASKED: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    at = tl.load(place_ptr + i)
    tl.atomic_add(x_ptr + 2 * at + 1, tl.load(y_ptr + i), mask=at >= 0 if MASKED else i >= 0)


N, PROGRAMS, SIZE = 32, 3, 80

LANES = [
    (tl.atomic_add, "addi", np.int32),
    (tl.atomic_add, "addi", np.int64),
    (tl.atomic_add, "addf", np.float32),
    (tl.atomic_add, "addf", np.float64),
    (tl.atomic_add, "addf", np.float16),
    (tl.atomic_add, "addf", ml_dtypes.bfloat16),
    (tl.atomic_max, "maxs", np.int32),
    (tl.atomic_max, "maxu", np.uint32),
    (tl.atomic_min, "mins", np.int64),
    (tl.atomic_min, "minu", np.uint64),
    (tl.atomic_and, "andi", np.int32),
    (tl.atomic_or, "ori", np.int64),
    (tl.atomic_xor, "xori", np.int32),
]
FORMS = 3
"""Rows, places, one place: the first launches of each operation, which call a function."""
ELEMENTS = [(tl.atomic_max, np.float32), (tl.atomic_min, np.float64), (tl.atomic_add, np.float32)]


def arrays(dtype: Any) -> tuple[Array, Array, Array]:
    """What is changed, where, and by what: whole numbers, few enough that every order of sums gives the same."""
    chance = np.random.default_rng(4)
    x = chance.integers(0, 9, SIZE + N * PROGRAMS).astype(dtype)
    where = chance.integers(0, SIZE, N * PROGRAMS).astype(np.int32)
    where[:N] = np.arange(N) + 7
    return x, where, chance.integers(0, 3, N * PROGRAMS).astype(dtype)


def launches() -> list[tuple[Any, tuple[Any, ...], dict[str, Any], str]]:
    """Kernel, arguments and constants, and the function that the loops stage calls, if any."""
    found: list[tuple[Any, tuple[Any, ...], dict[str, Any], str]] = []
    for op, kind, dtype in LANES:
        x, where, y = arrays(dtype)
        found.append((rows, (x, y, 75), {"OP": op, "N": N}, rf"{kind}_\d+x\w+_row"))
        found.append((places, (x, where, y), {"OP": op, "SCOPE": "gpu", "N": N}, rf"{kind}_\d+x\w+_at_i32"))
        found.append((one_place, (x, y), {"OP": op, "N": N}, rf"{kind}_\d+x\w+_at_i32"))
        found.append((with_results, (x, where, y, np.zeros_like(y)), {"OP": op, "N": N}, ""))
    for op, dtype in ELEMENTS:
        x, where, y = arrays(dtype)
        found.append((places, (x, where, y), {"OP": op, "SCOPE": "sys", "N": N}, ""))
    x, where, y = arrays(np.int32)
    found.append((exchanged, (x, where, y, np.zeros_like(y)), {"N": N}, ""))
    return found


@pytest.fixture(scope="module")
def texts() -> list[tuple[str, str]]:
    """The loops stage of each launch, and the function it should call."""
    return [
        (kernel.warmup(*arguments, grid=(PROGRAMS,), **constants).asm["loops"], function)
        for kernel, arguments, constants, function in launches()
    ]


@pytest.mark.costly
def test_results_decide_whether_lanes_are_updated_together(texts: list[tuple[str, str]]) -> None:
    for text, function in texts:
        called = set(re.findall(r"call @tw_atomic_(\w+)\(", text))
        if not function:
            assert not called
            continue
        assert len(called) == 1 and re.fullmatch(function, called.pop())
        assert text.count("call @tw_atomics_end()") == 1


@pytest.mark.costly
@pytest.mark.skipif(not Path(MLIR_OPT).exists(), reason="mlir-opt of LLVM 22 is not installed")
def test_upstream_accepts_them(texts: list[tuple[str, str]]) -> None:
    text = "\n// -----\n".join(text for text, _ in texts)
    command = [MLIR_OPT, "--split-input-file", "--verify-each", "--canonicalize", "--cse", "-o", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:4000]
    # Upstream, too, knows nothing of what the functions do, and keeps every call.
    assert done.stdout.count("call @tw_atomic_") == sum(text.count("call @tw_atomic_") for text, _ in texts)


def _forms() -> list[object]:
    """Each operation in one of the forms of its places, in turns; in all of them with `--long`."""
    return [
        pytest.param(number, form, marks=() if number % FORMS == form else (pytest.mark.long,))
        for number in range(len(LANES))
        for form in range(FORMS)
    ]


@pytest.mark.parametrize(("number", "form"), _forms())
def test_functions_mean_what_they_do(number: int, form: int) -> None:
    """Every stage gives what machine code does."""
    kernel, arguments, constants, function = launches()[4 * number + form]
    assert function
    report = validate_launch(record_launch(kernel, (PROGRAMS,), arguments, constants), find_cpu())
    assert report.is_valid, report.render()
    verdicts = {row.point.stage: row.verdict for row in report.rows}
    assert verdicts["loops"] == verdicts["cpu"] == "same"


def test_dear_values_are_computed_in_front_of_the_loop_that_takes_turns() -> None:
    x, where, y = arrays(np.float32)
    loops = of_exponentials.warmup(x, where, y, grid=(1,), N=N).asm["loops"]
    before, updates = loops.split("call @tw_atomic_addf", 1)[0].rsplit("scf.for", 1)
    assert "math.exp" in before
    assert "math.exp" not in updates and "arith.addf" in before
    of_exponentials[(1,)](x, where, y, N=N)
    expected = arrays(np.float32)[0]
    np.add.at(expected, where[:N] + 1, np.exp(y[:N] * 2) + 1)
    np.testing.assert_allclose(x, expected, rtol=1e-6)


@pytest.mark.parametrize("masked", [False, True])
def test_places_of_64_bits_do_not_halve_the_lanes(masked: bool) -> None:
    """Unless they are computed with for something else."""
    rng = np.random.default_rng(0)
    y, at = rng.standard_normal(96).astype(np.float32), rng.integers(0, 40, 96)
    x = np.zeros(81, np.float32)
    kernel = twice_as_far[(PROGRAMS,)](x, at, y, MASKED=masked, N=N)
    expected = np.zeros(81)
    np.add.at(expected, 2 * at + 1, y)
    np.testing.assert_allclose(x, expected, atol=1e-5)
    found = re.search(r"@tw_atomic_addf_(\d+)xf32", kernel.asm["loops"])
    assert found is not None
    lanes = host_facts().vector_bits // 32
    assert int(found[1]) == (lanes // 2 if masked else lanes)
