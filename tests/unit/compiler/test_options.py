"""Launch options: each is checked, does something or is refused with a reason, and takes part in the cache key."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.compiler.options import OPTION_NAMES, REFUSED, CompileOptions
from tilewright.support import knobs
from tilewright.support.fingerprint import fingerprint


@triton.jit
def add_products(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + offsets), tl.load(y_ptr + offsets)
    tl.store(out_ptr + offsets, x * y + y)


@triton.jit
def load_once(x_ptr, out_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, eviction_policy="evict_first"))


@pytest.fixture(autouse=True)
def private_cache(tmp_path: Path) -> Any:  # pyright: ignore[reportUnusedFunction]
    with knobs.scope(cache_dir=str(tmp_path / "cache")):
        yield


CHANGED: dict[str, Any] = {
    "num_warps": 8, "num_stages": 2, "num_ctas": 2, "maxnreg": 64, "ptx_version": 83, "ptx_options": "-O1",
    "enable_fp_fusion": False, "enable_reflect_ftz": False, "launch_cooperative_grid": True, "launch_pdl": True,
    "default_dot_input_precision": "ieee", "allowed_dot_input_precisions": ("ieee",),
    "max_num_imprecise_acc_default": 32, "debug": True, "sanitize_overflow": False, "arch": "sm80", "clc": True,
    "min_shared_mem": 1024,
}  # fmt: skip
FILES = {"extern_libs", "ir_override"}
ONLY_EMPTY = {"instrumentation_mode"}


def test_every_option_is_in_the_key() -> None:
    assert CHANGED.keys() | FILES | ONLY_EMPTY == OPTION_NAMES == {field.name for field in fields(CompileOptions)}
    keys = {name: fingerprint(CompileOptions(**{name: value}).identity()) for name, value in CHANGED.items()}
    assert len({*keys.values(), fingerprint(CompileOptions().identity())}) == len(keys) + 1


@pytest.mark.parametrize("option", sorted(FILES))
def test_contents_of_named_files_are_in_the_key(option: str, tmp_path: Path) -> None:
    path = tmp_path / "file.ttir"
    value: Any = str(path) if option == "ir_override" else (("mine", str(path)),)
    keys: list[str] = []
    for contents in (b"one", b"two", b"one"):
        path.write_bytes(contents)
        keys.append(fingerprint(CompileOptions(**{option: value}).identity()))
    assert keys[0] == keys[2] != keys[1]
    path.unlink()
    with pytest.raises(ValueError, match="No such file"):
        CompileOptions(**{option: value}).identity()


@pytest.mark.parametrize(
    ("keywords", "words"),
    [
        ({"num_warps": 3}, "num_warps must be a power of 2"),
        ({"num_warps": 0}, "num_warps must be a positive integer"),
        ({"num_warps": True}, "num_warps must be a positive integer"),
        ({"num_warps": 4.0}, "num_warps must be a positive integer"),
        ({"min_shared_mem": -1}, "min_shared_mem must be a positive integer"),
        ({"num_ctas": 3}, "num_ctas must be a power of 2"),
        ({"num_stages": -1}, "num_stages must be a positive integer"),
        ({"maxnreg": 0}, "maxnreg must be a positive integer"),
        ({"instrumentation_mode": "consan"}, "TILEWRIGHT_SANITIZE"),
        *(({name: 1}, name) for name in REFUSED),
    ],
)
def test_refused_options_say_why(keywords: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        CompileOptions.from_keywords(keywords)


def test_the_switch_for_fusion_is_the_default() -> None:
    assert CompileOptions.from_keywords({}).enable_fp_fusion
    with knobs.scope(default_fp_fusion=False):
        assert not CompileOptions.from_keywords({}).enable_fp_fusion
        assert CompileOptions.from_keywords({"enable_fp_fusion": True}).enable_fp_fusion


def test_fusion_rounds_once() -> None:
    """x y + y in float32 is rounded twice without fusion."""
    x = np.float32(1 + 2**-23) * np.ones(8, np.float32)
    y = np.float32(1 + 2**-22) * np.ones(8, np.float32)
    out = np.zeros(8, np.float32)
    add_products[(1,)](x, y, out, BLOCK=8, enable_fp_fusion=False)
    np.testing.assert_array_equal(out, x * y + y)
    with knobs.scope(default_fp_fusion=False):
        add_products[(1,)](x, y, out, BLOCK=8)
        np.testing.assert_array_equal(out, x * y + y)
    add_products[(1,)](x, y, out, BLOCK=8)
    np.testing.assert_array_equal(out, (x.astype(np.float64) * y + y).astype(np.float32))


def test_a_stage_given_by_the_user(tmp_path: Path) -> None:
    x, y, out = np.full(8, 3.0, np.float32), np.full(8, 2.0, np.float32), np.zeros(8, np.float32)
    kernel: Any = add_products[(1,)](x, y, out, BLOCK=8)
    assert out[0] == 8
    path = tmp_path / "kernel.ttir"
    path.write_text(kernel.asm["ttir"].replace("arith.mulf", "arith.subf"))
    add_products[(1,)](x, y, out, BLOCK=8, ir_override=str(path))
    assert out[0] == 3
    path.write_text(kernel.asm["ttir"].replace("arith.mulf", "arith.divf"))
    triton.jit(add_products.fn)[(1,)](x, y, out, BLOCK=8, ir_override=str(path))
    assert out[0] == 3.5
    with pytest.raises(ValueError, match="no such file"):
        add_products[(1,)](x, y, out, BLOCK=8, ir_override=str(tmp_path / "missing.ttir"))
    (tmp_path / "kernel.llir").write_text("")
    with pytest.raises(ValueError, match="no stage 'llir'; target cpu has"):
        add_products[(1,)](x, y, out, BLOCK=8, ir_override=str(tmp_path / "kernel.llir"))


@pytest.mark.parametrize("version", ["3.8", "3.9"])
def test_texts_are_those_of_the_version_that_was_compiled_for(version: str) -> None:
    data = np.ones(8, np.float32)
    with knobs.scope(triton_version=version):
        kernel = load_once[(1,)](data, np.zeros(8, np.float32), BLOCK=8)
    with knobs.scope(triton_version="3.9" if version == "3.8" else "3.8"):
        text = kernel.asm["ttir"]
    assert ("#tt.cache_policy" in text) == (version == "3.9")
    assert ("evictionPolicy = evict_first" in text) == (version == "3.8")
