"""What PyTorch's tracer does not look into."""

from __future__ import annotations

import pkgutil
from importlib import import_module

PACKAGE = "tilewright"


def hide_from_dynamo() -> None:
    """PyTorch's tracer leaves frames of ours alone, as it does with the official package's; but it traces the language,
    whose `cdiv` grids call."""
    rules = import_module("torch._dynamo.trace_rules")
    for package in pkgutil.iter_modules(import_module(PACKAGE).__path__, f"{PACKAGE}."):
        if package.ispkg and package.name != f"{PACKAGE}.language":
            rules.add(package.name)
