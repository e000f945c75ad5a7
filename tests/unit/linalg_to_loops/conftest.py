"""Loops that tests read.

Kernels are launched, then their loops are read: the module is kept in between, not made a second time. Loops
that depend on the processor's vectors are those of one that is named, whichever the host is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from suite.kept_modules import keep_modules
from tilewright.compiler import compilation as compiling
from tilewright.compiler.options import CompileOptions
from tilewright.ir.printing import print_op
from tilewright.runtime.request import kernel_source
from tilewright.targets.cpu.facts import named_facts
from tilewright.targets.cpu.target import CpuTarget

STAGE = "loops"


@pytest.fixture(autouse=True)
def modules_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    keep_modules(monkeypatch, STAGE)


@pytest.fixture
def wide_loops() -> Callable[..., str]:
    """The loops of a kernel, by what a launch takes, for a processor with 32 vector registers of 512 bits."""

    def lower(kernel: Any, *args: Any, **constants: Any) -> str:
        bound = kernel.binder.bind(*kernel.binder.match(args, constants))
        options = CompileOptions.from_keywords(bound.options, debug=False)
        modules = dict(compiling.lower(kernel_source(kernel, bound), options, CpuTarget(named_facts("x86-64-v4"))))
        return print_op(modules[STAGE])

    return lower
