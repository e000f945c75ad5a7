"""The cache key changes when anything changes that the compiled code depends on, and with nothing else."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SOURCE = """
import tilewright.language as tl
from tilewright.frontend import language_function as jit, constexpr_function

FACTOR = tl.constexpr(3)
OTHER = tl.constexpr(1)

@constexpr_function
def shifted(x):
    return x + 1

@jit
def innermost(x):
    return x * FACTOR

@jit
def inner(x):
    return innermost(x)

@jit
def kernel(p, n):
    # a comment
    tl.store(p, inner(n) + shifted(2))
"""


def load(tmp_path: Path, text: str, name: str) -> ModuleType:
    path = tmp_path / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location("cache_key_sample", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.pop("cache_key_sample", None)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("FACTOR = tl.constexpr(3)", "FACTOR = tl.constexpr(4)", True),
        ("OTHER = tl.constexpr(1)", "OTHER = tl.constexpr(2)", False),
        ("return x * FACTOR", "return FACTOR * x", True),
        ("return x + 1", "return x + 2", True),
        ("tl.store(p, inner(n)", "tl.store(p + 1, inner(n)", True),
        ("\nFACTOR", "\n\nFACTOR", True),
        ("SAME", "SAME", False),
    ],
)
def test_what_the_key_depends_on(tmp_path: Path, old: str, new: str, changes: bool) -> None:
    before = load(tmp_path, SOURCE, "before").kernel.cache_key
    after = load(tmp_path, SOURCE.replace(old, new), "after").kernel.cache_key
    assert (before != after) is changes


def test_globals_of_callees_are_listed(tmp_path: Path) -> None:
    kernel = load(tmp_path, SOURCE, "listed").kernel
    assert {name for name, _ in kernel.used_global_vals} == {"FACTOR"}


def test_source_can_be_replaced(tmp_path: Path) -> None:
    kernel = load(tmp_path, SOURCE, "replaced").kernel
    key = kernel.cache_key
    kernel._unsafe_update_src(kernel.src.replace("inner(n)", "inner(n) * 2"))
    assert "inner(n) * 2" in kernel.src and kernel.cache_key != key


def test_closures_count(tmp_path: Path) -> None:
    text = SOURCE + (
        "\ndef make(k):\n    constant = tl.constexpr(k)\n\n    @jit\n    def scaled(p, n):\n"
        "        tl.store(p, n * constant)\n\n    return scaled\n"
    )
    module = load(tmp_path, text, "closures")
    assert module.make(3).cache_key != module.make(4).cache_key
    assert module.make(3).cache_key == module.make(3).cache_key
