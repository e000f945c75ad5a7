"""Shared fixtures of the tests of the IR kit."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import make_context
from tilewright.ir.parsing import parse_module


@pytest.fixture(scope="session")
def context() -> Context:
    """All dialects, and unknown ops in generic form."""
    context = make_context()
    context.allow_unregistered = True
    return context


@pytest.fixture
def parse(context: Context) -> Callable[[str], ModuleOp]:
    """Parse a module from text."""
    return lambda text: parse_module(text, context, "test.mlir")
