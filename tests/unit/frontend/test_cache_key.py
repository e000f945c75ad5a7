"""The cache key changes when anything changes that the compiled code depends on, and with nothing else."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from tilewright.support import knobs

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


def test_the_program_is_the_same_in_spawned_children(tmp_path: Path) -> None:
    text = SOURCE.replace("OTHER = ", "class Kind:\n    pass\n\nOTHER = ").replace("n) +", "n, kind=Kind) +")
    text = text.replace("def inner(x):", "def inner(x, kind=None):")
    keys: list[str] = []
    for name in ("__main__", "__mp_main__", "another"):
        path = tmp_path / "program.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        keys.append(module.kernel.cache_key)
    assert keys[0] == keys[1] != keys[2]


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


FACTORY = """
import tilewright as triton
import tilewright.language as tl

def plain(c):
    return lambda a: a * c

class Step:
    def __init__(self, n):
        self.n = n

    def __repr__(self):
        return "Step"

def by_default(c):
    @triton.jit
    def helper(x, s: tl.constexpr = c):
        return x * s

    @triton.jit
    def kernel(p):
        tl.store(p, helper(2))

    return kernel

def by_function_in_constant(c):
    factor = tl.constexpr(c)

    @triton.jit
    def helper(x):
        return x * factor

    helpers = tl.constexpr((helper,))

    @triton.jit
    def kernel(p):
        tl.store(p, helpers[0](2))

    return kernel

def by_python_function(c):
    g = plain(c)

    @triton.constexpr_function
    def helper(x):
        return g(x)

    @triton.jit
    def kernel(p):
        tl.store(p, helper(2))

    return kernel

def by_order(c):
    helpers = [helper_of(n) for n in (3, 4)]
    both, chosen = tl.constexpr(tuple(helpers)), tl.constexpr((helpers[c - 3],))

    @triton.jit
    def kernel(p):
        tl.store(p, both[0](0) + chosen[0](2))

    return kernel

def by_object(c):
    step = tl.constexpr(Step(c))

    @triton.jit
    def kernel(p):
        tl.store(p, 2 * step.n)

    return kernel

def helper_of(c):
    factor = tl.constexpr(c)

    @triton.jit
    def helper(x):
        return x * factor

    return helper

@triton.jit
def takes_function(p, helper):
    tl.store(p, helper(2))

@triton.jit
def takes_functions(p, helpers):
    tl.store(p, helpers[0](2))

@triton.jit
def takes_object(p, step: tl.constexpr):
    tl.store(p, 2 * step.n)
"""


@pytest.mark.parametrize(
    "make", ["by_default", "by_function_in_constant", "by_python_function", "by_order", "by_object"]
)
def test_what_a_kernel_reaches_counts(tmp_path: Path, make: str) -> None:
    """Two kernels of one text, which differ in what they use."""
    module = load(tmp_path, FACTORY, make)
    three, four, again = (getattr(module, make)(factor) for factor in (3, 4, 3))
    assert three.cache_key != four.cache_key
    assert three.cache_key == again.cache_key
    with knobs.scope(cache_dir=str(tmp_path / "cache")):
        assert [launched(kernel) for kernel in (three, four, again)] == [6, 8, 6]


def test_functions_and_objects_as_arguments_count(tmp_path: Path) -> None:
    """One text of what is passed, which differs in what it uses; also behind launches that were recognised."""
    module = load(tmp_path, FACTORY, "arguments")
    three, four = module.helper_of(3), module.helper_of(4)
    with knobs.scope(cache_dir=str(tmp_path / "cache")):
        for function in (three, four, three, three, three, four, four):
            expected = 6 if function is three else 8
            assert launched(module.takes_function, function) == expected
            assert launched(module.takes_functions, (function,)) == expected
        assert [launched(module.takes_object, module.Step(n)) for n in (3, 4)] == [6, 8]


def launched(kernel: Any, *arguments: Any) -> int:
    """What a kernel stores to its first argument."""
    out = np.zeros(1, np.int32)
    kernel[(1,)](out, *arguments)
    return int(out[0])


ODD = """
import tilewright.language as tl
from tilewright.frontend import language_function as jit

class Node:
    def __init__(self, value):
        self.value, self.others = value, {}

chain = Node(7)
for number in range(2000):
    chain = Node(chain)
root = Node(3)
root.others[root] = [root, chain]
registry = {"size": [1]}

def above(function):
    return function if registry else None

@above
@jit
def kernel(p):
    tl.store(p, root.value)
"""


@pytest.mark.parametrize(
    ("old", "new", "changes"), [("Node(3)", "Node(4)", True), ("Node(7)", "Node(8)", True), ("[1]", "[2]", False)]
)
def test_constants_that_hold_themselves_and_decorators(tmp_path: Path, old: str, new: str, changes: bool) -> None:
    """Constants may hold themselves, by their keys too, and be deep; what stands above a function may be anything."""
    with knobs.scope(allow_non_constexpr_globals=True):
        before = load(tmp_path, ODD, "before").kernel.cache_key
        after = load(tmp_path, ODD.replace(old, new), "after").kernel.cache_key
    assert (before != after) == changes


EDITED = """
import tilewright as triton
import tilewright.language as tl

@triton.constexpr_function
def added():
    return {number}

@triton.jit
def inner(n):
    return n + {number}

@triton.jit
def kernel(p, n):
    tl.store(p, inner(n) * 1000 + added())
"""


def test_files_that_are_edited_after_their_import(tmp_path: Path) -> None:
    """A function is what it was when it was defined; a module that is loaded anew has the functions of its new text."""
    out = np.zeros(1, np.int32)
    first = load(tmp_path, EDITED.format(number=1), "edited")
    for number in (22, 333):
        module = load(tmp_path, EDITED.format(number=number), "edited")
        module.kernel[(1,)](out, 5)
        assert out[0] == (5 + number) * 1000 + number
    (tmp_path / "edited.py").write_text("")
    first.kernel[(1,)](out, 5)
    assert out[0] == 6001


@pytest.mark.costly
def test_calls_nested_deeper_than_python_may_call(tmp_path: Path) -> None:
    count = sys.getrecursionlimit() + 100
    steps = [f"@jit\ndef step{i}(x):\n    return step{i - 1}(x) + {i}\n" for i in range(1, count)]
    text = "\n".join([SOURCE, "@jit\ndef step0(x):\n    return x * FACTOR\n", *steps])
    kernel = getattr(load(tmp_path, text, "nested"), f"step{count - 1}")
    other = getattr(load(tmp_path, text.replace("constexpr(3)", "constexpr(4)"), "other"), f"step{count - 1}")
    assert kernel.cache_key != other.cache_key
    assert {name for name, _ in kernel.used_global_vals} == {"FACTOR"}
