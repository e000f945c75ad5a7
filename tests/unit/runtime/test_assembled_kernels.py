"""Kernels that a program assembles from the text of a template, as libraries for mixtures of experts make theirs."""

from __future__ import annotations

import inspect
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright import compat
from tilewright.support.errors import CompilationError


def make_template() -> Any:
    @triton.jit
    def template(x_ptr, out_ptr, BLOCK: tl.constexpr):
        lanes = tl.arange(0, BLOCK)
        tl.store(out_ptr + lanes, epilogue(tl.load(x_ptr + lanes)) + LIFT)  # noqa: F821  # pyright: ignore[reportUndefinedVariable]

    return template


@triton.jit
def doubled(x):
    return x * 2


def stand_in() -> None:
    """What an assembled function looks like to Python: its text is elsewhere."""


def assemble(template: Any, name: str, text: str | None = None, **names: Any) -> Any:
    """`template` under another name, `names` given to it."""
    source = str(text or template.src).replace("def template", f"def {name}")
    scope: dict[str, Any] = {**template.get_capture_scope(), **names}
    defined: dict[str, Any] = {}
    exec(source, scope, defined)
    function: Any = FunctionType(stand_in.__code__, scope)
    function.__name__, function.__module__ = name, __name__
    function.__signature__ = inspect.signature(defined[name])
    kernel = triton.JITFunction(function, do_not_specialize=template.do_not_specialize)
    kernel._unsafe_update_src(source)
    kernel.raw_src = list(template.raw_src)
    kernel.file_name = template.file_name
    kernel.starting_line_number = template.starting_line_number
    kernel.def_file_line_number = template.def_file_line_number
    kernel.def_file_col_number = template.def_file_col_number
    return kernel


def test_an_assembled_kernel_runs_under_its_name() -> None:
    template = make_template()
    kernel = assemble(template, "assembled", epilogue=doubled, LIFT=tl.constexpr(3))
    x, out = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    compiled = kernel[(1,)](x, out, BLOCK=16)
    assert np.array_equal(out, 2 * x + 3) and compiled.name == "assembled"


def test_its_locations_are_those_of_the_template() -> None:
    template = make_template()
    lines, first = inspect.getsourcelines(template.fn)
    store = first + next(number for number, line in enumerate(lines) if "tl.store" in line)
    kernel = assemble(template, "assembled", epilogue=doubled, LIFT=tl.constexpr(3))
    attributes = ("raw_src", "starting_line_number", "def_file_line_number", "def_file_col_number", "file_name")
    assert all(getattr(kernel, name) == getattr(template, name) for name in attributes)
    assert (template.raw_src, template.starting_line_number) == (lines, first)
    assert (template.def_file_line_number, template.def_file_col_number) == (first + 1, 5)
    x = np.zeros(16, np.float32)
    text = kernel.warmup(x, x.copy(), BLOCK=16, grid=(1,)).asm["ttir"]
    assert f'test_assembled_kernels.py":{store}:9' in text


def test_a_mistake_in_replaced_text_is_shown_where_it_stands() -> None:
    template = make_template()
    text = template.src.replace("tl.load(x_ptr + lanes)", "tl.lode(x_ptr + lanes)")
    kernel = assemble(template, "assembled", text, epilogue=doubled, LIFT=tl.constexpr(3))
    x = np.zeros(16, np.float32)
    with pytest.raises(CompilationError) as caught:
        kernel.warmup(x, x.copy(), BLOCK=16, grid=(1,))
    lines, first = inspect.getsourcelines(template.fn)
    assert caught.value.line == first + next(number for number, line in enumerate(lines) if "tl.store" in line)
    assert "tl.lode(x_ptr + lanes)" in str(caught.value)


def test_a_decorated_function_keeps_its_place_under_another_text() -> None:
    template = make_template()
    before = template.def_file_line_number
    template._unsafe_update_src("\n\n" + template.src)
    assert template.def_file_line_number == before


def test_names_that_a_function_takes_from_outside() -> None:
    captured = 5

    @triton.jit
    def kernel(out_ptr):
        tl.store(out_ptr, captured)

    scope = kernel.get_capture_scope()
    assert scope["captured"] == 5 and scope["doubled"] is doubled and "kernel" not in scope
    assert captured == 5


def test_no_garbage_is_collected_while_a_graph_is_captured(monkeypatch: pytest.MonkeyPatch) -> None:
    import gc
    import sys
    from contextlib import nullcontext
    from types import SimpleNamespace

    graphs = SimpleNamespace(cuda=SimpleNamespace(graph=lambda graph, stream: nullcontext((graph, stream))))
    monkeypatch.setitem(sys.modules, "torch", graphs)
    with compat.standing_in():
        from triton.testing import cuda_graph_without_gc
    with cuda_graph_without_gc("graph", stream="stream") as given:
        assert given == ("graph", "stream") and not gc.isenabled()
    assert gc.isenabled()
