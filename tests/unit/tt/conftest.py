"""Parsing, for the tests of the tt dialect."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import make_context
from tilewright.ir.parsing import parse_module


@pytest.fixture
def parse() -> Callable[[str], ModuleOp]:
    """Parses text with all dialects loaded."""
    return lambda text: parse_module(text, make_context())
