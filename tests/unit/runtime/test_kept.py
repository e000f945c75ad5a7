"""A compiled kernel that is launched again takes what it was compiled for, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from tilewright.compiler.kernel import StageTexts
from tilewright.compiler.source import ASTSource
from tilewright.runtime.fast_path import Shortcuts
from tilewright.support import knobs
from tilewright.support.errors import ArgumentError, ArgumentValueError, MisalignedPointerError
from tilewright.support.hook_chain import HookChain


@triton.jit
def scale(x_ptr, out_ptr, n, step, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets * step, mask=offsets < n)
    tl.store(out_ptr + offsets, x * factor, mask=offsets < n)


def array(n: int = 36) -> Array:
    """Zeros at a multiple of 16 bytes, as kernels below are compiled for."""
    base = np.zeros(n + 4, np.float32)
    return base[-(base.ctypes.data // 4) % 4 :][:n]


X, OUT = array(), array()


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Any]:
    with knobs.scope(cache_dir=str(tmp_path)):
        X[:] = np.arange(X.size)
        OUT[:] = 0
        yield triton.jit(scale.fn)[(2,)](X, OUT, 32, 1, 2.0, BLOCK=16)


def test_launching_again(kept: Any) -> None:
    out = array()
    kept[2,](X, out, 16, 1, 3.0, 16)
    np.testing.assert_array_equal(out[:16], 3 * X[:16])
    assert not out[16:].any()
    kept[lambda meta: meta["n"] // meta["BLOCK"]](X, out, 32, 1, 4.0, BLOCK=16)
    np.testing.assert_array_equal(out[:32], 4 * X[:32])


def test_constants_at_the_end_may_be_left_out(kept: Any) -> None:
    out = array()
    for n in (16, 32, 32):
        kept[2,](X, out, n, 1, 3.0)
        np.testing.assert_array_equal(out[:n], 3 * X[:n])
        assert not out[n:].any()


@triton.jit
def fill(out_ptr, VALUE: tl.constexpr, n, BLOCK: tl.constexpr = 4):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, VALUE, mask=offsets < n)


def test_constants_left_out_are_those_that_are_compiled_in_not_defaults(tmp_path: Path) -> None:
    with knobs.scope(cache_dir=str(tmp_path)):
        out = array()
        kernel: Any = fill[(1,)](out, 3.0, 16, BLOCK=16)
        out[:] = 0
        kernel[1,](out, 3.0, 16)
        assert (out[:16] == 3).all()
        with pytest.raises(ArgumentError, match="'n': missing"):
            kernel[1,](out, 3.0)
        with pytest.raises(ArgumentValueError, match=r"'VALUE': 5\.0; expected 3\.0"):
            kernel[1,](out, 5.0, 16)


def test_pointers_that_share_memory_get_a_kernel_of_their_own(kept: Any) -> None:
    for _ in range(3):
        x = np.arange(64, dtype=np.float32)
        with knobs.scope(num_threads=1):
            kept[2,](x, x[16:], 32, 1, 3.0, 16)  # program 1 reads what program 0 wrote
        expected = np.arange(64, dtype=np.float32)
        expected[16:32] = 3 * expected[:16]
        expected[32:48] = 3 * expected[16:32]
        np.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ((X[1:], OUT, 32, 1, 2.0, 16), MisalignedPointerError, r"'x_ptr': an address .* not a multiple of 16 bytes"),
        ((X, OUT[2:], 32, 1, 2.0, 16), MisalignedPointerError, "'out_ptr'"),
        ((X, OUT, 17, 1, 2.0, 16), ArgumentValueError, "'n': 17; expected a multiple of 16"),
        ((X, OUT, 32, 2, 2.0, 16), ArgumentValueError, "'step': 2; expected 1, which is compiled in"),
        ((X, OUT, 32, 1, 2.0, 32), ArgumentValueError, "'BLOCK': 32; expected 16"),
        ((X, OUT, 32, 1, 2, 16), ArgumentValueError, r"'factor': a value of another type \(i32\); expected fp32"),
        ((X, OUT, 2**40, 1, 2.0, 16), ArgumentValueError, r"'n': .* \(i64\); expected i32"),
        ((X.astype(np.float64), OUT, 32, 1, 2.0, 16), ArgumentValueError, r"'x_ptr': .* \(\*fp64\); expected \*fp32"),
        ((X, OUT, 32, 1), ArgumentError, "'factor': missing"),
    ],
    ids=range(9),
)
def test_what_it_was_not_compiled_for(kept: Any, arguments: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        kept[2,](*arguments)
    kept[2,](X, OUT, 32, 1, 2.0, 16)  # what fits takes the fast path from now on, what does not is refused as before
    with pytest.raises(error, match=words):
        kept[2,](*arguments)


def test_what_fitted_once_takes_the_fast_path(kept: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    kept[2,](X, OUT, 32, 1, 2.0, 16)
    monkeypatch.setattr(type(kept.relaunch), "_checked", lambda *_: pytest.fail("the slow path"))
    out = array()
    kept[2,](X, out, 16, 1, 3.0, 16)
    np.testing.assert_array_equal(out[:16], 3 * X[:16])
    kept[2,](X, out, 0, 1, 9.0, 16)
    kept[0,](X, out, 16, 1, 9.0, 16)
    np.testing.assert_array_equal(out[:16], 3 * X[:16])
    out.flags.writeable = False
    with pytest.raises(ArgumentValueError, match="read-only"):
        kept[2,](X, out, 16, 1, 3.0, 16)
    with knobs.scope(debug=True), pytest.raises(pytest.fail.Exception, match="the slow path"):
        kept[2,](X, OUT, 16, 1, 3.0, 16)


def test_native_code_recognises_what_ran_twice(declared: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    x, out = array(), array()
    x[:] = np.arange(x.size)

    def run(grid: tuple[int, int, int], *arguments: Any) -> None:
        declared.run(*grid, None, None, None, None, HookChain(), HookChain(), *arguments)

    for _ in range(3):
        run((2, 1, 1), x, out, 18, 2, 2.0, 16)
    monkeypatch.setattr(Shortcuts, "recognise", lambda *_: pytest.fail("not native"))
    run((1, 1, 1), x, out, 15, 2, 3.0, 16)
    np.testing.assert_array_equal(out[:18], [*(3 * x[0:30:2]), *(2 * x[30:36:2])])
    run((1, 1, 2), x, out, 17, 2, 4.0, 16)
    np.testing.assert_array_equal(out[:16], 4 * x[0:32:2])
    with pytest.raises(pytest.fail.Exception, match="not native"):
        run((1, 1, 1), x, out, 2**40, 2, 3.0, 16)


def test_a_one_that_is_no_constant_takes_the_slow_path(declared: Any) -> None:
    out = array()
    for n in (32, 1, 1, 32):
        out[:] = 0
        declared[2,](X, out, n, 1, 2.0, 16)
        np.testing.assert_array_equal(out[:n], 2 * X[:n])
        assert not out[n:].any()


def test_options_and_streams_are_refused(kept: Any) -> None:
    with pytest.raises(ValueError, match="num_warps: a compiled kernel has its options"):
        kept[2,](X, OUT, 32, 1, 2.0, 16, num_warps=8)
    with pytest.raises(ValueError, match="current stream"):
        kept[2,](X, OUT, 32, 1, 2.0, 16, stream=5)


def test_fewer_promises_take_more(kept: Any) -> None:
    loose: Any = triton.jit(scale.fn)[(2,)](X[1:], OUT[1:], 17, 3, 2.0, BLOCK=16)
    out = array()
    loose[2,](X, out, 32, 1, 2.0, 16)
    np.testing.assert_array_equal(out[:32], 2 * X[:32])


@pytest.fixture
def declared() -> Any:
    """The kernel, compiled for types that were declared; the second pointer is promised to be aligned."""
    signature = {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i64", "step": "i32", "factor": "fp32"}
    source = ASTSource(scale, signature, {"BLOCK": 16}, {(1,): [["tt.divisibility", 16]]})
    return triton.compile(source, options={"num_warps": 2})


def test_kernels_compiled_from_declarations(declared: Any) -> None:
    out = array()
    declared[2,](X, out, 32, 1, 2.5, 16)
    np.testing.assert_array_equal(out[:32], 2.5 * X[:32])
    declared.run(1, 1, 1, 0, declared.function, declared.packed_metadata, None, None, None, X, X, 16, 1, 1.0, 16)
    with pytest.raises(MisalignedPointerError):
        declared[1,](X, array()[1:], 16, 1, 2.0, 16)
    with pytest.raises(ArgumentValueError, match="compiled in"):
        declared[1,](X, out, 16, 1, 2.0, 32)
    with pytest.raises(ArgumentValueError, match=r"fp64"):
        declared[1,](X.astype(np.float64), out, 16, 1, 2.0, 16)


def test_declared_kernels_are_right_for_pointers_that_share_memory(declared: Any) -> None:
    assert "noalias" not in declared.asm["llir"].split("define")[1].split(")")[0]
    out, shared = array(), np.arange(40, dtype=np.float32)
    shared = shared[-(shared.ctypes.data // 4) % 4 :]
    for _ in range(2):
        declared[2,](X, out, 32, 1, 2.0, 16)
        np.testing.assert_array_equal(out[:32], 2 * X[:32])
        before = shared.copy()
        declared[1,](shared[1:], shared, 16, 1, 2.0, 16)
        np.testing.assert_array_equal(shared[:16], 2 * before[1:17])


def test_hooks_of_those_who_launch_themselves(declared: Any) -> None:
    told: list[Any] = []
    metadata = declared.launch_metadata((1, 1, 1), 0, X)
    enter, leave = (lambda launch: told.append(launch.get()["name"]), lambda launch: told.append(launch.grid))
    declared.run(1, 1, 1, 0, None, None, metadata, enter, leave, X, array(), 16, 1, 1.0, 16)
    assert told == ["scale", (1, 1, 1)]


def test_kernels_compiled_from_later_stages_do_not_say_what_they_take(declared: Any, tmp_path: Path) -> None:
    text = tmp_path / "scale.linalg"
    text.write_text(declared.asm["linalg"])
    with pytest.raises(TypeError, match="compiled from text"):
        triton.compile(text)[1,]


@pytest.mark.costly
def test_arguments_are_not_kept_alive(kept: Any) -> None:
    import gc
    import weakref

    x = array()
    kernel: Any = triton.jit(scale.fn)[(2,)](x, array(), 32, 1, 2.0, BLOCK=16)
    seen = weakref.ref(x.base if x.base is not None else x)
    del x
    gc.collect()
    assert seen() is None and kernel is not None


def test_what_is_known_of_a_kernel(kept: Any) -> None:
    """Programs read a kernel's metadata as the named tuple that Triton's is."""
    known = kept.metadata
    assert known._asdict()["num_warps"] == known.num_warps == 4 and set(known._fields) == set(known._asdict())
    assert (known.target.backend, known.target.warp_size) == ("cpu", 1) and known.cluster_dims == (1, 1, 1)
    assert known.global_scratch_size == known.profile_scratch_size == 0
    assert kept.module is kept.function and scale.hash == scale.cache_key and not scale.is_gluon()
    with pytest.raises(KeyError, match="no stage 'sass'"):
        _ = kept.asm["sass"]


def test_machine_code_of_gpus_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilewright.codegen.nvptx.disasm.get_sass", lambda cubin: f"{len(cubin)} bytes")
    texts = StageTexts(lambda: ("ptx", "cubin"), {"cubin": bytes(12)}, lambda stage: "")
    assert texts["sass"] == "12 bytes"
